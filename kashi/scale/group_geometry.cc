#include "kashi/scale/group_geometry.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "absl/algorithm/container.h"
#include "kashi/base/check.h"

namespace kashi::scale {
namespace {

// The coordinates of a group in one dimension, if they are evenly spaced.
struct Span1D {
  int64_t first = 0, members = 1, stride = 1;
};

std::optional<Span1D> EvenSpan(std::vector<int64_t> coordinates) {
  absl::c_sort(coordinates);
  coordinates.erase(std::unique(coordinates.begin(), coordinates.end()), coordinates.end());
  Span1D span = {coordinates[0], static_cast<int64_t>(coordinates.size()), 1};
  if (span.members == 1) return span;
  span.stride = coordinates[1] - coordinates[0];
  for (size_t i = 1; i < coordinates.size(); ++i) {
    if (coordinates[i] - coordinates[i - 1] != span.stride) return std::nullopt;
  }
  return span;
}

// The spans of a group that fills a grid within the network's.
std::optional<std::vector<Span1D>> GridOf(const Network& network, absl::Span<const int64_t> group) {
  std::vector<Span1D> spans;
  int64_t product = 1;
  for (int64_t dimension = 0; dimension < network.rank(); ++dimension) {
    std::vector<int64_t> coordinates;
    coordinates.reserve(group.size());
    for (const int64_t device : group) coordinates.push_back(network.Coordinate(device, dimension));
    const std::optional<Span1D> span = EvenSpan(std::move(coordinates));
    if (!span.has_value()) return std::nullopt;
    product *= span->members;
    spans.push_back(*span);
  }
  // Members are different devices, so a product of this size has each of them.
  if (product != static_cast<int64_t>(group.size())) return std::nullopt;
  return spans;
}

// The grids of all groups if they have the same sides, and only the place differs.
std::optional<std::vector<std::vector<Span1D>>> EqualGrids(const Network& network,
                                                           absl::Span<const std::vector<int64_t>> groups) {
  std::vector<std::vector<Span1D>> grids;
  for (const std::vector<int64_t>& group : groups) {
    std::optional<std::vector<Span1D>> grid = GridOf(network, group);
    if (!grid.has_value()) return std::nullopt;
    const auto is_alike = [](const Span1D& a, const Span1D& b) {
      return a.members == b.members && (a.members == 1 || a.stride == b.stride);
    };
    if (!grids.empty() && !absl::c_equal(grids[0], *grid, is_alike)) return std::nullopt;
    grids.push_back(*std::move(grid));
  }
  return grids;
}

bool GoesRound(const Network& network, int64_t dimension, const Span1D& span) {
  return network.IsRing(dimension) && span.members > 2 && span.members * span.stride == network.sizes()[dimension];
}

// The number of groups that use the busiest link in one dimension. All devices of a row of the network have the same
// coordinates in other dimensions; groups in different rows share no link.
int64_t GroupsOnALink(const Network& network, int64_t dimension, absl::Span<const std::vector<int64_t>> groups,
                      absl::Span<const std::vector<Span1D>> grids) {
  const int64_t size = network.sizes()[dimension];
  // loads[row * size + position]: the link behind the position; a row is named by its device at coordinate 0.
  std::vector<int32_t> loads(network.devices());
  int64_t most = 0;
  int64_t stride = 1;
  for (int64_t other = dimension + 1; other < network.rank(); ++other) stride *= network.sizes()[other];
  for (size_t g = 0; g < groups.size(); ++g) {
    const Span1D& span = grids[g][dimension];
    const int64_t links = GoesRound(network, dimension, span) ? size : (span.members - 1) * span.stride;
    for (const int64_t device : groups[g]) {
      if (network.Coordinate(device, dimension) != span.first) continue;  // once for each row
      const int64_t row = device - span.first * stride;
      for (int64_t i = 0; i < links; ++i) {
        most = std::max<int64_t>(most, ++loads[row + (span.first + i) % size * stride]);
      }
    }
  }
  return most;
}

GroupGeometry GridGeometry(const Network& network, absl::Span<const std::vector<int64_t>> groups,
                           absl::Span<const std::vector<Span1D>> grids) {
  GroupGeometry geometry;
  for (int64_t dimension = 0; dimension < network.rank(); ++dimension) {
    const Span1D& span = grids[0][dimension];
    if (span.members == 1) continue;
    const auto sharing = static_cast<double>(GroupsOnALink(network, dimension, groups, grids));
    GroupSide side;
    side.members = span.members;
    side.is_ring = GoesRound(network, dimension, span);
    side.hop_seconds = network.link(dimension).latency_seconds * static_cast<double>(span.stride);
    side.seconds_per_byte = network.link(dimension).SecondsPerByte() * sharing;
    geometry.sides.push_back(side);
  }
  return geometry;
}

// The ring through the members of each group, in their order.
GroupSide RingThroughMembers(const Network& network, absl::Span<const std::vector<int64_t>> groups) {
  std::vector<std::pair<int64_t, int64_t>> messages;
  GroupSide side;
  for (const std::vector<int64_t>& group : groups) {
    side.members = std::max(side.members, static_cast<int64_t>(group.size()));
    for (size_t i = 0; i < group.size() && group.size() > 1; ++i) {
      messages.emplace_back(group[i], group[(i + 1) % group.size()]);
    }
  }
  const RouteLoad load = LoadOf(network, messages);
  side.hop_seconds = load.hop_seconds;
  side.seconds_per_byte = load.seconds_per_byte;
  return side;
}

// The slowest link of the dimensions in which the members of a group differ.
GroupSide SwitchSide(const Network& network, absl::Span<const std::vector<int64_t>> groups) {
  GroupSide side;
  for (const std::vector<int64_t>& group : groups) {
    side.members = std::max(side.members, static_cast<int64_t>(group.size()));
    for (int64_t dimension = 0; dimension < network.rank(); ++dimension) {
      const auto differs = [&](int64_t device) {
        return network.Coordinate(device, dimension) != network.Coordinate(group[0], dimension);
      };
      if (!absl::c_any_of(group, differs)) continue;
      side.hop_seconds = std::max(side.hop_seconds, network.link(dimension).latency_seconds);
      side.seconds_per_byte = std::max(side.seconds_per_byte, network.link(dimension).SecondsPerByte());
    }
  }
  return side;
}

// Steps from one coordinate to another: positive to the right.
int64_t ShorterWay(const Network& network, int64_t dimension, int64_t from, int64_t to) {
  const int64_t steps = to - from, size = network.sizes()[dimension];
  if (!network.IsRing(dimension) || 2 * std::abs(steps) <= size) return steps;
  return steps > 0 ? steps - size : steps + size;
}

// Counts messages on the links of a torus.
class LinkLoads {
 public:
  explicit LinkLoads(const Network& network) : network_(network), loads_(2 * network.rank() * network.devices()) {}

  void Add(int64_t from, int64_t to) {
    double latency = 0;
    int64_t at = from;
    int64_t stride = 1;
    for (int64_t dimension = network_.rank(); dimension-- > 0;) {
      const int64_t size = network_.sizes()[dimension];
      const int64_t steps =
          ShorterWay(network_, dimension, network_.Coordinate(at, dimension), network_.Coordinate(to, dimension));
      const NetworkLink& link = network_.link(dimension);
      latency += link.latency_seconds * static_cast<double>(std::abs(steps));
      for (int64_t i = 0; i < std::abs(steps); ++i) {
        const int64_t load = ++loads_[2 * (dimension * network_.devices() + at) + (steps > 0)];
        most_.seconds_per_byte = std::max(most_.seconds_per_byte, link.SecondsPerByte() * static_cast<double>(load));
        const int64_t coordinate = network_.Coordinate(at, dimension);
        at += ((coordinate + (steps > 0 ? 1 : size - 1)) % size - coordinate) * stride;
      }
      stride *= size;
    }
    KASHI_DCHECK(at == to);
    most_.hop_seconds = std::max(most_.hop_seconds, latency);
  }
  const RouteLoad& most() const { return most_; }

 private:
  const Network& network_;
  std::vector<int32_t> loads_;  // of the link that leaves a device, by dimension and direction
  RouteLoad most_;
};

}  // namespace

RouteLoad LoadOf(const Network& network, absl::Span<const std::pair<int64_t, int64_t>> messages) {
  if (network.kind() == Network::Kind::kTorus) {
    LinkLoads loads(network);
    for (const auto& [from, to] : messages) loads.Add(from, to);
    return loads.most();
  }
  RouteLoad most;
  for (const auto& [from, to] : messages) {
    const std::vector<int64_t> pair = {from, to};
    const GroupSide side = SwitchSide(network, absl::MakeConstSpan(&pair, 1));
    most.hop_seconds = std::max(most.hop_seconds, side.hop_seconds);
    most.seconds_per_byte = std::max(most.seconds_per_byte, side.seconds_per_byte);
  }
  return most;
}

GroupGeometry GeometryOf(const Network& network, absl::Span<const std::vector<int64_t>> groups) {
  GroupGeometry geometry;
  if (groups.empty()) return geometry;
  if (network.kind() == Network::Kind::kSwitch) {
    geometry.sides = {SwitchSide(network, groups)};
  } else if (const auto grids = EqualGrids(network, groups)) {
    geometry = GridGeometry(network, groups, *grids);
  } else {
    geometry.sides = {RingThroughMembers(network, groups)};
  }
  geometry.groups = static_cast<int64_t>(groups.size());
  geometry.members = 0;
  for (const std::vector<int64_t>& group : groups) {
    geometry.members = std::max(geometry.members, static_cast<int64_t>(group.size()));
  }
  if (geometry.members == 1) geometry.sides.clear();
  return geometry;
}

}  // namespace kashi::scale
