#!/usr/bin/env python3
"""Plants faults in passes of real dumps, and counts how often `kashi bisect` names the pass and the instruction.

    scripts/plant_faults.py --kashi build/kashi --python .venv/bin/python --work out                 50 faults
    scripts/plant_faults.py --kashi build/kashi --python .venv/bin/python --work out --faults 5 --seed 2

Twenty small JAX programs (scripts/dump_programs.py) are compiled by XLA, which writes each module after each pass. A fault
is planted so: a stage of a module is changed at one instruction, as if the pass before it had made a mistake. XLA then
compiles the changed module, so that all later passes work on the wrong program. The directory has the right stages, then
the wrong one under the name of its pass, then those of the second compilation. A fault counts only if the outputs of the
changed stage differ from those of the right one.

Needs JAX. Prints a line per fault, and in the end the numbers for each kind.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LINE = re.compile(r"^(?P<head>\s+(?:ROOT )?)%(?P<name>[\w.\-]+) = (?P<shape>\w+\[[\d,]*\](?:\{[^}]*\})?) (?P<opcode>[\w\-]+)\("
                  r"(?P<operands>[^()]*)\)(?P<rest>.*)$")
STAGE = re.compile(r"^(?P<module>module_\d+\.[^.]+)\.(?P<number>\d{4})\.(?P<title>.*)\.hlo\.pb$")
DUMP_FLAGS = "--xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_proto"


class Instruction:
    """A line of HLO text with one array as its result."""

    def __init__(self, number, match, shapes):
        self.number = number
        self.head, self.name, self.shape = match["head"], match["name"], match["shape"]
        self.opcode, self.rest = match["opcode"], match["rest"]
        self.operands = [each.strip().split("%")[-1] for each in match["operands"].split(",")] if match["operands"] else []
        self.text_operands = match["operands"]
        self.shapes = shapes  # of the operands' computation, by name

    def dimensions(self, name=None):
        text = re.match(r"\w+\[([\d,]*)\]", self.shapes.get(name, "") if name else self.shape)
        return [int(each) for each in text[1].split(",") if each] if text else None

    def line(self, opcode=None, operands=None, rest=None, shape=None):
        inside = self.text_operands if operands is None else ", ".join("%" + each for each in operands)
        rest = self.rest if rest is None else rest
        return f"{self.head}%{self.name} = {shape or self.shape} {opcode or self.opcode}({inside}){rest}"


def plain(shape):
    return re.sub(r"\{.*", "", shape)


def without_attributes(rest):
    """Of the text after the operands, the metadata only."""
    found = re.search(r", metadata=\{.*", rest)
    return found[0] if found else ""


# ---- The kinds of faults: each returns the new lines of the instruction, or None if it does not fit it.


def wrong_constant(x, _):
    number = re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", x.text_operands) if x.opcode == "constant" else None
    if not number or not x.shape.startswith(("f32[]", "f64[]", "bf16[]")):
        return None
    return [f"{x.head}%{x.name} = {x.shape} constant({float(number[0]) * 1.5 + 0.25}){x.rest}"]


def swapped_operands(x, _):
    fits = x.opcode in ("subtract", "divide", "power", "remainder") and x.operands[0] != x.operands[1]
    return [x.line(operands=x.operands[::-1])] if fits else None


def shifted_slice(x, _):
    sizes = x.dimensions(x.operands[0]) if x.opcode == "slice" else None
    ranges = re.search(r"slice=\{([^}]*)\}", x.rest) if sizes else None
    if not ranges:
        return None
    parts = [[int(n) for n in part.strip("[] ").split(":")] for part in ranges[1].split(", ")]
    for part, size in zip(parts, sizes):
        if part[1] < size:
            part[0], part[1] = part[0] + 1, part[1] + 1
        elif part[0] > 0:
            part[0], part[1] = part[0] - 1, part[1] - 1
        else:
            continue
        text = ", ".join("[" + ":".join(map(str, each)) + "]" for each in parts)
        return [x.line(rest=x.rest.replace(ranges[0], "slice={" + text + "}"))]
    return None


def wrong_padding(x, _):
    found = re.search(r"padding=([\d_x\-]+)", x.rest) if x.opcode == "pad" else None
    if not found:
        return None
    parts = [part.split("_") for part in found[1].split("x")]
    for part in parts:
        if part[0] != part[1]:
            part[0], part[1] = part[1], part[0]
            return [x.line(rest=x.rest.replace(found[0], "padding=" + "x".join("_".join(each) for each in parts)))]
    return None


def wrong_dimension(x, _):
    found = re.search(r"dimensions=\{([\d,]*)\}", x.rest) if x.opcode in ("transpose", "reduce", "broadcast") else None
    if not found or not x.operands:
        return None
    numbers = [int(n) for n in found[1].split(",") if n]
    of_operand, of_result = x.dimensions(x.operands[0]), x.dimensions()
    if of_operand is None or len(numbers) == 0:
        return None
    if x.opcode == "transpose":
        wrong = list(range(len(numbers)))
        fits = wrong != numbers and [of_operand[i] for i in wrong] == of_result
    elif x.opcode == "reduce":
        wrong = [(numbers[0] + 1) % len(of_operand)]
        fits = len(numbers) == 1 and [n for i, n in enumerate(of_operand) if i not in wrong] == of_result and wrong != numbers
    else:
        wrong = [(numbers[0] + 1) % len(of_result)]
        fits = len(numbers) == 1 and len(of_result) > 1 and of_result[wrong[0]] == of_operand[0]
    return [x.line(rest=x.rest.replace(found[0], "dimensions={" + ",".join(map(str, wrong)) + "}"))] if fits else None


def dropped_negate(x, _):
    return [x.line(opcode="copy")] if x.opcode == "negate" else None


def wrong_direction(x, _):
    others = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "NE", "NE": "EQ"}
    found = re.search(r"direction=(\w\w)", x.rest) if x.opcode == "compare" else None
    return [x.line(rest=x.rest.replace(found[0], "direction=" + others[found[1]]))] if found else None


def wrong_type(x, _):
    types = {"f32": "f8e5m2", "bf16": "f8e5m2", "s32": "s8", "f64": "bf16"}
    kind = x.shape.split("[")[0]
    if x.opcode != "convert" or kind not in types or x.shapes.get(x.operands[0], "").startswith("pred"):
        return None
    narrow = x.shape.replace(kind, types[kind], 1)
    return [f"  %{x.name}.narrow = {narrow} convert(%{x.operands[0]})", x.line(operands=[x.name + ".narrow"])]


def lost_clamp(x, _):
    which = {"clamp": 1, "maximum": 0, "minimum": 0}.get(x.opcode)
    if which is None or plain(x.shapes.get(x.operands[which], "")) != plain(x.shape):
        return None
    return [x.line(opcode="copy", operands=[x.operands[which]], rest=without_attributes(x.rest))]


def wrong_order(x, _):
    fits = x.opcode == "concatenate" and len(x.operands) > 1 and x.operands[0] != x.operands[-1]
    return [x.line(operands=x.operands[::-1])] if fits else None


def missing_copy(x, later):
    """Another user reads the operand after an operation has overwritten it."""
    operations = ("dynamic-update-slice", "tanh", "negate", "exponential", "multiply", "add", "subtract", "sine")
    if x.opcode not in operations or plain(x.shapes.get(x.operands[0], "")) != plain(x.shape):
        return None
    for user in later:
        if x.operands[0] in user.operands and x.name not in user.operands:
            changed = [x.name if each == x.operands[0] else each for each in user.operands]
            return {user.number: [user.line(operands=changed)]}
    return None


KINDS = [wrong_constant, swapped_operands, shifted_slice, wrong_padding, wrong_dimension, dropped_negate, wrong_direction,
         wrong_type, lost_clamp, wrong_order, missing_copy]


# ---- Modules as text


def instructions_of(text):
    """The instructions of each computation, in order."""
    result, shapes = [], {}
    for number, line in enumerate(text.split("\n")):
        if line.endswith("{") and "=" not in line.split("(")[0]:
            result.append([])
            shapes = {}
        match = LINE.match(line)
        if match and result:
            shapes[match["name"]] = match["shape"]
            result[-1].append(Instruction(number, match, shapes))
    return result


def mutations(text, kind):
    """All faults of this kind: the name of the instruction, and the text."""
    lines = text.split("\n")
    found = []
    for computation in instructions_of(text):
        for i, x in enumerate(computation):
            changed = kind(x, computation[i + 1:])
            if changed is None:
                continue
            changes = changed if isinstance(changed, dict) else {x.number: changed}
            new = [part for n, line in enumerate(lines) for part in changes.get(n, [line])]
            number = next(iter(changes))
            name = next(each.name for each in computation if each.number == number)
            found.append((name, "\n".join(new)))
    return found


def run(command, **more):
    return subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False, **more)


class Planter:
    def __init__(self, options):
        self.options = options
        self.work = pathlib.Path(options.work)
        self.random = random.Random(options.seed)
        self.texts = {}

    def dump_programs(self):
        target = self.work / "dump"
        if not target.is_dir():
            flags = f"--xla_dump_to={target} {DUMP_FLAGS} --xla_dump_hlo_module_re=jit_.*"
            done = run([self.options.python, self.options.programs], env={**os.environ, "XLA_FLAGS": flags})
            if done.returncode != 0:
                sys.exit(f"the programs cannot be compiled: {done.stderr}")
        stages = collections.defaultdict(list)
        for path in sorted(target.glob("module_*.hlo.pb")):
            match = STAGE.match(path.name)
            if match:
                stages[match["module"]].append((path, match["title"]))
        return {module: found for module, found in stages.items() if len(found) > 4}

    def text_of(self, path):
        if path not in self.texts:
            self.texts[path] = run([self.options.kashi, "convert", path, "--large-constants"]).stdout
        return self.texts[path]

    def differs(self, folder, right, wrong):
        (folder / "right.hlo").write_text(right)
        (folder / "wrong.hlo").write_text(wrong)
        done = run([self.options.kashi, "diff", folder / "right.hlo", folder / "wrong.hlo", "--json"])
        try:
            outputs = json.loads(done.stdout)["outputs"]
        except (ValueError, KeyError):
            return False  # it is no valid module
        return any(each.get("mismatches", 0) > 0 for each in outputs)

    def compile(self, folder):
        """The stages of a compilation of wrong.hlo, as (path, title)."""
        flat, proto, dump = folder / "flat.hlo", folder / "wrong.pb", folder / "compiled"
        passes = "inline-calls,inline-fusions"
        done = run([self.options.kashi, "opt", folder / "wrong.hlo", f"--passes={passes}", "-o", flat])
        if done.returncode == 0:
            done = run([self.options.kashi, "convert", flat, "--to", "pb", "-o", proto])
        flags = f"--xla_dump_to={dump} {DUMP_FLAGS}"
        if done.returncode == 0:
            done = run([self.options.python, HERE / "compile_hlo.py", proto], env={**os.environ, "XLA_FLAGS": flags})
        if done.returncode != 0:
            return None
        found = []
        for path in sorted(dump.glob("module_*.hlo.pb")):
            match = STAGE.match(path.name)
            if match and match["title"] and path.stat().st_size > 0:
                found.append((path, match["title"]))
        return found

    def plant(self, number, kind, modules):
        """A directory with a fault, and what was planted; None if no module has a place for it."""
        for module in self.random.sample(sorted(modules), len(modules)):
            stages = modules[module]
            numbers = list(range(1, len(stages)))
            self.random.shuffle(numbers)
            for k in numbers[:6]:
                right = self.text_of(stages[k][0])
                if right == self.text_of(stages[k - 1][0]):
                    continue  # the pass did nothing
                planted = self.plant_at(number, kind, module, stages, k)
                if planted:
                    return planted
        return None

    def plant_at(self, number, kind, module, stages, k):
        right = self.text_of(stages[k][0])
        places = mutations(right, kind)
        self.random.shuffle(places)
        folder = self.work / f"fault{number:02d}"
        for name, wrong in places[:4]:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            if not self.differs(folder, right, wrong):
                continue
            later = self.compile(folder)
            if later is None:
                continue
            dump = folder / "dump"
            dump.mkdir()
            for i, (path, title) in enumerate(stages[:k]):
                (dump / f"{module}.{i:04d}.{title}.txt").write_text(self.text_of(path))
            (dump / f"{module}.{k:04d}.{stages[k][1]}.txt").write_text(wrong)
            for i, (path, title) in enumerate(later):
                (dump / f"{module}.{k + 1 + i:04d}.{title}.txt").write_text(self.text_of(path))
            return dump, {"kind": kind.__name__, "module": module, "stage": k, "title": stages[k][1], "instruction": name,
                          "stages": k + 1 + len(later)}
        return None


def check(options, dump, planted):
    """Whether the pass was named, whether the instruction is in the part that was cut out, and was named; a text."""
    part = dump.parent / "parts" / "after.hlo"
    done = run([options.kashi, "bisect", dump, "--json", "-o", part.parent])
    try:
        answer = json.loads(done.stdout.strip().split("\n")[-1])
    except ValueError:
        return False, False, False, done.stderr
    is_stage = answer.get("differs", False) and answer["first_bad"].get("number") == planted["stage"]
    place = answer.get("after", {}).get("instruction", "")
    text = part.read_text() if part.is_file() else ""
    is_inside = re.search(rf"%{re.escape(planted['instruction'])} = ", text) is not None
    size = answer.get("parts", {})
    parts = f"{size.get('instructions_before')} and {size.get('instructions_after')} instructions"
    where = ", ".join(answer.get("passes", ["no difference"]))
    return (is_stage and len(answer["passes"]) == 1, is_inside, place == planted["instruction"],
            f"{where} at {place or 'no instruction'}, {parts}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", required=True, type=os.path.abspath)
    parser.add_argument("--python", required=True, type=os.path.abspath, help="a Python that has JAX")
    parser.add_argument("--programs", default=HERE / "dump_programs.py", help="what XLA compiles")
    parser.add_argument("--work", required=True, help="a folder for the dumps; kept")
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    planter = Planter(options)
    planter.work.mkdir(parents=True, exist_ok=True)
    modules = planter.dump_programs()
    totals = collections.defaultdict(lambda: [0, 0, 0, 0])
    for number in range(options.faults):
        kind = KINDS[number % len(KINDS)]
        found = planter.plant(number, kind, modules)
        if found is None:
            print(f"{number:2d} {kind.__name__}: no place for it", flush=True)
            continue
        dump, planted = found
        named, inside, placed, text = check(options, dump, planted)
        for i, yes in enumerate((True, named, inside, placed)):
            totals[kind.__name__][i] += yes
        print(f"{number:2d} {planted['kind']} in {planted['module']}, stage {planted['stage']} of {planted['stages']} "
              f"({planted['title']}), {planted['instruction']}: pass {'named' if named else 'NOT NAMED'}, instruction "
              f"{'named' if placed else 'in the part' if inside else 'not found'}: {text}", flush=True)
    print("\nkind                 planted  pass named  in the part  instruction named")
    sums = [sum(each[i] for each in totals.values()) for i in range(4)]
    for kind, (all_, named, inside, placed) in [*totals.items(), ("in all", sums)]:
        print(f"{kind:20} {all_:7} {named:11} {inside:12} {placed:18}")
    return 0 if sums[1] >= 0.9 * sums[0] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
