#include "kashi/passes/orient_dots.h"

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/passes/inline_calls.h"

namespace kashi::passes {
namespace {

// Whether the innermost dimension is one of these.
bool HasInnermost(const Shape& shape, absl::Span<const int64_t> dimensions) {
  return absl::c_linear_search(dimensions, static_cast<int64_t>(shape.dimensions().size()) - 1);
}

// The dot as lhs is read across k and rhs along k; its only user is a transpose.
bool IsWorthSwapping(const HloInstruction& dot) {
  if (dot.opcode() != HloOpcode::kDot || dot.operand_count() != 2 || dot.HasControlDependencies()) return false;
  if (dot.user_count() != 1 || dot.users()[0]->opcode() != HloOpcode::kTranspose) return false;
  const DotDimensionNumbers& dnums = dot.dot_dimension_numbers();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  return lhs.is_static() && rhs.is_static() && !HasInnermost(lhs, dnums.lhs_contracting_dimensions()) &&
         HasInnermost(rhs, dnums.rhs_contracting_dimensions());
}

// The positions of the dot's dimensions in the swapped dot: batch, then rhs' own, then lhs' own.
std::vector<int64_t> SwappedDimensions(const HloInstruction& dot) {
  const DotDimensionNumbers& dnums = dot.dot_dimension_numbers();
  const int64_t batch = dnums.lhs_batch_dimensions_size();
  const int64_t contracting = dnums.lhs_contracting_dimensions_size();
  const int64_t lhs_free = dot.operand(0)->shape().dimensions_size() - batch - contracting;
  const int64_t rhs_free = dot.operand(1)->shape().dimensions_size() - batch - contracting;
  std::vector<int64_t> places;
  for (int64_t d = 0; d < batch; ++d) places.push_back(d);
  for (int64_t d = 0; d < lhs_free; ++d) places.push_back(batch + rhs_free + d);
  for (int64_t d = 0; d < rhs_free; ++d) places.push_back(batch + d);
  return places;
}

DotDimensionNumbers Swapped(const DotDimensionNumbers& dnums) {
  DotDimensionNumbers swapped;
  *swapped.mutable_lhs_batch_dimensions() = dnums.rhs_batch_dimensions();
  *swapped.mutable_rhs_batch_dimensions() = dnums.lhs_batch_dimensions();
  *swapped.mutable_lhs_contracting_dimensions() = dnums.rhs_contracting_dimensions();
  *swapped.mutable_rhs_contracting_dimensions() = dnums.lhs_contracting_dimensions();
  return swapped;
}

absl::Status Swap(HloInstruction* dot) {
  HloInstruction* const transpose = dot->users()[0];
  const std::vector<int64_t> places = SwappedDimensions(*dot);
  std::vector<int64_t> sizes(places.size());
  for (size_t d = 0; d < places.size(); ++d) sizes[places[d]] = dot->shape().dimensions(static_cast<int>(d));
  std::vector<int64_t> permutation;
  for (int64_t d : transpose->dimensions()) permutation.push_back(places[d]);

  PrecisionConfig precision = dot->precision_config();
  if (precision.operand_precision_size() == 2) {
    precision.set_operand_precision(0, dot->precision_config().operand_precision(1));
    precision.set_operand_precision(1, dot->precision_config().operand_precision(0));
  }
  HloComputation* const computation = dot->parent();
  HloInstruction* const swapped = computation->AddInstruction(
      HloInstruction::CreateDot(ShapeUtil::MakeShape(dot->shape().element_type(), sizes), dot->mutable_operand(1),
                                dot->mutable_operand(0), Swapped(dot->dot_dimension_numbers()), precision));
  swapped->set_metadata(dot->metadata());
  HloInstruction* const result =
      computation->AddInstruction(HloInstruction::CreateTranspose(transpose->shape(), swapped, permutation));
  result->set_metadata(transpose->metadata());
  return computation->ReplaceInstruction(transpose, result);  // the dot goes too, as nothing else uses it
}

}  // namespace

absl::Status OrientDots(HloModule* module, const PassContext& context) {
  for (HloComputation* computation : ComputationsRunAsAWhole(module)) {
    KASHI_RETURN_IF_ERROR(context.check_stopped());
    std::vector<HloInstruction*> dots;
    for (HloInstruction* instruction : computation->instructions()) {
      if (IsWorthSwapping(*instruction)) dots.push_back(instruction);
    }
    for (HloInstruction* dot : dots) KASHI_RETURN_IF_ERROR(Swap(dot));
  }
  return absl::OkStatus();
}

}  // namespace kashi::passes
