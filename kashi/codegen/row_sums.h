// The reduction of a row whose combiner may be regrouped: a vector of partial sums for each vector width of the loop
// over the columns, joined at the end.
#ifndef KASHI_CODEGEN_ROW_SUMS_H_
#define KASHI_CODEGEN_ROW_SUMS_H_

#include <vector>

#include "absl/types/span.h"
#include "kashi/codegen/accumulator.h"
#include "kashi/codegen/kernel.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::codegen {

class RowSums {
 public:
  // reduce: one array, a ReorderableCombiner. widths: those of the loops that add.
  RowSums(KernelBuilder& builder, const HloInstruction& reduce, absl::Span<const int> widths);

  // To be called at the beginning of a row.
  void Clear();
  // Adds lanes; width_number is the number of their width.
  void Add(size_t width_number, llvm::Value* values);
  // A scalar: the sum of all lanes and the initial value.
  llvm::Value* Total(llvm::Value* initial);

 private:
  KernelBuilder& builder_;
  const Accumulator accumulator_;
  std::vector<int> widths_;
  std::vector<llvm::Value*> memory_;  // of each width; LLVM moves it to registers
};

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_ROW_SUMS_H_
