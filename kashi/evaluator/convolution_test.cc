// convolution against the formula of docs/spec/hlo-ops.md 4, and vectors made by XLA (sections 4 and 15 there).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using Dimensions = std::vector<int64_t>;

// One spatial dimension, one feature: x by w, with the attributes of a window.
std::string ConvolveVectors(const std::string& x, const std::string& w, const std::string& window, int64_t results) {
  const auto size = [](const std::string& list) { return std::count(list.begin(), list.end(), ',') + 1; };
  const std::string text =
      absl::StrCat("HloModule m\nENTRY e {\n  x = f32[", size(x), "] constant({", x, "})\n  w = f32[", size(w),
                   "] constant({", w, "})\n  xr = f32[1,", size(x), ",1] reshape(x)\n  wr = f32[", size(w),
                   ",1,1] reshape(w)\n  c = f32[1,", results, ",1] convolution(xr, wr), window={size=", size(w), " ",
                   window, "}, dim_labels=b0f_0io->b0f\n  ROOT r = f32[", results, "] reshape(c)\n}");
  return EvaluateText(text).ToStringWithoutShape();
}

TEST(ConvolutionTest, Windows) {
  const std::string x = "1,2,3,4,5", w = "1,10,100";
  EXPECT_EQ(ConvolveVectors(x, w, "", 3), "{321, 432, 543}");
  EXPECT_EQ(ConvolveVectors(x, w, "rhs_reversal=1", 3), "{123, 234, 345}");
  EXPECT_EQ(ConvolveVectors(x, w, "pad=1_1 stride=2", 3), "{210, 432, 54}");
  EXPECT_EQ(ConvolveVectors(x, w, "lhs_dilate=2", 7), "{201, 20, 302, 30, 403, 40, 504}");
  EXPECT_EQ(ConvolveVectors(x, w, "rhs_dilate=2", 1), "{531}");
  EXPECT_EQ(ConvolveVectors(x, w, "pad=-1_0", 2), "{432, 543}");
}

TEST(ConvolutionTest, FeatureGroups) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      x = f32[1,2,4] constant({{{0, 1, 2, 3}, {4, 5, 6, 7}}})
      w = f32[1,2,4] constant({{{1, 2, 3, 4}, {10, 20, 30, 40}}})
      ROOT c = f32[1,2,4] convolution(x, w), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=2
    })");
  EXPECT_EQ(result, (LiteralUtil::CreateR3<float>({{{10, 20, 96, 128}, {54, 108, 228, 304}}})));
}

TEST(ConvolutionTest, BatchGroups) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      x = f32[4,1,1] constant({{{1}}, {{2}}, {{3}}, {{4}}})
      w = f32[1,1,4] constant({{{1, 10, 100, 1000}}})
      ROOT c = f32[2,1,4] convolution(x, w), window={size=1}, dim_labels=b0f_0io->b0f, batch_group_count=2
    })");
  EXPECT_EQ(result, (LiteralUtil::CreateR3<float>({{{1, 10, 300, 3000}}, {{2, 20, 400, 4000}}})));
}

TEST(ConvolutionTest, WithoutSpatialDimensions) {
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY e {
      x = f32[2,2] constant({{1, 2}, {3, 4}})
      w = f32[2,1] constant({{1}, {10}})
      ROOT c = f32[2,1] convolution(x, w), dim_labels=bf_io->bf
    })");
  EXPECT_EQ(result, (LiteralUtil::CreateR2<float>({{21}, {43}})));
}

// Positions outside lhs are left out, not multiplied by zero: an infinity in rhs has no effect there.
TEST(ConvolutionTest, OutsideIsNotZero) {
  EXPECT_EQ(ConvolveVectors("1,2,3", "inf,1,10", "pad=1_0 lhs_dilate=3", 6), "{1, inf, 20, 2, inf, 30}");
  EXPECT_EQ(ConvolveVectors("1,2", "inf,1", "pad=1_0", 2), "{1, inf}");
}

TEST(ConvolutionTest, Types) {
  struct Case {
    const char* type;
    const char* x;
    const char* w;
    const char* result_type;
    const char* result;
  };
  const Case cases[] = {
      {"s8", "{100, 100}", "{2, 0}", "s8", "127"},  // saturated, where dot wraps
      {"s8", "{100, 100}", "{-2, 0}", "s8", "-128"},
      {"s8", "{100, 100}", "{100, 100}", "s32", "20000"},
      {"u8", "{100, 100}", "{2, 1}", "u8", "255"},
      {"s4", "{7, 7}", "{7, -7}", "s4", "0"},  // only the sum is saturated
      {"s4", "{7, 7}", "{7, 7}", "s4", "7"},
      {"s32", "{2147483647, 2147483647}", "{2, -1}", "s32", "2147483647"},
      {"s32", "{2147483647, 2147483647}", "{-2, -1}", "s32", "-2147483648"},
      {"u32", "{4294967295, 1}", "{1, 1}", "u32", "4294967295"},
      {"s64", "{4611686018427387904, 0}", "{2, 0}", "s64", "-9223372036854775808"},
      {"pred", "{1, 0}", "{0, 1}", "pred", "false"},
      {"pred", "{1, 1}", "{1, 1}", "pred", "true"},
      {"bf16", "{256, 1}", "{1, 1.5}", "bf16", "258"},
      {"bf16", "{256, 1}", "{1, 1.5}", "f32", "257.5"},
      {"f16", "{256, 1}", "{256, 1}", "f16", "inf"},
      {"c64", "{(1, 2), (0, 1)}", "{(3, 4), (0, 1)}", "c64", "(-6, 10)"},
  };
  for (const Case& c : cases) {
    const std::string text = absl::StrCat(
        "HloModule m\nENTRY e {\n  x = ", c.type, "[2] constant(", c.x, ")\n  w = ", c.type, "[2] constant(", c.w,
        ")\n  xr = ", c.type, "[1,2,1] reshape(x)\n  wr = ", c.type, "[2,1,1] reshape(w)\n  c = ", c.result_type,
        "[1,1,1] convolution(xr, wr), window={size=2}, dim_labels=b0f_0io->b0f\n  ROOT r = ", c.result_type,
        "[] reshape(c)\n}");
    EXPECT_EQ(EvaluateText(text).ToStringWithoutShape(), c.result) << text;
  }
}

// Attributes near the ends of int64: nothing of lhs is met, or one element.
// Sums may be narrower than the result: those of s8 fit s32.
TEST(ConvolutionTest, IntegersOfOtherTypesThanTheResult) {
  for (const char* operand : {"s2", "s4", "s8", "s16", "s32", "s64", "u2", "u4", "u8", "u16", "u32", "u64"}) {
    for (const char* result : {"s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"}) {
      const std::string text = absl::StrCat("HloModule m\nENTRY e {\n  x = ", operand,
                                            "[1,4,1] constant({{{1},{0},{1},{1}}})\n  w = ", operand,
                                            "[2,1,1] constant({{{1}},{{1}}})\n  ROOT c = ", result,
                                            "[1,3,1] convolution(x, w), window={size=2}, dim_labels=b0f_0io->b0f\n}");
      EXPECT_EQ(EvaluateText(text).ToStringWithoutShapeOneline(), "{ { {1}, {1}, {2} } }") << text;
    }
  }
}

TEST(ConvolutionTest, HugeAttributes) {
  EXPECT_EQ(ConvolveVectors("1,2,3", "1,10", "stride=9223372036854775807", 1), "{21}");
  EXPECT_EQ(ConvolveVectors("1,2,3", "1,10", "pad=4611686018427387904_-4611686018427387904", 2), "{0, 0}");
  EXPECT_EQ(ConvolveVectors("1,2,3", "1,10", "pad=-4611686018427387904_4611686018427387904", 2), "{0, 0}");
  EXPECT_EQ(ConvolveVectors("1,2", "7", "lhs_dilate=4611686018427387904 stride=4611686018427387904", 2), "{7, 14}");
  EXPECT_EQ(ConvolveVectors("5", "1,10", "rhs_dilate=4611686018427387904 pad=4611686018427387904_0", 1), "{50}");
}

// ---- Random convolutions -------------------------------------------------------------------------------------------

struct RandomConvolution {
  struct Window {
    int64_t size, stride, low, high, lhs_dilate, rhs_dilate;
    bool reversal;
    int64_t lhs_size, out_size;
  };
  std::vector<Window> windows;
  int64_t batch, inputs, outputs;  // inputs of one feature group; batch of the result
  int64_t feature_groups = 1, batch_groups = 1;
  // For each array: where its dimensions are. [0] and [1]: batch and feature (kernel: input and output feature), then
  // the spatial ones.
  std::vector<int64_t> lhs_place, rhs_place, out_place;

  int64_t Pick(std::mt19937_64& random, int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  }

  RandomConvolution(std::mt19937_64& random, int64_t largest) {
    const int rank = static_cast<int>(Pick(random, 0, 3));
    for (int i = 0; i < rank; ++i) windows.push_back(RandomWindow(random, rank < 2 ? 2 * largest : largest));
    batch = Pick(random, 0, 30) == 0 ? 0 : Pick(random, 1, largest);
    inputs = Pick(random, 0, 30) == 0 ? 0 : Pick(random, 1, largest);
    outputs = Pick(random, 1, largest);
    const int64_t groups = Pick(random, 1, 4);
    if (groups == 2) feature_groups = Pick(random, 2, 4);
    if (groups == 3) batch_groups = Pick(random, 2, 4);
    if (groups == 4) {
      // One channel each.
      inputs = 1;
      outputs = Pick(random, 1, 2 * largest);
      (Pick(random, 0, 1) == 0 ? feature_groups : batch_groups) = outputs;
    } else {
      outputs *= feature_groups * batch_groups;
    }
    for (std::vector<int64_t>* place : {&lhs_place, &rhs_place, &out_place}) {
      for (int i = 0; i < rank + 2; ++i) place->push_back(i);
      if (Pick(random, 0, 2) > 0) std::shuffle(place->begin(), place->end(), random);
    }
  }

  Window RandomWindow(std::mt19937_64& random, int64_t largest) {
    while (true) {
      Window w;
      const bool is_plain = Pick(random, 0, 2) == 0;
      w.size = Pick(random, 1, largest);
      w.stride = Pick(random, 1, 3);
      w.low = is_plain ? Pick(random, 0, 1) : Pick(random, -3, 6);
      w.high = is_plain ? Pick(random, 0, 1) : Pick(random, -3, 6);
      w.lhs_dilate = is_plain ? 1 : Pick(random, 1, 4);
      w.rhs_dilate = is_plain ? 1 : Pick(random, 1, 3);
      w.reversal = Pick(random, 0, 2) == 0;
      w.lhs_size = Pick(random, 0, 30) == 0 ? 0 : Pick(random, 1, largest);
      const int64_t base = w.low + (w.lhs_size == 0 ? 0 : (w.lhs_size - 1) * w.lhs_dilate + 1) + w.high;
      const int64_t window = (w.size - 1) * w.rhs_dilate + 1;
      if (base < 0) continue;  // no shape
      w.out_size = base == 0 || window > base ? 0 : (base - window) / w.stride + 1;
      return w;
    }
  }

  Dimensions Place(const std::vector<int64_t>& place, int64_t first, int64_t second, const Dimensions& spatial) const {
    Dimensions sizes(place.size());
    sizes[place[0]] = first;
    sizes[place[1]] = second;
    for (size_t i = 0; i < spatial.size(); ++i) sizes[place[2 + i]] = spatial[i];
    return sizes;
  }
  template <typename F>
  Dimensions Spatial(F&& f) const {
    Dimensions sizes;
    for (const Window& window : windows) sizes.push_back(f(window));
    return sizes;
  }
  Dimensions LhsSizes() const {
    return Place(lhs_place, batch * batch_groups, inputs * feature_groups,
                 Spatial([](const Window& w) { return w.lhs_size; }));
  }
  Dimensions RhsSizes() const {
    return Place(rhs_place, inputs, outputs, Spatial([](const Window& w) { return w.size; }));
  }
  Dimensions OutSizes() const {
    return Place(out_place, batch, outputs, Spatial([](const Window& w) { return w.out_size; }));
  }

  static std::string Labels(const std::vector<int64_t>& place, char first, char second) {
    std::string labels(place.size(), ' ');
    labels[place[0]] = first;
    labels[place[1]] = second;
    for (size_t i = 2; i < place.size(); ++i) labels[place[i]] = static_cast<char>('0' + i - 2);
    return labels;
  }
  std::string Text(const std::string& type) const {
    const auto shape = [&](const Dimensions& sizes) { return absl::StrCat(type, "[", absl::StrJoin(sizes, ","), "]"); };
    const auto list = [&](auto&& f) { return absl::StrJoin(Spatial(f), "x"); };
    std::string window;
    if (!windows.empty()) {
      window = absl::StrCat(
          ", window={size=", list([](const Window& w) { return w.size; }),
          " stride=", list([](const Window& w) { return w.stride; }), " pad=",
          absl::StrJoin(windows, "x",
                        [](std::string* out, const Window& w) { absl::StrAppend(out, w.low, "_", w.high); }),
          " lhs_dilate=", list([](const Window& w) { return w.lhs_dilate; }),
          " rhs_dilate=", list([](const Window& w) { return w.rhs_dilate; }),
          " rhs_reversal=", list([](const Window& w) { return static_cast<int64_t>(w.reversal); }), "}");
    }
    return absl::StrCat("HloModule m\nENTRY e {\n  x = ", shape(LhsSizes()), " parameter(0)\n  w = ", shape(RhsSizes()),
                        " parameter(1)\n  ROOT c = ", shape(OutSizes()), " convolution(x, w)", window,
                        ", dim_labels=", Labels(lhs_place, 'b', 'f'), "_", Labels(rhs_place, 'i', 'o'), "->",
                        Labels(out_place, 'b', 'f'), ", feature_group_count=", feature_groups,
                        ", batch_group_count=", batch_groups, "\n}");
  }

  template <typename F>
  static void ForEachIndex(const Dimensions& sizes, F&& f) {
    for (int64_t size : sizes) {
      if (size == 0) return;
    }
    Dimensions index(sizes.size(), 0);
    while (true) {
      f(index);
      size_t d = sizes.size();
      while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
      if (d == 0) return;
    }
  }

  // The formula, word for word.
  template <typename T>
  Literal Expected(const Literal& lhs, const Literal& rhs) const {
    Literal out(ShapeUtil::MakeShape(primitive_util::NativeToPrimitiveType<T>(), OutSizes()));
    const Dimensions out_spatial = Spatial([](const Window& w) { return w.out_size; });
    const Dimensions window_sizes = Spatial([](const Window& w) { return w.size; });
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t o = 0; o < outputs; ++o) {
        ForEachIndex(out_spatial, [&](const Dimensions& s) {
          T sum = 0;
          ForEachIndex(window_sizes, [&](const Dimensions& k) {
            Dimensions position(k.size()), element(k.size());
            for (size_t d = 0; d < k.size(); ++d) {
              const Window& w = windows[d];
              const int64_t p = s[d] * w.stride - w.low + k[d] * w.rhs_dilate;
              if (p < 0 || p % w.lhs_dilate != 0 || p / w.lhs_dilate >= w.lhs_size) return;
              position[d] = p / w.lhs_dilate;
              element[d] = w.reversal ? w.size - 1 - k[d] : k[d];
            }
            for (int64_t z = 0; z < inputs; ++z) {
              const int64_t lhs_batch = b + o / (outputs / batch_groups) * batch;
              const int64_t lhs_feature = o / (outputs / feature_groups) * inputs + z;
              sum += lhs.Get<T>(Place(lhs_place, lhs_batch, lhs_feature, position)) *
                     rhs.Get<T>(Place(rhs_place, z, o, element));
            }
          });
          out.Set<T>(Place(out_place, b, o, s), sum);
        });
      }
    }
    return out;
  }
};

template <typename T>
Literal RandomLiteral(const Dimensions& dimensions, std::mt19937_64& random) {
  Literal literal(ShapeUtil::MakeShape(primitive_util::NativeToPrimitiveType<T>(), dimensions));
  for (T& element : literal.data<T>()) element = static_cast<T>(static_cast<int64_t>(random() % 15) - 7);
  return literal;
}

template <typename T>
void CheckRandomConvolutions(int count, int64_t largest) {
  std::mt19937_64 random(1);
  for (int i = 0; i < count; ++i) {
    const RandomConvolution convolution(random, largest);
    std::vector<Literal> arguments;
    arguments.push_back(RandomLiteral<T>(convolution.LhsSizes(), random));
    arguments.push_back(RandomLiteral<T>(convolution.RhsSizes(), random));
    const std::string text =
        convolution.Text(primitive_util::LowercasePrimitiveTypeName(primitive_util::NativeToPrimitiveType<T>()));
    ASSERT_EQ(EvaluateText(text, arguments), convolution.Expected<T>(arguments[0], arguments[1])) << text;
  }
}

TEST(ConvolutionTest, AgreesWithFormula) { CheckRandomConvolutions<float>(3000, 4); }
TEST(ConvolutionTest, AgreesWithFormulaOnLargerSizes) { CheckRandomConvolutions<float>(100, 9); }
TEST(ConvolutionTest, AgreesWithFormulaOnIntegers) { CheckRandomConvolutions<int32_t>(200, 4); }
TEST(ConvolutionTest, AgreesWithFormulaOnComplexNumbers) { CheckRandomConvolutions<complex64>(100, 4); }

// Windows larger than the result, as in gradients of filters.
template <typename T>
void CheckWideWindows(int count) {
  std::mt19937_64 random(3);
  while (count > 0) {
    RandomConvolution convolution(random, 20);
    convolution.feature_groups = convolution.batch_groups = 1;
    int64_t window = 1, out = 1;
    for (const RandomConvolution::Window& w : convolution.windows) window *= w.size, out *= w.out_size;
    const bool is_wide = !convolution.windows.empty() && convolution.windows.size() < 3 && out > 0 && window >= out &&
                         window < 200 && convolution.windows.back().size >= 8;
    if (!is_wide || convolution.batch < 4 || convolution.outputs < 4 || convolution.outputs > 40) continue;
    // The formula takes a minute for all of them under sanitizers.
    if (window * out * convolution.batch * convolution.inputs * convolution.outputs > 500000) continue;
    std::vector<Literal> arguments;
    arguments.push_back(RandomLiteral<T>(convolution.LhsSizes(), random));
    arguments.push_back(RandomLiteral<T>(convolution.RhsSizes(), random));
    const std::string text =
        convolution.Text(primitive_util::LowercasePrimitiveTypeName(primitive_util::NativeToPrimitiveType<T>()));
    ASSERT_EQ(EvaluateText(text, arguments), convolution.Expected<T>(arguments[0], arguments[1])) << text;
    --count;
  }
}
TEST(ConvolutionTest, WideWindowsAgreeWithFormula) {
  CheckWideWindows<float>(60);
  CheckWideWindows<double>(20);
  CheckWideWindows<int32_t>(20);
}

// Enough work for several pieces and threads, along a spatial dimension, the batch, and groups.
TEST(ConvolutionTest, OfManyPieces) {
  std::mt19937_64 random(2);
  RandomConvolution convolution(random, 1);
  convolution.windows = {{3, 1, 1, 1, 1, 1, false, 40, 40}, {3, 2, 0, 2, 1, 1, true, 41, 21}};
  convolution.lhs_place = convolution.out_place = {0, 3, 1, 2};
  convolution.rhs_place = {2, 3, 0, 1};
  for (int groups : {1, 3, 40}) {
    convolution.batch = 5;
    convolution.feature_groups = groups;
    convolution.batch_groups = 1;
    convolution.inputs = groups == 40 ? 1 : 8;
    convolution.outputs = groups == 40 ? 40 : 21;
    const Literal lhs = RandomLiteral<float>(convolution.LhsSizes(), random);
    const Literal rhs = RandomLiteral<float>(convolution.RhsSizes(), random);
    const std::vector<const Literal*> arguments = {&lhs, &rhs};
    EXPECT_TRUE(EvaluateText(convolution.Text("f32"), arguments) == convolution.Expected<float>(lhs, rhs)) << groups;
  }
}

// A product of 6 pairs of matrices as compilers for TPU write it: the dimension of the pairs is spatial, and the
// window, as large as it is, meets each place but once.
TEST(ConvolutionTest, BatchOfProducts) {
  std::mt19937_64 random(3);
  RandomConvolution convolution(random, 1);
  convolution.windows = {{6, 5, 0, 0, 6, 1, false, 6, 6}};
  convolution.batch = 7;
  convolution.inputs = 8;
  convolution.outputs = 9;
  convolution.feature_groups = convolution.batch_groups = 1;
  convolution.lhs_place = {1, 2, 0};
  convolution.rhs_place = {1, 2, 0};
  convolution.out_place = {1, 2, 0};
  const Literal lhs = RandomLiteral<float>({6, 7, 8}, random), rhs = RandomLiteral<float>({6, 8, 9}, random);
  const std::vector<const Literal*> arguments = {&lhs, &rhs};
  const Literal product = EvaluateText(R"(HloModule m
    ENTRY e {
      x = f32[6,7,8] parameter(0)
      w = f32[6,8,9] parameter(1)
      ROOT d = f32[6,7,9] dot(x, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0},
          rhs_contracting_dims={1}
    })",
                                       arguments);
  EXPECT_EQ(EvaluateText(convolution.Text("f32"), arguments), product);
}

}  // namespace
}  // namespace kashi::evaluator
