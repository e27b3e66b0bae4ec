// Operations over several devices. If the result is the same for all members of a group, the last member to arrive
// computes it. Otherwise each member computes its result from the arrays of all members. (docs/spec/hlo-ops.md, 7)
//
//                      device 0   1     2     3          of groups {{3,1,0,2}}: member 0 is device 3
//   gives                1        2     3     4
//   all-reduce           10       10    10    10
//   all-gather           4213     4213  4213  4213
//
// Each operation is a plan (collective_exchange.h): the arrays that a device gives, and the function that makes its
// result from the arrays that it receives. So a …-start only begins the exchange, and the …-done waits for it.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/devices/collective_task.h"
#include "kashi/devices/device.h"
#include "kashi/evaluator/collective_exchange.h"
#include "kashi/evaluator/fold.h"
#include "kashi/evaluator/lane_function.h"
#include "kashi/evaluator/operation.h"
#include "kashi/kernels/element_kernel.h"
#include "kashi/values/array_blocks.h"

namespace kashi::evaluator {
namespace {

// ---- Blocks: ranges along one dimension -----------------------------------------------------------------------------

absl::StatusOr<Value> TakeBlock(const Operation& op, const Value& from, int64_t begin, int64_t count, int64_t d) {
  DimensionVector dimensions(from.dimensions().begin(), from.dimensions().end());
  dimensions[d] = count;
  KASHI_ASSIGN_OR_RETURN(Value block, op.run.MakeArray(from.element_type(), dimensions));
  values::CopyBlock(from, begin, &block, 0, count, d);
  return block;
}

// Programs with dynamic dimensions may give arrays of several sizes.
absl::Status CheckSameShapes(const Operation& op, const devices::Given& given) {
  for (const std::vector<Value>& values : given) {
    for (size_t k = 0; k < values.size(); ++k) {
      if (values[k].shape() == given[0][k].shape()) continue;
      return InvalidArgument("%s: the devices give arrays of different shapes: %s and %s", op.instruction.name(),
                             ShapeUtil::HumanString(given[0][k].shape()), ShapeUtil::HumanString(values[k].shape()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> PieceSize(const Operation& op, int64_t size, int64_t pieces) {
  if (size % pieces == 0) return size / pieces;
  return InvalidArgument("%s: a dimension of %d does not divide into pieces for %d devices", op.instruction.name(),
                         size, pieces);
}

// ---- Reductions -----------------------------------------------------------------------------------------------------

// to_apply on arrays of one type. As in XLA, a plain operation uses the type of the arrays, not that of the
// computation.
class ElementReduction {
 public:
  static absl::StatusOr<ElementReduction> Make(const Operation& op, PrimitiveType type) {
    KASHI_ASSIGN_OR_RETURN(const LaneFunction* lanes, op.run.Lanes(*op.instruction.to_apply()));
    ElementReduction reduction(lanes, ShapeUtil::ByteSizeOfPrimitiveType(type));
    if (lanes->AsBinary().has_value()) {
      KASHI_ASSIGN_OR_RETURN(reduction.kernel_, kernels::FindBinaryKernel(*lanes->AsBinary(), type, type, type));
      if (type == BF16) KASHI_RETURN_IF_ERROR(reduction.CombineInF32(*lanes->AsBinary()));
      return reduction;
    }
    const auto is_type = [type](PrimitiveType other) { return other == type; };
    if (lanes->parameter_types().size() == 2 && absl::c_all_of(lanes->parameter_types(), is_type) &&
        lanes->result_types().size() == 1 && is_type(lanes->result_types()[0])) {
      return reduction;
    }
    return Unimplemented("%s: %s of %s by %s", op.instruction.name(), HloOpcodeString(op.instruction.opcode()),
                         primitive_util::LowercasePrimitiveTypeName(type), op.instruction.to_apply()->name());
  }

  // For a fabric. Valid as long as this reduction and the run.
  devices::CollectiveReduction ForTask(const EvaluationRun& run, PrimitiveType type) const {
    devices::CollectiveReduction reduction;
    reduction.type = type;
    reduction.is_for_any_thread = is_parallel();
    if (kernel_.has_value()) {
      reduction.opcode = lanes_->AsBinary();
      reduction.kernel = &*kernel_;
    }
    reduction.fold = [this, &run](absl::Span<const char* const> parts, char* target, int64_t n) {
      return Run(run, parts, target, n);
    };
    return reduction;
  }

  // target[i] = f(… f(f(parts[0][i], parts[1][i]), parts[2][i]) …) for i in [0, n).
  absl::Status Run(const EvaluationRun& run, absl::Span<const char* const> parts, char* target, int64_t n) const {
    // A block stays in the cache while the parts come by.
    constexpr int64_t kBlock = 4096;
    const int64_t blocks = (n + kBlock - 1) / kBlock;
    return CheckedParallelFor(run, is_parallel(), blocks, /*grain=*/4, [&](int64_t begin, int64_t end, int) {
      LaneFunction::Scratch scratch(*lanes_, LaneFunction::kManyLanes);
      for (int64_t i = begin; i < end; ++i) {
        KASHI_RETURN_IF_ERROR(RunBlock(parts, target, i * kBlock, std::min(kBlock, n - i * kBlock), &scratch));
      }
      return absl::OkStatus();
    });
  }

 private:
  bool is_parallel() const { return kernel_.has_value() || lanes_->is_parallel(); }
  ElementReduction(const LaneFunction* lanes, int64_t element_bytes) : lanes_(lanes), element_bytes_(element_bytes) {}

  // bf16 is combined in f32 and rounded once, as in XLA. f16 is rounded after each step there, too.
  struct WideKernels {
    kernels::ElementKernel widen, combine, narrow;
  };
  absl::Status CombineInF32(HloOpcode opcode) {
    wide_.emplace();
    KASHI_ASSIGN_OR_RETURN(wide_->widen, kernels::FindConvertKernel(BF16, F32));
    KASHI_ASSIGN_OR_RETURN(wide_->combine, kernels::FindBinaryKernel(opcode, F32, F32, F32));
    KASHI_ASSIGN_OR_RETURN(wide_->narrow, kernels::FindConvertKernel(F32, BF16));
    return absl::OkStatus();
  }
  void RunWideBlock(absl::Span<const char* const> parts, char* target, int64_t offset, int64_t n) const {
    std::vector<float> sum(n), term(n);
    for (size_t i = 0; i < parts.size(); ++i) {
      const void* const part = parts[i] + offset * element_bytes_;
      wide_->widen(&part, i == 0 ? sum.data() : term.data(), n);
      const void* const inputs[] = {sum.data(), term.data()};
      if (i > 0) wide_->combine(inputs, sum.data(), n);
    }
    const void* const result = sum.data();
    wide_->narrow(&result, target + offset * element_bytes_, n);
  }

  absl::Status RunBlock(absl::Span<const char* const> parts, char* target, int64_t offset, int64_t n,
                        LaneFunction::Scratch* scratch) const {
    if (wide_.has_value()) {
      RunWideBlock(parts, target, offset, n);
      return absl::OkStatus();
    }
    void* sum = target + offset * element_bytes_;
    std::memcpy(sum, parts[0] + offset * element_bytes_, static_cast<size_t>(n * element_bytes_));
    for (const char* part : parts.subspan(1)) {
      const void* inputs[] = {sum, part + offset * element_bytes_};
      if (kernel_.has_value()) {
        (*kernel_)(inputs, sum, n);
      } else {
        KASHI_RETURN_IF_ERROR(lanes_->Run(*scratch, inputs, absl::MakeConstSpan(&sum, 1), n));
      }
    }
    return absl::OkStatus();
  }

  const LaneFunction* lanes_;
  std::optional<kernels::ElementKernel> kernel_;
  std::optional<WideKernels> wide_;
  int64_t element_bytes_;
};

absl::StatusOr<Value> Reduce(const Operation& op, absl::Span<const Value> values) {
  if (values.size() == 1) return values[0];
  KASHI_ASSIGN_OR_RETURN(const ElementReduction reduction, ElementReduction::Make(op, values[0].element_type()));
  KASHI_ASSIGN_OR_RETURN(Value result, op.run.MakeArray(values[0].dense_shape()));
  std::vector<const char*> parts;
  for (const Value& value : values) parts.push_back(value.bytes());
  KASHI_RETURN_IF_ERROR(reduction.Run(op.run, parts, result.mutable_bytes(), result.element_count()));
  return result;
}

// The reduction of each array over all members.
absl::StatusOr<std::vector<Value>> ReduceAll(const Operation& op, const devices::Given& given) {
  KASHI_RETURN_IF_ERROR(CheckSameShapes(op, given));
  std::vector<Value> results;
  for (size_t k = 0; k < given[0].size(); ++k) {
    std::vector<Value> values;
    for (const std::vector<Value>& member : given) values.push_back(member[k]);
    KASHI_ASSIGN_OR_RETURN(Value result, Reduce(op, values));
    results.push_back(std::move(result));
  }
  return results;
}

// For a fabric that takes tasks. Pre: the plan has one; the operands are those of `op`.
absl::Status AddReductions(const Operation& op, CollectiveHalves* plan) {
  auto reductions = std::make_shared<std::vector<ElementReduction>>();
  reductions->reserve(op.operands.size());
  for (const Value& operand : op.operands) {
    KASHI_ASSIGN_OR_RETURN(ElementReduction reduction, ElementReduction::Make(op, operand.element_type()));
    reductions->push_back(std::move(reduction));
    plan->task->reductions.push_back(reductions->back().ForTask(op.run, operand.element_type()));
  }
  plan->kept = std::move(reductions);
  return absl::OkStatus();
}

absl::StatusOr<Value> OwnResults(Operation&, const CollectiveGroup&, devices::PendingCollective::Received received) {
  return OneOrTuple(std::move(received.own));
}

// The operands but the last one, which has the position of the root for each of the others. Without it: the roots are
// the first members.
absl::StatusOr<std::vector<int64_t>> TakeRoots(const Operation& op, std::vector<Value>* operands) {
  if (!op.instruction.has_dynamic_root()) return std::vector<int64_t>(operands->size(), 0);
  KASHI_ASSIGN_OR_RETURN(std::vector<int64_t> roots, Integers(op, operands->back()));
  operands->pop_back();
  if (roots.size() == operands->size()) return roots;
  return InvalidArgument("%s has %d roots for %d operands", op.instruction.name(), static_cast<int64_t>(roots.size()),
                         static_cast<int64_t>(operands->size()));
}

absl::StatusOr<Value> ZerosLike(const Operation& op, std::vector<Value> values) {
  for (Value& value : values) {
    KASHI_ASSIGN_OR_RETURN(value, Zeros(op, value.dense_shape()));
  }
  return OneOrTuple(std::move(values));
}

// Every member gets the operands of all, combined: by the fabric as a task, or here. Before the operands are taken.
absl::Status PlanReduction(const Operation& op, bool is_task, CollectiveHalves* plan) {
  if (is_task) {
    plan->task.emplace(TaskOf(op, plan->group, devices::CollectiveTask::Kind::kAllReduce));
    return AddReductions(op, plan);
  }
  plan->combine = [](const Operation& of, const CollectiveGroup&, const devices::Given& given) {
    return ReduceAll(of, given);
  };
  return absl::OkStatus();
}

absl::StatusOr<Value> AllReduce(Operation& op) {
  CollectiveHalves plan;
  KASHI_ASSIGN_OR_RETURN(plan.group, GroupOf(op));
  KASHI_RETURN_IF_ERROR(PlanReduction(op, IsTask(op, plan.group), &plan));
  plan.gives = TakeOperands(op);
  plan.finish = OwnResults;
  return RunCollective(op, std::move(plan));
}

// ---- all-gather -----------------------------------------------------------------------------------------------------

// Concatenates the pieces of an operand along d. If the pieces have fewer elements than their bound, zeros follow each
// piece.
absl::StatusOr<Value> Gather(const Operation& op, const devices::Given& given, size_t k, int64_t size, int64_t d) {
  const Value& own = given[0][k];
  KASHI_ASSIGN_OR_RETURN(const int64_t bound, PieceSize(op, size, static_cast<int64_t>(given.size())));
  DimensionVector dimensions(own.dimensions().begin(), own.dimensions().end());
  dimensions[d] = size;
  KASHI_ASSIGN_OR_RETURN(Value result, op.run.MakeArray(own.element_type(), dimensions));
  if (own.dimension(d) > bound) {
    return InvalidArgument("%s: %s of each of %d devices does not fit %s", op.instruction.name(),
                           ShapeUtil::HumanString(own.shape()), static_cast<int64_t>(given.size()),
                           ShapeUtil::HumanString(result.shape()));
  }
  if (own.dimension(d) < bound) std::memset(result.mutable_bytes(), 0, static_cast<size_t>(result.byte_count()));
  for (size_t i = 0; i < given.size(); ++i) {
    values::CopyBlock(given[i][k], 0, &result, static_cast<int64_t>(i) * bound, own.dimension(d), d);
  }
  return result;
}

absl::StatusOr<std::vector<Value>> GatherAll(const Operation& op, const CollectiveGroup& group,
                                             const devices::Given& given, const Shape& shape) {
  const int64_t d = op.instruction.dimensions(0);
  KASHI_RETURN_IF_ERROR(CheckSameShapes(op, given));
  std::vector<Value> results;
  for (size_t k = 0; k < given[0].size(); ++k) {
    const Shape& whole = shape.IsTuple() ? shape.tuple_shapes(static_cast<int>(k)) : shape;
    // A static dimension of the result keeps its size, even if the pieces are smaller.
    const int64_t size = whole.is_dynamic_dimension(static_cast<int>(d))
                             ? CheckedMultiply(group.size(), given[0][k].dimension(d)).value_or(INT64_MAX)
                             : whole.dimensions(static_cast<int>(d));
    KASHI_ASSIGN_OR_RETURN(Value result, Gather(op, given, k, size, d));
    results.push_back(std::move(result));
  }
  return results;
}

// Whether each result is as large as the pieces together.
bool GathersWholePieces(const Operation& op, const CollectiveGroup& group, const Shape& shape) {
  const int64_t d = op.instruction.dimensions(0);
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const Shape& whole = shape.IsTuple() ? shape.tuple_shapes(static_cast<int>(k)) : shape;
    const std::optional<int64_t> size = CheckedMultiply(group.size(), op.operands[k].dimension(d));
    if (!whole.is_static() || size != whole.dimensions(static_cast<int>(d))) return false;
  }
  return true;
}

// `shape` is that of the result, or of the tuple of results. It belongs to the instruction.
absl::StatusOr<Value> AllGather(Operation& op, const Shape& shape) {
  CollectiveHalves plan;
  KASHI_ASSIGN_OR_RETURN(plan.group, GroupOf(op));
  if (IsTask(op, plan.group) && GathersWholePieces(op, plan.group, shape)) {
    plan.task.emplace(TaskOf(op, plan.group, devices::CollectiveTask::Kind::kAllGather));
    plan.task->dimension = op.instruction.dimensions(0);
  } else {
    plan.combine = [&shape](const Operation& of, const CollectiveGroup& group, const devices::Given& given) {
      return GatherAll(of, group, given, shape);
    };
  }
  plan.gives = TakeOperands(op);
  plan.finish = OwnResults;
  return RunCollective(op, std::move(plan));
}

// ---- reduce-scatter -------------------------------------------------------------------------------------------------

// Block i of the elementwise reduction, for member i.
absl::StatusOr<Value> ReduceScatter(const Operation& op, const CollectiveGroup& group, const Value& reduced) {
  const int64_t d = op.instruction.dimensions(0);
  KASHI_ASSIGN_OR_RETURN(const int64_t size, PieceSize(op, reduced.dimension(d), group.size()));
  return TakeBlock(op, reduced, group.own * size, size, d);
}

absl::StatusOr<Value> ScatterReduced(Operation& op, const CollectiveGroup& group,
                                     devices::PendingCollective::Received received) {
  std::vector<Value> results;
  for (const Value& whole : received.own) {
    KASHI_ASSIGN_OR_RETURN(Value result, ReduceScatter(op, group, whole));
    results.push_back(std::move(result));
  }
  return OneOrTuple(std::move(results));
}

// ---- all-to-all -----------------------------------------------------------------------------------------------------

// Block j of member i becomes block i of member j.
absl::StatusOr<Value> BlocksFromAll(Operation& op, const CollectiveGroup& group,
                                    devices::PendingCollective::Received received) {
  const int64_t d = op.instruction.dimensions(0);
  const devices::Given& given = *received.all;
  KASHI_RETURN_IF_ERROR(CheckSameShapes(op, given));
  KASHI_ASSIGN_OR_RETURN(const int64_t size, PieceSize(op, given[0][0].dimension(d), group.size()));
  KASHI_ASSIGN_OR_RETURN(Value result, op.run.MakeArray(given[0][0].dense_shape()));
  for (int64_t i = 0; i < group.size(); ++i) {
    values::CopyBlock(given[i][0], group.own * size, &result, i * size, size, d);
  }
  return result;
}

absl::StatusOr<Value> AllToAllOfArray(Operation& op, CollectiveHalves plan) {
  plan.finish = BlocksFromAll;
  if (IsTask(op, plan.group)) {
    const int64_t d = op.instruction.dimensions(0);
    KASHI_RETURN_IF_ERROR(PieceSize(op, op.operands[0].dimension(d), plan.group.size()).status());
    plan.task.emplace(TaskOf(op, plan.group, devices::CollectiveTask::Kind::kAllToAll));
    plan.task->dimension = d;
    plan.finish = OwnResults;
  }
  plan.gives = TakeOperands(op);
  return RunCollective(op, std::move(plan));
}

// Operand j of member i becomes result i of member j.
absl::StatusOr<Value> AllToAllOfTuple(Operation& op, CollectiveHalves plan) {
  if (plan.group.size() != static_cast<int64_t>(op.operands.size())) {
    return InvalidArgument("%s has %d operands for a group of %d devices", op.instruction.name(),
                           static_cast<int64_t>(op.operands.size()), plan.group.size());
  }
  const auto alike = [&](const Value& value) { return value.shape() == op.operands[0].shape(); };
  const bool is_task = IsTask(op, plan.group) && absl::c_all_of(op.operands, alike);
  if (is_task) plan.task.emplace(TaskOf(op, plan.group, devices::CollectiveTask::Kind::kTupleAllToAll));
  plan.gives = TakeOperands(op);
  plan.finish = [is_task](Operation&, const CollectiveGroup& group, devices::PendingCollective::Received received) {
    std::vector<Value> results = std::move(received.own);
    if (!is_task) {
      for (const std::vector<Value>& values : *received.all) results.push_back(values[group.own]);
    }
    return absl::StatusOr<Value>(Value::MakeTuple(std::move(results)));
  };
  return RunCollective(op, std::move(plan));
}

// ---- ragged-all-to-all ----------------------------------------------------------------------------------------------

// Rows that a member sends: rows [from, from + count) to the rows of the receiver's output that begin at `to`.
struct RaggedUpdate {
  int64_t from;
  int64_t count;
  int64_t to;
};

// The updates that a member sends to the member at `receiver`. `given`: input, offsets in it, sizes, offsets at the
// receivers.
absl::StatusOr<std::vector<RaggedUpdate>> RaggedUpdates(const Operation& op, const CollectiveGroup& group,
                                                        absl::Span<const Value> given, int64_t receiver) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> from, Integers(op, given[1]));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, Integers(op, given[2]));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> to, Integers(op, given[3]));
  KASHI_ASSIGN_OR_RETURN(const int64_t n, PieceSize(op, static_cast<int64_t>(from.size()), group.size()));
  if (counts.size() != from.size() || to.size() != from.size()) {
    return InvalidArgument("%s: the numbers of offsets and sizes differ", op.instruction.name());
  }
  std::vector<RaggedUpdate> updates;
  for (int64_t u = receiver * n; u < (receiver + 1) * n; ++u) updates.push_back({from[u], counts[u], to[u]});
  return updates;
}

absl::Status CopyRows(const Operation& op, const Value& from, const RaggedUpdate& update, Value* to) {
  const auto fits = [&](int64_t begin, int64_t rows) {
    return begin >= 0 && update.count >= 0 && update.count <= rows && begin <= rows - update.count;
  };
  if (!fits(update.from, from.dimension(0)) || !fits(update.to, to->dimension(0))) {
    return InvalidArgument("%s: %d rows from row %d of %s do not fit row %d of %s", op.instruction.name(), update.count,
                           update.from, ShapeUtil::HumanString(from.shape()), update.to,
                           ShapeUtil::HumanString(to->shape()));
  }
  values::CopyBlock(from, update.from, to, update.to, update.count, /*d=*/0);
  return absl::OkStatus();
}

bool HaveRowsAlike(const Value& a, const Value& b) {
  return a.element_type() == b.element_type() && a.rank() > 0 && a.rank() == b.rank() &&
         a.dimensions().subspan(1) == b.dimensions().subspan(1);
}

absl::StatusOr<Value> RowsFromAll(Operation& op, const CollectiveGroup& group,
                                  devices::PendingCollective::Received received) {
  KASHI_ASSIGN_OR_RETURN(Value output, Writable(op, std::move(op.operands[1])));
  for (const std::vector<Value>& sender : *received.all) {
    if (!HaveRowsAlike(sender[0], output)) {
      return InvalidArgument("%s: cannot copy rows of %s into %s", op.instruction.name(),
                             ShapeUtil::HumanString(sender[0].shape()), ShapeUtil::HumanString(output.shape()));
    }
    KASHI_ASSIGN_OR_RETURN(const std::vector<RaggedUpdate> updates, RaggedUpdates(op, group, sender, group.own));
    for (const RaggedUpdate& update : updates) KASHI_RETURN_IF_ERROR(CopyRows(op, sender[0], update, &output));
  }
  return output;
}

}  // namespace

// ---- The operations -------------------------------------------------------------------------------------------------

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kPartitionId>(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(Value id, op.run.MakeArray(U32, {}));
  const devices::Device* device = op.run.device();
  id.mutable_data<uint32_t>()[0] = device == nullptr ? 0 : static_cast<uint32_t>(device->partition_id());
  return id;
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kReplicaId>(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(Value id, op.run.MakeArray(U32, {}));
  const devices::Device* device = op.run.device();
  id.mutable_data<uint32_t>()[0] = device == nullptr ? 0 : static_cast<uint32_t>(device->replica_id());
  return id;
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAllReduce>(Operation& op) {
  return AllReduce(op);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAllReduceStart>(Operation& op) {
  op.start = &op.instruction;
  return AllReduce(op);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAllReduceDone>(Operation& op) {
  return EndCollective(op.instruction, std::move(op.operands[0]));
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAllGather>(Operation& op) {
  return AllGather(op, op.instruction.shape());
}

// (operands, results)
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAllGatherStart>(Operation& op) {
  op.start = &op.instruction;
  Value operands = OneOrTuple({op.operands.begin(), op.operands.end()});
  KASHI_ASSIGN_OR_RETURN(Value results, AllGather(op, op.instruction.shape().tuple_shapes(1)));
  return Value::MakeTuple({std::move(operands), std::move(results)});
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAllGatherDone>(Operation& op) {
  return EndCollective(op.instruction, Value::TakeElement(std::move(op.operands[0]), 1));
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kReduceScatter>(Operation& op) {
  CollectiveHalves plan;
  KASHI_ASSIGN_OR_RETURN(plan.group, GroupOf(op));
  plan.finish = OwnResults;
  if (IsTask(op, plan.group)) {
    plan.task.emplace(TaskOf(op, plan.group, devices::CollectiveTask::Kind::kReduceScatter));
    plan.task->dimension = op.instruction.dimensions(0);
    for (const Value& value : op.operands) {
      KASHI_RETURN_IF_ERROR(PieceSize(op, value.dimension(plan.task->dimension), plan.group.size()).status());
    }
    KASHI_RETURN_IF_ERROR(AddReductions(op, &plan));
  } else {
    plan.combine = [](const Operation& of, const CollectiveGroup&, const devices::Given& given) {
      return ReduceAll(of, given);
    };
    plan.finish = ScatterReduced;
  }
  plan.gives = TakeOperands(op);
  return RunCollective(op, std::move(plan));
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kAllToAll>(Operation& op) {
  CollectiveHalves plan;
  KASHI_ASSIGN_OR_RETURN(plan.group, GroupOf(op));
  return op.instruction.shape().IsTuple() ? AllToAllOfTuple(op, std::move(plan)) : AllToAllOfArray(op, std::move(plan));
}

// Operands: input, output, offsets in the input, rows to send, offsets in the receivers' outputs, rows to receive. Rows
// of the output that receive no data do not change.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kRaggedAllToAll>(Operation& op) {
  CollectiveHalves plan;
  KASHI_ASSIGN_OR_RETURN(plan.group, GroupOf(op));
  plan.gives = {op.operands[0], op.operands[2], op.operands[3], op.operands[4]};
  plan.finish = RowsFromAll;
  return RunCollective(op, std::move(plan));
}

// The root of a group, which is its first member or the one that the last operand names, gives; the others receive. A
// device in no group has zeros.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCollectiveBroadcast>(Operation& op) {
  CollectiveHalves plan;
  absl::StatusOr<CollectiveGroup> group = GroupOf(op);
  if (group.ok()) plan.group = *group;
  const bool has_dynamic_root = op.instruction.has_dynamic_root();
  const bool is_task = group.ok() && !has_dynamic_root && IsTask(op, plan.group);  // looks at the operands
  plan.gives = TakeOperands(op);
  KASHI_ASSIGN_OR_RETURN(std::vector<int64_t> roots, TakeRoots(op, &plan.gives));
  // XLA's verifier accepts several operands with the shape of the first one as the result; then only the first one
  // counts.
  if (op.instruction.shape().IsArray()) plan.gives.resize(1);
  if (absl::IsNotFound(group.status())) return ZerosLike(op, std::move(plan.gives));
  KASHI_RETURN_IF_ERROR(group.status());
  for (const int64_t root : roots) {
    if (root >= 0 && root < plan.group.size()) continue;
    return InvalidArgument("%s: the root is member %d of a group of %d devices", op.instruction.name(), root,
                           plan.group.size());
  }
  if (is_task) plan.task.emplace(TaskOf(op, plan.group, devices::CollectiveTask::Kind::kBroadcast));
  plan.finish = [is_task, roots = std::move(roots)](
                    Operation&, const CollectiveGroup&,
                    devices::PendingCollective::Received received) -> absl::StatusOr<Value> {
    if (is_task) return OneOrTuple(std::move(received.own));
    std::vector<Value> results = (*received.all)[0];
    for (size_t k = 0; k < results.size(); ++k) results[k] = (*received.all)[roots[k]][k];
    return OneOrTuple(std::move(results));
  };
  return RunCollective(op, std::move(plan));
}

// An all-reduce of which the root keeps the result. The others have zeros, as in StableHLO's interpreter; so has a
// device in no group.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kCollectiveReduce>(Operation& op) {
  CollectiveHalves plan;
  absl::StatusOr<CollectiveGroup> group = GroupOf(op);
  if (group.ok()) plan.group = *group;
  const bool is_task = group.ok() && !op.instruction.has_dynamic_root() && IsTask(op, plan.group);
  KASHI_RETURN_IF_ERROR(PlanReduction(op, is_task, &plan));
  plan.gives = TakeOperands(op);
  KASHI_ASSIGN_OR_RETURN(std::vector<int64_t> roots, TakeRoots(op, &plan.gives));
  if (absl::IsNotFound(group.status())) return ZerosLike(op, std::move(plan.gives));
  KASHI_RETURN_IF_ERROR(group.status());
  plan.finish = [roots = std::move(roots)](Operation& of, const CollectiveGroup& members,
                                           devices::PendingCollective::Received received) -> absl::StatusOr<Value> {
    for (size_t k = 0; k < received.own.size(); ++k) {
      if (roots[k] == members.own) continue;
      KASHI_ASSIGN_OR_RETURN(received.own[k], Zeros(of, received.own[k].dense_shape()));
    }
    return OneOrTuple(std::move(received.own));
  };
  return RunCollective(op, std::move(plan));
}

}  // namespace kashi::evaluator
