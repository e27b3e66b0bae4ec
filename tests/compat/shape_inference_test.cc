#include "xla/service/shape_inference.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/testlib/test.h"
#include "xla/hlo/testlib/test_helpers.h"
#include "xla/shape.h"
#include "xla/shape_util.h"
#include "xla/tsl/platform/statusor.h"
#include "xla/util.h"
#include "xla/window_util.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class ShapeInferenceTest : public ::testing::Test {
 protected:
  const Shape s32_ = ShapeUtil::MakeShape(S32, {});
  const Shape f32_ = ShapeUtil::MakeShape(F32, {});
  const Shape pred_ = ShapeUtil::MakeShape(PRED, {});
  const Shape vector_32_ = ShapeUtil::MakeShape(F32, {32});
  const Shape matrix_32_48_ = ShapeUtil::MakeShape(F32, {32, 48});
};

TEST_F(ShapeInferenceTest, UnaryOps) {
  const absl::StatusOr<Shape> inferred = ShapeInference::InferUnaryOpShape(HloOpcode::kNegate, matrix_32_48_);
  ASSERT_IS_OK(inferred.status());
  ASSERT_TRUE(ShapeUtil::Equal(matrix_32_48_, *inferred));
  EXPECT_THAT(ShapeInference::InferUnaryOpShape(HloOpcode::kCos, s32_).status().message(), HasSubstr("cosine"));
}

TEST_F(ShapeInferenceTest, BinaryOpsBroadcast) {
  TF_ASSERT_OK_AND_ASSIGN(const Shape sum,
                          ShapeInference::InferBinaryOpShape(HloOpcode::kAdd, vector_32_, matrix_32_48_, {0}));
  EXPECT_TRUE(ShapeUtil::Equal(matrix_32_48_, sum));
  const auto wrong = ShapeInference::InferBinaryOpShape(HloOpcode::kAdd, vector_32_, matrix_32_48_, {1});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ShapeInferenceTest, TernaryAndVariadicOps) {
  TF_ASSERT_OK_AND_ASSIGN(Shape selected,
                          ShapeInference::InferTernaryOpShape(HloOpcode::kSelect, pred_, vector_32_, vector_32_));
  EXPECT_TRUE(ShapeUtil::Equal(selected, vector_32_));
  TF_ASSERT_OK_AND_ASSIGN(Shape tuple, ShapeInference::InferVariadicOpShape(HloOpcode::kTuple, {&s32_, &f32_}));
  EXPECT_TRUE(ShapeUtil::Equal(ShapeUtil::MakeTupleShape({s32_, f32_}), tuple));
}

TEST_F(ShapeInferenceTest, Reduce) {
  const ProgramShape to_apply = ShapeUtil::MakeProgramShape({f32_, f32_}, f32_);
  auto inferred = ShapeInference::InferReduceShape({&matrix_32_48_, &f32_}, {1}, to_apply);
  EXPECT_IS_OK(inferred.status());
  EXPECT_TRUE(ShapeUtil::Equal(vector_32_, inferred.value()));
  ProgramShape bad_apply = ShapeUtil::MakeProgramShape({s32_, s32_}, pred_);
  inferred = ShapeInference::InferReduceShape({&matrix_32_48_, &f32_}, {1}, bad_apply);
  EXPECT_FALSE(inferred.ok());
}

TEST_F(ShapeInferenceTest, Convolutions) {
  ConvolutionDimensionNumbers dnums;
  dnums.set_input_batch_dimension(0);
  dnums.set_output_batch_dimension(0);
  dnums.set_input_feature_dimension(1);
  dnums.set_output_feature_dimension(1);
  dnums.set_kernel_output_feature_dimension(0);
  dnums.set_kernel_input_feature_dimension(1);
  for (int i = 0; i < 2; ++i) {
    dnums.add_input_spatial_dimensions(2 + i);
    dnums.add_output_spatial_dimensions(2 + i);
    dnums.add_kernel_spatial_dimensions(2 + i);
  }
  Window window;
  const std::vector<int64_t> sizes = {2, 3};
  for (const int64_t size : sizes) {
    WindowDimension* dim = window.add_dimensions();
    dim->set_size(size);
    dim->set_stride(2);
    dim->set_padding_low(1);
    dim->set_padding_high(0);
    dim->set_window_dilation(1);
    dim->set_base_dilation(1);
  }
  TF_ASSERT_OK_AND_ASSIGN(Shape result, ShapeInference::InferConvolveShape(ShapeUtil::MakeShape(F32, {10, 11, 3, 4}),
                                                                           ShapeUtil::MakeShape(F32, {12, 11, 2, 3}),
                                                                           /*feature_group_count=*/1,
                                                                           /*batch_group_count=*/1, window, dnums,
                                                                           /*preferred_element_type=*/std::nullopt));
  EXPECT_TRUE(ShapeUtil::Equal(ShapeUtil::MakeShape(F32, {10, 12, 2, 2}), result));
}

TEST_F(ShapeInferenceTest, Dots) {
  DotDimensionNumbers dot_dnums;
  dot_dnums.add_lhs_contracting_dimensions(1);
  dot_dnums.add_rhs_contracting_dimensions(0);
  TF_ASSERT_OK_AND_ASSIGN(const Shape shape,
                          ShapeInference::InferDotOpShape(matrix_32_48_, ShapeUtil::MakeShape(F32, {48, 7}), dot_dnums,
                                                          /*preferred_element_type=*/F64));
  EXPECT_TRUE(ShapeUtil::Equal(ShapeUtil::MakeShape(F64, {32, 7}), shape));
}

TEST_F(ShapeInferenceTest, GathersAndScatters) {
  TF_ASSERT_OK_AND_ASSIGN(const Shape gathered,
                          ShapeInference::InferGatherShape(matrix_32_48_, ShapeUtil::MakeShape(S64, {5}),
                                                           HloGatherInstruction::MakeGatherDimNumbers(
                                                               /*offset_dims=*/{0}, /*collapsed_slice_dims=*/{1},
                                                               /*start_index_map=*/{1}, /*index_vector_dim=*/1),
                                                           /*slice_sizes=*/{32, 1}));
  EXPECT_TRUE(ShapeUtil::Equal(gathered, ShapeUtil::MakeShape(F32, {32, 5}))) << ShapeUtil::HumanString(gathered);
  const Shape indices = ShapeUtil::MakeShape(S64, {5});
  const Shape updates = ShapeUtil::MakeShape(F32, {32, 5});
  const std::vector<const Shape*> operands = {&matrix_32_48_, &indices, &updates};
  TF_ASSERT_OK_AND_ASSIGN(const Shape scattered,
                          ShapeInference::InferScatterShape(
                              operands, ShapeUtil::MakeProgramShape({f32_, f32_}, f32_),
                              HloScatterInstruction::MakeScatterDimNumbers(/*update_window_dims=*/{0},
                                                                           /*inserted_window_dims=*/{1},
                                                                           /*scatter_dims_to_operand_dims=*/{1},
                                                                           /*index_vector_dim=*/1)));
  EXPECT_TRUE(ShapeUtil::Equal(scattered, matrix_32_48_));
}

TEST_F(ShapeInferenceTest, ControlFlow) {
  const ProgramShape condition = ShapeUtil::MakeProgramShape({vector_32_}, pred_);
  const ProgramShape body = ShapeUtil::MakeProgramShape({vector_32_}, vector_32_);
  EXPECT_IS_OK(ShapeInference::InferWhileShape(condition, body, vector_32_).status());
  EXPECT_THAT(ShapeInference::InferWhileShape(body, body, vector_32_).status().message(),
              ContainsRegex("must return a boolean"));
  TF_ASSERT_OK_AND_ASSIGN(Shape branches,
                          ShapeInference::InferConditionalShape(pred_, {body, body}, {vector_32_, vector_32_}));
  EXPECT_TRUE(ShapeUtil::Equal(branches, vector_32_));
}

// Parametrised over texts of shapes, as XLA does for unbounded dimensions.
struct BinaryOpTestCase {
  std::string lhs;
  std::string rhs;
  absl::Span<const int64_t> broadcast_dimensions;
  std::string expected;
};

class UnboundedBinaryOpShapeInferenceTest : public ::testing::TestWithParam<BinaryOpTestCase> {};

TEST_P(UnboundedBinaryOpShapeInferenceTest, UnboundedAdd) {
  TF_ASSERT_OK_AND_ASSIGN(const Shape lhs, ParseShape(GetParam().lhs));
  TF_ASSERT_OK_AND_ASSIGN(const Shape rhs, ParseShape(GetParam().rhs));
  TF_ASSERT_OK_AND_ASSIGN(const Shape expected, ParseShape(GetParam().expected));
  TF_ASSERT_OK_AND_ASSIGN(const Shape inferred, ShapeInference::InferBinaryOpShape(HloOpcode::kAdd, lhs, rhs,
                                                                                   GetParam().broadcast_dimensions));
  EXPECT_TRUE(ShapeUtil::Equal(inferred, expected))
      << "inferred: " << ShapeUtil::HumanString(inferred) << " expected: " << ShapeUtil::HumanString(expected);
}

INSTANTIATE_TEST_SUITE_P(UnboundedDynamism, UnboundedBinaryOpShapeInferenceTest,
                         ::testing::ValuesIn<BinaryOpTestCase>({{"f32[?]", "f32[3]", {}, "f32[3]"},
                                                                {"f32[?,2]", "f32[?,2]", {}, "f32[?,2]"}}));

}  // namespace
}  // namespace xla
