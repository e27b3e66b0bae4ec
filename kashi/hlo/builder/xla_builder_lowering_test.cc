// The lowering of the builder's operations (docs/spec/hlo-ops.md 10.3): rules beyond "infer the shape, emit one
// instruction", an example of each operation that follows just this rule, and errors.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "kashi/hlo/attributes/sharding_builder.h"
#include "kashi/hlo/builder/xla_builder_testing.h"

namespace kashi::hlo {
namespace {

using Ops = std::vector<XlaOp>;

// The lines of a program over parameters of these shapes.
std::string LinesOf(std::vector<absl::string_view> shapes, const std::function<void(XlaBuilder*, const Ops&)>& build) {
  XlaBuilder builder("b");
  Ops x;
  for (size_t i = 0; i < shapes.size(); ++i) x.push_back(Param(&builder, static_cast<int64_t>(i), shapes[i]));
  build(&builder, x);
  return BuildLines(&builder);
}
#define LINES(shapes, body) \
  LinesOf(shapes, [&]([[maybe_unused]] XlaBuilder* b, [[maybe_unused]] const Ops& x) { body; })
#define SHAPES(...) (std::vector<absl::string_view>{__VA_ARGS__})

// ---- Inputs --------------------------------------------------------------------------------------------------------

TEST(XlaBuilderLoweringTest, Constants) {
  EXPECT_EQ(LINES({}, ConstantR0<float>(b, 1)), "constant ->f32[]");
  EXPECT_EQ(LINES({}, ConstantR1<float>(b, {1, 2})), "constant ->f32[2]");
  // All elements are equal: a scalar.
  EXPECT_EQ(LINES({}, ConstantR1<float>(b, 3, 1.f)), "constant ->f32[]\nbroadcast f32[]->f32[3] dimensions={}");
  EXPECT_EQ(LINES({}, ConstantR2<int32_t>(b, {{1, 1}, {1, 1}})),
            "constant ->s32[]\nbroadcast s32[]->s32[2,2] dimensions={}");
  EXPECT_EQ(LINES({}, ConstantR1<float>(b, {1})), "constant ->f32[1]");
  EXPECT_EQ(LINES({}, ConstantR2FromArray2D(b, Array2D<float>({{1, 2}}))), "constant ->f32[1,2]");
}

TEST(XlaBuilderLoweringTest, Iota) {
  EXPECT_EQ(LINES({}, Iota(b, S32, 4)), "iota ->s32[4] iota_dimension=0");
  EXPECT_EQ(LINES({}, Iota(b, ShapeOf("f32[2,3]"), 1)), "iota ->f32[2,3] iota_dimension=1");
  EXPECT_EQ(LINES({}, Iota(b, ShapeOf("f32[<=2]"), 0)),
            "error: The output of iota must not have dynamic dimensions: f32[<=2]");
  EXPECT_TRUE(absl::StartsWith(LINES({}, Iota(b, ShapeOf("f32[2]"), 1)), "error"));
}

// ---- Element-wise --------------------------------------------------------------------------------------------------

TEST(XlaBuilderLoweringTest, EveryUnaryOperation) {
  struct Unary {
    const char* name;
    std::function<XlaOp(XlaOp)> function;
  };
  std::vector<Unary> all;
#define KASHI_UNARY(function, opcode) all.push_back({#opcode, function});
#define KASHI_UNARY_ACCURACY(function, opcode) all.push_back({#opcode, [](XlaOp x) { return function(x); }});
#include "kashi/hlo/builder/xla_builder_ops.def"
  for (const Unary& op : all) {
    const bool is_integral = absl::StrContains("kNot kClz kPopulationCount", op.name);
    const bool is_complex = absl::StrContains("kReal kImag", op.name);
    const absl::string_view type = is_integral ? "s32[2]" : is_complex ? "c64[2]" : "f32[2]";
    XlaBuilder builder("b");
    op.function(Param(&builder, 0, type));
    const absl::StatusOr<XlaComputation> computation = builder.Build();
    ASSERT_TRUE(computation.ok()) << op.name << computation.status();
    EXPECT_EQ(computation->module().entry_computation()->instruction_count(), 2) << op.name;
  }
}

TEST(XlaBuilderLoweringTest, Accuracy) {
  ResultAccuracy highest;
  highest.set_mode(ResultAccuracy::HIGHEST);
  EXPECT_EQ(LINES(SHAPES("f32[2]"), Exp(x[0], highest)), "exponential f32[2]->f32[2] result_accuracy={mode=highest}");
}

TEST(XlaBuilderLoweringTest, Comparisons) {
  EXPECT_EQ(LINES(SHAPES("f32[2]", "f32[2]"), Ge(x[0], x[1])), "compare f32[2], f32[2]->pred[2] direction=GE");
  EXPECT_EQ(LINES(SHAPES("f32[2]", "f32[2]"), GeTotalOrder(x[0], x[1])),
            "compare f32[2], f32[2]->pred[2] direction=GE, type=TOTALORDER");
  EXPECT_EQ(LINES(SHAPES("s32[2]", "s32[2]"), LtTotalOrder(x[0], x[1])),
            "compare s32[2], s32[2]->pred[2] direction=LT");
  EXPECT_EQ(LINES(SHAPES("f32[2]", "f32[2]"),
                  Compare(x[0], x[1], {}, ComparisonDirection::kNe, Comparison::Type::kFloatTotalOrder)),
            "compare f32[2], f32[2]->pred[2] direction=NE, type=TOTALORDER");
}

TEST(XlaBuilderLoweringTest, OperationsOfSeveralInstructions) {
  EXPECT_EQ(LINES(SHAPES("c64[2]"), Conj(x[0])),
            "real c64[2]->f32[2]\nimag c64[2]->f32[2]\nnegate f32[2]->f32[2]\ncomplex f32[2], f32[2]->c64[2]");
  EXPECT_EQ(LINES(SHAPES("pred[]", "pred[]", "pred[]"), And(x[0], x[1], x[2])),
            "and pred[], pred[]->pred[]\nand pred[], pred[]->pred[]");
}

TEST(XlaBuilderLoweringTest, Conversions) {
  EXPECT_EQ(LINES(SHAPES("f32[2]"), ConvertElementType(x[0], S32)), "convert f32[2]->s32[2]");
  EXPECT_EQ(LINES(SHAPES("f32[2]"), ConvertElementType(x[0], F32)), "convert f32[2]->f32[2]");
  EXPECT_EQ(LINES(SHAPES("c64[2]"), ConvertElementType(x[0], F32)), "real c64[2]->f32[2]\nconvert f32[2]->f32[2]");
  EXPECT_EQ(LINES(SHAPES("c64[2]"), ConvertElementType(x[0], C128)), "convert c64[2]->c128[2]");
  EXPECT_EQ(LINES(SHAPES("f32[2]"), BitcastConvertType(x[0], U8)), "bitcast-convert f32[2]->u8[2,4]");
  EXPECT_EQ(LINES(SHAPES("f32[2]", "u32[2]"), StochasticConvertType(x[0], x[1], S8)),
            "stochastic-convert f32[2], u32[2]->s8[2]");
  EXPECT_EQ(LINES(SHAPES("f32[2]"), ReducePrecision(x[0], 5, 10)),
            "reduce-precision f32[2]->f32[2] exponent_bits=5, mantissa_bits=10");
}

// ---- Shape and data movement ---------------------------------------------------------------------------------------

TEST(XlaBuilderLoweringTest, Reshapes) {
  EXPECT_EQ(LINES(SHAPES("f32[2,3]"), Reshape(x[0], {6})), "reshape f32[2,3]->f32[6]");
  EXPECT_EQ(LINES(SHAPES("f32[2,3]"), Reshape(ShapeOf("f32[6]"), x[0])), "reshape f32[2,3]->f32[6]");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[2,3]"), Reshape(ShapeOf("f32[7]"), x[0])), "error"));
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[2,3]"), Reshape(x[0], {7})), "error"));
  EXPECT_EQ(LINES(SHAPES("f32[<=6]"), ReshapeWithInferredDimension(x[0], {2, 3}, 0)),
            "reshape f32[<=6]->f32[<=2,3] inferred_dimension=0");
  EXPECT_EQ(LINES(SHAPES("f32[2,3,4]"), Collapse(x[0], {1, 2})), "reshape f32[2,3,4]->f32[2,12]");
  EXPECT_EQ(LINES(SHAPES("f32[2,3,4]"), Collapse(x[0], {0, 1, 2})), "reshape f32[2,3,4]->f32[24]");
  EXPECT_EQ(LINES(SHAPES("f32[2,3]"), Collapse(x[0], {1})), "");
  EXPECT_EQ(LINES(SHAPES("f32[2,3,4]"), Collapse(x[0], {0, 2})),
            "error: Collapsed dimensions are not in consecutive order.");
  EXPECT_EQ(LINES(SHAPES("f32[2,3]", "s32[]", "s32[]"), DynamicReshape(x[0], {x[1], x[2]}, {3, 2}, {true, false})),
            "dynamic-reshape f32[2,3], s32[], s32[]->f32[<=3,2]");
  EXPECT_EQ(LINES(SHAPES("f32[?]", "s32[2]"), MhloDynamicReshape(x[0], x[1], ShapeOf("f32[?,2]"))),
            "custom-call f32[?], s32[2]->f32[?,2] custom_call_target=\"mhlo.dynamic_reshape\"");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[?]", "s32[3]"), MhloDynamicReshape(x[0], x[1], ShapeOf("f32[?,2]"))),
                               "error: output_shape dimension size=3"));
}

TEST(XlaBuilderLoweringTest, Movement) {
  EXPECT_EQ(LINES(SHAPES("f32[2,3]"), Transpose(x[0], {1, 0})), "transpose f32[2,3]->f32[3,2] dimensions={1,0}");
  EXPECT_EQ(LINES(SHAPES("f32[2,3]"), Rev(x[0], {1})), "reverse f32[2,3]->f32[2,3] dimensions={1}");
  EXPECT_EQ(LINES(SHAPES("f32[2,3]", "f32[]"), PadInDim(x[0], x[1], 1, 1, 2)),
            "pad f32[2,3], f32[]->f32[2,6] padding=0_0x1_2");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[2]", "f32[]"), PadInDim(x[0], x[1], 1, 1, 2)), "error"));
  EXPECT_EQ(LINES(SHAPES("f32[4,5]"), Slice(x[0], {0, 1}, {4, 5}, {2, 2})),
            "slice f32[4,5]->f32[2,2] slice={[0:4:2], [1:5:2]}");
  EXPECT_EQ(LINES(SHAPES("f32[4,5]"), SliceInDim(x[0], 1, 3, 1, 0)), "slice f32[4,5]->f32[2,5] slice={[1:3], [0:5]}");
  EXPECT_EQ(LINES(SHAPES("f32[4,5]", "s32[]", "s32[]"), DynamicSlice(x[0], {x[1], x[2]}, {2, 2})),
            "dynamic-slice f32[4,5], s32[], s32[]->f32[2,2] dynamic_slice_sizes={2,2}");
  EXPECT_EQ(LINES(SHAPES("f32[4]", "f32[2]", "s32[]"), DynamicUpdateSlice(x[0], x[1], {x[2]})),
            "dynamic-update-slice f32[4], f32[2], s32[]->f32[4]");
  EXPECT_EQ(LINES(SHAPES("f32[4]", "f32[2]"), ConcatInDim(b, x, 0)),
            "concatenate f32[4], f32[2]->f32[6] dimensions={0}");
  EXPECT_TRUE(absl::StartsWith(LINES({}, ConcatInDim(b, {}, 0)), "error"));
  EXPECT_EQ(LINES(SHAPES("f32[]", "s32[]"), GetTupleElement(Tuple(b, x), 1)),
            "tuple f32[], s32[]->(f32[], s32[])\nget-tuple-element (f32[], s32[])->s32[] index=1");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[]"), GetTupleElement(x[0], 0)),
                               "error: Operand to GetTupleElement() is not a tuple; got f32[]"));
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("(f32[])"), GetTupleElement(x[0], 1)), "error"));
}

TEST(XlaBuilderLoweringTest, DynamicSizes) {
  EXPECT_EQ(LINES(SHAPES("f32[4,<=5]"), GetDimensionSize(x[0], 0)), "constant ->s32[]");
  EXPECT_EQ(LINES(SHAPES("f32[4,<=5]"), GetDimensionSize(x[0], 1)),
            "get-dimension-size f32[4,<=5]->s32[] dimensions={1}");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[4]"), GetDimensionSize(x[0], 1)), "error"));
  EXPECT_EQ(LINES(SHAPES("f32[4]", "s32[]"), SetDimensionSize(x[0], x[1], 0)),
            "set-dimension-size f32[4], s32[]->f32[<=4] dimensions={0}");
  EXPECT_EQ(LINES(SHAPES("f32[<=4]"), RemoveDynamicDimension(x[0], 0)),
            "constant ->s32[]\nset-dimension-size f32[<=4], s32[]->f32[4] dimensions={0}");
}

// ---- Contractions --------------------------------------------------------------------------------------------------

TEST(XlaBuilderLoweringTest, Dots) {
  EXPECT_EQ(LINES(SHAPES("f32[2,3]", "f32[3,4]"), Dot(x[0], x[1])),
            "dot f32[2,3], f32[3,4]->f32[2,4] lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  EXPECT_EQ(LINES(SHAPES("f32[3]", "f32[3,4]"), Dot(x[0], x[1])),
            "dot f32[3], f32[3,4]->f32[4] lhs_contracting_dims={0}, rhs_contracting_dims={0}");
  PrecisionConfig highest;
  highest.add_operand_precision(PrecisionConfig::HIGHEST);
  highest.add_operand_precision(PrecisionConfig::HIGHEST);
  EXPECT_EQ(LINES(SHAPES("s8[2,3]", "s8[3,4]"), Dot(x[0], x[1], &highest, S32)),
            "dot s8[2,3], s8[3,4]->s32[2,4] lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
            "operand_precision={highest,highest}");
  RaggedDotDimensionNumbers ragged;
  ragged.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(1);
  ragged.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(1);
  ragged.add_lhs_ragged_dimensions(0);
  ragged.add_rhs_group_dimensions(0);
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[11,5]", "f32[3,5,7]", "s32[3]"), RaggedDot(x[0], x[1], x[2], ragged)),
                               "ragged-dot f32[11,5], f32[3,5,7], s32[3]->f32[11,7] "));
}

TEST(XlaBuilderLoweringTest, Convolutions) {
  EXPECT_EQ(LINES(SHAPES("f32[1,2,6,6]", "f32[3,2,3,3]"), Conv(x[0], x[1], {1, 2}, Padding::kValid)),
            "convolution f32[1,2,6,6], f32[3,2,3,3]->f32[1,3,4,2] window={size=3x3 stride=1x2}, "
            "dim_labels=bf01_oi01->bf01");
  EXPECT_EQ(LINES(SHAPES("f32[1,2,6]", "f32[3,2,3]"), Conv(x[0], x[1], {1}, Padding::kSame)),
            "convolution f32[1,2,6], f32[3,2,3]->f32[1,3,6] window={size=3 pad=1_1}, dim_labels=bf0_oi0->bf0");
  EXPECT_EQ(LINES(SHAPES("f32[1,2,6]", "f32[3,1,3]"),
                  ConvWithGeneralPadding(x[0], x[1], {1}, {{2, 0}}, /*feature_group_count=*/2))
                .substr(0, 5),
            "error");
  EXPECT_EQ(LINES(SHAPES("f32[1,2,6]", "f32[4,1,3]"),
                  ConvWithGeneralPadding(x[0], x[1], {1}, {{2, 0}}, /*feature_group_count=*/2)),
            "convolution f32[1,2,6], f32[4,1,3]->f32[1,4,6] window={size=3 pad=2_0}, dim_labels=bf0_oi0->bf0, "
            "feature_group_count=2");
  const ConvolutionDimensionNumbers one = XlaBuilder::CreateDefaultConvDimensionNumbers(1);
  EXPECT_EQ(
      LINES(SHAPES("f32[1,2,6]", "f32[3,2,3]"), ConvGeneralDilated(x[0], x[1], {1}, {{0, 0}}, {2}, {3}, one, 1, 1,
                                                                   nullptr, std::nullopt, std::vector<bool>{true})),
      "convolution f32[1,2,6], f32[3,2,3]->f32[1,3,5] window={size=3 lhs_dilate=2 rhs_dilate=3 rhs_reversal=1}, "
      "dim_labels=bf0_oi0->bf0");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[1,2,6]", "f32[3,2]"), Conv(x[0], x[1], {1}, Padding::kSame)),
                               "error: Convolution arguments must have same number of dimensions. Got: "));
  EXPECT_EQ(LINES(SHAPES("f32[1,2,6]", "f32[3,2,3]"), Conv(x[0], x[1], {1, 1}, Padding::kSame)),
            "error: Expected 1 elements for input_spatial_dimensions, but got 2.");
  EXPECT_TRUE(
      absl::StrContains(LINES(SHAPES("f32[1,2,6]", "f32[3,2,3]"),
                              DynamicConvForward(x[0], x[1], {1}, {{0, 0}}, {}, {}, one, 1, 1, nullptr, PADDING_VALID)),
                        "custom_call_target=\"DynamicConvolutionForward\""));
}

TEST(XlaBuilderLoweringTest, ConvolutionDimensionNumbers) {
  ConvolutionDimensionNumbers numbers = XlaBuilder::CreateDefaultConvDimensionNumbers();
  EXPECT_TRUE(XlaBuilder::Validate(numbers).ok());
  EXPECT_EQ(numbers.input_spatial_dimensions_size(), 2);
  numbers.set_input_feature_dimension(0);
  EXPECT_FALSE(XlaBuilder::Validate(numbers).ok());
}

TEST(XlaBuilderLoweringTest, LinearAlgebraAndRandomNumbers) {
  EXPECT_EQ(LINES(SHAPES("f32[4,6]"), Fft(x[0], RFFT, {6})), "fft f32[4,6]->c64[4,4] fft_type=RFFT, fft_length={6}");
  EXPECT_EQ(LINES(SHAPES("f32[4,4]"), Cholesky(x[0], true)), "cholesky f32[4,4]->f32[4,4] lower=true");
  EXPECT_TRUE(
      absl::StartsWith(LINES(SHAPES("f32[4,4]", "f32[4,2]"),
                             TriangularSolve(x[0], x[1], true, true, false, TriangularSolveOptions::NO_TRANSPOSE)),
                       "triangular-solve f32[4,4], f32[4,2]->f32[4,2]"));
  EXPECT_EQ(LINES(SHAPES("f32[2,3]", "f32[3]", "f32[3]"), BatchNormTraining(x[0], x[1], x[2], 0.5, 1)),
            "batch-norm-training f32[2,3], f32[3], f32[3]->(f32[2,3], f32[3], f32[3]) epsilon=0.5, feature_index=1");
  EXPECT_EQ(LINES(SHAPES("f32[]", "f32[]"), RngUniform(x[0], x[1], ShapeOf("f32[2]"))),
            "rng f32[], f32[]->f32[2] distribution=rng_uniform");
  EXPECT_EQ(LINES(SHAPES("u64[2]"), RngBitGenerator(RNG_PHILOX, x[0], ShapeOf("f32[2]"))),
            "rng-bit-generator u64[2]->(u64[2], u32[2]) algorithm=rng_philox");
}

// ---- Reductions ----------------------------------------------------------------------------------------------------

TEST(XlaBuilderLoweringTest, Reductions) {
  const XlaComputation add = ScalarFunction(Add, "f32[]");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[2,3]", "f32[]"), Reduce(x[0], x[1], add, {1})),
                               "reduce f32[2,3], f32[]->f32[2] dimensions={1}, to_apply="));
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[2,3]", "f32[]"), ReduceAll(x[0], x[1], add)),
                               "reduce f32[2,3], f32[]->f32[] dimensions={0,1}, to_apply="));
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[2,3]", "f32[]"), Reduce(x[0], x[1], add, {2})), "error"));
}

TEST(XlaBuilderLoweringTest, Windows) {
  const XlaComputation add = ScalarFunction(Add, "f32[]");
  const XlaComputation ge = ScalarFunction(Ge, "f32[]");
  EXPECT_TRUE(
      absl::StartsWith(LINES(SHAPES("f32[5]", "f32[]"), ReduceWindow(x[0], x[1], add, {2}, {2}, Padding::kSame)),
                       "reduce-window f32[5], f32[]->f32[3] window={size=2 stride=2 pad=0_1}, to_apply="));
  EXPECT_TRUE(
      absl::StartsWith(LINES(SHAPES("f32[<=5]", "f32[]"), ReduceWindow(x[0], x[1], add, {2}, {2}, Padding::kSame)),
                       "custom-call f32[<=5], f32[]->f32[<=3] window={size=2 stride=2 pad=0_1}, "
                       "custom_call_target=\"DynamicReduceWindowSamePadding\""));
  EXPECT_TRUE(absl::StartsWith(
      LINES(SHAPES("f32[5]", "f32[]"), ReduceWindowWithGeneralPadding(x[0], x[1], add, {2}, {1}, {2}, {3}, {{1, 1}})),
      "reduce-window f32[5], f32[]->f32[8] window={size=2 pad=1_1 lhs_dilate=2 rhs_dilate=3}, to_apply="));
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[4]", "f32[2]", "f32[]"),
                                     SelectAndScatter(x[0], ge, {2}, {2}, Padding::kValid, x[1], x[2], add)),
                               "select-and-scatter f32[4], f32[2], f32[]->f32[4] window={size=2 stride=2}, select="));
  EXPECT_TRUE(absl::StartsWith(
      LINES(SHAPES("f32[5]", "f32[]"), ReduceWindow(x[0], x[1], add, {0}, {2}, Padding::kSame)), "error"));
}

TEST(XlaBuilderLoweringTest, MapSortTopKGatherScatter) {
  const XlaComputation add = ScalarFunction(Add, "f32[]");
  const XlaComputation lt = ScalarFunction(Lt, "f32[]");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[4]", "f32[4]"), Map(b, x, add, {0})),
                               "map f32[4], f32[4]->f32[4] dimensions={0}, to_apply="));
  EXPECT_EQ(LINES(SHAPES("f32[4]", "f32[4]"), Map(b, x, add, {0}, {x[0]})),
            "error: static_operands is not supported in Map");
  EXPECT_TRUE(
      absl::StartsWith(LINES(SHAPES("f32[2,4]"), Sort(x, lt)), "sort f32[2,4]->f32[2,4] dimensions={1}, to_apply="));
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[2,4]"), Sort(x, lt, 0, /*is_stable=*/true)),
                               "sort f32[2,4]->f32[2,4] dimensions={0}, is_stable=true, to_apply="));
  EXPECT_EQ(LINES(SHAPES("f32[2,4]"), TopK(x[0], 2, /*largest=*/false)),
            "topk f32[2,4]->(f32[2,2], s32[2,2]) k=2, largest=false");
  GatherDimensionNumbers gather;
  gather.add_offset_dims(1);
  gather.add_collapsed_slice_dims(0);
  gather.add_start_index_map(0);
  gather.set_index_vector_dim(1);
  EXPECT_EQ(LINES(SHAPES("f32[5,3]", "s32[2]"), Gather(x[0], x[1], gather, {1, 3}, /*indices_are_sorted=*/true)),
            "gather f32[5,3], s32[2]->f32[2,3] offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
            "index_vector_dim=1, slice_sizes={1,3}, indices_are_sorted=true");
  ScatterDimensionNumbers scatter;
  scatter.add_update_window_dims(1);
  scatter.add_inserted_window_dims(0);
  scatter.add_scatter_dims_to_operand_dims(0);
  scatter.set_index_vector_dim(1);
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[5,3]", "s32[2]", "f32[2,3]"), Scatter(x[0], x[1], x[2], add, scatter)),
                               "scatter f32[5,3], s32[2], f32[2,3]->f32[5,3] update_window_dims={1}, "));
  EXPECT_EQ(LINES(SHAPES("f32[5,3]", "s32[2]"), Scatter({x[0]}, x[1], Ops{}, add, scatter)),
            "error: Scatter should have same number of inputs and updates: 1 vs 0.");
  EXPECT_EQ(LINES(SHAPES("s32[2]"), Scatter(Ops{}, x[0], Ops{}, add, scatter)),
            "error: Scatter inputs cannot be empty.");
}

// ---- Control -------------------------------------------------------------------------------------------------------

XlaComputation Negation(absl::string_view shape) {
  XlaBuilder builder("negate");
  Neg(Param(&builder, 0, shape));
  return builder.Build().value();
}

TEST(XlaBuilderLoweringTest, While) {
  XlaBuilder condition("condition");
  Lt(Param(&condition, 0, "s32[]"), ConstantR0<int32_t>(&condition, 5));
  const XlaComputation is_small = condition.Build().value();
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("s32[]"), While(is_small, Negation("s32[]"), x[0])),
                               "while s32[]->s32[] condition=condition."));
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[]"), While(is_small, Negation("f32[]"), x[0])), "error"));
}

TEST(XlaBuilderLoweringTest, Conditionals) {
  const XlaComputation negate = Negation("f32[]");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("pred[]", "f32[]"), Conditional(x[0], x[1], negate, x[1], negate)),
                               "conditional pred[], f32[], f32[]->f32[] true_computation=negate."));
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("s32[]", "f32[]"), Conditional(x[0], {&negate, &negate}, {x[1], x[1]})),
                               "conditional s32[], f32[], f32[]->f32[] branch_computations={negate."));
  EXPECT_EQ(LINES(SHAPES("s32[]", "f32[]"), Conditional(x[0], x[1], negate, x[1], negate)),
            "error: Argument to predicated-Conditional is not a scalar of PRED type (s32[]).");
  EXPECT_EQ(LINES(SHAPES("pred[]", "f32[]"), Conditional(x[0], {&negate}, {x[1]})),
            "error: Argument to indexed-Conditional is not a scalar of S32 type (pred[]).");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("s32[]"), Conditional(x[0], {&negate}, {})), "error"));
}

TEST(XlaBuilderLoweringTest, Calls) {
  const XlaComputation negate = Negation("f32[]");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[]"), Call(b, negate, x)), "call f32[]->f32[] to_apply=negate."));
  const std::string composite = LINES(SHAPES("f32[]"), CompositeCall(b, negate, x, "my.op", "{n=1}", 2));
  EXPECT_TRUE(absl::StrContains(composite, "is_composite=true")) << composite;
  EXPECT_TRUE(absl::StrContains(composite,
                                "composite.attributes={n=1},composite.name=\"my.op\","
                                "composite.version=\"2\""))
      << composite;
  EXPECT_TRUE(absl::StrContains(LINES(SHAPES("f32[]"), CompositeCall(b, negate, x, "my.op")),
                                "composite.attributes={},composite.name=\"my.op\",composite.version=\"0\""));
}

TEST(XlaBuilderLoweringTest, CustomCalls) {
  const Shape result = ShapeOf("f32[2]");
  EXPECT_EQ(LINES(SHAPES("f32[]"), CustomCall(b, "f", x, result, "opaque", /*has_side_effect=*/true)),
            "custom-call f32[]->f32[2] custom_call_target=\"f\", custom_call_has_side_effect=true, "
            "backend_config=\"opaque\"");
  EXPECT_EQ(
      LINES(SHAPES("f32[]"), CustomCall(b, "$f", x, result)),
      "error: Invalid custom_call_target \"$f\": Call targets that start with '$' are reserved for internal use.");
  EXPECT_TRUE(absl::StrContains(LINES(SHAPES("f32[]"), CustomCallWithLayout(b, "f", x, result, {ShapeOf("f32[]")})),
                                "operand_layout_constraints={f32[]"));
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[]"), CustomCallWithLayout(b, "f", x, result, {})),
                               "error: Must specify a shape with layout for each operand"));
  EXPECT_TRUE(absl::StrContains(LINES(SHAPES("f32[]"), CustomCallWithComputation(b, "f", x, Negation("f32[]"), result)),
                                "called_computations={negate."));
}

// ---- Collectives ---------------------------------------------------------------------------------------------------

TEST(XlaBuilderLoweringTest, AllReduce) {
  const XlaComputation add = ScalarFunction(Add, "f32[]");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[2]"), AllReduce(x[0], add)),
                               "all-reduce f32[2]->f32[2] replica_groups={}, to_apply="));
  EXPECT_TRUE(absl::StrContains(LINES(SHAPES("(f32[2], f32[3])"), AllReduce(x[0], add)),
                                "all-reduce f32[2], f32[3]->(f32[2], f32[3]) "));
  // A tuple with one element comes back as a tuple.
  EXPECT_TRUE(absl::StrContains(LINES(SHAPES("(f32[2])"), AllReduce(x[0], add)), "tuple f32[2]->(f32[2])"));
  EXPECT_EQ(LINES(SHAPES("(f32[2], s32[2])"), AllReduce(x[0], add)),
            "error: All the shapes of a tuple input of AllReduce must have the same element type");
  EXPECT_EQ(LINES(SHAPES("()"), AllReduce(x[0], add)), "error: 0 element tuple AllReduce is not supported");
  ChannelHandle channel;
  channel.set_handle(7);
  EXPECT_TRUE(
      absl::StartsWith(LINES(SHAPES("f32[2,3]"), AllReduce(x[0], add, {}, channel, ShapeOf("f32[2,3]{0,1}"), true)),
                       "all-reduce f32[2,3]->f32[2,3] channel_id=7, replica_groups={}, constrain_layout=true, "
                       "use_global_device_ids=true, to_apply="));
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("pred[2]"), CrossReplicaSum(x[0])),
                               "all-reduce pred[2]->pred[2] replica_groups={}, to_apply=sum."));
}

TEST(XlaBuilderLoweringTest, OtherCollectives) {
  const XlaComputation add = ScalarFunction(Add, "f32[]");
  ReplicaGroup pair;
  pair.add_replica_ids(0);
  pair.add_replica_ids(1);
  EXPECT_EQ(LINES(SHAPES("f32[2,3]"), AllGather(x[0], 1, 2, {pair})),
            "all-gather f32[2,3]->f32[2,6] replica_groups={{0,1}}, dimensions={1}");
  EXPECT_TRUE(absl::StartsWith(LINES(SHAPES("f32[2,4]"), ReduceScatter(x[0], add, 1, 2, {pair})),
                               "reduce-scatter f32[2,4]->f32[2,2] replica_groups={{0,1}}, dimensions={1}, to_apply="));
  EXPECT_EQ(LINES(SHAPES("f32[4,4]"), AllToAll(x[0], 0, 0, 2)),
            "all-to-all f32[4,4]->f32[4,4] replica_groups={{0,1}}, dimensions={0}");
  EXPECT_EQ(LINES(SHAPES("f32[4,6]"), AllToAll(x[0], 0, 1, 2)),
            "all-to-all f32[4,6]->f32[4,6] replica_groups={{0,1}}, dimensions={0}\n"
            "reshape f32[4,6]->f32[2,2,6]\n"
            "transpose f32[2,2,6]->f32[2,2,6] dimensions={1,0,2}\n"
            "reshape f32[2,2,6]->f32[2,12]");
  EXPECT_EQ(LINES(SHAPES("f32[4,6]"), AllToAllTuple(x[0], 0, 1, 2)),
            "slice f32[4,6]->f32[2,6] slice={[0:2], [0:6]}\n"
            "slice f32[4,6]->f32[2,6] slice={[2:4], [0:6]}\n"
            "all-to-all f32[2,6], f32[2,6]->(f32[2,6], f32[2,6]) replica_groups={}\n"
            "get-tuple-element (f32[2,6], f32[2,6])->f32[2,6] index=0\n"
            "get-tuple-element (f32[2,6], f32[2,6])->f32[2,6] index=1\n"
            "concatenate f32[2,6], f32[2,6]->f32[2,12] dimensions={1}");
  EXPECT_EQ(LINES(SHAPES("f32[2]"), CollectivePermute(x[0], {{0, 1}, {1, 0}})),
            "collective-permute f32[2]->f32[2] source_target_pairs={{0,1},{1,0}}");
  EXPECT_EQ(LINES(SHAPES("f32[2]"), CollectiveBroadcast(x[0], {pair})),
            "collective-broadcast f32[2]->f32[2] replica_groups={{0,1}}");
  EXPECT_EQ(LINES({}, ReplicaId(b)), "replica-id ->u32[]");
}

// ---- Transfers -----------------------------------------------------------------------------------------------------

ChannelHandle Channel(ChannelHandle::ChannelType type) {
  ChannelHandle handle;
  handle.set_handle(3);
  handle.set_type(type);
  return handle;
}

TEST(XlaBuilderLoweringTest, InfeedAndOutfeed) {
  EXPECT_EQ(LINES({}, Infeed(b, ShapeOf("f32[2]"))),
            "after-all ->token[]\n"
            "infeed token[]->(f32[2], token[])\n"
            "get-tuple-element (f32[2], token[])->f32[2] index=0");
  EXPECT_EQ(LINES({}, InfeedWithToken(CreateToken(b), ShapeOf("f32[2]"), "config")),
            "after-all ->token[]\ninfeed token[]->(f32[2], token[]) infeed_config=\"config\"");
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[2]");
  Outfeed(x, ShapeOf("f32[2]"), "");
  Outfeed(x, ShapeOf("f32[2]"), "");
  const XlaComputation computation = builder.Build().value();
  const HloComputation* entry = computation.module().entry_computation();
  EXPECT_EQ(ShapeUtil::HumanString(entry->root_instruction()->shape()), "()");
  // One outfeed follows the other.
  std::vector<const HloInstruction*> outfeeds;
  for (const HloInstruction* i : entry->instructions()) {
    if (i->opcode() == HloOpcode::kOutfeed) outfeeds.push_back(i);
  }
  ASSERT_EQ(outfeeds.size(), 2);
  EXPECT_EQ(outfeeds[1]->operand(1), outfeeds[0]);
}

TEST(XlaBuilderLoweringTest, Channels) {
  const ChannelHandle device = Channel(ChannelHandle::DEVICE_TO_DEVICE);
  EXPECT_EQ(LINES({}, Recv(b, ShapeOf("f32[2]"), device)),
            "after-all ->token[]\n"
            "recv token[]->(f32[2], u32[], token[]) channel_id=3\n"
            "recv-done (f32[2], u32[], token[])->(f32[2], token[]) channel_id=3\n"
            "get-tuple-element (f32[2], token[])->f32[2] index=0");
  EXPECT_EQ(LINES(SHAPES("f32[2]"), Send(x[0], device)),
            "after-all ->token[]\n"
            "send f32[2], token[]->(f32[2], u32[], token[]) channel_id=3\n"
            "send-done (f32[2], u32[], token[])->token[] channel_id=3");
  EXPECT_EQ(LINES(SHAPES("f32[2]"), Send(x[0], Channel(ChannelHandle::DEVICE_TO_HOST))),
            "error: Send must use a device-to-device channel");
  EXPECT_EQ(LINES(SHAPES("f32[2]", "token[]"), SendToHost(x[0], x[1], ShapeOf("f32[2]{0}"), device)),
            "error: SendToHost must use a device-to-host channel");
  EXPECT_EQ(LINES(SHAPES("f32[2]", "token[]"),
                  SendToHost(x[0], x[1], ShapeOf("f32[2]"), Channel(ChannelHandle::DEVICE_TO_HOST))),
            "send f32[2], token[]->(f32[2], u32[], token[]) channel_id=3, is_host_transfer=true\n"
            "send-done (f32[2], u32[], token[])->token[] channel_id=3, is_host_transfer=true");
  EXPECT_EQ(LINES(SHAPES("token[]", "f32[]"), AfterAll(b, x)),
            "error: All operands to AfterAll must be tokens; operand 1 has shape f32[]");
}

// Operations that need arrays report tuples.
TEST(XlaBuilderLoweringTest, TuplesAreErrors) {
  const XlaComputation add = ScalarFunction(Add, "f32[]");
  const std::vector<std::function<void(XlaOp)>> operations = {
      [](XlaOp x) { Neg(x); },
      [](XlaOp x) { Add(x, x); },
      [](XlaOp x) { EqTotalOrder(x, x); },
      [](XlaOp x) { Clamp(x, x, x); },
      [](XlaOp x) { Select(GetTupleElement(x, 0), GetTupleElement(x, 0), x); },
      [](XlaOp x) { ConvertElementType(x, S32); },
      [](XlaOp x) { BroadcastInDim(x, {2}, {}); },
      [](XlaOp x) { Broadcast(x, {2}); },
      [](XlaOp x) { Reshape(x, {1}); },
      [](XlaOp x) { Reshape(ShapeOf("f32[1]"), x); },
      [](XlaOp x) {
        Collapse(x, {0, 1});
      },
      [](XlaOp x) { SliceInDim(x, 0, 1, 1, 0); },
      [](XlaOp x) { GetDimensionSize(x, 0); },
      [](XlaOp x) { RemoveDynamicDimension(x, 0); },
      [](XlaOp x) { Dot(x, x); },
      [](XlaOp x) { Conv(x, x, {1}, Padding::kSame); },
      [&](XlaOp x) { ReduceAll(x, x, add); },
      [&](XlaOp x) { ReduceWindow(x, x, add, {1}, {1}, Padding::kSame); },
      [&](XlaOp x) { Sort({x}, add); },
      [](XlaOp x) { TopK(x, 1, true); },
      [](XlaOp x) { AllToAll(x, 0, 0, 2); },
      [](XlaOp x) { RngBitGenerator(RNG_PHILOX, x, ShapeOf("(f32[])")); },
      [](XlaOp x) { MhloDynamicReshape(x, x, ShapeOf("f32[?]")); },
      [](XlaOp x) { x >> x; },
  };
  for (size_t i = 0; i < operations.size(); ++i) {
    XlaBuilder builder("b");
    operations[i](Param(&builder, 0, "(f32[], f32[2])"));
    EXPECT_FALSE(builder.first_error().ok()) << "operation " << i;
  }
}

TEST(XlaBuilderLoweringTest, SpmdConversions) {
  XlaBuilder builder("b");
  const XlaOp x = Param(&builder, 0, "f32[4,6]");
  const OpSharding tiles = sharding_builder::Tile(ShapeOf("f32[2,6]"), Array2D<int64_t>({{0}, {1}}));
  const XlaOp shard = ConvertSpmdFullToShardShape(&builder, x, /*single_dim=*/-1, tiles, {}).value();
  EXPECT_EQ(ShapeUtil::HumanString(builder.GetShape(shard).value()), "f32[2,6]");
  EXPECT_EQ(builder.GetOpSharding(shard).value()->type(), OpSharding::MANUAL);
  const XlaOp full =
      ConvertSpmdShardToFullShape(&builder, shard, ShapeOf("f32[4,6]"), /*single_dim=*/-1, tiles, {1}).value();
  EXPECT_EQ(ShapeUtil::HumanString(builder.GetShape(full).value()), "f32[4,6]");
  const XlaComputation computation = builder.Build().value();
  std::vector<std::string> targets;
  for (const HloInstruction* i : computation.module().entry_computation()->instructions()) {
    if (i->opcode() == HloOpcode::kCustomCall) targets.push_back(i->custom_call_target());
  }
  EXPECT_EQ(targets,
            (std::vector<std::string>{"Sharding", "SPMDFullToShardShape", "Sharding", "SPMDShardToFullShape"}));
}

}  // namespace
}  // namespace kashi::hlo
