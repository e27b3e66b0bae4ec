#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "kashi/stablehlo/text/text_reader.h"

namespace kashi::stablehlo {
namespace {

absl::string_view AfterComments(absl::string_view text) {
  while (true) {
    text = absl::StripLeadingAsciiWhitespace(text);
    if (!absl::StartsWith(text, "//")) return text;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

}  // namespace

bool BeginsLikeMlirText(absl::string_view bytes) {
  const absl::string_view text = AfterComments(bytes);
  // An alias of an attribute or a type: other texts may begin with these characters too.
  constexpr size_t kEnough = 4096;
  if (absl::StartsWith(text, "#") || absl::StartsWith(text, "!")) {
    return absl::StrContains(text.substr(0, kEnough), "module");
  }
  constexpr absl::string_view kWords[] = {"module", "func.func", "\"builtin.module\""};
  return absl::c_any_of(kWords, [text](absl::string_view word) {
    absl::string_view rest = text;
    return absl::ConsumePrefix(&rest, word) && !rest.empty() && (absl::ascii_isspace(rest[0]) || rest[0] == '(');
  });
}

}  // namespace kashi::stablehlo
