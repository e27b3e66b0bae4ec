#include "kashi/editor/text_positions.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"

namespace kashi::editor {
namespace {

struct Character {
  size_t bytes = 1;
  size_t units = 1;
};

// The character that begins at the first byte of `text`, which is not empty.
Character FirstCharacter(absl::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t bytes = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (bytes > text.size()) return {};
  for (size_t i = 1; i < bytes; ++i) {
    if ((static_cast<uint8_t>(text[i]) & 0xc0) != 0x80) return {};
  }
  return {bytes, bytes == 4 ? size_t{2} : size_t{1}};
}

}  // namespace

TextPositions::TextPositions(absl::string_view text) : text_(text), line_begins_{0} {
  constexpr absl::string_view kLineEnds = "\r\n";
  for (size_t at = text.find_first_of(kLineEnds); at != absl::string_view::npos;
       at = text.find_first_of(kLineEnds, at)) {
    at += absl::StartsWith(text.substr(at), kLineEnds) ? 2 : 1;
    line_begins_.push_back(at);
  }
}

TextPosition TextPositions::PositionOf(size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
  TextPosition position;
  position.line = next - line_begins_.begin() - 1;
  for (size_t at = line_begins_[position.line]; at < offset;) {
    const Character character = FirstCharacter(text_.substr(at));
    if (at + character.bytes > offset) break;
    at += character.bytes;
    position.column += character.units;
  }
  return position;
}

size_t TextPositions::OffsetOf(TextPosition position) const {
  if (position.line >= line_begins_.size()) return text_.size();
  size_t at = line_begins_[position.line];
  size_t column = 0;
  while (at < text_.size() && text_[at] != '\n' && text_[at] != '\r' && column < position.column) {
    const Character character = FirstCharacter(text_.substr(at));
    column += character.units;
    if (column > position.column) break;
    at += character.bytes;
  }
  return at;
}

}  // namespace kashi::editor
