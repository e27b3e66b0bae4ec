#include "kashi/gpu_calls/json_value.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::gpu_calls {
namespace {

using ::testing::HasSubstr;

// The value in one spelling.
std::string Print(const JsonValue& value) {
  std::string text;
  switch (value.kind()) {
    case JsonValue::Kind::kObject:
    case JsonValue::Kind::kArray:
      for (const JsonValue& element : value.elements()) absl::StrAppend(&text, text.empty() ? "" : " ", Print(element));
      return absl::StrCat(value.is_object() ? "{" : "[", text, value.is_object() ? "}" : "]");
    case JsonValue::Kind::kString:
      return absl::StrCat("'", value.text(), "'");
    case JsonValue::Kind::kNull:
      return "null";
    default:
      return value.text();
  }
}
std::string Read(absl::string_view text) {
  const absl::StatusOr<JsonValue> value = JsonValue::Parse(text);
  return value.ok() ? Print(*value) : std::string(value.status().message());
}

TEST(JsonValueTest, Values) {
  EXPECT_EQ(Read("1"), "1");
  EXPECT_EQ(Read(" -0.5e+10 "), "-0.5e+10");
  EXPECT_EQ(Read("[true,false,null,\"\"]"), "[true false null '']");
  EXPECT_EQ(Read("{\"a\":{\"b\":[1, 2]},\n\t\"c\":\"d\"}"), "{{[1 2]} 'd'}");
  EXPECT_EQ(Read("{}"), "{}");
  EXPECT_EQ(Read("[]"), "[]");
  EXPECT_EQ(Read(R"("\"\\\/\n\u0041\u00e9\u20AC")"), "'\"\\/\nAé€'");
}

TEST(JsonValueTest, KeysAreFound) {
  const absl::StatusOr<JsonValue> value = JsonValue::Parse(R"({"a":1,"b":2,"a":3})");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->Find("a")->text(), "3");  // the last one, as in protobuf
  EXPECT_EQ(value->Find("c"), nullptr);
  EXPECT_EQ(JsonValue::Parse("[1]")->Find("a"), nullptr);
}

TEST(JsonValueTest, ErrorsNameThePlace) {
  EXPECT_EQ(Read(""), "JSON: expected a value at byte 0");
  EXPECT_EQ(Read("{\"a\" 1}"), "JSON: expected ':' at byte 5");
  EXPECT_EQ(Read("{a:1}"), "JSON: expected a key at byte 1");
  EXPECT_EQ(Read("[1 2]"), "JSON: expected ',' or ']' at byte 3");
  EXPECT_EQ(Read("{\"a\":1"), "JSON: expected ',' or '}' at byte 6");
  EXPECT_EQ(Read("1 2"), "JSON: expected the end at byte 2");
  EXPECT_EQ(Read("\"a"), "JSON: expected '\"' at byte 2");
  EXPECT_EQ(Read("\"\\x\""), "JSON: expected an escape at byte 2");
  EXPECT_EQ(Read("\"\\u12g4\""), "JSON: expected four hexadecimal digits at byte 2");
  for (const char* number : {"01", "1.", ".5", "1e", "+1", "NaN", "--1", "0x10"}) {
    EXPECT_THAT(Read(number), HasSubstr("expected a value")) << number;
  }
}

TEST(JsonValueTest, DepthHasALimit) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(JsonValue::Parse(nested(JsonValue::kMaxDepth)).ok());
  EXPECT_EQ(Read(nested(JsonValue::kMaxDepth + 2)), "JSON: more than 64 levels");
  EXPECT_EQ(Read(std::string(1 << 20, '[')), "JSON: more than 64 levels");
}

}  // namespace
}  // namespace kashi::gpu_calls
