#include "kashi/array/shape_index.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kashi {

std::string ShapeIndex::ToString() const { return absl::StrCat("{", absl::StrJoin(*this, ","), "}"); }

std::ostream& operator<<(std::ostream& out, const ShapeIndex& index) { return out << index.ToString(); }

}  // namespace kashi
