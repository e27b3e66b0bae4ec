// Groups of elements that are contiguous on one side, and have padding behind each group on the other side:
//
//   bf16[…,3], three channels, dense on the host and in pairs in tiles of a TPU (T(4,128)(2,1), other dimensions most
//   minor):
//
//   dense, groups of 6 bytes     a b c   d e f   g h i        a to c: the channels of a pixel
//   padded, 8 bytes              a b c . d e f . g h i .      the form in which the dense side is planned
//   tiled                        ab de gh …    c. f. i. …     words of 4 bytes, all of them full
//
// Without the padding, words of the dense side begin anywhere, and the last element of a group fills half a word of the
// tiled side alone: neither side has runs. With it, both sides have words; padding is put there, or left out, a few
// bytes at a time in the first cache (group_kernel.h), and the padding of the target is written with the elements.
#ifndef KASHI_RELAYOUT_NESTS_GROUPS_H_
#define KASHI_RELAYOUT_NESTS_GROUPS_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "kashi/relayout/nests/digits.h"
#include "kashi/relayout/simd/group_kernel.h"

namespace kashi::relayout {

// Both sides with one dimension extended to the room of its words: the dense side as if it were padded, the tiled one
// as if padding were elements.
struct GroupedDigits {
  Digits from;
  Digits to;
  Groups from_groups;  // of the dense side; the other has none
  Groups to_groups;
};

// Nothing if no dimension needs it, or other strides of the dense side are not multiples of a group. Padding of
// the target is made an element only if `fills_padding`. Pre: both have the same sizes and slots.
std::optional<GroupedDigits> GroupsOf(const Digits& from, const Digits& to, bool fills_padding);

// A dimension whose last elements do not fill a word of the tiled side, cut before that word:
//
//   bf16[3,C], rows in pairs in tiles, dense rows on the other side
//
//   words of the tiled side    r0c0 r1c0  r0c1 r1c1 …       r2c0 .  r2c1 . …
//                              head                         tail: a row, and padding
struct HeadAndTail {
  std::optional<std::pair<Digits, Digits>> head;  // from, to; nothing if the tail is all
  std::pair<Digits, Digits> tail;
  int64_t word_elements;
  Digits filled;  // of the tiled side, with the padding of the tail's words as if it were elements
};

// Nothing where no dimension has such a tail on that side. Pre: as above.
std::optional<HeadAndTail> CutTail(const Digits& from, const Digits& to, bool to_is_tiled);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_NESTS_GROUPS_H_
