// Operations that move data from or to a host or another device (docs/spec/hlo-ops.md 7.3).
//
//   infeed    token -> ((data), token)            the next value of the host
//   outfeed   data, token -> token                nobody reads it
//   send      data, token -> (data, u32[], token) goes into its channel at once; send-done gives the token
//   recv      token -> (data, u32[], token)       the u32 is the number of the reception
//   recv-done (data, u32[], token) -> (data, token) waits for the data; zeros if no device sends any
//
// The devices of a program send to each other along routes (kashi/hlo/spmd/transfer_routes.h). Only the processes of
// interpreter.run_parallel have a host; their channels are named by channel_id alone, as in StableHLO's interpreter: a
// channel has one kind of sender. The number of a reception travels with the tuple, so recv-done may be another
// iteration of a loop than its recv.
#include "kashi/evaluator/transfers.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/devices/device.h"
#include "kashi/evaluator/collective_exchange.h"
#include "kashi/values/value_util.h"
#include "kashi/values/writable.h"

namespace kashi::evaluator {
namespace {

absl::Status CheckArrived(const Operation& op, const Value& value, const Shape& shape) {
  if (values::HasShape(value, shape)) return absl::OkStatus();
  return InvalidArgument("%s: what arrives does not suit %s", op.instruction.name(), ShapeUtil::HumanString(shape));
}

absl::StatusOr<Value> EvaluateInfeed(Operation& op) {
  const Shape& data_shape = op.instruction.shape().tuple_shapes(0);
  KASHI_ASSIGN_OR_RETURN(Value data, op.run.device()->TakeInfeed(op.instruction));
  if (data_shape.IsTuple() && !data.is_tuple()) data = Value::MakeTuple({std::move(data)});
  KASHI_RETURN_IF_ERROR(CheckArrived(op, data, data_shape));
  return Value::MakeTuple({std::move(data), Value::MakeToken()});
}

absl::StatusOr<Value> EvaluateOutfeed(Operation&) { return Value::MakeToken(); }

absl::StatusOr<Value> NumberAs(const Operation& op, uint32_t number) {
  if (op.instruction.shape().tuple_shapes(1).element_type() != U32) {
    return InvalidArgument("%s: its second result must be a u32[]", op.instruction.name());
  }
  KASHI_ASSIGN_OR_RETURN(Value context, op.run.MakeArray(U32, {}));
  context.mutable_data<uint32_t>()[0] = number;
  return context;
}

absl::StatusOr<Value> EvaluateSend(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const std::optional<hlo::TransferRoute> route, op.run.device()->RouteOf(op.instruction));
  Value data = std::move(op.operands[0]);
  if (route.has_value()) {
    KASHI_ASSIGN_OR_RETURN(data, ShareWithThreads(op, std::move(data)));
    KASHI_RETURN_IF_ERROR(op.run.device()->Send(op.instruction, *route, data));
  }
  KASHI_ASSIGN_OR_RETURN(Value context, NumberAs(op, 0));
  return Value::MakeTuple({std::move(data), std::move(context), Value::MakeToken()});
}

absl::StatusOr<Value> EvaluateSendDone(Operation&) { return Value::MakeToken(); }

// Until the data arrive, their place has zeros.
absl::StatusOr<Value> EvaluateRecv(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const std::optional<hlo::TransferRoute> route, op.run.device()->RouteOf(op.instruction));
  uint32_t number = 0;
  if (route.has_value()) {
    KASHI_ASSIGN_OR_RETURN(number, op.run.device()->BeginReceive(op.instruction, *route));
  }
  KASHI_ASSIGN_OR_RETURN(Value zeros, values::MakeZeros(op.instruction.shape().tuple_shapes(0), op.run.budget()));
  KASHI_ASSIGN_OR_RETURN(Value context, NumberAs(op, number));
  return Value::MakeTuple({std::move(zeros), std::move(context), Value::MakeToken()});
}

absl::StatusOr<Value> EvaluateRecvDone(Operation& op) {
  const uint32_t number = op.operands[0].element(1).data<uint32_t>()[0];
  if (number == 0) return Value::MakeTuple({Value::TakeElement(std::move(op.operands[0]), 0), Value::MakeToken()});
  KASHI_ASSIGN_OR_RETURN(Value data, op.run.device()->EndReceive(op.instruction, number));
  KASHI_RETURN_IF_ERROR(CheckArrived(op, data, op.instruction.shape().tuple_shapes(0)));
  return Value::MakeTuple({std::move(data), Value::MakeToken()});
}

struct TransferRow {
  HloOpcode opcode;
  EvaluationFunction function;
};
constexpr TransferRow kTransfers[] = {
    {HloOpcode::kInfeed, &EvaluateInfeed}, {HloOpcode::kOutfeed, &EvaluateOutfeed},
    {HloOpcode::kRecv, &EvaluateRecv},     {HloOpcode::kRecvDone, &EvaluateRecvDone},
    {HloOpcode::kSend, &EvaluateSend},     {HloOpcode::kSendDone, &EvaluateSendDone},
};

}  // namespace

EvaluationFunction FindTransfer(HloOpcode opcode) {
  for (const TransferRow& row : kTransfers) {
    if (row.opcode == opcode) return row.function;
  }
  return nullptr;
}

bool CanTransfer(const HloInstruction& transfer, const devices::Device* device) {
  if (device == nullptr || device->transfers() == devices::Device::Transfers::kNone) return false;
  if (device->transfers() == devices::Device::Transfers::kChannelsAndHost) return true;
  const bool is_of_host = transfer.opcode() == HloOpcode::kInfeed || transfer.opcode() == HloOpcode::kOutfeed;
  return !is_of_host && !transfer.is_host_transfer();
}

}  // namespace kashi::evaluator
