#include "kashi/relayout/plan/padding.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "kashi/base/math.h"
#include "kashi/relayout/nests/boxes.h"
#include "kashi/relayout/nests/slots.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kPatternBits = 4096 * 8;  // of padding that lies ready

// Padding that begins within a byte of each word, and ends with it: all of the words instead, where elements are
// written later.
//
//   5 rows of 8, of 4 bits      | e e e e e p p p | e e e e e p p p |   ->   | p p p p p p p p | p p p p p p p p |
Box WithWholeWords(Box box, int64_t base, int64_t slot_bits) {
  constexpr int64_t kWordBits = 64;  // at most
  if (slot_bits >= 8 || box.loops.empty()) return box;
  const bool is_run = box.loops.back().to == slot_bits;
  if (box.loops.size() < (is_run ? 2 : 1)) return box;
  const int64_t run_bits = slot_bits * (is_run ? box.loops.back().extent : 1);
  const int64_t word_bits = box.loops[box.loops.size() - (is_run ? 2 : 1)].to;
  const int64_t begin = (box.to_offset - base) % word_bits;
  const bool is_whole = begin % 8 == 0 && run_bits % 8 == 0;
  if (is_whole || word_bits > kWordBits || word_bits % 8 != 0 || begin + run_bits != word_bits) return box;
  box.to_offset -= begin;
  if (is_run) box.loops.pop_back();
  box.loops.push_back({word_bits / slot_bits, 0, slot_bits});
  Coalesce(&box);
  return box;
}

// Positions: the elements, and the padding that is filled with them.
int64_t WrittenWithElements(const Placement& to, const std::optional<Digits>& filled) {
  int64_t count = to.map().element_count();
  if (!filled) return count;
  for (size_t d = 0; d < to.dimensions().size(); ++d) {
    count = count / to.dimensions()[d] * filled->dimensions[d].whole;
  }
  return count;
}

// A run of padding longer than the pattern is copies of it, and a rest.
void AddPadding(const SharedContext& context, Box box, PaddingPlan* plan) {
  const int64_t slot = context->to.slot_bits, ready = kPatternBits / slot;
  for (Loop& loop : box.loops) {
    if (loop.to != slot) continue;
    const int64_t copies = loop.extent / ready, rest = loop.extent % ready;
    if (copies > 0 && rest > 0) {
      Box tail = box;
      tail.to_offset += copies * ready * slot;
      tail.loops[&loop - box.loops.data()] = {rest, slot, slot};
      plan->steps.push_back(MakeStep(context, tail));
    }
    loop = {copies > 0 ? ready : loop.extent, slot, slot};
    if (copies > 1) box.loops.push_back({copies, 0, ready * slot});
    break;
  }
  plan->steps.push_back(MakeStep(context, box));
}

std::vector<char> MakePattern(const RelayoutTask& task) {
  std::vector<char> pattern(kPatternBits / 8);
  const int64_t slot = task.to.slot_bits();
  for (int64_t bit = 0; bit + slot <= kPatternBits; bit += slot) {
    WriteSlot(pattern.data(), bit, slot, *task.options.padding);
  }
  return pattern;
}

absl::StatusOr<std::vector<Box>> BoxesOfPadding(const Placement& to, const std::optional<Digits>& filled) {
  if (filled) return PaddingBoxesOf(*filled);
  const absl::StatusOr<Digits> digits = DigitsOf(to);
  return digits.ok() ? PaddingBoxesOf(*digits) : absl::StatusOr<std::vector<Box>>(digits.status());
}

}  // namespace

// If there is more padding than elements, everything is written first, as fast as memory allows: that costs less than
// many short runs.
PaddingPlan PlanPadding(const RelayoutTask& task, const SharedContext& context, const std::optional<Digits>& filled,
                        bool stays) {
  PaddingPlan plan;
  const IndexMap& map = task.to.map();
  if (map.padded_element_count() == map.element_count()) return plan;  // an empty array has no memory
  plan.pattern = MakePattern(task);
  const int64_t slot = task.to.slot_bits(), base = map.prefix_bytes() * 8;
  if (map.padded_element_count() / 2 >= WrittenWithElements(task.to, filled)) {
    plan.writes_elements = true;
    AddPadding(context, {0, base, {{map.padded_element_count(), 0, slot}}}, &plan);
    return plan;
  }
  absl::StatusOr<std::vector<Box>> boxes = BoxesOfPadding(task.to, filled);
  if (!boxes.ok()) {
    plan.refusal = std::string(boxes.status().message());
    return plan;
  }
  for (Box& box : *boxes) {
    AddPadding(context, stays ? std::move(box) : WithWholeWords(std::move(box), base, slot), &plan);
  }
  const int64_t tail = map.padded_element_count() - map.tiled_element_count();
  if (tail > 0) AddPadding(context, {0, base + map.tiled_element_count() * slot, {{tail, 0, slot}}}, &plan);
  return plan;
}

std::vector<char> PaddingBytes(const RelayoutTask& task, int64_t bytes) {
  std::vector<char> padding(bytes);
  WriteSlot(padding.data(), 0, task.to.slot_bits(), task.options.padding.value_or(0));
  for (int64_t ready = task.to.slot_bits() / 8; ready < bytes; ready *= 2) {
    std::memcpy(&padding[ready], padding.data(), std::min(ready, bytes - ready));
  }
  return padding;
}

}  // namespace kashi::relayout
