#include "kashi/analysis/hlo_cost_analysis.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "kashi/analysis/cost_analysis_products.h"
#include "kashi/analysis/cost_analysis_sizes.h"
#include "kashi/array/layout_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_place.h"

namespace kashi {

using analysis::ConvolutionFlops;
using analysis::DotFlops;
namespace {

using Properties = HloCostAnalysis::Properties;

// Sums of properties of one module, all together.
constexpr size_t kMaxNumbers = size_t{1} << 24;

int64_t ToInt64(double count) {
  if (count >= 0x1p63) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::max(count, -0x1p63));
}

// The number as a float; the largest float if it is larger.
float ToFloat(double count) { return static_cast<float>(std::min<double>(count, std::numeric_limits<float>::max())); }

void SetMainKeys(const Cost& cost, Properties* properties) {
  (*properties)[HloCostAnalysis::kFlopsKey] = ToFloat(cost.flops);
  (*properties)[HloCostAnalysis::kTranscendentalsKey] = ToFloat(cost.transcendentals);
  (*properties)[HloCostAnalysis::kBytesAccessedKey] = ToFloat(cost.bytes_accessed);
}

// The properties of the computations that an instruction calls, summed as XLA sums them.
Properties PropertiesOfCalled(const HloInstruction& instruction,
                              const absl::flat_hash_map<const HloComputation*, Properties>& computations) {
  Properties properties;
  const absl::Span<HloComputation* const> called = instruction.called_computations();
  // A fusion sets its own bytes afterwards. The rest are numbers of operands that the fusion does not have, but XLA's
  // sums contain them.
  if (instruction.opcode() == HloOpcode::kFusion) return computations.at(called[0]);
  if (!GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kControlFlow)) return properties;
  for (size_t i = 0; i < called.size(); ++i) {
    const Properties& added = computations.at(called[i]);
    if (instruction.opcode() != HloOpcode::kConditional) {
      properties += added;
    } else if (i == 0) {
      properties = added;
    } else {
      properties.TakeMax(added);
    }
  }
  return properties;
}

bool HasSecondsOfCalled(HloOpcode opcode) {
  return opcode == HloOpcode::kCall || opcode == HloOpcode::kWhile || opcode == HloOpcode::kConditional;
}

// The bytes that an instruction itself reads and writes, apart from the computations that it calls.
void SetAccesses(const InstructionCost& cost, Properties* properties) {
  properties->set_output_bytes_accessed(ToFloat(cost.result_bytes));
  for (size_t i = 0; i < cost.operands.size(); ++i) {
    const auto operand = static_cast<int64_t>(i);
    properties->set_operand_bytes_accessed(operand, ToFloat(cost.operands[i].bytes));
    properties->set_operand_utilization(operand, ToFloat(cost.operands[i].utilization));
  }
  if (cost.parts == nullptr) return;
  for (const PartCosts::Part& part : cost.parts->operands) {
    properties->set_operand_bytes_accessed(part.operand, part.index, ToFloat(part.bytes));
  }
  for (const PartCosts::Part& part : cost.parts->results) {
    properties->set_output_bytes_accessed(part.index, ToFloat(part.bytes));
  }
}

// The sum of `bytes_of` over the arrays in a shape that are in the memory space.
template <typename F>
double SumOverSpace(const Shape& shape, std::optional<int64_t> memory_space, F bytes_of) {
  double sum = 0;
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(shape)) {
    const bool is_there =
        !memory_space.has_value() || (leaf.shape.has_layout() && leaf.shape.layout().memory_space() == *memory_space);
    if (is_there) sum += bytes_of(leaf.index);
  }
  return sum;
}

}  // namespace

HloCostAnalysis::HloCostAnalysis(ShapeSizeFunction shape_size, const Properties& per_second_rates,
                                 const Properties& min_latency_seconds)
    : options_{std::move(shape_size), per_second_rates, min_latency_seconds} {}

int64_t HloCostAnalysis::DefaultShapeSize(const Shape& shape) { return ToInt64(analysis::DenseBytes(shape)); }

int64_t HloCostAnalysis::GetShapeSize(const Shape& shape) const {
  return LayoutUtil::HasLayout(shape) ? options_.shape_size(shape) : 0;
}

float HloCostAnalysis::BottleneckSeconds(const Properties& properties) const {
  if (options_.per_second_rates.empty()) return 0;
  float seconds = 0;
  properties.ForEach([&](absl::string_view key, float value) {
    const float rate = per_second_rate(key);
    if (key == kOptimalSecondsKey || rate == 0) return;
    seconds = std::max({seconds, value / rate, min_latency_seconds(key)});
  });
  return seconds;
}

Properties HloCostAnalysis::PropertiesOf(const HloInstruction& instruction, const InstructionCost& cost,
                                         const ComputationProperties& computations) const {
  Properties properties = cost.counts_called ? PropertiesOfCalled(instruction, computations) : Properties();
  const bool only_calls = HasSecondsOfCalled(instruction.opcode()) || instruction.opcode() == HloOpcode::kAsyncStart;
  if (!only_calls) SetAccesses(cost, &properties);
  SetMainKeys(cost.cost, &properties);
  if (instruction.opcode() == HloOpcode::kCustomCall) {
    properties[kOptimalSecondsKey] = kUnknownCost;
  } else if (!HasSecondsOfCalled(instruction.opcode())) {
    properties[kOptimalSecondsKey] = BottleneckSeconds(properties);
  }
  return properties;
}

absl::StatusOr<HloCostAnalysis::KnownMap> HloCostAnalysis::Analyze(const HloComputation* in_module) const {
  if (in_module == nullptr || in_module->parent() == nullptr) {
    return InvalidArgument("the computation or instruction is not in a module");
  }
  const auto size = [this](const Shape& shape) { return static_cast<double>(options_.shape_size(shape)); };
  CostRules rules;
  rules.size = size;
  rules.custom_call = kUnknownCost;
  rules.counts_gpu_calls = false;  // XLA's class for all devices knows none of them
  KASHI_ASSIGN_OR_RETURN(const CostAnalysis costs, CostAnalysis::Run(*in_module->parent(), rules));
  KnownMap all;
  ComputationProperties computations;
  size_t numbers = 0;
  for (const HloComputation* computation : costs.computations()) {
    Properties& sum = computations[computation];
    for (const HloInstruction* instruction : computation->instructions()) {
      const InstructionCost& cost = costs.DetailsOf(instruction);
      Known known = {cost.cost, PropertiesOf(*instruction, cost, computations)};
      sum += known.properties;
      numbers += known.properties.size();
      if (numbers > kMaxNumbers) {
        return AtInstruction(ResourceExhausted("the called computations have too many operands"), *instruction);
      }
      all.emplace(instruction, std::move(known));
    }
  }
  return all;
}

void HloCostAnalysis::Count(const std::vector<const HloInstruction*>& instructions, const KnownMap& all) {
  std::vector<const HloInstruction*> rest;
  for (const HloInstruction* instruction : instructions) {
    Known& known = known_[instruction];
    if (known.is_counted) continue;
    known = all.at(instruction);
    known.is_counted = true;
    sum_ += known.cost;
    property_sums_ += known.properties;
    rest.push_back(instruction);
  }
  SetExactSums();
  while (!rest.empty()) {
    const HloInstruction& caller = *rest.back();
    rest.pop_back();
    for (const HloComputation* called : caller.called_computations()) {
      for (const HloInstruction* instruction : called->instructions()) {
        if (known_.emplace(instruction, all.at(instruction)).second) rest.push_back(instruction);
      }
    }
  }
}

void HloCostAnalysis::SetExactSums() { SetMainKeys(sum_, &property_sums_); }

absl::Status HloCostAnalysis::Visit(const HloComputation& computation) {
  KASHI_ASSIGN_OR_RETURN(const KnownMap all, Analyze(&computation));
  Count({computation.instructions().begin(), computation.instructions().end()}, all);
  return absl::OkStatus();
}

absl::Status HloCostAnalysis::Visit(const HloInstruction& root) {
  KASHI_ASSIGN_OR_RETURN(const KnownMap all, Analyze(root.parent()));
  absl::flat_hash_set<const HloInstruction*> seen = {&root};
  std::vector<const HloInstruction*> needed = {&root};
  for (size_t i = 0; i < needed.size(); ++i) {
    const HloInstruction& next = *needed[i];
    for (const HloInstruction* operand : next.operands()) {
      if (seen.insert(operand).second) needed.push_back(operand);
    }
    for (const HloInstruction* before : next.control_predecessors()) {
      if (seen.insert(before).second) needed.push_back(before);
    }
  }
  Count(needed, all);
  return absl::OkStatus();
}

absl::Status HloCostAnalysis::RemoveInstruction(HloInstruction* instruction) {
  const auto found = known_.find(instruction);
  if (found == known_.end()) return absl::OkStatus();
  if (found->second.is_counted) {
    sum_ += found->second.cost * -1;
    property_sums_ -= found->second.properties;
    SetExactSums();
  }
  known_.erase(found);
  return absl::OkStatus();
}

absl::Status HloCostAnalysis::RevisitInstruction(HloInstruction* instruction) {
  KASHI_ASSIGN_OR_RETURN(const KnownMap all, Analyze(instruction->parent()));
  KASHI_RETURN_IF_ERROR(RemoveInstruction(instruction));
  Count({instruction}, all);
  return absl::OkStatus();
}

// ---- Of one instruction.

const HloCostAnalysis::Known& HloCostAnalysis::KnownOf(const HloInstruction& instruction) const {
  static const Known* const kNothing = new Known();
  const auto found = known_.find(&instruction);
  return found == known_.end() ? *kNothing : found->second;
}

int64_t HloCostAnalysis::flop_count(const HloInstruction& instruction) const {
  return ToInt64(KnownOf(instruction).cost.flops);
}
int64_t HloCostAnalysis::transcendental_count(const HloInstruction& instruction) const {
  return ToInt64(KnownOf(instruction).cost.transcendentals);
}
int64_t HloCostAnalysis::bytes_accessed(const HloInstruction& instruction) const {
  return ToInt64(KnownOf(instruction).cost.bytes_accessed);
}
float HloCostAnalysis::optimal_seconds(const HloInstruction& instruction) const {
  return properties(instruction)[kOptimalSecondsKey];
}
const Properties& HloCostAnalysis::properties(const HloInstruction& instruction) const {
  return KnownOf(instruction).properties;
}
int64_t HloCostAnalysis::operand_bytes_accessed(const HloInstruction& instruction, int64_t operand,
                                                const ShapeIndex& index) const {
  return ToInt64(properties(instruction).operand_bytes_accessed(operand, index));
}
float HloCostAnalysis::operand_utilization(const HloInstruction& instruction, int64_t operand,
                                           const ShapeIndex& index) const {
  return properties(instruction).operand_utilization(operand, index);
}
int64_t HloCostAnalysis::output_bytes_accessed(const HloInstruction& instruction, const ShapeIndex& index) const {
  return ToInt64(properties(instruction).output_bytes_accessed(index));
}

int64_t HloCostAnalysis::GetBytesRead(const HloInstruction& instruction, std::optional<int64_t> memory_space) const {
  const Properties& known = properties(instruction);
  double sum = 0;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    sum += SumOverSpace(instruction.operand(i)->shape(), memory_space,
                        [&](const ShapeIndex& index) { return known.operand_bytes_accessed(i, index); });
  }
  return ToInt64(sum);
}

int64_t HloCostAnalysis::GetBytesWritten(const HloInstruction& instruction, std::optional<int64_t> memory_space) const {
  const Properties& known = properties(instruction);
  return ToInt64(SumOverSpace(instruction.shape(), memory_space,
                              [&](const ShapeIndex& index) { return known.output_bytes_accessed(index); }));
}

// ---- Without a visit.

int64_t HloCostAnalysis::GetDotFlops(const Shape& lhs_shape, const Shape& result_shape,
                                     const DotDimensionNumbers& dnums) {
  return ToInt64(DotFlops(lhs_shape, result_shape, dnums));
}
int64_t HloCostAnalysis::GetConvolutionFlops(const HloInstruction* convolution) {
  return ToInt64(ConvolutionFlops(*convolution));
}
int64_t HloCostAnalysis::GetConvolutionFlops(const HloInstruction* convolution, const Shape& lhs_shape,
                                             const Shape& /*rhs_shape*/, const Shape& result_shape) {
  return ToInt64(ConvolutionFlops(*convolution, lhs_shape, result_shape));
}

}  // namespace kashi
