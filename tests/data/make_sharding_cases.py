"""Asks real XLA (jaxlib) again about the inputs in sharding_cases.tsv: python3 make_sharding_cases.py < old > new

A row is a kind, an input, XLA's verdict (ok, error, or abort: the process died) and what XLA prints. Kinds: `sharding`;
`groups`, replica_groups of a collective; `metadata`, inside a sharding, where XLA prints all of it. The verdict
`unsafe` is kept: XLA took the text by luck, reading or writing where nothing is, or let a number wrap around.
"""
import os
import sys

import jaxlib._hlo as hlo


def first_instruction(body, prefix):
    text = hlo.hlo_module_from_text('HloModule m\n\nENTRY e {\n%s\n}\n' % body).to_string()
    root = next(line for line in text.split('\n') if 'ROOT' in line)
    return root.split(prefix, 1)[1]


def ask(kind, text):
    if kind == 'sharding':
        return first_instruction('  ROOT p = f32[4,4] parameter(0), sharding=' + text, ', sharding=')
    if kind == 'metadata':
        sharding = '{replicated metadata=%s}' % text
        printed = first_instruction('  ROOT p = f32[4,4] parameter(0), sharding=' + sharding, ', sharding=')
        return printed[len('{replicated metadata='):-1]
    body = '  p = f32[4] parameter(0)\n  ROOT r = f32[8] all-gather(p), replica_groups=%s, dimensions={0}' % text
    return first_instruction(body, ', replica_groups=').replace(', dimensions={0}', '')


def ask_in_child(kind, text):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            answer = 'ok\t' + escape(ask(kind, text))
        except Exception:  # pylint: disable=broad-except
            answer = 'error\t'
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, 'rb') as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer or 'abort\t'


def escape(text):
    return text.replace('\\', '\\\\').replace('\t', '\\t').replace('\n', '\\n').replace('\r', '\\r')


def unescape(text):
    parts = text.split('\\\\')
    return '\\'.join(p.replace('\\t', '\t').replace('\\n', '\n').replace('\\r', '\r') for p in parts)


for line in sys.stdin.read().split('\n'):
    if not line or line.startswith('#'):
        print(line) if line else None
        continue
    kind, text, verdict = line.split('\t')[:3]
    if verdict == 'unsafe':
        print(kind, text, 'unsafe', '', sep='\t')
    else:
        print(kind, text, ask_in_child(kind, unescape(text)), sep='\t')
