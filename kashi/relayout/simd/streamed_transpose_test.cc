#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include "kashi/relayout/simd/streamed_transpose.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "kashi/relayout/simd/copy_rows.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kLine = 64;
constexpr char kCanary = '\x5a';

// A block in buffers of the exact size: sanitizers see any access beyond them.
struct StreamTrial {
  int64_t element_bytes;
  int64_t rows;
  int64_t overhang;
  int64_t columns;
  bool skips_head;
  bool fills_lines;  // all runs of the target begin with a line
  std::vector<char> source;
  std::vector<int64_t> from_offsets;
  std::vector<char> target;
  std::vector<int64_t> to_offsets;
  char* to;
};

void Draw(std::mt19937_64& random, StreamTrial* trial) {
  const int64_t bytes = trial->element_bytes;
  const auto pick = [&](int64_t low, int64_t high) { return low + static_cast<int64_t>(random() % (high - low + 1)); };
  const int64_t line = kLine / bytes;
  trial->fills_lines = pick(0, 3) == 0;
  trial->rows = trial->fills_lines ? line * pick(1, 6) : pick(line, 6 * line);
  trial->overhang = pick(0, 2) == 0 ? 0 : pick(1, 2 * line);
  trial->columns = pick(16 / bytes, std::max<int64_t>(16 / bytes, 3 * line));
  trial->skips_head = pick(0, 1) == 1;
  const int64_t from_misalignment = pick(0, 70);
  int64_t end = from_misalignment;
  trial->from_offsets.clear();
  for (int64_t r = 0; r < trial->rows + trial->overhang; ++r) {
    trial->from_offsets.push_back(end);
    end += trial->columns * bytes + pick(0, 9);
  }
  trial->source.resize(end);
  for (char& byte : trial->source) byte = static_cast<char>(random());
  // Like a real target: each run is continued by the overhang.
  const int64_t run = (trial->rows + trial->overhang) * bytes;
  const int64_t pitch = trial->fills_lines ? (run + kLine) / kLine * kLine : run + pick(0, 200);
  trial->to_offsets.clear();
  for (int64_t c = 0; c < trial->columns; ++c) trial->to_offsets.push_back(c * pitch);
  trial->target.assign(trial->columns * pitch + 2 * kLine, kCanary);
  char* const begin = trial->target.data();
  trial->to = begin + -reinterpret_cast<uintptr_t>(begin) % kLine + (trial->fills_lines ? 0 : pick(0, 63));
}

// The obvious loop, and which bytes of each run are the block's.
std::vector<char> Expected(const StreamTrial& trial) {
  std::vector<char> expected = trial.target;
  const int64_t bytes = trial.element_bytes;
  for (int64_t c = 0; c < trial.columns; ++c) {
    const char* const to = trial.to + trial.to_offsets[c];
    const auto to_line = [&](int64_t at) {
      return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to + at) % kLine);
    };
    const int64_t begin = trial.skips_head ? to_line(0) : 0;
    const int64_t end = trial.rows * bytes + std::min(to_line(trial.rows * bytes), trial.overhang * bytes);
    for (int64_t at = begin; at < end; ++at) {
      const int64_t row = at / bytes;
      expected[to + at - trial.target.data()] = trial.source[trial.from_offsets[row] + c * bytes + at % bytes];
    }
  }
  return expected;
}

class StreamedTranspose : public ::testing::TestWithParam<std::tuple<int64_t, int64_t>> {
 protected:
  StreamedTranspose() { hwy::SetSupportedTargetsForTest(std::get<0>(GetParam())); }
  ~StreamedTranspose() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_P(StreamedTranspose, WritesItsLines) {
  StreamTrial trial;
  trial.element_bytes = std::get<1>(GetParam());
  const StreamedTransposeFunction function = StreamedTransposeFunctionFor(trial.element_bytes);
  if (function == nullptr) return;  // no vectors
  std::mt19937_64 random(20261124);
  for (int i = 0; i < 2000; ++i) {
    Draw(random, &trial);
    const std::vector<char> expected = Expected(trial);
    const StreamedBlock block = {
        trial.source.data(), trial.from_offsets.data(), trial.rows, trial.overhang, trial.to, trial.to_offsets.data(),
        trial.columns,       trial.skips_head};
    std::vector<char> memory(StreamedScratchBytes(trial.element_bytes) + kLine);
    char* const scratch = memory.data() + -reinterpret_cast<uintptr_t>(memory.data()) % kLine;
    Prefetcher prefetcher({trial.source.data(), trial.from_offsets.data(), trial.rows, kLine, 0, 1},
                          StreamedPortions(block, trial.element_bytes));
    function(block, scratch, &prefetcher);
    StreamFence();
    ASSERT_TRUE(trial.target == expected) << trial.rows << " + " << trial.overhang << " rows x " << trial.columns
                                          << " columns, skips head " << trial.skips_head << ", trial " << i;
  }
}

TEST(StreamedTransposeTest, HasNoFunctionForOtherSizes) {
  EXPECT_EQ(StreamedTransposeFunctionFor(3), nullptr);
  EXPECT_EQ(StreamedTransposeFunctionFor(16), nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, StreamedTranspose,
                         ::testing::Combine(::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                                            ::testing::Values(1, 2, 4, 8)),
                         [](const auto& info) {
                           return absl::StrCat(hwy::TargetName(std::get<0>(info.param)), "_", std::get<1>(info.param));
                         });

}  // namespace
}  // namespace kashi::relayout
