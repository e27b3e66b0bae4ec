// The functions of XlaComputation and XlaBuilder that work on protos.
#include <memory>
#include <utility>

#include "kashi/base/status.h"
#include "kashi/hlo/builder/xla_builder_friend.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/xla_computation.h"
#include "kashi/proto/hlo.pb.h"

namespace kashi {

using internal::XlaBuilderFriend;
namespace {

absl::StatusOr<std::shared_ptr<const HloModule>> ReadModule(const HloModuleProto& proto) {
  KASHI_ASSIGN_OR_RETURN(const HloModuleConfig config, HloModule::CreateModuleConfigFromProto(proto));
  KASHI_ASSIGN_OR_RETURN(std::shared_ptr<const HloModule> module, HloModule::CreateFromProto(proto, config));
  return module;
}

absl::StatusOr<ProgramShape> ReadProgramShape(const HloModuleProto& proto) {
  return ProgramShape::FromProto(proto.host_program_shape());
}

const std::string& ReadName(const HloModuleProto& proto) { return proto.name(); }

}  // namespace

const XlaComputation::ProtoReaders& XlaComputation::GetProtoReaders() {
  static const ProtoReaders readers = {ReadModule, ReadProgramShape, ReadName};
  return readers;
}

XlaComputation::XlaComputation(HloModuleProto proto)
    : proto_(std::make_shared<HloModuleProto>(std::move(proto))), readers_(&GetProtoReaders()) {}

const HloModuleProto& XlaComputation::proto() const {
  if (proto_ != nullptr) return *proto_;
  if (module_ == nullptr) return HloModuleProto::default_instance();
  proto_ = std::make_shared<HloModuleProto>(module_->ToProto());
  *proto_->mutable_host_program_shape() = program_shape_.ToProto();
  return *proto_;
}

HloModuleProto* XlaComputation::mutable_proto() {
  if (proto_ == nullptr) proto_ = std::make_shared<HloModuleProto>(proto());
  readers_ = &GetProtoReaders();
  module_ = nullptr;
  return proto_.get();
}

absl::StatusOr<std::unique_ptr<HloSnapshot>> XlaComputation::Snapshot() const {
  if (IsNull()) return InvalidArgument("Computation is invalid.");
  auto snapshot = std::make_unique<HloSnapshot>();
  *snapshot->mutable_hlo()->mutable_hlo_module() = proto();
  return snapshot;
}

HloInstructionProto* XlaBuilderFriend::GetInstruction(XlaOp op) {
  XlaBuilder* const builder = op.builder();
  const absl::StatusOr<HloInstruction*> instruction = builder->Find(op);
  if (!instruction.ok()) return nullptr;
  std::shared_ptr<HloInstructionProto>& proto = builder->handed_out_[(*instruction)->unique_id()];
  if (proto == nullptr) proto = std::make_shared<HloInstructionProto>();
  *proto = (*instruction)->ToProto();
  return proto.get();
}

}  // namespace kashi
