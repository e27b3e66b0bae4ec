// Operations one by one, built and checked in the manner of upstream's hlo_evaluator_test.cc; some in F32 and again in
// BF16.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "xla/array2d.h"
#include "xla/array3d.h"
#include "xla/array4d.h"
#include "xla/error_spec.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/testlib/hlo_hardware_independent_test_base.h"
#include "xla/hlo/testlib/test.h"
#include "xla/hlo/transforms/simplifiers/hlo_element_type_converter.h"
#include "xla/layout_util.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/service/shape_inference.h"
#include "xla/shape_util.h"
#include "xla/tests/literal_test_util.h"
#include "xla/tsl/lib/core/status_test_util.h"
#include "xla/tsl/platform/statusor.h"
#include "xla/types.h"
#include "xla/window_util.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

class OperationsTest : public HloHardwareIndependentTestBase {
 public:
  OperationsTest() : use_bfloat16_(false) {}

  absl::StatusOr<Literal> Evaluate(absl::Span<const Literal* const> arguments = {}) {
    if (use_bfloat16_) HloElementTypeConverter(F32, BF16).Run(m_.get()).value();
    return evaluator_.Evaluate(*m_->entry_computation(), arguments);
  }
  // The entry is what was added to `builder`.
  void ExpectEntry(HloComputation::Builder& builder, const Literal& expected) {
    m_->AddEntryComputation(builder.Build());
    TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate());
    EXPECT_TRUE(LiteralTestUtil::Equal(expected, result));
  }
  void ExpectUnary(HloOpcode opcode, const Literal& expected, Literal input) {
    HloComputation::Builder b(TestName());
    HloInstruction* x = Constant(b, std::move(input));
    b.AddInstruction(HloInstruction::CreateUnary(expected.shape(), opcode, x));
    ExpectEntry(b, expected);
  }
  void ExpectBinary(HloOpcode opcode, const Literal& expected, Literal lhs, Literal rhs) {
    HloComputation::Builder b(TestName());
    HloInstruction *x = Constant(b, std::move(lhs)), *y = Constant(b, std::move(rhs));
    b.AddInstruction(HloInstruction::CreateBinary(expected.shape(), opcode, x, y));
    ExpectEntry(b, expected);
  }
  void ExpectTernary(HloOpcode opcode, const Literal& expected, Literal a, Literal b, Literal c) {
    HloComputation::Builder builder(TestName());
    HloInstruction *x = Constant(builder, std::move(a)), *y = Constant(builder, std::move(b)),
                   *z = Constant(builder, std::move(c));
    builder.AddInstruction(HloInstruction::CreateTernary(expected.shape(), opcode, x, y, z));
    ExpectEntry(builder, expected);
  }
  static HloInstruction* Constant(HloComputation::Builder& builder, Literal literal) {
    return builder.AddInstruction(HloInstruction::CreateConstant(std::move(literal)));
  }
  HloComputation* Scalar(HloOpcode opcode) {
    HloComputation::Builder b("scalar");
    const Shape shape = ShapeUtil::MakeShape(F32, {});
    auto x = b.AddInstruction(HloInstruction::CreateParameter(0, shape, "x"));
    auto y = b.AddInstruction(HloInstruction::CreateParameter(1, shape, "y"));
    b.AddInstruction(HloInstruction::CreateBinary(shape, opcode, x, y));
    return m_->AddEmbeddedComputation(b.Build());
  }
  static WindowDimension Along(int64_t size, int64_t stride = 1, int64_t low = 0, int64_t high = 0) {
    WindowDimension d;
    d.set_size(size);
    d.set_stride(stride);
    d.set_padding_low(low);
    d.set_padding_high(high);
    d.set_window_dilation(1);
    d.set_base_dilation(1);
    return d;
  }

 protected:
  explicit OperationsTest(bool use_bfloat16) : use_bfloat16_(use_bfloat16) {}

  HloEvaluator evaluator_;
  const bool use_bfloat16_;
  std::unique_ptr<HloModule> m_ = CreateNewVerifiedModule();
};

class OperationsBf16Test : public ::testing::WithParamInterface<bool>, public OperationsTest {
 protected:
  OperationsBf16Test() : OperationsTest(/*use_bfloat16=*/GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(Types, OperationsBf16Test, ::testing::Bool());

// ---- Elementwise

TEST_P(OperationsBf16Test, Clamp) {
  ExpectTernary(HloOpcode::kClamp, LiteralUtil::CreateR2<float>({{0, 4}, {2, 4}}),
                LiteralUtil::CreateR2<float>({{0, 2}, {2, 2}}), LiteralUtil::CreateR2<float>({{-1, 5}, {1, 4.5}}),
                LiteralUtil::CreateR2<float>({{3, 4}, {5, 4}}));
}
TEST_F(OperationsTest, Select) {
  ExpectTernary(HloOpcode::kSelect, LiteralUtil::CreateR1<int64_t>({1, 20}), LiteralUtil::CreateR1<bool>({true, false}),
                LiteralUtil::CreateR1<int64_t>({1, 2}), LiteralUtil::CreateR1<int64_t>({10, 20}));
}
TEST_F(OperationsTest, Add) {
  ExpectBinary(HloOpcode::kAdd, LiteralUtil::CreateR2<int64_t>({{3, 24}, {-96, 8}}),
               LiteralUtil::CreateR2<int64_t>({{1, 20}, {-100, 4}}), LiteralUtil::CreateR2<int64_t>({{2, 4}, {4, 4}}));
}
TEST_P(OperationsBf16Test, AndOfPred) {
  ExpectBinary(HloOpcode::kAnd, LiteralUtil::CreateR1<bool>({true, false}), LiteralUtil::CreateR1<bool>({true, true}),
               LiteralUtil::CreateR1<bool>({true, false}));
}
TEST_F(OperationsTest, DivideByZero) {
  ExpectBinary(HloOpcode::kDivide, LiteralUtil::CreateR1<int32_t>({-1, INT32_MIN}),
               LiteralUtil::CreateR1<int32_t>({7, INT32_MIN}), LiteralUtil::CreateR1<int32_t>({0, -1}));
}
TEST_F(OperationsTest, RemainderByZero) {
  ExpectBinary(HloOpcode::kRemainder, LiteralUtil::CreateR1<int32_t>({7, 0}),
               LiteralUtil::CreateR1<int32_t>({7, INT32_MIN}), LiteralUtil::CreateR1<int32_t>({0, -1}));
}
TEST_F(OperationsTest, ShiftsBeyondAllBits) {
  ExpectBinary(HloOpcode::kShiftRightArithmetic, LiteralUtil::CreateR1<int32_t>({-1, 0, -1}),
               LiteralUtil::CreateR1<int32_t>({-8, 8, -8}), LiteralUtil::CreateR1<int32_t>({40, 40, 3}));
}
TEST_F(OperationsTest, AbsOfComplex) {
  ExpectUnary(HloOpcode::kAbs, LiteralUtil::CreateR1<float>({5, 13}),
              LiteralUtil::CreateR1<complex64>({{3, -4}, {-5, 12}}));
}
TEST_F(OperationsTest, NotOfUnsigned) {
  ExpectUnary(HloOpcode::kNot, LiteralUtil::CreateR1<uint8_t>({255, 0}), LiteralUtil::CreateR1<uint8_t>({0, 255}));
}
TEST_F(OperationsTest, PopulationCount) {
  ExpectUnary(HloOpcode::kPopulationCount, LiteralUtil::CreateR1<int8_t>({8, 1, 0}),
              LiteralUtil::CreateR1<int8_t>({-1, 16, 0}));
}
TEST_F(OperationsTest, RoundsHalvesToEven) {
  ExpectUnary(HloOpcode::kRoundNearestEven, LiteralUtil::CreateR1<float>({0, 2, 2, -0.0f, -4}),
              LiteralUtil::CreateR1<float>({0.5, 1.5, 2.5, -0.5, -3.5}));
}
TEST_P(OperationsBf16Test, RoundsHalvesAway) {
  ExpectUnary(HloOpcode::kRoundNearestAfz, LiteralUtil::CreateR1<float>({1, 2, 3, -1, -4}),
              LiteralUtil::CreateR1<float>({0.5, 1.5, 2.5, -0.5, -3.5}));
}
TEST_F(OperationsTest, IsFiniteInF16) {
  ExpectUnary(HloOpcode::kIsFinite, LiteralUtil::CreateR1<bool>({true, false, false}),
              LiteralUtil::CreateR1<half>(
                  {half(1), std::numeric_limits<half>::infinity(), std::numeric_limits<half>::quiet_NaN()}));
}
TEST_F(OperationsTest, CompareOfComplex) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR1<complex64>({{1, 2}, {1, 2}}));
  auto y = Constant(b, LiteralUtil::CreateR1<complex64>({{1, 2}, {1, 3}}));
  b.AddInstruction(HloInstruction::CreateCompare(ShapeUtil::MakeShape(PRED, {2}), x, y, ComparisonDirection::kEq));
  ExpectEntry(b, LiteralUtil::CreateR1<bool>({true, false}));
}

// ---- Movement

TEST_P(OperationsBf16Test, PadsInsideAndOutside) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR1<float>({1, 2, 3}));
  auto zero = Constant(b, LiteralUtil::CreateR0<float>(9));
  PaddingConfig config;
  auto* d = config.add_dimensions();
  d->set_edge_padding_low(-1);
  d->set_edge_padding_high(2);
  d->set_interior_padding(1);
  b.AddInstruction(HloInstruction::CreatePad(ShapeUtil::MakeShape(F32, {6}), x, zero, config));
  ExpectEntry(b, LiteralUtil::CreateR1<float>({9, 2, 9, 3, 9, 9}));
}
TEST_P(OperationsBf16Test, NegativePad) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}}));
  auto zero = Constant(b, LiteralUtil::CreateR0<float>(0));
  PaddingConfig config = MakeEdgePaddingConfig({{-1, 0}, {0, -2}});
  b.AddInstruction(HloInstruction::CreatePad(ShapeUtil::MakeShape(F32, {1, 1}), x, zero, config));
  ExpectEntry(b, LiteralUtil::CreateR2<float>({{4}}));
}
TEST_P(OperationsBf16Test, DynamicSliceStaysInside) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR2<float>({{1, 2, 3}, {5, 6, 7}}));
  auto zero = Constant(b, LiteralUtil::CreateR0<int32_t>(0)), one = Constant(b, LiteralUtil::CreateR0<int32_t>(2));
  b.AddInstruction(HloInstruction::CreateDynamicSlice(ShapeUtil::MakeShape(F32, {2, 2}), x, {zero, one}, {2, 2}));
  ExpectEntry(b, LiteralUtil::CreateR2<float>({{2, 3}, {6, 7}}));
}
TEST_P(OperationsBf16Test, DynamicUpdateSlice) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR2<double>({{1, 2, 3}, {5, 6, 7}}));
  auto zero = Constant(b, LiteralUtil::CreateR0<int32_t>(0)), one = Constant(b, LiteralUtil::CreateR0<int32_t>(1));
  auto update = Constant(b, LiteralUtil::CreateR2<double>({{-2, -3}, {-6, -7}}));
  b.AddInstruction(HloInstruction::CreateDynamicUpdateSlice(x->shape(), x, update, {zero, one}));
  ExpectEntry(b, LiteralUtil::CreateR2<double>({{1, -2, -3}, {5, -6, -7}}));
}
TEST_F(OperationsTest, Reverse) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR2<int8_t>({{1, 2, 3}, {5, 6, 7}}));
  b.AddInstruction(HloInstruction::CreateReverse(x->shape(), x, {0, 1}));
  ExpectEntry(b, LiteralUtil::CreateR2<int8_t>({{7, 6, 5}, {3, 2, 1}}));
}
TEST_P(OperationsBf16Test, TransposeAndReshape) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR2<float>({{1, 2, 3}, {5, 6, 7}}));
  auto t = b.AddInstruction(HloInstruction::CreateTranspose(ShapeUtil::MakeShape(F32, {3, 2}), x, {1, 0}));
  b.AddInstruction(HloInstruction::CreateReshape(ShapeUtil::MakeShape(F32, {6}), t));
  ExpectEntry(b, LiteralUtil::CreateR1<float>({1, 5, 2, 6, 3, 7}));
}
TEST_F(OperationsTest, BroadcastConcatenateConvert) {
  HloComputation::Builder b(TestName());
  auto x = b.AddInstruction(HloInstruction::CreateBroadcast(ShapeUtil::MakeShape(S32, {2, 2}),
                                                            Constant(b, LiteralUtil::CreateR1<int32_t>({1, 2})), {0}));
  auto y = Constant(b, LiteralUtil::CreateR2<int32_t>({{7}, {8}}));
  auto c = b.AddInstruction(HloInstruction::CreateConcatenate(ShapeUtil::MakeShape(S32, {2, 3}), {x, y}, 1));
  b.AddInstruction(HloInstruction::CreateConvert(ShapeUtil::MakeShape(F32, {2, 3}), c));
  ExpectEntry(b, LiteralUtil::CreateR2<float>({{1, 1, 7}, {2, 2, 8}}));
}
TEST_F(OperationsTest, BitcastConvert) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR1<float>({1, -0.0f}));
  b.AddInstruction(HloInstruction::CreateBitcastConvert(ShapeUtil::MakeShape(U32, {2}), x));
  ExpectEntry(b, LiteralUtil::CreateR1<uint32_t>({0x3f800000, 0x80000000}));
}
TEST_F(OperationsTest, BitcastGoesThroughLayouts) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    ENTRY main {
      x = f32[2,3]{0,1} parameter(0)
      ROOT y = f32[3,2]{1,0} bitcast(x)
    })"));
  Literal x = LiteralUtil::CreateR2WithLayout<float>({{1, 2, 3}, {4, 5, 6}}, LayoutUtil::MakeLayout({0, 1}));
  TF_ASSERT_OK_AND_ASSIGN(Literal y, Evaluate({&x}));
  EXPECT_TRUE(absl::c_equal(x.data<float>(), y.data<float>()));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR2<float>({{1, 4}, {2, 5}, {3, 6}}), y));
}

// ---- Products

TEST_P(OperationsBf16Test, DotOfMatrices) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR2<float>({{1, 2}, {3, 4}, {0, 1}}));
  auto y = Constant(b, LiteralUtil::CreateR2<float>({{1, 10}, {2, 20}}));
  DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(1);
  numbers.add_rhs_contracting_dimensions(0);
  b.AddInstruction(
      HloInstruction::CreateDot(ShapeUtil::MakeShape(F32, {3, 2}), x, y, numbers, DefaultPrecisionConfig(2)));
  ExpectEntry(b, LiteralUtil::CreateR2<float>({{5, 50}, {11, 110}, {2, 20}}));
}
TEST_F(OperationsTest, DotToAWiderType) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    ENTRY main {
      x = s8[2] constant({100, 100})
      y = u8[2] constant({200, 100})
      ROOT d = s32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    })"));
  TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate());
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR0<int32_t>(30000), result));
}
TEST_P(OperationsBf16Test, ConvolutionWithPadding) {
  HloComputation::Builder b(TestName());
  Array4D<float> lhs(1, 1, 3, 3);
  lhs.FillIota(1);
  Array4D<float> rhs(1, 1, 2, 2, 1.0f);
  auto x = Constant(b, LiteralUtil::CreateR4FromArray4D<float>(lhs));
  auto y = Constant(b, LiteralUtil::CreateR4FromArray4D<float>(rhs));
  Window window;
  *window.add_dimensions() = Along(2, 1, 0, 1);
  *window.add_dimensions() = Along(2, 2, 0, 1);
  ConvolutionDimensionNumbers numbers = XlaBuilder::CreateDefaultConvDimensionNumbers(2);
  TF_ASSERT_OK_AND_ASSIGN(
      Shape shape, ShapeInference::InferConvolveShape(x->shape(), y->shape(), 1, 1, window, numbers, std::nullopt));
  b.AddInstruction(HloInstruction::CreateConvolve(shape, x, y, 1, 1, window, numbers, DefaultPrecisionConfig(2)));
  ExpectEntry(b, LiteralUtil::CreateR4<float>({{{{12, 9}, {24, 15}, {15, 9}}}}));
}

// ---- Computations on scalars

TEST_P(OperationsBf16Test, Reduce) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}}));
  auto zero = Constant(b, LiteralUtil::CreateR0<float>(0));
  b.AddInstruction(HloInstruction::CreateReduce(ShapeUtil::MakeShape(F32, {2}), x, zero, {1}, Scalar(HloOpcode::kAdd)));
  ExpectEntry(b, LiteralUtil::CreateR1<float>({6, 15}));
}
TEST_P(OperationsBf16Test, ReduceWindowWithDilation) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR1<float>({1, 4, 2, 8, 0}));
  auto zero = Constant(b, LiteralUtil::CreateR0<float>(-1));
  Window window;
  *window.add_dimensions() = Along(2, 1, 1, 0);
  window.mutable_dimensions(0)->set_window_dilation(2);
  b.AddInstruction(
      HloInstruction::CreateReduceWindow(ShapeUtil::MakeShape(F32, {4}), x, zero, window, Scalar(HloOpcode::kMaximum)));
  ExpectEntry(b, LiteralUtil::CreateR1<float>({4, 2, 8, 2}));
}
TEST_P(OperationsBf16Test, Map) {
  HloComputation::Builder b(TestName());
  auto x = Constant(b, LiteralUtil::CreateR1<float>({1, 4})), y = Constant(b, LiteralUtil::CreateR1<float>({2, 0.5}));
  b.AddInstruction(HloInstruction::CreateMap(x->shape(), {x, y}, Scalar(HloOpcode::kMultiply)));
  ExpectEntry(b, LiteralUtil::CreateR1<float>({2, 2}));
}
TEST_F(OperationsTest, ReduceOfTwo) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    both {
      a = s32[] parameter(0)
      b = s32[] parameter(1)
      x = s32[] parameter(2)
      y = s32[] parameter(3)
      sum = s32[] add(a, x)
      product = s32[] multiply(b, y)
      ROOT out = (s32[], s32[]) tuple(sum, product)
    }
    ENTRY main {
      x.1 = s32[3] constant({1, 2, 3})
      zero = s32[] constant(0)
      one = s32[] constant(1)
      ROOT r = (s32[], s32[]) reduce(x.1, x.1, zero, one), dimensions={0}, to_apply=both
    })"));
  TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate());
  EXPECT_TRUE(LiteralTestUtil::Equal(
      LiteralUtil::MakeTupleOwned(LiteralUtil::CreateR0<int32_t>(6), LiteralUtil::CreateR0<int32_t>(6)), result));
}
TEST_F(OperationsTest, GatherOfRows) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    ENTRY main {
      x = s32[3,2] parameter(0)
      at = s32[2] parameter(1)
      ROOT g = s32[2,2] gather(x, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
          slice_sizes={1,2}
    })"));
  Literal x = LiteralUtil::CreateR2<int32_t>({{1, 2}, {3, 4}, {5, 6}}), at = LiteralUtil::CreateR1<int32_t>({2, -7});
  TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate({&x, &at}));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR2<int32_t>({{5, 6}, {1, 2}}), result));
}
TEST_F(OperationsTest, ScatterOfRows) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
    ENTRY main {
      x = s32[3,2] parameter(0)
      at = s32[3] parameter(1)
      u = s32[3,2] parameter(2)
      ROOT g = s32[3,2] scatter(x, at, u), to_apply=add, update_window_dims={1}, inserted_window_dims={0},
          scatter_dims_to_operand_dims={0}, index_vector_dim=1
    })"));
  Literal x = LiteralUtil::CreateR2<int32_t>({{1, 2}, {3, 4}, {5, 6}}), at = LiteralUtil::CreateR1<int32_t>({1, 1, 9}),
          u = LiteralUtil::CreateR2<int32_t>({{10, 10}, {20, 20}, {30, 30}});
  TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate({&x, &at, &u}));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR2<int32_t>({{1, 2}, {33, 34}, {5, 6}}), result));
}
TEST_F(OperationsTest, SortByKeys) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    less { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3)
      ROOT l = pred[] compare(a, b), direction=LT }
    ENTRY main {
      k = f32[3] constant({3, 1, 2})
      v = s32[3] constant({30, 10, 20})
      s = (f32[3], s32[3]) sort(k, v), dimensions={0}, to_apply=less
      ROOT r = s32[3] get-tuple-element(s), index=1
    })"));
  TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate());
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR1<int32_t>({10, 20, 30}), result));
}
TEST_F(OperationsTest, FftAndBack) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    ENTRY main {
      x = c64[4] parameter(0)
      f = c64[4] fft(x), fft_type=FFT, fft_length={4}
      ROOT i = c64[4] fft(f), fft_type=IFFT, fft_length={4}
    })"));
  Literal x = LiteralUtil::CreateR1<complex64>({{1, 0}, {0, 2}, {-3, 0}, {0, 4}});
  TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate({&x}));
  EXPECT_TRUE(LiteralTestUtil::Near(x, result, ErrorSpec(1e-6)));
}

// ---- Control, and what callers see go wrong

TEST_F(OperationsTest, LoopsEndAtTheLimit) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    body { x = f32[] parameter(0) ROOT y = f32[] add(x, x) }
    condition { z = f32[] parameter(0) ROOT yes = pred[] constant(true) }
    ENTRY main { one = f32[] constant(1) ROOT loop = f32[] while(one), condition=condition, body=body }
  )"));
  HloEvaluator limited(/*max_loop_iterations=*/3);
  const absl::Status status = limited.Evaluate(*m_, absl::Span<const Literal* const>()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "Loop loop exceeded loop iteration limit (3).");
}
TEST_F(OperationsTest, ArgumentsThatDoNotFit) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    ENTRY main { x = s32[1] parameter(0) ROOT y = s32[1] negate(x) }
  )"));
  Literal wrong = LiteralUtil::CreateR1<int32_t>({0, 1});
  absl::Status status = Evaluate({&wrong}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "Shape mismatch at parameter 0. Computation expected s32[1]{0}, but arg was s32[2]{0}.");
  EXPECT_EQ(Evaluate({}).status().message(), "Expected 1 argument, but got 0.");
}
TEST_F(OperationsTest, OperandsThatAreNoConstants) {
  HloComputation::Builder b(TestName());
  const Shape shape = ShapeUtil::MakeShape(F32, {4});
  auto x = b.AddInstruction(HloInstruction::CreateParameter(0, shape, "x"));
  auto square = b.AddInstruction(HloInstruction::CreateBinary(shape, HloOpcode::kMultiply, x, x));
  auto sum = b.AddInstruction(HloInstruction::CreateBinary(shape, HloOpcode::kAdd, x, square));
  m_->AddEntryComputation(b.Build());
  Literal ten = LiteralUtil::CreateR1<float>({10, 20, 30, 40}),
          square_literal = LiteralUtil::CreateR1<float>({1, 2, 3, 4});
  EXPECT_EQ(evaluator_.Evaluate(sum).status().code(), absl::StatusCode::kFailedPrecondition);
  TF_ASSERT_OK_AND_ASSIGN(Literal result,
                          evaluator_.Evaluate(sum, /*analyses=*/{}, false, {{x, &ten}, {square, &square_literal}}));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR1<float>({11, 22, 33, 44}), result));
  TF_ASSERT_OK_AND_ASSIGN(result, evaluator_.Evaluate(sum, /*analyses=*/{}, true, {{x, &ten}}));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR1<float>({110, 420, 930, 1640}), result));
}
TEST_F(OperationsTest, ErrorsOfCustomCalls) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    ENTRY main { x = u32[2] parameter(0) ROOT c = u32[2] custom-call(x, x), custom_call_target="_my_custom_call" }
  )"));
  Literal x = LiteralUtil::CreateR1<uint32_t>({1, 2});
  EXPECT_EQ(Evaluate({&x}).status().code(), absl::StatusCode::kUnimplemented);
  evaluator_.set_custom_call_handler([](const HloInstruction*, absl::Span<const Literal* const> operands) {
    EXPECT_EQ(operands.size(), 2);
    return absl::StatusOr<Literal>(absl::InternalError("test error"));
  });
  EXPECT_EQ(Evaluate({&x}).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Evaluate({&x}).status().message(), "test error");
}
TEST_F(OperationsTest, AsynchronousOperations) {
  TF_ASSERT_OK_AND_ASSIGN(m_, ParseAndReturnVerifiedModule(R"(
    HloModule test
    called { p = s32[2] parameter(0) ROOT n = s32[2] negate(p) }
    ENTRY main {
      x = s32[2] parameter(0)
      start = ((s32[2]), s32[2], u32[]) call-start(x), to_apply=called
      update = ((s32[2]), s32[2], u32[]) call-update(start)
      done = s32[2] call-done(update)
      copy = (s32[2], s32[2], u32[]) copy-start(done)
      ROOT result = s32[2] copy-done(copy)
    })"));
  Literal x = LiteralUtil::CreateR1<int32_t>({1, -2});
  TF_ASSERT_OK_AND_ASSIGN(Literal result, Evaluate({&x}));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR1<int32_t>({-1, 2}), result));
}
TEST_F(OperationsTest, EmbeddedEvaluators) {
  EXPECT_NE(evaluator_.CreateEmbedded(/*max_loop_iterations=*/1), nullptr);
  EXPECT_TRUE(HloEvaluator::IsOpcodeImplemented(HloOpcode::kAdd));
  EXPECT_FALSE(HloEvaluator::IsOpcodeImplemented(HloOpcode::kSend));
}

}  // namespace
}  // namespace xla
