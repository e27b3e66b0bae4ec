#include "kashi/relayout/relayout_plan.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/machine.h"
#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/relayout/plan/boxes.h"
#include "kashi/relayout/plan/digits.h"
#include "kashi/relayout/plan/groups.h"
#include "kashi/relayout/plan/step.h"
#include "kashi/relayout/plan/strips.h"

namespace kashi {

using namespace internal;  // NOLINT(build/namespaces)

namespace {

constexpr int64_t kTaskBytes = 64 << 10;    // that a thread takes at a time, at least
constexpr int64_t kPatternBits = 4096 * 8;  // of padding that lies ready

// Bits that an element has of its own; a slot may have more.
int64_t ElementBits(const ElementForm& form) {
  return std::min<int64_t>(form.slot_bits, primitive_util::BitWidth(form.type));
}

// Slots are whole bytes, or do not cross one.
absl::uint128 ReadSlot(const char* data, int64_t bit, int64_t bits) {
  if (bits < 8) return (static_cast<uint8_t>(data[bit >> 3]) >> (bit & 7)) & ((1u << bits) - 1);
  absl::uint128 value = 0;
  std::memcpy(&value, data + (bit >> 3), bits / 8);  // little-endian
  return value;
}

void WriteSlot(char* data, int64_t bit, int64_t bits, absl::uint128 value) {
  if (bits >= 8) {
    std::memcpy(data + (bit >> 3), &value, bits / 8);
    return;
  }
  const unsigned mask = ((1u << bits) - 1) << (bit & 7);
  char& byte = data[bit >> 3];
  byte = static_cast<char>((static_cast<uint8_t>(byte) & ~mask) |
                           ((static_cast<unsigned>(absl::Uint128Low64(value)) << (bit & 7)) & mask));
}

// The element's own bits, extended to the target's slot as RowFunctionFor says.
absl::uint128 ExtendElement(absl::uint128 slot, const ElementForm& form) {
  const int64_t bits = ElementBits(form);
  if (bits >= 128) return slot;
  const absl::uint128 sign = absl::uint128(1) << (bits - 1);
  slot &= (sign << 1) - 1;
  return primitive_util::IsSignedIntegralType(form.type) && bits >= 8 ? (slot ^ sign) - sign : slot;
}

int64_t ElementCount(absl::Span<const int64_t> dimensions) {
  int64_t count = 1;
  for (int64_t size : dimensions) {
    if (size == 0) return 0;
    count = CheckedMultiply(count, size).value_or(INT64_MAX);
  }
  return count;
}

// Every bit stays where it is.
bool IsInPlace(const Box& box) {
  bool in_place = box.from_offset == box.to_offset;
  for (const Loop& loop : box.loops) in_place = in_place && loop.from == loop.to;
  return in_place;
}

// Whether two steps have the same outermost loop, one long enough to be shared by all threads. (A step that shares bytes with
// others is run on its own.)
bool RunsBeside(const Step& a, const Step& b) {
  if (a.grid.empty() || b.grid.empty() || a.shares_bytes || b.shares_bytes) return false;
  const GridLoop &x = a.grid[0], &y = b.grid[0];
  return x.count >= 8 * ParallelThreadCount() && x.count == y.count && x.from == y.from && x.to == y.to;
}

// Padding that begins within a byte of each word, and ends with it: all of the words instead, where elements are written later.
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

absl::Status CheckSides(const Placement& from, const Placement& to, const RelayoutOptions& options) {
  if (from.dimensions() != to.dimensions()) {
    return InvalidArgument("%s and %s are not the same array: their dimensions differ", from.ToString(), to.ToString());
  }
  if (from.element_type() != to.element_type() && !options.convert) {
    return InvalidArgument("%s and %s have different element types, and no conversion is asked for", from.ToString(),
                           to.ToString());
  }
  if (options.threads < 0) return InvalidArgument("%d threads", options.threads);
  return CheckForms({from.element_type(), from.slot_bits()}, {to.element_type(), to.slot_bits()});
}

}  // namespace

// Steps point into it, so it stays where it is.
struct RelayoutPlan::State {
  State(const Placement& from, const Placement& to, const RelayoutOptions& options)
      : from(from),
        to(to),
        options(options),
        context({from.element_type(), from.slot_bits()}, {to.element_type(), to.slot_bits()}),
        within_caches(context),
        padding_context(context.to, context.to) {}

  void Plan();
  absl::Status PlanElements();
  bool PlanGroups(const Digits& from_digits, const Digits& to_digits);
  bool PlanTail(const Digits& from_digits, const Digits& to_digits, bool fills);
  GroupLanes LanesOf(const GroupedDigits& grouped) const;
  std::vector<char> PaddingBytes(int64_t bytes) const;
  absl::Status PlanPadding();
  void AddPadding(Box box);
  void MakePattern();
  int64_t WrittenWithElements() const;
  bool ClearsPadding() const { return options.padding.has_value() && to.is_whole_buffer(); }
  int64_t PositionsOfTarget() const { return to.map().padded_element_count(); }

  void Run(const std::vector<Step>& some, const char* source, char* target) const;
  void RunAllStrips(const char* source, char* target) const;
  void RunBesideOneAnother(absl::Span<const Step> beside, const char* source, char* target) const;
  void ClearLastBits(char* target) const;
  void MoveByIndex(const char* source, char* target) const;
  void ClearByIndex(char* target) const;

  Placement from;
  Placement to;
  RelayoutOptions options;
  StepContext context;
  StepContext within_caches;  // the same as `context`, for the parts of strips
  StepContext padding_context;
  std::optional<Digits> filled_digits;  // of a target of which some padding is written with the elements
  std::vector<Strips> strips;
  std::vector<Box> boxes;           // the others
  std::vector<Step> steps;          // of the boxes
  std::vector<Step> padding_steps;  // before them; their source is the pattern
  std::vector<char> pattern;        // kPatternBits of padding
  std::string refusal;              // why everything goes by the index loop, if it does
  std::string padding_refusal;      // likewise padding
  bool fills_all = false;           // padding_steps write elements too
  bool is_identity = false;
};

void RelayoutPlan::State::Plan() {
  const int64_t elements = ElementCount(from.dimensions());
  const int64_t moved_bytes = elements / 8 * (from.slot_bits() + to.slot_bits());
  context.streams = padding_context.streams = options.past_caches.value_or(moved_bytes > MachineCacheBytes());
  absl::Status status = PlanElements();
  if (!status.ok()) refusal = std::string(status.message());
  is_identity = status.ok() && !context.has_groups() && strips.empty() && from.element_type() == to.element_type() &&
                from.slot_bits() == to.slot_bits() && std::all_of(boxes.begin(), boxes.end(), IsInPlace);
  if (!ClearsPadding()) return;
  status = PlanPadding();
  if (!status.ok()) {
    padding_steps.clear();
    padding_refusal = std::string(status.message());
  }
}

absl::Status RelayoutPlan::State::PlanElements() {
  if (ElementCount(from.dimensions()) == 0) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(Digits from_digits, DigitsOf(from));
  KASHI_ASSIGN_OR_RETURN(Digits to_digits, DigitsOf(to));
  if (PlanGroups(from_digits, to_digits)) return absl::OkStatus();
  if (ClearsPadding() && PlanTail(from_digits, to_digits, true)) return absl::OkStatus();
  if (PlanTail(from_digits, to_digits, false)) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(boxes, BoxesOf(from_digits, to_digits));
  strips = TakeStrips(context, within_caches, &boxes);
  steps.reserve(boxes.size());
  for (const Box& box : boxes) steps.push_back(MakeStep(box, context));
  return absl::OkStatus();
}

// Whether all elements can be moved in groups that are padded, as blocks.
bool RelayoutPlan::State::PlanGroups(const Digits& from_digits, const Digits& to_digits) {
  if (context.convert) return false;
  const std::optional<GroupedDigits> grouped = GroupsOf(from_digits, to_digits, ClearsPadding());
  if (!grouped) return false;
  absl::StatusOr<std::vector<Box>> grouped_boxes = BoxesOf(grouped->from, grouped->to);
  if (!grouped_boxes.ok()) return false;
  context.from_groups = grouped->from_groups;
  context.to_groups = grouped->to_groups;
  context.lanes = LanesOf(*grouped);
  for (const Box& box : *grouped_boxes) {
    std::optional<Step> step = MakeGroupStep(box, context);
    if (!step) {
      steps.clear();
      context.from_groups = context.to_groups = {};
      return false;
    }
    steps.push_back(*std::move(step));
  }
  boxes = *std::move(grouped_boxes);
  if (context.from_groups.any()) filled_digits = grouped->to;
  return true;
}

// Whether the last elements of a dimension, which do not fill a word, can be moved with the padding that does.
bool RelayoutPlan::State::PlanTail(const Digits& from_digits, const Digits& to_digits, bool fills) {
  if (context.convert) return false;
  const std::optional<HeadAndTail> cut = CutTail(from_digits, to_digits, fills);
  if (!cut) return false;
  absl::StatusOr<std::vector<Box>> tails = BoxesOf(cut->tail.first, cut->tail.second);
  absl::StatusOr<std::vector<Box>> heads = std::vector<Box>();
  if (cut->head) heads = BoxesOf(cut->head->first, cut->head->second);
  if (!tails.ok() || !heads.ok()) return false;
  std::vector<Step> tail_steps;
  for (const Box& box : *tails) {
    std::optional<Step> step = MakeTailStep(box, context, cut->word_elements, fills);
    if (!step) return false;
    tail_steps.push_back(*std::move(step));
  }
  strips = TakeStrips(context, within_caches, &*heads);
  for (const Box& box : *heads) steps.push_back(MakeStep(box, context));
  steps.insert(steps.end(), tail_steps.begin(), tail_steps.end());
  boxes = *std::move(heads);
  boxes.insert(boxes.end(), tails->begin(), tails->end());
  if (!fills) return true;
  filled_digits = cut->filled;
  context.fill = PaddingBytes(kTailTask);
  return true;
}

GroupLanes RelayoutPlan::State::LanesOf(const GroupedDigits& grouped) const {
  const Groups& groups = grouped.from_groups.any() ? grouped.from_groups : grouped.to_groups;
  return GroupLanes(groups, PaddingBytes(groups.padded - groups.packed));
}

// Of whole slots.
std::vector<char> RelayoutPlan::State::PaddingBytes(int64_t bytes) const {
  std::vector<char> padding(bytes);
  WriteSlot(padding.data(), 0, to.slot_bits(), options.padding.value_or(0));
  for (int64_t ready = to.slot_bits() / 8; ready < bytes; ready *= 2) {
    std::memcpy(&padding[ready], padding.data(), std::min(ready, bytes - ready));
  }
  return padding;
}

// Positions: the elements, and the padding that is filled with them.
int64_t RelayoutPlan::State::WrittenWithElements() const {
  int64_t count = to.map().element_count();
  if (!filled_digits) return count;
  for (size_t d = 0; d < to.dimensions().size(); ++d) {
    count = count / to.dimensions()[d] * filled_digits->dimensions[d].whole;
  }
  return count;
}

// Where there is more padding than elements everything is written first, as fast as memory can: that costs less than many
// short runs.
absl::Status RelayoutPlan::State::PlanPadding() {
  const IndexMap& map = to.map();
  if (map.padded_element_count() == map.element_count()) return absl::OkStatus();  // an empty array has no memory
  MakePattern();
  const int64_t slot = to.slot_bits(), base = map.prefix_bytes() * 8;
  if (map.padded_element_count() / 2 >= WrittenWithElements()) {
    fills_all = true;
    AddPadding({0, base, {{map.padded_element_count(), 0, slot}}});
    return absl::OkStatus();
  }
  KASHI_ASSIGN_OR_RETURN(Digits digits, DigitsOf(to));
  if (filled_digits) digits = *filled_digits;
  KASHI_ASSIGN_OR_RETURN(std::vector<Box> padding, PaddingBoxesOf(digits));
  // An array that stays where it is may not be written later.
  for (Box& box : padding) AddPadding(is_identity ? std::move(box) : WithWholeWords(std::move(box), base, slot));
  const int64_t tail = map.padded_element_count() - map.tiled_element_count();
  if (tail > 0) AddPadding({0, base + map.tiled_element_count() * slot, {{tail, 0, slot}}});
  return absl::OkStatus();
}

// A run of padding longer than the pattern is copies of it, and a rest.
void RelayoutPlan::State::AddPadding(Box box) {
  const int64_t slot = to.slot_bits(), ready = kPatternBits / slot;
  for (Loop& loop : box.loops) {
    if (loop.to != slot) continue;
    const int64_t copies = loop.extent / ready, rest = loop.extent % ready;
    if (copies > 0 && rest > 0) {
      Box tail = box;
      tail.to_offset += copies * ready * slot;
      tail.loops[&loop - box.loops.data()] = {rest, slot, slot};
      padding_steps.push_back(MakeStep(std::move(tail), padding_context));
    }
    loop = {copies > 0 ? ready : loop.extent, slot, slot};
    if (copies > 1) box.loops.push_back({copies, 0, ready * slot});
    break;
  }
  padding_steps.push_back(MakeStep(std::move(box), padding_context));
}

void RelayoutPlan::State::MakePattern() {
  pattern.resize(kPatternBits / 8);
  const int64_t slot = to.slot_bits();
  for (int64_t bit = 0; bit + slot <= kPatternBits; bit += slot) WriteSlot(pattern.data(), bit, slot, *options.padding);
}

void RelayoutPlan::State::Run(const std::vector<Step>& some, const char* source, char* target) const {
  for (size_t i = 0; i < some.size();) {
    size_t end = i + 1;
    while (end < some.size() && RunsBeside(some[i], some[end])) ++end;
    RunBesideOneAnother({&some[i], end - i}, source, target);
    i = end;
  }
}

void RelayoutPlan::State::RunAllStrips(const char* source, char* target) const {
  for (const Strips& some : strips) {
    const int64_t count = some.Count();
    int64_t grain = std::max<int64_t>(1, kTaskBytes / some.bytes);
    if (options.threads > 0) grain = std::max(grain, CeilOfRatio<int64_t>(count, options.threads));
    ParallelFor(count, grain, [&](int64_t begin, int64_t end, int) { RunStrips(some, source, target, begin, end); });
  }
}

// Steps that begin with the same loop are run together, a few iterations at a time: what one leaves of a cache line the other
// soon completes, while the line is still in the caches.
//
//   ragged rows    |  whole tiles    | rest |  whole tiles    | rest |      two boxes, whose rows alternate in memory
void RelayoutPlan::State::RunBesideOneAnother(absl::Span<const Step> beside, const char* source, char* target) const {
  const Step& first = beside[0];
  const int64_t iterations = beside.size() > 1 ? first.grid[0].count : first.TaskCount() / first.tasks_together;
  int64_t bytes = 0;  // of an iteration
  for (const Step& step : beside) {
    bytes += step.TaskBytes() * (step.TaskCount() / iterations);
  }
  const int64_t at_once = std::max<int64_t>(1, kTaskBytes / std::max<int64_t>(1, bytes));
  const auto run = [&](int64_t begin, int64_t end) {
    const int64_t portion = beside.size() > 1 ? at_once : end - begin;
    for (int64_t i = begin; i < end; i += portion) {
      for (const Step& step : beside) {
        const int64_t tasks = step.TaskCount() / iterations;
        RunStep(step, source, target, i * tasks, std::min(i + portion, end) * tasks);
      }
    }
  };
  int64_t grain = at_once;
  if (options.threads > 0) grain = std::max(grain, CeilOfRatio<int64_t>(iterations, options.threads));
  if (iterations <= grain || options.threads == 1) return run(0, iterations);
  ParallelFor(iterations, grain, [&](int64_t begin, int64_t end, int) { run(begin, end); });
}

// Packed elements may not fill the last byte.
void RelayoutPlan::State::ClearLastBits(char* target) const {
  const int64_t bits = to.slot_bits() % 8 == 0 ? 0 : PositionsOfTarget() * to.slot_bits() % 8;
  if (bits == 0) return;
  char& last = target[to.map().byte_size() - 1];
  last = static_cast<char>(last & ((1 << bits) - 1));
}

void RelayoutPlan::State::MoveByIndex(const char* source, char* target) const {
  const absl::Span<const int64_t> sizes = from.dimensions();
  if (ElementCount(sizes) == 0) return;
  DimensionVector index(sizes.size(), 0);
  const bool converts = from.element_type() != to.element_type();
  while (true) {
    const int64_t from_bit = from.BitOffset(index), to_bit = to.BitOffset(index);
    if (converts) {
      context.convert(source + (from_bit >> 3), from_bit & 7, target + (to_bit >> 3), to_bit & 7, 1);
    } else {
      const absl::uint128 slot = ReadSlot(source, from_bit, from.slot_bits());
      const bool keeps_form = from.slot_bits() == to.slot_bits();
      WriteSlot(target, to_bit, to.slot_bits(),
                keeps_form ? slot : ExtendElement(slot, {from.element_type(), from.slot_bits()}));
    }
    size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

void RelayoutPlan::State::ClearByIndex(char* target) const {
  DimensionVector index(to.dimensions().size());
  const IndexMap& map = to.map();
  for (int64_t position = 0; position < map.padded_element_count(); ++position) {
    if (map.PhysicalToLogical(position, absl::MakeSpan(index))) continue;
    WriteSlot(target, map.prefix_bytes() * 8 + position * to.slot_bits(), to.slot_bits(), *options.padding);
  }
}

RelayoutPlan::RelayoutPlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

absl::StatusOr<RelayoutPlan> RelayoutPlan::Make(const Placement& from, const Placement& to,
                                                const RelayoutOptions& options) {
  KASHI_RETURN_IF_ERROR(CheckSides(from, to, options));
  auto state = std::make_shared<State>(from, to, options);
  state->Plan();
  return RelayoutPlan(std::move(state));
}

absl::StatusOr<RelayoutPlan> RelayoutPlan::Make(const Shape& from, const Shape& to, const RelayoutOptions& options) {
  KASHI_ASSIGN_OR_RETURN(Placement from_placement, Placement::OfLayout(from));
  KASHI_ASSIGN_OR_RETURN(Placement to_placement, Placement::OfLayout(to));
  return Make(from_placement, to_placement, options);
}

const Placement& RelayoutPlan::from() const { return state_->from; }
const Placement& RelayoutPlan::to() const { return state_->to; }
const RelayoutOptions& RelayoutPlan::options() const { return state_->options; }
int64_t RelayoutPlan::source_bytes() const { return state_->from.has_layout() ? state_->from.map().byte_size() : 0; }
int64_t RelayoutPlan::target_bytes() const { return state_->to.has_layout() ? state_->to.map().byte_size() : 0; }
bool RelayoutPlan::is_identity() const { return state_->is_identity; }

void RelayoutPlan::Execute(const void* source, void* target) const {
  const State& state = *state_;
  const char* const from = static_cast<const char*>(source);
  char* const to = static_cast<char*>(target);
  const bool in_place = state.is_identity && from == to;
  if (state.ClearsPadding()) {
    if (state.padding_refusal.empty() && !(in_place && state.fills_all)) {
      state.Run(state.padding_steps, state.pattern.data(), to);
    } else {
      state.ClearByIndex(to);
    }
    state.ClearLastBits(to);
  }
  if (in_place) return;
  if (state.refusal.empty()) {
    state.RunAllStrips(from, to);
    state.Run(state.steps, from, to);
  } else {
    state.MoveByIndex(from, to);
  }
}

void RelayoutPlan::ExecuteByIndex(const void* source, void* target) const {
  const State& state = *state_;
  char* const to = static_cast<char*>(target);
  if (state.ClearsPadding()) {
    state.ClearByIndex(to);
    state.ClearLastBits(to);
  }
  state.MoveByIndex(static_cast<const char*>(source), to);
}

std::string RelayoutPlan::ToString() const {
  const State& state = *state_;
  std::string text = absl::StrCat(state.from.ToString(), " -> ", state.to.ToString(), "\n");
  const auto add = [&](const std::vector<Step>& steps) {
    for (const Step& step : steps) absl::StrAppend(&text, "  ", step.ToString(), "\n");
  };
  if (state.is_identity) absl::StrAppend(&text, "identity: every element stays at its place\n");
  if (!state.padding_refusal.empty())
    absl::StrAppend(&text, "padding by the index loop: ", state.padding_refusal, "\n");
  if (!state.padding_steps.empty()) absl::StrAppend(&text, "padding:\n");
  add(state.padding_steps);
  if (!state.refusal.empty()) return absl::StrCat(text, "elements by the index loop: ", state.refusal, "\n");
  for (const Strips& strips : state.strips) absl::StrAppend(&text, strips.ToString());
  for (size_t i = 0; i < state.boxes.size(); ++i) {
    absl::StrAppend(&text, "box ", state.boxes[i].ToString(), "\n  ", state.steps[i].ToString(), "\n");
  }
  return text;
}

}  // namespace kashi
