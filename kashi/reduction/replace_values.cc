// Transformations that put a simpler value in the place of a value, in any computation.
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/reduction/async_ends.h"
#include "kashi/reduction/module_size.h"
#include "kashi/reduction/transformations.h"

namespace kashi::reduction {
namespace {

// To find one known value.
constexpr int64_t kMostWork = 1 << 20;
constexpr int64_t kMostMemory = 64 << 20;

// A parameter that may go with its uses: callers inside of the module go on passing theirs.
bool IsInput(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kParameter && x.parent()->IsEntryComputation();
}
bool MayGo(const HloInstruction& x) { return x.opcode() == HloOpcode::kParameter ? IsInput(x) : !NeedsEnd(x); }

// The first operand with the shape of the instruction, for the end of an asynchronous operation that of its beginning;
// null if there is none.
const HloInstruction* OperandOfSameShape(const HloInstruction& x) {
  if (NeedsEnd(x)) return nullptr;
  const HloInstruction* const beginning = BeginningOf(x);
  for (const HloInstruction* operand : beginning != nullptr ? beginning->operands() : x.operands()) {
    if (ShapeUtil::Compatible(operand->shape(), x.shape()) && !NeedsEnd(*operand)) return operand;
  }
  return nullptr;
}

Shape WithoutLayout(Shape shape) {
  LayoutUtil::ClearLayout(&shape);
  return shape;
}

absl::Status ReplaceByNumbers(absl::Span<const Site> sites, int number, ModuleEdit* edit) {
  for (const Site& site : sites) {
    HloInstruction* const instruction = edit->CopyOf(*site.instruction);
    KASHI_ASSIGN_OR_RETURN(HloInstruction * numbers, edit->AddNumbers(instruction->shape(), number, instruction));
    edit->Replace(instruction, numbers);
  }
  return absl::OkStatus();
}

// The instructions of a computation that depend on no parameter, and on no random or foreign data.
absl::flat_hash_set<const HloInstruction*> KnownIn(const HloComputation& computation) {
  absl::flat_hash_set<const HloInstruction*> known;
  for (const HloInstruction* x : computation.MakeInstructionPostOrder()) {
    constexpr uint32_t kForeign = HloOpcodeFlags::kNeverConstant | HloOpcodeFlags::kSideEffect |
                                  HloOpcodeFlags::kRandom | HloOpcodeFlags::kCollective | HloOpcodeFlags::kToken;
    const bool is_foreign =
        GetHloOpcodeInfo(x->opcode()).Has(kForeign) ||
        (x->IsConstant() && (!x->fields().Has(HloField::literal) || x->shared_literal().is_elided()));
    const auto is_known = [&](const HloInstruction* operand) { return known.contains(operand); };
    if (!is_foreign && absl::c_all_of(x->operands(), is_known)) known.insert(x);
  }
  return known;
}

}  // namespace

// ---- By another value -----------------------------------------------------------------------------------------------

Sites FindOperands(const HloModule& module) {
  Sites sites;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      const HloInstruction* const operand = OperandOfSameShape(*instruction);
      if (operand != nullptr) sites.push_back({instruction, 0, 0, operand});
    }
  }
  return sites;
}

// Elements of tuples that are made in the same computation.
Sites FindElements(const HloModule& module) {
  Sites sites;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() != HloOpcode::kGetTupleElement) continue;
      const HloInstruction* const tuple = instruction->operand(0);
      const int64_t i = instruction->tuple_index();
      if (tuple->opcode() != HloOpcode::kTuple || i < 0 || i >= tuple->operand_count()) continue;
      sites.push_back({instruction, 0, 0, tuple->operand(i)});
    }
  }
  return sites;
}

// The first value of the computation with the shape. The parameters come before all others, so that none of the values
// depends on a later one.
Sites FindEarlierValues(const HloModule& module) {
  Sites sites;
  for (const HloComputation* computation : module.computations()) {
    std::vector<const HloInstruction*> order(computation->parameter_instructions().begin(),
                                             computation->parameter_instructions().end());
    absl::c_copy_if(computation->MakeInstructionPostOrder(), std::back_inserter(order),
                    [](const HloInstruction* x) { return x->opcode() != HloOpcode::kParameter; });
    absl::flat_hash_map<Shape, const HloInstruction*> first;
    for (const HloInstruction* instruction : order) {
      const auto [same, is_first] = first.emplace(WithoutLayout(instruction->shape()), instruction);
      if (!is_first && MayGo(*instruction)) sites.push_back({instruction, 0, 0, same->second});
    }
  }
  return sites;
}

absl::Status ReplaceByOther(absl::Span<const Site> sites, ModuleEdit* edit) {
  for (const Site& site : sites) {
    edit->Replace(edit->CopyOf(*site.instruction), edit->InPlaceOf(edit->CopyOf(*site.other)));
  }
  return absl::OkStatus();
}

// ---- By constants ---------------------------------------------------------------------------------------------------

// Without what the zeros and ones are written as.
Sites FindValuesForNumbers(const HloModule& module) {
  Sites sites;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* x : computation->MakeInstructionPostOrder()) {
      const bool is_value = (IsOperation(*x) && !NeedsEnd(*x)) || x->IsConstant() || IsInput(*x);
      if (is_value && HasNumbers(x->shape())) sites.push_back({x});
    }
  }
  return sites;
}

absl::Status ReplaceByZeros(absl::Span<const Site> sites, ModuleEdit* edit) { return ReplaceByNumbers(sites, 0, edit); }
absl::Status ReplaceByOnes(absl::Span<const Site> sites, ModuleEdit* edit) { return ReplaceByNumbers(sites, 1, edit); }

Sites FindKnownValues(const HloModule& module) {
  Sites sites;
  for (const HloComputation* computation : module.computations()) {
    const absl::flat_hash_set<const HloInstruction*> known = KnownIn(*computation);
    for (const HloInstruction* x : computation->MakeInstructionPostOrder()) {
      const bool is_small = x->shape().IsArrayExcludingBuffer() && x->shape().is_static() &&
                            ShapeUtil::ElementsIn(x->shape()) <= kMostNumbersInText;
      if (is_small && IsOperation(*x) && known.contains(x)) sites.push_back({x});
    }
  }
  return sites;
}

absl::Status ReplaceByKnownValue(absl::Span<const Site> sites, ModuleEdit* edit) {
  EvaluationOptions options;
  options.max_work = kMostWork;
  options.memory_limit_bytes = kMostMemory;
  for (const Site& site : sites) {
    HloEvaluator evaluator(options);
    KASHI_ASSIGN_OR_RETURN(
        Literal value, evaluator.Evaluate(site.instruction, {}, /*recursively_evaluate_nonconstant_operands=*/true));
    HloInstruction* const instruction = edit->CopyOf(*site.instruction);
    edit->Replace(instruction, edit->Add(HloInstruction::CreateConstant(std::move(value)), instruction));
  }
  return absl::OkStatus();
}

}  // namespace kashi::reduction
