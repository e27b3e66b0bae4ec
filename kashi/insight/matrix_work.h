// How a product of matrices or a convolution uses the matrix unit of an accelerator.
//
//   f32 on a TPU   in passes of bf16: one by default, 3 for precision high, 6 for highest
//   f32 on a GPU   as TF32 where the GPU has it, unless the precision is highest
//   algorithm      if the instruction has one, it decides: dot_bf16_bf16_f32_x3 are 3 passes of bf16
//   other types    the unit of the narrowest type that holds them; types without a unit use the vector unit
//   complex        four products of real numbers
//
// On a TPU whole tiles are multiplied: the contracted dimension and one of the free dimensions are padded to the size
// of the matrix unit, the other free dimension to 8 rows. XLA may merge or split dimensions; that is not modelled.
#ifndef KASHI_INSIGHT_MATRIX_WORK_H_
#define KASHI_INSIGHT_MATRIX_WORK_H_

#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/insight/accelerators.h"

namespace kashi::insight {

// Whether its flops are products of matrices: a dot, a convolution, a custom call whose flops are known.
bool IsMatrixWork(const HloInstruction& instruction);

struct MatrixWork {
  double rate = 0;  // operations per second, passes included
  bool is_on_vector_unit = false;
  double padding_factor = 1;  // flops of whole tiles, divided by those of the instruction
};

// Pre: IsMatrixWork. Never divides by 0: the rate is that of the vector unit if there is no other.
MatrixWork MatrixWorkOf(const HloInstruction& instruction, const Accelerator& accelerator);

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_MATRIX_WORK_H_
