#include "kashi/hlo/attributes/string_escapes.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace kashi::hlo {
namespace {

std::string Unescaped(absl::string_view escaped) {
  std::string text;
  return CUnescapeTo(escaped, &text) ? text : "refused";
}

TEST(StringEscapesTest, EscapesAsXlaDoes) {
  EXPECT_EQ(CEscaped(""), "");
  EXPECT_EQ(CEscaped("jit(f)/dot_general[x=1]{}<>|~^`$%&"), "jit(f)/dot_general[x=1]{}<>|~^`$%&");
  EXPECT_EQ(CEscaped("a\"b\\c\n\xc3\xa9"), "a\\\"b\\\\c\\n\\303\\251");
  EXPECT_EQ(CEscaped("it's\t\r"), "it\\'s\\t\\r");
  EXPECT_EQ(CEscaped(absl::string_view("\0\x01\x1f\x7f\x07", 5)), "\\000\\001\\037\\177\\007");
}

TEST(StringEscapesTest, EveryByteAtEveryPlaceOfAWord) {
  for (int byte = 0; byte < 256; ++byte) {
    for (size_t place = 0; place < 19; ++place) {
      std::string text(19, 'x');
      text[place] = static_cast<char>(byte);
      EXPECT_EQ(NeedsCEscape(text), absl::CEscape(text) != text) << byte << " at " << place;
      EXPECT_EQ(CEscaped(text), absl::CEscape(text));
      EXPECT_EQ(Unescaped(CEscaped(text)), text);
      StringPrinter printer;
      AppendCEscaped(&printer, text);
      EXPECT_EQ(std::move(printer).ToString(), CEscaped(text));
    }
  }
}

TEST(StringEscapesTest, UnescapesAsXlaDoes) {
  EXPECT_EQ(Unescaped("plain"), "plain");
  EXPECT_EQ(Unescaped("\\xc3\\xa9\\303\\251\\u00e9\\U000000e9"), "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9");
  EXPECT_EQ(Unescaped("\\?\\a\\b\\f\\v\\1\\12"), "?\a\b\f\v\1\n");
  EXPECT_EQ(Unescaped("\\x01f"), "\x1f");
  for (absl::string_view bad : {"\\q", "\\400", "\\x100", "\\x", "\\8", "a\\"})
    EXPECT_EQ(Unescaped(bad), "refused") << bad;
}

}  // namespace
}  // namespace kashi::hlo
