#include "kashi/hlo/attributes/string_escapes.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/escaping.h"

namespace kashi::hlo {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighBits = 0x8080808080808080;

// The high bit of every byte of `word` that is zero. Bytes above a zero byte may be marked wrongly, so this only tells
// whether there is any.
constexpr uint64_t ZeroBytes(uint64_t word) { return (word - kOnes) & ~word & kHighBits; }

// Checks eight bytes at a time; the result is not zero if one of them must be escaped.
constexpr uint64_t BytesToEscape(uint64_t word) {
  const uint64_t control = (word - kOnes * 0x20) & ~word & kHighBits;
  return (word & kHighBits) | control | ZeroBytes(word ^ kOnes * 0x7f) | ZeroBytes(word ^ kOnes * '"') |
         ZeroBytes(word ^ kOnes * '\'') | ZeroBytes(word ^ kOnes * '\\');
}

}  // namespace

bool NeedsCEscape(absl::string_view text) {
  const char* data = text.data();
  size_t left = text.size();
  for (; left >= 8; data += 8, left -= 8) {
    uint64_t word = 0;
    std::memcpy(&word, data, 8);
    if (BytesToEscape(word) != 0) return true;
  }
  uint64_t word = kOnes * 'a';
  std::memcpy(&word, data, left);
  return BytesToEscape(word) != 0;
}

std::string CEscaped(absl::string_view text) { return NeedsCEscape(text) ? absl::CEscape(text) : std::string(text); }

void AppendCEscaped(Printer* printer, absl::string_view text) {
  if (NeedsCEscape(text)) {
    printer->Append(absl::CEscape(text));
  } else {
    printer->Append(text);
  }
}

bool CUnescapeTo(absl::string_view escaped, std::string* text) {
  if (escaped.find('\\') != absl::string_view::npos) return absl::CUnescape(escaped, text);
  text->assign(escaped.data(), escaped.size());
  return true;
}

}  // namespace kashi::hlo
