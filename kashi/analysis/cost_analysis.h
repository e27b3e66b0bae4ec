// The cost of a program by the rules of XLA's cost analysis (docs/spec/hlo-ops.md 0.4, docs/spec/hlo.md 5.1).
//
//   flops             one per element of an arithmetic operation; a multiplication and an addition, as in dot, are two.
//                     Integers count too.
//   transcendentals   exp, log, tanh, pow, … : one per element, which is then not a flop
//   bytes_accessed    operands read and results written, once each, as if there were no cache, without padding. An
//                     operation that only uses a part of an operand (slice, gather, update) counts that part twice:
//                     read and written. A tuple operand counts as its table, a tuple result with all its arrays.
//
// Control flow: a loop counts as one iteration of its body and condition, unless CostRules has its trip count; a
// conditional as the maximum of its branches.
// A fusion reads its operands and writes its results only. The cost of a custom call is unknown: it is 0 here, and the
// call is counted as unknown; XLA adds -1 to its sums for each of them. Calls of cuBLAS and cuDNN cost what their
// products cost.
//
// hlo_cost_analysis.h has the same with XLA's names, and seconds. docs/cost.md compares the numbers with XLA's, and
// lists the intended differences.
#ifndef KASHI_ANALYSIS_COST_ANALYSIS_H_
#define KASHI_ANALYSIS_COST_ANALYSIS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

// Doubles, as counts of whole programs go beyond 2^63; exact up to 2^53.
struct Cost {
  double flops = 0;
  double transcendentals = 0;
  double bytes_accessed = 0;
  double unknown = 0;  // custom calls of unknown cost

  Cost& operator+=(const Cost& other);
  friend Cost operator+(Cost a, const Cost& b) { return a += b; }
  friend Cost operator*(Cost a, double times);
};

// The part of one operand that an instruction reads.
struct OperandCost {
  double bytes = 0;
  double utilization = 1;  // the part of the operand's elements that is read
};

// Bytes that are read or written, by parts of tuples.
struct PartCosts {
  struct Part {
    int64_t operand = 0;  // which one; 0 for results
    ShapeIndex index;
    double bytes = 0;
  };
  std::vector<Part> operands;  // the arrays
  std::vector<Part> results;   // arrays, and of fusions the tuples that they are in, but not the result as a whole
};

struct InstructionCost {
  Cost cost;
  // Empty for calls, loops, conditionals and async-start: the instructions of the called computations read for them.
  std::vector<OperandCost> operands;
  double result_bytes = 0;
  // Whether its cost includes the cost of the called computations: for control flow and fusions, except fusions that
  // are one gather or scatter. A reduce and similar operations add the cost of all runs instead.
  bool counts_called = false;
  // Only where XLA counts parts separately: in fusions, infeed and outfeed; otherwise null. Shared by the fusions of
  // one computation.
  std::shared_ptr<const PartCosts> parts;
};

// Bytes of one buffer: of an array, or of a tuple's table of pointers.
using SizeFunction = std::function<double(const Shape&)>;

struct CostRules {
  // Null: HostBytes (cost_analysis_sizes.h). Not called for tokens and for arrays without a layout, which have no
  // bytes.
  SizeFunction size;
  // The flops and the bytes of a custom call; XLA's: -1.
  double custom_call = 0;
  // The trip count of a loop: its body runs so often, and its condition once more. Null, XLA's: both run once.
  std::function<double(const HloInstruction& loop)> trip_count = nullptr;
  // Whether to count the work that is needed, where XLA counts other work: a cumulative reduce-window
  // (cost_analysis_windows.h) adds each element once, a scan has all its iterations, a ragged-dot all its rows.
  bool counts_needed_work = false;
  // Whether calls of cuBLAS and cuDNN have a cost (cost_analysis_gpu_calls.h). Without their scratch memory, if only
  // needed work counts.
  bool counts_gpu_calls = true;
};

class CostAnalysis {
 public:
  // INVALID_ARGUMENT for modules with broken links or recursion (call_graph.h). O(instructions + operands).
  static absl::StatusOr<CostAnalysis> Run(const HloModule& module, const CostRules& rules = {});

  // The cost of the entry, which includes the computations that it calls.
  const Cost& total() const { return total_; }
  // The cost of one instruction, including the computations that it calls. A fused instruction has the cost of an
  // unfused one, although the total does not count its bytes. Dies for an instruction of another module.
  const Cost& CostOf(const HloInstruction* instruction) const { return DetailsOf(instruction).cost; }
  const InstructionCost& DetailsOf(const HloInstruction* instruction) const { return costs_.at(instruction); }
  // The sum over its instructions.
  const Cost& CostOf(const HloComputation* computation) const { return computation_costs_.at(computation); }
  // What is not counted of calls of cuBLAS and cuDNN, and why: a sentence for each call, which begins with its name.
  absl::Span<const std::string> notes() const { return notes_; }
  // All computations of the module, callees before callers.
  absl::Span<const HloComputation* const> computations() const { return computations_; }

 private:
  Cost total_;
  absl::flat_hash_map<const HloInstruction*, InstructionCost> costs_;
  absl::flat_hash_map<const HloComputation*, Cost> computation_costs_;
  std::vector<const HloComputation*> computations_;
  std::vector<std::string> notes_;
};

}  // namespace kashi

#endif  // KASHI_ANALYSIS_COST_ANALYSIS_H_
