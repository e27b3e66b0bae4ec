// Which steps of a program become native functions.
#ifndef KASHI_CPU_THUNKS_NATIVE_REGIONS_H_
#define KASHI_CPU_THUNKS_NATIVE_REGIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/codegen/native_function.h"
#include "kashi/cpu/jit.h"
#include "kashi/cpu/thunks/native_thunk.h"
#include "kashi/cpu/thunks/thunk_kinds.h"
#include "kashi/engine/compile_options.h"

namespace kashi::cpu {

// Where the native functions of thunk programs are emitted.
struct NativeCode {
  JitCompiler& compiler;
  const NumberOptions& numbers;
  codegen::FindKernel find_kernel;
  std::vector<NativeThunk*> thunks = {};    // of the programs so far; they need their code before they run
  std::vector<absl::Status> refusals = {};  // of LLVM's verifier: these steps run one by one
};

class NativeRegions {
 public:
  using Steps = absl::Span<const buffers::BufferStep>;

  // All must outlive this object.
  NativeRegions(const ThunkKinds& kinds, const buffers::BufferAssignment& assignment, NativeCode& code);
  // The number of steps from the first on that one function can have; 0 if a function gains nothing.
  int64_t CountSteps(Steps steps) const;
  // The function for these steps; nothing: they are thunks.
  absl::StatusOr<std::optional<codegen::NativeFunction>> TryMake(Steps steps);
  void Register(NativeThunk* thunk) { code_.thunks.push_back(thunk); }

 private:
  // Whether only these steps use a buffer of the arena, for each buffer.
  std::vector<bool> OwnBuffers(Steps steps) const;

  const ThunkKinds& kinds_;
  const buffers::BufferAssignment& assignment_;
  NativeCode& code_;
  std::vector<int> uses_;  // of each buffer: how often steps mention it
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_THUNKS_NATIVE_REGIONS_H_
