// The records among the attributes of vhlo (docs/spec/vhlo.md 3.2) and of sdy (5.2). A record is a row of fields in the
// order of the file; program/operation_table.h lists the fields that readers of a Program see.
#ifndef KASHI_STABLEHLO_BYTECODE_RECORD_ENTRIES_H_
#define KASHI_STABLEHLO_BYTECODE_RECORD_ENTRIES_H_

#include <cstdint>

#include "kashi/stablehlo/bytecode/entry_decoder.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// The records of sdy in the order of their codes, then those of vhlo.
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
};

// Decodes the entry's bytes behind its code.
const Attribute* DecodeRecord(RecordId record, EntryDecoder* decoder);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_BYTECODE_RECORD_ENTRIES_H_
