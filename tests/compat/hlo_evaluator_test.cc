// In the manner of upstream's hlo_evaluator_test.cc, with nothing but upstream's headers.
#include "xla/hlo/evaluator/hlo_evaluator.h"

#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla/array2d.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/testlib/hlo_hardware_independent_test_base.h"
#include "xla/hlo/testlib/test.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"
#include "xla/tests/literal_test_util.h"
#include "xla/types.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

class HloEvaluatorTest : public HloHardwareIndependentTestBase {
 public:
  absl::StatusOr<Literal> Evaluate(absl::Span<const Literal* const> arg_literals = {}) {
    return evaluator_.Evaluate(*m_->entry_computation(), arg_literals);
  }
  void TestUnaryOp(HloOpcode opcode, Literal expected, Literal input) {
    HloComputation::Builder b(TestName());
    auto c1 = b.AddInstruction(HloInstruction::CreateConstant(std::move(input)));
    b.AddInstruction(HloInstruction::CreateUnary(expected.shape(), opcode, c1));
    m_->AddEntryComputation(b.Build());
    TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate());
    EXPECT_TRUE(LiteralTestUtil::Equal(expected, result));
  }

 protected:
  HloEvaluator evaluator_;
  std::unique_ptr<HloModule> m_ = CreateNewVerifiedModule();
};

TEST_F(HloEvaluatorTest, DoesAbsR2) {
  TestUnaryOp(HloOpcode::kAbs, LiteralUtil::CreateR2<int64_t>({{1, 20}, {100, 4}}),
              LiteralUtil::CreateR2<int64_t>({{1, -20}, {-100, 4}}));
}

TEST_F(HloEvaluatorTest, DoesParameters) {
  HloComputation::Builder b(TestName());
  const Shape shape = ShapeUtil::MakeShape(F32, {2});
  auto x = b.AddInstruction(HloInstruction::CreateParameter(0, shape, "x"));
  auto y = b.AddInstruction(HloInstruction::CreateParameter(1, shape, "y"));
  b.AddInstruction(HloInstruction::CreateBinary(shape, HloOpcode::kMultiply, x, y));
  m_->AddEntryComputation(b.Build());
  Literal two = LiteralUtil::CreateR1<float>({2, 3}), three = LiteralUtil::CreateR1<float>({5, 7});
  TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate({&two, &three}));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR1<float>({10, 21}), result));
}

TEST_F(HloEvaluatorTest, EvaluatesAnInstructionThatDependsOnAParameter) {
  HloComputation::Builder b(TestName());
  const Shape shape = ShapeUtil::MakeShape(F32, {});
  auto x = b.AddInstruction(HloInstruction::CreateParameter(0, shape, "x"));
  auto one = b.AddInstruction(HloInstruction::CreateConstant(LiteralUtil::CreateR0<float>(1)));
  auto sum = b.AddInstruction(HloInstruction::CreateBinary(shape, HloOpcode::kAdd, x, one));
  auto two = b.AddInstruction(HloInstruction::CreateBinary(shape, HloOpcode::kAdd, one, one));
  auto four = b.AddInstruction(HloInstruction::CreateBinary(shape, HloOpcode::kAdd, two, two));
  m_->AddEntryComputation(b.Build(sum));
  Literal result;
  EXPECT_FALSE(evaluator_.TryEvaluate(sum, &result));
  EXPECT_FALSE(evaluator_.TryEvaluate(four, &result));
  EXPECT_TRUE(evaluator_.TryEvaluate(four, &result, /*recursively_evaluate_nonconstant_operands=*/true));
  EXPECT_EQ(result.Get<float>({}), 4);
  const absl::Status status = evaluator_.Evaluate(sum, {}, true).status();
  EXPECT_EQ(internal::ParseEvalErrorDetail(status), internal::EvalErrorDetail::kDynamicValueDependence);
  Literal ten = LiteralUtil::CreateR0<float>(10);
  TF_ASSERT_OK_AND_ASSIGN(Literal eleven, evaluator_.Evaluate(sum, {}, true, {{x, &ten}}));
  EXPECT_EQ(eleven.Get<float>({}), 11);
}

TEST_F(HloEvaluatorTest, ElementwiseOnLiterals) {
  Literal lhs = LiteralUtil::CreateR1<int32_t>({1, 5}), rhs = LiteralUtil::CreateR1<int32_t>({3, 3});
  TF_ASSERT_OK_AND_ASSIGN(Literal sum, evaluator_.EvaluateElementwiseBinaryOp(HloOpcode::kAdd, lhs, rhs));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR1<int32_t>({4, 8}), sum));
  TF_ASSERT_OK_AND_ASSIGN(Literal less, evaluator_.EvaluateElementwiseCompareOp(ComparisonDirection::kLt, lhs, rhs));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR1<bool>({true, false}), less));
  TF_ASSERT_OK_AND_ASSIGN(Literal chosen, evaluator_.EvaluateElementwiseTernaryOp(HloOpcode::kSelect, less, lhs, rhs));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR1<int32_t>({1, 3}), chosen));
}

TEST_F(HloEvaluatorTest, MatrixProducts) {
  Array2D<float> lhs({{1, 2}, {3, 4}}), rhs({{1, 0}, {10, 1}});
  EXPECT_EQ(*HloEvaluator::MatmulArray2D(lhs, rhs), Array2D<float>({{21, 2}, {43, 4}}));
}

TEST_F(HloEvaluatorTest, CustomCallHandlers) {
  constexpr absl::string_view kText = R"(
    HloModule test
    ENTRY main {
      x = u32[2]{0} parameter(0)
      ROOT call = u32[2]{0} custom-call(x), custom_call_target="_my_custom_call"
    })";
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(kText));
  Literal x = LiteralUtil::CreateR1<uint32_t>({1, 2});
  EXPECT_EQ(Evaluate({&x}).status().code(), absl::StatusCode::kUnimplemented);
  evaluator_.set_custom_call_handler([](const HloInstruction* call, absl::Span<const Literal* const> operands) {
    EXPECT_EQ(call->custom_call_target(), "_my_custom_call");
    return absl::StatusOr<Literal>(operands[0]->Clone());
  });
  TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate({&x}));
  EXPECT_TRUE(LiteralTestUtil::Equal(x, result));
}

class CountsComputations : public HloEvaluator {
 public:
  void OnEvaluateComputation(const HloComputation&) override { ++count; }
  int count = 0;
};

TEST_F(HloEvaluatorTest, TellsOfComputations) {
  constexpr absl::string_view kText = R"(
    HloModule test
    half {
      x = f32[] parameter(0)
      two = f32[] constant(2)
      ROOT h = f32[] divide(x, two)
    }
    ENTRY main {
      x = f32[] constant(12)
      a = f32[] call(x), to_apply=half
      ROOT b = f32[] call(a), to_apply=half
    })";
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(kText));
  CountsComputations evaluator;
  TF_ASSERT_OK_AND_ASSIGN(Literal result, evaluator.Evaluate(*m_, absl::Span<const Literal* const>()));
  EXPECT_EQ(result.Get<float>({}), 3);
  EXPECT_EQ(evaluator.count, 3);
}

}  // namespace
}  // namespace xla
