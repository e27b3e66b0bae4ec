// The network between the devices of a program: a grid of devices, and the links of each dimension.
//
//   torus     Each device has two links in each dimension. The links of a dimension form rings. "4x8" are 32 devices:
//             rows of 8 whose ends are joined, and columns of 4. A dimension of two devices has one link, not two.
//   switch    Each device has one link to a network that carries all messages at once. The grid says which devices are
//             near each other: "4x8" may be 4 machines with 8 devices. A message between devices that differ in several
//             dimensions is as slow as the slowest of their links.
//
// Devices are numbered in row-major order of the grid. These are the numbers of replica groups: replica * partitions +
// partition.
#ifndef KASHI_SCALE_NETWORK_H_
#define KASHI_SCALE_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kashi {

// One link, in one direction.
struct NetworkLink {
  double latency_seconds = 0;   // of the shortest message
  double bytes_per_second = 0;  // of long messages

  double SecondsPerByte() const { return 1 / bytes_per_second; }
};

class Network {
 public:
  enum class Kind { kTorus, kSwitch };
  static constexpr int64_t kMostDevices = 65536;

  // `links`: one for each dimension, or one for all. INVALID_ARGUMENT for a grid without dimensions or with one of no
  // devices, for more than kMostDevices, for another number of links, and for links that are not positive and finite
  // (a latency may be 0).
  static absl::StatusOr<Network> Create(Kind kind, std::vector<int64_t> sizes, std::vector<NetworkLink> links);

  Kind kind() const { return kind_; }
  int64_t devices() const { return devices_; }
  int64_t rank() const { return static_cast<int64_t>(sizes_.size()); }
  absl::Span<const int64_t> sizes() const { return sizes_; }
  const NetworkLink& link(int64_t dimension) const { return links_[dimension]; }
  // Pre: 0 <= device < devices().
  int64_t Coordinate(int64_t device, int64_t dimension) const {
    return device / strides_[dimension] % sizes_[dimension];
  }
  // Whether the links of the dimension form rings: a torus, with three devices or more.
  bool IsRing(int64_t dimension) const { return kind_ == Kind::kTorus && sizes_[dimension] > 2; }
  std::string ToString() const;  // "torus of 4x8"

 private:
  Network(Kind kind, std::vector<int64_t> sizes, std::vector<NetworkLink> links);

  Kind kind_;
  std::vector<int64_t> sizes_, strides_;
  std::vector<NetworkLink> links_;
  int64_t devices_ = 1;
};

}  // namespace kashi

#endif  // KASHI_SCALE_NETWORK_H_
