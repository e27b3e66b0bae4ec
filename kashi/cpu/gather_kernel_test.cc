// Gathers of elements, as parts of kernels.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::cpu {
namespace {

constexpr ErrorSpec kEqual(0);

// Indices below, within and beyond the array.
Literal GatherIndices(PrimitiveType type, int64_t count) {
  std::vector<int32_t> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<int32_t>(i * 37 % 61) - 9);
  return LiteralUtil::CreateR1<int32_t>(numbers).Convert(type).value();
}

TEST(GatherKernelTest, TakesElementsOfAVector) {
  for (PrimitiveType type : {S32, U32, S64, S8, U8}) {
    for (int64_t count : {1, 5, 64, 100}) {
      const std::string name = primitive_util::LowercasePrimitiveTypeName(type);
      const std::string text = absl::Substitute(R"(HloModule m
ENTRY e { x = f32[40] parameter(0)
  i = $0[$1] parameter(1)
  ROOT g = f32[$1] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1} })",
                                                name, count);
      const auto module = ReadVerified(text);
      ASSERT_TRUE(module.ok()) << module.status();
      std::vector<Literal> arguments = RandomArguments(**module);
      arguments[1] = GatherIndices(type, count);
      ExpectAsEvaluator(text, arguments, kEqual, /*kernels=*/count == 1 ? 0 : 1);
    }
  }
}

// Negative indices count from the end, as JAX writes it: one kernel.
TEST(GatherKernelTest, JoinsItsUsersAndItsIndices) {
  const std::string text = R"(HloModule m
ENTRY e { x = bf16[50] parameter(0)
  i = s32[90] parameter(1)
  zero = s32[] constant(0)
  zeros = s32[90] broadcast(zero), dimensions={}
  is_negative = pred[90] compare(i, zeros), direction=LT
  n = s32[] constant(50)
  ns = s32[90] broadcast(n), dimensions={}
  from_end = s32[90] add(i, ns)
  at = s32[90] select(is_negative, from_end, i)
  y = bf16[50] negate(x)
  g = bf16[90] gather(y, at), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1}
  ROOT r = bf16[90] add(g, g) })";
  const auto module = ReadVerified(text);
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<Literal> arguments = RandomArguments(**module);
  arguments[1] = GatherIndices(S32, 90);
  ExpectAsEvaluator(text, arguments, ErrorSpec(0.01, 0.01));
}

TEST(GatherKernelTest, HasWindowsComponentsAndBatches) {
  const char* const gathers[] = {
      // Two components, in exchanged order; the windows' dimension comes first.
      R"(x = f32[9,13,4] parameter(0)
  i = s32[30,2] parameter(1)
  ROOT g = f32[3,30] gather(x, i), offset_dims={0}, collapsed_slice_dims={0,1}, start_index_map={1,0},
    index_vector_dim=1, slice_sizes={1,1,3})",
      // The components are the first dimension; nothing is collapsed.
      R"(x = s8[20,30] parameter(0)
  i = s32[2,6,10] parameter(1)
  ROOT g = s8[2,3,6,10] gather(x, i), offset_dims={0,1}, collapsed_slice_dims={}, start_index_map={0,1},
    index_vector_dim=0, slice_sizes={2,3})",
      // A row of x for each row of indices.
      R"(x = f64[12,40] parameter(0)
  i = s32[12,25,1] parameter(1)
  ROOT g = f64[12,25] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, operand_batching_dims={0},
    start_indices_batching_dims={0}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1})",
      // The components lie between batching dimensions.
      R"(x = pred[7,5,40] parameter(0)
  i = s32[5,1,7,11] parameter(1)
  ROOT g = pred[5,7,11] gather(x, i), offset_dims={}, collapsed_slice_dims={2}, operand_batching_dims={0,1},
    start_indices_batching_dims={2,0}, start_index_map={2}, index_vector_dim=1, slice_sizes={1,1,1})",
  };
  for (const char* gather : gathers) {
    const std::string text = absl::StrCat("HloModule m\nENTRY e { ", gather, " }");
    const auto module = ReadVerified(text);
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<Literal> arguments = RandomArguments(**module);
    const Shape& indices = arguments[1].shape();
    arguments[1] = GatherIndices(S32, ShapeUtil::ElementsIn(indices)).Reshape(indices.dimensions()).value();
    ExpectAsEvaluator(text, arguments, kEqual, /*kernels=*/1);
  }
}

// Rows that are copied are the evaluator's work, unless others are computed with them, or they have few elements.
TEST(GatherKernelTest, LeavesManyRowsToTheEvaluator) {
  for (const auto& [rows, kernels] : {std::pair{300, 0}, {30, 1}}) {
    const std::string text = absl::Substitute(R"(HloModule m
ENTRY e { x = f32[100,64] parameter(0)
  i = s32[$0] parameter(1)
  ROOT g = f32[$0,64] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1,64} })",
                                              rows);
    const auto module = ReadVerified(text);
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<Literal> arguments = RandomArguments(**module);
    arguments[1] = GatherIndices(S32, rows);
    ExpectAsEvaluator(text, arguments, kEqual, kernels);
  }
}

// Windows that take a whole outer dimension, as of a batch of small states.
TEST(GatherKernelTest, TakesAColumnOfEachMatrixOfABatch) {
  for (const char* gather :
       {"g = f32[128,2,3] gather(x, i), offset_dims={0,2}, collapsed_slice_dims={1}, start_index_map={1}, "
        "index_vector_dim=1, slice_sizes={128,1,3}",
        "g = f32[127,2,2] gather(x, i), offset_dims={0,2}, collapsed_slice_dims={1}, start_index_map={1}, "
        "index_vector_dim=1, slice_sizes={127,1,2}"}) {
    const std::string text =
        absl::StrCat("HloModule m\nENTRY e { x = f32[128,5,3] parameter(0)\n i = s32[2] parameter(1)\n ", gather,
                     " ROOT r = ", absl::string_view(gather).substr(4, 12), " negate(g) }");
    const auto module = ReadVerified(text);
    ASSERT_TRUE(module.ok()) << module.status() << text;
    for (const int32_t first : {-3, 0, 4, 9}) {
      std::vector<Literal> arguments = RandomArguments(**module);
      arguments[1] = LiteralUtil::CreateR1<int32_t>({first, 2});
      ExpectAsEvaluator(text, arguments, kEqual, /*kernels=*/1);
    }
  }
}

TEST(GatherKernelTest, IsReduced) {
  ExpectAsEvaluator(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[100] parameter(0)
  i = s32[30,70] parameter(1)
  g = f32[30,70] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2,
    slice_sizes={1}
  zero = f32[] constant(0)
  ROOT r = f32[30] reduce(g, zero), dimensions={1}, to_apply=add })",
                    ErrorSpec(1e-5, 1e-5), /*kernels=*/1);
}

}  // namespace
}  // namespace kashi::cpu
