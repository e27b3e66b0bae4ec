// Windows that move over an array of which each device has a part: the elements that a device needs from neighbours.
//
//   f32[8] in 4 parts of 2, a window of 3 elements around each         device 1 has 2 3, and needs 1 2 3 4
//
//   start -1, step 1, window 3       left 1, right 1: one element from each neighbour
//
// Result i needs the `window` elements from start + i * step on. Slices have a window of 1, and pads a window
// of 1 that begins outside of the array. Elements outside are zeros, or the value that an operation uses for them.
#ifndef KASHI_PARTITION_HALO_H_
#define KASHI_PARTITION_HALO_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace kashi::partition {

struct MovingWindow {
  int64_t start = 0;
  int64_t step = 1;
  int64_t window = 1;
  int64_t from_size = 0;  // of the operand
  int64_t to_size = 0;    // of the result
};

// The plan for a number of parts.
struct HaloPlan {
  int64_t shard = 0;   // size of a part of the operand
  int64_t length = 0;  // elements that a device needs
  int64_t left = 0;    // elements that come from parts before a device's own, and behind it
  int64_t right = 0;
  int64_t low = 0;  // elements that are added at the ends, because windows reach outside of the array
  int64_t high = 0;
  std::vector<int64_t> starts;  // [part]: where the elements begin, in those that a device then has
  std::vector<int64_t> places;  // [part]: the index in the array of the first one
  bool leaves_array = false;    // whether windows of results that count reach outside
};

// Nullopt if a device would need about as much as all devices have, or elements of many neighbours.
std::optional<HaloPlan> PlanHalo(const MovingWindow& window, int64_t parts);

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_HALO_H_
