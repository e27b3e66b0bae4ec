"""Modules for report_page_test.py, serve_test.py and for measuring by hand:

    tests/report_page_cases.py 100000 > large.hlo
"""
import sys

# A loop, a fusion, a conditional and scopes; a TPU's layouts.
MODEL = """HloModule jit_step, is_scheduled=true, entry_computation_layout={(f32[256,512]{1,0:T(8,128)}, f32[512,512]{1,0:T(8,128)})->f32[256,512]{1,0:T(8,128)}}

fused_gelu {
  p = f32[256,512]{1,0:T(8,128)} parameter(0)
  half = f32[] constant(0.5)
  halves = f32[256,512]{1,0:T(8,128)} broadcast(half), dimensions={}
  t = f32[256,512]{1,0:T(8,128)} tanh(p)
  ROOT g = f32[256,512]{1,0:T(8,128)} multiply(t, halves)
}

body {
  s = (s32[]{:T(128)}, f32[256,512]{1,0:T(8,128)}, f32[512,512]{1,0:T(8,128)}) parameter(0)
  i = s32[]{:T(128)} get-tuple-element(s), index=0
  x = f32[256,512]{1,0:T(8,128)} get-tuple-element(s), index=1
  w = f32[512,512]{1,0:T(8,128)} get-tuple-element(s), index=2
  one = s32[]{:T(128)} constant(1)
  next = s32[]{:T(128)} add(i, one)
  product = f32[256,512]{1,0:T(8,128)} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(step)/while/body/mlp/dense/dot_general" source_file="model.py" source_line=40}
  gelu = f32[256,512]{1,0:T(8,128)} fusion(product), kind=kLoop, calls=fused_gelu, metadata={op_name="jit(step)/while/body/mlp/gelu/tanh" source_file="model.py" source_line=41}
  ROOT r = (s32[]{:T(128)}, f32[256,512]{1,0:T(8,128)}, f32[512,512]{1,0:T(8,128)}) tuple(next, gelu, w)
}

condition {
  s = (s32[]{:T(128)}, f32[256,512]{1,0:T(8,128)}, f32[512,512]{1,0:T(8,128)}) parameter(0)
  i = s32[]{:T(128)} get-tuple-element(s), index=0
  n = s32[]{:T(128)} constant(12)
  ROOT less = pred[]{:T(512)} compare(i, n), direction=LT
}

ENTRY main {
  input = f32[256,512]{1,0:T(8,128)} parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="x"}
  weights = f32[512,512]{1,0:T(8,128)} parameter(1), metadata={op_name="params['mlp']"}
  scaled = f32[256,512]{1,0:T(8,128)} negate(input), metadata={op_name="jit(step)/encoder/embed/neg" source_file="model.py" source_line=10}
  shifted = f32[256,512]{1,0:T(8,128)} exponential(scaled), metadata={op_name="jit(step)/encoder/embed/exp" source_file="model.py" source_line=11}
  zero = s32[]{:T(128)} constant(0)
  state = (s32[]{:T(128)}, f32[256,512]{1,0:T(8,128)}, f32[512,512]{1,0:T(8,128)}) tuple(zero, shifted, weights)
  loop = (s32[]{:T(128)}, f32[256,512]{1,0:T(8,128)}, f32[512,512]{1,0:T(8,128)}) while(state), condition=condition, body=body, metadata={op_name="jit(step)/while" source_file="model.py" source_line=30}
  last = f32[256,512]{1,0:T(8,128)} get-tuple-element(loop), index=1
  residual = f32[256,512]{1,0:T(8,128)} add(last, shifted), metadata={op_name="jit(step)/decoder/head/add" source_file="model.py" source_line=50}
  ROOT out = f32[256,512]{1,0:T(8,128)} tanh(residual), metadata={op_name="jit(step)/decoder/head/tanh" source_file="model.py" source_line=51}
}
"""
# The same after a pass: one instruction is gone, one is new, one has changed.
CHANGED = (MODEL.replace("exponential(scaled)", "logistic(scaled)")
           .replace("  ROOT out = f32[256,512]{1,0:T(8,128)} tanh(residual)",
                    "  again = f32[256,512]{1,0:T(8,128)} multiply(residual, residual)\n"
                    "  ROOT out = f32[256,512]{1,0:T(8,128)} tanh(again)"))


def large_module(instructions):
    """A network of many layers, each with attention, a fused activation and a residual connection: scopes three deep."""
    shape, lines, fused = "f32[256,512]{1,0}", [], []
    add = lambda name, text, scope: lines.append(
        f'  {name} = {shape} {text}, metadata={{op_name="jit(step)/{scope}" source_file="model.py" source_line={len(lines) % 500 + 1}}}')
    lines += [f"  x = {shape} parameter(0)", "  w = f32[512,512]{1,0} parameter(1)"]
    last, layer, count = "x", 0, 2
    while count < instructions:
        n = f"l{layer}"
        scope = f"block_{layer // 24}/layer_{layer}"
        for part in ("query", "key", "value"):
            add(f"{n}.{part}", f"dot({last}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                f"{scope}/attention/{part}/dot_general")
            add(f"{n}.{part}.bias", f"add({n}.{part}, {last})", f"{scope}/attention/{part}/add")
        add(f"{n}.score", f"multiply({n}.query.bias, {n}.key.bias)", f"{scope}/attention/mul")
        add(f"{n}.exp", f"exponential({n}.score)", f"{scope}/attention/softmax/exp")
        add(f"{n}.sum", f"add({n}.exp, {n}.exp)", f"{scope}/attention/softmax/add")
        add(f"{n}.div", f"divide({n}.exp, {n}.sum)", f"{scope}/attention/softmax/div")
        add(f"{n}.out", f"multiply({n}.div, {n}.value.bias)", f"{scope}/attention/mul")
        add(f"{n}.res", f"add({n}.out, {last})", f"{scope}/residual/add")
        for k in range(4):
            before = f"{n}.res" if k == 0 else f"{n}.gelu{k - 1}"
            add(f"{n}.up{k}", f"dot({before}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                f"{scope}/mlp/dense_{k}/dot_general")
            fused.append(f"""f{n}.{k} {{
  p = {shape} parameter(0)
  t = {shape} tanh(p)
  ROOT g = {shape} multiply(t, p)
}}
""")
            add(f"{n}.gelu{k}", f"fusion({n}.up{k}), kind=kLoop, calls=f{n}.{k}", f"{scope}/mlp/dense_{k}/gelu")
        add(f"{n}.end", f"add({n}.gelu3, {n}.res)", f"{scope}/residual/add")
        last, layer, count = f"{n}.end", layer + 1, count + 33
    lines.append(f"  ROOT result = {shape} negate({last})")
    return "\n".join(["HloModule jit_step, is_scheduled=true", "", *fused, "ENTRY main {", *lines, "}", ""])


def flat_module(instructions):
    """Without scopes, and with operands from anywhere before: a graph that no hierarchy helps with."""
    lines = ["  v0 = f32[1024]{0} parameter(0)"]
    lines += [f"  v{i} = f32[1024]{{0}} add(v{i - 1}, v{(i * 7919) % i})" for i in range(1, instructions - 1)]
    return "\n".join(["HloModule flat, is_scheduled=true", "", "ENTRY main {", *lines,
                      f"  ROOT r = f32[1024]{{0}} negate(v{instructions - 2})", "}", ""])


if __name__ == "__main__":
    sys.stdout.write((flat_module if "--flat" in sys.argv else large_module)(int(sys.argv[1])))
