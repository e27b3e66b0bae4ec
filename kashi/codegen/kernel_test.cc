#include "kashi/codegen/kernel.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/string_view.h"
#include "kashi/codegen/code_module.h"
#include "kashi/codegen/math_library.h"
#include "kashi/engine/compile_options.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::codegen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Functions of single numbers, with names that this process does not have.
class ForeignMath : public MathLibrary {
 public:
  llvm::Value* Emit(const LaneBuilder& lanes, MathFunction function,
                    absl::Span<llvm::Value* const> operands) const override {
    llvm::Type* scalar = operands[0]->getType()->getScalarType();
    const bool is_sine = function == MathFunction::kSin;
    return lanes.Call(is_sine ? "foreign_sin" : "foreign", /*width=*/1, scalar, {operands.data(), operands.size()});
  }
};

// The target of a processor that LLVM need not have code for: nothing is compiled.
class ForeignTargetTest : public testing::Test {
 protected:
  std::string CodeOf(absl::string_view text, int vector_bits) {
    const auto hlo = ParseAndReturnUnverifiedModule(text);
    EXPECT_TRUE(hlo.ok()) << hlo.status();
    CodeModule module("m", {"nvptx64-nvidia-cuda", "e-i64:64-i128:128-v16:16-v32:32-n16:32:64", vector_bits,
                            /*has_fma=*/true, &math_});
    const absl::StatusOr<Kernel> kernel = EmitKernel(*(*hlo)->entry_computation(), "kernel0", NumberOptions(), module);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return module.ToString();
  }

 private:
  const ForeignMath math_ = {};
};

constexpr absl::string_view kSine = R"(
HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  s = f32[64] sine(x)
  ROOT r = f32[64] add(s, y)
})";

TEST_F(ForeignTargetTest, CallsTheFunctionsOfItsLibrary) {
  const std::string code = CodeOf(kSine, 128);
  EXPECT_THAT(code, HasSubstr("target triple = \"nvptx64-nvidia-cuda\""));
  EXPECT_THAT(code, HasSubstr(" float @foreign_sin(float"));
  EXPECT_THAT(code, Not(HasSubstr("Sleef")));
}

// Loops over two vectors at once, one vector, and one lane.
TEST_F(ForeignTargetTest, VectorsHaveItsLength) {
  EXPECT_THAT(CodeOf(kSine, 128), AllOf(HasSubstr("<4 x float>"), HasSubstr("<8 x float>"), Not(HasSubstr("<16 x"))));
  EXPECT_THAT(CodeOf(kSine, 256), AllOf(HasSubstr("<8 x float>"), HasSubstr("<16 x float>"), Not(HasSubstr("<4 x"))));
}

// A softmax of rows: an exponential of numbers that are never positive, sums, and a function of several phases.
TEST_F(ForeignTargetTest, Rows) {
  const std::string code = CodeOf(R"(
HloModule m
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[20,64] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[20] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[20,64] broadcast(m), dimensions={0}
  d = f32[20,64] subtract(x, mb)
  e = f32[20,64] exponential(d)
  s = f32[20] reduce(e, zero), dimensions={1}, to_apply=sum
  sb = f32[20,64] broadcast(s), dimensions={0}
  ROOT r = f32[20,64] divide(e, sb)
})",
                                  128);
  EXPECT_THAT(code, HasSubstr(" float @foreign(float"));
}

}  // namespace
}  // namespace kashi::codegen
