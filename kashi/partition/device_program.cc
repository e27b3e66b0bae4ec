#include "kashi/partition/device_program.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/hlo/attributes/padding_config.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/literal/literal_util.h"

namespace kashi::partition {
namespace {

// XLA's partitioner uses s32 too.
PrimitiveType IndexTypeFor(absl::Span<const int64_t> numbers) {
  const bool is_small = absl::c_all_of(numbers, [](int64_t n) { return n <= std::numeric_limits<int32_t>::max(); });
  return is_small ? S32 : S64;
}

Literal ListOf(PrimitiveType type, absl::Span<const int64_t> numbers) {
  if (type == S64) return LiteralUtil::CreateR1<int64_t>(numbers);
  const std::vector<int32_t> narrow(numbers.begin(), numbers.end());
  return LiteralUtil::CreateR1<int32_t>(narrow);
}

Shape WithDimensions(const Shape& shape, absl::Span<const int64_t> dimensions) {
  return ShapeUtil::MakeShape(shape.element_type(), dimensions);
}

Shape WithDimension(Shape shape, int64_t dimension, int64_t size) {
  shape.set_dimensions(static_cast<int>(dimension), size);
  return shape;
}

std::vector<int64_t> DimensionsOf(const HloInstruction& x) {
  return std::vector<int64_t>(x.shape().dimensions().begin(), x.shape().dimensions().end());
}

}  // namespace

// ---- DeviceModule --------------------------------------------------------------------------------------------------

// Takes the sharding calls out: JAX writes some on the scalars of an all-reduce's computation.
static void DropShardingCalls(HloComputation* computation) {
  for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
    instruction->clear_sharding();
    const bool is_plain = instruction->operand_count() == 1 && instruction->shape() == instruction->operand(0)->shape();
    if (!hlo::IsShardingCall(*instruction) || !is_plain) continue;
    computation->ReplaceInstruction(instruction, instruction->mutable_operand(0)).IgnoreError();  // of one shape
  }
}

HloComputation* DeviceModule::CopyOf(const HloComputation& computation) {
  const auto copy = [this](const HloComputation* original) {
    if (copies_.contains(original)) return;
    copies_[original] = module_->AddEmbeddedComputation(original->Clone("", &copies_));
    DropShardingCalls(copies_[original]);
  };
  if (!copies_.contains(&computation)) {
    for (const HloComputation* called : computation.MakeEmbeddedComputationsList()) copy(called);
    copy(&computation);
  }
  return copies_.at(&computation);
}

HloComputation* DeviceModule::CombinerOf(HloOpcode opcode, PrimitiveType type) {
  HloComputation*& combiner = combiners_[{opcode, type}];
  if (combiner != nullptr) return combiner;
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  HloComputation::Builder builder(HloOpcodeString(opcode));
  HloInstruction* a = builder.AddInstruction(HloInstruction::CreateParameter(0, scalar, "a"));
  HloInstruction* b = builder.AddInstruction(HloInstruction::CreateParameter(1, scalar, "b"));
  builder.AddInstruction(HloInstruction::CreateBinary(scalar, opcode, a, b));
  combiner = module_->AddEmbeddedComputation(builder.Build());
  return combiner;
}

void DeviceModule::RenumberChannels(HloModule* module) {
  absl::flat_hash_map<int64_t, int64_t> channels;
  for (HloComputation* computation : module->computations()) {
    for (HloInstruction* instruction : computation->instructions()) {
      if (!instruction->channel_id().has_value()) continue;
      const auto [channel, is_new] = channels.try_emplace(*instruction->channel_id(), 0);
      if (is_new) channel->second = NewChannel();
      instruction->set_channel_id(channel->second);
    }
  }
}

// ---- Small things --------------------------------------------------------------------------------------------------

HloInstruction* DeviceProgram::Add(std::unique_ptr<HloInstruction> instruction) {
  if (source_ != nullptr && source_->has_metadata() && !instruction->has_metadata()) {
    instruction->set_metadata(source_->metadata());
  }
  return builder_.AddInstruction(std::move(instruction));
}

HloInstruction* DeviceProgram::Zero(PrimitiveType type) {
  HloInstruction*& zero = zeros_[type];
  if (zero == nullptr) zero = Constant(LiteralUtil::Zero(type));
  return zero;
}

HloInstruction* DeviceProgram::Zeros(const Shape& shape) {
  if (shape.IsToken()) return Add(HloInstruction::CreateToken());
  if (shape.IsArray()) return Broadcast(Zero(shape.element_type()), shape);
  std::vector<HloInstruction*> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(Zeros(element));
  return Add(HloInstruction::CreateTuple(elements));
}

HloInstruction* DeviceProgram::IndexConstant(PrimitiveType type, int64_t value) {
  HloInstruction*& constant = indices_[{type, value}];
  if (constant == nullptr) constant = Constant(LiteralUtil::CreateR0(type, value));
  return constant;
}

HloInstruction* DeviceProgram::PartitionId() {
  if (partition_id_ == nullptr) partition_id_ = Add(HloInstruction::CreatePartitionId());
  return partition_id_;
}

HloInstruction* DeviceProgram::Table(absl::Span<const int64_t> number_of_device) {
  const PrimitiveType type = IndexTypeFor(number_of_device);
  const bool is_same = absl::c_all_of(number_of_device, [&](int64_t n) { return n == number_of_device[0]; });
  if (is_same) return IndexConstant(type, number_of_device[0]);
  HloInstruction*& number = tables_[{number_of_device.begin(), number_of_device.end()}];
  if (number != nullptr) return number;
  HloInstruction* table = Constant(ListOf(type, number_of_device));
  HloInstruction* id = PartitionId();
  HloInstruction* entry = Add(HloInstruction::CreateDynamicSlice(ShapeUtil::MakeShape(type, {1}), table, {id}, {1}));
  number = Reshape(entry, {});
  return number;
}

HloInstruction* DeviceProgram::Reshape(HloInstruction* x, absl::Span<const int64_t> dimensions) {
  if (x->shape().dimensions() == dimensions) return x;
  return Add(HloInstruction::CreateReshape(WithDimensions(x->shape(), dimensions), x));
}

HloInstruction* DeviceProgram::Slice(HloInstruction* x, absl::Span<const int64_t> limits) {
  if (x->shape().dimensions() == limits) return x;
  const std::vector<int64_t> zeros(limits.size(), 0), ones(limits.size(), 1);
  return Add(HloInstruction::CreateSlice(WithDimensions(x->shape(), limits), x, zeros, limits, ones));
}

HloInstruction* DeviceProgram::Part(HloInstruction* x, int64_t dimension, int64_t begin, int64_t end) {
  std::vector<int64_t> starts(x->shape().rank(), 0), limits = DimensionsOf(*x);
  const std::vector<int64_t> ones(starts.size(), 1);
  if (begin == 0 && end == limits[dimension]) return x;
  starts[dimension] = begin;
  limits[dimension] = end;
  return Add(HloInstruction::CreateSlice(WithDimension(x->shape(), dimension, end - begin), x, starts, limits, ones));
}

HloInstruction* DeviceProgram::PadTo(HloInstruction* x, absl::Span<const int64_t> dimensions) {
  if (x->shape().dimensions() == dimensions) return x;
  std::vector<std::pair<int64_t, int64_t>> padding;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    padding.emplace_back(0, dimensions[i] - x->shape().dimensions(static_cast<int>(i)));
  }
  return Add(HloInstruction::CreatePad(WithDimensions(x->shape(), dimensions), x, Zero(x->shape().element_type()),
                                       MakeEdgePaddingConfig(padding)));
}

HloInstruction* DeviceProgram::Broadcast(HloInstruction* scalar, const Shape& shape) {
  if (shape.rank() == 0) return scalar;
  const Shape result = ShapeUtil::MakeShape(scalar->shape().element_type(), shape.dimensions());
  return Add(HloInstruction::CreateBroadcast(result, scalar, {}));
}

HloInstruction* DeviceProgram::Element(HloInstruction* tuple, absl::Span<const int64_t> index) {
  for (const int64_t i : index) {
    HloInstruction*& element = elements_[{tuple, i}];
    if (element == nullptr) element = Add(HloInstruction::CreateGetTupleElement(tuple, i));
    tuple = element;
  }
  return tuple;
}

// ---- Pieces --------------------------------------------------------------------------------------------------------

HloInstruction* DeviceProgram::SliceAt(HloInstruction* x, absl::Span<const std::vector<int64_t>> offsets,
                                       absl::Span<const int64_t> sizes) {
  int64_t largest = 0;
  for (const std::vector<int64_t>& along : offsets) largest = std::max(largest, *absl::c_max_element(along));
  if (largest == 0 || x->shape().dimensions() == sizes) return Slice(x, sizes);
  const bool is_wide = largest > std::numeric_limits<int32_t>::max();
  std::vector<HloInstruction*> starts;
  for (const std::vector<int64_t>& along : offsets) {
    HloInstruction* start = Table(along);
    if (is_wide && start->shape().element_type() != S64) {  // all starts have one type
      start = Add(HloInstruction::CreateConvert(ShapeUtil::MakeShape(S64, {}), start));
    }
    starts.push_back(start);
  }
  return Add(HloInstruction::CreateDynamicSlice(WithDimensions(x->shape(), sizes), x, starts, sizes));
}

// Elements whose index compares true with the number stay; the others become the scalar.
HloInstruction* DeviceProgram::Choose(HloInstruction* x, int64_t dimension, const std::vector<int64_t>& numbers,
                                      ComparisonDirection direction, HloInstruction* scalar) {
  const Shape& shape = x->shape();
  HloInstruction* number = Table(numbers);
  const Shape indices = ShapeUtil::MakeShape(number->shape().element_type(), shape.dimensions());
  const Shape predicates = ShapeUtil::MakeShape(PRED, shape.dimensions());
  HloInstruction* index = Add(HloInstruction::CreateIota(indices, dimension));
  HloInstruction* stays = Add(HloInstruction::CreateCompare(predicates, index, Broadcast(number, shape), direction));
  return Add(HloInstruction::CreateTernary(shape, HloOpcode::kSelect, stays, x, Broadcast(scalar, shape)));
}

HloInstruction* DeviceProgram::Mask(HloInstruction* x, int64_t dimension, const std::vector<int64_t>& sizes,
                                    HloInstruction* scalar) {
  const int64_t all = x->shape().dimensions(static_cast<int>(dimension));
  if (absl::c_all_of(sizes, [all](int64_t n) { return n == all; })) return x;
  return Choose(x, dimension, sizes, ComparisonDirection::kLt, scalar);
}

HloInstruction* DeviceProgram::MaskBefore(HloInstruction* x, int64_t dimension, const std::vector<int64_t>& sizes,
                                          HloInstruction* scalar) {
  if (absl::c_all_of(sizes, [](int64_t n) { return n == 0; })) return x;
  return Choose(x, dimension, sizes, ComparisonDirection::kGe, scalar);
}

HloInstruction* DeviceProgram::PadEdges(HloInstruction* x, int64_t dimension, int64_t low, int64_t high) {
  if (low == 0 && high == 0) return x;
  std::vector<std::pair<int64_t, int64_t>> padding(x->shape().rank());
  padding[dimension] = {low, high};
  const int64_t size = x->shape().dimensions(static_cast<int>(dimension)) + low + high;
  return Add(HloInstruction::CreatePad(WithDimension(x->shape(), dimension, size), x, Zero(x->shape().element_type()),
                                       MakeEdgePaddingConfig(padding)));
}

HloInstruction* DeviceProgram::MaskPadding(HloInstruction* x, const Shape& whole, const AxisSharding& sharding,
                                           HloInstruction* scalar) {
  for (size_t i = 0; i < sharding.size(); ++i) {
    const int64_t size = whole.dimensions(static_cast<int>(i));
    if (size % axes().SizeOf(sharding[i]) == 0) continue;
    const int64_t shard = x->shape().dimensions(static_cast<int>(i));
    std::vector<int64_t> sizes = axes().OffsetsAlong(sharding[i], shard);
    for (int64_t& n : sizes) n = std::min(std::max<int64_t>(size - n, 0), shard);
    x = Mask(x, static_cast<int64_t>(i), sizes, scalar);
  }
  return x;
}

// ---- Collectives ---------------------------------------------------------------------------------------------------

HloInstruction* DeviceProgram::AllGather(HloInstruction* x, int64_t dimension, const AxisList& along) {
  const int64_t size = x->shape().dimensions(static_cast<int>(dimension)) * axes().SizeOf(along);
  return Add(HloInstruction::CreateAllGather(WithDimension(x->shape(), dimension, size), {x}, dimension,
                                             axes().GroupsAlong(along), /*constrain_layout=*/false,
                                             module_.NewChannel(), /*use_global_device_ids=*/true));
}

HloInstruction* DeviceProgram::AllReduce(HloInstruction* x, HloComputation* combiner, const AxisList& along) {
  return Add(HloInstruction::CreateAllReduce(x->shape(), {x}, combiner, axes().GroupsAlong(along),
                                             /*constrain_layout=*/false, module_.NewChannel(),
                                             /*use_global_device_ids=*/true));
}

HloInstruction* DeviceProgram::SumAlong(HloInstruction* part, const AxisList& axes) {
  if (axes.empty()) return part;
  HloInstruction*& sum = sums_[{part, axes}];
  if (sum == nullptr) {
    sum = AllReduce(part, module_.CombinerOf(HloOpcode::kAdd, part->shape().element_type()), axes);
  }
  return sum;
}

HloInstruction* DeviceProgram::Combine(HloInstruction* part, HloComputation* combiner, const AxisList& along,
                                       const Shape& whole, const AxisSharding& wanted, AxisSharding* sharding) {
  const int64_t pieces = axes().SizeOf(along);
  for (size_t i = 0; i < sharding->size(); ++i) {
    const AxisList target = Joined((*sharding)[i], along);
    const int64_t size = part->shape().dimensions(static_cast<int>(i));
    const bool fits = IsPrefix(target, wanted[i]) && size % pieces == 0 &&
                      size / pieces == CeilOfRatio(whole.dimensions(static_cast<int>(i)), axes().SizeOf(target));
    if (!fits) continue;
    part = ReduceScatter(part, combiner, static_cast<int64_t>(i), along);
    (*sharding)[i] = target;
    return part;
  }
  return AllReduce(part, combiner, along);
}

HloInstruction* DeviceProgram::KeepOnFirst(HloInstruction* x, const AxisList& along) {
  if (along.empty()) return x;
  HloInstruction* const number = Table(axes().OffsetsAlong(along, 1));
  HloInstruction* const zero = IndexConstant(number->shape().element_type(), 0);
  HloInstruction* const is_first =
      Add(HloInstruction::CreateCompare(ShapeUtil::MakeShape(PRED, {}), number, zero, ComparisonDirection::kEq));
  Shape flags = x->shape();
  flags.set_element_type(PRED);
  return Add(
      HloInstruction::CreateTernary(x->shape(), HloOpcode::kSelect, Broadcast(is_first, flags), x, Zeros(x->shape())));
}

HloInstruction* DeviceProgram::ReduceScatter(HloInstruction* x, HloComputation* combiner, int64_t dimension,
                                             const AxisList& along) {
  const int64_t size = x->shape().dimensions(static_cast<int>(dimension)) / axes().SizeOf(along);
  return Add(HloInstruction::CreateReduceScatter(WithDimension(x->shape(), dimension, size), {x}, combiner,
                                                 axes().GroupsAlong(along), /*constrain_layout=*/false,
                                                 module_.NewChannel(), /*use_global_device_ids=*/true, dimension));
}

// [from, to]  ->  [from, members, to / members]  all-to-all  ->  [members, from, to / members]  ->  [from * members, …]
HloInstruction* DeviceProgram::AllToAll(HloInstruction* x, int64_t from, int64_t to, const AxisList& along) {
  const int64_t members = axes().SizeOf(along);
  std::vector<int64_t> split = DimensionsOf(*x);
  split[to] /= members;
  split.insert(split.begin() + to, members);
  HloInstruction* parts = Reshape(x, split);
  parts = Add(HloInstruction::CreateAllToAll(parts->shape(), {parts}, axes().GroupsAlong(along),
                                             /*constrain_layout=*/false, module_.NewChannel(), to));
  const int64_t from_now = from < to ? from : from + 1;
  std::vector<int64_t> order(split.size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + to);
  order.insert(absl::c_find(order, from_now), to);
  std::vector<int64_t> moved;
  for (const int64_t dimension : order) moved.push_back(split[dimension]);
  parts = Add(HloInstruction::CreateTranspose(WithDimensions(x->shape(), moved), parts, order));
  std::vector<int64_t> joined = DimensionsOf(*x);
  joined[to] /= members;
  joined[from] *= members;
  return Reshape(parts, joined);
}

HloInstruction* DeviceProgram::Permute(HloInstruction* x, const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  return Add(HloInstruction::CreateCollectivePermute(x->shape(), x, pairs, module_.NewChannel()));
}

HloInstruction* DeviceProgram::BroadcastFrom(HloInstruction* x, int64_t holder) {
  std::vector<int64_t> group = {holder};
  for (int64_t device = 0; device < axes().devices(); ++device) {
    if (device != holder) group.push_back(device);
  }
  const std::vector<std::vector<int64_t>> groups = {group};
  return Add(HloInstruction::CreateCollectiveBroadcast(x->shape(), {x}, CollectiveDeviceList(groups),
                                                       /*constrain_layout=*/false, module_.NewChannel()));
}

HloInstruction* DeviceProgram::Assemble(HloInstruction* x, absl::Span<const int64_t> tiles,
                                        absl::Span<const int64_t> whole,
                                        absl::Span<const std::vector<int64_t>> sources) {
  const std::vector<int64_t> tile = DimensionsOf(*x);
  std::vector<int64_t> stacked = tile;
  stacked.insert(stacked.begin(), 1);
  AxisList all;
  for (int axis = 0; axis < axes().num_axes(); ++axis) all.push_back(axis);
  HloInstruction* pieces = AllGather(Reshape(x, stacked), 0, all);
  std::vector<HloInstruction*> parts;
  for (const std::vector<int64_t>& source : sources) {
    std::vector<std::vector<int64_t>> offsets(stacked.size(), std::vector<int64_t>(axes().devices(), 0));
    offsets[0] = source;
    parts.push_back(Reshape(SliceAt(pieces, offsets, stacked), tile));
  }
  // The last dimension first: tiles that are neighbours there are neighbours in the list.
  for (size_t i = tiles.size(); i-- > 0;) {
    std::vector<HloInstruction*> joined;
    for (size_t begin = 0; begin < parts.size() && tiles[i] > 1; begin += tiles[i]) {
      const absl::Span<HloInstruction* const> row = absl::MakeConstSpan(parts).subspan(begin, tiles[i]);
      std::vector<int64_t> sizes = DimensionsOf(*row[0]);
      sizes[i] *= tiles[i];
      joined.push_back(
          Add(HloInstruction::CreateConcatenate(WithDimensions(x->shape(), sizes), row, static_cast<int64_t>(i))));
    }
    if (tiles[i] > 1) parts = std::move(joined);
  }
  return Slice(parts[0], whole);
}

}  // namespace kashi::partition
