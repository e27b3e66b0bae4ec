"""Modules as HTML, for notebooks: computations that open and close, coloured text, a field to search in."""
import html
import re
import uuid

# The whole text of a larger module would make a notebook slow: these are cut, and say so.
MOST_LINES = 4000
# Of a line, such as that of a large constant.
MOST_COLUMNS = 2000

_TOKEN = re.compile(r'''(?P<comment>/\*.{0,200}?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\])*")
  | (?P<metadata>\bmetadata=\{(?:[^{}"]|"(?:\\.|[^"\\])*"|\{[^{}]*\})*\})
  | (?P<shape>\b(?:[a-z][a-z0-9]*)\[[^\]\s]*\](?:\{[^}\s]*\})?)
  | (?P<name>(?<![\w.\-%])%?[A-Za-z_][\w.\-]*(?=\s=\s))
  | (?P<opcode>(?<=[\s\])}])[a-z][a-z0-9\-]*(?=\())
  | (?P<keyword>\b(?:ENTRY|ROOT|HloModule)\b)
  | (?P<attribute>\b[a-z_]+(?==))
  | (?P<number>(?<![\w.\-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)''', re.X)

# Colours by their meaning; the second of each pair is for dark pages.
_COLOURS = {
    "name": ("#0b5cad", "#79b8ff"),
    "opcode": ("#8a3ffc", "#c8a2ff"),
    "shape": ("#1a7f37", "#7ee787"),
    "keyword": ("#b3261e", "#ff9b8f"),
    "attribute": ("#57606a", "#a8b1bb"),
    "number": ("#9a6700", "#e3b341"),
    "string": ("#0a7070", "#76d7d7"),
    "comment": ("#6e7781", "#8b949e"),
    "metadata": ("#8c959f", "#6e7781"),
}


def _style(scope):
    rules = [
        f"#{scope}{{border:1px solid #8884;border-radius:6px;padding:8px;max-height:36em;overflow:auto;font-size:12px}}",
        f"#{scope} summary{{cursor:pointer;font-family:monospace;padding:2px 0}}",
        f"#{scope} summary small{{opacity:.65}}",
        f"#{scope} pre{{margin:2px 0 8px 14px;line-height:1.45;background:none;font-family:monospace;white-space:pre}}",
        f"#{scope} input{{width:18em;padding:3px 6px;margin-bottom:6px;font:inherit}}",
        f"#{scope} .hit{{background:#ffd33d66}}",
    ]
    rules += [f"#{scope} .{name}{{color:{light}}}" for name, (light, _) in _COLOURS.items()]
    dark = [f"#{scope} .{name}{{color:{dark}}}" for name, (_, dark) in _COLOURS.items()]
    # JupyterLab says how its page is; elsewhere the system does.
    dark_theme = "".join(f'[data-jp-theme-light="false"] {rule}' for rule in dark)
    return "".join(rules) + dark_theme + \
        f"@media (prefers-color-scheme: dark){{{''.join(':root:not([data-jp-theme-light]) ' + rule for rule in dark)}}}"


# Shows the lines that have the text, opens the computations that have one, and counts.
_SEARCH = """const box=document.getElementById("%s");const wanted=this.value.toLowerCase();let hits=0;
box.querySelectorAll("details").forEach(part=>{let found=0;part.querySelectorAll("span.line").forEach(line=>{
const is=wanted!==""&&line.textContent.toLowerCase().includes(wanted);line.classList.toggle("hit",is);found+=is;});
if(wanted!=="")part.open=found>0;hits+=found;});
box.querySelector("output").textContent=wanted===""?"":hits+(hits===1?" line":" lines");"""


def coloured(text: str) -> str:
    """HLO text as HTML, each line a span.

    >>> coloured('x = f32[2] add(y, y)')
    '<span class="line"><span class="name">x</span> = <span class="shape">f32[2]</span> <span class="opcode">add</span>(y, y)\\n</span>'
    """
    lines = []
    for line in text.splitlines():
        parts, end = [], 0
        rest = len(line) - MOST_COLUMNS
        line = line if rest <= 0 else f"{line[:MOST_COLUMNS]} ... and {rest} characters"
        for token in _TOKEN.finditer(line):
            parts.append(html.escape(line[end:token.start()]))
            parts.append(f'<span class="{token.lastgroup}">{html.escape(token[0])}</span>')
            end = token.end()
        parts.append(html.escape(line[end:]))
        lines.append(f'<span class="line">{"".join(parts)}\n</span>')
    return "".join(lines)


def _computation(computation, budget):
    text = str(computation).splitlines()
    shown = text[:max(budget, 0)]
    cut = "" if len(shown) == len(text) else f"<i>{len(text) - len(shown)} more lines: str(computation)</i>"
    state = " open" if computation.is_entry else ""
    count = len(computation.instructions)
    note = f"{count} instruction{'' if count == 1 else 's'}" + (", the entry" if computation.is_entry else "")
    page = (f"<details{state}><summary><b>{html.escape(computation.name)}</b> <small>{note}</small></summary>"
            f'<pre>{coloured(chr(10).join(shown))}{cut}</pre></details>')
    return page, len(shown)


def module_page(module) -> str:
    """The page of a module: the entry is open, and comes first."""
    scope = f"kashi-{uuid.uuid4().hex}"
    parts, budget = [], MOST_LINES
    for computation in reversed(module.computations):
        page, lines = _computation(computation, budget)
        parts.append(page)
        budget -= lines
    field = (f'<input type="search" placeholder="search" aria-label="search in the module" '
             f'oninput="{html.escape(_SEARCH % scope)}"> <output></output>')
    return (f'<style>{_style(scope)}</style><div id="{scope}"><div><b>{html.escape(module.name)}</b> '
            f'<small>{html.escape(str(module.program_shape))}</small></div>{field}{"".join(parts)}</div>')
