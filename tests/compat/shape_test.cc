#include "xla/shape.h"

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/hash/hash_testing.h"
#include "xla/hlo/testlib/test.h"
#include "xla/layout.h"
#include "xla/layout_util.h"
#include "xla/shape_util.h"
#include "xla/tsl/platform/statusor.h"
#include "xla/tsl/platform/test_benchmark.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ShapeTest : public ::testing::Test {
 protected:
  const Shape opaque_ = ShapeUtil::MakeOpaqueShape();
  const Shape token_ = ShapeUtil::MakeTokenShape();
  const Shape scalar_ = ShapeUtil::MakeShape(F32, {});
  const Shape matrix_ = ShapeUtil::MakeShape(U32, {1, 2});
  const Shape matrix2_ = ShapeUtil::MakeShapeWithDenseLayout(S32, {3, 4}, {0, 1});
  const Shape matrix_buffer_ = *ShapeUtil::MakeValidatedBufferShape(S32, {3, 4});
  const Shape tuple_ = ShapeUtil::MakeTupleShape({opaque_, scalar_, matrix_, matrix2_});
  const Shape nested_tuple_ = ShapeUtil::MakeTupleShape({tuple_, matrix_, token_});
  const Shape dynamic_matrix_ = ShapeUtil::MakeShape(S32, {5, 2}, {true, false});
  const Shape unbounded_ = ShapeUtil::MakeShape(F32, {Shape::kUnboundedSize, 784}, {true, false});
};

TEST_F(ShapeTest, ShapeToString) {
  EXPECT_EQ("opaque[]", opaque_.ToString());
  EXPECT_EQ("token[]", token_.ToString());
  EXPECT_EQ("f32[]", scalar_.ToString());
  EXPECT_EQ("s32[3,4]", matrix2_.ToString());
  EXPECT_EQ("(opaque[], f32[], u32[1,2], s32[3,4])", tuple_.ToString());
  EXPECT_EQ("b(s32[3,4])", matrix_buffer_.ToString());
  EXPECT_EQ("f32[?,784]", unbounded_.ToString());
  EXPECT_EQ("s32[<=5,2]{1,0}", dynamic_matrix_.ToString(/*print_layout=*/true));
  EXPECT_EQ("((opaque[], f32[], u32[1,2]{1,0}, s32[3,4]{0,1}), u32[1,2]{1,0}, token[])",
            nested_tuple_.ToString(/*print_layout=*/true));
  std::ostringstream out;
  out << matrix2_;
  EXPECT_EQ(out.str(), "s32[3,4]{0,1}");
  StringPrinter printer;
  matrix_.Print(&printer);
  matrix_.Print(&printer, /*print_layout=*/true);
  EXPECT_EQ(std::move(printer).ToString(), "u32[1,2]u32[1,2]{1,0}");
}

TEST_F(ShapeTest, Constructors) {
  EXPECT_EQ(Shape().element_type(), PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(Shape(TOKEN), token_);
  EXPECT_EQ(Shape(OPAQUE_TYPE), opaque_);
  const Shape no_layout(F32, {2, 3}, {false, true});
  EXPECT_FALSE(no_layout.has_layout());
  EXPECT_THAT(no_layout.dynamic_dimensions(), ElementsAre(false, true));
  EXPECT_EQ(Shape(F32, {2, 3}).ToString(true), "f32[2,3]");
  const Shape tuple(std::vector<Shape>{scalar_, token_});
  EXPECT_EQ(tuple, ShapeUtil::MakeTupleShape({scalar_, token_}));
  Shape copy = tuple;
  Shape moved = std::move(copy);
  EXPECT_EQ(moved, tuple);
  moved.Clear();
  EXPECT_EQ(moved, Shape());
}

TEST_F(ShapeTest, Kinds) {
  EXPECT_TRUE(matrix_.IsArray());
  EXPECT_TRUE(matrix_buffer_.IsArray());
  EXPECT_TRUE(matrix_buffer_.IsBuffer());
  EXPECT_FALSE(matrix_buffer_.IsArrayExcludingBuffer());
  EXPECT_TRUE(tuple_.IsTuple());
  EXPECT_TRUE(token_.IsToken());
  EXPECT_TRUE(opaque_.IsOpaque());
  EXPECT_EQ(matrix_buffer_.element_type(), S32);
  EXPECT_EQ(matrix_buffer_.element_type_including_buffer(), BUFFER);
  EXPECT_EQ(matrix_buffer_.buffer_shape(), ShapeUtil::MakeShape(S32, {3, 4}));
  EXPECT_THAT(matrix_buffer_.dimensions(), ElementsAre(3, 4));
  EXPECT_TRUE(matrix_.AreAllLeavesIntegers());
  EXPECT_FALSE(ShapeUtil::MakeShape(PRED, {}).AreAllLeavesIntegers());
  EXPECT_FALSE(nested_tuple_.AreAllLeavesIntegers());
  EXPECT_TRUE(ShapeUtil::MakeTupleShape({matrix_, matrix2_}).AreAllLeavesIntegers());
}

TEST_F(ShapeTest, DynamicDimensions) {
  EXPECT_TRUE(dynamic_matrix_.is_dynamic());
  EXPECT_FALSE(dynamic_matrix_.is_static());
  EXPECT_TRUE(token_.is_static());
  EXPECT_TRUE(dynamic_matrix_.is_bounded_dynamic());
  EXPECT_FALSE(dynamic_matrix_.is_unbounded_dynamic());
  EXPECT_TRUE(unbounded_.is_unbounded_dynamic());
  EXPECT_TRUE(unbounded_.is_unbounded_dynamic_dimension(0));
  EXPECT_TRUE(dynamic_matrix_.is_bounded_dynamic_dimension(0));
  EXPECT_TRUE(dynamic_matrix_.is_dynamic_dimension(0));
  EXPECT_TRUE(dynamic_matrix_.is_static_dimension(1));
  EXPECT_TRUE(ShapeUtil::MakeTupleShape({matrix_, unbounded_}).is_unbounded_dynamic());

  Shape shape = matrix_;
  shape.set_dynamic_dimension(1, true);
  EXPECT_EQ(shape.ToString(), "u32[1,<=2]");
  shape.set_unbounded_dynamic_dimension(0);
  EXPECT_EQ(shape.ToString(), "u32[?,<=2]");
  shape.set_dimensions(0, 4, /*is_dynamic=*/false);
  shape.set_dimensions(1, 9);
  EXPECT_EQ(shape.ToString(), "u32[4,<=9]");
  shape.clear_dynamic_dimensions();
  EXPECT_EQ(shape.ToString(), "u32[4,9]");
  EXPECT_TRUE(Shape::IsValidDimensionSize(Shape::kUnboundedSize, /*is_dynamic=*/true));
  EXPECT_FALSE(Shape::IsValidDimensionSize(Shape::kUnboundedSize, false));
  EXPECT_FALSE(Shape::IsValidDimensionSize(-1, true));
}

TEST_F(ShapeTest, Dimensions) {
  Shape shape = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3, 5}, {0, 2, 1});
  EXPECT_EQ(shape.dimensions_size(), 3);
  EXPECT_EQ(shape.dimensions().size(), 3);
  EXPECT_EQ(shape.dimensions(1), 3);
  EXPECT_EQ(shape.dimensions_minor(1), 5);
  shape.set_dimensions_minor(1, 7);
  EXPECT_THAT(shape.dimensions(), ElementsAre(2, 3, 7));
  shape.DeleteDimension(1);
  EXPECT_EQ(shape.ToString(true), "f32[2,7]{0,1}");
  shape.DeleteDimensions({1, 0});
  EXPECT_EQ(shape.ToString(true), "f32[]");
  Shape made(F32, {});
  made.add_dimensions(10);
  made.add_dimensions(Shape::kUnboundedSize, /*is_dynamic=*/true);
  made.add_dimensions(3, true);
  EXPECT_EQ(made.ToString(), "f32[10,?,<=3]");
  made.clear_dimensions();
  EXPECT_THAT(made.dimensions(), IsEmpty());
  made.set_element_type(S8);
  EXPECT_EQ(made.element_type(), S8);
}

TEST_F(ShapeTest, Tuples) {
  EXPECT_EQ(tuple_.tuple_shapes_size(), 4);
  EXPECT_EQ(tuple_.tuple_shapes().size(), 4);
  EXPECT_EQ(tuple_.tuple_shapes(1), scalar_);
  Shape shape = tuple_;
  *shape.mutable_tuple_shapes(1) = token_;
  shape.mutable_tuple_shapes()->pop_back();
  *shape.add_tuple_shapes() = scalar_;
  EXPECT_EQ(shape.ToString(), "(opaque[], token[], u32[1,2], f32[])");
  shape.clear_tuple_shapes();
  EXPECT_TRUE(ShapeUtil::IsEmptyTuple(shape));
}

TEST_F(ShapeTest, LayoutOfAShape) {
  Shape shape = matrix_;
  EXPECT_TRUE(shape.has_layout());
  EXPECT_THAT(shape.layout().minor_to_major(), ElementsAre(1, 0));
  shape.mutable_layout()->set_memory_space(5);
  *shape.mutable_layout() = LayoutUtil::MakeLayout({0, 1});
  EXPECT_EQ(shape.layout(), LayoutUtil::MakeLayout({0, 1}));
  shape.clear_layout();
  EXPECT_FALSE(shape.has_layout());
}

TEST_F(ShapeTest, Equality) {
  EXPECT_EQ(matrix_, matrix_);
  EXPECT_NE(matrix_, matrix2_);
  EXPECT_NE(matrix_buffer_, ShapeUtil::MakeShape(S32, {3, 4}));
  EXPECT_FALSE(Shape::Equal()(matrix2_, ShapeUtil::MakeShape(S32, {3, 4})));
  EXPECT_TRUE(Shape::Equal().IgnoreLayout()(matrix2_, ShapeUtil::MakeShape(S32, {3, 4})));
  EXPECT_TRUE(Shape::Equal().IgnoreBuffer()(matrix_buffer_, ShapeUtil::MakeShape(S32, {3, 4})));
  EXPECT_FALSE(Shape::Equal().IgnoreBuffer(false)(matrix_buffer_, ShapeUtil::MakeShape(S32, {3, 4})));
  EXPECT_TRUE(Shape::Equal().IgnoreDynamicDimension()(dynamic_matrix_, ShapeUtil::MakeShape(S32, {5, 2})));
  EXPECT_TRUE(Shape::Equal().IgnoreElementType().IgnoreDimensions()(scalar_, ShapeUtil::MakeShape(S8, {})));
  EXPECT_TRUE(Shape::Equal().IgnoreFpPrecision()(ShapeUtil::MakeShape(F32, {8}), ShapeUtil::MakeShape(BF16, {8})));
  Shape decorated = ShapeUtil::MakeShapeWithDenseLayout(F32, {8}, {0}, {Tile({4})}, 2, 16, 1, {SplitConfig(0, {4})});
  EXPECT_TRUE(Shape::Equal()
                  .IgnoreTilesInLayout()
                  .IgnoreElementSizeInLayout()
                  .IgnoreMemorySpaceInLayout()
                  .IgnoreTailPaddingAlignmentInElements()
                  .IgnoreSplitConfigInLayout()(decorated, ShapeUtil::MakeShape(F32, {8})));
  EXPECT_TRUE(Shape::Equal().MinorToMajorOnlyInLayout()(decorated, ShapeUtil::MakeShape(F32, {8})));
}

TEST_F(ShapeTest, ProtoRoundTrip) {
  for (const Shape& shape : {opaque_, token_, scalar_, matrix_, matrix2_, matrix_buffer_, tuple_, nested_tuple_,
                             dynamic_matrix_, unbounded_}) {
    TF_ASSERT_OK_AND_ASSIGN(const Shape from_proto, Shape::FromProto(shape.ToProto()));
    EXPECT_EQ(from_proto, shape);
  }
  ShapeProto proto;
  proto.set_element_type(PrimitiveType::TUPLE);
  *proto.add_tuple_shapes() = matrix_.ToProto();
  *proto.add_tuple_shapes() = ShapeUtil::MakeShape(F32, {10}).ToProto();
  EXPECT_EQ(Shape::FromProto(proto)->ToString(), "(u32[1,2], f32[10])");
  proto.mutable_tuple_shapes(0)->add_is_dynamic_dimension(true);
  absl::StatusOr<Shape> bad = Shape::FromProto(proto);
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.status().message(), HasSubstr("Malformed shape proto"));
}

TEST_F(ShapeTest, Hash) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {opaque_, token_, scalar_, matrix_, matrix2_, tuple_, nested_tuple_, dynamic_matrix_}));
  EXPECT_EQ(absl::HashOf(matrix_), absl::HashOf(ShapeUtil::MakeShape(U32, {1, 2})));
}

TEST_F(ShapeTest, ProgramShapes) {
  ProgramShape program = ShapeUtil::MakeProgramShape({opaque_, scalar_, matrix_}, scalar_);
  EXPECT_EQ("((unknown): opaque[], (unknown): f32[], (unknown): u32[1,2]) -> f32[]", program.ToString());
  program.set_parameter_names(0, "foo");
  program.set_parameter_names(1, "bar");
  program.AddParameter(token_, "baz");
  EXPECT_EQ(program.parameters_size(), 4);
  EXPECT_EQ(program.parameters().size(), 4);
  EXPECT_EQ(program.parameters(3), token_);
  EXPECT_THAT(program.parameter_names(), ElementsAre("foo", "bar", "", "baz"));
  EXPECT_EQ(program.parameter_names(1), "bar");
  *program.mutable_parameters(1) = tuple_;
  *program.mutable_result() = matrix2_;
  EXPECT_EQ(program.result(), matrix2_);
  std::ostringstream out;
  out << program;
  EXPECT_EQ(
      out.str(),
      "(foo: opaque[], bar: (opaque[], f32[], u32[1,2], s32[3,4]), (unknown): u32[1,2], baz: token[]) -> s32[3,4]\n");
  StringPrinter printer;
  program.Print(&printer);
  EXPECT_EQ(std::move(printer).ToString() + "\n", out.str());
  TF_ASSERT_OK_AND_ASSIGN(ProgramShape again, ProgramShape::FromProto(program.ToProto()));
  EXPECT_EQ(again.ToString(), program.ToString());
  program.clear_parameter_names();
  EXPECT_EQ(program.parameter_names(0), "");
  program.clear_parameters();
  EXPECT_EQ(program.ToString(), "() -> s32[3,4]");
}

void BM_ShapeCopy(::testing::benchmark::State& state) {
  Shape shape = ShapeUtil::MakeShape(F32, std::vector<int64_t>(state.range(0), 1));
  for (auto s : state) {
    Shape copy(shape);
    tsl::testing::DoNotOptimize(copy);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ShapeCopy)->Arg(1)->Arg(8);

}  // namespace
}  // namespace xla
