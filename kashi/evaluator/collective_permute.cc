// collective-permute: devices send to each other along source_target_pairs. (docs/spec/hlo-ops.md, 7.2)
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/devices/collective_task.h"
#include "kashi/devices/device.h"
#include "kashi/evaluator/collective_exchange.h"
#include "kashi/evaluator/operation.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::evaluator {
namespace {

// All devices that the ids of source_target_pairs can name, in their order.
absl::StatusOr<CollectiveGroup> PermuteGroup(const Operation& op) {
  KASHI_ASSIGN_OR_RETURN(CollectiveGroup group, GroupOf(op));
  for (const auto& [source, target] : op.instruction.source_target_pairs()) {
    const int64_t most = std::max(source, target);
    if (std::min(source, target) >= 0 && most < group.size()) continue;
    return NeedsDevices(op, InvalidArgument("its pairs name id %d, but the ids are 0 to %d", most, group.size() - 1));
  }
  return group;
}

// The result is zeros if no device sends data.
absl::StatusOr<Value> FromSource(Operation& op, const CollectiveGroup& group,
                                 devices::PendingCollective::Received received) {
  if (received.all == nullptr) return OneOrTuple(std::move(received.own));
  for (const auto& [source, target] : op.instruction.source_target_pairs()) {
    if (target == group.own) return OneOrTuple((*received.all)[source]);
  }
  std::vector<Value> zeros;
  for (const Value& value : (*received.all)[group.own]) {
    KASHI_ASSIGN_OR_RETURN(Value zero, Zeros(op, value.dense_shape()));
    zeros.push_back(std::move(zero));
  }
  return OneOrTuple(std::move(zeros));
}

absl::StatusOr<Value> Permute(Operation& op) {
  CollectiveHalves plan;
  KASHI_ASSIGN_OR_RETURN(plan.group, PermuteGroup(op));
  if (IsTask(op, plan.group)) {
    plan.task.emplace(TaskOf(op, plan.group, devices::CollectiveTask::Kind::kPermute));
    plan.task->source_target_pairs = op.instruction.source_target_pairs();
  }
  plan.gives = TakeOperands(op);
  plan.finish = FromSource;
  return RunCollective(op, std::move(plan));
}

// In place: slices of buffers go to slices of others. Operands: input, output (a buffer, or a tuple of them), and the
// offsets of the slices in each:
//
//   buffer f32[8,4]:  (i0, i1), or of several slices ((i0, i1), (i0, i1), …)
//   tuple of buffers: a tuple of these
//
// A device's n-th pair as a source takes its n-th slice of the input, its n-th pair as a target the n-th of the output.

std::vector<Value> BuffersOf(const Value& value) {
  if (!value.is_tuple()) return {value};
  return std::vector<Value>(value.elements().begin(), value.elements().end());
}

// The numbers in a tree of tuples of scalars, one after the other.
absl::Status AppendIntegers(const Operation& op, const Value& value, std::vector<int64_t>* integers) {
  if (!value.is_tuple()) {
    KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> list, Integers(op, value));
    integers->insert(integers->end(), list.begin(), list.end());
    return absl::OkStatus();
  }
  for (const Value& element : value.elements()) KASHI_RETURN_IF_ERROR(AppendIntegers(op, element, integers));
  return absl::OkStatus();
}

// For each buffer the offsets of its slices: an s64 array, all of slice 0, of slice 1, ….
absl::StatusOr<std::vector<Value>> OffsetsOf(const Operation& op, const Value& buffers, const Value& offsets) {
  std::vector<Value> lists;
  for (size_t b = 0; b < BuffersOf(buffers).size(); ++b) {
    std::vector<int64_t> integers;
    KASHI_RETURN_IF_ERROR(AppendIntegers(op, buffers.is_tuple() ? offsets.element(b) : offsets, &integers));
    KASHI_ASSIGN_OR_RETURN(Value list, op.run.MakeArray(S64, {static_cast<int64_t>(integers.size())}));
    absl::c_copy(integers, list.mutable_data<int64_t>().begin());
    lists.push_back(std::move(list));
  }
  return lists;
}

// The beginning of slice n of a buffer, in bytes. It is clamped so that the slice is within the buffer.
absl::StatusOr<int64_t> SliceBegin(const Operation& op, const Value& buffer, absl::Span<const int64_t> offsets,
                                   int64_t n, absl::Span<const int64_t> sizes) {
  const int64_t rank = buffer.rank();
  if (static_cast<int64_t>(sizes.size()) != rank || static_cast<int64_t>(offsets.size()) < (n + 1) * rank) {
    return InvalidArgument("%s: there is no slice %d in %s", op.instruction.name(), n,
                           ShapeUtil::HumanString(buffer.shape()));
  }
  const DimensionVector strides = literal::ElementStrides(buffer.shape());
  int64_t begin = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (sizes[d] < 0 || sizes[d] > buffer.dimension(d)) {
      return InvalidArgument("%s: a slice of size %d does not fit dimension %d of %s", op.instruction.name(), sizes[d],
                             d, ShapeUtil::HumanString(buffer.shape()));
    }
    begin += std::clamp<int64_t>(offsets[n * rank + d], 0, buffer.dimension(d) - sizes[d]) * strides[d];
  }
  return begin * buffer.element_bytes();
}

struct Slice {
  const Value& offsets;
  int64_t n;
};

absl::Status CopySlice(const Operation& op, const Value& from, const Slice& source, Value* to, const Slice& target,
                       absl::Span<const int64_t> sizes) {
  KASHI_ASSIGN_OR_RETURN(const int64_t from_begin,
                         SliceBegin(op, from, source.offsets.data<int64_t>(), source.n, sizes));
  KASHI_ASSIGN_OR_RETURN(const int64_t to_begin, SliceBegin(op, *to, target.offsets.data<int64_t>(), target.n, sizes));
  if (from.element_type() != to->element_type()) {
    return InvalidArgument("%s: cannot copy %s into %s", op.instruction.name(), ShapeUtil::HumanString(from.shape()),
                           ShapeUtil::HumanString(to->shape()));
  }
  literal::CopyStrided(sizes, from.element_bytes(), {from.bytes() + from_begin, literal::ElementStrides(from.shape())},
                       {to->mutable_bytes() + to_begin, literal::ElementStrides(to->shape())});
  return absl::OkStatus();
}

// The sizes of slice n of buffer b: one list for all, or one for each slice of each buffer.
absl::StatusOr<absl::Span<const int64_t>> SliceSizes(const Operation& op, size_t b, size_t buffers, size_t n) {
  const std::vector<Int64List>& lists = *op.instruction.fields().Find<HloField::dynamic_slice_sizes_list>();
  const size_t i = lists.size() == 1 ? 0 : b * (lists.size() / buffers) + n;
  if (i < lists.size()) return absl::Span<const int64_t>(lists[i]);
  return InvalidArgument("%s: no slice_sizes for slice %d", op.instruction.name(), static_cast<int64_t>(i));
}

absl::StatusOr<Value> SlicesFromSources(Operation& op, const CollectiveGroup& group,
                                        devices::PendingCollective::Received received_arrays) {
  const devices::Given& given = *received_arrays.all;
  KASHI_ASSIGN_OR_RETURN(const std::vector<Value> output_offsets, OffsetsOf(op, op.operands[1], op.operands[3]));
  const bool is_tuple = op.operands[1].is_tuple();
  std::vector<Value> outputs = BuffersOf(op.operands[1]);
  op.operands[1] = Value();
  const size_t buffers = outputs.size();
  if (given[0].size() != 2 * buffers) {
    return InvalidArgument("%s has different numbers of inputs and outputs", op.instruction.name());
  }
  for (Value& output : outputs) {
    KASHI_ASSIGN_OR_RETURN(output, Writable(op, std::move(output)));
  }
  absl::flat_hash_map<int64_t, int64_t> sent;
  int64_t received = 0;
  for (const auto& [source, target] : op.instruction.source_target_pairs()) {
    const int64_t source_slice = sent[source]++;
    if (target != group.own) continue;
    for (size_t b = 0; b < buffers; ++b) {
      KASHI_ASSIGN_OR_RETURN(const auto sizes, SliceSizes(op, b, buffers, received));
      KASHI_RETURN_IF_ERROR(CopySlice(op, given[source][b], {given[source][buffers + b], source_slice}, &outputs[b],
                                      {output_offsets[b], received}, sizes));
    }
    ++received;
  }
  return is_tuple ? Value::MakeTuple(std::move(outputs)) : std::move(outputs[0]);
}

absl::StatusOr<Value> PermuteInPlace(Operation& op) {
  CollectiveHalves plan;
  KASHI_ASSIGN_OR_RETURN(plan.group, PermuteGroup(op));
  plan.gives = BuffersOf(op.operands[0]);
  KASHI_ASSIGN_OR_RETURN(std::vector<Value> input_offsets, OffsetsOf(op, op.operands[0], op.operands[2]));
  absl::c_move(input_offsets, std::back_inserter(plan.gives));
  plan.finish = SlicesFromSources;
  return RunCollective(op, std::move(plan));
}

absl::StatusOr<Value> CollectivePermute(Operation& op) {
  return op.instruction.fields().Has(HloField::dynamic_slice_sizes_list) ? PermuteInPlace(op) : Permute(op);
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCollectivePermute>(Operation& op) {
  return CollectivePermute(op);
}

// (inputs, results, contexts…)
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCollectivePermuteStart>(Operation& op) {
  op.start = &op.instruction;
  const bool is_in_place = op.instruction.fields().Has(HloField::dynamic_slice_sizes_list);
  const size_t inputs = is_in_place ? 1 : op.operands.size();
  std::vector<Value> elements = {OneOrTuple({op.operands.begin(), op.operands.begin() + inputs})};
  KASHI_ASSIGN_OR_RETURN(Value results, CollectivePermute(op));
  elements.push_back(std::move(results));
  for (size_t i = 2; i < op.results.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(Value context, Zeros(op, op.result(i)));
    elements.push_back(std::move(context));
  }
  return Value::MakeTuple(std::move(elements));
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCollectivePermuteDone>(Operation& op) {
  return EndCollective(op.instruction, Value::TakeElement(std::move(op.operands[0]), 1));
}

}  // namespace kashi::evaluator
