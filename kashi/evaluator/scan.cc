// scan (docs/spec/hlo-ops.md, 3): (x_0 …, carry_0 …) -> (out_0 …, carry_0 …), one slice after the other:
//
//   for i along the dimension (from its end, if is_reverse):  out[i]…, carry… = to_apply(x[i]…, carry…)
#include <algorithm>
#include <utility>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/evaluator/fold.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::evaluator {
namespace {

// An array [outer, n, inner] as n slices [outer, inner].
struct Slices {
  Slices(absl::Span<const int64_t> sizes, int64_t dimension, int bytes) : element_bytes(bytes) {
    for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i) {
      if (i != dimension) slice_sizes.push_back(sizes[i]);
      if (i < dimension) outer *= sizes[i];
      if (i > dimension) inner *= sizes[i];
    }
    stride = sizes[dimension] * inner;
  }
  void CopyOut(const char* array, int64_t i, char* slice) const {
    literal::CopyStrided({outer, inner}, element_bytes, {array + i * inner * element_bytes, {stride, 1}},
                         {slice, {inner, 1}});
  }
  void CopyIn(const char* slice, int64_t i, char* array) const {
    literal::CopyStrided({outer, inner}, element_bytes, {slice, {inner, 1}},
                         {array + i * inner * element_bytes, {stride, 1}});
  }
  int element_bytes;
  DimensionVector slice_sizes;
  int64_t outer = 1, inner = 1, stride;
};

struct Scan {
  int64_t dimension, size, inputs, outputs, carries;
  bool is_reverse;
  std::vector<Value> results;  // the outputs, then the carries

  int64_t PositionOf(int64_t step) const { return is_reverse ? size - 1 - step : step; }
};

// Slices that are scalars, all of them: the computation runs on one lane.
absl::Status ScanScalars(Operation& op, const LaneFunction& function, Scan& scan) {
  LaneFunction::Scratch scratch(function, 1);
  const char* const no_input = nullptr;
  std::vector<const void*> inputs(op.operands.size(), no_input);
  std::vector<void*> outputs(scan.results.size());
  for (int64_t i = 0; i < scan.carries; ++i) {
    Value& carry = scan.results[scan.outputs + i];
    const Value& init = op.operands[scan.inputs + i];
    std::copy_n(init.bytes(), init.byte_count(), carry.mutable_bytes());
    outputs[scan.outputs + i] = carry.mutable_data();
    inputs[scan.inputs + i] = carry.untyped_data();
  }
  for (int64_t step = 0; step < scan.size; ++step) {
    if (step % 4096 == 0) KASHI_RETURN_IF_ERROR(op.run.CheckStopped());
    const int64_t at = scan.PositionOf(step);
    for (int64_t i = 0; i < scan.inputs; ++i) inputs[i] = op.operands[i].bytes() + at * op.operands[i].element_bytes();
    for (int64_t i = 0; i < scan.outputs; ++i) {
      outputs[i] = scan.results[i].mutable_bytes() + at * scan.results[i].element_bytes();
    }
    KASHI_RETURN_IF_ERROR(function.Run(scratch, inputs, outputs, 1));
  }
  return absl::OkStatus();
}

absl::Status ScanSlices(Operation& op, Scan& scan) {
  std::vector<Value> carries(op.operands.begin() + scan.inputs, op.operands.end());
  for (int64_t step = 0; step < scan.size; ++step) {
    const int64_t at = scan.PositionOf(step);
    std::vector<Value> arguments;
    for (int64_t i = 0; i < scan.inputs; ++i) {
      const Value& x = op.operands[i];
      const Slices slices(x.dimensions(), scan.dimension, x.element_bytes());
      KASHI_ASSIGN_OR_RETURN(Value slice, op.run.MakeArray(x.element_type(), slices.slice_sizes));
      slices.CopyOut(x.bytes(), at, slice.mutable_bytes());
      arguments.push_back(std::move(slice));
    }
    for (Value& carry : carries) arguments.push_back(std::move(carry));
    KASHI_ASSIGN_OR_RETURN(Value result, op.run.Call(*op.instruction.to_apply(), std::move(arguments)));
    if (result.is_array()) {
      std::vector<Value> only;
      only.push_back(std::move(result));
      result = Value::MakeTuple(std::move(only));
    }
    for (int64_t i = 0; i < scan.outputs; ++i) {
      const Value& slice = result.element(i);
      Value& out = scan.results[i];
      const Slices slices(out.dimensions(), scan.dimension, out.element_bytes());
      if (slice.dimensions() != slices.slice_sizes || slice.element_type() != out.element_type()) {
        return InvalidArgument("A step of %s gave a slice of a different shape.", op.instruction.name());
      }
      slices.CopyIn(slice.bytes(), at, out.mutable_bytes());
    }
    for (int64_t i = 0; i < scan.carries; ++i) carries[i] = Value::TakeElement(result, scan.outputs + i);
  }
  for (int64_t i = 0; i < scan.carries; ++i) scan.results[scan.outputs + i] = std::move(carries[i]);
  return absl::OkStatus();
}

bool IsScalar(const Value& value) { return value.rank() == 0; }

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kScan>(Operation& op) {
  const HloComputation& to_apply = *op.instruction.to_apply();
  Scan scan;
  scan.dimension = op.instruction.dimensions().empty() ? 0 : op.instruction.dimensions(0);
  scan.carries = op.instruction.fields().Get<HloField::num_carries>(0);
  scan.inputs = static_cast<int64_t>(op.operands.size()) - scan.carries;
  scan.outputs = static_cast<int64_t>(op.results.size()) - scan.carries;
  scan.is_reverse = op.instruction.fields().Get<HloField::is_reverse>(false);
  if (scan.carries < 0 || scan.inputs < 1 || scan.outputs < 0 ||
      to_apply.num_parameters() != static_cast<int64_t>(op.operands.size())) {
    return InvalidArgument("The computation of %s does not fit its operands.", op.instruction.name());
  }
  scan.size = 0;
  bool is_of_scalars = true;
  for (int64_t i = 0; i < scan.inputs; ++i) {
    const Value& x = op.operands[i];
    if (scan.dimension < 0 || scan.dimension >= x.rank() || (i > 0 && x.dimension(scan.dimension) != scan.size)) {
      return InvalidArgument("The operands of %s do not have one size along dimension %d.", op.instruction.name(),
                             scan.dimension);
    }
    scan.size = x.dimension(scan.dimension);
    is_of_scalars &= x.rank() == 1;
  }
  is_of_scalars &= std::all_of(op.operands.begin() + scan.inputs, op.operands.end(), IsScalar);
  for (size_t i = 0; i < op.results.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(Value result, op.MakeResult(i));
    const bool is_output = static_cast<int64_t>(i) < scan.outputs;
    if (is_output && (scan.dimension >= result.rank() || result.dimension(scan.dimension) != scan.size)) {
      return InvalidArgument("A result of %s does not have the size of its operands.", op.instruction.name());
    }
    is_of_scalars &= result.rank() == (is_output ? 1 : 0);
    scan.results.push_back(std::move(result));
  }
  const LaneFunction* function = nullptr;
  if (is_of_scalars) {
    KASHI_ASSIGN_OR_RETURN(function, op.run.Lanes(to_apply));
    for (size_t i = 0; i < op.operands.size(); ++i) {
      is_of_scalars &= function->parameter_types()[i] == op.operands[i].element_type();
    }
    is_of_scalars &= function->result_types().size() == op.results.size();
    for (size_t i = 0; is_of_scalars && i < op.results.size(); ++i) {
      const int64_t carry = static_cast<int64_t>(i) - scan.outputs;
      is_of_scalars &= function->result_types()[i] == op.result(i)->element_type() &&
                       (carry < 0 || op.operands[scan.inputs + carry].element_type() == op.result(i)->element_type());
    }
  }
  KASHI_RETURN_IF_ERROR(is_of_scalars ? ScanScalars(op, *function, scan) : ScanSlices(op, scan));
  return MakeResults(op, std::move(scan.results));
}

}  // namespace kashi::evaluator
