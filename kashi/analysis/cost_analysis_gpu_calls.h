// The cost of calls of cuBLAS and cuDNN (kashi/gpu_calls), from the operations that they stand for.
#ifndef KASHI_ANALYSIS_COST_ANALYSIS_GPU_CALLS_H_
#define KASHI_ANALYSIS_COST_ANALYSIS_GPU_CALLS_H_

#include <string>
#include <vector>

#include "kashi/analysis/cost_analysis.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::analysis {

// Sets the cost of a custom call of cuBLAS or cuDNN; `cost` has its bytes, as those of any operation. XLA's count for
// GPUs (GpuHloCostAnalysis): the flops of the product or the convolution, as those of dot and convolution; scales, bias
// and activation do not count. Of calls that XLA does not count, all operations.
//
// The flops of gradients of convolutions are those of the products with elements that are there, as of any convolution;
// XLA takes the gradients' arrays for those of the forward convolution.
//
// Adds to `notes` what is not known of the call. False for other calls, if CostRules::counts_gpu_calls is not set, and
// if not even the products are known; `cost` is then as it was.
bool CountGpuCall(const HloInstruction& call, const CostRules& rules, const SizeFunction& size, InstructionCost* cost,
                  std::vector<std::string>* notes);

// Leaves out the bytes of results of a fusion that are scratch memory of calls in it, if only needed work counts.
void LeaveOutScratch(const HloInstruction& fusion, const CostRules& rules, const SizeFunction& size,
                     InstructionCost* cost);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_COST_ANALYSIS_GPU_CALLS_H_
