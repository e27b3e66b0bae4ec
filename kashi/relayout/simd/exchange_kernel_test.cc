#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include "kashi/relayout/simd/exchange_kernel.h"

#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "kashi/relayout/simd/copy_rows.h"

namespace kashi::relayout {
namespace {

struct Case {
  int64_t element_bytes;
  int64_t word_elements;
  int64_t words;
  int64_t targets;
  int64_t to_gap;  // between rows of the target
  int64_t to_shift;
  bool past_caches;
};

void PrintTo(const Case& c, std::ostream* os) {
  *os << c.words << " words of " << c.word_elements << " x " << c.element_bytes << " bytes, " << c.targets
      << " rows, gap " << c.to_gap << ", " << c.to_shift << " bytes off, past_caches " << c.past_caches;
}

// The formula of the header, and the source in a buffer of just the size: the last element that is wanted ends it.
::testing::AssertionResult Moves(const Case& c, std::mt19937_64& random) {
  const int64_t word = c.element_bytes * c.word_elements, bytes = word * c.words;
  const int64_t from_stride = bytes + random() % 5, to_stride = bytes + c.to_gap;
  std::vector<char> from((c.word_elements - 1) * from_stride + bytes - word + c.targets * c.element_bytes);
  for (char& byte : from) byte = static_cast<char>(random());
  std::vector<char> memory(64 + c.to_shift + (c.targets - 1) * to_stride + bytes, '\x5a');
  const int64_t to_line = -reinterpret_cast<uintptr_t>(memory.data()) & 63;
  std::vector<char> expected = memory;
  for (int64_t k = 0; k < c.words; ++k) {
    for (int64_t s = 0; s < c.word_elements; ++s) {
      for (int64_t t = 0; t < c.targets; ++t) {
        std::memcpy(&expected[to_line + c.to_shift + t * to_stride + k * word + s * c.element_bytes],
                    &from[s * from_stride + k * word + t * c.element_bytes], c.element_bytes);
      }
    }
  }
  ExchangeFunctionFor(c.element_bytes, c.word_elements)(
      {from.data(), from_stride, memory.data() + to_line + c.to_shift, to_stride, c.targets, bytes}, c.past_caches);
  StreamFence();
  if (memory == expected) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << ::testing::PrintToString(c);
}

TEST(ExchangeKernel, MovesAllSizesOnEachTarget) {
  std::mt19937_64 random(1);
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (int64_t bytes : {1, 2, 4, 8}) {
      for (int64_t elements : {2, 4}) {
        if (ExchangeFunctionFor(bytes, elements) == nullptr) continue;
        for (int64_t words : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 100, 128, 1000, 3000}) {
          for (int64_t targets = 1; targets <= elements; ++targets) {
            for (const bool past_caches : {false, true}) {
              const int64_t to_line = -(words * elements * bytes) & 63;
              ASSERT_TRUE(Moves({bytes, elements, words, targets, to_line, 0, past_caches}, random));
              ASSERT_TRUE(Moves({bytes, elements, words, targets, 3, 1, past_caches}, random));
              ASSERT_TRUE(Moves({bytes, elements, words, targets, to_line, 32, past_caches}, random));
            }
          }
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(ExchangeKernel, HasWordsOfUpToSixteenBytes) {
  for (int64_t bytes : {1, 2, 4, 8}) EXPECT_NE(ExchangeFunctionFor(bytes, 2), nullptr) << bytes;
  for (int64_t bytes : {1, 2, 4}) EXPECT_NE(ExchangeFunctionFor(bytes, 4), nullptr) << bytes;
  EXPECT_EQ(ExchangeFunctionFor(8, 4), nullptr);
  EXPECT_EQ(ExchangeFunctionFor(16, 2), nullptr);
  EXPECT_EQ(ExchangeFunctionFor(3, 2), nullptr);
  for (int64_t elements : {0, 1, 3, 8}) EXPECT_EQ(ExchangeFunctionFor(2, elements), nullptr) << elements;
}

}  // namespace
}  // namespace kashi::relayout
