// Attributes of dialects: #stablehlo<precision HIGH>, #stablehlo.dot<…>.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kashi/stablehlo/text/mlir_reader.h"

namespace kashi::stablehlo {
namespace {

constexpr absl::string_view kConvolution[3][3] = {
    {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
    {"kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions"},
    {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"}};

}  // namespace

// [b, 0, 1, f]: `names` for b or i, f or o, and the digits.
bool MlirReader::ReadConvolutionSide(const absl::string_view (&names)[3],
                                     absl::InlinedVector<NamedAttribute, 8>* fields) {
  const absl::string_view letters = names[0] == kConvolution[1][0] ? "io" : "bf";
  int64_t places[2] = {-1, -1};
  absl::InlinedVector<int64_t, 8> spatial;
  int64_t at = 0;
  cursor_.SkipSpace();
  const size_t side = cursor_.offset();
  if (!Expect('[', "before dimensions")) return false;
  do {
    const char c = cursor_.Peek();
    const size_t begin = cursor_.offset();
    int64_t number = 0;
    if (cursor_.AtDigit()) {
      if (!ReadInt(&number)) return false;
      if (number > 1000) return Error(begin, cursor_.offset(), "no convolution has that many spatial dimensions");
      const size_t dimension = static_cast<size_t>(number);
      if (dimension >= spatial.size()) spatial.resize(dimension + 1, -1);
      if (spatial[dimension] >= 0) return Error(begin, cursor_.offset(), absl::StrCat("two dimensions ", number));
      spatial[dimension] = at++;
      continue;
    }
    const absl::string_view letter = cursor_.text().substr(begin, 1);
    const int which = c == letters[0] ? 0 : c == letters[1] ? 1 : -1;
    if (which < 0 && c != '?') return ErrorHere(absl::StrCat("a dimension: a number or a letter of `", letters, "`"));
    cursor_.Seek(cursor_.offset() + 1);
    if (which >= 0 && places[which] >= 0) return Error(begin, begin + 1, absl::StrCat("two dimensions ", letter));
    if (which >= 0) places[which] = at;
    ++at;
  } while (cursor_.Match(','));
  const auto hole = std::find(spatial.begin(), spatial.end(), -1);
  if (hole != spatial.end()) {
    return Error(side, cursor_.offset(), absl::StrCat("no spatial dimension ", hole - spatial.begin()));
  }
  for (int i = 0; i < 2; ++i) {
    if (places[i] < 0) return Error(side, cursor_.offset(), absl::StrCat("no dimension ", letters.substr(i, 1)));
  }
  fields->push_back({names[0], NewInteger(S64, places[0])});
  fields->push_back({names[1], NewInteger(S64, places[1])});
  fields->push_back({names[2], NewIntegers(spatial)});
  return Expect(']', "after dimensions");
}

// `name = value, …>`; of a convolution `[..]x[..]->[..]`, without the `>`.
bool MlirReader::ReadRecordFields(absl::string_view record, absl::InlinedVector<NamedAttribute, 8>* fields) {
  if (record == "stablehlo.conv") {
    if (!ReadConvolutionSide(kConvolution[0], fields)) return false;
    if (!cursor_.Match('x')) return ErrorHere("`x`");
    if (!ReadConvolutionSide(kConvolution[1], fields)) return false;
    if (!cursor_.Match("->")) return ErrorHere("`->`");
    return ReadConvolutionSide(kConvolution[2], fields);
  }
  if (cursor_.Match('>')) return true;
  do {
    NamedAttribute field;
    field.name = cursor_.ReadWord();
    if (field.name.empty()) return ErrorHere("a field");
    if (!Expect('=', "after the name of a field")) return false;
    field.value = ReadFieldValue(record, field.name);
    if (field.value == nullptr) return false;
    if (record == "stablehlo.channel_handle") field.name = field.name == "handle" ? "channel_id" : "channel_type";
    fields->push_back(field);
  } while (cursor_.Match(','));
  return Expect('>', "after the fields");
}

const Attribute* MlirReader::ReadFieldValue(absl::string_view record, absl::string_view field) {
  const bool is_integers = record != "stablehlo.replica_group_mesh_axes" && record != "stablehlo.mesh";
  if (cursor_.Peek() == '[' && is_integers) return ReadIntegers();
  if (record == "stablehlo.axis_ref" && cursor_.Match('(')) {
    int64_t pre_size = 0;
    int64_t size = 0;
    if (!ReadInt(&pre_size) || !Expect(')', "after a size") || !ReadInt(&size)) return nullptr;
    return NewRecord("stablehlo.sub_axis_info",
                     {{"pre_size", NewInteger(S64, pre_size)}, {"size", NewInteger(S64, size)}});
  }
  if (record == "stablehlo.mesh" && field == "axes" && cursor_.Match('[')) {
    absl::InlinedVector<const Attribute*, 4> axes;
    while (cursor_.Match('<')) {
      absl::InlinedVector<NamedAttribute, 8> fields;
      if (!ReadRecordFields("stablehlo.mesh_axis", &fields)) return nullptr;
      axes.push_back(NewRecord("stablehlo.mesh_axis", fields));
      if (!cursor_.Match(',')) break;
    }
    return Expect(']', "after axes") ? NewArray(axes) : nullptr;
  }
  return ReadAttribute();
}

// All fields, in the order of operation_table.h.
const Attribute* MlirReader::FinishRecord(absl::string_view name, absl::Span<const NamedAttribute> fields,
                                          size_t begin) {
  const auto find = [&](absl::string_view field, const Attribute* other) {
    for (const NamedAttribute& given : fields) {
      if (given.name == field) return given.value;
    }
    return other;
  };
  if (name == "stablehlo.result_accuracy") {
    Attribute* zero = NewAttribute(Attribute::Kind::kFloat);
    zero->type = defaults_.ElementType(F64);
    return NewRecord("stablehlo.result_accuracy", {{"atol", find("atol", zero)},
                                                   {"rtol", find("rtol", zero)},
                                                   {"ulps", find("ulps", NewInteger(S64, 0))},
                                                   {"mode", find("mode", NewText(Attribute::Kind::kEnum, "DEFAULT"))}});
  }
  const Attribute* unit = NewAttribute(Attribute::Kind::kUnit);
  if (name == "stablehlo.mesh") {
    return NewRecord("stablehlo.mesh", {{"axes", find("axes", unit)}, {"device_ids", find("device_ids", unit)}});
  }
  if (name == "stablehlo.axis_ref") {
    return NewRecord("stablehlo.axis_ref", {{"name", find("name", unit)}, {"sub_axis", find("sub_axis_info", unit)}});
  }
  if (name == "stablehlo.output_operand_alias") {
    for (const NamedAttribute& field : fields) {
      if (field.value == nullptr) return Error(begin, begin + 1, "a field without a value"), nullptr;
    }
  }
  return NewRecord(program_.CopyText(name), fields);
}

// #alias, #dialect<kind VALUE>, #dialect.name<…>
const Attribute* MlirReader::ReadRecord() {
  const size_t begin = cursor_.offset();
  cursor_.Match('#');
  const absl::string_view name = cursor_.ReadSuffix();
  const auto alias = aliases_.find(name);
  if (alias != aliases_.end()) {
    alias_parts_ += SizeOf(*alias->second).parts;
    if (alias_parts_ <= MostParts()) return alias->second;
    Error(begin, cursor_.offset(), "aliases make attributes have more parts than this text may have");
    return nullptr;
  }
  const absl::string_view dialect = name.substr(0, name.find('.'));
  if (dialect == "sdy" && (name == "sdy" || cursor_.PeekHere() == '<')) return ReadSdyRecord(name);
  const bool known = dialect == "stablehlo" || dialect == "chlo";
  if (known && cursor_.PeekHere() == '<') {
    cursor_.Match('<');
    const bool is_mode = name == "stablehlo.result_accuracy_mode";
    if (dialect == name || is_mode) {
      if (!is_mode) cursor_.ReadWord();
      const absl::string_view word = cursor_.ReadWord();
      if (word.empty()) return ErrorHere("a value of the enumeration"), nullptr;
      return Expect('>', "after the value") ? NewText(Attribute::Kind::kEnum, word) : nullptr;
    }
    if (name == "stablehlo.bounds") {
      cursor_.Seek(begin + 1 + name.size());
      return SkipBalanced() ? NewOther(begin) : nullptr;
    }
    absl::InlinedVector<NamedAttribute, 8> fields;
    if (!ReadRecordFields(name, &fields)) return nullptr;
    if (name == "stablehlo.conv" && !Expect('>', "after dimensions")) return nullptr;
    return FinishRecord(name, fields, begin);
  }
  if (name.find('.') == absl::string_view::npos && cursor_.PeekHere() != '<') {
    Error(begin, cursor_.offset(), absl::StrCat("#", name, " is not defined"));
    return nullptr;
  }
  if (cursor_.PeekHere() == '<' && !SkipBalanced()) return nullptr;
  return NewOther(begin);
}

}  // namespace kashi::stablehlo
