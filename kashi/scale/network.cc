#include "kashi/scale/network.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/status.h"

namespace kashi {

absl::StatusOr<Network> Network::Create(Kind kind, std::vector<int64_t> sizes, std::vector<NetworkLink> links) {
  if (sizes.empty()) return InvalidArgument("a network needs one dimension or more");
  int64_t devices = 1;
  for (const int64_t size : sizes) {
    if (size < 1) return InvalidArgument("a dimension of a network has %d devices", size);
    if (size > kMostDevices / devices) return InvalidArgument("a network may have %d devices at most", kMostDevices);
    devices *= size;
  }
  if (links.size() == 1) links.resize(sizes.size(), links[0]);
  if (links.size() != sizes.size()) {
    return InvalidArgument("the network has %d dimensions, but there are links for %d", sizes.size(), links.size());
  }
  for (const NetworkLink& link : links) {
    if (!(link.latency_seconds >= 0) || !std::isfinite(link.latency_seconds)) {
      return InvalidArgument("a latency must be 0 or more");
    }
    if (!(link.bytes_per_second > 0) || !std::isfinite(link.bytes_per_second)) {
      return InvalidArgument("a bandwidth must be more than 0");
    }
  }
  return Network(kind, std::move(sizes), std::move(links));
}

Network::Network(Kind kind, std::vector<int64_t> sizes, std::vector<NetworkLink> links)
    : kind_(kind), sizes_(std::move(sizes)), strides_(sizes_.size()), links_(std::move(links)) {
  for (size_t i = sizes_.size(); i-- > 0;) {
    strides_[i] = devices_;
    devices_ *= sizes_[i];
  }
}

std::string Network::ToString() const {
  return absl::StrCat(kind_ == Kind::kTorus ? "torus" : "switch", " of ", absl::StrJoin(sizes_, "x"));
}

}  // namespace kashi
