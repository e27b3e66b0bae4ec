#include "kashi/stablehlo/conversion/sdy_text.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/program/attribute_access.h"

namespace kashi::stablehlo {
namespace {

absl::StatusOr<const Attribute*> Field(const Attribute& record, absl::string_view name) {
  const Attribute* field = FindField(record, name);
  if (field == nullptr) return InvalidArgument("`%s` has no `%s`", record.text, name);
  return field;
}

absl::StatusOr<std::string> QuotedName(const Attribute& record) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* name, Field(record, "name"));
  return absl::StrCat("\"", name->text, "\"");
}

absl::StatusOr<int64_t> Number(const Attribute& record, absl::string_view name) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* field, Field(record, name));
  return ReadInt64(*field);
}

// "x", or a part of an axis: "x":(1)2.
absl::StatusOr<std::string> AxisRefText(const Attribute& axis) {
  KASHI_ASSIGN_OR_RETURN(std::string text, QuotedName(axis));
  KASHI_ASSIGN_OR_RETURN(const Attribute* part, Field(axis, "sub_axis"));
  if (part->kind == Attribute::Kind::kUnit) return text;
  KASHI_ASSIGN_OR_RETURN(const int64_t pre_size, Number(*part, "pre_size"));
  KASHI_ASSIGN_OR_RETURN(const int64_t size, Number(*part, "size"));
  absl::StrAppend(&text, ":(", pre_size, ")", size);
  return text;
}

absl::StatusOr<std::vector<std::string>> AxisTexts(const Attribute& record, absl::string_view name) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* axes, Field(record, name));
  std::vector<std::string> texts;
  for (const Attribute* axis : axes->elements) {
    KASHI_ASSIGN_OR_RETURN(texts.emplace_back(), AxisRefText(*axis));
  }
  return texts;
}

// {"x", ?}p1
absl::StatusOr<std::string> DimensionText(const Attribute& dimension) {
  KASHI_ASSIGN_OR_RETURN(std::vector<std::string> axes, AxisTexts(dimension, "axes"));
  KASHI_ASSIGN_OR_RETURN(const Attribute* closed, Field(dimension, "is_closed"));
  KASHI_ASSIGN_OR_RETURN(const bool is_closed, ReadBool(*closed));
  KASHI_ASSIGN_OR_RETURN(const int64_t priority, Number(dimension, "priority"));
  if (!is_closed) axes.emplace_back("?");
  return absl::StrCat("{", absl::StrJoin(axes, ", "), "}", priority < 0 ? "" : absl::StrCat("p", priority));
}

absl::Status AppendAxes(const Attribute& sharding, absl::string_view field, absl::string_view label,
                        std::string* text) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<std::string> axes, AxisTexts(sharding, field));
  if (!axes.empty()) absl::StrAppend(text, ", ", label, "={", absl::StrJoin(axes, ", "), "}");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> SdyMeshText(const Attribute& mesh) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* axes, Field(mesh, "axes"));
  std::vector<std::string> texts;
  for (const Attribute* axis : axes->elements) {
    KASHI_ASSIGN_OR_RETURN(const std::string name, QuotedName(*axis));
    KASHI_ASSIGN_OR_RETURN(const int64_t size, Number(*axis, "size"));
    texts.push_back(absl::StrCat(name, "=", size));
  }
  KASHI_ASSIGN_OR_RETURN(const Attribute* ids, Field(mesh, "device_ids"));
  std::vector<int64_t> device_ids;
  if (ids->kind != Attribute::Kind::kUnit) {
    KASHI_ASSIGN_OR_RETURN(device_ids, ReadInt64List(*ids));
  }
  return absl::StrCat("<[", absl::StrJoin(texts, ", "), "]",
                      device_ids.empty() ? "" : absl::StrCat(", device_ids=[", absl::StrJoin(device_ids, ", "), "]"),
                      ">");
}

absl::StatusOr<std::string> SdyShardingText(const Attribute& sharding) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* mesh, Field(sharding, "mesh"));
  std::string mesh_text = absl::StrCat("@", mesh->text);
  if (mesh->kind != Attribute::Kind::kSymbol) {
    KASHI_ASSIGN_OR_RETURN(const std::string inlined, SdyMeshText(*mesh));
    mesh_text = absl::StrCat("mesh", inlined);
  }
  KASHI_ASSIGN_OR_RETURN(const Attribute* dimensions, Field(sharding, "dimensions"));
  std::vector<std::string> texts;
  for (const Attribute* dimension : dimensions->elements) {
    KASHI_ASSIGN_OR_RETURN(texts.emplace_back(), DimensionText(*dimension));
  }
  std::string text = absl::StrCat("<", mesh_text, ", [", absl::StrJoin(texts, ", "), "]");
  KASHI_RETURN_IF_ERROR(AppendAxes(sharding, "replicated_axes", "replicated", &text));
  KASHI_RETURN_IF_ERROR(AppendAxes(sharding, "unreduced_axes", "unreduced", &text));
  absl::StrAppend(&text, ">");
  return text;
}

absl::StatusOr<std::string> SdyShardingPerValueText(absl::Span<const Attribute* const> shardings) {
  std::vector<std::string> texts;
  for (const Attribute* sharding : shardings) {
    KASHI_ASSIGN_OR_RETURN(texts.emplace_back(), SdyShardingText(*sharding));
  }
  return absl::StrCat("#sdy.sharding_per_value<[", absl::StrJoin(texts, ", "), "]>");
}

absl::StatusOr<std::string> SdyManualAxesText(const Attribute& manual_axes) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* axes, Field(manual_axes, "axes"));
  std::vector<std::string> names;
  for (const Attribute* axis : axes->elements) names.push_back(absl::StrCat("\"", axis->text, "\""));
  return absl::StrCat("#sdy<manual_axes{", absl::StrJoin(names, ", "), "}>");
}

}  // namespace kashi::stablehlo
