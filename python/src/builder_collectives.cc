// kashi.XlaBuilder: collectives, tokens and transfers, and the borders of manual regions.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "builder.h"

namespace kashi::python {
namespace {

OpRef AllReduceOp(const BuilderRef& b, nb::handle operand, const ModuleRef& computation, nb::handle groups,
                  nb::handle channel, nb::handle global_ids) {
  return b.Return(AllReduce(b.Op(operand), ComputationOf(computation), GroupsOf(groups), ChannelOf(channel),
                            std::nullopt, OptionalBool(global_ids)));
}

OpRef AllReduceTupleOp(const BuilderRef& b, nb::handle operands, const ModuleRef& computation, nb::handle groups,
                       nb::handle channel, nb::handle global_ids) {
  return b.Return(AllReduceTuple(b.SomeOps(operands), ComputationOf(computation), GroupsOf(groups), ChannelOf(channel),
                                 std::nullopt, OptionalBool(global_ids)));
}

OpRef AllGatherOp(const BuilderRef& b, nb::handle operand, int64_t dimension, int64_t shards, nb::handle groups,
                  nb::handle channel, nb::handle global_ids) {
  return b.Return(AllGather(b.Op(operand), dimension, shards, GroupsOf(groups), ChannelOf(channel), std::nullopt,
                            OptionalBool(global_ids)));
}

OpRef AllGatherTupleOp(const BuilderRef& b, nb::handle operands, int64_t dimension, int64_t shards, nb::handle groups,
                       nb::handle channel, nb::handle global_ids) {
  return b.Return(AllGatherTuple(b.SomeOps(operands), dimension, shards, GroupsOf(groups), ChannelOf(channel),
                                 std::nullopt, OptionalBool(global_ids)));
}

OpRef ReduceScatterOp(const BuilderRef& b, nb::handle operand, const ModuleRef& computation, int64_t dimension,
                      int64_t shards, nb::handle groups, nb::handle channel, nb::handle global_ids) {
  return b.Return(ReduceScatter(b.Op(operand), ComputationOf(computation), dimension, shards, GroupsOf(groups),
                                ChannelOf(channel), std::nullopt, OptionalBool(global_ids)));
}

OpRef AllToAllOp(const BuilderRef& b, nb::handle operand, int64_t split, int64_t concat, int64_t count,
                 nb::handle groups, nb::handle channel) {
  return b.Return(AllToAll(b.Op(operand), split, concat, count, GroupsOf(groups), std::nullopt, ChannelOf(channel)));
}

OpRef AllToAllTupleOp(const BuilderRef& b, nb::handle operands, nb::handle groups, nb::handle channel) {
  return b.Return(AllToAllTuple(b.SomeOps(operands), GroupsOf(groups), std::nullopt, ChannelOf(channel)));
}

OpRef SplitAllToAllTupleOp(const BuilderRef& b, nb::handle operand, int64_t split, int64_t concat, int64_t count,
                           nb::handle groups, nb::handle channel) {
  return b.Return(
      AllToAllTuple(b.Op(operand), split, concat, count, GroupsOf(groups), std::nullopt, ChannelOf(channel)));
}

OpRef RaggedAllToAllOp(const BuilderRef& b, nb::handle input, nb::handle input_offsets, nb::handle send_sizes,
                       nb::handle output, nb::handle output_offsets, nb::handle recv_sizes, nb::handle groups,
                       nb::handle channel) {
  return b.Return(RaggedAllToAll(b.Op(input), b.Op(input_offsets), b.Op(send_sizes), b.Op(output), b.Op(output_offsets),
                                 b.Op(recv_sizes), GroupsOf(groups), ChannelOf(channel)));
}

OpRef CollectivePermuteOp(const BuilderRef& b, nb::handle operand, nb::handle pairs, nb::handle channel, bool inplace) {
  return b.Return(CollectivePermute(b.Op(operand), PairsOf(pairs, "source_target_pairs"), ChannelOf(channel), inplace));
}

OpRef MultiCollectivePermuteOp(const BuilderRef& b, nb::handle operands, nb::handle pairs, nb::handle channel,
                               bool inplace) {
  return b.Return(
      MultiCollectivePermute(b.SomeOps(operands), PairsOf(pairs, "source_target_pairs"), ChannelOf(channel), inplace));
}

}  // namespace

void DefineCollectives(Class& builder) {
  const auto operand = nb::arg("operand"), operands = nb::arg("operands"), computation = nb::arg("computation");
  const auto shards = nb::arg("shard_count"), dimension = nb::arg("all_gather_dimension");
  const auto split = nb::arg("split_dimension"), concat = nb::arg("concat_dimension"), count = nb::arg("split_count");
  const auto pairs = nb::arg("source_target_pairs");
  const auto groups = nb::arg("replica_groups") = nb::tuple();
  const auto channel = nb::arg("channel_id").none() = nb::none();
  const auto global_ids = nb::arg("use_global_device_ids").none() = nb::none();
  const auto inplace = nb::arg("inplace") = false;
  builder
      .def(
          "CrossReplicaSum",
          [](const BuilderRef& b, nb::handle x, nb::handle lists) {
            return b.Return(CrossReplicaSum(b.Op(x), GroupsOf(lists)));
          },
          operand, groups, "The sum of the operands of all replicas.")
      .def("AllReduce", AllReduceOp, operand, computation, groups, channel, global_ids,
           "The operands of all devices, folded. No groups: all replicas are one.")
      .def("AllReduceTuple", AllReduceTupleOp, operands, computation, groups, channel, global_ids,
           "AllReduce of several arrays: a tuple.")
      .def("AllGather", AllGatherOp, operand, dimension, shards, groups, channel, global_ids,
           "The operands of all devices, one behind the other.")
      .def("AllGatherTuple", AllGatherTupleOp, operands, dimension, shards, groups, channel, global_ids,
           "AllGather of several arrays: a tuple.")
      .def("ReduceScatter", ReduceScatterOp, operand, computation, nb::arg("scatter_dimension"), shards, groups,
           channel, global_ids, "AllReduce, of which each device gets its part.")
      .def("AllToAll", AllToAllOp, operand, split, concat, count, groups, channel,
           "Part i of each device's operand goes to device i, which joins what it gets.")
      .def("AllToAllTuple", AllToAllTupleOp, operands, groups, channel,
           "Operand i of each device goes to device i: a tuple.")
      .def("AllToAllTuple", SplitAllToAllTupleOp, operand, split, concat, count, groups, channel,
           "The parts of one operand, likewise.")
      .def("RaggedAllToAll", RaggedAllToAllOp, nb::arg("input"), nb::arg("input_offsets"), nb::arg("send_sizes"),
           nb::arg("output"), nb::arg("output_offsets"), nb::arg("recv_sizes"), groups, channel,
           "Rows of the input, as many as send_sizes says for each device, into the output.")
      .def(
          "CollectiveBroadcast",
          [](const BuilderRef& b, nb::handle x, nb::handle lists, nb::handle id) {
            return b.Return(CollectiveBroadcast(b.Op(x), GroupsOf(lists), ChannelOf(id)));
          },
          operand, nb::arg("replica_groups"), channel, "The operand of the first device of each group.")
      .def("CollectivePermute", CollectivePermuteOp, operand, pairs, channel, inplace,
           "Each target gets the operand of its source.")
      .def("MultiCollectivePermute", MultiCollectivePermuteOp, operands, pairs, channel, inplace,
           "CollectivePermute of several arrays: a tuple.")
      .def(
          "ReplicaId", [](const BuilderRef& b) { return b.Return(ReplicaId(b.get())); },
          "The number of the replica, u32[].");
}

namespace {

// ---- Tokens and transfers. ------------------------------------------------------------------------------------------

constexpr ChannelHandle::ChannelType kToDevice = ChannelHandle::DEVICE_TO_DEVICE;
constexpr ChannelHandle::ChannelType kToHost = ChannelHandle::DEVICE_TO_HOST;
constexpr ChannelHandle::ChannelType kFromHost = ChannelHandle::HOST_TO_DEVICE;

void OutfeedOp(const BuilderRef& b, nb::handle operand, nb::handle shape, const std::string& config) {
  Outfeed(b.Op(operand), ShapeOfArgument(shape), config);
  ThrowUnlessOk(b.builder->first_error());
}

void SendOp(const BuilderRef& b, nb::handle operand, int64_t channel) {
  Send(b.Op(operand), ChannelOf(channel, kToDevice));
  ThrowUnlessOk(b.builder->first_error());
}

void DefineFeeds(Class& builder) {
  const auto config = nb::arg("config") = "", outfeed_config = nb::arg("outfeed_config") = "";
  builder
      .def(
          "Infeed",
          [](const BuilderRef& b, nb::handle shape, const std::string& text) {
            return b.Return(Infeed(b.get(), ShapeOfArgument(shape), text));
          },
          nb::arg("shape"), config, "Data from the host.")
      .def(
          "InfeedWithToken",
          [](const BuilderRef& b, nb::handle token, nb::handle shape, const std::string& text) {
            return b.Return(InfeedWithToken(b.Op(token), ShapeOfArgument(shape), text));
          },
          nb::arg("token"), nb::arg("shape"), config, "(data from the host, a token).")
      .def("Outfeed", OutfeedOp, nb::arg("operand"), nb::arg("shape_with_layout"), outfeed_config, "Data to the host.")
      .def(
          "OutfeedWithToken",
          [](const BuilderRef& b, nb::handle operand, nb::handle token, nb::handle shape, const std::string& text) {
            return b.Return(OutfeedWithToken(b.Op(operand), b.Op(token), ShapeOfArgument(shape), text));
          },
          nb::arg("operand"), nb::arg("token"), nb::arg("shape_with_layout"), outfeed_config,
          "Data to the host: a token.");
}

void DefineChannels(Class& builder) {
  const auto operand = nb::arg("operand"), token = nb::arg("token"), shape = nb::arg("shape");
  const auto channel = nb::arg("channel_id");
  builder.def("Send", SendOp, operand, channel, "Data to another program.")
      .def(
          "SendWithToken",
          [](const BuilderRef& b, nb::handle x, nb::handle t, int64_t id) {
            return b.Return(SendWithToken(b.Op(x), b.Op(t), ChannelOf(id, kToDevice)));
          },
          operand, token, channel, "Data to another program: a token.")
      .def(
          "Recv",
          [](const BuilderRef& b, nb::handle s, int64_t id) {
            return b.Return(Recv(b.get(), ShapeOfArgument(s), ChannelOf(id, kToDevice)));
          },
          shape, channel, "Data from another program.")
      .def(
          "RecvWithToken",
          [](const BuilderRef& b, nb::handle t, nb::handle s, int64_t id) {
            return b.Return(RecvWithToken(b.Op(t), ShapeOfArgument(s), ChannelOf(id, kToDevice)));
          },
          token, shape, channel, "(data from another program, a token).")
      .def(
          "SendToHost",
          [](const BuilderRef& b, nb::handle x, nb::handle t, nb::handle s, int64_t id) {
            return b.Return(SendToHost(b.Op(x), b.Op(t), ShapeOfArgument(s), ChannelOf(id, kToHost)));
          },
          operand, token, nb::arg("shape_with_layout"), channel, "Data to the host, by a channel: a token.")
      .def(
          "RecvFromHost",
          [](const BuilderRef& b, nb::handle t, nb::handle s, int64_t id) {
            return b.Return(RecvFromHost(b.Op(t), ShapeOfArgument(s), ChannelOf(id, kFromHost)));
          },
          token, shape, channel, "(data from the host, by a channel, a token).");
}

void DefineShards(Class& builder) {
  const auto input = nb::arg("input");
  const auto dimension = nb::arg("single_dim") = -1;
  const auto unspecified = nb::arg("unspecified_dims") = nb::tuple();
  builder
      .def(
          "ConvertSpmdFullToShardShape",
          [](const BuilderRef& b, nb::handle x, const std::string& sharding, int single, nb::handle others) {
            const Numbers list = IntegersOf(others, "unspecified_dims");
            return b.Return(
                ValueOrThrow(ConvertSpmdFullToShardShape(b.get(), b.Op(x), single, ShardingOf(sharding), list)));
          },
          input, nb::arg("manual_sharding"), dimension, unspecified,
          "From here on a value of the program for all devices is the shard of each. single_dim: the one dimension; "
          "-1:\n"
          "all.")
      .def(
          "ConvertSpmdShardToFullShape",
          [](const BuilderRef& b, nb::handle x, nb::handle shape, const std::string& sharding, int single,
             nb::handle others) {
            const Numbers list = IntegersOf(others, "unspecified_dims");
            return b.Return(ValueOrThrow(ConvertSpmdShardToFullShape(b.get(), b.Op(x), ShapeOfArgument(shape), single,
                                                                     ShardingOf(sharding), list)));
          },
          input, nb::arg("output_shape"), nb::arg("manual_sharding"), dimension, unspecified,
          "The way back, to this shape.");
}

}  // namespace

void DefineTransfers(Class& builder) {
  builder
      .def(
          "CreateToken", [](const BuilderRef& b) { return b.Return(CreateToken(b.get())); }, "A token.")
      .def(
          "AfterAll",
          [](const BuilderRef& b, nb::handle tokens) { return b.Return(AfterAll(b.get(), b.SomeOps(tokens))); },
          nb::arg("tokens"), "A token after all of these.");
  DefineFeeds(builder);
  DefineChannels(builder);
  DefineShards(builder);
}

}  // namespace kashi::python
