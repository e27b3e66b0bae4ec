// The records among the attributes of vhlo (docs/spec/vhlo.md 3.2), of sdy (5.2), and of stablehlo (5.4). A record is a
// row of fields in the order of the file; program/operation_table.h lists the fields that readers of a Program see.
#ifndef KASHI_STABLEHLO_BYTECODE_RECORD_ENTRIES_H_
#define KASHI_STABLEHLO_BYTECODE_RECORD_ENTRIES_H_

#include <cstdint>

#include "kashi/stablehlo/bytecode/entry_decoder.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// The records of sdy in the order of their codes, those of vhlo, and those that stablehlo has in another form.
enum class RecordId : uint8_t {
  kSdyManualAxes,
  kSdyMeshAxis,
  kSdyMesh,
  kSdySubAxisInfo,
  kSdyAxisRef,
  kSdyDimensionSharding,
  kSdySharding,
  kSdyShardingPerValue,
  kSdyDimensionMapping,
  kSdyTensorMapping,
  kSdyShardingRule,
  kSdyAxisList,
  kSdyListOfAxisLists,
  kSdyAllToAllParam,
  kSdyAllToAllParamList,
  kSdyShardingWithUnreduced,
  kSdyShardingPerValueWithUnreduced,
  kSdyShardingWithReduction,
  kOutputOperandAlias,
  kBounds,
  kResultAccuracy,
  kSubAxisInfo,
  kAxisRef,
  kReplicaGroupMeshAxes,
  kMeshAxis,
  kMesh,
  kChannelHandle,
  kConvDimensionNumbers,
  kDotDimensionNumbers,
  kGatherDimensionNumbers,
  kScatterDimensionNumbers,
  kDotAlgorithm,
  kPlainReplicaGroupMeshAxes,
  kPlainAxisRef,
  kPlainMeshAxis,
  kPlainMesh,
};

// Decodes the entry's bytes behind its code.
const Attribute* DecodeRecord(RecordId record, EntryDecoder* decoder);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_BYTECODE_RECORD_ENTRIES_H_
