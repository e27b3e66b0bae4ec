// FusedElements: the elements of a fused computation, one vector of lanes at a time.
//
// A consumer requests an instruction's elements at an index; the instruction requests those of its operands, to the
// parameters, which are loads. Operations that move elements only change the index. Repeated requests compute once.
#ifndef KASHI_CODEGEN_FUSED_ELEMENTS_H_
#define KASHI_CODEGEN_FUSED_ELEMENTS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kashi/codegen/element_index.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::codegen {

// Whether an instruction may be part of a fused computation, by its operation, types and sizes.
bool CanFuse(const HloInstruction& instruction);
// Operations that only select elements of the operands.
bool MovesElements(HloOpcode opcode);

class FusedElements {
 public:
  // parameters[i]: the address of the elements of parameter i, row-major.
  // loads_are_invariant: nothing writes to the parameters while the kernel runs.
  FusedElements(const LaneBuilder& lanes, llvm::IntegerType* lane_type, absl::Span<llvm::Value* const> parameters,
                bool loads_are_invariant);
  FusedElements(const FusedElements&) = delete;
  FusedElements& operator=(const FusedElements&) = delete;

  // The elements of the instruction at an index of AddIndex. All code goes to the builder's current block, which must
  // not end between two calls.
  llvm::Value* At(const HloInstruction& instruction, ElementIndex* index);
  // A scalar, for one lane.
  llvm::Value* Scalar(const HloInstruction& instruction);
  // Sets the instruction's elements to this scalar at every index.
  void SetScalar(const HloInstruction& instruction, llvm::Value* scalar) { known_scalars_[&instruction] = scalar; }
  // Sets the instruction's elements at this index.
  void SetElements(const HloInstruction& instruction, const ElementIndex* index, llvm::Value* value) {
    values_[{&instruction, index}] = value;
  }
  ElementIndex* AddIndex(ElementIndex index) { return &indices_.emplace_back(std::move(index)); }

  const LaneBuilder& lanes() const { return lanes_; }
  const CoordinateMath& math() const { return math_; }
  llvm::Value* parameter(int64_t number) const { return parameters_[number]; }
  bool loads_are_invariant() const { return loads_are_invariant_; }

 private:
  llvm::Value* Emit(const HloInstruction& instruction, ElementIndex* index);

  LaneBuilder lanes_;
  CoordinateMath math_;
  std::vector<llvm::Value*> parameters_;
  bool loads_are_invariant_;
  std::deque<ElementIndex> indices_;
  absl::flat_hash_map<std::pair<const HloInstruction*, const ElementIndex*>, llvm::Value*> values_;
  absl::flat_hash_map<const HloInstruction*, llvm::Value*> known_scalars_;
  // Scalars are computed once, for one lane; only the object for one lane has this index.
  std::unique_ptr<FusedElements> scalars_;
  ElementIndex* scalar_index_ = nullptr;
};

// The smallest signed integer type that can count the elements that a computation uses: 32 or 64 bits.
llvm::IntegerType* LaneTypeFor(const HloComputation& fused, Ir& ir);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_FUSED_ELEMENTS_H_
