// The routines of lapack_call.h. The signatures in kRoutines list their operands and results.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/custom_calls/lapack_call.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#ifdef KASHI_HAS_LAPACK
#include "kashi/custom_calls/lapack_routines.h"
#endif

namespace kashi::custom_calls {
namespace {

#ifdef KASHI_HAS_LAPACK

template <typename T>
struct RealPart {
  using type = T;
};
template <typename T>
struct RealPart<std::complex<T>> {
  using type = T;
};
template <typename T>
using Real = typename RealPart<T>::type;
template <typename T>
constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;
template <typename T>
constexpr PrimitiveType kType = primitive_util::NativeToPrimitiveType<T>();

template <typename T>
bool IsFinite(T x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}

// LAPACK's iterations, and its check of arguments, which ends the process, do not expect others.
template <typename T>
bool AreFinite(const T* a, int64_t n) {
  return std::all_of(a, a + n, IsFinite<T>);
}

// JAX reports this of a matrix that it does not pass to LAPACK.
constexpr int kNotFinite = -4;

// `query` is the routine with lwork = -1: it stores in `work` the number of elements that is fastest. At least `least`,
// which the answer, rounded to T, may miss.
template <typename T, typename Query>
int64_t WorkSize(int64_t least, Query&& query) {
  T optimum = 0;
  query(&optimum);
  const double size = std::real(optimum);
  return std::max({int64_t{1}, least, size < 2e9 ? static_cast<int64_t>(size) : 0});
}

// A workspace of T, and the workspaces of integers and reals if the routine has them: else null.
template <typename T>
struct Work {
  Value elements, reals, integers;
  T* data() { return elements.mutable_data<T>().data(); }
  int size() const { return static_cast<int>(elements.element_count()); }
  Real<T>* real_data() { return reals.is_nothing() ? nullptr : reals.mutable_data<Real<T>>().data(); }
  int* integer_data() { return integers.is_nothing() ? nullptr : integers.mutable_data<int32_t>().data(); }
};
template <typename T>
absl::StatusOr<Work<T>> MakeWork(const LapackCall& call, int64_t elements, int64_t reals = 0, int64_t integers = 0) {
  Work<T> work;
  KASHI_ASSIGN_OR_RETURN(work.elements, call.Workspace(kType<T>, elements));
  if (reals > 0) {
    KASHI_ASSIGN_OR_RETURN(work.reals, call.Workspace(kType<Real<T>>, reals));
  }
  if (integers > 0) {
    KASHI_ASSIGN_OR_RETURN(work.integers, call.Workspace(S32, integers));
  }
  return work;
}

// one(i) for each matrix i of the batch.
template <typename One>
absl::Status ForEachMatrix(LapackCall& call, One&& one) {
  for (int64_t i = 0; i < call.batch(); ++i) {
    KASHI_RETURN_IF_ERROR(call.CheckStopped());
    one(i);
  }
  return absl::OkStatus();
}

// ---- Factorizations ------------------------------------------------------------------------------------------------

template <typename T>
absl::Status Potrf(LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const char uplo, call.Letter("uplo", "LU"));
  return ForEachMatrix(call, [&](int64_t i) {
    lapack::Potrf(uplo, call.size('n'), call.ResultFromOperand<T>(0, 0, i), call.Result<int32_t>(1, i));
  });
}

template <typename T>
absl::Status Getrf(LapackCall& call) {
  return ForEachMatrix(call, [&](int64_t i) {
    T* const a = call.ResultFromOperand<T>(0, 0, i);
    lapack::Getrf(call.size('m'), call.size('n'), a, call.Result<int32_t>(1, i), call.Result<int32_t>(2, i));
  });
}

template <typename T>
absl::Status Geqrf(LapackCall& call) {
  const int m = call.size('m'), n = call.size('n');
  int info = 0;
  const int64_t size = WorkSize<T>(n, [&](T* optimum) { lapack::Geqrf(m, n, optimum, optimum, optimum, -1, &info); });
  KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size));
  return ForEachMatrix(call, [&](int64_t i) {
    T* const a = call.ResultFromOperand<T>(0, 0, i);
    lapack::Geqrf(m, n, a, call.Result<T>(1, i), work.data(), work.size(), &info);
  });
}

template <typename T>
absl::Status Geqp3(LapackCall& call) {
  const int m = call.size('m'), n = call.size('n');
  int info = 0, pivot = 0;
  const int64_t size = WorkSize<T>(kIsComplex<T> ? n + 1 : 3 * int64_t{n} + 1, [&](T* optimum) {
    lapack::Geqp3(m, n, optimum, &pivot, optimum, optimum, -1, nullptr, &info);
  });
  KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size, 2 * int64_t{n}));
  return ForEachMatrix(call, [&](int64_t i) {
    T* const a = call.ResultFromOperand<T>(0, 0, i);
    int* const pivots = call.ResultFromOperand<int32_t>(1, 1, i);
    lapack::Geqp3(m, n, a, pivots, call.Result<T>(2, i), work.data(), work.size(), work.real_data(), &info);
  });
}

template <typename T>
absl::Status Orgqr(LapackCall& call) {
  const int m = call.size('m'), n = call.size('n'), p = call.size('p');
  if (p > n || n > m) return call.Refuse("more reflectors than columns, or more columns than rows");
  int info = 0;
  const int64_t size =
      WorkSize<T>(n, [&](T* optimum) { lapack::Orgqr(m, n, p, optimum, optimum, optimum, -1, &info); });
  KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size));
  return ForEachMatrix(call, [&](int64_t i) {
    T* const a = call.ResultFromOperand<T>(0, 0, i);
    lapack::Orgqr(m, n, p, a, call.Operand<T>(1, i), work.data(), work.size(), &info);
  });
}

template <typename T>
absl::Status Ormqr(LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const int64_t left, call.Integer("left"));
  KASHI_ASSIGN_OR_RETURN(const int64_t transpose, call.Integer("transpose"));
  const int rows = call.size('r'), columns = call.size('c'), m = call.size('m'), p = call.size('p');
  if (m != (left ? rows : columns) || p > m || p > call.size('n')) return call.Refuse("reflectors of unexpected sizes");
  const char side = left ? 'L' : 'R';
  int info = 0;
  const int64_t size = WorkSize<T>(left ? columns : rows, [&](T* optimum) {
    lapack::Ormqr(side, transpose, rows, columns, p, optimum, m, optimum, optimum, optimum, -1, &info);
  });
  KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size));
  if (rows == 0 || columns == 0) return absl::OkStatus();
  for (int64_t i = 0; i < call.batch(); ++i) {
    KASHI_RETURN_IF_ERROR(call.CheckStopped());
    T* const b = call.ResultFromOperand<T>(0, 2, i);
    lapack::Ormqr(side, transpose, rows, columns, p, call.Operand<T>(0, i), m, call.Operand<T>(1, i), b, work.data(),
                  work.size(), &info);
  }
  return absl::OkStatus();
}

// ---- Systems -------------------------------------------------------------------------------------------------------

// Earlier versions of JAX give a factor, too.
template <typename T>
absl::Status Trsm(LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const char side, call.Letter("side", "LR"));
  KASHI_ASSIGN_OR_RETURN(const char uplo, call.Letter("uplo", "LU"));
  KASHI_ASSIGN_OR_RETURN(const char trans, call.Letter("trans_x", "NTC"));
  KASHI_ASSIGN_OR_RETURN(const char diag, call.Letter("diag", "NU"));
  const int n = call.size('n'), rows = call.size('r'), columns = call.size('c');
  if (n != (side == 'L' ? rows : columns)) return call.Refuse("a triangle of unexpected size");
  const T alpha = call.operand_count() > 2 ? *call.Operand<T>(2, 0) : T(1);
  return ForEachMatrix(call, [&](int64_t i) {
    T* const b = call.ResultFromOperand<T>(0, 1, i);
    lapack::Trsm(side, uplo, trans, diag, rows, columns, alpha, call.Operand<T>(0, i), n, b);
  });
}

// JAX's lower diagonal begins with an element that is ignored.
template <typename T>
absl::Status Gtsv(LapackCall& call) {
  return ForEachMatrix(call, [&](int64_t i) {
    T* const lower = call.ResultFromOperand<T>(0, 0, i);
    T* const diagonal = call.ResultFromOperand<T>(1, 1, i);
    T* const upper = call.ResultFromOperand<T>(2, 2, i);
    T* const b = call.ResultFromOperand<T>(3, 3, i);
    lapack::Gtsv(call.size('n'), call.size('c'), lower + 1, diagonal, upper, b, call.Result<int32_t>(4, i));
  });
}

// ---- Reductions ----------------------------------------------------------------------------------------------------

template <typename T>
absl::Status Gehrd(LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const int64_t low, call.Integer("low"));
  KASHI_ASSIGN_OR_RETURN(const int64_t high, call.Integer("high"));
  const int n = call.size('n');
  if (low < 1 || high > n || low > high + (n == 0)) return call.Refuse("low and high are not rows of the matrix");
  int info = 0;
  const int64_t size =
      WorkSize<T>(n, [&](T* optimum) { lapack::Gehrd(n, low, high, optimum, optimum, optimum, -1, &info); });
  KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size));
  return ForEachMatrix(call, [&](int64_t i) {
    T* const a = call.ResultFromOperand<T>(0, 0, i);
    lapack::Gehrd(n, low, high, a, call.Result<T>(1, i), work.data(), work.size(), call.Result<int32_t>(2, i));
  });
}

template <typename T>
absl::Status Sytrd(LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const char uplo, call.Letter("uplo", "LU"));
  const int n = call.size('n');
  int info = 0;
  Real<T> real = 0;
  const int64_t size =
      WorkSize<T>(1, [&](T* optimum) { lapack::Sytrd(uplo, n, optimum, &real, &real, optimum, optimum, -1, &info); });
  KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size));
  return ForEachMatrix(call, [&](int64_t i) {
    T* const a = call.ResultFromOperand<T>(0, 0, i);
    lapack::Sytrd(uplo, n, a, call.Result<Real<T>>(1, i), call.Result<Real<T>>(2, i), call.Result<T>(3, i), work.data(),
                  work.size(), call.Result<int32_t>(4, i));
  });
}

// ---- Eigenvalues and singular values -------------------------------------------------------------------------------

// ForEachMatrix for routines that need a finite matrix: other matrices give NaN, and `info` reports it.
template <typename T, typename One>
absl::Status ForEachFiniteMatrix(LapackCall& call, int info_result, One&& one) {
  return ForEachMatrix(call, [&](int64_t i) {
    if (AreFinite(call.Operand<T>(0, i), call.operand_elements(0))) return one(i, call.Result<int32_t>(info_result, i));
    call.FillWithNaN(i);
    *call.Result<int32_t>(info_result, i) = kNotFinite;
  });
}

template <typename T>
absl::Status Syevd(LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const char mode, call.Letter("mode", "NV"));
  KASHI_ASSIGN_OR_RETURN(const char uplo, call.Letter("uplo", "LU"));
  const int64_t n = call.size('n');
  const int64_t least = mode == 'N' ? 2 * n + 1 : kIsComplex<T> ? 2 * n + n * n : 1 + 6 * n + 2 * n * n;
  const int64_t reals = mode == 'N' ? n : 1 + 5 * n + 2 * n * n, integers = 3 + 5 * n;
  const int64_t size = WorkSize<T>(least, [&](T* optimum) {
    int info = 0, integer = 0;
    Real<T> real = 0;
    lapack::Syevd(mode, uplo, n, optimum, &real, optimum, -1, &real, -1, &integer, -1, &info);
  });
  KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size, kIsComplex<T> ? reals : 0, integers));
  return ForEachFiniteMatrix<T>(call, 2, [&](int64_t i, int* info) {
    T* const a = call.ResultFromOperand<T>(0, 0, i);
    lapack::Syevd(mode, uplo, n, a, call.Result<Real<T>>(1, i), work.data(), work.size(), work.real_data(), reals,
                  work.integer_data(), integers, info);
  });
}

// 'A' computes all of U [m,m] and V^H [n,n], 'S' the first min(m, n) columns and rows, 'N' none: they are then zeros.
absl::StatusOr<char> SingularValueMode(const LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const char mode, call.Letter("mode", "ASN"));
  const int m = call.size('m'), n = call.size('n'), u = call.size('u'), v = call.size('v'), k = std::min(m, n);
  const bool fits = mode == 'N' || (mode == 'A' ? u == m && v == n : u == k && v == k);
  if (!fits) return call.Refuse("the sizes of U or V do not match the mode");
  return mode;
}

template <typename T>
absl::Status Gesdd(LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const char mode, SingularValueMode(call));
  const int64_t m = call.size('m'), n = call.size('n'), low = std::min(m, n), high = std::max(m, n);
  const int ldvt = std::max(1, call.size('v'));
  const int64_t least = kIsComplex<T> ? low * low + 3 * low + high : 4 * low * low + 7 * low + high;
  const int64_t reals = std::max(5 * low * low + 7 * low, 2 * high * low + 2 * low * low + low);
  const int64_t size = WorkSize<T>(least, [&](T* optimum) {
    int info = 0, integer = 0;
    Real<T> real = 0;
    lapack::Gesdd(mode, m, n, optimum, &real, optimum, optimum, ldvt, optimum, -1, &real, &integer, &info);
  });
  KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size, kIsComplex<T> ? reals : 0, 8 * low));
  return ForEachFiniteMatrix<T>(call, 4, [&](int64_t i, int* info) {
    T* const a = call.ResultFromOperand<T>(0, 0, i);
    lapack::Gesdd(mode, m, n, a, call.Result<Real<T>>(1, i), call.Result<T>(2, i), call.Result<T>(3, i), ldvt,
                  work.data(), work.size(), work.real_data(), work.integer_data(), info);
  });
}

template <typename T>
absl::Status Gesvd(LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const char mode, SingularValueMode(call));
  const int64_t m = call.size('m'), n = call.size('n'), low = std::min(m, n), high = std::max(m, n);
  const int ldvt = std::max(1, call.size('v'));
  const int64_t least = std::max(3 * low + high, 5 * low);
  const int64_t size = WorkSize<T>(least, [&](T* optimum) {
    int info = 0;
    Real<T> real = 0;
    lapack::Gesvd(mode, m, n, optimum, &real, optimum, optimum, ldvt, optimum, -1, &real, &info);
  });
  KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size, kIsComplex<T> ? 5 * low : 0));
  return ForEachFiniteMatrix<T>(call, 4, [&](int64_t i, int* info) {
    T* const a = call.ResultFromOperand<T>(0, 0, i);
    lapack::Gesvd(mode, m, n, a, call.Result<Real<T>>(1, i), call.Result<T>(2, i), call.Result<T>(3, i), ldvt,
                  work.data(), work.size(), work.real_data(), info);
  });
}

// LAPACK packs the eigenvectors of a conjugate pair into two real columns: v and its conjugate are column j +- i
// column j+1.
template <typename R>
void UnpackEigenvectors(int n, const R* imaginary, const R* packed, std::complex<R>* vectors) {
  for (int64_t j = 0; j < n; ++j) {
    const R* const column = packed + j * n;
    std::complex<R>* const v = vectors + j * n;
    const bool is_pair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t r = 0; r < n; ++r) v[r] = {column[r], is_pair ? column[n + r] : 0};
    if (!is_pair) continue;
    for (int64_t r = 0; r < n; ++r) v[n + r] = std::conj(v[r]);
    ++j;
  }
}

// Results: eigenvalues (their real and imaginary parts, of real matrices), left vectors, right vectors, info.
template <typename T>
absl::Status Geev(LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const char left, call.Letter("compute_left", "NV"));
  KASHI_ASSIGN_OR_RETURN(const char right, call.Letter("compute_right", "NV"));
  const int64_t n = call.size('n'), elements = n * n;
  KASHI_ASSIGN_OR_RETURN(Value matrix, call.Workspace(kType<T>, elements));
  T* const a = matrix.mutable_data<T>().data();
  if constexpr (kIsComplex<T>) {
    const int64_t size = WorkSize<T>(2 * n, [&](T* optimum) {
      int info = 0;
      Real<T> real = 0;
      lapack::Geev(left, right, n, optimum, optimum, optimum, optimum, optimum, -1, &real, &info);
    });
    KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size, 2 * n));
    return ForEachFiniteMatrix<T>(call, 3, [&](int64_t i, int* info) {
      std::copy_n(call.Operand<T>(0, i), elements, a);
      lapack::Geev(left, right, n, a, call.Result<T>(0, i), call.Result<T>(1, i), call.Result<T>(2, i), work.data(),
                   work.size(), work.real_data(), info);
    });
  } else {
    const int64_t size = WorkSize<T>(4 * n, [&](T* optimum) {
      int info = 0;
      lapack::Geev(left, right, n, optimum, optimum, optimum, optimum, optimum, optimum, -1, &info);
    });
    KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size));
    KASHI_ASSIGN_OR_RETURN(Value packed, call.Workspace(kType<T>, 2 * elements));
    T* const vl = packed.mutable_data<T>().data();
    T* const vr = vl + elements;
    return ForEachFiniteMatrix<T>(call, 4, [&](int64_t i, int* info) {
      std::copy_n(call.Operand<T>(0, i), elements, a);
      T* const imaginary = call.Result<T>(1, i);
      lapack::Geev(left, right, n, a, call.Result<T>(0, i), imaginary, vl, vr, work.data(), work.size(), info);
      if (*info != 0) return call.FillWithNaN(i);
      if (left == 'V') UnpackEigenvectors(n, imaginary, vl, call.Result<std::complex<T>>(2, i));
      if (right == 'V') UnpackEigenvectors(n, imaginary, vr, call.Result<std::complex<T>>(3, i));
    });
  }
}

// Results: the Schur form, its vectors, eigenvalues (as Geev), how many were selected, info.
template <typename T>
absl::Status Gees(LapackCall& call) {
  KASHI_ASSIGN_OR_RETURN(const char mode, call.Letter("mode", "NV"));
  KASHI_RETURN_IF_ERROR(call.Letter("sort", "N").status());
  const int64_t n = call.size('n');
  const int64_t size = WorkSize<T>(3 * n, [&](T* optimum) {
    int info = 0, sdim = 0;
    if constexpr (kIsComplex<T>) {
      Real<T> real = 0;
      lapack::Gees(mode, n, optimum, &sdim, optimum, optimum, optimum, -1, &real, &info);
    } else {
      lapack::Gees(mode, n, optimum, &sdim, optimum, optimum, optimum, optimum, -1, &info);
    }
  });
  KASHI_ASSIGN_OR_RETURN(Work<T> work, MakeWork<T>(call, size, n));
  const int last = call.result_count() - 1;
  return ForEachFiniteMatrix<T>(call, last, [&](int64_t i, int* info) {
    T* const a = call.ResultFromOperand<T>(0, 0, i);
    T* const vectors = call.Result<T>(1, i);
    int* const sdim = call.Result<int32_t>(last - 1, i);
    if constexpr (kIsComplex<T>) {
      lapack::Gees(mode, n, a, sdim, call.Result<T>(2, i), vectors, work.data(), work.size(), work.real_data(), info);
    } else {
      lapack::Gees(mode, n, a, sdim, call.Result<T>(2, i), call.Result<T>(3, i), vectors, work.data(), work.size(),
                   info);
    }
  });
}

#define KASHI_LAPACK_FUNCTIONS(Name) \
  { Name<float>, Name<double>, Name<std::complex<float>>, Name<std::complex<double>> }
#else
#define KASHI_LAPACK_FUNCTIONS(Name) \
  {}
#endif

// --------------------------------------------------------------------------------------------------------------------

struct Routine {
  absl::string_view real_name, complex_name;
  absl::string_view real_signature, complex_signature;  // as LapackCall::Make has them; empty: as the real one
  LapackFunction* functions[4];                         // of s, d, c, z
};

constexpr Routine kRoutines[] = {
    {"potrf", "potrf", "T[n,n] -> T[n,n] i[]", "", KASHI_LAPACK_FUNCTIONS(Potrf)},
    {"getrf", "getrf", "T[m,n] -> T[m,n] i[k] i[]", "", KASHI_LAPACK_FUNCTIONS(Getrf)},
    {"geqrf", "geqrf", "T[m,n] -> T[m,n] T[k]", "", KASHI_LAPACK_FUNCTIONS(Geqrf)},
    {"geqp3", "geqp3", "T[m,n] i[n] -> T[m,n] i[n] T[k]", "", KASHI_LAPACK_FUNCTIONS(Geqp3)},
    {"orgqr", "ungqr", "T[m,n] T[p] -> T[m,n]", "", KASHI_LAPACK_FUNCTIONS(Orgqr)},
    {"ormqr", "unmqr", "T[m,n] T[p] T[r,c] -> T[r,c]", "", KASHI_LAPACK_FUNCTIONS(Ormqr)},
    {"trsm", "trsm", "T[n,n] T[r,c] T()? -> T[r,c]", "", KASHI_LAPACK_FUNCTIONS(Trsm)},
    {"gtsv", "gtsv", "T[n] T[n] T[n] T[n,c] -> T[n] T[n] T[n] T[n,c] i[]", "", KASHI_LAPACK_FUNCTIONS(Gtsv)},
    {"gehrd", "gehrd", "T[n,n] -> T[n,n] T[t] i[]", "", KASHI_LAPACK_FUNCTIONS(Gehrd)},
    {"sytrd", "hetrd", "T[n,n] -> T[n,n] R[n] R[t] T[t] i[]", "", KASHI_LAPACK_FUNCTIONS(Sytrd)},
    {"syevd", "heevd", "T[n,n] -> T[n,n] R[n] i[]", "", KASHI_LAPACK_FUNCTIONS(Syevd)},
    {"gesdd", "gesdd", "T[m,n] -> T[m,n] R[k] T[m,u] T[v,n] i[]", "", KASHI_LAPACK_FUNCTIONS(Gesdd)},
    {"gesvd", "gesvd", "T[m,n] -> T[m,n] R[k] T[m,u] T[v,n] i[]", "", KASHI_LAPACK_FUNCTIONS(Gesvd)},
    {"geev", "geev", "T[n,n] -> T[n] T[n] C[n,n] C[n,n] i[]", "T[n,n] -> T[n] C[n,n] C[n,n] i[]",
     KASHI_LAPACK_FUNCTIONS(Geev)},
    {"gees", "gees", "T[n,n] -> T[n,n] T[n,n] T[n] T[n] i[] i[]", "T[n,n] -> T[n,n] T[n,n] T[n] i[] i[]",
     KASHI_LAPACK_FUNCTIONS(Gees)},
};
#undef KASHI_LAPACK_FUNCTIONS

// The routines under the names of JAX until 2024.
struct OldRoutine {
  absl::string_view real_name;
  LapackConvention real, complex;
};

constexpr OldRoutine kOldRoutines[] = {
    {"potrf", {"uplo:UL =b =n", "", "", 2}, {"uplo:UL =b =n", "", "", 2}},
    {"getrf", {"=b =m =n", "", "", 3}, {"=b =m =n", "", "", 3}},
    {"geqrf", {"=b =m =n -", "", "", 4}, {"=b =m =n -", "", "", 4}},
    {"orgqr", {"=b =m =n =p -", "", "", 3}, {"=b =m =n =p -", "", "", 3}},
    {"trsm",
     {"side:RL uplo:UL trans_x:NTC diag:NU =r =c =b", "897", "", 1},
     {"side:RL uplo:UL trans_x:NTC diag:NU =r =c =b", "897", "", 1}},
    {"gehrd", {"=n low high - =b -", "", "", 4}, {"=n low high - =b -", "", "", 4}},
    {"sytrd", {"=n uplo:UL - =b -", "", "", 6}, {"=n uplo:UL - =b -", "", "", 6}},
    {"syevd", {"uplo:UL =b =n", "", "", 5, "{mode = 86}"}, {"uplo:UL =b =n", "", "", 6, "{mode = 86}"}},
    {"gesdd", {"mode:SA mode:N. =b =m =n -", "", "", 7}, {"mode:SA mode:N. =b =m =n -", "", "", 8}},
    {"geev",
     {"=b =n compute_left: compute_right:", "", "34567", 8},
     {"=b =n compute_left: compute_right:", "", "2345", 6}},
    {"gees", {"=b =n mode: sort:", "", "031245", 6}, {"=b =n mode: sort:", "", "03245", 6}},
};

struct LapackTarget {
  const Routine* routine = nullptr;  // null: no target of ours
  int type = 0;                      // 0 s, 1 d, 2 c, 3 z
  LapackConvention convention;

  bool is_complex() const { return type >= 2; }
};

const OldRoutine* FindOldRoutine(absl::string_view real_name) {
  const auto* const found = absl::c_find_if(kOldRoutines, [&](const auto& old) { return old.real_name == real_name; });
  return found == std::end(kOldRoutines) ? nullptr : found;
}

// "lapack_spotrf_ffi"; before "lapack_spotrf", and "blas_strsm"
LapackTarget FindLapackTarget(absl::string_view name) {
  constexpr absl::string_view kLetters = "sdcz";
  const bool is_old = !absl::ConsumeSuffix(&name, "_ffi");
  const bool is_blas = is_old && absl::ConsumePrefix(&name, "blas_");
  if ((!is_blas && !absl::ConsumePrefix(&name, "lapack_")) || name.empty()) return {};
  const size_t type = kLetters.find(name[0]);
  if (type == absl::string_view::npos) return {};
  const auto* const routine = absl::c_find_if(
      kRoutines, [&](const Routine& r) { return name.substr(1) == (type >= 2 ? r.complex_name : r.real_name); });
  if (routine == std::end(kRoutines) || (is_old && is_blas != (routine->real_name == "trsm"))) return {};
  LapackTarget target = {routine, static_cast<int>(type), {}};
  if (!is_old) return target;
  const OldRoutine* const old = FindOldRoutine(routine->real_name);
  if (old == nullptr) return {};
  target.convention = target.is_complex() ? old->complex : old->real;
  return target;
}

}  // namespace

bool HasLapack() {
#ifdef KASHI_HAS_LAPACK
  return true;
#else
  return false;
#endif
}

bool IsLapackCall(absl::string_view target) { return FindLapackTarget(target).routine != nullptr; }

absl::StatusOr<LapackBinding> LapackBinding::MakeOfTarget(const HloInstruction& instruction) {
  const LapackTarget target = FindLapackTarget(instruction.custom_call_target());
  if (!HasLapack()) {
    return Unimplemented(
        "%s: custom-call target \"%s\" needs LAPACK, which this kashi was built without (install liblapack-dev and "
        "libblas-dev, and configure with -DKASHI_LAPACK=ON); or a handler can compute it "
        "(EvaluationOptions::custom_call_handler, CustomCallRegistry, kashi run --custom-call)",
        instruction.name(), instruction.custom_call_target());
  }
  constexpr PrimitiveType kTypes[] = {F32, F64, C64, C128};
  const Routine& routine = *target.routine;
  const bool has_own_signature = target.is_complex() && !routine.complex_signature.empty();
  KASHI_ASSIGN_OR_RETURN(
      LapackBinding binding,
      LapackBinding::Make(instruction, has_own_signature ? routine.complex_signature : routine.real_signature,
                          kTypes[target.type], target.convention));
  binding.function_ = routine.functions[target.type];
  return binding;
}

absl::StatusOr<Value> EvaluateLapackCall(values::BasicOperation& op, const LapackBinding* binding) {
  std::optional<LapackBinding> own;
  if (binding == nullptr) {
    KASHI_ASSIGN_OR_RETURN(own, LapackBinding::MakeOfTarget(op.instruction));
    binding = &*own;
  }
  KASHI_ASSIGN_OR_RETURN(LapackCall call, LapackCall::Make(op, *binding));
  if (!call.gives_empty_matrix()) KASHI_RETURN_IF_ERROR(binding->function()(call));
  return call.TakeResults();
}

}  // namespace kashi::custom_calls
