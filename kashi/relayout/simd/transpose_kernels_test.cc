#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/transpose_kernels.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace kashi::relayout {
namespace {

constexpr char kCanary = '\x5a';

// The arrangement of the rows of one side in memory.
enum class Spread {
  kDense,     // one after the other
  kStrided,   // with a gap of some bytes
  kShuffled,  // in any order, with gaps of any size
  kPages,     // 4096 bytes apart
};

// The rows of one side, in a buffer of the exact size: sanitizers see any access beyond it.
struct Side {
  std::vector<int64_t> offsets;
  std::vector<char> bytes;
  bool is_dense;
};

Side MakeSide(int64_t rows, int64_t row_bytes, Spread spread, int64_t misalignment, std::mt19937_64& random) {
  Side side;
  side.is_dense = spread == Spread::kDense;
  side.offsets.resize(rows);
  std::vector<int64_t> order(rows);
  for (int64_t r = 0; r < rows; ++r) order[r] = r;
  if (spread == Spread::kShuffled) std::shuffle(order.begin(), order.end(), random);
  int64_t end = 0;
  for (int64_t r : order) {
    if (spread == Spread::kStrided && end > 0) end += 3;
    if (spread == Spread::kShuffled) end += random() % 7;
    if (spread == Spread::kPages) end = r * 4096;
    side.offsets[r] = end;
    end += row_bytes;
  }
  side.bytes.assign(misalignment + end, kCanary);
  return side;
}

struct Case {
  int64_t element_bytes;
  int64_t rows;
  int64_t columns;
  Spread from;
  Spread to;
};

void PrintTo(const Case& c, std::ostream* os) {
  *os << c.rows << " x " << c.columns << " elements of " << c.element_bytes << " bytes, from spread "
      << static_cast<int>(c.from) << " to " << static_cast<int>(c.to);
}

// The expected target, byte for byte, by the obvious loop into a copy of the target with all its canaries.
std::vector<char> Expected(const Case& c, const Side& from, const char* source, const Side& to, int64_t misalignment) {
  std::vector<char> expected = to.bytes;
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t column = 0; column < c.columns; ++column) {
      std::memcpy(expected.data() + misalignment + to.offsets[column] + row * c.element_bytes,
                  source + from.offsets[row] + column * c.element_bytes, c.element_bytes);
    }
  }
  return expected;
}

::testing::AssertionResult Moves(const Case& c, std::mt19937_64& random) {
  const int64_t from_misalignment = random() % 19;
  const int64_t to_misalignment = random() % 19;
  Side from = MakeSide(c.rows, c.columns * c.element_bytes, c.from, from_misalignment, random);
  Side to = MakeSide(c.columns, c.rows * c.element_bytes, c.to, to_misalignment, random);
  for (char& byte : from.bytes) byte = static_cast<char>(random());
  const char* source = from.bytes.data() + from_misalignment;
  const std::vector<char> expected = Expected(c, from, source, to, to_misalignment);

  TransposeFunctionFor(c.element_bytes)({source, from.offsets.data(), c.rows, to.bytes.data() + to_misalignment,
                                         to.offsets.data(), c.columns, from.is_dense, to.is_dense});
  if (to.bytes == expected) return ::testing::AssertionSuccess();
  const auto at = std::mismatch(to.bytes.begin(), to.bytes.end(), expected.begin()).first;
  return ::testing::AssertionFailure() << ::testing::PrintToString(c) << ": byte "
                                       << at - to.bytes.begin() - to_misalignment << " of the target is wrong";
}

class TransposeKernels : public ::testing::TestWithParam<std::tuple<int64_t, int64_t>> {
 protected:
  TransposeKernels() { hwy::SetSupportedTargetsForTest(std::get<0>(GetParam())); }
  ~TransposeKernels() override { hwy::SetSupportedTargetsForTest(0); }

  int64_t element_bytes() const { return std::get<1>(GetParam()); }
  std::mt19937_64 random_{1};
};

TEST_P(TransposeKernels, AllSmallBlocks) {
  const int64_t last = 34;
  for (int64_t rows = 1; rows <= last; ++rows) {
    for (int64_t columns = 1; columns <= last; ++columns) {
      for (Spread from : {Spread::kDense, Spread::kStrided, Spread::kShuffled}) {
        for (Spread to : {Spread::kDense, Spread::kStrided, Spread::kShuffled}) {
          ASSERT_TRUE(Moves({element_bytes(), rows, columns, from, to}, random_));
        }
      }
    }
  }
}

TEST_P(TransposeKernels, NarrowBlocks) {
  for (int64_t narrow = 1; narrow <= 20; ++narrow) {
    for (int64_t wide : {35, 47, 63, 64, 65, 127, 128, 129, 255, 500, 511, 512, 513, 1000, 1025, 1100}) {
      for (Spread from : {Spread::kDense, Spread::kShuffled}) {
        for (Spread to : {Spread::kDense, Spread::kShuffled}) {
          ASSERT_TRUE(Moves({element_bytes(), narrow, wide, from, to}, random_));
          ASSERT_TRUE(Moves({element_bytes(), wide, narrow, from, to}, random_));
        }
      }
    }
  }
}

TEST_P(TransposeKernels, RandomBlocks) {
  const Spread spreads[] = {Spread::kDense, Spread::kStrided, Spread::kShuffled};
  for (int i = 0; i < 1000; ++i) {
    const int64_t rows = 1 + random_() % 150;
    const int64_t columns = 1 + random_() % 150;
    ASSERT_TRUE(Moves({element_bytes(), rows, columns, spreads[random_() % 3], spreads[random_() % 3]}, random_));
  }
}

TEST_P(TransposeKernels, RowsThatCollideInTheCache) {
  for (int64_t rows : {9, 16, 17, 31, 33, 63, 64, 65, 80, 130}) {
    for (int64_t columns : {9, 16, 17, 33, 64, 65, 129, 130, 140}) {
      if (std::max(rows, columns) * element_bytes() > 4096) continue;
      ASSERT_TRUE(Moves({element_bytes(), rows, columns, Spread::kPages, Spread::kStrided}, random_));
      ASSERT_TRUE(Moves({element_bytes(), rows, columns, Spread::kPages, Spread::kPages}, random_));
    }
  }
}

TEST_P(TransposeKernels, EmptyBlocks) {
  const TransposeFunction transpose = TransposeFunctionFor(element_bytes());
  const int64_t offsets[] = {0, 0, 0};
  transpose({nullptr, offsets, 0, nullptr, offsets, 3, true, true});
  transpose({nullptr, offsets, 3, nullptr, offsets, 0, true, true});
}

TEST_P(TransposeKernels, StreamCopy) {
  for (int64_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 200, 1000, 4096, 10000}) {
    for (int64_t from_misalignment : {0, 1, 16, 33, 63}) {
      for (int64_t to_misalignment : {0, 1, 16, 33, 63}) {
        std::vector<char> from(from_misalignment + bytes);
        for (char& byte : from) byte = static_cast<char>(random_());
        std::vector<char> to(to_misalignment + bytes + 64, kCanary);
        std::vector<char> expected = to;
        std::copy(from.begin() + from_misalignment, from.end(), expected.begin() + to_misalignment);
        StreamCopy(to.data() + to_misalignment, from.data() + from_misalignment, bytes);
        StreamFence();
        ASSERT_TRUE(to == expected) << bytes << " bytes from " << from_misalignment << " to " << to_misalignment;
      }
    }
  }
}

std::string TargetAndSize(const ::testing::TestParamInfo<TransposeKernels::ParamType>& info) {
  return absl::StrCat(hwy::TargetName(std::get<0>(info.param)), "_", std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, TransposeKernels,
                         ::testing::Combine(::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                                            ::testing::Values(1, 2, 4, 8, 16)),
                         TargetAndSize);

TEST(TransposeFunctionForTest, OtherSizesHaveNone) {
  for (int64_t bytes : {-1, 0, 3, 5, 7, 12, 32}) EXPECT_EQ(TransposeFunctionFor(bytes), nullptr) << bytes;
}

TEST(TransposeFunctionForTest, EachTargetHasItsOwn) {
  std::vector<TransposeFunction> functions;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    functions.push_back(TransposeFunctionFor(4));
  }
  hwy::SetSupportedTargetsForTest(0);
  std::sort(functions.begin(), functions.end());
  EXPECT_EQ(std::adjacent_find(functions.begin(), functions.end()), functions.end());
}

}  // namespace
}  // namespace kashi::relayout
