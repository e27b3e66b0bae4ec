// Where a text begins, for those who guess its kind.
#ifndef KASHI_BASE_LINE_COMMENTS_H_
#define KASHI_BASE_LINE_COMMENTS_H_

#include "absl/strings/string_view.h"

namespace kashi::internal {

// The text after white space and `//` comments.
absl::string_view AfterLineComments(absl::string_view text);

}  // namespace kashi::internal

#endif  // KASHI_BASE_LINE_COMMENTS_H_
