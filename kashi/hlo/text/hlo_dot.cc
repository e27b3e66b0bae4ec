#include "kashi/hlo/text/hlo_dot.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/text.h"
#include "kashi/literal/literal.h"

namespace kashi {

using base::Count;
using base::WithThousands;
namespace {

// Text between quotes in DOT.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}), "\"");
}

absl::string_view ColorOf(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kParameter) return "#fff3c4";
  if (instruction.IsConstant()) return "#e5e7eb";
  if (!instruction.called_computations().empty()) return "#d6e4ff";
  if (GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kCollective)) return "#ffd6e7";
  if (instruction.IsElementwise()) return "#ffffff";
  return "#d9f7d6";
}

// ---- What is shown --------------------------------------------------------------------------------------------------

using Instructions = absl::flat_hash_set<const HloInstruction*>;
using Computations = std::vector<const HloComputation*>;

// Collects instructions in the order in which they are offered, and counts those for which there is no room.
class Selection {
 public:
  explicit Selection(int64_t most) : most_(most) {}

  // False if the instruction was offered before.
  bool Offer(const HloInstruction* instruction) {
    if (!offered_.insert(instruction).second) return false;
    if (most_ == 0 || static_cast<int64_t>(shown_.size()) < most_) shown_.insert(instruction);
    return true;
  }
  const Instructions& shown() const { return shown_; }
  int64_t offered() const { return static_cast<int64_t>(offered_.size()); }

 private:
  const int64_t most_;
  Instructions offered_;
  Instructions shown_;
};

// The instructions that share an edge with `instruction`.
std::vector<const HloInstruction*> NeighboursOf(const HloInstruction& instruction) {
  std::vector<const HloInstruction*> neighbours(instruction.operands().begin(), instruction.operands().end());
  for (const HloInstruction* user : instruction.users()) neighbours.push_back(user);
  for (const HloInstruction* before : instruction.control_predecessors()) neighbours.push_back(before);
  for (const HloInstruction* after : instruction.control_successors()) neighbours.push_back(after);
  return neighbours;
}

// Offers `start` and the instructions within `depth` edges of it, the nearest first.
void OfferAround(const HloInstruction* start, int64_t depth, Selection* selection) {
  std::deque<std::pair<const HloInstruction*, int64_t>> waiting = {{start, 0}};
  selection->Offer(start);
  while (!waiting.empty()) {
    const auto [instruction, distance] = waiting.front();
    waiting.pop_front();
    if (distance == depth) continue;
    for (const HloInstruction* neighbour : NeighboursOf(*instruction)) {
      if (selection->Offer(neighbour)) waiting.emplace_back(neighbour, distance + 1);
    }
  }
}

// Offers the instructions of a computation, those nearest to its root first.
void OfferComputation(const HloComputation& computation, Selection* selection) {
  OfferAround(computation.root_instruction(), computation.instruction_count(), selection);
  for (const HloInstruction* instruction : computation.instructions()) selection->Offer(instruction);
}

// The computation and its callees, callers before callees.
Computations CalledFrom(const HloComputation* first) {
  Computations order = {first};
  absl::flat_hash_set<const HloComputation*> seen = {first};
  for (size_t i = 0; i < order.size(); ++i) {
    for (const HloInstruction* instruction : order[i]->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) {
        if (seen.insert(called).second) order.push_back(called);
      }
    }
  }
  return order;
}

// A module's computations in the order of their importance: ENTRY and its callees, then the others.
Computations AllFrom(const HloModule& module) {
  Computations order = CalledFrom(module.entry_computation());
  const absl::flat_hash_set<const HloComputation*> called(order.begin(), order.end());
  for (const HloComputation* computation : module.MakeComputationPostOrder()) {
    if (called.count(computation) == 0) order.push_back(computation);
  }
  return order;
}

Computations ComputationsOf(const HloModule& module, const HloDotOptions& options) {
  if (options.computation == nullptr) return AllFrom(module);
  return options.with_called ? CalledFrom(options.computation) : Computations{options.computation};
}

Selection Select(const HloModule& module, const HloDotOptions& options) {
  Selection selection(options.max_nodes);
  if (options.around != nullptr) {
    OfferAround(options.around, options.depth, &selection);
  } else {
    for (const HloComputation* computation : ComputationsOf(module, options))
      OfferComputation(*computation, &selection);
  }
  return selection;
}

// ---- Labels ---------------------------------------------------------------------------------------------------------

// "{1, 2, 3, ...}": the first values of an array; empty for anything else.
std::string ValuesOf(const HloInstruction& constant) {
  constexpr int64_t kMostValues = 8;
  const SharedLiteral* shared = constant.fields().Find<HloField::literal>();
  if (shared == nullptr || !*shared || !(*shared)->shape().IsArray()) return "";
  const Literal* literal = &**shared;
  if (literal->shape().rank() == 0) return literal->GetAsString({});
  std::string text = "{";
  const int64_t count = literal->element_count();
  DimensionVector index(static_cast<size_t>(literal->shape().rank()), 0);
  for (int64_t i = 0; i < std::min(count, kMostValues); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", literal->GetAsString(index));
    for (int64_t d = literal->shape().rank() - 1; d >= 0 && ++index[d] == literal->shape().dimensions(d); --d) {
      index[d] = 0;
    }
  }
  return absl::StrCat(text, count > kMostValues ? ", ...}" : "}");
}

class DotWriter {
 public:
  DotWriter(const HloModule& module, const Instructions& shown) : module_(module), shown_(shown) {}

  // The limits end Graphviz's search for an even better layout: it may take a minute for 300 nodes otherwise.
  std::string Write(const std::string& note) {
    absl::StrAppend(&dot_, "digraph ", Quoted(module_.name()),
                    " {\n  rankdir=TB;\n  compound=true;\n  nslimit=2;\n  nslimit1=2;\n  mclimit=0.5;\n"
                    "  node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=10];\n"
                    "  edge [fontname=\"Helvetica\", fontsize=9];\n");
    if (!note.empty()) {
      absl::StrAppend(&dot_, "  label=", Quoted(note), ";\n  labelloc=t;\n  fontname=\"Helvetica\";\n");
    }
    for (const HloComputation* computation : module_.MakeComputationPostOrder()) {
      std::vector<const HloInstruction*> order;
      for (const HloInstruction* instruction : module_.InstructionOrder(*computation)) {
        if (IsShown(instruction)) order.push_back(instruction);
      }
      if (!order.empty()) WriteComputation(*computation, order);
    }
    absl::StrAppend(&dot_, calls_, "}\n");
    return std::move(dot_);
  }

 private:
  bool IsShown(const HloInstruction* instruction) const { return shown_.count(instruction) > 0; }
  // Its edge to the caller begins at its root.
  bool IsShown(const HloComputation* computation) const { return IsShown(computation->root_instruction()); }

  // A number for each, because names may contain anything.
  std::string IdOf(const HloInstruction* instruction) {
    return absl::StrCat("n", ids_.emplace(instruction, ids_.size()).first->second);
  }

  void WriteComputation(const HloComputation& computation, absl::Span<const HloInstruction* const> order) {
    const bool is_entry = &computation == module_.entry_computation();
    absl::StrAppend(&dot_, "  subgraph ", Quoted(absl::StrCat("cluster_", computation.name())),
                    " {\n    label=", Quoted(absl::StrCat(is_entry ? "ENTRY " : "", computation.name())),
                    ";\n    style=\"rounded", is_entry ? ",bold" : "", "\";\n");
    for (const HloInstruction* instruction : order) WriteNode(*instruction);
    absl::StrAppend(&dot_, "  }\n");
    for (const HloInstruction* instruction : order) WriteEdges(*instruction);
    for (const HloInstruction* instruction : order) WriteCalls(*instruction);
  }

  void WriteNode(const HloInstruction& instruction) {
    const std::string values = ValuesOf(instruction);
    const std::string label =
        absl::StrCat(instruction.IsRoot() ? "ROOT " : "", HloOpcodeString(instruction.opcode()), "\n",
                     instruction.name(), "\n", ShapeUtil::HumanStringWithLayout(instruction.shape()),
                     values.empty() ? "" : "\n", values, NotShown(instruction));
    absl::StrAppend(&dot_, "    ", IdOf(&instruction), " [label=", Quoted(label), ", fillcolor=\"",
                    ColorOf(instruction), "\"", instruction.IsRoot() ? ", penwidth=2" : "", "];\n");
  }

  // "\n2 operands not shown\ncalls fused (12 instructions)"
  std::string NotShown(const HloInstruction& instruction) const {
    const auto count_hidden = [this](const auto& list) {
      return std::count_if(list.begin(), list.end(), [this](const HloInstruction* x) { return !IsShown(x); });
    };
    std::string text;
    const auto say = [&text](int64_t count, absl::string_view what) {
      if (count > 0) absl::StrAppend(&text, "\n", WithThousands(count), " ", what, count == 1 ? "" : "s", " not shown");
    };
    say(count_hidden(instruction.operands()), "operand");
    say(count_hidden(instruction.users()), "user");
    for (const HloComputation* called : instruction.called_computations()) {
      if (IsShown(called)) continue;
      absl::StrAppend(&text, "\ncalls ", called->name(), " (", Count(called->instruction_count(), "instruction"), ")");
    }
    return text;
  }

  void WriteEdges(const HloInstruction& instruction) {
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      if (!IsShown(instruction.operand(i))) continue;
      const std::string label = instruction.operand_count() > 1 ? absl::StrCat(" [label=\"", i, "\"]") : "";
      absl::StrAppend(&dot_, "  ", IdOf(instruction.operand(i)), " -> ", IdOf(&instruction), label, ";\n");
    }
    for (const HloInstruction* predecessor : instruction.control_predecessors()) {
      if (!IsShown(predecessor)) continue;
      absl::StrAppend(&dot_, "  ", IdOf(predecessor), " -> ", IdOf(&instruction),
                      " [style=dashed, color=\"#9ca3af\"];\n");
    }
  }

  // They are at the end, because an edge must not name a node before its cluster.
  void WriteCalls(const HloInstruction& instruction) {
    for (const HloComputation* called : instruction.called_computations()) {
      if (!IsShown(called)) continue;
      absl::StrAppend(&calls_, "  ", IdOf(called->root_instruction()), " -> ", IdOf(&instruction),
                      " [style=dotted, ltail=", Quoted(absl::StrCat("cluster_", called->name())), "];\n");
    }
  }

  const HloModule& module_;
  const Instructions& shown_;
  std::string dot_;
  std::string calls_;
  absl::flat_hash_map<const HloInstruction*, size_t> ids_;
};

}  // namespace

HloDotSelection SelectForHloDot(const HloModule& module, const HloDotOptions& options) {
  const Selection selection = Select(module, options);
  HloDotSelection result;
  result.wanted = selection.offered();
  for (const HloComputation* computation : module.MakeComputationPostOrder()) {
    for (const HloInstruction* instruction : module.InstructionOrder(*computation)) {
      if (selection.shown().count(instruction) > 0) result.shown.push_back(instruction);
    }
  }
  return result;
}

HloDot HloModuleToDot(const HloModule& module, const HloDotOptions& options) {
  const Selection selection = Select(module, options);
  HloDot result;
  result.shown = static_cast<int64_t>(selection.shown().size());
  result.wanted = selection.offered();
  std::string note;
  if (result.shown < result.wanted) {
    note = absl::StrCat(WithThousands(result.shown), " of ", Count(result.wanted, "instruction"));
  }
  result.text = DotWriter(module, selection.shown()).Write(note);
  return result;
}

}  // namespace kashi
