// Internal to kashi/proto: literals shared by the instructions of a file.
#ifndef KASHI_PROTO_LITERAL_PROTO_H_
#define KASHI_PROTO_LITERAL_PROTO_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi::proto::proto_internal {

// The checks of Literal::CreateFromProto before it allocates. Arrays without values, unless they are prohibited, take
// their bytes off `*unlisted_bytes`: RESOURCE_EXHAUSTED if those are too few.
absl::Status CheckLiteral(const LiteralProto& proto, bool prohibit_empty, int64_t* unlisted_bytes);

}  // namespace kashi::proto::proto_internal

#endif  // KASHI_PROTO_LITERAL_PROTO_H_
