#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "kashi/base/line_comments.h"
#include "kashi/stablehlo/text/text_reader.h"

namespace kashi::stablehlo {
namespace {

// `#loc1 = …`, `!type = …`: the definition of an attribute's or a type's name. Other texts may begin with these
// characters too.
bool IsAlias(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "#") && !absl::ConsumePrefix(&text, "!")) return false;
  size_t end = 0;
  while (end < text.size() && (absl::ascii_isalnum(text[end]) || absl::string_view("_$.-").find(text[end]) < 4)) ++end;
  return end > 0 && absl::StartsWith(absl::StripLeadingAsciiWhitespace(text.substr(end)), "=");
}

}  // namespace

bool BeginsLikeMlirText(absl::string_view bytes) {
  const absl::string_view text = base::AfterLineComments(bytes);
  if (IsAlias(text)) return true;
  constexpr absl::string_view kWords[] = {"module", "func.func", "\"builtin.module\""};
  return absl::c_any_of(kWords, [text](absl::string_view word) {
    absl::string_view rest = text;
    return absl::ConsumePrefix(&rest, word) && !rest.empty() && (absl::ascii_isspace(rest[0]) || rest[0] == '(');
  });
}

}  // namespace kashi::stablehlo
