// DeviceProgram::Reshard: from one sharding of an array to another, by steps that each move as little as possible.
//
//   [{0}, {}]   to  [{0,1}, {}]   a slice: each device has the elements that it needs
//   [{0}, {}]   to  [{}, {0}]     an all-to-all
//   [{0}, {}]   to  [{1}, {}]     a collective-permute, where both axes have one size
//   [{0,1}, {}] to  [{0}, {}]     an all-gather along axis 1
//   anything else                 an all-gather, and further steps from there
//
// Shards of sizes that do not divide evenly nest only sometimes: 7 in 4 parts of 2 and in 2 parts of 4 do, 5 in 4 parts
// of 2 and in 2 parts of 3 do not. Where they do not, the whole dimension is gathered.
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/partition/device_program.h"

namespace kashi::partition {

class Resharder {
 public:
  Resharder(DeviceProgram* program, HloInstruction* x, const Shape& whole, AxisSharding from, const AxisSharding& to)
      : program_(*program), axes_(program->axes()), x_(x), whole_(whole), now_(std::move(from)), to_(to) {}

  absl::StatusOr<HloInstruction*> Run() {
    // Each step gives a dimension its final axes, or takes axes away.
    for (int64_t steps = 64 + 32 * static_cast<int64_t>(to_.size()); now_ != to_; --steps) {
      if (steps == 0) return Internal("no way from %s to %s was found", ToText(now_), ToText(to_));
      if (SliceStep() || AllToAllStep() || PermuteStep()) continue;
      GatherStep();
    }
    return x_;
  }

 private:
  int64_t Size(size_t i) const { return whole_.dimensions(static_cast<int>(i)); }
  int64_t Shard(size_t i, const AxisList& axes) const { return CeilOfRatio(Size(i), axes_.SizeOf(axes)); }
  // Whether the shards of `fine` are parts of those of `coarse`, which is a prefix of it.
  bool Nest(size_t i, const AxisList& coarse, const AxisList& fine) const {
    return Shard(i, fine) * (axes_.SizeOf(fine) / axes_.SizeOf(coarse)) == Shard(i, coarse);
  }

  // Slices all dimensions that only need to become finer, along axes that are free.
  bool SliceStep() {
    const AxisSet used = SetOf(now_);
    std::vector<int64_t> padded, sizes;
    std::vector<std::vector<int64_t>> offsets;
    AxisSharding next = now_;
    for (size_t i = 0; i < to_.size(); ++i) {
      const AxisList more = IsPrefix(now_[i], to_[i]) ? WithoutFirst(to_[i], now_[i].size()) : AxisList();
      const bool fits = !more.empty() && (SetOf(more) & used) == 0 && (now_[i].empty() || Nest(i, now_[i], to_[i]));
      const int64_t size = fits ? Shard(i, to_[i]) : Shard(i, now_[i]);
      padded.push_back(fits ? size * axes_.SizeOf(more) : size);
      sizes.push_back(size);
      offsets.push_back(fits ? axes_.OffsetsAlong(more, size) : std::vector<int64_t>(axes_.devices(), 0));
      if (fits) next[i] = to_[i];
    }
    if (next == now_) return false;
    x_ = program_.SliceAt(program_.PadTo(x_, padded), offsets, sizes);
    now_ = std::move(next);
    return true;
  }

  // The last axes of dimension i belong to the end of dimension k.
  bool CanMove(size_t i, size_t k, const AxisList& kept, const AxisList& moved) const {
    const AxisList target = Joined(now_[k], moved);
    return i != k && IsPrefix(target, to_[k]) && Nest(i, kept, now_[i]) && Nest(k, now_[k], target) &&
           (now_[k].empty() || Shard(k, now_[k]) % axes_.SizeOf(moved) == 0) &&
           Shard(k, now_[k]) % axes_.SizeOf(moved) == 0;
  }

  bool AllToAllStep() {
    for (size_t i = 0; i < to_.size(); ++i) {
      const AxisList kept = CommonPrefix(now_[i], to_[i]);
      const AxisList moved = WithoutFirst(now_[i], kept.size());
      for (size_t k = 0; k < to_.size() && !moved.empty(); ++k) {
        if (!CanMove(i, k, kept, moved)) continue;
        x_ = program_.AllToAll(x_, static_cast<int64_t>(i), static_cast<int64_t>(k), moved);
        now_[k] = Joined(now_[k], moved);
        now_[i] = kept;
        return true;
      }
    }
    return false;
  }

  // Each tile has as many holders before as after. The k-th holder of a tile gets it from the k-th that has it now, but
  // those that have it already keep it.
  std::vector<std::pair<int64_t, int64_t>> Pairs() const {
    std::vector<std::vector<int64_t>> sources, targets;
    for (int64_t device = 0; device < axes_.devices(); ++device) {
      const int64_t had = axes_.TileOf(now_, device), gets = axes_.TileOf(to_, device);
      const size_t most = static_cast<size_t>(std::max(had, gets)) + 1;
      if (sources.size() < most) {
        sources.resize(most);
        targets.resize(most);
      }
      if (had != gets) {
        sources[had].push_back(device);
        targets[gets].push_back(device);
      }
    }
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (int64_t device = 0; device < axes_.devices(); ++device) {
      if (axes_.TileOf(now_, device) == axes_.TileOf(to_, device)) pairs.emplace_back(device, device);
    }
    for (size_t tile = 0; tile < sources.size(); ++tile) {
      for (size_t k = 0; k < sources[tile].size(); ++k) pairs.emplace_back(sources[tile][k], targets[tile][k]);
    }
    absl::c_sort(pairs);
    return pairs;
  }

  bool PermuteStep() {
    for (size_t i = 0; i < to_.size(); ++i) {
      if (axes_.SizeOf(now_[i]) != axes_.SizeOf(to_[i])) return false;
    }
    x_ = program_.Permute(x_, Pairs());
    now_ = to_;
    return true;
  }

  void Gather(size_t i, const AxisList& kept) {
    x_ = program_.AllGather(x_, static_cast<int64_t>(i), WithoutFirst(now_[i], kept.size()));
    now_[i] = kept;
    std::vector<int64_t> sizes(x_->shape().dimensions().begin(), x_->shape().dimensions().end());
    sizes[i] = Shard(i, kept);
    x_ = program_.Slice(x_, sizes);
  }

  void GatherStep() {
    for (size_t i = 0; i < to_.size(); ++i) {
      if (IsPrefix(now_[i], to_[i])) continue;
      const AxisList kept = CommonPrefix(now_[i], to_[i]);
      return Gather(i, Nest(i, kept, now_[i]) ? kept : AxisList());
    }
    // Finer shards that do not nest in those that there are.
    for (size_t i = 0; i < to_.size(); ++i) {
      if (now_[i] != to_[i] && !now_[i].empty()) return Gather(i, {});
    }
  }

  DeviceProgram& program_;
  const DeviceAxes& axes_;
  HloInstruction* x_;
  const Shape& whole_;
  AxisSharding now_;
  const AxisSharding& to_;
};

// Whether each dimension is cut along the same axes, and perhaps more.
static bool IsFiner(const AxisSharding& fine, const AxisSharding& coarse) {
  for (size_t i = 0; i < fine.size(); ++i) {
    if (!IsPrefix(coarse[i], fine[i])) return false;
  }
  return true;
}

absl::StatusOr<HloInstruction*> DeviceProgram::Reshard(HloInstruction* x, const Shape& whole, const AxisSharding& from,
                                                       const AxisSharding& to) {
  if (from == to) return x;
  const std::vector<int64_t> sizes(whole.dimensions().begin(), whole.dimensions().end());
  const auto origin = origins_.find({x, sizes, from});
  if (origin != origins_.end() && IsFiner(to, origin->second.sharding)) {
    return Reshard(origin->second.array, whole, origin->second.sharding, to);
  }
  const auto [place, is_new] = resharded_.try_emplace({Placed{x, sizes, from}, to}, nullptr);
  if (!is_new) return place->second;
  KASHI_ASSIGN_OR_RETURN(place->second, Resharder(this, x, whole, from, to).Run());
  origins_.try_emplace({place->second, sizes, to}, Origin{x, from});
  return place->second;
}

}  // namespace kashi::partition
