#include "kashi/relayout/simd/nibble_words.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/relayout/simd/highway_targets.h"

#include "hwy/highway.h"

namespace kashi::relayout {
namespace {

using Bytes = std::vector<char>;

constexpr int64_t kMargin = 16;  // bytes around the target that must keep their values

int NibbleAt(const char* bytes, int64_t bit) { return (static_cast<uint8_t>(bytes[bit >> 3]) >> (bit & 7)) & 15; }

void PutNibble(char* bytes, int64_t bit, int value) {
  char& byte = bytes[bit >> 3];
  byte = static_cast<char>((static_cast<uint8_t>(byte) & ~(15 << (bit & 7))) | value << (bit & 7));
}

Bytes RandomBytes(int64_t count, std::mt19937* random) {
  Bytes bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>((*random)()); });
  return bytes;
}

template <typename Check>
void OnEachTarget(Check check) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
}

// Runs of words; the second one lies before the first.
struct Runs {
  Runs(int64_t run, int64_t columns) : run(run), columns(columns) {
    const int64_t runs = (columns + run - 1) / run;
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t at = ((c / run + 1) % runs * (run * kNibbleWordBytes + 3) + c % run * kNibbleWordBytes) * 8;
      bits.push_back(c % run == 0 ? at : INT64_MIN);  // not used
      all_bits.push_back(at);
    }
    bytes = runs * (run * kNibbleWordBytes + 3);
  }
  NibbleWordRuns runs() const { return {bits.data(), run, columns}; }

  int64_t run, columns, bytes;
  std::vector<int64_t> bits, all_bits;
};

std::vector<Runs> ManyRuns() {
  std::vector<Runs> all;
  for (int64_t columns : {1, 2, 3, 31, 32, 33, 62, 63, 64, 65, 100, 127, 128, 129, 200, 255}) {
    for (int64_t run : {2, 6, 32, 64, 70, 128}) {
      if (run < columns) all.push_back(Runs(run, columns));
    }
    all.push_back(Runs(columns, columns));
  }
  return all;
}

// The rows lie at the very end of their memory, so that reading beyond them is found where that is watched.
void CheckInterleave(int64_t slot_bits, const Runs& runs, const int64_t (&phases)[kNibbleRows], int64_t shift,
                     std::mt19937* random) {
  const int64_t columns = runs.columns;
  const int64_t pitch = columns * slot_bits / 8 + 1;
  int64_t bits[kNibbleRows], end = 0;
  for (int64_t r = 0; r < kNibbleRows; ++r) {
    bits[r] = (r + 1) % kNibbleRows * pitch * 8 + phases[r];
    end = std::max(end, (bits[r] + columns * slot_bits + 7) / 8);
  }
  const Bytes from = RandomBytes(end, random), before = RandomBytes(runs.bytes + 2 * kMargin, random);
  Bytes to = before, expected = before;
  char* const words = expected.data() + shift;
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < kNibbleRows; ++r) {
      PutNibble(words, runs.all_bits[c] + 4 * r, NibbleAt(from.data(), bits[r] + c * slot_bits));
    }
  }
  (slot_bits == 8 ? InterleaveNibbleBytes : InterleaveNibbles)(from.data(), bits, runs.runs(), to.data() + shift);
  ASSERT_EQ(to, expected) << columns << " columns, " << runs.run << " in a run, of slots of " << slot_bits
                          << " bits, the first rows begin at " << phases[0] << " and " << phases[1];
}

TEST(NibbleWords, InterleavesOnEachTarget) {
  std::mt19937 random(1);
  OnEachTarget([&] {
    for (const Runs& runs : ManyRuns()) {
      for (int64_t shift : {0, 1, 13}) {
        for (int phases = 0; phases < 4; ++phases) {
          const int64_t a = phases % 2 * 4, b = phases / 2 * 4;
          CheckInterleave(4, runs, {a, b, a, b, a, b, a, b}, shift, &random);
        }
        CheckInterleave(4, runs, {0, 4, 4, 0, 0, 0, 4, 0}, shift, &random);
        CheckInterleave(8, runs, {0, 0, 0, 0, 0, 0, 0, 0}, shift, &random);
      }
    }
  });
}

void CheckDeinterleave(int64_t slot_bits, const Runs& runs, int64_t shift, std::mt19937* random) {
  const int64_t columns = runs.columns;
  const Bytes from = RandomBytes(runs.bytes, random);
  const int64_t pitch = (columns * slot_bits + 7) / 8 + shift;
  const Bytes before = RandomBytes(kNibbleRows * pitch + 2 * kMargin, random);
  Bytes to = before, expected = before;
  char* rows[kNibbleRows];
  for (int64_t r = 0; r < kNibbleRows; ++r) {
    const int64_t at = kMargin + (r + 1) % kNibbleRows * pitch;
    rows[r] = to.data() + at;
    for (int64_t c = 0; c < columns; ++c) {
      const int nibble = NibbleAt(from.data(), runs.all_bits[c] + 4 * r);
      if (slot_bits == 8) {
        expected[at + c] = static_cast<char>(nibble);
      } else {
        PutNibble(expected.data() + at, 4 * c, nibble);
      }
    }
  }
  (slot_bits == 8 ? DeinterleaveNibbleBytes : DeinterleaveNibbles)(from.data(), runs.runs(), rows);
  ASSERT_EQ(to, expected) << columns << " columns, " << runs.run << " in a run, to slots of " << slot_bits << " bits";
}

TEST(NibbleWords, DeinterleavesOnEachTarget) {
  std::mt19937 random(2);
  OnEachTarget([&] {
    for (const Runs& runs : ManyRuns()) {
      for (int64_t shift : {0, 1, 3}) {
        CheckDeinterleave(4, runs, shift, &random);
        CheckDeinterleave(8, runs, shift, &random);
      }
    }
  });
}

}  // namespace
}  // namespace kashi::relayout
