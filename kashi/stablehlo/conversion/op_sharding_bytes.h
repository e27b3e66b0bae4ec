// A serialised OpSharding (kashi/proto/wire.proto), which the attribute `mhlo.sharding` may hold. This room has no
// protobuf, so it reads the few fields itself.
//
//   ""              {replicated}: a message without fields
//   08 03 1a 02 …   {devices=[2,1]<=[2]}
#ifndef KASHI_STABLEHLO_CONVERSION_OP_SHARDING_BYTES_H_
#define KASHI_STABLEHLO_CONVERSION_OP_SHARDING_BYTES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi::stablehlo {

// Skips metadata and unknown fields. INVALID_ARGUMENT for bytes that are not such a message. UNIMPLEMENTED for a
// sharding by the names of a mesh. Cost: linear in the bytes.
absl::StatusOr<OpSharding> ReadOpShardingBytes(absl::string_view bytes);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_OP_SHARDING_BYTES_H_
