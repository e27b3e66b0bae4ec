// Relayouts as text, the input of `kashi relayout` and bench/relayout.
//
//   f32[1000,1001] -> {1,0:T(8,128)}                               the same array, into tiles
//   nchw: f32[64,3,224,224] -> {1,3,2,0}                           with a name
//   [0:8, 128:] of f32[8,256]{1,0:T(8,128)} -> f32[8,128]          a part of an array, ranges as in Python
//   f32[64] -> bf16[64]                                            types may differ; options of the caller say
//                                                                  whether they are converted
//
// One side is a shape; the second side may also be a layout alone: that of the same array, or of an array as large as
// the part. The ranges of a part may precede a shape: begin:end, where either may be left out.
// Placement::ToString() prints it in this form.
#ifndef KASHI_RELAYOUT_RELAYOUT_PROBLEM_H_
#define KASHI_RELAYOUT_RELAYOUT_PROBLEM_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape.h"
#include "kashi/base/diagnostic.h"
#include "kashi/relayout/placement.h"

namespace kashi {

// One side as in the text.
struct RelayoutSide {
  Shape shape;             // an array, all of it; without a layout if the text says none
  DimensionVector starts;  // of the part; 0 each if all is meant
  DimensionVector sizes;   // of the part
  bool is_part = false;    // the text has ranges, even if they are those of all

  // The layout is row-major if none is written. INVALID_ARGUMENT as Placement's.
  absl::StatusOr<Placement> ToPlacement() const;
};

struct RelayoutProblem {
  std::string name;  // empty if none is written
  RelayoutSide from;
  RelayoutSide to;
};

// `strict`: warnings of the shape parser (shape_parser.h) are errors. `diagnostics` receives those warnings or, after a
// failure (nullopt), the errors, with offsets into the text. Hostile text is no danger.

// All of the text is one side. `other`: the side whose array a layout alone is for; null: there must be a shape.
std::optional<RelayoutSide> ParseRelayoutSide(absl::string_view text, const RelayoutSide* other, bool strict,
                                              std::vector<Diagnostic>* diagnostics);

// One line: `[name: ]side -> side`. A name has letters, digits and _ - + . / only.
std::optional<RelayoutProblem> ParseRelayoutProblem(absl::string_view line, bool strict,
                                                    std::vector<Diagnostic>* diagnostics);

// The line without its comment: from a `#` that begins it or stands behind white space.
absl::string_view WithoutComment(absl::string_view line);

}  // namespace kashi

#endif  // KASHI_RELAYOUT_RELAYOUT_PROBLEM_H_
