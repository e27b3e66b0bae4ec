#include "kashi/engine/engine_choice.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/work.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::engine {
namespace {

// The compiler's time: LLVM's start, and code for each instruction.
constexpr int64_t kNanosecondsToStart = 5'000'000, kNanosecondsOfInstruction = 300'000;
// The largest program that is compiled without a request: its compilation takes some seconds.
constexpr int64_t kMostInstructions = 20'000;

// Whether the evaluator needs longer for `runs` runs than the compiler.
bool IsWorthCompiling(const HloModule& module, int64_t runs) {
  if (runs == CompileOptions::kManyRuns) return true;
  const int64_t instructions = module.instruction_count();
  const int64_t evaluated_ns = SaturatingMultiply(evaluator::EstimatedNanosecondsOf(*module.entry_computation()), runs);
  return instructions <= kMostInstructions &&
         evaluated_ns > kNanosecondsToStart + instructions * kNanosecondsOfInstruction;
}

bool IsBeyondLimit(const HloModule& module, int64_t max_work) {
  return max_work > 0 && evaluator::LeastWorkOf(*module.entry_computation()) > max_work;
}

}  // namespace

std::string ChooseEngine(const HloModule& module, const CompileOptions& options) {
  const bool is_evaluated = IsBeyondLimit(module, options.limits.max_work) || !IsWorthCompiling(module, options.runs);
  return is_evaluated ? "evaluator" : "cpu";
}

bool IsCheap(const HloModule& module, int64_t nanoseconds) {
  return evaluator::EstimatedNanosecondsOf(*module.entry_computation()) < nanoseconds;
}

bool IsQuick(const HloModule& module, int64_t nanoseconds) {
  constexpr uint32_t kWaits =
      HloOpcodeFlags::kCollective | HloOpcodeFlags::kAsyncCollective | HloOpcodeFlags::kSideEffect;
  const bool may_be_long = absl::c_any_of(module.computations(), [](const HloComputation* computation) {
    return absl::c_any_of(computation->instructions(), [](const HloInstruction* x) {
      return x->opcode() == HloOpcode::kWhile || x->opcode() == HloOpcode::kConditional ||
             x->opcode() == HloOpcode::kCustomCall || GetHloOpcodeInfo(x->opcode()).Has(kWaits);
    });
  });
  return !may_be_long && IsCheap(module, nanoseconds);
}

}  // namespace kashi::engine
