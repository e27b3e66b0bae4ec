// "Did you mean …?" for unknown words.
#ifndef KASHI_BASE_SUGGEST_H_
#define KASHI_BASE_SUGGEST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kashi::base {

// At most `most` words that are similar to the given one, the most similar first: words that contain it, then by edit
// distance. O(letters of all words * letters of one).
std::vector<std::string> SimilarWords(absl::string_view given, const std::vector<std::string>& words, size_t most);

// "; did you mean `shape`?", or "" if no word is similar.
std::string DidYouMean(absl::string_view given, const std::vector<std::string>& words);

}  // namespace kashi::base

#endif  // KASHI_BASE_SUGGEST_H_
