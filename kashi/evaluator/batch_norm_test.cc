#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_comparison.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

// x: the shape of the array; c: the shape of the vectors with one number for each feature.
std::string Module(absl::string_view opcode, absl::string_view x, absl::string_view c, int64_t feature_index) {
  constexpr absl::string_view kTraining =
      "ENTRY e { x = $0 parameter(0) s = $1 parameter(1) o = $1 parameter(2) "
      "ROOT r = ($0, $1, $1) batch-norm-training(x, s, o), epsilon=0.5, feature_index=$2 }";
  constexpr absl::string_view kInference =
      "ENTRY e { x = $0 parameter(0) s = $1 parameter(1) o = $1 parameter(2) m = $1 parameter(3) v = $1 parameter(4) "
      "ROOT r = $0 batch-norm-inference(x, s, o, m, v), epsilon=0.5, feature_index=$2 }";
  constexpr absl::string_view kGrad =
      "ENTRY e { x = $0 parameter(0) s = $1 parameter(1) m = $1 parameter(2) v = $1 parameter(3) dy = $0 parameter(4) "
      "ROOT r = ($0, $1, $1) batch-norm-grad(x, s, m, v, dy), epsilon=0.5, feature_index=$2 }";
  const absl::string_view text = opcode == "training" ? kTraining : opcode == "grad" ? kGrad : kInference;
  return absl::Substitute(text, x, c, feature_index);
}

template <typename... Literals>
std::vector<Literal> List(Literals... literals) {
  std::vector<Literal> list;
  (list.push_back(std::move(literals)), ...);
  return list;
}

void ExpectNear(const Literal& expected, const LiteralSlice& actual, double tolerance) {
  const absl::Status status = literal_comparison::Near(expected, actual, ErrorSpec(tolerance, tolerance));
  EXPECT_TRUE(status.ok()) << status;
}

TEST(BatchNormTest, Vectors) {  // docs/spec/hlo-ops.md 15
  const auto x = [] { return LiteralUtil::CreateR2<float>({{1, 2}, {3, 6}}); };
  const auto c = [](float a, float b) { return LiteralUtil::CreateR1<float>({a, b}); };
  const Literal training = EvaluateText(Module("training", "f32[2,2]", "f32[2]", 1), List(x(), c(1, 2), c(0, 10)));
  ExpectNear(LiteralUtil::CreateR2<float>({{-0.8164966f, 8.114382f}, {0.8164966f, 11.885618f}}),
             LiteralSlice(training, {0}), 1e-6);
  EXPECT_EQ(LiteralSlice(training, {1}), c(2, 4));
  EXPECT_EQ(LiteralSlice(training, {2}), c(1, 4));

  ExpectNear(LiteralUtil::CreateR2<float>({{0, 10.648886f}, {0.9428091f, 13.244429f}}),
             EvaluateText(Module("inference", "f32[2,2]", "f32[2]", 1), List(x(), c(1, 2), c(0, 10), c(1, 1), c(4, 9))),
             1e-6);

  const Literal grad =
      EvaluateText(Module("grad", "f32[2,2]", "f32[2]", 1),
                   List(x(), c(1, 2), c(2, 4), c(1, 4), LiteralUtil::CreateR2<float>({{1, 2}, {3, 5}})));
  ExpectNear(LiteralUtil::CreateR2<float>({{-0.2721655f, -0.15713485f}, {0.2721655f, 0.15713485f}}),
             LiteralSlice(grad, {0}), 1e-6);
  ExpectNear(c(1.6329931f, 2.8284273f), LiteralSlice(grad, {1}), 1e-6);
  EXPECT_EQ(LiteralSlice(grad, {2}), c(4, 7));
}

TEST(BatchNormTest, VarianceOfLargeNumbersDoesNotCancel) {
  const Literal result = EvaluateText(Module("training", "f32[4,1]", "f32[1]", 1),
                                      List(LiteralUtil::CreateR2<float>({{10000}, {10001}, {10002}, {10003}}),
                                           LiteralUtil::CreateR1<float>({1}), LiteralUtil::CreateR1<float>({0})));
  EXPECT_EQ(LiteralSlice(result, {2}), LiteralUtil::CreateR1<float>({1.25}));
}

TEST(BatchNormTest, NarrowTypesRoundAtTheEnd) {
  using B = bfloat16;
  const Literal result = EvaluateText(Module("training", "bf16[2,1]", "bf16[1]", 1),
                                      List(LiteralUtil::CreateR2<B>({{B(1.0f)}, {B(3.0f)}}),
                                           LiteralUtil::CreateR1<B>({B(1.0f)}), LiteralUtil::CreateR1<B>({B(0.0f)})));
  const float y = 1 / std::sqrt(1.5f);
  EXPECT_EQ(LiteralSlice(result, {0}), LiteralUtil::CreateR2<B>({{B(-y)}, {B(y)}}));
}

TEST(BatchNormTest, NothingToNormalize) {
  const Literal result = EvaluateText(Module("training", "f32[0,2]", "f32[2]", 1),
                                      List(LiteralUtil::CreateFromDimensions(F32, {0, 2}),
                                           LiteralUtil::CreateR1<float>({1, 1}), LiteralUtil::CreateR1<float>({0, 0})));
  EXPECT_THAT(LiteralSlice(result, {1}).data<float>(), ::testing::Each(::testing::IsNan()));
}

struct Sample {
  Literal x, dy, scale, offset;
  int64_t features, inner;
  int64_t FeatureOf(int64_t i) const { return i / inner % features; }
};

Sample MakeSample(int64_t outer, int64_t features, int64_t inner) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0.5, 2);
  Sample sample{LiteralUtil::CreateFromDimensions(F64, {outer, features, inner}),
                LiteralUtil::CreateFromDimensions(F64, {outer, features, inner}),
                LiteralUtil::CreateFromDimensions(F64, {features}),
                LiteralUtil::CreateFromDimensions(F64, {features}),
                features,
                inner};
  for (Literal* literal : {&sample.x, &sample.dy, &sample.scale, &sample.offset}) {
    for (double& number : literal->data<double>()) number = normal(random);
  }
  return sample;
}

// Sizes that are cut into portions in one way and another, against the formulas one by one.
void ExpectFormulas(int64_t outer, int64_t features, int64_t inner) {
  const Sample s = MakeSample(outer, features, inner);
  const std::string x = absl::Substitute("f64[$0,$1,$2]", outer, features, inner),
                    c = absl::Substitute("f64[$0]", features);
  const Literal training = EvaluateText(Module("training", x, c, 1), {&s.x, &s.scale, &s.offset});
  const absl::Span<const double> numbers = s.x.data<double>(), dy = s.dy.data<double>();
  const int64_t count = numbers.size();
  const double n = static_cast<double>(outer * inner);
  std::vector<double> mean(features), variance(features), sum_dy(features), sum_product(features);
  for (int64_t i = 0; i < count; ++i) mean[s.FeatureOf(i)] += numbers[i] / n;
  for (int64_t i = 0; i < count; ++i) variance[s.FeatureOf(i)] += std::pow(numbers[i] - mean[s.FeatureOf(i)], 2) / n;
  Literal y = s.x.Clone();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t f = s.FeatureOf(i);
    y.data<double>()[i] =
        (numbers[i] - mean[f]) / std::sqrt(variance[f] + 0.5) * s.scale.data<double>()[f] + s.offset.data<double>()[f];
    sum_dy[f] += dy[i];
    sum_product[f] += dy[i] * (numbers[i] - mean[f]);
  }
  ExpectNear(y, LiteralSlice(training, {0}), 1e-9);
  ExpectNear(LiteralUtil::CreateR1<double>(mean), LiteralSlice(training, {1}), 1e-10);
  ExpectNear(LiteralUtil::CreateR1<double>(variance), LiteralSlice(training, {2}), 1e-10);

  const Literal m = LiteralUtil::CreateR1<double>(mean), v = LiteralUtil::CreateR1<double>(variance);
  ExpectNear(y, EvaluateText(Module("inference", x, c, 1), {&s.x, &s.scale, &s.offset, &m, &v}), 1e-9);
  Literal dx = s.x.Clone();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t f = s.FeatureOf(i);
    dx.data<double>()[i] = s.scale.data<double>()[f] / std::sqrt(variance[f] + 0.5) / n *
                           (n * dy[i] - sum_dy[f] - (numbers[i] - mean[f]) * sum_product[f] / (variance[f] + 0.5));
  }
  const Literal grad = EvaluateText(Module("grad", x, c, 1), {&s.x, &s.scale, &m, &v, &s.dy});
  ExpectNear(dx, LiteralSlice(grad, {0}), 1e-9);
  ExpectNear(LiteralUtil::CreateR1<double>(sum_dy), LiteralSlice(grad, {2}), 1e-9);
}

TEST(BatchNormTest, Formulas) {
  ExpectFormulas(3, 2, 5);
  ExpectFormulas(7001, 13, 1);
  ExpectFormulas(5, 3, 20011);
  ExpectFormulas(1, 1000, 50);
}

}  // namespace
}  // namespace kashi::evaluator
