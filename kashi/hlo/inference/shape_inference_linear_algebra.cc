// Fourier transforms and triangular matrices (docs/spec/hlo-ops.md, 8).
#include <algorithm>

#include "kashi/array/primitive_util.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"

namespace kashi {
namespace {

using hlo::shape_inference::CompatibleSizes;
using hlo::shape_inference::TypeName;

// ---- Fourier transforms --------------------------------------------------------------------------------------------

absl::Status CheckComplex(const Shape& in, absl::string_view type) {
  if (primitive_util::IsComplexType(in.element_type())) return absl::OkStatus();
  return InvalidArgument("%s requires complex input type, found %s.", type, TypeName(in));
}

// The error says FFT for every type.
absl::Status CheckFftRank(const Shape& in, int64_t fft_rank) {
  if (in.rank() >= fft_rank) return absl::OkStatus();
  return InvalidArgument("FFT of rank %d requires input of at least same rank; got input of rank %d", fft_rank,
                         in.rank());
}

// `shape` with a last dimension of this size: a bound if it was one, otherwise static.
absl::StatusOr<Shape> WithLastDimension(Shape shape, int64_t size) {
  if (size < 0) return InvalidArgument("fft_length must not be negative, got %d.", size);
  const int last = shape.dimensions_size() - 1;
  shape.set_dimensions(last, size, shape.is_bounded_dynamic_dimension(last));
  KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShapeWithOptionalLayout(shape));
  return shape;
}

absl::StatusOr<Shape> InferRealFftShape(const Shape& in, absl::Span<const int64_t> fft_length) {
  if (in.element_type() != F32 && in.element_type() != F64) {
    return InvalidArgument("RFFT requires F32 or F64 input type, found %s.", TypeName(in));
  }
  const int fft_rank = static_cast<int>(fft_length.size());
  KASHI_RETURN_IF_ERROR(CheckFftRank(in, fft_rank));
  for (int i = 0; i < fft_rank; ++i) {
    const int d = in.dimensions_size() - fft_rank + i;
    if (!in.is_unbounded_dynamic_dimension(d) && in.dimensions(d) != fft_length[i]) {
      return InvalidArgument(
          "RFFT requires innermost dimensions match fft_length but dimension %d is %d and should be %d.", d,
          in.dimensions(d), fft_length[i]);
    }
  }
  const Shape result = ShapeUtil::ChangeElementType(in, in.element_type() == F32 ? C64 : C128);
  // An empty dimension stays empty.
  if (fft_length.back() == 0) return result;
  return WithLastDimension(result, fft_length.back() / 2 + 1);
}

absl::StatusOr<Shape> InferInverseRealFftShape(const Shape& in, absl::Span<const int64_t> fft_length) {
  KASHI_RETURN_IF_ERROR(CheckComplex(in, "IRFFT"));
  const int fft_rank = static_cast<int>(fft_length.size());
  KASHI_RETURN_IF_ERROR(CheckFftRank(in, fft_rank));
  const int last = in.dimensions_size() - 1;
  for (int i = 0; i < fft_rank - 1; ++i) {
    const int d = in.dimensions_size() - fft_rank + i;
    if (in.dimensions(d) != fft_length[i]) {  // not even `?` will do
      return InvalidArgument(
          "IRFFT requires all but one innermost dimensions match fft_length, but dimension %d is %d and should be %d.",
          d, in.dimensions(d), fft_length[i]);
    }
  }
  const int64_t length = fft_length.back();
  const bool is_empty = in.dimensions(last) == 0 && length == 0;
  if (!is_empty && !in.is_unbounded_dynamic_dimension(last) && in.dimensions(last) != length / 2 + 1) {
    return InvalidArgument(
        "IRFFT requires innermost dimension matches fft_length/2+1, but dimension %d is %d and should be %d.", last,
        in.dimensions(last), length / 2 + 1);
  }
  return WithLastDimension(ShapeUtil::ComplexComponentShape(in), length);
}

// ---- Triangular matrices -------------------------------------------------------------------------------------------

absl::Status CheckMatrices(const Shape& a, absl::string_view operation) {
  if (a.rank() >= 2) return absl::OkStatus();
  return InvalidArgument("The 'a' argument to %s must have rank >= 2, got shape %s", operation,
                         ShapeUtil::HumanString(a));
}

// `how`: "equal", "compatible".
absl::Status CheckSquare(const Shape& a, absl::string_view how) {
  const int rank = a.dimensions_size();
  if (CompatibleSizes(a.dimensions(rank - 2), a.dimensions(rank - 1))) return absl::OkStatus();
  return InvalidArgument("The two minor dimensions of 'a' must have %s size, got %s.", how, ShapeUtil::HumanString(a));
}

}  // namespace

absl::StatusOr<Shape> ShapeInference::InferFftShape(const Shape& in, FftType fft_type,
                                                    absl::Span<const int64_t> fft_length) {
  const int64_t fft_rank = static_cast<int64_t>(fft_length.size());
  if (fft_rank < 1 || fft_rank > 3) return InvalidArgument("FFT only supports ranks 1-3; got %d.", fft_rank);
  switch (fft_type) {
    case FFT:
    case IFFT:
      // The lengths are not compared with the sizes.
      KASHI_RETURN_IF_ERROR(CheckComplex(in, FftTypeToString(fft_type)));
      KASHI_RETURN_IF_ERROR(CheckFftRank(in, fft_rank));
      return in;
    case RFFT:
      return InferRealFftShape(in, fft_length);
    case IRFFT:
      return InferInverseRealFftShape(in, fft_length);
  }
  return InvalidArgument("Unknown FFT type %d.", static_cast<int>(fft_type));
}

absl::StatusOr<Shape> ShapeInference::InferTriangularSolveShape(const Shape& a, const Shape& b,
                                                                const TriangularSolveOptions& options) {
  if (!hlo::shape_inference::IsFloatingOrComplex(a) || a.element_type() != b.element_type()) {
    return InvalidArgument(
        "Expected element types in shape to be floating or complex and identical for TriangularSolve; got %s and %s.",
        TypeName(a), TypeName(b));
  }
  KASHI_RETURN_IF_ERROR(CheckMatrices(a, "TriangularSolve"));
  if (b.rank() != a.rank()) {
    return InvalidArgument("Arguments to triangular solve must have equal rank; got %s and %s.",
                           ShapeUtil::HumanString(b), ShapeUtil::HumanString(a));
  }
  KASHI_RETURN_IF_ERROR(CheckSquare(a, "equal"));
  const int rank = a.dimensions_size();
  if (!CompatibleSizes(a.dimensions(rank - 1), b.dimensions(options.left_side() ? rank - 2 : rank - 1))) {
    return InvalidArgument("The shared dimension of 'a' and 'b' does not match, got shapes %s and %s",
                           ShapeUtil::HumanString(a), ShapeUtil::HumanString(b));
  }
  if (a.dimensions().subspan(0, rank - 2) != b.dimensions().subspan(0, rank - 2)) {
    return InvalidArgument(
        "The leading batch dimensions of the arguments to triangular solve must be equal; got %s and %s.",
        ShapeUtil::HumanString(b), ShapeUtil::HumanString(a));
  }
  const TriangularSolveOptions::Transpose transpose = options.transpose_a();
  if (transpose < TriangularSolveOptions::NO_TRANSPOSE || transpose > TriangularSolveOptions::ADJOINT) {
    return InvalidArgument("Invalid transpose option value for triangular solve (%d).\n", static_cast<int>(transpose));
  }
  return b;
}

absl::StatusOr<Shape> ShapeInference::InferCholeskyShape(const Shape& a) {
  if (!hlo::shape_inference::IsFloatingOrComplex(a)) {
    return InvalidArgument("Expected element type in shape to be floating or complex for Cholesky; got %s.",
                           TypeName(a));
  }
  KASHI_RETURN_IF_ERROR(CheckMatrices(a, "Cholesky"));
  KASHI_RETURN_IF_ERROR(CheckSquare(a, "compatible"));
  return a;
}

}  // namespace kashi
