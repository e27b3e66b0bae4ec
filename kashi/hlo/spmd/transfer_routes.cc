#include "kashi/hlo/spmd/transfer_routes.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::hlo {
namespace {

constexpr char kPairsAttribute[] = "_xla_send_recv_source_target_pairs";

}  // namespace

std::string TransferRoute::ToString() const {
  std::string text = absl::StrCat("channel ", channel);
  if (source.has_value()) absl::StrAppend(&text, " from device ", *source);
  if (target.has_value()) absl::StrAppend(&text, " to device ", *target);
  return text;
}

int64_t ChannelOfTransfer(const HloInstruction& transfer) { return transfer.channel_id().value_or(0); }

bool IsDeviceTransfer(const HloInstruction& instruction) {
  const bool is_transfer = instruction.opcode() == HloOpcode::kSend || instruction.opcode() == HloOpcode::kRecv;
  return is_transfer && !instruction.is_host_transfer();
}

absl::StatusOr<std::optional<std::vector<std::pair<int64_t, int64_t>>>> TransferPairs(const HloInstruction& transfer) {
  const std::optional<std::string> text = transfer.get_frontend_attribute(kPairsAttribute);
  if (!text.has_value()) return std::nullopt;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  if (absl::StripAsciiWhitespace(*text) == "{}") return pairs;
  KASHI_ASSIGN_OR_RETURN(const std::vector<ReplicaGroup> groups, ParseReplicaGroupsOnly(*text));
  for (const ReplicaGroup& pair : groups) {
    if (pair.replica_ids_size() != 2) {
      return InvalidArgument("%s: pairs of a source and a target expected, but its %s is %s", transfer.name(),
                             kPairsAttribute, *text);
    }
    pairs.emplace_back(pair.replica_ids(0), pair.replica_ids(1));
  }
  return pairs;
}

bool NamesPartitions(const HloInstruction& transfer, DeviceCounts counts) {
  return counts.partitions > 1 && (counts.replicas == 1 || ChannelOfTransfer(transfer) > 0);
}

absl::StatusOr<std::vector<TransferRoute>> TransferRoutes(const HloInstruction& transfer, DeviceCounts counts) {
  KASHI_ASSIGN_OR_RETURN(const auto pairs, TransferPairs(transfer));
  if (!pairs.has_value()) {
    return InvalidArgument("%s does not say between which devices: it has no frontend attribute %s", transfer.name(),
                           kPairsAttribute);
  }
  const bool are_partitions = NamesPartitions(transfer, counts);
  const int64_t ids = are_partitions ? counts.partitions : counts.replicas;
  const int64_t step = are_partitions ? 1 : counts.partitions;        // from one id to the next
  const int64_t other_step = are_partitions ? counts.partitions : 1;  // from one set of all ids to the next
  absl::flat_hash_set<int64_t> sources, targets;
  std::vector<TransferRoute> routes;
  for (const auto& [source, target] : *pairs) {
    for (const int64_t id : {source, target}) {
      if (id >= 0 && id < ids) continue;
      return InvalidArgument("%s: its pairs name id %d, but the ids are 0 to %d", transfer.name(), id, ids - 1);
    }
    if (!sources.insert(source).second || !targets.insert(target).second) {
      return InvalidArgument("%s: its pair {%d,%d} has a source or a target of another pair", transfer.name(), source,
                             target);
    }
    for (int64_t other = 0; other < counts.total() / ids; ++other) {
      const int64_t first = other * other_step;
      routes.push_back({ChannelOfTransfer(transfer), first + source * step, first + target * step});
    }
  }
  return routes;
}

}  // namespace kashi::hlo
