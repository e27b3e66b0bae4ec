// XLA's DynamicDimensionInference, as far as HloEvaluator takes one: a table of which instruction holds the size of
// which dimension. Run only enters the sizes given by set-dimension-size, and derives no others from them: values know
// their own sizes.
#ifndef KASHI_COMPAT_XLA_SERVICE_DYNAMIC_DIMENSION_INFERENCE_H_
#define KASHI_COMPAT_XLA_SERVICE_DYNAMIC_DIMENSION_INFERENCE_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape_util.h"

namespace kashi {

class DynamicDimensionInference {
 public:
  static absl::StatusOr<DynamicDimensionInference> Run(HloModule* module) {
    DynamicDimensionInference inference;
    for (HloComputation* computation : module->computations()) {
      for (HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() != HloOpcode::kSetDimensionSize) continue;
        inference.SetDynamicSize(instruction, {}, instruction->dimension(), instruction->mutable_operand(1));
      }
    }
    return inference;
  }

  // Null: static, or not known.
  HloInstruction* GetDynamicSize(HloInstruction* instruction, const ShapeIndex& index, int64_t dimension) const {
    const auto found = sizes_.find(KeyOf(instruction, index, dimension));
    return found == sizes_.end() ? nullptr : found->second;
  }
  const HloInstruction* GetDynamicSize(const HloInstruction* instruction, const ShapeIndex& index,
                                       int64_t dimension) const {
    return GetDynamicSize(const_cast<HloInstruction*>(instruction), index, dimension);
  }
  // One entry per dimension; null for a dimension without an instruction that holds its size.
  std::vector<HloInstruction*> GetDynamicSizes(HloInstruction* instruction, const ShapeIndex& index) const {
    std::vector<HloInstruction*> sizes;
    for (int64_t d = 0; d < ShapeUtil::GetSubshape(instruction->shape(), index).dimensions_size(); ++d) {
      sizes.push_back(GetDynamicSize(instruction, index, d));
    }
    return sizes;
  }
  bool HasDynamicDimension(HloInstruction* instruction, const ShapeIndex& index = {}) const {
    for (const HloInstruction* size : GetDynamicSizes(instruction, index)) {
      if (size != nullptr) return true;
    }
    return false;
  }
  void SetDynamicSize(HloInstruction* instruction, const ShapeIndex& index, int64_t dimension, HloInstruction* size) {
    sizes_[KeyOf(instruction, index, dimension)] = size;
  }

 private:
  using Key = std::tuple<const HloInstruction*, std::vector<int64_t>, int64_t>;
  static Key KeyOf(const HloInstruction* instruction, const ShapeIndex& index, int64_t dimension) {
    return {instruction, std::vector<int64_t>(index.begin(), index.end()), dimension};
  }

  std::map<Key, HloInstruction*> sizes_;
};

}  // namespace kashi

#endif  // KASHI_COMPAT_XLA_SERVICE_DYNAMIC_DIMENSION_INFERENCE_H_
