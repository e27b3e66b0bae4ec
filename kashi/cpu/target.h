// Target: the processor for which code is made: this one, or a level of x86-64 that it can run. So one process can make
// code for several targets, and a test can run code for a weaker processor than this one. Emitters get the facts that
// they need as a CodeTarget (kashi/codegen/code_target.h).
//
//   KASHI_ASSIGN_OR_RETURN(const Target target, Target::Host());               this processor, with all that it has
//   KASHI_ASSIGN_OR_RETURN(const Target older, Target::ForLevel("x86-64-v3"))  a level of the x86-64 ABI
//
//   level        instructions      vectors   functions of f32                      others, of SLEEF
//   x86-64-v2    SSE4.2            128 bits  those of f64, rounded                 SSE4
//   x86-64-v3    AVX2, FMA, F16C   256 bits  codegen/inline_math.h, if any          AVX2
//   x86-64-v4    AVX-512           512 bits  the same                              AVX-512F
//
// Code for one target gives the same bits on each processor that runs it. Code for two targets may differ as
// docs/fidelity.md allows: without FMA, a product in a sum is rounded.
//
// Not part of a target: the rules of numbers (NumberOptions), which are the same for all targets, and the number of
// threads, which the caller of a kernel decides (kashi/codegen/kernel.h).
#ifndef KASHI_CPU_TARGET_H_
#define KASHI_CPU_TARGET_H_

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi::cpu {

// A processor, as LLVM describes it.
struct Processor {
  std::string name;                             // `sapphirerapids`
  absl::btree_map<std::string, bool> features;  // `avx2`: those that LLVM looks for, and whether it has them

  // This processor. Determined once: in a virtual machine it takes 0.15 ms, and a program is read in less.
  static const Processor& Host();
};

class Target {
 public:
  // A processor with all its features. UNIMPLEMENTED if it is too old: SSE 4.1 is required.
  static absl::StatusOr<Target> Of(const Processor& processor);
  static absl::StatusOr<Target> Host() { return Of(Processor::Host()); }
  // INVALID_ARGUMENT if there is no such level, FAILED_PRECONDITION if the processor that is to run it lacks a feature.
  static absl::StatusOr<Target> ForLevel(absl::string_view level, const Processor& runs_on = Processor::Host());
  // The names of all levels, the weakest first.
  static std::vector<std::string> Levels();

  // LLVM's name of the processor, and the features that differ from those of this name: `+amx-tile,-rtm`.
  // For a level: its name, and "".
  const std::string& processor() const { return processor_; }
  const std::string& features() const { return features_; }
  // The size of the vectors that code uses: 128, 256 or 512. With all features of a processor it is 512 only if such
  // vectors do not lower the clock: on processors that multiply bf16.
  int vector_bits() const { return vector_bits_; }
  // Whether a product and a sum are one instruction.
  bool has_fma() const { return has_fma_; }

 private:
  Target(std::string processor, std::string features, int vector_bits, bool has_fma);

  std::string processor_, features_;
  int vector_bits_;
  bool has_fma_;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_TARGET_H_
