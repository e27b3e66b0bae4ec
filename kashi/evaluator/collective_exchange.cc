#include "kashi/evaluator/collective_exchange.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/devices/device.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/values/pending_value.h"

namespace kashi::evaluator {
namespace {

absl::Status ErrorAt(const Operation& op, const absl::Status& error) {
  return absl::Status(error.code(), absl::StrCat(op.instruction.name(), ": ", error.message()));
}

DeviceCounts CountsOf(const Operation& op) {
  const devices::Device* device = op.run.device();
  if (device == nullptr) return {};
  return {device->replica_count(), device->partition_count()};
}

int64_t OwnId(const Operation& op) { return op.run.device() == nullptr ? 0 : op.run.device()->id(); }

absl::Status CheckRunsOnAllDevices(const Operation& op) {
  const HloModule* module = op.instruction.GetModule();
  if (op.run.device() != nullptr || module == nullptr) return absl::OkStatus();
  const DeviceCounts wanted = {module->config().replica_count(), module->config().num_partitions()};
  if (wanted.replicas == 1 && wanted.partitions == 1) return absl::OkStatus();
  return NeedsDevices(
      op, InvalidArgument("the program is for %d replicas of %d partitions", wanted.replicas, wanted.partitions));
}

absl::Status ShareAll(const Operation& op, std::vector<Value>* values) {
  for (Value& value : *values) {
    KASHI_ASSIGN_OR_RETURN(value, ShareWithThreads(op, std::move(value)));
  }
  return absl::OkStatus();
}

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Only this device takes part.
absl::StatusOr<Value> RunAlone(Operation& op, CollectiveHalves plan) {
  auto given = std::make_shared<const devices::Given>(devices::Given{std::move(plan.gives)});
  if (plan.combine == nullptr) return plan.finish(op, plan.group, {std::move(given), {}});
  KASHI_ASSIGN_OR_RETURN(std::vector<Value> combined, plan.combine(op, plan.group, *given));
  given = nullptr;
  return plan.finish(op, plan.group, {nullptr, std::move(combined)});
}

// `op` and `plan` must outlive the result. `start`: that of the operation, if it is to be pending.
absl::StatusOr<std::unique_ptr<devices::PendingCollective>> BeginPlan(const Operation& op, CollectiveHalves* plan,
                                                                      const HloInstruction* start) {
  devices::CollectiveCall call{op.instruction, plan->group.members, std::move(plan->gives)};
  call.start = start;
  if (plan->task.has_value()) {
    call.task = &*plan->task;
  } else {
    KASHI_RETURN_IF_ERROR(ShareAll(op, &call.operands));
  }
  if (plan->combine != nullptr) {
    call.combine = [&op, plan](const devices::Given& given) -> absl::StatusOr<std::vector<Value>> {
      KASHI_ASSIGN_OR_RETURN(std::vector<Value> combined, plan->combine(op, plan->group, given));
      KASHI_RETURN_IF_ERROR(ShareAll(op, &combined));
      return combined;
    };
  }
  return op.run.device()->Begin(std::move(call));
}

bool CanBePending(const Operation& op) {
  bool is_static = true;
  ShapeUtil::ForEachSubshape(op.start->shape(), [&](const Shape& part, const ShapeIndex&) {
    is_static = is_static && (!part.IsArray() || part.is_static());
  });
  return is_static && op.run.device()->transfers() != devices::Device::Transfers::kNone && !op.run.options().observer;
}

// An operation that has begun, with all that it needs to end.
class BegunCollective final : public values::PendingValue {
 public:
  // Takes the operands of `op`.
  BegunCollective(Operation& op, CollectiveHalves plan)
      : operands_(TakeOperands(op)),
        results_(op.results.begin(), op.results.end()),
        op_{{op.instruction, absl::MakeSpan(operands_), results_, op.limits}, op.run, op.kernel, op.start},
        plan_(std::move(plan)) {}

  absl::Status Begin() {
    begin_ns_ = NowNs();
    KASHI_ASSIGN_OR_RETURN(pending_, BeginPlan(op_, &plan_, op_.start));
    begun_ns_ = NowNs();
    return absl::OkStatus();
  }

  absl::StatusOr<Value> Get(const HloInstruction& done) override {
    const int64_t done_ns = NowNs();
    absl::StatusOr<devices::PendingCollective::Received> received = pending_->Finish(done);
    const int64_t arrival_ns = pending_->arrival_ns();
    pending_ = nullptr;
    absl::StatusOr<Value> value = Value();
    if (received.ok()) {
      value = plan_.finish(op_, plan_.group, *std::move(received));
    } else {
      value = received.status();
    }
    if (!value.ok()) {
      return WithMessage(value.status(),
                         absl::StrCat(done.name(), ", which ends ", op_.start->name(), ": ", value.status().message()));
    }
    if (StepClock* const clock = op_.run.step_clock(); clock != nullptr) {
      const int64_t hidden_ns = std::max<int64_t>(0, std::min(arrival_ns, done_ns) - begun_ns_);
      clock->AddOverlap({op_.start, 1, NowNs() - begin_ns_, hidden_ns});
    }
    return value;
  }

 private:
  std::vector<Value> operands_;
  const std::vector<DenseShape> results_;
  Operation op_;
  CollectiveHalves plan_;
  std::unique_ptr<devices::PendingCollective> pending_;  // ends before all that it refers to
  int64_t begin_ns_ = 0, begun_ns_ = 0;
};

}  // namespace

absl::StatusOr<CollectiveGroup> GroupOf(const Operation& op) {
  KASHI_RETURN_IF_ERROR(CheckRunsOnAllDevices(op));
  absl::StatusOr<std::vector<int64_t>> members = CollectiveGroupOf(op.instruction, CountsOf(op), OwnId(op));
  if (!members.ok()) return NeedsDevices(op, members.status());
  CollectiveGroup group = {*std::move(members)};
  group.own = absl::c_find(group.members, OwnId(op)) - group.members.begin();
  return group;
}

absl::Status NeedsDevices(const Operation& op, const absl::Status& error) {
  if (op.run.device() != nullptr) return ErrorAt(op, error);
  return InvalidArgument(
      "%s: %s. This run has one device: give the arguments of every device (`kashi run --devices-dir`, RunOnDevices)",
      op.instruction.name(), error.message());
}

// The array is never unique, so no thread writes to it. This thread must have no other reference to its memory: a
// thread with the last reference could write while another thread still reads.
absl::StatusOr<Value> ShareWithThreads(const Operation& op, Value value) {
  if (value.is_tuple()) {
    std::vector<Value> elements(value.elements().begin(), value.elements().end());
    value = Value();
    for (Value& element : elements) {
      KASHI_ASSIGN_OR_RETURN(element, ShareWithThreads(op, std::move(element)));
    }
    return Value::MakeTuple(std::move(elements));
  }
  if (!value.is_array()) return value;
  KASHI_ASSIGN_OR_RETURN(Value own, Writable(op, std::move(value)));
  auto owner = std::make_shared<const Value>(std::move(own));
  return Value::Borrow(owner->dense_shape(), owner->untyped_data(), owner);
}

absl::StatusOr<std::shared_ptr<const devices::Given>> Exchange(const Operation& op, const CollectiveGroup& group,
                                                               std::vector<Value> values) {
  if (group.size() == 1) return std::make_shared<const devices::Given>(devices::Given{std::move(values)});
  KASHI_RETURN_IF_ERROR(ShareAll(op, &values));
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<devices::PendingCollective> pending,
                         op.run.device()->Begin({op.instruction, group.members, std::move(values)}));
  KASHI_ASSIGN_OR_RETURN(devices::PendingCollective::Received received, pending->Finish(op.instruction));
  return std::move(received.all);
}

absl::StatusOr<Value> RunCollective(Operation& op, CollectiveHalves plan) {
  if (plan.group.size() == 1) return RunAlone(op, std::move(plan));
  if (op.start != nullptr && CanBePending(op)) {
    auto begun = std::make_shared<BegunCollective>(op, std::move(plan));
    KASHI_RETURN_IF_ERROR(begun->Begin());
    return Value::MakePending(std::move(begun));
  }
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<devices::PendingCollective> pending,
                         BeginPlan(op, &plan, /*start=*/nullptr));
  KASHI_ASSIGN_OR_RETURN(devices::PendingCollective::Received received, pending->Finish(op.instruction));
  return plan.finish(op, plan.group, std::move(received));
}

absl::StatusOr<Value> EndCollective(const HloInstruction& done, Value value) {
  return value.pending() == nullptr ? std::move(value) : value.pending()->Get(done);
}

bool IsTask(const Operation& op, const CollectiveGroup& group) {
  if (group.size() == 1 || !op.run.device()->TakesTasks(op.instruction, group.members)) return false;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const Shape& shape = op.instruction.operand(static_cast<int64_t>(k))->shape();
    if (!op.operands[k].is_array() || !shape.IsArray() || !shape.is_static()) return false;
  }
  return true;
}

devices::CollectiveTask TaskOf(const Operation& op, const CollectiveGroup& group, devices::CollectiveTask::Kind kind) {
  return {kind, op.instruction, group.members, group.own};
}

std::vector<Value> TakeOperands(const Operation& op) {
  return std::vector<Value>(std::make_move_iterator(op.operands.begin()), std::make_move_iterator(op.operands.end()));
}

Value OneOrTuple(std::vector<Value> values) {
  return values.size() == 1 ? std::move(values[0]) : Value::MakeTuple(std::move(values));
}

absl::StatusOr<Value> Zeros(const Operation& op, const DenseShape& shape) {
  KASHI_ASSIGN_OR_RETURN(Value zeros, op.run.MakeArray(shape));
  std::memset(zeros.mutable_bytes(), 0, static_cast<size_t>(zeros.byte_count()));
  return zeros;
}

absl::StatusOr<Value> Writable(const Operation& op, Value value) {
  if (value.is_unique()) return value;
  KASHI_ASSIGN_OR_RETURN(Value copy, op.run.MakeArray(value.dense_shape()));
  std::memcpy(copy.mutable_bytes(), value.bytes(), static_cast<size_t>(value.byte_count()));
  return copy;
}

absl::StatusOr<std::vector<int64_t>> Integers(const Operation& op, const Value& value) {
  if (!primitive_util::IsIntegralType(value.element_type())) {
    return InvalidArgument("%s: expected integers, got %s", op.instruction.name(),
                           ShapeUtil::HumanString(value.shape()));
  }
  return primitive_util::IntegralTypeSwitch(
      [&](auto type) {
        const auto data = value.data<primitive_util::NativeTypeOf<type>>();
        std::vector<int64_t> integers;
        integers.reserve(data.size());
        for (const auto x : data) integers.push_back(static_cast<int64_t>(x));
        return integers;
      },
      value.element_type());
}

}  // namespace kashi::evaluator
