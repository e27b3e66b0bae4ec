// XLA's readers of text: of those, what there is of shapes and layouts.
#ifndef KASHI_COMPAT_XLA_HLO_PARSER_HLO_PARSER_H_
#define KASHI_COMPAT_XLA_HLO_PARSER_HLO_PARSER_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/status.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

namespace xla {

// "f32[2], (s32[], token[])": shapes with commas between them; the empty text is the empty list.
inline absl::StatusOr<std::vector<::kashi::Shape>> ParseShapeList(absl::string_view text) {
  // A list of shapes is what stands in a tuple.
  KASHI_ASSIGN_OR_RETURN(::kashi::Shape tuple, ::kashi::ParseShape(absl::StrCat("(", text, ")")));
  if (!tuple.IsTuple()) return absl::InvalidArgumentError("expects a list of shapes");
  return std::move(*tuple.mutable_tuple_shapes());
}

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_HLO_PARSER_HLO_PARSER_H_
