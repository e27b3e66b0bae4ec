#include "kashi/base/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kashi::base {
namespace {

constexpr size_t kLongest = 64;  // letters that are compared

// The edit distance: the number of insertions, deletions and replacements.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);  // row[j]: between the first i letters of a and the first j of b
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// 0 or 1 if one word contains the other, which has at least three letters; otherwise the edit distance.
size_t Distance(absl::string_view given, absl::string_view word) {
  constexpr size_t kTelling = 3;
  if (given.size() >= kTelling && absl::StrContains(word, given)) return 0;
  if (word.size() >= kTelling && absl::StrContains(given, word)) return 1;
  return EditDistance(given, word);
}

}  // namespace

std::vector<std::string> SimilarWords(absl::string_view given, const std::vector<std::string>& words, size_t most) {
  given = given.substr(0, kLongest);
  const size_t furthest = std::max<size_t>(1, (given.size() + 1) / 3);
  struct Candidate {
    size_t distance;
    bool begins_otherwise;  // of equals, `gather` is better for "gath" than `all-gather`
    const std::string* word;
  };
  std::vector<Candidate> close;
  for (const std::string& word : words) {
    const size_t distance = Distance(given, absl::string_view(word).substr(0, kLongest));
    if (distance <= furthest) close.push_back({distance, !absl::StartsWith(word, given), &word});
  }
  absl::c_stable_sort(close, [](const Candidate& a, const Candidate& b) {
    return std::make_pair(a.distance, a.begins_otherwise) < std::make_pair(b.distance, b.begins_otherwise);
  });
  std::vector<std::string> best;
  for (size_t i = 0; i < std::min(most, close.size()); ++i) best.push_back(*close[i].word);
  return best;
}

std::string DidYouMean(absl::string_view given, const std::vector<std::string>& words) {
  const std::vector<std::string> best = SimilarWords(given, words, 1);
  return best.empty() ? "" : absl::StrCat("; did you mean `", best[0], "`?");
}

}  // namespace kashi::base
