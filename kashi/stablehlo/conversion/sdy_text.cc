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

// i to z, then z_1, z_2, …
std::string FactorText(int64_t factor) {
  constexpr int64_t kLetters = 'z' - 'i' + 1;
  if (factor < kLetters) return std::string(1, static_cast<char>('i' + factor));
  return absl::StrCat("z_", factor - kLetters + 1);
}

absl::StatusOr<std::vector<int64_t>> Factors(const Attribute& record, absl::string_view name) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* field, Field(record, name));
  KASHI_ASSIGN_OR_RETURN(std::vector<int64_t> factors, ReadInt64List(*field));
  for (const int64_t factor : factors) {
    if (factor < 0) return InvalidArgument("`%s` has the factor %d", record.text, factor);
  }
  return factors;
}

// ([ij, k], [i])
absl::StatusOr<std::string> MappingsText(const Attribute& rule, absl::string_view name) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* mappings, Field(rule, name));
  std::vector<std::string> arrays;
  for (const Attribute* mapping : mappings->elements) {
    KASHI_ASSIGN_OR_RETURN(const Attribute* dimensions, Field(*mapping, "dimensions"));
    std::vector<std::string> texts;
    for (const Attribute* dimension : dimensions->elements) {
      KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> factors, Factors(*dimension, "factors"));
      std::string& text = texts.emplace_back();
      for (const int64_t factor : factors) absl::StrAppend(&text, FactorText(factor));
    }
    arrays.push_back(absl::StrCat("[", absl::StrJoin(texts, ", "), "]"));
  }
  return absl::StrCat("(", absl::StrJoin(arrays, ", "), ")");
}

// " reduction={j}", or nothing.
absl::Status AppendFactors(const Attribute& rule, absl::string_view field, absl::string_view label, std::string* text) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> factors, Factors(rule, field));
  std::vector<std::string> names;
  for (const int64_t factor : factors) names.push_back(FactorText(factor));
  if (!names.empty()) absl::StrAppend(text, " ", label, "={", absl::StrJoin(names, ", "), "}");
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

// A text has the rule as its spelling.
absl::StatusOr<std::string> SdyShardingRuleText(const Attribute& rule) {
  if (rule.kind == Attribute::Kind::kOther) return std::string(rule.text);
  KASHI_ASSIGN_OR_RETURN(const std::string operands, MappingsText(rule, "operands"));
  KASHI_ASSIGN_OR_RETURN(const std::string results, MappingsText(rule, "results"));
  KASHI_ASSIGN_OR_RETURN(const Attribute* sizes_field, Field(rule, "factor_sizes"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ReadInt64List(*sizes_field));
  std::vector<std::string> factors;
  for (size_t i = 0; i < sizes.size(); ++i) {
    factors.push_back(absl::StrCat(FactorText(static_cast<int64_t>(i)), "=", sizes[i]));
  }
  std::string text = absl::StrCat("#sdy.op_sharding_rule<", operands, "->", results);
  if (!factors.empty()) absl::StrAppend(&text, " {", absl::StrJoin(factors, ", "), "}");
  KASHI_RETURN_IF_ERROR(AppendFactors(rule, "reduction_factors", "reduction", &text));
  KASHI_RETURN_IF_ERROR(AppendFactors(rule, "need_replication_factors", "need_replication", &text));
  KASHI_RETURN_IF_ERROR(AppendFactors(rule, "permutation_factors", "permutation", &text));
  KASHI_RETURN_IF_ERROR(AppendFactors(rule, "blocked_propagation_factors", "blocked_propagation", &text));
  KASHI_ASSIGN_OR_RETURN(const Attribute* custom, Field(rule, "is_custom"));
  KASHI_ASSIGN_OR_RETURN(const bool is_custom, ReadBool(*custom));
  absl::StrAppend(&text, is_custom ? ", custom>" : ">");
  return text;
}

absl::StatusOr<std::string> SdyManualAxesText(const Attribute& manual_axes) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* axes, Field(manual_axes, "axes"));
  std::vector<std::string> names;
  for (const Attribute* axis : axes->elements) names.push_back(absl::StrCat("\"", axis->text, "\""));
  return absl::StrCat("#sdy<manual_axes{", absl::StrJoin(names, ", "), "}>");
}

}  // namespace kashi::stablehlo
