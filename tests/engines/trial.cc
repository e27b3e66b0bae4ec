#include "tests/engines/trial.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "tests/engines/comparison.h"
#include "tests/engines/form.h"
#include "tests/engines/guarded_block.h"
#include "tests/engines/nearby.h"

namespace kashi::tests {
namespace {

// Whether an operation, or a computation that it calls for each element, may tell one NaN from another.
bool TellsNaNsApart(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kTopK || opcode == HloOpcode::kBitcastConvert || opcode == HloOpcode::kBitcast) return true;
  if (instruction.fields().Get<HloField::comparison_type>(Comparison::Type::kFloat) ==
      Comparison::Type::kFloatTotalOrder) {
    return true;
  }
  return absl::c_any_of(instruction.called_computations(), [](const HloComputation* called) {
    return absl::c_any_of(called->instructions(), [](const HloInstruction* x) { return TellsNaNsApart(*x); });
  });
}

// Whether the bits of its NaNs are those of its operands, or follow from them.
bool KeepsNaNs(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  constexpr uint32_t kMoves =
      HloOpcodeFlags::kMovesElements | HloOpcodeFlags::kKeepsValues | HloOpcodeFlags::kForwardsOperand;
  const bool moves = GetHloOpcodeInfo(opcode).Has(kMoves) && opcode != HloOpcode::kConvert;
  const bool runs_computations =
      GetHloOpcodeInfo(opcode).Has(HloOpcodeFlags::kControlFlow) || opcode == HloOpcode::kFusion;
  const bool is_abs =
      opcode == HloOpcode::kAbs && instruction.shape().element_type() == instruction.operand(0)->shape().element_type();
  return moves || runs_computations || opcode == HloOpcode::kNegate || is_abs;
}

// The instructions whose values are in the value of this one, or go into it.
std::vector<const HloInstruction*> SourcesOf(const HloInstruction& instruction) {
  std::vector<const HloInstruction*> sources(instruction.operands().begin(), instruction.operands().end());
  const auto add_roots = [&](const HloInstruction& caller) {
    for (const HloComputation* called : caller.called_computations()) sources.push_back(called->root_instruction());
  };
  add_roots(instruction);
  if (instruction.opcode() != HloOpcode::kParameter) return sources;
  for (const HloInstruction* caller : instruction.parent()->caller_instructions()) {
    sources.insert(sources.end(), caller->operands().begin(), caller->operands().end());
    add_roots(*caller);  // the state of a loop
  }
  return sources;
}

bool HasNaNAnywhere(const Value& value) {
  if (value.is_tuple()) return absl::c_any_of(value.elements(), HasNaNAnywhere);
  return value.is_array() && HasNaN(BorrowingLiteral(value.bytes(), value.shape()));
}

// Whether an operation reads a NaN that the program computed, and tells it from another. The bits of such a NaN, its
// sign too, are free: they depend on the order of the operands of an addition, for example. The bits of a NaN among the
// arguments and the constants are not.
bool LooksAtComputedNaNs(const HloModule& module, const std::vector<Literal>& arguments) {
  bool looks = false;
  absl::flat_hash_set<const HloInstruction*> computed;  // their values hold such NaNs
  EvaluationOptions options;
  options.observer = [&](const HloInstruction& instruction, const Value& value) {
    const bool reads =
        absl::c_any_of(SourcesOf(instruction), [&](const HloInstruction* source) { return computed.contains(source); });
    looks = looks || (reads && TellsNaNsApart(instruction));
    const bool computes = !KeepsNaNs(instruction) || reads;
    if (computes && HasNaNAnywhere(value)) computed.insert(&instruction);
    return absl::OkStatus();
  };
  return HloEvaluator(options).Evaluate(module, absl::MakeConstSpan(arguments)).ok() && looks;
}

// Whether a Fourier transform reads numbers that are not finite, or whose sums may be. Which of its results are NaN
// then, infinite or finite depends on how the transform is taken apart: XLA's, too, differs there from the formula.
bool TransformsLargeNumbers(const HloModule& module, const std::vector<Literal>& arguments) {
  absl::flat_hash_set<const HloInstruction*> operands;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kFft) operands.insert(instruction->operand(0));
    }
  }
  bool is_large = false;
  EvaluationOptions options;
  options.observer = [&](const HloInstruction& instruction, const Value& value) {
    if (!operands.contains(&instruction)) return absl::OkStatus();
    const bool is_double = instruction.shape().element_type() == F64 || instruction.shape().element_type() == C128;
    const double most = is_double ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
    is_large = is_large || !(SumOfMagnitudes(BorrowingLiteral(value.bytes(), value.shape())) <= most);
    return absl::OkStatus();
  };
  return !operands.empty() && HloEvaluator(options).Evaluate(module, absl::MakeConstSpan(arguments)).ok() && is_large;
}

absl::StatusOr<Literal> RunByCopies(const Program& program, const std::vector<Literal>& arguments) {
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  return program.Execute(pointers);
}

bool CanRunOnMemory(const Shape& result) {
  return !result.is_dynamic() && ShapeUtil::ForEachSubshapeWithStatus(result, [](const Shape& part, const ShapeIndex&) {
                                   return part.IsArray() || part.IsTuple() ? absl::OkStatus()
                                                                           : absl::UnimplementedError("");
                                 }).ok();
}

absl::StatusOr<Literal> RunOnMemory(const Program& program, const std::vector<Literal>& arguments, const Shape& shape) {
  std::vector<GuardedBlock> blocks;
  std::vector<const void*> inputs;
  for (const Literal& argument : arguments) {
    blocks.emplace_back(argument.size_bytes());
    if (argument.size_bytes() > 0) {
      std::memcpy(blocks.back().data(), argument.untyped_data(), static_cast<size_t>(argument.size_bytes()));
    }
    inputs.push_back(blocks.back().data());
  }
  Literal result(shape);
  std::vector<void*> outputs;
  std::vector<ShapeIndex> places;
  std::vector<GuardedBlock> results;
  ShapeUtil::ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex& index) {
    if (!leaf.IsArray()) return;
    results.emplace_back(result.size_bytes(index));
    places.push_back(index);
    outputs.push_back(results.back().data());
  });
  KASHI_RETURN_IF_ERROR(program.ExecuteOnMemory(inputs, outputs));
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t bytes = result.size_bytes(places[i]);
    if (bytes > 0) std::memcpy(result.untyped_data(places[i]), results[i].data(), static_cast<size_t>(bytes));
  }
  return result;
}

}  // namespace

Verdict RunTrial(const HloModule& module, const std::vector<Literal>& arguments, const std::string& target) {
  const absl::StatusOr<Literal> expected = Evaluate(module, arguments);
  if (!expected.ok()) return {Verdict::kNotCompared, std::string(expected.status().message())};
  CompileOptions options;
  options.engine = "cpu";
  options.target = target;
  const auto program = Program::Compile(module, options);
  if (!program.ok()) return {Verdict::kDiffers, absl::StrCat("does not compile: ", program.status().ToString())};
  const Exactness exactness = ExactnessOf(module);
  for (bool on_memory : {false, true}) {
    if (on_memory && !CanRunOnMemory(expected->shape())) break;
    const absl::StatusOr<Literal> actual =
        on_memory ? RunOnMemory(**program, arguments, expected->shape()) : RunByCopies(**program, arguments);
    const absl::string_view door = on_memory ? "on the caller's memory: " : "";
    if (!actual.ok()) return {Verdict::kDiffers, absl::StrCat(door, "does not run: ", actual.status().ToString())};
    if (DescribeDifference(*expected, *actual, exactness, {}).empty()) continue;
    const std::string difference = DescribeDifference(*expected, *actual, exactness,
                                                      EvaluateNearby(module, arguments, expected->shape(), exactness));
    if (difference.empty()) continue;
    if (LooksAtComputedNaNs(module, arguments)) return {Verdict::kNotCompared, "bits of NaNs"};
    if (TransformsLargeNumbers(module, arguments)) return {Verdict::kNotCompared, "transforms of large numbers"};
    return {Verdict::kDiffers, absl::StrCat(door, difference)};
  }
  return {};
}

Verdict RunTrial(const std::string& text, ArgumentKind kind, uint32_t seed, const std::string& target) {
  const auto module = ReadVerified(text);
  if (!module.ok()) return {Verdict::kDiffers, absl::StrCat("not valid: ", module.status().ToString())};
  return RunTrial(**module, MakeArguments(**module, kind, seed), target);
}

}  // namespace kashi::tests
