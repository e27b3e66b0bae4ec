#!/usr/bin/env python3
"""One promise, end to end: what `kashi verify` accepts, every verb answers with a value or an error, soon.

  mutation_test.py --kashi build/kashi [--count 40] [--seed 1] [--modules PATH…] [--keep FOLDER]

Takes modules, changes one type or one size in them everywhere (which many modules survive: what their instructions say of
each other still holds), or one number or one operand somewhere, and gives each to the verbs. A process that dies of a signal
or of the time limit is a failure; so is an exit status that the contract does not know, and a run whose error is empty.
A failure prints the mutant's file; the seed, printed at the end, gives the same mutants again. Without --modules the seeds
are those of the fuzzers. By hand:  mutation_test.py --kashi build/kashi --count 20000 --seed 7 --modules FOLDER
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS = [os.path.join(HERE, '..', 'fuzz', 'corpus', name)
         for name in ('hlo_evaluate_fuzz', 'hlo_verify_fuzz', 'hlo_memory_fuzz')]
LARGEST_MODULE = 100_000

TYPES = ['pred', 's1', 's2', 's4', 's8', 's16', 's32', 's64', 'u4', 'u8', 'u16', 'u32', 'u64', 'f16', 'bf16', 'f32', 'f64',
         'f8e4m3fn', 'f8e5m2', 'f4e2m1fn', 'c64', 'c128', 'token']
SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 64, 100, 255, 1000, 65536, 2**31 - 1, 2**31, 2**32, 2**40, 2**61, 2**62, 2**63 - 1]

# What each verb is asked; {in} is the mutant, {out} a file that may be written.
LIMITS = ['--memory-limit', '64M', '--max-work', '1000000000', '--timeout', '5']
VERBS = [
    ['convert', '{in}'],
    ['convert', '{in}', '--to', 'json'],
    ['convert', '{in}', '--to', 'pb', '-o', '{out}'],
    ['convert', '{in}', '--to', 'dot'],
    ['run', '{in}', *LIMITS],
    ['run', '{in}', '--random', '--json', *LIMITS],
    ['diff', '{in}', '{in}', *LIMITS],
    ['memory', '{in}'],
    ['memory', '{in}', '--json'],
    ['memory', '{in}', '--html', '{out}'],
    ['cost', '{in}'],
    ['cost', '{in}', '--json'],
]
STATUSES = {0, 1, 2}
SECONDS = 60  # of one process: its own limits end it long before


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
    """One size, in the dimensions of all shapes and in attributes that are written alike."""
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


def mutate(text, rng):
    for _ in range(rng.choice([1, 1, 1, 2])):
        text = rng.choice([replace_type, replace_size, replace_size, replace_number, replace_operand])(text, rng)
    return text


def run(command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
        return done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        return 'more than %d seconds' % SECONDS, b''


def judge(kashi, mutant, out):
    """The complaints about one mutant, and whether verify took it."""
    status, errors = run([kashi, 'verify', mutant])
    if status not in STATUSES:
        return ['verify: exit status %s\n%s' % (status, errors.decode(errors='replace')[-500:])], False
    if status != 0:
        return [], False
    complaints = []
    for verb in VERBS:
        command = [part.replace('{in}', mutant).replace('{out}', out) for part in verb]
        status, errors = run([kashi, *command])
        text = errors.decode(errors='replace')
        if status not in STATUSES or (status != 0 and verb[0] == 'run' and not text and '--json' not in verb):
            complaints.append('%s: exit status %s\n%s' % (' '.join(verb), status, text[-500:]))
    return complaints, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kashi', required=True)
    parser.add_argument('--count', type=int, default=40)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--modules', nargs='*', default=SEEDS)
    parser.add_argument('--keep', help='where mutants that fail are kept', default='.')
    arguments = parser.parse_args()
    modules = read_modules(arguments.modules)
    if not modules:
        sys.exit('no modules in ' + ' '.join(arguments.modules))

    folder = tempfile.mkdtemp(prefix='kashi_mutation_')

    def one(i):
        rng = random.Random(arguments.seed * 1_000_003 + i)
        name, text = rng.choice(modules)
        mutant = os.path.join(folder, 'mutant_%d_%s' % (i, name))
        with open(mutant, 'w', encoding='utf-8') as file:
            file.write(mutate(text, rng))
        out = mutant + '.out'
        complaints, taken = judge(arguments.kashi, mutant, out)
        if complaints:
            kept = os.path.join(arguments.keep, os.path.basename(mutant))
            shutil.copy(mutant, kept)
            print('%s:\n  %s' % (kept, '\n  '.join(complaints)), flush=True)
        for file in (mutant, out):
            if os.path.exists(file):
                os.remove(file)
        return bool(complaints), taken

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(one, range(arguments.count)))
    shutil.rmtree(folder)
    failed, taken = sum(r[0] for r in results), sum(r[1] for r in results)
    print('seed %d: %d mutants of %d modules, %d taken by verify, %d failed' %
          (arguments.seed, len(results), len(modules), taken, failed))
    if taken == 0 and arguments.count >= 20:
        sys.exit('verify took none: nothing was tested')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
