#include "kashi/evaluator/work.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/evaluator/value_source.h"
#include "kashi/evaluator/while_loop_pattern.h"
#include "kashi/evaluator/work_rules.h"

namespace kashi::evaluator {
namespace {

// Dynamic dimensions have `dynamic_size` elements, or, if that is nullopt, their bound.
ArraySizes::Sizes SizesOf(const Shape& shape, std::optional<int64_t> dynamic_size) {
  ArraySizes::Sizes sizes;
  if (!shape.IsArray()) return sizes;
  for (int i = 0; i < static_cast<int>(shape.dimensions().size()); ++i) {
    const bool is_dynamic = shape.is_dynamic_dimension(i);
    sizes.push_back(is_dynamic && dynamic_size.has_value() ? *dynamic_size : std::max<int64_t>(0, shape.dimensions(i)));
  }
  return sizes;
}

ArraySizes ArraysOf(const HloInstruction& instruction, std::optional<int64_t> dynamic_size) {
  ArraySizes arrays;
  for (const HloInstruction* operand : instruction.operands()) {
    arrays.operands.push_back(SizesOf(operand->shape(), dynamic_size));
  }
  const Shape& shape = instruction.shape();
  if (!shape.IsTuple()) {
    arrays.results.push_back(SizesOf(shape, dynamic_size));
  } else {
    for (const Shape& element : shape.tuple_shapes()) arrays.results.push_back(SizesOf(element, dynamic_size));
  }
  if (arrays.results.empty()) arrays.results.emplace_back();
  return arrays;
}

// The number that a constant of the module gives; nullopt: it is computed, or an argument.
std::optional<int64_t> ConstantAt(const PartOfInstruction& part) {
  const std::optional<PlaceInCalls> place = SourceOf({part, {}});
  if (!place.has_value() || place->part.instruction->opcode() != HloOpcode::kConstant) return std::nullopt;
  const Shape& shape = place->part.instruction->shape();
  if (!place->part.index.empty() || !shape.IsArray() || !ShapeUtil::IsScalar(shape) ||
      !primitive_util::IsIntegralType(shape.element_type())) {
    return std::nullopt;
  }
  return place->part.instruction->literal().GetIntegralAsS64({});
}

int64_t WorkOn(const HloInstruction& instruction, const ArraySizes& arrays) {
  return SaturatingAdd(1, TraitsOf(instruction.opcode()).work(instruction, arrays));
}

std::optional<int64_t> KnownIterations(const HloInstruction& loop) {
  const std::optional<WhileLoopPattern> pattern = MatchWhileLoop(loop);
  if (!pattern.has_value() || !pattern->direction.has_value()) return std::nullopt;
  const std::optional<int64_t> init = ConstantAt(pattern->init), bound = ConstantAt(pattern->bound),
                               step = ConstantAt(pattern->step);
  if (!init.has_value() || !bound.has_value() || !step.has_value()) return std::nullopt;
  const PrimitiveType type = ShapeUtil::GetSubshape(loop.shape(), {pattern->induction_index}).element_type();
  const std::optional<ParsedStaticWhileLoop> parsed = CountIterations(*pattern, type, *init, *bound, *step);
  if (!parsed.has_value()) return std::nullopt;
  return std::max<int64_t>(0, parsed->trip_count);
}

// The rules of a sum over a program.
struct Measure {
  int64_t (*of_instruction)(const HloInstruction& instruction);  // without the computations that it runs step by step
  int64_t unknown_iterations;                                    // of a loop, if its code does not say
};

int64_t LeastWorkOfInstruction(const HloInstruction& instruction) {
  return WorkOn(instruction, ArraysOf(instruction, /*dynamic_size=*/0));
}

int64_t NanosecondsOfInstruction(const HloInstruction& instruction) {
  constexpr int64_t kOfStep = 100, kProductsAtOnce = 16;
  const HloOpcode opcode = instruction.opcode();
  const bool is_product = opcode == HloOpcode::kDot || opcode == HloOpcode::kConvolution;
  return SaturatingAdd(kOfStep, WorkOf(instruction) / (is_product ? kProductsAtOnce : 1));
}

// The sum over the instructions that a computation needs, as often as they run.
class ProgramSum {
 public:
  explicit ProgramSum(const Measure& measure) : measure_(measure) {}
  int64_t Of(const HloComputation& computation, int depth = 0) {
    if (const auto found = known_.find(&computation); found != known_.end()) return found->second;
    int64_t work = 0;
    if (depth < kMaxDepth) {
      for (const HloInstruction* instruction : NeededBy(computation.root_instruction())) {
        work = SaturatingAdd(work, OfInstruction(*instruction, depth));
      }
    }
    return known_[&computation] = work;
  }

 private:
  // A run nests no deeper (evaluation_run.cc).
  static constexpr int kMaxDepth = 1000;

  static std::vector<const HloInstruction*> NeededBy(const HloInstruction* root) {
    absl::flat_hash_set<const HloInstruction*> seen = {root};
    std::vector<const HloInstruction*> needed = {root};
    for (size_t i = 0; i < needed.size(); ++i) {
      for (const HloInstruction* operand : needed[i]->operands()) {
        if (seen.insert(operand).second) needed.push_back(operand);
      }
    }
    return needed;
  }

  int64_t OfInstruction(const HloInstruction& instruction, int depth) {
    return SaturatingAdd(measure_.of_instruction(instruction), OfCalls(instruction, depth));
  }

  int64_t OfCalls(const HloInstruction& instruction, int depth) {
    switch (TraitsOf(instruction.opcode()).source) {
      case ValueSource::kCall:
        return Of(*instruction.called_computations()[0], depth + 1);
      case ValueSource::kLoop: {
        const int64_t condition = Of(*instruction.while_condition(), depth + 1);
        const int64_t iteration = SaturatingAdd(condition, Of(*instruction.while_body(), depth + 1));
        const int64_t iterations = KnownIterations(instruction).value_or(measure_.unknown_iterations);
        return SaturatingAdd(condition, SaturatingMultiply(iterations, iteration));
      }
      case ValueSource::kBranch: {
        int64_t least = INT64_MAX;
        for (int i = 0; i < instruction.branch_count(); ++i) {
          least = std::min(least, Of(*instruction.branch_computation(i), depth + 1));
        }
        return instruction.branch_count() == 0 ? 0 : least;
      }
      default:
        return instruction.opcode() == HloOpcode::kAsyncStart ? Of(*instruction.called_computations()[0], depth + 1)
                                                              : 0;
    }
  }

  const Measure measure_;
  absl::flat_hash_map<const HloComputation*, int64_t> known_;
};

}  // namespace

int64_t WorkOf(const HloInstruction& instruction) { return WorkOn(instruction, ArraysOf(instruction, std::nullopt)); }

int64_t WorkOfValues(const HloInstruction& instruction, absl::Span<const Value> operands,
                     absl::Span<const DenseShape> results) {
  ArraySizes arrays;
  for (const Value& operand : operands) {
    arrays.operands.emplace_back();
    if (operand.is_array()) arrays.operands.back().assign(operand.dimensions().begin(), operand.dimensions().end());
  }
  for (const DenseShape& result : results) {
    arrays.results.emplace_back();
    if (result != nullptr) arrays.results.back().assign(result->dimensions().begin(), result->dimensions().end());
  }
  if (arrays.results.empty()) arrays.results.emplace_back();
  return WorkOn(instruction, arrays);
}

int64_t LeastWorkOf(const HloComputation& computation) {
  return ProgramSum({&LeastWorkOfInstruction, /*unknown_iterations=*/0}).Of(computation);
}

int64_t EstimatedNanosecondsOf(const HloComputation& computation) {
  return ProgramSum({&NanosecondsOfInstruction, /*unknown_iterations=*/1000}).Of(computation);
}

}  // namespace kashi::evaluator
