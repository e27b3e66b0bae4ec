#include "kashi/stablehlo/conversion/text_places.h"

#include <random>
#include <string>

#include "gtest/gtest.h"

namespace kashi::stablehlo {
namespace {

// Each place is that of FindLineColumn, which counts from the beginning.
TEST(TextPlacesTest, AreThoseOfDiagnostics) {
  constexpr unsigned kSeed = 1;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 50; ++round) {
    std::string text;
    for (unsigned size = random() % 40; size > 0; --size) text.push_back(random() % 4 == 0 ? '\n' : 'x');
    for (const size_t first_line : {1, 7}) {
      const TextPlaces places({"name", text, first_line});
      for (size_t offset = 0; offset <= text.size(); ++offset) {
        const LineColumn want = FindLineColumn(text, offset);
        EXPECT_EQ(places.At(offset).line, want.line + first_line - 1) << text << " at " << offset;
        EXPECT_EQ(places.At(offset).column, want.column) << text << " at " << offset;
      }
    }
  }
}

}  // namespace
}  // namespace kashi::stablehlo
