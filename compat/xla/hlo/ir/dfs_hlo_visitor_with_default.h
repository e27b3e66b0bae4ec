// Visitors that override the handlers of some operations; DefaultAction handles all other operations.
#ifndef KASHI_COMPAT_XLA_HLO_IR_DFS_HLO_VISITOR_WITH_DEFAULT_H_
#define KASHI_COMPAT_XLA_HLO_IR_DFS_HLO_VISITOR_WITH_DEFAULT_H_

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "xla/hlo/ir/dfs_hlo_visitor.h"

namespace xla {

template <typename HloInstructionPtr>
class DfsHloVisitorWithDefaultBase : public DfsHloVisitorBase<HloInstructionPtr> {
 public:
  virtual absl::Status DefaultAction(HloInstructionPtr hlo) = 0;

 protected:
  absl::Status HandleOther(HloInstructionPtr hlo) override { return DefaultAction(hlo); }
};

using DfsHloVisitorWithDefault = DfsHloVisitorWithDefaultBase<HloInstruction*>;
using ConstDfsHloVisitorWithDefault = DfsHloVisitorWithDefaultBase<const HloInstruction*>;

// Calls the same function for every instruction.
template <typename HloInstructionPtr>
class FunctionVisitorBase : public DfsHloVisitorWithDefaultBase<HloInstructionPtr> {
 public:
  explicit FunctionVisitorBase(std::function<absl::Status(HloInstructionPtr)> visitor) : visitor_(std::move(visitor)) {}
  absl::Status DefaultAction(HloInstructionPtr hlo) override { return visitor_(hlo); }

 private:
  std::function<absl::Status(HloInstructionPtr)> visitor_;
};

using FunctionVisitor = FunctionVisitorBase<HloInstruction*>;
using ConstFunctionVisitor = FunctionVisitorBase<const HloInstruction*>;

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_HLO_IR_DFS_HLO_VISITOR_WITH_DEFAULT_H_
