// Slots: the places of a thunk program's arrays while it is made. A slot holds one array after the other.
#ifndef KASHI_CPU_THUNKS_SLOTS_H_
#define KASHI_CPU_THUNKS_SLOTS_H_

#include <cstdint>
#include <vector>

#include "kashi/cpu/thunks/frame_allocator.h"
#include "kashi/cpu/thunks/thunk_program.h"

namespace kashi::internal {

// The arrays of a value (leaves.h): numbers of slots.
using Leaves = std::vector<int>;
constexpr int kNoSlot = -1;

struct Slot {
  Place place;
  int64_t bytes = 0;
  int holders = 0;         // values that have it
  bool is_pinned = false;  // stays after its last holder: the state of a loop, or a result
  bool is_written = false;

  bool may_be_written() const { return place.home == Home::kFrame || place.home == Home::kResult; }
};

class Slots {
 public:
  Slot& operator[](int slot) { return slots_[slot]; }
  const Slot& operator[](int slot) const { return slots_[slot]; }

  int Add(Place place, int64_t bytes) {
    slots_.push_back({place, bytes});
    return static_cast<int>(slots_.size()) - 1;
  }
  // A slot that one value holds: `wanted` if nobody holds it, otherwise a new one.
  int Take(int wanted, int64_t bytes) {
    int slot = wanted;
    if (slot == kNoSlot || slots_[slot].holders > 0) {
      frame_arrays_.push_back({frame_.Allocate(bytes), bytes});
      slot = Add({Home::kFrame, static_cast<int64_t>(frame_arrays_.size()) - 1}, bytes);
    }
    slots_[slot].is_written = true;
    ++slots_[slot].holders;
    return slot;
  }

  void Hold(const Leaves& leaves) {
    for (int slot : leaves) ++slots_[slot].holders;
  }
  void Release(const Leaves& leaves) {
    for (int slot : leaves) {
      --slots_[slot].holders;
      FreeIfUnused(slot);
    }
  }

  // Whether a value may overwrite the array that is the last use of this slot.
  bool IsLastHolder(int slot) const { return slots_[slot].holders == 1 && slots_[slot].may_be_written(); }

  const std::vector<ThunkProgramParts::FrameArray>& frame_arrays() const { return frame_arrays_; }
  int64_t frame_bytes() const { return frame_.size(); }

 private:
  void FreeIfUnused(int slot) {
    const Slot& s = slots_[slot];
    if (s.place.home != Home::kFrame || s.holders > 0 || s.is_pinned) return;
    frame_.Free(frame_arrays_[s.place.number].offset, s.bytes);
  }

  std::vector<Slot> slots_;
  FrameAllocator frame_;
  std::vector<ThunkProgramParts::FrameArray> frame_arrays_;
};

}  // namespace kashi::internal

#endif  // KASHI_CPU_THUNKS_SLOTS_H_
