// batch-norm-training, -inference and -grad (docs/spec/hlo-ops.md 8). With n the number of elements of a feature, and
// m, v its mean and variance:
//
//   training    m = sum(x)/n,  v = sum(x^2)/n - m^2
//               y = (x - m) r scale + offset                                   r = 1/sqrt(v + epsilon)
//   inference   y = (x - m) r scale + offset                                   m, v given
//   grad        dscale = sum(dy (x - m)) r,  doffset = sum(dy)
//               dx = scale r/n (n dy - sum(dy) - (x - m) sum(dy (x - m))/(v + epsilon))
//
// Sums and factors are doubles; elements are computed in f32 or f64. Sums are made in portions that depend only on the
// sizes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/parallel_for.h"

namespace kashi::evaluator {
namespace {

// An array seen as [outer][features][inner].
struct FeatureView {
  int64_t outer = 1;
  int64_t features;
  int64_t inner = 1;

  int64_t per_feature() const { return outer * inner; }
};

FeatureView ViewFeatures(absl::Span<const int64_t> dimensions, int64_t feature_index) {
  FeatureView view;
  view.features = dimensions[feature_index];
  for (int64_t i = 0; i < feature_index; ++i) view.outer *= dimensions[i];
  for (int64_t i = feature_index + 1; i < dimensions.size(); ++i) view.inner *= dimensions[i];
  return view;
}

// Two sums of each feature.
using SumPair = std::array<double, 2>;
using Sums = std::vector<SumPair>;

inline void AddTo(SumPair& sums, const SumPair& terms) {
  sums[0] += terms[0];
  sums[1] += terms[1];
}

// Adds the terms of elements [first, first + n), in four rows so that one addition need not wait for the one before.
template <typename Term>
void AddRun(int64_t first, int64_t n, int64_t feature, const Term& term, SumPair& sums) {
  SumPair partial[4] = {};
  const int64_t fours = n / 4 * 4;
  for (int64_t i = 0; i < fours; i += 4) {
    for (int k = 0; k < 4; ++k) AddTo(partial[k], term(first + i + k, feature));
  }
  for (int64_t i = fours; i < n; ++i) AddTo(sums, term(first + i, feature));
  if (fours == 0) return;
  AddTo(partial[0], partial[1]);
  AddTo(partial[2], partial[3]);
  AddTo(partial[0], partial[2]);
  AddTo(sums, partial[0]);
}

// Adds the terms of outer rows [begin, end) to sums: term(i, feature) gives the two terms of element i.
template <typename Term>
void AddRows(const FeatureView& view, int64_t begin, int64_t end, const Term& term, SumPair* sums) {
  for (int64_t row = begin * view.features; row < end * view.features; row += view.features) {
    for (int64_t f = 0; f < view.features; ++f) AddRun((row + f) * view.inner, view.inner, f, term, sums[f]);
  }
}

template <typename Term>
absl::StatusOr<Sums> SumFeatures(const EvaluationRun& run, const FeatureView& view, const Term& term) {
  constexpr int64_t kElements = 1 << 15, kMostPortions = 256;
  const int64_t row_size = std::max<int64_t>(1, view.features * view.inner);
  const int64_t rows = std::max({int64_t{1}, kElements / row_size, (view.outer + kMostPortions - 1) / kMostPortions});
  const int64_t portions = (view.outer + rows - 1) / rows;
  std::vector<Sums> partial(portions, Sums(view.features));
  KASHI_RETURN_IF_ERROR(ParallelFor(run, portions, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t p = begin; p < end; ++p) {
      AddRows(view, p * rows, std::min((p + 1) * rows, view.outer), term, partial[p].data());
    }
  }));
  Sums sums(view.features);
  for (const Sums& portion : partial) {
    for (int64_t f = 0; f < view.features; ++f) AddTo(sums[f], portion[f]);
  }
  return sums;
}

// out[i] = compute(i, feature) for all elements.
template <typename T, typename Compute>
absl::Status FillByFeature(const EvaluationRun& run, const FeatureView& view, T* out, const Compute& compute) {
  const int64_t row_size = view.features * view.inner;
  if (view.inner == 1) {
    return ParallelFor(run, view.outer, 1 + (1 << 14) / std::max<int64_t>(1, row_size),
                       [&](int64_t begin, int64_t end, int) {
                         for (int64_t row = begin; row < end; ++row) {
                           for (int64_t f = 0; f < row_size; ++f)
                             out[row * row_size + f] = compute(row * row_size + f, f);
                         }
                       });
  }
  return ParallelFor(run, view.outer * view.features, 1 + (1 << 14) / std::max<int64_t>(1, view.inner),
                     [&](int64_t begin, int64_t end, int) {
                       for (int64_t line = begin; line < end; ++line) {
                         const int64_t f = line % view.features, first = line * view.inner;
                         for (int64_t i = first; i < first + view.inner; ++i) out[i] = compute(i, f);
                       }
                     });
}

// The operands in the type of the computation, and the view of their elements.
struct BatchNorm {
  EvaluationRun& run;
  std::vector<Value> operands;
  FeatureView view;
  double epsilon;

  PrimitiveType type() const { return operands[0].element_type(); }
  template <typename T>
  const T* Data(int64_t i) const {
    return operands[i].data<T>().data();
  }
  absl::StatusOr<Value> MakeElements() const { return run.MakeArray(operands[0].dense_shape()); }
  absl::StatusOr<Value> MakeFeatures() const { return run.MakeArray(type(), {view.features}); }
};

absl::StatusOr<BatchNorm> MakeBatchNorm(Operation& op) {
  const PrimitiveType type = op.operands[0].element_type() == F64 ? F64 : F32;
  BatchNorm norm{
      op.run, {}, ViewFeatures(op.operands[0].dimensions(), op.instruction.feature_index()), op.instruction.epsilon()};
  for (Value& operand : op.operands) {
    KASHI_ASSIGN_OR_RETURN(Value converted, op.run.Convert(std::move(operand), type));
    norm.operands.push_back(std::move(converted));
  }
  return norm;
}

// The tuple of the results, converted to their types; a single result without a tuple.
absl::StatusOr<Value> Finish(const Operation& op, std::vector<Value> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(results[i], op.run.Convert(std::move(results[i]), op.result(i)->element_type()));
  }
  if (results.size() == 1) return std::move(results[0]);
  return Value::MakeTuple(std::move(results));
}

// (x - mean) factor + offset, per feature; factor = scale / sqrt(variance + epsilon).
template <typename T>
absl::StatusOr<Value> Normalize(const BatchNorm& norm, const T* scale, const T* offset, const T* mean,
                                const T* variance) {
  std::vector<T> factors(norm.view.features);
  for (int64_t f = 0; f < norm.view.features; ++f) {
    factors[f] = static_cast<T>(scale[f] / std::sqrt(variance[f] + norm.epsilon));
  }
  KASHI_ASSIGN_OR_RETURN(Value y, norm.MakeElements());
  const T* const x = norm.Data<T>(0);
  KASHI_RETURN_IF_ERROR(FillByFeature(norm.run, norm.view, y.mutable_data<T>().data(),
                                      [&](int64_t i, int64_t f) { return (x[i] - mean[f]) * factors[f] + offset[f]; }));
  return y;
}

template <typename T>
absl::StatusOr<std::vector<Value>> Train(const BatchNorm& norm) {
  const T* const x = norm.Data<T>(0);
  const auto terms = [&](int64_t i, int64_t) { return SumPair{x[i], static_cast<double>(x[i]) * x[i]}; };
  KASHI_ASSIGN_OR_RETURN(const Sums sums, SumFeatures(norm.run, norm.view, terms));
  KASHI_ASSIGN_OR_RETURN(Value mean, norm.MakeFeatures());
  KASHI_ASSIGN_OR_RETURN(Value variance, norm.MakeFeatures());
  const double n = static_cast<double>(norm.view.per_feature());
  for (int64_t f = 0; f < norm.view.features; ++f) {
    const double exact_mean = sums[f][0] / n;
    mean.mutable_data<T>()[f] = static_cast<T>(exact_mean);
    variance.mutable_data<T>()[f] = static_cast<T>(sums[f][1] / n - exact_mean * exact_mean);
  }
  KASHI_ASSIGN_OR_RETURN(
      Value y, Normalize<T>(norm, norm.Data<T>(1), norm.Data<T>(2), mean.data<T>().data(), variance.data<T>().data()));
  std::vector<Value> results;
  results.push_back(std::move(y));
  results.push_back(std::move(mean));
  results.push_back(std::move(variance));
  return results;
}

template <typename T>
absl::StatusOr<std::vector<Value>> Infer(const BatchNorm& norm) {
  KASHI_ASSIGN_OR_RETURN(Value y,
                         Normalize<T>(norm, norm.Data<T>(1), norm.Data<T>(2), norm.Data<T>(3), norm.Data<T>(4)));
  std::vector<Value> results;
  results.push_back(std::move(y));
  return results;
}

template <typename T>
absl::StatusOr<std::vector<Value>> Differentiate(const BatchNorm& norm) {
  const T *x = norm.Data<T>(0), *scale = norm.Data<T>(1), *mean = norm.Data<T>(2), *variance = norm.Data<T>(3);
  const T* const dy = norm.Data<T>(4);
  const auto terms = [&](int64_t i, int64_t f) {
    return SumPair{dy[i], static_cast<double>(dy[i]) * (static_cast<double>(x[i]) - mean[f])};
  };
  KASHI_ASSIGN_OR_RETURN(const Sums sums, SumFeatures(norm.run, norm.view, terms));
  KASHI_ASSIGN_OR_RETURN(Value scale_gradient, norm.MakeFeatures());
  KASHI_ASSIGN_OR_RETURN(Value offset_gradient, norm.MakeFeatures());
  // dx = a dy + b (x - mean) + c
  struct Line {
    T a, b, c;
  };
  std::vector<Line> lines(norm.view.features);
  const double n = static_cast<double>(norm.view.per_feature());
  for (int64_t f = 0; f < norm.view.features; ++f) {
    const double spread = variance[f] + norm.epsilon, r = 1 / std::sqrt(spread), factor = scale[f] * r;
    offset_gradient.mutable_data<T>()[f] = static_cast<T>(sums[f][0]);
    scale_gradient.mutable_data<T>()[f] = static_cast<T>(sums[f][1] * r);
    lines[f] = {static_cast<T>(factor), static_cast<T>(-factor / n * sums[f][1] / spread),
                static_cast<T>(-factor / n * sums[f][0])};
  }
  KASHI_ASSIGN_OR_RETURN(Value dx, norm.MakeElements());
  KASHI_RETURN_IF_ERROR(FillByFeature(norm.run, norm.view, dx.mutable_data<T>().data(), [&](int64_t i, int64_t f) {
    return lines[f].a * dy[i] + lines[f].b * (x[i] - mean[f]) + lines[f].c;
  }));
  std::vector<Value> results;
  results.push_back(std::move(dx));
  results.push_back(std::move(scale_gradient));
  results.push_back(std::move(offset_gradient));
  return results;
}

using Formula = absl::StatusOr<std::vector<Value>> (*)(const BatchNorm&);

absl::StatusOr<Value> EvaluateBatchNorm(Operation& op, Formula f32, Formula f64) {
  KASHI_ASSIGN_OR_RETURN(const BatchNorm norm, MakeBatchNorm(op));
  KASHI_ASSIGN_OR_RETURN(std::vector<Value> results, norm.type() == F64 ? f64(norm) : f32(norm));
  return Finish(op, std::move(results));
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kBatchNormTraining>(Operation& op) {
  return EvaluateBatchNorm(op, Train<float>, Train<double>);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kBatchNormInference>(Operation& op) {
  return EvaluateBatchNorm(op, Infer<float>, Infer<double>);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kBatchNormGrad>(Operation& op) {
  return EvaluateBatchNorm(op, Differentiate<float>, Differentiate<double>);
}

}  // namespace kashi::evaluator
