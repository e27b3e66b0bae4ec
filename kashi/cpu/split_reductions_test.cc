// Reductions of many elements to few results, which become two.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "kashi/base/parallel.h"
#include "kashi/codegen/kernel_support.h"
#include "kashi/cpu/compiled_program.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/literal/literal_util.h"
#include "kashi/passes/split_reductions.h"

namespace kashi::cpu {
namespace {

struct Case {
  std::string type, op, input, dimensions, result;
};

std::string Reduction(const Case& c) {
  return absl::StrReplaceAll(
      R"(HloModule m
combine {
  a = TYPE[] parameter(0)
  b = TYPE[] parameter(1)
  ROOT r = TYPE[] OP(a, b)
}
ENTRY e {
  x = TYPE[INPUT] parameter(0)
  init = TYPE[] parameter(1)
  ROOT r = TYPE[RESULT] reduce(x, init), dimensions={DIMENSIONS}, to_apply=combine
})",
      {{"TYPE", c.type}, {"OP", c.op}, {"INPUT", c.input}, {"DIMENSIONS", c.dimensions}, {"RESULT", c.result}});
}

// The shapes of the reductions after the pass, in order.
std::vector<std::string> Reductions(const Case& c) {
  const auto module = ReadVerified(Reduction(c)).value();
  EXPECT_EQ(passes::SplitReductions(module.get(), {codegen::KernelSupport()}), absl::OkStatus());
  HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  EXPECT_EQ(verifier.Run(module.get()).status(), absl::OkStatus());
  std::vector<std::string> shapes;
  for (const HloInstruction* x : module->entry_computation()->MakeInstructionPostOrder()) {
    if (x->opcode() == HloOpcode::kReduce) shapes.push_back(x->shape().ToString());
  }
  return shapes;
}

using Shapes = std::vector<std::string>;

TEST(SplitReductionsTest, PartsAreOfTheDimensionThatHasMost) {
  EXPECT_EQ(Reductions({"f32", "add", "1048576", "0", ""}), (Shapes{"f32[128]", "f32[]"}));
  EXPECT_EQ(Reductions({"f32", "add", "1024,1024", "0,1", ""}), (Shapes{"f32[128]", "f32[]"}));
  EXPECT_EQ(Reductions({"f32", "add", "3,100000,5", "0,1", "5"}), (Shapes{"f32[125,5]", "f32[5]"}));
  EXPECT_EQ(Reductions({"f32", "add", "4,131072", "1", "4"}), (Shapes{"f32[4,128]", "f32[4]"}));
  EXPECT_EQ(Reductions({"f32", "add", "7,11,100003,2", "1,2", "7,2"}), (Shapes{"f32[7,11,2]", "f32[7,2]"}));
}

TEST(SplitReductionsTest, OthersStay) {
  EXPECT_EQ(Reductions({"f32", "add", "262143", "0", ""}), (Shapes{"f32[]"}));        // few elements
  EXPECT_EQ(Reductions({"f32", "add", "17,65536", "1", "17"}), (Shapes{"f32[17]"}));  // threads share the results
  EXPECT_EQ(Reductions({"f32", "add", "1000003", "0", ""}), (Shapes{"f32[]"}));       // a prime number
  EXPECT_EQ(Reductions({"f32", "subtract", "1048576", "0", ""}), (Shapes{"f32[]"}));  // the order counts
  EXPECT_EQ(Reductions({"bf16", "add", "1048576", "0", ""}), (Shapes{"bf16[]"}));     // parts would be rounded
  EXPECT_EQ(Reductions({"s8", "multiply", "1048576", "0", ""}), (Shapes{"s8[]"}));
  EXPECT_EQ(Reductions({"bf16", "maximum", "1048576", "0", ""}), (Shapes{"bf16[128]", "bf16[]"}));
}

TEST(SplitReductionsTest, ResultsAreThoseOfTheEvaluator) {
  for (const char* op : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}) {
    for (const char* type : {"s32", "u32", "s64", "u64", "s8", "u16"}) {
      ExpectAsEvaluator(Reduction({type, op, "3,100000,2", "0,1", "2"}), ErrorSpec(0, 0));
    }
  }
  for (const char* op : {"and", "or", "xor", "maximum", "minimum"}) {
    ExpectAsEvaluator(Reduction({"pred", op, "262144", "0", ""}), ErrorSpec(0, 0));
  }
  for (const char* type : {"f32", "f64", "bf16", "f16"}) {
    for (const char* op : {"maximum", "minimum"}) {
      ExpectAsEvaluator(Reduction({type, op, "600,500", "0,1", ""}), ErrorSpec(0, 0));
    }
  }
  for (const char* type : {"f32", "f64"}) {
    ExpectAsEvaluator(Reduction({type, "add", "600,500", "0,1", ""}), ErrorSpec(1e-3, 1e-4));
    ExpectAsEvaluator(Reduction({type, "add", "4,100000", "1", "4"}), ErrorSpec(1e-3, 1e-4));
  }
}

// The neutral element of a sum is -0: the sum of zeros of either sign has the sign that it has in order.
TEST(SplitReductionsTest, SumsOfZerosKeepTheirSign) {
  const std::string text = Reduction({"f32", "add", "262144", "0", ""});
  Literal x(ShapeUtil::MakeShape(F32, {262144}));
  absl::Span<float> data = x.data<float>();
  std::fill(data.begin(), data.end(), -0.0f);
  for (const float zero : {0.0f, -0.0f}) {
    std::vector<Literal> arguments;
    arguments.push_back(x.Clone());
    arguments.push_back(LiteralUtil::CreateR0<float>(zero));
    ExpectAsEvaluator(text, arguments, ErrorSpec(0, 0));
    const Literal sum = RunCompiled(*ReadVerified(text).value(), arguments).value();
    EXPECT_EQ(std::signbit(sum.Get<float>({})), std::signbit(zero));
  }
}

TEST(SplitReductionsTest, OneThreadGivesWhatAllGive) {
  const auto module = ReadVerified(Reduction({"f32", "add", "1048576", "0", ""})).value();
  const std::vector<Literal> arguments = RandomArguments(*module);
  const Literal of_all = RunCompiled(*module, arguments).value();
  // A loop inside of another one runs on its thread.
  base::ParallelFor(2, 1, [&](int64_t begin, int64_t, int) {
    if (begin > 0) return;
    EXPECT_EQ(RunCompiled(*module, arguments).value(), of_all);
  });
}

}  // namespace
}  // namespace kashi::cpu
