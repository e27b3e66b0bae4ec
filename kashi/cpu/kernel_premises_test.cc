// Programs that break a premise of kernels, of thunks or of native loops if nobody looks: operands of other sizes than
// the result, reductions of other arrays than the rows of a kernel, memory that has the right number of bytes only.
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "kashi/codegen/kernel_support.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/passes/kernel_premises.h"

namespace kashi::cpu {
namespace {

constexpr ErrorSpec kClose(1e-4, 1e-4);

constexpr char kCombiners[] = R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
)";

// A reduction of `reduced` over `dimensions`, which is `sum`, meets every element of x.
std::string ReductionOfAnotherArray(absl::string_view reduced, absl::string_view dimensions, absl::string_view sum,
                                    absl::string_view kept, absl::string_view x) {
  return absl::StrReplaceAll(absl::StrCat(kCombiners, R"(ENTRY e {
  x = f32[$X] parameter(0)
  v = f32[$V] parameter(1)
  zero = f32[] constant(0)
  s = f32[$S] reduce(v, zero), dimensions={$D}, to_apply=add
  b = f32[$X] broadcast(s), dimensions={$K}
  e = f32[$X] exponential(x)
  ROOT r = f32[$X] multiply(e, b)
})"),
                             {{"$X", x}, {"$V", reduced}, {"$S", sum}, {"$D", dimensions}, {"$K", kept}});
}

TEST(KernelPremisesTest, ReductionsOfOtherArraysThanTheRows) {
  ExpectAsEvaluator(ReductionOfAnotherArray("33", "0", "", "", "17,17"), kClose);
  ExpectAsEvaluator(ReductionOfAnotherArray("17", "0", "", "", "17,17"), kClose);
  ExpectAsEvaluator(ReductionOfAnotherArray("17,17", "0,1", "", "", "17,17"), kClose);
  ExpectAsEvaluator(ReductionOfAnotherArray("17,33", "1", "17", "0", "17,17"), kClose);
  ExpectAsEvaluator(ReductionOfAnotherArray("17,33", "1", "17", "1", "17,17"), kClose);
  ExpectAsEvaluator(ReductionOfAnotherArray("17,17", "1", "17", "1", "17,17"), kClose);
  ExpectAsEvaluator(ReductionOfAnotherArray("17,17", "1", "17", "0", "17,17"), kClose);
  ExpectAsEvaluator(ReductionOfAnotherArray("33,17", "0", "17", "1", "17,17"), kClose);
  ExpectAsEvaluator(ReductionOfAnotherArray("1,17", "1", "1", "0", "1,17"), kClose);
  ExpectAsEvaluator(ReductionOfAnotherArray("20,17", "1", "20", "1", "3,20,17"), kClose);
}

// The value of each row is asked for one row up: outside of the array for the first row.
TEST(KernelPremisesTest, ValuesOfOtherRows) {
  ExpectAsEvaluator(R"(HloModule m
ENTRY e {
  x = f32[20,32] parameter(0)
  v = f32[19] parameter(1)
  t = f32[19] exponential(v)
  one = f32[] constant(1)
  p = f32[20] pad(t, one), padding=1_0
  b = f32[20,32] broadcast(p), dimensions={0}
  ROOT r = f32[20,32] multiply(x, b)
})",
                    kClose);
  ExpectAsEvaluator(R"(HloModule m
ENTRY e {
  x = f32[20,32] parameter(0)
  v = f32[5] parameter(1)
  w = f32[15] parameter(2)
  t = f32[5] exponential(v)
  u = f32[15] exponential(w)
  p = f32[20] concatenate(t, u), dimensions={0}
  b = f32[20,32] broadcast(p), dimensions={0}
  ROOT r = f32[20,32] multiply(x, b)
})",
                    kClose);
}

// One element of the array that the kernel's result may replace: the others would read it after it was changed.
TEST(KernelPremisesTest, AnElementOfAnArrayThatIsReplaced) {
  ExpectAsEvaluator(R"(HloModule m
ENTRY e {
  x = f32[50,20] parameter(0)
  w = f32[20] parameter(1)
  d = f32[50] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d2 = f32[100] concatenate(d, d), dimensions={0}
  s = f32[100] sort(d2), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
  i = s32[1] constant({3})
  g = f32[] gather(s, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1}
  b = f32[100] broadcast(g), dimensions={}
  m = f32[100] subtract(s, b)
  ROOT r = f32[100] sine(m)
})",
                    kClose);
}

// Scalars that count for every element.
TEST(KernelPremisesTest, ScalarOperands) {
  for (const char* type : {"f32", "f64", "bf16", "f16", "s8", "u16", "s32", "u64", "f8e4m3fn"}) {
    for (const char* size : {"1", "7", "16", "257", "2048"}) {
      ExpectAsEvaluator(absl::Substitute(R"(HloModule m
ENTRY e {
  low = $0[] parameter(0)
  x = $0[$1] parameter(1)
  high = $0[] parameter(2)
  ROOT r = $0[$1] clamp(low, x, high)
})",
                                         type, size),
                        ErrorSpec(0));
      ExpectAsEvaluator(absl::Substitute(R"(HloModule m
ENTRY e {
  p = pred[] parameter(0)
  x = $0[$1] parameter(1)
  y = $0[$1] parameter(2)
  ROOT r = $0[$1] select(p, x, y)
})",
                                         type, size),
                        ErrorSpec(0));
    }
  }
  ExpectAsEvaluator(R"(HloModule m
ENTRY e {
  p = pred[] parameter(0)
  x = c128[300] parameter(1)
  y = c128[300] parameter(2)
  ROOT r = c128[300] select(p, x, y)
})",
                    ErrorSpec(0));
}

// The operand has as many bytes as the result, but each element is read for two of the result: no shared memory.
TEST(KernelPremisesTest, OperandsOfOtherSizesAreNotOverwritten) {
  ExpectAsEvaluator(R"(HloModule m
ENTRY e {
  x = f64[64,64] parameter(0)
  y = f64[64,1] parameter(1)
  d = f64[64,1] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  v = f64[64] reshape(d)
  b = f64[64,2] broadcast(v), dimensions={0}
  ROOT r = f32[64,2] convert(b)
})",
                    kClose);
  ExpectAsEvaluator(R"(HloModule m
ENTRY e {
  x = f32[16,16] parameter(0)
  d = f32[16,16] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[256] reshape(d)
  v = f32[256] reverse(s), dimensions={0}
  ROOT r = f32[256] add(v, s)
})",
                    kClose);
}

// One element of the wide type is several elements of the narrow type.
TEST(KernelPremisesTest, BitcastConvertOfOtherWidths) {
  for (const auto& [from, to, count] : {std::tuple("s64", "u32", 2), std::tuple("s32", "u16", 2),
                                        std::tuple("f32", "s16", 2), std::tuple("f64", "u8", 8)}) {
    ExpectAsEvaluator(absl::Substitute(R"(HloModule m
ENTRY e {
  x = $0[] parameter(0)
  n = $0[] negate(x)
  ROOT r = $1[$2] bitcast-convert(n)
})",
                                       from, to, count),
                      ErrorSpec(0));
    ExpectAsEvaluator(absl::Substitute(R"(HloModule m
ENTRY e {
  x = $0[3] parameter(0)
  n = $0[3] negate(x)
  b = $1[3,$2] bitcast-convert(n)
  ROOT r = $1[3,$2] negate(b)
})",
                                       from, to, count),
                      ErrorSpec(0));
    ExpectAsEvaluator(absl::Substitute(R"(HloModule m
ENTRY e {
  x = $1[$2] parameter(0)
  n = $1[$2] negate(x)
  ROOT r = $0[] bitcast-convert(n)
})",
                                       from, to, count),
                      ErrorSpec(0));
  }
}

// Zeros that compare equal are not equal constants: a kernel is shared only by computations with the same bits.
TEST(KernelPremisesTest, ZerosOfBothSigns) {
  ExpectAsEvaluator(R"(HloModule m
ENTRY e {
  x = f32[1000] parameter(0)
  y = f32[1000] parameter(1)
  p = f32[] constant(0)
  n = f32[] constant(-0)
  pb = f32[1000] broadcast(p), dimensions={}
  nb = f32[1000] broadcast(n), dimensions={}
  a = f32[1000] multiply(x, pb)
  b = f32[1000] multiply(y, nb)
  c = f32[1000] exponential(a)
  one = f32[1000] divide(c, a)
  d = f32[1000] exponential(b)
  two = f32[1000] divide(d, b)
  ROOT r = (f32[1000], f32[1000]) tuple(one, two)
})",
                    ErrorSpec(0));
}

// The check at the kernel's door, without the fusion pass.
absl::Status Check(absl::string_view text) {
  const auto module = ParseAndReturnUnverifiedModule(absl::StrCat(kCombiners, text));
  EXPECT_TRUE(module.ok()) << module.status();
  return passes::CheckKernelPremises(*(*module)->entry_computation(), codegen::KernelSupport());
}

TEST(KernelPremisesTest, TheDoorRefuses) {
  EXPECT_TRUE(Check("ENTRY e { x = f32[20,32] parameter(0) ROOT r = f32[20,32] negate(x) }").ok());
  EXPECT_TRUE(Check(R"(ENTRY e {
  x = f32[20,32] parameter(0)
  z = f32[] constant(0)
  s = f32[20] reduce(x, z), dimensions={1}, to_apply=add
  b = f32[20,32] broadcast(s), dimensions={0}
  ROOT r = f32[20,32] subtract(x, b)
})")
                  .ok());
  for (const char* text :
       {// A reduction of another array.
        "ENTRY e { x = f32[20,32] parameter(0) v = f32[33] parameter(1) z = f32[] constant(0) "
        "s = f32[] reduce(v, z), dimensions={0}, to_apply=add b = f32[20,32] broadcast(s), dimensions={} "
        "ROOT r = f32[20,32] subtract(x, b) }",
        // A reduction of the rows, for another row.
        "ENTRY e { x = f32[20,20] parameter(0) z = f32[] constant(0) "
        "s = f32[20] reduce(x, z), dimensions={1}, to_apply=add b = f32[20,20] broadcast(s), dimensions={1} "
        "ROOT r = f32[20,20] subtract(x, b) }",
        // A reduction where rows are too few for a row kernel.
        "ENTRY e { x = f32[2,32] parameter(0) z = f32[] constant(0) "
        "s = f32[2] reduce(x, z), dimensions={1}, to_apply=add b = f32[2,32] broadcast(s), dimensions={0} "
        "ROOT r = f32[2,32] subtract(x, b) }",
        // No code for this operation, or for these sizes.
        "ENTRY e { x = f32[20,20] parameter(0) ROOT r = f32[20,20] cholesky(x) }",
        "ENTRY e { x = s64[] parameter(0) ROOT r = u32[2] bitcast-convert(x) }",
        "ENTRY e { x = f32[0] parameter(0) ROOT r = f32[0] negate(x) }"}) {
    EXPECT_EQ(Check(text).code(), absl::StatusCode::kFailedPrecondition) << text;
  }
}

}  // namespace
}  // namespace kashi::cpu
