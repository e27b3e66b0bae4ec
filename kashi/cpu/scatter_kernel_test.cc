// Scatters of elements, each a kernel.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kashi/cpu/cpu_testing.h"
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
