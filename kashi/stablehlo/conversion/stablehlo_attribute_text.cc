#include "kashi/stablehlo/conversion/stablehlo_attribute_text.h"

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

bool IsBareName(absl::string_view name) {
  if (name.empty() || !(absl::ascii_isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_')) return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '$' && c != '.') return false;
  }
  return true;
}

absl::StatusOr<std::string> TypeTextOfArray(const Shape& shape) {
  const absl::string_view element = ElementTypeText(shape.element_type());
  if (element.empty()) return Unimplemented("StableHLO has no type for %s", shape.ToString());
  std::vector<int64_t> sizes, bounds;
  for (int i = 0; i < static_cast<int>(shape.dimensions().size()); ++i) {
    const bool is_dynamic = shape.is_dynamic_dimension(i);
    const bool has_bound = is_dynamic && !shape.is_unbounded_dynamic_dimension(i);
    sizes.push_back(is_dynamic ? kDynamic : shape.dimensions(i));
    bounds.push_back(has_bound ? shape.dimensions(i) : kDynamic);
  }
  const bool is_bounded = absl::c_any_of(bounds, [](int64_t bound) { return bound != kDynamic; });
  return ArrayTypeText(sizes, is_bounded ? absl::MakeConstSpan(bounds) : absl::Span<const int64_t>(), element);
}

}  // namespace

absl::StatusOr<std::string> TypeTextOfShape(const Shape& shape) {
  if (shape.IsToken()) return std::string("!stablehlo.token");
  if (shape.IsBuffer()) {
    KASHI_ASSIGN_OR_RETURN(const std::string array, TypeTextOfArray(shape.buffer_shape()));
    return absl::StrCat("memref<", array, ">");
  }
  if (!shape.IsArray()) return Unimplemented("StableHLO has no type for %s", shape.ToString());
  KASHI_ASSIGN_OR_RETURN(const std::string array, TypeTextOfArray(shape));
  return absl::StrCat("tensor<", array, ">");
}

std::string QuotedText(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\\') {
      quoted.append("\\\\");
    } else if (absl::ascii_isprint(static_cast<unsigned char>(c)) && c != '"') {
      quoted.push_back(c);
    } else {
      absl::StrAppend(&quoted, "\\", absl::StrFormat("%02X", static_cast<uint8_t>(c)));
    }
  }
  return quoted.append("\"");
}

std::string FieldNameText(absl::string_view name) { return IsBareName(name) ? std::string(name) : QuotedText(name); }

std::string SymbolText(absl::string_view name) { return absl::StrCat("@", FieldNameText(name)); }

std::string DictionaryText(const StringMap& map) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : map) {
    fields.push_back(absl::StrCat(FieldNameText(name), " = ", QuotedText(value)));
  }
  return absl::StrCat("{", absl::StrJoin(fields, ", "), "}");
}

std::string IntegersText(absl::Span<const int64_t> values) {
  return values.empty() ? "array<i64>" : absl::StrCat("array<i64: ", absl::StrJoin(values, ", "), ">");
}

std::string ListText(absl::Span<const int64_t> values) { return absl::StrCat("[", absl::StrJoin(values, ", "), "]"); }

std::string IndexTensorText(absl::Span<const int64_t> values) {
  return absl::StrCat("dense<", values.empty() ? "" : ListText(values), "> : tensor<", values.size(), "xindex>");
}

std::string RowsText(absl::Span<const std::vector<int64_t>> rows, size_t width) {
  std::vector<std::string> lists;
  for (std::vector<int64_t> row : rows) {
    row.resize(width, -1);
    lists.push_back(ListText(row));
  }
  const bool is_empty = rows.empty() || width == 0;
  return absl::StrCat("dense<", is_empty ? "" : absl::StrCat("[", absl::StrJoin(lists, ", "), "]"), "> : tensor<",
                      rows.size(), "x", width, "xi64>");
}

std::string PairsText(absl::Span<const std::pair<int64_t, int64_t>> pairs) {
  std::vector<std::vector<int64_t>> rows;
  for (const auto& [first, second] : pairs) rows.push_back({first, second});
  return RowsText(rows, 2);
}

}  // namespace kashi::stablehlo
