#!/usr/bin/env python3
"""Asks real XLA what it makes of constants, and writes literal_cases.tsv.

  make_literal_cases.py literal_cases.tsv > new.tsv        needs a Python with jax

Inputs are the first column of the file given, and numbers at random for every element type."""
import os
import random
import re
import sys

os.environ['JAX_PLATFORMS'] = 'cpu'
import jaxlib
import jaxlib._hlo as hlo

BEFORE = '  ROOT c = '


def ask(text):
    """(verdict, reprint, offset in `text` of the first error) in this process."""
    options = hlo.HloPrintOptions()
    options.print_large_constants = True
    try:
        module = hlo.hlo_module_from_text(f'HloModule m\nENTRY e {{\n{BEFORE}{text}\n}}\n')
        root = next(l for l in module.to_string(options).splitlines() if 'ROOT' in l)
        return 'ok', root.split(' = ', 1)[1], ''
    except Exception as error:
        at = re.search(r'was parsing 3:(\d+):', str(error))
        return 'error', '', str(int(at[1]) - 1 - len(BEFORE)) if at else ''


def ask_in_child(text):
    """The same; XLA may abort."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(write, '\0'.join(ask(text)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, 'rb') as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer.split('\0') if answer else ['abort', '', '']


FLOATS = ('f64 f32 f16 bf16 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e3m4 f8e5m2fnuz f8e4m3fnuz f4e2m1fn f8e8m0fnu').split()
INTEGERS = 's1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64'.split()


def random_cases(rng):
    for type_name in FLOATS:
        for _ in range(20):
            e = rng.choice([0, 0, 1, 2, 3, 5, 9, 30, 200]) * rng.choice([-1, 1])
            number = rng.choice(
                [f'{rng.uniform(-9, 9):.{rng.randint(1, 20)}f}e{e}', f'{rng.randint(-300, 300)}',
                 f'{rng.uniform(-500, 500):.{rng.randint(1, 5)}f}', f'{rng.randint(0, 64)}.{rng.choice("05")}',
                 f'{rng.uniform(0, 2):.17g}' +rng.choice(['', 'e-3', 'e-5', 'e-40'])])
            yield f'{type_name}[] constant({number})'
    for type_name in INTEGERS:
        bits = int(type_name[1:])
        for _ in range(6):
            yield f'{type_name}[] constant({rng.randint(-2 ** (bits - 1) - 1, 2 ** bits)})'
    for _ in range(30):
        part = lambda: rng.choice([f'{rng.uniform(-9, 9):.10g}', 'inf', '-inf',
                                  'nan', '-nan', '-0.0', '-0', 'nan(0x7)'])
        yield f'{rng.choice(["c64", "c128"])}[] constant(({part()}, {part()}))'


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        inputs = [line.rstrip('\n').split('\t')[0] for line in file if line.strip() and not line.startswith('#')]
    inputs += random_cases(random.Random(1))
    print(
        f'# Constants as the right side of an HLO instruction, and what real XLA (jaxlib {jaxlib.__version__}) makes of them.')
    print('# Made by make_literal_cases.py. Tab separated: input, verdict (ok, error, abort: the process died), reprint with')
    print('# large constants, byte of the input where the first error is.')
    for text in dict.fromkeys(inputs):
        print('\t'.join([text, *ask_in_child(text)]))


if __name__ == '__main__':
    main()
