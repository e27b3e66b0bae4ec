#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/hlo/text/hlo_reader.h"
#include "kashi/literal/literal.h"

namespace kashi::hlo {

// Whether some instruction may have the attribute.
bool HloReader::IsAnyAttribute(absl::string_view name) {
  for (const absl::string_view common : CommonAttributes()) {
    if (name == common) return true;
  }
#define KASHI_ATTRIBUTE(identifier, text, ...) \
  if (name == text) return true;
#include "kashi/hlo/ir/attributes.def"
  return false;
}

// ---- The list -------------------------------------------------------------------------------------------------------

// The attributes that the text may have: for `add-start(…)`, those of an add and of an async-start.
absl::Span<const HloOpcodeAttribute> HloReader::AttributesOf(const Pending& pending) const {
  if (pending.wrapped_opcode.has_value() && pending.opcode == HloOpcode::kAsyncStart) {
    return GetHloOpcodeInfo(*pending.wrapped_opcode).attributes;
  }
  return GetHloOpcodeInfo(pending.opcode).attributes;
}

// {, name=value}
bool HloReader::ReadAttributes(Pending* pending) {
  while (scan_.Match(',')) {
    if (!ReadAttribute(pending)) return false;
  }
  return true;
}

bool HloReader::ReadAttributeName(absl::string_view* name, size_t* begin) {
  scan_.SkipSpace();
  *begin = scan_.offset();
  *name = scan_.ReadIdentHere();
  if (name->empty() || scan_.PeekHere() != '=') {
    scan_.Seek(*begin);
    return ErrorHere("attribute name");
  }
  return scan_.Match('=');
}

bool HloReader::HasSeen(const Pending& pending, HloAttribute attribute) const {
  const auto attributes = AttributesOf(pending);
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (attributes[i].attribute == attribute) return (pending.seen >> i & 1) != 0;
  }
  return false;
}

bool HloReader::ReadAttribute(Pending* pending) {
  absl::string_view name;
  size_t begin = 0;
  if (!ReadAttributeName(&name, &begin)) return false;
  bool found = false;
  if (!ReadCommonAttribute(name, pending, &found)) return false;
  if (found) return true;

  const auto attributes = AttributesOf(*pending);
  for (size_t i = 0; i < attributes.size(); ++i) {
    const HloAttribute attribute = attributes[i].attribute;
    if (HloAttributeName(attribute) != name || !MayHave(*pending, attribute)) continue;
    if ((pending->seen >> i & 1) != 0) {
      return Error(begin, begin + name.size(), absl::StrCat("attribute \"", name, "\" already exists"));
    }
    pending->seen |= uint32_t{1} << i;
    return (this->*FunctionOf(attribute))(pending);
  }
  // The short form also has async-start's own attributes.
  if (pending->wrapped_opcode.has_value() && pending->opcode == HloOpcode::kAsyncStart) {
    if (name == "async_execution_thread" && !pending->fields.Has(HloField::async_execution_thread)) {
      return (this->*FunctionOf(HloAttribute::async_execution_thread))(pending);
    }
    if (name == "output_to_operand_aliasing" && !pending->fields.Has(HloField::output_operand_aliasing)) {
      return (this->*FunctionOf(HloAttribute::output_to_operand_aliasing))(pending);
    }
  }
  return ReadUnknownAttribute(name, begin, pending);
}

// The names of a conditional's branches depend on its first operand; only an async-update with arguments has aliases.
bool HloReader::MayHave(const Pending& pending, HloAttribute attribute) const {
  if (pending.opcode == HloOpcode::kAsyncUpdate && attribute == HloAttribute::output_to_operand_aliasing) {
    return options_.keep_unknown_attributes() && pending.operands.size() > 1;
  }
  if (pending.opcode != HloOpcode::kConditional) return true;
  const bool by_predicate = !pending.operands.empty() && pending.operands[0]->shape().IsArray() &&
                            pending.operands[0]->shape().element_type() == PRED;
  return by_predicate != (attribute == HloAttribute::branch_computations);
}

std::string HloReader::AllowedAttributes(const Pending& pending) const {
  const absl::Span<const absl::string_view> common = CommonAttributes();
  std::vector<absl::string_view> names(common.begin(), common.end());
  for (const HloOpcodeAttribute& entry : AttributesOf(pending)) {
    if (MayHave(pending, entry.attribute)) names.push_back(HloAttributeName(entry.attribute));
  }
  std::sort(names.begin(), names.end());
  return absl::StrJoin(names, ", ");
}

// An attribute of this XLA on the wrong operation is an error; one that no operation has may be from a newer XLA.
bool HloReader::ReadUnknownAttribute(absl::string_view name, size_t begin, Pending* pending) {
  const size_t end = begin + name.size();
  if (!options_.keep_unknown_attributes() || IsAnyAttribute(name)) {
    return Error(
        begin, end,
        absl::StrCat("unexpected attribute \"", name, "\". Allowed attributes: ", AllowedAttributes(*pending)));
  }
  const char first = scan_.PeekHere();
  const size_t value_begin = scan_.offset();
  if (first == '{' || first == '[' || first == '(') {
    if (scan_.ReadBracketed().empty()) return Error(begin, end, absl::StrCat("the value of ", name, " never ends"));
  } else if (first == '"' || first == '\'') {
    if (scan_.ReadQuoted().empty()) return Error(begin, end, absl::StrCat("the value of ", name, " never ends"));
  } else {
    const absl::string_view enders = ", \t\r\n}";
    while (scan_.offset() < scan_.text().size() && enders.find(scan_.PeekHere()) == absl::string_view::npos) {
      scan_.Seek(scan_.offset() + 1);
    }
  }
  const absl::string_view value = scan_.Slice(value_begin);
  if (value.empty()) return ErrorHere(absl::StrCat("a value for ", name));
  for (const auto& [known, unused] : pending->mutable_extras()->unknown_attributes) {
    if (known == name) return Error(begin, end, absl::StrCat("attribute \"", name, "\" already exists"));
  }
  pending->mutable_extras()->unknown_attributes.emplace_back(name, value);
  Warning(begin, end,
          absl::StrCat("attribute `", name, "` is unknown; it is kept as it is. Known: ", AllowedAttributes(*pending)));
  return true;
}

bool HloReader::CheckRequired(const Pending& pending) {
  const auto attributes = AttributesOf(pending);
  if (pending.wrapped_opcode.has_value() && pending.opcode != HloOpcode::kAsyncStart) return true;
  for (size_t i = 0; i < attributes.size(); ++i) {
    // A scalar is broadcast to all dimensions, so there are none to list.
    const bool broadcasts_array = pending.opcode == HloOpcode::kBroadcast && !pending.operands.empty() &&
                                  !ShapeUtil::IsScalar(pending.operands[0]->shape());
    const bool required = attributes[i].need == HloOpcodeAttribute::kRequired || broadcasts_array ||
                          (pending.opcode == HloOpcode::kConditional && MayHave(pending, attributes[i].attribute));
    if (!required || (pending.seen >> i & 1) != 0) continue;
    return Error(pending.opcode_begin, TokenEnd(pending.opcode_begin),
                 absl::StrCat("attribute ", HloAttributeName(attributes[i].attribute), " is expected but not seen"));
  }
  return true;
}

template <typename Enum, typename Parse>
bool HloReader::ReadWord(absl::string_view what, Parse parse, Enum* value) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  const absl::string_view word = scan_.ReadIdentHere();
  if (word.empty()) return ErrorHere(what);
  const absl::StatusOr<Enum> read = parse(word);
  if (!read.ok()) {
    return Error(begin, scan_.offset(),
                 absl::StrCat("expects ", what, " but sees: ", word, ", error: ", read.status().message()));
  }
  *value = *read;
  return true;
}

// ---- Codecs ---------------------------------------------------------------------------------------------------------

#define KASHI_READ(name)                  \
  template <HloField field, int argument> \
  bool HloReader::Read##name(Pending* pending)

// A value whose field has the form of the text.
#define KASHI_READ_VALUE(name, read)              \
  KASHI_READ(name) {                              \
    HloFieldType<field> value{};                  \
    if (!read(&value)) return false;              \
    pending->fields.Set<field>(std::move(value)); \
    return true;                                  \
  }
KASHI_READ_VALUE(Int, ReadIntValue)
KASHI_READ_VALUE(String, ReadStringValue)
KASHI_READ_VALUE(IntList, ReadIntBraces)
KASHI_READ_VALUE(IntListList, ReadIntLists)
KASHI_READ_VALUE(PairList, ReadPairs)
KASHI_READ_VALUE(Window, ReadWindowText)
KASHI_READ_VALUE(DimLabels, ReadDimLabelsText)
KASHI_READ_VALUE(Padding, ReadPaddingText)
KASHI_READ_VALUE(SliceRanges, ReadSliceRanges)
KASHI_READ_VALUE(ShapeList, ReadShapeBraces)
KASHI_READ_VALUE(ReplicaGroups, ReadDeviceList)
#undef KASHI_READ_VALUE

KASHI_READ(Int32) {
  int64_t value = 0;
  const size_t begin = scan_.offset();
  if (!ReadIntValue(&value)) return false;
  // XLA keeps the low bits of the numbers of bits.
  constexpr bool wraps = field == HloField::exponent_bits || field == HloField::mantissa_bits;
  if (!wraps && value != static_cast<int32_t>(value)) {
    return Error(begin, scan_.offset(), "value out of range for int32");
  }
  pending->fields.Set<field>(static_cast<int32_t>(value));
  return true;
}

// A count whose default is 1, which is not kept.
KASHI_READ(IntNotOne) {
  int64_t value = 0;
  if (!ReadIntValue(&value)) return false;
  if (value != 1) pending->fields.Set<field>(value);
  return true;
}

// A channel that is not positive means no channel.
KASHI_READ(ChannelId) { return ReadInt<field, argument>(pending); }

KASHI_READ(Bool) {
  bool value = false;
  if (!ReadBoolValue(&value)) return false;
  pending->fields.Set<field>(value);
  return true;
}

// A truth value that is only kept if it is true.
KASHI_READ(True) {
  bool value = false;
  if (!ReadBoolValue(&value)) return false;
  if (value) pending->fields.Set<field>(true);
  return true;
}

KASHI_READ(TriStateBool) {
  bool value = false;
  if (!ReadBoolValue(&value)) return false;
  pending->fields.Set<field>(value ? TRI_STATE_TRUE : TRI_STATE_FALSE);
  return true;
}

KASHI_READ(Float) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  const std::optional<double> value = scan_.ReadDouble();
  if (!value.has_value()) return ErrorHere("a number");
  if (std::abs(*value) > std::numeric_limits<float>::max() &&
      std::abs(*value) < std::numeric_limits<double>::infinity()) {
    return Error(begin, scan_.offset(), "value out of range for float");
  }
  pending->fields.Set<field>(static_cast<float>(*value));
  return true;
}

// Reads exactly one dimension, which is not kept.
KASHI_READ(OneDimension) {
  Int64List list;
  if (!ReadIntBraces(&list)) return false;
  return list.size() == 1 || ErrorIn(*pending, "expects exactly one dimension in `dimensions`");
}

// `argument` is its place among the called computations.
KASHI_READ(Computation) {
  HloComputation* computation = ReadComputationName();
  if (computation == nullptr) return false;
  ComputationVector* called = pending->fields.Mutable<field>();
  if (called->size() <= argument) called->resize(argument + 1, nullptr);
  // If a custom call has both, to_apply counts.
  if (pending->opcode == HloOpcode::kCustomCall) called->resize(1);
  (*called)[argument] = computation;
  return true;
}

KASHI_READ(ComputationList) {
  ComputationVector computations;
  if (!ReadComputationNames(&computations)) return false;
  if (pending->opcode == HloOpcode::kCustomCall && pending->fields.Has(field)) return true;
  pending->fields.Set<field>(std::move(computations));
  return true;
}

KASHI_READ(GatherDims) {
  GatherDimensionNumbers* numbers = pending->fields.Mutable<field>();
  if constexpr (argument == 5) {
    int64_t value = 0;
    if (!ReadIntValue(&value)) return false;
    numbers->set_index_vector_dim(value);
    return true;
  } else {
    Int64List* const lists[] = {numbers->mutable_offset_dims(), numbers->mutable_collapsed_slice_dims(),
                                numbers->mutable_start_index_map(), numbers->mutable_operand_batching_dims(),
                                numbers->mutable_start_indices_batching_dims()};
    return ReadIntBraces(lists[argument]);
  }
}

KASHI_READ(ScatterDims) {
  ScatterDimensionNumbers* numbers = pending->fields.Mutable<field>();
  if constexpr (argument == 5) {
    int64_t value = 0;
    if (!ReadIntValue(&value)) return false;
    numbers->set_index_vector_dim(value);
    return true;
  } else {
    Int64List* const lists[] = {numbers->mutable_update_window_dims(), numbers->mutable_inserted_window_dims(),
                                numbers->mutable_scatter_dims_to_operand_dims(), numbers->mutable_input_batching_dims(),
                                numbers->mutable_scatter_indices_batching_dims()};
    return ReadIntBraces(lists[argument]);
  }
}

KASHI_READ(DotDims) {
  DotDimensionNumbers* numbers = pending->fields.Mutable<field>();
  Int64List* const lists[] = {numbers->mutable_lhs_batch_dimensions(), numbers->mutable_lhs_contracting_dimensions(),
                              numbers->mutable_rhs_batch_dimensions(), numbers->mutable_rhs_contracting_dimensions()};
  return ReadIntBraces(lists[argument]);
}

KASHI_READ(RaggedDims) {
  RaggedDotDimensionNumbers* numbers = pending->fields.Mutable<field>();
  DotDimensionNumbers* dot = numbers->mutable_dot_dimension_numbers();
  Int64List* const lists[] = {dot->mutable_lhs_batch_dimensions(),      dot->mutable_lhs_contracting_dimensions(),
                              dot->mutable_rhs_batch_dimensions(),      dot->mutable_rhs_contracting_dimensions(),
                              numbers->mutable_lhs_ragged_dimensions(), numbers->mutable_rhs_group_dimensions()};
  return ReadIntBraces(lists[argument]);
}

// Not kept if all have the default.
KASHI_READ(OperandPrecision) {
  RepeatedField<PrecisionConfig::Precision> precisions;
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of operand_precision");
  if (!scan_.Match('}')) {
    do {
      PrecisionConfig::Precision precision = PrecisionConfig::DEFAULT;
      if (!ReadWord("precision", StringToPrecision, &precision)) return false;
      precisions.Add(precision);
    } while (scan_.Match(','));
    if (!scan_.Match('}')) return ErrorHere("'}' at the end of operand_precision");
  }
  const auto is_default = [](PrecisionConfig::Precision precision) { return precision == PrecisionConfig::DEFAULT; };
  if (absl::c_all_of(precisions, is_default)) return true;
  *pending->fields.Mutable<field>()->mutable_operand_precision() = std::move(precisions);
  return true;
}

KASHI_READ(DotAlgorithm) {
  return ReadWord("algorithm", StringToAlgorithm, pending->fields.Mutable<field>()->mutable_algorithm());
}

#define KASHI_READ_WORD(name, what, parse)            \
  KASHI_READ(name) {                                  \
    HloFieldType<field> value{};                      \
    if (!ReadWord(what, parse, &value)) return false; \
    pending->fields.Set<field>(value);                \
    return true;                                      \
  }
KASHI_READ_WORD(Schedule, "custom call schedule", StringToCustomCallSchedule)
KASHI_READ_WORD(ConvKind, "convolution kind", StringToConvolutionKind)
KASHI_READ_WORD(Distribution, "random distribution", StringToRandomDistribution)
KASHI_READ_WORD(RngAlgorithm, "random algorithm", StringToRandomAlgorithm)
KASHI_READ_WORD(FftKind, "fft type", StringToFftType)
KASHI_READ_WORD(FusionKind, "fusion kind", StringToFusionKind)
KASHI_READ_WORD(PaddingKind, "padding type", StringToPaddingType)
KASHI_READ_WORD(Direction, "comparison direction", StringToComparisonDirection)
#undef KASHI_READ_WORD

// No text expresses an unspecified version.
KASHI_READ(ApiVersion) {
  HloFieldType<field> version{};
  const size_t begin = (scan_.SkipSpace(), scan_.offset());
  if (!ReadWord("custom call api version", StringToCustomCallApiVersion, &version)) return false;
  if (version == API_VERSION_UNSPECIFIED) {
    return Error(begin, scan_.offset(), "Invalid API version: API_VERSION_UNSPECIFIED");
  }
  pending->fields.Set<field>(version);
  return true;
}

// The channel and use_global_device_ids already determine the groups: this is read and dropped.
KASHI_READ(GroupMode) {
  (void)pending;
  return ReadGroupModeName();
}

// `rotate` is the only mode, so only the shifts are kept.
KASHI_READ(ShuffleMode) {
  pending->fields.Mutable<field>();
  const size_t begin = (scan_.SkipSpace(), scan_.offset());
  const absl::string_view word = scan_.ReadIdentHere();
  if (word == kRotateMode) return true;
  if (word.empty()) return ErrorHere("a shuffle mode");
  return Error(begin, scan_.offset(), absl::StrCat("Unknown shuffle mode: ", word, "; the only one is ", kRotateMode));
}

// Not kept if it is the default for the type of the operands.
KASHI_READ(ComparisonKind) {
  Comparison::Type type{};
  if (HasSeen(*pending, HloAttribute::order)) return ErrorHere("either `type` or `order`");
  if (!ReadWord("comparison type", StringToComparisonType, &type)) return false;
  const Shape& operand = pending->operands[0]->shape();
  if (!operand.IsArray() || type != Comparison::DefaultComparisonType(operand.element_type())) {
    pending->fields.Set<field>(type);
  }
  return true;
}

// The form of newer XLA (JAX 0.11): the type with this order. It is printed as `type`, which every XLA reads.
KASHI_READ(ComparisonOrder) {
  Comparison::Order order{};
  if (HasSeen(*pending, HloAttribute::type)) return ErrorHere("either `type` or `order`");
  if (!ReadWord("comparison order", ShortStringToComparisonOrder, &order)) return false;
  const Shape& operand = pending->operands[0]->shape();
  if (!operand.IsArray()) return true;  // an error of the instruction
  const Comparison::Type type = Comparison::TypeWithOrder(operand.element_type(), order);
  if (type != Comparison::DefaultComparisonType(operand.element_type())) pending->fields.Set<field>(type);
  return true;
}

KASHI_READ(TriangularSolve) {
  TriangularSolveOptions* options = pending->fields.Mutable<field>();
  if constexpr (argument == 3) {
    return ReadWord("transpose option", StringToTranspose, options->mutable_transpose_a());
  } else {
    bool* const flags[] = {options->mutable_left_side(), options->mutable_lower(), options->mutable_unit_diagonal()};
    return ReadBoolValue(flags[argument]);
  }
}

KASHI_READ(CholeskyLower) { return ReadBoolValue(pending->fields.Mutable<field>()->mutable_lower()); }

KASHI_READ(Accuracy) {
  ResultAccuracy accuracy;
  if (!ReadAccuracyText(&accuracy)) return false;
  if (accuracy != ResultAccuracy()) pending->fields.Set<field>(std::move(accuracy));
  return true;
}

KASHI_READ(Aliasing) {
  OutputOperandAliasingPairs pairs;
  if (!ReadAliasingPairs(&pairs)) return false;
  if (!pairs.empty()) pending->fields.Set<field>(std::move(pairs));
  return true;
}

KASHI_READ(SingleShape) {
  SharedShape shape;
  if (!ReadShape(&shape)) return false;
  pending->fields.Set<field>(shape->shape());
  return true;
}

KASHI_READ(Literal) {
  std::optional<kashi::Literal> literal = ReadLiteralWithShape(0);
  if (!literal.has_value()) return false;
  pending->fields.Set<field>(SharedLiteral(*std::move(literal)));
  return true;
}

KASHI_READ(Domain) {
  std::optional<DomainShardings> shardings;
  if (!ReadDomainShardings(&shardings)) return false;
  pending->fields.Set<field>(*std::move(shardings));
  return true;
}

#undef KASHI_READ

HloReader::AttributeFunction HloReader::FunctionOf(HloAttribute attribute) {
  static constexpr AttributeFunction kFunctions[] = {
#define KASHI_ATTRIBUTE(identifier, name, codec, field, argument) &HloReader::Read##codec<HloField::field, argument>,
#include "kashi/hlo/ir/attributes.def"
  };
  return kFunctions[static_cast<size_t>(attribute)];
}

}  // namespace kashi::hlo
