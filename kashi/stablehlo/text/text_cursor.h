// A position in MLIR's text that moves in small steps. There is no token stream: types (`2x3xf32`) and records of
// dialects have lexical rules of their own, and scanning is faster.
//
// Space, tab, line feed, carriage return and comments `// …` separate tokens.
#ifndef KASHI_STABLEHLO_TEXT_TEXT_CURSOR_H_
#define KASHI_STABLEHLO_TEXT_TEXT_CURSOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "kashi/base/text_place.h"

namespace kashi::stablehlo {

namespace text_cursor_internal {
inline constexpr uint8_t kStart = 1;   // begins a word: letter, `_`
inline constexpr uint8_t kInside = 2;  // letter, digit, `_`, `$`, `.`
inline constexpr uint8_t kSuffix = 4;  // of a value's or symbol's name: the same and `-`
inline constexpr uint8_t kDigit = 8;
constexpr std::array<uint8_t, 256> MakeByteClasses() {
  std::array<uint8_t, 256> classes = {};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kStart | kInside | kSuffix;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kStart | kInside | kSuffix;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kInside | kSuffix | kDigit;
  classes['_'] = kStart | kInside | kSuffix;
  classes['$'] = classes['.'] = kInside | kSuffix;
  classes['-'] = kSuffix;
  return classes;
}
inline constexpr std::array<uint8_t, 256> kByteClasses = MakeByteClasses();
inline bool Is(char c, uint8_t byte_class) { return (kByteClasses[static_cast<uint8_t>(c)] & byte_class) != 0; }
}  // namespace text_cursor_internal

class TextCursor : public base::TextPlace<TextCursor> {
 public:
  // Borrows the text.
  explicit TextCursor(absl::string_view text) : TextPlace(text) {}

  // A whole word: `loc` does not match `location`.
  bool MatchWord(absl::string_view word) {
    if (!AtWord(word)) return false;
    at_ += word.size();
    return true;
  }
  bool AtWord(absl::string_view word) {
    SkipSpace();
    return text_.substr(at_, word.size()) == word && !text_cursor_internal::Is(PeekHere(word.size()), kInsideWord);
  }
  bool AtWordStart() { return text_cursor_internal::Is(Peek(), text_cursor_internal::kStart); }
  bool AtDigit() { return text_cursor_internal::Is(Peek(), text_cursor_internal::kDigit); }
  // A word of letters, digits, `_`, `$`, `.`; empty if there is none.
  absl::string_view ReadWord() {
    if (!AtWordStart()) return absl::string_view();
    const size_t begin = at_;
    while (text_cursor_internal::Is(PeekHere(), kInsideWord)) ++at_;
    return Slice(begin);
  }
  // A name directly after `%`, `@`, `#`, `^`: a word, or digits.
  absl::string_view ReadSuffix() {
    const size_t begin = at_;
    while (text_cursor_internal::Is(PeekHere(), text_cursor_internal::kSuffix)) ++at_;
    return Slice(begin);
  }
  // A string with its quotes; empty if there is none or if it does not end on its line.
  absl::string_view ReadQuoted() {
    if (Peek() != '"') return absl::string_view();
    const size_t begin = at_;
    size_t at = begin + 1;
    while (at < text_.size()) {
      const char c = text_[at];
      if (c == '"') {
        at_ = at + 1;
        return Slice(begin);
      }
      if (c == '\n') return absl::string_view();
      at += c == '\\' ? 2 : 1;
    }
    return absl::string_view();
  }
  // The end of the token at this position, for messages.
  size_t TokenEnd() const {
    size_t end = at_;
    while (end < text_.size() && text_cursor_internal::Is(text_[end], text_cursor_internal::kSuffix)) ++end;
    return end == at_ && at_ < text_.size() ? at_ + 1 : end;
  }

 private:
  static constexpr uint8_t kInsideWord = text_cursor_internal::kInside;

  friend class base::TextPlace<TextCursor>;
  bool SkipComment() {
    if (PeekHere(1) != '/') return false;
    const void* found = std::memchr(text_.data() + at_, '\n', text_.size() - at_);
    at_ = found == nullptr ? text_.size() : static_cast<size_t>(static_cast<const char*>(found) - text_.data());
    return true;
  }
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_TEXT_TEXT_CURSOR_H_
