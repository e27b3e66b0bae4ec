// The buffers of an assignment under construction: their holders, and the times of their use.
#ifndef KASHI_BUFFERS_BUFFER_POOL_H_
#define KASHI_BUFFERS_BUFFER_POOL_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kashi/buffers/buffer_assignment.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::buffers {

class BufferPool {
 public:
  // Adds the buffer of an argument, a result or a constant. Results stay when nothing holds them. alignment: that of a
  // result, which is the number of bytes of its elements.
  int Add(Home home, int64_t number, int64_t bytes, int64_t alignment = 1);
  // A buffer for one value: `wanted` if it is free, otherwise a new one in the arena.
  int Take(int wanted, int64_t bytes, const HloInstruction* maker);
  // Takes this buffer, which no value holds.
  void TakeFree(int buffer, const HloInstruction* maker);

  void Hold(int buffer) { ++slots_[buffer].holders; }
  void Hold(const Leaves& leaves);
  void Release(const Leaves& leaves);

  // The number of values that hold the buffer.
  int holders(int buffer) const { return slots_[buffer].holders; }
  void set_holders(int buffer, int holders) { slots_[buffer].holders = holders; }
  // The result may lie in the memory of this argument, its tenant, and so is not free before the last use of that.
  void SetTenant(int result, int argument) { slots_[result].tenant = argument; }
  void RemoveTenant(int result) { slots_[result].tenant = kNoBuffer; }
  // kNoBuffer: none.
  int tenant(int result) const { return slots_[result].tenant; }
  bool IsFree(int buffer) const { return holders(buffer) == 0 && !HasTenant(buffer); }
  // Whether a value was made elsewhere only for the tenant.
  bool was_refused(int buffer) const { return slots_[buffer].was_refused; }

  // Whether the buffer stays when nobody holds it: the state of a loop, or a result.
  bool is_pinned(int buffer) const { return slots_[buffer].is_pinned; }
  // Returns the old setting.
  bool SetPinned(int buffer, bool is_pinned) { return std::exchange(slots_[buffer].is_pinned, is_pinned); }
  // Whether the buffer has had a value.
  bool is_written(int buffer) const { return slots_[buffer].is_written; }
  void MarkWritten(int buffer, const HloInstruction* maker);

  // Reserves n times at which no buffer begins, and returns the first.
  int32_t ReserveTimes(int64_t n) { return std::exchange(clock_, clock_ + static_cast<int32_t>(n)) + 1; }
  // The buffer is in use from time `first` until now.
  void ExtendFrom(int32_t first, int buffer) {
    buffers_[buffer].first = first;
    buffers_[buffer].last = ++clock_;
  }

  const Buffer& operator[](int buffer) const { return buffers_[buffer]; }
  int64_t bytes(int buffer) const { return buffers_[buffer].bytes; }
  bool MayBeWritten(int buffer) const {
    return buffers_[buffer].home == Home::kArena || buffers_[buffer].home == Home::kResult;
  }
  // Whether a value may overwrite the array whose last use this is.
  bool IsLastHolder(int buffer) const { return holders(buffer) == 1 && MayBeWritten(buffer); }

  // For a result that is another value at the end: its memory was used, and now belongs to the arena.
  void MoveToArena(int buffer) { buffers_[buffer].home = Home::kArena; }
  // For a result that is another value at the end, or that begins as an argument: nothing else may be placed there.
  void CloseResult(int buffer) { slots_[buffer].is_free_before = false; }
  // Places all buffers of the arena: in results that have no value yet, or otherwise in one block. Nullopt if
  // there are too many (best_fit_heap.h).
  struct Placed {
    std::vector<Buffer> buffers;
    int64_t arena_bytes;
  };
  std::optional<Placed> Place() &&;

 private:
  bool HasTenant(int buffer) const { return tenant(buffer) != kNoBuffer && holders(tenant(buffer)) > 0; }
  void PlaceInResults(int32_t end);

  struct Slot {
    int holders = 0;
    bool is_pinned = false;
    bool is_written = false;
    bool is_freed = false;
    bool is_free_before = false;  // a result whose memory is free before its first value, but for its tenant
    bool was_refused = false;
    int tenant = kNoBuffer;
    int64_t alignment = 1;  // of a result
  };

  std::vector<Buffer> buffers_;
  std::vector<Slot> slots_;  // of the buffers
  int32_t clock_ = 0;
};

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_BUFFER_POOL_H_
