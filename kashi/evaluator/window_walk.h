// WindowWalk: which elements of an array stand in which windows (docs/spec/hlo-ops.md, 3): output o and window offset w, in
// each dimension, meet input
//
//   i = (o * stride + w * window_dilation - padding_low) / base_dilation      if that is whole and in range
//
// No element is ever asked whether it is in range: for each window offset the outputs that meet an input are a run, or every
// so-manyth of one.
//
//   outputs   0 1 2 3 4          size 3, padding 1_1:      w = 0 meets outputs 1 2 3 4
//   inputs    0 1 2 3 4                                    w = 1               0 1 2 3 4
//                                                          w = 2               0 1 2 3
#ifndef KASHI_EVALUATOR_WINDOW_WALK_H_
#define KASHI_EVALUATOR_WINDOW_WALK_H_

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/hlo_instruction.h"
#include "kashi/literal/strided_walk.h"

namespace kashi {

// Rows of an output are those of the last dimension in which the window does anything; what lies inside it is a vector of
// `width` elements, which move as one.
class WindowWalk {
 public:
  // Outputs first, first + output_step, … of a row, each `width` elements; the inputs that they meet begin at element
  // `input` of the array and are input_step vectors apart.
  struct Run {
    int64_t output, output_step;
    int64_t input, input_step;
    int64_t count;
  };

  // Of the instruction's window. INVALID_ARGUMENT unless inputs and outputs fit it; UNIMPLEMENTED for windows of
  // astronomical sizes.
  static absl::StatusOr<WindowWalk> Make(const HloInstruction& instruction, absl::Span<const int64_t> inputs,
                                         absl::Span<const int64_t> outputs);

  int64_t width() const { return width_; }
  int64_t row_outputs() const { return row_.outputs; }
  int64_t row_elements() const { return row_.outputs * width_; }
  int64_t rows() const { return rows_; }
  // How many leading parts the array has that do not know of each other: rows() is a multiple.
  int64_t parts() const { return outer_.empty() || !outer_[0].IsTrivial() ? 1 : outer_[0].outputs; }
  int64_t part_inputs() const { return inputs_ / parts(); }
  int64_t part_outputs() const { return rows_ * row_elements() / parts(); }
  // The same walk through arrays whose parts, more than one, have become the innermost dimension.
  WindowWalk WithPartsInnermost() const;

  // Calls visit(run) for each offset of the window, in row-major order, with the outputs among [begin, end) of that row
  // that meet an input, until visit returns an error, which is the result; or CANCELLED, for a window may have any number of
  // offsets that meet nothing.
  template <typename Visit>
  absl::Status VisitRow(const EvaluationRun& evaluation, int64_t row, int64_t begin, int64_t end, Visit&& visit) const;

 private:
  struct Axis {
    int64_t inputs, outputs;
    int64_t size, stride, low, base_dilation, window_dilation;
    int64_t input_stride;  // elements

    bool IsTrivial() const { return size == 1 && stride == 1 && low == 0 && base_dilation == 1 && inputs == outputs; }
  };
  // The inputs that output o meets: count of them, `step` apart.
  struct Taps {
    int64_t first, step, count;
  };
  static int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }
  static int64_t CeilDiv(int64_t a, int64_t b) { return -FloorDiv(-a, b); }
  static Taps TapsOf(const Axis& axis, int64_t o);
  void Finish();

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
  const int64_t extent = (row_.inputs - 1) * row_.base_dilation;
  const int64_t common = std::gcd(row_.stride, row_.base_dilation);
  const int64_t output_step = row_.base_dilation / common;
  const int64_t first_w = std::max<int64_t>(0, CeilDiv(row_.low - (end - 1) * row_.stride, row_.window_dilation));
  const int64_t last_w =
      std::min(row_.size - 1, FloorDiv(extent + row_.low - begin * row_.stride, row_.window_dilation));
  constexpr int64_t kOffsetsPerCheck = 1 << 16;
  absl::Status status;
  WalkRowMajor(counts, strides, [&](absl::Span<const int64_t>, int64_t position) {
    for (int64_t w = first_w; w <= last_w; ++w) {
      if ((w - first_w + 1) % kOffsetsPerCheck == 0) status = evaluation.CheckCancelled();
      if (!status.ok()) return false;
      const int64_t offset = w * row_.window_dilation - row_.low;
      if (offset % common != 0) continue;
      int64_t first = std::max(begin, CeilDiv(-offset, row_.stride));
      const int64_t last = std::min(end - 1, FloorDiv(extent - offset, row_.stride));
      while (first <= last && (first * row_.stride + offset) % row_.base_dilation != 0) ++first;
      if (first > last) continue;
      const int64_t input = (first * row_.stride + offset) / row_.base_dilation;
      const Run run = {first, output_step, start + position + input * width_, row_.stride / common,
                       (last - first) / output_step + 1};
      status = visit(run);
      if (!status.ok()) return false;
    }
    return true;
  });
  return status;
}

}  // namespace kashi

#endif  // KASHI_EVALUATOR_WINDOW_WALK_H_
