"""Programs in HLO text for bench/run.py that stress one operation each, or one kind of them."""

ADD = """add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT sum = f32[] add(a, b) }
"""
MAX = """max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT larger = f32[] maximum(a, b) }
"""
LESS = """less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT is_less = pred[] compare(a, b), direction=LT }
"""
# Sorts by |a|, which is no plain comparison of its operands.
LESS_MAGNITUDE = """less { a = f32[] parameter(0)  b = f32[] parameter(1)  x = f32[] abs(a)  y = f32[] abs(b)
  ROOT is_less = pred[] compare(x, y), direction=LT }
"""


def entry(body, computations=""):
    return f"HloModule m\n{computations}ENTRY main {{\n{body}\n}}\n"


# Name: text of the module.
PROGRAMS = {
    "chain of 6 elementwise, f32[16M]": entry("""
  x = f32[16777216] parameter(0)  y = f32[16777216] parameter(1)
  a = f32[16777216] multiply(x, y)  b = f32[16777216] add(a, x)  c = f32[16777216] subtract(b, y)
  d = f32[16777216] abs(c)  e = f32[16777216] negate(d)  ROOT f = f32[16777216] add(e, x)"""),
    "maximum, minimum, clamp, select, f32[4M]": entry("""
  x = f32[4194304] parameter(0)  y = f32[4194304] parameter(1)  lo = f32[] constant(-0.5)  hi = f32[] constant(0.5)
  a = f32[4194304] maximum(x, y)  b = f32[4194304] minimum(a, x)  c = f32[4194304] clamp(lo, b, hi)
  p = pred[4194304] compare(c, y), direction=LT  ROOT s = f32[4194304] select(p, x, c)"""),
    "exp, tanh, log, f32[1M]": entry("""
  x = f32[1048576] parameter(0)  a = f32[1048576] exponential(x)  b = f32[1048576] tanh(a)
  ROOT c = f32[1048576] log(b)"""),
    "bf16[4M] multiply, add": entry("""
  x = bf16[4194304] parameter(0)  y = bf16[4194304] parameter(1)  a = bf16[4194304] multiply(x, y)
  ROOT b = bf16[4194304] add(a, x)"""),
    "convert f32 to bf16 and f16, f32[4M]": entry("""
  x = f32[4194304] parameter(0)  a = bf16[4194304] convert(x)  b = f16[4194304] convert(x)
  ROOT t = (bf16[4194304], f16[4194304]) tuple(a, b)"""),
    "broadcast rows and columns, f32[2048,2048]": entry("""
  x = f32[2048] parameter(0)  a = f32[2048,2048] broadcast(x), dimensions={0}
  b = f32[2048,2048] broadcast(x), dimensions={1}  ROOT c = f32[2048,2048] add(a, b)"""),
    "reduce rows, f32[4096,1024]": entry("""
  x = f32[4096,1024] parameter(0)  zero = f32[] constant(0)
  ROOT r = f32[4096] reduce(x, zero), dimensions={1}, to_apply=add""", ADD),
    "reduce columns, f32[4096,1024]": entry("""
  x = f32[4096,1024] parameter(0)  zero = f32[] constant(0)
  ROOT r = f32[1024] reduce(x, zero), dimensions={0}, to_apply=add""", ADD),
    "softmax, f32[1024,1024]": entry("""
  x = f32[1024,1024] parameter(0)  zero = f32[] constant(0)  least = f32[] constant(-inf)
  m = f32[1024] reduce(x, least), dimensions={1}, to_apply=max  n = f32[1024,1024] broadcast(m), dimensions={0}
  d = f32[1024,1024] subtract(x, n)  e = f32[1024,1024] exponential(d)
  s = f32[1024] reduce(e, zero), dimensions={1}, to_apply=add  t = f32[1024,1024] broadcast(s), dimensions={0}
  ROOT q = f32[1024,1024] divide(e, t)""", ADD + MAX),
    "layer norm, f32[2048,1024]": entry("""
  x = f32[2048,1024] parameter(0)  g = f32[1024] parameter(1)  zero = f32[] constant(0)  n = f32[] constant(1024)
  s = f32[2048] reduce(x, zero), dimensions={1}, to_apply=add  nb = f32[2048] broadcast(n), dimensions={}
  m = f32[2048] divide(s, nb)  mb = f32[2048,1024] broadcast(m), dimensions={0}
  d = f32[2048,1024] subtract(x, mb)  q = f32[2048,1024] multiply(d, d)
  t = f32[2048] reduce(q, zero), dimensions={1}, to_apply=add  v = f32[2048] divide(t, nb)
  e = f32[] constant(1e-5)  eb = f32[2048] broadcast(e), dimensions={}  w = f32[2048] add(v, eb)  r = f32[2048] rsqrt(w)
  rb = f32[2048,1024] broadcast(r), dimensions={0}  gb = f32[2048,1024] broadcast(g), dimensions={1}
  y = f32[2048,1024] multiply(d, rb)  ROOT z = f32[2048,1024] multiply(y, gb)""", ADD),
    "gelu, f32[2048,1024]": entry("""
  x = f32[2048,1024] parameter(0)  c = f32[] constant(0.70710678)  cb = f32[2048,1024] broadcast(c), dimensions={}
  a = f32[2048,1024] multiply(x, cb)  e = f32[2048,1024] erf(a)  one = f32[] constant(1)
  ob = f32[2048,1024] broadcast(one), dimensions={}  f = f32[2048,1024] add(e, ob)
  h = f32[] constant(0.5)  hb = f32[2048,1024] broadcast(h), dimensions={}  g = f32[2048,1024] multiply(x, hb)
  ROOT y = f32[2048,1024] multiply(f, g)"""),
    "transpose, f32[2048,2048]": entry("""
  x = f32[2048,2048] parameter(0)  ROOT t = f32[2048,2048]{1,0} transpose(x), dimensions={1,0}"""),
    "slice, pad, concatenate narrow rows, f32[262144,3]": entry("""
  x = f32[262144,4] parameter(0)  y = f32[262144,3] slice(x), slice={[0:262144],[0:3]}  zero = f32[] constant(0)
  p = f32[262144,5] pad(y, zero), padding=0_0x1_1  ROOT c = f32[262144,8] concatenate(p, y), dimensions={1}"""),
    "dot 1024^3, f32": entry("""
  x = f32[1024,1024] parameter(0)  y = f32[1024,1024] parameter(1)
  ROOT d = f32[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    "dot 1024^3, bf16": entry("""
  x = bf16[1024,1024] parameter(0)  y = bf16[1024,1024] parameter(1)
  ROOT d = bf16[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    "convolution 3x3, 64 to 64 channels, 56x56, f32": entry("""
  x = f32[1,56,56,64] parameter(0)  k = f32[3,3,64,64] parameter(1)
  ROOT c = f32[1,56,56,64] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"""),
    "sort, f32[1M]": entry("""
  x = f32[1048576] parameter(0)  ROOT s = f32[1048576] sort(x), dimensions={0}, to_apply=less""", LESS),
    "sort by magnitude, f32[256K]": entry("""
  x = f32[262144] parameter(0)  ROOT s = f32[262144] sort(x), dimensions={0}, to_apply=less""", LESS_MAGNITUDE),
    "cumulative sum (reduce-window), f32[64,8192]": entry("""
  x = f32[64,8192] parameter(0)  zero = f32[] constant(0)
  ROOT w = f32[64,8192] reduce-window(x, zero), window={size=1x8192 pad=0_0x8191_0}, to_apply=add""", ADD),
    "while, 10,000 iterations of 10 small instructions": entry("""
  x = f32[4] parameter(0)  zero = s32[] constant(0)  begin = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(begin), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(loop), index=1""", """
condition { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(10000)
  ROOT goes_on = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  v = f32[4] get-tuple-element(s), index=1  one = s32[] constant(1)  j = s32[] add(i, one)
  half = f32[4] constant({0.5, 0.5, 0.5, 0.5})  a = f32[4] multiply(v, half)  f = f32[] convert(i)
  b = f32[4] broadcast(f), dimensions={}  c = f32[4] add(a, b)  d = f32[4] maximum(c, half)
  ROOT t = (s32[], f32[4]) tuple(j, d) }
"""),
    "gather 1M elements, f32[1M]": entry("""
  x = f32[1048576] parameter(0)  i = s32[1048576] parameter(1)  k = s32[] constant(8191)
  b = s32[1048576] broadcast(k), dimensions={}  m = s32[1048576] multiply(i, b)
  ROOT g = f32[1048576] gather(x, m), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={1}"""),
    "gather 16K rows of 64, f32[128,64]": entry("""
  x = f32[128,64] parameter(0)  i = s32[16384] parameter(1)
  ROOT g = f32[16384,64] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={1,64}"""),
    "scatter-add 1M elements, f32[1M]": entry("""
  x = f32[1048576] parameter(0)  i = s32[1048576] parameter(1)  u = f32[1048576] parameter(2)
  k = s32[] constant(8191)  b = s32[1048576] broadcast(k), dimensions={}  m = s32[1048576] multiply(i, b)
  ROOT s = f32[1048576] scatter(x, m, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add""", ADD),
}
