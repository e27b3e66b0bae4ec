// The bytes of HLO text, and the small steps that its reader takes over them. Where a whole token stream would be too
// slow this knows only what the next byte may be; where XLA's tokens decide what is accepted (a number may not touch a
// letter, a name before `=` must not touch it), it decides the same.
#ifndef KASHI_HLO_TEXT_TEXT_SCANNER_H_
#define KASHI_HLO_TEXT_TEXT_SCANNER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace kashi::internal {

namespace text_scanner_internal {
// What a byte may be in an identifier.
inline constexpr uint8_t kStart = 1;
inline constexpr uint8_t kInside = 2;
constexpr std::array<uint8_t, 256> MakeByteClasses() {
  std::array<uint8_t, 256> classes = {};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kStart | kInside;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kStart | kInside;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kInside;
  classes['_'] = kStart | kInside;
  classes['.'] = kInside;
  classes['-'] = kInside;
  return classes;
}
inline constexpr std::array<uint8_t, 256> kByteClasses = MakeByteClasses();
}  // namespace text_scanner_internal

class TextScanner {
 public:
  // Borrows the text.
  explicit TextScanner(absl::string_view text) : text_(text) {}

  absl::string_view text() const { return text_; }
  size_t offset() const { return at_; }
  void Seek(size_t offset) { at_ = offset; }
  absl::string_view Slice(size_t begin) const { return text_.substr(begin, at_ - begin); }

  // Skips space and comments. An unfinished comment stays where it is: nothing begins with `/`.
  void SkipSpace() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c != '/' || !SkipComment()) {
        return;
      }
    }
  }
  bool AtEnd() {
    SkipSpace();
    return at_ >= text_.size();
  }
  // The next byte that is no space; 0 at the end (and for a byte that is 0).
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
  bool Match(absl::string_view word) {
    SkipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  static bool IsIdentStart(char c) {
    return (text_scanner_internal::kByteClasses[static_cast<uint8_t>(c)] & text_scanner_internal::kStart) != 0;
  }
  static bool IsIdentByte(char c) {
    return (text_scanner_internal::kByteClasses[static_cast<uint8_t>(c)] & text_scanner_internal::kInside) != 0;
  }

  // The identifier that begins here, without skipping space; empty if none does.
  absl::string_view ReadIdentHere() {
    const size_t begin = at_;
    if (at_ < text_.size() && IsIdentStart(text_[at_])) {
      ++at_;
      while (at_ < text_.size() && IsIdentByte(text_[at_])) ++at_;
    }
    return Slice(begin);
  }
  absl::string_view ReadIdent() {
    SkipSpace();
    return ReadIdentHere();
  }
  absl::string_view PeekIdent() {
    SkipSpace();
    const size_t begin = at_;
    const absl::string_view ident = ReadIdentHere();
    at_ = begin;
    return ident;
  }

  // An integer token: digits, perhaps behind `-`, that touch nothing that would make another token of it. What fits 64
  // bits without sign is taken and means the same bits with one, as in XLA. nullopt, and nothing consumed, if there is
  // none.
  std::optional<int64_t> ReadInt();
  // A floating point or an integer token, or nan, -nan.
  std::optional<double> ReadDouble();
  // true or false.
  std::optional<bool> ReadBool();
  // A string token as it stands, quotes included; empty, and nothing consumed, if there is none.
  absl::string_view ReadQuoted();
  // From `{` to the `}` that closes it, where braces within "…" do not count; empty, and nothing consumed, if there is
  // no such brace. For JSON, and for what is read by somebody else.
  absl::string_view ReadBraced();
  // From one of `([{` to the bracket that closes it, brackets of all kinds counted and strings and comments skipped;
  // empty, and nothing consumed, if it is never closed.
  absl::string_view ReadBracketed();

 private:
  bool SkipComment();

  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace kashi::internal

#endif  // KASHI_HLO_TEXT_TEXT_SCANNER_H_
