#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "kashi/hlo/inference/shape_inference_cases_testing.h"

namespace kashi::hlo {
namespace {

std::string Infer(const std::string& op, const std::string& operands, int64_t feature_index) {
  return InferShapeText("batch-norm-" + op, operands, absl::StrCat("feature_index=", feature_index));
}

TEST(InferBatchNormShapeTest, Training) {
  EXPECT_EQ(Infer("training", "f32[2,3]{0,1};f32[3];f32[3]", 1), "(f32[2,3]{0,1}, f32[3]{0}, f32[3]{0})");
  EXPECT_EQ(Infer("training", "f16[<=2,3];f32[2];bf16[?]", 0), "(f16[<=2,3]{1,0}, f16[<=2]{0}, f16[<=2]{0})");
  EXPECT_EQ(Infer("training", "f32[?,3];f32[2];f32[9]", 0), "(f32[?,3]{1,0}, f32[?]{0}, f32[?]{0})");
}

TEST(InferBatchNormShapeTest, TrainingErrors) {
  EXPECT_EQ(Infer("training", "();();()", 9),
            "error: Expected array argument for operand of batch norm training, but got ().");
  EXPECT_EQ(Infer("training", "s32[];();()", 9),
            "error: Expected array argument for offset input of batch norm training, but got ().");
  EXPECT_EQ(Infer("training", "s32[];();s32[]", 9),
            "error: Expected array argument for scale input of batch norm training, but got ().");
  EXPECT_EQ(Infer("training", "s32[];s32[];s32[]", 0),
            "error: Expected feature_index of batch-norm-training to be smaller than the rank of operand_shape; got "
            "feature_index 0, and rank 0.");
  EXPECT_EQ(Infer("training", "s32[2];s32[];s32[]", -1),
            "error: Expected feature_index of batch-norm-training to be a non-negative number, got -1.");
  EXPECT_EQ(Infer("training", "s32[2];s32[];s32[]", 0),
            "error: Offset input of batch-norm-training must have rank 1, but has rank 0.");
  EXPECT_EQ(Infer("training", "s32[2];s32[1,1];s32[1]", 0),
            "error: Scale input of batch-norm-training must have rank 1, but has rank 2.");
  EXPECT_EQ(Infer("training", "s32[2];s32[1];s32[1]", 0),
            "error: The operand to batch-norm-training must have a floating point element type, but the shape is S32.");
  EXPECT_EQ(
      Infer("training", "f32[2];s32[1];s32[1]", 0),
      "error: The inputs should have the same element type for batch-norm-training, but the shape of offset factor "
      "is S32 and the shape of operand is F32.");
  EXPECT_EQ(
      Infer("training", "f32[2];s32[1];f32[1]", 0),
      "error: The inputs should have the same element type for batch-norm-training, but the shape of scale factor "
      "is S32 and the shape of operand is F32.");
  EXPECT_EQ(
      Infer("training", "f32[2];f32[1];f32[1]", 0),
      "error: The size of offset factor should be compatible with feature count, but the size of offset factor is "
      "1 and the feature count is 2.");
  EXPECT_EQ(
      Infer("training", "f32[2];f32[1];f32[2]", 0),
      "error: The size of scale factor should be compatible with feature count, but the size of scale factor is 1 "
      "and the feature count is 2.");
}

TEST(InferBatchNormShapeTest, Inference) {
  EXPECT_EQ(Infer("inference", "f32[2,<=3]{0,1};f32[3];f32[3];f32[3];f16[?]", 1), "f32[2,<=3]{0,1}");
  // Mean and variance need not be vectors.
  EXPECT_EQ(Infer("inference", "f32[2];f32[2];f32[2];f32[2,9];f32[2,1]", 0), "f32[2]{0}");
  EXPECT_EQ(Infer("inference", "f32[?];f32[2];f32[2];f32[];f32[7]", 0), "f32[?]{0}");
}

TEST(InferBatchNormShapeTest, InferenceErrors) {
  EXPECT_TRUE(absl::StartsWith(Infer("inference", "f32[];f32[];f32[];();()", 0),
                               "error: Expected feature_index of batch-norm-inference to be smaller "));
  EXPECT_EQ(
      Infer("inference", "f32[2];f32[1];f32[1];();()", 0),
      "error: The inputs should have the same element type for batch-norm-inference, but the shape of mean is TUPLE "
      "and the shape of operand is F32.");
  EXPECT_EQ(
      Infer("inference", "f32[2];f32[1];f32[1];f32[];()", 0),
      "error: The inputs should have the same element type for batch-norm-inference, but the shape of variance is "
      "TUPLE and the shape of operand is F32.");
  for (const auto& [operands, what] :
       {std::pair<std::string, std::string>("f32[1];f32[1];f32[1];f32[1]", "offset factor"),
        {"f32[1];f32[2];f32[1];f32[1]", "scale factor"},
        {"f32[2];f32[2];f32[1];f32[1]", "mean"},
        {"f32[2];f32[2];f32[2];f32[1]", "variance"}}) {
    EXPECT_EQ(Infer("inference", "f32[2];" + operands, 0),
              absl::StrCat("error: The size of ", what, " should be compatible with feature count, but the size of ",
                           what, " is 1 and the feature count is 2."));
  }
  // XLA compares with the memory behind the scalar's dimensions.
  EXPECT_EQ(Infer("inference", "f32[2];f32[2];f32[2];f32[];f32[2]", 0),
            "error: The size of mean should be compatible with feature count, but f32[] has none.");
}

TEST(InferBatchNormShapeTest, Grad) {
  EXPECT_EQ(Infer("grad", "f32[2,<=3]{0,1};f16[3];f32[3];f32[?];bf16[?,3]", 1),
            "(f32[2,<=3]{0,1}, f32[<=3]{0}, f32[<=3]{0})");
}

TEST(InferBatchNormShapeTest, GradErrors) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"();();();();()", "Expected array argument for operand of batch norm grad"},
      {"s32[];();();();()", "Expected array argument for scale input of batch norm grad"},
      {"s32[];s32[];();();()", "Expected array argument for mean input of batch norm grad"},
      {"s32[];s32[];s32[];();()", "Expected array argument for var input of batch norm grad"},
      {"s32[];s32[];s32[];s32[];()", "Expected array argument for output_grad input of batch norm grad"},
      {"s32[];s32[];s32[];s32[];s32[1]", "Expected feature_index of batch-norm-grad to be smaller than the rank of "},
      {"s32[2];s32[];s32[];s32[];s32[]",
       "Expected operand_shape of batch-norm-grad to have the same rank as output_grad"},
      {"s32[2];s32[];s32[];s32[];s32[9]", "Mean input of batch-norm-grad must have rank 1, but has rank 0."},
      {"s32[2];s32[];s32[1];s32[];s32[9]", "Scale input of batch-norm-grad must have rank 1, but has rank 0."},
      {"s32[2];s32[1];s32[1];s32[];s32[9]", "Var input of batch-norm-grad must have rank 1, but has rank 0."},
      {"s32[2];s32[1];s32[1];s32[1];s32[9]",
       "The operand to batch-norm-grad must have a floating point element type, "},
      {"f32[2];s32[1];s32[1];s32[1];s32[9]",
       "The output_grad to batch-norm-grad must have a floating point element type"},
      {"f32[2];s32[1];s32[1];s32[1];f32[9]",
       "The inputs should have the same element type for batch-norm-grad, but the "
       "element type of scale factor is S32 and the element type of operand is F32."},
      {"f32[2];f32[1];s32[1];s32[1];f32[9]",
       "The inputs should have the same element type for batch-norm-grad, but the "
       "element type of mean is S32 and the element type of operand is F32."},
      {"f32[2];f32[1];f32[1];s32[1];f32[9]",
       "The inputs should have the same element type for batch-norm-grad, but the "
       "element type of variance is S32 and the element type of operand is F32."},
      {"f32[2];f32[1];f32[1];f32[1];f32[9]", "The size of mean should be compatible with feature count"},
      {"f32[2];f32[1];f32[2];f32[1];f32[9]", "The size of scale factor should be compatible with feature count"},
      {"f32[2];f32[2];f32[2];f32[1];f32[9]", "The size of variance should be compatible with feature count"},
      {"f32[2];f32[2];f32[2];f32[2];f32[9]",
       "The bounds of operand shape should be compatible with output_grad's, but the "
       "bound of operand_shape at dimension 0 is 2 and the bound of output_grad_shape "
       "is 9."},
  };
  for (const auto& [operands, error] : cases) {
    const std::string text = Infer("grad", operands, 0);
    EXPECT_TRUE(absl::StartsWith(text, "error: " + error)) << operands << "\n" << text;
  }
  // XLA reads before the first dimension.
  EXPECT_TRUE(absl::StartsWith(Infer("grad", "f32[2];f32[2];f32[2];f32[2];f32[2]", -1), "error: "));
}

}  // namespace
}  // namespace kashi::hlo
