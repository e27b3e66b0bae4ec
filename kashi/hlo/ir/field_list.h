// The fields of one instruction: a small list of (field, value), because no operation has more than a few of the sixty
// fields. The list holds numbers, enums and bools itself, and pointers to everything else.
#ifndef KASHI_HLO_IR_FIELD_LIST_H_
#define KASHI_HLO_IR_FIELD_LIST_H_

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/field_types.h"

namespace kashi {

enum class HloField : uint8_t {
#define KASHI_FIELD(name, ...) name,
#include "kashi/hlo/ir/fields.def"
};

template <HloField field>
struct HloFieldTraits;
#define KASHI_FIELD(name, ...)            \
  template <>                             \
  struct HloFieldTraits<HloField::name> { \
    using Type = __VA_ARGS__;             \
  };
#include "kashi/hlo/ir/fields.def"
template <HloField field>
using HloFieldType = typename HloFieldTraits<field>::Type;

absl::string_view HloFieldName(HloField field);

// A value type: a copy has its own fields.
class HloFieldList {
 public:
  HloFieldList() = default;
  HloFieldList(const HloFieldList& other);
  HloFieldList(HloFieldList&& other) noexcept : slots_(std::move(other.slots_)) { other.slots_.clear(); }
  HloFieldList& operator=(HloFieldList other) noexcept {
    slots_.swap(other.slots_);
    return *this;
  }
  ~HloFieldList();

  // Null if the instruction does not have the field. Valid until the list changes.
  template <HloField field>
  const HloFieldType<field>* Find() const {
    const Slot* slot = FindSlot(field);
    return slot ? Value<HloFieldType<field>>(*slot) : nullptr;
  }
  // The field, or the fallback if there is none.
  template <HloField field>
  HloFieldType<field> Get(HloFieldType<field> fallback) const {
    const auto* value = Find<field>();
    return value ? *value : std::move(fallback);
  }
  // The field; makes it if there is none.
  template <HloField field>
  HloFieldType<field>* Mutable() {
    using T = HloFieldType<field>;
    Slot* slot = const_cast<Slot*>(FindSlot(field));
    if (slot == nullptr) slot = Insert(field, Make<T>(T()));
    return const_cast<T*>(Value<T>(*slot));
  }
  template <HloField field>
  void Set(HloFieldType<field> value) {
    using T = HloFieldType<field>;
    if (Slot* slot = const_cast<Slot*>(FindSlot(field))) {
      *const_cast<T*>(Value<T>(*slot)) = std::move(value);
    } else {
      Insert(field, Make<T>(std::move(value)));
    }
  }
  bool Has(HloField field) const { return FindSlot(field) != nullptr; }
  void Erase(HloField field);
  bool empty() const { return slots_.empty(); }

  // Equality without the fields in `ignored`.
  bool EqualExcept(const HloFieldList& other, absl::Span<const HloField> ignored) const;
  friend bool operator==(const HloFieldList& a, const HloFieldList& b) { return a.EqualExcept(b, {}); }
  // A hash of all fields except the called computations.
  size_t Hash() const;

 private:
  struct Bits {
    alignas(8) unsigned char bytes[8];
  };
  struct Slot {
    HloField field;
    Bits bits;  // the value, or a pointer to it
  };

  template <typename T>
  static constexpr bool kInPlace = std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(Bits);

  template <typename T>
  static const T* Value(const Slot& slot) {
    if constexpr (kInPlace<T>) {
      return reinterpret_cast<const T*>(slot.bits.bytes);
    } else {
      T* pointer;
      std::memcpy(&pointer, slot.bits.bytes, sizeof(void*));
      return pointer;
    }
  }
  template <typename T>
  static Bits Make(T value) {
    Bits bits = {};
    if constexpr (kInPlace<T>) {
      std::memcpy(bits.bytes, &value, sizeof(value));
    } else {
      T* pointer = new T(std::move(value));
      std::memcpy(bits.bytes, &pointer, sizeof(void*));
    }
    return bits;
  }
  const Slot* FindSlot(HloField field) const {
    for (const Slot& slot : slots_) {
      if (slot.field == field) return &slot;
    }
    return nullptr;
  }
  // Keeps the list sorted by field, so that lists can be compared slot by slot.
  Slot* Insert(HloField field, Bits bits);

  // Operations on slots whose type is not known at compile time: one row per field.
  struct Operations;
  static const Operations& OperationsOf(HloField field);
  template <typename T>
  static Operations MakeOperations();

  absl::InlinedVector<Slot, 1> slots_;
};

}  // namespace kashi

#endif  // KASHI_HLO_IR_FIELD_LIST_H_
