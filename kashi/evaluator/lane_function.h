// LaneFunction: runs a computation on scalars, which reduce, map, scatter, sort and others call, on many elements at
// once. n lanes run through the same element kernels as whole arrays, without allocation, with one indirect call per
// operation for all lanes.
//
//   max.1 (a f32[], b f32[]) -> f32[]        Run({a, b}, {out}, n): for i in [0, n): out[i] = max.1(a[i], b[i])
//
// Calls, fusions, tuples and operations that only forward a scalar are removed before it runs. Other computations (with
// a loop or an array inside) run lane by lane through the evaluator, which is slow.
#ifndef KASHI_EVALUATOR_LANE_FUNCTION_H_
#define KASHI_EVALUATOR_LANE_FUNCTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/kernels/element_kernel.h"

namespace kashi::evaluator {

class EvaluationRun;

class LaneFunction {
 public:
  // `run` and the computation must outlive it. INVALID_ARGUMENT unless parameters and results (the root, or the
  // elements of a tuple root) are scalars.
  static absl::StatusOr<std::unique_ptr<LaneFunction>> Make(const HloComputation& computation, EvaluationRun& run);

  absl::Span<const PrimitiveType> parameter_types() const { return parameter_types_; }
  absl::Span<const PrimitiveType> result_types() const { return result_types_; }

  // Set if the only result is one operation of ops.def on the two parameters in order (add(p0, p1)), or in reverse
  // order if the operation is commutative. For fast paths. The operands have the type of the result.
  std::optional<HloOpcode> AsBinary() const { return binary_; }
  // Set if the only result is a comparison of the parameters 2i and 2i+1, as in most sorts.
  struct ParameterComparison {
    int64_t operand;  // i
    ComparisonDirection direction;
    Comparison::Order order;
    bool is_swapped;  // compare(p(2i+1), p(2i))
  };
  std::optional<ParameterComparison> AsComparison() const { return comparison_; }
  // Set if the only result is parameter i itself (a scatter that assigns).
  std::optional<int64_t> AsParameter() const { return parameter_; }

  // Whether several threads may call Run, each with its own scratch. If not, the caller must use one thread.
  bool is_parallel() const { return !runs_lane_by_lane_; }

  // The memory of one thread for up to `lanes` lanes at a time. Run splits more lanes into portions. Make one per loop,
  // not per element: with 1 lane for loops over single elements, kManyLanes for long runs.
  static constexpr int64_t kManyLanes = 512;
  class Scratch {
   public:
    Scratch(const LaneFunction& function, int64_t lanes);
    int64_t lanes() const { return lanes_; }

   private:
    friend class LaneFunction;
    int64_t lanes_;
    std::vector<char> memory_;
    std::vector<void*> registers_;
  };

  // inputs[i]: n elements of parameter i; outputs[j]: n elements of result j. An output may be the memory of an input,
  // because each lane reads before it writes. Fails only if the computation runs lane by lane.
  absl::Status Run(Scratch& scratch, absl::Span<const void* const> inputs, absl::Span<void* const> outputs,
                   int64_t n) const;

 private:
  friend class LaneCompiler;
  struct Step {
    kernels::ElementKernel kernel;
    absl::InlinedVector<int, 3> inputs;  // registers
    int output;
  };
  struct Register {
    PrimitiveType type;
    int element_bytes;
    int parameter = -1;          // the register is that parameter
    std::vector<char> constant;  // one element, for every lane
  };
  LaneFunction() = default;
  void RunPortion(Scratch& scratch, const void* const* inputs, void* const* outputs, int64_t offset, int64_t n) const;
  absl::Status RunLaneByLane(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, int64_t n) const;

  std::vector<PrimitiveType> parameter_types_;
  std::vector<PrimitiveType> result_types_;
  std::vector<Register> registers_;
  std::vector<Step> steps_;
  std::vector<int> results_;  // registers
  std::optional<HloOpcode> binary_;
  std::optional<ParameterComparison> comparison_;
  std::optional<int64_t> parameter_;
  bool runs_lane_by_lane_ = false;
  const HloComputation* computation_ = nullptr;
  EvaluationRun* run_ = nullptr;
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_LANE_FUNCTION_H_
