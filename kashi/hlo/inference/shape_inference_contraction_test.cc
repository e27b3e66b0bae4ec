// Dot, ragged dot and convolution, by hand: each check, in the order in which they are made. And, against XLA, the
// recorded cases of everything that shape_inference_cases_testing.h knows.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "kashi/array/recorded_cases_testing.h"
#include "kashi/hlo/inference/shape_inference_cases_testing.h"

namespace kashi::hlo {
namespace {

// Columns: kind, operands, computations, attributes, "ok" or "error", the shape or XLA's message. A message is recorded
// up to where it depends on more than the case; "" is any.
TEST(ShapeInferenceCasesTest, AgreeWithXla) {
  for (const auto& row : array::ReadTestData("shape_inference_contraction_cases.tsv")) {
    ASSERT_EQ(row.size(), 6u) << row[0];
    const std::string shown = absl::StrCat(row[0], "(", row[1], "), ", row[2], ", ", row[3]);
    const absl::StatusOr<Shape> shape = ShapeInferenceCase(row[0], row[1], row[2], row[3]).Infer();
    if (row[4] == "ok") {
      ASSERT_TRUE(shape.ok()) << shown << ": " << shape.status();
      EXPECT_EQ(shape->ToString(/*print_layout=*/true), row[5]) << shown;
    } else {
      ASSERT_FALSE(shape.ok()) << shown << ": " << shape->ToString();
      EXPECT_TRUE(absl::StartsWith(shape.status().message(), row[5])) << shown << ":\n"
                                                                      << shape.status().message() << "\n"
                                                                      << row[5];
    }
  }
}

struct ErrorCase {
  const char* operands;
  const char* attributes;
  const char* error;
};

// Each case passes the checks of those before it, and most fail those of later ones too.
void ExpectErrors(const std::string& kind, const std::vector<ErrorCase>& cases) {
  for (const ErrorCase& c : cases) {
    const std::string text = InferShapeText(kind, c.operands, c.attributes);
    EXPECT_TRUE(absl::StartsWith(text, absl::StrCat("error: ", c.error))) << c.operands << " " << c.attributes << "\n"
                                                                          << text;
  }
}

// ---- Dot -----------------------------------------------------------------------------------------------------------

std::string InferDot(const std::string& operands, const std::string& attributes) {
  return InferShapeText("dot", operands, attributes);
}

TEST(InferDotOpShapeTest, BatchThenFreeOfLhsThenFreeOfRhs) {
  EXPECT_EQ(InferDot("f32[2,3];f32[3,4]", "lhs_contracting_dims={1};rhs_contracting_dims={0}"), "f32[2,4]{1,0}");
  EXPECT_EQ(InferDot("f32[2,3];f32[4,5]", ""), "f32[2,3,4,5]{3,2,1,0}");
  EXPECT_EQ(InferDot("f32[5,2,7,3];f32[3,4,7,5]",
                     "lhs_batch_dims={2,0};rhs_batch_dims={2,3};"
                     "lhs_contracting_dims={3};rhs_contracting_dims={0}"),
            "f32[7,5,2,4]{3,2,1,0}");
  EXPECT_EQ(InferDot("f32[];f32[]", ""), "f32[]");
}

TEST(InferDotOpShapeTest, FlagsAreCopied) {
  EXPECT_EQ(InferDot("f32[<=2,<=3,4];f32[2,4,?]",
                     "lhs_batch_dims={0};rhs_batch_dims={0};lhs_contracting_dims={2};rhs_contracting_dims={1}"),
            "f32[<=2,<=3,?]{2,1,0}");
  // The batch dimension is lhs'.
  EXPECT_EQ(InferDot("f32[?];f32[2]", "lhs_batch_dims={0};rhs_batch_dims={0}"), "f32[?]{0}");
}

TEST(InferDotOpShapeTest, ElementType) {
  EXPECT_EQ(InferDot("f16[2];bf16[2]", "lhs_contracting_dims={0};rhs_contracting_dims={0}"), "bf16[]");
  EXPECT_EQ(InferDot("s8[2];f32[2]", "lhs_contracting_dims={0};rhs_contracting_dims={0}"), "f32[]");
  const Shape s8 = ShapeUtil::MakeShape(S8, {2});
  DotDimensionNumbers outer;
  EXPECT_EQ(ShapeInference::InferDotOpShape(s8, s8, outer, S32)->ToString(), "s32[2,2]");
  // XLA dies if neither of two types is the wider one.
  const Shape a = ShapeUtil::MakeShape(F8E4M3, {2}), b = ShapeUtil::MakeShape(F8E4M3FNUZ, {2});
  EXPECT_FALSE(ShapeInference::InferDotOpShape(a, b, outer, std::nullopt).ok());
  EXPECT_TRUE(ShapeInference::InferDotOpShape(a, b, outer, F32).ok());
}

TEST(InferDotOpShapeTest, Errors) {
  ExpectErrors(
      "dot",
      {{"();token[]", "", "Expected array argument for lhs of dot, but got ()."},
       {"f32[2];token[]", "lhs_contracting_dims={9}", "Expected array argument for rhs of dot, but got token[]."},
       {"f32[2];f32[3]", "lhs_contracting_dims={0,0,1}", "A dimension number is out of range in Dot: "},
       {"f32[2];f32[3]", "rhs_batch_dims={-1}", "A dimension number is out of range in Dot: "},
       {"f32[2];f32[3]", "lhs_batch_dims={9223372036854775807}", "A dimension number is out of range in Dot: "},
       {"f32[2];f32[3]", "lhs_contracting_dims={0};lhs_batch_dims={0}", "A dimension number is not unique in Dot: "},
       {"f32[2];f32[3]", "rhs_contracting_dims={0,0}", "A dimension number is not unique in Dot: "},
       {"f32[2];f32[3]", "lhs_contracting_dims={0};rhs_batch_dims={0}",
        "Cannot infer shape for dot operation: f32[2] <dot> f32[3]. Must specify the same number of contracting "
        "dimensions for lhs and rhs."},
       {"f32[2,2];f32[3]", "lhs_contracting_dims={0};rhs_contracting_dims={0};lhs_batch_dims={1}",
        "Cannot infer shape for dot operation: f32[2,2] <dot> f32[3]. Contracting dimension sizes are not compatible."},
       {"f32[2];f32[3]", "lhs_batch_dims={0}",
        "Cannot infer shape for dot operation: f32[2] <dot> f32[3]. Must the same number of batch dimensions for lhs "
        "and rhs."},
       {"f32[<=2];f32[<=3]", "lhs_batch_dims={0};rhs_batch_dims={0}",
        "Cannot infer shape for dot operation: f32[<=2] <dot> f32[<=3]. Batch dimension sizes are not compatible."}});
}

// XLA dies: there are more bytes than int64_t can count.
TEST(InferDotOpShapeTest, TooLargeResult) {
  EXPECT_TRUE(absl::StartsWith(InferDot("f32[4294967296];f32[4294967296]", ""), "error: "));
}

// ---- Ragged dot ----------------------------------------------------------------------------------------------------

std::string InferRaggedDot(const std::string& operands, const std::string& attributes) {
  return InferShapeText("ragged-dot", operands, attributes);
}

TEST(InferRaggedDotOpShapeTest, Modes) {
  const std::string plain = "lhs_contracting_dims={1};rhs_contracting_dims={1};";
  EXPECT_EQ(InferRaggedDot("f32[6,3];f32[2,3,5];s32[2]", plain + "lhs_ragged_dims={0};rhs_group_dims={0}"),
            "f32[6,5]{1,0}");
  EXPECT_EQ(InferRaggedDot("f32[6,3];f32[5,3];s32[2]", plain + "lhs_ragged_dims={1}"), "f32[2,6,5]{2,1,0}");
  EXPECT_EQ(InferRaggedDot("f32[6,3,4];f32[6,3,5];s32[2]",
                           plain + "lhs_batch_dims={0};rhs_batch_dims={0};lhs_ragged_dims={0}"),
            "f32[6,4,5]{2,1,0}");
}

TEST(InferRaggedDotOpShapeTest, GroupSizesForEachIndexBeforeTheRaggedDimension) {
  const std::string free =
      "lhs_batch_dims={0};rhs_batch_dims={0};lhs_contracting_dims={3};rhs_contracting_dims={1};"
      "lhs_ragged_dims={2};rhs_group_dims={3}";
  EXPECT_EQ(InferRaggedDot("f32[7,6,5,4];f32[7,4,3,2];s32[2]", free), "f32[7,6,5,3]{3,2,1,0}");
  EXPECT_EQ(InferRaggedDot("f32[7,6,5,4];f32[7,4,3,2];s32[7,6,2]", free), "f32[7,6,5,3]{3,2,1,0}");
  EXPECT_EQ(InferRaggedDot("f32[7,6,5,4];f32[7,4,3,2];s32[7,2]", free),
            "error: Cannot infer shape for ragged dot operation: f32[7,6,5,4] <ragged_dot> f32[7,4,3,2]. expected "
            "group_sizes to have rank 3, got 2");
  EXPECT_EQ(
      InferRaggedDot("f32[7,6,5,4];f32[7,4,3,2];s32[6,7,2]", free),
      "error: Cannot infer shape for ragged dot operation: f32[7,6,5,4] <ragged_dot> f32[7,4,3,2]. group_sizes is "
      "expected to have shape [7, 6, 2], got [6, 7, 2]");
}

TEST(InferRaggedDotOpShapeTest, Errors) {
  ExpectErrors(
      "ragged-dot",
      {{"();();()", "", "Expected array argument for lhs of ragged dot"},
       {"f32[2];();()", "", "Expected array argument for rhs of ragged dot"},
       {"f32[2];f32[3];()", "", "Expected array argument for group_sizes of ragged dot"},
       {"f32[2];f32[3];s32[]", "lhs_contracting_dims={2}", "A dimension number is out of range in Dot: "},
       {"f32[2];f32[3];s32[]", "lhs_contracting_dims={0,0}", "A dimension number is not unique in Dot: "},
       {"f32[2];f32[3];s32[]", "lhs_contracting_dims={0};rhs_contracting_dims={0}",
        "Cannot infer shape for dot operation: f32[2] <dot> f32[3]. Contracting dimension sizes are not compatible."},
       {"f32[2];f32[3];s32[]", "",
        "Cannot infer shape for ragged dot operation: f32[2] <ragged_dot> f32[3]. There must be exactly one ragged "
        "dimension in the lhs."},
       {"f32[2];f32[3];s32[]", "lhs_ragged_dims={0,0}",
        "Cannot infer shape for ragged dot operation: f32[2] <ragged_dot> f32[3]. There must be exactly one ragged "
        "dimension in the lhs."},
       {"f32[2];f32[3];s32[]", "lhs_ragged_dims={1};rhs_group_dims={7}",
        "Cannot infer shape for ragged dot operation: f32[2] <ragged_dot> f32[3]. lhs ragged dimension 1 is out of "
        "range "
        "[0, 1)"},
       {"f32[2];f32[3];s32[]", "lhs_ragged_dims={0};rhs_group_dims={7}",
        "Cannot infer shape for ragged dot operation: f32[2] <ragged_dot> f32[3]. expected group_sizes to have rank 1, "
        "got 0"},
       {"f32[2];f32[3];s32[4]", "lhs_ragged_dims={0};rhs_group_dims={7}",
        "Cannot infer shape for ragged dot operation: f32[2] <ragged_dot> f32[3]. rhs group dimension 7 is out of "
        "range "
        "[0, 1)"},
       {"f32[2];f32[2];s32[4]",
        "lhs_contracting_dims={0};rhs_contracting_dims={0};lhs_ragged_dims={0};rhs_group_dims={0}",
        "Cannot infer shape for ragged dot operation: f32[2] <ragged_dot> f32[2]. rhs group dimension cannot be a "
        "batch "
        "or contracting dimension"},
       {"f32[2];f32[2,4];s32[4]",
        "lhs_contracting_dims={0};rhs_contracting_dims={0};lhs_ragged_dims={0};rhs_group_dims={1}",
        "Cannot infer shape for ragged dot operation: f32[2] <ragged_dot> f32[2,4]. There must be zero group "
        "dimensions "
        "in the rhs when the ragged dimension is batch or contracting."},
       {"f32[2];f32[3];s32[4]", "lhs_ragged_dims={0}",
        "Cannot infer shape for ragged dot operation: f32[2] <ragged_dot> f32[3]. There must be exactly one group "
        "dimension in the rhs"},
       {"f32[2];f32[3];s32[4]", "lhs_ragged_dims={0};rhs_group_dims={0}",
        "Cannot infer shape for ragged dot operation: f32[2] <ragged_dot> f32[3]. rhs group dimension is expected to "
        "have size=4, got 3"}});
}

// ---- Convolution ---------------------------------------------------------------------------------------------------

std::string InferConvolution(const std::string& operands, const std::string& attributes) {
  return InferShapeText("convolution", operands, attributes);
}

TEST(InferConvolveShapeTest, Sizes) {
  EXPECT_EQ(InferConvolution("f32[1,8,8,3];f32[3,3,3,16]", "window={size=3x3};dim_labels=b01f_01io->b01f"),
            "f32[1,6,6,16]{3,2,1,0}");
  EXPECT_EQ(InferConvolution("f32[1,8,8,3];f32[3,3,3,16]",
                             "window={size=3x3 stride=2x1 pad=1_1x0_2 rhs_dilate=1x2};dim_labels=b01f_01io->f10b"),
            "f32[16,6,4,1]{3,2,1,0}");
  EXPECT_EQ(InferConvolution("f32[2,3];f32[3,4]", "dim_labels=bf_io->bf"), "f32[2,4]{1,0}");
  EXPECT_EQ(InferConvolution("f32[1,5,1];f32[9,1,1]", "window={size=9};dim_labels=b0f_0io->b0f"), "f32[1,0,1]{2,1,0}");
}

TEST(InferConvolveShapeTest, Groups) {
  EXPECT_EQ(InferConvolution("f32[1,8,6];f32[1,3,4]", "window={size=1};dim_labels=b0f_0io->b0f;feature_group_count=2"),
            "f32[1,8,4]{2,1,0}");
  EXPECT_EQ(InferConvolution("f32[6,8,1];f32[1,1,4]", "window={size=1};dim_labels=b0f_0io->b0f;batch_group_count=2"),
            "f32[3,8,4]{2,1,0}");
}

TEST(InferConvolveShapeTest, SparseKernel) {
  EXPECT_EQ(InferConvolution("f32[2,8,3];(bf16[3,3,4],u16[5])", "window={size=3};dim_labels=b0f_0io->b0f"),
            "f32[2,6,4]{2,1,0}");
}

TEST(InferConvolveShapeTest, DynamicDimensions) {
  // The features of the input are contracted; all other dynamic dimensions show.
  EXPECT_EQ(InferConvolution("f32[<=2,<=8,<=3];f32[3,3,16]", "window={size=3};dim_labels=b0f_0io->b0f"),
            "f32[<=2,<=6,16]{2,1,0}");
  EXPECT_EQ(InferConvolution("f32[2,8,3];f32[<=3,<=3,16]", "window={size=3};dim_labels=b0f_0io->b0f"),
            "f32[2,<=6,16]{2,1,0}");
  EXPECT_EQ(InferConvolution("f32[?,?,3];f32[3,3,16]", "window={size=3};dim_labels=b0f_0io->b0f"),
            "f32[?,?,16]{2,1,0}");
}

TEST(InferConvolveShapeTest, Errors) {
  const char* const kOperands = "f32[2,8,3];f32[3,3,4]";
  const std::string dnums = "dim_labels=b0f_0io->b0f;";
  const std::string good = dnums + "window={size=3};";
  const std::string both_groups = good + "feature_group_count=2;batch_group_count=2";
  const std::string batch_groups = good + "batch_group_count=3";
  const std::string feature_groups = good + "feature_group_count=2";
  const std::string no_features = good + "feature_group_count=3";
  const std::string no_stride = dnums + "window={size=3 stride=0}";
  ExpectErrors(
      "convolution",
      {{"();()", "dim_labels=bf_io->bf", "Expected array argument for lhs of convolution"},
       {"f32[];()", "dim_labels=bf_io->bf",
        "rhs of convolution, if a tuple, must have 2 elements for sparsity; got: ()"},
       {"f32[];(token[],s32[])", "dim_labels=bf_io->bf",
        "Expected array argument for rhs of convolution, but got token[]."},
       {"f32[];f32[]", "dim_labels=bf_io->bf;feature_group_count=0;batch_group_count=0",
        "feature_group_count must be a positive number, got 0"},
       {"f32[];f32[]", "dim_labels=bf_io->bf;batch_group_count=-1",
        "batch_group_count must be a positive number, got -1"},
       {kOperands, both_groups.c_str(), "both batch_group_count 2 and feature_group_count 2 cannot be greater than 1"},
       {"f32[];f32[]", dnums.c_str(), "Window must have same number of dimensions as dimension numbers."},
       {"f32[];f32[]", good.c_str(), "The LHS argument to a convolution should have rank 3; lhs: f32[]."},
       {"f32[2,8,3];f32[]", good.c_str(), "The RHS argument to a convolution should have rank 3; rhs: f32[]."},
       {"f32[2,8];f32[8,4]", "dim_labels=?\?b_io->bf", "A dimension number is out of range in convolution"},
       {"f32[2,8,3];f32[3,3,4]", "window={size=3};dim_labels=0b_0io->b0f",
        "Input dimensions of convolution must contain "},
       {"f32[2,8,3];f32[3,3,4]", "window={size=3};dim_labels=b0f_0i->b0f",
        "Window dimensions of convolution must contain"},
       {"f32[2,8,3];f32[3,3,4]", "window={size=3};dim_labels=b0f_0io->0f",
        "Output dimensions of convolution must contain"},
       {kOperands, batch_groups.c_str(),
        "Expected output feature dimension size (value 4) to be a multiple of batch group count 3;"},
       {kOperands, feature_groups.c_str(),
        "Expected LHS feature dimension (value 3) to be a multiple of feature_group_count (value 2), and LHS feature "
        "dimension / feature_group_count = RHS feature dimension (value 3);"},
       {"f32[2,8,9];f32[3,3,4]", no_features.c_str(),
        "Expected output feature dimension (value 4) to be divisible by feature_group_count (value 3);"},
       {"f32[2,8,3];f32[5,3,3]", batch_groups.c_str(),
        "Expected input batch dimension (value 2) to be divisible by batch_group_count (value 3);"},
       {"f32[2,8,3];f32[5,3,4]", no_stride.c_str(), "Window dimensions do not match RHS shape:"},
       {kOperands, no_stride.c_str(), "Window "},
       {"f32[2,8,3];f32[3,3,<=4]", good.c_str(), "Dynamic output feature dim on convolution kernel is not supported"}});
}

// Numbers that label text cannot express, but a proto can.
TEST(InferConvolveShapeTest, HostileNumbers) {
  const Shape lhs = ShapeUtil::MakeShape(F32, {2, 8, 3}), rhs = ShapeUtil::MakeShape(F32, {3, 3, 4});
  std::string error;
  const Window window = ParseWindow("size=3", &error).value();
  const ConvolutionDimensionNumbers good = ParseDimLabels("b0f_0io->b0f", &error).value();
  const auto infer = [&](const ConvolutionDimensionNumbers& dnums) {
    return std::string(
        ShapeInference::InferConvolveShape(lhs, rhs, 1, 1, window, dnums, std::nullopt).status().message());
  };
  EXPECT_EQ(infer(good), "");
  ConvolutionDimensionNumbers dnums = good;
  dnums.add_kernel_spatial_dimensions(0);
  EXPECT_EQ(infer(dnums).substr(0, 66), "Both arguments to convolution must have same number of dimensions.");
  dnums = good;
  dnums.add_output_spatial_dimensions(0);
  EXPECT_EQ(infer(dnums).substr(0, 72), "Both input and output of convolution must have same number of dimensions");
  for (int64_t number : {int64_t{-1}, int64_t{3}, Shape::kUnboundedSize}) {
    dnums = good;
    dnums.set_output_feature_dimension(number);
    EXPECT_EQ(infer(dnums).substr(0, 49), "A dimension number is out of range in convolution") << number;
  }
}

// XLA dies of a base that padding makes negative, and lets the products wrap around.
TEST(InferConvolveShapeTest, WindowsThatXlaDiesOf) {
  for (const char* window : {"size=1 pad=-9_0", "size=1 pad=9223372036854775807_9223372036854775807",
                             "size=1 lhs_dilate=9223372036854775807", "size=1 pad=4611686018427387904_0"}) {
    const std::string text =
        InferConvolution("f32[1,8,1];f32[1,1,1]", absl::StrCat("dim_labels=b0f_0io->b0f;window={", window, "}"));
    EXPECT_TRUE(absl::StartsWith(text, "error: ")) << window << ": " << text;
  }
}

}  // namespace
}  // namespace kashi::hlo
