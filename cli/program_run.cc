#include "cli/program_run.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "cli/compile_program.h"
#include "cli/limits.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/engine/program.h"
#include "kashi/engine/program_door.h"
#include "kashi/literal/literal_util.h"
#include "kashi/matching/value_graph.h"
#include "kashi/values/value.h"

namespace kashi::cli {

using engine::ProgramDoor;
using evaluator::EvaluationRun;
using matching::NodeId;
using matching::ValueGraph;
namespace {

bool HaveEqualSizes(const Shape& a, const Shape& b) {
  return a.IsArray() && b.IsArray() && a.dimensions() == b.dimensions();
}

// The arrays of arguments, and the names of the parameters that are a single array.
struct Leaves {
  std::vector<LiteralSlice> arrays;
  absl::flat_hash_map<absl::string_view, LiteralSlice> by_name;
};

Leaves LeavesOf(const HloModule& module, const Arguments& arguments) {
  Leaves leaves;
  const HloComputation& entry = *module.entry_computation();
  for (int64_t i = 0; i < entry.num_parameters(); ++i) {
    for (const auto& leaf : ShapeUtil::GetLeafShapes(arguments[i].shape())) {
      if (leaf.shape.IsArray()) leaves.arrays.emplace_back(arguments[i], leaf.index);
    }
    if (arguments[i].shape().IsArray()) {
      leaves.by_name.emplace(entry.parameter_instruction(i)->name(), LiteralSlice(arguments[i]));
    }
  }
  return leaves;
}

// A parameter's value from the next arrays of the list.
absl::StatusOr<Literal> TakeParameter(const Shape& shape, absl::Span<const LiteralSlice> arrays, size_t* next) {
  if (!shape.IsTuple()) {
    if (!shape.IsArray()) return LiteralUtil::CreateToken();
    const LiteralSlice& array = arrays[(*next)++];
    Literal value = array.Clone();
    if (array.shape().element_type() == shape.element_type()) return value;
    return value.Convert(shape.element_type());
  }
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) {
    KASHI_ASSIGN_OR_RETURN(Literal literal, TakeParameter(element, arrays, next));
    elements.push_back(std::move(literal));
  }
  return LiteralUtil::MakeTupleOwned(std::move(elements));
}

}  // namespace

absl::StatusOr<Arguments> ArgumentsFor(const HloModule& module, const HloModule& of, const Arguments& arguments) {
  const Leaves given = LeavesOf(of, arguments);
  const HloComputation& entry = *module.entry_computation();
  std::vector<Shape> wanted;
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    for (const auto& leaf : ShapeUtil::GetLeafShapes(parameter->shape())) {
      if (leaf.shape.IsArray()) wanted.push_back(leaf.shape);
    }
  }
  std::vector<LiteralSlice> arrays;
  const bool fits = wanted.size() == given.arrays.size() &&
                    std::equal(wanted.begin(), wanted.end(), given.arrays.begin(),
                               [](const Shape& a, const LiteralSlice& b) { return HaveEqualSizes(a, b.shape()); });
  if (fits) {
    arrays = given.arrays;
  } else {
    for (const HloInstruction* parameter : entry.parameter_instructions()) {
      const auto found = given.by_name.find(parameter->name());
      if (found == given.by_name.end() || !HaveEqualSizes(parameter->shape(), found->second.shape())) {
        return FailedPrecondition("its parameter %s, %s, is none of the program at the beginning", parameter->name(),
                                  ShapeUtil::HumanString(parameter->shape()));
      }
      arrays.push_back(found->second);
    }
  }
  Arguments result;
  size_t next = 0;
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    KASHI_ASSIGN_OR_RETURN(Literal literal, TakeParameter(parameter->shape(), arrays, &next));
    result.push_back(std::move(literal));
  }
  return result;
}

absl::StatusOr<std::vector<Literal>> RunOn(const HloModule& module, const Arguments& arguments,
                                           const std::string& engine, EvaluationOptions evaluation) {
  CompileOptions compile;
  compile.engine = engine;
  compile.limits.max_work = evaluation.max_work;
  compile.limits.deadline = evaluation.deadline;
  compile.limits.cancelled = evaluation.cancelled;
  if (evaluation.start.has_value()) compile.limits.start = *evaluation.start;
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, CompileProgram(module, compile));
  const std::unique_ptr<EvaluationRun> run = ProgramDoor::NewRun(*program, std::move(evaluation), {});
  std::vector<Value> values;
  for (const Literal& argument : arguments) {
    KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(argument, run->budget()));
    values.push_back(std::move(value));
  }
  KASHI_RETURN_IF_ERROR(run->CheckAffordable(*program->module().entry_computation()));
  KASHI_ASSIGN_OR_RETURN(const Value value, ProgramDoor::Call(*program, *run, std::move(values)));
  Shape shape = module.result_shape();
  LayoutUtil::SetToDefaultLayout(&shape);
  KASHI_ASSIGN_OR_RETURN(Literal result, value.ToLiteral(shape));
  return FlattenResult(std::move(result));
}

absl::StatusOr<OutputComparison> CompareForms(const Literal& expected, const Literal& actual,
                                              const Tolerance& tolerance) {
  if (!HaveEqualSizes(expected.shape(), actual.shape())) {
    return FailedPrecondition("results differ in size: %s and %s", ShapeUtil::HumanString(expected.shape()),
                              ShapeUtil::HumanString(actual.shape()));
  }
  const PrimitiveType type = expected.shape().element_type();
  if (actual.shape().element_type() == type) return CompareOutput(expected, actual, tolerance);
  const double bound = std::max(tolerance.For(type), tolerance.For(actual.shape().element_type()));
  KASHI_ASSIGN_OR_RETURN(const Literal converted, actual.Convert(type));
  return CompareOutput(expected, converted, Tolerance{bound, tolerance.allow_nan});
}

namespace {

bool IsRandom(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kRng || x.opcode() == HloOpcode::kRngGetAndUpdateState;
}

}  // namespace

std::vector<bool> OutputsThatAreRandom(const HloModule& module) {
  const ValueGraph graph(module, /*with_layouts=*/false);
  absl::flat_hash_set<const HloComputation*> random_regions;
  std::vector<bool> is_random(graph.size());
  for (const ValueGraph::Region& region : graph.regions()) {  // callees first
    bool has_random = false;
    for (NodeId node = region.begin; node < region.end; ++node) {
      if (!graph.IsValue(node)) continue;
      const HloInstruction& x = graph.instruction(node);
      const auto operands = graph.operands(node);
      const auto callees = x.called_computations();
      const bool starts = IsRandom(x) || std::any_of(callees.begin(), callees.end(), [&](const HloComputation* callee) {
                            return random_regions.contains(callee);
                          });
      is_random[node] =
          starts || std::any_of(operands.begin(), operands.end(), [&](NodeId operand) { return is_random[operand]; });
      has_random = has_random || starts;
    }
    if (has_random) random_regions.insert(region.computation);
  }
  // Element by element where the root is a `tuple`.
  std::vector<bool> outputs;
  std::vector<NodeId> waiting = {graph.value(graph.NodeOf(module.entry_computation()->root_instruction()))};
  while (!waiting.empty()) {
    const NodeId node = waiting.back();
    waiting.pop_back();
    const HloInstruction& x = graph.instruction(node);
    if (x.opcode() == HloOpcode::kTuple) {
      const auto operands = graph.operands(node);
      waiting.insert(waiting.end(), operands.rbegin(), operands.rend());
      continue;
    }
    for (const auto& leaf : ShapeUtil::GetLeafShapes(x.shape())) {
      if (leaf.shape.IsArray()) outputs.push_back(is_random[node]);
    }
  }
  return outputs;
}

}  // namespace kashi::cli
