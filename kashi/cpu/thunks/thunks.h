// The kinds of thunks. `first`: where the part of the pointer table begins that belongs to the thunk.
#ifndef KASHI_CPU_THUNKS_THUNKS_H_
#define KASHI_CPU_THUNKS_THUNKS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape.h"
#include "kashi/cpu/kernel_step.h"
#include "kashi/cpu/native_loop_step.h"
#include "kashi/cpu/thunks/thunk.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/evaluator/matrix_product.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

// Operands, then results. An updated operand is in the memory of result 0 already.
class KernelThunk : public Thunk {
 public:
  KernelThunk(const KernelStep& step, int64_t first, int64_t operand_count)
      : step_(step), operands_(first), results_(first + operand_count) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  const KernelStep& step_;
  int64_t operands_, results_;
};

// The elements of the state. Those that the loop writes are in memory that it may write to.
class NativeLoopThunk : public Thunk {
 public:
  NativeLoopThunk(const NativeLoopStep& step, int64_t first) : step_(step), first_(first) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  const NativeLoopStep& step_;
  int64_t first_;
};

// One elementwise operation, by the evaluator's function. Operands, then the result.
class ElementThunk : public Thunk {
 public:
  ElementThunk(const ElementKernel& kernel, int64_t first, int64_t operand_count, int64_t elements)
      : kernel_(kernel), operands_(first), result_(first + operand_count), elements_(elements) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  ElementKernel kernel_;
  int64_t operands_, result_, elements_;
};

// Source, destination.
class CopyThunk : public Thunk {
 public:
  CopyThunk(int64_t first, int64_t bytes) : source_(first), bytes_(bytes) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  int64_t source_, bytes_;
};

// lhs, rhs, result: matrices as in matrix_product.h. The element type is F32 or F64.
class DotThunk : public Thunk {
 public:
  struct Strides {
    int64_t batch, row, column;
  };
  // Of an array with these dimensions; nothing if it is no matrix as it lies.
  static std::optional<Strides> StridesOf(const Shape& shape, absl::Span<const int64_t> batch,
                                          absl::Span<const int64_t> rows, absl::Span<const int64_t> columns);
  DotThunk(PrimitiveType type, const MatrixProductSizes& sizes, Strides lhs, Strides rhs, int64_t first)
      : type_(type), sizes_(sizes), lhs_(lhs), rhs_(rhs), first_(first) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  template <typename T>
  void Multiply(const ThunkFrame& frame) const;

  PrimitiveType type_;
  MatrixProductSizes sizes_;
  Strides lhs_, rhs_;
  int64_t first_;
};

// dynamic-update-slice: update, start indices, result. The result's memory has the elements to update.
class UpdateSliceThunk : public Thunk {
 public:
  UpdateSliceThunk(const HloInstruction& update_slice, int64_t first);
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  DimensionVector update_sizes_, update_strides_, strides_, last_starts_;
  std::vector<PrimitiveType> index_types_;
  int64_t element_bytes_, first_;
};

// Any other operation, by the evaluator or by a compiled step (null: none): it makes a result of its own, which is
// copied. The arrays of the operands, then those of the result.
class EvaluatorThunk : public Thunk {
 public:
  EvaluatorThunk(const HloInstruction& instruction, const CompiledStep* compiled, int64_t first);
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  ComputationPlanStep step_;
  int64_t first_;
};

// The value of the condition.
class WhileThunk : public Thunk {
 public:
  WhileThunk(const HloInstruction& loop, ThunkSequence condition, ThunkSequence body, int64_t first)
      : loop_(loop), condition_(std::move(condition)), body_(std::move(body)), first_(first) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  const HloInstruction& loop_;
  ThunkSequence condition_, body_;
  int64_t first_;
};

// The predicate or the index of the branch.
class ConditionalThunk : public Thunk {
 public:
  ConditionalThunk(bool has_predicate, std::vector<ThunkSequence> branches, int64_t first)
      : has_predicate_(has_predicate), branches_(std::move(branches)), first_(first) {}
  absl::Status Run(const ThunkFrame& frame) const override;

 private:
  bool has_predicate_;
  std::vector<ThunkSequence> branches_;
  int64_t first_;
};

}  // namespace kashi::internal

#endif  // KASHI_CPU_THUNKS_THUNKS_H_
