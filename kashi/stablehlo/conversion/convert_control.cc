// Calls, loops, branches, tuples. MLIR's regions may use values of the function around them, HLO's computations may
// not: captured values are passed along (docs/spec/vhlo.md 6.5).
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/attribute_text.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"
#include "kashi/stablehlo/conversion/shapes.h"

namespace kashi::stablehlo {
namespace {

// The outer values that the regions use, in the order of first use, without constants, which are copied.
std::vector<const Value*> CapturesOf(absl::Span<const Region> regions) {
  absl::flat_hash_set<const Value*> defined;
  std::vector<const Value*> used;
  std::vector<const Block*> open;
  for (auto region = regions.rbegin(); region != regions.rend(); ++region) {
    for (const Block& block : region->blocks) open.push_back(&block);
  }
  while (!open.empty()) {
    const Block* block = open.back();
    open.pop_back();
    for (const Value& argument : block->arguments) defined.insert(&argument);
    for (const Operation* operation : block->operations) {
      for (const Value& result : operation->results) defined.insert(&result);
      used.insert(used.end(), operation->operands.begin(), operation->operands.end());
      for (const Region& region : operation->regions) {
        for (const Block& inner : region.blocks) open.push_back(&inner);
      }
    }
  }
  std::vector<const Value*> captures;
  absl::flat_hash_set<const Value*> seen;
  for (const Value* value : used) {
    if (defined.contains(value) || !seen.insert(value).second) continue;
    if (!IsConstant(*value)) captures.push_back(value);
  }
  return captures;
}

absl::StatusOr<Instructions> LookUpAll(OperationConverter& c, absl::Span<const Value* const> values) {
  Instructions instructions;
  for (const Value* value : values) {
    KASHI_ASSIGN_OR_RETURN(instructions.emplace_back(), c.module().Lookup(&c.scope(), *value, c.operation()));
  }
  return instructions;
}

absl::StatusOr<const Block*> BlockOf(const OperationConverter& c, size_t region) {
  const Region& source = c.operation().regions[region];
  if (source.blocks.size() != 1) return InvalidArgument("region %d must have one block", region);
  return &source.blocks[0];
}

// The operand of a loop or a branch: the bare value if there is only one, otherwise a tuple.
absl::StatusOr<HloInstruction*> Pack(OperationConverter& c, const Instructions& values) {
  if (values.size() == 1) return values[0];
  return c.AddTuple(values);
}

// Makes the parameter of a computation that takes what Pack made, and gives its elements to `values`. `sources` are the
// values outside that the elements always have; nullptr where there is none.
void Unpack(OperationConverter& c, Scope* scope, const Shape& shape, absl::Span<const Value* const> values,
            const Instructions& sources) {
  HloInstruction* parameter = scope->computation->AddParameter(HloInstruction::CreateParameter(0, shape, "Arg_0"));
  for (size_t i = 0; i < values.size(); ++i) {
    HloInstruction* value = values.size() == 1
                                ? parameter
                                : scope->computation->AddInstruction(
                                      HloInstruction::CreateGetTupleElement(parameter, static_cast<int64_t>(i)));
    scope->values[values[i]] = value;
    if (sources[i] != nullptr) c.module().known().SetSame(value, sources[i]);
  }
}

std::vector<const Value*> Joined(absl::Span<Value> arguments, absl::Span<const Value* const> captures) {
  std::vector<const Value*> values;
  for (const Value& argument : arguments) values.push_back(&argument);
  values.insert(values.end(), captures.begin(), captures.end());
  return values;
}

HloInstruction* PackInScope(Scope* scope, const Instructions& values) {
  if (values.size() == 1) return values[0];
  return scope->computation->AddInstruction(HloInstruction::CreateTuple(values));
}

// The state of a loop: the operands, and then the captured values, which the body returns unchanged.
struct LoopState {
  std::vector<const Value*> captures;
  Shape shape;
  Instructions sources;  // of the elements that do not change, nullptr of the others
};

// Operands that the body returns unchanged keep their values.
void ForgetChanged(const Block& body, LoopState* state) {
  const size_t count = state->sources.size() - state->captures.size();
  for (size_t i = 0; i < count; ++i) {
    const bool is_same = !body.operations.empty() && i < body.arguments.size() &&
                         i < body.operations.back()->operands.size() &&
                         body.operations.back()->operands[i] == &body.arguments[i];
    if (!is_same) state->sources[i] = nullptr;
  }
}

absl::StatusOr<HloComputation*> LoopRegion(OperationConverter& c, size_t region, const LoopState& state, bool is_body) {
  KASHI_ASSIGN_OR_RETURN(const Block* block, BlockOf(c, region));
  if (block->arguments.size() != c.operands().size()) {
    return InvalidArgument("region %d has %d arguments, but there are %d operands", region, block->arguments.size(),
                           c.operands().size());
  }
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Scope> scope, c.module().OpenRegion(c.scope()));
  Unpack(c, scope.get(), state.shape, Joined(block->arguments, state.captures), state.sources);
  KASHI_ASSIGN_OR_RETURN(Instructions results, c.module().ConvertBlock(scope.get(), *block));
  if (!is_body) {
    if (results.size() != 1) return InvalidArgument("the condition must return one value");
    return c.module().Finish(std::move(scope), results[0]);
  }
  for (const Value* capture : state.captures) results.push_back(scope->values.at(capture));
  HloInstruction* root = PackInScope(scope.get(), results);
  return c.module().Finish(std::move(scope), root);
}

// A branch takes its captures. It returns its value, or a tuple.
absl::StatusOr<HloComputation*> Branch(OperationConverter& c, size_t region, const Shape& argument,
                                       absl::Span<const Value* const> captures, const Instructions& sources) {
  KASHI_ASSIGN_OR_RETURN(const Block* block, BlockOf(c, region));
  if (!block->arguments.empty()) return InvalidArgument("branches have no arguments");
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Scope> scope, c.module().OpenRegion(c.scope()));
  Unpack(c, scope.get(), argument, captures, sources);
  KASHI_ASSIGN_OR_RETURN(const Instructions results, c.module().ConvertBlock(scope.get(), *block));
  HloInstruction* root = PackInScope(scope.get(), results);
  return c.module().Finish(std::move(scope), root);
}

absl::Status ConvertBranches(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  Instructions arguments;
  std::vector<HloComputation*> branches;
  for (size_t i = 0; i < c.operation().regions.size(); ++i) {
    const std::vector<const Value*> captures = CapturesOf(c.operation().regions.subspan(i, 1));
    KASHI_ASSIGN_OR_RETURN(const Instructions values, LookUpAll(c, captures));
    KASHI_ASSIGN_OR_RETURN(arguments.emplace_back(), Pack(c, values));
    KASHI_ASSIGN_OR_RETURN(branches.emplace_back(), Branch(c, i, arguments.back()->shape(), captures, values));
  }
  if (branches.empty()) return c.Invalid("needs at least one branch");
  if (c.operation().name == "stablehlo.if") {
    return c.Finish(
        HloInstruction::CreateConditional(shape, c.operand(0), arguments[0], branches[0], arguments[1], branches[1]));
  }
  return c.Finish(HloInstruction::CreateConditional(shape, c.operand(0), branches, arguments));
}

}  // namespace

absl::Status ConvertCall(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  KASHI_ASSIGN_OR_RETURN(const absl::string_view callee, c.String("callee"));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const computation, c.module().FunctionFor(c.scope(), callee, c.operands()));
  return c.Finish(HloInstruction::CreateCall(shape, c.operands(), computation));
}

namespace {

// Composites that XLA turns into instructions (docs/spec/vhlo.md 6.7).
absl::Status ConvertErfComposite(OperationConverter& c) { return ConvertPlain(c, HloOpcode::kErf); }

absl::Status ConvertTopKComposite(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  KASHI_ASSIGN_OR_RETURN(const Attribute* attributes, c.Find("composite_attributes"));
  const Attribute* k = FindField(*attributes, "k");
  if (k == nullptr) return c.Invalid("chlo.top_k needs the attribute `k`");
  KASHI_ASSIGN_OR_RETURN(const int64_t count, ReadInt64(*k));
  if (count < 0) return c.Invalid("k must not be negative");
  return c.Finish(HloInstruction::CreateTopK(shape, c.operand(0), count, /*largest=*/true));
}

// A ragged dot of six lists of dimensions, nullptr where one is empty, and precisions, or nullptr.
absl::Status FinishRaggedDot(OperationConverter& c, const std::vector<const Attribute*>& lists,
                             const Attribute* precisions) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  RaggedDotDimensionNumbers numbers;
  DotDimensionNumbers& dot = *numbers.mutable_dot_dimension_numbers();
  RepeatedField<int64_t>* const to[] = {
      dot.mutable_lhs_batch_dimensions(),       dot.mutable_rhs_batch_dimensions(),
      dot.mutable_lhs_contracting_dimensions(), dot.mutable_rhs_contracting_dimensions(),
      numbers.mutable_lhs_ragged_dimensions(),  numbers.mutable_rhs_group_dimensions()};
  for (size_t i = 0; i < lists.size(); ++i) {
    if (lists[i] == nullptr) continue;
    KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ReadInt64List(*lists[i]));
    to[i]->assign(values.begin(), values.end());
  }
  PrecisionConfig precision;
  if (precisions != nullptr) {
    KASHI_ASSIGN_OR_RETURN(precision, PrecisionOf(*precisions));
  }
  return c.Finish(HloInstruction::CreateRaggedDot(shape, c.operand(0), c.operand(1), c.operand(2), numbers, precision));
}

absl::Status ConvertRaggedDotComposite(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* attributes, c.Find("composite_attributes"));
  const Attribute* lists = FindField(*attributes, "ragged_dot_dimension_numbers");
  if (lists == nullptr || lists->elements.size() != 6) {
    return c.Invalid("chlo.ragged_dot needs `ragged_dot_dimension_numbers`, six lists");
  }
  return FinishRaggedDot(c, {lists->elements.begin(), lists->elements.end()},
                         FindField(*attributes, "precision_config"));
}

struct CompositeRow {
  absl::string_view name;
  size_t operands;
  size_t results;
  ConversionFunction convert;
};
constexpr CompositeRow kComposites[] = {
    {"chlo.erf", 1, 1, &ConvertErfComposite},
    {"chlo.top_k", 1, 2, &ConvertTopKComposite},
    {"chlo.ragged_dot", 3, 1, &ConvertRaggedDotComposite},
};

}  // namespace

absl::Status ConvertComposite(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const absl::string_view name, c.String("name"));
  KASHI_ASSIGN_OR_RETURN(const int64_t version, c.Int("version"));
  for (const CompositeRow& row : kComposites) {
    if (row.name == name && version == 1 && row.operands == c.operands().size() &&
        row.results == c.operation().results.size()) {
      return row.convert(c);
    }
  }
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  KASHI_ASSIGN_OR_RETURN(const absl::string_view decomposition, c.String("decomposition"));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const computation,
                         c.module().FunctionFor(c.scope(), decomposition, c.operands()));
  KASHI_ASSIGN_OR_RETURN(const Attribute* attributes, c.Find("composite_attributes"));
  KASHI_ASSIGN_OR_RETURN(const std::string text, ConfigurationText(*attributes));
  return c.Finish(
      HloInstruction::CreateCompositeCall(shape, c.operands(), computation, std::string(name), text, version));
}

absl::Status ConvertRaggedDot(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* numbers, c.Find("ragged_dot_dimension_numbers"));
  if (numbers->kind != Attribute::Kind::kRecord) return c.Invalid("ragged_dot_dimension_numbers must be a record");
  if (c.operands().size() != 3 || c.operation().results.size() != 1) {
    return c.Invalid("needs three operands and one result");
  }
  std::vector<const Attribute*> lists;
  for (const absl::string_view name :
       {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
        "rhs_contracting_dimensions", "lhs_ragged_dimensions", "rhs_group_dimensions"}) {
    lists.push_back(FindField(*numbers, name));
  }
  return FinishRaggedDot(c, lists, c.operation().Find("precision_config"));
}

absl::Status ConvertWhile(OperationConverter& c) {
  LoopState state;
  state.captures = CapturesOf(c.operation().regions);
  KASHI_ASSIGN_OR_RETURN(const Instructions captured, LookUpAll(c, state.captures));
  KASHI_ASSIGN_OR_RETURN(const Block* body_block, BlockOf(c, 1));
  state.sources = c.operands();
  state.sources.insert(state.sources.end(), captured.begin(), captured.end());
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const init, Pack(c, state.sources));
  ForgetChanged(*body_block, &state);
  const Shape shape = init->shape();
  state.shape = shape;
  KASHI_ASSIGN_OR_RETURN(HloComputation* const condition, LoopRegion(c, 0, state, /*is_body=*/false));
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, LoopRegion(c, 1, state, /*is_body=*/true));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const loop, c.Add(HloInstruction::CreateWhile(shape, condition, body, init)));
  KASHI_RETURN_IF_ERROR(c.AddAttributesTo(loop));
  if (state.sources.size() != 1) return c.SetResultsToElements(loop);
  if (c.operation().results.empty()) return absl::OkStatus();
  return c.SetResults({loop});
}

absl::Status ConvertIf(OperationConverter& c) { return ConvertBranches(c); }
absl::Status ConvertCase(OperationConverter& c) { return ConvertBranches(c); }

absl::Status ConvertTuple(OperationConverter& c) { return c.Finish(HloInstruction::CreateTuple(c.operands())); }

absl::Status ConvertGetTupleElement(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const int64_t index, c.Int("index"));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const element, c.AddElement(c.operand(0), index));
  return c.SetResults({element});
}

absl::Status ConvertOptimizationBarrier(OperationConverter& c) {
  if (c.operands().empty()) return c.SetResults({});
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const operand, Pack(c, c.operands()));
  return c.Finish(HloInstruction::Create(HloOpcode::kOptimizationBarrier, operand->shape(), {operand}));
}

// The results are the operands.
absl::Status ConvertIdentity(OperationConverter& c) { return c.SetResults(c.operands()); }

}  // namespace kashi::stablehlo
