#include "kashi/codegen/code_module.h"

#include <utility>

#include <llvm/IR/Function.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "absl/strings/str_cat.h"
#include "kashi/base/check.h"

namespace kashi::codegen {

CodeModule::CodeModule(const std::string& name, CodeTarget target)
    : target_(std::move(target)),
      context_(std::make_unique<llvm::LLVMContext>()),
      module_(std::make_unique<llvm::Module>(name, *context_)) {
  KASHI_CHECK(target_.vector_bits >= 128) << "vectors of " << target_.vector_bits << " bits";
  module_->setDataLayout(target_.data_layout);
  module_->setTargetTriple(target_.triple);
}
CodeModule::CodeModule(CodeModule&&) noexcept = default;
CodeModule& CodeModule::operator=(CodeModule&& other) noexcept {
  target_ = std::move(other.target_);
  module_ = std::move(other.module_);  // before the context that it lives in
  context_ = std::move(other.context_);
  return *this;
}
CodeModule::~CodeModule() = default;

std::string CodeModule::ToString() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module_->print(stream, nullptr);
  return text;
}

// The blocks of an unfinished function may use each other in any order.
void EraseFunction(llvm::Function& function) {
  function.dropAllReferences();
  function.eraseFromParent();
}

absl::Status VerifyOrErase(llvm::Function& function) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (!llvm::verifyFunction(function, &stream)) return absl::OkStatus();
  const std::string name(function.getName());
  EraseFunction(function);
  return absl::InternalError(absl::StrCat("LLVM refuses the code of ", name, ": ", message));
}

}  // namespace kashi::codegen
