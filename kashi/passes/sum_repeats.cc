#include "kashi/passes/sum_repeats.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal_util.h"
#include "kashi/passes/combiner.h"
#include "kashi/passes/inline_calls.h"

namespace kashi::passes {
namespace {

// How many times each element is added. Nullopt: this is no sum of repeated elements, or the type has no such number.
std::optional<Literal> RepeatsOf(const HloInstruction& x) {
  if (CombinerOfPlainReduce(x) != HloOpcode::kAdd) return std::nullopt;
  const PrimitiveType type = x.shape().element_type();
  if (type == PRED) return std::nullopt;
  const HloInstruction& input = *x.operand(0);
  if (input.opcode() != HloOpcode::kBroadcast) return std::nullopt;
  int64_t count = 1;
  for (int64_t dimension : x.dimensions()) {
    if (absl::c_linear_search(input.dimensions(), dimension)) return std::nullopt;
    count *= input.shape().dimensions(static_cast<int>(dimension));
  }
  const Literal exact = LiteralUtil::CreateR0<int64_t>(count);
  Literal repeats = exact.Convert(type).value();
  if (count == 0 || repeats.Convert(S64).value() != exact) return std::nullopt;
  return repeats;
}

absl::Status MakeProduct(HloInstruction* x, Literal repeats) {
  HloComputation* const computation = x->parent();
  const Shape& shape = x->shape();
  const auto as_result = [&](HloInstruction* value, std::vector<int64_t> dimensions) {
    return computation->AddInstruction(HloInstruction::CreateBroadcast(shape, value, dimensions));
  };
  // The dimensions of the broadcast's operand, in the result: without those that are reduced.
  std::vector<int64_t> places;
  for (int64_t dimension : x->operand(0)->dimensions()) {
    const auto is_before = [dimension](int64_t reduced) { return reduced < dimension; };
    places.push_back(dimension - absl::c_count_if(x->dimensions(), is_before));
  }
  HloInstruction* const element = as_result(x->mutable_operand(0)->mutable_operand(0), places);
  HloInstruction* const count =
      as_result(computation->AddInstruction(HloInstruction::CreateConstant(std::move(repeats))), {});
  HloInstruction* const init = as_result(x->mutable_operand(1), {});
  HloInstruction* const product =
      computation->AddInstruction(HloInstruction::CreateBinary(shape, HloOpcode::kMultiply, element, count));
  HloInstruction* const sum =
      computation->AddInstruction(HloInstruction::CreateBinary(shape, HloOpcode::kAdd, product, init));
  product->set_metadata(x->metadata());
  sum->set_metadata(x->metadata());
  return computation->ReplaceInstruction(x, sum);
}

}  // namespace

absl::Status SumRepeats(HloModule* module, const PassContext& context) {
  for (HloComputation* computation : ComputationsRunAsAWhole(module)) {
    KASHI_RETURN_IF_ERROR(context.check_stopped());
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      std::optional<Literal> repeats = RepeatsOf(*instruction);
      if (repeats.has_value()) KASHI_RETURN_IF_ERROR(MakeProduct(instruction, *std::move(repeats)));
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::passes
