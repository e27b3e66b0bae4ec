// Custom calls of JAX's CPU lowering that need no LAPACK.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/custom_calls/custom_call_functions.h"
#include "kashi/custom_calls/lapack_call.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/kernels/loops.h"

namespace kashi::custom_calls {
namespace {

// ---- Tridiagonal systems, singular ones too ------------------------------------------------------------------------
//
// Gaussian elimination with scaled partial pivoting, as LAPACK's lagtf and lagts: row k of U is (u0[k], u1[k],
// u2[k]). Where dividing by a pivot would overflow, the pivot is moved away from 0 by eps max|U|, then by twice as
// much, and so on. max|U| is that of jaxlib: without the row before the last, but with the first row
// as it was.

template <typename T>
using Part = decltype(std::abs(T()));

template <typename T>
struct TridiagonalFactors {
  int64_t n, columns;
  T *u0, *u1, *u2;  // of U
  T* b;             // [n, columns], column by column; becomes x

  // b[row] -= factor * b[other], in all columns.
  void SubtractRow(int64_t row, T factor, int64_t other) {
    for (T* column = b; column != b + n * columns; column += n) column[row] -= factor * column[other];
  }
  Part<T> LargestOfRow(int64_t row) const {
    Part<T> largest = 0;
    for (const T* column = b; column != b + n * columns; column += n) {
      largest = std::max(largest, std::abs(column[row]));
    }
    return largest;
  }
  void MultiplyRow(int64_t row, T factor) {
    for (T* column = b; column != b + n * columns; column += n) column[row] *= factor;
  }
};

// One step of the elimination: row k of U, from row k + 1 of the matrix, which is (lower, diagonal, upper). `scale`
// is the sum of the magnitudes of what is row k now; returns that of row k + 1.
template <typename T>
Part<T> EliminateRow(int64_t k, T lower, T diagonal, T upper, Part<T> scale, TridiagonalFactors<T>& f) {
  const bool is_last = k >= f.n - 2;
  const Part<T> next_scale = std::abs(lower) + std::abs(diagonal) + (is_last ? 0 : std::abs(upper));
  f.u0[k + 1] = diagonal;
  f.u1[k + 1] = upper;
  f.u2[k] = 0;
  if (lower == T(0)) return next_scale;
  const Part<T> own_share = f.u0[k] == T(0) ? 0 : std::abs(f.u0[k]) / scale;
  if (own_share >= std::abs(lower) / next_scale) {
    const T factor = lower / f.u0[k];
    f.u0[k + 1] = diagonal - f.u1[k] * factor;
    f.SubtractRow(k + 1, factor, k);
    return next_scale;
  }
  const T factor = f.u0[k] / lower;
  f.u0[k + 1] = f.u1[k] - factor * diagonal;
  f.u0[k] = lower;
  f.u1[k] = diagonal;
  if (!is_last) {
    f.u2[k] = upper;
    f.u1[k + 1] = -factor * upper;
  }
  for (T* column = f.b; column != f.b + f.n * f.columns; column += f.n) std::swap(column[k], column[k + 1]);
  f.SubtractRow(k + 1, factor, k);
  return std::abs(f.u0[k + 1]) + std::abs(f.u1[k + 1]);
}

// The pivot of that row, so that the row can be divided by it. Rows may be scaled with it.
template <typename T>
T SafePivot(int64_t row, Part<T> perturbation, TridiagonalFactors<T>& f) {
  constexpr Part<T> kLeast = std::numeric_limits<Part<T>>::min(), kMost = 1 / kLeast;
  T pivot = f.u0[row];
  if (!(std::abs(pivot) < 1)) return pivot;
  const Part<T> largest = f.LargestOfRow(row);
  Part<T> step = std::copysign(std::max(perturbation, kLeast), std::real(pivot));
  while (std::abs(pivot) < 1) {
    const Part<T> size = std::abs(pivot);
    const bool is_tiny = size < kLeast;
    const bool overflows = is_tiny ? size == 0 || largest * kLeast > size : largest > size * kMost;
    if (!overflows) {
      if (!is_tiny) return pivot;
      f.MultiplyRow(row, T(kMost));
      return pivot * kMost;
    }
    pivot += step;
    step *= 2;
  }
  return pivot;
}

constexpr int64_t kRowsPerCheck = 4096;

template <typename T>
absl::Status SolveOneTridiagonal(const LapackCall& call, const T* lower, const T* diagonal, const T* upper,
                                 TridiagonalFactors<T> f) {
  const int64_t n = f.n;
  f.u0[0] = diagonal[0];
  f.u1[0] = upper[0];
  Part<T> largest = std::max(std::abs(diagonal[0]), n > 1 ? std::abs(upper[0]) : 0);
  Part<T> scale = std::abs(diagonal[0]) + std::abs(upper[0]);
  for (int64_t k = 0; k + 1 < n; ++k) {
    if (k % kRowsPerCheck == 0) KASHI_RETURN_IF_ERROR(call.CheckStopped());
    scale = EliminateRow(k, lower[k + 1], diagonal[k + 1], upper[k + 1], scale, f);
    if (k < n - 2) largest = std::max({largest, std::abs(f.u0[k]), std::abs(f.u1[k]), std::abs(f.u2[k])});
  }
  largest = std::max(largest, std::abs(f.u0[n - 1]));
  const Part<T> perturbation = largest * std::numeric_limits<Part<T>>::epsilon();
  for (int64_t k = n - 1; k >= 0; --k) {
    if (k % kRowsPerCheck == 0) KASHI_RETURN_IF_ERROR(call.CheckStopped());
    if (k < n - 1) f.SubtractRow(k, f.u1[k], k + 1);
    if (k < n - 2) f.SubtractRow(k, f.u2[k], k + 2);
    const T pivot = SafePivot(k, perturbation, f);
    f.MultiplyRow(k, T(1) / pivot);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status SolveTridiagonal(LapackCall& call) {
  const int64_t n = call.size('n'), columns = call.size('c');
  if (n == 0 || columns == 0) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(Value u, call.Workspace(primitive_util::NativeToPrimitiveType<T>(), 3 * n));
  T* const u0 = u.mutable_data<T>().data();
  for (int64_t i = 0; i < call.batch(); ++i) {
    T* const b = call.ResultFromOperand<T>(0, 3, i);
    KASHI_RETURN_IF_ERROR(SolveOneTridiagonal<T>(call, call.Operand<T>(0, i), call.Operand<T>(1, i),
                                                 call.Operand<T>(2, i), {n, columns, u0, u0 + n, u0 + 2 * n, b}));
  }
  return absl::OkStatus();
}

// ---- A sparse matrix times a dense one -----------------------------------------------------------------------------

// The matrix by rows: entries [offsets[i], offsets[i + 1]) are those of row i.
template <typename Index>
absl::Status CheckCsr(const values::BasicOperation& op, absl::Span<const Index> offsets,
                      absl::Span<const Index> columns, int64_t n) {
  const int64_t entries = static_cast<int64_t>(columns.size());
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    if (offsets[i] >= 0 && offsets[i] <= offsets[i + 1] && offsets[i + 1] <= entries) continue;
    return InvalidArgument("%s: row %d of the sparse matrix is entries [%d, %d) of %d", op.instruction.name(), i,
                           offsets[i], offsets[i + 1], entries);
  }
  const int64_t first = offsets.empty() ? 0 : offsets.front(), last = offsets.empty() ? 0 : offsets.back();
  for (int64_t e = first; e < last; ++e) {
    if (columns[e] >= 0 && columns[e] < n) continue;
    return InvalidArgument("%s: entry %d of the sparse matrix is in column %d of %d", op.instruction.name(), e,
                           columns[e], n);
  }
  return absl::OkStatus();
}

// Sums of integers wrap.
template <typename T, typename Index>
absl::StatusOr<Value> MultiplyCsrOf(values::BasicOperation& op) {
  using Number = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::common_type<T>>::type;
  const Value& b = op.operands[3];
  const absl::Span<const Index> offsets = op.operands[1].data<Index>(), columns = op.operands[2].data<Index>();
  KASHI_RETURN_IF_ERROR(CheckCsr(op, offsets, columns, b.dimension(0)));
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  const int64_t rows = static_cast<int64_t>(offsets.size()) - 1, width = b.rank() == 1 ? 1 : b.dimension(1);
  const T* const data = op.operands[0].data<T>().data();
  const T* const from = b.data<T>().data();
  T* const to = out.mutable_data<T>().data();
  const int64_t grain = 1 + 4096 / (1 + width);
  KASHI_RETURN_IF_ERROR(kernels::StoppableParallelFor(
      [&op] { return op.CheckStopped(); }, rows, grain,
      [&](int64_t begin, int64_t end, int) {
        for (int64_t row = begin; row < end; ++row) {
          T* const sum = to + row * width;
          std::fill_n(sum, width, T(0));
          for (int64_t e = offsets[row]; e < offsets[row + 1]; ++e) {
            const Number factor = static_cast<Number>(data[e]);
            const T* const term = from + columns[e] * width;
            for (int64_t j = 0; j < width; ++j) {
              sum[j] = static_cast<T>(static_cast<Number>(sum[j]) + factor * static_cast<Number>(term[j]));
            }
          }
        }
      }));
  return out;
}

template <typename T>
absl::StatusOr<Value> MultiplyCsrOfType(values::BasicOperation& op) {
  return op.operands[1].element_type() == S32 ? MultiplyCsrOf<T, int32_t>(op) : MultiplyCsrOf<T, int64_t>(op);
}

bool IsCsrProduct(const values::BasicOperation& op) {
  if (!HasArrayOperands(op, 4) || op.instruction.shape().IsTuple() || !op.result()) return false;
  const Value &data = op.operands[0], &offsets = op.operands[1], &columns = op.operands[2], &b = op.operands[3];
  const PrimitiveType index = offsets.element_type();
  if (index != columns.element_type() || (index != S32 && index != S64)) return false;
  if (data.rank() != 1 || offsets.rank() != 1 || columns.rank() != 1 || b.rank() < 1 || b.rank() > 2) return false;
  std::vector<int64_t> sizes(b.dimensions().begin(), b.dimensions().end());
  sizes[0] = offsets.dimension(0) - 1;
  return data.dimension(0) == columns.dimension(0) && b.element_type() == data.element_type() && sizes[0] >= 0 &&
         HasArrayResult(op, data.element_type(), sizes);
}

}  // namespace

absl::StatusOr<Value> SolveTridiagonalPerturbed(values::BasicOperation& op) {
  if (!HasArrayOperands(op, 4)) return MisusedCustomCall(op);
  const PrimitiveType type = op.operands[3].element_type();
  if (type != F32 && type != F64 && type != C64 && type != C128) return MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(const LapackBinding binding,
                         LapackBinding::Make(op.instruction, "T[n] T[n] T[n] T[n,c] -> T[n,c]", type));
  KASHI_ASSIGN_OR_RETURN(LapackCall call, LapackCall::Make(op, binding));
  KASHI_RETURN_IF_ERROR(type == F32   ? SolveTridiagonal<float>(call)
                        : type == F64 ? SolveTridiagonal<double>(call)
                        : type == C64 ? SolveTridiagonal<std::complex<float>>(call)
                                      : SolveTridiagonal<std::complex<double>>(call));
  return call.TakeResults();
}

absl::StatusOr<Value> MultiplyCsr(values::BasicOperation& op) {
  if (!IsCsrProduct(op)) return MisusedCustomCall(op);
  switch (op.operands[0].element_type()) {
    case S32:
      return MultiplyCsrOfType<int32_t>(op);
    case S64:
      return MultiplyCsrOfType<int64_t>(op);
    case F32:
      return MultiplyCsrOfType<float>(op);
    case F64:
      return MultiplyCsrOfType<double>(op);
    case C64:
      return MultiplyCsrOfType<std::complex<float>>(op);
    case C128:
      return MultiplyCsrOfType<std::complex<double>>(op);
    default:
      return MisusedCustomCall(op);
  }
}

}  // namespace kashi::custom_calls
