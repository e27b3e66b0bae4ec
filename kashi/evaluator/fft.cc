// fft (docs/spec/hlo-ops.md 8), an axis at a time (kashi/kernels/fft_axis.h). The evaluator computes in f64. Between
// axes, the array is complex128, so that each element of the result is rounded once. RFFT begins, IRFFT ends with the
// last axis, the one that is cut to n/2 + 1.
#include "kashi/evaluator/fft.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/operation.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/kernels/fft_kernels.h"

namespace kashi::evaluator {
namespace {

kernels::FftAxisShape ShapeAlong(absl::Span<const int64_t> dimensions, int64_t axis) {
  kernels::FftAxisShape shape{1, dimensions[axis], 1};
  for (int64_t i = 0; i < axis; ++i) shape.outer *= dimensions[i];
  for (int64_t i = axis + 1; i < dimensions.size(); ++i) shape.inner *= dimensions[i];
  return shape;
}

bool IsSinglePrecision(PrimitiveType type) { return type == F32 || type == C64; }
bool IsDoublePrecision(PrimitiveType type) { return type == F64 || type == C128; }

template <typename T>
const kernels::FftStorage<T>& StorageOf(const Value& array) {
  const kernels::FftKernels<T>& kernels = kernels::FindFftKernels<T>();
  return IsDoublePrecision(array.element_type()) ? kernels.of_f64 : kernels.of_f32;
}

kernels::FftNumbers NumbersAlong(const HloInstruction& fft, int64_t axis) {
  const bool is_last = axis + 1 == static_cast<int64_t>(fft.fft_length().size());
  if (is_last && fft.fft_type() == RFFT) return kernels::FftNumbers::kRealToHalf;
  if (is_last && fft.fft_type() == IRFFT) return kernels::FftNumbers::kHalfToReal;
  return kernels::FftNumbers::kComplex;
}

// Transforms along an axis of fft_length; the result has this type. In place if that can be.
template <typename T>
absl::StatusOr<Value> TransformAxis(const Operation& op, int64_t axis, PrimitiveType type, Value from,
                                    FftAxes<T>& axes) {
  const HloInstruction& fft = op.instruction;
  const int64_t n = fft.fft_length()[axis];
  const int64_t dimension = op.result()->dimensions().size() - fft.fft_length().size() + axis;
  DimensionVector dimensions(from.dimensions().begin(), from.dimensions().end());
  dimensions[dimension] = op.result()->dimensions(dimension);
  const void* const data = from.untyped_data();
  const kernels::FftStorage<T>& storage = StorageOf<T>(from);
  const kernels::FftAxisShape shape = ShapeAlong(from.dimensions(), dimension);
  Value to;
  if (from.is_unique() && from.element_type() == type && from.dimensions() == absl::MakeConstSpan(dimensions)) {
    to = std::move(from);
  } else {
    KASHI_ASSIGN_OR_RETURN(to, op.MakeResultOf(type, dimensions));
  }
  if (to.element_count() == 0) return to;
  KASHI_ASSIGN_OR_RETURN(
      const ScratchMemory plan_memory,
      op.run.ReserveScratch(SaturatingMultiply(n, kernels::kFftPlanNumbers * sizeof(T)), op.instruction));
  const std::shared_ptr<const kernels::FftAxis<T>> plan = axes.FindOrMake(axis, NumbersAlong(fft, axis), n, shape);
  constexpr PrimitiveType kType = primitive_util::NativeToPrimitiveType<T>();
  KASHI_ASSIGN_OR_RETURN(Value scratch, op.run.MakeArray(kType, {plan->scratch()}));
  const bool is_inverse = fft.fft_type() == IFFT || fft.fft_type() == IRFFT;
  KASHI_RETURN_IF_ERROR(plan->TransformAll(
      data, storage, to.mutable_data(), StorageOf<T>(to), is_inverse, [&op] { return op.run.CheckStopped(); },
      scratch.mutable_data<T>().data()));
  return to;
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

template <typename T>
absl::StatusOr<Value> TransformAxes(Operation& op, FftAxes<T>& axes) {
  KASHI_RETURN_IF_ERROR(CheckLengths(op));
  const absl::Span<const int64_t> lengths = op.instruction.fft_length();
  if (absl::c_linear_search(lengths, 0)) {  // sums of nothing
    KASHI_ASSIGN_OR_RETURN(Value zeros, op.MakeResult());
    std::memset(zeros.mutable_bytes(), 0, zeros.byte_count());
    return zeros;
  }
  const PrimitiveType result_type = op.result()->element_type();
  // Others are results of mixed precision: a bf16 of an IRFFT.
  const bool is_type_of_last = IsSinglePrecision(result_type) || IsDoublePrecision(result_type);
  const int64_t count = lengths.size();
  Value current = std::move(op.operands[0]);
  for (int64_t step = 0; step < count; ++step) {
    // Minor to major, but IRFFT the other way round.
    const int64_t axis = op.instruction.fft_type() == IRFFT ? step : count - 1 - step;
    constexpr PrimitiveType kBetween = primitive_util::NativeToPrimitiveType<std::complex<T>>();
    const PrimitiveType type = step < count - 1 ? kBetween : is_type_of_last ? result_type : F32;
    KASHI_ASSIGN_OR_RETURN(current, TransformAxis(op, axis, type, std::move(current), axes));
  }
  return op.run.Convert(std::move(current), result_type);
}

}  // namespace

template <typename T>
std::shared_ptr<const kernels::FftAxis<T>> FftAxes<T>::FindOrMake(int64_t axis, kernels::FftNumbers numbers,
                                                                  int64_t length, const kernels::FftAxisShape& shape) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (axis >= axes_.size()) axes_.resize(axis + 1);
  if (axes_[axis] == nullptr || !(axes_[axis]->shape() == shape)) {
    axes_[axis] = std::make_shared<const kernels::FftAxis<T>>(numbers, length, shape);
  }
  return axes_[axis];
}

bool IsFftOfOnePrecision(const HloInstruction& fft) {
  if (fft.opcode() != HloOpcode::kFft) return false;
  const PrimitiveType from = fft.operand(0)->shape().element_type(), to = fft.shape().element_type();
  return (IsSinglePrecision(from) && IsSinglePrecision(to)) || (IsDoublePrecision(from) && IsDoublePrecision(to));
}

absl::StatusOr<Value> FftOfOnePrecision::Evaluate(Operation& op) {
  return IsSinglePrecision(op.operands[0].element_type()) ? TransformAxes(op, f32_) : TransformAxes(op, f64_);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kFft>(Operation& op) {
  FftAxes<double> axes;
  return TransformAxes(op, axes);
}

}  // namespace kashi::evaluator
