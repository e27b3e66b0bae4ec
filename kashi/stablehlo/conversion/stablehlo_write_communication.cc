// Collectives, tokens, transfers from and to a host or another device.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/stablehlo/conversion/stablehlo_write_functions.h"

namespace kashi::stablehlo {
namespace {

// ChannelHandle::ChannelType of transfers between devices.
constexpr int64_t kDeviceToDevice = 1;

void SetChannel(const HloInstruction& i, int64_t type, OperationText* operation) {
  operation->Set("channel_handle", absl::StrCat("#stablehlo.channel_handle<handle = ", i.channel_id().value_or(0),
                                                ", type = ", type, ">"));
}

void SetGroups(const HloInstruction& i, OperationText* operation) {
  std::vector<std::vector<int64_t>> rows;
  size_t width = 0;
  for (const ReplicaGroup& group : i.replica_groups()) {
    rows.emplace_back(group.replica_ids().begin(), group.replica_ids().end());
    width = std::max(width, rows.back().size());
  }
  operation->Set("replica_groups", RowsText(rows, width));
}

// Channel, groups, numbering of devices.
OperationText Collective(const StableHloWriter& w, absl::string_view name, const HloInstruction& i) {
  OperationText operation = w.Operation(name, i);
  if (i.channel_id().has_value()) SetChannel(i, kDeviceToDevice, &operation);
  SetGroups(i, &operation);
  if (i.use_global_device_ids()) operation.Set("use_global_device_ids", "");
  if (i.has_dynamic_root()) operation.Set("has_dynamic_root", "");
  return operation;
}

absl::Status CheckOneOperand(const HloInstruction& i) {
  return i.operand_count() == 1 ? absl::OkStatus() : Unimplemented("StableHLO takes one operand");
}

absl::StatusOr<OperationText> CollectivePermute(const StableHloWriter& w, const HloInstruction& i) {
  KASHI_RETURN_IF_ERROR(CheckOneOperand(i));
  OperationText operation = w.Operation("stablehlo.collective_permute", i);
  if (i.channel_id().has_value()) SetChannel(i, kDeviceToDevice, &operation);
  operation.Set("source_target_pairs", PairsText(i.source_target_pairs()));
  return operation;
}

}  // namespace

absl::Status WriteAllGather(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = Collective(w, "stablehlo.all_gather", i);
  operation.SetInt("all_gather_dim", i.dimension());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteAllReduce(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = Collective(w, "stablehlo.all_reduce", i);
  operation.regions.push_back({i.to_apply()});
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteReduceScatter(StableHloWriter& w, const HloInstruction& i) {
  KASHI_RETURN_IF_ERROR(CheckOneOperand(i));
  OperationText operation = Collective(w, "stablehlo.reduce_scatter", i);
  operation.SetInt("scatter_dimension", i.dimension());
  operation.regions.push_back({i.to_apply()});
  return w.WriteFor(i, std::move(operation));
}

// StableHLO has the form that splits one array along a dimension, not the one that has an operand for each member.
absl::Status WriteAllToAll(StableHloWriter& w, const HloInstruction& i) {
  KASHI_RETURN_IF_ERROR(CheckOneOperand(i));
  if (i.dimensions().empty() || i.replica_groups().empty()) {
    return Unimplemented("StableHLO needs the dimension that is split and the groups");
  }
  OperationText operation = Collective(w, "stablehlo.all_to_all", i);
  operation.SetInt("concat_dimension", i.dimension());
  operation.SetInt("split_count", i.replica_groups()[0].replica_ids().size());
  operation.SetInt("split_dimension", i.dimension());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteCollectiveBroadcast(StableHloWriter& w, const HloInstruction& i) {
  return w.WriteFor(i, Collective(w, "stablehlo.collective_broadcast", i));
}

absl::Status WriteCollectiveReduce(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = Collective(w, "stablehlo.collective_reduce", i);
  operation.regions.push_back({i.to_apply()});
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteCollectivePermute(StableHloWriter& w, const HloInstruction& i) {
  KASHI_ASSIGN_OR_RETURN(OperationText operation, CollectivePermute(w, i));
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteAfterAll(StableHloWriter& w, const HloInstruction& i) {
  return w.WriteFor(i, w.Operation(i.operands().empty() ? "stablehlo.create_token" : "stablehlo.after_all", i));
}

absl::Status WriteInfeed(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.infeed", i);
  operation.SetString("infeed_config", i.infeed_config());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteOutfeed(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.outfeed", i);
  operation.SetString("outfeed_config", i.outfeed_config());
  return w.WriteFor(i, std::move(operation));
}

// One operation is a send and its send-done. The value of the send is (data, context, token).
absl::Status WriteSend(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.send", i);
  SetChannel(i, i.is_host_transfer() ? ChannelHandle::DEVICE_TO_HOST : ChannelHandle::DEVICE_TO_DEVICE, &operation);
  operation.SetBool("is_host_transfer", i.is_host_transfer());
  const Shape token = ShapeUtil::MakeTokenShape();
  operation.result_shapes = {&token};
  KASHI_ASSIGN_OR_RETURN(const ValueNames results, w.WriteOperation(operation));
  ValueNames names = w.NamesOf(i.operand(0));
  names.push_back(kNoValue);
  names.push_back(results[0]);
  w.SetNames(&i, std::move(names));
  return absl::OkStatus();
}

absl::Status WriteSendDone(StableHloWriter& w, const HloInstruction& i) {
  w.SetNames(&i, {w.NamesOf(i.operand(0)).back()});
  return absl::OkStatus();
}

absl::Status WriteRecv(StableHloWriter& w, const HloInstruction& i) {
  if (!i.shape().IsTuple() || i.shape().tuple_shapes().size() != 3) {
    return InvalidArgument("its shape must be (data, u32[], token[])");
  }
  OperationText operation = w.Operation("stablehlo.recv", i);
  SetChannel(i, i.is_host_transfer() ? ChannelHandle::HOST_TO_DEVICE : ChannelHandle::DEVICE_TO_DEVICE, &operation);
  operation.SetBool("is_host_transfer", i.is_host_transfer());
  operation.result_shapes = LeavesOf(i.shape().tuple_shapes(0));
  operation.result_shapes.push_back(&i.shape().tuple_shapes(2));
  KASHI_ASSIGN_OR_RETURN(ValueNames names, w.WriteOperation(operation));
  names.insert(names.end() - 1, kNoValue);
  w.SetNames(&i, std::move(names));
  return absl::OkStatus();
}

absl::Status WriteRecvDone(StableHloWriter& w, const HloInstruction& i) {
  ValueNames names = w.NamesOf(i.operand(0));
  names.erase(names.end() - 2);
  w.SetNames(&i, std::move(names));
  return absl::OkStatus();
}

// ---- Asynchronous pairs: the operation is written at its start. -----------------------------------------------------

namespace {

// The value of a start is (operands, results, contexts…).
void SetStartNames(StableHloWriter& w, const HloInstruction& i, const ValueNames& results) {
  ValueNames names = w.NamesOfOperands(i);
  names.insert(names.end(), results.begin(), results.end());
  names.resize(static_cast<size_t>(ShapeUtil::GetLeafCount(i.shape())), kNoValue);
  w.SetNames(&i, std::move(names));
}

absl::Status WriteStart(StableHloWriter& w, const HloInstruction& i, OperationText operation) {
  operation.result_shapes = LeavesOf(i.shape().tuple_shapes(1));
  KASHI_ASSIGN_OR_RETURN(const ValueNames results, w.WriteOperation(operation));
  SetStartNames(w, i, results);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteAllGatherStart(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = Collective(w, "stablehlo.all_gather", i);
  operation.SetInt("all_gather_dim", i.dimension());
  return WriteStart(w, i, std::move(operation));
}

absl::Status WriteCollectivePermuteStart(StableHloWriter& w, const HloInstruction& i) {
  KASHI_ASSIGN_OR_RETURN(OperationText operation, CollectivePermute(w, i));
  return WriteStart(w, i, std::move(operation));
}

absl::Status WriteAsyncStart(StableHloWriter& w, const HloInstruction& i) {
  const HloComputation& wrapped = *i.async_wrapped_computation();
  if (wrapped.num_parameters() != i.operand_count()) {
    return Unimplemented("StableHLO has no form for operands that come with a later async-update");
  }
  KASHI_ASSIGN_OR_RETURN(const ValueNames results, w.WriteComputation(wrapped, w.NamesOfOperands(i)));
  SetStartNames(w, i, results);
  return absl::OkStatus();
}

// (copy, source, context)
absl::Status WriteCopyStart(StableHloWriter& w, const HloInstruction& i) {
  SetStartNames(w, i, w.NamesOf(i.operand(0)));
  return absl::OkStatus();
}

absl::Status WriteCopyDone(StableHloWriter& w, const HloInstruction& i) {
  w.SetNames(&i, w.NamesOfElement(*i.operand(0), 0));
  return absl::OkStatus();
}

// For a start whose results are element 1.
absl::Status WriteDone(StableHloWriter& w, const HloInstruction& i) {
  w.SetNames(&i, w.NamesOfElement(*i.operand(0), 1));
  return absl::OkStatus();
}

}  // namespace kashi::stablehlo
