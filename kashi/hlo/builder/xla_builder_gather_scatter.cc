// Gather and scatter (docs/spec/hlo-ops.md 10.3).
#include "kashi/hlo/builder/xla_lowering.h"

namespace kashi {

using hlo::Inferred;
using hlo::Joined;
using hlo::Lower;
using hlo::LowerInferred;
using hlo::NodeOr;
using hlo::Nodes;
using hlo::XlaLowering;

XlaOp Gather(XlaOp input, XlaOp start_indices, const GatherDimensionNumbers& dimension_numbers,
             absl::Span<const int64_t> slice_sizes, bool indices_are_sorted) {
  return LowerInferred({input, start_indices}, [&](Nodes x) {
    return HloInstruction::CreateGather(Inferred(), x[0], x[1], dimension_numbers, slice_sizes, indices_are_sorted);
  });
}

XlaOp Scatter(XlaOp input, XlaOp scatter_indices, XlaOp updates, const XlaComputationRef& update_computation,
              const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted, bool unique_indices) {
  return Scatter(absl::MakeConstSpan(&input, 1), scatter_indices, absl::MakeConstSpan(&updates, 1), update_computation,
                 dimension_numbers, indices_are_sorted, unique_indices);
}

XlaOp Scatter(absl::Span<const XlaOp> inputs, XlaOp scatter_indices, absl::Span<const XlaOp> updates,
              const XlaComputationRef& update_computation, const ScatterDimensionNumbers& dimension_numbers,
              bool indices_are_sorted, bool unique_indices) {
  const size_t count = inputs.size();
  const std::vector<XlaOp> operands = Joined(Joined(inputs, {scatter_indices}), updates);
  return Lower(scatter_indices.builder(), operands, [&](XlaLowering& to, Nodes x) -> NodeOr {
    if (inputs.empty()) return InvalidArgument("Scatter inputs cannot be empty.");
    if (updates.size() != count) {
      return InvalidArgument("Scatter should have same number of inputs and updates: %d vs %d.", count, updates.size());
    }
    KASHI_ASSIGN_OR_RETURN(HloComputation * combiner, to.Embed(update_computation));
    return to.AddInferred(HloInstruction::CreateScatter(Inferred(), x.first(count), x[count], x.subspan(count + 1),
                                                        combiner, dimension_numbers, indices_are_sorted,
                                                        unique_indices));
  });
}

}  // namespace kashi
