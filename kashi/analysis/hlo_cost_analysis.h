// The cost of a computation through XLA's interface (docs/spec/xla-api.md 29.3), for code that was written for it:
//
//   HloCostAnalysis analysis(options);                        // or HloCostAnalysis analysis;
//   KASHI_RETURN_IF_ERROR(module->entry_computation()->Accept(&analysis));
//   analysis.flop_count();                                    // the total; XLA's float
//   analysis.bytes_accessed(*instruction);                    // of one instruction
//   analysis.operand_bytes_accessed(*instruction, 0);
//
// cost_analysis.h defines the counts, and is better for new code: its numbers are doubles, it has no seconds, and it
// marks unknown costs. Here a custom call, whose cost is unknown, counts as -1, as in XLA. The optimal seconds of an
// instruction are the maximum over its properties of the value divided by its rate. A call, a loop and a conditional
// have those of the computations that they call.
//
// Accept calls Visit. There are no other functions to override, and no GPU or CPU variants.
#ifndef KASHI_ANALYSIS_HLO_COST_ANALYSIS_H_
#define KASHI_ANALYSIS_HLO_COST_ANALYSIS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/analysis/hlo_cost_analysis_properties.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {

class HloCostAnalysis {
 public:
  static constexpr absl::string_view kFlopsKey = HloCostProperties::kFlopsKey;
  static constexpr absl::string_view kTranscendentalsKey = HloCostProperties::kTranscendentalsKey;
  static constexpr absl::string_view kBytesAccessedKey = HloCostProperties::kBytesAccessedKey;
  static constexpr absl::string_view kOptimalSecondsKey = HloCostProperties::kOptimalSecondsKey;
  static constexpr absl::string_view kUtilizationKey = HloCostProperties::kUtilizationKey;
  static constexpr int64_t kDefaultPointerSize = 8;

  using Properties = HloCostProperties;
  // Bytes of one buffer: of an array, or of a tuple's table of pointers.
  using ShapeSizeFunction = std::function<int64_t(const Shape&)>;

  // Without padding, a pointer 8 bytes; at most the largest int64_t.
  static int64_t DefaultShapeSize(const Shape& shape);

  struct Options {
    ShapeSizeFunction shape_size = DefaultShapeSize;
    // Rates by key. A key whose rate is 0 takes no time.
    Properties per_second_rates = {};
    Properties min_latencies_seconds = {};
    // For XLA's GPU analysis, which counts an operand once per read of its elements. Not used here.
    bool count_multiple_input_accesses = false;

    void set_flops_per_second(float value) { per_second_rates[kFlopsKey] = value; }
    void set_transcendentals_per_second(float value) { per_second_rates[kTranscendentalsKey] = value; }
    void set_bytes_per_second(float value) { per_second_rates[kBytesAccessedKey] = value; }
    void set_flops_min_latency_second(float value) { min_latencies_seconds[kFlopsKey] = value; }
    void set_bytes_min_latency_second(float value) { min_latencies_seconds[kBytesAccessedKey] = value; }
    float per_second_rate(absl::string_view key) const { return per_second_rates[key]; }
    float min_latency_seconds(absl::string_view key) const { return min_latencies_seconds[key]; }
  };

  explicit HloCostAnalysis(const Options& options) : options_(options) {}
  explicit HloCostAnalysis(ShapeSizeFunction shape_size = DefaultShapeSize, const Properties& per_second_rates = {},
                           const Properties& min_latency_seconds = {});

  // Adds all instructions of a computation and of those it calls; instructions that were visited before count once.
  // INVALID_ARGUMENT for a computation without a module, and as for CostAnalysis::Run; RESOURCE_EXHAUSTED if the
  // properties of the module's instructions, including those of called computations, have more than 2^24 numbers: a
  // million instructions are well within. After an error the analysis is as it was. O(module) each time. Instructions
  // are remembered by address: the module must outlive this.
  absl::Status Visit(const HloComputation& computation);
  // Adds only the dependencies of the instruction: itself, its operands and control predecessors, and theirs in turn.
  absl::Status Visit(const HloInstruction& root);

  // Subtracts an instruction from the sums and sets its own costs to 0; no effect if it is not known.
  absl::Status RemoveInstruction(HloInstruction* instruction);
  // Counts an instruction anew that has changed, or a new one, and no other; the same errors as Visit.
  absl::Status RevisitInstruction(HloInstruction* instruction);

  // Sums over the visited instructions.
  float flop_count() const { return property_sums_[kFlopsKey]; }
  float transcendental_count() const { return property_sums_[kTranscendentalsKey]; }
  float bytes_accessed() const { return property_sums_[kBytesAccessedKey]; }
  float optimal_seconds() const { return property_sums_[kOptimalSecondsKey]; }
  const Properties& properties() const { return property_sums_; }
  float property(absl::string_view key) const { return property_sums_[key]; }

  // The costs of an instruction that was visited, or that a visited instruction calls or fuses; 0 for others. Integers
  // beyond int64_t become the largest int64_t.
  int64_t flop_count(const HloInstruction& instruction) const;
  int64_t transcendental_count(const HloInstruction& instruction) const;
  int64_t bytes_accessed(const HloInstruction& instruction) const;
  float optimal_seconds(const HloInstruction& instruction) const;
  const Properties& properties(const HloInstruction& instruction) const;

  // The bytes of an operand or of a part of it, of the result or of a part of it. Parts are known only for fusions,
  // infeed and outfeed.
  int64_t operand_bytes_accessed(const HloInstruction& instruction, int64_t operand,
                                 const ShapeIndex& index = {}) const;
  float operand_utilization(const HloInstruction& instruction, int64_t operand, const ShapeIndex& index = {}) const;
  int64_t output_bytes_accessed(const HloInstruction& instruction, const ShapeIndex& index = {}) const;
  // The sum over the arrays in the operands, or in the result, that have their own properties; only those in
  // a memory space if one is named.
  int64_t GetBytesRead(const HloInstruction& instruction, std::optional<int64_t> memory_space = std::nullopt) const;
  int64_t GetBytesWritten(const HloInstruction& instruction, std::optional<int64_t> memory_space = std::nullopt) const;

  // The size by the function from the constructor; 0 for shapes without a layout.
  int64_t GetShapeSize(const Shape& shape) const;
  float per_second_rate(absl::string_view key) const { return options_.per_second_rate(key); }
  float min_latency_seconds(absl::string_view key) const { return options_.min_latency_seconds(key); }

  static int64_t GetDotFlops(const Shape& lhs_shape, const Shape& result_shape, const DotDimensionNumbers& dnums);
  static int64_t GetConvolutionFlops(const HloInstruction* convolution);
  static int64_t GetConvolutionFlops(const HloInstruction* convolution, const Shape& lhs_shape, const Shape& rhs_shape,
                                     const Shape& result_shape);

  static std::string GetOperandBytesAccessedKey(int64_t operand_num, const ShapeIndex& index = {}) {
    return Properties::OperandBytesAccessedKey(operand_num, index);
  }
  static std::string GetOperandUtilizationKey(int64_t operand_num, const ShapeIndex& index = {}) {
    return Properties::OperandUtilizationKey(operand_num, index);
  }
  static std::string GetOutputBytesAccessedKey(const ShapeIndex& index = {}) {
    return Properties::OutputBytesAccessedKey(index);
  }

 private:
  struct Known {
    Cost cost;
    Properties properties;
    bool is_counted = false;  // in the sums; else only called by one that is
  };
  using KnownMap = absl::flat_hash_map<const HloInstruction*, Known>;
  using ComputationProperties = absl::flat_hash_map<const HloComputation*, Properties>;
  static constexpr int kUnknownCost = -1;

  // Analyzes all instructions of the module that contains the computation.
  absl::StatusOr<KnownMap> Analyze(const HloComputation* in_module) const;
  Properties PropertiesOf(const HloInstruction& instruction, const InstructionCost& cost,
                          const ComputationProperties& computations) const;
  float BottleneckSeconds(const Properties& properties) const;
  // Adds the instructions that are not counted yet, and remembers the instructions that they call.
  void Count(const std::vector<const HloInstruction*>& instructions, const KnownMap& all);
  // Writes the sums of doubles, which are nearer the truth, over those of floats.
  void SetExactSums();
  const Known& KnownOf(const HloInstruction& instruction) const;

  Options options_;
  Cost sum_;
  Properties property_sums_;
  KnownMap known_;
};

}  // namespace kashi

#endif  // KASHI_ANALYSIS_HLO_COST_ANALYSIS_H_
