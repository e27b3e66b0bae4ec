#include "kashi/passes/segments.h"

#include <set>

#include "kashi/array/shape_util.h"
#include "kashi/passes/index_mapping.h"

namespace kashi::passes {
namespace {

constexpr int64_t kMostNests = 12;

int64_t CeilOfRatio(int64_t a, int64_t positive) { return a >= 0 ? (a + positive - 1) / positive : -(-a / positive); }

class SegmentFinder {
 public:
  explicit SegmentFinder(absl::Span<const int64_t> sizes)
      : sizes_(sizes), concatenations_(sizes.size()), paddings_(sizes.size()) {}

  Segments Find(absl::Span<const HloInstruction* const> results,
                absl::FunctionRef<bool(const HloInstruction&)> is_member) {
    const bool saw_all = VisitMappings(results, IdentityMapping(sizes_.size()), is_member,
                                       [this](const HloInstruction& instruction, const IndexMapping& mapping) {
                                         if (instruction.opcode() == HloOpcode::kPad) AddPad(instruction, mapping);
                                         if (instruction.opcode() == HloOpcode::kConcatenate) {
                                           AddConcatenate(instruction, mapping[instruction.concatenate_dimension()]);
                                         }
                                       });
    if (!saw_all) segments_.cuts_all_concatenations = false;
    Choose();
    return std::move(segments_);
  }

 private:
  using Breaks = std::vector<std::set<int64_t>>;  // of each dimension of the results

  // The operand has the coordinates 0 … size - 1 of its own.
  void AddPad(const HloInstruction& pad, const IndexMapping& mapping) {
    const IndexMapping operand = OperandMapping(pad, 0, mapping);
    for (size_t i = 0; i < operand.size(); ++i) {
      AddBreak(operand[i], 0, &paddings_);
      AddBreak(operand[i], pad.operand(0)->shape().dimensions(i), &paddings_);
    }
  }

  void AddConcatenate(const HloInstruction& concatenate, const Affine& coordinate) {
    if (coordinate.dimension < 0) segments_.cuts_all_concatenations = false;
    int64_t begin = 0;
    for (const HloInstruction* operand : concatenate.operands()) {
      if (begin > 0) AddBreak(Shifted(coordinate, -begin), 0, &concatenations_);
      begin += operand->shape().dimensions(concatenate.concatenate_dimension());
    }
  }

  // The result's coordinate at which `coordinate` passes `at`.
  void AddBreak(const Affine& coordinate, int64_t at, Breaks* breaks) {
    if (coordinate.dimension < 0 || coordinate.step == 0) return;
    const int64_t step = coordinate.step;
    const int64_t place =
        step > 0 ? CeilOfRatio(at - coordinate.offset, step) : CeilOfRatio(coordinate.offset - at + 1, -step);
    if (place > 0 && place < sizes_[coordinate.dimension]) (*breaks)[coordinate.dimension].insert(place);
  }

  // Concatenations before paddings; the innermost dimensions first.
  void Choose() {
    segments_.breaks.resize(sizes_.size());
    for (const Breaks* breaks : {&concatenations_, &paddings_}) {
      for (size_t d = sizes_.size(); d-- > 0;) {
        std::vector<int64_t>& chosen = segments_.breaks[d];
        std::set<int64_t> all = (*breaks)[d];
        all.insert(chosen.begin(), chosen.end());
        const int64_t nests_of_others = segments_.nests / static_cast<int64_t>(chosen.size() + 1);
        const int64_t nests = nests_of_others * static_cast<int64_t>(all.size() + 1);
        if (nests <= kMostNests) {
          chosen.assign(all.begin(), all.end());
          segments_.nests = nests;
        } else if (breaks == &concatenations_) {
          segments_.cuts_all_concatenations = false;
        }
      }
    }
  }

  absl::Span<const int64_t> sizes_;
  Breaks concatenations_, paddings_;
  Segments segments_;
};

}  // namespace

Segments FindSegments(absl::Span<const HloInstruction* const> results,
                      absl::FunctionRef<bool(const HloInstruction&)> is_member) {
  return SegmentFinder(results[0]->shape().dimensions()).Find(results, is_member);
}

}  // namespace kashi::passes
