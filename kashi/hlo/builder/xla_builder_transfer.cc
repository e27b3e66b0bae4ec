// Tokens, infeed and outfeed, channels (docs/spec/hlo-ops.md 10.3).
#include <optional>

#include "kashi/hlo/attributes/sharding_builder.h"
#include "kashi/hlo/builder/xla_lowering.h"

namespace kashi {

using hlo::Lower;
using hlo::NewInstruction;
using hlo::Node;
using hlo::NodeOr;
using hlo::Nodes;
using hlo::XlaLowering;
namespace {

absl::Status CheckChannel(const ChannelHandle& handle, ChannelHandle::ChannelType type, absl::string_view operation,
                          absl::string_view type_name) {
  if (handle.type() == type) return absl::OkStatus();
  return InvalidArgument("%s must use a %s channel", operation, type_name);
}

absl::Status CheckLayout(const Shape& shape, absl::string_view operation) {
  if (LayoutUtil::HasLayout(shape)) return absl::OkStatus();
  return InvalidArgument("Given shape to %s must have a layout", operation);
}

// Tokens are on device 0, for any devices of the data beside them.
std::optional<OpSharding> ShardingOfToken(const XlaLowering& to) {
  return to.builder()->sharding() ? std::make_optional(sharding_builder::AssignDevice(0)) : std::nullopt;
}

// The sharding of a tuple of data, which have `sharding`, and a token.
OpSharding WithToken(const OpSharding& sharding) {
  OpSharding both = sharding;
  if (sharding.type() != OpSharding::TUPLE) {
    both = OpSharding();
    both.set_type(OpSharding::TUPLE);
    *both.add_tuple_shardings() = sharding;
  }
  *both.add_tuple_shardings() = sharding_builder::AssignDevice(0);
  return both;
}

NodeOr AddToken(XlaLowering& to) { return to.Add(HloInstruction::CreateToken()); }

NodeOr AddOutfeed(XlaLowering& to, Node operand, Node token, const Shape& shape, const std::string& config) {
  KASHI_RETURN_IF_ERROR(CheckLayout(shape, "Outfeed"));
  if (!ShapeUtil::Compatible(operand->shape(), shape)) {
    return InvalidArgument("Outfeed shape %s must be compatible with operand shape %s",
                           ShapeUtil::HumanStringWithLayout(shape), ShapeUtil::HumanStringWithLayout(operand->shape()));
  }
  return to.Add(HloInstruction::CreateOutfeed(shape, operand, token, config));
}

NodeOr AddInfeed(XlaLowering& to, Node token, const Shape& shape, const std::string& config) {
  KASHI_RETURN_IF_ERROR(CheckLayout(shape, "Infeed"));
  const std::optional<OpSharding>& sharding = to.builder()->sharding();
  if (sharding && sharding->type() == OpSharding::REPLICATED) {
    return InvalidArgument("Replicated sharding is not supported for infeeds");
  }
  if (sharding && sharding->type() == OpSharding::OTHER && shape.IsArray()) {
    return InvalidArgument("Tiled sharding is not supported for infeeds of an array");
  }
  return to.Add(HloInstruction::CreateInfeed(shape, token, config));
}

NodeOr AddSend(XlaLowering& to, Node operand, Node token, const ChannelHandle& handle) {
  KASHI_RETURN_IF_ERROR(CheckChannel(handle, ChannelHandle::DEVICE_TO_DEVICE, "Send", "device-to-device"));
  KASHI_ASSIGN_OR_RETURN(const Node send, to.Add(HloInstruction::CreateSend(operand, token, handle.handle(),
                                                                            /*is_host_transfer=*/false)));
  return to.Add(HloInstruction::CreateSendDone(send, handle.handle(), /*is_host_transfer=*/false));
}

NodeOr AddRecv(XlaLowering& to, Node token, const Shape& shape, const ChannelHandle& handle, bool is_host_transfer) {
  KASHI_ASSIGN_OR_RETURN(const Node recv,
                         to.Add(HloInstruction::CreateRecv(shape, token, handle.handle(), is_host_transfer)));
  return to.Add(HloInstruction::CreateRecvDone(recv, handle.handle(), is_host_transfer));
}

}  // namespace

// ---- Tokens --------------------------------------------------------------------------------------------------------

XlaOp CreateToken(XlaBuilder* builder) {
  return Lower(builder, {}, [](XlaLowering& to, Nodes) { return AddToken(to); });
}

XlaOp AfterAll(XlaBuilder* builder, absl::Span<const XlaOp> tokens) {
  return Lower(builder, tokens, [](XlaLowering& to, Nodes x) -> NodeOr {
    if (x.empty()) return InvalidArgument("AfterAll requires at least one operand");
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i]->shape().IsToken()) continue;
      return InvalidArgument("All operands to AfterAll must be tokens; operand %d has shape %s", i,
                             ShapeUtil::HumanString(x[i]->shape()));
    }
    return to.Add(HloInstruction::CreateAfterAll(x));
  });
}

// ---- Infeed and outfeed --------------------------------------------------------------------------------------------

XlaOp Infeed(XlaBuilder* builder, const Shape& shape, const std::string& config) {
  return Lower(builder, {}, [&](XlaLowering& to, Nodes) -> NodeOr {
    // Infeeds run in the order of their calls: each takes the token of the previous one.
    const auto token = [&] {
      XlaScopedShardingAssignment assign(to.builder(), ShardingOfToken(to));
      return to.last_infeed() == nullptr ? AddToken(to) : to.AddElement(to.last_infeed(), 1);
    };
    const auto infeed = [&](Node after) {
      std::optional<OpSharding> sharding = to.builder()->sharding();
      if (sharding && sharding->type() == OpSharding::TUPLE) sharding = WithToken(*sharding);
      XlaScopedShardingAssignment assign(to.builder(), sharding);
      return AddInfeed(to, after, shape, config);
    };
    KASHI_ASSIGN_OR_RETURN(const Node after, token());
    KASHI_ASSIGN_OR_RETURN(to.last_infeed(), infeed(after));
    return to.AddElement(to.last_infeed(), 0);
  });
}

XlaOp InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config) {
  return Lower({token}, [&](XlaLowering& to, Nodes x) { return AddInfeed(to, x[0], shape, config); });
}

// Callers expect the result of a program that ends with an outfeed to be the empty tuple.
void Outfeed(XlaOp operand, const Shape& shape_with_layout, const std::string& outfeed_config) {
  Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    Node token = to.last_outfeed_token();
    if (token == nullptr) {
      XlaScopedShardingAssignment assign(to.builder(), ShardingOfToken(to));
      KASHI_ASSIGN_OR_RETURN(token, AddToken(to));
    }
    {
      std::optional<OpSharding> sharding = to.builder()->sharding();
      if (sharding) sharding = WithToken(*sharding);
      XlaScopedShardingAssignment assign(to.builder(), sharding);
      KASHI_ASSIGN_OR_RETURN(to.last_outfeed_token(), AddOutfeed(to, x[0], token, shape_with_layout, outfeed_config));
    }
    XlaScopedShardingAssignment none(to.builder(), std::nullopt);
    return to.AddTuple({});
  });
}

XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape& shape_with_layout, const std::string& outfeed_config) {
  return Lower({operand, token},
               [&](XlaLowering& to, Nodes x) { return AddOutfeed(to, x[0], x[1], shape_with_layout, outfeed_config); });
}

// ---- Channels ------------------------------------------------------------------------------------------------------

void Send(XlaOp operand, const ChannelHandle& handle) {
  Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const Node token, AddToken(to));
    return AddSend(to, x[0], token, handle);
  });
}

XlaOp SendWithToken(XlaOp operand, XlaOp token, const ChannelHandle& handle) {
  return Lower({operand, token}, [&](XlaLowering& to, Nodes x) { return AddSend(to, x[0], x[1], handle); });
}

XlaOp Recv(XlaBuilder* builder, const Shape& shape, const ChannelHandle& handle) {
  return Lower(builder, {}, [&](XlaLowering& to, Nodes) -> NodeOr {
    KASHI_RETURN_IF_ERROR(CheckChannel(handle, ChannelHandle::DEVICE_TO_DEVICE, "Recv", "device-to-device"));
    KASHI_ASSIGN_OR_RETURN(const Node token, AddToken(to));
    KASHI_ASSIGN_OR_RETURN(const Node done, AddRecv(to, token, shape, handle, /*is_host_transfer=*/false));
    return to.AddElement(done, 0);
  });
}

XlaOp RecvWithToken(XlaOp token, const Shape& shape, const ChannelHandle& handle) {
  return Lower({token}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_RETURN_IF_ERROR(CheckChannel(handle, ChannelHandle::DEVICE_TO_DEVICE, "Recv", "device-to-device"));
    return AddRecv(to, x[0], shape, handle, /*is_host_transfer=*/false);
  });
}

XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape& shape_with_layout, const ChannelHandle& handle) {
  return Lower({operand, token}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_RETURN_IF_ERROR(CheckLayout(shape_with_layout, "SendToHost"));
    if (!ShapeUtil::Compatible(x[0]->shape(), shape_with_layout)) {
      return InvalidArgument("SendToHost shape %s must be compatible with operand shape %s",
                             ShapeUtil::HumanStringWithLayout(shape_with_layout),
                             ShapeUtil::HumanStringWithLayout(x[0]->shape()));
    }
    if (!x[0]->shape().IsArray()) {
      return InvalidArgument("SendToHost only supports array shapes, shape: %s", ShapeUtil::HumanString(x[0]->shape()));
    }
    KASHI_RETURN_IF_ERROR(CheckChannel(handle, ChannelHandle::DEVICE_TO_HOST, "SendToHost", "device-to-host"));
    NewInstruction send = HloInstruction::CreateSend(x[0], x[1], handle.handle(), /*is_host_transfer=*/true);
    *send->mutable_shape()->mutable_tuple_shapes(0) = shape_with_layout;
    KASHI_ASSIGN_OR_RETURN(const Node sent, to.Add(std::move(send)));
    return to.Add(HloInstruction::CreateSendDone(sent, handle.handle(), /*is_host_transfer=*/true));
  });
}

XlaOp RecvFromHost(XlaOp token, const Shape& shape, const ChannelHandle& handle) {
  return Lower({token}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_RETURN_IF_ERROR(CheckLayout(shape, "RecvFromHost"));
    if (!shape.IsArray()) {
      return InvalidArgument("RecvFromHost only supports array shapes, shape: %s", ShapeUtil::HumanString(shape));
    }
    KASHI_RETURN_IF_ERROR(CheckChannel(handle, ChannelHandle::HOST_TO_DEVICE, "RecvFromHost", "host-to-device"));
    return AddRecv(to, x[0], shape, handle, /*is_host_transfer=*/true);
  });
}

}  // namespace kashi
