#!/usr/bin/env python3
"""Asks real XLA which shape it infers for random operations, and writes shape_inference_cases.tsv.

  make_shape_inference_cases.py [SEED [COUNT]] > shape_inference_cases.tsv        needs a Python with jax

HLO text without a result shape makes XLA infer it, so only operations are here whose shape text may leave out."""
import json
import os
import random
import re
import sys

os.environ['JAX_PLATFORMS'] = 'cpu'
import jaxlib
import jaxlib._hlo as hlo

OPS_DEF = os.path.join(os.path.dirname(__file__), '../../kashi/hlo/ir/ops.def')
rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 700

# ---- Asking -------------------------------------------------------------------------------------------------------


def in_child(function):
    """What the function returns, or None if the process dies of it."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(write, json.dumps(function()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else None


def shape_of(line):
    """The shape of `  ROOT r = (f32[2]{0}, /*index=1*/s32[]) sort(...)`."""
    text = re.sub(r'/\*index=\d+\*/', '', line.split(' = ', 1)[1])
    depth = 0
    for i, c in enumerate(text):
        depth += (c in '({[') - (c in ')}]')
        if c == ' ' and depth == 0:
            return text[:i]


def infer(text):
    """(verdict, shape or error)"""
    def ask():
        try:
            lines = hlo.hlo_module_from_text(text).to_string().splitlines()
            return 'ok', shape_of([l for l in lines if l.startswith('  ROOT ')][-1])
        except Exception as error:
            message = str(error)
            if 'failed to infer' in message:
                return 'error', message.split('error: ', 2)[2].split('\n')[0]
            return 'reader', message
    return in_child(ask) or ('abort', '')


def module(opcode, operands, attributes, computations):
    text = 'HloModule m\n'
    calls = []
    for i, (name, parameters, result) in enumerate(computations):
        text += f'c{i} {{\n' + ''.join(f'  a{j} = {s} parameter({j})\n' for j, s in enumerate(parameters))
        text += f'  ROOT z = {result} custom-call(), custom_call_target="x"\n}}\n'
        calls.append(f'{name}=c{i}')
    text += 'ENTRY e {\n' + ''.join(f'  p{i} = {s} parameter({i})\n' for i, s in enumerate(operands))
    text += f'  ROOT r = {opcode}(' + ', '.join(f'p{i}' for i in range(len(operands))) + ')'
    return text + ''.join(f', {a}' for a in [hlo_text for _, _, hlo_text in attributes] + calls) + '\n}\n'


# ---- Shapes -------------------------------------------------------------------------------------------------------

TYPES = ['f32'] * 8 + ['bf16', 'f16', 'f64', 's32', 's32', 'u32', 's8', 'u8', 'pred', 'pred', 'c64', 'c128', 'f8e4m3fn',
                       's4', 'f8e5m2', 'u4', 'f4e2m1fn', 'f8e8m0fnu', 's64', 'u64']
FLOATS = ['f32', 'bf16', 'f16', 'f64']
SIZES = [1, 2, 3, 4, 5, 0, 7]
NO_ARRAYS = ['token[]', '()', '(f32[2])', '(f32[2], s32[])', 'opaque[]', 'b(f32[2])', 'b(f32[])']


def often(p): return rng.random() < p
def any_type(): return rng.choice(TYPES)
def near_type(t): return t if often(.8) else any_type()
def joined(values): return ','.join(map(str, values))


def size():
    n = rng.choice(SIZES[:5] * 3 + SIZES)
    return f'<={n}' if often(.12) else '?' if often(.05) else str(n)


def sizes(low=0, high=4): return [size() for _ in range(rng.randint(low, high))]


def near_sizes(d):
    d = list(d)
    if d and often(.35):
        i = rng.randrange(len(d))
        d[i] = rng.choice(['1', '?', '<=' + d[i].lstrip('<=').replace('?', '3'), size(), '<=1'])
    return sizes() if often(.04) else d


def layout(rank):
    if rank == 0 or often(.7):
        return ''
    rest = rng.choice(['', '', '', ':T(2)', ':T(2,2)', ':S(1)', ':T(8,128)(2,1)', ':E(4)'])
    return '{' + joined(rng.sample(range(rank), rank)) + rest + '}'


def shape(t, d): return f'{t}[{",".join(d)}]{layout(len(d))}'
def any_shape(low=0, high=4): return rng.choice(NO_ARRAYS) if often(.02) else shape(any_type(), sizes(low, high))
def nearly(s): return s if often(.97) else rng.choice(NO_ARRAYS)


def near_scalar(t):
    if often(.9):
        return f'{t}[]'
    return rng.choice([f'{any_type()}[]', 'f32[2]', 'token[]', '(f32[])', 'f32[<=2]', 'b(f32[])'])


def dimension(rank): return rng.randint(-1, rank + 1) if often(.08) or rank == 0 else rng.randrange(rank)
def dimensions(values): return 'dimensions', joined(values), f'dimensions={{{joined(values)}}}'


def window(rank):
    rare = lambda n, bad: n if often(.98) else bad
    w = [[rare(rng.randint(1, 4), rng.randint(-1, 0)), rare(rng.randint(1, 3), 0), rng.choice([0, 0, 0, 1, 2, -1, -2]),
          rng.choice([0, 0, 0, 1, 2, -1]), rare(rng.choice([1, 1, 2, 3]), 0), rare(rng.choice([1, 1, 2]), -1)]
         for _ in range(rank)]
    part = lambda name, f: f'{name}=' + 'x'.join(f(d) for d in w)
    text = ' '.join([part('size', lambda d: f'{d[0]}'), part('stride', lambda d: f'{d[1]}'),
                     part('pad', lambda d: f'{d[2]}_{d[3]}'), part('lhs_dilate', lambda d: f'{d[4]}'),
                     part('rhs_dilate', lambda d: f'{d[5]}')]) if w else ''
    return w, ('window', ';'.join(joined(d) for d in w), f'window={{{text}}}')


def windowed(d, w):
    def one(s, v):
        if s == '?':
            return s
        n = int(s.lstrip('<='))
        base = v[2] + (0 if n == 0 else (n - 1) * v[4] + 1) + v[3]
        extent = (v[0] - 1) * v[5] + 1
        count = 0 if base <= 0 or extent > base or v[1] == 0 else (base - extent) // v[1] + 1
        return f'<={count}' if s.startswith('<') else str(count)
    return [one(s, v) for s, v in zip(d, w)]


def reducer(types, name='to_apply', may_be_tuple=True):
    near = lambda t: rng.choice(FLOATS) if t in FLOATS and often(.15) else t
    accumulators = [near(t) for t in types]
    parameters = [near_scalar(t) for t in accumulators] + [near_scalar(near(t)) for t in types]
    if often(.05):
        parameters.pop()
    results = [f'{t}[]' if often(.96) else near_scalar(t) for t in accumulators]
    one = not may_be_tuple or (often(.9) if len(types) == 1 else often(.03))
    return name, parameters, results[0] if one else f'({", ".join(results)})'


# ---- Operations: (opcode, operands, attributes, computations), or None for what HLO text does not ask -------------


def with_rule(rule):
    with open(OPS_DEF) as table:
        return [l.split('"')[1] for l in table if l.startswith('KASHI_OP(') and f', {rule},' in l]


UNARY, BINARY = with_rule('Unary') + ['copy'], with_rule('Binary') + ['compare']


def unary(): return rng.choice(UNARY), [any_shape()], [], []


def binary():
    opcode, t, d = rng.choice(BINARY), any_type(), sizes()
    operands = [shape(t, d), nearly(shape(near_type(t), near_sizes(d)))]
    rng.shuffle(operands)
    return opcode, operands, [('', '', 'direction=EQ')] if opcode == 'compare' else [], []


def ternary():
    t, d = any_type(), sizes(0, 3)
    side = lambda t: nearly(shape(near_type(t), [] if often(.3) else near_sizes(d)))
    if often(.5):
        return 'select', [side('pred'), shape(near_type(t), d), shape(near_type(t), near_sizes(d))], [], []
    return 'clamp', [side(t), shape(t, d), side(t)], [], []


def tuple_(): return 'tuple', [any_shape() for _ in range(rng.randint(0, 4))], [], []


def sort():
    d, n = sizes(0, 3), rng.randint(0, 3)
    operands = [shape(any_type(), near_sizes(d) if often(.3) else d) for _ in range(n)]
    return 'sort', operands, [dimensions([0])], [('to_apply', ['f32[]'] * 2 * max(n, 1), 'pred[]')]


def reverse():
    d = sizes()
    k = [dimension(len(d)) for _ in range(rng.randint(0, len(d)))]
    return 'reverse', [nearly(shape(any_type(), d))], [dimensions(k if often(.3) else dict.fromkeys(k))], []


def transpose():
    d = sizes()
    k = rng.sample(range(len(d)), len(d)) if often(.9) else [dimension(len(d)) for _ in range(rng.randint(0, 4))]
    return 'transpose', [nearly(shape(any_type(), d))], [dimensions(k)], []


def concatenate():
    t, d = any_type(), sizes(1, 3)
    k = dimension(len(d))
    def operand():
        e = list(d)
        if often(.8):
            e[k % len(e)] = size()
        if often(.5):
            e = [rng.choice([x, x, x, '?', '<=' + x.lstrip('<=').replace('?', '3')]) for x in e]
        return nearly(shape(near_type(t) if often(.4) else t, e))
    return 'concatenate', [operand() for _ in range(rng.randint(1, 4))], [dimensions([k])], []


def pad():
    t, d = any_type(), sizes(1, 3)
    rank = max(1, len(d) + (rng.choice([-1, 1]) if often(.05) else 0))
    text = 'x'.join(f'{rng.randint(-3, 4)}_{rng.randint(-3, 4)}_{rng.choice([0, 0, 1, 2])}' for _ in range(rank))
    value = shape(near_type(t), [] if often(.95) else sizes(1, 1))
    return 'pad', [nearly(shape(t, d)), value], [('padding', text, f'padding={text}')], []


def broadcast():
    k = [rng.choice(SIZES if often(.9) else [-1]) for _ in range(rng.randint(0, 3))]
    return 'broadcast', [any_shape(0, 3)], [dimensions(k)], []


def get_dimension_size():
    d = sizes(0, 3)
    return 'get-dimension-size', [shape(any_type(), d)], [dimensions([dimension(len(d))])], []


def set_dimension_size():
    d = sizes(0, 3)
    value = 's32[]' if often(.7) else rng.choice(['u32[]', 's32[1]', 'token[]', 's64[]'])
    return 'set-dimension-size', [shape(any_type(), d), value], [dimensions([dimension(len(d))])], []


def get_tuple_element():
    n = rng.randint(1, 3)
    i = rng.randrange(n)
    return 'get-tuple-element', [f'({", ".join(any_shape() for _ in range(n))})'], [('index', str(i), f'index={i}')], []


def topk():
    k = rng.randint(-1, 7)
    return 'topk', [any_shape(1, 3)], [('k', str(k), f'k={k}')], []


def reduce_():
    d, types = sizes(), [any_type() for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    k = [i for i in range(len(d)) if often(.5)] + ([dimension(len(d))] if often(.1) else [])
    rng.shuffle(k)
    operands = [shape(t, near_sizes(d) if often(.2) else d) for t in types] + [near_scalar(t) for t in types]
    return 'reduce', operands, [dimensions(k)], [reducer(types)]


def reduce_window():
    t, d = any_type(), sizes(0, 3)
    _, w = window(len(d) if often(.95) else rng.randint(0, 3))
    return 'reduce-window', [nearly(shape(t, d)), near_scalar(t)], [w], [reducer([t], may_be_tuple=False)]


def select_and_scatter():
    t, d = any_type(), sizes(0, 3)
    numbers, w = window(len(d))
    parameters = [near_scalar(t) if often(.2) else f'{t}[]' for _ in range(2 if often(.96) else rng.randint(0, 3))]
    select = ('select', parameters, 'pred[]' if often(.96) else near_scalar(t))
    out = windowed(d, numbers)
    source = nearly(shape(t if often(.8) else rng.choice(FLOATS), near_sizes(out) if often(.3) else out))
    scatter = reducer([t], 'scatter', may_be_tuple=False)
    return 'select-and-scatter', [nearly(shape(t, d)), source, f'{t}[]'], [w], [select, scatter]


def map_():
    d, types = sizes(0, 3), [any_type() for _ in range(rng.randint(1, 3))]
    if often(.3):
        types = types[:1] * len(types)
    operands = [shape(t, (near_sizes(d) if often(.2) else d) if often(.9) else []) for t in types]
    operands[0] = nearly(operands[0])
    k = range(len(d)) if often(.94) else [dimension(len(d)) for _ in range(rng.randint(0, 3))]
    parameters = [near_scalar(t) if often(.3) else f'{t}[]' for t in types]
    return 'map', operands, [dimensions(k)], [('to_apply', parameters[often(.04):], near_scalar(any_type()))]


def scan():
    n = rng.randint(1, 3)
    carries, d = rng.randint(0, n - 1), sizes(1, 3)
    i = rng.randrange(len(d))
    operands = [shape(any_type(), d) for _ in range(n - carries)] + [shape('f32', sizes(0, 2)) for _ in range(carries)]
    results = [shape(any_type(), sizes(len(d) - 1, 3)) for _ in range(rng.randint(1, 3))]
    result = results[0] if len(results) == 1 and often(.7) else f'({", ".join(results)})'
    attributes = [dimensions([i]), ('num_carries', str(carries), f'num_carries={carries}')]
    return 'scan', operands, attributes, [('to_apply', ['f32[]'] * n, result)]


# The examples of docs/spec/array-model.md, 7.
EXAMPLES = {
    'abs': '''c64[2] f32[3] f32[<=3] f32[?] s32[2]''',
    'add': '''b(f32[2])|b(f32[2]) bf16[?]|f32[<=4] c64[2]|f32[2] f16[2]|bf16[2] f32[0]|f32[0] f32[0]|f32[2]
        f32[1,2,5]|f32[7,2,5] f32[1]|bf16[2] f32[1]|f32[?] f32[2,1,4]|f32[2,3,1] f32[2,3]{0,1}|f32[2,3]
        f32[2,3]|f32[2] f32[2]{0:T(8)}|f32[2] f32[2]|f32[4] f32[2]|s32[2] f32[3]|f32[?] f32[7,2,5]|f32[7,2,6]
        f32[<=1]|f32[1] f32[<=1]|f32[3] f32[<=1]|f32[<=3] f32[<=2,1]|f32[1,<=5] f32[<=3]|f32[1] f32[<=3]|f32[4]
        f32[<=3]|f32[<=4] f32[<=3]|f32[?] f32[<=4]|f32[] f32[?,1]|f32[1,?] f32[?,3]|f32[2,?] f32[?]|f32[0]
        f32[?]|f32[1] f32[?]|f32[<=3] f32[]|f32[2,3] f32[]|f32[] f4e2m1fn[2]|f8e8m0fnu[2] token[]|f32[]''',
    'and': '''pred[2]|pred[2] s32[2]|s32[1]''',
    'clamp': '''bf16[2]|f32[2]|f32[2] c64[]|c64[2]|c64[] f32[2]|f32[<=2]|f32[2] f32[2]|f32[?]|f32[] f32[2]|f32[]|f32[2]
        f32[<=2]|f32[2]|f32[] f32[?]|f32[?]|f32[?] f32[]|f32[2]|f32[2] f32[]|f32[2]|f32[] f32[]|f32[?]|f32[]
        pred[]|pred[2]|pred[]''',
    'compare': '''f32[2]|s32[2]''',
    'complex': '''bf16[2]|bf16[2] f64[2]|f32[2] s32[2]|s32[2]''',
    'minimum': '''s8[3]|s8[1]''',
    'negate': '''c64[2] f32[3] f32[<=3] f32[?] pred[2] s32[2]''',
    'not': '''c64[2] f32[2,3]{0,1:T(2)} f32[3] f32[<=3] pred[2]''',
    'select': '''pred[1]|f32[2]|f32[2] pred[2]|f32[2]|bf16[2] pred[2]|f32[2]|f32[3] pred[2]|f32[2]|f32[<=2]
        pred[2]|f32[2]|f32[] pred[2]|f32[2]|s32[2] pred[2]|f32[]|f32[] pred[?]|f32[2]|f32[2]
        pred[?]|f32[?]|f32[<=2] pred[]|f32[?]|f32[2] pred[]|f32[?]|f32[?]''',
}


def examples():
    for opcode, cases in EXAMPLES.items():
        attributes = [('', '', 'direction=LT')] if opcode == 'compare' else []
        yield from ((opcode, operands.split('|'), attributes, []) for operands in cases.split())


MIX = ([unary] * 6 + [binary] * 8 + [ternary] * 4 + [tuple_, sort, reverse, transpose, transpose] + [concatenate] * 5 +
       [pad] * 3 + [broadcast] * 2 + [get_dimension_size, set_dimension_size, get_tuple_element, topk, topk] +
       [reduce_] * 5 + [reduce_window] * 5 + [select_and_scatter] * 4 + [map_] * 4 + [scan] * 3)
# Errors that hold file names, a proto's random debug text, or the wrong operand's shape: only the verdict counts.
UNSTABLE = ('RET_CHECK', 'Window ', 'Bad StatusOr', 'overflow', 'The rank of the operand and the padding',
            "Mapped computation's parameter type")

print(
    f'''# Operations, and the shape (with layout) or the error that real XLA (jaxlib {jaxlib.__version__}) infers; abort: XLA
# dies. Made by make_shape_inference_cases.py. Tab separated: operation, verdict, shape or error (or nothing), operands
# a|b, attributes name=value, computations a|b->result joined by &. Window: size,stride,low,high,base and window
# dilation of each dimension; padding: low_high_interior.''')
seen = set()
fixed = list(examples())
while len(seen) < COUNT:
    opcode, operands, attributes, computations = case = fixed.pop(0) if fixed else rng.choice(MIX)()
    if repr(case) in seen:
        continue
    verdict, text = infer(module(*case))
    # The reader's own errors; and the invalid shapes that a scan over `?` infers.
    if verdict == 'reader' and not text.startswith(UNSTABLE) or re.search(r'[\[,]-9223372036854775808', text):
        continue
    seen.add(repr(case))
    print('\t'.join([opcode, 'error' if verdict == 'reader' else verdict, '' if text.startswith(UNSTABLE) else text,
                     '|'.join(operands), ' '.join(f'{name}={value}' for name, value, _ in attributes if name),
                     '&'.join('|'.join(parameters) + '->' + result for _, parameters, result in computations)]))
