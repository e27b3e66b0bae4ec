// Writes a computation of the program of a device: instructions, and the pieces that partitioning adds to them.
//
//   table      s32[8] constant({0, 3, 6, …}), dynamic-slice by partition-id: a number for each device
//   gather     all-gather along axes of the devices
//   reshard    slices, all-gathers, all-to-alls and collective-permutes from one sharding to another
//   mask       elements behind the end of the array become a value, where a dimension is not cut evenly
//
// The collectives follow the conventions of XLA's partitioner: channel ids, global device ids, iota groups.
#ifndef KASHI_PARTITION_DEVICE_PROGRAM_H_
#define KASHI_PARTITION_DEVICE_PROGRAM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/partition/device_axes.h"
#include "kashi/partition/halo.h"

namespace kashi::partition {

// The parts that all computations of a device's program share.
class DeviceModule {
 public:
  DeviceModule(HloModule* module, const DeviceAxes& axes, int64_t first_channel)
      : module_(module), axes_(axes), next_channel_(first_channel) {}

  HloModule* module() const { return module_; }
  const DeviceAxes& axes() const { return axes_; }
  int64_t NewChannel() { return next_channel_++; }
  // Gives the channels of a program that is to become a part of this one new numbers.
  void RenumberChannels(HloModule* module);
  // Computations of the module were copied: it lives as long as this.
  void Keep(std::unique_ptr<HloModule> module) { kept_.push_back(std::move(module)); }
  // The copy of a computation of the global program and of the computations that it calls.
  HloComputation* CopyOf(const HloComputation& computation);
  // A computation that combines two scalars.
  HloComputation* CombinerOf(HloOpcode opcode, PrimitiveType type);

 private:
  HloModule* module_;
  const DeviceAxes& axes_;
  int64_t next_channel_;
  std::vector<std::unique_ptr<HloModule>> kept_;
  HloComputationMap copies_;
  std::map<std::pair<HloOpcode, PrimitiveType>, HloComputation*> combiners_;
};

class DeviceProgram {
 public:
  DeviceProgram(absl::string_view name, DeviceModule* module) : module_(*module), builder_(name) {}

  const DeviceAxes& axes() const { return module_.axes(); }
  DeviceModule& module() { return module_; }
  // The instruction of the global program that the following ones are for: they get its metadata.
  void set_source(const HloInstruction* source) { source_ = source; }
  HloInstruction* Add(std::unique_ptr<HloInstruction> instruction);
  std::unique_ptr<HloComputation> Build(HloInstruction* root) { return builder_.Build(root); }

  // ---- Small things.
  HloInstruction* Constant(Literal literal) { return Add(HloInstruction::CreateConstant(std::move(literal))); }
  HloInstruction* Zero(PrimitiveType type);
  // An array of zeros, a token, or a tuple of such values.
  HloInstruction* Zeros(const Shape& shape);
  // The number of this device, an s32 or s64 scalar: [device].
  HloInstruction* Table(absl::Span<const int64_t> number_of_device);
  HloInstruction* PartitionId();
  HloInstruction* Reshape(HloInstruction* x, absl::Span<const int64_t> dimensions);
  HloInstruction* Slice(HloInstruction* x, absl::Span<const int64_t> limits);  // from 0 up
  // Elements [begin, end) along one dimension.
  HloInstruction* Part(HloInstruction* x, int64_t dimension, int64_t begin, int64_t end);
  // Zeros behind the elements.
  HloInstruction* PadTo(HloInstruction* x, absl::Span<const int64_t> dimensions);
  HloInstruction* Broadcast(HloInstruction* scalar, const Shape& shape);
  // The element of a tuple, or its part at an index.
  HloInstruction* Element(HloInstruction* tuple, absl::Span<const int64_t> index);

  // ---- Pieces of arrays.
  // The part of these sizes that begins at offsets[dimension][device].
  HloInstruction* SliceAt(HloInstruction* x, absl::Span<const std::vector<int64_t>> offsets,
                          absl::Span<const int64_t> sizes);
  // The first sizes[device] elements along a dimension stay; the others become the scalar.
  HloInstruction* Mask(HloInstruction* x, int64_t dimension, const std::vector<int64_t>& sizes, HloInstruction* scalar);
  // The first ones become the scalar, and the others stay.
  HloInstruction* MaskBefore(HloInstruction* x, int64_t dimension, const std::vector<int64_t>& sizes,
                             HloInstruction* scalar);
  // Masks the dimensions of a shard of `whole` that are not cut evenly.
  HloInstruction* MaskPadding(HloInstruction* x, const Shape& whole, const AxisSharding& sharding,
                              HloInstruction* scalar);

  // ---- Collectives.
  HloInstruction* AllGather(HloInstruction* x, int64_t dimension, const AxisList& axes);
  HloInstruction* AllReduce(HloInstruction* x, HloComputation* combiner, const AxisList& axes);
  // The sum of the parts, kept so that two users share it.
  HloInstruction* SumAlong(HloInstruction* part, const AxisList& axes);
  // The sum of parts that are shards of `whole` under a sharding. If it is wanted in pieces along the same axes, each
  // device gets its piece only, and the sharding says so.
  HloInstruction* Combine(HloInstruction* part, HloComputation* combiner, const AxisList& axes, const Shape& whole,
                          const AxisSharding& wanted, AxisSharding* sharding);
  // Zeros on all devices but the first ones along the axes: the sum along them is the value.
  HloInstruction* KeepOnFirst(HloInstruction* x, const AxisList& axes);
  HloInstruction* ReduceScatter(HloInstruction* x, HloComputation* combiner, int64_t dimension, const AxisList& axes);
  // Parts of dimension `to` go to the other devices, and those that come are joined along dimension `from`.
  HloInstruction* AllToAll(HloInstruction* x, int64_t from, int64_t to, const AxisList& axes);
  HloInstruction* Permute(HloInstruction* x, const std::vector<std::pair<int64_t, int64_t>>& pairs);
  // The value of device `holder`, on all devices.
  HloInstruction* BroadcastFrom(HloInstruction* x, int64_t holder);

  // The elements that windows over an array need, of which each device has a part along some axes (halo.cc): those from
  // plan.places on. Elements outside of the array are the scalar, where the plan says that they count.
  HloInstruction* ElementsForWindows(HloInstruction* x, int64_t dimension, const AxisList& along,
                                     const MovingWindow& window, const HaloPlan& plan, HloInstruction* outside);

  // The shard of an array that is cut evenly along some axes, rotated (rotation.h): element i of the result is element
  // i + by, modulo the size. 0 <= by < size.
  HloInstruction* Rotate(HloInstruction* x, int64_t dimension, const AxisList& along, int64_t by);

  // A shard of an array of shape `whole` under another sharding (resharding.cc). Kept, so that two users share it. If x
  // was made here itself, of an array that has all that is wanted, it is made of that: nothing is brought back.
  absl::StatusOr<HloInstruction*> Reshard(HloInstruction* x, const Shape& whole, const AxisSharding& from,
                                          const AxisSharding& to);
  // The array of sizes `whole` that consists of tiles, all of the shape of x: tile t, in row-major order, comes from
  // device sources[t][device]. `tiles`: the number of tiles along each dimension.
  HloInstruction* Assemble(HloInstruction* x, absl::Span<const int64_t> tiles, absl::Span<const int64_t> whole,
                           absl::Span<const std::vector<int64_t>> sources);

 private:
  friend class Resharder;
  HloInstruction* FromNeighbour(HloInstruction* x, const AxisList& along, int64_t distance, bool goes_around = false);
  HloInstruction* ExchangeHalo(HloInstruction* x, int64_t dimension, const AxisList& along, const HaloPlan& plan);
  HloInstruction* PadEdges(HloInstruction* x, int64_t dimension, int64_t low, int64_t high);
  HloInstruction* Choose(HloInstruction* x, int64_t dimension, const std::vector<int64_t>& numbers,
                         ComparisonDirection direction, HloInstruction* scalar);
  HloInstruction* IndexConstant(PrimitiveType type, int64_t value);

  DeviceModule& module_;
  HloComputation::Builder builder_;
  const HloInstruction* source_ = nullptr;
  HloInstruction* partition_id_ = nullptr;
  std::map<std::vector<int64_t>, HloInstruction*> tables_;
  std::map<std::pair<PrimitiveType, int64_t>, HloInstruction*> indices_;
  std::map<PrimitiveType, HloInstruction*> zeros_;
  // An array of these sizes of which an instruction is the shard under a sharding. At the borders of manual regions one
  // instruction is a shard of several arrays.
  using Placed = std::tuple<const HloInstruction*, std::vector<int64_t>, AxisSharding>;
  struct Origin {
    HloInstruction* array;
    AxisSharding sharding;
  };
  std::map<std::pair<Placed, AxisSharding>, HloInstruction*> resharded_;
  std::map<std::pair<const HloInstruction*, AxisList>, HloInstruction*> sums_;
  std::map<Placed, Origin> origins_;  // what the results of Reshard were made of
  std::map<std::pair<const HloInstruction*, int64_t>, HloInstruction*> elements_;
};

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_DEVICE_PROGRAM_H_
