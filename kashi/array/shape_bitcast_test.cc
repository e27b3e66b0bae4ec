// These tests define "moves no bytes" by brute force: every element of the array, one by one.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/permutation_util.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/util.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;
using List = std::vector<int64_t>;

std::string TextOrNone(const std::optional<Shape>& shape) { return shape.has_value() ? Text(*shape) : "none"; }

void AppendLists(const List& choices, size_t max_rank, int64_t max_product, List* list, std::vector<List>* all) {
  all->push_back(*list);
  if (list->size() == max_rank) return;
  for (int64_t size : choices) {
    list->push_back(size);
    if (Product(*list) <= max_product) AppendLists(choices, max_rank, max_product, list, all);
    list->pop_back();
  }
}

// All lists of these sizes up to a rank and a number of elements.
std::vector<List> SizeLists(const List& choices, size_t max_rank, int64_t max_product) {
  std::vector<List> all;
  List list;
  AppendLists(choices, max_rank, max_product, &list, &all);
  return all;
}

// All layouts of an array of these sizes.
std::vector<Shape> WithAllLayouts(const List& sizes) {
  std::vector<Shape> shapes;
  for (const List& order : Permutations(sizes.size())) {
    shapes.push_back(ShapeUtil::MakeShapeWithDenseLayout(F32, sizes, order));
  }
  return shapes;
}

List Delinear(int64_t linear, absl::Span<const int64_t> sizes) {
  List index(sizes.size());
  for (int d = sizes.size() - 1; d >= 0; --d) {
    index[d] = linear % sizes[d];
    linear /= sizes[d];
  }
  return index;
}

int64_t Position(const List& index, const Shape& shape) {
  int64_t position = 0, stride = 1;
  for (int64_t d : shape.layout().minor_to_major()) {
    position += index[d] * stride;
    stride *= shape.dimensions(d);
  }
  return position;
}

// positions[n] is where element n, counted in logical row-major order, stands in memory.
List Positions(const Shape& shape) {
  List positions(ShapeUtil::ElementsIn(shape));
  for (size_t n = 0; n < positions.size(); ++n) positions[n] = Position(Delinear(n, shape.dimensions()), shape);
  return positions;
}

// Element i of the result of transpose is element sources[i] of the input, both counted in logical row-major order.
List TransposeSources(absl::Span<const int64_t> input_sizes, const List& dims) {
  const List output_sizes = Permute(input_sizes, dims);
  List sources(Product(input_sizes));
  for (size_t n = 0; n < sources.size(); ++n) {
    const List input_index = PermuteInverse(Delinear(n, output_sizes), dims);
    int64_t linear = 0;
    for (size_t d = 0; d < input_sizes.size(); ++d) linear = linear * input_sizes[d] + input_index[d];
    sources[n] = linear;
  }
  return sources;
}

bool SlowTransposeIsBitcast(const Shape& input, const Shape& output, const List& dims) {
  const List from = Positions(input), to = Positions(output), sources = TransposeSources(input.dimensions(), dims);
  for (size_t n = 0; n < to.size(); ++n) {
    if (to[n] != from[sources[n]]) return false;
  }
  return true;
}

TEST(TransposeIsBitcast, EveryMapping) {
  for (const List& sizes : std::vector<List>{{}, {5}, {2, 3}, {2, 2}, {2, 3, 4}, {3, 3, 2}, {2, 2, 2, 3}}) {
    for (const Shape& input : WithAllLayouts(sizes)) {
      for (const List& dims : Permutations(sizes.size())) {
        for (const Shape& output : WithAllLayouts(Permute(sizes, dims))) {
          ASSERT_EQ(ShapeUtil::TransposeIsBitcast(input, output, dims), SlowTransposeIsBitcast(input, output, dims))
              << input << " to " << output << " by " << VectorString(dims);
        }
      }
    }
  }
}

TEST(TransposeIsBitcast, SizesAndTilesAreNotLookedAt) {
  EXPECT_TRUE(ShapeUtil::TransposeIsBitcast(S("f32[2,3]{1,0}"), S("f32[7,8]{0,1}"), {1, 0}));
  EXPECT_TRUE(ShapeUtil::TransposeIsBitcast(S("f32[2,3]{1,0:T(2)}"), S("f32[3,2]{0,1}"), {1, 0}));
  // A dimension of size 1 has its place too.
  EXPECT_FALSE(ShapeUtil::TransposeIsBitcast(S("f32[2,1]{1,0}"), S("f32[1,2]{1,0}"), {1, 0}));
  EXPECT_FALSE(ShapeUtil::TransposeIsBitcast(S("f32[2]"), S("s32[2]"), {0}));
  EXPECT_TRUE(ShapeUtil::TransposeIsBitcast(S("f32[2]"), S("s32[2]"), {0}, /*ignore_element_type=*/true));
  Shape bare = S("f32[2]");
  bare.clear_layout();
  EXPECT_DEATH(ShapeUtil::TransposeIsBitcast(S("f32[2]"), bare, {0}), "layout");
}

struct Placed {
  Shape shape;
  List positions;
};

// Calls fn for each `stride`-th of all pairs of these arrays, in all layouts, that have the same number of elements.
template <typename Fn>
void ForReshapes(const std::vector<List>& size_lists, int64_t stride, Fn fn) {
  std::map<int64_t, std::vector<Placed>> by_elements;
  for (const List& sizes : size_lists) {
    for (const Shape& shape : WithAllLayouts(sizes)) by_elements[Product(sizes)].push_back({shape, Positions(shape)});
  }
  int64_t pairs = 0;
  for (const auto& [elements, group] : by_elements) {
    const int64_t n = group.size();
    for (int64_t i = elements % stride; i < n * n; i += stride, ++pairs) {
      fn(group[i / n], group[i % n]);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(pairs, 2000);
}

TEST(ReshapeIsBitcast, SmallShapes) {
  int bitcasts = 0;
  const auto check = [&](const Placed& input, const Placed& output) {
    const bool is_bitcast = input.positions == output.positions;
    bitcasts += is_bitcast;
    ASSERT_EQ(ShapeUtil::ReshapeIsBitcast(input.shape, output.shape), is_bitcast)
        << input.shape << " to " << output.shape;
  };
  ForReshapes(SizeLists({1, 2, 3, 4}, 3, 24), 1, check);  // all of them
  ForReshapes(SizeLists({1, 2, 3, 4, 6}, 4, 24), 101, check);
  EXPECT_GT(bitcasts, 1000);
}

TEST(ReshapeIsBitcast, Examples) {
  EXPECT_TRUE(ShapeUtil::ReshapeIsBitcast(S("f32[1024]"), S("f32[32,32]{1,0}")));
  EXPECT_FALSE(ShapeUtil::ReshapeIsBitcast(S("f32[1024]"), S("f32[32,32]{0,1}")));
  EXPECT_FALSE(ShapeUtil::ReshapeIsBitcast(S("f32[2]"), S("f32[3]")));
  EXPECT_FALSE(ShapeUtil::ReshapeIsBitcast(S("f32[2]"), S("s32[2]")));
  EXPECT_TRUE(ShapeUtil::ReshapeIsBitcast(S("f32[2]"), S("s32[2]"), /*ignore_element_type=*/true));
  // No elements: nothing moves.
  EXPECT_TRUE(ShapeUtil::ReshapeIsBitcast(S("f32[0,2,3]{0,1,2}"), S("f32[5,0]")));
  // Tiles are not looked at. Ranks and sizes cost nothing.
  EXPECT_TRUE(ShapeUtil::ReshapeIsBitcast(S("f32[4,4]{1,0:T(2,2)}"), S("f32[16]")));
  const List ones(300, 1), big = {int64_t{1} << 40, 1 << 20};
  EXPECT_TRUE(ShapeUtil::ReshapeIsBitcast(ShapeUtil::MakeShape(S8, big),
                                          ShapeUtil::MakeShape(S8, {1 << 20, int64_t{1} << 40})));
  EXPECT_TRUE(ShapeUtil::ReshapeIsBitcast(ShapeUtil::MakeShape(S8, ones), S("s8[]")));
  EXPECT_DEATH(ShapeUtil::ReshapeIsBitcast(S("f32[2]{1}"), S("f32[2]")), "");
}

TEST(DeduceTransposeDimensions, TheOnlyMapping) {
  for (const List& sizes : SizeLists({1, 2, 3}, 3, 18)) {
    for (const List& output_sizes : SizeLists({1, 2, 3}, 3, 18)) {
      for (const Shape& input : WithAllLayouts(sizes)) {
        for (const Shape& output : WithAllLayouts(output_sizes)) {
          const auto deduced = ShapeUtil::DeduceTransposeDimensionsForBitcast(input, output);
          std::optional<List> expected;
          if (sizes.size() == output_sizes.size()) {
            for (const List& dims : Permutations(sizes.size())) {
              const bool fits = Permute(sizes, dims) == output_sizes;
              if (fits && ShapeUtil::TransposeIsBitcast(input, output, dims)) expected = dims;
            }
          }
          ASSERT_EQ(deduced, expected) << input << " to " << output;
        }
      }
    }
  }
  EXPECT_THAT(ShapeUtil::DeduceTransposeDimensionsForBitcast(S("f32[2,3]{1,0}"), S("s8[3,2]{0,1}")),
              Optional(ElementsAre(1, 0)));
}

TEST(IsReshapeOrTransposeBitcast, EitherOne) {
  EXPECT_TRUE(ShapeUtil::IsReshapeOrTransposeBitcast(S("f32[2,3]{1,0}"), S("f32[6]")));
  EXPECT_TRUE(ShapeUtil::IsReshapeOrTransposeBitcast(S("f32[2,3]{1,0}"), S("f32[3,2]{0,1}")));
  EXPECT_FALSE(ShapeUtil::IsReshapeOrTransposeBitcast(S("f32[2,3]{1,0}"), S("f32[2,3]{0,1}")));
  EXPECT_TRUE(ShapeUtil::IsReshapeOrTransposeBitcast(S("f32[2,3]{1,0:T(2)}"), S("f32[2,3]{1,0:T(2)}")));
  EXPECT_FALSE(ShapeUtil::IsReshapeOrTransposeBitcast(S("f32[2,3]"), S("s32[6]")));
  EXPECT_TRUE(ShapeUtil::IsReshapeOrTransposeBitcast(S("f32[2,3]"), S("s32[6]"), /*ignore_element_type=*/true));
  // A reshape and a transpose at once is neither of the two.
  EXPECT_FALSE(ShapeUtil::IsReshapeOrTransposeBitcast(S("f32[2,3,4]{0,1,2}"), S("f32[6,4]{0,1}")));
}

// Applies the decomposition to the elements' positions: after each step they must be those of the step's
// layout, so that no step moves a byte.
void CheckTrt(const Shape& input, const Shape& output, const ShapeUtil::BitcastDecompositionTrt& trt) {
  ASSERT_EQ(List(trt.transpose1_shape.dimensions().begin(), trt.transpose1_shape.dimensions().end()),
            Permute(input.dimensions(), trt.transpose1_dims));
  ASSERT_TRUE(SlowTransposeIsBitcast(input, trt.transpose1_shape, trt.transpose1_dims));
  ASSERT_EQ(Positions(trt.transpose1_shape), Positions(trt.reshape_shape));
  ASSERT_EQ(List(output.dimensions().begin(), output.dimensions().end()),
            Permute(trt.reshape_shape.dimensions(), trt.transpose2_dims));
  ASSERT_TRUE(SlowTransposeIsBitcast(trt.reshape_shape, output, trt.transpose2_dims));
  ASSERT_TRUE(LayoutUtil::IsMonotonicWithDim0Major(trt.transpose1_shape.layout()));
  ASSERT_TRUE(LayoutUtil::IsMonotonicWithDim0Major(trt.reshape_shape.layout()));
  ASSERT_EQ(trt.IsTranspose1Identity(), IsIdentityPermutation(trt.transpose1_dims));
  ASSERT_EQ(trt.IsTranspose2Identity(), IsIdentityPermutation(trt.transpose2_dims));
}

TEST(DecomposeBitcast, SmallShapes) {
  int reshapes = 0, transposes = 0, trts = 0;
  ForReshapes(SizeLists({1, 2, 3, 4, 6}, 3, 24), 9, [&](const Placed& from, const Placed& to) {
    const Shape& input = from.shape;
    const Shape& output = to.shape;
    SCOPED_TRACE(Text(input) + " to " + Text(output));
    ASSERT_TRUE(ShapeUtil::IsDecomposableBitcast(input, output));
    const auto trt = ShapeUtil::DecomposeBitcastToTrt(input, output);
    ASSERT_TRUE(trt.has_value());
    CheckTrt(input, output, *trt);
    const auto decomposition = ShapeUtil::DecomposeBitcast(input, output);
    ASSERT_TRUE(decomposition.has_value());
    const bool is_reshape = from.positions == to.positions;
    ASSERT_EQ(std::holds_alternative<ShapeUtil::BitcastDecompositionReshape>(*decomposition), is_reshape);
    if (is_reshape) {
      ++reshapes;
    } else if (const auto* t = std::get_if<ShapeUtil::BitcastDecompositionTranspose>(&*decomposition)) {
      ++transposes;
      ASSERT_TRUE(SlowTransposeIsBitcast(input, output, t->transpose_dims));
    } else {
      ++trts;
      CheckTrt(input, output, std::get<ShapeUtil::BitcastDecompositionTrt>(*decomposition));
    }
  });
  EXPECT_GT(reshapes, 100);
  EXPECT_GT(transposes, 100);
  EXPECT_GT(trts, 100);
}

TEST(DecomposeBitcast, Examples) {
  const auto d = ShapeUtil::DecomposeBitcast(S("f32[2,3,4]{0,1,2}"), S("f32[6,4]{0,1}"));
  const auto& trt = std::get<ShapeUtil::BitcastDecompositionTrt>(*d);
  EXPECT_THAT(trt.transpose1_dims, ElementsAre(2, 1, 0));
  EXPECT_EQ(Text(trt.transpose1_shape), "f32[4,3,2]{2,1,0}");
  EXPECT_EQ(Text(trt.reshape_shape), "f32[4,6]{1,0}");
  EXPECT_THAT(trt.transpose2_dims, ElementsAre(1, 0));
  EXPECT_FALSE(trt.IsTranspose1Identity());
  // Types may differ, numbers of elements may not.
  EXPECT_TRUE(ShapeUtil::DecomposeBitcast(S("f32[2,3]{0,1}"), S("s32[6]")).has_value());
  EXPECT_FALSE(ShapeUtil::IsDecomposableBitcast(S("s32[2]"), S("s8[8]")));
  EXPECT_FALSE(ShapeUtil::DecomposeBitcast(S("s32[2]"), S("s8[8]")).has_value());
  EXPECT_FALSE(ShapeUtil::DecomposeBitcastToTrt(S("s32[2]"), S("s8[8]")).has_value());
  EXPECT_FALSE(ShapeUtil::IsDecomposableBitcast(S("(s32[2])"), S("s32[2]")));
}

TEST(AlignLayouts, FindsALayoutIfThereIsOne) {
  int found = 0, none = 0;
  const std::vector<List> size_lists = SizeLists({1, 2, 3, 4, 6}, 3, 24);
  for (const List& input_sizes : size_lists) {
    for (const List& output_sizes : size_lists) {
      if (Product(input_sizes) != Product(output_sizes)) continue;
      for (const Shape& input : WithAllLayouts(input_sizes)) {
        const Shape output = ShapeUtil::MakeShape(S32, output_sizes);
        const auto aligned = ShapeUtil::AlignLayouts(input, output);
        if (aligned.has_value()) {
          ++found;
          ASSERT_TRUE(ShapeUtil::Compatible(*aligned, output));
          ASSERT_TRUE(ShapeUtil::ValidateShape(*aligned).ok());
          ASSERT_TRUE(ShapeUtil::ReshapeIsBitcast(input, *aligned, /*ignore_element_type=*/true))
              << input << " to " << *aligned;
        } else {
          ++none;
          for (const Shape& any : WithAllLayouts(output_sizes)) {
            ASSERT_FALSE(ShapeUtil::ReshapeIsBitcast(input, any)) << input << " to " << any;
          }
        }
      }
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(none, 100);
}

TEST(AlignLayouts, Examples) {
  const auto align = [](absl::string_view in, absl::string_view out) {
    return TextOrNone(ShapeUtil::AlignLayouts(S(in), S(out)));
  };
  EXPECT_EQ(align("f32[2,3,4]{0,2,1}", "f32[2,3,2,2]"), "f32[2,3,2,2]{0,3,2,1}");
  EXPECT_EQ(align("f32[2,3,4]{0,1,2}", "f32[6,4]"), "none");
  EXPECT_EQ(align("f32[2,3,4]{1,0,2}", "f32[6,4]"), "f32[6,4]{0,1}");
  // Sizes 1 become most major, in descending order; of the output's layout nothing is left.
  EXPECT_EQ(align("f32[2,3]{0,1}", "f32[1,2,1,3,1]{0,1,2,3,4:T(2)}"), "f32[1,2,1,3,1]{1,3,4,2,0}");
  EXPECT_EQ(align("f32[1,1]", "f32[]"), "f32[]");
  EXPECT_EQ(align("f32[]", "f32[1,1]"), "f32[1,1]{1,0}");
  EXPECT_EQ(align("f32[2]", "f32[3]"), "none");
  EXPECT_EQ(align("f32[0,2]", "f32[0]"), "f32[0]{0}");
  EXPECT_EQ(align("f32[4,<=2]", "f32[2,2,<=2]"), "f32[2,2,<=2]{2,1,0}");
  Shape bare = S("f32[2]");
  bare.clear_layout();
  EXPECT_EQ(TextOrNone(ShapeUtil::AlignLayouts(S("f32[2]"), bare)), "f32[2]{0}");
  EXPECT_DEATH(ShapeUtil::AlignLayouts(bare, S("f32[2]")), "layout");
}

TEST(DimensionsUnmodifiedByReshape, Examples) {
  const auto unmodified = [](absl::string_view in, absl::string_view out) {
    return ShapeUtil::DimensionsUnmodifiedByReshape(S(in), S(out));
  };
  // [a,b,x,y,cd] -> [ab,x,1,y,c,d]
  EXPECT_THAT(unmodified("f32[2,3,5,7,88]", "f32[6,5,1,7,8,11]"), ElementsAre(Pair(2, 1), Pair(3, 3)));
  EXPECT_THAT(unmodified("f32[1,1,1,1]", "f32[1,1,1]"), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(unmodified("f32[2,6]", "f32[4,3]"), IsEmpty());
  EXPECT_THAT(unmodified("f32[]", "f32[1]"), IsEmpty());
  EXPECT_DEATH(unmodified("f32[2]", "f32[3]"), "");
}

TEST(ReshapeLeavesDimensionsUnmodified, Examples) {
  const Shape from = S("f32[2,3,5,7,88]"), to = S("f32[6,5,1,7,8,11]");
  EXPECT_THAT(ShapeUtil::ReshapeLeavesDimensionsUnmodified(from, to, {2, 3}), Optional(ElementsAre(1, 3)));
  EXPECT_THAT(ShapeUtil::ReshapeLeavesDimensionsUnmodified(from, to, {3}), Optional(ElementsAre(3)));
  EXPECT_THAT(ShapeUtil::ReshapeLeavesDimensionsUnmodified(from, to, {}), Optional(IsEmpty()));
  EXPECT_EQ(ShapeUtil::ReshapeLeavesDimensionsUnmodified(from, to, {3, 2}), std::nullopt);
  EXPECT_EQ(ShapeUtil::ReshapeLeavesDimensionsUnmodified(from, to, {1, 2}), std::nullopt);
  EXPECT_EQ(ShapeUtil::ReshapeLeavesDimensionsUnmodified(from, to, {2, 9}), std::nullopt);
}

TEST(InsertedOrDeleted1SizedDimensions, Examples) {
  const auto descriptor = [](absl::string_view pre, absl::string_view post) {
    return ShapeUtil::InsertedOrDeleted1SizedDimensions(S(pre), S(post));
  };
  auto d = descriptor("f32[9,1,4]", "f32[9,4]");
  ASSERT_TRUE(d.has_value());
  EXPECT_THAT(d->deleted_dimensions, ElementsAre(1));
  EXPECT_THAT(d->inserted_dimensions, IsEmpty());
  d = descriptor("f32[1,2,5]", "f32[2,1,5,1]");
  ASSERT_TRUE(d.has_value());
  EXPECT_THAT(d->deleted_dimensions, ElementsAre(0));
  EXPECT_THAT(d->inserted_dimensions, ElementsAre(1, 3));
  EXPECT_FALSE(descriptor("f32[1,2,1]", "f32[1,2]")->deleted_dimensions.empty());
  EXPECT_FALSE(descriptor("f32[2,3]", "f32[6]").has_value());
  EXPECT_FALSE(descriptor("f32[2,3]", "f32[3,2]").has_value());
  EXPECT_FALSE(descriptor("f32[2]", "f32[3]").has_value());
}

TEST(InsertedOrDeleted1SizedDimensions, DeletingAndInsertingGivesTheOther) {
  const std::vector<List> size_lists = SizeLists({1, 2, 3}, 4, 12);
  for (const List& pre : size_lists) {
    for (const List& post : size_lists) {
      const auto d =
          ShapeUtil::InsertedOrDeleted1SizedDimensions(ShapeUtil::MakeShape(F32, pre), ShapeUtil::MakeShape(F32, post));
      List pre_wide, post_wide;
      for (int64_t size : pre)
        if (size != 1) pre_wide.push_back(size);
      for (int64_t size : post)
        if (size != 1) post_wide.push_back(size);
      ASSERT_EQ(d.has_value(), pre_wide == post_wide) << VectorString(pre) << VectorString(post);
      if (!d.has_value()) continue;
      List left = pre;
      for (auto it = d->deleted_dimensions.rbegin(); it != d->deleted_dimensions.rend(); ++it) {
        ASSERT_EQ(left[*it], 1);
        EraseAt(&left, *it);
      }
      for (int64_t at : d->inserted_dimensions) InsertAt(&left, at, 1);
      ASSERT_EQ(left, post) << VectorString(pre);
    }
  }
}

TEST(NormalizedLogicalTranspose, SameMovementInFewestDimensions) {
  for (const List& output_sizes : SizeLists({1, 2, 3}, 4, 36)) {
    const Shape output = ShapeUtil::MakeShape(F32, output_sizes);
    for (const List& dims : Permutations(output_sizes.size())) {
      absl::InlinedVector<int64_t, 3> permutation = {5, 5};
      const auto sizes = ShapeUtil::GetNormalizedLogicalTransposeShape(output, dims, permutation);
      const List merged(permutation.begin(), permutation.end());
      ASSERT_EQ(TransposeSources(PermuteInverse(output_sizes, dims), dims),
                TransposeSources(PermuteInverse(List(sizes.begin(), sizes.end()), merged), merged))
          << output << VectorString(dims);
      for (size_t i = 0; i < merged.size(); ++i) {
        ASSERT_NE(sizes[i], 1);
        if (i > 0) {
          ASSERT_NE(merged[i], merged[i - 1] + 1);
        }
      }
    }
  }
}

TEST(NormalizedLogicalTranspose, Examples) {
  absl::InlinedVector<int64_t, 3> permutation;
  EXPECT_THAT(ShapeUtil::GetNormalizedLogicalTransposeShape(S("f32[4,5,2,3]"), {2, 3, 0, 1}, permutation),
              ElementsAre(20, 6));
  EXPECT_THAT(permutation, ElementsAre(1, 0));
  EXPECT_THAT(ShapeUtil::GetNormalizedLogicalTransposeShape(S("f32[5,1,2,3]"), {3, 0, 1, 2}, permutation),
              ElementsAre(5, 6));
  EXPECT_THAT(permutation, ElementsAre(1, 0));
  EXPECT_THAT(ShapeUtil::GetNormalizedLogicalTransposeShape(S("f32[2,3,4]"), {0, 1, 2}, permutation), ElementsAre(24));
  EXPECT_THAT(permutation, ElementsAre(0));
  EXPECT_THAT(ShapeUtil::GetNormalizedLogicalTransposeShape(S("f32[1,1]"), {1, 0}, permutation), IsEmpty());
  EXPECT_THAT(permutation, IsEmpty());
}

}  // namespace
}  // namespace kashi::array
