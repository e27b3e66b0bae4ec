// triangular-solve (docs/spec/hlo-ops.md 8). Every form is L X = B with L lower, seen from another side:
//
//   op(a) X = B        L = op(a)
//   X op(a) = B        op(a)^T X^T = B^T
//   U X = B            U read backwards, both ways, is lower; so are then the rows of X and B
//
// so L and B are read through strides (which may be negative) into rows, solved there, and X goes back the same way.
#include "kashi/evaluator/triangular_solve.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/evaluator/operation.h"
#include "kashi/kernels/matrix_kernels.h"
#include "kashi/values/writable.h"

namespace kashi::evaluator {
namespace {

// Element (i, j) of a matrix lies at origin + i * row_stride + j * column_stride.
struct StridedMatrix {
  int64_t rows;
  int64_t columns;
  int64_t origin;
  int64_t row_stride;
  int64_t column_stride;

  static StridedMatrix RowMajor(int64_t rows, int64_t columns) { return {rows, columns, 0, columns, 1}; }
  StridedMatrix Transposed() const { return {columns, rows, origin, column_stride, row_stride}; }
  StridedMatrix RowsReversed() const {
    return {rows, columns, origin + (rows - 1) * row_stride, -row_stride, column_stride};
  }
};

// L X = B, as it lies in the operands' memory.
struct LowerSystem {
  StridedMatrix l;
  StridedMatrix b;
  bool conjugate;  // l's elements
  bool unit_diagonal;
};

// `b`: the result's dimensions.
LowerSystem MakeLowerSystem(int64_t n, absl::Span<const int64_t> b, const TriangularSolveOptions& options) {
  LowerSystem system{StridedMatrix::RowMajor(n, n), StridedMatrix::RowMajor(b[b.size() - 2], b.back()),
                     options.transpose_a() == TriangularSolveOptions::ADJOINT, options.unit_diagonal()};
  bool is_transposed = options.transpose_a() != TriangularSolveOptions::NO_TRANSPOSE;
  if (!options.left_side()) {
    is_transposed = !is_transposed;
    system.b = system.b.Transposed();
  }
  if (is_transposed) system.l = system.l.Transposed();
  if (options.lower() == is_transposed) {
    system.l = system.l.RowsReversed().Transposed().RowsReversed().Transposed();
    system.b = system.b.RowsReversed();
  }
  return system;
}

template <typename T>
void ReadLower(const T* a, const StridedMatrix& from, bool conjugate, kernels::Matrix<T> l) {
  for (int64_t i = 0; i < l.rows; ++i) {
    const T* const row = a + from.origin + i * from.row_stride;
    for (int64_t j = 0; j <= i; ++j) {
      l.at(i, j) = conjugate ? kernels::Conjugate(row[j * from.column_stride]) : row[j * from.column_stride];
    }
  }
}

template <typename T>
absl::Status SolveOne(const LowerSystem& system, const T* a, T* b, StopFunction check_stopped) {
  const int64_t n = system.l.rows, m = system.b.columns;
  std::vector<T> memory(n * n + n * m);
  const kernels::Matrix<T> l{memory.data(), n, n, n}, x{memory.data() + n * n, n, m, m};
  const StridedMatrix& place = system.b;
  T* const origin = b + place.origin;
  ReadLower(a, system.l, system.conjugate, l);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) x.at(i, j) = origin[i * place.row_stride + j * place.column_stride];
  }
  KASHI_RETURN_IF_ERROR(kernels::SolveLower<T>({l.data, n, n, n}, system.unit_diagonal, x, check_stopped));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) origin[i * place.row_stride + j * place.column_stride] = x.at(i, j);
  }
  return absl::OkStatus();
}

// `x` holds b, and the result afterwards.
template <typename T>
absl::Status SolveAll(EvaluationRun& run, const Value& a, Value& x, const TriangularSolveOptions& options) {
  if (x.element_count() == 0) return absl::OkStatus();
  const int64_t n = a.dimensions().back();
  const LowerSystem system = MakeLowerSystem(n, x.dimensions(), options);
  const int64_t x_size = system.b.rows * system.b.columns;
  const T* const a_data = a.data<T>().data();
  T* const x_data = x.mutable_data<T>().data();
  const auto check_stopped = [&] { return run.CheckStopped(); };
  return kernels::ForEachMatrix(x.element_count() / x_size, static_cast<double>(x_size) * n, [&](int64_t i) {
    return SolveOne(system, a_data + i * n * n, x_data + i * x_size, check_stopped);
  });
}

absl::Status SolveAll(EvaluationRun& run, const Value& a, Value& x, const TriangularSolveOptions& options) {
  switch (x.element_type()) {
    case F32:
      return SolveAll<float>(run, a, x, options);
    case F64:
      return SolveAll<double>(run, a, x, options);
    case C64:
      return SolveAll<complex64>(run, a, x, options);
    default:
      return SolveAll<complex128>(run, a, x, options);
  }
}

}  // namespace

absl::StatusOr<Value> SolveTriangular(EvaluationRun& run, Value a, Value b, const TriangularSolveOptions& options) {
  const PrimitiveType type = b.element_type();
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType computed, kernels::LinearAlgebraType(type));
  KASHI_ASSIGN_OR_RETURN(a, run.Convert(std::move(a), computed));
  KASHI_ASSIGN_OR_RETURN(b, run.Convert(std::move(b), computed));
  KASHI_ASSIGN_OR_RETURN(b, values::MakeWritable(run.budget(), std::move(b)));
  KASHI_RETURN_IF_ERROR(SolveAll(run, a, b, options));
  return run.Convert(std::move(b), type);
}

absl::StatusOr<Value> InvertLowerTriangles(EvaluationRun& run, Value a) {
  const int64_t n = a.dimensions().back();
  KASHI_ASSIGN_OR_RETURN(Value identities, run.MakeArray(F32, a.dimensions()));
  const absl::Span<float> ones = identities.mutable_data<float>();
  std::fill(ones.begin(), ones.end(), 0.0f);
  for (int64_t row = 0; row * n < ones.size(); ++row) ones[row * n + row % n] = 1;
  KASHI_ASSIGN_OR_RETURN(identities, run.Convert(std::move(identities), a.element_type()));
  TriangularSolveOptions options;
  options.set_left_side(true);
  options.set_lower(true);
  options.set_transpose_a(TriangularSolveOptions::NO_TRANSPOSE);
  return SolveTriangular(run, std::move(a), std::move(identities), options);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kTriangularSolve>(Operation& op) {
  return SolveTriangular(op.run, std::move(op.operands[0]), std::move(op.operands[1]),
                         op.instruction.triangular_solve_options());
}

}  // namespace kashi::evaluator
