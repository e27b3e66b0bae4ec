// fft (docs/spec/hlo-ops.md 8). An axis at a time, each through TransformAxis; between axes the array is complex128,
// so that each element of the result is rounded once. RFFT begins, IRFFT ends with the last axis, the one that is cut
// to n/2 + 1.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/fft_transform.h"
#include "kashi/evaluator/operation.h"
#include "kashi/hlo/attributes/enum_text.h"

namespace kashi::internal {
namespace {

// An array seen as [outer][length][inner]: element j of line (o, i) at (o length + j) inner + i.
struct AxisView {
  int64_t outer;
  int64_t length;
  int64_t inner;

  int64_t lines() const { return outer * inner; }
  int64_t LineOrigin(int64_t line) const { return line / inner * length * inner + line % inner; }
};

AxisView ViewAlong(absl::Span<const int64_t> dimensions, int64_t axis) {
  AxisView view{1, dimensions[axis], 1};
  for (int64_t i = 0; i < axis; ++i) view.outer *= dimensions[i];
  for (int64_t i = axis + 1; i < dimensions.size(); ++i) view.inner *= dimensions[i];
  return view;
}

// The lines of one axis that go through FftPlan together.
struct LineGroup {
  int64_t first;
  int64_t lanes;
  double* re;
  double* im;
};

template <typename T>
void LoadLines(const T* from, const AxisView& view, int64_t length, const LineGroup& group) {
  for (int64_t q = 0; q < group.lanes; ++q) {
    const T* const line = from + view.LineOrigin(group.first + q);
    for (int64_t j = 0; j < length; ++j) {
      const T x = line[j * view.inner];
      group.re[j * group.lanes + q] = std::real(x);
      group.im[j * group.lanes + q] = std::imag(x);
    }
  }
}

// Frequencies 0 .. n/2 of a real signal: the others are their conjugates. Frequency 0, and n/2 if n is even, is its own
// conjugate, so its imaginary part is ignored.
template <typename T>
void LoadHalfLines(const T* from, const AxisView& view, int64_t n, const LineGroup& group) {
  LoadLines(from, view, n / 2 + 1, group);
  for (int64_t j = 0; 2 * j <= n; ++j) {
    const bool is_real = j == 0 || 2 * j == n;
    for (int64_t q = 0; q < group.lanes; ++q) {
      const int64_t at = j * group.lanes + q, mirror = (is_real ? j : n - j) * group.lanes + q;
      if (is_real) group.im[at] = 0;
      group.re[mirror] = group.re[at];
      group.im[mirror] = is_real ? 0 : -group.im[at];
    }
  }
}

template <typename T>
void StoreLines(T* to, const AxisView& view, double scale, const LineGroup& group) {
  for (int64_t q = 0; q < group.lanes; ++q) {
    T* const line = to + view.LineOrigin(group.first + q);
    for (int64_t j = 0; j < view.length; ++j) {
      const double re = group.re[j * group.lanes + q] * scale, im = group.im[j * group.lanes + q] * scale;
      if constexpr (is_complex_v<T>) {
        using Real = typename T::value_type;
        line[j * view.inner] = T(static_cast<Real>(re), static_cast<Real>(im));
      } else {
        line[j * view.inner] = static_cast<T>(re);
      }
    }
  }
}

void LoadAny(const Value& from, const AxisView& view, int64_t n, bool is_half, const LineGroup& group) {
  switch (from.element_type()) {
    case F32:
      return LoadLines(from.data<float>().data(), view, n, group);
    case F64:
      return LoadLines(from.data<double>().data(), view, n, group);
    case C64:
      return is_half ? LoadHalfLines(from.data<complex64>().data(), view, n, group)
                     : LoadLines(from.data<complex64>().data(), view, n, group);
    default:
      return is_half ? LoadHalfLines(from.data<complex128>().data(), view, n, group)
                     : LoadLines(from.data<complex128>().data(), view, n, group);
  }
}

// Those that StoreAny knows. Others are results of mixed precision: a bf16 of an IRFFT.
bool IsTypeOfLines(PrimitiveType type) { return type == F32 || type == F64 || type == C64 || type == C128; }

void StoreAny(void* to, PrimitiveType type, const AxisView& view, double scale, const LineGroup& group) {
  switch (type) {
    case F32:
      return StoreLines(static_cast<float*>(to), view, scale, group);
    case F64:
      return StoreLines(static_cast<double*>(to), view, scale, group);
    case C64:
      return StoreLines(static_cast<complex64*>(to), view, scale, group);
    default:
      return StoreLines(static_cast<complex128*>(to), view, scale, group);
  }
}

// Enough lanes to fill vector registers and use up the cache lines that are read across; few enough to stay in the
// cache.
int64_t ChooseLanes(const AxisView& view, int64_t n) {
  constexpr int64_t kElementsAtOnce = 1 << 13;
  const int64_t least = view.inner > 1 && n <= 1 << 17 ? 4 : 1;
  return std::min(view.lines(), std::clamp<int64_t>(kElementsAtOnce / n, least, 16));
}

// The most memory of an FftPlan for each element of a line: roots and, for lengths with large factors, a filter and the
// roots of a transform of up to four times the length.
constexpr int64_t kPlanBytesPerElement = 256;

// Transforms of length n along an axis, on which `from` and `to` may be shorter (n/2 + 1): what is beyond is not
// stored, and comes from LoadHalfLines. `to` may not be `from`.
absl::Status TransformAxis(const Operation& op, int64_t axis, int64_t n, bool is_inverse, const Value& from,
                           Value& to) {
  const AxisView from_view = ViewAlong(from.dimensions(), axis), to_view = ViewAlong(to.dimensions(), axis);
  const bool is_half = from_view.length != n;
  const EvaluationRun& run = op.run;
  KASHI_ASSIGN_OR_RETURN(const ScratchMemory plan_memory,
                         op.run.ReserveScratch(SaturatingMultiply(n, kPlanBytesPerElement), op.instruction));
  const FftPlan plan(n);
  const int64_t lanes = ChooseLanes(from_view, n), lines = from_view.lines();
  const double scale = is_inverse ? 1.0 / static_cast<double>(n) : 1;
  void* const target = to.mutable_data();
  const int64_t doubles = 2 * n * lanes + plan.WorkspaceSize(lanes);
  const int64_t threads = std::min<int64_t>(CeilOfRatio(lines, lanes), ParallelThreadCount());
  KASHI_ASSIGN_OR_RETURN(
      const ScratchMemory line_memory,
      op.run.ReserveScratch(SaturatingMultiply(threads, SaturatingMultiply(doubles, sizeof(double))), op.instruction));
  std::vector<std::vector<double>> memory(ParallelThreadCount());
  ParallelFor((lines + lanes - 1) / lanes, 1 + (1 << 13) / (n * lanes), [&](int64_t begin, int64_t end, int thread) {
    memory[thread].resize(doubles);
    double *re = memory[thread].data(), *im = re + n * lanes, *workspace = im + n * lanes;
    for (int64_t i = begin; i < end && !run.IsStopped(); ++i) {
      const LineGroup group{i * lanes, std::min(lanes, lines - i * lanes), re, im};
      LoadAny(from, from_view, n, is_half, group);
      plan.Transform(is_inverse ? im : re, is_inverse ? re : im, group.lanes, workspace,
                     [&run] { return run.IsStopped(); });
      StoreAny(target, to.element_type(), to_view, scale, group);
    }
  });
  return run.CheckStopped();
}

// The verifier does not compare lengths with dimensions (and XLA reads beyond them). A length of 0 fits every
// dimension.
absl::Status CheckLengths(const Operation& op) {
  const HloInstruction& fft = op.instruction;
  const absl::Span<const int64_t> lengths = fft.fft_length();
  const absl::Span<const int64_t> operand = op.operands[0].dimensions(), result = op.result()->dimensions();
  const absl::Span<const int64_t> full = (fft.fft_type() == IRFFT ? result : operand).last(lengths.size());
  const absl::Span<const int64_t> cut = (fft.fft_type() == IRFFT ? operand : result).last(lengths.size());
  const bool is_real = fft.fft_type() == RFFT || fft.fft_type() == IRFFT;
  bool fits = true;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const bool is_cut = is_real && i + 1 == lengths.size();
    fits &= lengths[i] == 0 || (full[i] == lengths[i] && cut[i] == (is_cut ? lengths[i] / 2 + 1 : lengths[i]));
  }
  if (fits) return absl::OkStatus();
  return InvalidArgument("%s: %s of lengths {%s} does not fit an operand of dimensions [%s]", fft.name(),
                         FftTypeToString(fft.fft_type()), absl::StrJoin(lengths, ","), absl::StrJoin(operand, ","));
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kFft>(Operation& op) {
  KASHI_RETURN_IF_ERROR(CheckLengths(op));
  const FftType type = op.instruction.fft_type();
  const absl::Span<const int64_t> lengths = op.instruction.fft_length();
  if (absl::c_linear_search(lengths, 0)) {  // sums of nothing
    KASHI_ASSIGN_OR_RETURN(Value zeros, op.MakeResult());
    std::memset(zeros.mutable_bytes(), 0, zeros.byte_count());
    return zeros;
  }
  const PrimitiveType result_type = op.result()->element_type();
  const PrimitiveType type_of_last = IsTypeOfLines(result_type) ? result_type : F32;
  const int64_t axes = lengths.size(), first = op.result()->dimensions().size() - axes;
  const bool is_inverse = type == IFFT || type == IRFFT;
  Value current = std::move(op.operands[0]);
  for (int64_t step = 0; step < axes; ++step) {
    // Minor to major, but IRFFT the other way round.
    const int64_t axis = type == IRFFT ? step : axes - 1 - step;
    DimensionVector dimensions(current.dimensions().begin(), current.dimensions().end());
    dimensions[first + axis] = op.result()->dimensions(first + axis);
    KASHI_ASSIGN_OR_RETURN(Value next, op.run.MakeArray(step == axes - 1 ? type_of_last : C128, dimensions));
    if (next.element_count() > 0) {
      KASHI_RETURN_IF_ERROR(TransformAxis(op, first + axis, lengths[axis], is_inverse, current, next));
    }
    current = std::move(next);
  }
  return op.run.Convert(std::move(current), result_type);
}

}  // namespace kashi::internal
