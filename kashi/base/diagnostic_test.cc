#include "kashi/base/diagnostic.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::base {
namespace {

Diagnostic Error(size_t begin, size_t end, std::string message) {
  return {Diagnostic::Severity::kError, begin, end, std::move(message)};
}

TEST(DiagnosticTest, FindsLineAndColumn) {
  const absl::string_view text = "ab\ncd\n\nef";
  const auto at = [&](size_t offset) {
    const LineColumn found = FindLineColumn(text, offset);
    return std::make_pair(found.line, found.column);
  };
  EXPECT_EQ(at(0), std::make_pair(size_t{1}, size_t{1}));
  EXPECT_EQ(at(2), std::make_pair(size_t{1}, size_t{3}));
  EXPECT_EQ(at(3), std::make_pair(size_t{2}, size_t{1}));
  EXPECT_EQ(at(6), std::make_pair(size_t{3}, size_t{1}));
  EXPECT_EQ(at(9), std::make_pair(size_t{4}, size_t{3}));
  EXPECT_EQ(at(99), std::make_pair(size_t{4}, size_t{3}));
}

TEST(DiagnosticTest, RendersLineAndCaret) {
  EXPECT_EQ(RenderDiagnostic({"m.hlo", "one\ntwo three\nfour"}, Error(8, 13, "no such number")),
            "m.hlo:2:5: error: no such number\n"
            "two three\n"
            "    ^~~~~");
}

TEST(DiagnosticTest, CountsFromTheFirstLineOfAPart) {
  EXPECT_EQ(RenderDiagnostic({"<stdin>", "x", 17}, Error(0, 1, "bad")), "<stdin>:17:1: error: bad\nx\n^");
}

TEST(DiagnosticTest, PointsBehindTheEndOfText) {
  EXPECT_EQ(RenderDiagnostic({"s", "f32"}, Error(3, 3, "expected `[`")), "s:1:4: error: expected `[`\nf32\n   ^");
}

TEST(DiagnosticTest, CaretEndsWithTheLine) {
  EXPECT_EQ(RenderDiagnostic({"s", "ab\ncd"}, Error(1, 5, "long")), "s:1:2: error: long\nab\n ^");
}

TEST(DiagnosticTest, HidesControlBytes) {
  EXPECT_EQ(RenderDiagnostic({"s", "a\tb\x1b[1m"}, Error(2, 3, "m")), "s:1:3: error: m\na b [1m\n  ^");
}

TEST(DiagnosticTest, ShowsNoBytesThatAreNoText) {
  EXPECT_EQ(RenderDiagnostic({"s", "\x89PNG x"}, Error(5, 6, "got `\xff`")),
            "s:1:6: error: got `\uFFFD`\n\uFFFDPNG x\n     ^");
}

TEST(DiagnosticTest, CountsCharactersForTheCaretAndBytesForTheColumn) {
  EXPECT_EQ(RenderDiagnostic({"s", "/*\xc3\xa9*/x"}, Error(6, 7, "m")), "s:1:7: error: m\n/*\xc3\xa9*/x\n     ^");
  EXPECT_EQ(RenderDiagnostic({"s", "a\xc3\xa9z"}, Error(1, 4, "m")), "s:1:2: error: m\na\xc3\xa9z\n ^~");
}

TEST(DiagnosticTest, CutsALongLineAroundTheCaret) {
  const std::string text = std::string(500, 'a') + "!" + std::string(500, 'b');
  const std::string shown = RenderDiagnostic({"s", text}, Error(500, 501, "m"));
  EXPECT_LT(shown.size(), 300);
  const size_t line = shown.find('\n') + 1;
  const size_t carets = shown.find('\n', line) + 1;
  EXPECT_EQ(shown[line + shown.find('^', carets) - carets], '!');
}

TEST(DiagnosticTest, StatusHoldsTheErrorsOnly) {
  Diagnostic warning = Error(0, 1, "careful");
  warning.severity = Diagnostic::Severity::kWarning;
  EXPECT_TRUE(DiagnosticsToStatus({"s", "x"}, {warning}).ok());
  const absl::Status status = DiagnosticsToStatus({"s", "xy"}, {warning, Error(0, 1, "one"), Error(1, 2, "two")});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "s:1:1: error: one\nxy\n^\ns:1:2: error: two\nxy\n ^");
}

}  // namespace
}  // namespace kashi::base
