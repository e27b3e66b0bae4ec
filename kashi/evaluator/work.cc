#include "kashi/evaluator/work.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/while_loop_pattern.h"

namespace kashi::internal {
namespace {

using Sizes = absl::InlinedVector<int64_t, 6>;

// The sizes of the arrays that an instruction reads and writes. What is no array has none.
struct Arrays {
  absl::InlinedVector<Sizes, 4> operands;
  absl::InlinedVector<Sizes, 2> results;
};

int64_t ElementsIn(absl::Span<const int64_t> sizes) {
  int64_t elements = 1;
  for (int64_t size : sizes) {
    if (size == 0) return 0;
    elements = SaturatingMultiply(elements, std::max<int64_t>(1, size));
  }
  return elements;
}

// Calls of computations on scalars that call further ones: their instructions, each as often as it is called.
class ScalarWork {
 public:
  int64_t Of(const HloComputation& computation, int depth = 0) {
    if (const auto found = known_.find(&computation); found != known_.end()) return found->second;
    int64_t work = 0;
    for (const HloInstruction* instruction : computation.instructions()) {
      work = SaturatingAdd(work, 1);
      if (depth >= kMaxDepth) continue;
      for (const HloComputation* called : instruction->called_computations()) {
        work = SaturatingAdd(work, Of(*called, depth + 1));
      }
    }
    return known_[&computation] = std::max<int64_t>(1, work);
  }

 private:
  static constexpr int kMaxDepth = 64;
  absl::flat_hash_map<const HloComputation*, int64_t> known_;
};

int64_t CallsTimes(const HloInstruction& instruction, int64_t calls) {
  int64_t each = 0;
  ScalarWork scalar_work;
  for (const HloComputation* called : instruction.called_computations()) {
    each = SaturatingAdd(each, scalar_work.Of(*called));
  }
  return SaturatingMultiply(calls, std::max<int64_t>(1, each));
}

// 1 for dimensions that there are not: nobody has checked the instruction yet.
int64_t SizeAt(absl::Span<const int64_t> sizes, int64_t d) {
  return d >= 0 && d < static_cast<int64_t>(sizes.size()) ? sizes[d] : 1;
}

int64_t ProductOf(absl::Span<const int64_t> sizes, absl::Span<const int64_t> dimensions) {
  int64_t product = 1;
  for (int64_t d : dimensions) product = SaturatingMultiply(product, SizeAt(sizes, d));
  return product;
}

int64_t DotWork(const HloInstruction& dot, const Arrays& arrays) {
  const DotDimensionNumbers& numbers = dot.opcode() == HloOpcode::kRaggedDot
                                           ? dot.ragged_dot_dimension_numbers().dot_dimension_numbers()
                                           : dot.dot_dimension_numbers();
  const int64_t depth = ProductOf(arrays.operands[0], numbers.lhs_contracting_dimensions());
  return SaturatingMultiply(2, SaturatingMultiply(ElementsIn(arrays.results[0]), depth));
}

// An element of the result meets at most what the window has, and at most what the array has.
int64_t MeetingsIn(const Window& window, int i, int64_t array_size) {
  return std::max<int64_t>(1, std::min(window.dimensions(i).size(), array_size));
}

int64_t ConvolutionWork(const HloInstruction& convolution, const Arrays& arrays) {
  const ConvolutionDimensionNumbers& numbers = convolution.convolution_dimension_numbers();
  int64_t work = SaturatingMultiply(2, ElementsIn(arrays.results[0]));
  for (int i = 0; i < convolution.window().dimensions_size(); ++i) {
    if (i >= numbers.input_spatial_dimensions_size()) break;
    const int64_t inputs = SizeAt(arrays.operands[0], numbers.input_spatial_dimensions(i));
    work = SaturatingMultiply(work, MeetingsIn(convolution.window(), i, inputs));
  }
  return SaturatingMultiply(work, SizeAt(arrays.operands[1], numbers.kernel_input_feature_dimension()));
}

// `outputs` windows over `array`.
int64_t WindowWork(const HloInstruction& instruction, absl::Span<const int64_t> array, int64_t outputs) {
  const Window& window = instruction.window();
  int64_t calls = outputs;
  for (int i = 0; i < window.dimensions_size() && i < static_cast<int>(array.size()); ++i) {
    calls = SaturatingMultiply(calls, MeetingsIn(window, i, array[i]));
  }
  return CallsTimes(instruction, calls);
}

int64_t SortWork(const HloInstruction& sort, absl::Span<const int64_t> sizes) {
  const int64_t d = sort.dimensions().empty() ? 0 : sort.dimensions(0);
  const int64_t rounds = 1 + Log2Ceiling(static_cast<uint64_t>(std::max<int64_t>(1, SizeAt(sizes, d))));
  return CallsTimes(sort, SaturatingMultiply(ElementsIn(sizes), rounds));
}

int64_t FftWork(const HloInstruction& fft, absl::Span<const int64_t> sizes) {
  int64_t rounds = 0;
  for (int64_t length : fft.fft_length()) {
    rounds += 5 * (1 + Log2Ceiling(static_cast<uint64_t>(std::max<int64_t>(1, length))));
  }
  return SaturatingMultiply(ElementsIn(sizes), rounds);
}

int64_t ElementsInAll(const absl::InlinedVector<Sizes, 4>& arrays) {
  int64_t elements = 0;
  for (const Sizes& sizes : arrays) elements = SaturatingAdd(elements, ElementsIn(sizes));
  return elements;
}

int64_t ElementsOfResults(const Arrays& arrays) {
  int64_t elements = 0;
  for (const Sizes& sizes : arrays.results) elements = SaturatingAdd(elements, ElementsIn(sizes));
  return elements;
}

// Beyond the 1 that every instruction is. Those of ops.def that are not here make each element of their result from a few.
int64_t WorkOfElements(const HloInstruction& instruction, const Arrays& arrays) {
  switch (instruction.opcode()) {
    case HloOpcode::kParameter:
    case HloOpcode::kConstant:
    case HloOpcode::kTuple:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kCall:
    case HloOpcode::kFusion:
    case HloOpcode::kWhile:
    case HloOpcode::kConditional:
    case HloOpcode::kAsyncStart:
    case HloOpcode::kAsyncUpdate:
    case HloOpcode::kAsyncDone:
    case HloOpcode::kOptimizationBarrier:
      return 0;
    case HloOpcode::kDot:
    case HloOpcode::kScaledDot:
    case HloOpcode::kRaggedDot:
      return DotWork(instruction, arrays);
    case HloOpcode::kConvolution:
      return ConvolutionWork(instruction, arrays);
    case HloOpcode::kReduce:
      return CallsTimes(instruction, std::max(ElementsIn(arrays.operands[0]), ElementsOfResults(arrays)));
    case HloOpcode::kMap:
      return CallsTimes(instruction, ElementsIn(arrays.results[0]));
    case HloOpcode::kReduceWindow:
      return WindowWork(instruction, arrays.operands[0], ElementsIn(arrays.results[0]));
    case HloOpcode::kSelectAndScatter:
      return WindowWork(instruction, arrays.operands[0], ElementsIn(arrays.operands[1]));
    case HloOpcode::kSort:
      return SortWork(instruction, arrays.operands[0]);
    case HloOpcode::kScatter:
      return SaturatingAdd(ElementsOfResults(arrays), CallsTimes(instruction, ElementsIn(arrays.operands.back())));
    case HloOpcode::kDynamicUpdateSlice:
      return ElementsIn(arrays.operands[1]);
    case HloOpcode::kFft:
      return FftWork(instruction, ElementsIn(arrays.operands[0]) > ElementsIn(arrays.results[0]) ? arrays.operands[0]
                                                                                                 : arrays.results[0]);
    case HloOpcode::kCholesky:
    case HloOpcode::kTriangularSolve:
      return SaturatingMultiply(ElementsIn(arrays.results[0]),
                                arrays.operands[0].empty() ? 1 : arrays.operands[0].back());
    case HloOpcode::kTopK:
    case HloOpcode::kScan:
    case HloOpcode::kCustomCall:
      return SaturatingAdd(ElementsInAll(arrays.operands), ElementsOfResults(arrays));
    default:
      return ElementsOfResults(arrays);
  }
}

// Dynamic dimensions have `dynamic_size` elements, or as many as their bound says.
Sizes SizesOf(const Shape& shape, std::optional<int64_t> dynamic_size) {
  Sizes sizes;
  if (!shape.IsArray()) return sizes;
  for (int i = 0; i < static_cast<int>(shape.dimensions().size()); ++i) {
    const bool is_dynamic = shape.is_dynamic_dimension(i);
    sizes.push_back(is_dynamic && dynamic_size.has_value() ? *dynamic_size : std::max<int64_t>(0, shape.dimensions(i)));
  }
  return sizes;
}

Arrays ArraysOf(const HloInstruction& instruction, std::optional<int64_t> dynamic_size) {
  Arrays arrays;
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

// A number that is written in the module; nullopt: it is computed, or given.
std::optional<int64_t> ConstantAt(PartOfInstruction part) {
  const HloInstruction* instruction = part.instruction;
  std::vector<int64_t> index(part.index.begin(), part.index.end());
  while (true) {
    switch (instruction->opcode()) {
      case HloOpcode::kConstant:
        if (!index.empty() || !instruction->shape().IsArray() || !ShapeUtil::IsScalar(instruction->shape()) ||
            !primitive_util::IsIntegralType(instruction->shape().element_type())) {
          return std::nullopt;
        }
        return instruction->literal().GetIntegralAsS64({});
      case HloOpcode::kTuple:
        if (index.empty()) return std::nullopt;
        instruction = instruction->operand(index.front());
        index.erase(index.begin());
        break;
      case HloOpcode::kGetTupleElement:
        index.insert(index.begin(), instruction->tuple_index());
        instruction = instruction->operand(0);
        break;
      case HloOpcode::kCopy:
        instruction = instruction->operand(0);
        break;
      default:
        return std::nullopt;
    }
  }
}

int64_t LeastIterations(const HloInstruction& loop) {
  const std::optional<WhileLoopPattern> pattern = MatchWhileLoop(loop);
  if (!pattern.has_value() || !pattern->direction.has_value()) return 0;
  const std::optional<int64_t> init = ConstantAt(pattern->init), bound = ConstantAt(pattern->bound),
                               step = ConstantAt(pattern->step);
  if (!init.has_value() || !bound.has_value() || !step.has_value()) return 0;
  const PrimitiveType type = ShapeUtil::GetSubshape(loop.shape(), {pattern->induction_index}).element_type();
  const std::optional<ParsedStaticWhileLoop> parsed = CountIterations(*pattern, type, *init, *bound, *step);
  return parsed.has_value() ? std::max<int64_t>(0, parsed->trip_count) : 0;
}

class LeastWork {
 public:
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
    const int64_t own = SaturatingAdd(1, WorkOfElements(instruction, ArraysOf(instruction, /*dynamic_size=*/0)));
    return SaturatingAdd(own, OfCalls(instruction, depth));
  }

  int64_t OfCalls(const HloInstruction& instruction, int depth) {
    const auto of = [&](int64_t i) { return Of(*instruction.called_computations()[i], depth + 1); };
    switch (instruction.opcode()) {
      case HloOpcode::kCall:
      case HloOpcode::kFusion:
      case HloOpcode::kAsyncStart:
        return of(0);
      case HloOpcode::kWhile: {
        const int64_t condition = Of(*instruction.while_condition(), depth + 1);
        const int64_t iteration = SaturatingAdd(condition, Of(*instruction.while_body(), depth + 1));
        return SaturatingAdd(condition, SaturatingMultiply(LeastIterations(instruction), iteration));
      }
      case HloOpcode::kConditional: {
        int64_t least = INT64_MAX;
        for (int i = 0; i < instruction.branch_count(); ++i) {
          least = std::min(least, Of(*instruction.branch_computation(i), depth + 1));
        }
        return instruction.branch_count() == 0 ? 0 : least;
      }
      default:
        return 0;
    }
  }

  absl::flat_hash_map<const HloComputation*, int64_t> known_;
};

}  // namespace

int64_t WorkOf(const HloInstruction& instruction) {
  return SaturatingAdd(1, WorkOfElements(instruction, ArraysOf(instruction, std::nullopt)));
}

int64_t WorkOfValues(const HloInstruction& instruction, absl::Span<const Value> operands,
                     absl::Span<const DenseShape> results) {
  Arrays arrays;
  for (const Value& operand : operands) {
    arrays.operands.emplace_back();
    if (operand.is_array()) arrays.operands.back().assign(operand.dimensions().begin(), operand.dimensions().end());
  }
  for (const DenseShape& result : results) {
    arrays.results.emplace_back();
    if (result != nullptr) arrays.results.back().assign(result->dimensions().begin(), result->dimensions().end());
  }
  if (arrays.results.empty()) arrays.results.emplace_back();
  return SaturatingAdd(1, WorkOfElements(instruction, arrays));
}

int64_t LeastWorkOf(const HloComputation& computation) { return LeastWork().Of(computation); }

}  // namespace kashi::internal
