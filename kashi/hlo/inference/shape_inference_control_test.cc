#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "kashi/hlo/inference/shape_inference_cases_testing.h"

namespace kashi::hlo {
namespace {

std::string Infer(const std::string& kind, const std::string& operands, const std::string& computations) {
  return InferShapeText(kind, operands, /*attributes=*/"", computations);
}

TEST(InferCallShapeTest, TheComputationsResult) {
  EXPECT_EQ(Infer("call", "f32[2,3];s32[]", "(f32[2,3],s32[])->f32[3,2]{0,1}"), "f32[3,2]{0,1}");
  EXPECT_EQ(Infer("call", "", "()->()"), "()");
  EXPECT_EQ(Infer("call", "f32[<=2]{0};token[]", "(f32[2],token[])->token[]"), "token[]");
}

TEST(InferCallShapeTest, Errors) {
  EXPECT_EQ(
      Infer("call", "f32[2];s32[]", "(f32[3])->f32[]"),
      "error: Call applied function arity must match number of arguments; got: arity: 1, arguments: 2; computation "
      "signature: (p0: f32[3]) -> f32[]; argument shapes: [f32[2], s32[]].");
  EXPECT_EQ(Infer("call", "f32[2];s32[]", "(f32[2],u32[])->f32[]"),
            "error: Call parameter must match argument; got parameter 1 shape: u32[], argument shape: s32[].");
}

TEST(InferWhileShapeTest, TheInitialValuesShape) {
  EXPECT_EQ(Infer("while", "(s32[],f32[2,3]{0,1})", "((s32[],f32[2,3]))->pred[];((s32[],f32[2,3]))->(s32[],f32[2,3])"),
            "(s32[], f32[2,3]{0,1})");
  EXPECT_EQ(Infer("while", "f32[<=2]", "(f32[?])->pred[];(f32[2])->f32[2]"), "f32[<=2]{0}");
}

TEST(InferWhileShapeTest, Errors) {
  EXPECT_EQ(Infer("while", "f32[2]", "()->s32[];()->f32[3]"), "error: Condition must take 1 arguments; got 0.");
  EXPECT_EQ(Infer("while", "f32[2]", "(f32[2])->s32[];(f32[2],f32[2])->f32[3]"),
            "error: Body must take 1 arguments; got 2.");
  EXPECT_EQ(Infer("while", "f32[2]", "(f32[2])->pred[1];(f32[2])->f32[3]"),
            "error: Condition must return a boolean; got Condition: (p0: f32[2]) -> pred[1]; body: (p0: f32[2]) -> "
            "f32[3]; init: f32[2]..");
  const std::string same =
      "error: The parameter of condition and body, the result of the body, and init must all have the same shape; got ";
  EXPECT_EQ(Infer("while", "f32[2]", "(f32[3])->pred[];(f32[2])->f32[2]"),
            same + "Condition: (p0: f32[3]) -> pred[]; body: (p0: f32[2]) -> f32[2]; init: f32[2]..");
  EXPECT_TRUE(absl::StartsWith(Infer("while", "f32[2]", "(f32[2])->pred[];(f32[3])->f32[2]"), same));
  EXPECT_TRUE(absl::StartsWith(Infer("while", "f32[2]", "(f32[3])->pred[];(f32[3])->f32[3]"), same));
}

TEST(InferConditionalShapeTest, BranchZerosResultDynamicWhereAnyIs) {
  EXPECT_EQ(Infer("conditional", "pred[];f32[];s32[2]", "(f32[])->f32[3,4]{0,1};(s32[2])->f32[3,<=4]"),
            "f32[3,<=4]{0,1}");
  EXPECT_EQ(Infer("conditional", "s32[];f32[];f32[];f32[]",
                  "(f32[])->(f32[2],s32[]);(f32[])->(f32[<=2],s32[]);(f32[])->(f32[2],s32[])"),
            "(f32[<=2]{0}, s32[])");
  EXPECT_EQ(Infer("conditional", "s32[];()", "(())->token[]"), "token[]");
}

TEST(InferConditionalShapeTest, Errors) {
  EXPECT_EQ(Infer("conditional", "u32[]", ""), "error: branch_index must be bool or int32_t; got u32[].");
  EXPECT_EQ(Infer("conditional", "pred[2]", ""), "error: branch_index must be bool or int32_t; got pred[2].");
  EXPECT_TRUE(absl::StartsWith(Infer("conditional", "pred[];f32[]", "(f32[])->f32[]"), "error: RET_CHECK failure"));
  EXPECT_TRUE(absl::StartsWith(Infer("conditional", "s32[]", ""), "error: RET_CHECK failure"));
  EXPECT_TRUE(absl::StartsWith(Infer("conditional", "s32[]", "()->f32[]"), "error: RET_CHECK failure"));
  EXPECT_EQ(Infer("conditional", "s32[];f32[];f32[]", "(f32[])->f32[];(f32[],f32[])->s32[]"),
            "error: branch computation 1 must take 1 argument; got 2.");
  EXPECT_EQ(Infer("conditional", "s32[];f32[];f32[2]", "(f32[])->f32[];(f32[])->s32[]"),
            "error: branch operand 1 must match the shape of the only parameter of branch computation 1: got operand: "
            "f32[2]; computation: (p0: f32[]) -> s32[].");
  EXPECT_EQ(Infer("conditional", "s32[];f32[];f32[]", "(f32[])->f32[];(f32[])->s32[]"),
            "error: the result of branch 0 computation and branch 1 computation must have the same shape: got branch 0 "
            "computation result: f32[]; branch 1 computation result: s32[].");
}

}  // namespace
}  // namespace kashi::hlo
