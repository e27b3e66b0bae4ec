// Internal to kashi/proto: FromProto of Shape and of Layout with the depth at which they stand, as either may hold the
// other (LayoutProto.physical_shape). Trees deeper than kMaxTupleDepth are refused: they would end the process later, when
// somebody copies or destroys them. On an error `*result` is unspecified.
#ifndef KASHI_PROTO_SHAPE_READER_H_
#define KASHI_PROTO_SHAPE_READER_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi::proto_internal {

absl::Status ReadShape(const ShapeProto& proto, int depth, Shape* result);
absl::Status ReadLayout(const LayoutProto& proto, int depth, Layout* result);

// XLA's RET_CHECK: INTERNAL. Where XLA names its source line, this names the field.
template <typename... Args>
absl::Status RetCheckFailure(absl::string_view field, const Args&... args) {
  return absl::InternalError(absl::StrCat("RET_CHECK failure (", field, ") ", args...));
}

}  // namespace kashi::proto_internal

#endif  // KASHI_PROTO_SHAPE_READER_H_
