#!/usr/bin/env python3
"""Tests a promise: every verb answers every module that `kashi verify` accepts with a value or an error, in short time.

  mutation_test.py --kashi build/kashi [--count 40] [--seed 1] [--modules PATH…] [--keep FOLDER] [--jobs N]

It mutates modules and runs the verbs on the mutants. A mutation changes one type, one size or one operation everywhere
in a module (many modules stay valid then), the number of devices, all layouts, or a single number or operand. Others
break the rules of HLO on purpose: indices and dimensions that do not exist, operands too many or too few, attributes
that are missing, another computation. Mutants that verify refuses also go to several verbs. These are failures: a
process that dies by a signal, that exceeds the limits of time or memory, that has an exit status outside of the
contract, or that fails without an error message; and StableHLO text that cannot be read back. A failure prints the file
of the mutant. The seed, printed at the end, gives the same mutants again. The default modules are the seeds of the
fuzzers.
By hand:  mutation_test.py --kashi build/kashi --count 20000 --seed 7 --modules FOLDER
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS = [os.path.join(HERE, '..', 'fuzz', 'corpus', name)
         for name in ('hlo_evaluate_fuzz', 'hlo_verify_fuzz', 'hlo_memory_fuzz')]
LARGEST_MODULE = 100_000

TYPES = ['pred', 's1', 's2', 's4', 's8', 's16', 's32', 's64', 'u1', 'u2', 'u4', 'u8', 'u16', 'u32', 'u64', 'f16',
          'bf16', 'f32', 'f64', 'f8e3m4', 'f8e4m3', 'f8e4m3b11fnuz', 'f8e4m3fn', 'f8e4m3fnuz', 'f8e5m2', 'f8e5m2fnuz',
         'f8e8m0fnu', 'f6e2m3fn', 'f6e3m2fn', 'f4e2m1fn', 'c64', 'c128', 'token', 'opaque']
SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 64, 100, 255, 1000,
    65536, 2**31 - 1, 2**31, 2**32, 2**40, 2**61, 2**62, 2**63 - 1]

# What each verb is asked; {in} is the mutant, {out} a file that may be written, {dump} a dump in which a pass made the
# mutant of the seed.
LIMITS = ['--memory-limit', '64M', '--max-work', '1000000000', '--timeout', '5']
VERBS = [
    ['convert', '{in}'],
    ['convert', '{in}', '--to', 'json'],
    ['convert', '{in}', '--to', 'pb', '-o', '{out}'],
    ['convert', '{in}', '--to', 'dot'],
    ['convert', '{in}', '--to', 'mlir'],
    ['convert', '{in}', '--to', 'pbtxt'],
    ['convert', '{in}', '--as', 'partitioned'],
    ['convert', '{in}', '--canonical'],
    ['run', '{in}', *LIMITS],
    ['run', '{in}', '--random', 'normal', '--json', *LIMITS],
    ['run', '{in}', '--engine', 'cpu', *LIMITS],
    ['diff', '{in}', '{in}', *LIMITS],
    ['diff', '{seed}', '{in}', *LIMITS],
    ['diff', '{in}', '{seed}', '--json', *LIMITS],
    ['diff', '{dump}', '--from', 'before', '--to', '0', *LIMITS],
    ['dump', '{dump}', '--passes', '--timeout', '5'],
    ['bisect', '{dump}', *LIMITS],
    ['opt', '{in}', *LIMITS],
    ['opt', '{in}', '--verify', '--passes', 'inline-calls,simplify,fold-constants,fuse,dce', '--json', *LIMITS],
    ['reduce', '{in}', '--check', 'fails', '--once', *LIMITS],
    ['reduce', '{in}', '--check', 'grep -q parameter', '-o', '{out}', *LIMITS],
    ['memory', '{in}'],
    ['memory', '{in}', '--json'],
    ['memory', '{in}', '--html', '{out}'],
    ['report', '{in}', '--target', 'v5e', '-o', '{out}'],
    ['convert', '{in}', '--to', 'svg', '-o', '{out}'],
    ['memory', '{in}', '--target', 'host', '--details'],
    ['cost', '{in}'],
    ['cost', '{in}', '--json'],
    ['query', '{in}', '--json'],
    ['query', '{in}', '--by', 'layer', '--target', 'v5e'],
    ['query', 'any(operands > 1) and not fused', '{in}', '--columns', 'name,depth,scope,intensity', '--sort', 'bytes'],
    ['query', '{in}', '--opcode', 'add,dot,fusion,while,reduce', '--with-operands', '1', '--extract', '{out}'],
    ['grep', '[0-9]', '{in}'],
    ['cost', '{in}', '--target', 'v5e', '--by', 'scope', '--tree', '--flame', '{out}'],
    ['cost', '{in}', '--target', 'h100', '--json'],
    ['cost', '{in}', '--by', 'layer', '--keep-transforms', '--json'],
    ['memory', '{in}', '--by', 'scope', '--flame', '{out}'],
    ['sharding', '{in}'],
    ['sharding', '{in}', '--partition', '--json'],
]
TO_MLIR = ['convert', '{in}', '--to', 'mlir', '-o', '{mlir}']
STATUSES = {0, 1, 2}
# What the reader of StableHLO refuses and the writer need not: limits of depth, and sizes that are open.
NOT_READ_BACK = ['nested more than', 'too many levels of nesting', 'HLO needs them', 'sizes of its result are not known']
SECONDS = 60      # of one process: its own limits end it long before
MEGABYTES = 1024  # of one process, whose values may take 64


def read_modules(paths):
    modules = []
    for path in paths:
        files = [path] if os.path.isfile(path) else sorted(
            os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        for file in files:
            if os.path.getsize(file) > LARGEST_MODULE:
                continue
            try:
                text = open(file, encoding='utf-8').read()
            except UnicodeDecodeError:
                continue
            if re.search(r'\bROOT\b|\bENTRY\b', text):
                modules.append((os.path.basename(file), text))
    return modules


def replace_type(text, rng):
    found = sorted(set(re.findall(r'\b(%s)\[' % '|'.join(TYPES), text)))
    if not found:
        return text
    old, new = rng.choice(found), rng.choice(TYPES)
    return re.sub(r'\b%s\[' % old, new + '[', text)


def replace_size(text, rng):
    """Changes one size in the dimensions of all shapes and in attributes that have the same form."""
    found = sorted(set(re.findall(r'(?<=[\[,])\d+(?=[\],])', text)))
    if not found:
        return text
    old, new = rng.choice(found), str(rng.choice(SIZES))
    text = re.sub(r'(?<=[\[,])%s(?=[\],])' % old, new, text)
    if rng.random() < 0.5:
        text = re.sub(r'(?<=size=)%s\b|(?<=[x=])%s(?=[x,}\s])' % (old, old), new, text)
    return text


def replace_number(text, rng):
    found = list(re.finditer(r'(?<![\w.%])-?\d+(?![\w.])', text))
    if not found:
        return text
    at = rng.choice(found)
    return text[:at.start()] + str(rng.choice(SIZES + [-1, -2**63])) + text[at.end():]


def replace_operand(text, rng):
    names = sorted(set(re.findall(r'^\s*(?:ROOT )?%?([\w.\-]+) = ', text, re.M)))
    uses = list(re.finditer(r'(?<=[(, %%])(?:%s)(?=[,)])' % '|'.join(map(re.escape, names)), text)) if names else []
    if not uses:
        return text
    at = rng.choice(uses)
    return text[:at.start()] + rng.choice(names) + text[at.end():]


class Opcodes:
    """The operations of `kashi ops` by the number of their operands; -1 for any number."""

    def __init__(self, kashi):
        lines = subprocess.run([kashi, 'ops', '--json'], capture_output=True, text=True, check=True).stdout.splitlines()
        self.operands = {op['name']: op['operands'] for op in map(json.loads, lines)}

    def replace(self, text, rng):
        """Replaces one operation everywhere, usually by one with the same number of operands."""
        found = sorted(set(re.findall(r' ([a-z][a-z0-9-]*)\(', text)) &
                       self.operands.keys() - {'parameter', 'constant'})
        if not found:
            return text
        old = rng.choice(found)
        alike = [name for name, operands in self.operands.items() if operands == self.operands[old]]
        new = rng.choice(alike if rng.random() < 0.8 else list(self.operands))
        return re.sub(r' %s\(' % re.escape(old), ' %s(' % new, text)


def replace_one_type(text, rng):
    """Changes the type of one shape. Modules with a schedule may mix precisions."""
    found = list(re.finditer(r'\b(%s)(?=\[)' % '|'.join(TYPES), text))
    if not found:
        return text
    at = rng.choice(found)
    text = text[:at.start()] + rng.choice(TYPES) + text[at.end():]
    return text if 'is_scheduled' in text else re.sub(r'^(HloModule [^\s,]+)', r'\1, is_scheduled=true', text, 1, re.M)


def replace_devices(text, rng):
    """Changes the number of devices in the header."""
    text = re.sub(r', (replica_count|num_partitions)=\d+', '', text, 2)
    counts = [rng.choice(['', ', %s=%d' % (word, rng.choice([2, 3, 4, 8]))])
                         for word in ('replica_count', 'num_partitions')]
    return re.sub(r'^(HloModule [^\s,]+)', lambda match: match.group(1) + ''.join(counts), text, 1, re.M)


def replace_layouts(text, rng):
    """Changes or removes all layouts of two dimensions, or only their tiles."""
    layout = rng.choice(['', '{1,0}', '{0,1}', '{1,0:T(8,128)}',
                        '{1,0:T(2,128)(2,1)S(1)}', '{0,1:E(4)}', '{1,0:L(16)}'])
    return re.sub(r'\{[01],[01](?::[^{}]*)?\}(?=[ ,)])', lambda _: layout, text)


def replace_dynamic(text, rng):
    """Makes one size dynamic, with or without a bound."""
    sizes = sorted(set(re.findall(r'(?<=[\[,])\d+(?=[\],])', text)))
    if not sizes:
        return text
    size = rng.choice(sizes)
    return re.sub(r'(?<=[\[,])%s(?=[\],])' % size, rng.choice(['<=' + size, '?']), text)


# ---- Mutations that break rules -------------------------------------------------------------------------------------

ATTRIBUTE = r'(, [a-z_]+=)(\{[^{}]*\}|[\w.\-]+)'  # without braces in braces


def replace_list(text, rng):
    """Changes an attribute that is a number or a list of numbers: a number, one more, one less, or a repetition."""
    found = list(re.finditer(r'(, [a-z_]+=)(\{)?([0-9,\- ]+)(\})?', text))
    if not found:
        return text
    at = rng.choice(found)
    numbers = [number for number in at.group(3).split(',') if number.strip()]
    change = rng.randrange(4)
    odd = str(rng.choice(SIZES + [-1, -2**63, 100000]))
    if change == 0 or not numbers:
        numbers.append(odd)
    elif change == 1:
        numbers[rng.randrange(len(numbers))] = odd
    elif change == 2:
        numbers.pop()
    else:
        numbers[-1] = numbers[0]
    if at.group(2) is None:
        numbers = numbers[:1] or ['0']
    return text[:at.start()] + at.group(1) + (at.group(2) or '') + ','.join(numbers) + (at.group(4) or '') + text[at.end():]


def drop_attribute(text, rng):
    found = list(re.finditer(ATTRIBUTE, text))
    if not found:
        return text
    at = rng.choice(found)
    return text[:at.start()] + text[at.end():]


def move_attribute(text, rng):
    """Gives one instruction an attribute of another one."""
    found = list(re.finditer(ATTRIBUTE, text))
    calls = list(re.finditer(r' [a-z][a-z0-9-]*\([^()]*\)', text))
    if not found or not calls:
        return text
    at = rng.choice(calls)
    return text[:at.end()] + rng.choice(found).group(0) + text[at.end():]


def change_operand_count(text, rng):
    """Repeats or removes an operand."""
    calls = [at for at in re.finditer(r'( [a-z][a-z0-9-]*\()([^()]+)(\))', text) if at.group(1) != ' parameter(']
    if not calls:
        return text
    at = rng.choice(calls)
    operands = at.group(2).split(', ')
    if rng.random() < 0.5:
        operands.pop(rng.randrange(len(operands)))
    else:
        operands.insert(rng.randrange(len(operands) + 1), rng.choice(operands))
    return text[:at.start(2)] + ', '.join(operands) + text[at.end(2):]


def replace_computation(text, rng):
    """Calls another computation."""
    names = re.findall(r'^%?([\w.\-]+) (?:\([^\n]*)?\{\s*$', text, re.M)
    uses = list(re.finditer(r'(?:to_apply|calls|condition|body|select|scatter|computation)=%?([\w.\-]+)', text))
    if not names or not uses:
        return text
    at = rng.choice(uses)
    return text[:at.start(1)] + rng.choice(names) + text[at.end(1):]


def change_rank(text, rng):
    """Adds or removes a dimension of one shape, which loses its layout."""
    found = list(re.finditer(r'\[([0-9,]*)\](\{[^{}]*\})?(?=[ ,)])', text))
    if not found:
        return text
    at = rng.choice(found)
    sizes = [size for size in at.group(1).split(',') if size]
    if sizes and rng.random() < 0.5:
        sizes.pop(rng.randrange(len(sizes)))
    else:
        sizes.insert(rng.randrange(len(sizes) + 1), str(rng.choice([0, 1, 2, 3])))
    return text[:at.start()] + '[' + ','.join(sizes) + ']' + text[at.end():]


def replace_whole_shape(text, rng):
    """Gives one instruction the shape of another one: tuples for arrays and arrays for tuples."""
    found = list(re.finditer(r'(?<= = )(\([^=\n]*?\)|\S+)(?= [a-z][a-z0-9-]*\()', text))
    if not found:
        return text
    at = rng.choice(found)
    return text[:at.start()] + rng.choice(found).group(0) + text[at.end():]


BREAKING = [replace_list, replace_list, drop_attribute, move_attribute, change_operand_count, replace_computation,
            change_rank, replace_whole_shape]


def mutate(text, opcodes, rng):
    if rng.random() < 0.4:
        for _ in range(rng.choice([1, 1, 1, 2])):
            text = rng.choice(BREAKING)(text, rng)
        return text
    rules = [replace_type, replace_one_type, replace_size, replace_size, replace_number, replace_operand,
        opcodes.replace, opcodes.replace, replace_devices, replace_layouts, replace_dynamic]
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        text = rng.choice(rules)(text, rng)
    return text


def run(command):
    """The exit status, or an error message about the process, and its standard error."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        is_late = not timer.is_alive()
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read()
    if is_late:
        return 'more than %d seconds' % SECONDS, text
    if usage.ru_maxrss > MEGABYTES << 10:
        return '%d MB of memory' % (usage.ru_maxrss >> 10), text
    return process.returncode, text


def judge_mlir(kashi, mutant, mlir):
    """Error messages about StableHLO: what the command writes it must read."""
    written, errors = run([kashi, *(part.replace('{in}', mutant).replace('{mlir}', mlir) for part in TO_MLIR)])
    if written != 0:
        return [] if written in STATUSES and errors else ['to mlir: %s\n%s' % (written, errors.decode(errors='replace')[-500:])]
    read, errors = run([kashi, 'convert', mlir])
    text = errors.decode(errors='replace')
    if read == 0 or any(reason in text for reason in NOT_READ_BACK):
        return []
    return ['cannot be read back from mlir: %s\n%s' % (read, text[-500:])]


def make_dump(folder, seed, mutant):
    """A folder with the names of XLA's dumps: a pass has made the mutant of the seed."""
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for name, path in (('before_optimizations', seed), ('0000.p.after_q.before_r', mutant)):
        os.symlink(os.path.abspath(path), os.path.join(folder, f'module_0001.m.{name}.txt'))
    return folder


def judge(kashi, mutant, seed, out, rng):
    """The error messages about one mutant, and whether verify accepted it."""
    status, errors = run([kashi, 'verify', mutant])
    if status not in STATUSES:
        return ['verify: %s\n%s' % (status, errors.decode(errors='replace')[-500:])], False
    complaints = judge_mlir(kashi, mutant, out + '.mlir')
    dump = make_dump(out + '.dump', seed, mutant)
    for verb in VERBS if status == 0 else rng.sample(VERBS, 4):
        names = {'{in}': mutant, '{out}': out, '{seed}': seed, '{dump}': dump}
        command = [names.get(part, part) for part in verb]
        result, errors = run([kashi, *command])
        text = errors.decode(errors='replace')
        if result not in STATUSES or (result != 0 and verb[0] == 'run' and not text and '--json' not in verb):
            complaints.append('%s: %s\n%s' % (' '.join(command), result, text[-500:]))
    return complaints, status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kashi', required=True)
    parser.add_argument('--count', type=int, default=40)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--modules', nargs='*', default=SEEDS)
    parser.add_argument('--keep', help='the folder for mutants that fail', default='.')
    parser.add_argument('--jobs', type=int, default=os.cpu_count(), help='the number of mutants at a time')
    arguments = parser.parse_args()
    opcodes = Opcodes(arguments.kashi)
    modules = read_modules(arguments.modules)
    if not modules:
        sys.exit('no modules in ' + ' '.join(arguments.modules))

    folder = tempfile.mkdtemp(prefix='kashi_mutation_')

    def one(i):
        rng = random.Random(arguments.seed * 1_000_003 + i)
        name, text = rng.choice(modules)
        mutant = os.path.join(folder, 'mutant_%d_%s' % (i, name))
        seed, out = mutant + '.seed', mutant + '.out'
        for file, content in ((mutant, mutate(text, opcodes, rng)), (seed, text)):
            with open(file, 'w', encoding='utf-8') as opened:
                opened.write(content)
        complaints, taken = judge(arguments.kashi, mutant, seed, out, rng)
        if complaints:
            kept = os.path.join(arguments.keep, os.path.basename(mutant))
            shutil.copy(mutant, kept)
            print('%s:\n  %s' % (kept, '\n  '.join(complaints)), flush=True)
        for file in (mutant, seed, out, out + '.mlir'):
            if os.path.exists(file):
                os.remove(file)
        return bool(complaints), taken

    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(one, range(arguments.count)))
    shutil.rmtree(folder)
    failed, taken = sum(r[0] for r in results), sum(r[1] for r in results)
    print('seed %d: %d mutants of %d modules, %d accepted by verify, %d failed' %
          (arguments.seed, len(results), len(modules), taken, failed))
    if taken == 0 and arguments.count >= 20:
        sys.exit('verify accepted none: nothing was tested')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
