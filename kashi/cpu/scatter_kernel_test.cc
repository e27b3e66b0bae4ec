// Scatters of elements, each a kernel.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "kashi/base/parallel.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/cpu/scatter_parts.h"
#include "kashi/literal/literal_util.h"

namespace kashi::cpu {
namespace {

constexpr ErrorSpec kSame(0);

// Indices below, within and beyond arrays of some 40 elements; many are equal.
Literal IndicesOf(const Shape& shape) {
  std::vector<int32_t> numbers;
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(shape); ++i) numbers.push_back(static_cast<int32_t>(i * 37 % 61) - 9);
  Literal flat = LiteralUtil::CreateR1<int32_t>(numbers).Convert(shape.element_type()).value();
  return flat.Reshape(shape.dimensions()).value();
}

void ExpectKernel(const std::string& text, int64_t kernels = 1) {
  const auto module = ReadVerified(text);
  ASSERT_TRUE(module.ok()) << module.status() << text;
  std::vector<Literal> arguments = RandomArguments(**module);
  arguments[1] = IndicesOf(arguments[1].shape());
  ExpectAsEvaluator(text, arguments, kSame, kernels);
}

constexpr char kCombiners[] = R"(HloModule m
add { a = $0[] parameter(0)
  b = $0[] parameter(1)
  ROOT c = $0[] add(a, b) }
second { a = $0[] parameter(0)
  ROOT b = $0[] parameter(1) }
mixed { a = $0[] parameter(0)
  b = $0[] parameter(1)
  d = $0[] subtract(b, a)
  ROOT c = $0[] maximum(d, a) }
)";

TEST(ScatterKernelTest, UpdatesAVector) {
  for (const char* type : {"f32", "bf16", "s32", "u8", "f64"}) {
    for (const char* combiner : {"add", "second", "mixed"}) {
      for (const char* index : {"s32", "u32", "s8", "s64"}) {
        ExpectKernel(absl::Substitute(absl::StrCat(kCombiners, R"(ENTRY e { x = $0[40] parameter(0)
  i = $1[90] parameter(1)
  u = $0[90] parameter(2)
  ROOT s = $0[40] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1, to_apply=$2 })"),
                                      type, index, combiner));
      }
    }
  }
}

TEST(ScatterKernelTest, HasComponentsAndBatches) {
  const char* const scatters[] = {
      // Two components, in exchanged order.
      R"(x = f32[9,33] parameter(0)
  i = s32[50,2] parameter(1)
  u = f32[50] parameter(2)
  ROOT s = f32[9,33] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0,1},
    scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, to_apply=add)",
      // Windows of one element that are a dimension; components first; several dimensions of windows.
      R"(x = f32[40] parameter(0)
  i = s32[1,6,7] parameter(1)
  u = f32[6,1,7] parameter(2)
  ROOT s = f32[40] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={},
    scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add)",
      // A row of x for each row of indices.
      R"(x = f32[12,40] parameter(0)
  i = s32[12,25,1] parameter(1)
  u = f32[12,25] parameter(2)
  ROOT s = f32[12,40] scatter(x, i, u), update_window_dims={}, inserted_window_dims={1}, input_batching_dims={0},
    scatter_indices_batching_dims={0}, scatter_dims_to_operand_dims={1}, index_vector_dim=2, to_apply=add)",
  };
  for (const char* scatter : scatters) {
    ExpectKernel(absl::StrCat(absl::Substitute(kCombiners, "f32"), "ENTRY e { ", scatter, " }"));
  }
}

// Indices and updates are computed within the kernel; the updated operand stays unchanged for other users.
TEST(ScatterKernelTest, JoinsIndicesAndUpdates) {
  const std::string head = absl::Substitute(kCombiners, "f32");
  const std::string scatter = R"( update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1, to_apply=add)";
  ExpectKernel(absl::StrCat(head, R"(ENTRY e { x = f32[40] parameter(0)
  i = s32[90] parameter(1)
  u = f32[90] parameter(2)
  three = s32[] constant(3)
  threes = s32[90] broadcast(three), dimensions={}
  j = s32[90] subtract(i, threes)
  v = f32[90] multiply(u, u)
  s = f32[40] scatter(x, j, v),)",
                            scatter, "\n  ROOT t = (f32[40], f32[40]) tuple(s, x) }"));
  // The updates are read from the updated operand.
  ExpectKernel(absl::StrCat(head, R"(ENTRY e { y = f32[40] parameter(0)
  i = s32[40] parameter(1)
  x = f32[40] add(y, y)
  z = f32[40] negate(x)
  v = f32[40] multiply(z, x)
  w = f32[40] reverse(v), dimensions={0}
  ROOT s = f32[40] scatter(x, i, w),)",
                            scatter, " }"));
  // The updates are the updated operand.
  ExpectKernel(absl::StrCat(head, R"(ENTRY e { x = f32[40] parameter(0)
  i = s32[40] parameter(1)
  ROOT s = f32[40] scatter(x, i, x),)",
                            scatter, " }"));
  // Zeros that are updated.
  ExpectKernel(absl::StrCat(head, R"(ENTRY e { u = f32[90] parameter(0)
  i = s32[90] parameter(1)
  zero = f32[] constant(0)
  x = f32[40] broadcast(zero), dimensions={}
  ROOT s = f32[40] scatter(x, i, u),)",
                            scatter, " }"));
}

// A program that scatters 100,000 updates, which threads make in parts where the order does not matter. $0: type of the
// elements; $1: combiner; $2: updates.
constexpr char kManyUpdates[] = R"(HloModule m
combine { a = $0[] parameter(0)
  b = $0[] parameter(1)
  ROOT c = $0[] $1(a, b) }
ENTRY e { x = $0[50] parameter(0)
  i = s32[100000] parameter(1)
  one = $0[] constant(1)
  three = $0[] constant(3)
  half = $0[] constant(0.5)
  u = $0[100000] $2
  ROOT s = $0[50] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1, to_apply=combine })";

std::string ManyUpdates(absl::string_view type, absl::string_view combiner, absl::string_view updates) {
  std::string text = absl::Substitute(kManyUpdates, type, combiner, updates);
  return type[0] == 'f' ? text
                        : absl::StrReplaceAll(text, {{"  half = " + std::string(type) + "[] constant(0.5)\n", ""}});
}

TEST(ScatterKernelTest, MakesUpdatesOfIntegersInParts) {
  for (const char* combiner : {"add", "multiply", "minimum", "maximum", "and", "or", "xor"}) {
    ExpectKernel(ManyUpdates("s32", combiner, "parameter(2)"));
  }
  for (const char* type : {"u8", "s16", "s64", "u64"}) ExpectKernel(ManyUpdates(type, "minimum", "parameter(2)"));
  ExpectKernel(ManyUpdates("s32", "subtract", "parameter(2)"));  // in order
}

// Sums of real numbers that are integers are exact; others depend on the order, which is that of the updates. Elements
// at the edge of what the type counts, where one more changes nothing.
TEST(ScatterKernelTest, CountsInParts) {
  const auto expect = [](absl::string_view type, absl::string_view update) {
    const std::string text = ManyUpdates(type, "add", absl::StrCat("broadcast(", update, "), dimensions={}"));
    const auto module = ReadVerified(text);
    ASSERT_TRUE(module.ok()) << module.status() << text;
    const auto program = CompiledProgram::Compile(**module);
    ASSERT_TRUE(program.ok()) << program.status();
    const HloComputation& entry = *(*module)->entry_computation();
    for (const double first : {0.0, 5.0, 0.25, 0x1p24 - 100, 1000 - 0x1p24, 1e30, 0x1p53 - 100}) {
      std::vector<double> x(50, first);
      x[7] = -0.0;  // to which no index belongs
      std::vector<Literal> arguments;
      arguments.push_back(
          LiteralUtil::CreateR1<double>(x).Convert(entry.parameter_instruction(0)->shape().element_type()).value());
      Literal indices = IndicesOf(entry.parameter_instruction(1)->shape());
      for (int32_t& i : indices.data<int32_t>()) i += i == 7 ? 1 : 0;
      arguments.push_back(std::move(indices));
      const Literal expected = HloEvaluator(EvaluationOptions()).Evaluate(**module, arguments).value();
      const Literal actual = RunProgram(**program, arguments).value();
      EXPECT_EQ(expected, actual) << first;
      EXPECT_TRUE(std::signbit(*actual.GetAsDouble({7})));
    }
  };
  for (const char* type : {"f32", "f64"}) {
    for (const char* update : {"one", "three", "half"}) expect(type, update);
  }
}

TEST(ScatterPartsTest, CountsThePartsThatAreExact) {
  if (base::ParallelThreadCount() < 2) GTEST_SKIP() << "one processor";
  codegen::Kernel kernel;
  kernel.columns = 1 << 20;
  std::vector<float> x(4, 1);
  EXPECT_EQ(ScatterParts::Count(kernel, x.data()), 1);
  kernel.scatter = {HloOpcode::kAdd, F32, 4, 1.0};
  EXPECT_GE(ScatterParts::Count(kernel, x.data()), 2);
  x[3] = 0x1p24f - 0x1p20f;
  EXPECT_GE(ScatterParts::Count(kernel, x.data()), 2);
  x[3] += 1;
  EXPECT_EQ(ScatterParts::Count(kernel, x.data()), 1);
  x[3] = -x[3];
  EXPECT_EQ(ScatterParts::Count(kernel, x.data()), 1);
  for (const float other : {0.5f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    x[3] = other;
    EXPECT_EQ(ScatterParts::Count(kernel, x.data()), 1);
  }
  x[3] = 0;
  kernel.scatter->update = -17;  // 17 * 2^20 > 2^24
  EXPECT_EQ(ScatterParts::Count(kernel, x.data()), 1);
  kernel.scatter->update = -16;
  EXPECT_EQ(ScatterParts::Count(kernel, x.data()), 1);
  x = {0, 0, 0, 0};
  EXPECT_GE(ScatterParts::Count(kernel, x.data()), 2);
  kernel.columns = 1 << 14;
  EXPECT_EQ(ScatterParts::Count(kernel, x.data()), 1);
  const std::vector<int32_t> numbers(4, std::numeric_limits<int32_t>::max());
  kernel.columns = 1 << 20;
  kernel.scatter = {HloOpcode::kMultiply, S32, 4};
  EXPECT_GE(ScatterParts::Count(kernel, numbers.data()), 2);
  kernel.scatter->elements = 1 << 18;  // as much work to combine
  EXPECT_EQ(ScatterParts::Count(kernel, numbers.data()), 1);
}

// Windows of rows are the evaluator's work.
TEST(ScatterKernelTest, LeavesRowsToTheEvaluator) {
  ExpectKernel(absl::StrCat(absl::Substitute(kCombiners, "f32"), R"(ENTRY e { x = f32[40,64] parameter(0)
  i = s32[30] parameter(1)
  u = f32[30,64] parameter(2)
  ROOT s = f32[40,64] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add })"),
               /*kernels=*/0);
}

}  // namespace
}  // namespace kashi::cpu
