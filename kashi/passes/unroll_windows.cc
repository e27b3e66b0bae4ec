#include "kashi/passes/unroll_windows.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/window_walk.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/neutral_element.h"
#include "kashi/passes/combiner.h"
#include "kashi/passes/inline_calls.h"
#include "kashi/passes/plain_array.h"

namespace kashi::passes {
namespace {

// Whether the arrays of the loop over windows stay in registers (kashi/codegen/small_array.h).
bool IsSmall(const HloInstruction& x) {
  int64_t padded = 1;
  for (int i = 0; i < x.window().dimensions_size(); ++i) {
    const WindowDimension& dimension = x.window().dimensions(i);
    const int64_t size = x.operand(0)->shape().dimensions(i) + dimension.padding_low() + dimension.padding_high();
    if (size > kMostSmallElements) return false;
    padded *= std::max<int64_t>(size, 1);
    if (padded > kMostSmallElements) return false;
  }
  return ShapeUtil::ElementsIn(x.shape()) <= kMostSmallElements;
}

bool CanUnroll(const HloInstruction& x) {
  if (x.opcode() != HloOpcode::kReduceWindow || x.operand_count() != 2 || x.HasControlDependencies()) return false;
  const Shape &input = x.operand(0)->shape(), &init = x.operand(1)->shape();
  if (!IsPlainArray(x.shape()) || !IsPlainArray(input) || x.shape().dimensions().empty()) return false;
  const PrimitiveType type = x.shape().element_type();
  const auto has_type = [&](const HloInstruction* p) { return p->shape().element_type() == type; };
  if (type == PRED || input.element_type() != type || init.element_type() != type ||
      !hlo::ReorderableCombiner(*x.to_apply()).has_value() || !absl::c_all_of(x.to_apply()->instructions(), has_type)) {
    return false;
  }
  int64_t elements = 1;
  for (const WindowDimension& dimension : x.window().dimensions()) {
    if (dimension.base_dilation() != 1 || dimension.size() > evaluator::kOrderedWindowElements) return false;
    elements *= dimension.size();
    if (elements > evaluator::kOrderedWindowElements) return false;
  }
  const WindowDimension& innermost = x.window().dimensions(x.window().dimensions_size() - 1);
  const bool is_plain_row =
      innermost.size() == 1 && innermost.stride() == 1 && innermost.padding_low() == 0 && innermost.padding_high() == 0;
  return elements > 1 && (is_plain_row || IsSmall(x));
}

// Pads the array with neutral elements where the window skips positions outside of it.
HloInstruction* Pad(HloInstruction& x, HloOpcode combiner) {
  PaddingConfig padding;
  std::vector<int64_t> sizes;
  bool is_padded = false;
  for (int i = 0; i < x.window().dimensions_size(); ++i) {
    const WindowDimension& dimension = x.window().dimensions(i);
    PaddingConfig::PaddingConfigDimension* edge = padding.add_dimensions();
    edge->set_edge_padding_low(dimension.padding_low());
    edge->set_edge_padding_high(dimension.padding_high());
    is_padded = is_padded || dimension.padding_low() != 0 || dimension.padding_high() != 0;
    sizes.push_back(x.operand(0)->shape().dimensions(i) + dimension.padding_low() + dimension.padding_high());
  }
  if (!is_padded) return x.mutable_operand(0);
  const Shape shape = ShapeUtil::MakeShape(x.shape().element_type(), sizes);
  HloInstruction* const outside =
      x.parent()->AddInstruction(HloInstruction::CreateConstant(hlo::NeutralOf(combiner, shape.element_type())));
  return x.parent()->AddInstruction(HloInstruction::CreatePad(shape, x.mutable_operand(0), outside, padding));
}

// The elements of all windows at one place.
HloInstruction* SliceAt(HloInstruction& x, HloInstruction* padded, absl::Span<const int64_t> place) {
  std::vector<int64_t> starts, limits, strides;
  for (int i = 0; i < x.window().dimensions_size(); ++i) {
    const WindowDimension& dimension = x.window().dimensions(i);
    starts.push_back(place[i] * dimension.window_dilation());
    strides.push_back(dimension.stride());
    limits.push_back(starts[i] + (x.shape().dimensions(i) - 1) * dimension.stride() + 1);
  }
  return x.parent()->AddInstruction(HloInstruction::CreateSlice(x.shape(), padded, starts, limits, strides));
}

// The next place in row-major order; false behind the last.
bool Advance(const Window& window, std::vector<int64_t>* place) {
  for (size_t i = place->size(); i-- > 0;) {
    if (++(*place)[i] < window.dimensions(static_cast<int>(i)).size()) return true;
    (*place)[i] = 0;
  }
  return false;
}

absl::Status Unroll(HloInstruction* x) {
  const HloOpcode combiner = *hlo::ReorderableCombiner(*x->to_apply());
  HloInstruction* const padded = Pad(*x, combiner);
  HloInstruction* value =
      x->parent()->AddInstruction(HloInstruction::CreateBroadcast(x->shape(), x->mutable_operand(1), {}));
  std::vector<int64_t> place(x->shape().dimensions().size(), 0);
  do {
    value = x->parent()->AddInstruction(
        HloInstruction::CreateBinary(x->shape(), combiner, value, SliceAt(*x, padded, place)));
  } while (Advance(x->window(), &place));
  value->set_metadata(x->metadata());
  return x->parent()->ReplaceInstruction(x, value);
}

}  // namespace

absl::Status UnrollWindows(HloModule* module, const PassContext& context) {
  for (HloComputation* computation : ComputationsRunAsAWhole(module)) {
    KASHI_RETURN_IF_ERROR(context.check_stopped());
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (CanUnroll(*instruction)) KASHI_RETURN_IF_ERROR(Unroll(instruction));
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::passes
