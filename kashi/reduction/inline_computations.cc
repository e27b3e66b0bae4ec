// Transformations of instructions that run computations: their bodies, branches or initial values in their place.
#include <optional>
#include <vector>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_index.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/while_loop_pattern.h"
#include "kashi/literal/literal_util.h"
#include "kashi/reduction/transformations.h"

namespace kashi::reduction {
namespace {

// A program may call one computation from many places, each of which calls another from many places …
constexpr int64_t kMostGrowth = 4, kAlwaysAllowed = 20000;

// Puts bodies in the place of instructions, up to that growth of the module.
class Inliner {
 public:
  explicit Inliner(ModuleEdit* edit)
      : edit_(edit), left_(edit->module()->instruction_count() * kMostGrowth + kAlwaysAllowed) {}

  absl::Status Put(const HloComputation& body, absl::Span<HloInstruction* const> arguments,
                   HloInstruction* instruction) {
    if (body.num_parameters() != static_cast<int64_t>(arguments.size())) {
      return Internal("%s has another number of operands than its computation", instruction->name());
    }
    left_ -= body.instruction_count();
    if (left_ < 0) return ResourceExhausted("the bodies are too many");
    edit_->Replace(instruction, edit_->AddBody(body, arguments, instruction));
    return absl::OkStatus();
  }

 private:
  ModuleEdit* const edit_;
  int64_t left_;
};

template <typename IsWanted>
Sites FindCallers(const HloModule& module, IsWanted is_wanted) {
  Sites sites;
  for (const HloComputation* computation : module.MakeComputationPostOrder()) {  // bodies before those who copy them
    for (const HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (is_wanted(*instruction)) sites.push_back({instruction});
    }
  }
  return sites;
}

// An async-done whose async-start is next to it: together they are a call.
bool IsEndOfCall(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kAsyncDone && x.operand_count() == 1 &&
         x.operand(0)->opcode() == HloOpcode::kAsyncStart && x.operand(0)->user_count() == 1;
}

// The loop counts, by a constant bound that is written in the program.
struct CountedLoop {
  const HloInstruction* bound;
  ParsedStaticWhileLoop count;
};
std::optional<CountedLoop> FindCountedLoop(const HloInstruction& loop) {
  const std::optional<WhileLoopPattern> pattern = MatchWhileLoop(loop);
  if (!pattern.has_value() || !pattern->direction.has_value()) return std::nullopt;
  const HloInstruction* bound = pattern->bound.instruction;
  ShapeIndex index = pattern->bound.index;
  while (bound->opcode() == HloOpcode::kTuple && !index.empty()) {
    bound = bound->operand(index[0]);
    index.pop_front();
  }
  if (!bound->IsConstant() || !ShapeUtil::IsScalar(bound->shape())) return std::nullopt;
  const std::optional<ParsedWhileLoop> parsed = PatternMatchParseWhileLoop(&loop);
  if (!parsed.has_value() || parsed->is_dynamic()) return std::nullopt;
  return CountedLoop{bound, *parsed->static_while_loop};
}

}  // namespace

// ---- Calls and branches ---------------------------------------------------------------------------------------------

Sites FindCalls(const HloModule& module) {
  return FindCallers(module, [](const HloInstruction& x) {
    return x.opcode() == HloOpcode::kCall || x.opcode() == HloOpcode::kFusion || IsEndOfCall(x);
  });
}

absl::Status InlineCalls(absl::Span<const Site> sites, ModuleEdit* edit) {
  Inliner inliner(edit);
  for (const Site& site : sites) {
    HloInstruction* const call = edit->CopyOf(*site.instruction);
    HloInstruction* const start = IsEndOfCall(*site.instruction) ? call->mutable_operand(0) : call;
    const std::vector<HloInstruction*> arguments(start->operands().begin(), start->operands().end());
    KASHI_RETURN_IF_ERROR(inliner.Put(*start->called_computations()[0], arguments, call));
    edit->Drop(start);
  }
  return absl::OkStatus();
}

Sites FindBranches(const HloModule& module) {
  Sites sites;
  for (const Site& site : FindCallers(module, [](const HloInstruction& x) {
         return x.opcode() == HloOpcode::kConditional && x.operand_count() == x.branch_count() + 1;
       })) {
    for (int64_t branch = 0; branch < site.instruction->branch_count(); ++branch) {
      sites.push_back({site.instruction, branch});
    }
  }
  return sites;
}

absl::Status TakeBranch(absl::Span<const Site> sites, ModuleEdit* edit) {
  HloInstruction* const conditional = edit->CopyOf(*sites[0].instruction);
  const int64_t branch = sites[0].number;
  return Inliner(edit).Put(*conditional->called_computations()[branch], {conditional->mutable_operand(branch + 1)},
                           conditional);
}

// ---- Loops ----------------------------------------------------------------------------------------------------------

Sites FindLoops(const HloModule& module) {
  return FindCallers(module, [](const HloInstruction& x) { return x.opcode() == HloOpcode::kWhile; });
}

absl::Status DropLoops(absl::Span<const Site> sites, ModuleEdit* edit) {
  for (const Site& site : sites) {
    HloInstruction* const loop = edit->CopyOf(*site.instruction);
    edit->Replace(loop, loop->mutable_operand(0));
  }
  return absl::OkStatus();
}

absl::Status RunLoopsOnce(absl::Span<const Site> sites, ModuleEdit* edit) {
  Inliner inliner(edit);
  for (const Site& site : sites) {
    HloInstruction* const loop = edit->CopyOf(*site.instruction);
    KASHI_RETURN_IF_ERROR(inliner.Put(*loop->while_body(), {loop->mutable_operand(0)}, loop));
  }
  return absl::OkStatus();
}

Sites FindTripCounts(const HloModule& module) {
  Sites sites;
  for (const Site& site : FindLoops(module)) {
    const std::optional<CountedLoop> loop = FindCountedLoop(*site.instruction);
    if (!loop.has_value() || loop->count.trip_count <= 1) continue;
    sites.push_back({site.instruction, 1});
    if (loop->count.trip_count > 3) sites.push_back({site.instruction, loop->count.trip_count / 2});
  }
  return sites;
}

// A bound that is k steps nearer ends the loop k iterations sooner, whatever the comparison.
absl::Status ShrinkTripCounts(absl::Span<const Site> sites, ModuleEdit* edit) {
  const Site& site = sites[0];
  const std::optional<CountedLoop> loop = FindCountedLoop(*site.instruction);
  if (!loop.has_value()) return Internal("%s does not count", site.instruction->name());
  const std::optional<int64_t> steps = CheckedMultiply(site.number - loop->count.trip_count, loop->count.step_size);
  const std::optional<int64_t> bound = steps.has_value() ? CheckedAdd(loop->count.loop_bound, *steps) : std::nullopt;
  if (!bound.has_value()) return Internal("the bound of %s is out of range", site.instruction->name());
  HloInstruction* const constant = edit->CopyOf(*loop->bound);
  const PrimitiveType type = constant->shape().element_type();
  if (!primitive_util::IsIntegralType(type)) return Unimplemented("%s does not count integers", constant->name());
  edit->Replace(constant, edit->Add(HloInstruction::CreateConstant(LiteralUtil::CreateR0(type, *bound)), constant));
  edit->CopyOf(*site.instruction)->clear_backend_config();  // it may say known_trip_count
  return absl::OkStatus();
}

}  // namespace kashi::reduction
