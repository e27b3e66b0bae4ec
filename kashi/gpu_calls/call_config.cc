#include "kashi/gpu_calls/call_config.h"

#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/enum_text.h"

namespace kashi::gpu_calls {
namespace {

bool IsScalar(const JsonValue& value) {
  return value.kind() == JsonValue::Kind::kNumber || value.kind() == JsonValue::Kind::kString;
}

std::optional<int64_t> IntegerOf(const JsonValue& value) {
  int64_t number;
  if (!IsScalar(value) || !absl::SimpleAtoi(value.text(), &number)) return std::nullopt;
  return number;
}

}  // namespace

absl::StatusOr<CallConfig> CallConfig::Read(const HloInstruction& call, absl::string_view key) {
  const std::string& text = call.raw_backend_config_string();
  if (text.empty()) return CallConfig(call, JsonValue());
  absl::StatusOr<JsonValue> config = JsonValue::Parse(text);
  if (!config.ok()) return InvalidArgument("%s: backend_config: %s", call.name(), config.status().message());
  if (!config->is_object()) return InvalidArgument("%s: backend_config is no object", call.name());
  const JsonValue* const part = config->Find(key);
  if (part == nullptr) return CallConfig(call, *std::move(config));
  if (!part->is_object()) return InvalidArgument("%s: backend_config: %s is no object", call.name(), key);
  return CallConfig(call, JsonValue(*part));
}

std::string CallConfig::Describe(absl::string_view key, absl::string_view what) const {
  return absl::StrCat(call_->name(), ": backend_config: ", key, " ", what);
}
absl::Status CallConfig::Wrong(absl::string_view key, absl::string_view what) const {
  return absl::InvalidArgumentError(Describe(key, what));
}
absl::Status CallConfig::Unknown(absl::string_view key, absl::string_view what) const {
  return absl::UnimplementedError(Describe(key, what));
}

absl::StatusOr<const JsonValue*> CallConfig::Required(absl::string_view key) const {
  const JsonValue* const value = object_.Find(key);
  if (value == nullptr) return Wrong(key, "is missing");
  return value;
}

absl::StatusOr<double> CallConfig::Number(absl::string_view key, std::optional<double> missing) const {
  if (missing.has_value() && !Has(key)) return *missing;
  KASHI_ASSIGN_OR_RETURN(const JsonValue* const value, Required(key));
  double number;
  if (!IsScalar(*value) || !absl::SimpleAtod(value->text(), &number)) return Wrong(key, "is no number");
  if (!std::isfinite(number)) return Wrong(key, absl::StrCat("is ", value->text(), ", which is not finite"));
  return number;
}

absl::StatusOr<int64_t> CallConfig::Integer(absl::string_view key, std::optional<int64_t> missing) const {
  if (missing.has_value() && !Has(key)) return *missing;
  KASHI_ASSIGN_OR_RETURN(const JsonValue* const value, Required(key));
  const std::optional<int64_t> number = IntegerOf(*value);
  if (!number.has_value()) return Wrong(key, "is no integer of 64 bits");
  return *number;
}

absl::StatusOr<bool> CallConfig::Bool(absl::string_view key, bool missing) const {
  const JsonValue* const value = object_.Find(key);
  if (value == nullptr) return missing;
  if (value->kind() != JsonValue::Kind::kBool) return Wrong(key, "is neither true nor false");
  return value->text() == "true";
}

absl::StatusOr<std::string> CallConfig::Text(absl::string_view key, absl::string_view missing) const {
  const JsonValue* const value = object_.Find(key);
  if (value == nullptr) return std::string(missing);
  if (!IsScalar(*value)) return Wrong(key, "is no name");
  return value->text();
}

absl::StatusOr<DotDimensionNumbers> CallConfig::DotDimensions(absl::string_view key) const {
  KASHI_ASSIGN_OR_RETURN(const JsonValue* const value, Required(key));
  if (!value->is_object()) return Wrong(key, "is no object");
  DotDimensionNumbers numbers;
  const auto add = [&](absl::string_view list_key, auto add_dimension) -> absl::Status {
    const JsonValue* const list = value->Find(list_key);
    if (list == nullptr) return absl::OkStatus();
    if (list->kind() != JsonValue::Kind::kArray) return Wrong(absl::StrCat(key, ".", list_key), "is no list");
    for (const JsonValue& element : list->elements()) {
      const std::optional<int64_t> dimension = IntegerOf(element);
      if (!dimension.has_value()) return Wrong(absl::StrCat(key, ".", list_key), "is no list of integers");
      add_dimension(*dimension);
    }
    return absl::OkStatus();
  };
  KASHI_RETURN_IF_ERROR(
      add("lhs_contracting_dimensions", [&](int64_t d) { numbers.add_lhs_contracting_dimensions(d); }));
  KASHI_RETURN_IF_ERROR(
      add("rhs_contracting_dimensions", [&](int64_t d) { numbers.add_rhs_contracting_dimensions(d); }));
  KASHI_RETURN_IF_ERROR(add("lhs_batch_dimensions", [&](int64_t d) { numbers.add_lhs_batch_dimensions(d); }));
  KASHI_RETURN_IF_ERROR(add("rhs_batch_dimensions", [&](int64_t d) { numbers.add_rhs_batch_dimensions(d); }));
  return numbers;
}

PrecisionConfig CallConfig::Precision() const {
  PrecisionConfig config;
  const JsonValue* const part = object_.Find("precision_config");
  if (part == nullptr) return config;
  if (const JsonValue* const list = part->Find("operand_precision"); list != nullptr) {
    for (const JsonValue& element : list->elements()) {
      config.add_operand_precision(StringToPrecision(element.text()).value_or(PrecisionConfig::DEFAULT));
    }
  }
  if (const JsonValue* const algorithm = part->Find("algorithm"); algorithm != nullptr) {
    config.set_algorithm(
        StringToAlgorithm(absl::StripPrefix(algorithm->text(), "ALG_")).value_or(PrecisionConfig::ALG_UNSET));
  }
  return config;
}

}  // namespace kashi::gpu_calls
