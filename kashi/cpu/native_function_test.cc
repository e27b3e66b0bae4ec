#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/custom_calls/lapack_call.h"
#include "kashi/literal/literal_util.h"

namespace kashi::cpu {
namespace {

int64_t NativeLoops(absl::string_view text) {
  const auto module = ReadVerified(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return -1;
  const auto program = CompiledProgram::Compile(**module);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? (*program)->native_loop_count() : -1;
}

// Expects `expected` native loops, and the results of the evaluator.
void ExpectNative(absl::string_view text, int64_t expected = 1, ErrorSpec error = ErrorSpec(1e-6, 1e-6)) {
  SCOPED_TRACE(text);
  EXPECT_EQ(NativeLoops(text), expected);
  ExpectAsEvaluator(text, error);
}

// A loop over (s32[] i, STATE), i = 0 … count - 1; `body` makes `next` from `i` and `x`.
std::string Loop(absl::string_view state, absl::string_view body, int64_t count = 10) {
  return absl::StrCat(R"(HloModule m
condition {
  s = (s32[], )",
                      state, R"() parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant()",
                      count, R"()
  ROOT c = pred[] compare(i, n), direction=LT
}
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
before { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
body {
  s = (s32[], )",
                      state, R"() parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = )",
                      state, R"( get-tuple-element(s), index=1
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
)",
                      body, R"(
  ROOT t = (s32[], )",
                      state, R"() tuple(j, next)
}
ENTRY e {
  zero = s32[] constant(0)
  x = )",
                      state, R"( parameter(0)
  s = (s32[], )",
                      state, R"() tuple(zero, x)
  ROOT w = (s32[], )",
                      state, R"() while(s), condition=condition, body=body
})");
}

TEST(NativeFunctionTest, ComputesOnSmallArrays) {
  ExpectNative(Loop("f32[]", "h = f32[] constant(0.5)\n next = f32[] multiply(x, h)"));
  ExpectNative(Loop("f32[3]", "y = f32[3] sine(x)\n next = f32[3] add(y, x)"));
  ExpectNative(Loop("f32[2,3]", R"(y = f32[3,2] transpose(x), dimensions={1,0}
  z = f32[2,3] reshape(y)
  r = f32[2,3] reverse(z), dimensions={1}
  next = f32[2,3] tanh(r))"));
  ExpectNative(Loop("f32[2,3]", R"(z = f32[] constant(0)
  sums = f32[2] reduce(x, z), dimensions={1}, to_apply=add
  wide = f32[2,3] broadcast(sums), dimensions={0}
  next = f32[2,3] divide(x, wide))"));
  ExpectNative(Loop("f32[5]", R"(first = f32[1] slice(x), slice={[0:1]}
  rest = f32[4] slice(x), slice={[1:5]}
  next = f32[5] concatenate(rest, first), dimensions={0})"));
  ExpectNative(Loop("s32[4]", R"(k = s32[4] iota(), iota_dimension=0
  table = s32[4] constant({7, 0, -3, 1})
  y = s32[4] add(k, table)
  q = s32[4] divide(x, y)
  next = s32[4] add(q, x))"));
  ExpectNative(Loop("pred[3]", "next = pred[3] not(x)"));
  ExpectNative(Loop("u64[2]",
                    "big = u64[] constant(18446744073709551615)\n b = u64[2] broadcast(big), dimensions={}\n"
                    " next = u64[2] subtract(b, x)"));
}

TEST(NativeFunctionTest, RoundsTheStateOfEachIteration) {
  ExpectNative(Loop("bf16[4]", "h = bf16[4] constant({0.3, 1.1, 2.7, -0.9})\n next = bf16[4] multiply(x, h)"), 1,
               ErrorSpec(0));
  ExpectNative(Loop("f16[]", "h = f16[] constant(0.3)\n next = f16[] add(x, h)"), 1, ErrorSpec(0));
}

TEST(NativeFunctionTest, SlicesSmallArraysAtComputedPlaces) {
  // Starts beyond the end are cut.
  ExpectNative(Loop("f32[4]", R"(y = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
  negative = f32[1] negate(y)
  k = s32[] subtract(j, i)
  next = f32[4] dynamic-update-slice(x, negative, k))"));
  ExpectNative(Loop("f32[3,5]", R"(y = f32[2,2] dynamic-slice(x, i, zero), dynamic_slice_sizes={2,2}
  z = f32[2,2] negate(y)
  next = f32[3,5] dynamic-update-slice(x, z, zero, i))"));
}

TEST(NativeFunctionTest, UpdatesLargeArraysInPlace) {
  ExpectNative(Loop("f32[1000]", R"(y = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
  z = f32[1] dynamic-slice(x, j), dynamic_slice_sizes={1}
  sum = f32[1] add(y, z)
  next = f32[1000] dynamic-update-slice(x, sum, j))",
                    1500));
  ExpectNative(Loop("bf16[20,30]", R"(y = bf16[2,3] dynamic-slice(x, i, i), dynamic_slice_sizes={2,3}
  z = bf16[2,3] negate(y)
  next = bf16[20,30] dynamic-update-slice(x, z, i, zero))",
                    30));
}

// A written array is read only before the write; otherwise the evaluator runs the loop.
TEST(NativeFunctionTest, ReadsMemoryInOrder) {
  // Reads the old array, in an instruction that comes after the update in the text.
  ExpectNative(Loop("f32[100]", R"(c = f32[1] constant({1})
  u = f32[100] dynamic-update-slice(x, c, i)
  y = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
  z = f32[1] add(y, c)
  next = f32[100] dynamic-update-slice(u, z, j))",
                    50));
  // The old array, at a place that the new one tells.
  ExpectNative(Loop("s32[100]", R"(c = s32[1] constant({1})
  u = s32[100] dynamic-update-slice(x, c, i)
  y = s32[1] dynamic-slice(u, j), dynamic_slice_sizes={1}
  k = s32[] reshape(y)
  z = s32[1] dynamic-slice(x, k), dynamic_slice_sizes={1}
  next = s32[100] dynamic-update-slice(u, z, j))",
                    0));
  // Two updates of one array; only one is kept.
  ExpectNative(Loop("f32[100]", R"(c = f32[1] constant({1})
  u = f32[100] dynamic-update-slice(x, c, i)
  v = f32[100] dynamic-update-slice(x, c, j)
  y = f32[1] dynamic-slice(u, j), dynamic_slice_sizes={1}
  next = f32[100] dynamic-update-slice(v, y, zero))",
                    50));
}

constexpr absl::string_view kElements =
    ", update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=";

// JAX's x.at[i].set(x[i - 1]): places beyond the array are left out, not cut.
TEST(NativeFunctionTest, ScattersToLargeArraysInPlace) {
  const std::string read_and_set = absl::StrCat(R"(k = s32[] constant(3)
  m = s32[] subtract(i, k)
  at = s32[1] reshape(m)
  y = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
  u = f32[] reshape(y)
  next = f32[1000] scatter(x, at, u))",
                                                kElements, "0, to_apply=add");
  ExpectNative(Loop("f32[1000]", read_and_set, 1500));
  const std::string three = absl::StrCat(R"(at = s32[3,1] constant({{990}, {-1}, {990}})
  wide = s32[3,1] broadcast(i), dimensions={}
  places = s32[3,1] add(at, wide)
  u = s32[3] gather(x, places), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
  v = s32[3] constant({5, 6, 7})
  w = s32[3] add(u, v)
  next = s32[1000] scatter(x, places, w))",
                                         kElements, "1, to_apply=plus");
  ExpectNative(absl::StrCat("plus { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = s32[] add(a, b) }\n",
                            Loop("s32[1000]", three, 30).substr(std::string("HloModule m\n").size())));
  // Rows and columns; a window that reaches beyond the array is left out as a whole.
  for (const char* numbers : {"inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0",
                              "inserted_window_dims={0}, scatter_dims_to_operand_dims={1}, index_vector_dim=0",
                              "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=0"}) {
    ExpectNative(Loop("f32[40,40]",
                      absl::StrCat(R"(at = s32[1] reshape(j)
  y = f32[1,5] slice(x), slice={[7:8],[3:13:2]}
  v = f32[5] reshape(y)
  g = f32[5] gather(x, at), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1,5}
  u = f32[5] add(g, v)
  next = f32[40,40] scatter(x, at, u), update_window_dims={0}, to_apply=add, )",
                                   numbers),
                      50));
  }
}

// An index of two components, batches, and unsigned indices.
TEST(NativeFunctionTest, FindsWindowsByAllDimensionNumbers) {
  ExpectNative(Loop("f32[20,50]", R"(a = s32[1] reshape(i)
  b = s32[1] reshape(j)
  at = s32[2] concatenate(b, a), dimensions={0}
  u = f32[2,3] gather(x, at), offset_dims={0,1}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={2,3}
  v = f32[3,2] transpose(u), dimensions={1,0}
  next = f32[20,50] scatter(x, at, v), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=add)",
                    60));
  ExpectNative(Loop("f32[4,50]", R"(wide = s32[4] broadcast(i), dimensions={}
  offsets = s32[4] constant({0, -2, 45, 3})
  at = s32[4] add(wide, offsets)
  u = f32[4] gather(x, at), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}
  next = f32[4,50] scatter(x, at, u), update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=add)",
                    12));
  for (const char* type : {"u8", "u32", "u64", "s8", "s64"}) {
    ExpectNative(Loop("f32[100]",
                      absl::StrCat("m = s32[] subtract(i, one)\n d = ", type, "[] convert(m)\n at = ", type,
                                   "[1] reshape(d)\n c = f32[] constant(2)\n next = f32[100] scatter(x, at, c)",
                                   kElements, "0, to_apply=add"),
                      150));
  }
}

// Scatters to arrays in registers.
TEST(NativeFunctionTest, ScattersToSmallArrays) {
  ExpectNative(Loop("f32[5]", absl::StrCat(R"(at = s32[2,1] constant({{1}, {-2}})
  wide = s32[2,1] broadcast(i), dimensions={}
  places = s32[2,1] add(at, wide)
  u = f32[2] gather(x, places), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
  next = f32[5] scatter(x, places, u))",
                                           kElements, "1, to_apply=add")));
  ExpectNative(
      Loop("f32[1]", absl::StrCat("at = s32[1] reshape(i)\n c = f32[] constant(2)\n next = f32[1] scatter(x, at, c)",
                                  kElements, "0, to_apply=add")));
}

// Branches may update their arguments. If one reads memory that another instruction has written, the evaluator runs it.
TEST(NativeFunctionTest, BranchesUpdateLargeArraysInPlace) {
  const std::string branches = R"(HloModule m
twice { s = (s32[], s32[100]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[100] get-tuple-element(s), index=1
  y = s32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
  z = s32[1] add(y, y)
  ROOT u = s32[100] dynamic-update-slice(x, z, i) }
same { s = (s32[], s32[100]) parameter(0)
  ROOT x = s32[100] get-tuple-element(s), index=1 }
)";
  const auto with = [&](absl::string_view body) {
    return absl::StrCat(branches, Loop("s32[100]", body, 50).substr(std::string("HloModule m\n").size()));
  };
  ExpectNative(with(R"(two = s32[] constant(2)
  r = s32[] remainder(i, two)
  is_odd = pred[] compare(r, one), direction=EQ
  both = (s32[], s32[100]) tuple(j, x)
  c = s32[100] conditional(is_odd, both, both), true_computation=twice, false_computation=same
  y = s32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
  next = s32[100] dynamic-update-slice(c, y, zero))"));
  ExpectNative(with(R"(c1 = s32[1] constant({1})
  u = s32[100] dynamic-update-slice(x, c1, i)
  y = s32[1] dynamic-slice(u, j), dynamic_slice_sizes={1}
  k = s32[] reshape(y)
  both = (s32[], s32[100]) tuple(k, x)
  next = s32[100] conditional(k, both, both), branch_computations={twice, same})"));
}

// where(condition, x, x.at[i].set(…)): no operation runs over the whole array.
TEST(NativeFunctionTest, MasksUpdatesThatAScalarChooses) {
  ExpectNative(Loop("f32[100]",
                    absl::StrCat(R"(two = s32[] constant(2)
  r = s32[] remainder(i, two)
  p = pred[] compare(r, one), direction=EQ
  wide = pred[100] broadcast(p), dimensions={}
  at = s32[1] reshape(i)
  y = f32[1] dynamic-slice(x, j), dynamic_slice_sizes={1}
  v = f32[] reshape(y)
  a = f32[100] scatter(x, at, v))",
                                 kElements, R"(0, to_apply=add
  b = f32[100] dynamic-update-slice(a, y, zero)
  c = f32[100] select(wide, b, x)
  d = f32[100] dynamic-update-slice(c, y, j)
  next = f32[100] select(wide, c, d))"),
                    50));
}

TEST(NativeFunctionTest, TakesWhatOthersUseToo) {
  ExpectNative(R"(HloModule m
condition { s = (s32[], f32[100], f32[100], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(9)
  ROOT c = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[100], f32[100], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[100] get-tuple-element(s), index=1
  y = f32[100] get-tuple-element(s), index=2
  z = f32[2] get-tuple-element(s), index=3
  one = s32[] constant(1)
  j = s32[] add(i, one)
  part = f32[2] dynamic-slice(y, j), dynamic_slice_sizes={2}
  sum = f32[2] add(part, z)
  u = f32[100] dynamic-update-slice(x, sum, i)
  ROOT t = (s32[], f32[100], f32[100], f32[2]) tuple(j, u, y, sum) }
ENTRY e { x = f32[100] parameter(0)
  z = f32[2] parameter(1)
  zero = s32[] constant(0)
  s = (s32[], f32[100], f32[100], f32[2]) tuple(zero, x, x, z)
  w = (s32[], f32[100], f32[100], f32[2]) while(s), condition=condition, body=body
  ROOT r = ((s32[], f32[100], f32[100], f32[2]), f32[100], f32[2]) tuple(w, x, z) })");
}

constexpr absl::string_view kNested = R"(HloModule m
less { s = (s32[], s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT c = pred[] compare(i, n), direction=LT }
inner { s = (s32[], s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  x = f32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  h = f32[] constant(0.25)
  y = f32[] add(x, h)
  ROOT t = (s32[], s32[], f32[]) tuple(j, n, y) }
half { x = f32[] parameter(0)
  h = f32[] constant(0.5)
  ROOT y = f32[] multiply(x, h) }
negative { x = f32[] parameter(0)
  ROOT y = f32[] negate(x) }
same { x = f32[] parameter(0)
  ROOT y = f32[] copy(x) }
outer { s = (s32[], s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  x = f32[] get-tuple-element(s), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  two = s32[] constant(2)
  more = s32[] add(i, n)
  begin = (s32[], s32[], f32[]) tuple(zero, more, x)
  within = (s32[], s32[], f32[]) while(begin), condition=less, body=inner
  y = f32[] get-tuple-element(within), index=2
  rest = s32[] remainder(i, two)
  odd = pred[] compare(rest, one), direction=EQ
  z = f32[] conditional(odd, y, y), true_computation=half, false_computation=negative
  k = s32[] subtract(i, two)
  v = f32[] conditional(k, z, z, z), branch_computations={half, negative, same}
  j = s32[] add(i, one)
  ROOT t = (s32[], s32[], f32[]) tuple(j, n, v) }
ENTRY e { x = f32[] parameter(0)
  zero = s32[] constant(0)
  n = s32[] constant(7)
  s = (s32[], s32[], f32[]) tuple(zero, n, x)
  ROOT w = (s32[], s32[], f32[]) while(s), condition=less, body=outer })";

TEST(NativeFunctionTest, RunsLoopsAndBranchesWithin) { ExpectNative(kNested); }

// Kernels of much work, which may use several threads, and operations without a native form.
TEST(NativeFunctionTest, LeavesOtherLoopsToThunks) {
  ExpectNative(Loop("f32[1000]", "y = f32[1000] sine(x)\n next = f32[1000] add(y, x)"), 1, ErrorSpec(1e-5, 1e-5));
  ExpectNative(Loop("f32[100000]", "y = f32[100000] sine(x)\n next = f32[100000] add(y, x)"), 0, ErrorSpec(1e-5, 1e-5));
  ExpectNative(Loop("f32[100]", R"(y = f32[100] sort(x), dimensions={0}, to_apply=before
  next = f32[100] negate(y))"),
               0);
}

// Products of more elements than registers hold are loops; each kind of loop, with all its widths and rests.
TEST(NativeFunctionTest, Dots) {
  const auto dot = [](absl::string_view x, absl::string_view shape, absl::string_view numbers) {
    return absl::StrCat("ENTRY e { x = ", x, " parameter(0) y = ", x, " parameter(1) r = ", shape, " dot(x, y), ",
                        numbers, " z = ", shape, " negate(r) ROOT w = ", shape, " add(z, r) }");
  };
  for (const char* type : {"f32", "f64"}) {
    for (int size : {1, 2, 7, 9, 16, 35}) {
      const std::string x = absl::StrCat(type, "[", size, ",", size, "]"), batches = absl::StrCat(type, "[3,5,5]");
      for (const char* numbers :
           {"lhs_contracting_dims={1}, rhs_contracting_dims={0}", "lhs_contracting_dims={0}, rhs_contracting_dims={1}",
            "lhs_contracting_dims={1}, rhs_contracting_dims={1}"}) {
        ExpectAsEvaluator(dot(x, x, numbers), ErrorSpec(1e-4, 1e-4));
      }
      ExpectAsEvaluator(dot(batches, batches,
                            "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                            "rhs_contracting_dims={1}"),
                        ErrorSpec(1e-4, 1e-4));
      for (const char* side : {"0", "1"}) {
        ExpectAsEvaluator(
            absl::StrCat("ENTRY e { x = ", type, "[100,100] parameter(0) y = ", type, "[100] parameter(1) a = ", type,
                         "[", size, ",100] slice(x), slice={[0:", size, "], [0:100]} b = ", type, "[100,", size,
                         "] slice(x), slice={[0:100], [0:", size, "]} r = ", type, "[", size,
                         side[0] == '0' ? "] dot(a, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
                                        : "] dot(b, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
                         " ROOT z = ", type, "[", size, "] negate(r) }"),
            ErrorSpec(1e-3, 1e-4));
      }
    }
  }
}

// Elements of a small array at computed places, in a branch: LLVM 19 aborts on some numbers of them if the array is in
// a register.
TEST(NativeFunctionTest, GathersFromSmallArrays) {
  for (const char* type : {"s64", "s32"}) {
    for (int count = 1; count <= 17; ++count) {
      const std::string places = absl::StrCat(type, "[", count, "]"), flags = absl::StrCat("pred[", count, "]");
      const std::string result = absl::StrCat("s32[1,", count, "]");
      ExpectAsEvaluator(
          absl::StrCat(R"(first { t = (s32[1,20], )", places, ") parameter(0)\n x = s32[1,20] get-tuple-element(t), ",
                       "index=0\n ROOT y = ", result, " slice(x), slice={[0:1], [0:", count, "]} }\n",
                       "second { t = (s32[1,20], ", places, ") parameter(0)\n x = s32[1,20] ",
                       "get-tuple-element(t), index=0\n i = ", places, " get-tuple-element(t), index=1\n n = ", type,
                       "[] constant(16)\n ns = ", places, " broadcast(n), dimensions={}\n r = ", places,
                       " remainder(i, ns)\n z = ", type, "[] constant(0)\n zs = ", places,
                       " broadcast(z), dimensions={}\n below = ", flags, " compare(r, zs), direction=LT\n a = ", places,
                       " add(r, ns)\n s = ", places, " select(below, a, r)\n m = ", type, "[", count,
                       ",1] reshape(s)\n ROOT g = ", result,
                       " gather(x, m), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, "
                       "index_vector_dim=1, slice_sizes={1,1} }\nENTRY e { p = pred[] parameter(0)\n x = "
                       "s32[1,20] parameter(1)\n i = ",
                       places, " parameter(2)\n t = (s32[1,20], ", places, ") tuple(x, i)\n ROOT c = ", result,
                       " conditional(p, t, t), true_computation=second, false_computation=first }"),
          ErrorSpec(0));
    }
  }
}

// Lines of each dimension; stable, with a second array; one element; types that differ in memory and in registers.
TEST(NativeFunctionTest, Sorts) {
  ExpectNative(Loop("f32[16]", R"(y = f32[16] sort(x), dimensions={0}, to_apply=before
  next = f32[16] negate(y))"));
  for (const char* dimension : {"0", "1", "2"}) {
    ExpectNative(
        Loop("f32[3,5,4]", absl::StrCat("y = f32[3,5,4] sort(x), dimensions={", dimension, R"(}, to_apply=before
  next = f32[3,5,4] negate(y))")));
  }
  ExpectNative(Loop("f32[1]", "next = f32[1] sort(x), dimensions={0}, to_apply=before"));
  const std::string pairs = R"(by_key { a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT e = pred[] compare(a, b), direction=GT }
)";
  ExpectNative(pairs + Loop("f32[50]", R"(three = s32[] constant(3)
  places = s32[50] iota(), iota_dimension=0
  threes = s32[50] broadcast(three), dimensions={}
  keys = s32[50] remainder(places, threes)
  both = (s32[50], f32[50]) sort(keys, x), dimensions={0}, is_stable=true, to_apply=by_key
  next = f32[50] get-tuple-element(both), index=1)")
                           .substr(std::string("HloModule m\n").size()));
  ExpectAsEvaluator(R"(less { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  c = pred[] parameter(2)
  d = pred[] parameter(3)
  ROOT e = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY e { x = bf16[7,9] parameter(0) zero = bf16[] constant(0) zeros = bf16[7,9] broadcast(zero), dimensions={}
  p = pred[7,9] compare(x, zeros), direction=LT
  ROOT s = (bf16[7,9], pred[7,9]) sort(x, p), dimensions={1}, is_stable=true, to_apply=less })",
                    ErrorSpec(0));
}

// A loop whose body makes r from a symmetric matrix a.
std::string LoopOnMatrix(absl::string_view body) {
  return Loop("f32[5,5]", absl::StrCat(R"(sixteen = f32[] constant(16)
  rows = s32[5,5] iota(), iota_dimension=0
  columns = s32[5,5] iota(), iota_dimension=1
  on = pred[5,5] compare(rows, columns), direction=EQ
  much = f32[5,5] broadcast(sixteen), dimensions={}
  none = f32[] constant(0)
  zeros = f32[5,5] broadcast(none), dimensions={}
  diagonal = f32[5,5] select(on, much, zeros)
  turned = f32[5,5] transpose(x), dimensions={1,0}
  both = f32[5,5] add(x, turned)
  a = f32[5,5] add(both, diagonal)
)",
                                       body, "\n next = f32[5,5] tanh(r)"));
}

TEST(NativeFunctionTest, Eigenvalues) {
  if (!custom_calls::HasLapack()) GTEST_SKIP() << "built without LAPACK";
  ExpectNative(
      LoopOnMatrix(R"(f = (f32[5,5]{0,1}, f32[5], s32[]) custom-call(a), custom_call_target="lapack_ssyevd_ffi",
  operand_layout_constraints={f32[5,5]{0,1}}, backend_config={mode = 86 : ui8, uplo = 76 : ui8}
  v = f32[5,5] get-tuple-element(f), index=0
  w = f32[5] get-tuple-element(f), index=1
  wide = f32[5,5] broadcast(w), dimensions={0}
  r = f32[5,5] add(v, wide))"),
      1, ErrorSpec(1e-4, 1e-4));
}

// Windows on few elements are slices, and nothing computes arrays without elements.
TEST(NativeFunctionTest, CumulativeSumsAndEmptyArrays) {
  ExpectNative(Loop("f32[6]", R"(none = f32[] constant(0)
  sums = f32[6] reduce-window(x, none), window={size=6 pad=5_0}, to_apply=add
  pairs = f32[3] reduce-window(sums, none), window={size=3 stride=2 pad=1_0}, to_apply=add
  nothing = f32[0] slice(x), slice={[2:2]}
  sine = f32[0] sine(nothing)
  more = f32[0,4] broadcast(sine), dimensions={0}
  flat = f32[0] reshape(more)
  next = f32[6] concatenate(flat, pairs, pairs, flat), dimensions={0})"));
  // A state without elements, which each iteration makes anew.
  ExpectNative(R"(HloModule m
condition { s = (s32[], f32[0], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT r = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[0], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  e = f32[0] get-tuple-element(s), index=1
  x = f32[3] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  f = f32[0] negate(e)
  y = f32[3] sine(x)
  ROOT t = (s32[], f32[0], f32[3]) tuple(j, f, y) }
ENTRY e { i = s32[] constant(0)
  e = f32[0] parameter(0)
  x = f32[3] parameter(1)
  s = (s32[], f32[0], f32[3]) tuple(i, e, x)
  ROOT w = (s32[], f32[0], f32[3]) while(s), condition=condition, body=body })");
}

// JAX's calls of LAPACK, in a loop and with one result that nothing uses.
TEST(NativeFunctionTest, LinearAlgebra) {
  if (!custom_calls::HasLapack()) GTEST_SKIP() << "built without LAPACK";
  const ErrorSpec error(1e-4, 1e-4);
  for (int uplo : {'L', 'U'}) {
    ExpectNative(LoopOnMatrix(absl::StrCat(
                     R"(f = (f32[5,5]{0,1}, s32[]) custom-call(a), custom_call_target="lapack_spotrf_ffi", )",
                     "operand_layout_constraints={f32[5,5]{0,1}}, "
                     "backend_config={uplo = ",
                     uplo, R"( : ui8}
  info = s32[] get-tuple-element(f), index=1
  sum = f32[] convert(info)
  wide = f32[5,5] broadcast(sum), dimensions={}
  l = f32[5,5] get-tuple-element(f), index=0
  r = f32[5,5] add(l, wide))")),
                 1, error);
    for (int side : {'L', 'R'}) {
      ExpectNative(
          LoopOnMatrix(absl::StrCat(R"(r = f32[5,5]{0,1} custom-call(a, x), custom_call_target="lapack_strsm_ffi", )",
                                    "operand_layout_constraints={f32[5,5]{0,1}, f32[5,5]{0,1}}, "
                                    "backend_config={side = ",
                                    side, " : ui8, uplo = ", uplo, " : ui8, trans_x = 84 : ui8, diag = 78 : ui8}")),
          1, error);
    }
  }
  ExpectNative(LoopOnMatrix(R"(f = (f32[5,5]{0,1}, f32[5]) custom-call(a), custom_call_target="lapack_sgeqrf_ffi",
  operand_layout_constraints={f32[5,5]{0,1}}
  qr = f32[5,5] get-tuple-element(f), index=0
  tau = f32[5] get-tuple-element(f), index=1
  q = f32[5,5]{0,1} custom-call(qr, tau), custom_call_target="lapack_sorgqr_ffi",
  operand_layout_constraints={f32[5,5]{0,1}, f32[5]{0}}
  r = f32[5,5]{0,1} custom-call(qr, tau, q), custom_call_target="lapack_sormqr_ffi",
  operand_layout_constraints={f32[5,5]{0,1}, f32[5]{0}, f32[5,5]{0,1}},
  backend_config={left = true, transpose = false})"),
               1, error);
  // Stored by rows: the transposed matrix, for LAPACK.
  ExpectNative(LoopOnMatrix(R"(f = (f32[5,5], s32[5], s32[]) custom-call(a), custom_call_target="lapack_sgetrf_ffi"
  r = f32[5,5] get-tuple-element(f), index=0)"),
               0, error);
  ExpectNative(
      LoopOnMatrix(R"(f = (f32[5,5]{0,1}, s32[5], s32[]) custom-call(a), custom_call_target="lapack_sgetrf_ffi",
  operand_layout_constraints={f32[5,5]{0,1}}
  r = f32[5,5] get-tuple-element(f), index=0)"),
      1, error);
}

TEST(NativeFunctionTest, ObeysLimits) {
  const auto module = ReadVerified(Loop("f32[]", "next = f32[] negate(x)", 1 << 30));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto program = CompiledProgram::Compile(**module);
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ((*program)->native_loop_count(), 1);
  const std::vector<Literal> arguments = RandomArguments(**module);
  const auto run = [&](const EvaluationOptions& options) { return RunProgram(**program, arguments, options).status(); };
  EvaluationOptions iterations;
  iterations.max_loop_iterations = 1000;
  EXPECT_EQ(run(iterations).message(), "Loop w exceeded loop iteration limit (1000).");
  EvaluationOptions work;
  work.max_work = 1'000'000;
  EXPECT_EQ(run(work).code(), absl::StatusCode::kResourceExhausted) << run(work);
  std::atomic<bool> cancelled = true;
  EvaluationOptions cancel;
  cancel.cancelled = &cancelled;
  EXPECT_EQ(run(cancel).code(), absl::StatusCode::kCancelled) << run(cancel);
}

// A limit of inner loops names the inner loop.
TEST(NativeFunctionTest, NamesTheLoopThatIsTooLong) {
  const auto module = ReadVerified(kNested);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto program = CompiledProgram::Compile(**module);
  ASSERT_TRUE(program.ok()) << program.status();
  EvaluationOptions options;
  options.max_loop_iterations = 10;  // the outer loop takes 7 iterations, the inner one 7 to 13
  const absl::Status status = RunProgram(**program, RandomArguments(**module), options).status();
  EXPECT_EQ(status.message(), "Loop within exceeded loop iteration limit (10).");
}

}  // namespace
}  // namespace kashi::cpu
