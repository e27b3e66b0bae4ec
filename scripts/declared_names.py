"""The names that a C++ header of ours declares in namespaces, found without a compiler.

Our headers are formatted by clang-format and have no declarations behind macros of others, so a walk over braces is enough: it
knows at each declaration in which namespaces it stands. Members of classes are not told.
"""
import re

_NOISE = re.compile(r'//[^\n]*|R"([^()\\\s]*)\(.*?\)\1"|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
_PREPROCESSOR = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
_OPENS_NAMESPACE = re.compile(r"^(?:inline )?namespace\s*([\w:]*)$")
_TYPE = re.compile(r"^(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:\[\[\w+\]\]\s*|alignas\([^)]*\)\s*)?(\w+)\s*(final)?\s*(?::(?!:)|$|<)")
_MEMBER_TYPE = re.compile(r"^(?:class|struct|union|enum)\s+\w+::")
_ALIAS = re.compile(r"^using\s+(\w+)\s*=")
_USING = re.compile(r"^using\s+(?:[\w:]+::)(\w+)$")
_FRIEND_OR_ASSERT = re.compile(r"^(?:static_assert|friend|extern template|template class|template struct|KASHI_\w+\()")


class Declaration:
    """A name, the namespaces around it (`kashi::cpu`), its line, its kind, and whether it is only announced (`class X;`)."""

    def __init__(self, name, namespace, line, kind, is_forward):
        self.name = name
        self.namespace = namespace
        self.line = line
        self.kind = kind  # "type", "alias", "using", "function" or "variable"
        self.is_forward = is_forward


def _blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def _without_templates(text):
    """The declaration without `template <…>` before it."""
    text = text.strip()
    while text.startswith("template"):
        start = text.find("<")
        depth, at = 0, start
        while at < len(text):
            depth += {"<": 1, ">": -1}.get(text[at], 0)
            at += 1
            if depth == 0:
                break
        text = text[at:].strip()
    return text


def _outside_angles(text):
    """The text with what stands in <…> left out."""
    depth, out = 0, []
    for at, letter in enumerate(text):
        if letter == "<" and not text[:at].rstrip().endswith("operator"):
            depth += 1
        elif letter == ">" and depth and text[at - 1] != "-":
            depth -= 1
        elif depth == 0:
            out.append(letter)
    return "".join(out)


def _judge(text, ends_with_brace):
    """(name, kind, is_forward) of one declaration at the level of a namespace, or None."""
    text = re.sub(r"\s+", " ", _without_templates(text)).strip()
    text = re.sub(r"\[\[\w+(?:\([^)]*\))?\]\] ?", "", text)
    if not text or _FRIEND_OR_ASSERT.match(text) or _MEMBER_TYPE.match(text):
        return None
    match = _ALIAS.match(text)
    if match:
        return match[1], "alias", False
    match = _USING.match(text)
    if match:
        return match[1], "using", False
    match = _TYPE.match(text)
    if match:
        return match[1], "type", not ends_with_brace
    plain = _outside_angles(text)
    if "operator" in plain or plain.startswith(("using ", "typedef ")):
        return None
    match = re.search(r"([\w:~]+)\s*\(", plain)
    initialised = plain.find("=")
    if match and (initialised < 0 or match.start() < initialised):
        return None if "::" in match[1] and not plain.startswith(match[1]) else (match[1], "function", False)
    match = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=|$)", plain)
    return (match[1], "variable", False) if match and " " in plain else None


def blank_noise(text):
    """The text with comments, strings and preprocessor lines blank; line numbers stay."""
    return _PREPROCESSOR.sub(_blank, _NOISE.sub(_blank, text))


def blank_comments(text):
    """The text with comments blank; line numbers stay."""
    return _NOISE.sub(lambda match: _blank(match) if match[0].startswith("/") else match[0], text)


def declarations(text):
    """Every declaration in named namespaces; what stands in namespaces without a name is left out."""
    text = blank_noise(text)
    scopes = []  # names of namespaces; None for any other brace
    start = 0
    depth_of_parentheses = 0
    for at, letter in enumerate(text):
        if letter == "(":
            depth_of_parentheses += 1
        elif letter == ")":
            depth_of_parentheses -= 1
        if letter not in "{};" or depth_of_parentheses:
            continue
        if None not in scopes:
            statement = text[start:at]
            namespace = _OPENS_NAMESPACE.match(re.sub(r"\s+", " ", statement).strip()) if letter == "{" else None
            if namespace:
                scopes.append(namespace[1] or "(anonymous)")
                start = at + 1
                continue
            if letter in "{;" and scopes and "(anonymous)" not in scopes:
                found = _judge(statement, letter == "{")
                if found:
                    line = text.count("\n", 0, at - len(statement.lstrip()) + 1) + 1
                    yield Declaration(found[0], "::".join(scopes), line, found[1], found[2])
        if letter == "{":
            scopes.append(None)
        elif letter == "}" and scopes:
            scopes.pop()
        start = at + 1
