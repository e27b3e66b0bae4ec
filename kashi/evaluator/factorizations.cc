#include "kashi/evaluator/factorizations.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/kernels/dense_factorizations.h"
#include "kashi/kernels/matrix_kernels.h"
#include "kashi/values/writable.h"

namespace kashi::evaluator {
namespace {

using Sizes = std::vector<int64_t>;

template <typename T>
constexpr PrimitiveType kType = primitive_util::NativeToPrimitiveType<T>();

// The matrices of an array whose last two dimensions they are.
struct Stack {
  explicit Stack(const Value& a)
      : batch(a.dimensions().begin(), a.dimensions().end() - 2),
        count(std::accumulate(batch.begin(), batch.end(), int64_t{1}, std::multiplies<int64_t>())),
        m(a.dimension(a.rank() - 2)),
        n(a.dimension(a.rank() - 1)),
        k(std::min(m, n)) {}
  Sizes With(std::initializer_list<int64_t> sizes) const {
    Sizes all = batch;
    all.insert(all.end(), sizes);
    return all;
  }
  Sizes batch;
  int64_t count, m, n, k;
};

// f64 or c128.
PrimitiveType WideType(PrimitiveType type) { return primitive_util::IsComplexType(type) ? C128 : F64; }

// A copy of the array in f64 or c128 to work in.
absl::StatusOr<Value> Widened(EvaluationRun& run, Value a) {
  KASHI_RETURN_IF_ERROR(kernels::LinearAlgebraType(a.element_type()).status());
  const PrimitiveType wide = WideType(a.element_type());
  KASHI_ASSIGN_OR_RETURN(a, run.Convert(std::move(a), wide));
  return values::MakeWritable(run.budget(), std::move(a));
}

// f(double) or f(complex128), by the type of an array that Widened gave.
template <typename F>
absl::Status SwitchWide(const Value& wide, F&& f) {
  return wide.element_type() == C128 ? f(complex128()) : f(double());
}

template <typename T>
kernels::Matrix<T> MatrixOf(Value& value, int64_t i, int64_t m, int64_t n) {
  return {value.mutable_data<T>().data() + i * m * n, m, n, n};
}

// Calls body(i) for each matrix; checks for cancellation before each.
template <typename Body>
absl::Status ForEach(EvaluationRun& run, int64_t count, double work, Body&& body) {
  return kernels::ForEachMatrix(count, work, [&](int64_t i) -> absl::Status {
    KASHI_RETURN_IF_ERROR(run.CheckStopped());
    if constexpr (std::is_void_v<decltype(body(i))>) {
      body(i);
      return absl::OkStatus();
    } else {
      return body(i);
    }
  });
}

}  // namespace

absl::StatusOr<QrResult> QrFactors(EvaluationRun& run, Value a) {
  const PrimitiveType type = a.element_type();
  KASHI_ASSIGN_OR_RETURN(a, Widened(run, std::move(a)));
  const Stack stack(a);
  KASHI_ASSIGN_OR_RETURN(Value taus, run.MakeArray(a.element_type(), stack.With({stack.k})));
  KASHI_RETURN_IF_ERROR(SwitchWide(a, [&](auto zero) {
    using T = decltype(zero);
    T* const data = taus.mutable_data<T>().data();
    return ForEach(run, stack.count, 2.0 * stack.m * stack.n * stack.k,
                   [&](int64_t i) { kernels::FactorQr(MatrixOf<T>(a, i, stack.m, stack.n), data + i * stack.k); });
  }));
  KASHI_ASSIGN_OR_RETURN(a, run.Convert(std::move(a), type));
  KASHI_ASSIGN_OR_RETURN(taus, run.Convert(std::move(taus), type));
  return QrResult{std::move(a), std::move(taus)};
}

absl::StatusOr<Value> ProductOfReflectors(EvaluationRun& run, Value factors, const Value& taus) {
  const PrimitiveType type = factors.element_type();
  KASHI_ASSIGN_OR_RETURN(factors, Widened(run, std::move(factors)));
  KASHI_ASSIGN_OR_RETURN(const Value wide_taus, Widened(run, taus));
  const Stack stack(factors);
  const int64_t count = taus.dimensions().back();
  KASHI_ASSIGN_OR_RETURN(Value q, run.MakeArray(factors.dense_shape()));
  KASHI_RETURN_IF_ERROR(SwitchWide(factors, [&](auto zero) {
    using T = decltype(zero);
    return ForEach(run, stack.count, 2.0 * stack.m * stack.n * count, [&](int64_t i) {
      const kernels::Matrix<T> from = MatrixOf<T>(factors, i, stack.m, stack.n);
      kernels::MultiplyReflectors<T>({from.data, from.rows, from.columns, from.stride},
                                     wide_taus.data<T>().data() + i * count, count,
                                     MatrixOf<T>(q, i, stack.m, stack.n));
    });
  }));
  return run.Convert(std::move(q), type);
}

absl::StatusOr<Value> CompactReflectors(EvaluationRun& run, Value u) {
  const PrimitiveType type = u.element_type();
  KASHI_ASSIGN_OR_RETURN(u, Widened(run, std::move(u)));
  const Stack stack(u);
  KASHI_RETURN_IF_ERROR(SwitchWide(u, [&](auto zero) {
    using T = decltype(zero);
    return ForEach(run, stack.count, static_cast<double>(stack.n) * stack.n * stack.n / 3,
                   [&](int64_t i) { kernels::MakeCompact(MatrixOf<T>(u, i, stack.n, stack.n)); });
  }));
  return run.Convert(std::move(u), type);
}

absl::StatusOr<LuResult> LuFactors(EvaluationRun& run, Value a) {
  const PrimitiveType type = a.element_type();
  KASHI_ASSIGN_OR_RETURN(a, Widened(run, std::move(a)));
  const Stack stack(a);
  KASHI_ASSIGN_OR_RETURN(Value pivots, run.MakeArray(S32, stack.With({stack.k})));
  KASHI_ASSIGN_OR_RETURN(Value permutation, run.MakeArray(S32, stack.With({stack.m})));
  KASHI_RETURN_IF_ERROR(SwitchWide(a, [&](auto zero) {
    using T = decltype(zero);
    int32_t* const swaps = pivots.mutable_data<int32_t>().data();
    int32_t* const rows = permutation.mutable_data<int32_t>().data();
    return ForEach(run, stack.count, static_cast<double>(stack.m) * stack.n * stack.k, [&](int64_t i) {
      kernels::FactorLu(MatrixOf<T>(a, i, stack.m, stack.n), swaps + i * stack.k, rows + i * stack.m);
    });
  }));
  KASHI_ASSIGN_OR_RETURN(a, run.Convert(std::move(a), type));
  return LuResult{std::move(a), std::move(pivots), std::move(permutation)};
}

absl::StatusOr<EigenResult> HermitianEigen(EvaluationRun& run, Value a, bool lower, bool sort) {
  const PrimitiveType type = a.element_type();
  const PrimitiveType real = primitive_util::IsComplexType(type) ? primitive_util::ComplexComponentType(type) : type;
  KASHI_ASSIGN_OR_RETURN(a, Widened(run, std::move(a)));
  const Stack stack(a);
  KASHI_ASSIGN_OR_RETURN(Value vectors, run.MakeArray(a.dense_shape()));
  KASHI_ASSIGN_OR_RETURN(Value values, run.MakeArray(F64, stack.With({stack.n})));
  const auto check_stopped = [&] { return run.CheckStopped(); };
  KASHI_RETURN_IF_ERROR(SwitchWide(a, [&](auto zero) {
    using T = decltype(zero);
    double* const w = values.mutable_data<double>().data();
    return ForEach(run, stack.count, 40.0 * stack.n * stack.n * stack.n, [&](int64_t i) {
      return kernels::FactorEigen(MatrixOf<T>(a, i, stack.n, stack.n), lower, sort,
                                  MatrixOf<T>(vectors, i, stack.n, stack.n), w + i * stack.n, check_stopped);
    });
  }));
  KASHI_ASSIGN_OR_RETURN(vectors, run.Convert(std::move(vectors), type));
  KASHI_ASSIGN_OR_RETURN(values, run.Convert(std::move(values), real));
  return EigenResult{std::move(vectors), std::move(values)};
}

}  // namespace kashi::evaluator
