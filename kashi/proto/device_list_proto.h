// Internal to kashi/proto: the groups of a collective. The instruction's proto has three fields for them, one per form
// (CollectiveDeviceList).
#ifndef KASHI_PROTO_DEVICE_LIST_PROTO_H_
#define KASHI_PROTO_DEVICE_LIST_PROTO_H_

#include "absl/status/statusor.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/proto/hlo.pb.h"

namespace kashi::proto::proto_internal {

// Old protos have the groups in `replica_groups`.
absl::StatusOr<CollectiveDeviceList> ReadDeviceList(const HloInstructionProto& proto);
void WriteDeviceList(const CollectiveDeviceList& devices, HloInstructionProto* proto);

}  // namespace kashi::proto::proto_internal

#endif  // KASHI_PROTO_DEVICE_LIST_PROTO_H_
