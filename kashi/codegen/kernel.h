// A kernel: the machine code of one fusion, as a function over a part of its work.
//
// A kernel's work is `rows` times `columns`; the caller may give any part of it to any thread. The meaning of rows and
// columns depends on the fusion:
//
//   loop, all elementwise     1 row, a column for each element
//   loop                      a row for each index of the outer dimensions, columns of the innermost one
//   reduce, innermost kept    the same, of the result; the reduced dimensions are loops within
//   reduce, innermost gone    a row for each element of the result; all columns belong together
//   row                       a row for each index of the outer dimensions; all columns belong together
//   scatter                   1 row, a column for each update; one thread, columns in order, but for Kernel::scatter
#ifndef KASHI_CODEGEN_KERNEL_H_
#define KASHI_CODEGEN_KERNEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/base/math.h"
#include "kashi/codegen/code_module.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::codegen {

// operands[i], results[i]: dense, row-major elements. Columns: all, if the kernel does not split them.
using KernelFunction = void(const void* const* operands, void* const* results, int64_t row_begin, int64_t row_end,
                            int64_t column_begin, int64_t column_end);

// How a scatter combines its updates, if their order does not matter to the last bit.
struct ScatterCombiner {
  HloOpcode opcode;
  PrimitiveType type;
  int64_t elements;  // of the result
  // Real numbers are only added, and this integer is every update: sums are exact while they are integers of the type.
  double update = 0;
};

struct Kernel {
  std::string name;  // of the function
  int64_t rows = 1;
  int64_t columns = 1;
  bool splits_columns = true;
  int64_t work_per_column = 1;  // elements that are computed for one column of one row
  // An operand with the sizes of the result is read only where the result is written: both may share memory. If there
  // is an updated operand, this holds for that operand, and nothing else reads it.
  bool is_in_place = false;
  // The kernel expects the elements of this operand in the memory of result 0, and updates them; -1: none.
  int64_t updated_operand = -1;
  // Of a scatter that may be computed in parts, each on an array of neutral elements.
  std::optional<ScatterCombiner> scatter;

  // Elements that are computed in all.
  int64_t Work() const { return SaturatingMultiply(SaturatingMultiply(rows, columns), work_per_column); }
};

// Emits the function for a fused computation (passes/fuse.h makes them) into the module. FAILED_PRECONDITION if it
// breaks a premise of kernels (kernel_premises.h), INTERNAL if LLVM's verifier refuses the code; the module is then
// unchanged.
absl::StatusOr<Kernel> EmitKernel(const HloComputation& fused, const std::string& name, const NumberOptions& numbers,
                                  CodeModule& module);

// The instructions of a fused computation, and for each function that is part of the code, such as an exponential, some
// more: how much code one vector of its elements takes.
int64_t CodeSize(const HloComputation& fused);

// ---- The kinds of kernels.

// The function under construction, with its arguments loaded.
struct KernelBuilder {
  KernelBuilder(const HloComputation& fused, const std::string& name, const NumberOptions& numbers, CodeModule& module);
  // Ends the function. INTERNAL if LLVM's verifier refuses it; it is then removed from the module.
  absl::Status Finish();

  const HloComputation& fused;
  const CodeTarget& target;
  const NumberOptions& numbers;
  Ir ir;
  llvm::Function* function;
  llvm::IntegerType* lane_type;
  std::vector<llvm::Value*> operands, results;  // pointers
  llvm::Value *row_begin, *row_end, *column_begin, *column_end;

  LaneBuilder Lanes(int lanes) { return LaneBuilder(ir, lanes, target, numbers); }
  // Memory of the function's frame.
  llvm::Value* Allocate(llvm::Type* type, int64_t count = 1);
  // Vector widths for loops over `columns`: all columns if `columns_are_known`, otherwise any part of them.
  std::vector<int> Widths(int64_t columns, bool columns_are_known) const;
};

void EmitLoopKernel(KernelBuilder& builder, Kernel* kernel);
void EmitReduceKernel(KernelBuilder& builder, Kernel* kernel);
void EmitRowKernel(KernelBuilder& builder, Kernel* kernel);
void EmitScatterKernel(KernelBuilder& builder, Kernel* kernel);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_KERNEL_H_
