// Puts padding behind groups of bytes, or leaves it out, in the nearest cache: see kashi/relayout/nests/groups.h.
#ifndef KASHI_RELAYOUT_SIMD_GROUP_KERNEL_H_
#define KASHI_RELAYOUT_SIMD_GROUP_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kashi::relayout {

// Bytes. A side that has groups is `packed` bytes a group in memory, and `padded` in the strides of a plan.
struct Groups {
  int64_t packed = 0;
  int64_t padded = 0;

  bool any() const { return padded != 0; }
  // Bytes of whole groups, from the plan to memory.
  bool IsWhole(int64_t planned) const { return planned % padded == 0; }
  int64_t InMemory(int64_t planned) const { return planned / padded * packed; }
};

// The tables that make 16 bytes of padded groups from packed ones, and the reverse, for each place where a group may
// begin within 16. Immutable.
class GroupLanes {
 public:
  GroupLanes() = default;
  // `fill`: the bytes behind each group, padded - packed of them.
  GroupLanes(const Groups& groups, absl::Span<const char> fill);

  // Rows of groups, each row at from + from_offsets[r], to rows `to_pitch` bytes apart: groups, padded. The rows have
  // room for whole lanes of 16 bytes. Reads nothing beyond a row.
  void Expand(const char* from, const int64_t* from_offsets, int64_t rows, int64_t groups, char* to,
              int64_t to_pitch) const;

  // Groups, padded, to groups one after the other, in place. The bytes behind them, up to the old end, become anything.
  // `data` has room for whole lanes.
  void Pack(char* data, int64_t groups) const;

  // Lane k of padded bytes, k modulo their number.
  struct Lane {
    int64_t packed_at;   // how many bytes of groups are before it, in this period
    uint8_t expand[16];  // byte i is this one of those from packed_at on; 128: fill
    uint8_t pack[16];    // the bytes of groups that the lane has; 128: no more
    uint8_t fill[16];    // where it is fill, else 0
  };

 private:
  Groups groups_;
  int64_t period_ = 0;  // packed bytes of all lanes
  std::vector<Lane> lanes_;
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_GROUP_KERNEL_H_
