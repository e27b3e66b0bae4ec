// The obsolete fields of LayoutProto, of XLA's first years.
//
//   2 padded_dimensions   3 padding_value   4 format   5 max_sparse_elements
//
// Layout::FromProto ignores them, as XLA does. These functions read them for legacy_layout.h.
#ifndef KASHI_PROTO_LEGACY_LAYOUT_PROTO_H_
#define KASHI_PROTO_LEGACY_LAYOUT_PROTO_H_

#include "absl/status/statusor.h"
#include "kashi/array/legacy_layout.h"

namespace kashi {
class LayoutProto;
}  // namespace kashi

namespace kashi::proto {

// minor_to_major and fields 2 to 5; not validated. A proto without `format` is dense: the oldest had no such field.
// INVALID_ARGUMENT for a field of the wrong wire type and for a number that its enum does not have.
absl::StatusOr<LegacyLayout> ReadLegacyLayout(const LayoutProto& proto);

}  // namespace kashi::proto

#endif  // KASHI_PROTO_LEGACY_LAYOUT_PROTO_H_
