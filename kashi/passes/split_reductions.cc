#include "kashi/passes/split_reductions.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/neutral_element.h"
#include "kashi/passes/combiner.h"
#include "kashi/passes/inline_calls.h"
#include "kashi/passes/plain_array.h"

namespace kashi::passes {
namespace {

constexpr int64_t kFewestElements = 1 << 18;  // one thread takes some 30 microseconds
constexpr int64_t kMostResults = 16;          // with more, threads share the results
constexpr int64_t kMostParts = 128;           // of 2,048 elements and more, so that a second step costs nothing
constexpr int64_t kFewestParts = 8;           // fewer are not worth it

// Whether a sum of sums has the precision of the whole sum. Narrow types are rounded once, at the end.
bool KeepsSums(PrimitiveType type) {
  switch (type) {
    case F32:
    case F64:
    case S32:
    case U32:
    case S64:
    case U64:
      return true;
    default:
      return false;
  }
}

bool MaySplit(const HloInstruction& x) {
  const std::optional<HloOpcode> combiner = CombinerOfPlainReduce(x);
  if (!combiner.has_value()) return false;
  if (ShapeUtil::ElementsIn(x.shape()) > kMostResults) return false;
  if (ShapeUtil::ElementsIn(x.operand(0)->shape()) < kFewestElements) return false;
  return KeepsSums(x.shape().element_type()) || (*combiner != HloOpcode::kAdd && *combiner != HloOpcode::kMultiply);
}

int64_t LargestDivisor(int64_t size, int64_t most) {
  int64_t divisor = std::min(size, most);
  while (size % divisor != 0) --divisor;
  return divisor;
}

struct Split {
  int64_t dimension;  // of the input
  int64_t parts;
};

// Chooses the reduced dimension with the most parts; of several the outermost, whose parts are contiguous.
Split ChooseSplit(const HloInstruction& reduce) {
  const Shape& input = reduce.operand(0)->shape();
  Split best = {0, 1};
  for (int64_t dimension = 0; dimension < input.rank(); ++dimension) {
    if (!absl::c_linear_search(reduce.dimensions(), dimension)) continue;
    const int64_t parts = LargestDivisor(input.dimensions(dimension), kMostParts);
    if (parts > best.parts) best = {dimension, parts};
  }
  return best;
}

absl::Status SplitInTwo(HloInstruction* x, Split split) {
  HloComputation* const computation = x->parent();
  const Shape& input = x->operand(0)->shape();
  const PrimitiveType type = input.element_type();
  // The parts are a new dimension before the one that is split. It is not reduced yet.
  std::vector<int64_t> sizes, result_sizes, first, second;
  for (int64_t i = 0; i < input.rank(); ++i) {
    if (i == split.dimension) {
      second.push_back(static_cast<int64_t>(result_sizes.size()));
      sizes.push_back(split.parts);
      result_sizes.push_back(split.parts);
    }
    if (absl::c_linear_search(x->dimensions(), i)) {
      first.push_back(static_cast<int64_t>(sizes.size()));
    } else {
      result_sizes.push_back(input.dimensions(i));
    }
    sizes.push_back(i == split.dimension ? input.dimensions(i) / split.parts : input.dimensions(i));
  }
  HloInstruction* const parts = computation->AddInstruction(
      HloInstruction::CreateReshape(ShapeUtil::MakeShape(type, sizes), x->mutable_operand(0)));
  HloInstruction* const neutral = computation->AddInstruction(
      HloInstruction::CreateConstant(hlo::NeutralOf(*hlo::ReorderableCombiner(*x->to_apply()), type)));
  HloInstruction* const partial = computation->AddInstruction(
      HloInstruction::CreateReduce(ShapeUtil::MakeShape(type, result_sizes), parts, neutral, first, x->to_apply()),
      absl::StrCat(x->name(), ".parts"));
  HloInstruction* const whole = computation->AddInstruction(
      HloInstruction::CreateReduce(x->shape(), partial, x->mutable_operand(1), second, x->to_apply()),
      absl::StrCat(x->name(), ".whole"));
  partial->set_metadata(x->metadata());
  whole->set_metadata(x->metadata());
  return computation->ReplaceInstruction(x, whole);
}

}  // namespace

absl::Status SplitReductions(HloModule* module, const PassContext& context) {
  for (HloComputation* computation : ComputationsRunAsAWhole(module)) {
    KASHI_RETURN_IF_ERROR(context.check_stopped());
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (!MaySplit(*instruction)) continue;
      const Split split = ChooseSplit(*instruction);
      if (split.parts >= kFewestParts) KASHI_RETURN_IF_ERROR(SplitInTwo(instruction, split));
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::passes
