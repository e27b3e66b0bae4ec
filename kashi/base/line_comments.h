// Skips comments at the beginning of a text, for code that guesses the text's kind.
#ifndef KASHI_BASE_LINE_COMMENTS_H_
#define KASHI_BASE_LINE_COMMENTS_H_

#include "absl/strings/string_view.h"

namespace kashi::base {

// The text after white space and `//` comments.
absl::string_view AfterLineComments(absl::string_view text);

}  // namespace kashi::base

#endif  // KASHI_BASE_LINE_COMMENTS_H_
