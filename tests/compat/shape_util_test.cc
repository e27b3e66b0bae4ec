#include "xla/shape_util.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/log/check.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/hlo/testlib/test.h"
#include "xla/hlo/testlib/test_helpers.h"
#include "xla/index_util.h"
#include "xla/layout.h"
#include "xla/layout_util.h"
#include "xla/shape.h"
#include "xla/tsl/lib/core/status_test_util.h"
#include "xla/tsl/platform/env.h"
#include "xla/tsl/platform/statusor.h"
#include "xla/tsl/platform/test_benchmark.h"
#include "xla/tsl/platform/threadpool.h"
#include "xla/util.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---------------------------------------------------------------------------------------------------------------------
// Questions and sizes
// ---------------------------------------------------------------------------------------------------------------------

TEST(ShapeUtilTest, GetDimensionHelperCanNegativeIndex) {
  Shape matrix = ShapeUtil::MakeShape(F32, {2, 3});
  EXPECT_EQ(3, ShapeUtil::GetDimension(matrix, -1));
  EXPECT_EQ(2, ShapeUtil::GetDimension(matrix, -2));
  EXPECT_EQ(0, ShapeUtil::GetDimensionNumber(matrix, -2));
}

TEST(ShapeUtilTest, Queries) {
  Shape scalar = ShapeUtil::MakeShape(F32, {});
  Shape matrix = ShapeUtil::MakeShape(F32, {1, 3});
  EXPECT_TRUE(ShapeUtil::IsScalar(scalar));
  EXPECT_TRUE(ShapeUtil::IsEffectiveScalar(ShapeUtil::MakeShape(F32, {1, 1})));
  EXPECT_TRUE(ShapeUtil::IsScalarWithElementType(scalar, F32));
  EXPECT_EQ(ShapeUtil::TrueNumDimensions(matrix), 1);
  EXPECT_TRUE(ShapeUtil::HasDegenerateDimensions(matrix));
  EXPECT_FALSE(ShapeUtil::IsZeroElementArray(matrix));
  EXPECT_TRUE(ShapeUtil::IsZeroElementArray(ShapeUtil::MakeShape(S32, {0, 2})));
  EXPECT_FALSE(ShapeUtil::IsZeroElementArray(ShapeUtil::MakeTupleShape({})));
  EXPECT_TRUE(ShapeUtil::HasPrimitiveType(ShapeUtil::MakeTupleShape({scalar}), TUPLE));
  EXPECT_TRUE(ShapeUtil::HasPrimitiveType(ShapeUtil::MakeTupleShape({scalar}), F32));
  EXPECT_FALSE(ShapeUtil::ElementIsIntegral(scalar));
  EXPECT_TRUE(ShapeUtil::ElementIsFloating(scalar));
  EXPECT_FALSE(ShapeUtil::ElementIsComplex(scalar));
  EXPECT_TRUE(ShapeUtil::ElementIsSigned(scalar));
  EXPECT_TRUE(ShapeUtil::ElementHasBitWidth(scalar, 32));
  EXPECT_FALSE(ShapeUtil::ElementIsIntegralWithBits(scalar, 32));
  EXPECT_TRUE(ShapeUtil::ElementCanUpcast(ShapeUtil::MakeShape(BF16, {}), scalar));
  EXPECT_TRUE(ShapeUtil::IsInitialized(scalar));
  EXPECT_TRUE(ShapeUtil::LastDimIsMinorMost(matrix));
  EXPECT_TRUE(ShapeUtil::IsEffectivelyMostMajorDimension(matrix, 1));
  DimensionVector dims = ShapeUtil::CreateDimensionVectorFromShape(matrix);
  EXPECT_THAT(dims, ElementsAre(1, 3));
  EXPECT_THAT(ShapeUtil::PackedFactorFor1DInterleavedArray(
                  ShapeUtil::MakeShapeWithDenseLayout(F32, {100}, {0}, {Tile({1024}), Tile({128}), Tile({4, 1})})),
              ::absl_testing::IsOkAndHolds(4));
}

TEST(ShapeUtilTest, Sizes) {
  EXPECT_EQ(1, ShapeUtil::ElementsIn(ShapeUtil::MakeShape(S32, {})));
  EXPECT_EQ(111 * 222 * 333, ShapeUtil::ElementsIn(ShapeUtil::MakeShape(S32, {111, 222, 333})));
  EXPECT_EQ(3, ShapeUtil::ElementsInRecursive(
                   ShapeUtil::MakeTupleShape({ShapeUtil::MakeShape(S32, {2}), ShapeUtil::MakeShape(S8, {})})));
  EXPECT_EQ(4, ShapeUtil::ByteSizeOfPrimitiveType(F32));
  EXPECT_EQ(800, ShapeUtil::ByteSizeOf(ShapeUtil::MakeShape(F32, {10, 20})));
  EXPECT_EQ(16, ShapeUtil::ByteSizeOf(
                    ShapeUtil::MakeTupleShape({ShapeUtil::MakeShape(F32, {2}), ShapeUtil::MakeShape(F32, {2})}), 8));
  EXPECT_EQ(8, ShapeUtil::ByteSizeOfTupleIndexTable(ShapeUtil::MakeTupleShape({ShapeUtil::MakeShape(F32, {2})}), 8));
  EXPECT_EQ(2, ShapeUtil::ByteSizeOfElements(ShapeUtil::MakeShapeWithDenseLayout(S4, {3}, {0}, {}, 1, 4)));
  Shape tiled = ShapeUtil::MakeShapeWithDenseLayout(F32, {3, 5}, {1, 0}, {Tile({2, 2})});
  EXPECT_EQ(ShapeUtil::ArraySize(tiled), 96);
  EXPECT_EQ(ShapeUtil::ArrayDataSize(tiled), 84);
  EXPECT_EQ(ShapeUtil::ElementSizeInBits(tiled), 32);
  EXPECT_EQ(ShapeUtil::ExtentProduct</*kBoundedDynamicOk=*/true>(tiled).first, 15);
  EXPECT_FALSE(ShapeUtil::StaticExtentProduct(tiled).second);
  TF_ASSERT_OK_AND_ASSIGN(int64_t serialized, ShapeUtil::SerializedSize(tiled));
  EXPECT_EQ(ShapeUtil::SerializedSizeWithProto(tiled, tiled.ToProto().ByteSizeLong()).value(), serialized);

  std::vector<int64_t> strides(2);
  TF_EXPECT_OK(ShapeUtil::ByteStrides(ShapeUtil::MakeShape(F32, {3, 5}), absl::MakeSpan(strides)));
  EXPECT_THAT(strides, ElementsAre(20, 4));
  std::optional<absl::InlinedVector<int64_t, 4>> strides2 =
      ShapeUtil::ByteStrides(ShapeUtil::MakeShapeWithDenseLayout(U8, {3, 5}, {0, 1}));
  ASSERT_TRUE(strides2.has_value());
  EXPECT_THAT(*strides2, ElementsAre(1, 3));
  Shape packed = ShapeUtil::MakeShape(S4, {7});
  ShapeUtil::UpdateElementSizeInBits(&packed, /*pack_subbyte_types=*/true);
  EXPECT_EQ(packed.layout().element_size_in_bits(), 4);
}

TEST(ShapeUtilTest, HumanString) {
  Shape tuple = ShapeUtil::MakeTupleShape(
      {ShapeUtil::MakeOpaqueShape(), ShapeUtil::MakeShape(F32, {}), ShapeUtil::MakeTokenShape()});
  EXPECT_EQ("(opaque[], f32[], token[])", ShapeUtil::HumanString(tuple));
  EXPECT_EQ("s32[3,4]{0,1}",
            ShapeUtil::HumanStringWithLayout(ShapeUtil::MakeShapeWithDenseLayout(S32, {3, 4}, {0, 1})));
  ProgramShape program = ShapeUtil::MakeProgramShape({tuple}, ShapeUtil::MakeNil());
  EXPECT_EQ("((unknown): (opaque[], f32[], token[])) -> ()", ShapeUtil::HumanString(program));
  StringPrinter printer;
  ShapeUtil::PrintHumanString(&printer, tuple);
  ShapeUtil::PrintHumanString(&printer, program);
  ShapeUtil::PrintHumanStringWithLayout(&printer, ShapeUtil::MakeShape(F32, {1}));
  EXPECT_THAT(std::move(printer).ToString(), HasSubstr("f32[1]{0}"));
}

// ---------------------------------------------------------------------------------------------------------------------
// Comparing and making
// ---------------------------------------------------------------------------------------------------------------------

TEST(ShapeUtilTest, Comparing) {
  Shape f32 = ShapeUtil::MakeShapeWithDenseLayout(F32, {3, 2}, {0, 1});
  Shape bf16 = ShapeUtil::MakeShapeWithDenseLayout(BF16, {3, 2}, {0, 1});
  Shape row_major = ShapeUtil::MakeShape(F32, {3, 2});
  EXPECT_TRUE(ShapeUtil::Equal(f32, f32));
  EXPECT_FALSE(ShapeUtil::Equal(f32, row_major));
  EXPECT_TRUE(ShapeUtil::EqualIgnoringFpPrecision(f32, bf16));
  EXPECT_TRUE(ShapeUtil::EqualIgnoringElementType(f32, bf16));
  EXPECT_TRUE(ShapeUtil::EqualStructure(f32, ShapeUtil::MakeShape(S8, {})));
  EXPECT_TRUE(ShapeUtil::Compatible(f32, row_major));
  EXPECT_TRUE(ShapeUtil::Compatible(f32, ShapeUtil::MakeShape(F32, {Shape::kUnboundedSize, 2}, {true, false})));
  EXPECT_TRUE(ShapeUtil::CompatibleIgnoringElementType(f32, bf16));
  EXPECT_TRUE(ShapeUtil::CompatibleIgnoringFpPrecision(row_major, bf16));
  EXPECT_TRUE(ShapeUtil::CompatibleKind(f32, ShapeUtil::MakeShape(S8, {7, 7})));
  EXPECT_TRUE(ShapeUtil::SameDimensions(f32, bf16));
  EXPECT_TRUE(ShapeUtil::SameRank(f32, bf16));
  EXPECT_FALSE(ShapeUtil::SameElementType(f32, bf16));
  EXPECT_TRUE(ShapeUtil::SameElementTypeIgnoringFpPrecision(f32, bf16));
  EXPECT_EQ(ShapeUtil::HigherPrecisionElementType(f32, bf16), F32);
  EXPECT_TRUE(ShapeUtil::DynamicShapeIsCompatible(ShapeUtil::MakeShape(F32, {2, 2}), f32));
  EXPECT_TRUE(ShapeUtil::DynamicArrayShapeIsCompatible(ShapeUtil::MakeShape(F32, {2, 2}), f32));
}

TEST(ShapeUtilTest, Making) {
  EXPECT_EQ(ShapeUtil::MakeShape(F32, {8, 2}, {true, false}).ToString(), "f32[<=8,2]");
  EXPECT_EQ(ShapeUtil::MakeShape(F32, std::vector<int64_t>{8, 2}, std::vector<bool>{true, false}).ToString(),
            "f32[<=8,2]");
  const std::vector<int64_t> sizes = {4, Shape::kUnboundedSize};
  EXPECT_EQ(ShapeUtil::MakeShape(F32, sizes).ToString(), "f32[4,?]");
  EXPECT_EQ(ShapeUtil::MakeScalarShape(S8), ShapeUtil::MakeShape(S8, {}));
  EXPECT_EQ(ShapeUtil::MakeShapeWithType<float>({2}), ShapeUtil::MakeShape(F32, {2}));
  EXPECT_EQ(ShapeUtil::MakeValidatedShapeWithType<bool>({2}).value(), ShapeUtil::MakeShape(PRED, {2}));
  EXPECT_EQ(ShapeUtil::MakeMaybeTupleShape({ShapeUtil::MakeShape(F32, {2})}), ShapeUtil::MakeShape(F32, {2}));
  Shape shape = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {0, 1}, {Tile({2, 128})},
                                                    /*tail_padding_alignment_in_elements=*/1,
                                                    /*element_size_in_bits=*/32, Layout::kHostMemorySpace);
  EXPECT_EQ(shape.ToString(true), "f32[2,3]{0,1:T(2,128)S(5)}");
  EXPECT_EQ(ShapeUtil::MakeShapeWithDescendingLayoutAndSamePhysicalLayout(shape).ToString(true),
            "f32[3,2]{1,0:T(2,128)S(5)}");
  EXPECT_EQ(ShapeUtil::MakeShapeWithDescendingLayout(F32, {2, 3}).layout(), LayoutUtil::MakeLayout({1, 0}));
  EXPECT_TRUE(ShapeUtil::MakeShapeWithStaticDimensions(ShapeUtil::MakeShape(F32, {8}, {true})).is_static());
  EXPECT_TRUE(ShapeUtil::MakeStaticShape(ShapeUtil::MakeShape(F32, {8}, {true})).is_static());
  const std::vector<const Shape*> pointers = {&shape, &shape};
  EXPECT_EQ(ShapeUtil::MakeTupleShapeWithPtrs(pointers), ShapeUtil::MakeTupleShape({shape, shape}));
  EXPECT_EQ(ShapeUtil::MakeTupleShapeWithPtrs({&shape}), ShapeUtil::MakeTupleShape({shape}));
  Shape populated;
  TF_EXPECT_OK(ShapeUtil::PopulateShape(F32, {2}, &populated));
  TF_ASSERT_OK_AND_ASSIGN(Shape buffer, ShapeUtil::MakeValidatedBufferShape(F32, {2}));
  TF_ASSERT_OK_AND_ASSIGN(Shape buffer2, ShapeUtil::MakeValidatedBufferShape(populated));
  EXPECT_EQ(buffer, buffer2);
}

TEST(ShapeUtilTest, MakingValidated) {
  auto status_or = ShapeUtil::MakeValidatedShape(F32, {-1});
  EXPECT_THAT(status_or, ::absl_testing::StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_FALSE(ShapeUtil::MakeValidatedShape(F32, {std::numeric_limits<int64_t>::max(), 2}).ok());
  EXPECT_TRUE(ShapeUtil::MakeValidatedShape(F32, {2, 3}, {true, false}).ok());
  EXPECT_TRUE(ShapeUtil::MakeValidatedScalarShape(F32).ok());
  EXPECT_FALSE(ShapeUtil::MakeValidatedShapeWithDenseLayout(F32, {2}, {1}).ok());
  EXPECT_TRUE(ShapeUtil::MakeValidatedShapeWithSparseLayout(F32, {2}, {0}).ok());
  EXPECT_TRUE(ShapeUtil::MakeValidatedShapeWithDescendingLayout(F32, {2}).ok());
  EXPECT_TRUE(
      ShapeUtil::MakeValidatedShapeWithDescendingLayoutAndSamePhysicalLayout(ShapeUtil::MakeShape(F32, {2})).ok());
  EXPECT_TRUE(ShapeUtil::MakeValidatedTupleShape({ShapeUtil::MakeShape(F32, {2})}).ok());
  EXPECT_TRUE(ShapeUtil::MakeValidatedTupleShapeWithPtrs({}).ok());
  EXPECT_TRUE(ShapeUtil::MakeValidatedMaybeTupleShape({}).ok());
  Shape shape = ShapeUtil::MakeShape(F32, {2});
  TF_EXPECT_OK(ShapeUtil::ValidateShape(shape));
  shape.clear_layout();
  EXPECT_THAT(ShapeUtil::ValidateShape(shape).message(), HasSubstr("does not have a layout"));
  TF_EXPECT_OK(ShapeUtil::ValidateShapeWithOptionalLayout(shape));
}

// ---------------------------------------------------------------------------------------------------------------------
// Changing
// ---------------------------------------------------------------------------------------------------------------------

TEST(ShapeUtilTest, Changing) {
  Shape shape = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {0, 1});
  EXPECT_EQ(ShapeUtil::ChangeElementType(shape, S8).ToString(true), "s8[2,3]{0,1}");
  EXPECT_EQ(ShapeUtil::ComplexComponentShape(ShapeUtil::MakeShape(C64, {2})), ShapeUtil::MakeShape(F32, {2}));
  Shape tuple = ShapeUtil::MakeNil();
  ShapeUtil::AppendShapeToTuple(shape, &tuple);
  ShapeUtil::AppendShapeToTuple(shape, &tuple);
  ShapeUtil::UpdateTupleShape(ShapeUtil::MakeTokenShape(), 0, &tuple);
  ShapeUtil::UpdateDynamicDimension(&tuple, {1}, 0, true);
  EXPECT_EQ(tuple.ToString(), "(token[], f32[<=2,3])");
  EXPECT_EQ(ShapeUtil::SliceTuple(tuple, 1, 2).ToString(), "(f32[<=2,3])");
  ShapeUtil::CopyDynamicDimensions(&shape, tuple.tuple_shapes(1));
  EXPECT_TRUE(shape.is_dynamic_dimension(0));

  Shape minor = ShapeUtil::MakeShape(F32, {2, 3});
  ShapeUtil::AppendMinorDimension(10, &minor);
  EXPECT_EQ(minor.ToString(true), "f32[2,3,10]{2,1,0}");
  ShapeUtil::AppendMajorDimension(4, &minor);
  EXPECT_EQ(minor.ToString(true), "f32[2,3,10,4]{2,1,0,3}");
  EXPECT_EQ(ShapeUtil::PrependMajorDimension(30, ShapeUtil::MakeShape(F32, {10, 20})),
            ShapeUtil::MakeShape(F32, {30, 10, 20}));
  EXPECT_EQ(ShapeUtil::InsertDimensionAtIndex(ShapeUtil::MakeShape(F32, {10, 20}), 1, 5).ToString(), "f32[10,5,20]");
  EXPECT_EQ(ShapeUtil::InsertDimensionsAtIndex(ShapeUtil::MakeShape(F32, {10}), 1, {5, 6}).ToString(), "f32[10,5,6]");
  EXPECT_EQ(ShapeUtil::DeleteDimension(1, ShapeUtil::MakeShape(F32, {9, 1, 4})).ToString(), "f32[9,4]");
  EXPECT_EQ(ShapeUtil::DeleteDimensions({0, 2}, ShapeUtil::MakeShape(F32, {5, 3, 2})).ToString(true), "f32[3]{0}");
  EXPECT_EQ(
      ShapeUtil::FilterDimensions([](int64_t dim) { return dim != 0; }, ShapeUtil::MakeShape(F32, {5, 3})).ToString(),
      "f32[3]");
  EXPECT_EQ(ShapeUtil::DropDegenerateDimensions(ShapeUtil::MakeShape(F32, {5, 1})).ToString(), "f32[5]");
  EXPECT_EQ(ShapeUtil::MoveDimToMajor(ShapeUtil::MakeShape(F32, {10, 10, 10}), 1).ToString(true),
            "f32[10,10,10]{2,0,1}");
  EXPECT_EQ(ShapeUtil::PermuteDimensions({1, 0}, ShapeUtil::MakeShape(F32, {2, 3})).ToString(true), "f32[3,2]{0,1}");
  EXPECT_EQ(ShapeUtil::PermuteDimensionsIgnoringLayout({1, 0}, ShapeUtil::MakeShape(F32, {2, 3})).ToString(true),
            "f32[3,2]{1,0}");
  EXPECT_EQ(ShapeUtil::ReorderLogicalDimensions(ShapeUtil::MakeShape(F32, {2, 3}), {1, 0}).ToString(true),
            "f32[3,2]{0,1}");
  Shape device = ShapeUtil::MakeShapeWithDenseLayout(F32, {2}, {0}, {Tile({2})}, 1, 0, 1);
  EXPECT_FALSE(ShapeUtil::DeviceShapeIsHostShape(device));
  EXPECT_EQ(ShapeUtil::DeviceShapeToHostShape(device), ShapeUtil::MakeShape(F32, {2}));
}

TEST(ShapeUtilTest, PermuteDimensionsIsABitcast) {
  std::vector<int64_t> layout(4);
  std::iota(layout.begin(), layout.end(), 0);
  do {
    Shape s = ShapeUtil::MakeShapeWithDenseLayout(F32, {10, 100, 1000, 10000}, layout);
    SCOPED_TRACE(s.ToString(true));
    std::vector<int64_t> permutation = {3, 1, 0, 2};
    EXPECT_TRUE(ShapeUtil::TransposeIsBitcast(s, ShapeUtil::PermuteDimensions(permutation, s), permutation));
  } while (absl::c_next_permutation(layout));
}

// ---------------------------------------------------------------------------------------------------------------------
// Tuples
// ---------------------------------------------------------------------------------------------------------------------

TEST(ShapeUtilTest, Subshapes) {
  const Shape array = ShapeUtil::MakeShape(F32, {42, 42, 123});
  const Shape inner = ShapeUtil::MakeTupleShape({ShapeUtil::MakeShape(F32, {42, 42}), array});
  const Shape tuple = ShapeUtil::MakeTupleShape({array, inner});
  EXPECT_TRUE(ShapeUtil::IsNestedTuple(tuple));
  EXPECT_FALSE(ShapeUtil::IsEmptyTuple(tuple));
  EXPECT_EQ(ShapeUtil::TupleElementCount(tuple), 2);
  EXPECT_EQ(ShapeUtil::GetTupleElementShape(tuple, 1), inner);
  EXPECT_EQ(ShapeUtil::SubshapeCount(tuple), 5);
  EXPECT_EQ(ShapeUtil::GetLeafCount(tuple), 3);
  EXPECT_EQ(ShapeUtil::GetLeafCountTuple(tuple), 3);
  EXPECT_TRUE(ShapeUtil::IsLeafIndex(tuple, {1, 0}));
  EXPECT_FALSE(ShapeUtil::IsLeafIndex(tuple, {}));
  EXPECT_TRUE(ShapeUtil::IndexIsValid(tuple, {1, 1}));
  EXPECT_FALSE(ShapeUtil::IndexIsValid(tuple, {2}));
  EXPECT_TRUE(ShapeUtil::Equal(array, ShapeUtil::GetSubshape(tuple, {1, 1})));
  EXPECT_TRUE(ShapeUtil::Equal(tuple, ShapeUtil::GetSubshape(tuple, {})));
  TF_ASSERT_OK_AND_ASSIGN(const Shape* found, ShapeUtil::TryGetSubshape(tuple, {1}));
  EXPECT_EQ(*found, inner);
  EXPECT_FALSE(ShapeUtil::TryGetSubshape(tuple, {0, 0}).ok());
  Shape copy = tuple;
  *ShapeUtil::GetMutableSubshape(&copy, {1, 0}) = ShapeUtil::MakeTokenShape();
  EXPECT_TRUE(copy.tuple_shapes(1).tuple_shapes(0).IsToken());
  for (const ShapeUtil::IndexedShape& leaf : ShapeUtil::GetLeafShapes(tuple)) {
    EXPECT_EQ(leaf.shape, ShapeUtil::GetSubshape(tuple, leaf.index));
  }
  EXPECT_EQ(ShapeUtil::FlattenTupleShape(tuple).size(), 3);
  std::vector<const Shape*> flattened;
  ShapeUtil::FlattenTupleShape(tuple, flattened);
  EXPECT_EQ(flattened.size(), 3);
}

TEST(ShapeUtilTest, ShapeIndexes) {
  ShapeIndex index = {1, 2};
  index.push_front(0);
  index.push_back(3);
  EXPECT_EQ(index.ToString(), "{0,1,2,3}");
  index.pop_front();
  EXPECT_EQ(index, ShapeIndex({1, 2, 3}));
  ShapeIndexView view = index;
  EXPECT_EQ(ShapeIndex(view.subspan(1)), ShapeIndex({2, 3}));
  ShapeIndexProto proto = index.ToProto();
  EXPECT_EQ(ShapeIndex::FromProto(proto), index);
  EXPECT_EQ(ShapeIndex::FromProto(proto).size(), 3);
  absl::flat_hash_map<ShapeIndex, int> map = {{{}, 1}, {{0}, 2}};
  EXPECT_EQ(map.at(ShapeIndex({0})), 2);
  std::ostringstream out;
  out << ShapeIndex({7});
  EXPECT_EQ(out.str(), "{7}");
  const ShapeUtil::IndexedShape indexed(ShapeIndex({1}), ShapeUtil::MakeNil());
  EXPECT_EQ(indexed.index, ShapeIndex{1});
}

TEST(ShapeUtilTest, ForEachSubshape) {
  const Shape shape = ShapeUtil::MakeTupleShape(
      {ShapeUtil::MakeShape(F32, {42}), ShapeUtil::MakeTupleShape({ShapeUtil::MakeShape(PRED, {33})})});
  int calls = 0;
  std::vector<std::string> order;
  ShapeUtil::ForEachSubshape(shape, [&](const Shape& subshape, const ShapeIndex& index) {
    EXPECT_TRUE(ShapeUtil::Equal(subshape, ShapeUtil::GetSubshape(shape, index)));
    order.push_back(index.ToString());
    ++calls;
  });
  EXPECT_EQ(4, calls);
  EXPECT_THAT(order, ElementsAre("{}", "{0}", "{1}", "{1,0}"));
  TF_EXPECT_OK(
      ShapeUtil::ForEachSubshapeWithStatus(shape, [](const Shape&, const ShapeIndex&) { return absl::OkStatus(); }));
  Shape mutated = shape;
  ShapeUtil::ForEachMutableSubshape(&mutated, [](Shape* subshape, const ShapeIndex&) {
    if (subshape->IsArray()) subshape->mutable_layout()->set_memory_space(1);
  });
  ShapeUtil::ForEachMutableLeafShape(
      &mutated, [](Shape* subshape, const ShapeIndex&) { subshape->set_dynamic_dimension(0, true); });
  int leaves = 0;
  ShapeUtil::ForEachLeafShape(mutated, [&](const Shape& subshape, const ShapeIndex&) {
    EXPECT_EQ(subshape.layout().memory_space(), 1);
    EXPECT_TRUE(subshape.is_dynamic());
    ++leaves;
  });
  EXPECT_EQ(leaves, 2);
  auto fails = [](auto&&...) { return absl::InternalError("stop"); };
  EXPECT_FALSE(ShapeUtil::ForEachMutableSubshapeWithStatus(&mutated, fails).ok());
  EXPECT_FALSE(ShapeUtil::ForEachLeafShapeWithStatus(mutated, fails).ok());
  EXPECT_FALSE(ShapeUtil::ForEachMutableLeafShapeWithStatus(&mutated, fails).ok());
  EXPECT_FALSE(ShapeUtil::ForEachSubshapePostOrderWithStatus(mutated, fails).ok());
  EXPECT_FALSE(ShapeUtil::ForEachMutableSubshapePostOrderWithStatus(&mutated, fails).ok());
  order.clear();
  ShapeUtil::ForEachSubshapePostOrder(
      shape, [&](const Shape&, const ShapeIndex& index) { order.push_back(index.ToString()); });
  EXPECT_THAT(order, ElementsAre("{0}", "{1,0}", "{1}", "{}"));
  ShapeUtil::ForEachMutableSubshapePostOrder(&mutated, [](Shape*, const ShapeIndex&) {});
}

// ---------------------------------------------------------------------------------------------------------------------
// Iteration
// ---------------------------------------------------------------------------------------------------------------------

class ForEachIndexTest : public ::testing::TestWithParam<std::tuple<std::vector<int64_t>, int>> {};

TEST_P(ForEachIndexTest, VisitsAll) {
  const auto& [dimensions, visits] = GetParam();
  Shape shape = ShapeUtil::MakeShape(F32, dimensions);
  int invocations = 0;
  auto increment_func = [&invocations](absl::Span<const int64_t> /*indexes*/) -> absl::StatusOr<bool> {
    invocations++;
    return true;
  };
  std::vector<int64_t> zero_base(shape.dimensions().size(), 0);
  std::vector<int64_t> step(shape.dimensions().size(), 1);
  ShapeUtil::ForEachIndex(shape, zero_base, shape.dimensions(), step, increment_func);
  EXPECT_EQ(invocations, visits);
  ShapeUtil::ForEachIndex(shape, increment_func);
  EXPECT_EQ(invocations, 2 * visits);
}
INSTANTIATE_TEST_SUITE_P(All, ForEachIndexTest,
                         ::testing::Values(std::make_tuple(std::vector<int64_t>{}, 1),
                                           std::make_tuple(std::vector<int64_t>{0}, 0),
                                           std::make_tuple(std::vector<int64_t>{2, 3, 4}, 24)));

TEST(ShapeUtilTest, ForEachIndexWithStatus) {
  Shape shape = ShapeUtil::MakeShape(F32, {10, 10});
  int invocations = 0;
  auto stop_at_5 = [&](absl::Span<const int64_t>) -> absl::StatusOr<bool> {
    if (++invocations == 5) return Unimplemented("Cannot increment beyond %d.", 5);
    return true;
  };
  absl::Status error_status =
      ShapeUtil::ForEachIndexWithStatus(shape, /*base=*/{0, 0}, /*count=*/{10, 10}, /*incr=*/{0, 1}, stop_at_5);
  EXPECT_FALSE(error_status.ok());
  EXPECT_THAT(error_status.message(), HasSubstr("Cannot increment beyond 5."));
  EXPECT_EQ(invocations, 5);
  ShapeUtil::IndexIterationSpace space{{0, 0}, {10, 10}, {5, 5}};
  int count = 0;
  auto counts = [&](absl::Span<const int64_t>) -> absl::StatusOr<bool> { return ++count > 0; };
  TF_EXPECT_OK(ShapeUtil::ForEachIndexWithStatus(shape, space, counts));
  EXPECT_EQ(count, 4);
  TF_EXPECT_OK(ShapeUtil::ForEachIndexWithStatus(shape, counts));
  EXPECT_EQ(count, 104);
  ShapeUtil::ForEachIndexNoStatus(shape, [&](absl::Span<const int64_t> index) {
    ++count;
    return index[1] < 3;
  });
  EXPECT_EQ(count, 108);
  ShapeUtil::ForEachIndexNoStatus(shape, {0, 0}, {2, 2}, {1, 1},
                                  [&](absl::Span<const int64_t>) { return ++count > 0; });
  EXPECT_EQ(count, 112);
}

TEST(ShapeUtilTest, ForEachIndexParallel) {
  Shape shape = ShapeUtil::MakeShape(F32, {10, 10});
  int64_t output[10][10] = {};
  auto set_func = [&](absl::Span<const int64_t> indexes, int /*thread_id*/) -> absl::StatusOr<bool> {
    output[indexes[0]][indexes[1]] = indexes[0] + indexes[1];
    return true;
  };
  ShapeUtil::ForEachIndexParallel(shape, /*base=*/{0, 0}, /*count=*/{10, 10}, /*incr=*/{1, 1}, set_func);
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) EXPECT_EQ(output[i][j], i + j);
  }
  std::atomic<int> count = 0;  // ThreadSanitizer does not see what Debian's absl::Mutex guards
  ShapeUtil::ForEachIndexParallel(shape, [&](absl::Span<const int64_t>, int) -> absl::StatusOr<bool> {
    ++count;
    return true;
  });
  EXPECT_EQ(count, 100);
  EXPECT_FALSE(
      ShapeUtil::ForEachIndexParallelWithStatus(shape, [](absl::Span<const int64_t>, int) -> absl::StatusOr<bool> {
        return absl::InternalError("no");
      }).ok());
  TF_EXPECT_OK(ShapeUtil::ForEachIndexParallelWithStatus(shape, {0, 0}, {1, 1}, {1, 1}, set_func));
  EXPECT_GE(ShapeUtil::GetForEachIndexParallelThreadCount(), 1);
}

TEST(ShapeUtilTest, ThreadPoolsOfTsl) {
  std::atomic<int> count = 0;
  {
    tsl::thread::ThreadPool pool(tsl::Env::Default(), "foreach", 4);
    for (int i = 0; i < 20; ++i) {
      pool.Schedule([&] { ++count; });
    }
  }
  EXPECT_EQ(count, 20);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bitcasts
// ---------------------------------------------------------------------------------------------------------------------

TEST(ShapeUtilTest, ReshapesAndTransposes) {
  Shape shape0 = ShapeUtil::MakeShape(S32, {9, 1, 4});
  Shape shape1 = ShapeUtil::MakeShape(S32, {1, 9, 4, 1});
  std::optional<ShapeUtil::ShapeEqualityDescriptor> edges =
      ShapeUtil::InsertedOrDeleted1SizedDimensions(shape0, shape1);
  ASSERT_TRUE(edges.has_value());
  EXPECT_THAT(edges->deleted_dimensions, ElementsAre(1));
  EXPECT_THAT(edges->inserted_dimensions, ElementsAre(0, 3));
  EXPECT_TRUE(ShapeUtil::ReshapeIsBitcast(shape0, shape1));
  EXPECT_TRUE(ShapeUtil::IsReshapeOrTransposeBitcast(shape0, shape1));
  EXPECT_TRUE(ShapeUtil::ReshapeIsBitcast(shape0, ShapeUtil::MakeShape(F32, {36}), /*ignore_element_type=*/true));
  EXPECT_THAT(ShapeUtil::DimensionsUnmodifiedByReshape(ShapeUtil::MakeShape(S32, {10, 20, 30, 40}),
                                                       ShapeUtil::MakeShape(S32, {10, 600, 40})),
              ElementsAre(std::make_pair(0, 0), std::make_pair(3, 2)));
  auto positions = ShapeUtil::ReshapeLeavesDimensionsUnmodified(shape0, shape1, {0, 2});
  ASSERT_TRUE(positions.has_value());
  EXPECT_THAT(*positions, ElementsAre(1, 2));
  std::optional<std::vector<int64_t>> dims =
      ShapeUtil::DeduceTransposeDimensionsForBitcast(ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {1, 0}),
                                                     ShapeUtil::MakeShapeWithDenseLayout(F32, {3, 2}, {0, 1}));
  EXPECT_EQ(std::make_optional(std::vector<int64_t>({1, 0})), dims);
}

TEST(ShapeUtilTest, DecomposeBitcast) {
  Shape input = ShapeUtil::MakeShapeWithDenseLayout(F32, {16, 17, 3}, {2, 1, 0});
  Shape output = ShapeUtil::MakeShapeWithDenseLayout(F32, {51, 16}, {0, 1});
  EXPECT_TRUE(ShapeUtil::IsDecomposableBitcast(input, output));
  ShapeUtil::BitcastDecomposition decomposition = ShapeUtil::DecomposeBitcast(input, output);
  ASSERT_TRUE(decomposition.has_value());
  ASSERT_TRUE(std::holds_alternative<ShapeUtil::BitcastDecompositionTrt>(*decomposition));
  auto trt = std::get<ShapeUtil::BitcastDecompositionTrt>(*decomposition);
  EXPECT_TRUE(trt.IsTranspose1Identity());
  EXPECT_FALSE(trt.IsTranspose2Identity());
  EXPECT_EQ(trt.transpose1_shape, input);
  EXPECT_EQ(trt.reshape_shape, ShapeUtil::MakeShape(F32, {16, 51}));
  EXPECT_THAT(trt.transpose1_dims, ElementsAre(0, 1, 2));
  EXPECT_THAT(trt.transpose2_dims, ElementsAre(1, 0));
  decomposition = ShapeUtil::DecomposeBitcast(input, ShapeUtil::MakeShapeWithDenseLayout(F32, {3, 16, 17}, {0, 2, 1}));
  ASSERT_TRUE(std::holds_alternative<ShapeUtil::BitcastDecompositionTranspose>(decomposition.value()));
  EXPECT_THAT(std::get<ShapeUtil::BitcastDecompositionTranspose>(*decomposition).transpose_dims, ElementsAre(2, 0, 1));
  decomposition = ShapeUtil::DecomposeBitcast(input, ShapeUtil::MakeShape(F32, {16 * 17, 3}));
  EXPECT_TRUE(std::holds_alternative<ShapeUtil::BitcastDecompositionReshape>(*decomposition));
  EXPECT_TRUE(ShapeUtil::DecomposeBitcastToTrt(input, output).has_value());
}

TEST(ShapeUtilTest, AlignLayouts) {
  Shape input = ShapeUtil::MakeShapeWithDenseLayout(F32, {3, 8, 5, 7, 11}, {3, 2, 1, 0, 4});
  auto aligned = ShapeUtil::AlignLayouts(input, ShapeUtil::MakeShape(F32, {3, 8, 7, 5, 11}));
  EXPECT_FALSE(aligned.has_value() && !ShapeUtil::ReshapeIsBitcast(input, aligned.value()));
  aligned = ShapeUtil::AlignLayouts(input, ShapeUtil::MakeShape(F32, {3, 1, 8, 5, 7, 11}));
  ASSERT_TRUE(aligned);
  EXPECT_TRUE(ShapeUtil::ReshapeIsBitcast(input, aligned.value()));
  absl::InlinedVector<int64_t, 3> permutation;
  EXPECT_THAT(
      ShapeUtil::GetNormalizedLogicalTransposeShape(ShapeUtil::MakeShape(F32, {4, 2, 3}), {2, 0, 1}, permutation),
      ElementsAre(4, 6));
  EXPECT_THAT(permutation, ElementsAre(1, 0));
}

// ---------------------------------------------------------------------------------------------------------------------
// Text
// ---------------------------------------------------------------------------------------------------------------------

TEST(ShapeUtilTest, ParseShapes) {
  TF_ASSERT_OK_AND_ASSIGN(Shape actual, ParseShape("(f32[1572864],s8[5120,1024])"));
  Shape expected =
      ShapeUtil::MakeTupleShape({ShapeUtil::MakeShape(F32, {1572864}), ShapeUtil::MakeShape(S8, {5120, 1024})});
  EXPECT_TRUE(ShapeUtil::Equal(expected, actual)) << "expected: " << ShapeUtil::HumanString(expected);
  for (absl::string_view text : {"f32[foobar,123]", "f32(1)", "f32[]extra"}) {
    EXPECT_FALSE(ParseShape(text).ok()) << text;
  }
  TF_ASSERT_OK_AND_ASSIGN(Layout layout, ParseLayout("{1,0:T(8,128)(2,1)S(3)}"));
  EXPECT_EQ(layout, LayoutUtil::MakeLayout({1, 0}, {Tile({8, 128}), Tile({2, 1})}, 1, PRIMITIVE_TYPE_INVALID,
                                           PRIMITIVE_TYPE_INVALID, 0, 3));
  TF_ASSERT_OK_AND_ASSIGN(std::vector<Shape> shapes, ParseShapeList("f32[2], (s8[], token[])"));
  EXPECT_EQ(shapes.size(), 2);
  EXPECT_TRUE(ParseShapeList("").value().empty());
  EXPECT_FALSE(ParseShapeList("f32[2]), (f32[2]").ok());
}

void BM_MakeShape(::testing::benchmark::State& state) {
  for (auto s : state) ShapeUtil::MakeShape(F32, {2});
}
BENCHMARK(BM_MakeShape);

void BM_ForEachIndex(::testing::benchmark::State& state) {
  Shape shape = ShapeUtil::MakeShape(F32, {state.range(0), state.range(1)});
  for (auto s : state) {
    ShapeUtil::ForEachIndexNoStatus(shape, [](absl::Span<const int64_t>) { return true; });
  }
}
BENCHMARK(BM_ForEachIndex)->ArgPair(2, 3)->ArgNames({"rows", "columns"});

}  // namespace
}  // namespace xla
