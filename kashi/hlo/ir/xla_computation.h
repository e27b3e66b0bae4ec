// XlaComputation: what XlaBuilder::Build makes, a program to run or to call from another builder.
//
// It owns an HloModule, whose entry is the computation. XLA's class holds a proto instead; here the proto is made when
// somebody asks, and everything about protos is defined in kashi/proto: without it, a program that asks does not link.
#ifndef KASHI_HLO_IR_XLA_COMPUTATION_H_
#define KASHI_HLO_IR_XLA_COMPUTATION_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

class HloModuleProto;
class HloSnapshot;

class XlaComputation {
 public:
  XlaComputation() = default;  // null
  // The module's entry computation is the program. Names of parameters are those of `program_shape`.
  XlaComputation(std::shared_ptr<const HloModule> module, ProgramShape program_shape);
  XlaComputation(HloModuleProto proto);  // NOLINT: implicit, as in XLA (kashi/proto)
  XlaComputation(XlaComputation&&) = default;
  XlaComputation& operator=(XlaComputation&&) = default;
  XlaComputation(const XlaComputation&) = delete;
  XlaComputation& operator=(const XlaComputation&) = delete;

  bool IsNull() const { return module_ == nullptr && proto_ == nullptr; }
  const std::string& name() const;  // "" of a null one
  // INVALID_ARGUMENT for a null computation.
  absl::StatusOr<ProgramShape> GetProgramShape() const;

  // The module, which is shared: nobody may change it. Dies where GetModule has an error.
  const HloModule& module() const;
  // An error for a null computation, and for one from a proto that is none of a module.
  absl::StatusOr<std::shared_ptr<const HloModule>> GetModule() const;

  // ---- kashi/proto. Made at the first call, by one thread; a null computation has an empty one.
  const HloModuleProto& proto() const;
  // What is written there counts from then on: the module is read again when it is next asked for.
  HloModuleProto* mutable_proto();
  absl::StatusOr<std::unique_ptr<HloSnapshot>> Snapshot() const;

 private:
  using Reader = absl::StatusOr<std::shared_ptr<const HloModule>> (*)(const HloModuleProto& proto);
  using ShapeReader = absl::StatusOr<ProgramShape> (*)(const HloModuleProto& proto);
  using NameReader = const std::string& (*)(const HloModuleProto& proto);
  // How to ask the proto, without knowing what one is.
  struct ProtoReaders {
    Reader module;
    ShapeReader program_shape;
    NameReader name;
  };
  static const ProtoReaders& GetProtoReaders();

  mutable std::shared_ptr<const HloModule> module_;  // null if only the proto is there
  ProgramShape program_shape_;
  mutable std::shared_ptr<HloModuleProto> proto_;  // null until somebody asks
  const ProtoReaders* readers_ = nullptr;          // if the proto is what counts
};

}  // namespace kashi

#endif  // KASHI_HLO_IR_XLA_COMPUTATION_H_
