#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/types.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using Arguments = std::vector<const Literal*>;

std::vector<float> Iota(int64_t n) {
  std::vector<float> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  return numbers;
}

// Several ranges and blocks, a length that no portion divides.
TEST(ElementwiseTest, ComputesLargeArrays) {
  const int64_t n = 100003;
  const Literal x = LiteralUtil::CreateR1<float>(Iota(n));
  const Literal result = EvaluateText(absl::StrCat("ENTRY e { p = f32[", n, "] parameter(0) q = f32[", n,
                                                   "] multiply(p, p) ROOT r = f32[", n, "] subtract(q, p) }"),
                                      {&x});
  for (int64_t i = 0; i < n; ++i) {
    const float f = static_cast<float>(i);
    ASSERT_EQ(result.data<float>()[i], f * f - f);
  }
}

TEST(ElementwiseTest, RepeatsScalars) {
  const int64_t n = 5000;
  const Literal x = LiteralUtil::CreateR1<float>(Iota(n)), low = LiteralUtil::CreateR0<float>(1000),
                high = LiteralUtil::CreateR0<float>(3000);
  const std::string module =
      absl::StrCat("ENTRY e { a = f32[] parameter(0) x = f32[", n,
                   "] parameter(1) b = f32[] parameter(2) ROOT r = f32[", n, "] clamp(a, x, b) }");
  const Literal result = EvaluateText(module, {&low, &x, &high});
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(result.data<float>()[i], std::min(std::max<float>(i, 1000), 3000.0f));
}

TEST(ElementwiseTest, SelectsByScalarPredicate) {
  const Literal x = LiteralUtil::CreateR1<float>({1, 2}), y = LiteralUtil::CreateR1<float>({3, 4});
  for (bool choice : {false, true}) {
    const Literal p = LiteralUtil::CreateR0<bool>(choice);
    EXPECT_EQ(EvaluateText("ENTRY e { p = pred[] parameter(0) x = f32[2] parameter(1) y = f32[2] parameter(2) "
                           "ROOT r = f32[2] select(p, x, y) }",
                           {&p, &x, &y}),
              choice ? x : y);
  }
}

TEST(ElementwiseTest, TakesEmptyArrays) {
  const Literal x = LiteralUtil::CreateR1<float>({});
  EXPECT_EQ(EvaluateText("ENTRY e { p = f32[0] parameter(0) ROOT r = f32[0] add(p, p) }", {&x}), x);
}

TEST(ElementwiseTest, MixesFloatingPointTypes) {
  const Literal x = LiteralUtil::CreateR1<bfloat16>({bfloat16(1.0f)}), y = LiteralUtil::CreateR1<float>({0x1p-20f});
  EXPECT_EQ(EvaluateText("ENTRY e { x = bf16[1] parameter(0) y = f32[1] parameter(1) ROOT r = f32[1] add(x, y) }",
                         Arguments{&x, &y}),
            LiteralUtil::CreateR1<float>({1 + 0x1p-20f}));
}

// `ROOT r = abs(p0)` on two elements of these types.
bool RunsOn(HloOpcode opcode, const std::vector<PrimitiveType>& types) {
  std::string text = "HloModule m\nENTRY e {\n";
  std::vector<std::string> operands;
  std::vector<Literal> arguments;
  for (const PrimitiveType type : types) {
    const std::string name = absl::StrCat("p", operands.size());
    const Shape shape = ShapeUtil::MakeShape(type, {2});
    absl::StrAppend(&text, name, " = ", ShapeUtil::HumanString(shape), " parameter(", operands.size(), ")\n");
    operands.push_back(name);
    arguments.push_back(Literal::CreateFromShape(shape));
  }
  absl::StrAppend(&text, "ROOT r = ", HloOpcodeString(opcode), "(", absl::StrJoin(operands, ", "), ")\n}\n");
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  const absl::StatusOr<Literal> result = TryEvaluateText(text, pointers);
  return result.ok() && ShapeUtil::ElementsIn(result->shape()) == 2;
}

// A row of ops.def is not enough: shape inference and a kernel must know the operation for some element type.
TEST(ElementwiseTest, EachOperationOfTheTableIsInferredAndRuns) {
  int count = 0;
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
    const auto opcode = static_cast<HloOpcode>(i);
    const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
    const bool needs_attributes = absl::c_any_of(
        info.attributes, [](const HloOpcodeAttribute& a) { return a.need == HloOpcodeAttribute::kRequired; });
    if (!info.Has(HloOpcodeFlags::kElementwise) || !info.Has(HloOpcodeFlags::kInferable) || needs_attributes) continue;
    ++count;
    bool runs = false;
    for (const PrimitiveType type : {F32, S32, PRED, C64}) {
      std::vector<PrimitiveType> types(info.arity, type);
      runs = runs || RunsOn(opcode, types);
      types[0] = PRED;
      runs = runs || RunsOn(opcode, types);
    }
    EXPECT_TRUE(runs) << HloOpcodeString(opcode);
  }
  EXPECT_GT(count, 40);
}

// ---- One instruction, its operands given.

class OneInstructionTest : public testing::Test {
 protected:
  Value Make(PrimitiveType type, const std::vector<int64_t>& dimensions, float value) {
    Value array = *run_.MakeArray(F32, dimensions);
    for (float& x : array.mutable_data<float>()) x = value;
    return *run_.Convert(std::move(array), type);
  }
  absl::StatusOr<Value> Run(const std::string& text, std::vector<Value> operands) {
    module_ = *ParseAndReturnUnverifiedModule(text);
    return run_.EvaluateInstruction(*module_->entry_computation()->root_instruction(), absl::MakeSpan(operands));
  }

  EvaluationRun run_;
  std::unique_ptr<HloModule> module_;
};

TEST_F(OneInstructionTest, WritesIntoTheMemoryOfAnOperand) {
  const std::string negate = "ENTRY e { p = f32[3] parameter(0) ROOT r = f32[3] negate(p) }";
  std::vector<Value> operands;
  operands.push_back(Make(F32, {3}, 2));
  const void* memory = operands[0].untyped_data();
  const Value shared = Make(F32, {3}, 2);

  const Value in_place = *Run(negate, std::move(operands));
  EXPECT_EQ(in_place.untyped_data(), memory);
  EXPECT_THAT(in_place.data<float>(), testing::Each(-2.0f));

  const Value elsewhere = *Run(negate, {shared});
  EXPECT_THAT(elsewhere.data<float>(), testing::Each(-2.0f));
  EXPECT_THAT(shared.data<float>(), testing::Each(2.0f));
}

TEST_F(OneInstructionTest, WritesIntoAnOperandOfAnotherTypeOfThatWidth) {
  std::vector<Value> operands;
  operands.push_back(Make(F32, {300}, 2.9f));
  const void* memory = operands[0].untyped_data();
  const Value result = *Run("ENTRY e { p = f32[300] parameter(0) ROOT r = s32[300] convert(p) }", std::move(operands));
  EXPECT_EQ(result.untyped_data(), memory);
  EXPECT_THAT(result.data<int32_t>(), testing::Each(2));
}

TEST_F(OneInstructionTest, RefusesOperandsOfOtherSizes) {
  const absl::Status status =
      Run("ENTRY e { p = f32[3] parameter(0) q = f32[3] parameter(1) ROOT r = f32[3] add(p, q) }",
          {Make(F32, {3}, 1), Make(F32, {2}, 1)})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "r: add of f32[2] and a result of f32[3]");
}

TEST_F(OneInstructionTest, NamesTheInstructionThatHasNoMeaning) {
  const absl::Status status =
      Run("ENTRY e { p = c64[1] parameter(0) ROOT r = c64[1] cbrt(p) }", {Make(C64, {1}, 1)}).status();
  EXPECT_EQ(status.message(), "r: cbrt of C64");
}

TEST_F(OneInstructionTest, ConvertsOperandsOfAnotherTypeThanTheirInstruction) {
  const Value result = *Run("ENTRY e { p = f32[3] parameter(0) ROOT r = f32[3] negate(p) }", {Make(BF16, {3}, 1)});
  EXPECT_THAT(result.data<float>(), testing::Each(-1.0f));
}

// The logarithm of a quotient near 1: in c64 five digits of seven are lost.
TEST(ComplexElementwiseTest, Atan2OfSmallQuotients) {
  const Literal got = TryEvaluateText(R"(
    ENTRY e { y = c64[] constant((0, 0.046977248)) x = c64[] constant((0.8366648, -2.5597663))
              ROOT r = c64[] atan2(y, x) })")
                          .value();
  EXPECT_FLOAT_EQ(got.Get<complex64>({}).real(), -0.0165797664f);
  EXPECT_FLOAT_EQ(got.Get<complex64>({}).imag(), 0.00541803115f);
}

}  // namespace
}  // namespace kashi::evaluator
