// The records of kashi/hlo/attributes/xla_data.h to messages of wire.proto and back: a function for each type.
//
//   ToWire(instruction.window(), proto->mutable_window());
//   KASHI_RETURN_IF_ERROR(FromWire(proto.window(), &window));
//
// Both add to the target's contents; callers pass empty ones. FromWire refuses numbers that are not enumerators
// (INVALID_ARGUMENT); the contents of the target are then unspecified.
//
// With these, records themselves have SerializeAsString(), ParseFromString() and DebugString()
// (kashi/hlo/attributes/message.h).
#ifndef KASHI_PROTO_RECORDS_PROTO_H_
#define KASHI_PROTO_RECORDS_PROTO_H_

#include "absl/status/status.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/proto/wire.pb.h"

namespace kashi {

// clang-format off
#define KASHI_RECORD_TYPES(V) \
  V(PaddingConfig) \
  V(WindowDimension) \
  V(Window) \
  V(GatherDimensionNumbers) \
  V(ScatterDimensionNumbers) \
  V(ConvolutionDimensionNumbers) \
  V(DotDimensionNumbers) \
  V(RaggedDotDimensionNumbers) \
  V(SparsityConfig) \
  V(TriangularSolveOptions) \
  V(CholeskyOptions) \
  V(ResultAccuracy) \
  V(PrecisionConfig) \
  V(ParameterReplication) \
  V(OutputOperandAliasing) \
  V(ReplicaGroup) \
  V(SourceTarget) \
  V(FrontendAttributes) \
  V(Statistic) \
  V(StatisticsViz) \
  V(Payload) \
  V(OpMetadata) \
  V(MeshProto) \
  V(AxisRefProto) \
  V(NamedShardingProto) \
  V(OpSharding)
// clang-format on
#define KASHI_DECLARE(type)                                       \
  void ToWire(const type& record, wire::type* message);           \
  absl::Status FromWire(const wire::type& message, type* record); \
  inline wire::type ToMessage(const type& record) {               \
    wire::type message;                                           \
    ToWire(record, &message);                                     \
    return message;                                               \
  }
KASHI_RECORD_TYPES(KASHI_DECLARE)
#undef KASHI_DECLARE

// "INVALID_ARGUMENT: 7 is no value of <name>".
absl::Status BadEnumNumber(const char* name, int number);

}  // namespace kashi

#endif  // KASHI_PROTO_RECORDS_PROTO_H_
