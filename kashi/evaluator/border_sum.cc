#include "kashi/evaluator/border_sum.h"

#include <utility>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/kernels/element_kernel.h"

namespace kashi::evaluator {
namespace {

// Of one shape. bf16 is added up in f32 and rounded once, as by an all-reduce.
absl::StatusOr<Value> SumOf(EvaluationRun& run, std::vector<Value> terms) {
  if (terms.size() == 1) return std::move(terms[0]);
  const PrimitiveType type = terms[0].element_type(), wide = type == BF16 ? F32 : type;
  KASHI_ASSIGN_OR_RETURN(const kernels::ElementKernel add,
                         kernels::FindBinaryKernel(HloOpcode::kAdd, wide, wide, wide));
  const auto converted = [&run](const Value& from, PrimitiveType to) -> absl::StatusOr<Value> {
    if (from.element_type() == to) return from;
    KASHI_ASSIGN_OR_RETURN(const kernels::ElementKernel convert, kernels::FindConvertKernel(from.element_type(), to));
    KASHI_ASSIGN_OR_RETURN(Value result, run.MakeArray(to, from.dimensions()));
    const void* const elements = from.untyped_data();
    convert(&elements, result.mutable_data(), from.element_count());
    return result;
  };
  KASHI_ASSIGN_OR_RETURN(Value sum, converted(terms[0], wide));
  for (size_t i = 1; i < terms.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(const Value term, converted(terms[i], wide));
    KASHI_ASSIGN_OR_RETURN(Value next, run.MakeArray(sum.dense_shape()));
    const void* const operands[] = {sum.untyped_data(), term.untyped_data()};
    add(operands, next.mutable_data(), next.element_count());
    sum = std::move(next);
  }
  return converted(sum, type);
}

}  // namespace

absl::StatusOr<Value> AssembleOutOfRegion(EvaluationRun& run, const devices::ShardingBorder& border, int64_t device,
                                          absl::FunctionRef<const Value&(int64_t device)> operand_of) {
  std::vector<Value> terms;
  for (int64_t term = 0; term < border.terms(); ++term) {
    KASHI_ASSIGN_OR_RETURN(Value value, border.Assemble(run.budget(), device, term, operand_of));
    terms.push_back(std::move(value));
  }
  return SumOf(run, std::move(terms));
}

}  // namespace kashi::evaluator
