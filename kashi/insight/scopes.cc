#include "kashi/insight/scopes.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/op_name.h"

namespace kashi::insight {
namespace {

constexpr absl::string_view kArguments = "(arguments)";
constexpr size_t kLongestPrefix = 1024;  // of op_names before those of a called function
constexpr int kMostWrappers = 64;        // in one op_name; each is looked for in the rest of the name
constexpr int kMostMoves = 8;            // copies between an instruction without an op_name and one with

// ---- The text of op_names.

// Splits at `separator` outside of parentheses and brackets.
std::vector<absl::string_view> SplitOutside(absl::string_view text, char separator) {
  std::vector<absl::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') depth = std::max(0, depth - 1);
    if (c != separator || depth > 0) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

bool IsNameChar(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// "jvp(x)": "jvp" and "x". False for other text, such as "f(x)g".
bool TakeWrapper(absl::string_view part, absl::string_view* name, absl::string_view* inside) {
  const size_t open = part.find('(');
  if (open == absl::string_view::npos || open == 0 || part.back() != ')') return false;
  if (!absl::c_all_of(part.substr(0, open), IsNameChar)) return false;
  int depth = 0;
  for (size_t i = open; i < part.size(); ++i) {
    depth += (part[i] == '(') - (part[i] == ')');
    if (depth == 0 && i + 1 < part.size()) return false;
  }
  if (depth != 0) return false;
  *name = part.substr(0, open);
  *inside = part.substr(open + 1, part.size() - open - 2);
  return true;
}

// Wrappers that name a function of the program.
bool NamesFunction(absl::string_view wrapper) {
  return wrapper == "jit" || wrapper == "pjit" || wrapper == "pmap" || wrapper == "xla_pmap";
}

bool IsProgram(absl::string_view part) {
  absl::string_view name, inside;
  return TakeWrapper(part, &name, &inside) && NamesFunction(name);
}

// The parts without their transformations: "transpose(jvp(layer))" is "layer", "jit(silu)" is "silu", "jvp()" nothing.
std::vector<absl::string_view> WithoutTransforms(std::vector<absl::string_view> parts) {
  std::vector<absl::string_view> result;
  int wrappers = 0;
  std::reverse(parts.begin(), parts.end());
  while (!parts.empty()) {
    const absl::string_view part = parts.back();
    parts.pop_back();
    absl::string_view name, inside;
    if (wrappers >= kMostWrappers || !TakeWrapper(part, &name, &inside)) {
      if (!part.empty()) result.push_back(part);
      continue;
    }
    ++wrappers;
    if (NamesFunction(name)) {
      if (!inside.empty()) result.push_back(inside);
    } else {
      const std::vector<absl::string_view> inner = SplitOutside(inside, '/');
      parts.insert(parts.end(), inner.rbegin(), inner.rend());
    }
  }
  return result;
}

bool IsBranch(absl::string_view part) {
  absl::string_view number = part;
  return absl::ConsumePrefix(&number, "branch_") && absl::ConsumeSuffix(&number, "_fun") && !number.empty() &&
         absl::c_all_of(number, absl::ascii_isdigit);
}

// Whether JAX added parts[i] for control flow or recomputation.
bool IsMachinery(absl::Span<const absl::string_view> parts, size_t i) {
  static constexpr absl::string_view kAlways[] = {
      "while",        "closed_call", "core_call",       "checkpoint",      "remat",      "remat2",
      "pjit",         "shard_map",   "custom_jvp_call", "custom_vjp_call", "custom_lin", "rematted_computation",
      "remat_barrier"};
  static constexpr absl::string_view kInLoops[] = {"body", "cond", "body_pred", "cond_pred"};
  if (absl::c_linear_search(kAlways, parts[i])) return true;
  const bool follows = i > 0;
  if (follows && parts[i - 1] == "while" && absl::c_linear_search(kInLoops, parts[i])) return true;
  if (follows && parts[i - 1] == "cond" && IsBranch(parts[i])) return true;
  return parts[i] == "cond" && i + 1 < parts.size() && IsBranch(parts[i + 1]);
}

// "layer_3": "layer_" and "3". No digits: the number is empty.
std::pair<absl::string_view, absl::string_view> SplitNumber(absl::string_view part) {
  size_t digits = part.size();
  while (digits > 0 && absl::ascii_isdigit(part[digits - 1])) --digits;
  return {part.substr(0, digits), part.substr(digits)};
}

bool OnlyMovesData(HloOpcode opcode) {
  static constexpr HloOpcode kMoves[] = {HloOpcode::kCopy,        HloOpcode::kCopyStart,       HloOpcode::kCopyDone,
                                         HloOpcode::kBitcast,     HloOpcode::kGetTupleElement, HloOpcode::kTuple,
                                         HloOpcode::kAsyncUpdate, HloOpcode::kAsyncDone,       HloOpcode::kAsyncStart,
                                         HloOpcode::kReshape,     HloOpcode::kTranspose,       HloOpcode::kConstant,
                                         HloOpcode::kConvert,     HloOpcode::kBroadcast,       HloOpcode::kParameter};
  return absl::c_linear_search(kMoves, opcode);
}

bool IsRecomputation(absl::string_view part) {
  return part == "checkpoint" || part == "remat" || part == "remat2" || part == "rematted_computation";
}

// Where JAX recomputes, it writes the scopes of the loop's body twice: "layer/layer/checkpoint/attention". Drops the
// second of two equal runs of parts. O(parts^2) for the few parts that there are.
void DropRepeated(std::vector<std::string>* parts) {
  constexpr size_t kMostParts = 100;
  if (parts->size() > kMostParts) return;
  for (size_t length = 1; 2 * length <= parts->size(); ++length) {
    for (size_t begin = 0; begin + 2 * length <= parts->size(); ++begin) {
      const auto first = parts->begin() + static_cast<int64_t>(begin), second = first + static_cast<int64_t>(length);
      if (std::equal(first, second, second)) parts->erase(second, second + static_cast<int64_t>(length));
    }
  }
}

std::vector<std::string> PlainParts(absl::Span<const std::string> parts) {
  if (!parts.empty() && parts[0] == kArguments) return std::vector<std::string>(parts.begin(), parts.end());
  const std::vector<absl::string_view> plain = WithoutTransforms({parts.begin(), parts.end()});
  std::vector<std::string> result;
  for (size_t i = 0; i < plain.size(); ++i) {
    if (!IsMachinery(plain, i)) result.emplace_back(plain[i]);
  }
  if (absl::c_any_of(plain, IsRecomputation)) DropRepeated(&result);
  return result;
}

}  // namespace

std::vector<std::string> ScopeParts(absl::string_view op_name, const ScopeOptions& options) {
  // A fusion of several instructions may have all of their names.
  std::vector<absl::string_view> parts = SplitOutside(SplitOutside(op_name, ';')[0], '/');
  if (!IsRecomputation(parts.back())) parts.pop_back();
  if (!parts.empty() && IsProgram(parts[0])) parts.erase(parts.begin());
  const std::vector<std::string> result(parts.begin(), parts.end());
  return options.keep_transforms ? result : PlainParts(result);
}

std::vector<std::string> ArgumentParts(absl::string_view name) {
  std::vector<std::string> parts = {std::string(kArguments)};
  for (absl::string_view part : absl::StrSplit(name, absl::ByAnyChar("[].'\"\\"), absl::SkipEmpty())) {
    parts.emplace_back(part);
  }
  if (parts.size() > 2) parts.pop_back();  // the array itself
  return parts;
}

absl::StatusOr<Scopes> Scopes::Create(const HloModule& module, const ExecutionCounts& counts,
                                      const ScopeOptions& options) {
  Scopes scopes(options);
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    const std::string& name = parameter->metadata().op_name();
    if (!name.empty() && !IsProgram(hlo::FirstPartOfOpName(name))) scopes.arguments_.insert(name);
  }
  scopes.AddPrefixes(graph, counts);
  scopes.AddLayers(module);
  return scopes;
}

// ---- Called functions.

namespace {

// The op_name that those in a callee continue, if they are not full. Those in a loop's body, or a branch, begin with
// the operation: while/body/add.
std::string PrefixInCallee(const HloInstruction& caller, const std::string& prefix, const std::string& op_name) {
  const HloOpcode opcode = caller.opcode();
  if (opcode != HloOpcode::kCall && opcode != HloOpcode::kWhile && opcode != HloOpcode::kConditional) return prefix;
  std::string full = hlo::FullOpName(prefix, op_name);
  if (opcode != HloOpcode::kCall) {
    const size_t parts = SplitOutside(full, '/').back().size();
    full.resize(full.size() - std::min(full.size(), parts + 1));
  }
  return full.empty() || full.size() > kLongestPrefix ? prefix : full;
}

}  // namespace

void Scopes::AddPrefixes(const CallGraph& graph, const ExecutionCounts& counts) {
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {  // callers before callees
    const HloComputation* computation = node->computation;
    std::vector<Prefix>& prefixes = prefixes_[computation];
    if (prefixes.empty()) prefixes.push_back({"", 1});
    if (!node->is_reached) continue;
    double all = 0;
    for (const Prefix& prefix : prefixes) all += prefix.runs;
    const std::vector<Prefix> here = prefixes;  // the map may move
    for (const HloInstruction* instruction : computation->instructions()) {
      for (const HloComputation* callee : instruction->called_computations()) {
        for (const Prefix& prefix : here) {
          const double share = all > 0 ? prefix.runs / all : 1.0 / static_cast<double>(here.size());
          AddPrefix(callee, PrefixInCallee(*instruction, prefix.op_name, instruction->metadata().op_name()),
                    share * counts.CountOf(computation));
        }
      }
    }
  }
}

void Scopes::AddPrefix(const HloComputation* callee, std::string op_name, double runs) {
  std::vector<Prefix>& prefixes = prefixes_[callee];
  const bool is_room = static_cast<int64_t>(prefixes.size()) < kMostPlaces && names_left_ > callee->instruction_count();
  auto found = absl::c_find_if(prefixes, [&](const Prefix& prefix) { return prefix.op_name == op_name; });
  if (prefixes.empty() || (found == prefixes.end() && is_room)) {
    prefixes.push_back({std::move(op_name), runs});
    names_left_ -= callee->instruction_count();
  } else {
    (found == prefixes.end() ? prefixes.front() : *found).runs += runs;
  }
}

// ---- Places.

std::string Scopes::OpNameOf(const HloInstruction& instruction) const {
  const HloInstruction* at = &instruction;
  for (int i = 0; i < kMostMoves; ++i) {
    std::string name = GetSourceLocation(*at).op_name;
    if (!name.empty() || !OnlyMovesData(at->opcode())) return name;
    if (at->users().empty()) break;
    at = at->users().front();
  }
  at = &instruction;
  for (int i = 0; i < kMostMoves; ++i) {
    std::string name = GetSourceLocation(*at).op_name;
    if (!name.empty() || !OnlyMovesData(at->opcode()) || at->operand_count() == 0) return name;
    at = at->operand(0);
  }
  return "";
}

const std::vector<std::string>& Scopes::PartsOfName(std::string whole_op_name) const {
  const auto [found, is_new] = parts_.try_emplace(std::move(whole_op_name));
  if (is_new) {
    found->second =
        arguments_.contains(found->first) ? ArgumentParts(found->first) : ScopeParts(found->first, options_);
  }
  return found->second;
}

std::vector<Scopes::Place> Scopes::PlacesOf(const HloInstruction& instruction) const {
  const std::vector<Prefix>& prefixes = prefixes_.at(instruction.parent());
  const std::string op_name = OpNameOf(instruction);
  if (prefixes.size() == 1) return {{PartsOfName(hlo::FullOpName(prefixes[0].op_name, op_name)), 1}};
  double all = 0;
  for (const Prefix& prefix : prefixes) all += prefix.runs;
  std::vector<Place> places;
  for (const Prefix& prefix : prefixes) {
    const double share = all > 0 ? prefix.runs / all : 1.0 / static_cast<double>(prefixes.size());
    const std::vector<std::string>& parts = PartsOfName(hlo::FullOpName(prefix.op_name, op_name));
    auto same = absl::c_find_if(places, [&](const Place& place) { return place.parts == parts; });
    if (same != places.end()) {
      same->share += share;
    } else {
      places.push_back({parts, share});
    }
  }
  absl::c_stable_sort(places, [](const Place& a, const Place& b) { return a.share > b.share; });
  return places;
}

std::string Scopes::ScopeOf(const HloInstruction& instruction) const {
  return absl::StrJoin(PartsOf(instruction), "/");
}

// ---- Layers.

void Scopes::AddLayers(const HloModule& module) {
  std::set<std::vector<std::string>> scopes;  // without transformations
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      for (const Place& place : PlacesOf(*instruction)) scopes.insert(PlainParts(place.parts));
    }
  }
  std::map<std::string, std::set<std::string>> numbers;  // that follow a stem: "/encoder/layer_": 0, 1, 2
  for (const std::vector<std::string>& parts : scopes) {
    std::string path;
    for (const std::string& part : parts) {
      const auto [stem, number] = SplitNumber(part);
      if (!number.empty()) numbers[absl::StrCat(path, "/", stem)].insert(std::string(number));
      absl::StrAppend(&path, "/", part);
    }
  }
  for (const auto& [stem, all] : numbers) {
    if (all.size() < 2) continue;
    for (const std::string& number : all) numbered_.insert(absl::StrCat(stem, number));
  }
  for (const std::vector<std::string>& parts : scopes) {
    if (parts.empty() || parts[0] == kArguments) continue;
    const std::string layer = LayerOfParts(parts);
    const size_t last = layer.rfind('/');
    layer_names_.emplace(last == std::string::npos ? layer : layer.substr(last + 1), layer);
  }
}

std::string Scopes::LayerOfParts(absl::Span<const std::string> parts) const {
  if (!parts.empty() && parts[0] == kArguments) {
    for (const std::string& part : parts.subspan(1)) {
      const auto layer = layer_names_.find(part);
      if (layer != layer_names_.end()) return layer->second;
    }
    return std::string(kArguments);
  }
  size_t first = 0;  // how many parts have something in them that is no transformation
  for (size_t i = 1; i <= parts.size(); ++i) {
    const std::vector<std::string> plain = PlainParts(parts.first(i));
    if (plain.empty()) continue;
    if (first == 0) first = i;
    if (numbered_.contains(absl::StrCat("/", absl::StrJoin(plain, "/")))) return absl::StrJoin(parts.first(i), "/");
  }
  return absl::StrJoin(parts.first(first), "/");
}

std::string Scopes::LayerOf(const HloInstruction& instruction) const { return LayerOfParts(PartsOf(instruction)); }

}  // namespace kashi::insight
