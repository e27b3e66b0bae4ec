// Lines and columns in a text, for many places: one pass over the text, then a binary search for each place.
#ifndef KASHI_STABLEHLO_CONVERSION_TEXT_PLACES_H_
#define KASHI_STABLEHLO_CONVERSION_TEXT_PLACES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kashi/base/diagnostic.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::stablehlo {

class TextPlaces {
 public:
  // Keeps nothing of the text.
  explicit TextPlaces(const SourceText& source) : first_line_(source.first_line) {
    for (size_t at = source.text.find('\n'); at != absl::string_view::npos; at = source.text.find('\n', at + 1)) {
      line_begins_.push_back(at + 1);
    }
  }

  HloTextPlace At(size_t offset) const {
    const auto next = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
    const size_t begin = next == line_begins_.begin() ? 0 : *(next - 1);
    return {static_cast<uint32_t>(first_line_ + (next - line_begins_.begin())),
            static_cast<uint32_t>(offset - begin + 1)};
  }

 private:
  size_t first_line_;
  std::vector<size_t> line_begins_;  // of the lines after the first
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_TEXT_PLACES_H_
