// Evaluates convolution (docs/spec/hlo-ops.md 4). With the dimensions in order, lhs [n, x..., i], rhs [w..., i, o] and
// out [n, x..., o], and one spatial dimension, it is
//
//   out[n, s, o] += sum over i of
//     lhs[n, (s * stride - padding_low + w * window_dilation) / base_dilation, i] * rhs[w, i, o]
//
// for each w and each s for which the division leaves no remainder and its result is in lhs. Those s are found first:
// along each dimension they are a progression (Meeting), and so are the places in lhs that they read. Where
// progressions meet there is a matrix product over i, whose rows are the steps of the longest progression:
//
//   stride 2, base_dilation 3, w:    s = 1  4  7 ...   reads lhs[0], lhs[2], lhs[4] ...   by rhs[w]
//
// The loops skip positions outside lhs. There are many of these if a compiler has written a matrix product as a
// convolution.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/contraction.h"
#include "kashi/evaluator/fold.h"
#include "kashi/evaluator/operation.h"
#include "kashi/kernels/backward_filter_convolution.h"
#include "kashi/kernels/convolution_axis.h"
#include "kashi/kernels/matrix_product.h"

namespace kashi::evaluator {
namespace {

// The elements of the window that are inside lhs at s, for axes without dilation.
kernels::PlaceRange WindowInside(const kernels::ConvolutionAxis& axis, int64_t s) {
  const kernels::WideInteger start = kernels::WideInteger{s} * axis.stride - axis.padding_low;
  return {static_cast<int64_t>(std::clamp<kernels::WideInteger>(-start, 0, axis.window_size)),
          static_cast<int64_t>(std::clamp<kernels::WideInteger>(axis.lhs_size - start, 0, axis.window_size))};
}

// The s for which all of the window is inside lhs, for axes without dilation.
kernels::PlaceRange Interior(const kernels::ConvolutionAxis& axis, kernels::PlaceRange out) {
  const kernels::WideInteger begin = kernels::CeilDivide(axis.padding_low, axis.stride);
  const kernels::WideInteger end =
      kernels::FloorDivide(kernels::WideInteger{axis.lhs_size} - axis.window_size + axis.padding_low, axis.stride) + 1;
  const kernels::WideInteger from = std::clamp<kernels::WideInteger>(begin, out.begin, out.end);
  return {static_cast<int64_t>(from), static_cast<int64_t>(std::clamp<kernels::WideInteger>(end, from, out.end))};
}

// Whether to take the elements of a window together: they must be contiguous, and mostly all of them inside.
bool TakesWindowsWhole(const kernels::ConvolutionAxis& axis) {
  if (axis.window_size == 1 || axis.window_dilation != 1 || axis.base_dilation != 1) return false;
  const kernels::PlaceRange interior = Interior(axis, {0, axis.out_size});
  return interior.end - interior.begin >= axis.out_size - axis.out_size / 2;
}

// Whole windows: one meeting for the interior, and one for each s with a part of the window inside.
std::vector<kernels::Meeting> WholeMeetings(const kernels::ConvolutionAxis& axis, kernels::PlaceRange out) {
  std::vector<kernels::Meeting> meetings;
  const kernels::PlaceRange interior = Interior(axis, out);
  for (int64_t s = out.begin; s < out.end;) {
    const kernels::PlaceRange window = WindowInside(axis, s);
    const bool is_interior = s >= interior.begin && s < interior.end;
    const int64_t count = is_interior ? interior.end - s : 1;
    if (window.begin < window.end) {
      const kernels::WideInteger lhs_begin = kernels::WideInteger{s} * axis.stride - axis.padding_low + window.begin;
      meetings.push_back({window.begin, window.end - window.begin, s, 1, static_cast<int64_t>(lhs_begin),
                          count > 1 ? axis.stride : 1, count});
    }
    s += count;
  }
  return meetings;
}

std::vector<kernels::Meeting> MeetingsOf(const kernels::ConvolutionAxis& axis, bool takes_windows_whole,
                                         kernels::PlaceRange out) {
  if (takes_windows_whole) return WholeMeetings(axis, out);
  std::vector<kernels::Meeting> meetings;
  for (int64_t w = 0; w < axis.window_size; ++w) {
    const kernels::Meeting meeting = kernels::MeetingOf(axis, w, out);
    if (meeting.count > 0) meetings.push_back(meeting);
  }
  return meetings;
}

// A convolution on dense arrays, ready to run.
struct Convolution {
  // lhs [group, n, x..., i], or [n, x..., group] if it is by channel; rhs [w..., i, group, o]; out [n, x..., group, o].
  Value lhs, rhs;
  std::vector<kernels::ConvolutionAxis> axes;  // slowest first
  int64_t groups = 1;
  int64_t inputs = 0;   // i of one group
  int64_t outputs = 0;  // o of one group
  // One input and one output for each group (or channel): all groups go together, element by element.
  bool is_by_channel = false;
  bool takes_windows_whole = false;  // along the last axis
  int64_t lhs_group_stride = 0;
};

// A loop: the number of steps, and the strides of a step in lhs and in out.
struct Loop {
  int64_t count, lhs, out;
};
using Loops = absl::InlinedVector<Loop, 4>;

// The loops over the steps of these meetings, without loops of one step. A loop that is contiguous with the next faster
// one is merged with it.
Loops MakeLoops(const std::vector<kernels::ConvolutionAxis>& axes, absl::Span<const kernels::Meeting* const> meetings) {
  Loops loops;
  for (size_t i = axes.size(); i-- > 0;) {
    const kernels::Meeting& meeting = *meetings[i];
    if (meeting.count == 1) continue;
    const Loop loop = {meeting.count, meeting.lhs_step * axes[i].lhs_stride, meeting.out_step * axes[i].out_stride};
    if (!loops.empty() && loop.lhs == loops.back().lhs * loops.back().count &&
        loop.out == loops.back().out * loops.back().count) {
      loops.back().count *= loop.count;
    } else {
      loops.push_back(loop);
    }
  }
  return loops;
}

// The longest loop, taken out; a loop of one step if there is none.
Loop TakeLongest(Loops* loops) {
  if (loops->empty()) return {1, 0, 0};
  const auto longest =
      std::max_element(loops->begin(), loops->end(), [](const Loop& a, const Loop& b) { return a.count < b.count; });
  const Loop loop = *longest;
  loops->erase(longest);
  return loop;
}

template <typename T>
class Runner {
 public:
  Runner(const EvaluationRun& run, const Convolution& convolution, T* out)
      : run_(run),
        convolution_(convolution),
        lhs_(static_cast<const T*>(convolution.lhs.untyped_data())),
        rhs_(static_cast<const T*>(convolution.rhs.untyped_data())),
        out_(out) {}

  // Computes the part of out that has these indices along one axis, for one group.
  absl::Status Run(int64_t group, size_t axis, kernels::PlaceRange range) const {
    const std::vector<kernels::ConvolutionAxis>& axes = convolution_.axes;
    std::vector<std::vector<kernels::Meeting>> meetings;
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool whole = convolution_.takes_windows_whole && i + 1 == axes.size();
      meetings.push_back(MeetingsOf(axes[i], whole, i == axis ? range : kernels::PlaceRange{0, axes[i].out_size}));
      if (meetings.back().empty()) return absl::OkStatus();
    }
    absl::InlinedVector<size_t, 6> index(axes.size(), 0);
    absl::InlinedVector<const kernels::Meeting*, 6> chosen(axes.size());
    while (true) {
      for (size_t i = 0; i < axes.size(); ++i) chosen[i] = &meetings[i][index[i]];
      KASHI_RETURN_IF_ERROR(RunMeetings(group, chosen));
      size_t i = axes.size();
      while (i > 0 && ++index[i - 1] == meetings[i - 1].size()) index[--i] = 0;
      if (i == 0) return absl::OkStatus();
    }
  }

 private:
  // One meeting on each axis: matrix products for all their steps.
  absl::Status RunMeetings(int64_t group, absl::Span<const kernels::Meeting* const> meetings) const {
    const std::vector<kernels::ConvolutionAxis>& axes = convolution_.axes;
    const T* lhs = lhs_ + group * convolution_.lhs_group_stride;
    const T* rhs = rhs_ + group * convolution_.outputs;
    T* out = out_ + group * convolution_.outputs;
    for (size_t i = 0; i < axes.size(); ++i) {
      lhs += meetings[i]->lhs_begin * axes[i].lhs_stride;
      rhs += meetings[i]->window_begin * axes[i].rhs_stride;
      out += meetings[i]->out_begin * axes[i].out_stride;
    }
    Loops loops = MakeLoops(axes, meetings);
    const Loop rows = TakeLongest(&loops);
    const Loop batch = convolution_.is_by_channel ? Loop{1, 0, 0} : TakeLongest(&loops);
    const int64_t depth = meetings.back()->window_count * convolution_.inputs;
    absl::InlinedVector<int64_t, 4> index(loops.size(), 0);
    while (true) {
      KASHI_RETURN_IF_ERROR(run_.CheckStopped());
      KASHI_RETURN_IF_ERROR(AddProduct(batch, rows, depth, lhs, rhs, out));
      size_t i = 0;
      for (; i < loops.size(); ++i) {
        lhs += loops[i].lhs;
        out += loops[i].out;
        if (++index[i] < loops[i].count) break;
        lhs -= loops[i].lhs * loops[i].count;
        out -= loops[i].out * loops[i].count;
        index[i] = 0;
      }
      if (i == loops.size()) return absl::OkStatus();
    }
  }

  absl::Status AddProduct(const Loop& batch, const Loop& rows, int64_t depth, const T* lhs, const T* rhs,
                          T* out) const {
    const int64_t width = convolution_.groups * convolution_.outputs;
    if (convolution_.is_by_channel) {
      kernels::AddScaledColumns<T>(rows.count, width, {lhs, 0, rows.lhs, 1}, rhs, {out, 0, rows.out});
      return absl::OkStatus();
    }
    return kernels::MatrixProduct<T>({batch.count, rows.count, depth, convolution_.outputs},
                                     {lhs, batch.lhs, rows.lhs, 1}, {rhs, 0, width, 1}, {out, batch.out, rows.out},
                                     kernels::MatrixProductMode::kAdd, [this] { return run_.CheckStopped(); });
  }

  const EvaluationRun& run_;
  const Convolution& convolution_;
  const T* lhs_;
  const T* rhs_;
  T* out_;
};

// Pieces of out, each a range along one axis. A piece is enough work for a thread, and fits the cache while the window
// moves over it. The pieces, and so the order of additions, depend only on the sizes.
struct Pieces {
  size_t axis = 0;
  int64_t length = 0;  // of one
  int64_t count = 0;   // for one group
};

// The number of times that elements of an axis's window meet elements of lhs, and the average steps of a meeting.
struct Density {
  double pairs = 0, steps = 0;
};
Density DensityOf(const kernels::ConvolutionAxis& axis, bool takes_windows_whole) {
  const std::vector<kernels::Meeting> meetings = MeetingsOf(axis, takes_windows_whole, {0, axis.out_size});
  Density density;
  for (const kernels::Meeting& meeting : meetings) {
    density.pairs += static_cast<double>(meeting.count) * meeting.window_count;
    density.steps += static_cast<double>(meeting.count) / meetings.size();
  }
  return density;
}

// The axis of the longest loops, which become the rows of the products, is cut only if no other can be.
Pieces CutOut(const Convolution& convolution) {
  constexpr double kWorkOfPiece = 1 << 21;  // multiplications
  constexpr int64_t kRowsOfPiece = 256;     // enough to pay for packing rhs
  double work = static_cast<double>(convolution.inputs) * convolution.outputs;
  if (convolution.is_by_channel) work *= convolution.groups;
  size_t row_axis = 0;
  double most_steps = 0;
  const std::vector<kernels::ConvolutionAxis>& axes = convolution.axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Density density = DensityOf(axes[i], convolution.takes_windows_whole && i + 1 == axes.size());
    work *= density.pairs;
    if (density.steps > most_steps) row_axis = i, most_steps = density.steps;
  }
  Pieces pieces;
  pieces.axis = row_axis;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i == row_axis || axes[i].out_size == 1) continue;
    if (pieces.axis == row_axis || axes[i].out_size > axes[pieces.axis].out_size) pieces.axis = i;
  }
  const int64_t size = axes[pieces.axis].out_size;
  const int64_t most = pieces.axis == row_axis ? CeilOfRatio(size, kRowsOfPiece) : size;
  const int64_t wanted = static_cast<int64_t>(std::min<double>(work / kWorkOfPiece, most));
  pieces.length = CeilOfRatio(size, std::max<int64_t>(1, wanted));
  pieces.count = size == 0 ? 0 : CeilOfRatio(size, pieces.length);
  return pieces;
}

absl::Status RunConvolution(const EvaluationRun& run, const Convolution& convolution, Value& out) {
  const Pieces pieces = CutOut(convolution);
  const int64_t size = convolution.axes[pieces.axis].out_size;
  const int64_t groups = convolution.is_by_channel ? 1 : convolution.groups;
  std::memset(out.mutable_data(), 0, out.byte_count());
  return kernels::AccumulationTypeSwitch(
      [&](auto zero) {
        using T = decltype(zero);
        const Runner<T> runner(run, convolution, static_cast<T*>(out.mutable_data()));
        const auto run_pieces = [&](int64_t begin, int64_t end, int) -> absl::Status {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t first = i % pieces.count * pieces.length;
            KASHI_RETURN_IF_ERROR(
                runner.Run(i / pieces.count, pieces.axis, {first, std::min(size, first + pieces.length)}));
          }
          return absl::OkStatus();
        };
        return CheckedParallelFor(run, /*parallel=*/true, groups * pieces.count, 1, run_pieces);
      },
      out.element_type());
}

// ---- Types ---------------------------------------------------------------------------------------------------------

// Integers are added up in 64 bits and then saturated, unless no sum can leave 32.
PrimitiveType ConvolutionAccumulationType(PrimitiveType result, PrimitiveType lhs, PrimitiveType rhs, double terms) {
  if (!primitive_util::IsIntegralType(result)) return kernels::AccumulationType(result);
  const bool is_signed = primitive_util::IsSignedIntegralType(result);
  const bool keeps_values =
      primitive_util::CastPreservesValues(lhs, result) && primitive_util::CastPreservesValues(rhs, result);
  const int bits = primitive_util::BitWidth(lhs) + primitive_util::BitWidth(rhs);
  if (keeps_values && bits < 31 && terms < static_cast<double>(int64_t{1} << (31 - bits))) {
    return is_signed ? S32 : U32;
  }
  return is_signed ? S64 : U64;
}

// Too large and too small numbers become the type's largest and smallest.
absl::StatusOr<Value> Saturate(EvaluationRun& run, Value value, PrimitiveType type) {
  if (value.element_type() == type) return value;
  if (primitive_util::BitWidth(type) > primitive_util::BitWidth(value.element_type())) {
    return run.Convert(std::move(value), type);
  }
  KASHI_ASSIGN_OR_RETURN(Value result, run.MakeArray(type, value.dimensions()));
  const auto saturate_from = [&](auto from_type) {
    primitive_util::IntegralTypeSwitch(
        [&](auto to_type) {
          using From = primitive_util::NativeTypeOf<from_type>;
          using To = primitive_util::NativeTypeOf<to_type>;
          // A type as wide as the sums is theirs, which was dealt with.
          if constexpr (sizeof(To) <= sizeof(From) &&
                        std::numeric_limits<To>::is_signed == std::numeric_limits<From>::is_signed) {
            const From low = static_cast<From>(std::numeric_limits<To>::min());
            const From high = static_cast<From>(std::numeric_limits<To>::max());
            const absl::Span<const From> from = value.data<From>();
            const absl::Span<To> to = result.mutable_data<To>();
            for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<To>(std::clamp(from[i], low, high));
          }
        },
        type);
  };
  switch (value.element_type()) {
    case S32:
      saturate_from(primitive_util::PrimitiveTypeConstant<S32>());
      break;
    case U32:
      saturate_from(primitive_util::PrimitiveTypeConstant<U32>());
      break;
    case S64:
      saturate_from(primitive_util::PrimitiveTypeConstant<S64>());
      break;
    default:
      saturate_from(primitive_util::PrimitiveTypeConstant<U64>());
      break;
  }
  return result;
}

// ---- From the instruction's dimensions to ours and back ------------------------------------------------------------

// The dimensions of a convolution by their names, with sizes.
struct Problem {
  const ConvolutionDimensionNumbers& dnums;
  const RepeatedPtrField<WindowDimension>& window;
  int64_t feature_groups, batch_groups;

  int64_t groups() const { return feature_groups * batch_groups; }
};

// Sizes that do not go together; possible only where they were dynamic.
bool SizesAgree(const Problem& problem, const Value& lhs, const Value& rhs, const Shape& result) {
  const ConvolutionDimensionNumbers& dnums = problem.dnums;
  const int64_t inputs = lhs.dimension(dnums.input_feature_dimension());
  const int64_t outputs = rhs.dimension(dnums.kernel_output_feature_dimension());
  const int64_t batch = lhs.dimension(dnums.input_batch_dimension());
  return inputs == rhs.dimension(dnums.kernel_input_feature_dimension()) * problem.feature_groups &&
         outputs % problem.groups() == 0 && batch % problem.batch_groups == 0 &&
         result.dimensions(dnums.output_batch_dimension()) == batch / problem.batch_groups &&
         result.dimensions(dnums.output_feature_dimension()) == outputs;
}

// The axes with all sizes and attributes, without strides.
std::vector<kernels::ConvolutionAxis> MakeAxes(const Problem& problem, const Value& lhs, const Value& rhs,
                                               const Shape& result) {
  const ConvolutionDimensionNumbers& dnums = problem.dnums;
  std::vector<kernels::ConvolutionAxis> axes(1);
  axes[0].lhs_size = axes[0].out_size = result.dimensions(dnums.output_batch_dimension());
  for (int i = 0; i < dnums.input_spatial_dimensions_size(); ++i) {
    const WindowDimension& window = problem.window[i];
    kernels::ConvolutionAxis axis;
    axis.lhs_size = lhs.dimension(dnums.input_spatial_dimensions(i));
    axis.window_size = rhs.dimension(dnums.kernel_spatial_dimensions(i));
    axis.out_size = result.dimensions(dnums.output_spatial_dimensions(i));
    axis.stride = window.stride();
    axis.padding_low = window.padding_low();
    axis.window_dilation = window.window_dilation();
    axis.base_dilation = window.base_dilation();
    axes.push_back(axis);
  }
  return axes;
}

// Strides of the dense arrays: of lhs [..., lhs_row], of rhs [..., rhs_row] and so on.
void SetStrides(int64_t lhs_row, int64_t rhs_row, int64_t out_row, std::vector<kernels::ConvolutionAxis>* axes) {
  for (auto axis = axes->rbegin(); axis != axes->rend(); ++axis) {
    axis->lhs_stride = std::exchange(lhs_row, lhs_row * axis->lhs_size);
    axis->rhs_stride = std::exchange(rhs_row, rhs_row * axis->window_size);
    axis->out_stride = std::exchange(out_row, out_row * axis->out_size);
  }
}

// lhs [group, n, x..., i], or [n, x..., group]. Groups divide the features or the batch.
absl::StatusOr<Value> ArrangeLhs(EvaluationRun& run, const Problem& problem, Value lhs, bool is_by_channel) {
  const ConvolutionDimensionNumbers& dnums = problem.dnums;
  const DimensionVector strides = RowMajorStrides(lhs.dimensions());
  const int64_t batch = lhs.dimension(dnums.input_batch_dimension()) / problem.batch_groups;
  const int64_t inputs = lhs.dimension(dnums.input_feature_dimension()) / problem.feature_groups;
  const int64_t batch_stride = strides[dnums.input_batch_dimension()];
  const int64_t input_stride = strides[dnums.input_feature_dimension()];
  const int64_t group_stride = problem.batch_groups > 1 ? batch * batch_stride : inputs * input_stride;
  StridedView view;
  if (!is_by_channel) view.Add(problem.groups(), group_stride);
  view.Add(batch, batch_stride);
  view.AddAll(lhs.dimensions(), strides, dnums.input_spatial_dimensions());
  if (is_by_channel) {
    view.Add(problem.groups(), group_stride);
  } else {
    view.Add(inputs, input_stride);
  }
  return MakeDense(run, std::move(lhs), view);
}

// The spatial dimensions of rhs, reversed ones put straight.
void AddWindow(const Problem& problem, const Value& rhs, absl::Span<const int64_t> strides, StridedView* view) {
  for (int i = 0; i < problem.dnums.kernel_spatial_dimensions_size(); ++i) {
    const int64_t d = problem.dnums.kernel_spatial_dimensions(i);
    if (problem.window[i].window_reversal()) {
      view->AddReversed(rhs.dimension(d), strides[d]);
    } else {
      view->Add(rhs.dimension(d), strides[d]);
    }
  }
}

// rhs [w..., i, o], reversed dimensions put straight.
absl::StatusOr<Value> ArrangeRhs(EvaluationRun& run, const Problem& problem, Value rhs) {
  const ConvolutionDimensionNumbers& dnums = problem.dnums;
  const DimensionVector strides = RowMajorStrides(rhs.dimensions());
  StridedView view;
  AddWindow(problem, rhs, strides, &view);
  view.AddAll(rhs.dimensions(), strides,
              {dnums.kernel_input_feature_dimension(), dnums.kernel_output_feature_dimension()});
  return MakeDense(run, std::move(rhs), view);
}

// The array whose dimension i is dimension order[i] of the result, in the order of the result.
absl::StatusOr<Value> ArrangeResult(EvaluationRun& run, absl::Span<const int64_t> order, Value out) {
  const DimensionVector strides = RowMajorStrides(out.dimensions());
  StridedView view;
  view.sizes.resize(strides.size());
  view.strides.resize(strides.size());
  for (size_t i = 0; i < strides.size(); ++i) {
    view.sizes[order[i]] = out.dimension(i);
    view.strides[order[i]] = strides[i];
  }
  return MakeDense(run, std::move(out), view);
}

// ---- The two ways --------------------------------------------------------------------------------------------------

// The operands have the accumulation type, and so has the result.
absl::StatusOr<Value> RunAlongResult(Operation& op, const Problem& problem, Convolution convolution, Value lhs,
                                     Value rhs) {
  const PrimitiveType accumulation = lhs.element_type();
  convolution.is_by_channel = convolution.groups > 1 && convolution.inputs == 1 && convolution.outputs == 1;
  convolution.takes_windows_whole = !convolution.is_by_channel && TakesWindowsWhole(convolution.axes.back());
  KASHI_ASSIGN_OR_RETURN(convolution.lhs, ArrangeLhs(op.run, problem, std::move(lhs), convolution.is_by_channel));
  KASHI_ASSIGN_OR_RETURN(convolution.rhs, ArrangeRhs(op.run, problem, std::move(rhs)));

  const int64_t width = convolution.groups * convolution.outputs;
  SetStrides(convolution.is_by_channel ? width : convolution.inputs, convolution.inputs * width, width,
             &convolution.axes);
  convolution.lhs_group_stride = convolution.axes[0].lhs_stride * convolution.axes[0].lhs_size;
  DimensionVector out_sizes;
  for (const kernels::ConvolutionAxis& axis : convolution.axes) out_sizes.push_back(axis.out_size);
  out_sizes.push_back(width);
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResultOf(accumulation, out_sizes));
  KASHI_RETURN_IF_ERROR(RunConvolution(op.run, convolution, out));

  DimensionVector order = {problem.dnums.output_batch_dimension()};
  for (int64_t d : problem.dnums.output_spatial_dimensions()) order.push_back(d);
  order.push_back(problem.dnums.output_feature_dimension());
  return ArrangeResult(op.run, order, std::move(out));
}

// Runs windows that are larger than the result (kashi/kernels/backward_filter_convolution.h). Nothing if there is no
// memory.
absl::StatusOr<Value> RunAlongWindow(Operation& op, const Problem& problem,
                                     const kernels::BackwardFilterConvolution& backward, Value lhs, Value rhs) {
  const PrimitiveType accumulation = lhs.element_type();
  const ConvolutionDimensionNumbers& dnums = problem.dnums;
  const DimensionVector lhs_strides = RowMajorStrides(lhs.dimensions()),
                        rhs_strides = RowMajorStrides(rhs.dimensions());
  StridedView lhs_view, rhs_view;
  lhs_view.AddAll(lhs.dimensions(), lhs_strides, {dnums.input_feature_dimension()});
  lhs_view.AddAll(lhs.dimensions(), lhs_strides, dnums.input_spatial_dimensions());
  lhs_view.AddAll(lhs.dimensions(), lhs_strides, {dnums.input_batch_dimension()});
  rhs_view.AddAll(rhs.dimensions(), rhs_strides, {dnums.kernel_input_feature_dimension()});
  AddWindow(problem, rhs, rhs_strides, &rhs_view);
  rhs_view.AddAll(rhs.dimensions(), rhs_strides, {dnums.kernel_output_feature_dimension()});
  KASHI_ASSIGN_OR_RETURN(lhs, MakeDense(op.run, std::move(lhs), lhs_view));
  KASHI_ASSIGN_OR_RETURN(rhs, MakeDense(op.run, std::move(rhs), rhs_view));

  DimensionVector out_sizes, order;
  for (const kernels::ConvolutionAxis& axis : backward.axes) out_sizes.push_back(axis.out_size);
  out_sizes.push_back(backward.rows);
  out_sizes.push_back(backward.outputs);
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResultOf(accumulation, out_sizes));
  std::memset(out.mutable_data(), 0, out.byte_count());
  const auto multiply = [&](auto zero) -> absl::StatusOr<bool> {
    using T = decltype(zero);
    if constexpr (is_complex_v<T>) {
      return false;
    } else {
      return kernels::RunBackwardFilterConvolution<T>(
          backward, static_cast<const T*>(lhs.untyped_data()), static_cast<const T*>(rhs.untyped_data()),
          static_cast<T*>(out.mutable_data()), [&op] { return op.run.CheckStopped(); });
    }
  };
  KASHI_ASSIGN_OR_RETURN(const bool is_done, kernels::AccumulationTypeSwitch(multiply, accumulation));
  if (!is_done) return Value();
  for (int64_t d : dnums.output_spatial_dimensions()) order.push_back(d);
  order.push_back(dnums.output_batch_dimension());
  order.push_back(dnums.output_feature_dimension());
  return ArrangeResult(op.run, order, std::move(out));
}

absl::StatusOr<Value> RunEitherWay(Operation& op, const Problem& problem, Convolution convolution, Value lhs,
                                   Value rhs) {
  const kernels::BackwardFilterConvolution backward{{convolution.axes.begin() + 1, convolution.axes.end()},
                                                    convolution.inputs,
                                                    convolution.axes[0].out_size,
                                                    convolution.outputs};
  if (convolution.groups == 1 && !primitive_util::IsComplexType(lhs.element_type()) && backward.IsWorthIt()) {
    KASHI_ASSIGN_OR_RETURN(Value out, RunAlongWindow(op, problem, backward, lhs, rhs));
    if (!out.is_nothing()) return out;
  }
  return RunAlongResult(op, problem, std::move(convolution), std::move(lhs), std::move(rhs));
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kConvolution>(Operation& op) {
  if (!op.operands[1].is_array()) return Unimplemented("convolution with a sparse kernel: %s", op.instruction.name());
  const HloInstruction& instruction = op.instruction;
  const Problem problem{instruction.convolution_dimension_numbers(), instruction.window().dimensions(),
                        instruction.feature_group_count(), instruction.batch_group_count()};
  const Shape& result = *op.result();
  Value lhs = std::move(op.operands[0]), rhs = std::move(op.operands[1]);
  if (!SizesAgree(problem, lhs, rhs, result)) {
    return InvalidArgument("The sizes of the operands of %s do not match", instruction.name());
  }

  Convolution convolution;
  convolution.axes = MakeAxes(problem, lhs, rhs, result);
  convolution.groups = problem.groups();
  convolution.inputs = rhs.dimension(problem.dnums.kernel_input_feature_dimension());
  convolution.outputs = rhs.dimension(problem.dnums.kernel_output_feature_dimension()) / convolution.groups;

  double terms = convolution.inputs;
  for (const kernels::ConvolutionAxis& axis : convolution.axes) terms *= axis.window_size;
  const PrimitiveType type = result.element_type();
  const PrimitiveType accumulation = ConvolutionAccumulationType(type, lhs.element_type(), rhs.element_type(), terms);
  KASHI_ASSIGN_OR_RETURN(lhs, ConvertOperand(op.run, std::move(lhs), type, accumulation));
  KASHI_ASSIGN_OR_RETURN(rhs, ConvertOperand(op.run, std::move(rhs), type, accumulation));
  KASHI_ASSIGN_OR_RETURN(Value out, RunEitherWay(op, problem, std::move(convolution), std::move(lhs), std::move(rhs)));
  if (primitive_util::IsIntegralType(type)) return Saturate(op.run, std::move(out), type);
  return op.run.Convert(std::move(out), type);
}

}  // namespace kashi::evaluator
