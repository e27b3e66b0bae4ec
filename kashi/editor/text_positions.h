// Places in a text as editors count them: lines from 0, which \n, \r\n or \r end, and columns in UTF-16 units.
//
//   bytes      f  o  o  \n ö     =        the `=` is byte 7: line 1, column 2
//
// A byte that belongs to no valid UTF-8 sequence counts as one unit.
#ifndef KASHI_EDITOR_TEXT_POSITIONS_H_
#define KASHI_EDITOR_TEXT_POSITIONS_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

namespace kashi::editor {

struct TextPosition {
  size_t line = 0;
  size_t column = 0;
};

class TextPositions {
 public:
  // Borrows the text. O(text).
  explicit TextPositions(absl::string_view text);

  // O(log lines + line). An offset beyond the text is its end.
  TextPosition PositionOf(size_t offset) const;
  // The byte of a position. A column beyond its line is the line's end, and a line beyond the text the text's end. A
  // position within a character is its beginning.
  size_t OffsetOf(TextPosition position) const;
  size_t lines() const { return line_begins_.size(); }

 private:
  absl::string_view text_;
  std::vector<size_t> line_begins_;
};

}  // namespace kashi::editor

#endif  // KASHI_EDITOR_TEXT_POSITIONS_H_
