// The attributes that any instruction may have: metadata, sharding, origin and their like.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/lexer.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/metadata_text.h"
#include "kashi/hlo/attributes/sharding_reader.h"
#include "kashi/hlo/attributes/string_escapes.h"
#include "kashi/hlo/ir/original_value.h"
#include "kashi/hlo/text/hlo_reader.h"

namespace kashi::hlo {
namespace {

constexpr absl::string_view kCommonAttributes[] = {
    "metadata", "backend_config",       "sharding", "frontend_attributes", "control-predecessors", "statistics",
    "origin",   "parameter_replication"};

// Tuples within tuples in `origin`.
constexpr int kMaxOriginDepth = 200;

}  // namespace

absl::Span<const absl::string_view> HloReader::CommonAttributes() { return kCommonAttributes; }

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
  array::Lexer lexer(scan_.text(), begin);
  OpMetadata metadata;
  if (!ParseMetadataPrefix(&lexer, &metadata, &diagnostics_)) {
    ++errors_;
    return false;
  }
  scan_.Seek(lexer.previous_end());
  if (metadata.stack_frame_id() != 0) metadata.set_stack_frame_id(frames_->Copy(metadata.stack_frame_id()));
  pending->metadata = base::SharedValue<OpMetadata>(std::move(metadata));
  if (scan_.Slice(begin) == guess) metadata_.emplace(guess, pending->metadata);
  return true;
}

// A string, or JSON, which is kept as written.
bool HloReader::ReadBackendConfig(Pending* pending) {
  const bool is_json = scan_.Peek() == '{';
  const absl::string_view text = is_json ? scan_.ReadBraced() : scan_.ReadQuoted();
  if (text.empty()) return ErrorHere("a string or a JSON dict for backend_config");
  base::SharedValue<std::string>& config = backend_configs_[text];
  if (!config) {
    std::string value(text);
    if (!is_json && !CUnescapeTo(text.substr(1, text.size() - 2), &value)) {
      return Error(scan_.offset() - text.size(), scan_.offset(),
                   "a string with an escape sequence that C does not have");
    }
    config = base::SharedValue<std::string>(BackendConfigToKeep(std::move(value)));
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
  array::Lexer lexer(scan_.text(), begin);
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
  // XLA ignores the name of the first entry.
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

// {"name" {index}} or ( node, … ). If a comma is missing, the next node replaces the last one, as in XLA.
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
    // A tree is kept as the list of its leaves: empty tuples after the last one are lost.
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

}  // namespace kashi::hlo
