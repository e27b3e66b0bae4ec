#include "kashi/relayout/plan/strips.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "kashi/base/text.h"
#include "kashi/relayout/nests/axes.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kLeastStrip = 512;  // bytes

// The end of a box's memory on one side if the strides there are positive, in bits.
int64_t EndOf(const Box& box, int64_t offset, int64_t Loop::*side, int64_t slot_bits) {
  for (const Loop& loop : box.loops) offset += (loop.extent - 1) * std::max<int64_t>(0, loop.*side);
  return offset + slot_bits;
}

// Whole bytes, and a target that is written upwards.
bool CanBeInStrips(const Box& box) {
  return IsWhole(box.from_offset) && IsWhole(box.to_offset) &&
         std::all_of(box.loops.begin(), box.loops.end(),
                     [](const Loop& loop) { return IsWhole(loop.from) && IsWhole(loop.to) && loop.to >= 0; });
}

bool BeginsWith(const Box& box, absl::Span<const Loop> outer) {
  return box.loops.size() >= outer.size() &&
         std::equal(outer.begin(), outer.end(), box.loops.begin(), [](const Loop& a, const Loop& b) {
           return a.extent == b.extent && a.from == b.from && a.to == b.to;
         });
}

// The first iteration of the outer loops.
Box Inner(Box box, size_t outer) {
  box.loops.erase(box.loops.begin(), box.loops.begin() + outer);
  return box;
}

// The boxes that have the first `count` loops of boxes[first] in common, as strips; nullopt if they leave gaps, or are
// too few bytes or too many. `members`: which.
std::optional<Strips> StripsOf(const std::vector<Box>& boxes, size_t first, size_t count, int64_t slot_bits,
                               std::vector<size_t>* members) {
  Strips strips = {};
  strips.outer.assign(boxes[first].loops.begin(), boxes[first].loops.begin() + count);
  int64_t elements = 0, begin = boxes[first].to_offset, end = begin;
  strips.from_begin = strips.from_end = boxes[first].from_offset / 8;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (!BeginsWith(boxes[i], strips.outer)) continue;
    if (!CanBeInStrips(boxes[i])) return std::nullopt;
    const Box inner = Inner(boxes[i], count);
    elements += inner.ElementCount();
    begin = std::min(begin, inner.to_offset);
    end = std::max(end, EndOf(inner, inner.to_offset, &Loop::to, slot_bits));
    strips.from_begin = std::min(strips.from_begin, inner.from_offset / 8);
    strips.from_end = std::max(strips.from_end, EndOf(inner, inner.from_offset, &Loop::from, slot_bits) / 8);
    members->push_back(i);
  }
  strips.to_offset = begin;
  strips.bytes = (end - begin) / 8;
  const bool is_dense = (end - begin) % slot_bits == 0 && (end - begin) / slot_bits == elements;
  return is_dense && strips.bytes >= kLeastStrip && strips.bytes <= kMostStrip ? std::make_optional(std::move(strips))
                                                                               : std::nullopt;
}

// Few rows, which within the caches are interleaved, and in a streamed target are not, as they share lines.
bool GainsFromStrips(const Box& box, size_t outer, const SharedContext& context, const SharedContext& within_caches) {
  return std::holds_alternative<BlocksPlan>(MakeStep(context, box).kernel) &&
         std::holds_alternative<InterleavePlan>(MakeStep(within_caches, Inner(box, outer)).kernel);
}

// Uses as few outer loops as possible: long strips.
std::optional<Strips> TakeStripsOf(const SharedContext& context, const SharedContext& within_caches, size_t first,
                                   std::vector<Box>* boxes) {
  for (size_t count = 0; count <= (*boxes)[first].loops.size(); ++count) {
    std::vector<size_t> members;
    std::optional<Strips> strips = StripsOf(*boxes, first, count, context->to.slot_bits, &members);
    if (!strips.has_value()) continue;
    if (!GainsFromStrips((*boxes)[first], count, context, within_caches)) return std::nullopt;
    for (size_t m = members.size(); m-- > 0;) {
      Box box = (*boxes)[members[m]];
      boxes->erase(boxes->begin() + members[m]);
      strips->boxes.push_back(box);
      box = Inner(std::move(box), count);
      box.to_offset -= strips->to_offset;
      strips->parts.push_back(MakeStep(within_caches, box));
    }
    return strips;
  }
  return std::nullopt;
}

}  // namespace

int64_t Strips::Count() const {
  int64_t count = 1;
  for (const Loop& loop : outer) count *= loop.extent;
  return count;
}

std::string Strips::ToString() const {
  std::string text = absl::StrCat(Count(), " strips of ", base::Count(bytes, "byte"),
                                  " by way of scratch memory, non-temporal stores:\n");
  for (size_t i = 0; i < boxes.size(); ++i) {
    absl::StrAppend(&text, "box ", boxes[i].ToString(), "\n  in each strip ", parts[i].ToString(), "\n");
  }
  return text;
}

std::vector<Strips> TakeStrips(const SharedContext& context, const SharedContext& within_caches,
                               std::vector<Box>* boxes) {
  std::vector<Strips> all;
  constexpr size_t kMostBoxes = 64;  // more boxes than this are hardly the result of cut edges alone
  if (!context->streams() || !context->keeps_form() || boxes->size() > kMostBoxes) return all;
  for (size_t i = 0; i < boxes->size();) {
    std::optional<Strips> strips = TakeStripsOf(context, within_caches, i, boxes);
    if (!strips.has_value()) {
      ++i;
    } else {
      all.push_back(*std::move(strips));
      i = 0;
    }
  }
  return all;
}

}  // namespace kashi::relayout
