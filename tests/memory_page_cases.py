"""Modules for memory_page_test.py, and what the page says of one."""

PADDED = """HloModule padded, is_scheduled=true

ENTRY e {
  a = f32[256,512,128,2]{2,3,1,0:T(2,128)} parameter(0)
  b = f32[256,512,128,2]{3,2,1,0:T(8,128)} copy(a), metadata={op_name="jit(f)/transpose" source_file="model.py" source_line=12}
  ROOT r = f32[256,512,128,2]{2,3,1,0:T(2,128)} copy(b)
}
"""
TWO_SPACES = """HloModule two, is_scheduled=true

ENTRY e {
  a = f32[1024]{0:T(1024)} parameter(0)
  b = f32[1024]{0:T(1024)S(1)} negate(a)
  c = f32[2048]{0:T(1024)} custom-call(b), custom_call_target="x"
  ROOT r = f32[1024]{0:T(1024)} negate(b)
}
"""
# What kashi memory says of it, text for number.
TWO_SPACES_DATA = {
    "module": "two",
    "spaces": [{"name": "S(0) HBM", "level_steps": [2, 3], "level_bytes": [8192, 0], "temporaries": [2], "number": 0,
                "peak": 16384, "temp": 8192, "capacity": 16 << 30, "peak_step": 2},
               {"name": "S(1) VMEM", "level_steps": [1, 4], "level_bytes": [4096, 0], "temporaries": [1], "number": 1,
                "peak": 4096, "temp": 4096, "capacity": 0, "peak_step": 1}],
    "step_names": ["a", "b", "c", "r"],
    "step_operators": ["parameter", "negate", "custom-call", "negate"],
    "step_op_names": ["", "", "", ""],
    "values": ["a", "b", "c", "r"],
    "operators": ["parameter", "negate", "custom-call", "negate"],
    "shapes": ["f32[1024]{0:T(1024)}", "f32[1024]{0:T(1024)S(1)}", "f32[2048]{0:T(1024)}", "f32[1024]{0:T(1024)}"],
    "kinds": ["argument", "temporary", "temporary", "output"],
    "op_names": ["", "", "", ""],
    "sources": ["", "", "", ""],
    "buffer_spaces": [0, 1, 0, 0],
    "bytes": [4096, 4096, 8192, 4096],
    "unpadded": [4096, 4096, 8192, 4096],
    "first": [0, 1, 2, 3],
    "lasts": [1, 2, 0, 0],
    "lives": [0, 1, 1, 0],
    "others": {},
    "places": {},
}
# A computation with two callers has a time of its own.
CALLED_TWICE = """HloModule called_twice, is_scheduled=true

f {
  p = f32[1024]{0:T(1024)} parameter(0)
  inner = f32[1024]{0:T(1024)} negate(p)
  ROOT q = f32[1024]{0:T(1024)} negate(inner)
}

ENTRY e {
  a = f32[1024]{0:T(1024)} parameter(0)
  one = f32[1024]{0:T(1024)} call(a), to_apply=f
  ROOT two = f32[1024]{0:T(1024)} call(one), to_apply=f
}
"""
EVIL = (
    """</script><script>document.title="owned"</script><!--<script><img src=x onerror='document.title="owned"'>&amp; """
    "{{data}} 日本 \u202e\u2028")
QUOTED = EVIL.replace("\\", "\\\\").replace('"', '\\"')
EVIL_MODULE = PADDED.replace("jit(f)/transpose", QUOTED).replace("model.py", QUOTED)
HANDED_THROUGH = """HloModule handed_through, is_scheduled=true

ENTRY e {
  p = f32[1024]{0:T(1024)} parameter(0)
  ROOT t = (f32[1024]{0:T(1024)}, f32[1024]{0:T(1024)}) tuple(p, p)
}
"""
# Round numbers, halves between two of them, and where one unit ends and the next begins.
SIZES = (0, 1, 1023, 1024, 10234, 10239, 10240, 354816, 355840, 102348, 1023487, 1023488, 1047552, 1048575, 1048576,
         10480517, 104805171, 1073217536, 1073741823, 5368709120)
SIZES_MODULE = "\n".join(["HloModule sizes, is_scheduled=true", "", "ENTRY e {",
                          *(f"  p{i} = u8[{size}]{{0:S({i})}} parameter({i})" for i, size in enumerate(SIZES)),
                          "  ROOT r = () tuple()", "}", ""])
LINES = 58000


def large_module():
    lines = ["HloModule large, is_scheduled=true", "", "ENTRY e {",
             "  v.0 = f32[1024,512]{1,0:T(8,128)} parameter(0)"]
    for i in range(1, LINES):
        other = max(i - 1 - i * 7919 % 40, 0)
        # One short moment needs much more than all others.
        shape = "f32[16384,512]{1,0:T(8,128)}" if i == 40000 else "f32[1024,512]{1,0:T(8,128)}"
        operands = f"v.{i - 1}, v.{other}" if i not in (40000, 40001) else f"v.{i - 1}"
        operation = f"add({operands})"
        if i in range(40000, 40042):
            operation = f'custom-call({operands}), custom_call_target="x"'
        lines.append(f"  {'ROOT ' if i == LINES - 1 else ''}v.{i} = {shape} {operation}")
    return "\n".join([*lines, "}", ""])
