// Tokens and transfers from and to a host or another device (docs/spec/vhlo.md 6.10).
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
namespace {

// All results except the token at the end.
absl::StatusOr<std::vector<Shape>> DataShapes(const OperationConverter& c) {
  const size_t count = c.operation().results.size();
  if (count == 0) return InvalidArgument("its last result must be a token");
  std::vector<Shape> shapes;
  for (size_t i = 0; i + 1 < count; ++i) {
    KASHI_ASSIGN_OR_RETURN(shapes.emplace_back(), c.ResultShape(i));
  }
  return shapes;
}

struct Transfer {
  std::optional<int64_t> channel;
  bool is_host_transfer = false;
};
absl::StatusOr<Transfer> TransferOf(const OperationConverter& c) {
  Transfer transfer;
  KASHI_ASSIGN_OR_RETURN(const int64_t channel, c.Int("channel_id"));
  if (channel > 0) transfer.channel = channel;
  KASHI_ASSIGN_OR_RETURN(transfer.is_host_transfer, c.Bool("is_host_transfer"));
  return transfer;
}

absl::Status SetSourceTargetPairs(const OperationConverter& c, HloInstruction* instruction) {
  KASHI_ASSIGN_OR_RETURN(const auto pairs, c.Pairs("source_target_pairs"));
  if (pairs.empty()) return absl::OkStatus();
  std::vector<std::string> texts;
  for (const auto& [source, target] : pairs) texts.push_back(absl::StrCat("{", source, ",", target, "}"));
  instruction->set_frontend_attribute("_xla_send_recv_source_target_pairs",
                                      absl::StrCat("{", absl::StrJoin(texts, ","), "}"));
  return absl::OkStatus();
}

// Adds one half of a transfer.
absl::StatusOr<HloInstruction*> AddHalf(OperationConverter& c, std::unique_ptr<HloInstruction> half) {
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const added, c.Add(std::move(half)));
  KASHI_RETURN_IF_ERROR(c.AddAttributesTo(added));
  KASHI_RETURN_IF_ERROR(SetSourceTargetPairs(c, added));
  return added;
}

}  // namespace

absl::Status ConvertCreateToken(OperationConverter& c) { return c.Finish(HloInstruction::CreateToken()); }

absl::Status ConvertAfterAll(OperationConverter& c) {
  return c.Finish(HloInstruction::Create(HloOpcode::kAfterAll, ShapeUtil::MakeTokenShape(), c.operands()));
}

// ((r1, …), token)
absl::Status ConvertInfeed(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, DataShapes(c));
  KASHI_ASSIGN_OR_RETURN(const absl::string_view config, c.String("infeed_config"));
  KASHI_ASSIGN_OR_RETURN(
      HloInstruction* const infeed,
      c.Add(HloInstruction::CreateInfeed(ShapeUtil::MakeTupleShape(shapes), c.operand(0), std::string(config))));
  KASHI_RETURN_IF_ERROR(c.AddAttributesTo(infeed));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const data, c.AddElement(infeed, 0));
  Instructions results;
  for (size_t i = 0; i < shapes.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(results.emplace_back(), c.AddElement(data, static_cast<int64_t>(i)));
  }
  KASHI_ASSIGN_OR_RETURN(results.emplace_back(), c.AddElement(infeed, 1));
  return c.SetResults(results);
}

absl::Status ConvertOutfeed(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const absl::string_view config, c.String("outfeed_config"));
  const Instructions data(c.operands().begin(), c.operands().end() - 1);
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const tuple, c.AddTuple(data));
  return c.Finish(HloInstruction::CreateOutfeed(tuple->shape(), tuple, c.operands().back(), config));
}

absl::Status ConvertSend(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Transfer transfer, TransferOf(c));
  const Instructions data(c.operands().begin(), c.operands().end() - 1);
  HloInstruction* operand = data.size() == 1 ? data[0] : nullptr;
  if (operand == nullptr) {
    KASHI_ASSIGN_OR_RETURN(operand, c.AddTuple(data));
  }
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const send,
                         AddHalf(c, HloInstruction::CreateSend(operand, c.operands().back(), transfer.channel,
                                                               transfer.is_host_transfer)));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const done,
                         AddHalf(c, HloInstruction::CreateSendDone(send, transfer.channel, transfer.is_host_transfer)));
  return c.SetResults({done});
}

absl::Status ConvertRecv(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Transfer transfer, TransferOf(c));
  KASHI_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, DataShapes(c));
  const Shape data = shapes.size() == 1 ? shapes[0] : ShapeUtil::MakeTupleShape(shapes);
  KASHI_ASSIGN_OR_RETURN(
      HloInstruction* const recv,
      AddHalf(c, HloInstruction::CreateRecv(data, c.operand(0), transfer.channel, transfer.is_host_transfer)));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const done,
                         AddHalf(c, HloInstruction::CreateRecvDone(recv, transfer.channel, transfer.is_host_transfer)));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const received, c.AddElement(done, 0));
  Instructions results;
  if (shapes.size() == 1) {
    results.push_back(received);
  } else {
    for (size_t i = 0; i < shapes.size(); ++i) {
      KASHI_ASSIGN_OR_RETURN(results.emplace_back(), c.AddElement(received, static_cast<int64_t>(i)));
    }
  }
  KASHI_ASSIGN_OR_RETURN(results.emplace_back(), c.AddElement(done, 1));
  return c.SetResults(results);
}

}  // namespace kashi::stablehlo
