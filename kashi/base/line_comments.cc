#include "kashi/base/line_comments.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace kashi::base {

absl::string_view AfterLineComments(absl::string_view text) {
  while (true) {
    text = absl::StripLeadingAsciiWhitespace(text);
    if (!absl::StartsWith(text, "//")) return text;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

}  // namespace kashi::base
