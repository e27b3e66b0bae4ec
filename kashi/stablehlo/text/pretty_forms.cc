#include "kashi/stablehlo/text/pretty_forms.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kashi/stablehlo/text/mlir_reader.h"

namespace kashi::stablehlo {
namespace {

// ---- The text before the operands ----------------------------------------------------------------------------------

// LT, %a, …
bool BeginCompare(MlirReader* reader, OperationDraft* draft) {
  const absl::string_view direction = reader->cursor().ReadWord();
  if (direction.empty()) return reader->ErrorHere("a direction: EQ, NE, GE, GT, LE, LT");
  reader->AddAttribute("comparison_direction", reader->NewText(Attribute::Kind::kEnum, direction), draft);
  return reader->Expect(',', "after the direction");
}

bool BeginCallee(MlirReader* reader, OperationDraft* draft) {
  const Attribute* callee = reader->ReadSymbol();
  if (callee == nullptr) return false;
  const bool custom = draft->name == "stablehlo.custom_call";
  if (custom) callee = reader->NewText(Attribute::Kind::kString, callee->text);
  reader->AddAttribute(custom ? "call_target_name" : "callee", callee, draft);
  return reader->cursor().Peek() == '(' || reader->ErrorHere("`(` before the operands");
}

bool BeginComposite(MlirReader* reader, OperationDraft* draft) {
  absl::string_view name;
  if (!reader->ReadString(&name)) return false;
  reader->AddAttribute("name", reader->NewText(Attribute::Kind::kString, name), draft);
  return true;
}

// {attributes} dense<…> : T, the type being the result's.
bool ReadConstant(MlirReader* reader, OperationDraft* draft) {
  if (!reader->ReadOptionalAttributes(draft)) return false;
  const Attribute* value = reader->ReadAttribute();
  if (value == nullptr) return false;
  reader->AddAttribute("value", value, draft);
  if (reader->cursor().Match(':')) {  // the result has another type: bounds, quantization
    const Type* type = reader->ReadType();
    if (type == nullptr) return false;
    draft->result_types.push_back(type);
  } else if (value->type != nullptr) {
    draft->result_types.push_back(value->type);
  } else if (value->kind == Attribute::Kind::kBool) {
    draft->result_types.push_back(reader->defaults().ElementType(PRED));
  } else {
    return reader->ErrorHere("`:` and the type of the constant");
  }
  return true;
}

// [0:4:2, 1:3]
bool ReadRanges(MlirReader* reader, OperationDraft* draft) {
  if (!reader->Expect('[', "before ranges")) return false;
  absl::InlinedVector<int64_t, 6> lists[3];
  TextCursor& cursor = reader->cursor();
  if (cursor.Peek() != ']') {
    do {
      int64_t range[3] = {0, 0, 1};
      if (!reader->ReadInt(&range[0]) || !reader->Expect(':', "in a range") || !reader->ReadInt(&range[1]))
        return false;
      if (cursor.Match(':') && !reader->ReadInt(&range[2])) return false;
      for (int i = 0; i < 3; ++i) lists[i].push_back(range[i]);
    } while (cursor.Match(','));
  }
  reader->AddAttribute("start_indices", reader->NewIntegers(lists[0]), draft);
  reader->AddAttribute("limit_indices", reader->NewIntegers(lists[1]), draft);
  reader->AddAttribute("strides", reader->NewIntegers(lists[2]), draft);
  return reader->Expect(']', "after ranges");
}

bool ReadSlice(MlirReader* reader, OperationDraft* draft) {
  return reader->ReadOperand(draft) && ReadRanges(reader, draft) && reader->ReadOptionalAttributes(draft) &&
         ReadTypes(reader, draft);
}

bool ReadGetTupleElement(MlirReader* reader, OperationDraft* draft) {
  int64_t index = 0;
  if (!reader->ReadOperand(draft) || !reader->Expect('[', "before the index") || !reader->ReadInt(&index)) return false;
  reader->AddAttribute("index", reader->NewInteger(S32, index), draft);
  return reader->Expect(']', "after the index") && reader->ReadOptionalAttributes(draft) && ReadTypes(reader, draft);
}

bool ReadSdyMesh(MlirReader* reader, OperationDraft* draft) {
  const Attribute* name = reader->ReadSymbol();
  if (name == nullptr || !reader->Expect('=', "before the mesh")) return false;
  const Attribute* mesh = reader->ReadMesh();
  if (mesh == nullptr) return false;
  reader->AddAttribute("mesh", mesh, draft);
  reader->AddAttribute("sym_name", reader->NewText(Attribute::Kind::kString, name->text), draft);
  return reader->ReadOptionalAttributes(draft);
}

bool ReadSdySharding(MlirReader* reader, OperationDraft* draft) {
  if (!reader->ReadOperand(draft)) return false;
  const Attribute* sharding = reader->ReadSharding();
  if (sharding == nullptr) return false;
  reader->AddAttribute("sharding", sharding, draft);
  return reader->ReadOptionalAttributes(draft) && ReadTypes(reader, draft);
}

bool ReadSdyGroup(MlirReader* reader, OperationDraft* draft) {
  int64_t group = 0;
  if (!reader->ReadOperand(draft)) return false;
  if (!reader->cursor().MatchWord("group_id")) return reader->ErrorHere("group_id=");
  if (!reader->Expect('=', "after group_id") || !reader->ReadInt(&group)) return false;
  reader->AddAttribute("group_id", reader->NewInteger(S64, group), draft);
  return reader->ReadOptionalAttributes(draft) && ReadTypes(reader, draft);
}

// ---- The table ------------------------------------------------------------------------------------------------------

constexpr ItemRow kDims[] = {{"dims", "broadcast_dimensions", ItemForm::kIntegers}};
constexpr ItemRow kPermutation[] = {{"dims", "permutation", ItemForm::kIntegers}};
constexpr ItemRow kDimensions[] = {{"dims", "dimensions", ItemForm::kIntegers}};
constexpr ItemRow kDimension[] = {{"dim", "dimension", ItemForm::kInteger}};
constexpr ItemRow kIotaDimension[] = {{"dim", "iota_dimension", ItemForm::kInteger}};
constexpr ItemRow kSizes[] = {{"sizes", "slice_sizes", ItemForm::kIntegers}};
constexpr ItemRow kBroadcastSizes[] = {{"sizes", "broadcast_sizes", ItemForm::kIntegers}};
constexpr ItemRow kPad[] = {{"low", "edge_padding_low", ItemForm::kIntegers},
                            {"high", "edge_padding_high", ItemForm::kIntegers},
                            {"interior", "interior_padding", ItemForm::kIntegers}};
constexpr ItemRow kDot[] = {{"batching_dims", "batching_dimensions", ItemForm::kPair},
                            {"contracting_dims", "contracting_dimensions", ItemForm::kPair},
                            {"precision", "precision_config", ItemForm::kPrecisions},
                            {"algorithm", "algorithm", ItemForm::kAlgorithm}};
constexpr ItemRow kCompare[] = {{"", "compare_type", ItemForm::kWord}};
constexpr ItemRow kLower[] = {{"lower", "lower", ItemForm::kAttribute}};
constexpr ItemRow kEinsum[] = {{"config", "einsum_config", ItemForm::kString}};
constexpr ItemRow kFft[] = {{"type", "fft_type", ItemForm::kWord}, {"length", "fft_length", ItemForm::kIntegers}};
constexpr ItemRow kRng[] = {{"distribution", "rng_distribution", ItemForm::kWord}};
constexpr ItemRow kRngBits[] = {{"algorithm", "rng_algorithm", ItemForm::kWord}};
constexpr ItemRow kReducePrecision[] = {{"format", "", ItemForm::kFormat}};
constexpr ItemRow kTopK[] = {{"k", "k", ItemForm::kInteger}, {"is_stable", "is_stable"}};
constexpr ItemRow kExpectClose[] = {{"max_ulp_difference", "max_ulp_difference", ItemForm::kInteger},
                                    {"min_ulp_difference", "min_ulp_difference", ItemForm::kInteger}};
constexpr ItemRow kTolerance[] = {{"tolerance", "tolerance", ItemForm::kDouble}};
constexpr ItemRow kProbe[] = {{"probe_id", "probe_id", ItemForm::kString}};

constexpr PrettyForm kPrettyForms[] = {
    {"arith.constant", {}, nullptr, ReadConstant},
    {"builtin.module", {}, nullptr, ReadModule},
    {"check.expect_almost_eq", kTolerance},
    {"check.expect_almost_eq_const", kTolerance},
    {"check.expect_close", kExpectClose},
    {"chlo.constant", {}, nullptr, ReadConstant},
    {"chlo.scan", {}, nullptr, ReadScan},
    {"chlo.top_k", kTopK},
    {"func.call", {}, BeginCallee},
    {"func.func", {}, nullptr, ReadFunction},
    {"interpreter.probe", kProbe},
    {"sdy.constant", {}, nullptr, ReadConstant},
    {"sdy.manual_computation", {}, nullptr, ReadManualComputation},
    {"sdy.mesh", {}, nullptr, ReadSdyMesh},
    {"sdy.reshard", {}, nullptr, ReadSdySharding},
    {"sdy.sharding_constraint", {}, nullptr, ReadSdySharding},
    {"sdy.sharding_group", {}, nullptr, ReadSdyGroup},
    {"stablehlo.broadcast", kBroadcastSizes},
    {"stablehlo.broadcast_in_dim", kDims},
    {"stablehlo.cholesky", kLower},
    {"stablehlo.compare", kCompare, BeginCompare},
    {"stablehlo.composite", {}, BeginComposite},
    {"stablehlo.concatenate", kDimension},
    {"stablehlo.constant", {}, nullptr, ReadConstant},
    {"stablehlo.convolution", {}, nullptr, ReadConvolution},
    {"stablehlo.custom_call", {}, BeginCallee},
    {"stablehlo.dot", kDot},
    {"stablehlo.dot_general", kDot},
    {"stablehlo.dynamic_broadcast_in_dim", kDims},
    {"stablehlo.dynamic_iota", kIotaDimension},
    {"stablehlo.dynamic_slice", kSizes},
    {"stablehlo.einsum", kEinsum},
    {"stablehlo.fft", kFft},
    {"stablehlo.get_dimension_size", kDimension},
    {"stablehlo.get_tuple_element", {}, nullptr, ReadGetTupleElement},
    {"stablehlo.iota", kIotaDimension},
    {"stablehlo.pad", kPad},
    {"stablehlo.reduce", {}, nullptr, ReadReduce},
    {"stablehlo.reduce_precision", kReducePrecision},
    {"stablehlo.reverse", kDimensions},
    {"stablehlo.rng", kRng},
    {"stablehlo.rng_bit_generator", kRngBits},
    {"stablehlo.set_dimension_size", kDimension},
    {"stablehlo.slice", {}, nullptr, ReadSlice},
    {"stablehlo.transpose", kPermutation},
    {"stablehlo.unary_einsum", kEinsum},
    {"stablehlo.while", {}, nullptr, ReadWhile},
};

const PrettyForm& FindForm(absl::string_view name) {
  static const auto* const forms = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, const PrettyForm*>;
    for (const PrettyForm& form : kPrettyForms) map->emplace(form.name, &form);
    return map;
  }();
  static const PrettyForm plain;
  const auto found = forms->find(name);
  return found == forms->end() ? plain : *found->second;
}

// ---- Values of items ------------------------------------------------------------------------------------------------

const Attribute* ReadPrecisions(MlirReader* reader) {
  if (!reader->Expect('[', "before precisions")) return nullptr;
  absl::InlinedVector<const Attribute*, 2> precisions;
  if (reader->cursor().Peek() != ']') {
    do {
      const absl::string_view word = reader->cursor().ReadWord();
      if (word.empty()) return reader->ErrorHere("a precision: DEFAULT, HIGH, HIGHEST"), nullptr;
      precisions.push_back(reader->NewText(Attribute::Kind::kEnum, word));
    } while (reader->cursor().Match(','));
  }
  return reader->Expect(']', "after precisions") ? reader->NewArray(precisions) : nullptr;
}

bool ReadPairItem(absl::string_view attribute, MlirReader* reader, OperationDraft* draft) {
  const bool batching = attribute == "batching_dimensions";
  const Attribute* lhs = reader->ReadIntegers();
  if (lhs == nullptr) return false;
  if (!reader->cursor().Match('x')) return reader->ErrorHere("`x` between dimensions");
  const Attribute* rhs = reader->ReadIntegers();
  if (rhs == nullptr) return false;
  reader->AddAttribute(batching ? "lhs_batching_dimensions" : "lhs_contracting_dimensions", lhs, draft);
  reader->AddAttribute(batching ? "rhs_batching_dimensions" : "rhs_contracting_dimensions", rhs, draft);
  return true;
}

// e5m10
bool ReadFormatItem(MlirReader* reader, OperationDraft* draft) {
  reader->cursor().SkipSpace();
  const size_t begin = reader->cursor().offset();
  const absl::string_view word = reader->cursor().ReadWord();
  const size_t m = word.find('m');
  int32_t exponent = 0;
  int32_t mantissa = 0;
  if (word.empty() || word[0] != 'e' || m == absl::string_view::npos ||
      !absl::SimpleAtoi(word.substr(1, m - 1), &exponent) || !absl::SimpleAtoi(word.substr(m + 1), &mantissa)) {
    return reader->Error(begin, reader->cursor().offset(), "a format is `e`, exponent bits, `m`, mantissa bits: e5m10");
  }
  reader->AddAttribute("exponent_bits", reader->NewInteger(S32, exponent), draft);
  reader->AddAttribute("mantissa_bits", reader->NewInteger(S32, mantissa), draft);
  return true;
}

bool ReadAlgorithmItem(MlirReader* reader, OperationDraft* draft) {
  if (reader->cursor().Peek() != '<') {
    const Attribute* algorithm = reader->ReadAttribute();
    if (algorithm == nullptr) return false;
    reader->AddAttribute("algorithm", algorithm, draft);
    return true;
  }
  reader->cursor().Match('<');
  return reader->ReadRecordFields("stablehlo.dot_algorithm", &draft->attributes);
}

bool ReadItemValue(const ItemRow& row, MlirReader* reader, OperationDraft* draft) {
  if (row.form == ItemForm::kPair) return ReadPairItem(row.attribute, reader, draft);
  if (row.form == ItemForm::kFormat) return ReadFormatItem(reader, draft);
  if (row.form == ItemForm::kAlgorithm) return ReadAlgorithmItem(reader, draft);
  const Attribute* value = nullptr;
  if (row.form == ItemForm::kInteger) {
    int64_t integer = 0;
    if (!reader->ReadInt(&integer)) return false;
    value = reader->NewInteger(S64, integer);
    if (reader->cursor().Match(": i64") || reader->cursor().Match(":i64")) value = reader->NewInteger(S64, integer);
  } else if (row.form == ItemForm::kDouble) {
    value = reader->ReadDouble();
  } else if (row.form == ItemForm::kIntegers) {
    value = reader->cursor().Peek() == '[' ? reader->ReadIntegers() : reader->ReadAttribute();
  } else if (row.form == ItemForm::kPrecisions) {
    value = ReadPrecisions(reader);
  } else if (row.form == ItemForm::kString) {
    absl::string_view text;
    if (!reader->ReadString(&text)) return false;
    value = reader->NewText(Attribute::Kind::kString, text);
  } else if (row.form == ItemForm::kWord) {
    value = reader->NewText(Attribute::Kind::kEnum, reader->cursor().ReadWord());
  } else {
    value = reader->ReadAttribute();
  }
  if (value == nullptr) return false;
  reader->AddAttribute(row.attribute, value, draft);
  return true;
}

bool ReadTrailingTypes(MlirReader* reader, OperationDraft* draft, absl::InlinedVector<const Type*, 4>* types) {
  TextCursor& cursor = reader->cursor();
  const size_t begin = cursor.offset();
  if (cursor.Peek() == '(') {
    if (!reader->ReadTypeOrList(types)) return false;
    if (!reader->CheckOperandTypes(*types, *draft, begin)) return false;
    if (!cursor.Match("->")) return reader->ErrorHere("`->` before the result types");
    return reader->ReadTypeOrList(&draft->result_types);
  }
  return reader->ReadTypeList(types);
}

}  // namespace

bool ReadItem(absl::Span<const ItemRow> rows, MlirReader* reader, OperationDraft* draft) {
  TextCursor& cursor = reader->cursor();
  if (reader->AtValue()) return reader->ReadOperand(draft);
  const size_t begin = cursor.offset();
  if (rows.size() == 1 && rows[0].key.empty()) return ReadItemValue(rows[0], reader, draft);
  const absl::string_view key = cursor.ReadWord();
  for (const ItemRow& row : rows) {
    if (row.key == key) return reader->Expect('=', "after a name") && ReadItemValue(row, reader, draft);
  }
  cursor.Seek(begin);
  // A constant operand of the check dialect.
  if (key == "dense" || key == "dense_resource") {
    const Attribute* value = reader->ReadAttribute();
    if (value != nullptr) reader->AddAttribute("value", value, draft);
    return value != nullptr;
  }
  return reader->ErrorHere("a value, `%name`");
}

bool ReadItems(absl::Span<const ItemRow> rows, MlirReader* reader, OperationDraft* draft) {
  TextCursor& cursor = reader->cursor();
  const bool parenthesis = cursor.Match('(');
  if (parenthesis && cursor.Match(')')) return true;
  const char next = cursor.Peek();
  if (!parenthesis && next != '%' && !cursor.AtWordStart()) return true;  // no operands
  if (!parenthesis && next != '%' && (rows.empty() || cursor.AtWord("loc"))) return true;
  do {
    if (!ReadItem(rows, reader, draft)) return false;
  } while (cursor.Match(','));
  return !parenthesis || reader->Expect(')', "after the operands");
}

bool ReadTypes(MlirReader* reader, OperationDraft* draft) {
  TextCursor& cursor = reader->cursor();
  if (!cursor.Match(':')) return true;
  absl::InlinedVector<const Type*, 4> types;
  cursor.SkipSpace();
  const size_t begin = cursor.offset();
  if (!ReadTrailingTypes(reader, draft, &types)) return false;
  if (!draft->result_types.empty() || reader->cursor().text()[begin] == '(') return true;
  if (cursor.Match("->") || cursor.MatchWord("to")) return reader->ReadTypeOrList(&draft->result_types);
  if (draft->row == nullptr) {  // `check.expect_eq %a, %b : T`, `shape.const_shape [1] : T`
    if (absl::string_view(draft->name).substr(0, 6) != "check." && draft->name != "interpreter.print")
      draft->result_types.push_back(types.back());
    return true;
  }
  const ValueCount& results = draft->row->results;
  if (results.variadics > 0) {
    draft->result_types = types;
  } else if (results.singles == 1) {
    draft->result_types.push_back(types.back());
  } else if (results.singles == 0) {
    return types.size() == draft->operands.size()
               ? reader->CheckOperandTypes(types, *draft, begin)
               : reader->Error(begin, cursor.offset(), "expected a type for each operand");
  } else {
    return reader->Error(begin, cursor.offset(), absl::StrCat("expected `(operands) -> (results)`"));
  }
  return true;
}

bool ReadPrettyForm(MlirReader* reader, OperationDraft* draft) {
  const PrettyForm& form = FindForm(draft->name);
  if (form.whole != nullptr) return form.whole(reader, draft);
  if (form.begin != nullptr && !form.begin(reader, draft)) return false;
  if (draft->name == "shape.const_shape") {
    const Attribute* shape = reader->ReadIntegers();
    if (shape == nullptr) return false;
    reader->AddAttribute("shape", shape, draft);
  }
  if (!ReadItems(form.items, reader, draft)) return false;
  if (reader->cursor().MatchWord("attributes") && reader->cursor().Peek() != '{') return reader->ErrorHere("`{`");
  if (!reader->ReadOptionalAttributes(draft)) return false;
  // `check.expect_eq_const %a, dense<…> : T`: the type was the constant's.
  return ReadTypes(reader, draft);
}

}  // namespace kashi::stablehlo
