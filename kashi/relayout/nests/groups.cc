#include "kashi/relayout/nests/groups.h"

#include <algorithm>

#include "kashi/base/math.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kMostBytes = 64;  // of a padded group
constexpr int64_t kMostWordBits = 128;

bool IsWholeDimension(const DigitDimension& dimension) {
  return dimension.start == 0 && dimension.size == dimension.whole;
}

// The number of elements of the dimension in a word of the tiled side; 1 if it has no such words.
int64_t WordElements(const DigitDimension& tiled, int64_t slot_bits) {
  if (!IsWholeDimension(tiled) || tiled.digits[0].stride != slot_bits) return 1;
  const int64_t elements = tiled.digits.size() > 1 ? tiled.digits[1].step : tiled.padded;
  return IsPowerOf2(elements * slot_bits) && elements * slot_bits <= kMostWordBits ? elements : 1;
}

bool HasPartsOfWords(const Digits& tiled) {
  return std::any_of(tiled.dimensions.begin(), tiled.dimensions.end(), [&](const DigitDimension& dimension) {
    return dimension.size % WordElements(dimension, tiled.slot_bits) != 0;
  });
}

// Whether the elements of dimension d are groups, one after the other.
bool HasGroups(const Digits& dense, size_t d, int64_t group_bits) {
  const DigitDimension& grouped = dense.dimensions[d];
  if (!IsWholeDimension(grouped) || grouped.padded != grouped.whole || grouped.digits.size() > 1) return false;
  if (grouped.size > 1 && grouped.digits[0].stride != dense.slot_bits) return false;
  bool is_whole = dense.base % group_bits == 0;
  for (size_t i = 0; i < dense.dimensions.size(); ++i) {
    for (const Digit& digit : dense.dimensions[i].digits) {
      is_whole = is_whole && (i == d || digit.stride % group_bits == 0);
    }
  }
  return is_whole;
}

// Gives each group of the dense side room for `size` elements, and the dimension as many.
void Pad(size_t d, int64_t size, Digits* dense, Digits* tiled) {
  const int64_t packed = dense->dimensions[d].size;
  for (size_t i = 0; i < dense->dimensions.size(); ++i) {
    for (Digit& digit : dense->dimensions[i].digits) {
      digit.stride = i == d ? dense->slot_bits : digit.stride / packed * size;
    }
  }
  dense->base = dense->base / packed * size;
  DigitDimension& grouped = dense->dimensions[d];
  grouped.size = grouped.whole = grouped.padded = size;
  tiled->dimensions[d].size = tiled->dimensions[d].whole = size;
}

// Pads the first dimension that has words on the tiled side which it does not fill.
Groups PadGroups(Digits* dense, Digits* tiled) {
  const int64_t slot = dense->slot_bits;
  for (size_t d = 0; d < std::min(dense->dimensions.size(), tiled->dimensions.size()); ++d) {
    const int64_t size = dense->dimensions[d].size, word = WordElements(tiled->dimensions[d], slot);
    if (size % word == 0) continue;
    const int64_t padded = RoundUpTo(size, word);
    if (padded * slot > 8 * kMostBytes || !HasGroups(*dense, d, size * slot)) continue;
    Pad(d, padded, dense, tiled);
    return {size * slot / 8, padded * slot / 8};
  }
  return {};
}

}  // namespace

std::optional<GroupedDigits> GroupsOf(const Digits& from, const Digits& to, bool fills_padding) {
  if (from.slot_bits % 8 != 0 || (!HasPartsOfWords(from) && !HasPartsOfWords(to))) return std::nullopt;
  GroupedDigits grouped = {from, to, {}, {}};
  if (fills_padding) grouped.from_groups = PadGroups(&grouped.from, &grouped.to);
  if (!grouped.from_groups.any()) grouped.to_groups = PadGroups(&grouped.to, &grouped.from);
  if (!grouped.from_groups.any() && !grouped.to_groups.any()) return std::nullopt;
  return grouped;
}

std::optional<HeadAndTail> CutTail(const Digits& from, const Digits& to, bool to_is_tiled) {
  const Digits &tiled = to_is_tiled ? to : from, &dense = to_is_tiled ? from : to;
  for (size_t d = 0; d < std::min(from.dimensions.size(), to.dimensions.size()); ++d) {
    const int64_t size = tiled.dimensions[d].size, word = WordElements(tiled.dimensions[d], tiled.slot_bits);
    if (size % word == 0 || dense.dimensions[d].digits.size() > 1) continue;
    const int64_t head = RoundDownTo(size, word);
    HeadAndTail cut = {std::nullopt, {from, to}, word, tiled};
    cut.filled.dimensions[d].whole = RoundUpTo(size, word);
    if (head > 0) cut.head = cut.tail;
    for (bool is_from : {true, false}) {
      DigitDimension& tail = (is_from ? cut.tail.first : cut.tail.second).dimensions[d];
      tail.start += head;
      tail.size -= head;
      if (head > 0) (is_from ? cut.head->first : cut.head->second).dimensions[d].size = head;
    }
    return cut;
  }
  return std::nullopt;
}

}  // namespace kashi::relayout
