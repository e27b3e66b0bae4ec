// verify(), memory() and cost() of modules: tables as lists of dicts.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "arrays.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/analysis/padding_report.h"
#include "kashi/analysis/source_location.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "module.h"

namespace kashi::python {
namespace {

nb::object NameOrNone(const HloInstruction* instruction) {
  return instruction == nullptr ? nb::object(nb::none()) : nb::object(ToStr(instruction->name()));
}

nb::list Verify(const ModuleRef& module, bool layout_sensitive, std::optional<bool> allow_mixed_precision) {
  HloVerifierOpts opts;
  opts.layout_sensitive = layout_sensitive;
  // Compilers mix precisions, and only compilers make schedules.
  opts.allow_mixed_precision = allow_mixed_precision.value_or(module->has_schedule());
  nb::list rows;
  for (const HloFinding& finding : VerifyHlo(*module.state->module, opts)) {
    nb::dict row;
    row["rule"] = ToStr(finding.rule);
    row["message"] = ToStr(finding.message);
    row["instruction"] = NameOrNone(finding.instruction);
    row["computation"] =
        finding.computation == nullptr ? nb::object(nb::none()) : nb::object(ToStr(finding.computation->name()));
    row["line"] = finding.instruction == nullptr ? 0 : finding.instruction->text_place().line;
    rows.append(row);
  }
  return rows;
}

nb::list SpaceRows(const MemoryAnalysis& memory) {
  nb::list rows;
  for (const MemorySpaceUsage& space : memory.spaces) {
    nb::dict row;
    row["memory_space"] = space.memory_space;
    row["peak_bytes"] = space.peak_bytes;
    row["argument_bytes"] = space.argument_bytes;
    row["output_bytes"] = space.output_bytes;
    row["alias_bytes"] = space.alias_bytes;
    row["constant_bytes"] = space.constant_bytes;
    row["temp_bytes"] = space.temp_bytes;
    row["padding_bytes"] = space.padding_bytes;
    row["peak_instruction"] = NameOrNone(static_cast<size_t>(space.peak_step) < memory.entry_sequence().size()
                                             ? memory.entry_sequence()[space.peak_step]
                                             : nullptr);
    rows.append(row);
  }
  return rows;
}

nb::list BufferRows(const MemoryAnalysis& memory) {
  nb::list rows;
  for (const MemoryBuffer& buffer : memory.buffers) {
    const BufferValue& value = buffer.main_value();
    nb::dict row;
    row["name"] = ToStr(value.name);
    row["kind"] = ToStr(MemoryBufferKindName(buffer.kind));
    row["memory_space"] = buffer.memory_space;
    row["bytes"] = buffer.bytes;
    row["unpadded_bytes"] = buffer.unpadded_bytes;
    row["shape"] = value.shape == nullptr ? nb::object(nb::none()) : nb::object(ToStr(value.shape->ToString(true)));
    row["first_step"] = buffer.first_step;
    row["last_step"] = buffer.last_step;
    if (value.instruction != nullptr) {
      const SourceLocation source = GetSourceLocation(*value.instruction);
      row["op_name"] = ToStr(source.op_name);
      row["source"] = ToStr(source.file.empty() ? "" : absl::StrCat(source.file, ":", source.line));
    }
    rows.append(row);
  }
  return rows;
}

nb::list PaddingRows(const MemoryAnalysis& memory) {
  constexpr size_t kMost = 20;
  nb::list rows;
  for (const PaddingEntry& entry : RankPadding(memory, kMost)) {
    nb::dict row;
    row["shape"] = ToStr(entry.shape->ToString(true));
    row["bytes"] = entry.bytes;
    row["unpadded_bytes"] = entry.unpadded_bytes;
    row["count"] = entry.buffers.size();
    row["padding_bytes"] = entry.padding_bytes();
    nb::list suggestions;
    for (const PaddingSuggestion& suggestion : entry.suggestions) {
      nb::dict better;
      better["change"] = ToStr(PaddingSuggestionText(suggestion));
      better["shape"] = ToStr(suggestion.shape.ToString(true));
      better["bytes"] = suggestion.bytes;
      suggestions.append(better);
    }
    row["suggestions"] = suggestions;
    rows.append(row);
  }
  return rows;
}

nb::dict Memory(const ModuleRef& module, nb::handle target) {
  std::optional<MemoryTarget> chosen;
  if (!target.is_none()) {
    const std::string name = TextOfArgument(target, "`target` is a name, such as 'v5e', or None");
    chosen = ParseMemoryTarget(name);
    if (!chosen.has_value()) {
      ThrowValueError(absl::StrCat("unknown target `", name, "`; the targets are: ", MemoryTargetNames()));
    }
  }
  const MemoryAnalysis memory = ValueOrThrow(AnalyzeMemory(*module.state->module, chosen));
  nb::dict facts;
  facts["target"] = ToStr(memory.target.name());
  facts["basis"] = ToStr(MemoryBasisName(memory.basis));
  facts["layouts_are_chosen"] = memory.has_chosen_layouts;
  facts["peak_bytes"] = memory.default_space().peak_bytes;
  facts["spaces"] = SpaceRows(memory);
  facts["buffers"] = BufferRows(memory);
  facts["padding"] = PaddingRows(memory);
  return facts;
}

// A copy in which arrays have the layouts that a TPU chooses, where they have no tiles.
ModuleRef ModuleForTarget(const ModuleRef& module, nb::handle target_name) {
  const std::string target = TextOfArgument(target_name, "`target` is the name of a TPU generation");
  std::unique_ptr<HloModule> copy = module->Clone("");
  for (HloComputation* computation : copy->computations()) {
    for (HloInstruction* instruction : computation->instructions()) {
      *instruction->mutable_shape() = ShapeForTarget(instruction->shape(), target);
    }
  }
  *copy->mutable_entry_computation_layout() = copy->compute_computation_layout();
  return {std::make_shared<ModuleState>(std::move(copy))};
}

void AddCost(const Cost& cost, nb::dict* row) {
  (*row)["flops"] = cost.flops;
  (*row)["transcendentals"] = cost.transcendentals;
  (*row)["bytes_accessed"] = cost.bytes_accessed;
  (*row)["unknown"] = cost.unknown;
}

nb::dict CostOf(const ModuleRef& module) {
  const CostAnalysis costs = ValueOrThrow(CostAnalysis::Run(*module.state->module));
  nb::list rows;
  for (const HloComputation* computation : costs.computations()) {
    for (const HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      nb::dict row;
      row["computation"] = ToStr(computation->name());
      row["instruction"] = ToStr(instruction->name());
      row["opcode"] = ToStr(HloOpcodeString(instruction->opcode()));
      AddCost(costs.CostOf(instruction), &row);
      rows.append(row);
    }
  }
  nb::dict facts;
  AddCost(costs.total(), &facts);
  facts["instructions"] = rows;
  return facts;
}

}  // namespace

void BindAnalyses(nb::module_& m) {
  const nb::object module = m.attr("Module");
  const auto add = [&](const char* name, nb::object function) { nb::setattr(module, name, function); };
  add("verify",
      nb::cpp_function(Verify, nb::is_method(), nb::name("verify"), nb::scope(module), nb::kw_only(),
                       nb::arg("layout_sensitive") = false, nb::arg("allow_mixed_precision").none() = nb::none(),
                       "What is wrong: rows with `rule`, `message`, `instruction`, `computation`, `line`;\n"
                       "none for a valid module. Operands of mixed precision are allowed in scheduled\n"
                       "modules, unless it is said.\n\n"
                       ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  x = f32[2] parameter(0)\\n"
                       "  ROOT y = f32[3] negate(x)\\n}\\n')\n"
                       ">>> [(row['rule'], row['line']) for row in m.verify()][0]\n('result shape', 4)"));
  add("for_target",
      nb::cpp_function(
          ModuleForTarget, nb::is_method(), nb::name("for_target"), nb::scope(module), nb::arg("target").none(),
          nb::sig("def for_target(self, target: str) -> Module"),
          "A copy in which each array without tiles has the layout that a TPU of this generation chooses.\n"
          "For programs before XLA's compiler, whose arrays have none.\n\n"
          ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  ROOT x = f32[100,2] parameter(0)\\n}\\n')\n"
          ">>> m.for_target('v5e').entry.root.shape\nShape('f32[100,2]{1,0:T(8,128)}')"));
  add("memory",
      nb::cpp_function(
          Memory, nb::is_method(), nb::name("memory"), nb::scope(module), nb::arg("target").none() = nb::none(),
          nb::sig("def memory(self, target: str | None = None) -> dict"),
          "Where the memory goes, in bytes: `target`, `basis`, `peak_bytes` and the tables `spaces`,\n"
          "`buffers` and `padding`. `target`: 'v2' … 'tpu7x', 'host', 'gpu'; None guesses.\n"
          "`layouts_are_chosen`: the target is a TPU and no array has tiles, so that all are measured as by\n"
          "for_target.\n\n"
          ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  ROOT x = f32[100,2] parameter(0)\\n}\\n')\n"
          ">>> m.memory('host')['peak_bytes'], m.memory('v5e')['peak_bytes']\n(1600, 106496)"));
  add("cost", nb::cpp_function(CostOf, nb::is_method(), nb::name("cost"), nb::scope(module),
                               "The cost as XLA counts it: the sums `flops`, `transcendentals`, `bytes_accessed`, and\n"
                               "the table `instructions`.\n\n"
                               ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  x = f32[8] parameter(0)\\n"
                               "  ROOT y = f32[8] add(x, x)\\n}\\n')\n"
                               ">>> m.cost()['flops'], m.cost()['bytes_accessed']\n(8.0, 96.0)"));
}

}  // namespace kashi::python
