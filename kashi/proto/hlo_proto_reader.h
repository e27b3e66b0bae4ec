// Internal to kashi/proto: converts an HloModuleProto to an HloModule.
//
//   hlo_module_proto.cc        the order of computations; schedule, aliases, tables
//   hlo_computation_proto.cc   a computation, and the order of its instructions
//   hlo_instruction_proto.cc   an instruction: fields that any instruction may have
//   instruction_fields_proto.cc   fields of single operations
//
// Protos may be hostile: they never end the process, cause no recursion, and a claimed size allocates no memory. Errors
// name the computation and the instruction.
#ifndef KASHI_PROTO_HLO_PROTO_READER_H_
#define KASHI_PROTO_HLO_PROTO_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/shared_value.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal_parser.h"
#include "kashi/proto/hlo.pb.h"

namespace kashi::proto::proto_internal {

class HloProtoReader {
 public:
  // `depth`: recovery modules around this one.
  HloProtoReader(const HloModuleProto& proto, const HloModuleConfig& config, bool prohibit_empty_literal, int depth);
  absl::StatusOr<std::unique_ptr<HloModule>> Read();

 private:
  // ---- hlo_module_proto.cc
  absl::Status IndexComputations();
  absl::Status OrderComputations(std::vector<int>* order) const;
  absl::StatusOr<std::vector<int>> CalleesOf(const HloComputationProto& proto) const;
  absl::Status AddComputations();
  absl::StatusOr<int> FindEntry() const;
  absl::Status ReadSchedule();
  absl::Status ReadAliases();
  void ReadStackFrames();
  absl::Status ReadRecoveryTable();
  absl::Status ReadModuleFields();

  // ---- hlo_computation_proto.cc
  absl::Status ReadComputation(int index);
  absl::Status ReadInstructions(const HloComputationProto& proto, HloComputation* computation);
  absl::Status Finish(const HloComputationProto& proto, HloComputation* computation);

  // ---- hlo_instruction_proto.cc
  absl::Status ReadInstruction(const HloInstructionProto& proto, HloComputation* computation);
  absl::Status MakeInstruction(const HloInstructionProto& proto, HloComputation* computation);
  absl::StatusOr<HloInstruction*> FindInstruction(int64_t id, const HloComputation* computation,
                                                  absl::string_view role) const;
  absl::StatusOr<absl::string_view> ReadName(const HloInstructionProto& proto);
  absl::StatusOr<SharedShape> ReadShape(const ShapeProto& proto);
  absl::Status CheckAsync(HloOpcode opcode, absl::Span<HloInstruction* const> operands,
                          absl::Span<HloComputation* const> called) const;
  absl::Status ReadExtras(const HloInstructionProto& proto, HloInstruction* instruction);
  absl::Status ReadMetadata(const wire::OpMetadata& message, HloInstruction* instruction);
  absl::Status ReadBackendConfig(const HloInstructionProto& proto, HloInstruction* instruction);
  absl::StatusOr<std::string> PayloadBytes(const wire::Payload& payload) const;

  const HloModuleProto& proto_;
  const bool prohibit_empty_literal_;
  const int depth_;
  std::unique_ptr<HloModule> module_;  // outlives the computations, whose instructions stand in its arena
  // Computations by place in the proto; null before they are read.
  std::vector<std::unique_ptr<HloComputation>> computations_;
  absl::flat_hash_map<int64_t, int> places_;                    // of computations, by id
  absl::flat_hash_map<int64_t, HloInstruction*> instructions_;  // of all computations, by id
  absl::flat_hash_set<absl::string_view> instruction_names_;
  int64_t unlisted_bytes_ = kDefaultUnlistedBytes;

  // Many instructions have the same value, and share it.
  absl::flat_hash_map<Shape, SharedShape> shapes_;
  absl::flat_hash_map<OpMetadata, base::SharedValue<OpMetadata>> metadata_;
  absl::flat_hash_map<std::string, base::SharedValue<std::string>> backend_configs_;
};

// Returns the same status with `context: ` before its message.
absl::Status Annotate(const absl::Status& status, absl::string_view context);

}  // namespace kashi::proto::proto_internal

#endif  // KASHI_PROTO_HLO_PROTO_READER_H_
