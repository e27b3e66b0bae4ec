#include "kashi/analysis/value_constraints.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"
#include "kashi/analysis/operand_constraints.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::analysis {
namespace {

constexpr double kInfinity = ValueConstraint::kInfinity;

// The constraint of a parameter of ENTRY.
ValueConstraint ConstraintOf(absl::string_view text, int64_t parameter = 0, const ShapeIndex& index = {}) {
  const std::unique_ptr<HloModule> module = ReadModule(text);
  if (module == nullptr) return ValueConstraint();
  const absl::StatusOr<ValueConstraints> constraints = ValueConstraints::Build(*module);
  EXPECT_TRUE(constraints.ok()) << constraints.status();
  ValueConstraint constraint = constraints->Of(module->entry_computation()->parameter_instruction(parameter), index);
  return constraint;
}

void ExpectWithin(const ValueConstraint& constraint, double min, double max) {
  EXPECT_EQ(constraint.min, min);
  EXPECT_EQ(constraint.max, max);
}

TEST(ValueConstraintsTest, NoConstraint) {
  EXPECT_TRUE(ConstraintOf("HloModule m\nENTRY e { p = f32[4] parameter(0)  ROOT r = f32[4] tanh(p) }").is_free());
}

TEST(ValueConstraintsTest, VariancesArePositive) {
  ExpectWithin(ConstraintOf(R"(HloModule m
ENTRY e {
  variance = f32[64] parameter(0)
  half = bf16[64] convert(variance)
  spread = bf16[8,64] broadcast(half), dimensions={1}
  epsilon = bf16[] constant(0.001)
  epsilons = bf16[8,64] broadcast(epsilon), dimensions={}
  sum = bf16[8,64] add(spread, epsilons)
  ROOT r = bf16[8,64] rsqrt(sum)
})"),
               0, kInfinity);
}

TEST(ValueConstraintsTest, SumsProductsAndReductionsPassPositive) {
  const char* const text = R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  z = f32[8] parameter(2)
  square = f32[8] multiply(z, z)
  product = f32[8] multiply(x, y)
  both = f32[8] add(product, square)
  zero = f32[] constant(0)
  sum = f32[] reduce(both, zero), dimensions={0}, to_apply=add
  ROOT r = f32[] log(sum)
})";
  ExpectWithin(ConstraintOf(text, 0), 0, kInfinity);
  ExpectWithin(ConstraintOf(text, 1), 0, kInfinity);
  EXPECT_TRUE(ConstraintOf(text, 2).is_free());  // a square is positive
}

TEST(ValueConstraintsTest, DomainsOfFunctions) {
  const auto of = [](absl::string_view function) {
    return ConstraintOf(
        absl::StrCat("HloModule m\nENTRY e { p = f32[4] parameter(0)  ROOT r = f32[4] ", function, "(p) }"));
  };
  ExpectWithin(of("sqrt"), 0, kInfinity);
  ExpectWithin(of("log-plus-one"), -0.5, kInfinity);
  ExpectWithin(of("atanh"), -0.9, 0.9);
  ExpectWithin(of("acosh"), 1.1, kInfinity);
  EXPECT_TRUE(of("exponential").is_free());
}

TEST(ValueConstraintsTest, Divisors) {
  ExpectWithin(ConstraintOf("HloModule m\nENTRY e { a = f32[] parameter(0)  ROOT r = f32[] divide(a, a) }"), 0,
               kInfinity);
  ExpectWithin(ConstraintOf("HloModule m\nENTRY e { a = s32[] parameter(0)  ROOT r = s32[] remainder(a, a) }"), 1,
               kInfinity);
}

TEST(ValueConstraintsTest, StartsOfSlicesAreWithin) {
  const char* const text = R"(HloModule m
ENTRY e {
  x = f32[10,100] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  two = s32[] constant(2)
  k = s32[] add(j, two)
  ROOT r = f32[4,8] dynamic-slice(x, i, k), dynamic_slice_sizes={4,8}
})";
  EXPECT_TRUE(ConstraintOf(text, 0).is_free());
  ExpectWithin(ConstraintOf(text, 1), 0, 6);
  ExpectWithin(ConstraintOf(text, 2), -2, 90);
  EXPECT_TRUE(ConstraintOf(text, 1).is_index);
}

TEST(ValueConstraintsTest, NegativeIndicesThatCountFromTheEnd) {
  ExpectWithin(ConstraintOf(R"(HloModule m
ENTRY e {
  i = s32[] parameter(0)
  x = f32[10] parameter(1)
  zero = s32[] constant(0)
  size = s32[] constant(10)
  negative = pred[] compare(i, zero), direction=LT
  wrapped = s32[] add(i, size)
  index = s32[] select(negative, wrapped, i)
  ROOT r = f32[1] dynamic-slice(x, index), dynamic_slice_sizes={1}
})"),
               0, 9);
}

TEST(ValueConstraintsTest, UpdatesAreWithin) {
  ExpectWithin(ConstraintOf(R"(HloModule m
ENTRY e {
  i = s32[] parameter(0)
  x = f32[10] parameter(1)
  u = f32[3] parameter(2)
  ROOT r = f32[10] dynamic-update-slice(x, u, i)
})"),
               0, 7);
}

TEST(ValueConstraintsTest, IndicesOfGathers) {
  const char* const text = R"(HloModule m
ENTRY e {
  table = f32[50,4] parameter(0)
  ids = s64[7] parameter(1)
  column = s64[7,1] reshape(ids)
  ROOT r = f32[7,4] gather(table, column), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,4}, indices_are_sorted=true
})";
  ExpectWithin(ConstraintOf(text, 1), 0, 49);
  EXPECT_TRUE(ConstraintOf(text, 1).is_sorted);
}

TEST(ValueConstraintsTest, EachColumnOfAnIndexVectorHasItsOwnBound) {
  const char* const text = R"(HloModule m
ENTRY e {
  table = f32[50,4] parameter(0)
  rows = s32[7,1] parameter(1)
  columns = s32[7,1] parameter(2)
  both = s32[7,2] concatenate(rows, columns), dimensions={1}
  ROOT r = f32[7] gather(table, both), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1},
    index_vector_dim=1, slice_sizes={1,1}
})";
  ExpectWithin(ConstraintOf(text, 1), 0, 49);
  ExpectWithin(ConstraintOf(text, 2), 0, 3);
}

TEST(ValueConstraintsTest, IndicesOfScatters) {
  const char* const text = R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[50,4] parameter(0)
  ids = s32[7,1] parameter(1)
  updates = f32[7,4] parameter(2)
  ROOT r = f32[50,4] scatter(x, ids, updates), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=add
})";
  ExpectWithin(ConstraintOf(text, 1), 0, 49);
  EXPECT_TRUE(ConstraintOf(text, 1).no_duplicates);
}

TEST(ValueConstraintsTest, ThroughTuplesCallsFusionsAndLoops) {
  const char* const text = R"(HloModule m
fused { p = f32[8] parameter(0)  ROOT r = f32[8] rsqrt(p) }
body {
  state = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  variance = f32[8] get-tuple-element(state), index=1
  made = f32[8] fusion(variance), kind=kLoop, calls=fused
  ROOT r = (s32[], f32[8], f32[8]) tuple(next, variance, made)
}
condition {
  state = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(20)
  ROOT r = pred[] compare(i, n), direction=LT
}
called {
  p = (f32[8], s32[]) parameter(0)
  v = f32[8] get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  init = (s32[], f32[8], f32[8]) tuple(i, v, v)
  ROOT loop = (s32[], f32[8], f32[8]) while(init), condition=condition, body=body
}
ENTRY e {
  p = (f32[8], s32[]) parameter(0)
  ROOT r = (s32[], f32[8], f32[8]) call(p), to_apply=called
})";
  ExpectWithin(ConstraintOf(text, 0, {0}), 0, kInfinity);
  // The counter begins near its bound, but early enough for the next iterations.
  EXPECT_GE(ConstraintOf(text, 0, {1}).min, 12);
  EXPECT_LE(ConstraintOf(text, 0, {1}).max, 20);
}

TEST(ValueConstraintsTest, LoopsWithBoundsFromOutsideAreShort) {
  const ValueConstraint bound = ConstraintOf(R"(HloModule m
body {
  state = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  n = s32[] get-tuple-element(state), index=1
  ROOT r = (s32[], s32[]) tuple(next, n)
}
condition {
  state = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] get-tuple-element(state), index=1
  ROOT r = pred[] compare(i, n), direction=LT
}
ENTRY e {
  n = s32[] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], s32[]) tuple(zero, n)
  ROOT loop = (s32[], s32[]) while(init), condition=condition, body=body
})");
  ExpectWithin(bound, 4, 8);
}

TEST(ValueConstraintsTest, ConditionalsAndAsynchronousOperations) {
  const char* const text = R"(HloModule m
f { p = f32[8] parameter(0)  ROOT r = f32[8] sqrt(p) }
g { p = f32[8] parameter(0)  ROOT r = f32[8] negate(p) }
ENTRY e {
  which = s32[] parameter(0)
  x = f32[8] parameter(1)
  y = f32[8] parameter(2)
  chosen = f32[8] conditional(which, x, x, y), branch_computations={g, f, g}
  start = ((f32[8]), f32[8], u32[]) async-start(y), calls=f
  done = f32[8] async-done(start)
  ROOT r = f32[8] add(chosen, done)
})";
  ExpectWithin(ConstraintOf(text, 0), 0, 2);
  ExpectWithin(ConstraintOf(text, 1), 0, kInfinity);
  ExpectWithin(ConstraintOf(text, 2), 0, kInfinity);
}

TEST(ValueConstraintsTest, InitialValuesAreNeutral) {
  const auto of = [](absl::string_view operation) {
    return ConstraintOf(absl::StrCat("HloModule m\nf { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] ",
                                     operation,
                                     "(a, b) }\nENTRY e { init = f32[] parameter(0)  x = f32[8] parameter(1)\n"
                                     "ROOT r = f32[] reduce(x, init), dimensions={0}, to_apply=f }"))
        .value;
  };
  EXPECT_EQ(of("add"), 0);
  EXPECT_EQ(of("multiply"), 1);
  EXPECT_EQ(of("maximum"), -kInfinity);
  EXPECT_EQ(of("subtract"), std::nullopt);
}

TEST(ValueConstraintsTest, KeysLabelsAndMatrices) {
  EXPECT_TRUE(ConstraintOf("HloModule m\nENTRY e { key = u64[2] parameter(0)\n"
                           "ROOT r = (u64[2], u32[8]) rng-bit-generator(key), algorithm=rng_default }")
                  .any_bits);
  ExpectWithin(ConstraintOf(R"(HloModule m
ENTRY e {
  labels = s32[7] parameter(0)
  spread = s32[7,10] broadcast(labels), dimensions={0}
  classes = s32[7,10] iota(), iota_dimension=1
  ROOT hot = pred[7,10] compare(spread, classes), direction=EQ
})"),
               0, 9);
  EXPECT_TRUE(ConstraintOf(R"(HloModule m
ENTRY e {
  a = f32[3,3] parameter(0)
  t = f32[3,3] transpose(a), dimensions={1,0}
  s = f32[3,3] add(a, t)
  ROOT r = f32[3,3] cholesky(s), lower=true
})")
                  .is_dominant);
  EXPECT_TRUE(ConstraintOf(R"(HloModule m
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
ENTRY e {
  x = f32[9] parameter(0)
  ROOT r = f32[9] sort(x), dimensions={0}, to_apply=less
})")
                  .no_duplicates);
}

TEST(ValueConstraintsTest, FactorsOfLongSumsAreSmall) {
  ExpectWithin(ConstraintOf(R"(HloModule m
ENTRY e {
  w = f32[300,10] parameter(0)
  x = f32[5,300] parameter(1)
  ROOT r = f32[5,10] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"),
               -0.1, 0.1);
}

TEST(ValueConstraintsTest, IndicesHavePriority) {
  ValueConstraint positive;
  positive.min = 100;
  ValueConstraint index;
  index.min = 0;
  index.max = 7;
  index.is_index = true;
  const auto user = HloInstruction::CreateParameter(0, ShapeUtil::MakeShape(F32, {}), "p");
  positive.user = index.user = user.get();
  ExpectWithin(Meet(positive, index, /*is_integer=*/true), 0, 7);
  ExpectWithin(Meet(index, positive, /*is_integer=*/true), 0, 7);
  ExpectWithin(Meet(index, ValueConstraint(), /*is_integer=*/true), 0, 7);
}

TEST(ValueConstraintsTest, AModuleWithoutEntryIsAnError) {
  HloModule module("m", HloModuleConfig());
  EXPECT_FALSE(ValueConstraints::Build(module).ok());
}

}  // namespace
}  // namespace kashi::analysis
