// Any bytes as literal text; the first byte chooses the shape. Reading never ends the process, and printed text reads
// back as the same bytes, except for losses of XLA's text: `-0` reads as 0, and NaN payloads of imaginary parts lose
// bits.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/check.h"
#include "kashi/literal/literal_comparison.h"
#include "kashi/literal/literal_parser.h"

namespace kashi::fuzz {
namespace {

constexpr const char* kShapes[] = {"pred[]",
                                   "pred[3]",
                                   "s4[2,2]",
                                   "u4[2]",
                                   "s8[3]",
                                   "u16[]",
                                   "s32[2,2]{0,1}",
                                   "s32[0]",
                                   "s32[2,0,3]",
                                   "s64[2]",
                                   "u64[2]",
                                   "f64[3]",
                                   "f32[4]",
                                   "f32[2,1,2]{0,2,1}",
                                   "f16[4]",
                                   "bf16[4]",
                                   "f8e5m2[4]",
                                   "f8e4m3[4]",
                                   "f8e4m3fn[4]",
                                   "f8e3m4[4]",
                                   "f8e4m3b11fnuz[4]",
                                   "f8e5m2fnuz[4]",
                                   "f8e4m3fnuz[4]",
                                   "f4e2m1fn[4]",
                                   "f6e2m3fn[4]",
                                   "c64[2]",
                                   "c128[]",
                                   "(s32[2],(f32[],()))",
                                   "()",
                                   "s32[1,1,1,1]",
                                   "f32[1000000]",
                                   "f32[9223372036854775807,3]",
                                   "f32[?]",
                                   "s32[<=2]",
                                   "token[]",
                                   "b(s32[2])",
                                   "s32[2]{1}",
                                   "(s4[2]{0:E(4)},f32[]{:T(8)})"};

Literal Reread(const Literal& literal) {
  const std::string text = literal.ToStringWithoutShapeOneline();
  absl::StatusOr<Literal> again = ParseLiteral(text, literal.shape());
  KASHI_CHECK_OK(again) << text;
  return *std::move(again);
}

void CheckRoundTrip(const Literal& literal) {
  const std::string text = literal.ToStringWithoutShapeOneline();
  const Literal once = Reread(literal);
  const Literal twice = Reread(once);
  KASHI_CHECK_OK(literal_comparison::Equal(once, twice)) << text;
  if (absl::StrContains(text, "-0") || absl::StrContains(text, "nan(")) return;
  KASHI_CHECK_OK(literal_comparison::Equal(literal, once)) << text;
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::StatusOr<kashi::Shape> shape =
      kashi::ParseShape(kashi::fuzz::kShapes[data[0] % std::size(kashi::fuzz::kShapes)]);
  KASHI_CHECK_OK(shape);
  const absl::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  kashi::array::Lexer lexer(text);
  std::vector<kashi::Diagnostic> diagnostics;
  int64_t budget = 1 << 16;
  kashi::LiteralParserOptions options;
  options.unlisted_bytes = &budget;
  const std::optional<kashi::Literal> literal = kashi::ParseLiteralPrefix(&lexer, *shape, options, &diagnostics);
  KASHI_CHECK_EQ(literal.has_value(), diagnostics.empty());
  for (const kashi::Diagnostic& diagnostic : diagnostics) KASHI_CHECK_LE(diagnostic.end, text.size());
  kashi::DiagnosticsToStatus({"literal", text}, diagnostics).IgnoreError();
  if (literal.has_value()) kashi::fuzz::CheckRoundTrip(*literal);
  return 0;
}
