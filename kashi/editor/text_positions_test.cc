#include "kashi/editor/text_positions.h"

#include <random>
#include <string>

#include "gtest/gtest.h"

namespace kashi::editor {
namespace {

TEST(TextPositionsTest, CountsUtf16Units) {
  const std::string text = "a\xc3\xb6\xf0\x9f\x98\x80z\nb";  // a, o umlaut, a face of two units, z
  const TextPositions positions(text);
  EXPECT_EQ(positions.lines(), 2);
  EXPECT_EQ(positions.PositionOf(text.find('z')).column, 4);
  EXPECT_EQ(positions.OffsetOf({0, 4}), text.find('z'));
  EXPECT_EQ(positions.PositionOf(text.find('b')).line, 1);
  EXPECT_EQ(positions.OffsetOf({0, 3}), text.find('\xf0'));  // within the face
}

TEST(TextPositionsTest, PlacesBeyondTheTextAreItsEnds) {
  const TextPositions positions("ab\r\ncd");
  EXPECT_EQ(positions.OffsetOf({0, 99}), 2);
  EXPECT_EQ(positions.OffsetOf({9, 0}), 6);
  EXPECT_EQ(positions.PositionOf(99).line, 1);
  EXPECT_EQ(positions.PositionOf(99).column, 2);
  EXPECT_EQ(TextPositions("").OffsetOf({0, 0}), 0);
}

TEST(TextPositionsTest, LineEndsOfAllSystems) {
  const TextPositions positions("a\rb\r\nc\nd");
  EXPECT_EQ(positions.lines(), 4);
  EXPECT_EQ(positions.OffsetOf({1, 0}), 2);
  EXPECT_EQ(positions.OffsetOf({2, 0}), 5);
  EXPECT_EQ(positions.OffsetOf({3, 0}), 7);
}

TEST(TextPositionsTest, BackAndForthIsTheBeginningOfTheCharacter) {
  std::mt19937 random(11);
  const std::string parts[] = {"a",    "\n",   "\r",  "\r\n", "\xc3\xb6", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                               "\xff", "\xc3", "\x80"};
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (int n = random() % 12; n > 0; --n) text += parts[random() % std::size(parts)];
    const TextPositions positions(text);
    size_t last = 0;
    for (size_t offset = 0; offset <= text.size(); ++offset) {
      const size_t back = positions.OffsetOf(positions.PositionOf(offset));
      EXPECT_LE(back, offset);
      EXPECT_LE(offset - back, 3);
      EXPECT_GE(back, last);
      last = back;
    }
    EXPECT_EQ(last, text.size());
  }
}

}  // namespace
}  // namespace kashi::editor
