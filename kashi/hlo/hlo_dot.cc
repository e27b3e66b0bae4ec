#include "kashi/hlo/hlo_dot.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kashi/array/shape_util.h"

namespace kashi {
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

class DotWriter {
 public:
  explicit DotWriter(const HloModule& module) : module_(module) {}

  std::string Write() {
    absl::StrAppend(&dot_, "digraph ", Quoted(module_.name()),
                    " {\n  rankdir=TB;\n  compound=true;\n"
                    "  node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=10];\n"
                    "  edge [fontname=\"Helvetica\", fontsize=9];\n");
    const auto computations = module_.MakeComputationPostOrder();
    for (const HloComputation* computation : computations) WriteComputation(*computation);
    for (const HloComputation* computation : computations) WriteCalls(*computation);
    absl::StrAppend(&dot_, "}\n");
    return std::move(dot_);
  }

 private:
  // A number each, for names may hold anything.
  std::string IdOf(const HloInstruction* instruction) {
    return absl::StrCat("n", ids_.emplace(instruction, ids_.size()).first->second);
  }

  void WriteComputation(const HloComputation& computation) {
    const bool is_entry = &computation == module_.entry_computation();
    absl::StrAppend(&dot_, "  subgraph ", Quoted(absl::StrCat("cluster_", computation.name())),
                    " {\n    label=", Quoted(absl::StrCat(is_entry ? "ENTRY " : "", computation.name())),
                    ";\n    style=\"rounded", is_entry ? ",bold" : "", "\";\n");
    const auto order = module_.InstructionOrder(computation);
    for (const HloInstruction* instruction : order) WriteNode(*instruction);
    absl::StrAppend(&dot_, "  }\n");
    for (const HloInstruction* instruction : order) WriteEdges(*instruction);
  }

  void WriteNode(const HloInstruction& instruction) {
    const std::string label =
        absl::StrCat(instruction.IsRoot() ? "ROOT " : "", HloOpcodeString(instruction.opcode()), "\n",
                     instruction.name(), "\n", ShapeUtil::HumanStringWithLayout(instruction.shape()));
    absl::StrAppend(&dot_, "    ", IdOf(&instruction), " [label=", Quoted(label), ", fillcolor=\"",
                    ColorOf(instruction), "\"", instruction.IsRoot() ? ", penwidth=2" : "", "];\n");
  }

  void WriteEdges(const HloInstruction& instruction) {
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      const std::string label = instruction.operand_count() > 1 ? absl::StrCat(" [label=\"", i, "\"]") : "";
      absl::StrAppend(&dot_, "  ", IdOf(instruction.operand(i)), " -> ", IdOf(&instruction), label, ";\n");
    }
    for (const HloInstruction* predecessor : instruction.control_predecessors()) {
      absl::StrAppend(&dot_, "  ", IdOf(predecessor), " -> ", IdOf(&instruction),
                      " [style=dashed, color=\"#9ca3af\"];\n");
    }
  }

  void WriteCalls(const HloComputation& computation) {
    for (const HloInstruction* instruction : computation.instructions()) {
      for (const HloComputation* called : instruction->called_computations()) {
        absl::StrAppend(&dot_, "  ", IdOf(called->root_instruction()), " -> ", IdOf(instruction),
                        " [style=dotted, ltail=", Quoted(absl::StrCat("cluster_", called->name())), "];\n");
      }
    }
  }

  const HloModule& module_;
  std::string dot_;
  absl::flat_hash_map<const HloInstruction*, size_t> ids_;
};

}  // namespace

std::string HloModuleToDot(const HloModule& module) { return DotWriter(module).Write(); }

}  // namespace kashi
