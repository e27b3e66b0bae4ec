#include "kashi/base/arena.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::base {
namespace {

TEST(ArenaTest, PiecesAreAlignedAndDoNotOverlap) {
  Arena arena;
  struct Piece {
    unsigned char* begin;
    size_t size;
  };
  std::vector<Piece> pieces;
  uint32_t random = 1;
  for (int i = 0; i < 5000; ++i) {
    random = random * 1664525 + 1013904223;
    const size_t size = i % 500 == 0 ? 300000 : random >> 24;
    const size_t alignment = size_t{1} << (random >> 16) % 5;
    auto* begin = static_cast<unsigned char*>(arena.Allocate(size, alignment));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(begin) % alignment, 0u);
    std::memset(begin, i % 251, size);
    pieces.push_back({begin, size});
  }
  for (int i = 0; i < 5000; ++i) {
    for (size_t j = 0; j < pieces[i].size; j += 97) ASSERT_EQ(pieces[i].begin[j], i % 251);
  }
}

TEST(ArenaTest, CopiesOutliveTheirOriginals) {
  Arena arena;
  std::string text = "fusion.1";
  const absl::string_view copy = arena.Copy(text);
  text.assign(text.size(), 'x');
  EXPECT_EQ(copy, "fusion.1");
  EXPECT_EQ(arena.Copy(""), "");
}

}  // namespace
}  // namespace kashi::base
