#include "kashi/insight/roofline.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/cost_analysis_sizes.h"
#include "kashi/analysis/memory_target.h"
#include "kashi/array/device_size.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/base/status.h"
#include "kashi/insight/matrix_work.h"

namespace kashi::insight {
namespace {

// Seconds of the units, with the padding of tiles and without.
struct Work {
  double matrix = 0, vector = 0, memory = 0;
  double unpadded_matrix = 0, unpadded_vector = 0, unpadded_memory = 0;
  const Shape* most_padded = nullptr;

  Work& operator+=(const Work& other) {
    matrix += other.matrix;
    vector += other.vector;
    unpadded_matrix += other.unpadded_matrix;
    unpadded_vector += other.unpadded_vector;
    return *this;
  }
  InstructionTime ToTime() const {
    return {matrix, vector, memory, std::max({unpadded_matrix, unpadded_vector, unpadded_memory}), most_padded};
  }
};

// The sizes of arrays in the main memory of the accelerator.
class ArraySizes {
 public:
  ArraySizes(const Accelerator& device, bool chooses_layouts) : device_(device), chooses_layouts_(chooses_layouts) {}

  // The bytes of whole tiles, divided by those of the elements; at least 1.
  double PaddingFactor(const Shape& array) {
    if (!device_.tpu.has_value() || !array.IsArray() || !array.has_layout()) return 1;
    const auto [found, is_new] = factors_.try_emplace(array);
    if (is_new) found->second = Measure(array);
    return found->second;
  }
  // A GPU has memory spaces for communication and temporaries that are in its main memory, and the host's memory.
  bool IsInMainMemory(const Shape& array) const {
    if (!array.has_layout()) return true;
    const int64_t space = array.layout().memory_space();
    return space == Layout::kDefaultMemorySpace || (!device_.tpu.has_value() && space != Layout::kHostMemorySpace);
  }

 private:
  double Measure(Shape array) const {
    if (chooses_layouts_ && !SetTpuLayouts(*device_.tpu, &array).ok()) return 1;
    const absl::StatusOr<DeviceSize> size = GetDeviceSize(array);
    if (!size.ok() || size->unpadded_bytes <= 0) return 1;
    return static_cast<double>(size->bytes) / static_cast<double>(size->unpadded_bytes);
  }

  const Accelerator& device_;
  const bool chooses_layouts_;
  absl::flat_hash_map<Shape, double> factors_;
};

class Meter {
 public:
  Meter(const CountedCost& cost, const Accelerator& device, ArraySizes* sizes)
      : cost_(cost), device_(device), sizes_(*sizes) {}

  // The arithmetic of an instruction. `fused` has the computations that fusions call.
  Work ArithmeticOf(const HloInstruction& instruction, const absl::flat_hash_map<const HloComputation*, Work>& fused) {
    if (instruction.opcode() == HloOpcode::kFusion && instruction.called_computations().size() == 1) {
      const auto found = fused.find(instruction.called_computations()[0]);
      if (found != fused.end()) return found->second;
    }
    const Cost& own = cost_.own().CostOf(&instruction);
    Work work;
    if (IsMatrixWork(instruction) && own.flops > 0) {
      const MatrixWork matrix = MatrixWorkOf(instruction, device_);
      const double seconds = Seconds(own.flops, matrix.rate);
      (matrix.is_on_vector_unit ? work.unpadded_vector : work.unpadded_matrix) = seconds;
      (matrix.is_on_vector_unit ? work.vector : work.matrix) = seconds * matrix.padding_factor;
      return work;
    }
    const Shape& shape = WorkShape(instruction);
    const PrimitiveType type = shape.IsArray() ? shape.element_type() : F32;
    work.unpadded_vector = Seconds(own.flops + own.transcendentals, device_.VectorRate(type));
    work.vector = work.unpadded_vector * sizes_.PaddingFactor(shape);
    return work;
  }

  void AddMemory(const HloInstruction& instruction, Work* work) {
    if (EndsAsynchronously(instruction.opcode())) return;
    const InstructionCost& details = cost_.own().DetailsOf(&instruction);
    double padded = 0, unpadded = 0, most_wasted = 0;
    const auto add = [&](const Shape& array, double bytes) {
      if (!sizes_.IsInMainMemory(array)) return;
      const double with_padding = bytes * sizes_.PaddingFactor(array);
      unpadded += bytes;
      padded += with_padding;
      if (with_padding - bytes <= most_wasted) return;
      most_wasted = with_padding - bytes;
      work->most_padded = &array;
    };
    for (size_t i = 0; i < details.operands.size() && i < instruction.operand_count(); ++i) {
      AddParts(instruction.operand(static_cast<int64_t>(i))->shape(), details.operands[i].bytes, add);
    }
    if (const Shape* made = MadeByStart(instruction)) {
      add(*made, analysis::DenseBytes(*made));
      return SetMemory(padded, unpadded, work);
    }
    AddParts(instruction.shape(), details.result_bytes, add);
    // What the cost analysis counts beyond operands and results, such as constants in a fusion.
    double parts = details.result_bytes;
    for (const OperandCost& operand : details.operands) parts += operand.bytes;
    const double rest = std::max(0.0, details.cost.bytes_accessed - parts);
    SetMemory(padded + rest, unpadded + rest, work);
  }

 private:
  void SetMemory(double padded, double unpadded, Work* work) const {
    work->memory = Seconds(padded, device_.memory_bandwidth);
    work->unpadded_memory = Seconds(unpadded, device_.memory_bandwidth);
  }

  // What it started has been counted at its start.
  static bool EndsAsynchronously(HloOpcode opcode) {
    static constexpr HloOpcode kEnds[] = {
        HloOpcode::kCopyDone,      HloOpcode::kAsyncUpdate,           HloOpcode::kAsyncDone, HloOpcode::kAllGatherDone,
        HloOpcode::kAllReduceDone, HloOpcode::kCollectivePermuteDone, HloOpcode::kSendDone,  HloOpcode::kRecvDone};
    return absl::c_linear_search(kEnds, opcode);
  }

  // The array that an asynchronous operation makes, whose result also has its operand; null for other operations.
  static const Shape* MadeByStart(const HloInstruction& instruction) {
    const int element = instruction.opcode() == HloOpcode::kCopyStart ? 0 : 1;
    if (instruction.opcode() != HloOpcode::kCopyStart && instruction.opcode() != HloOpcode::kAllGatherStart &&
        instruction.opcode() != HloOpcode::kCollectivePermuteStart) {
      return nullptr;
    }
    const Shape& result = instruction.shape();
    const bool has_it =
        result.IsTuple() && result.tuple_shapes_size() > element && result.tuple_shapes(element).IsArray();
    return has_it ? &result.tuple_shapes(element) : nullptr;
  }

  static double Seconds(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

  // The largest array that the operation computes on: the operand of a reduction, otherwise the first result.
  static const Shape& WorkShape(const HloInstruction& instruction) {
    const Shape* result = &instruction.shape();
    while (result->IsTuple() && result->tuple_shapes_size() > 0) result = &result->tuple_shapes(0);
    if (instruction.opcode() != HloOpcode::kReduce || instruction.operand_count() == 0) return *result;
    return instruction.operand(0)->shape();
  }

  // Spreads the bytes that are used of a shape over its arrays, by their sizes.
  template <typename Add>
  static void AddParts(const Shape& shape, double bytes, Add add) {
    if (bytes <= 0) return;
    if (!shape.IsTuple()) return add(shape, bytes);
    const double all = analysis::SumOverLeaves(shape, analysis::DenseBytes);
    if (all <= 0) return;
    analysis::SumOverLeaves(shape, [&](const Shape& array) {
      add(array, bytes * (analysis::DenseBytes(array) / all));
      return 0;
    });
  }

  const CountedCost& cost_;
  const Accelerator& device_;
  ArraySizes& sizes_;
};

// The seconds of each computation as a whole, to find the dearest branch.
class ComputationSeconds {
 public:
  ComputationSeconds(const CallGraph& graph, const CountedCost& cost,
                     const absl::flat_hash_map<const HloInstruction*, InstructionTime>& times) {
    for (const CallGraph::Node& node : graph.nodes()) {  // callees before callers
      double seconds = 0;
      for (const HloInstruction* instruction : node.computation->instructions()) {
        const auto time = times.find(instruction);
        seconds += time != times.end() ? time->second.seconds() : OfCallees(*instruction, cost);
      }
      seconds_[node.computation] = seconds;
    }
  }

  double Of(const HloComputation* computation) const { return seconds_.at(computation); }

 private:
  double OfCallees(const HloInstruction& caller, const CountedCost& cost) const {
    const absl::Span<HloComputation* const> callees = ControlFlowCallees(caller);
    double sum = 0, longest = 0;
    const bool is_loop = caller.opcode() == HloOpcode::kWhile && !cost.is_flat();
    const double trip_count = is_loop ? static_cast<double>(cost.counts().TripCountOf(&caller).value_or(1)) : 1;
    for (size_t i = 0; i < callees.size(); ++i) {
      const double seconds = Of(callees[i]);
      sum += seconds * (is_loop && i == 1 ? trip_count + 1 : trip_count);
      longest = std::max(longest, seconds);
    }
    return caller.opcode() == HloOpcode::kConditional ? longest : sum;
  }

  absl::flat_hash_map<const HloComputation*, double> seconds_;
};

}  // namespace

absl::string_view BoundName(Bound bound) {
  static constexpr absl::string_view kNames[] = {"nothing", "matrix unit", "vector unit", "memory"};
  return kNames[static_cast<size_t>(bound)];
}

Bound InstructionTime::bound() const {
  const double longest = seconds();
  if (longest <= 0) return Bound::kNothing;
  if (matrix_seconds >= longest) return Bound::kMatrix;
  return vector_seconds >= longest ? Bound::kVector : Bound::kMemory;
}

absl::StatusOr<Roofline> Roofline::Compute(const HloModule& module, const CountedCost& cost,
                                           const Accelerator& accelerator) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  Roofline result;
  result.has_chosen_layouts_ = accelerator.tpu.has_value() && !HasTiles(module);
  ArraySizes sizes(accelerator, result.has_chosen_layouts_);
  Meter meter(cost, accelerator, &sizes);
  absl::flat_hash_map<const HloComputation*, Work> fused;
  for (const CallGraph::Node& node : graph.nodes()) {  // callees before callers
    if (!node.is_reached || node.has_buffers) continue;
    Work sum;
    for (const HloInstruction* instruction : node.computation->instructions()) {
      sum += meter.ArithmeticOf(*instruction, fused);
    }
    fused[node.computation] = sum;
  }
  for (const HloInstruction* instruction : cost.instructions()) {
    Work work = meter.ArithmeticOf(*instruction, fused);
    meter.AddMemory(*instruction, &work);
    result.times_[instruction] = work.ToTime();
  }
  const ComputationSeconds seconds(graph, cost, result.times_);
  result.runs_ = SpreadRuns(graph, cost.counts(), cost.is_flat(),
                            [&](const HloComputation* branch) { return seconds.Of(branch); });
  for (const HloInstruction* instruction : cost.instructions()) {
    const InstructionTime& time = result.times_.at(instruction);
    const double runs = result.RunsOf(instruction);
    result.seconds_ += time.seconds() * runs;
    result.compute_seconds_ += time.compute_seconds() * runs;
    result.memory_seconds_ += time.memory_seconds * runs;
    result.wasted_seconds_ += result.WastedSecondsOf(instruction);
  }
  return result;
}

double Roofline::WastedSecondsOf(const HloInstruction* instruction) const {
  const InstructionTime time = TimeOf(instruction);
  return (time.seconds() - time.unpadded_seconds) * RunsOf(instruction);
}

InstructionTime Roofline::TimeOf(const HloInstruction* instruction) const {
  const auto found = times_.find(instruction);
  return found == times_.end() ? InstructionTime() : found->second;
}

double Roofline::RunsOf(const HloInstruction* instruction) const {
  const auto found = runs_.find(instruction->parent());
  return found == runs_.end() ? 0 : found->second;
}

}  // namespace kashi::insight
