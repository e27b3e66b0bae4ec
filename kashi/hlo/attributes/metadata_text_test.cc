#include "kashi/hlo/attributes/metadata_text.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/array/recorded_cases_testing.h"

namespace kashi::hlo {
namespace {

std::string Print(const OpMetadata& metadata) {
  StringPrinter printer;
  PrintMetadata(&printer, metadata);
  return std::move(printer).ToString();
}

// Nothing if the text is refused, or continues after the metadata.
std::optional<OpMetadata> Parse(absl::string_view text) {
  array::Lexer lexer(text);
  OpMetadata metadata;
  std::vector<Diagnostic> diagnostics;
  if (!ParseMetadataPrefix(&lexer, &metadata, &diagnostics)) {
    EXPECT_EQ(diagnostics.size(), 1u) << text;
    EXPECT_LE(diagnostics[0].end, text.size()) << text;
    EXPECT_EQ(lexer.token().begin, text.find_first_not_of(' '));
    return std::nullopt;
  }
  EXPECT_TRUE(diagnostics.empty());
  if (lexer.kind() != array::Token::Kind::kEnd) return std::nullopt;
  return metadata;
}

TEST(MetadataTextTest, AgreesWithXla) {
  for (const auto& row : array::ReadTestData("sharding_cases.tsv")) {
    if (row[0] != "metadata") continue;
    std::optional<OpMetadata> metadata = Parse(row[1]);
    EXPECT_EQ(metadata.has_value(), row[2] == "ok") << row[1];
    if (!metadata.has_value() || row[2] != "ok") continue;
    EXPECT_EQ(Print(*metadata), row[3]) << row[1];
    if (row[3].find("scheduling_name=\"a\"b\"") != std::string::npos) continue;  // printed without escapes
    std::optional<OpMetadata> again = Parse(row[3]);
    ASSERT_TRUE(again.has_value()) << row[3];
    EXPECT_EQ(*again, *metadata);
  }
}

TEST(MetadataTextTest, AllFieldsInOrder) {
  const std::string text =
      "{op_type=\"a\" op_name=\"b\" source_file=\"c\" source_line=1 source_end_line=2 source_column=3 "
      "source_end_column=4 "
      "profile_type={1,2} deduplicated_name=\"d\" scheduling_name=\"s\" stack_frame_id=5 metadata_payload=\"p\"}";
  const OpMetadata metadata = Parse(text).value();
  EXPECT_EQ(metadata.op_name(), "b");
  EXPECT_EQ(metadata.source_end_column(), 4);
  EXPECT_EQ(metadata.stack_frame_id(), 5);
  EXPECT_EQ(metadata.metadata_payload().value(), "p");
  EXPECT_EQ(Print(metadata), text);
}

TEST(MetadataTextTest, WhatAnInstructionPrints) {
  for (absl::string_view text : {"{op_name=\"x\"}", "{op_type=\"x\"}", "{source_file=\"x\"}", "{scheduling_name=\"x\"}",
                                 "{metadata_payload=\"\"}"}) {
    EXPECT_TRUE(IsMetadataPrinted(Parse(text).value())) << text;
  }
  for (absl::string_view text : {"{}", "{source_line=3}", "{profile_type={1}}", "{deduplicated_name=\"x\"}"}) {
    EXPECT_FALSE(IsMetadataPrinted(Parse(text).value())) << text;
  }
}

TEST(MetadataTextTest, StopsBehindTheBrace) {
  array::Lexer lexer("{op_name=\"}\" /*}*/ source_line=7}, rest");
  OpMetadata metadata;
  std::vector<Diagnostic> diagnostics;
  ASSERT_TRUE(ParseMetadataPrefix(&lexer, &metadata, &diagnostics));
  EXPECT_EQ(metadata.op_name(), "}");
  EXPECT_TRUE(lexer.Match(array::Token::Kind::kComma));
  EXPECT_TRUE(lexer.AtIdent("rest"));
}

TEST(MetadataTextTest, CutTextsEndInErrors) {
  const std::string text = "{op_name=\"a\\\"b\" profile_type={1,2}, /* c */ source_line=12}";
  ASSERT_TRUE(Parse(text).has_value());
  for (size_t i = 1; i < text.size(); ++i) EXPECT_FALSE(Parse(text.substr(0, i)).has_value()) << i;
  EXPECT_FALSE(Parse("{op_name=\"a\" /*").has_value());
  EXPECT_FALSE(Parse("{op_name='a\\").has_value());
}

}  // namespace
}  // namespace kashi::hlo
