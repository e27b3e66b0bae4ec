#include "kashi/analysis/cost_analysis.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/cost_analysis_fusion.h"
#include "kashi/analysis/cost_analysis_gpu_calls.h"
#include "kashi/analysis/cost_analysis_products.h"
#include "kashi/analysis/cost_analysis_sizes.h"
#include "kashi/analysis/cost_analysis_windows.h"
#include "kashi/array/permutation_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {

using analysis::ConvolutionFlops;
using analysis::CostOfFused;
using analysis::DotFlops;
using analysis::Elements;
using analysis::FusedCost;
using analysis::FusedCosts;
using analysis::HostBytes;
using analysis::kFmaFlops;
using analysis::NeededRaggedDotFlops;
using analysis::NeededWindowRuns;
using analysis::RaggedDotFlops;
using analysis::Saturate;
using analysis::SumOverLeaves;
using analysis::WindowElements;
using analysis::XlaWindowRuns;
namespace {

SizeFunction GuardedSize(const CostRules& rules) {
  const SizeFunction size = rules.size != nullptr ? rules.size : SizeFunction(HostBytes);
  return [size](const Shape& shape) {
    const bool has_bytes = shape.IsArray() ? shape.has_layout() : shape.IsTuple() || shape.IsOpaque();
    return has_bytes ? size(shape) : 0;
  };
}

// 0 of nothing, where XLA has NaN.
double Ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

// The first result of an operation that may have several.
const Shape& FirstArray(const Shape& shape) {
  return shape.IsTuple() && shape.tuple_shapes_size() > 0 ? shape.tuple_shapes(0) : shape;
}

double ElementsOfAll(const Shape& shape) { return analysis::SumOverLeaves(shape, Elements); }

double FftFlops(absl::Span<const int64_t> lengths, const Shape& operand) {
  double log_factor = 1;
  for (int64_t length : lengths) {
    log_factor = Saturate(log_factor * Log2Floor(static_cast<uint64_t>(std::max<int64_t>(length, 1))));
  }
  constexpr double kFmaPerComplexProduct = 4;
  return kFmaFlops * kFmaPerComplexProduct * log_factor * Elements(operand);
}

// The size of the last dimension.
double LastSize(const Shape& array) {
  if (!array.IsArray() || array.dimensions_size() == 0) return 0;
  return static_cast<double>(std::max<int64_t>(array.dimensions(array.dimensions_size() - 1), 0));
}

// The module may not be verified, so the dimensions of a transpose may not be a permutation.
bool IsBitcastTranspose(const Shape& operand, const Shape& result, absl::Span<const int64_t> dimensions) {
  return operand.has_layout() && result.has_layout() &&
         static_cast<int>(dimensions.size()) == result.dimensions_size() && IsPermutation(dimensions) &&
         ShapeUtil::TransposeIsBitcast(operand, result, dimensions);
}

std::vector<PartCosts::Part> LeafParts(const Shape& shape, const SizeFunction& size) {
  std::vector<PartCosts::Part> parts;
  for (IndexedShape& leaf : ShapeUtil::GetLeafShapes(shape)) {
    parts.push_back({0, std::move(leaf.index), size(leaf.shape)});
  }
  return parts;
}

// ---- Bytes that are read, and fusions.

void SetRead(int64_t operand, double bytes, double utilization, InstructionCost* cost) {
  if (operand < cost->operands.size()) cost->operands[operand] = {bytes, utilization};
}

// A fusion costs the operations of its computation, which are in `cost`, and the bytes of its parameters and results.
void TakeFused(const FusedCost& fused, InstructionCost* cost) {
  double reads = 0;
  for (size_t i = 0; i < fused.reads.size(); ++i) {
    SetRead(static_cast<int64_t>(i), fused.reads[i], /*utilization=*/1, cost);
    reads += fused.reads[i];
  }
  cost->counts_called = true;
  cost->parts = fused.parts;
  cost->result_bytes = fused.written_bytes;
  cost->cost.bytes_accessed = fused.written_bytes + reads + fused.table_bytes;
}

// A fusion that is there for the sake of a gather or a scatter costs as much as that.
void TakeIndexed(const InstructionCost& indexed, InstructionCost* cost) {
  cost->cost = indexed.cost;
  cost->result_bytes = indexed.result_bytes;
  for (size_t i = 0; i < indexed.operands.size(); ++i) {
    SetRead(static_cast<int64_t>(i), indexed.operands[i].bytes, indexed.operands[i].utilization, cost);
  }
}

// ---- One instruction.

class Counter {
 public:
  using InstructionCosts = absl::flat_hash_map<const HloInstruction*, InstructionCost>;
  using ComputationCosts = absl::flat_hash_map<const HloComputation*, Cost>;

  // `size` is GuardedSize(rules).
  Counter(const HloInstruction& instruction, const CostRules& rules, const SizeFunction& size,
          const InstructionCosts& instructions, const ComputationCosts& computations, const FusedCosts& fused,
          std::vector<std::string>* notes)
      : instruction_(instruction),
        rules_(rules),
        size_(size),
        instructions_(instructions),
        computations_(computations),
        fused_(fused),
        notes_(notes) {}

  InstructionCost Count() &&;

 private:
  const Shape& shape() const { return instruction_.shape(); }
  const Shape& operand_shape(int64_t i) const {
    return i < instruction_.operand_count() ? instruction_.operand(i)->shape() : shape();
  }
  double OperandBytes(int64_t i) const {
    return i < instruction_.operand_count() ? size_(instruction_.operand(i)->shape()) : 0;
  }
  Cost Callee(size_t i) const {
    const auto callees = instruction_.called_computations();
    if (i >= callees.size()) return {};
    return computations_.at(callees[i]);
  }

  // Sets the bytes that are read of an operand, if there is such an operand.
  void Read(int64_t i, double bytes, double utilization = 1) { SetRead(i, bytes, utilization, &cost_); }
  void SetFlops(double flops) { cost_.cost.flops = flops; }
  void SetTranscendentals(double count) { cost_.cost.transcendentals = count; }
  void SetBytes(double bytes) { cost_.cost.bytes_accessed = bytes; }
  void SetWritten(double bytes) { cost_.result_bytes = bytes; }

  // The cost of this number of runs of a computation on elements, whose data stays in registers. The number is never
  // negative, although XLA has negative numbers in a reduce of an empty array.
  void AddRuns(size_t callee, double times) {
    const Cost runs = Callee(callee) * std::max(times, 0.0);
    cost_.cost.flops += runs.flops;
    cost_.cost.transcendentals += runs.transcendentals;
    cost_.cost.unknown += runs.unknown;
  }

  // ---- Rules of op_rules.def. SetDefaults runs before each, except before Free, Called and Conditional.

  // An elementwise operation counts the elements of its result; other operations count bytes only.
  void CountDefault() {
    if (!instruction_.IsElementwise()) return;
    const bool is_transcendental = GetHloOpcodeInfo(instruction_.opcode()).Has(HloOpcodeFlags::kTranscendental);
    return is_transcendental ? SetTranscendentals(Elements(shape())) : SetFlops(Elements(shape()));
  }
  void CountBytes() {}

  // Operations that move no data.
  void CountFree() { cost_.operands.resize(instruction_.operand_count()); }

  // A transpose that the layouts undo is a bitcast.
  void CountTranspose() {
    if (!IsBitcastTranspose(operand_shape(0), shape(), instruction_.dimensions())) return;
    cost_ = InstructionCost();
    CountFree();
  }

  // Operations that cost as much as the computations that they call.
  void CountCalled() {
    cost_.counts_called = true;
    if (instruction_.opcode() != HloOpcode::kWhile || rules_.trip_count == nullptr) {
      cost_.cost = Callee(0) + Callee(1);
      return;
    }
    const double trip_count = rules_.trip_count(instruction_);
    cost_.cost = Callee(0) * trip_count + Callee(1) * (trip_count + 1);  // the body, the condition
  }
  void CountConditional() {
    cost_.counts_called = true;
    cost_.cost = DearestBranch();
  }

  // The maximum of each count. A count of 0 is ignored, which matters where custom calls have negative counts.
  Cost DearestBranch() const {
    Cost dearest = Callee(0);
    for (size_t i = 1; i < instruction_.called_computations().size(); ++i) {
      const Cost branch = Callee(i);
      for (double Cost::*count : {&Cost::flops, &Cost::transcendentals, &Cost::bytes_accessed, &Cost::unknown}) {
        if (branch.*count != 0) dearest.*count = std::max(dearest.*count, branch.*count);
      }
    }
    return dearest;
  }

  // Operands are read and results are written. An operand that is a tuple is read as a table; of a result that is a
  // tuple the elements are written.
  void SetDefaults() {
    SetWritten(SumOverLeaves(shape(), size_));
    double bytes = cost_.result_bytes;
    cost_.operands.reserve(instruction_.operand_count());
    for (const HloInstruction* operand : instruction_.operands()) {
      cost_.operands.push_back({size_(operand->shape()), 1});
      bytes += cost_.operands.back().bytes;
    }
    SetBytes(bytes);
  }

  // Operations that run a computation on elements.
  void CountMap() { AddRuns(0, Elements(shape())); }
  void CountReduce() { AddRuns(0, Elements(operand_shape(0)) - Elements(FirstArray(shape()))); }
  void CountReduceWindow() {
    const Window& window = instruction_.window();
    const Shape& result = FirstArray(shape());
    AddRuns(0, rules_.counts_needed_work ? NeededWindowRuns(window, operand_shape(0), result)
                                         : XlaWindowRuns(window, result));
  }
  void CountScan() { AddRuns(0, rules_.counts_needed_work ? ScanLength() : 1); }
  double ScanLength() const {
    const int64_t dimension = instruction_.dimensions().empty() ? 0 : instruction_.dimensions(0);
    const Shape& operand = operand_shape(0);
    const bool is_of_operand = operand.IsArray() && dimension >= 0 && dimension < operand.dimensions_size();
    return is_of_operand ? static_cast<double>(operand.dimensions(dimension)) : 1;
  }
  void CountSelectAndScatter() {
    const double sources = Elements(operand_shape(1));
    AddRuns(0, Saturate(sources * (WindowElements(instruction_.window()) - 1)));
    AddRuns(1, sources);
  }
  void CountSort() {  // as if by comparisons
    const double elements = Elements(operand_shape(0));
    SetFlops(elements * Log2Ceiling(static_cast<uint64_t>(std::min(elements, 0x1p63))));
  }

  void CountDot() { SetFlops(DotFlops(operand_shape(0), shape(), instruction_.dot_dimension_numbers())); }
  void CountRaggedDot() {
    SetFlops(rules_.counts_needed_work ? NeededRaggedDotFlops(instruction_) : RaggedDotFlops(instruction_));
  }
  void CountConvolution() { SetFlops(ConvolutionFlops(instruction_)); }

  // A reduction between devices, as if of two members.
  void CountCombination() { SetFlops(ElementsOfAll(shape())); }
  void CountRandom() { SetTranscendentals(ElementsOfAll(shape())); }

  void CountCustomCall() {
    if (analysis::CountGpuCall(instruction_, rules_, size_, &cost_, notes_)) return;
    SetFlops(rules_.custom_call);
    SetBytes(rules_.custom_call);
    SetWritten(rules_.custom_call);
    for (OperandCost& operand : cost_.operands) operand.bytes = rules_.custom_call;
    cost_.cost.unknown = 1;
  }

  void CountTuple() {  // makes the table
    SetWritten(size_(shape()));
    SetBytes(cost_.result_bytes);
    for (OperandCost& operand : cost_.operands) operand.bytes = 0;
  }

  void CountInfeed() {
    PartCosts parts;
    parts.results = LeafParts(shape(), size_);
    cost_.parts = std::make_shared<PartCosts>(std::move(parts));
  }

  void CountOutfeed() {  // all of the data is read, also of tuples
    if (instruction_.operand_count() == 0) return;
    PartCosts parts;
    parts.operands = LeafParts(operand_shape(0), size_);
    double sum = 0;
    for (const PartCosts::Part& part : parts.operands) sum = Saturate(sum + part.bytes);
    Read(0, sum);
    SetBytes(sum);
    if (operand_shape(0).IsTuple()) cost_.parts = std::make_shared<PartCosts>(std::move(parts));
  }

  // The elements of the result are read and written. Indices are read; of dynamic-slice only the first one.
  void CountSlice() {
    const double taken = size_(shape());
    Read(0, taken, Ratio(Elements(shape()), Elements(operand_shape(0))));
    SetBytes(2 * taken + OperandBytes(1));
  }
  void CountGather() { CountSlice(); }

  void CountUpdate() {  // in place
    const double update = OperandBytes(1);
    Read(0, 0, 1 - Ratio(Elements(operand_shape(1)), Elements(operand_shape(0))));
    SetWritten(update);
    SetBytes(2 * update + OperandBytes(2));
  }

  void CountScatter() {  // reads the updates and the elements they change, and writes those elements
    const int64_t count = (instruction_.operand_count() - 1) / 2;
    SetWritten(0);
    SetBytes(OperandBytes(count));
    for (int64_t i = 0; i < count; ++i) {
      const double update = OperandBytes(count + 1 + i);
      Read(i, update);
      cost_.result_bytes += update;
      cost_.cost.bytes_accessed += 3 * update;
    }
    AddRuns(0, Elements(operand_shape(count + 1)));
  }

  void CountFft() { SetFlops(FftFlops(instruction_.fft_length(), operand_shape(0))); }

  // Half of the square is there.
  void CountCholesky() {
    const Shape& a = operand_shape(0);
    SetWritten(cost_.result_bytes / 2);
    Read(0, OperandBytes(0) / 2);
    SetBytes(cost_.result_bytes + OperandBytes(0) / 2);
    SetFlops(std::floor(LastSize(a) * Elements(a) / 3));
  }

  void CountTriangularSolve() {
    const double b_bytes = OperandBytes(1);
    SetBytes(cost_.result_bytes + OperandBytes(0) / 2 + b_bytes);
    Read(0, b_bytes);  // as XLA has it; it means operand 1
    SetFlops(kFmaFlops * LastSize(operand_shape(0)) * Elements(operand_shape(1)));
  }

  void CountFusion() {
    if (instruction_.called_computations().empty()) return;
    const FusedCost& fused = fused_.at(instruction_.called_computations()[0]);
    if (instruction_.IsCustomFusion() && fused.gather_or_scatter != nullptr) {
      return TakeIndexed(instructions_.at(fused.gather_or_scatter), &cost_);
    }
    cost_.cost = Callee(0);
    TakeFused(fused, &cost_);
    analysis::LeaveOutScratch(instruction_, rules_, size_, &cost_);
  }

  const HloInstruction& instruction_;
  const CostRules& rules_;
  const SizeFunction& size_;
  const InstructionCosts& instructions_;
  const ComputationCosts& computations_;
  const FusedCosts& fused_;
  std::vector<std::string>* const notes_;
  InstructionCost cost_;
};

InstructionCost Counter::Count() && {
  using Rule = HloOpcodeFlags::Cost;
  static constexpr void (Counter::*kRules[])() = {
      &Counter::CountDefault,
#define KASHI_COST_RULE(name) &Counter::Count##name,
#include "kashi/hlo/ir/op_rules.def"
  };
  const Rule rule = GetHloOpcodeInfo(instruction_.opcode()).cost;
  if (rule != Rule::kFree && rule != Rule::kCalled && rule != Rule::kConditional) SetDefaults();
  (this->*kRules[static_cast<size_t>(rule)])();
  cost_.cost = Cost() + cost_.cost;  // within bounds
  return std::move(cost_);
}

// All computations that fusions call, also if they are not marked as fused.
absl::flat_hash_set<const HloComputation*> FusedComputations(const CallGraph& graph) {
  absl::flat_hash_set<const HloComputation*> fused;
  for (const CallGraph::Node& node : graph.nodes()) {
    for (const HloInstruction* instruction : node.computation->instructions()) {
      if (instruction->opcode() != HloOpcode::kFusion) continue;
      for (const HloComputation* callee : instruction->called_computations()) fused.insert(callee);
    }
  }
  return fused;
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  flops = Saturate(flops + other.flops);
  transcendentals = Saturate(transcendentals + other.transcendentals);
  bytes_accessed = Saturate(bytes_accessed + other.bytes_accessed);
  unknown = Saturate(unknown + other.unknown);
  return *this;
}

Cost operator*(Cost a, double times) {
  a.flops = Saturate(a.flops * times);
  a.transcendentals = Saturate(a.transcendentals * times);
  a.bytes_accessed = Saturate(a.bytes_accessed * times);
  a.unknown = Saturate(a.unknown * times);
  return a;
}

absl::StatusOr<CostAnalysis> CostAnalysis::Run(const HloModule& module, const CostRules& rules) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  const absl::flat_hash_set<const HloComputation*> fused = FusedComputations(graph);
  const SizeFunction size = GuardedSize(rules);
  CostAnalysis result;
  FusedCosts fused_costs;
  for (const CallGraph::Node& node : graph.nodes()) {
    Cost sum;
    for (const HloInstruction* instruction : node.computation->instructions()) {
      InstructionCost cost =
          Counter(*instruction, rules, size, result.costs_, result.computation_costs_, fused_costs, &result.notes_)
              .Count();
      sum += cost.cost;
      result.costs_.emplace(instruction, std::move(cost));
    }
    result.computation_costs_.emplace(node.computation, sum);
    result.computations_.push_back(node.computation);
    if (fused.contains(node.computation)) {
      fused_costs.emplace(node.computation, CostOfFused(*node.computation, fused_costs, size));
    }
  }
  result.total_ = result.computation_costs_.at(module.entry_computation());
  return result;
}

}  // namespace kashi
