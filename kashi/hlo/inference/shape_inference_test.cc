// ShapeInference against XLA's verdicts (tests/data/shape_inference_cases.tsv), and by hand where XLA cannot be asked.
#include "kashi/hlo/inference/shape_inference.h"

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/recorded_cases_testing.h"
#include "kashi/array/shape_testing.h"
#include "kashi/hlo/inference/shape_inference_internal.h"

namespace kashi::hlo {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::vector<Shape> Shapes(absl::string_view text) {
  std::vector<Shape> shapes;
  for (absl::string_view shape : absl::StrSplit(text, '|', absl::SkipEmpty())) shapes.push_back(array::S(shape));
  return shapes;
}

// "f32[]|s32[]->f32[]"
ProgramShape P(absl::string_view text) {
  const std::vector<std::string> sides = absl::StrSplit(text, "->");
  ProgramShape program;
  for (const Shape& parameter : Shapes(sides[0])) program.AddParameter(parameter, "");
  *program.mutable_result() = array::S(sides[1]);
  return program;
}

std::vector<int64_t> Numbers(absl::string_view text) {
  std::vector<int64_t> numbers;
  for (absl::string_view field : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(field, &number)) << field;
    numbers.push_back(number);
  }
  return numbers;
}

// Size, stride, padding low and high, base and window dilation of each dimension: "2,1,0,0,1,1;3,…".
Window W(absl::string_view text) {
  Window window;
  for (absl::string_view fields : absl::StrSplit(text, ';', absl::SkipEmpty())) {
    const std::vector<int64_t> n = Numbers(fields);
    WindowDimension* dimension = window.add_dimensions();
    dimension->set_size(n.at(0));
    dimension->set_stride(n.at(1));
    dimension->set_padding_low(n.at(2));
    dimension->set_padding_high(n.at(3));
    dimension->set_base_dilation(n.at(4));
    dimension->set_window_dilation(n.at(5));
  }
  return window;
}

// "low_high_interiorxlow_…"
PaddingConfig Padding(absl::string_view text) {
  PaddingConfig config;
  for (absl::string_view fields : absl::StrSplit(text, 'x', absl::SkipEmpty())) {
    const std::vector<int64_t> n = Numbers(absl::StrReplaceAll(fields, {{"_", ","}}));
    PaddingConfigDimension* dimension = config.add_dimensions();
    dimension->set_edge_padding_low(n.at(0));
    dimension->set_edge_padding_high(n.at(1));
    dimension->set_interior_padding(n.at(2));
  }
  return config;
}

// A row: operation, XLA's verdict, its shape or error, operands, attributes, computations.
struct Case {
  explicit Case(const std::vector<std::string>& row) : opcode(StringToHloOpcode(row.at(0)).value()) {
    verdict = row.at(1);
    text = row.at(2);
    operands = Shapes(row.at(3));
    for (const Shape& operand : operands) pointers.push_back(&operand);
    for (absl::string_view attribute : absl::StrSplit(row.at(4), ' ', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> pair = absl::StrSplit(attribute, absl::MaxSplits('=', 1));
      attributes.insert(pair);
    }
    for (absl::string_view computation : absl::StrSplit(row.at(5), '&', absl::SkipEmpty())) {
      computations.push_back(P(computation));
    }
    question = absl::StrJoin(row, " ; ");
  }
  std::vector<int64_t> dimensions() const { return Numbers(attributes.at("dimensions")); }
  int64_t number(const std::string& name) const { return Numbers(attributes.at(name)).at(0); }
  Window window() const { return W(attributes.at("window")); }

  HloOpcode opcode;
  std::string verdict, text, question;
  std::vector<Shape> operands;
  std::vector<const Shape*> pointers;
  std::map<std::string, std::string> attributes;
  std::vector<ProgramShape> computations;
};

absl::StatusOr<Shape> InferCase(const Case& c) {
  using I = ShapeInference;
  static const auto* const functions = new std::map<HloOpcode, std::function<absl::StatusOr<Shape>(const Case&)>>{
      {HloOpcode::kBroadcast, [](const Case& c) { return I::InferBroadcastShape(c.operands[0], c.dimensions()); }},
      {HloOpcode::kConcatenate, [](const Case& c) { return I::InferConcatOpShape(c.pointers, c.dimensions()[0]); }},
      {HloOpcode::kGetDimensionSize,
       [](const Case& c) { return I::InferGetDimensionSizeShape(c.operands[0], c.dimensions()[0]); }},
      {HloOpcode::kGetTupleElement,
       [](const Case& c) { return I::InferGetTupleElementShape(c.operands[0], c.number("index")); }},
      {HloOpcode::kMap, [](const Case& c) { return I::InferMapShape(c.pointers, c.computations[0], c.dimensions()); }},
      {HloOpcode::kPad,
       [](const Case& c) {
         return I::InferPadShape(c.operands[0], c.operands[1], Padding(c.attributes.at("padding")));
       }},
      {HloOpcode::kReduce,
       [](const Case& c) { return I::InferReduceShape(c.pointers, c.dimensions(), c.computations[0]); }},
      {HloOpcode::kReduceWindow,
       [](const Case& c) {
         return I::InferReduceWindowShape(c.operands[0], c.operands[1], c.window(), c.computations[0]);
       }},
      {HloOpcode::kReverse, [](const Case& c) { return I::InferReverseShape(c.operands[0], c.dimensions()); }},
      {HloOpcode::kScan,
       [](const Case& c) {
         return I::InferScanShape(c.pointers, c.computations[0], c.dimensions()[0], c.number("num_carries"));
       }},
      {HloOpcode::kSelectAndScatter,
       [](const Case& c) {
         return I::InferSelectAndScatterShape(c.operands[0], c.computations[0], c.window(), c.operands[1],
                                              c.operands[2], c.computations[1]);
       }},
      {HloOpcode::kSetDimensionSize,
       [](const Case& c) { return I::InferSetDimensionSizeShape(c.operands[0], c.operands[1], c.dimensions()[0]); }},
      {HloOpcode::kTopK, [](const Case& c) { return I::InferTopKShape(c.operands[0], c.number("k")); }},
      {HloOpcode::kTranspose, [](const Case& c) { return I::InferTransposeShape(c.operands[0], c.dimensions()); }},
  };
  const auto function = functions->find(c.opcode);
  if (function != functions->end()) return function->second(c);
  if (c.opcode == HloOpcode::kTuple || c.opcode == HloOpcode::kSort)
    return I::InferVariadicOpShape(c.opcode, c.pointers);
  switch (c.operands.size()) {
    case 1:
      return I::InferUnaryOpShape(c.opcode, c.operands[0]);
    case 2:
      return I::InferBinaryOpShape(c.opcode, c.operands[0], c.operands[1], {});
    default:
      return I::InferTernaryOpShape(c.opcode, c.operands[0], c.operands[1], c.operands[2]);
  }
}

// "abort" is XLA's process dying: an error here. An error of which the row gives no text is worded differently.
TEST(ShapeInferenceTest, AgreesWithXla) {
  for (const auto& row : array::ReadTestData("shape_inference_cases.tsv")) {
    const Case c(row);
    const absl::StatusOr<Shape> shape = InferCase(c);
    ASSERT_EQ(shape.ok(), c.verdict == "ok") << c.question << "\n  " << array::Text(shape);
    if (shape.ok()) {
      EXPECT_EQ(array::Text(shape), c.text) << c.question;
    } else {
      EXPECT_THAT(array::Text(shape), StartsWith(c.text)) << c.question;
    }
  }
}

// ---- Cases that HLO text cannot express: text gives these operations' shapes, or has no form for the case.

std::string Slice(absl::string_view shape, std::vector<int64_t> starts, std::vector<int64_t> limits,
                  std::vector<int64_t> strides) {
  return array::Text(ShapeInference::InferSliceShape(array::S(shape), starts, limits, strides));
}

TEST(ShapeInferenceTest, Slice) {
  EXPECT_EQ(Slice("f32[10]", {1}, {8}, {3}), "f32[3]{0}");
  EXPECT_EQ(Slice("f32[10,4]{0,1}", {0, 4}, {10, 4}, {1, 1}), "f32[10,0]{1,0}");
  EXPECT_EQ(Slice("f32[<=10,<=10]", {1, 1}, {8, 2}, {1, 1}), "f32[<=7,1]{1,0}");
  EXPECT_EQ(Slice("s8[?]", {1}, {kMax}, {2}), "s8[4611686018427387903]{0}");
  EXPECT_EQ(Slice("f32[?]", {0}, {5}, {2}), "f32[3]{0}");
  EXPECT_EQ(Slice("f32[10]", {1}, {8}, {kMax}), "f32[1]{0}");
}

// Errors in upstream's order: each row has the faults of the rows below it, too.
TEST(ShapeInferenceTest, ErrorsOfSlice) {
  EXPECT_EQ(Slice("token[]", {1}, {8, 9}, {}), "Expected array argument for operand of slice, but got token[].");
  EXPECT_THAT(Slice("f32[10]", {1}, {8, 9}, {}), StartsWith("slice start and limit sizes differ: 1 vs 2 in slice"));
  EXPECT_THAT(Slice("f32[10]", {1, 1}, {8, 9}, {}),
              StartsWith("slice start and strides sizes differ: 2 vs 0 in slice"));
  EXPECT_EQ(Slice("f32[10]", {1, 1}, {8, 9}, {0, 0}), "Slice index count does not match argument rank: 2 vs 1.");
  EXPECT_EQ(Slice("f32[10]", {-1}, {12}, {0}), "Negative start index to slice: -1.");
  EXPECT_EQ(Slice("f32[10]", {12}, {11}, {0}),
            "limit index (11) must be less than or equal to dimension size (10) in slice operation; argument shape: "
            "f32[10]; starts: {12}; limits: {11}; strides: {0}.");
  EXPECT_THAT(
      Slice("f32[10]", {9}, {8}, {0}),
      StartsWith("limit index (8) must be greater or equal to start index (9) in slice with positive stride in"));
  EXPECT_EQ(Slice("f32[10]", {0}, {8}, {0}), "Stride (0) must be positive.");
}

std::string DynamicSlice(absl::string_view shape, absl::string_view indices, std::vector<int64_t> sizes,
                         bool allow_scalar_indices = true) {
  return array::Text(
      ShapeInference::InferDynamicSliceShape(array::S(shape), Shapes(indices), sizes, allow_scalar_indices));
}

TEST(ShapeInferenceTest, DynamicSlice) {
  EXPECT_EQ(DynamicSlice("f32[3,4]{0,1}", "s32[]|s32[]", {2, 2}), "f32[2,2]{1,0}");
  EXPECT_EQ(DynamicSlice("f32[3,4]", "u64[2]", {3, 0}), "f32[3,0]{1,0}");
  EXPECT_EQ(DynamicSlice("f32[]", "", {}), "f32[]");
  EXPECT_EQ(DynamicSlice("f32[<=3,<=4,?,<=1]", "s8[]|s8[]|s8[]|s8[]", {3, 2, 9, 1}), "f32[<=3,2,9,1]{3,2,1,0}");
  EXPECT_EQ(DynamicSlice("f32[3]", "token[]", {1}), "Dynamic slice indices must be scalar, not token[].");
  EXPECT_EQ(DynamicSlice("f32[3]", "s32[1]|s32[1]", {1}), "Dynamic slice should have exactly 1 index operand, has 2.");
  EXPECT_EQ(DynamicSlice("f32[3]", "f32[1]", {1}), "Dynamic slice start indices must be of integral type.");
  EXPECT_EQ(DynamicSlice("f32[3]", "s32[2]", {1}),
            "Dynamic slice start number of dimensions 2 (s32[2]) must match rank 1 of slice input (f32[3]).");
  EXPECT_EQ(DynamicSlice("f32[3]", "s32[]|s32[]", {1}),
            "Dynamic slice start number of dimensions 2 must match rank 1 of slice input (f32[3]).");
  EXPECT_EQ(DynamicSlice("f32[3,4]", "s32[]|s64[]", {1, 1}),
            "Dynamic slice start indices must all have the same shape, got mismatching indices with shapes s32[] and "
            "s64[].");
  EXPECT_EQ(DynamicSlice("f32[3,4]", "pred[]|pred[]", {1, 1}), "Dynamic slice start indices must be of integral type.");
  EXPECT_EQ(DynamicSlice("f32[3]", "s32[]", {1, 1}), "Dynamic slice index count does not match argument rank: 2 vs 1.");
  EXPECT_EQ(DynamicSlice("f32[3]", "s32[]", {-1}), "Negative size index to dynamic slice: -1.");
  EXPECT_EQ(DynamicSlice("f32[3]", "s32[]", {4}), "Slice dim size 4 greater than dynamic slice dimension: 3.");
  EXPECT_EQ(DynamicSlice("f32[3]", "s32[]", {1}, /*allow_scalar_indices=*/false),
            "Dynamic slice start indices of rank 0 must be rank1.");
}

std::string DynamicUpdateSlice(absl::string_view shape, absl::string_view update, absl::string_view indices) {
  return array::Text(ShapeInference::InferDynamicUpdateSliceShape(array::S(shape), array::S(update), Shapes(indices)));
}

TEST(ShapeInferenceTest, DynamicUpdateSlice) {
  EXPECT_EQ(DynamicUpdateSlice("f32[3,4]{0,1:T(2,2)}", "bf16[2,4]", "s32[]|s32[]"), "f32[3,4]{0,1:T(2,2)}");
  EXPECT_EQ(DynamicUpdateSlice("f32[3,4]", "f32[<=3,<=2]", "s32[2]"), "f32[<=3,4]{1,0}");
  EXPECT_EQ(DynamicUpdateSlice("f32[3]", "f32[?]", "s32[]"), "f32[3]{0}");
  EXPECT_EQ(DynamicUpdateSlice("f32[?]", "f32[?]", "s32[]"), "f32[?]{0}");
  EXPECT_EQ(DynamicUpdateSlice("f32[?]", "f32[3]", "s32[]"),
            "Update dim size 3 greater than dynamic slice dimension: -9223372036854775808.");
  EXPECT_EQ(DynamicUpdateSlice("f32[3]", "f32[]", "s32[]"),
            "Dynamic update slice update rank does not match argument rank: 0 vs 1.");
  EXPECT_THAT(DynamicUpdateSlice("f32[3]", "s32[3]", "s32[]"),
              StartsWith("Dynamic update slice update element type does not match argument."));
  EXPECT_EQ(DynamicUpdateSlice("f32[3]", "(f32[3])", "s32[]"),
            "Expected array argument for update of dynamic update slice, but got (f32[3]).");
}

std::string Reshape(absl::string_view shape, std::vector<int64_t> dimensions, int64_t inferred_dimension = -1) {
  return array::Text(ShapeInference::InferReshapeShape(array::S(shape), dimensions, inferred_dimension));
}

TEST(ShapeInferenceTest, Reshape) {
  EXPECT_EQ(Reshape("f32[2,3]{0,1}", {6}), "f32[6]{0}");
  EXPECT_EQ(Reshape("f32[]", {1, 1}), "f32[1,1]{1,0}");
  EXPECT_EQ(Reshape("f32[0,3]", {7, 0}), "f32[7,0]{1,0}");
  EXPECT_EQ(Reshape("f32[?,3]", {7, 4}), "f32[7,4]{1,0}");
  EXPECT_EQ(Reshape("f32[2,3]", {7}),
            "Reshape operation has mismatched element counts: from=6 (f32[2,3]) to=7 (f32[7]).");
  EXPECT_THAT(Reshape("f32[2]", {2, Shape::kUnboundedSize}), HasSubstr("unbounded result shape is not supported"));
  EXPECT_EQ(Reshape("(f32[2])", {2}), "Expected array argument for reshape, but got (f32[2]).");
  EXPECT_FALSE(ShapeInference::InferReshapeShape(array::S("f32[2]"), {-2, -1}, -1).ok());
  EXPECT_FALSE(ShapeInference::InferReshapeShape(array::S("f32[0]"), {kMax, kMax, 0}, -1).ok());
}

TEST(ShapeInferenceTest, ReshapeOfDynamicDimensions) {
  EXPECT_EQ(Reshape("f32[<=6,5]", {6, 5}), "f32[<=6,5]{1,0}");
  EXPECT_EQ(Reshape("f32[2,<=3,5]", {6, 5}), "f32[<=6,5]{1,0}");
  EXPECT_EQ(Reshape("f32[<=2,<=3,5]", {6, 5}), "f32[<=6,5]{1,0}");
  EXPECT_EQ(Reshape("f32[<=10]", {1, 10}), "f32[1,<=10]{1,0}");
  EXPECT_EQ(Reshape("f32[<=10]", {1, 10}, 0), "f32[<=1,10]{1,0}");
  EXPECT_EQ(Reshape("f32[<=10]", {2, 5}, 1), "f32[2,<=5]{1,0}");
  EXPECT_EQ(Reshape("f32[<=10]", {2, 5}), "f32[2,5]{1,0}");
  EXPECT_EQ(Reshape("f32[<=1,5]", {5}), "f32[<=5]{0}");
  EXPECT_EQ(Reshape("f32[5,<=1]", {5}), "f32[<=5]{0}");
  EXPECT_THAT(Reshape("f32[2,<=1,3]", {6}), StartsWith("Dynamic degenerated dimension that's not most-minor nor"));
  EXPECT_THAT(Reshape("f32[<=2,6]", {3, 4}),
              StartsWith("Dynamic input dimension to reshape that is both splitted and"));
  EXPECT_EQ(Reshape("f32[<=1]", {}), "f32[]");
  EXPECT_EQ(Reshape("f32[<=1,1,<=1]", {}), "f32[]");
  EXPECT_EQ(Reshape("f32[<=10]", {2, 5}, 7), "Dynamic dimension 0 of f32[<=10] has no dimension in f32[2,5].");
}

TEST(ShapeInferenceTest, DynamicReshape) {
  const std::vector<Shape> sizes = Shapes("s32[]|s32[]");
  const auto infer = [&](const std::vector<int64_t>& bounds, const std::vector<bool>& flags) {
    return array::Text(
        ShapeInference::InferDynamicReshapeShape(array::S("f32[<=6]"), {&sizes[0], &sizes[1]}, bounds, flags));
  };
  EXPECT_EQ(infer({2, 3}, {false, true}), "f32[2,<=3]{1,0}");
  EXPECT_THAT(infer({2, 4}, {false, true}), StartsWith("Reshape operation has mismatched element counts"));
  EXPECT_THAT(infer({2, 3}, {false}), StartsWith("DynamicReshape has to have the same number of elements"));
}

std::string BroadcastInDim(absl::string_view operand, absl::string_view output, std::vector<int64_t> dimensions) {
  return array::Text(ShapeInference::InferBroadcastShape(array::S(operand), array::S(output), dimensions));
}

TEST(ShapeInferenceTest, BroadcastInDim) {
  EXPECT_EQ(BroadcastInDim("f32[3]", "f32[2,3]{0,1}", {1}), "f32[2,3]{0,1}");
  EXPECT_EQ(BroadcastInDim("f32[1,3]", "f32[2,3]", {0, 1}), "f32[2,3]{1,0}");
  EXPECT_EQ(BroadcastInDim("f32[?]", "f32[2,<=3]", {1}), "f32[2,<=3]{1,0}");
  EXPECT_THAT(BroadcastInDim("f32[3]", "f32[?,3]", {1}), StartsWith("RET_CHECK failure"));
  EXPECT_THAT(BroadcastInDim("f32[1,3]", "f32[3]", {0}), StartsWith("InDim style broadcast must be to an equal or"));
  EXPECT_THAT(BroadcastInDim("f32[3]", "f32[2,3]", {0, 1}), StartsWith("Size of broadcast_dimensions has to match"));
  EXPECT_EQ(BroadcastInDim("f32[3]", "f32[2,3]", {2}), "Broadcast dimension 2 is out of bound");
  EXPECT_THAT(BroadcastInDim("f32[3]", "f32[2,3]", {0}), StartsWith("Input dimension should be either 1 or equal to"));
  EXPECT_THAT(BroadcastInDim("f32[<=3]", "f32[2,3]", {1}), StartsWith("Broadcast input and output dynamism mismatch"));
  EXPECT_EQ(BroadcastInDim("f32[1,1]", "f32[2,3]", {1, 0}), "Broadcast dimensions order is wrong: 0 comes after 1.");
}

TEST(ShapeInferenceTest, Conversions) {
  const auto convert = [](absl::string_view shape, PrimitiveType type) {
    return array::Text(ShapeInference::InferConvertShape(array::S(shape), type));
  };
  EXPECT_EQ(convert("s4[2,<=3]{0,1:T(2,2)E(4)}", F32), "f32[2,<=3]{0,1:T(2,2)}");
  EXPECT_EQ(convert("token[]", F32), "Convert does not allow non-arrays, so cannot convert from token[] to F32.");
  EXPECT_EQ(convert("f32[]", TUPLE), "Convert does not allow non-arrays, so cannot convert from f32[] to TUPLE.");
  EXPECT_EQ(convert("b(f32[2])", F32), "Convert does not allow non-arrays, so cannot convert from b(f32[2]) to F32.");
}

TEST(ShapeInferenceTest, BitcastConvert) {
  const auto convert = [](absl::string_view shape, PrimitiveType type) {
    return array::Text(ShapeInference::InferBitcastConvertShape(array::S(shape), type));
  };
  EXPECT_EQ(convert("f32[2,3]{0,1}", S32), "s32[2,3]{0,1}");
  EXPECT_EQ(convert("f32[2,3]{0,1}", U8), "u8[2,3,4]{2,0,1}");
  EXPECT_EQ(convert("u8[2,3,4]{0,1,2}", F32), "f32[2,3]{0,1}");
  EXPECT_EQ(convert("u8[<=2]", PRED), "pred[<=2]{0}");
  EXPECT_EQ(convert("c64[2]", F32), "Conversion between complex and real type c64[2] => F32.");
  EXPECT_EQ(convert("(f32[2])", F32), "Cannot convert from or to tuple type; requested conversion: (f32[2]) => F32.");
  EXPECT_EQ(convert("f6e2m3fn[4]", U8), "Cannot bitcast types with undivisible bit-widths: f6e2m3fn[4] => U8.");
  EXPECT_EQ(
      convert("u8[3]", F32),
      "Last dimension of input shape=3 is not equal to ratio of bit-widths=4 for bitcast-convert from u8[3] to F32");
  EXPECT_THAT(convert("u8[]", F32), StartsWith("Last dimension of input shape"));
  EXPECT_FALSE(ShapeInference::InferBitcastConvertShape(array::S("s64[1152921504606846975]"), S4).ok());
}

TEST(ShapeInferenceTest, RoundingConversions) {
  const auto stochastic = [](absl::string_view x, absl::string_view random) {
    return array::Text(ShapeInference::InferStochasticConvertShape(array::S(x), array::S(random), S8));
  };
  EXPECT_EQ(stochastic("f32[2]", "u32[2]"), "s8[2]{0}");
  EXPECT_EQ(stochastic("f32[2]", "s32[2]"),
            "Random numbers for stochastic convert must be unsigned integers, but got: s32[2]");
  EXPECT_EQ(
      stochastic("f16[2]", "u32[2]"),
      "The random number is required to have same bits as the operand. But got random bits: 32, operand bits: 16");
  EXPECT_THAT(stochastic("s32[2]", "u32[2]"), StartsWith("Stochastic convert supports only floating point"));
  EXPECT_THAT(stochastic("f32[2]", "u32[3]"), StartsWith("Stochastic convert operand shape does not match"));
  const auto reduce_precision = [](absl::string_view x, int exponent_bits, int mantissa_bits) {
    return array::Text(ShapeInference::InferReducePrecisionShape(array::S(x), exponent_bits, mantissa_bits));
  };
  EXPECT_EQ(reduce_precision("f32[2]{0:T(2)}", 1, 0), "f32[2]{0:T(2)}");
  EXPECT_EQ(reduce_precision("s32[2]", 0, -1),
            "Expected element type in shape to be floating point for ReducePrecision operation; got S32.");
  EXPECT_EQ(reduce_precision("f32[2]", 0, -1), "Expected exponent_bits >= 1; got 0.");
  EXPECT_EQ(reduce_precision("f32[2]", 1, -1), "Expected non-negative mantissa_bits; got -1.");
}

TEST(ShapeInferenceTest, ScalarBroadcast) {
  EXPECT_EQ(*ShapeInference::InferScalarBroadcastShape(Shapes("f32[]|pred[2,?]{0,1}|s32[2,3]")),
            array::S("pred[2,?]{0,1}"));
  EXPECT_EQ(*ShapeInference::InferScalarBroadcastShape(Shapes("f32[]|(f32[2])")), std::nullopt);
  EXPECT_FALSE(ShapeInference::InferScalarBroadcastShape(Shapes("f32[2]|f32[3]")).ok());
}

TEST(ShapeInferenceTest, ReduceWindowOfSeveral) {
  const std::vector<Shape> x = Shapes("f32[5]|s32[5]"), init = Shapes("f32[]|s32[]");
  const ProgramShape to_apply = P("f32[]|s32[]|f32[]|s32[]->(f32[], s32[])");
  const auto infer = [&](const std::vector<const Shape*>& operands, const std::vector<const Shape*>& init_values) {
    return array::Text(ShapeInference::InferReduceWindowShape(operands, init_values, W("2,2,0,0,1,1"), to_apply));
  };
  EXPECT_EQ(infer({&x[0], &x[1]}, {&init[0], &init[1]}), "(f32[2]{0}, s32[2]{0})");
  EXPECT_EQ(infer({&x[0], &x[1]}, {&init[0]}), "Reduce-window has 2 operands, but 1 initial values.");
  EXPECT_THAT(infer({}, {}), StartsWith("Reduction function must take 0 parameters, but takes 4"));
  EXPECT_EQ(array::Text(ShapeInference::InferReduceWindowShape({&x[0]}, {&init[0]}, W("2,2,0,0,1,1"))), "(f32[2]{0})");
  EXPECT_EQ(array::Text(ShapeInference::InferReduceWindowShape(x[0], init[0], W("2,2,0,0,1,1"))), "f32[2]{0}");
}

TEST(ShapeInferenceTest, WindowFromDimensions) {
  const Window window = *ShapeInference::InferWindowFromDimensions({2, 3}, {}, {{1, 2}, {3, 4}}, {}, {5, 6});
  EXPECT_EQ(window, W("2,1,1,2,1,5;3,1,3,4,1,6"));
  EXPECT_TRUE(ShapeInference::InferWindowFromDimensions({2}, {}, {}, {}, {}, std::vector<bool>{true})
                  ->dimensions(0)
                  .window_reversal());
  EXPECT_THAT(std::string(ShapeInference::InferWindowFromDimensions({2}, {1, 2}, {}, {}, {}).status().message()),
              StartsWith("Window has different number of window dimensions than of window strides\n"));
  EXPECT_THAT(
      ShapeInference::InferWindowFromDimensions({2}, {}, {}, {}, {}, std::vector<bool>{true, false}).status().message(),
      HasSubstr("window reversal"));
}

// Broadcast dimensions of binary operations are the builder's; broadcast_test.cc has the rest.
TEST(ShapeInferenceTest, BinaryWithBroadcastDimensions) {
  const auto infer = [](HloOpcode opcode, absl::string_view lhs, absl::string_view rhs) {
    return array::Text(ShapeInference::InferBinaryOpShape(opcode, array::S(lhs), array::S(rhs), {1}));
  };
  EXPECT_EQ(infer(HloOpcode::kSubtract, "f32[3]", "f32[2,3]{0,1}"), "f32[2,3]{1,0}");
  EXPECT_EQ(infer(HloOpcode::kCompare, "f32[3]", "f32[2,3]"), "pred[2,3]{1,0}");
  EXPECT_EQ(infer(HloOpcode::kComplex, "f64[3]", "f64[2,3]"), "c128[2,3]{1,0}");
  EXPECT_THAT(infer(HloOpcode::kAbs, "f64[3]", "f64[2,3]"), HasSubstr("is not implemented."));
}

TEST(ShapeInferenceTest, OpcodesOfAnotherArity) {
  EXPECT_EQ(array::Text(ShapeInference::InferUnaryOpShape(HloOpcode::kAdd, array::S("f32[]"))),
            "Unknown operation for unary shape inference: \"add\".");
  EXPECT_EQ(array::Text(ShapeInference::InferTernaryOpShape(HloOpcode::kAdd, array::S("f32[]"), array::S("f32[]"),
                                                            array::S("f32[]"))),
            "Unknown operation add.");
  EXPECT_EQ(array::Text(ShapeInference::InferVariadicOpShape(HloOpcode::kAdd, absl::Span<const Shape* const>())),
            "Unknown operation add.");
}

// XLA wraps around in some of these, and dies in others.
TEST(ShapeInferenceTest, SizesThatDoNotFit64BitsAreErrors) {
  const Shape huge = array::S("s8[4611686018427387904]"), scalar = array::S("s8[]");
  EXPECT_FALSE(ShapeInference::InferConcatOpShape({&huge, &huge}, 0).ok());
  EXPECT_FALSE(ShapeInference::InferConcatOpShape({&huge, &huge, &huge, &huge}, 0).ok());
  EXPECT_FALSE(ShapeInference::InferBroadcastShape(huge, {2}).ok());
  EXPECT_FALSE(ShapeInference::InferPadShape(huge, scalar, Padding("4611686018427387904_0_0")).ok());
  EXPECT_FALSE(ShapeInference::InferPadShape(huge, scalar, Padding("0_0_9223372036854775807")).ok());
  EXPECT_FALSE(
      ShapeInference::InferPadShape(array::S("s8[4]"), scalar, Padding("9223372036854775807_9223372036854775807_0"))
          .ok());
  for (absl::string_view window :
       {"1,1,9223372036854775807,0,1,1", "1,1,0,9223372036854775807,1,1", "1,1,0,0,9223372036854775807,1",
        "3,1,0,0,1,9223372036854775807", "1,1,-9223372036854775807,0,1,1",
        "1,1,9223372036854775807,9223372036854775807,1,1"}) {
    EXPECT_FALSE(ShapeInference::InferReduceWindowShape(huge, scalar, W(window)).ok()) << window;
  }
  const ProgramShape to_apply = P("s8[]->s8[4]");
  EXPECT_FALSE(ShapeInference::InferScanShape({&huge}, to_apply, 0, 0).ok());
}

}  // namespace
}  // namespace kashi::hlo
