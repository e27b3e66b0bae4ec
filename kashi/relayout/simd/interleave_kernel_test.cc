#include "kashi/relayout/simd/interleave_kernel.h"

#include <cstring>
#include <new>
#include <random>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/highway_targets.h"

#include "hwy/highway.h"

namespace kashi::relayout {
namespace {

constexpr char kCanary = '\x5a';
constexpr int64_t kLine = 64;

// Memory of the exact size, `shift` bytes behind the beginning of a cache line: sanitizers see any access
// beyond it.
class Memory {
 public:
  Memory(int64_t bytes, int64_t shift)
      : memory_(static_cast<char*>(::operator new(shift + bytes, kAligned))), shift_(shift), bytes_(bytes) {
    std::memset(memory_, kCanary, shift + bytes);
  }
  ~Memory() { ::operator delete(memory_, kAligned); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  char* begin() { return memory_ + shift_; }
  absl::Span<char> All() { return {memory_, static_cast<size_t>(shift_ + bytes_)}; }

 private:
  static constexpr std::align_val_t kAligned{kLine};

  char* memory_;
  int64_t shift_;
  int64_t bytes_;
};

struct InterleaveCase {
  int64_t element_bytes;
  int64_t rows;
  int64_t columns;
  int64_t gap;  // between rows
  int64_t from_shift;
  int64_t to_shift;
  bool is_back;
  bool streams;
};

std::string ToString(const InterleaveCase& c) {
  return absl::StrCat(c.is_back ? "run to " : "", c.rows, " rows of ", c.columns, " elements of ", c.element_bytes,
                      " bytes, ", c.gap, " bytes apart, shifts ", c.from_shift, " and ", c.to_shift,
                      c.streams ? ", past the caches" : "");
}

// Two by three interleavings, with a gap between neighbours.
struct Sides {
  explicit Sides(const InterleaveCase& c) {
    const int64_t row = c.columns * c.element_bytes, stride = row + c.gap, run = c.rows * row;
    const InterleaveJob::Repeat of_rows[] = {{2, 0, c.rows * stride}, {3, 0, 2 * c.rows * stride}};
    const InterleaveJob::Repeat of_run[] = {{2, 0, run + 1}, {3, 0, 2 * run + 2 + c.gap}};
    const auto& from = c.is_back ? of_run : of_rows;
    const auto& to = c.is_back ? of_rows : of_run;
    job.inner = {2, from[0].to, to[0].to};
    job.outer = {3, from[1].to, to[1].to};
    job.columns = c.columns;
    job.row_stride = stride;
    const int64_t rows_end = (c.rows - 1) * stride + row;
    from_bytes = job.inner.from + 2 * job.outer.from + (c.is_back ? run : rows_end);
    to_bytes = job.inner.to + 2 * job.outer.to + (c.is_back ? rows_end : run);
  }
  InterleaveJob job;
  int64_t from_bytes;
  int64_t to_bytes;
};

// The obvious loop.
void MoveElements(const InterleaveCase& c, const InterleaveJob& job) {
  const int64_t bytes = c.element_bytes;
  for (int64_t i = 0; i < job.inner.count * job.outer.count; ++i) {
    const int64_t outer = i / job.inner.count, inner = i % job.inner.count;
    const char* const from = job.from + outer * job.outer.from + inner * job.inner.from;
    char* const to = job.to + outer * job.outer.to + inner * job.inner.to;
    for (int64_t r = 0; r < c.rows; ++r) {
      for (int64_t column = 0; column < c.columns; ++column) {
        const int64_t in_rows = r * job.row_stride + column * bytes, in_run = (column * c.rows + r) * bytes;
        std::memcpy(to + (c.is_back ? in_rows : in_run), from + (c.is_back ? in_run : in_rows), bytes);
      }
    }
  }
}

::testing::AssertionResult Moves(const InterleaveCase& c, std::mt19937_64& random) {
  const Sides sides(c);
  Memory from(sides.from_bytes, c.from_shift), to(sides.to_bytes, c.to_shift), expected(sides.to_bytes, c.to_shift);
  for (char& byte : from.All()) byte = static_cast<char>(random());
  InterleaveJob job = sides.job;
  job.from = from.begin();
  job.to = expected.begin();
  MoveElements(c, job);
  job.to = to.begin();
  const InterleaveFunctions functions = InterleaveFunctionsFor(c.element_bytes, c.rows);
  if (c.is_back) {
    (c.streams ? functions.stream_deinterleaved : functions.deinterleave)(job);
  } else {
    (c.streams ? functions.stream_interleaved : functions.interleave)(job);
  }
  StreamFence();
  if (to.All() == expected.All()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << ToString(c);
}

class InterleaveKernel : public ::testing::TestWithParam<std::tuple<int64_t, int64_t>> {
 protected:
  InterleaveKernel() { hwy::SetSupportedTargetsForTest(std::get<0>(GetParam())); }
  ~InterleaveKernel() override { hwy::SetSupportedTargetsForTest(0); }
  int64_t element_bytes() const { return std::get<1>(GetParam()); }

  // Moves in both directions, within the caches and past them.
  void ExpectMoves(int64_t rows, int64_t columns, int64_t gap, int64_t from_shift, int64_t to_shift) {
    for (const bool is_back : {false, true}) {
      for (const bool streams : {false, true}) {
        ASSERT_TRUE(Moves({element_bytes(), rows, columns, gap, from_shift, to_shift, is_back, streams}, random_));
      }
    }
  }

  std::mt19937_64 random_{1};
};

TEST_P(InterleaveKernel, AllShortRows) {
  const int64_t least = kLeastInterleavedRow / element_bytes();
  for (int64_t rows = 2; rows <= kMostInterleavedRows; ++rows) {
    for (int64_t columns = least; columns <= 5 * least + 1; ++columns) {
      const int64_t to_lines = -columns * element_bytes() & (kLine - 1);  // rows that begin alike
      for (const int64_t gap : {int64_t{0}, int64_t{3}, to_lines}) {
        ExpectMoves(rows, columns, gap, random_() % kLine, random_() % 2 == 0 ? 0 : random_() % kLine);
      }
    }
  }
}

TEST_P(InterleaveKernel, AllShifts) {
  for (int64_t rows = 2; rows <= kMostInterleavedRows; ++rows) {
    for (int64_t shift = 0; shift < kLine; ++shift) {
      ExpectMoves(rows, 3 * kLine / element_bytes(), 0, random_() % kLine, shift);
      ExpectMoves(rows, 200, -200 * element_bytes() & (kLine - 1), random_() % kLine, shift);
    }
  }
}

std::string TargetAndSize(const ::testing::TestParamInfo<InterleaveKernel::ParamType>& info) {
  return absl::StrCat(hwy::TargetName(std::get<0>(info.param)), "_", std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, InterleaveKernel,
                         ::testing::Combine(::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                                            ::testing::Values(1, 2, 4, 8, 16)),
                         TargetAndSize);

TEST(InterleaveFunctionsForTest, OthersHaveNone) {
  for (int64_t bytes : {0, 3, 6, 12, 32}) EXPECT_EQ(InterleaveFunctionsFor(bytes, 2).interleave, nullptr) << bytes;
  for (int64_t rows : {0, 1, 9, 16}) EXPECT_EQ(InterleaveFunctionsFor(4, rows).interleave, nullptr) << rows;
}

}  // namespace
}  // namespace kashi::relayout
