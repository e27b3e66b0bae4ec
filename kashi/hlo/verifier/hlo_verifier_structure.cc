// Checks premises of other checks: instructions and computations have the right parents, and there are no cycles. Then
// checks names and ids.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"
#include "kashi/hlo/verifier/hlo_verifier_internal.h"

namespace kashi::hlo::hlo_verifier {
namespace {

using InstructionSet = absl::flat_hash_set<const HloInstruction*>;
using ComputationSet = absl::flat_hash_set<const HloComputation*>;

absl::string_view NameOf(const HloInstruction* x) { return x != nullptr ? x->name() : "(null)"; }

// Each member is in the computation.
absl::Status CheckMembers(absl::string_view what, absl::Span<HloInstruction* const> list, const InstructionSet& members,
                          const HloComputation& computation) {
  for (const HloInstruction* member : list) {
    if (members.contains(member)) continue;
    return Internal("%s %s is not in computation %s, where the instruction is", what, NameOf(member),
                    computation.name());
  }
  return absl::OkStatus();
}

absl::Status CheckLinks(const HloInstruction& x, const InstructionSet& members, const HloComputation& computation) {
  if (x.parent() != &computation) {
    return Internal("Instruction %s is in computation %s, but has another parent", x.name(), computation.name());
  }
  KASHI_RETURN_IF_ERROR(CheckMembers("Operand", x.operands(), members, computation));
  KASHI_RETURN_IF_ERROR(CheckMembers("User", x.users(), members, computation));
  KASHI_RETURN_IF_ERROR(CheckMembers("Control predecessor", x.control_predecessors(), members, computation));
  return CheckMembers("Control successor", x.control_successors(), members, computation);
}

absl::Status CheckCallees(const HloInstruction& x, const ComputationSet& computations) {
  for (const HloComputation* callee : x.called_computations()) {
    if (callee == nullptr || !computations.contains(callee)) {
      return Internal("%s calls computation %s, which is not in its module", x.name(),
                      callee == nullptr ? "(null)" : callee->name());
    }
  }
  const HloOpcodeInfo& info = GetHloOpcodeInfo(x.opcode());
  constexpr uint32_t kCallers = HloOpcodeFlags::kEmbeddedCall | HloOpcodeFlags::kControlFlow | HloOpcodeFlags::kAsync;
  if (x.called_computations().empty() || info.Has(kCallers)) return absl::OkStatus();
  return Internal("%s calls computations, but %s does not allow this", x.name(), info.name);
}

// ---- Users ----------------------------------------------------------------------------------------------------------

// The users of each instruction must be exactly the instructions of which it is an operand.
void CheckUsers(const HloComputation& computation, Verification* v) {
  absl::flat_hash_set<std::pair<const HloInstruction*, const HloInstruction*>> uses;  // (operand, user)
  absl::flat_hash_map<const HloInstruction*, int64_t> use_counts;
  for (const HloInstruction* user : computation.instructions()) {
    for (const HloInstruction* operand : user->operands()) {
      if (uses.emplace(operand, user).second) ++use_counts[operand];
    }
  }
  for (const HloInstruction* x : computation.instructions()) {
    for (const HloInstruction* user : x->users()) {
      if (uses.contains({x, user})) continue;
      v->Report(x, "users", Internal("%s is listed as a user of %s, but does not use it", user->name(), x->name()));
    }
    const auto count = use_counts.find(x);
    const int64_t expected = count == use_counts.end() ? 0 : count->second;
    if (x->user_count() == expected) continue;
    v->Report(x, "users",
              Internal("%s has %d users, but is an operand of %d instructions", x->name(), x->user_count(), expected));
  }
}

// ---- Cycles ---------------------------------------------------------------------------------------------------------

// A node that reaches itself, or null. `next(node)` lists the nodes that follow a node.
template <typename Node, typename Nodes, typename Next>
const Node* FindCycle(const Nodes& nodes, Next next) {
  struct Visit {
    const Node* node;
    std::vector<const Node*> unseen;
  };
  absl::flat_hash_map<const Node*, bool> is_finished;
  for (const Node* first : nodes) {
    if (!is_finished.emplace(first, false).second) continue;
    std::vector<Visit> stack;
    stack.push_back({first, next(first)});
    while (!stack.empty()) {
      if (stack.back().unseen.empty()) {
        is_finished[stack.back().node] = true;
        stack.pop_back();
        continue;
      }
      const Node* const node = stack.back().unseen.back();
      stack.back().unseen.pop_back();
      const auto [seen, is_new] = is_finished.emplace(node, false);
      if (is_new) {
        stack.push_back({node, next(node)});
      } else if (!seen->second) {
        return node;
      }
    }
  }
  return nullptr;
}

bool HasInstructionCycle(const HloComputation& computation, Verification* v) {
  const auto dependencies = [](const HloInstruction* x) {
    std::vector<const HloInstruction*> all(x->operands().begin(), x->operands().end());
    all.insert(all.end(), x->control_predecessors().begin(), x->control_predecessors().end());
    return all;
  };
  const HloInstruction* const x = FindCycle<HloInstruction>(computation.instructions(), dependencies);
  if (x != nullptr) v->Report(x, "cycle", FailedPrecondition("A cycle is detected: %s depends on itself", x->name()));
  return x != nullptr;
}

bool HasRecursion(const HloModule& module, Verification* v) {
  const auto callees = [](const HloComputation* computation) {
    std::vector<const HloComputation*> all;
    for (const HloInstruction* x : computation->instructions()) {
      // An -update or -done names the computations that its start calls.
      all.insert(all.end(), x->called_computations().begin(), x->called_computations().end());
    }
    return all;
  };
  const HloComputation* const computation = FindCycle<HloComputation>(module.computations(), callees);
  if (computation != nullptr) {
    v->Report(computation, "recursion", FailedPrecondition("Computation %s calls itself", computation->name()));
  }
  return computation != nullptr;
}

// ---- Computations ---------------------------------------------------------------------------------------------------

absl::Status CheckParameters(const HloComputation& computation, const InstructionSet& members) {
  int64_t count = 0;
  for (const HloInstruction* x : computation.instructions()) count += x->opcode() == HloOpcode::kParameter ? 1 : 0;
  if (count != computation.num_parameters()) {
    return Internal("computation %s has %d parameter instructions, but lists %d", computation.name(), count,
                    computation.num_parameters());
  }
  for (int64_t i = 0; i < computation.num_parameters(); ++i) {
    const HloInstruction* parameter = computation.parameter_instruction(i);
    if (parameter == nullptr || !members.contains(parameter) || parameter->opcode() != HloOpcode::kParameter ||
        parameter->fields().Get<HloField::parameter_number>(-1) != i) {
      return Internal(
          "parameter %d of computation %s is %s, which has a different number or is in a different computation", i,
          computation.name(), NameOf(parameter));
    }
  }
  return absl::OkStatus();
}

void VerifyLinks(const HloComputation& computation, const ComputationSet& computations, Verification* v) {
  InstructionSet members;
  for (const HloInstruction* x : computation.instructions()) members.insert(x);
  if (computation.parent() != &v->module()) {
    v->Report(&computation, "parent",
              Internal("computation %s has a parent that is not its module", computation.name()));
  }
  if (!members.contains(computation.root_instruction())) {
    v->Report(&computation, "root",
              Internal("the root %s of computation %s is not among its instructions",
                       NameOf(computation.root_instruction()), computation.name()));
  }
  v->Report(&computation, "parameter numbers", CheckParameters(computation, members));
  for (const HloInstruction* x : computation.instructions()) {
    v->Report(x, "parent", CheckLinks(*x, members, computation));
    v->Report(x, "called computations", CheckCallees(*x, computations));
  }
}

}  // namespace

bool VerifyStructure(Verification* v) {
  const HloModule& module = v->module();
  if (module.name().empty()) v->ReportModule("module name", InvalidArgument("Module name must not be empty"));
  if (!module.has_entry_computation()) {
    v->ReportModule("entry", InvalidArgument("The module has no entry computation"));
    return false;
  }
  if (module.entry_computation()->IsFusionComputation()) {
    v->Report(module.entry_computation(), "entry", InvalidArgument("The entry computation is a fused computation"));
  }
  const size_t before = v->findings().size();
  const ComputationSet computations(module.computations().begin(), module.computations().end());
  for (const HloComputation* computation : module.computations()) VerifyLinks(*computation, computations, v);
  if (v->findings().size() != before) return false;
  bool is_cyclic = HasRecursion(module, v);
  for (const HloComputation* computation : module.computations()) {
    CheckUsers(*computation, v);
    is_cyclic |= HasInstructionCycle(*computation, v);
  }
  return !is_cyclic;
}

void VerifyNames(Verification* v) {
  absl::flat_hash_map<absl::string_view, const HloInstruction*> names;
  absl::flat_hash_map<int64_t, const HloInstruction*> ids;
  absl::flat_hash_set<absl::string_view> computation_names;
  for (const HloComputation* computation : v->module().computations()) {
    if (!computation_names.insert(computation->name()).second) {
      v->Report(computation, "unique names",
                Internal("Computation name %s is not unique in the module", computation->name()));
    }
    for (const HloInstruction* x : computation->instructions()) {
      const auto [name, is_new_name] = names.emplace(x->name(), x);
      if (!is_new_name) {
        v->Report(x, "unique names",
                  FailedPrecondition("Instruction name %s is not unique: computations %s and %s have it", x->name(),
                                     name->second->parent()->name(), computation->name()));
      }
      const auto [id, is_new_id] = ids.emplace(x->unique_id(), x);
      if (!is_new_id) {
        v->Report(
            x, "unique ids",
            Internal("Instructions %s and %s have the same id %d", id->second->name(), x->name(), x->unique_id()));
      }
    }
  }
}

}  // namespace kashi::hlo::hlo_verifier
