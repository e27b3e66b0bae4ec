#include "kashi/passes/fuse.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/buffers/in_place_order.h"
#include "kashi/passes/inline_calls.h"
#include "kashi/passes/kernel_premises.h"
#include "kashi/passes/merge_fusions.h"
#include "kashi/passes/plain_array.h"
#include "kashi/passes/row_analysis.h"
#include "kashi/passes/segments.h"

namespace kashi::passes {
namespace {

constexpr size_t kMostMembers = 512;           // of one fusion: code size, registers
constexpr int64_t kMostEmittedMembers = 1024;  // of the code of one fusion, in members: small enough to compile fast
constexpr int kMostRecomputed = 8;             // members that are computed several times for each of their elements
constexpr size_t kMostCopies = 3;              // of one instruction
constexpr int kMostCopied = 8;                 // instructions of one fusion
constexpr int64_t kSmallArray = 4096;          // elements that stay in L1, in any order
constexpr int64_t kManyUpdates = 16384;        // of a scatter: enough work for several threads

// Elements that the kernel of this root goes through.
int64_t Iterations(const HloInstruction& root) {
  if (root.opcode() == HloOpcode::kScatter) return ShapeUtil::ElementsIn(root.operand(2)->shape());
  const HloInstruction& array = root.opcode() == HloOpcode::kReduce ? *root.operand(0) : root;
  return ShapeUtil::ElementsIn(array.shape());
}

// A transpose or a reversal of the innermost dimension reads one element at a time: not with vectors, and far apart.
bool MovesBadly(const HloInstruction& instruction) {
  if (ShapeUtil::ElementsIn(instruction.shape()) <= kSmallArray) return false;
  const int64_t inner = static_cast<int64_t>(instruction.shape().dimensions().size()) - 1;
  if (instruction.opcode() == HloOpcode::kTranspose) return instruction.dimensions(inner) != inner;
  return instruction.opcode() == HloOpcode::kReverse && absl::c_linear_search(instruction.dimensions(), inner);
}

// A fusion in the making.
struct FusionGroup {
  HloInstruction* root;
  absl::flat_hash_map<const HloInstruction*, double> members;  // the root too; elements that are computed of each
  int recomputed = 0;
  int64_t nests = 1;  // loop nests: each has code for all members
  bool has_row_sums = false;
  int copied = 0;  // members that other groups compute too
};

// Costs nothing where it is fused: only addresses change.
bool IsFreeMovement(const HloInstruction& instruction, const CodeSupport& support) {
  return support.MovesElements(instruction.opcode()) && instruction.opcode() != HloOpcode::kGather;
}

// Costs nothing to compute again.
bool IsFree(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kConstant || instruction.opcode() == HloOpcode::kIota ||
         (instruction.opcode() == HloOpcode::kBroadcast && instruction.operand(0)->IsConstant());
}

// A padding or a concatenation reads the operand for some elements of its result only.
double PartThatMayBeRead(const HloInstruction& user, const HloInstruction& operand) {
  if (user.opcode() != HloOpcode::kPad && user.opcode() != HloOpcode::kConcatenate) return 1;
  const double part = static_cast<double>(ShapeUtil::ElementsIn(operand.shape())) /
                      static_cast<double>(ShapeUtil::ElementsIn(user.shape()));
  return std::min(1.0, part * static_cast<double>(absl::c_count(user.operands(), &operand)));
}

// How many elements of the instruction the group would compute. Elementwise users ask for the same elements; each
// user that moves elements asks for others.
double ComputedElements(const HloInstruction& instruction, const FusionGroup& group, const CodeSupport& support) {
  double same = 0, moved = 0;
  for (const HloInstruction* user : instruction.users()) {
    const auto member = group.members.find(user);
    if (member == group.members.end()) continue;
    if (!IsFreeMovement(*user, support)) {
      same = std::max(same, member->second);
    } else {
      moved += member->second * PartThatMayBeRead(*user, instruction);
    }
  }
  return same + moved;
}

bool IsComputedOften(const HloInstruction& instruction, const FusionGroup& group, const CodeSupport& support) {
  return static_cast<double>(ShapeUtil::ElementsIn(instruction.shape())) * 1.5 <
         ComputedElements(instruction, group, support);
}

// The group with the instruction, as rows; nothing if it has none.
std::optional<RowAnalysis> RowsWith(const HloInstruction& instruction, const FusionGroup& group) {
  if (!RowSizesOf(*group.root).has_value()) return std::nullopt;
  RowAnalysis rows = AnalyzeRows(
      *group.root, [&](const HloInstruction& x) { return &x == &instruction || group.members.contains(&x); });
  if (!rows.is_valid) return std::nullopt;
  return rows;
}

bool IsOncePerRow(const HloInstruction& instruction, const FusionGroup& group) {
  const std::optional<RowAnalysis> rows = RowsWith(instruction, group);
  return rows.has_value() && rows->once_per_row.contains(&instruction);
}

class ComputationFuser {
 public:
  // Appends the fusions that it makes.
  ComputationFuser(HloComputation* computation, std::vector<HloInstruction*>* fusions, const PassContext& context)
      : computation_(computation), fusions_(*fusions), context_(context), support_(context.support) {}

  absl::Status Run() {
    KASHI_RETURN_IF_ERROR(RemoveDead());
    std::vector<HloInstruction*> users_first = computation_->MakeInstructionPostOrder();
    FindEarlyReads(users_first);
    absl::c_reverse(users_first);
    absl::flat_hash_map<const HloInstruction*, size_t> places;
    for (HloInstruction* instruction : users_first) {
      KASHI_RETURN_IF_ERROR(context_.check_stopped());
      places.emplace(instruction, places.size());
      Place(instruction);
    }
    for (const FusionGroup& group : groups_) {
      KASHI_RETURN_IF_ERROR(context_.check_stopped());
      if (IsWorthAKernel(group)) KASHI_RETURN_IF_ERROR(Build(group, places));
    }
    return RemoveDead();
  }

 private:
  bool IsExpensive(const HloInstruction& instruction) const { return support_.IsExpensive(instruction); }
  // Never within a fusion, but as its root, or as a sum of rows.
  bool CanBeRoot(const HloInstruction& instruction) const {
    return CanReduce(instruction, support_) || CanScatter(instruction, support_);
  }

  // A read of a few elements of an array that is then updated in place. Within a fusion it would come as late as the
  // rest of the fusion: after the update, which would have to copy the array.
  void FindEarlyReads(const std::vector<HloInstruction*>& order) {
    constexpr int64_t kLeastRatio = 16;  // of the array to the elements that are read
    for (const buffers::InPlaceUpdate& update :
         buffers::OrderUsesBeforeInPlaceUpdates(order, computation_->root_instruction()).updates) {
      for (const HloInstruction* use : update.earlier_uses) {
        const bool is_read = support_.MovesElements(use->opcode()) && use->operand_count() > 0;
        if (is_read && use->operand(0)->shape().IsArray() &&
            ShapeUtil::ElementsIn(use->shape()) <= ShapeUtil::ElementsIn(use->operand(0)->shape()) / kLeastRatio) {
          early_reads_.insert(use);
        }
      }
    }
  }

  void Place(HloInstruction* instruction) {
    const bool is_root = CanBeRoot(*instruction);
    if (!is_root && !support_.CanFuse(*instruction)) return;
    std::vector<int> groups;  // of the users
    bool is_needed = instruction == computation_->root_instruction();
    for (const HloInstruction* user : instruction->users()) {
      const auto found = groups_of_.find(user);
      if (found == groups_of_.end()) {
        is_needed = true;
      } else {
        groups.insert(groups.end(), found->second.begin(), found->second.end());
      }
    }
    absl::c_sort(groups);
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    if (groups.size() == 1 && !is_needed && MayJoinAsRowSum(*instruction, groups_[groups[0]])) {
      groups_[groups[0]].has_row_sums = true;
      return Join(instruction, groups[0]);
    }
    const bool may_join = !is_root && !groups.empty() && !early_reads_.contains(instruction) &&
                          absl::c_all_of(groups, [&](int group) { return MayJoin(*instruction, groups_[group]); });
    const bool may_copy = !is_needed && (groups.size() == 1 || IsBetterCopied(*instruction, groups));
    if (may_join && (IsFree(*instruction) || may_copy)) {
      for (int group : groups) groups_[group].copied += groups.size() > 1 && !IsFree(*instruction) ? 1 : 0;
      for (int group : groups) Join(instruction, group);
      // A constant that others need too stays an instruction besides.
      return;
    }
    const bool starts_group = instruction->opcode() == HloOpcode::kConcatenate || HasFewElements(*instruction) ||
                              !IsFreeMovement(*instruction, support_);
    if (is_root || starts_group) {
      groups_.push_back({instruction, {{instruction, static_cast<double>(Iterations(*instruction))}}});
      if (!is_root) groups_.back().nests = NestsWith(*instruction, groups_.back()).value_or(1);
      groups_of_[instruction] = {static_cast<int>(groups_.size()) - 1};
    }
  }

  static bool HasFewElements(const HloInstruction& instruction) {
    constexpr int64_t kFewElements = 4096;
    if (!instruction.shape().IsArray() || instruction.opcode() == HloOpcode::kParameter || IsFree(instruction)) {
      return false;
    }
    const int64_t elements = ShapeUtil::ElementsIn(instruction.shape());
    return elements > kMostSmallElements && elements <= kFewElements;
  }

  // Whether to compute a cheap operation in each of several groups, rather than to write its result to memory for them.
  // With one large operand that reads as much as before and writes nothing.
  bool IsBetterCopied(const HloInstruction& instruction, const std::vector<int>& groups) const {
    if (groups.size() > kMostCopies || IsExpensive(instruction)) return false;
    const int64_t large = absl::c_count_if(instruction.operands(), [&](const HloInstruction* operand) {
      return ShapeUtil::ElementsIn(operand->shape()) >= ShapeUtil::ElementsIn(instruction.shape()) &&
             operand->opcode() != HloOpcode::kBroadcast && !IsFree(*operand);
    });
    return large <= 1 && absl::c_all_of(groups, [&](int group) { return groups_[group].copied < kMostCopied; });
  }

  // The loop nests of a group that the concatenation joins; nothing if they would not cut it.
  std::optional<int64_t> NestsWith(const HloInstruction& instruction, const FusionGroup& group) const {
    if (CanBeRoot(*group.root) || group.has_row_sums) return std::nullopt;
    const Segments segments = FindSegments(
        {group.root}, [&](const HloInstruction& x) { return &x == &instruction || group.members.contains(&x); });
    if (!segments.cuts_all_concatenations) return std::nullopt;
    return segments.nests;
  }

  // Whether the kernel of the group can reduce each row, and go over it again (row_analysis.h).
  bool MayJoinAsRowSum(const HloInstruction& instruction, const FusionGroup& group) const {
    return IsRowReduce(instruction) && CanReduce(instruction, support_) && group.nests == 1 &&
           group.members.size() < kMostMembers && RowsWith(instruction, group).has_value();
  }
  bool MayJoin(const HloInstruction& instruction, const FusionGroup& group) const {
    if (instruction.opcode() == HloOpcode::kParameter || group.members.size() >= kMostMembers) return false;
    const int64_t instructions_after = static_cast<int64_t>(group.members.size()) + 1;
    if (instructions_after * group.nests > kMostEmittedMembers || MovesBadly(instruction)) return false;
    if (instruction.opcode() == HloOpcode::kConcatenate) {
      const std::optional<int64_t> nests = NestsWith(instruction, group);
      if (!nests.has_value() || instructions_after * *nests > kMostEmittedMembers) return false;
    }
    if (group.root->opcode() == HloOpcode::kScatter && !MayJoinScatter(instruction, *group.root)) return false;
    if (ShapeUtil::IsScalar(instruction.shape()) || IsFree(instruction)) return true;
    if (!IsComputedOften(instruction, group, support_) || IsFreeMovement(instruction, support_)) return true;
    if (IsExpensive(instruction)) return group.nests == 1 && IsOncePerRow(instruction, group);
    return group.recomputed < kMostRecomputed;
  }

  // The array that a scatter updates must be in memory. One thread makes its updates, one by one, so many indices and
  // updates are computed before, by vectors on all threads.
  bool MayJoinScatter(const HloInstruction& instruction, const HloInstruction& scatter) const {
    if (scatter.operand(0) == &instruction) return false;
    return Iterations(scatter) < kManyUpdates || ShapeUtil::ElementsIn(instruction.shape()) < kManyUpdates ||
           IsFree(instruction) || IsFreeMovement(instruction, support_);
  }

  void Join(HloInstruction* instruction, int number) {
    FusionGroup& group = groups_[number];
    const bool is_sum = instruction->opcode() == HloOpcode::kReduce;
    group.members[instruction] =
        is_sum ? static_cast<double>(Iterations(*instruction)) : ComputedElements(*instruction, group, support_);
    groups_of_[instruction].push_back(number);
    if (instruction->opcode() == HloOpcode::kConcatenate) group.nests = *NestsWith(*instruction, group);
    if (!is_sum && !IsFreeMovement(*instruction, support_) && IsComputedOften(*instruction, group, support_))
      ++group.recomputed;
  }

  // The evaluator computes a single cheap operation as fast, and there is nothing to compile. On a few elements, the
  // call of the evaluator costs more than the operation.
  bool IsWorthAKernel(const FusionGroup& group) const {
    return group.members.size() > 1 || HasFewElements(*group.root) || group.root->opcode() == HloOpcode::kReduce ||
           IsExpensive(*group.root) || group.root->opcode() == HloOpcode::kScatter ||
           group.root->opcode() == HloOpcode::kConvert || group.root->opcode() == HloOpcode::kGather;
  }

  static std::vector<const HloInstruction*> OperandsFirst(
      const FusionGroup& group, const absl::flat_hash_map<const HloInstruction*, size_t>& places) {
    std::vector<const HloInstruction*> members;
    for (const auto& [member, elements] : group.members) members.push_back(member);
    absl::c_sort(members,
                 [&](const HloInstruction* a, const HloInstruction* b) { return places.at(a) > places.at(b); });
    return members;
  }

  // `places`: of all instructions, users before their operands.
  absl::Status Build(const FusionGroup& group, const absl::flat_hash_map<const HloInstruction*, size_t>& places) {
    HloComputation::Builder builder(absl::StrCat("fused.", group.root->name()));
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* member : OperandsFirst(group, places)) {
      std::vector<HloInstruction*> copied;
      for (HloInstruction* operand : member->operands()) {
        HloInstruction*& copy = copies[operand];
        if (copy == nullptr) {
          copy = builder.AddInstruction(HloInstruction::CreateParameter(
              static_cast<int64_t>(operands.size()), operand->shape(), absl::StrCat("p", operands.size())));
          operands.push_back(operand);
        }
        copied.push_back(copy);
      }
      copies[member] = builder.AddInstruction(member->CloneWithNewOperands(member->shape(), copied, ""));
    }
    HloComputation* fused = computation_->parent()->AddEmbeddedComputation(builder.Build(copies.at(group.root)));
    HloInstruction* fusion = computation_->AddInstruction(
        HloInstruction::CreateFusion(group.root->shape(), HloInstruction::FusionKind::kLoop, operands, fused,
                                     absl::StrCat(group.root->name(), ".")));
    fusion->set_metadata(group.root->metadata());
    fusions_.push_back(fusion);
    return computation_->ReplaceInstruction(group.root, fusion);
  }

  // Removes members that were copied into fusions and have no user left. A send has no users: another device receives
  // it. Nor need a call of the outside world have one.
  absl::Status RemoveDead() {
    std::vector<HloInstruction*> users_first = computation_->MakeInstructionPostOrder();
    absl::c_reverse(users_first);
    for (HloInstruction* instruction : users_first) {
      if (!instruction->IsDead() || instruction->HasSideEffect()) continue;
      if (!computation_->IsSafelyRemovable(instruction)) continue;
      KASHI_RETURN_IF_ERROR(computation_->RemoveInstruction(instruction));
    }
    return absl::OkStatus();
  }

  HloComputation* computation_;
  std::vector<HloInstruction*>& fusions_;
  absl::flat_hash_set<const HloInstruction*> early_reads_;
  const PassContext& context_;
  const CodeSupport& support_;
  std::vector<FusionGroup> groups_;
  absl::flat_hash_map<const HloInstruction*, std::vector<int>> groups_of_;
};

}  // namespace

absl::StatusOr<std::vector<HloInstruction*>> FuseInstructions(HloModule* module, const PassContext& context,
                                                              IsCompiled is_compiled) {
  std::vector<HloInstruction*> fusions;
  for (HloComputation* computation : ComputationsRunAsAWhole(module, is_compiled)) {
    std::vector<HloInstruction*> made;
    KASHI_RETURN_IF_ERROR(ComputationFuser(computation, &made, context).Run());
    KASHI_RETURN_IF_ERROR(MergeFusions(computation, context, &made));
    fusions.insert(fusions.end(), made.begin(), made.end());
  }
  KASHI_RETURN_IF_ERROR(module->RemoveUnusedComputations());
  return fusions;
}

}  // namespace kashi::passes
