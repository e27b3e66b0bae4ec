// The names of the dimensions of small arrays: x; y, x; z, y, x; p, z, y, x (dimension 0 first).
#ifndef KASHI_ARRAY_DIMENSION_NAMES_H_
#define KASHI_ARRAY_DIMENSION_NAMES_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kashi::array {

// Name of logical dimension `dimension` of an array of rank `rank`: "y", or "d7" where the documents have no names.
inline std::string DimensionName(int rank, int dimension) {
  constexpr absl::string_view kNames = "pzyx";
  if (rank > static_cast<int>(kNames.size())) return absl::StrCat("d", dimension);
  return std::string(kNames.substr(kNames.size() - rank + dimension, 1));
}

}  // namespace kashi::array

#endif  // KASHI_ARRAY_DIMENSION_NAMES_H_
