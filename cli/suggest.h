// "Did you mean …?" for words that are wrong.
#ifndef KASHI_CLI_SUGGEST_H_
#define KASHI_CLI_SUGGEST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kashi::internal::cli {

// The words that are closest to the given one, closest first, at most `most`: those that contain it, then by the letters
// to put in, take out or exchange. Only words that are close enough to be meant. O(letters of all words * letters of one).
std::vector<std::string> SimilarWords(absl::string_view given, const std::vector<std::string>& words, size_t most);

// "; did you mean `shape`?", or "" if no word is close.
std::string DidYouMean(absl::string_view given, const std::vector<std::string>& words);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_SUGGEST_H_
