// Attributes, types and locations of a file, decoded when they are first asked for (docs/spec/vhlo.md 1.4, 2, 3, 5.2).
//
// An entry refers to other entries by number, also to later ones. Decoding follows these references with its own stack:
// an entry with references that are not decoded yet pushes them on the stack and is decoded again after them. So each
// entry is decoded at most twice, nothing recurses, and cycles are detected.
//
// Results are shared: two users of a number get the same pointer. An array that holds the same array twice, which holds
// another one twice, and so on, is small in the file and large when written out: see kMostNodes.
#ifndef KASHI_STABLEHLO_BYTECODE_ENTRIES_H_
#define KASHI_STABLEHLO_BYTECODE_ENTRIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"
#include "kashi/stablehlo/bytecode/bytecode_file.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Attributes and types that are nested deeper, or have more parts when written out, are an error, so that code need not
// count when it walks them. Locations beyond these limits are read as unknown, because only messages depend on them.
inline constexpr uint32_t kDeepestEntry = 64;
inline constexpr uint32_t kMostNodes = 1 << 22;
inline constexpr uint32_t kDeepestLocation = 1000;
inline constexpr uint32_t kMostLocationNodes = 10000;

class EntryDecoder;

class Entries {
 public:
  // Borrows everything.
  Entries(const BytecodeFile& file, Program* program, DefaultAttributes* defaults, ReadError* error);

  // Finds an entry by the number that the file's operations use. `offset`: of the reference, for errors. nullptr with
  // the error set if there is no such entry, or it is of another kind or invalid. Cost: once, linear in its size.
  const Attribute* GetAttribute(uint64_t number, size_t offset);
  const Type* GetType(uint64_t number, size_t offset);
  // nullptr also for unknown locations.
  const Location* GetLocation(uint64_t number, size_t offset);

 private:
  friend class EntryDecoder;

  enum class State : uint8_t { kNew, kBegun, kDone };
  enum class Kind : uint8_t { kAttribute, kType, kLocation };
  struct Slot {
    const void* value = nullptr;
    uint32_t nodes = 1;
    uint16_t depth = 0;
    State state = State::kNew;
    Kind kind = Kind::kAttribute;
  };

  const Slot* GetSlot(size_t entry) { return slots_[entry].state == State::kDone ? &slots_[entry] : Decode(entry); }
  const Slot* Decode(size_t entry);
  void DecodeOnce(size_t entry);
  const Attribute* AsAttribute(const Slot& slot);

  const BytecodeFile& file_;
  Program* program_;
  DefaultAttributes* defaults_;
  ReadError* error_;
  std::vector<Slot> slots_;
  std::vector<size_t> stack_;
  std::vector<const void*> scratch_;  // of the entry that is being decoded
  const Attribute* location_attribute_ = nullptr;
};

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_BYTECODE_ENTRIES_H_
