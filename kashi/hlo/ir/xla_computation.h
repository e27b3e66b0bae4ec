// XlaComputation: the result of XlaBuilder::Build, a program to run or to call from another builder.
//
// It owns an HloModule, whose entry is the computation. XLA's class holds a proto instead. Here the proto is made on
// request, and kashi/proto defines all functions about protos: a program that calls them does not link without it.
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
  const std::string& name() const;  // "" if null
  // INVALID_ARGUMENT for a null computation.
  absl::StatusOr<ProgramShape> GetProgramShape() const;

  // The shared module, which must not be changed. Dies if GetModule returns an error.
  const HloModule& module() const;
  // An error for a null computation, and for a proto that is not a module.
  absl::StatusOr<std::shared_ptr<const HloModule>> GetModule() const;

  // ---- kashi/proto. The first call makes it; not thread-safe. Empty for a null computation.
  const HloModuleProto& proto() const;
  // The caller may change the proto. The next call of GetModule reads the module from it again.
  HloModuleProto* mutable_proto();
  absl::StatusOr<std::unique_ptr<HloSnapshot>> Snapshot() const;

 private:
  using Reader = absl::StatusOr<std::shared_ptr<const HloModule>> (*)(const HloModuleProto& proto);
  using ShapeReader = absl::StatusOr<ProgramShape> (*)(const HloModuleProto& proto);
  using NameReader = const std::string& (*)(const HloModuleProto& proto);
  // Functions that read the proto, which is an incomplete type here.
  struct ProtoReaders {
    Reader module;
    ShapeReader program_shape;
    NameReader name;
  };
  static const ProtoReaders& GetProtoReaders();

  mutable std::shared_ptr<const HloModule> module_;  // null if only the proto is there
  ProgramShape program_shape_;
  mutable std::shared_ptr<HloModuleProto> proto_;  // null until requested
  const ProtoReaders* readers_ = nullptr;          // set if the proto is newer than the module
};

}  // namespace kashi

#endif  // KASHI_HLO_IR_XLA_COMPUTATION_H_
