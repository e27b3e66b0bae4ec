// How large a module is, for a search that makes it smaller: an order in which nothing can decrease forever.
#ifndef KASHI_REDUCTION_MODULE_SIZE_H_
#define KASHI_REDUCTION_MODULE_SIZE_H_

#include <cstdint>
#include <string>
#include <tuple>

#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::reduction {

// The first number that differs decides. None is negative; sums stay at INT64_MAX.
struct ModuleSize {
  int64_t operations = 0;    // instructions that compute (IsOperation)
  int64_t instructions = 0;  // of all computations
  int64_t parameters = 0;    // of all computations
  int64_t iterations = 0;    // of all loops that are known to count, each once
  int64_t elements = 0;      // of the results of all instructions
  int64_t bits = 0;          // of these elements
  int64_t attributes = 0;    // AttributesOf, and those of the module

  // "7 instructions (3 that compute), 12 elements, 4 attributes"
  std::string ToString() const;

  auto AsTuple() const {
    return std::tie(operations, instructions, parameters, iterations, elements, bits, attributes);
  }
  friend bool operator<(const ModuleSize& a, const ModuleSize& b) { return a.AsTuple() < b.AsTuple(); }
  friend bool operator==(const ModuleSize& a, const ModuleSize& b) { return a.AsTuple() == b.AsTuple(); }
};

// O(instructions). The module must have passed the structural rules of the verifier. `counts_iterations`: only for a
// module without any finding, because constants of the loops are evaluated.
ModuleSize SizeOf(const HloModule& module, bool counts_iterations = true);

// Arrays of up to this number of elements are written as constants; larger constants count as operations.
inline constexpr int64_t kMostNumbersInText = 16;

// Whether the instruction computes, or holds much data: it is neither a parameter, a small constant, a broadcast of a
// constant number, nor a tuple or an element of one.
bool IsOperation(const HloInstruction& instruction);

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_MODULE_SIZE_H_
