#include "xla/array.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "xla/array2d.h"
#include "xla/array3d.h"
#include "xla/array4d.h"
#include "xla/hlo/testlib/test.h"
#include "xla/types.h"

namespace xla {
namespace {

using ::testing::ElementsAre;

TEST(ArrayTest, Constructors) {
  Array<uint32_t> uninitialized({2, 3});
  EXPECT_EQ(uninitialized.num_dimensions(), 2);
  EXPECT_EQ(uninitialized.dim(1), 3);
  EXPECT_EQ(uninitialized.num_elements(), 6);
  Array<int64_t> filled({2, 3}, 5);
  for (int64_t value : filled) EXPECT_EQ(value, 5);
  Array<int64_t> nested({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(nested(1, 2), 6);
  Array<half> halves({{1.0f, 2.0f}, {3.0f, 4.0f}});
  EXPECT_EQ(halves(1, 0), static_cast<half>(3));
  Array<bfloat16> rank1({1.0f, 2.0f});
  EXPECT_EQ(rank1.num_dimensions(), 1);
  std::vector<int64_t> dims = {4, 5, 6};
  Array<float> sizes(dims);
  EXPECT_EQ(sizes.dimensions(), dims);
  EXPECT_DEATH((Array<int>({{1, 2}, {3, 4, 5}})), "");
}

TEST(ArrayTest, ReadAndWrite) {
  Array<int> arr({2, 3, 4});
  arr.Each([](absl::Span<const int64_t> idx, int* value) { *value = 100 * idx[0] + 10 * idx[1] + idx[2]; });
  arr(1, 2, 3) = 61;
  std::vector<int64_t> index = {1, 2, 3};
  EXPECT_EQ(arr(index), 61);
  int i = 1, j = 0;
  EXPECT_EQ(arr(i, j, 2), 102);
  const Array<int>& const_arr = arr;
  int64_t sum = 0;
  const_arr.Each([&](absl::Span<const int64_t>, int value) { sum += value; });
  EXPECT_EQ(sum, 1476 - 123 + 61);
  EXPECT_EQ(const_arr.data()[0], 0);
  EXPECT_EQ(arr.EachStatus([](absl::Span<const int64_t> idx, int*) {
                 return idx[2] == 3 ? absl::OutOfRangeError("end") : absl::OkStatus();
               })
                .code(),
            absl::StatusCode::kOutOfRange);
}

TEST(ArrayTest, SliceUpdateReshapeTranspose) {
  Array<int64_t> arr({2, 4});
  arr.FillIota(0);
  EXPECT_EQ(arr.Slice({0, 1}, {2, 3}), Array<int64_t>({{1, 2}, {5, 6}}));
  arr.UpdateSlice(Array<int64_t>({{10, 11}}), {1, 2});
  EXPECT_EQ(arr, Array<int64_t>({{0, 1, 2, 3}, {4, 5, 10, 11}}));
  arr.Reshape({4, 2});
  EXPECT_EQ(arr(3, 1), 11);
  arr.TransposeDimensions({1, 0});
  EXPECT_THAT(arr.dimensions(), ElementsAre(2, 4));
  EXPECT_EQ(arr.ToString(), "[[0, 2, 4, 10],\n [1, 3, 5, 11]]");
  arr.TransposeDimensions(std::vector<int64_t>{1, 0});
  EXPECT_THAT(arr.dimensions(), ElementsAre(4, 2));
}

TEST(ArrayTest, Fill) {
  Array<float> arr({5});
  arr.FillIota(1);
  EXPECT_THAT(arr, ElementsAre(1, 2, 3, 4, 5));
  arr.FillWithMultiples(2);
  EXPECT_THAT(arr, ElementsAre(0, 2, 4, 6, 8));
  arr.FillRandom(1.0f);
  Array<float> again({5});
  again.FillRandom(1.0f);
  EXPECT_EQ(arr, again);
  arr.SetValues({5, 4, 3, 2, 1});
  EXPECT_EQ(*arr.begin(), 5);
  EXPECT_EQ(*(arr.end() - 1), 1);
}

TEST(ArrayTest, FixedRanks) {
  Array2D<float> r2 = {{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}};
  EXPECT_EQ(r2.height(), 3);
  EXPECT_EQ(r2.width(), 2);
  auto copy = std::make_unique<Array2D<float>>(r2);
  EXPECT_EQ(*copy, r2);
  Array2D<float> moved = std::move(*copy);
  EXPECT_EQ(moved, r2);
  moved.FillUnique(1.0f);
  EXPECT_EQ(moved(2, 1), 6.0f);
  EXPECT_EQ((*MakeLinspaceArray2D(1.0, 6.0, 3, 2)), r2);

  Array3D<float> r3(2, 3, 4, -1.0f);
  r3.FillIota(0);
  EXPECT_EQ(r3(1, 2, 3), 23);
  EXPECT_EQ(r3.n1() * r3.n2() * r3.n3(), 24);

  Array4D<float> r4(2, 2, 3, 2);
  r4.FillWithYX(r2);
  r4.Each([&](absl::Span<const int64_t> idx, float* cell) { EXPECT_EQ(*cell, r2(idx[2], idx[3])); });
  EXPECT_EQ(r4.planes() * r4.depth() * r4.height() * r4.width(), r4.num_elements());
  Array4D<float> list({{{{1}, {2}}}, {{{3}, {4}}}});
  EXPECT_EQ(list.n1(), 2);
  EXPECT_EQ(list.n3(), 2);
}

}  // namespace
}  // namespace xla
