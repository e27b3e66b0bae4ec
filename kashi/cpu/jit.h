// LLVM as the rest of the room sees it: an LLVM module in, functions in memory out.
//
// Compile time counts, because the first call waits for it. So there are few passes: code is emitted as vectors and
// needs no loop vectorizer. Mathematical functions are calls of named functions of this process (vector_math.h).
#ifndef KASHI_CPU_JIT_H_
#define KASHI_CPU_JIT_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace llvm {
class Function;
class LLVMContext;
class Module;
class TargetMachine;
}  // namespace llvm

namespace kashi::internal {

// A module under construction, for the processor of this machine.
class JitModule {
 public:
  static absl::StatusOr<JitModule> Create(absl::string_view name);
  JitModule(JitModule&&) noexcept;
  JitModule& operator=(JitModule&&) noexcept;
  ~JitModule();

  llvm::LLVMContext& context() { return *context_; }
  llvm::Module& module() { return *module_; }
  // Bits of the vectors that code on this processor uses: 512 with AVX-512 where it does not lower the clock (the
  // processors that multiply bf16), 256 with AVX2 and FMA, otherwise 128.
  static int VectorBits();
  // Whether it can run our code at all: it has SSE 4.1.
  static bool IsSupported();
  // LLVM IR as text.
  std::string ToString() const;

 private:
  friend class JitCode;
  JitModule(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module);

  std::unique_ptr<llvm::LLVMContext> context_;  // before module_, which lives in it
  std::unique_ptr<llvm::Module> module_;
};

// Takes a function, finished or not, out of its module.
void EraseFunction(llvm::Function& function);
// INTERNAL, with LLVM's message, if LLVM's verifier refuses the function: then it is out of its module.
absl::Status VerifyOrErase(llvm::Function& function);

struct JitOptions {
  // Called functions that are not in the module: name -> address. They must outlive the code.
  absl::flat_hash_map<std::string, const void*> functions;
  // Also keep the assembly as text.
  bool keep_assembly = false;
};

// Machine code in memory. Thread-safe; its memory is freed with it.
class JitCode {
 public:
  // Optimises and compiles functions that have passed VerifyOrErase. INTERNAL, with LLVM's message, if they call an
  // unknown function.
  // Cost: some 2 ms, and 1 ms for each loop.
  static absl::StatusOr<std::unique_ptr<JitCode>> Compile(JitModule module, const JitOptions& options = {});
  ~JitCode();
  JitCode(const JitCode&) = delete;
  JitCode& operator=(const JitCode&) = delete;

  // The function of this name; INTERNAL if there is none.
  template <typename Function>
  absl::StatusOr<Function*> Find(absl::string_view name) const {
    absl::StatusOr<void*> address = FindAddress(name);
    if (!address.ok()) return address.status();
    return reinterpret_cast<Function*>(*address);
  }
  const std::string& assembly() const { return assembly_; }

 private:
  class Linked;
  explicit JitCode(std::unique_ptr<Linked> linked);
  absl::StatusOr<void*> FindAddress(absl::string_view name) const;

  std::unique_ptr<Linked> linked_;
  std::string assembly_;
};

}  // namespace kashi::internal

#endif  // KASHI_CPU_JIT_H_
