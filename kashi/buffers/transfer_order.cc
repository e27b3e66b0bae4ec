#include "kashi/buffers/transfer_order.h"

#include <array>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/spmd/asynchronous_collectives.h"
#include "kashi/hlo/spmd/transfer_routes.h"

namespace kashi::buffers {
namespace {

bool IsRecvDone(const HloInstruction* instruction) { return instruction->opcode() == HloOpcode::kRecvDone; }
bool EndsCollective(const HloInstruction* instruction) { return hlo::StartOfCollective(*instruction) != nullptr; }
bool BeginsCollective(const HloInstruction* instruction) {
  const HloInstruction* const begun = hlo::CollectiveBegunBy(*instruction);
  return begun != nullptr &&
         (begun != instruction || GetHloOpcodeInfo(begun->opcode()).Has(HloOpcodeFlags::kAsyncCollective));
}

class LateOrder {
 public:
  LateOrder(const std::vector<HloInstruction*>& order, bool is_schedule)
      : order_(order), kinds_(order.size(), kOther), missing_(order.size()) {
    for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
    for (size_t i = 0; i < order.size(); ++i) {
      ForEachUser(*order[i], [this](size_t user) { ++missing_[user]; });
      if (IsRecvDone(order[i])) kinds_[i] = kReception;
    }
    if (!is_schedule) FindHalvesOfCollectives();
  }

  std::vector<HloInstruction*> Make() {
    for (size_t i = 0; i < order_.size(); ++i) {
      if (missing_[i] == 0) ready_[kinds_[i]].insert(i);
    }
    while (const std::optional<size_t> next = Next()) {
      ready_[kinds_[*next]].erase(*next);
      HloInstruction* const instruction = order_[*next];
      if (instruction->opcode() == HloOpcode::kSend) sent_to_.insert(hlo::ChannelOfTransfer(*instruction));
      late_.push_back(instruction);
      ForEachUser(*instruction, [this](size_t user) {
        if (--missing_[user] == 0) ready_[kinds_[user]].insert(user);
      });
    }
    return late_;
  }

 private:
  // In the order in which they come. kEarly: begins a collective operation, or leads to one that does.
  enum Kind { kEarly, kOther, kDone, kReception, kKinds };

  // Calls f with each instruction that must come after this one: with a user once for each of its operands, as it is
  // counted.
  template <typename F>
  void ForEachUser(const HloInstruction& instruction, F f) {
    const auto visit = [&](const HloInstruction* user) {
      const auto found = place_.find(user);
      if (found != place_.end()) f(found->second);
    };
    for (const HloInstruction* user : instruction.users()) visit(user);
    for (const HloInstruction* successor : instruction.control_successors()) visit(successor);
  }
  void FindHalvesOfCollectives() {
    for (size_t i = order_.size(); i-- > 0;) {
      if (kinds_[i] == kReception) continue;
      bool is_early = BeginsCollective(order_[i]);
      ForEachUser(*order_[i], [&](size_t user) { is_early = is_early || kinds_[user] == kEarly; });
      kinds_[i] = EndsCollective(order_[i]) ? kDone : is_early ? kEarly : kOther;
    }
  }
  std::optional<size_t> Next() const {
    for (const size_t i : ready_[kReception]) {
      if (!ready_[kEarly].empty() || !ready_[kOther].empty() || !ready_[kDone].empty()) break;
      if (sent_to_.contains(hlo::ChannelOfTransfer(*order_[i]))) return i;
    }
    for (const std::set<size_t>& of_kind : ready_) {
      if (!of_kind.empty()) return *of_kind.begin();
    }
    return std::nullopt;
  }

  const std::vector<HloInstruction*>& order_;
  absl::flat_hash_map<const HloInstruction*, size_t> place_;
  std::vector<Kind> kinds_;
  std::vector<size_t> missing_;                 // the number of instructions that must come before
  std::array<std::set<size_t>, kKinds> ready_;  // instructions that can come next
  absl::flat_hash_set<int64_t> sent_to_;
  std::vector<HloInstruction*> late_;
};

}  // namespace

std::vector<HloInstruction*> OrderForOverlap(const std::vector<HloInstruction*>& order, bool is_schedule) {
  const bool has_halves = absl::c_any_of(
      order, [&](const HloInstruction* x) { return IsRecvDone(x) || (!is_schedule && EndsCollective(x)); });
  return has_halves ? LateOrder(order, is_schedule).Make() : order;
}

}  // namespace kashi::buffers
