// Internal to kashi/proto: where values come from (kashi/hlo/ir/original_value.h), as a list of leaves.
#ifndef KASHI_PROTO_ORIGINAL_VALUE_PROTO_H_
#define KASHI_PROTO_ORIGINAL_VALUE_PROTO_H_

#include "absl/status/statusor.h"
#include "kashi/hlo/ir/original_value.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi::proto::proto_internal {

OriginalArray ReadOriginalArray(const OriginalArrayProto& proto);
void WriteOriginalArray(const OriginalArray& array, OriginalArrayProto* proto);

// INVALID_ARGUMENT: leaves that are not in the order of the tree, or a tree that is too deep or too wide.
absl::StatusOr<OriginalValue> ReadOriginalValue(const OriginalValueProto& proto);
void WriteOriginalValue(const OriginalValue& value, OriginalValueProto* proto);

}  // namespace kashi::proto::proto_internal

#endif  // KASHI_PROTO_ORIGINAL_VALUE_PROTO_H_
