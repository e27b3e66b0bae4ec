#include "kashi/value_inference/value_inference.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/literal/literal_util.h"

namespace kashi::value_inference {
namespace {

// Each array of s32 on one line, a `?` where nothing is known; arrays of a tuple apart by `|`.
std::string InferredText(XlaOp op, ValueInferenceMode mode) {
  const auto shape = op.builder()->GetShape(op);
  EXPECT_TRUE(shape.ok()) << shape.status();
  const auto known = ValueInference(op.builder()).AnalyzeConstant(op, mode);
  EXPECT_TRUE(known.ok()) << known.status();
  if (!shape.ok() || !known.ok()) return "error";
  std::vector<std::string> arrays;
  ShapeUtil::ForEachSubshape(*shape, [&](const Shape& part, const ShapeIndex& index) {
    if (!part.IsArray()) return;
    std::vector<std::string> elements;
    ShapeUtil::ForEachIndexNoStatus(ShapeUtil::MakeShape(part.element_type(), part.dimensions()),
                                    [&](absl::Span<const int64_t> at) {
                                      if (part.element_type() == PRED) {
                                        const std::optional<bool> value = known->Get<bool>(at, index);
                                        elements.push_back(value ? (*value ? "true" : "false") : "?");
                                      } else {
                                        const std::optional<int32_t> value = known->Get<int32_t>(at, index);
                                        elements.push_back(value ? absl::StrCat(*value) : "?");
                                      }
                                      return true;
                                    });
    arrays.push_back(absl::StrJoin(elements, " "));
  });
  return absl::StrJoin(arrays, " | ");
}
std::string ValueText(XlaOp op) { return InferredText(op, ValueInferenceMode::kValue); }
// "least to greatest"
std::string BoundsText(XlaOp op) {
  return absl::StrCat(InferredText(op, ValueInferenceMode::kLowerBound), " to ",
                      InferredText(op, ValueInferenceMode::kUpperBound));
}

class ValueInferenceTest : public ::testing::Test {
 protected:
  XlaOp Input(const std::string& shape) {
    const int64_t number = inputs_++;
    return Parameter(&b_, number, ParseShape(shape).value(), absl::StrCat("p", number));
  }
  XlaOp Number(int32_t value) { return ConstantR0<int32_t>(&b_, value); }
  XlaOp Numbers(std::vector<int32_t> values) { return ConstantR1<int32_t>(&b_, values); }
  // 1 2 ?
  XlaOp Mixed() { return ConcatInDim(&b_, {Numbers({1, 2}), Input("s32[1]")}, 0); }
  // The computation of `body` of two numbers.
  template <typename Body>
  XlaComputation OfTwo(Body body) {
    XlaBuilder b("two");
    const Shape s32 = ShapeUtil::MakeShape(S32, {});
    body(Parameter(&b, 0, s32, "x"), Parameter(&b, 1, s32, "y"));
    return b.Build().value();
  }
  // … of one value.
  template <typename Body>
  XlaComputation OfOne(const Shape& shape, Body body) {
    XlaBuilder b("one");
    body(Parameter(&b, 0, shape, "x"));
    return b.Build().value();
  }

  XlaBuilder b_{"test"};
  int64_t inputs_ = 0;
};

TEST_F(ValueInferenceTest, ParametersAreDynamicAndConstantsAreNot) {
  EXPECT_EQ(ValueText(Input("s32[2]")), "? ?");
  EXPECT_EQ(ValueText(Number(7)), "7");
  EXPECT_EQ(ValueText(Iota(&b_, S32, 3)), "0 1 2");
  EXPECT_EQ(ValueText(Mixed()), "1 2 ?");
  EXPECT_EQ(ValueText(RngUniform(Number(0), Number(5), ShapeUtil::MakeShape(S32, {}))), "?");
  EXPECT_EQ(ValueText(AllReduce(Number(3), OfTwo([](XlaOp x, XlaOp y) { Add(x, y); }))), "?");
  EXPECT_EQ(ValueText(CustomCall(&b_, "unheard of", {Number(1)}, ShapeUtil::MakeShape(S32, {}))), "?");
}

TEST_F(ValueInferenceTest, ElementsThatMoveAndMeet) {
  const XlaOp mixed = Mixed();
  EXPECT_EQ(ValueText(Rev(mixed, {0})), "? 2 1");
  EXPECT_EQ(ValueText(SliceInDim(mixed, 1, 3, 1, 0)), "2 ?");
  EXPECT_EQ(ValueText(Reshape(SliceInDim(mixed, 1, 2, 1, 0), {})), "2");
  EXPECT_EQ(ValueText(Broadcast(mixed, {2})), "1 2 ? 1 2 ?");
  EXPECT_EQ(ValueText(Transpose(Broadcast(mixed, {2}), {1, 0})), "1 1 2 2 ? ?");
  EXPECT_EQ(ValueText(Add(mixed, Numbers({10, 20, 30}))), "11 22 ?");
  EXPECT_EQ(ValueText(Neg(mixed)), "-1 -2 ?");
  EXPECT_EQ(ValueText(Add(mixed, Rev(mixed, {0}))), "? 4 ?");
  EXPECT_EQ(ValueText(PadInDim(Numbers({1, 2}), Input("s32[]"), 0, 1, 0)), "? 1 2");
  EXPECT_EQ(ValueText(DynamicSlice(mixed, {Number(1)}, {1})), "2");
  EXPECT_EQ(ValueText(DynamicSlice(mixed, {Input("s32[]")}, {1})), "?");
  EXPECT_EQ(ValueText(DynamicUpdateSlice(mixed, Numbers({9}), {Number(2)})), "1 2 9");
  EXPECT_EQ(ValueText(ConvertElementType(mixed, S32)), "1 2 ?");
}

TEST_F(ValueInferenceTest, GatherByKnownIndices) {
  GatherDimensionNumbers numbers;
  numbers.add_collapsed_slice_dims(0);
  numbers.add_start_index_map(0);
  numbers.set_index_vector_dim(1);
  EXPECT_EQ(ValueText(Gather(Mixed(), Numbers({2, 0, 2}), numbers, {1})), "? 1 ?");
  EXPECT_EQ(ValueText(Gather(Mixed(), Input("s32[2]"), numbers, {1})), "? ?");
}

TEST_F(ValueInferenceTest, TuplesKeepTheirElements) {
  const XlaOp tuple = Tuple(&b_, {Number(4), Input("s32[]"), Tuple(&b_, {Mixed()})});
  EXPECT_EQ(ValueText(tuple), "4 | ? | 1 2 ?");
  EXPECT_EQ(ValueText(GetTupleElement(GetTupleElement(tuple, 2), 0)), "1 2 ?");
  const XlaOp with_token = Input("(token[], s32[])");
  const Literal dynamic = ValueInference(&b_).AnalyzeIsDynamic(with_token).value();
  EXPECT_TRUE(dynamic.Get<bool>({}, {0}));
  EXPECT_TRUE(dynamic.Get<bool>({}, {1}));
}

TEST_F(ValueInferenceTest, Select) {
  const XlaOp predicate = ConcatInDim(&b_, {ConstantR1<bool>(&b_, {true, false}), Input("pred[1]")}, 0);
  EXPECT_EQ(ValueText(Select(predicate, Mixed(), Numbers({7, 8, 9}))), "1 8 ?");
  EXPECT_EQ(BoundsText(Select(predicate, Numbers({1, 2, 3}), Numbers({7, 8, 9}))), "1 8 3 to 1 8 9");
  // A value that is used in its own choice is no better known for it.
  const XlaOp p = Input("s32[]");
  EXPECT_EQ(ValueText(Select(Eq(p, Number(42)), p, Number(42))), "?");
}

TEST_F(ValueInferenceTest, Reductions) {
  const XlaComputation add = OfTwo([](XlaOp x, XlaOp y) { Add(x, y); });
  const XlaOp rows = ConcatInDim(&b_, {Broadcast(Numbers({1, 2, 3}), {1}), Reshape(Mixed(), {1, 3})}, 0);
  EXPECT_EQ(ValueText(Reduce(rows, Number(0), add, {1})), "6 ?");
  EXPECT_EQ(ValueText(Reduce(rows, Number(0), add, {0})), "2 4 ?");
  EXPECT_EQ(ValueText(Reduce(rows, Input("s32[]"), add, {1})), "? ?");
  EXPECT_EQ(ValueText(ReduceWindow(Mixed(), Number(0), add, {2}, {1}, Padding::kValid)), "3 ?");
  const XlaComputation both = [&] {
    XlaBuilder b("both");
    std::vector<XlaOp> x;
    for (int i = 0; i < 4; ++i) x.push_back(Parameter(&b, i, ShapeUtil::MakeShape(S32, {}), absl::StrCat("x", i)));
    Tuple(&b, {Add(x[0], x[2]), Add(x[1], x[3])});
    return b.Build().value();
  }();
  EXPECT_EQ(ValueText(Reduce(&b_, {rows, rows}, {Number(0), Number(0)}, both, {1})), "6 ? | 6 ?");
}

TEST_F(ValueInferenceTest, SortByKnownKeys) {
  XlaBuilder comparator("comparator");
  std::vector<XlaOp> x;
  for (int i = 0; i < 4; ++i) {
    x.push_back(Parameter(&comparator, i, ShapeUtil::MakeShape(S32, {}), absl::StrCat("x", i)));
  }
  Gt(x[0], x[1]);
  const XlaComputation greater = comparator.Build().value();
  EXPECT_EQ(ValueText(Sort({Iota(&b_, S32, 3), Input("s32[3]")}, greater)), "2 1 0 | ? ? ?");
  EXPECT_EQ(ValueText(Sort({Input("s32[3]"), Iota(&b_, S32, 3)}, greater)), "? ? ? | ? ? ?");
}

TEST_F(ValueInferenceTest, Calls) {
  const Shape s32 = ShapeUtil::MakeShape(S32, {});
  const XlaComputation same = OfOne(s32, [](XlaOp x) { Copy(x); });
  const XlaComputation one = OfOne(s32, [](XlaOp x) { ConstantR0<int32_t>(x.builder(), 1); });
  const XlaComputation two = OfOne(s32, [](XlaOp x) { ConstantR0<int32_t>(x.builder(), 2); });
  const XlaOp flag = Input("pred[]");
  EXPECT_EQ(ValueText(Call(&b_, same, {Number(5)})), "5");
  EXPECT_EQ(ValueText(Call(&b_, same, {Input("s32[]")})), "?");
  EXPECT_EQ(ValueText(Call(&b_, one, {Input("s32[]")})), "1");
  EXPECT_EQ(ValueText(Conditional(flag, Number(1), same, Number(1), one)), "1");
  EXPECT_EQ(ValueText(Conditional(flag, Number(1), one, Number(1), two)), "?");
  EXPECT_EQ(BoundsText(Conditional(flag, Number(1), one, Number(1), two)), "1 to 2");
  EXPECT_EQ(ValueText(Conditional(ConstantR0<bool>(&b_, true), Number(9), same, Input("s32[]"), same)), "9");
  EXPECT_EQ(ValueText(Conditional(ConstantR0<bool>(&b_, false), Number(9), same, Input("s32[]"), same)), "?");
  // An index out of range selects the last branch.
  const std::vector<const XlaComputation*> branches = {&one, &two, &same};
  EXPECT_EQ(ValueText(Conditional(Number(-1), branches, {Number(7), Number(7), Number(7)})), "7");
}

TEST_F(ValueInferenceTest, Loops) {
  const Shape state = ParseShape("(s32[], s32[])").value();
  const XlaComputation body = OfOne(state, [](XlaOp x) {
    Tuple(x.builder(), {Add(GetTupleElement(x, 0), ConstantR0<int32_t>(x.builder(), 1)), GetTupleElement(x, 1)});
  });
  const XlaComputation below_10 =
      OfOne(state, [](XlaOp x) { Lt(GetTupleElement(x, 0), ConstantR0<int32_t>(x.builder(), 10)); });
  EXPECT_EQ(ValueText(While(below_10, body, Tuple(&b_, {Number(0), Number(3)}))), "10 | 3");
  EXPECT_EQ(ValueText(While(below_10, body, Tuple(&b_, {Input("s32[]"), Number(3)}))), "? | 3");
  EXPECT_EQ(ValueText(While(below_10, body, Tuple(&b_, {Number(0), Input("s32[]")}))), "? | ?");
}

TEST_F(ValueInferenceTest, SizesHaveBounds) {
  const XlaOp x = Input("f32[<=2,<=3,4]");
  const XlaOp n = GetDimensionSize(x, 0);
  const XlaOp m = GetDimensionSize(x, 1);
  EXPECT_EQ(ValueText(n), "?");
  EXPECT_EQ(BoundsText(n), "0 to 2");
  EXPECT_EQ(ValueText(GetDimensionSize(x, 2)), "4");
  const XlaOp difference = Sub(m, n);
  EXPECT_EQ(BoundsText(difference), "-2 to 3");
  EXPECT_EQ(BoundsText(Add(difference, n)), "0 to 3");
  EXPECT_EQ(BoundsText(Add(Reshape(SliceInDim(Broadcast(difference, {1}), 0, 1, 1, 0), {}), Add(m, n))), "0 to 6");
  EXPECT_EQ(BoundsText(Div(m, n)), "0 to 3");
  EXPECT_EQ(BoundsText(ConcatInDim(&b_, {Reshape(n, {1}), Mixed()}, 0)), "0 1 2 ? to 2 1 2 ?");
  EXPECT_EQ(BoundsText(Le(n, Number(2))), "true to true");
  EXPECT_EQ(ValueText(Le(n, Number(2))), "?");
  EXPECT_EQ(BoundsText(Max(n, Number(1))), "1 to 2");
  EXPECT_EQ(BoundsText(Mul(n, m)), "0 to 6");
  EXPECT_EQ(BoundsText(Neg(m)), "-3 to 0");
  const XlaOp all = ConcatInDim(&b_, {Reshape(n, {1}), Reshape(m, {1})}, 0);
  EXPECT_EQ(BoundsText(Reduce(all, Number(1), OfTwo([](XlaOp a, XlaOp b) { Mul(a, b); }), {0})), "0 to 6");
  EXPECT_EQ(BoundsText(Tuple(&b_, {n, Mixed()})), "0 | 1 2 ? to 2 | 1 2 ?");
}

TEST_F(ValueInferenceTest, SizesThatAreSet) {
  const XlaOp x = Input("s32[4]");
  EXPECT_EQ(ValueText(GetDimensionSize(SetDimensionSize(x, Number(3), 0), 0)), "3");
  const XlaOp n = GetDimensionSize(Input("s32[<=3]"), 0);
  EXPECT_EQ(BoundsText(GetDimensionSize(SetDimensionSize(x, n, 0), 0)), "0 to 3");
  EXPECT_EQ(ValueText(SetDimensionSize(Mixed(), n, 0)), "1 2 ?");
}

TEST_F(ValueInferenceTest, SetBound) {
  const Shape s32 = ShapeUtil::MakeShape(S32, {});
  const auto bounded = [&](XlaOp x, const Literal& literal) {
    return CustomCall(&b_, "SetBound", {x}, s32, "", false, {}, &literal);
  };
  const Literal known =
      LiteralUtil::MakeTupleOwned(LiteralUtil::CreateR0<int32_t>(32), LiteralUtil::CreateR0<bool>(false));
  const Literal open =
      LiteralUtil::MakeTupleOwned(LiteralUtil::CreateR0<int32_t>(32), LiteralUtil::CreateR0<bool>(true));
  EXPECT_EQ(ValueText(bounded(Number(32), known)), "32");
  EXPECT_EQ(ValueText(bounded(Input("s32[]"), known)), "32");
  EXPECT_EQ(ValueText(bounded(Input("s32[]"), open)), "?");
  EXPECT_EQ(InferredText(bounded(Input("s32[]"), open), ValueInferenceMode::kUpperBound), "32");
  EXPECT_EQ(InferredText(bounded(Input("s32[]"), LiteralUtil::CreateR0<int32_t>(8)), ValueInferenceMode::kUpperBound),
            "8");
}

TEST_F(ValueInferenceTest, OtherTypes) {
  const XlaOp c = Abs(ConstantR0<complex64>(&b_, complex64(3, 4)));
  const OptionalLiteral bound = ValueInference(&b_).AnalyzeConstant(c, ValueInferenceMode::kUpperBound).value();
  ASSERT_TRUE(bound.AllValid());
  EXPECT_EQ(bound.GetValue()->Get<float>({}), 5.0f);
  EXPECT_FALSE(ValueInference(&b_)
                   .AnalyzeConstant(Input("f32[2]"), ValueInferenceMode::kUpperBound)
                   .value()
                   .GetValue()
                   .has_value());
}

// Values that are too large to hold or to compute are dynamic, or an error if the answer itself is as large.
TEST_F(ValueInferenceTest, Limits) {
  const XlaOp huge = Broadcast(Number(1), {int64_t{1} << 50});
  EXPECT_EQ(ValueText(SliceInDim(huge, 0, 1, 1, 0)), "?");
  EXPECT_EQ(ValueInference(&b_).AnalyzeIsDynamic(huge).status().code(), absl::StatusCode::kResourceExhausted);
  XlaComputation call = OfOne(ShapeUtil::MakeShape(S32, {}), [](XlaOp x) { Add(x, x); });
  for (int depth = 0; depth < 40; ++depth) {
    XlaComputation twice = OfOne(ShapeUtil::MakeShape(S32, {}), [&](XlaOp x) {
      XlaBuilder* const b = x.builder();
      const XlaComputationId id = b->AddSubComputation(call);
      Add(Call(b, id, {x}), Call(b, id, {x}));
    });
    call = std::move(twice);
  }
  EXPECT_EQ(ValueText(Call(&b_, call, {Input("s32[]")})), "?");
}

TEST_F(ValueInferenceTest, OperationsOfAnotherBuilderAreRefused) {
  XlaBuilder other("other");
  const XlaOp op = ConstantR0<int32_t>(&other, 1);
  EXPECT_EQ(ValueInference(&b_).AnalyzeIsDynamic(op).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ValueInference(&b_).AnalyzeConstant(XlaOp(), ValueInferenceMode::kValue).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kashi::value_inference
