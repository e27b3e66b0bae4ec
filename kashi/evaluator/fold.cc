#include "kashi/evaluator/fold.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "kashi/base/status.h"

namespace kashi::evaluator {

absl::Status CheckedParallelFor(const EvaluationRun& run, bool parallel, int64_t n, int64_t grain,
                                absl::FunctionRef<absl::Status(int64_t begin, int64_t end, int thread)> body) {
  return kernels::StoppableParallelFor([&run] { return run.CheckStopped(); }, parallel, n, grain, body);
}

LaneFold::LaneFold(const LaneFunction& function, int64_t lanes) : function_(function), scratch_(function, lanes) {
  const std::optional<HloOpcode> binary = function.AsBinary();
  if (!binary.has_value()) return;
  const PrimitiveType type = function.result_types()[0];
  absl::StatusOr<kernels::ElementKernel> kernel = kernels::FindBinaryKernel(*binary, type, type, type);
  if (kernel.ok()) kernel_ = *std::move(kernel);
}

absl::Status LaneFold::Run(const Targets& accumulators, const Sources& x, int64_t n) {
  if (kernel_.has_value()) {
    const void* const inputs[] = {accumulators[0], x[0]};
    (*kernel_)(inputs, accumulators[0], n);
    return absl::OkStatus();
  }
  absl::InlinedVector<const void*, 4> inputs(accumulators.begin(), accumulators.end());
  inputs.insert(inputs.end(), x.begin(), x.end());
  const absl::InlinedVector<void*, 2> outputs(accumulators.begin(), accumulators.end());
  return function_.Run(scratch_, inputs, outputs, n);
}

Sources Reduction::input_data() const {
  Sources data;
  for (const Value& input : inputs) data.push_back(input.bytes());
  return data;
}

Targets Reduction::accumulator_data() {
  Targets data;
  for (Value& accumulator : accumulators) data.push_back(accumulator.mutable_bytes());
  return data;
}

void Reduction::FillWithInits(int64_t begin, int64_t end) {
  for (int64_t i = 0; i < size(); ++i) {
    const int bytes = accumulators[i].element_bytes();
    kernels::FillElements(bytes, inits[i].untyped_data(), accumulators[i].mutable_bytes() + begin * bytes, end - begin);
  }
}

absl::StatusOr<Reduction> MakeReduction(Operation& op) {
  Reduction reduction;
  KASHI_ASSIGN_OR_RETURN(reduction.function, op.run.Lanes(*op.instruction.to_apply()));
  const absl::Span<const PrimitiveType> parameters = reduction.function->parameter_types();
  const absl::Span<const PrimitiveType> results = reduction.function->result_types();
  const size_t n = op.operands.size() / 2;
  if (n == 0 || op.operands.size() != 2 * n || parameters.size() != 2 * n || results.size() != n ||
      op.results.size() != n || results != parameters.subspan(0, n)) {
    return InvalidArgument("The computation of %s does not fit its operands.", op.instruction.name());
  }
  for (size_t i = 0; i < n; ++i) {
    KASHI_ASSIGN_OR_RETURN(Value input, op.run.Convert(std::move(op.operands[i]), parameters[n + i]));
    KASHI_ASSIGN_OR_RETURN(Value init, op.run.Convert(std::move(op.operands[n + i]), parameters[i]));
    KASHI_ASSIGN_OR_RETURN(Value accumulator,
                           op.MakeResultOf(results[i], op.result(i)->dimensions(), static_cast<int64_t>(i)));
    if (input.dimensions() != (i == 0 ? input : reduction.inputs[0]).dimensions()) {
      return InvalidArgument("The operands of %s have different sizes.", op.instruction.name());
    }
    reduction.inputs.push_back(std::move(input));
    reduction.inits.push_back(std::move(init));
    reduction.accumulators.push_back(std::move(accumulator));
  }
  return reduction;
}

absl::StatusOr<Value> MakeResults(Operation& op, std::vector<Value> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(results[i], op.run.Convert(std::move(results[i]), op.result(i)->element_type()));
  }
  if (op.instruction.shape().IsTuple()) return Value::MakeTuple(std::move(results));
  return std::move(results[0]);
}

}  // namespace kashi::evaluator
