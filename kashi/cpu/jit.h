// The interface to LLVM for the rest of the room: takes LLVM modules, returns functions in memory.
//
//   KASHI_ASSIGN_OR_RETURN(JitCompiler compiler, JitCompiler::Create("name", target, options, check_stopped));
//   for …: emit a function into compiler.module(), then
//     KASHI_RETURN_IF_ERROR(compiler.CompileIfLarge());
//   KASHI_ASSIGN_OR_RETURN(std::unique_ptr<JitCode> code, std::move(compiler).Finish());
//
// A program becomes several modules of some functions each. So the compiler can be stopped between them, and it needs
// the memory of one. Compile time counts, because the first call waits for it. So there are few passes: code comes as
// vectors and needs no loop vectorizer. Mathematical functions are calls of named functions of this process
// (vector_math.h).
#ifndef KASHI_CPU_JIT_H_
#define KASHI_CPU_JIT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/base/fingerprint.h"
#include "kashi/base/work_meter.h"
#include "kashi/codegen/code_module.h"
#include "kashi/cpu/target.h"
#include "kashi/engine/engine.h"
#include "kashi/engine/object_cache.h"

namespace llvm {
class TargetMachine;
}  // namespace llvm

namespace kashi::cpu {

struct JitOptions {
  // Called functions that are not in the module: name -> address. They must outlive the code, which can call no other
  // functions of this process.
  absl::flat_hash_map<std::string, const void*> functions;
  // Also keep LLVM IR and assembly as text.
  bool keep_text = false;
  // Also keep the object code.
  bool keep_objects = false;
  // Object code of an earlier compilation, used instead of compiling code with the same key. It must outlive the
  // compiler.
  absl::Span<const engine::CompiledObject> known;
  // Object code of other programs and processes, used in the same way and added to; null: there is none. It must
  // outlive the compiler.
  const engine::ObjectCache* cache = nullptr;
};

// Machine code in memory. Thread-safe; its memory is freed with it.
class JitCode {
 public:
  ~JitCode();
  JitCode(const JitCode&) = delete;
  JitCode& operator=(const JitCode&) = delete;

  // The function with this name; INTERNAL if there is none.
  template <typename Function>
  absl::StatusOr<Function*> Find(absl::string_view name) const {
    absl::StatusOr<void*> address = FindAddress(name);
    if (!address.ok()) return address.status();
    return reinterpret_cast<Function*>(*address);
  }
  // With JitOptions::keep_text: of all modules.
  const std::string& ir() const { return ir_; }
  const std::string& assembly() const { return assembly_; }
  // With JitOptions::keep_objects: of all modules.
  absl::Span<const engine::CompiledObject> objects() const { return objects_; }
  const ObjectUse& object_use() const { return object_use_; }

 private:
  friend class JitCompiler;
  class Library;
  explicit JitCode(std::unique_ptr<Library> library);
  absl::StatusOr<void*> FindAddress(absl::string_view name) const;

  std::unique_ptr<Library> library_;
  absl::flat_hash_map<std::string, void*> addresses_;  // of all functions
  std::string ir_, assembly_;
  std::vector<engine::CompiledObject> objects_;
  ObjectUse object_use_;
};

// Compiles functions in the order in which they are emitted.
class JitCompiler {
 public:
  // check_stopped: called between functions; if it returns an error, compiling ends with it. It must outlive the
  // compiler.
  static absl::StatusOr<JitCompiler> Create(std::string name, const Target& target, JitOptions options,
                                            StopFunction check_stopped);
  JitCompiler(JitCompiler&&) noexcept;
  ~JitCompiler();

  // The module for the next function.
  codegen::CodeModule& module() { return *module_; }
  // Call it after each function, which has passed VerifyOrErase. Optimises and compiles what was emitted, once it is
  // enough to be worth a module. INTERNAL, with LLVM's message, if it calls an unknown function. Cost: some 0.3 ms a
  // module, 1 ms for each loop, and a few ms for each exponential, logarithm or trigonometric function.
  absl::Status CompileIfLarge();
  absl::StatusOr<std::unique_ptr<JitCode>> Finish() &&;

 private:
  JitCompiler(std::string name, const Target& target, JitOptions options, StopFunction check_stopped,
              codegen::CodeModule module);
  absl::Status CompileModule();
  // The key of the emitted module before optimisation.
  base::Fingerprint KeyOfModule() const;
  // The object code with this key; nothing: it is not known.
  std::optional<std::string> FindKnown(const base::Fingerprint& key) const;
  absl::StatusOr<std::string> CompileObject();

  std::string name_;
  Target target_;
  JitOptions options_;
  StopFunction check_stopped_;
  std::unique_ptr<codegen::CodeModule> module_;
  std::unique_ptr<llvm::TargetMachine> machine_;  // these two from the first module on
  std::unique_ptr<JitCode> code_;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_JIT_H_
