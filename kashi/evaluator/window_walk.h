// WindowWalk: the elements of an array that are in each window (docs/spec/hlo-ops.md, 3). In each dimension, output o
// and window offset w meet input
//
//   i = (o * stride + w * window_dilation - padding_low) / base_dilation      if that is whole and in range
//
// The loops have no range check per element: for each window offset, the outputs that meet an input are a range with a
// constant step.
//
//   outputs   0 1 2 3 4          size 3, padding 1_1:      w = 0 meets outputs 1 2 3 4
//   inputs    0 1 2 3 4                                    w = 1               0 1 2 3 4
//                                                          w = 2               0 1 2 3
//
// If a window has more offsets than its row has elements (size=2^40, lhs_dilate=2^30), the walk computes the inputs of
// each output instead. So a walk costs one step per output, and one per element that is inside the array.
#ifndef KASHI_EVALUATOR_WINDOW_WALK_H_
#define KASHI_EVALUATOR_WINDOW_WALK_H_

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::evaluator {

// Windows of up to 32 elements fold real numbers in the order of the definition, in every engine. Larger ones
// that are cumulative from the end may fold from there.
inline constexpr int64_t kOrderedWindowElements = 32;

// The rows of the output are along the last dimension in which the window is not trivial. The dimensions inside it are
// a vector of `width` elements, which move together.
class WindowWalk {
 public:
  // Outputs first, first + output_step, … of a row, each `width` elements. Their inputs begin at element `input` of the
  // array, and are input_step vectors apart.
  struct Run {
    int64_t output, output_step;
    int64_t input, input_step;
    int64_t count;
  };

  // Makes the walk of the instruction's window. INVALID_ARGUMENT if inputs and outputs do not fit it; UNIMPLEMENTED for
  // huge windows.
  static absl::StatusOr<WindowWalk> Make(const HloInstruction& instruction, absl::Span<const int64_t> inputs,
                                         absl::Span<const int64_t> outputs);

  int64_t width() const { return width_; }
  int64_t row_outputs() const { return row_.outputs; }
  int64_t row_elements() const { return row_.outputs * width_; }
  int64_t rows() const { return rows_; }
  // The number of leading parts of the array that are independent of each other. rows() is a multiple of it.
  int64_t parts() const { return outer_.empty() || !outer_[0].IsTrivial() ? 1 : outer_[0].outputs; }
  int64_t part_inputs() const { return inputs_ / parts(); }
  int64_t part_outputs() const { return rows_ * row_elements() / parts(); }
  // This walk through arrays whose parts are the innermost dimension. Pre: more than one part.
  WindowWalk WithPartsInnermost() const;

  // Whether the window works in one dimension only, without gaps, and every output of a row meets all inputs from the
  // first one (a cumulative sum), or up to the last one (a cumulative sum from the end).
  bool IsPrefix() const { return IsOneRun() && (row_.outputs - 1) * row_.stride <= row_.low; }
  bool IsSuffix() const { return IsOneRun() && row_.size - 1 - row_.low >= Extent(); }
  int64_t row_window() const { return row_.size; }
  // The inputs [begin, end) of a row that output o of the row meets. Pre: IsPrefix() || IsSuffix().
  struct Inputs {
    int64_t begin, end;
  };
  Inputs InputsOf(int64_t o) const;
  int64_t row_inputs() const { return row_.inputs; }

  // Calls visit(run) for the outputs among [begin, end) of the row and their inputs. Ends if visit returns an error,
  // which is then the result, or if the run is stopped. Each output meets its inputs in row-major order of the window.
  template <typename Visit>
  absl::Status VisitRow(const EvaluationRun& evaluation, int64_t row, int64_t begin, int64_t end, Visit&& visit) const;

 private:
  // The x that solve a x = b modulo m are every m / gcd(a, m)-th number, or there are none.
  class Progression {
   public:
    Progression() = default;
    Progression(int64_t a, int64_t m);  // positive, up to 2^40
    int64_t step() const { return step_; }
    // The least solution from `low` on; false if there is none.
    bool FirstFrom(int64_t low, int64_t b, int64_t* x) const;

   private:
    int64_t common_ = 1, step_ = 1, inverse_ = 0;
  };
  struct Axis {
    int64_t inputs, outputs;
    int64_t size, stride, low, base_dilation, window_dilation;
    int64_t input_stride;  // elements
    // o * stride + w * window_dilation - low = i * base_dilation, solved for i given o, and for o given w.
    Progression taps = {}, meetings = {};

    bool IsTrivial() const { return size == 1 && stride == 1 && low == 0 && base_dilation == 1 && inputs == outputs; }
  };
  // The inputs that output o meets: `count` inputs, `step` apart.
  struct Taps {
    int64_t first, step, count;
  };
  static int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }
  static int64_t CeilDiv(int64_t a, int64_t b) { return -FloorDiv(-a, b); }
  static Taps TapsOf(const Axis& axis, int64_t o);
  int64_t Extent() const { return (row_.inputs - 1) * row_.base_dilation; }
  bool IsOneRun() const;
  void Finish();
  template <typename Visit>
  absl::Status VisitOffsets(const EvaluationRun& evaluation, int64_t first_w, int64_t last_w, int64_t begin,
                            int64_t end, int64_t start, Visit&& visit) const;
  template <typename Visit>
  absl::Status VisitOutputs(const EvaluationRun& evaluation, int64_t begin, int64_t end, int64_t start,
                            Visit&& visit) const;

  absl::InlinedVector<Axis, 4> outer_;
  Axis row_;
  int64_t width_ = 1;
  int64_t rows_ = 1, inputs_ = 1;
};

template <typename Visit>
absl::Status WindowWalk::VisitRow(const EvaluationRun& evaluation, int64_t row, int64_t begin, int64_t end,
                                  Visit&& visit) const {
  DimensionVector counts(outer_.size()), strides(outer_.size());
  int64_t start = 0;
  for (size_t i = outer_.size(); i-- > 0;) {
    const Taps taps = TapsOf(outer_[i], row % outer_[i].outputs);
    row /= outer_[i].outputs;
    counts[i] = taps.count;
    strides[i] = taps.step * outer_[i].input_stride;
    start += taps.first * outer_[i].input_stride;
  }
  const int64_t first_w = std::max<int64_t>(0, CeilDiv(row_.low - (end - 1) * row_.stride, row_.window_dilation));
  const int64_t last_w =
      std::min(row_.size - 1, FloorDiv(Extent() + row_.low - begin * row_.stride, row_.window_dilation));
  const bool has_many_offsets = (last_w - first_w) / (end - begin) > row_.inputs;
  absl::Status status;
  literal::WalkRowMajor(counts, strides, [&](absl::Span<const int64_t>, int64_t position) {
    status = has_many_offsets ? VisitOutputs(evaluation, begin, end, start + position, visit)
                              : VisitOffsets(evaluation, first_w, last_w, begin, end, start + position, visit);
    return status.ok();
  });
  return status;
}

template <typename Visit>
absl::Status WindowWalk::VisitOffsets(const EvaluationRun& evaluation, int64_t first_w, int64_t last_w, int64_t begin,
                                      int64_t end, int64_t start, Visit&& visit) const {
  constexpr int64_t kOffsetsPerCheck = 64;
  const int64_t output_step = row_.meetings.step();
  const int64_t input_step = output_step * row_.stride / row_.base_dilation;
  for (int64_t w = first_w; w <= last_w; ++w) {
    if ((w - first_w + 1) % kOffsetsPerCheck == 0) KASHI_RETURN_IF_ERROR(evaluation.CheckStopped());
    const int64_t offset = w * row_.window_dilation - row_.low;
    const int64_t last = std::min(end - 1, FloorDiv(Extent() - offset, row_.stride));
    int64_t first = std::max(begin, CeilDiv(-offset, row_.stride));
    if (!row_.meetings.FirstFrom(first, -offset, &first) || first > last) continue;
    const int64_t input = (first * row_.stride + offset) / row_.base_dilation;
    const Run run = {first, output_step, start + input * width_, input_step, (last - first) / output_step + 1};
    KASHI_RETURN_IF_ERROR(visit(run));
  }
  return absl::OkStatus();
}

template <typename Visit>
absl::Status WindowWalk::VisitOutputs(const EvaluationRun& evaluation, int64_t begin, int64_t end, int64_t start,
                                      Visit&& visit) const {
  for (int64_t o = begin; o < end; ++o) {
    KASHI_RETURN_IF_ERROR(evaluation.CheckStopped());
    const Taps taps = TapsOf(row_, o);
    for (int64_t k = 0; k < taps.count; ++k) {
      const Run run = {o, 1, start + (taps.first + k * taps.step) * width_, 1, 1};
      KASHI_RETURN_IF_ERROR(visit(run));
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_WINDOW_WALK_H_
