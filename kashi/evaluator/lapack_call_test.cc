// Operands that calls of LAPACK accept and refuse. Their results: programs_test.cc, against JAX.
#include "kashi/custom_calls/lapack_call.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/evaluator/known_custom_calls.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::HasSubstr;

TEST(LapackCallTest, Targets) {
  for (const absl::string_view name :
       {"lapack_spotrf_ffi", "lapack_zungqr_ffi", "lapack_dorgqr_ffi", "lapack_cheevd_ffi", "lapack_ssytrd_ffi",
        "lapack_cunmqr_ffi", "lapack_zgeqp3_ffi"}) {
    EXPECT_TRUE(custom_calls::IsLapackCall(name)) << name;
    EXPECT_EQ(IsKnownCustomCall(name), custom_calls::HasLapack()) << name;
  }
  for (const absl::string_view name :
       {"lapack_spotrf", "blas_ctrsm", "lapack_zungqr", "lapack_cheevd", "lapack_sgees"}) {
    EXPECT_TRUE(custom_calls::IsLapackCall(name)) << name;
  }
  for (const absl::string_view name :
       {"lapack_sungqr_ffi", "lapack_zorgqr_ffi", "lapack_potrf_ffi", "lapack__ffi", "lapack_s_ffi", "", "lapack_strsm",
        "blas_spotrf", "blas_strsm_ffi", "lapack_sgeqp3", "blas_", "lapack_"}) {
    EXPECT_FALSE(custom_calls::IsLapackCall(name)) << name;
  }
}

// f32 operands of those shapes, all ones except for 4 on the diagonal.
absl::StatusOr<Literal> Call(absl::string_view target, absl::string_view result, absl::string_view operand,
                             absl::string_view config) {
  return TryEvaluateText(absl::Substitute(
      R"(ENTRY e { row = s32[$0] iota(), iota_dimension=0
                   column = s32[$0] iota(), iota_dimension=1
                   same = pred[$0] compare(row, column), direction=EQ
                   four = f32[] constant(4)
                   fours = f32[$0] broadcast(four), dimensions={}
                   one = f32[] constant(1)
                   ones = f32[$0] broadcast(one), dimensions={}
                   a = f32[$0] select(same, fours, ones)
                   ROOT r = $1 custom-call(a), custom_call_target="$2", api_version=API_VERSION_TYPED_FFI,
                     backend_config=$3 })",
      operand, result, target, config));
}

TEST(LapackCallTest, WithoutLapackTheErrorSaysWhatIsMissing) {
  if (custom_calls::HasLapack()) GTEST_SKIP() << "built with LAPACK";
  const absl::Status status = Call("lapack_spotrf_ffi", "(f32[3,3]{0,1}, s32[])", "3,3", "{uplo = 76 : ui8}").status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(status.message(), HasSubstr("liblapack-dev"));
}

class LapackTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!custom_calls::HasLapack()) GTEST_SKIP() << "built without LAPACK";
  }
};

// Bytes are columns to LAPACK: of a row-major matrix it sees, and gives, the transpose.
TEST_F(LapackTest, LayoutsSayWhereElementsLie) {
  const Literal lower = Call("lapack_spotrf_ffi", "(f32[2,2]{0,1}, s32[])", "2,2", "{uplo = 76 : ui8}").value();
  EXPECT_FLOAT_EQ(LiteralSlice(lower, {0}).Get<float>({1, 0}), 0.5);
  EXPECT_FLOAT_EQ(LiteralSlice(lower, {0}).Get<float>({0, 1}), 1);  // as it was
  EXPECT_EQ(LiteralSlice(lower, {1}).Get<int32_t>({}), 0);
  const Literal upper = Call("lapack_spotrf_ffi", "(f32[2,2]{1,0}, s32[])", "2,2", "{uplo = 76 : ui8}").value();
  EXPECT_FLOAT_EQ(LiteralSlice(upper, {0}).Get<float>({0, 1}), 0.5);
  EXPECT_FLOAT_EQ(LiteralSlice(upper, {0}).Get<float>({1, 0}), 1);
}

TEST_F(LapackTest, InfoIsAResult) {
  const Literal out = TryEvaluateText(R"(
    ENTRY e { a = f32[2,1,1] constant({{{-1}}, {{4}}})
              ROOT r = (f32[2,1,1]{1,2,0}, s32[2]) custom-call(a), custom_call_target="lapack_spotrf_ffi",
                backend_config={uplo = 76 : ui8} })")
                          .value();
  EXPECT_EQ(LiteralSlice(out, {1}), LiteralUtil::CreateR1<int32_t>({1, 0}));
  EXPECT_EQ(LiteralSlice(out, {0}).Get<float>({1, 0, 0}), 2);
}

TEST_F(LapackTest, WhatIsNotFiniteGivesNaNAndAnInfo) {
  const Literal out = TryEvaluateText(R"(
    ENTRY e { a = f32[2,2,2] constant({{{1,inf},{2,3}}, {{4,0},{0,4}}})
              ROOT r = (f32[2,2,2]{1,2,0}, f32[2,2], s32[2]) custom-call(a), custom_call_target="lapack_ssyevd_ffi",
                backend_config={mode = 86 : ui8, uplo = 76 : ui8} })")
                          .value();
  EXPECT_NE(LiteralSlice(out, {2}).Get<int32_t>({0}), 0);
  EXPECT_TRUE(std::isnan(LiteralSlice(out, {1}).Get<float>({0, 1})));
  EXPECT_EQ(LiteralSlice(out, {2}).Get<int32_t>({1}), 0);
  EXPECT_FLOAT_EQ(LiteralSlice(out, {1}).Get<float>({1, 1}), 4);
}

TEST_F(LapackTest, EmptyMatricesAndBatches) {
  EXPECT_TRUE(Call("lapack_sgetrf_ffi", "(f32[0,3]{0,1}, s32[0], s32[])", "0,3", "{}").ok());
  EXPECT_TRUE(Call("lapack_sgesdd_ffi", "(f32[3,0]{0,1}, f32[0], f32[3,3]{0,1}, f32[0,0]{0,1}, s32[])", "3,0",
                   "{mode = 65 : ui8}")
                  .ok());
  EXPECT_TRUE(Call("lapack_sgeev_ffi", "(f32[0,2], f32[0,2], c64[0,2,2]{1,2,0}, c64[0,2,2]{1,2,0}, s32[0])", "0,2,2",
                   "{compute_left = 86 : ui8, compute_right = 86 : ui8}")
                  .ok());
}

// LAPACK ends the process for these, also where it is only asked how much memory it needs.
TEST_F(LapackTest, MatricesWithoutRows) {
  EXPECT_TRUE(
      Call("lapack_ssyevd_ffi", "(f32[0,0]{0,1}, f32[0], s32[])", "0,0", "{mode = 86 : ui8, uplo = 76 : ui8}").ok());
  EXPECT_TRUE(Call("lapack_sgeev_ffi", "(f32[0], f32[0], c64[0,0]{0,1}, c64[0,0]{0,1}, s32[])", "0,0",
                   "{compute_left = 86 : ui8, compute_right = 86 : ui8}")
                  .ok());
  EXPECT_TRUE(Call("lapack_sgees_ffi", "(f32[2,0,0]{1,2,0}, f32[2,0,0]{1,2,0}, f32[2,0], f32[2,0], s32[2], s32[2])",
                   "2,0,0", "{mode = 86 : ui8, sort = 78 : ui8}")
                  .ok());
  EXPECT_TRUE(TryEvaluateText(R"(
    ENTRY e { a = f32[2,2] constant({{1,0},{0,1}})
              b = f32[0,2] constant({})
              ROOT r = f32[0,2]{0,1} custom-call(a, b), custom_call_target="lapack_strsm_ffi",
                backend_config={side = 82 : ui8, uplo = 76 : ui8, trans_x = 78 : ui8, diag = 78 : ui8} })")
                  .ok());
  const absl::StatusOr<Literal> unchanged = TryEvaluateText(R"(
    ENTRY e { a = f32[2,0]{0,1} constant({{},{}})
              t = f32[0] constant({})
              b = f32[2,1] constant({{3},{4}})
              ROOT r = f32[2,1]{0,1} custom-call(a, t, b), custom_call_target="lapack_sormqr_ffi",
                backend_config={left = true, transpose = false} })");
  ASSERT_TRUE(unchanged.ok()) << unchanged.status();
  EXPECT_EQ(*unchanged, LiteralUtil::CreateR2<float>({{3}, {4}}));
}

TEST_F(LapackTest, OtherShapesAndAttributesAreRefused) {
  struct Bad {
    absl::string_view target, result, operand, config, why;
  };
  const Bad kBad[] = {
      {"lapack_spotrf_ffi", "(f32[3,3], s32[])", "3,3", "{}", "attribute uplo is missing"},
      {"lapack_spotrf_ffi", "(f32[3,3], s32[])", "3,3", "{uplo = 77 : ui8}", "not one of the characters LU"},
      {"lapack_spotrf_ffi", "(f32[3,3], s32[])", "3,3", "{uplo = 588 : ui8}", "not one of the characters LU"},
      {"lapack_spotrf_ffi", "(f32[3,2], s32[])", "3,2", "{uplo = 76 : ui8}", "a size of 2 for n = 3"},
      {"lapack_spotrf_ffi", "(f32[3,3], s64[])", "3,3", "{uplo = 76 : ui8}", "unexpected type of s64[]"},
      {"lapack_dpotrf_ffi", "(f32[3,3], s32[])", "3,3", "{uplo = 76 : ui8}", "unexpected type of f32[3,3]"},
      {"lapack_spotrf_ffi", "f32[3,3]", "3,3", "{uplo = 76 : ui8}", "wrong number of operands or results"},
      {"lapack_spotrf_ffi", "(f32[3,3], s32[1])", "3,3", "{uplo = 76 : ui8}", "unexpected dimensions of s32[1]"},
      {"lapack_sgetrf_ffi", "(f32[3,2], s32[3], s32[])", "3,2", "{}", "a size of 3 for k = 2"},
      {"lapack_sgesdd_ffi", "(f32[3,2], f32[2], f32[3,2], f32[2,2], s32[])", "3,2", "{mode = 65 : ui8}",
       "the sizes of U or V do not match the mode"},
      {"lapack_sgehrd_ffi", "(f32[3,3], f32[2], s32[])", "3,3", "{low = 0 : i32, high = 3 : i32}", "not rows"},
      {"lapack_sgehrd_ffi", "(f32[3,3], f32[2], s32[])", "3,3", "{low = 1 : i32, high = 4 : i32}", "not rows"},
      {"lapack_sgees_ffi", "(f32[3,3], f32[3,3], f32[3], f32[3], s32[], s32[])", "3,3",
       "{mode = 86 : ui8, sort = 83 : ui8}", "not one of the characters N"},
  };
  for (const Bad& bad : kBad) {
    const absl::Status status = Call(bad.target, bad.result, bad.operand, bad.config).status();
    EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr(bad.why));
    EXPECT_THAT(status.message(), HasSubstr(bad.target));
  }
}

// As JAX called LAPACK until 2024; $0 is lower, $1 the batch, $2 the size, $3 the results.
absl::StatusOr<Literal> OldCholesky(absl::string_view lower, absl::string_view batch, absl::string_view n,
                                    absl::string_view result = "(f32[2,2]{0,1}, s32[])") {
  return TryEvaluateText(absl::Substitute(R"(
    ENTRY e { a = f32[2,2]{0,1} constant({{4, 6}, {2, 10}})
              lower = $0
              batch = s32[] constant($1)
              n = s32[] constant($2)
              ROOT r = $3 custom-call(lower, batch, n, a), custom_call_target="lapack_spotrf" })",
                                          lower, batch, n, result));
}

TEST_F(LapackTest, ScalarsInFrontOfTheArrays) {
  const Literal lower = OldCholesky("s32[] constant(1)", "1", "2").value();
  EXPECT_EQ(LiteralSlice(lower, {0}), LiteralUtil::CreateR2<float>({{2, 6}, {1, 3}}));
  const Literal upper = OldCholesky("s32[] constant(0)", "1", "2").value();
  EXPECT_EQ(LiteralSlice(upper, {0}), LiteralUtil::CreateR2<float>({{2, 3}, {2, 1}}));
  const auto message = [](const absl::StatusOr<Literal>& result) { return std::string(result.status().message()); };
  EXPECT_THAT(message(OldCholesky("s32[] constant(2)", "1", "2")), HasSubstr("operand 0 is 2"));
  EXPECT_THAT(message(OldCholesky("f32[] constant(1)", "1", "2")), HasSubstr("operand 0 is neither s32[] nor u8[]"));
  EXPECT_THAT(message(OldCholesky("s32[] constant(1)", "3", "2")), HasSubstr("gives 3, but the shapes give 1"));
  EXPECT_THAT(message(OldCholesky("s32[] constant(1)", "1", "7")), HasSubstr("gives 7, but the shapes give 2"));
  EXPECT_THAT(message(OldCholesky("s32[] constant(1)", "1", "2", "(f32[2,2], s32[], f32[9])")),
              HasSubstr("wrong number of operands or results"));
}

TEST_F(LapackTest, SizesBeyond32BitsAreRefused) {
  // The matrices have no elements because the batch has none, but LAPACK would be told their sizes.
  const Literal empty(ShapeUtil::MakeShape(F32, {0, 100000, 100000}));
  const absl::Status status = TryEvaluateText(R"(
    ENTRY e { a = f32[0,100000,100000] parameter(0)
              ROOT r = (f32[0,100000,100000]{1,2,0}, s32[0]) custom-call(a), custom_call_target="lapack_spotrf_ffi",
                backend_config={uplo = 76 : ui8} })",
                                              {&empty})
                                  .status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("32 bits"));
}

TEST_F(LapackTest, WorkspaceCountsAgainstTheMemoryLimit) {
  const Literal a = LiteralUtil::CreateFullWithDescendingLayout<float>({200, 200}, 1);
  EvaluationOptions options;
  options.memory_limit_bytes = 400000;  // the matrix takes 160,000 bytes, twice; the workspace 324,804
  const absl::Status status = TryEvaluateText(R"(
    ENTRY e { a = f32[200,200] parameter(0)
              ROOT r = (f32[200,200]{0,1}, f32[200], s32[]) custom-call(a), custom_call_target="lapack_ssyevd_ffi",
                backend_config={mode = 86 : ui8, uplo = 76 : ui8} })",
                                              {&a}, options)
                                  .status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
}

}  // namespace
}  // namespace kashi::evaluator
