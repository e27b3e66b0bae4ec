// CodeTarget: the facts about a processor on which emitted code depends. All emitters use it
// (LaneBuilder::target), and know nothing of the processor that runs the emitter.
#ifndef KASHI_CODEGEN_CODE_TARGET_H_
#define KASHI_CODEGEN_CODE_TARGET_H_

#include <string>

namespace kashi::codegen {

class MathLibrary;

struct CodeTarget {
  // LLVM's names of the kind of processor and of the layout of data in memory.
  std::string triple, data_layout;
  // The length of the vectors that code uses: 128 or more, a power of two.
  int vector_bits;
  // Whether a product and a sum are one instruction.
  bool has_fma;
  // Mathematical functions. It must outlive the code's emission.
  const MathLibrary* math;
};

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_CODE_TARGET_H_
