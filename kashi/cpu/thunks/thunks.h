// The kinds of thunks. `first`: the start of the thunk's part of the pointer table.
#ifndef KASHI_CPU_THUNKS_THUNKS_H_
#define KASHI_CPU_THUNKS_THUNKS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape.h"
#include "kashi/codegen/dot_matrices.h"
#include "kashi/cpu/thunks/thunk.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/kernels/matrix_product.h"
#include "kashi/kernels/small_linear_algebra.h"

namespace kashi::cpu {

// A kernel. Pointers: the arrays of the operands, then those of the results.
class StepThunk : public Thunk {
 public:
  StepThunk(const evaluator::MemoryStep& step, int64_t first, int64_t operand_count)
      : step_(step), operands_(first), results_(first + operand_count) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  const evaluator::MemoryStep& step_;
  int64_t operands_, results_;
};

// One elementwise operation, by the evaluator's function. Pointers: operands, then the result. An operand has the
// elements of the result, or one element for all of them.
class ElementThunk : public Thunk {
 public:
  struct Operand {
    int64_t element_bytes;
    bool is_repeated;
  };
  struct Sizes {
    absl::InlinedVector<Operand, 3> operands;
    bool repeats = false;  // an operand
    int64_t elements = 0;  // of the result
  };
  // Nothing if an operand has another type than the kernel reads, or has sizes other than the result and is no
  // scalar.
  static std::optional<Sizes> SizesOf(const HloInstruction& instruction, const kernels::ElementKernel& kernel);
  ElementThunk(const kernels::ElementKernel& kernel, int64_t first, Sizes sizes)
      : kernel_(kernel), first_(first), sizes_(std::move(sizes)) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  void RunRepeating(const ThunkFrame& frame, void* output) const;

  kernels::ElementKernel kernel_;
  int64_t first_;
  Sizes sizes_;
};

// Pointers: source, destination.
class CopyThunk : public Thunk {
 public:
  CopyThunk(int64_t first, int64_t bytes) : source_(first), bytes_(bytes) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  int64_t source_, bytes_;
};

// Pointers: lhs, rhs, result: matrices as in matrix_product.h. The element type is F32 or F64.
class DotThunk : public Thunk {
 public:
  // The bytes of rhs when packed in advance; 0 if that gains nothing.
  static int64_t PackedBytesOf(const codegen::DotMatrices& matrices);
  // packed: the number of the packed rhs, which stays valid until it is declared invalid; kNone: none.
  static constexpr int kNone = -1;
  DotThunk(const codegen::DotMatrices& matrices, int64_t first, int packed)
      : matrices_(matrices), first_(first), packed_(packed) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  template <typename T>
  absl::Status Multiply(const ThunkFrame& frame) const;
  // Null if there is no memory.
  template <typename T>
  const T* Packed(const ThunkFrame& frame) const;

  codegen::DotMatrices matrices_;
  int64_t first_;
  int packed_;
};

// A factorization or triangular system of small matrices, on several threads. Pointers: operands, results.
class LinearAlgebraThunk : public Thunk {
 public:
  LinearAlgebraThunk(const kernels::LinearAlgebraCall& call, int64_t first, int64_t operand_count)
      : call_(call), operands_(first), results_(first + operand_count) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  kernels::LinearAlgebraCall call_;
  int64_t operands_, results_;
};

// A part of an array whose start indices the program computes.
class SlicePlace {
 public:
  // The slice must have scalar start indices (kernel_premises.h).
  // start_operand: the operand of the slice that is the first of the start indices.
  SlicePlace(const HloInstruction& slice, int64_t start_operand, absl::Span<const int64_t> array_sizes,
             absl::Span<const int64_t> part_sizes);
  // The offset of the part in bytes, for these start indices.
  int64_t OffsetAt(void* const* indices) const;
  absl::Span<const int64_t> part_sizes() const { return part_sizes_; }
  absl::Span<const int64_t> part_strides() const { return part_strides_; }
  absl::Span<const int64_t> array_strides() const { return array_strides_; }
  int element_bytes() const { return element_bytes_; }
  size_t rank() const { return part_sizes_.size(); }

 private:
  DimensionVector part_sizes_, part_strides_, array_strides_, last_starts_;
  std::vector<PrimitiveType> index_types_;
  int element_bytes_;
};

// dynamic-slice. Pointers: operand, start indices, result.
class DynamicSliceThunk : public Thunk {
 public:
  DynamicSliceThunk(const HloInstruction& slice, int64_t first)
      : place_(slice, 1, slice.operand(0)->shape().dimensions(), slice.shape().dimensions()), first_(first) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  SlicePlace place_;
  int64_t first_;
};

// dynamic-update-slice. Pointers: operand, update, start indices, result. The result's memory has the old elements.
class UpdateSliceThunk : public Thunk {
 public:
  UpdateSliceThunk(const HloInstruction& slice, int64_t first)
      : place_(slice, 2, slice.shape().dimensions(), slice.operand(1)->shape().dimensions()), first_(first) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  SlicePlace place_;
  int64_t first_;
};

// Any other operation, by the evaluator or by a compiled step. It gets the memory of the results; a result in other
// memory is copied there. Pointers: the arrays of the operands, then those of the results.
class EvaluatorThunk : public Thunk {
 public:
  // updated: the operand whose elements are in the memory of result 0, to be updated there; kNone: none. Several thunks
  // may share the step.
  static constexpr int64_t kNone = -1;
  EvaluatorThunk(std::shared_ptr<const evaluator::ComputationPlanStep> step, int64_t first, int64_t updated);
  absl::Status Run(const ThunkFrame& frame) const override;
  // The run compares it, if it is compiled.
  bool is_comparable() const override { return false; }

 private:
  std::shared_ptr<const evaluator::ComputationPlanStep> step_;
  int64_t first_, results_;
  int64_t updated_;
  bool takes_memory_;  // for its results
};

// Two buffers of a loop that are swapped after each iteration (BufferStep::swaps): in all pointers to them, of the
// loop's thunks and of their leaves.
struct BufferSwap {
  std::vector<int64_t> to_from, to_to;  // numbers of pointers to buffer `from`, and to buffer `to`
  std::vector<int64_t> leaves_from, leaves_to;
  int64_t own;  // the number of a pointer to `from`, and then one to `to`, that do not change
  int64_t bytes;
};

// Pointer: the value of the condition.
class WhileThunk : public Thunk {
 public:
  // packed: the operands that are packed once for all iterations.
  WhileThunk(const HloInstruction& loop, ThunkSequence condition, ThunkSequence body, int64_t first,
             std::vector<int> packed, std::vector<BufferSwap> swaps)
      : loop_(loop),
        condition_(std::move(condition)),
        body_(std::move(body)),
        first_(first),
        packed_(std::move(packed)),
        swaps_(std::move(swaps)) {}
  absl::Status Run(const ThunkFrame& frame) const override;
  bool is_comparable() const override { return false; }

 private:
  // Sets the pointers to the swapped buffers, or to the original ones.
  void Place(bool is_swapped, const ThunkFrame& frame) const;
  // At the end of the loop: brings the state to the buffers where later steps expect it.
  absl::Status Leave(bool is_swapped, const ThunkFrame& frame) const;

  const HloInstruction& loop_;
  ThunkSequence condition_, body_;
  int64_t first_;
  std::vector<int> packed_;
  std::vector<BufferSwap> swaps_;
};

// Pointer: the predicate, or the index of the branch.
class ConditionalThunk : public Thunk {
 public:
  ConditionalThunk(bool has_predicate, std::vector<ThunkSequence> branches, int64_t first)
      : has_predicate_(has_predicate), branches_(std::move(branches)), first_(first) {}
  absl::Status Run(const ThunkFrame& frame) const override;
  bool is_comparable() const override { return false; }

 private:
  bool has_predicate_;
  std::vector<ThunkSequence> branches_;
  int64_t first_;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_THUNKS_THUNKS_H_
