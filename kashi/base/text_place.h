// A place in a text that moves in small steps, for readers without a token stream. HLO's (hlo/text/text_scanner.h) and
// MLIR's (stablehlo/text/text_cursor.h) add their own words and comments.
//
// Space, tab, line feed and carriage return separate tokens, and so do comments: Derived::SkipComment, called at a `/`,
// moves behind a comment and returns true, or returns false and stays.
#ifndef KASHI_BASE_TEXT_PLACE_H_
#define KASHI_BASE_TEXT_PLACE_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace kashi::base {

template <typename Derived>
class TextPlace {
 public:
  absl::string_view text() const { return text_; }
  size_t offset() const { return at_; }
  void Seek(size_t offset) { at_ = offset; }
  absl::string_view Slice(size_t begin) const { return text_.substr(begin, at_ - begin); }

  void SkipSpace() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c != '/' || !static_cast<Derived*>(this)->SkipComment()) {
        return;
      }
    }
  }
  bool AtEnd() {
    SkipSpace();
    return at_ >= text_.size();
  }
  // The next byte that is not a space; 0 at the end (and for a byte that is 0).
  char Peek() {
    SkipSpace();
    return PeekHere();
  }
  // The next byte, space or not.
  char PeekHere(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool Match(char c) {
    if (Peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  // These bytes, also if more letters follow.
  bool Match(absl::string_view bytes) {
    SkipSpace();
    if (text_.substr(at_, bytes.size()) != bytes) return false;
    at_ += bytes.size();
    return true;
  }

 protected:
  // Borrows the text.
  explicit TextPlace(absl::string_view text) : text_(text) {}

  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace kashi::base

#endif  // KASHI_BASE_TEXT_PLACE_H_
