#include "kashi/passes/unroll_loops.h"

#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/while_loop_pattern.h"
#include "kashi/passes/inline_calls.h"

namespace kashi::passes {
namespace {

constexpr int64_t kMostUnrolledIterations = 8;
constexpr int64_t kMostUnrolledInstructions = 400;  // of all iterations
constexpr int64_t kLargeState = 4096;               // elements; an array that no native function keeps in registers

bool IsPlainInBody(const HloInstruction& instruction, const CodeSupport& support) {
  return instruction.opcode() == HloOpcode::kParameter || instruction.opcode() == HloOpcode::kTuple ||
         instruction.opcode() == HloOpcode::kGetTupleElement || instruction.opcode() == HloOpcode::kConstant ||
         support.CanFuse(instruction);
}

bool ComputesLargeArray(const HloComputation& body, const CodeSupport& support) {
  return absl::c_any_of(body.instructions(), [&](const HloInstruction* x) {
    return x->shape().IsArray() && support.CanFuse(*x) && ShapeUtil::ElementsIn(x->shape()) >= kLargeState;
  });
}

// The number of iterations; nothing if the loop stays.
std::optional<int64_t> IterationsToUnroll(const HloInstruction& loop, const CodeSupport& support) {
  const HloComputation& body = *loop.while_body();
  if (loop.HasControlDependencies() || !ComputesLargeArray(body, support) ||
      !absl::c_all_of(body.instructions(), [&](const HloInstruction* x) { return IsPlainInBody(*x, support); })) {
    return std::nullopt;
  }
  const HloInstruction* const states[] = {loop.operand(0), body.parameter_instruction(0), body.root_instruction()};
  for (const HloInstruction* state : states) {
    if (!ShapeUtil::Compatible(state->shape(), loop.shape())) return std::nullopt;
  }
  const std::optional<ParsedWhileLoop> parsed = PatternMatchParseWhileLoop(&loop);
  if (!parsed.has_value() || parsed->is_dynamic()) return std::nullopt;
  const int64_t iterations = parsed->static_while_loop->trip_count;
  if (iterations < 0 || iterations > kMostUnrolledIterations) return std::nullopt;
  if (iterations * body.instruction_count() > kMostUnrolledInstructions) return std::nullopt;
  return iterations;
}

}  // namespace

absl::Status UnrollLoops(HloModule* module, const PassContext& context) {
  for (HloComputation* computation : ComputationsRunAsAWhole(module)) {
    const std::vector<HloInstruction*> instructions = computation->instructions();
    for (HloInstruction* loop : instructions) {
      if (loop->opcode() != HloOpcode::kWhile) continue;
      KASHI_RETURN_IF_ERROR(context.check_stopped());
      const std::optional<int64_t> iterations = IterationsToUnroll(*loop, context.support);
      if (!iterations.has_value()) continue;
      HloInstruction* state = loop->mutable_operand(0);
      for (int64_t i = 0; i < *iterations; ++i) state = CopyBody(*loop->while_body(), computation, {state});
      KASHI_RETURN_IF_ERROR(ReplaceByBody(loop, state));
    }
  }
  return module->RemoveUnusedComputations();
}

}  // namespace kashi::passes
