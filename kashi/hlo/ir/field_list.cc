#include "kashi/hlo/ir/field_list.h"

#include <algorithm>
#include <cstddef>

#include "absl/hash/hash.h"

namespace kashi {

struct HloFieldList::Operations {
  void (*destroy)(const Slot& slot);
  Bits (*clone)(const Slot& slot);
  bool (*equal)(const Slot& a, const Slot& b);
  size_t (*hash)(const Slot& slot);
};

template <typename T>
HloFieldList::Operations HloFieldList::MakeOperations() {
  Operations operations;
  operations.destroy = [](const Slot& slot) {
    if constexpr (!kInPlace<T>) delete Value<T>(slot);
  };
  operations.clone = [](const Slot& slot) { return Make<T>(*Value<T>(slot)); };
  operations.equal = [](const Slot& a, const Slot& b) { return *Value<T>(a) == *Value<T>(b); };
  operations.hash = [](const Slot& slot) { return absl::HashOf(*Value<T>(slot)); };
  return operations;
}

const HloFieldList::Operations& HloFieldList::OperationsOf(HloField field) {
  static const auto* const operations = new Operations[]{
#define KASHI_FIELD(name, ...) MakeOperations<__VA_ARGS__>(),
#include "kashi/hlo/ir/fields.def"
  };
  return operations[static_cast<size_t>(field)];
}

absl::string_view HloFieldName(HloField field) {
  static constexpr absl::string_view kNames[] = {
#define KASHI_FIELD(name, ...) #name,
#include "kashi/hlo/ir/fields.def"
  };
  return kNames[static_cast<size_t>(field)];
}

HloFieldList::HloFieldList(const HloFieldList& other) {
  slots_.reserve(other.slots_.size());
  for (const Slot& slot : other.slots_) slots_.push_back({slot.field, OperationsOf(slot.field).clone(slot)});
}

HloFieldList::~HloFieldList() {
  for (const Slot& slot : slots_) OperationsOf(slot.field).destroy(slot);
}

HloFieldList::Slot* HloFieldList::Insert(HloField field, Bits bits) {
  auto at = slots_.begin();
  while (at != slots_.end() && at->field < field) ++at;
  return &*slots_.insert(at, Slot{field, bits});
}

void HloFieldList::Erase(HloField field) {
  for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
    if (slot->field != field) continue;
    OperationsOf(field).destroy(*slot);
    slots_.erase(slot);
    return;
  }
}

bool HloFieldList::EqualExcept(const HloFieldList& other, absl::Span<const HloField> ignored) const {
  const auto counts = [&](const Slot& slot) {
    return std::find(ignored.begin(), ignored.end(), slot.field) == ignored.end();
  };
  auto a = slots_.begin();
  auto b = other.slots_.begin();
  while (true) {
    while (a != slots_.end() && !counts(*a)) ++a;
    while (b != other.slots_.end() && !counts(*b)) ++b;
    if (a == slots_.end() || b == other.slots_.end()) return a == slots_.end() && b == other.slots_.end();
    if (a->field != b->field || !OperationsOf(a->field).equal(*a, *b)) return false;
    ++a;
    ++b;
  }
}

size_t HloFieldList::Hash() const {
  size_t hash = slots_.size();
  for (const Slot& slot : slots_) {
    if (slot.field == HloField::called_computations) continue;
    hash = absl::HashOf(hash, static_cast<int>(slot.field), OperationsOf(slot.field).hash(slot));
  }
  return hash;
}

}  // namespace kashi
