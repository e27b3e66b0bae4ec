#include "kashi/passes/merge_fusions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/buffers/in_place_order.h"
#include "kashi/passes/inline_calls.h"
#include "kashi/passes/kernel_premises.h"
#include "kashi/passes/plain_array.h"
#include "kashi/passes/row_analysis.h"

namespace kashi::passes {
namespace {

constexpr int64_t kMostMergedMembers = 256;  // of one fusion: registers, compile time
constexpr size_t kMostMergedResults = 8;
constexpr size_t kMostMergedArrays = 16;  // operands and results: each is a stream of memory
constexpr size_t kMostTriedUsers = 32;    // of an array whose users are tried with one another

enum class Kind {
  kInPlace,     // element by element: a result may take the place of an operand
  kBroadcasts,  // beside that, it broadcasts smaller arrays, such as the bias of a layer
};

// The kind of an instruction that may be one of several results; nothing: it may not. It is a fusion, or an elementwise
// operation that alone was not worth a kernel. In both kinds, arrays of the result's sizes are read only where the
// result is written. Arrays of up to kMostSmallElements live in registers, and need no kernel.
std::optional<Kind> KindOf(const HloInstruction& x, const CodeSupport& support) {
  if (!x.shape().IsArray() || ShapeUtil::ElementsIn(x.shape()) <= kMostSmallElements) return std::nullopt;
  if (x.opcode() != HloOpcode::kFusion) {
    const bool is_elementwise = HloInstruction::IsOpElementwise(x.opcode()) && support.CanFuse(x);
    return is_elementwise ? std::optional<Kind>(Kind::kInPlace) : std::nullopt;
  }
  const HloComputation& fused = *x.fused_instructions_computation();
  if (IsElementByElement(fused, support)) return Kind::kInPlace;
  const int64_t elements = ShapeUtil::ElementsIn(x.shape());
  const bool only_broadcasts = absl::c_all_of(fused.instructions(), [&](const HloInstruction* member) {
    if (member->opcode() == HloOpcode::kBroadcast) return ShapeUtil::ElementsIn(member->operand(0)->shape()) < elements;
    return member->opcode() == HloOpcode::kParameter || member->opcode() == HloOpcode::kConstant ||
           member->opcode() == HloOpcode::kIota || HloInstruction::IsOpElementwise(member->opcode());
  });
  if (!only_broadcasts || IsForRowKernel(fused, support)) return std::nullopt;
  return Kind::kBroadcasts;
}

int64_t MembersOf(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kFusion ? x.fused_instructions_computation()->instruction_count() : 1;
}

// Fusions, and elementwise operations, that become one, in the order of the computation. Its place is that of the last.
struct Group {
  std::vector<HloInstruction*> fusions;
  Kind kind = Kind::kInPlace;
  int64_t members = 0;
  size_t place = 0;
};

class FusionMerger {
 public:
  FusionMerger(HloComputation* computation, const PassContext& context)
      : computation_(computation), context_(context) {}

  absl::Status Run(std::vector<HloInstruction*>* fusions) {
    const absl::flat_hash_set<const HloInstruction*> made(fusions->begin(), fusions->end());
    for (HloInstruction* instruction : FindPlaces()) {
      KASHI_RETURN_IF_ERROR(context_.check_stopped());
      // Other fusions are run by the evaluator.
      if (instruction->opcode() == HloOpcode::kFusion && !made.contains(instruction)) continue;
      const std::optional<Kind> kind = KindOf(*instruction, context_.support);
      if (!kind.has_value()) continue;
      const size_t number = groups_.size();
      groups_.push_back({{instruction}, *kind, MembersOf(*instruction), places_.at(instruction)});
      group_of_[instruction] = number;
      while (MergeOneInto(number)) {
      }
    }
    return BuildAll(fusions);
  }

 private:
  // Returns the order of the computation.
  std::vector<HloInstruction*> FindPlaces() {
    buffers::InPlaceOrder in_place = buffers::OrderUsesBeforeInPlaceUpdates(computation_->MakeInstructionPostOrder(),
                                                                            computation_->root_instruction());
    for (size_t i = 0; i < in_place.order.size(); ++i) places_[in_place.order[i]] = i;
    for (const buffers::InPlaceUpdate& update : in_place.updates) {
      const HloInstruction& x = *update.instruction;
      if (x.opcode() == HloOpcode::kFusion && buffers::OperandUpdatedInPlace(x) < 0) continue;
      must_be_early_.insert(update.earlier_uses.begin(), update.earlier_uses.end());
    }
    return std::move(in_place.order);
  }

  size_t PlaceOf(const HloInstruction* instruction) const {
    const auto group = group_of_.find(instruction);
    return group == group_of_.end() ? places_.at(instruction) : groups_[group->second].place;
  }

  static bool HasSizesOf(const HloInstruction& array, const Group& group) {
    return array.shape().IsArray() && array.shape().dimensions() == group.fusions[0]->shape().dimensions();
  }

  // Merges the first group that may be merged into this one. False: there is none.
  bool MergeOneInto(size_t number) {
    for (const HloInstruction* fusion : groups_[number].fusions) {
      for (const HloInstruction* operand : fusion->operands()) {
        if (!HasSizesOf(*operand, groups_[number])) continue;
        if (TryMerge(operand, number)) return true;
        if (operand->user_count() > kMostTriedUsers) continue;
        for (const HloInstruction* user : operand->users()) {
          if (TryMerge(user, number)) return true;
        }
      }
    }
    return false;
  }

  bool TryMerge(const HloInstruction* earlier, size_t later) {
    const auto found = group_of_.find(earlier);
    if (found == group_of_.end() || found->second == later || !MayMerge(found->second, later)) return false;
    Group moved = std::exchange(groups_[found->second], Group());
    Group& group = groups_[later];
    for (const HloInstruction* fusion : moved.fusions) group_of_[fusion] = later;
    group.members += moved.members;
    group.fusions.insert(group.fusions.end(), moved.fusions.begin(), moved.fusions.end());
    absl::c_sort(group.fusions, [&](auto* a, auto* b) { return places_.at(a) < places_.at(b); });
    return true;
  }

  bool MayMerge(size_t a, size_t b) const {
    const Group &earlier = groups_[a], &later = groups_[b];
    if (earlier.kind != later.kind || !HasSizesOf(*earlier.fusions[0], later) ||
        earlier.members + later.members > kMostMergedMembers)
      return false;
    absl::flat_hash_set<const HloInstruction*> arrays;
    size_t results = 0;
    for (const Group* group : {&earlier, &later}) {
      for (const HloInstruction* fusion : group->fusions) {
        for (const HloInstruction* operand : fusion->operands()) {
          if (!IsIn(operand, a, b) && HasSizesOf(*operand, later)) arrays.insert(operand);
        }
        results += IsResult(*fusion, a, b) ? 1 : 0;
      }
    }
    if (results > kMostMergedResults || arrays.size() + results > kMostMergedArrays) return false;
    return absl::c_all_of(earlier.fusions, [&](const HloInstruction* fusion) {
      return !must_be_early_.contains(fusion) && fusion != computation_->root_instruction() &&
             absl::c_all_of(fusion->users(), [&](const HloInstruction* user) {
               return IsIn(user, a, b) || PlaceOf(user) > later.place;
             });
    });
  }

  bool IsIn(const HloInstruction* instruction, size_t a, size_t b) const {
    const auto group = group_of_.find(instruction);
    return group != group_of_.end() && (group->second == a || group->second == b);
  }
  // Whether somebody outside of the two groups needs it.
  bool IsResult(const HloInstruction& fusion, size_t a, size_t b) const {
    return &fusion == computation_->root_instruction() ||
           absl::c_any_of(fusion.users(), [&](const HloInstruction* user) { return !IsIn(user, a, b); });
  }

  absl::Status BuildAll(std::vector<HloInstruction*>* fusions) {
    absl::flat_hash_set<const HloInstruction*> merged;
    std::vector<HloInstruction*> made;
    for (const Group& group : groups_) {
      if (group.fusions.size() < 2) continue;
      KASHI_RETURN_IF_ERROR(context_.check_stopped());
      merged.insert(group.fusions.begin(), group.fusions.end());
      KASHI_RETURN_IF_ERROR(Build(group, &made));
    }
    fusions->erase(std::remove_if(fusions->begin(), fusions->end(), [&](auto* x) { return merged.contains(x); }),
                   fusions->end());
    fusions->insert(fusions->end(), made.begin(), made.end());
    return absl::OkStatus();
  }

  absl::Status Build(const Group& group, std::vector<HloInstruction*>* made) {
    const size_t number = group_of_.at(group.fusions[0]);
    const HloInstruction& last = *group.fusions.back();
    HloComputation::Builder builder(absl::StrCat("merged.", last.name()));
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> values;  // within the new fusion
    std::vector<HloInstruction*> operands, results, copies_of_results;
    for (HloInstruction* fusion : group.fusions) {
      values[fusion] = AddMembers(*fusion, &builder, &values, &operands);
      if (!IsResult(*fusion, number, number)) continue;
      results.push_back(fusion);
      copies_of_results.push_back(values[fusion]);
    }
    HloInstruction* root = copies_of_results[0];
    if (results.size() > 1) root = builder.AddInstruction(HloInstruction::CreateTuple(copies_of_results));
    HloComputation* fused = computation_->parent()->AddEmbeddedComputation(builder.Build(root));
    HloInstruction* merged = computation_->AddInstruction(HloInstruction::CreateFusion(
        root->shape(), HloInstruction::FusionKind::kLoop, operands, fused, absl::StrCat(last.name(), ".merged.")));
    merged->set_metadata(last.metadata());
    made->push_back(merged);
    return Replace(group, results, merged);
  }

  // Copies the members of a fusion. Operands that are no values yet become parameters. Returns the copy of the root.
  static HloInstruction* AddMembers(HloInstruction& fusion, HloComputation::Builder* builder,
                                    absl::flat_hash_map<const HloInstruction*, HloInstruction*>* values,
                                    std::vector<HloInstruction*>* operands) {
    std::vector<HloInstruction*> arguments;
    for (HloInstruction* operand : fusion.operands()) {
      HloInstruction*& value = (*values)[operand];
      if (value == nullptr) {
        value = builder->AddInstruction(HloInstruction::CreateParameter(
            static_cast<int64_t>(operands->size()), operand->shape(), absl::StrCat("p", operands->size())));
        operands->push_back(operand);
      }
      arguments.push_back(value);
    }
    const auto add = [&](const HloInstruction& x, absl::Span<HloInstruction* const> its_operands) {
      return builder->AddInstruction(x.CloneWithNewOperands(x.shape(), its_operands, ""));
    };
    return fusion.opcode() == HloOpcode::kFusion ? CopyBody(*fusion.fused_instructions_computation(), arguments, add)
                                                 : add(fusion, arguments);
  }

  absl::Status Replace(const Group& group, const std::vector<HloInstruction*>& results, HloInstruction* merged) {
    for (size_t i = results.size(); i-- > 0;) {
      HloInstruction* result = merged;
      if (results.size() > 1) {
        result = computation_->AddInstruction(
            HloInstruction::CreateGetTupleElement(results[i]->shape(), merged, static_cast<int64_t>(i)));
      }
      KASHI_RETURN_IF_ERROR(results[i]->ReplaceAllUsesWith(result));
      if (results[i] == computation_->root_instruction()) computation_->set_root_instruction(result);
    }
    for (size_t i = group.fusions.size(); i-- > 0;) {
      KASHI_RETURN_IF_ERROR(computation_->RemoveInstruction(group.fusions[i]));
    }
    return absl::OkStatus();
  }

  HloComputation* computation_;
  const PassContext& context_;
  absl::flat_hash_map<const HloInstruction*, size_t> places_;  // operands first
  absl::flat_hash_set<const HloInstruction*> must_be_early_;   // they read what is then updated in place
  std::vector<Group> groups_;
  absl::flat_hash_map<const HloInstruction*, size_t> group_of_;
};

}  // namespace

absl::Status MergeFusions(HloComputation* computation, const PassContext& context,
                          std::vector<HloInstruction*>* fusions) {
  return FusionMerger(computation, context).Run(fusions);
}

}  // namespace kashi::passes
