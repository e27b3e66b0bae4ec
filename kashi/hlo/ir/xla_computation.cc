#include "kashi/hlo/ir/xla_computation.h"

#include "kashi/base/status.h"

namespace kashi {

XlaComputation::XlaComputation(std::shared_ptr<const HloModule> module, ProgramShape program_shape)
    : module_(std::move(module)), program_shape_(std::move(program_shape)) {}

const std::string& XlaComputation::name() const {
  static const std::string* const empty = new std::string();
  if (readers_ != nullptr) return readers_->name(*proto_);
  return module_ ? module_->name() : *empty;
}

absl::StatusOr<ProgramShape> XlaComputation::GetProgramShape() const {
  if (IsNull()) return InvalidArgument("Computation is null.");
  if (readers_ != nullptr) return readers_->program_shape(*proto_);
  return program_shape_;
}

absl::StatusOr<std::shared_ptr<const HloModule>> XlaComputation::GetModule() const {
  if (IsNull()) return InvalidArgument("Computation is null.");
  if (module_ == nullptr) {
    KASHI_ASSIGN_OR_RETURN(module_, readers_->module(*proto_));
  }
  return module_;
}

const HloModule& XlaComputation::module() const {
  KASHI_CHECK_OK(GetModule().status());
  return *module_;
}

}  // namespace kashi
