// The borders of manual regions: custom calls that turn a whole array into one array per device, or back.
//
//   GSPMD    f32[4,4] custom-call(f32[8,16] x), custom_call_target="SPMDFullToShardShape", sharding={manual}
//            f32[8,8] custom-call(f32[4,8] y), custom_call_target="SPMDShardToFullShape", sharding={devices=…}
//   Shardy   custom-call(a, b), custom_call_target="xla.sdy.GlobalToLocalShape", xla.sdy.in_shardings, manual_axes
//            custom-call(c, d), custom_call_target="xla.sdy.LocalToGlobalShape", xla.sdy.out_shardings, manual_axes
//
// A border moves no elements between devices, it only changes the view: tile t of the operand on a device is tile u of
// the result there. So one rule holds for both directions, and for regions that are manual over some axes only: the
// result of a device consists of the pieces of the devices in its group.
//
//   x is tiled {devices=[2,1,4]<=[8] last_tile_dim_replicate},
//   the result {devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}:
//   8 devices, tile t = device / 4 of x; one tile and two groups in the result: group = device / 4.
//
// Shardy's `unreduced` axes: along them each device has a term of a sum, the array itself is the sum. On the way in,
// the first device along these axes gets the array, and the others zeros.
#ifndef KASHI_DEVICES_SHARDING_BORDER_H_
#define KASHI_DEVICES_SHARDING_BORDER_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/spmd/shard_grid.h"
#include "kashi/values/memory_budget.h"
#include "kashi/values/value.h"

namespace kashi::devices {

// The direction of a border.
enum class BorderKind { kNone, kIntoRegion, kOutOfRegion };
BorderKind BorderKindOf(const HloInstruction& instruction);

// The conversion of one operand at a border.
class ShardingBorder {
 public:
  // One for each operand. INVALID_ARGUMENT if a sharding is missing or does not fit the shapes.
  static absl::StatusOr<std::vector<ShardingBorder>> Make(const HloInstruction& custom_call, int64_t num_devices);

  // The part of the operand and of the result that each device holds. Devices of one group share a result.
  const ShardGrid& from() const { return from_; }
  const ShardGrid& to() const { return to_; }
  int64_t GroupOf(int64_t device) const { return groups_[device]; }

  // The number of terms of the sum, and that of the term of a device; 1 and 0 where there is no sum.
  int64_t terms() const;
  int64_t TermOf(int64_t device) const { return terms_.empty() ? 0 : terms_[device]; }

  // The devices whose pieces make the result of `device`, this one among them.
  std::vector<int64_t> MembersFor(int64_t device) const;
  // A term of the result of `device`, or the result itself if there are no others: operand_of(k) is the operand of
  // device k. It is called for `device` and for members only.
  absl::StatusOr<Value> Assemble(const std::shared_ptr<MemoryBudget>& memory, int64_t device, int64_t term,
                                 absl::FunctionRef<const Value&(int64_t device)> operand_of) const;

 private:
  ShardingBorder(ShardGrid from, ShardGrid to, std::vector<int64_t> groups, std::vector<int64_t> terms = {})
      : from_(std::move(from)), to_(std::move(to)), groups_(std::move(groups)), terms_(std::move(terms)) {}
  static absl::StatusOr<std::vector<ShardingBorder>> MakeOfShardings(const HloInstruction& custom_call,
                                                                     int64_t devices);
  static absl::StatusOr<std::vector<ShardingBorder>> MakeOfAxes(const HloInstruction& custom_call, int64_t devices);

  ShardGrid from_;
  ShardGrid to_;
  std::vector<int64_t> groups_;  // by device; the devices of a group share a result
  std::vector<int64_t> terms_;   // by device; empty: there is no sum
};

}  // namespace kashi::devices

#endif  // KASHI_DEVICES_SHARDING_BORDER_H_
