// CodeModule: an LLVM module under construction, and the target of its code.
#ifndef KASHI_CODEGEN_CODE_MODULE_H_
#define KASHI_CODEGEN_CODE_MODULE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "kashi/codegen/code_target.h"

namespace llvm {
class Function;
class LLVMContext;
class Module;
}  // namespace llvm

namespace kashi::codegen {

class CodeModule {
 public:
  CodeModule(const std::string& name, CodeTarget target);
  CodeModule(CodeModule&&) noexcept;
  CodeModule& operator=(CodeModule&&) noexcept;
  ~CodeModule();

  llvm::LLVMContext& context() { return *context_; }
  llvm::Module& module() { return *module_; }
  const CodeTarget& target() const { return target_; }
  // LLVM IR as text.
  std::string ToString() const;

 private:
  CodeTarget target_;
  std::unique_ptr<llvm::LLVMContext> context_;  // before module_, which lives in it
  std::unique_ptr<llvm::Module> module_;
};

// Removes a function, finished or not, from its module.
void EraseFunction(llvm::Function& function);
// INTERNAL, with LLVM's message, if LLVM's verifier refuses the function, which is then removed from its module.
absl::Status VerifyOrErase(llvm::Function& function);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_CODE_MODULE_H_
