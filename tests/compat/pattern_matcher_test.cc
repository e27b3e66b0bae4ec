#include "xla/service/pattern_matcher.h"

#include <memory>
#include <sstream>
#include <string>

#include "absl/strings/string_view.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/testlib/pattern_matcher_gmock.h"
#include "xla/hlo/testlib/test.h"
#include "xla/shape_util.h"

namespace xla {
namespace {

namespace m = ::xla::match;
using ::testing::HasSubstr;
using ::testing::Not;

class PatternMatcherTest : public ::testing::Test {
 protected:
  HloInstruction* Root(absl::string_view text) {
    module_ = ParseAndReturnUnverifiedModule(text).value();
    return module_->entry_computation()->root_instruction();
  }
  // Why it does not match.
  template <typename Pattern>
  std::string Reason(const HloInstruction* instruction, const Pattern& pattern) {
    std::stringstream out;
    EXPECT_FALSE(Match(instruction, pattern, MatchOption{/*capture=*/true, /*single_user_only=*/false, &out}));
    return out.str();
  }

  std::unique_ptr<HloModule> module_;
};

constexpr char kScaled[] = R"(
  HloModule m
  ENTRY e {
    p0 = f32[2,3]{1,0} parameter(0)
    p1 = f32[2,3]{1,0} parameter(1)
    c = f32[] constant(2.5)
    b = f32[2,3]{1,0} broadcast(c), dimensions={}
    sum = f32[2,3]{1,0} add(p0, p1)
    ROOT scaled = f32[2,3]{1,0} multiply(sum, b)
  })";

TEST_F(PatternMatcherTest, OperationsAndOperands) {
  HloInstruction* root = Root(kScaled);
  EXPECT_TRUE(Match(root, m::Multiply()));
  EXPECT_TRUE(Match(root, m::Multiply(m::Add(m::Parameter(0), m::Parameter(1)), m::Broadcast(m::ConstantScalar(2.5)))));
  EXPECT_FALSE(Match(root, m::Multiply(m::Broadcast(), m::Add())));
  EXPECT_TRUE(Match(root, m::MultiplyAnyOrder(m::Broadcast(), m::Add())));
  EXPECT_FALSE(Match(root, m::MultiplyAnyOrder(m::Broadcast(), m::Broadcast())));
  EXPECT_FALSE(Match(root, m::Multiply(m::Add(m::Parameter(1), m::Op()), m::Op())));
  EXPECT_TRUE(Match(root, m::Op().WithOpcode(HloOpcode::kMultiply).WithNumOperands(2).WithOperand(1, m::Broadcast())));
  EXPECT_FALSE(Match(root, m::Op().WithOperand(2, m::Op())));
  EXPECT_TRUE(Match(root, m::Op().WithOperandIfPresent(2, m::Add())));
  EXPECT_TRUE(Match(root, m::Op().WithName("scaled").WithoutOpcode(HloOpcode::kAdd)));
  EXPECT_THAT(root, GmockMatch(m::Multiply(m::Op().WithOneUse(), m::Op().WithOneUser())));
  EXPECT_THAT(root, Not(GmockMatch(m::Add())));
  EXPECT_FALSE(Match(static_cast<const HloInstruction*>(nullptr), m::Op()));
}

TEST_F(PatternMatcherTest, CapturesOnlyWhatMatchesAsAWhole) {
  HloInstruction* root = Root(kScaled);
  HloInstruction *sum = nullptr, *product = nullptr;
  const HloInstruction* constant = nullptr;
  EXPECT_TRUE(Match(root, m::Multiply(&product, m::Add(&sum, m::Op(), m::Op()), m::Broadcast(m::Constant(&constant)))));
  EXPECT_EQ(product, root);
  EXPECT_EQ(sum, root->operand(0));
  EXPECT_EQ(constant->name(), "c");
  sum = nullptr;
  EXPECT_FALSE(Match(root, m::Multiply(m::Add(&sum, m::Op(), m::Op()), m::Reshape())));
  EXPECT_EQ(sum, nullptr);
  HloInstruction *a = nullptr, *b = nullptr;
  EXPECT_TRUE(Match(root, m::MultiplyAnyOrder(m::Broadcast(&a, m::Op()), m::Op(&b))));
  EXPECT_EQ(a->name(), "b");
  EXPECT_EQ(b->name(), "sum");
  a = b = nullptr;
  EXPECT_TRUE(Match(root, m::AnyOf<HloInstruction>(m::Add(&a), m::Multiply(&b))));
  EXPECT_EQ(a, nullptr);
  EXPECT_EQ(b, root);
}

TEST_F(PatternMatcherTest, Shapes) {
  HloInstruction* root = Root(kScaled);
  const ::xla::Shape shape = root->shape();
  EXPECT_TRUE(Match(root, m::Op().WithShapeEqualTo(&shape).WithShapeCompatibleTo(&shape).WithElementType(F32)));
  EXPECT_TRUE(Match(root, m::Op().WithShape(F32, {2, 3})));
  EXPECT_TRUE(Match(root, m::Op().WithShape(F32, {2, 3}, {1, 0})));
  EXPECT_FALSE(Match(root, m::Op().WithShape(F32, {2, 3}, {0, 1})));
  EXPECT_FALSE(Match(root, m::Op().WithShape(F32, {3, 2})));
  EXPECT_TRUE(Match(root, m::Op().WithShape(m::Shape().IsArray().WithRank(2).WithElementType(F32))));
  EXPECT_FALSE(Match(root, m::Op().WithShape(m::Shape().IsScalar())));
  const ::xla::Shape tuple = ShapeUtil::MakeTupleShape({shape, ShapeUtil::MakeShape(S32, {1})});
  EXPECT_TRUE(Match(&tuple, m::Shape().IsTuple().WithSubshapeEqualTo({0}, &shape)));
  EXPECT_TRUE(Match(&tuple, m::Shape().WithSubshape({1}, m::Shape().IsEffectiveScalar())));
  EXPECT_FALSE(Match(&tuple, m::Shape().WithSubshape({2}, m::Shape())));
  EXPECT_TRUE(Match(&shape.layout(), m::Layout().EqualTo(&shape.layout())));
  EXPECT_THAT(shape, GmockMatch(m::Shape().WithLayout(m::Layout().WithDenseFormat())));
}

TEST_F(PatternMatcherTest, ConstantsAndTuples) {
  HloInstruction* root = Root(R"(
    HloModule m
    ENTRY e {
      one = s32[1,1]{1,0} constant({{1}})
      two = s32[] constant(2)
      t = (s32[1,1]{1,0}, s32[]) tuple(one, two)
      ROOT g = s32[] get-tuple-element(t), index=1
    })");
  EXPECT_TRUE(Match(root, m::GetTupleElement(m::Tuple(m::Op(), m::ConstantScalar(2)), 1)));
  EXPECT_FALSE(Match(root, m::GetTupleElement(m::Tuple(), 0)));
  EXPECT_FALSE(Match(root, m::GetTupleElement(m::Tuple(m::Op()), 1)));
  const HloInstruction* one = root->operand(0)->operand(0);
  EXPECT_TRUE(Match(one, m::ConstantEffectiveScalar(1)));
  EXPECT_TRUE(Match(one, m::ConstantEffectiveScalar(1.0)));
  EXPECT_FALSE(Match(one, m::ConstantEffectiveScalar(1.5)));
  EXPECT_FALSE(Match(one, m::ConstantScalar()));
  EXPECT_FALSE(Match(one, m::NonConstant()));
  const HloInstruction* found = nullptr;
  EXPECT_TRUE(Match(root->operand(0)->operand(1), m::ConstantScalar(&found, 2)));
  EXPECT_EQ(found->name(), "two");
}

TEST_F(PatternMatcherTest, Attributes) {
  HloInstruction* root = Root(R"(
    HloModule m
    ENTRY e {
      p = f32[4,4]{1,0} parameter(0)
      d = f32[4,4]{1,0} dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      c = pred[4,4]{1,0} compare(d, p), direction=LT
      ROOT x = f32[4,4]{1,0} custom-call(c), custom_call_target="foo", sharding={replicated}
    })");
  EXPECT_TRUE(Match(root, m::CustomCall("foo", m::Lt(m::Dot().WithContractingDims({1}, {0}), m::Parameter()))));
  EXPECT_TRUE(Match(root, m::CustomCall({"bar", "foo"})));
  EXPECT_FALSE(Match(root, m::CustomCall("bar")));
  EXPECT_FALSE(Match(root, m::CustomCall("foo", m::Op(), m::Op())));
  EXPECT_TRUE(Match(root, m::Op().WithSharding("{replicated}")));
  EXPECT_FALSE(Match(root->operand(0), m::Eq()));
  EXPECT_TRUE(Match(root, m::Op().WithPredicate([](const HloInstruction* x) { return x->operand_count() == 1; })));
  // The parameter has two users, and the dot uses it twice.
  const HloInstruction* dot = root->operand(0)->operand(0);
  EXPECT_FALSE(Match(dot->operand(0), m::Op().WithOneUse()));
  EXPECT_TRUE(Match(dot->operand(0), m::Op().WithNumUser(2).WithAtMostNumUser(2)));
  EXPECT_TRUE(MatchSingleUserOnly(root, m::CustomCall("foo", m::Compare(m::Dot(), m::Parameter()))) == false);
  EXPECT_TRUE(MatchSingleUserOnly(root, m::CustomCall("foo", m::Compare())));
}

TEST_F(PatternMatcherTest, ExplainsAndDescribes) {
  HloInstruction* root = Root(kScaled);
  EXPECT_THAT(Reason(root, m::Add()), HasSubstr("HloInstruction doesn't have opcode add"));
  const std::string reason = Reason(root, m::Multiply(m::Add(m::Constant(), m::Op()), m::Op()));
  EXPECT_THAT(reason, HasSubstr("HloInstruction doesn't have opcode constant\nin p0 = f32[2,3]{1,0} parameter(0)"));
  EXPECT_THAT(reason, HasSubstr("in operand 0"));
  EXPECT_THAT(Reason(root, m::AnyOf<HloInstruction>(m::Add(), m::Reshape())),
              HasSubstr("None of the following matchers succeeded"));
  std::stringstream out;
  m::Add(m::Parameter(0), m::Op()).DescribeTo(&out);
  EXPECT_EQ(out.str(),
            "an HloInstruction:\n"
            " * with opcode add AND\n"
            " * with operand 0 which is:\n"
            "     an HloInstruction:\n"
            "      * with opcode parameter AND\n"
            "      * which is parameter 0 AND\n"
            " * with operand 1 which is:\n"
            "     an HloInstruction");
}

}  // namespace
}  // namespace xla
