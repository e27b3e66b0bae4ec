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
#include "kashi/evaluator/matrix_product.h"
#include "kashi/evaluator/operation.h"

namespace kashi::internal {
namespace {

// A dimension along which the window moves: spatial, or the batch with a window of size 1. Strides are those of the
// dense arrays.
struct Axis {
  int64_t lhs_size = 0, lhs_stride = 0;
  int64_t window_size = 1, rhs_stride = 0;
  int64_t out_size = 0, out_stride = 0;
  int64_t stride = 1, padding_low = 0, window_dilation = 1, base_dilation = 1;
};

// The i-th of `count` steps adds to out[out_begin + i * out_step] the product of lhs[lhs_begin + i * lhs_step] and
// rhs[window_begin]. If window_count is not 1, it adds the products of this number of elements, which are contiguous in
// lhs and in rhs from there on.
struct Meeting {
  int64_t window_begin, window_count;
  int64_t out_begin, out_step;
  int64_t lhs_begin, lhs_step;
  int64_t count;
};

struct Range {
  int64_t begin, end;
};

// Window attributes may be any numbers; what is made of them fits 64 bits only once it is known to lie in an array.
using Wide = __int128;

Wide FloorDivide(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }
Wide CeilDivide(Wide a, Wide b) { return -FloorDivide(-a, b); }

int64_t GreatestCommonDivisor(int64_t a, int64_t b) { return b == 0 ? a : GreatestCommonDivisor(b, a % b); }

// x with a * x = 1 modulo m; a and m have no common divisor. Euclid's algorithm.
Wide Inverse(Wide a, Wide m) {
  Wide r0 = m, r1 = a % m, x0 = 0, x1 = 1;
  while (r1 != 0) {
    const Wide quotient = r0 / r1;
    r0 = std::exchange(r1, r0 - quotient * r1);
    x0 = std::exchange(x1, x0 - quotient * x1);
  }
  return x0 < 0 ? x0 + m : x0;
}

// The steps with which element w of the window makes something of the range of out. None: a count of 0.
Meeting MeetingOf(const Axis& axis, int64_t w, Range out) {
  // Position p = s * stride + shift, in the dilated lhs, must be in [0, (lhs_size - 1) * base_dilation] and a
  // multiple of base_dilation; so shift must be a multiple of the divisor, and s be what `first` is modulo `step`.
  Meeting meeting{w, 1, 0, 1, 0, 1, 0};
  const Wide shift = Wide{w} * axis.window_dilation - axis.padding_low;
  const int64_t divisor = GreatestCommonDivisor(axis.stride, axis.base_dilation);
  const Wide step = axis.base_dilation / divisor;
  if (axis.lhs_size == 0 || shift % divisor != 0) return meeting;
  const Wide last_position = Wide{axis.lhs_size - 1} * axis.base_dilation;
  Wide begin = std::max<Wide>(out.begin, CeilDivide(-shift, axis.stride));
  const Wide end = std::min<Wide>(out.end, FloorDivide(last_position - shift, axis.stride) + 1);
  if (step > 1) {
    const Wide residue = (-(shift / divisor) % step + step) % step;
    const Wide first = residue * Inverse(axis.stride / divisor, step) % step;
    begin += ((first - begin) % step + step) % step;
  }
  if (begin >= end) return meeting;
  meeting.out_begin = static_cast<int64_t>(begin);
  meeting.lhs_begin = static_cast<int64_t>((begin * axis.stride + shift) / axis.base_dilation);
  meeting.count = static_cast<int64_t>((end - begin - 1) / step + 1);
  // A single step needs no distance to the next one, which might overflow.
  if (meeting.count > 1) {
    meeting.out_step = static_cast<int64_t>(step);
    meeting.lhs_step = axis.stride / divisor;
  }
  return meeting;
}

// The elements of the window that are inside lhs at s, for axes without dilation.
Range WindowInside(const Axis& axis, int64_t s) {
  const Wide start = Wide{s} * axis.stride - axis.padding_low;
  return {static_cast<int64_t>(std::clamp<Wide>(-start, 0, axis.window_size)),
          static_cast<int64_t>(std::clamp<Wide>(axis.lhs_size - start, 0, axis.window_size))};
}

// The s for which all of the window is inside lhs, for axes without dilation.
Range Interior(const Axis& axis, Range out) {
  const Wide begin = CeilDivide(axis.padding_low, axis.stride);
  const Wide end = FloorDivide(Wide{axis.lhs_size} - axis.window_size + axis.padding_low, axis.stride) + 1;
  const Wide from = std::clamp<Wide>(begin, out.begin, out.end);
  return {static_cast<int64_t>(from), static_cast<int64_t>(std::clamp<Wide>(end, from, out.end))};
}

// Whether to take the elements of a window together: they must be contiguous, and mostly all of them inside, or more
// than there are places for the window: such are the gradients of filters, whose windows are as large as images.
bool TakesWindowsWhole(const Axis& axis) {
  if (axis.window_size == 1 || axis.window_dilation != 1 || axis.base_dilation != 1) return false;
  if (axis.window_size > axis.out_size) return true;
  const Range interior = Interior(axis, {0, axis.out_size});
  return interior.end - interior.begin >= axis.out_size - axis.out_size / 2;
}

// Whole windows: one meeting for the interior, and one for each s with a part of the window inside.
std::vector<Meeting> WholeMeetings(const Axis& axis, Range out) {
  std::vector<Meeting> meetings;
  const Range interior = Interior(axis, out);
  for (int64_t s = out.begin; s < out.end;) {
    const Range window = WindowInside(axis, s);
    const bool is_interior = s >= interior.begin && s < interior.end;
    const int64_t count = is_interior ? interior.end - s : 1;
    if (window.begin < window.end) {
      const Wide lhs_begin = Wide{s} * axis.stride - axis.padding_low + window.begin;
      meetings.push_back({window.begin, window.end - window.begin, s, 1, static_cast<int64_t>(lhs_begin),
                          count > 1 ? axis.stride : 1, count});
    }
    s += count;
  }
  return meetings;
}

std::vector<Meeting> MeetingsOf(const Axis& axis, bool takes_windows_whole, Range out) {
  if (takes_windows_whole) return WholeMeetings(axis, out);
  std::vector<Meeting> meetings;
  for (int64_t w = 0; w < axis.window_size; ++w) {
    const Meeting meeting = MeetingOf(axis, w, out);
    if (meeting.count > 0) meetings.push_back(meeting);
  }
  return meetings;
}

// A convolution on dense arrays, ready to run.
struct Convolution {
  // lhs [group, n, x..., i], or [n, x..., group] if it is by channel; rhs [w..., i, group, o]; out [n, x..., group, o].
  Value lhs, rhs;
  std::vector<Axis> axes;  // slowest first
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
Loops MakeLoops(const std::vector<Axis>& axes, absl::Span<const Meeting* const> meetings) {
  Loops loops;
  for (size_t i = axes.size(); i-- > 0;) {
    const Meeting& meeting = *meetings[i];
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
  void Run(int64_t group, size_t axis, Range range) const {
    const std::vector<Axis>& axes = convolution_.axes;
    std::vector<std::vector<Meeting>> meetings;
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool whole = convolution_.takes_windows_whole && i + 1 == axes.size();
      meetings.push_back(MeetingsOf(axes[i], whole, i == axis ? range : Range{0, axes[i].out_size}));
      if (meetings.back().empty()) return;
    }
    absl::InlinedVector<size_t, 6> index(axes.size(), 0);
    absl::InlinedVector<const Meeting*, 6> chosen(axes.size());
    while (true) {
      for (size_t i = 0; i < axes.size(); ++i) chosen[i] = &meetings[i][index[i]];
      RunMeetings(group, chosen);
      size_t i = axes.size();
      while (i > 0 && ++index[i - 1] == meetings[i - 1].size()) index[--i] = 0;
      if (i == 0) return;
    }
  }

 private:
  // One meeting on each axis: matrix products for all their steps.
  void RunMeetings(int64_t group, absl::Span<const Meeting* const> meetings) const {
    const std::vector<Axis>& axes = convolution_.axes;
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
      if (run_.IsStopped()) return;
      AddProduct(batch, rows, depth, lhs, rhs, out);
      size_t i = 0;
      for (; i < loops.size(); ++i) {
        lhs += loops[i].lhs;
        out += loops[i].out;
        if (++index[i] < loops[i].count) break;
        lhs -= loops[i].lhs * loops[i].count;
        out -= loops[i].out * loops[i].count;
        index[i] = 0;
      }
      if (i == loops.size()) return;
    }
  }

  void AddProduct(const Loop& batch, const Loop& rows, int64_t depth, const T* lhs, const T* rhs, T* out) const {
    const int64_t width = convolution_.groups * convolution_.outputs;
    if (convolution_.is_by_channel) {
      AddScaledColumns<T>(rows.count, width, {lhs, 0, rows.lhs, 1}, rhs, {out, 0, rows.out});
    } else {
      MatrixProduct<T>({batch.count, rows.count, depth, convolution_.outputs}, {lhs, batch.lhs, rows.lhs, 1},
                       {rhs, 0, width, 1}, {out, batch.out, rows.out}, MatrixProductMode::kAdd,
                       [this] { return run_.IsStopped(); });
    }
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

// How often elements of an axis's window meet elements of lhs, and how many steps a meeting has on average.
struct Density {
  double pairs = 0, steps = 0;
};
Density DensityOf(const Axis& axis, bool takes_windows_whole) {
  const std::vector<Meeting> meetings = MeetingsOf(axis, takes_windows_whole, {0, axis.out_size});
  Density density;
  for (const Meeting& meeting : meetings) {
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
  const std::vector<Axis>& axes = convolution.axes;
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
  AccumulationTypeSwitch(
      [&](auto zero) {
        using T = decltype(zero);
        const Runner<T> runner(run, convolution, static_cast<T*>(out.mutable_data()));
        run.ParallelFor(groups * pieces.count, 1, [&](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t first = i % pieces.count * pieces.length;
            runner.Run(i / pieces.count, pieces.axis, {first, std::min(size, first + pieces.length)});
          }
        });
      },
      out.element_type());
  return run.CheckStopped();
}

// ---- Types ---------------------------------------------------------------------------------------------------------

// Integers are added up in 64 bits and then saturated, unless no sum can leave 32.
PrimitiveType ConvolutionAccumulationType(PrimitiveType result, PrimitiveType lhs, PrimitiveType rhs, double terms) {
  if (!primitive_util::IsIntegralType(result)) return AccumulationType(result);
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

// What the names of dimensions say, with sizes.
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
std::vector<Axis> MakeAxes(const Problem& problem, const Value& lhs, const Value& rhs, const Shape& result) {
  const ConvolutionDimensionNumbers& dnums = problem.dnums;
  std::vector<Axis> axes(1);
  axes[0].lhs_size = axes[0].out_size = result.dimensions(dnums.output_batch_dimension());
  for (int i = 0; i < dnums.input_spatial_dimensions_size(); ++i) {
    const WindowDimension& window = problem.window[i];
    Axis axis;
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
void SetStrides(int64_t lhs_row, int64_t rhs_row, int64_t out_row, std::vector<Axis>* axes) {
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

// rhs [w..., i, o], reversed dimensions put straight.
absl::StatusOr<Value> ArrangeRhs(EvaluationRun& run, const Problem& problem, Value rhs) {
  const ConvolutionDimensionNumbers& dnums = problem.dnums;
  const DimensionVector strides = RowMajorStrides(rhs.dimensions());
  StridedView view;
  for (int i = 0; i < dnums.kernel_spatial_dimensions_size(); ++i) {
    const int64_t d = dnums.kernel_spatial_dimensions(i);
    if (problem.window[i].window_reversal()) {
      view.AddReversed(rhs.dimension(d), strides[d]);
    } else {
      view.Add(rhs.dimension(d), strides[d]);
    }
  }
  view.AddAll(rhs.dimensions(), strides,
              {dnums.kernel_input_feature_dimension(), dnums.kernel_output_feature_dimension()});
  return MakeDense(run, std::move(rhs), view);
}

// [n, x..., o] to the order of the result.
absl::StatusOr<Value> ArrangeResult(EvaluationRun& run, const ConvolutionDimensionNumbers& dnums, Value out) {
  const DimensionVector strides = RowMajorStrides(out.dimensions());
  const size_t last = strides.size() - 1;
  StridedView view;
  view.sizes.resize(strides.size());
  view.strides.resize(strides.size());
  const auto put = [&](size_t from, int64_t to) {
    view.sizes[to] = out.dimension(from);
    view.strides[to] = strides[from];
  };
  put(0, dnums.output_batch_dimension());
  put(last, dnums.output_feature_dimension());
  for (size_t i = 1; i < last; ++i) put(i, dnums.output_spatial_dimensions(static_cast<int>(i - 1)));
  return MakeDense(run, std::move(out), view);
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
  convolution.is_by_channel = convolution.groups > 1 && convolution.inputs == 1 && convolution.outputs == 1;
  convolution.takes_windows_whole = !convolution.is_by_channel && TakesWindowsWhole(convolution.axes.back());

  double terms = convolution.inputs;
  for (const Axis& axis : convolution.axes) terms *= axis.window_size;
  const PrimitiveType type = result.element_type();
  const PrimitiveType accumulation = ConvolutionAccumulationType(type, lhs.element_type(), rhs.element_type(), terms);
  KASHI_ASSIGN_OR_RETURN(lhs, ConvertOperand(op.run, std::move(lhs), type, accumulation));
  KASHI_ASSIGN_OR_RETURN(rhs, ConvertOperand(op.run, std::move(rhs), type, accumulation));
  KASHI_ASSIGN_OR_RETURN(convolution.lhs, ArrangeLhs(op.run, problem, std::move(lhs), convolution.is_by_channel));
  KASHI_ASSIGN_OR_RETURN(convolution.rhs, ArrangeRhs(op.run, problem, std::move(rhs)));

  const int64_t width = convolution.groups * convolution.outputs;
  SetStrides(convolution.is_by_channel ? width : convolution.inputs, convolution.inputs * width, width,
             &convolution.axes);
  convolution.lhs_group_stride = convolution.axes[0].lhs_stride * convolution.axes[0].lhs_size;
  DimensionVector out_sizes;
  for (const Axis& axis : convolution.axes) out_sizes.push_back(axis.out_size);
  out_sizes.push_back(width);
  KASHI_ASSIGN_OR_RETURN(Value out, op.run.MakeArray(accumulation, out_sizes));
  KASHI_RETURN_IF_ERROR(RunConvolution(op.run, convolution, out));

  if (primitive_util::IsIntegralType(type)) {
    KASHI_ASSIGN_OR_RETURN(out, Saturate(op.run, std::move(out), type));
  } else {
    KASHI_ASSIGN_OR_RETURN(out, op.run.Convert(std::move(out), type));
  }
  return ArrangeResult(op.run, problem.dnums, std::move(out));
}

}  // namespace kashi::internal
