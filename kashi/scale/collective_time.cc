#include "kashi/scale/collective_time.h"

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"
#include "kashi/base/check.h"

namespace kashi::scale {
namespace {

CollectiveTime Faster(CollectiveTime a, CollectiveTime b) { return b.seconds < a.seconds ? b : a; }

// ---- A switch -------------------------------------------------------------------------------------------------------

class SwitchTimes {
 public:
  SwitchTimes(double bytes, const GroupSide& side)
      : bytes_(bytes), side_(side), n_(static_cast<double>(side.members)), rounds_(std::ceil(std::log2(n_))) {}

  CollectiveTime Gather() const { return {Seconds(rounds_, others()), "recursive doubling"}; }
  CollectiveTime Reduce() const {
    // Numbers of members that are no power of two need one more round at the beginning and at the end.
    const double extra = std::exp2(rounds_) == n_ ? 0 : 1;
    return Faster({Seconds(rounds_ + extra, bytes_ * (rounds_ + extra)), "recursive doubling"},
                  {Seconds(2 * rounds_, 2 * others()), "halving and doubling"});
  }
  CollectiveTime Exchange() const {
    return Faster({Seconds(rounds_, bytes_ / 2 * rounds_), "Bruck"}, {Seconds(n_ - 1, others()), "pairwise"});
  }
  CollectiveTime Broadcast() const {
    return Faster({Seconds(rounds_, bytes_ * rounds_), "tree"},
                  {Seconds(rounds_ + n_ - 1, 2 * others()), "scatter and all-gather"});
  }

 private:
  double Seconds(double steps, double bytes) const {
    return steps * side_.hop_seconds + bytes * side_.seconds_per_byte;
  }
  double others() const { return bytes_ * (n_ - 1) / n_; }

  double bytes_;
  GroupSide side_;
  double n_, rounds_;
};

// ---- A torus --------------------------------------------------------------------------------------------------------

// The seconds of an all-gather of `bytes` in all along one side.
double SideSeconds(const GroupSide& side, double bytes) {
  const auto k = static_cast<double>(side.members);
  const double steps = side.is_ring ? std::floor(k / 2) : k - 1;
  const double part = (k - 1) / k / (side.is_ring ? 2 : 1);
  return steps * side.hop_seconds + bytes * part * side.seconds_per_byte;
}

// Part p of the data takes side (p + stage) mod D in each stage. A reduce-scatter shrinks it on the way; an all-gather
// is the same in reverse.
double SidesSeconds(absl::Span<const GroupSide> sides, double bytes) {
  const size_t d = sides.size();
  std::vector<double> parts(d, bytes / static_cast<double>(d));
  double seconds = 0;
  for (size_t stage = 0; stage < d; ++stage) {
    double slowest = 0;
    for (size_t part = 0; part < d; ++part) {
      const GroupSide& side = sides[(part + stage) % d];
      slowest = std::max(slowest, SideSeconds(side, parts[part]));
      parts[part] /= static_cast<double>(side.members);
    }
    seconds += slowest;
  }
  return seconds;
}

double HopSeconds(absl::Span<const GroupSide> sides) {
  double seconds = 0;
  for (const GroupSide& side : sides) {
    seconds += static_cast<double>(side.is_ring ? side.members / 2 : side.members - 1) * side.hop_seconds;
  }
  return seconds;
}

absl::string_view RingName(absl::Span<const GroupSide> sides) {
  if (sides.size() > 1) return "rings of several dimensions";
  return sides[0].is_ring ? "ring" : "row";
}

CollectiveTime TorusReduce(absl::Span<const GroupSide> sides, double bytes, int64_t members) {
  return Faster({2 * SidesSeconds(sides, bytes), RingName(sides)},
                {SidesSeconds(sides, bytes * static_cast<double>(members)), "all-gather of operands"});
}

CollectiveTime TorusExchange(absl::Span<const GroupSide> sides, double bytes) {
  double slowest = 0;
  for (const GroupSide& side : sides) {
    const double part = static_cast<double>(side.members) / (side.is_ring ? 8 : 4);
    slowest = std::max(slowest, bytes * part * side.seconds_per_byte);
  }
  return {HopSeconds(sides) + slowest, "direct"};
}

CollectiveTime TorusBroadcast(absl::Span<const GroupSide> sides, double bytes) {
  double slowest = 0;
  for (const GroupSide& side : sides) slowest = std::max(slowest, side.seconds_per_byte);
  return {HopSeconds(sides) + bytes * slowest, "pipeline"};
}

}  // namespace

CollectiveTime TimeOf(HloOpcode opcode, double bytes, const GroupGeometry& geometry, Network::Kind kind) {
  const absl::Span<const GroupSide> sides = geometry.sides;
  if (sides.empty()) return {};
  const bool is_switch = kind == Network::Kind::kSwitch;
  const SwitchTimes of_switch(bytes, sides[0]);
  if (opcode == HloOpcode::kAllReduce) {
    return is_switch ? of_switch.Reduce() : TorusReduce(sides, bytes, geometry.members);
  }
  if (opcode == HloOpcode::kAllGather || opcode == HloOpcode::kReduceScatter) {
    return is_switch ? of_switch.Gather() : CollectiveTime{SidesSeconds(sides, bytes), RingName(sides)};
  }
  // A reduction to one member is a broadcast backwards.
  if (opcode == HloOpcode::kCollectiveBroadcast || opcode == HloOpcode::kCollectiveReduce) {
    return is_switch ? of_switch.Broadcast() : TorusBroadcast(sides, bytes);
  }
  KASHI_CHECK(opcode == HloOpcode::kAllToAll || opcode == HloOpcode::kRaggedAllToAll);
  return is_switch ? of_switch.Exchange() : TorusExchange(sides, bytes);
}

}  // namespace kashi::scale
