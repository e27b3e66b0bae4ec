#!/usr/bin/env python3
"""Asks real XLA what element-wise operations make of their operands' shapes, and writes broadcast_cases.tsv.

  make_broadcast_cases.py > broadcast_cases.tsv        needs a Python with jax

HLO text without a result shape makes XLA infer it."""
import itertools
import os
import random

os.environ['JAX_PLATFORMS'] = 'cpu'
import jaxlib
import jaxlib._hlo as hlo


def infer(op, shapes):
    """(verdict, text): the inferred shape with layout, or the first error's text."""
    parameters = ''.join(f'  p{i} = {s} parameter({i})\n' for i, s in enumerate(shapes))
    operands = ', '.join(f'p{i}' for i in range(len(shapes)))
    text = f'HloModule m\nENTRY e {{\n{parameters}  ROOT r = {op}({operands})\n}}\n'
    try:
        root = next(l for l in hlo.hlo_module_from_text(text).to_string().splitlines() if 'ROOT' in l)
        return 'ok', root.split(' = ')[1].rsplit(f' {op}(', 1)[0]
    except Exception as error:
        first = str(error).split('error: ')
        return 'error', first[2].split('\n')[0] if 'failed to infer' in str(error) else str(error)


SIZES = ['1', '2', '3', '0', '?', '<=1', '<=2', '<=3']
TYPES = ['f32', 'bf16', 'f16', 's32', 'pred', 'c64', 's4', 'f8e4m3fn']


def cases():
    for a, b in itertools.product(SIZES, SIZES):
        yield 'add', [f'f32[{a}]', f'f32[{b}]']
    for a, b in itertools.product(TYPES, TYPES):
        yield 'add', [f'{a}[2]', f'{b}[2]']
    odd = ['token[]', '(f32[2])', '()', 'b(f32[2])', 'opaque[]', 'f32[2]']
    for a, b in itertools.product(odd, odd):
        yield 'add', [a, b]
    layouts = ['f32[2,3]', 'f32[2,3]{0,1}',
        'f32[2,3]{1,0:T(2,2)E(32)}', 'bf16[2,3]{0,1:S(1)}', 'f32[2,1]{0,1}', 'f32[]', 'f32[3]']
    for a, b in itertools.product(layouts, layouts):
        yield 'add', [a, b]
    rng = random.Random(7)
    for _ in range(150):
        rank = rng.randint(0, 4)
        def shape(t): return f"{t}[{','.join(rng.choice(SIZES[:3] + SIZES[4:]) for _ in range(rank))}]"
        yield 'add', [shape('f32'), shape(rng.choice(['f32', 'f32', 'bf16']))]
    for p, a, b in itertools.product(
        ['2', '<=2', '?', '1', '<=1', None],
        ['2', '<=2', '?', '1'],
        ['2', '<=2', '?', '1']):
        yield 'select', [f'pred[{p or ""}]', f'f32[{a}]', f'f32[{b}]']
    for shapes in itertools.product(
        ['pred[2,3]', 'pred[2,3]{0,1}', 'pred[]', 's32[2,3]', 'token[]'],
        ['f32[2,3]{0,1:T(2,2)}', 'bf16[2,3]', 'b(f32[2,3])'],
        ['f32[2,3]', 'f16[2,3]{0,1}', '()']):
        yield 'select', list(shapes)
    clamp = ['f32[2]', 'f32[]', 'f32[<=2]', 'f32[?]', 'bf16[2]',
        's32[2]', 'f32[3]', 'token[]', 'b(f32[2])', 'f32[2]{0:T(2)}']
    for shapes in itertools.product(clamp, clamp, clamp[:8]):
        yield 'clamp', list(shapes)


print(
    f'# Element-wise operations, and the shape (with layout) or the error that real XLA (jaxlib {jaxlib.__version__}) infers.')
print('# Made by make_broadcast_cases.py. Tab separated: operation, verdict, result or error, operands.')
for op, shapes in cases():
    verdict, text = infer(op, shapes)
    print('\t'.join([op, verdict, text, *shapes]))
