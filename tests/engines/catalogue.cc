#include "tests/engines/catalogue.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/cpu/random_program_testing.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::tests {
namespace {

const std::vector<Sizes>& AllSizes() {
  static const auto* const sizes = new std::vector<Sizes>{
      {},     {0},    {1},      {5},       {16},      {3, 0},       {1, 7},          {7, 1},
      {4, 6}, {4, 4}, {17, 16}, {2, 3, 4}, {1, 5, 1}, {2, 1, 3, 2}, {1, 2, 2, 1, 3}, {2, 1, 2, 1, 2, 3},
  };
  return *sizes;
}

// Alone: types in some sizes, sizes in some types; a few large ones.
std::vector<Shape> AnchorsAlone() {
  std::vector<Shape> anchors;
  const auto add = [&](PrimitiveType type, const Sizes& sizes) {
    const Shape shape = ShapeUtil::MakeShape(type, sizes);
    if (std::find(anchors.begin(), anchors.end(), shape) == anchors.end()) anchors.push_back(shape);
  };
#define KASHI_TYPE(name, ...)                                                     \
  if (primitive_util::IsArrayType(name)) {                                        \
    for (const Sizes& sizes : {Sizes{}, Sizes{5}, Sizes{4, 4}}) add(name, sizes); \
  }
#include "kashi/array/primitive_types.def"
  for (PrimitiveType type : {F32, S32, PRED}) {
    for (const Sizes& sizes : AllSizes()) add(type, sizes);
  }
  for (PrimitiveType type : {F32, S32, BF16}) add(type, {131, 133});
  return anchors;
}

// Pairs: small arrays below and above the limits of native loops (64 elements) and of kernels of rows (16 by 16).
std::vector<Shape> AnchorsOfPairs() {
  std::vector<Shape> anchors;
  for (PrimitiveType type : {F32, S32, PRED, BF16, F64, F16, U8, C64}) {
    for (const Sizes& sizes : {Sizes{}, Sizes{1}, Sizes{5}, Sizes{4, 4}, Sizes{17, 16}, Sizes{2, 3, 4}}) {
      anchors.push_back(ShapeUtil::MakeShape(type, sizes));
    }
  }
  return anchors;
}

std::vector<Form> AllForms(const std::vector<Shape>& anchors) {
  std::vector<Form> forms;
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
    for (const Shape& anchor : anchors) {
      std::vector<Form> some = FormsOf(static_cast<HloOpcode>(i), anchor);
      std::move(some.begin(), some.end(), std::back_inserter(forms));
    }
  }
  return forms;
}

// The indices of a list, grouped by a key.
template <typename T, typename Key>
std::vector<std::vector<int64_t>> GroupBy(const std::vector<T>& list, Key key) {
  std::map<decltype(key(list[0])), std::vector<int64_t>> groups;
  for (size_t i = 0; i < list.size(); ++i) groups[key(list[i])].push_back(static_cast<int64_t>(i));
  std::vector<std::vector<int64_t>> result;
  for (auto& [unused, group] : groups) result.push_back(std::move(group));
  return result;
}

// Of ProgramId::Kind.
constexpr absl::string_view kKindNames[] = {"alone", "pair", "random"};

template <typename List>
const auto& OneOf(const List& list, std::mt19937_64* random) {
  return list[(*random)() % list.size()];
}

int64_t Below(int64_t bound, std::mt19937_64* random) {
  return static_cast<int64_t>((*random)() % static_cast<uint64_t>(bound));
}

uint32_t SeedOf(int64_t number) { return static_cast<uint32_t>(static_cast<uint64_t>(number) * 2654435761 >> 7); }

}  // namespace

std::string ToText(ProgramId id) { return absl::StrCat(kKindNames[id.kind], ":", id.number); }

std::optional<ProgramId> ParseProgramId(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> halves = absl::StrSplit(text, absl::MaxSplits(':', 1));
  for (ProgramId::Kind kind : {ProgramId::kAlone, ProgramId::kPair, ProgramId::kRandom}) {
    ProgramId id{kind, 0};
    if (halves.first != kKindNames[kind]) continue;
    if (absl::SimpleAtoi(halves.second, &id.number) && id.number >= 0) return id;
  }
  return std::nullopt;
}

Catalogue::Catalogue() : alone_(AllForms(AnchorsAlone())), small_(AllForms(AnchorsOfPairs())) {
  alone_by_operation_ = GroupBy(alone_, [](const Form& form) { return form.opcode; });
  MakeMeetings();
}

void Catalogue::MakeMeetings() {
  std::map<std::string, Meeting> meetings;
  for (const Form& form : small_) {
    if (!form.result.is_dynamic()) meetings[ShapeText(form.result)].producers.push_back(&form);
    for (size_t slot = 0; slot < form.operands.size(); ++slot) {
      meetings[ShapeText(form.operands[slot])].consumers.push_back({&form, slot});
    }
  }
  for (auto& [unused, meeting] : meetings) {
    if (meeting.producers.empty() || meeting.consumers.empty()) continue;
    meeting.producers_by_operation = GroupBy(meeting.producers, [](const Form* form) { return form->opcode; });
    meeting.consumers_by_operation =
        GroupBy(meeting.consumers, [](const Use& use) { return std::make_pair(use.form->opcode, use.slot); });
    meeting.first = pair_count_;
    pair_count_ += PairsOf(meeting);
    meetings_.push_back(std::move(meeting));
  }
}

int64_t Catalogue::PairsOf(const Meeting& meeting) const {
  return static_cast<int64_t>(meeting.producers.size() * meeting.consumers.size() * Frames().size()) * kKinds;
}

// The digits of a number, the last one first.
class Digits {
 public:
  explicit Digits(int64_t number) : rest_(number) {}
  size_t Take(size_t base) {
    const auto digit = static_cast<size_t>(rest_ % static_cast<int64_t>(base));
    rest_ /= static_cast<int64_t>(base);
    return digit;
  }
  size_t rest() const { return static_cast<size_t>(rest_); }

 private:
  int64_t rest_;
};

WrittenProgram WriteIn(const Frame& frame, const Form& form, ArgumentKind arguments, uint32_t seed) {
  return {frame.write(CoreOf(form)), arguments, seed, absl::StrCat(HloOpcodeString(form.opcode), ", ", frame.name)};
}
WrittenProgram WriteIn(const Frame& frame, const Form& producer, const Form& consumer, size_t slot,
                       ArgumentKind arguments, uint32_t seed) {
  return {frame.write(CoreOf(producer, consumer, slot)), arguments, seed,
          absl::StrCat(HloOpcodeString(producer.opcode), " -> ", HloOpcodeString(consumer.opcode), "(", slot, "), ",
                       frame.name)};
}

Catalogue::Parts Catalogue::PartsOf(ProgramId id) const {
  const bool is_pair = id.kind == ProgramId::kPair;
  KASHI_CHECK(id.number < (is_pair ? pair_count_ : alone_count())) << ToText(id);
  const Meeting* meeting = nullptr;
  if (is_pair) {
    meeting = &*std::prev(std::upper_bound(meetings_.begin(), meetings_.end(), id.number,
                                           [](int64_t value, const Meeting& other) { return value < other.first; }));
  }
  Digits digits(is_pair ? id.number - meeting->first : id.number);
  Parts parts{static_cast<ArgumentKind>(digits.Take(kKinds)), &Frames()[digits.Take(Frames().size())], nullptr, {}};
  if (is_pair) {
    parts.use = meeting->consumers[digits.Take(meeting->consumers.size())];
    parts.producer = meeting->producers[digits.rest()];
  } else {
    parts.use.form = &alone_[digits.rest()];
  }
  return parts;
}

WrittenProgram Catalogue::Write(ProgramId id) const {
  const uint32_t seed = SeedOf(id.number);
  if (id.kind == ProgramId::kRandom) {
    const auto text = cpu::RandomProgram(static_cast<uint32_t>(id.number), /*mixes_types=*/true).Write();
    return {text, ArgumentKind::kSmall, seed, "random"};
  }
  const auto [arguments, frame, producer, use] = PartsOf(id);
  if (producer == nullptr) return WriteIn(*frame, *use.form, arguments, seed);
  return WriteIn(*frame, *producer, *use.form, use.slot, arguments, seed);
}

std::vector<WrittenProgram> Catalogue::Simpler(ProgramId id) const {
  std::vector<WrittenProgram> programs;
  if (id.kind == ProgramId::kRandom) return programs;
  const uint32_t seed = SeedOf(id.number);
  const auto [arguments, frame, producer, use] = PartsOf(id);
  for (const Frame& simpler : Frames()) {
    const bool is_last = &simpler == frame;
    if (!is_last && &simpler != &Frames().front()) continue;
    if (producer != nullptr || !is_last) programs.push_back(WriteIn(simpler, *use.form, arguments, seed));
    if (producer != nullptr) programs.push_back(WriteIn(simpler, *producer, arguments, seed));
    if (producer != nullptr && !is_last) {
      programs.push_back(WriteIn(simpler, *producer, *use.form, use.slot, arguments, seed));
    }
    if (is_last) break;
  }
  programs.erase(
      std::remove_if(programs.begin(), programs.end(), [](const WrittenProgram& p) { return p.text.empty(); }),
      programs.end());
  return programs;
}

ProgramId Catalogue::Draw(ProgramId::Kind kind, std::mt19937_64* random) const {
  if (kind == ProgramId::kAlone) return DrawAlone(random);
  if (kind == ProgramId::kPair) return DrawPair(random);
  return {kind, static_cast<int64_t>((*random)() >> 32)};
}

ProgramId Catalogue::DrawAlone(std::mt19937_64* random) const {
  const int64_t form = OneOf(OneOf(alone_by_operation_, random), random);
  const int64_t rest = static_cast<int64_t>(Frames().size()) * kKinds;
  return {ProgramId::kAlone, form * rest + Below(rest, random)};
}

ProgramId Catalogue::DrawPair(std::mt19937_64* random) const {
  const Meeting& meeting = OneOf(meetings_, random);
  const int64_t producer = OneOf(OneOf(meeting.producers_by_operation, random), random);
  const int64_t consumer = OneOf(OneOf(meeting.consumers_by_operation, random), random);
  return PairOf(meeting, producer, consumer, Below(static_cast<int64_t>(Frames().size()), random),
                Below(kKinds, random));
}

ProgramId Catalogue::PairOf(const Meeting& meeting, int64_t producer, int64_t consumer, int64_t frame,
                            int64_t kind) const {
  const int64_t pair = producer * static_cast<int64_t>(meeting.consumers.size()) + consumer;
  return {ProgramId::kPair, meeting.first + (pair * static_cast<int64_t>(Frames().size()) + frame) * kKinds + kind};
}

std::vector<ProgramId> Catalogue::Cover(std::mt19937_64* random) const {
  std::vector<ProgramId> programs;
  const int64_t rest = static_cast<int64_t>(Frames().size()) * kKinds;
  for (size_t form = 0; form < alone_.size(); ++form) {
    programs.push_back({ProgramId::kAlone, static_cast<int64_t>(form) * rest + Below(rest, random)});
  }
  // For each producer and consumer the shapes between them, with the forms of both.
  struct Place {
    const Meeting* meeting;
    const std::vector<int64_t>*producers, *consumers;
  };
  std::map<std::tuple<HloOpcode, HloOpcode, size_t>, std::vector<Place>> places;
  for (const Meeting& meeting : meetings_) {
    for (const std::vector<int64_t>& producers : meeting.producers_by_operation) {
      for (const std::vector<int64_t>& consumers : meeting.consumers_by_operation) {
        const Use& use = meeting.consumers[static_cast<size_t>(consumers[0])];
        const HloOpcode producer = meeting.producers[static_cast<size_t>(producers[0])]->opcode;
        places[{producer, use.form->opcode, use.slot}].push_back({&meeting, &producers, &consumers});
      }
    }
  }
  for (const auto& [unused, where] : places) {
    for (int64_t frame = 0; frame < static_cast<int64_t>(Frames().size()); ++frame) {
      const Place& place = OneOf(where, random);
      programs.push_back(PairOf(*place.meeting, OneOf(*place.producers, random), OneOf(*place.consumers, random), frame,
                                Below(kKinds, random)));
    }
  }
  std::shuffle(programs.begin(), programs.end(), *random);
  return programs;
}

std::vector<HloOpcode> Catalogue::Missing() const {
  std::set<HloOpcode> seen;
  for (const Form& form : alone_) {
    if (!seen.insert(form.opcode).second) continue;
    const auto module = ParseAndReturnUnverifiedModule(Frames().front().write(CoreOf(form)));
    KASHI_CHECK_OK(module.status());
    for (const HloComputation* computation : (*module)->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) seen.insert(instruction->opcode());
    }
  }
  std::vector<HloOpcode> missing;
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    if (HasForms(opcode) && seen.count(opcode) == 0) missing.push_back(opcode);
  }
  return missing;
}

}  // namespace kashi::tests
