// Operations that move data from or to a host or another program (docs/spec/hlo-ops.md 7.3). Only the processes of
// interpreter.run_parallel have such partners (Device::has_transfers): a host that feeds them, and each other.
//
//   infeed    token -> ((data), token)            the next value of the host
//   outfeed   data, token -> token                nobody reads it
//   send      data, token -> (data, u32[], token) goes into its channel at once; send-done gives the token
//   recv      token -> (data, u32[], token)       recv-done -> (data, token) waits for the data
//
// Channels are named by channel_id alone, as in StableHLO's interpreter: a channel has one kind of sender.
#include "kashi/evaluator/transfers.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/device.h"
#include "kashi/evaluator/value_util.h"

namespace kashi::internal {

absl::StatusOr<Value> Device::TakeInfeed(const HloInstruction& infeed) {
  return FailedPrecondition("%s: there is no host", infeed.name());
}
absl::Status Device::Send(int64_t channel, Value) { return FailedPrecondition("there is no channel %d", channel); }
absl::StatusOr<Value> Device::Receive(const HloInstruction& receiver, int64_t) {
  return FailedPrecondition("%s: there is no other program", receiver.name());
}

namespace {

// StableHLO's channel 0 is no channel in HLO.
int64_t ChannelOf(const Operation& op) { return op.instruction.channel_id().value_or(0); }

absl::Status CheckArrived(const Operation& op, const Value& value, const Shape& shape) {
  if (HasShape(value, shape)) return absl::OkStatus();
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

absl::StatusOr<Value> EvaluateSend(Operation& op) {
  KASHI_RETURN_IF_ERROR(op.run.device()->Send(ChannelOf(op), op.operands[0]));
  KASHI_ASSIGN_OR_RETURN(Value context, MakeZeros(op.instruction.shape().tuple_shapes(1), op.run));
  return Value::MakeTuple({std::move(op.operands[0]), std::move(context), Value::MakeToken()});
}

absl::StatusOr<Value> EvaluateSendDone(Operation&) { return Value::MakeToken(); }

// The data arrive at recv-done. Until then their place has zeros.
absl::StatusOr<Value> EvaluateRecv(Operation& op) { return MakeZeros(op.instruction.shape(), op.run); }

absl::StatusOr<Value> EvaluateRecvDone(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(Value data, op.run.device()->Receive(op.instruction, ChannelOf(op)));
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

}  // namespace kashi::internal
