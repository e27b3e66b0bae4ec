#include "kashi/evaluator/transfer_order.h"

#include <set>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/spmd/transfer_routes.h"

namespace kashi::internal {
namespace {

bool IsRecvDone(const HloInstruction* instruction) { return instruction->opcode() == HloOpcode::kRecvDone; }

class LateOrder {
 public:
  explicit LateOrder(const std::vector<HloInstruction*>& order) : order_(order), missing_(order.size()) {
    for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
    for (size_t i = 0; i < order.size(); ++i) {
      ForEachUser(*order[i], [this](size_t user) { ++missing_[user]; });
    }
  }

  std::vector<HloInstruction*> Make() {
    for (size_t i = 0; i < order_.size(); ++i) {
      if (missing_[i] == 0) SetReady(i);
    }
    while (!ready_.empty() || !receptions_.empty()) {
      const size_t next = ready_.empty() ? NextReception() : *ready_.begin();
      ready_.erase(next);
      receptions_.erase(next);
      HloInstruction* const instruction = order_[next];
      if (instruction->opcode() == HloOpcode::kSend) sent_to_.insert(ChannelOfTransfer(*instruction));
      late_.push_back(instruction);
      ForEachUser(*instruction, [this](size_t user) {
        if (--missing_[user] == 0) SetReady(user);
      });
    }
    return late_;
  }

 private:
  // What must come after an instruction. A user is named once for each of its operands, as it is counted.
  template <typename F>
  void ForEachUser(const HloInstruction& instruction, F f) {
    const auto visit = [&](const HloInstruction* user) {
      const auto found = place_.find(user);
      if (found != place_.end()) f(found->second);
    };
    for (const HloInstruction* user : instruction.users()) visit(user);
    for (const HloInstruction* successor : instruction.control_successors()) visit(successor);
  }
  void SetReady(size_t i) { (IsRecvDone(order_[i]) ? receptions_ : ready_).insert(i); }
  size_t NextReception() const {
    for (const size_t i : receptions_) {
      if (sent_to_.contains(ChannelOfTransfer(*order_[i]))) return i;
    }
    return *receptions_.begin();
  }

  const std::vector<HloInstruction*>& order_;
  absl::flat_hash_map<const HloInstruction*, size_t> place_;
  std::vector<size_t> missing_;          // what must come before
  std::set<size_t> ready_, receptions_;  // of what can come next
  absl::flat_hash_set<int64_t> sent_to_;
  std::vector<HloInstruction*> late_;
};

}  // namespace

std::vector<HloInstruction*> DelayReceptions(const std::vector<HloInstruction*>& order) {
  return absl::c_any_of(order, IsRecvDone) ? LateOrder(order).Make() : order;
}

}  // namespace kashi::internal
