#include "kashi/analysis/cost_analysis_gpu_calls.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "kashi/analysis/cost_analysis_products.h"
#include "kashi/base/status.h"
#include "kashi/gpu_calls/gpu_call.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::analysis {
namespace {

struct GpuCallCost {
  double flops = 0;
  double transcendentals = 0;
  std::string note;  // what is not counted; empty: nothing
};

double FlopsOfProducts(const HloModule& module) {
  double flops = 0;
  for (const HloInstruction* instruction : module.entry_computation()->instructions()) {
    if (instruction->opcode() == HloOpcode::kDot) {
      flops += DotFlops(instruction->operand(0)->shape(), instruction->shape(), instruction->dot_dimension_numbers());
    } else if (instruction->opcode() == HloOpcode::kConvolution) {
      flops += ConvolutionFlops(*instruction);
    }
  }
  return flops;
}

// The errors of LowerGpuCall, if not even the products are known.
absl::StatusOr<GpuCallCost> CostOfGpuCall(const HloInstruction& call) {
  GpuCallCost cost;
  const absl::StatusOr<std::shared_ptr<const HloModule>> whole = gpu_calls::LowerGpuCall(call);
  if (whole.ok() && gpu_calls::FindGpuCall(call)->counts != gpu_calls::GpuCall::Counts::kProducts) {
    KASHI_ASSIGN_OR_RETURN(const CostAnalysis all, CostAnalysis::Run(**whole));
    cost.flops = all.total().flops;
    cost.transcendentals = all.total().transcendentals;
    return cost;
  }
  if (whole.ok()) {
    cost.flops = FlopsOfProducts(**whole);
    return cost;
  }
  KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<const HloModule> products,
                         gpu_calls::LowerGpuCall(call, gpu_calls::LoweredPart::kProducts));
  cost.flops = FlopsOfProducts(*products);
  cost.note = std::string(whole.status().message());
  return cost;
}

const Shape* ScratchOfCall(const HloInstruction& instruction) {
  return gpu_calls::FindGpuCall(instruction) == nullptr ? nullptr : gpu_calls::ScratchOf(instruction);
}

// Scratch memory is no result. XLA counts it as if the call wrote all of it.
void LeaveOut(const Shape* scratch, const CostRules& rules, const SizeFunction& size, InstructionCost* cost) {
  if (scratch == nullptr || !rules.counts_needed_work) return;
  cost->result_bytes -= size(*scratch);
  cost->cost.bytes_accessed -= size(*scratch);
}

}  // namespace

bool CountGpuCall(const HloInstruction& call, const CostRules& rules, const SizeFunction& size, InstructionCost* cost,
                  std::vector<std::string>* notes) {
  if (!rules.counts_gpu_calls || gpu_calls::FindGpuCall(call) == nullptr) return false;
  absl::StatusOr<GpuCallCost> known = CostOfGpuCall(call);
  if (!known.ok()) {
    notes->emplace_back(known.status().message());
    return false;
  }
  if (!known->note.empty()) notes->push_back(std::move(known->note));
  cost->cost.flops = known->flops;
  cost->cost.transcendentals = known->transcendentals;
  LeaveOut(gpu_calls::ScratchOf(call), rules, size, cost);
  return true;
}

void LeaveOutScratch(const HloInstruction& fusion, const CostRules& rules, const SizeFunction& size,
                     InstructionCost* cost) {
  if (!fusion.IsCustomFusion()) return;  // other fusions have no calls in them
  const HloInstruction& root = *fusion.called_computations()[0]->root_instruction();
  LeaveOut(ScratchOfCall(root), rules, size, cost);
  if (root.opcode() != HloOpcode::kTuple) return;
  for (const HloInstruction* element : root.operands()) {
    if (element->opcode() != HloOpcode::kGetTupleElement) continue;
    const HloInstruction& call = *element->operand(0);
    const bool is_last = call.shape().IsTuple() && element->tuple_index() + 1 == call.shape().tuple_shapes_size();
    if (is_last) LeaveOut(ScratchOfCall(call), rules, size, cost);
  }
}

}  // namespace kashi::analysis
