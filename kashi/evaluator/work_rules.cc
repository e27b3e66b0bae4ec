#include "kashi/evaluator/work_rules.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kashi/base/math.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::evaluator {
namespace {

int64_t ElementsIn(absl::Span<const int64_t> sizes) {
  int64_t elements = 1;
  for (int64_t size : sizes) {
    if (size == 0) return 0;
    elements = SaturatingMultiply(elements, std::max<int64_t>(1, size));
  }
  return elements;
}

template <typename Arrays>
int64_t ElementsInAll(const Arrays& arrays) {
  int64_t elements = 0;
  for (const ArraySizes::Sizes& sizes : arrays) elements = SaturatingAdd(elements, ElementsIn(sizes));
  return elements;
}

// The instructions of computations on scalars. Those of computations that they call count once for each call.
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

// The cost of `calls` calls of the instruction's computations.
int64_t CallsTimes(const HloInstruction& instruction, int64_t calls) {
  int64_t each = 0;
  ScalarWork scalar_work;
  for (const HloComputation* called : instruction.called_computations()) {
    each = SaturatingAdd(each, scalar_work.Of(*called));
  }
  return SaturatingMultiply(calls, std::max<int64_t>(1, each));
}

// 1 for dimensions that do not exist: the instruction may not have passed the verifier.
int64_t SizeAt(absl::Span<const int64_t> sizes, int64_t d) {
  return d >= 0 && d < static_cast<int64_t>(sizes.size()) ? sizes[d] : 1;
}

int64_t WorkOfProducts(const DotDimensionNumbers& numbers, const ArraySizes& arrays) {
  int64_t depth = 1;
  for (int64_t d : numbers.lhs_contracting_dimensions()) {
    depth = SaturatingMultiply(depth, SizeAt(arrays.operands[0], d));
  }
  return SaturatingMultiply(2, SaturatingMultiply(ElementsIn(arrays.results[0]), depth));
}

// The largest number of elements of an array of `array_size` elements that are in a window in dimension i.
int64_t MostInWindow(const Window& window, int i, int64_t array_size) {
  return std::max<int64_t>(1, std::min(window.dimensions(i).size(), array_size));
}

// `outputs` windows over `array`.
int64_t WorkOfWindows(const HloInstruction& instruction, absl::Span<const int64_t> array, int64_t outputs) {
  const Window& window = instruction.window();
  int64_t calls = outputs;
  for (int i = 0; i < window.dimensions_size() && i < static_cast<int>(array.size()); ++i) {
    calls = SaturatingMultiply(calls, MostInWindow(window, i, array[i]));
  }
  return CallsTimes(instruction, calls);
}

// 1 + log2(n), rounded up.
int64_t RoundsFor(int64_t n) { return 1 + Log2Ceiling(static_cast<uint64_t>(std::max<int64_t>(1, n))); }

}  // namespace

int64_t NoWork(const HloInstruction&, const ArraySizes&) { return 0; }

int64_t WorkOfResults(const HloInstruction&, const ArraySizes& arrays) { return ElementsInAll(arrays.results); }

int64_t WorkOfAllArrays(const HloInstruction&, const ArraySizes& arrays) {
  return SaturatingAdd(ElementsInAll(arrays.operands), ElementsInAll(arrays.results));
}

int64_t WorkOfUpdate(const HloInstruction&, const ArraySizes& arrays) { return ElementsIn(arrays.operands[1]); }

int64_t WorkOfTriangle(const HloInstruction&, const ArraySizes& arrays) {
  return SaturatingMultiply(ElementsIn(arrays.results[0]), arrays.operands[0].empty() ? 1 : arrays.operands[0].back());
}

int64_t WorkOfDot(const HloInstruction& dot, const ArraySizes& arrays) {
  return WorkOfProducts(dot.dot_dimension_numbers(), arrays);
}

int64_t WorkOfRaggedDot(const HloInstruction& dot, const ArraySizes& arrays) {
  return WorkOfProducts(dot.ragged_dot_dimension_numbers().dot_dimension_numbers(), arrays);
}

int64_t WorkOfConvolution(const HloInstruction& convolution, const ArraySizes& arrays) {
  const ConvolutionDimensionNumbers& numbers = convolution.convolution_dimension_numbers();
  int64_t work = SaturatingMultiply(2, ElementsIn(arrays.results[0]));
  for (int i = 0; i < convolution.window().dimensions_size(); ++i) {
    if (i >= numbers.input_spatial_dimensions_size()) break;
    const int64_t inputs = SizeAt(arrays.operands[0], numbers.input_spatial_dimensions(i));
    work = SaturatingMultiply(work, MostInWindow(convolution.window(), i, inputs));
  }
  return SaturatingMultiply(work, SizeAt(arrays.operands[1], numbers.kernel_input_feature_dimension()));
}

int64_t WorkOfFft(const HloInstruction& fft, const ArraySizes& arrays) {
  int64_t rounds = 0;
  for (int64_t length : fft.fft_length()) rounds += 5 * RoundsFor(length);
  return SaturatingMultiply(std::max(ElementsIn(arrays.operands[0]), ElementsIn(arrays.results[0])), rounds);
}

int64_t WorkOfReduce(const HloInstruction& reduce, const ArraySizes& arrays) {
  return CallsTimes(reduce, std::max(ElementsIn(arrays.operands[0]), ElementsInAll(arrays.results)));
}

int64_t WorkOfMap(const HloInstruction& map, const ArraySizes& arrays) {
  return CallsTimes(map, ElementsIn(arrays.results[0]));
}

int64_t WorkOfReduceWindow(const HloInstruction& reduce, const ArraySizes& arrays) {
  return WorkOfWindows(reduce, arrays.operands[0], ElementsIn(arrays.results[0]));
}

int64_t WorkOfSelectAndScatter(const HloInstruction& instruction, const ArraySizes& arrays) {
  return WorkOfWindows(instruction, arrays.operands[0], ElementsIn(arrays.operands[1]));
}

int64_t WorkOfSort(const HloInstruction& sort, const ArraySizes& arrays) {
  const int64_t d = sort.dimensions().empty() ? 0 : sort.dimensions(0);
  const ArraySizes::Sizes& sizes = arrays.operands[0];
  return CallsTimes(sort, SaturatingMultiply(ElementsIn(sizes), RoundsFor(SizeAt(sizes, d))));
}

int64_t WorkOfScatter(const HloInstruction& scatter, const ArraySizes& arrays) {
  return SaturatingAdd(ElementsInAll(arrays.results), CallsTimes(scatter, ElementsIn(arrays.operands.back())));
}

}  // namespace kashi::evaluator
