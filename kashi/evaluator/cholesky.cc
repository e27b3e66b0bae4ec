// cholesky (docs/spec/hlo-ops.md 8). A block of columns at a time, in place:
//
//     done
//     done  L11            L11 L11^H = A11                            FactorBlock
//     done  A21  A22       L21 = A21 L11^-H,  A22 -= L21 L21^H        EliminateBlock
//
#include "kashi/evaluator/cholesky.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/evaluator/operation.h"
#include "kashi/kernels/matrix_kernels.h"
#include "kashi/values/writable.h"

namespace kashi::evaluator {
namespace {

template <typename T>
auto RealPart(const T& x) {
  return std::real(x);
}

// The pivot's square root decides. XLA's compiled code divides the diagonal element by it, so an imaginary part,
// which a Hermitian matrix has not, comes through; so it does here.
template <typename T, typename Real>
T DiagonalElement(const T& pivot, Real root) {
  if constexpr (is_complex_v<T>) {
    return T(root, pivot.imag() == 0 ? Real(0) : pivot.imag() / root);
  } else {
    return root;
  }
}

// False if a pivot is negative or NaN.
template <typename T>
bool FactorBlock(kernels::Matrix<T> a) {
  for (int64_t j = 0; j < a.rows; ++j) {
    const T* const row_j = a.row(j);
    T pivot = row_j[j];
    for (int64_t k = 0; k < j; ++k) kernels::SubtractProduct(pivot, row_j[k], kernels::Conjugate(row_j[k]));
    if (!(RealPart(pivot) >= 0)) return false;
    const auto root = std::sqrt(RealPart(pivot));
    a.at(j, j) = DiagonalElement(pivot, root);
    for (int64_t i = j + 1; i < a.rows; ++i) {
      T sum = a.at(i, j);
      for (int64_t k = 0; k < j; ++k) kernels::SubtractProduct(sum, a.at(i, k), kernels::Conjugate(row_j[k]));
      a.at(i, j) = sum / root;
    }
  }
  return true;
}

// a22 -= a21 a21^H, where `b` is -a21^H: rows in stripes, and of each stripe only the part left of the diagonal, and
// a bit more.
template <typename T>
absl::Status UpdateLower(kernels::Matrix<const T> a21, kernels::Matrix<const T> b, kernels::Matrix<T> a22,
                         StopFunction check_stopped) {
  constexpr int64_t kStripe = 4 * kernels::kMatrixBlock;
  for (int64_t row = 0; row < a22.rows; row += kStripe) {
    const int64_t height = std::min(kStripe, a22.rows - row);
    KASHI_RETURN_IF_ERROR(kernels::MatrixProduct<T>(
        {1, height, a21.columns, row + height}, {a21.row(row), 0, a21.stride, 1}, {b.data, 0, b.stride, 1},
        {a22.row(row), 0, a22.stride}, kernels::MatrixProductMode::kAdd, check_stopped));
  }
  return absl::OkStatus();
}

// Row i of L21 solves L11^* x = (row i of A21)^T, so we work on the transpose.
template <typename T>
absl::Status EliminateBlock(kernels::Matrix<const T> l11, kernels::Matrix<T> a21, kernels::Matrix<T> a22,
                            std::vector<T>& workspace, StopFunction check_stopped) {
  const int64_t n = l11.rows, rest = a21.rows;
  workspace.resize(n * n + n * rest);
  const kernels::Matrix<T> conjugate{workspace.data(), n, n, n};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) conjugate.at(i, j) = kernels::Conjugate(l11.at(i, j));
    conjugate.at(i, i) = RealPart(l11.at(i, i));
  }
  const kernels::Matrix<T> transpose{workspace.data() + n * n, n, rest, rest};
  for (int64_t i = 0; i < rest; ++i) {
    for (int64_t j = 0; j < n; ++j) transpose.at(j, i) = a21.at(i, j);
  }
  kernels::SolveLowerBlock<T>({conjugate.data, n, n, n}, /*unit_diagonal=*/false, transpose);
  for (int64_t i = 0; i < rest; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      a21.at(i, j) = transpose.at(j, i);
      transpose.at(j, i) = -kernels::Conjugate(transpose.at(j, i));
    }
  }
  return UpdateLower<T>({a21.data, rest, n, a21.stride}, {transpose.data, n, rest, rest}, a22, check_stopped);
}

template <typename T>
absl::StatusOr<bool> FactorLower(kernels::Matrix<T> a, StopFunction check_stopped) {
  std::vector<T> workspace;
  for (int64_t at = 0; at < a.rows; at += kernels::kMatrixBlock) {
    KASHI_RETURN_IF_ERROR(check_stopped());
    const int64_t n = std::min(kernels::kMatrixBlock, a.rows - at), next = at + n, rest = a.rows - next;
    const kernels::Matrix<T> diagonal = a.Block(at, at, n, n);
    if (!FactorBlock(diagonal)) return false;
    KASHI_RETURN_IF_ERROR(EliminateBlock<T>({diagonal.data, n, n, a.stride}, a.Block(next, at, rest, n),
                                            a.Block(next, next, rest, rest), workspace, check_stopped));
  }
  return true;
}

template <typename T>
void TransposeConjugate(kernels::Matrix<T> a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      const T below = kernels::Conjugate(a.at(i, j));
      a.at(i, j) = kernels::Conjugate(a.at(j, i));
      a.at(j, i) = below;
    }
  }
}

// U = L^H where L L^H = A too, and A's lower triangle is its upper one, transposed and conjugated. The diagonal is not
// conjugated: it is real.
template <typename T>
absl::Status Factor(kernels::Matrix<T> a, bool lower, StopFunction check_stopped) {
  if (!lower) TransposeConjugate(a);
  KASHI_ASSIGN_OR_RETURN(const bool has_factor, FactorLower(a, check_stopped));
  if (!has_factor) {
    std::fill_n(a.data, a.rows * a.columns, T(std::numeric_limits<decltype(RealPart(T()))>::quiet_NaN()));
    return absl::OkStatus();
  }
  if (!lower) TransposeConjugate(a);
  for (int64_t i = 0; i < a.rows; ++i) {
    std::fill(a.row(i) + (lower ? i + 1 : 0), a.row(i) + (lower ? a.columns : i), T(0));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status FactorAll(EvaluationRun& run, Value& matrices, bool lower) {
  const int64_t n = matrices.dimensions().back(), size = n * n;
  if (matrices.element_count() == 0) return absl::OkStatus();
  T* const data = matrices.mutable_data<T>().data();
  const auto check_stopped = [&] { return run.CheckStopped(); };
  return kernels::ForEachMatrix(matrices.element_count() / size, static_cast<double>(size) * n / 3, [&](int64_t i) {
    return Factor<T>({data + i * size, n, n, n}, lower, check_stopped);
  });
}

absl::Status FactorAll(EvaluationRun& run, Value& matrices, bool lower) {
  switch (matrices.element_type()) {
    case F32:
      return FactorAll<float>(run, matrices, lower);
    case F64:
      return FactorAll<double>(run, matrices, lower);
    case C64:
      return FactorAll<complex64>(run, matrices, lower);
    default:
      return FactorAll<complex128>(run, matrices, lower);
  }
}

}  // namespace

absl::StatusOr<Value> CholeskyFactors(EvaluationRun& run, Value a, bool lower) {
  const PrimitiveType type = a.element_type();
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType computed, kernels::LinearAlgebraType(type));
  KASHI_ASSIGN_OR_RETURN(a, run.Convert(std::move(a), computed));
  KASHI_ASSIGN_OR_RETURN(a, values::MakeWritable(run.budget(), std::move(a)));
  KASHI_RETURN_IF_ERROR(FactorAll(run, a, lower));
  return run.Convert(std::move(a), type);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCholesky>(Operation& op) {
  return CholeskyFactors(op.run, std::move(op.operands[0]), op.instruction.cholesky_options().lower());
}

}  // namespace kashi::evaluator
