#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/dimension_numbers_text.h"
#include "kashi/hlo/enum_text.h"
#include "kashi/hlo/hlo_reader.h"
#include "kashi/hlo/hlo_sharding_text.h"
#include "kashi/hlo/metadata_text.h"
#include "kashi/hlo/original_value.h"
#include "kashi/hlo/string_escapes.h"
#include "kashi/literal/literal_parser.h"
#include "kashi/literal/literal_util.h"

namespace kashi {
namespace {

// The attributes that any instruction may have.
constexpr absl::string_view kCommonAttributes[] = {
    "metadata", "backend_config",       "sharding", "frontend_attributes", "control-predecessors", "statistics",
    "origin",   "parameter_replication"};

bool IsAnyAttribute(absl::string_view name) {
  for (const absl::string_view common : kCommonAttributes) {
    if (name == common) return true;
  }
#define KASHI_ATTRIBUTE(identifier, text, ...) \
  if (name == text) return true;
#include "kashi/hlo/attributes.def"
  return false;
}

constexpr int kMaxLiteralDepth = 200;  // of tuples in `literal`

// Tuples within tuples in `origin`.
constexpr int kMaxOriginDepth = 200;

}  // namespace

// ---- The list ----------------------------------------------------------------------------------------------------------

// What the text may say of the instruction: of `add-start(…)` all that an add and an async-start have.
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

bool HloReader::ReadAttribute(Pending* pending) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  const absl::string_view name = scan_.ReadIdentHere();
  if (name.empty() || scan_.PeekHere() != '=') {
    scan_.Seek(begin);
    return ErrorHere("attribute name");
  }
  scan_.Match('=');
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
  // Sugar has async-start's own attributes besides.
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

// A conditional's branches are named after what its first operand is; only the async-update of CheckArity has aliases.
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
  std::vector<absl::string_view> names(std::begin(kCommonAttributes), std::end(kCommonAttributes));
  for (const HloOpcodeAttribute& entry : AttributesOf(pending)) {
    if (MayHave(pending, entry.attribute)) names.push_back(HloAttributeName(entry.attribute));
  }
  std::sort(names.begin(), names.end());
  return absl::StrJoin(names, ", ");
}

// An attribute of this XLA on the wrong operation is an error; one that no operation here has may be a newer XLA's.
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
          absl::StrCat("attribute \"", name,
                       "\" is not known here; it is kept as it stands. Known: ", AllowedAttributes(*pending)));
  return true;
}

bool HloReader::CheckRequired(const Pending& pending) {
  const auto attributes = AttributesOf(pending);
  if (pending.wrapped_opcode.has_value() && pending.opcode != HloOpcode::kAsyncStart) return true;
  for (size_t i = 0; i < attributes.size(); ++i) {
    // A scalar is broadcast to all dimensions: there is nothing to say.
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

// ---- Attributes of any instruction -----------------------------------------------------------------------------------

bool HloReader::ReadCommonAttribute(absl::string_view name, Pending* pending, bool* found) {
  const auto* const begin = std::begin(kCommonAttributes);
  const auto* const common = std::find(begin, std::end(kCommonAttributes), name);
  *found = common != std::end(kCommonAttributes);
  if (!*found) return true;
  const int index = static_cast<int>(common - begin);
  if ((pending->seen_common >> index & 1) != 0) {
    const size_t at = scan_.offset() - 1 - name.size();
    return Error(at, at + name.size(), absl::StrCat("attribute \"", name, "\" already exists"));
  }
  pending->seen_common |= uint32_t{1} << index;
  switch (index) {
    case 0:
      return ReadMetadata(pending);
    case 1:
      return ReadBackendConfig(pending);
    case 2:
      return ReadSharding(&pending->mutable_extras()->sharding);
    case 3:
      return ReadFrontendAttributes(&pending->mutable_extras()->frontend_attributes);
    case 4:
      return ReadControlPredecessors(&pending->control_predecessors);
    case 5:
      return ReadStatistics(&pending->mutable_extras()->statistics_viz);
    case 6:
      return ReadOrigin(&pending->mutable_extras()->original_value);
    default:
      return ReadParameterReplicationOf(pending);
  }
}

bool HloReader::ReadMetadata(Pending* pending) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  // Up to the first brace, which nearly always is the last; what ends within a string is no metadata and is not found.
  const absl::string_view guess = scan_.text().substr(begin, scan_.text().find('}', begin) - begin + 1);
  const auto found = metadata_.find(guess);
  if (found != metadata_.end()) {
    pending->metadata = found->second;
    scan_.Seek(begin + guess.size());
    return true;
  }
  Lexer lexer(scan_.text(), begin);
  OpMetadata metadata;
  if (!ParseMetadataPrefix(&lexer, &metadata, &diagnostics_)) {
    ++errors_;
    return false;
  }
  scan_.Seek(lexer.previous_end());
  if (metadata.stack_frame_id() != 0) metadata.set_stack_frame_id(frames_->Copy(metadata.stack_frame_id()));
  pending->metadata = SharedValue<OpMetadata>(std::move(metadata));
  if (scan_.Slice(begin) == guess) metadata_.emplace(guess, pending->metadata);
  return true;
}

// A string, or JSON, which stays as it is written.
bool HloReader::ReadBackendConfig(Pending* pending) {
  const bool is_json = scan_.Peek() == '{';
  const absl::string_view text = is_json ? scan_.ReadBraced() : scan_.ReadQuoted();
  if (text.empty()) return ErrorHere("a string or a JSON dict for backend_config");
  SharedValue<std::string>& config = backend_configs_[text];
  if (!config) {
    std::string value(text);
    if (!is_json && !CUnescapeTo(text.substr(1, text.size() - 2), &value)) {
      return Error(scan_.offset() - text.size(), scan_.offset(), "a string with an escape that is none of C's");
    }
    config = SharedValue<std::string>(BackendConfigToKeep(std::move(value)));
  }
  pending->backend_config = config;
  return true;
}

bool HloReader::ReadSharding(std::shared_ptr<const HloSharding>* sharding) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  const absl::string_view guess = scan_.ReadBracketed();
  const auto found = shardings_.find(guess);
  if (!guess.empty() && found != shardings_.end()) {
    *sharding = found->second;
    return true;
  }
  Lexer lexer(scan_.text(), begin);
  std::optional<HloSharding> parsed = ParseShardingPrefix(&lexer, /*shape=*/nullptr, &diagnostics_);
  if (!parsed.has_value()) {
    ++errors_;
    return false;
  }
  scan_.Seek(lexer.previous_end());
  *sharding = std::make_shared<const HloSharding>(*std::move(parsed));
  if (scan_.Slice(begin) == guess) shardings_.emplace(guess, *sharding);
  return true;
}

// {key="value",key={json},…}
bool HloReader::ReadFrontendAttributes(FrontendAttributes* attributes) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of frontend attributes");
  if (scan_.Match('}')) return true;
  do {
    scan_.SkipSpace();
    const size_t begin = scan_.offset();
    const absl::string_view key = scan_.ReadIdentHere();
    if (key.empty() || scan_.PeekHere() != '=') {
      scan_.Seek(begin);
      return ErrorHere("attribute name");
    }
    scan_.Match('=');
    std::string value;
    if (scan_.Peek() == '{') {
      const absl::string_view json = scan_.ReadBraced();
      if (json.empty()) return ErrorHere("a JSON dict that ends");
      value = std::string(json);
    } else if (!ReadStringValue(&value)) {
      return false;
    }
    (*attributes->mutable_map())[std::string(key)] = std::move(value);
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of frontend attributes");
}

// {visualizing_index=N,name=NUMBER,…}
bool HloReader::ReadStatistics(StatisticsViz* statistics) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of statistics");
  if (scan_.Match('}')) return true;
  scan_.SkipSpace();
  // XLA does not look at the name of the first.
  if (scan_.ReadIdentHere().empty() || scan_.PeekHere() != '=') return ErrorHere("visualizing_index=");
  scan_.Match('=');
  int64_t index = 0;
  if (!ReadIntValue(&index)) return false;
  statistics->set_stat_index_to_visualize(index);
  while (scan_.Match(',')) {
    scan_.SkipSpace();
    const absl::string_view name = scan_.ReadIdentHere();
    if (name.empty() || scan_.PeekHere() != '=') return ErrorHere("the name of a statistic and =");
    scan_.Match('=');
    const std::optional<double> value = scan_.ReadDouble();
    if (!value.has_value()) return ErrorHere("a number");
    Statistic* statistic = statistics->add_statistics();
    statistic->set_stat_name(std::string(name));
    statistic->set_stat_val(*value);
  }
  return scan_.Match('}') || ErrorHere("'}' at the end of statistics");
}

bool HloReader::ReadParameterReplication(std::vector<bool>* replicated) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of parameter_replication");
  if (scan_.Match('}')) return true;
  do {
    bool value = false;
    if (!ReadBoolValue(&value)) return false;
    replicated->push_back(value);
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of parameter_replication");
}

bool HloReader::ReadParameterReplicationOf(Pending* pending) {
  const size_t begin = scan_.offset();
  std::vector<bool> replicated;
  if (!ReadParameterReplication(&replicated)) return false;
  if (pending->opcode != HloOpcode::kParameter) {
    return Error(begin, scan_.offset(), "only a parameter has parameter_replication");
  }
  const int64_t leaves = ShapeUtil::GetLeafCount(pending->shape->shape());
  if (leaves != static_cast<int64_t>(replicated.size())) {
    return Error(begin, scan_.offset(),
                 absl::StrCat("parameter has ", leaves, " leaf buffers, but parameter_replication has ",
                              replicated.size(), " elements."));
  }
  pending->mutable_extras()->parameter_replicated_at_leaf_buffers = std::move(replicated);
  return true;
}

bool HloReader::ReadControlPredecessors(std::vector<HloInstruction*>* predecessors) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of control-predecessors");
  do {
    scan_.SkipSpace();
    const size_t begin = scan_.offset();
    const absl::string_view name = ReadName();
    if (name.empty()) return false;
    const auto& names = scopes_.back()->names;
    const auto found = names.find(name);
    if (found == names.end()) {
      return Error(begin, scan_.offset(), absl::StrCat("control predecessor ", name, " is not defined"));
    }
    if (found->second == nullptr) return false;
    predecessors->push_back(found->second);
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of control-predecessors");
}

// {[synthetic_call]} or {tree}
bool HloReader::ReadOrigin(std::shared_ptr<OriginalValue>* origin) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of origin");
  if (scan_.Match('[')) {
    if (scan_.ReadIdent() != "synthetic_call" || !scan_.Match(']') || !scan_.Match('}')) {
      return ErrorHere("[synthetic_call]}");
    }
    *origin = std::make_shared<OriginalValue>(OriginalValue::SyntheticCall());
    return true;
  }
  OriginalValue::Node tree;
  tree.is_tuple = true;
  if (scan_.Peek() != '}') {
    tree.is_tuple = false;
    if (!ReadOriginNode(&tree, 0)) return false;
  }
  if (!scan_.Match('}')) return ErrorHere("'}' at the end of origin");
  *origin = std::make_shared<OriginalValue>(std::move(tree));
  return true;
}

// {"name" {index}} or ( node, … ). Where a comma is missing the next node takes the place of the last, as in XLA.
bool HloReader::ReadOriginNode(OriginalValue::Node* node, int depth) {
  if (depth > kMaxOriginDepth) return ErrorHere("fewer tuples within tuples");
  if (scan_.Match('(')) {
    node->is_tuple = true;
    if (scan_.Match(')')) return true;
    do {
      if (scan_.Peek() == ')') break;
      OriginalValue::Node element;
      do {
        element = OriginalValue::Node();
        if (!ReadOriginNode(&element, depth + 1)) return false;
      } while (scan_.Peek() == '{' || scan_.Peek() == '(');
      node->elements.push_back(std::move(element));
    } while (scan_.Match(','));
    // A tree is kept as the list of its leaves: empty tuples behind the last one are lost.
    const auto is_empty = [](const OriginalValue::Node& element) {
      return element.is_tuple && element.elements.empty();
    };
    while (!node->elements.empty() && is_empty(node->elements.back())) node->elements.pop_back();
    return scan_.Match(')') || ErrorHere("')' at the end of a tuple in origin");
  }
  if (!scan_.Match('{')) return ErrorHere("'{' or '(' in origin");
  if (scan_.Match('}')) return true;
  OriginalArray array;
  if (!ReadOriginalArray(&array)) return false;
  node->array = std::move(array);
  return scan_.Match('}') || ErrorHere("'}' in origin");
}

// "name" [{index}]
bool HloReader::ReadOriginalArray(OriginalArray* array) {
  if (!ReadStringValue(&array->instruction_name)) return false;
  return scan_.Peek() != '{' || ReadShapeIndex(&array->shape_index);
}

// ---- Values ----------------------------------------------------------------------------------------------------------

bool HloReader::ReadIntValue(int64_t* value) {
  const std::optional<int64_t> read = scan_.ReadInt();
  if (!read.has_value()) return ErrorHere("integer");
  *value = *read;
  return true;
}

bool HloReader::ReadBoolValue(bool* value) {
  const std::optional<bool> read = scan_.ReadBool();
  if (!read.has_value()) return ErrorHere("true or false");
  *value = *read;
  return true;
}

bool HloReader::ReadStringValue(std::string* value) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  const absl::string_view quoted = scan_.ReadQuoted();
  if (quoted.empty()) return ErrorHere("string");
  if (CUnescapeTo(quoted.substr(1, quoted.size() - 2), value)) return true;
  return Error(begin, scan_.offset(), "a string with an escape that is none of C's");
}

bool HloReader::ReadIntBraces(Int64List* list) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a list of integers");
  if (scan_.Match('}')) return true;
  do {
    int64_t value = 0;
    if (!ReadIntValue(&value)) return false;
    list->push_back(value);
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of a list of integers");
}

bool HloReader::ReadShapeIndex(ShapeIndex* index) {
  Int64List list;
  if (!ReadIntBraces(&list)) return false;
  *index = ShapeIndex(list.begin(), list.end());
  return true;
}

bool HloReader::ReadShapeBraces(std::vector<Shape>* shapes) {
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a list of shapes");
  if (scan_.Match('}')) return true;
  do {
    SharedShape shape;
    if (!ReadShape(&shape)) return false;
    shapes->push_back(shape->shape());
  } while (scan_.Match(','));
  return scan_.Match('}') || ErrorHere("'}' at the end of a list of shapes");
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

// ---- Codecs ----------------------------------------------------------------------------------------------------------

#define KASHI_READ(name)                  \
  template <HloField field, int argument> \
  bool HloReader::Read##name(Pending* pending)

KASHI_READ(Int) {
  int64_t value = 0;
  if (!ReadIntValue(&value)) return false;
  pending->fields.Set<field>(value);
  return true;
}

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

// Of a count whose default is one, which is not kept.
KASHI_READ(IntNotOne) {
  int64_t value = 0;
  if (!ReadIntValue(&value)) return false;
  if (value != 1) pending->fields.Set<field>(value);
  return true;
}

// No channel at all is the same as a channel that is not positive.
KASHI_READ(ChannelId) { return ReadInt<field, argument>(pending); }

KASHI_READ(Bool) {
  bool value = false;
  if (!ReadBoolValue(&value)) return false;
  pending->fields.Set<field>(value);
  return true;
}

// Of a truth value that is only kept if it is true.
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

KASHI_READ(String) {
  std::string value;
  if (!ReadStringValue(&value)) return false;
  pending->fields.Set<field>(std::move(value));
  return true;
}

KASHI_READ(IntList) {
  Int64List list;
  if (!ReadIntBraces(&list)) return false;
  pending->fields.Set<field>(std::move(list));
  return true;
}

// A dimension that must be one, and says nothing.
KASHI_READ(OneDimension) {
  Int64List list;
  if (!ReadIntBraces(&list)) return false;
  return list.size() == 1 || ErrorIn(*pending, "expects exactly one dimension in `dimensions`");
}

KASHI_READ(IntListList) {
  std::vector<Int64List> lists;
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a list of lists");
  if (!scan_.Match('}')) {
    do {
      lists.emplace_back();
      if (!ReadIntBraces(&lists.back())) return false;
    } while (scan_.Match(','));
    if (!scan_.Match('}')) return ErrorHere("'}' at the end of a list of lists");
  }
  pending->fields.Set<field>(std::move(lists));
  return true;
}

KASHI_READ(PairList) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  SourceTargetPairs pairs;
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a list of pairs");
  if (!scan_.Match('}')) {
    do {
      Int64List pair;
      if (!ReadIntBraces(&pair)) return false;
      if (pair.size() != 2) return Error(begin, scan_.offset(), "expects 'source_target_pairs=' to be a list of pairs");
      pairs.emplace_back(pair[0], pair[1]);
    } while (scan_.Match(','));
    if (!scan_.Match('}')) return ErrorHere("'}' at the end of a list of pairs");
  }
  pending->fields.Set<field>(std::move(pairs));
  return true;
}

// `argument` is its place among the called computations.
KASHI_READ(Computation) {
  HloComputation* computation = ReadComputationName();
  if (computation == nullptr) return false;
  ComputationVector* called = pending->fields.Mutable<field>();
  if (called->size() <= argument) called->resize(argument + 1, nullptr);
  // Of a custom call with both, to_apply counts.
  if (pending->opcode == HloOpcode::kCustomCall) called->resize(1);
  (*called)[argument] = computation;
  return true;
}

KASHI_READ(ComputationList) {
  ComputationVector computations;
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a list of computations");
  if (!scan_.Match('}')) {
    do {
      HloComputation* computation = ReadComputationName();
      if (computation == nullptr) return false;
      computations.push_back(computation);
    } while (scan_.Match(','));
    if (!scan_.Match('}')) return ErrorHere("'}' at the end of a list of computations");
  }
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

// Not kept if all are the default.
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

// That it is not specified no text says.
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

// Who is in a group the channel and use_global_device_ids say already: this is read and forgotten.
KASHI_READ(GroupMode) {
  (void)pending;
  const size_t begin = (scan_.SkipSpace(), scan_.offset());
  const absl::string_view word = scan_.ReadIdentHere();
  for (const absl::string_view mode :
       {"cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"}) {
    if (word == mode) return true;
  }
  return Error(begin, TokenEnd(begin),
               absl::StrCat("Invalid collective op group mode: ", scan_.text().substr(begin, TokenEnd(begin) - begin),
                            "; modes: cross_replica, cross_partition, cross_replica_and_partition, flattened_id"));
}

// Not kept if it is what the operands' type means anyhow.
KASHI_READ(ComparisonKind) {
  Comparison::Type type{};
  if (!ReadWord("comparison type", StringToComparisonType, &type)) return false;
  const Shape& operand = pending->operands[0]->shape();
  if (!operand.IsArray() || type != Comparison::DefaultComparisonType(operand.element_type())) {
    pending->fields.Set<field>(type);
  }
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
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  const absl::string_view text = scan_.ReadBraced();
  std::string error;
  std::optional<ResultAccuracy> accuracy = ParseResultAccuracy(text, &error);
  if (!accuracy.has_value()) return Error(begin, scan_.offset(), std::move(error));
  if (!IsValidResultAccuracy(*accuracy)) return Error(begin, scan_.offset(), "a tolerance must not be negative or NaN");
  if (*accuracy != ResultAccuracy()) pending->fields.Set<field>(*std::move(accuracy));
  return true;
}

KASHI_READ(Window) {
  if (scan_.Peek() != '{') return ErrorHere("'{' at the beginning of window");
  const size_t begin = scan_.offset();
  const absl::string_view text = scan_.ReadBraced();
  if (text.empty()) return ErrorHere("a window that ends");
  std::string error;
  std::optional<kashi::Window> window = ParseWindow(text.substr(1, text.size() - 2), &error);
  if (!window.has_value()) return Error(begin, scan_.offset(), std::move(error));
  pending->fields.Set<field>(*std::move(window));
  return true;
}

KASHI_READ(DimLabels) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  while (TextScanner::IsIdentByte(scan_.PeekHere()) || scan_.PeekHere() == '?' || scan_.PeekHere() == '>') {
    scan_.Seek(scan_.offset() + 1);
  }
  std::string error;
  std::optional<ConvolutionDimensionNumbers> numbers = ParseDimLabels(scan_.Slice(begin), &error);
  if (!numbers.has_value()) return Error(begin, scan_.offset(), std::move(error));
  pending->fields.Set<field>(*std::move(numbers));
  return true;
}

KASHI_READ(Padding) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  while (TextScanner::IsIdentByte(scan_.PeekHere())) scan_.Seek(scan_.offset() + 1);
  const absl::string_view text = scan_.Slice(begin);
  // Of a scalar: padding= and nothing.
  std::string error;
  std::optional<PaddingConfig> padding = ParsePadding(text, &error);
  if (!padding.has_value()) return Error(begin, scan_.offset(), std::move(error));
  pending->fields.Set<field>(*std::move(padding));
  return true;
}

// {[start:limit:stride], …}
KASHI_READ(SliceRanges) {
  kashi::SliceRanges ranges;
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of slice ranges");
  if (!scan_.Match('}')) {
    do {
      int64_t range[3] = {0, 0, 1};
      if (!scan_.Match('[')) return ErrorHere("'[' at the beginning of a range");
      if (!ReadIntValue(&range[0])) return false;
      if (!scan_.Match(':')) return ErrorHere("':' in a range");
      if (!ReadIntValue(&range[1])) return false;
      if (scan_.Match(':') && !ReadIntValue(&range[2])) return false;
      if (!scan_.Match(']')) return ErrorHere("']' at the end of a range");
      ranges.starts.push_back(range[0]);
      ranges.limits.push_back(range[1]);
      ranges.strides.push_back(range[2]);
    } while (scan_.Match(','));
    if (!scan_.Match('}')) return ErrorHere("'}' at the end of slice ranges");
  }
  pending->fields.Set<field>(std::move(ranges));
  return true;
}

// {{output index}: (operand, {index}), …}
KASHI_READ(Aliasing) {
  OutputOperandAliasingPairs pairs;
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of output_to_operand_aliasing");
  if (!scan_.Match('}')) {
    do {
      ShapeIndex output;
      ShapeIndex operand_index;
      int64_t operand = 0;
      if (!ReadShapeIndex(&output)) return false;
      if (!scan_.Match(':')) return ErrorHere("':' after the output index");
      if (!scan_.Match('(')) return ErrorHere("'(' before the operand");
      if (!ReadIntValue(&operand)) return false;
      if (!scan_.Match(',')) return ErrorHere("',' after the operand");
      if (!ReadShapeIndex(&operand_index)) return false;
      if (!scan_.Match(')')) return ErrorHere("')' after the operand index");
      pairs.emplace_back(std::move(output), std::make_pair(operand, std::move(operand_index)));
    } while (scan_.Match(','));
    if (!scan_.Match('}')) return ErrorHere("'}' at the end of output_to_operand_aliasing");
  }
  if (!pairs.empty()) pending->fields.Set<field>(std::move(pairs));
  return true;
}

KASHI_READ(ShapeList) {
  std::vector<Shape> shapes;
  if (!ReadShapeBraces(&shapes)) return false;
  pending->fields.Set<field>(std::move(shapes));
  return true;
}

KASHI_READ(SingleShape) {
  SharedShape shape;
  if (!ReadShape(&shape)) return false;
  pending->fields.Set<field>(shape->shape());
  return true;
}

// A shape and its literal, as of a constant; or such in parentheses, a tuple.
std::optional<kashi::Literal> HloReader::ReadLiteralWithShape(int depth) {
  if (depth > kMaxLiteralDepth) {
    ErrorHere("fewer tuples within tuples");
    return std::nullopt;
  }
  if (scan_.Match('(')) {
    std::vector<kashi::Literal> elements;
    while (!scan_.Match(')')) {
      if (!elements.empty() && !scan_.Match(',')) {
        ErrorHere("',' or ')' in a tuple of literals");
        return std::nullopt;
      }
      std::optional<kashi::Literal> element = ReadLiteralWithShape(depth + 1);
      if (!element.has_value()) return std::nullopt;
      elements.push_back(*std::move(element));
    }
    return LiteralUtil::MakeTupleOwned(std::move(elements));
  }
  SharedShape shape;
  if (!ReadShape(&shape)) return std::nullopt;
  Lexer lexer(scan_.text(), scan_.offset());
  LiteralParserOptions options;
  options.unlisted_bytes = &unlisted_bytes_;
  std::optional<kashi::Literal> literal = ParseLiteralPrefix(&lexer, shape->shape(), options, &diagnostics_);
  if (!literal.has_value()) {
    ++errors_;
    return std::nullopt;
  }
  scan_.Seek(lexer.previous_end());
  return literal;
}

KASHI_READ(Literal) {
  std::optional<kashi::Literal> literal = ReadLiteralWithShape(0);
  if (!literal.has_value()) return false;
  pending->fields.Set<field>(SharedLiteral(*std::move(literal)));
  return true;
}

KASHI_READ(ReplicaGroups) {
  Lexer lexer(scan_.text(), scan_.offset());
  std::optional<CollectiveDeviceList> devices = ParseCollectiveDeviceListPrefix(&lexer, &diagnostics_);
  if (!devices.has_value()) {
    ++errors_;
    return false;
  }
  scan_.Seek(lexer.previous_end());
  pending->fields.Set<field>(*std::move(devices));
  return true;
}

// {kind="sharding", entry={…}, exit={…}}
KASHI_READ(Domain) {
  std::string kind;
  std::shared_ptr<const HloSharding> entry;
  std::shared_ptr<const HloSharding> exit;
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of domain");
  do {
    const size_t begin = scan_.offset();
    const absl::string_view name = scan_.ReadIdent();
    if (name.empty() || scan_.PeekHere() != '=') return ErrorHere("kind=, entry= or exit=");
    scan_.Match('=');
    if (name == "kind" ? !ReadStringValue(&kind) : !ReadSharding(name == "entry" ? &entry : &exit)) {
      return false;
    }
    if (name != "kind" && name != "entry" && name != "exit") {
      return Error(begin, begin + name.size(), "expects kind=, entry= or exit=");
    }
  } while (scan_.Match(','));
  if (!scan_.Match('}')) return ErrorHere("'}' at the end of domain");
  if (kind != "sharding" || !entry || !exit) return ErrorHere("a domain of kind \"sharding\", with entry and exit");
  pending->fields.Set<field>(DomainShardings{*entry, *exit});
  return true;
}

#undef KASHI_READ

HloReader::AttributeFunction HloReader::FunctionOf(HloAttribute attribute) {
  static constexpr AttributeFunction kFunctions[] = {
#define KASHI_ATTRIBUTE(identifier, name, codec, field, argument) &HloReader::Read##codec<HloField::field, argument>,
#include "kashi/hlo/attributes.def"
  };
  return kFunctions[static_cast<size_t>(attribute)];
}

}  // namespace kashi
