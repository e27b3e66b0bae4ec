#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include "kashi/relayout/simd/line_tiles.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace kashi::relayout {
namespace {

// Rows of one side at random distances, in a buffer of the exact size: sanitizers see any access beyond it.
struct Side {
  Side(int64_t rows, int64_t row_bytes, std::mt19937_64& random) : misalignment(random() % 70) {
    int64_t end = 0;
    for (int64_t r = 0; r < rows; ++r) {
      offsets.push_back(end);
      end += row_bytes + (r + 1 < rows ? random() % 90 : 0);
    }
    bytes.resize(misalignment + end);
    for (char& byte : bytes) byte = static_cast<char>(random());
  }

  int64_t misalignment;
  std::vector<int64_t> offsets;
  std::vector<char> bytes;
};

// The formula of the header: all bytes of the target, those between its rows too.
::testing::AssertionResult Moves(int64_t element_bytes, int64_t rows, int64_t columns, bool shuffles,
                                 std::mt19937_64& random) {
  const Side from(rows, columns * element_bytes, random);
  Side to(columns, rows * element_bytes, random);
  std::vector<uint8_t> order(element_bytes);
  for (int64_t i = 0; i < element_bytes; ++i) order[i] = static_cast<uint8_t>(i);
  if (shuffles) std::shuffle(order.begin(), order.end(), random);
  std::vector<char> expected = to.bytes;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t i = 0; i < element_bytes; ++i) {
        expected[to.misalignment + to.offsets[c] + r * element_bytes + i] =
            from.bytes[from.misalignment + from.offsets[r] + c * element_bytes + order[i]];
      }
    }
  }
  LineTilesFunctionFor(element_bytes)({from.bytes.data() + from.misalignment, from.offsets.data(), rows,
                                       to.bytes.data() + to.misalignment, to.offsets.data(), columns, false, false},
                                      shuffles ? order.data() : nullptr);
  if (to.bytes == expected) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << rows << " x " << columns << " elements of " << element_bytes << " bytes"
                                       << (shuffles ? ", shuffled" : "");
}

TEST(LineTiles, MovesAllSizesOnEachTarget) {
  std::mt19937_64 random(1);
  const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 31, 32, 33, 47, 64, 65, 130};
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (int64_t bytes : {4, 8, 16}) {
      for (int64_t rows : sizes) {
        for (int64_t columns : sizes) {
          for (const bool shuffles : {false, true}) {
            ASSERT_TRUE(Moves(bytes, rows, columns, shuffles, random)) << hwy::TargetName(target);
          }
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(LineTiles, HasElementsOfFourToSixteenBytes) {
  for (int64_t bytes : {4, 8, 16}) EXPECT_NE(LineTilesFunctionFor(bytes), nullptr) << bytes;
  for (int64_t bytes : {0, 1, 2, 3, 12, 32}) EXPECT_EQ(LineTilesFunctionFor(bytes), nullptr) << bytes;
}

}  // namespace
}  // namespace kashi::relayout
