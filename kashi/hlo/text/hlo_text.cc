// HLO text as XLA prints it (docs/spec/hlo.md, 1.4 and 1.5).
#include "kashi/hlo/text/hlo_text.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/metadata_text.h"
#include "kashi/hlo/attributes/string_escapes.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/original_value.h"
#include "kashi/hlo/text/printed_opcode.h"
#include "kashi/hlo/text/text_scanner.h"
#include "kashi/literal/literal.h"

namespace kashi {

using hlo::AppendCEscaped;
using hlo::CEscaped;
using hlo::IsMetadataPrinted;
using hlo::PrintMetadata;
using hlo::TextScanner;
namespace {

// Constants of more elements print as {...} by default.
constexpr int64_t kMostElementsPrinted = 10;

bool IsJsonDict(absl::string_view text) {
  if (text.empty() || text[0] != '{') return false;
  TextScanner scan(text);
  return scan.ReadBraced().size() == text.size();
}

void PrintFrontendAttributes(const FrontendAttributes& attributes, TextBuffer* out) {
  out->Add('{');
  bool first = true;
  for (const auto& [key, value] : attributes.map()) {
    if (!first) out->Add(',');
    first = false;
    out->Add(key);
    if (IsJsonDict(value)) {
      out->Add('=');
      out->Add(value);
    } else {
      out->Add("=\"");
      AppendCEscaped(out, value);
      out->Add('"');
    }
  }
  out->Add('}');
}

// Whether the line `add-start(x, y)` describes all of an asynchronous computation: it is one operation, and no
// async-update brings it arguments.
bool HasSugar(const HloComputation& wrapped) {
  const HloInstruction* update = wrapped.AsyncStart() ? wrapped.AsyncStart()->async_update() : nullptr;
  while (update != nullptr && update->operand_count() == 1) update = update->async_update();
  return update == nullptr && wrapped.CanExpandIntoSingleInstruction();
}

}  // namespace

// `add-start` if the asynchronous computation is only an add.
std::string hlo::PrintedOpcode(const HloInstruction& instruction) {
  const absl::string_view opcode = HloOpcodeString(instruction.opcode());
  const HloComputation* wrapped = instruction.IsAsynchronous() ? instruction.async_wrapped_computation() : nullptr;
  if (wrapped == nullptr || !HasSugar(*wrapped)) return std::string(opcode);
  return absl::StrCat(HloOpcodeString(wrapped->root_instruction()->opcode()), opcode.substr(opcode.find('-')));
}

std::string FrontendAttributesToString(const FrontendAttributes& attributes) {
  TextBuffer out;
  PrintFrontendAttributes(attributes, &out);
  return out.Take();
}

// ---- Names and shapes -----------------------------------------------------------------------------------------------

void HloTextPrinter::PrintName(absl::string_view name) {
  if (options_.print_percent()) out_.Add('%');
  out_.Add(options_.print_ids() ? name : name.substr(0, name.find('.')));
}

void HloTextPrinter::PrintCanonicalName(const HloInstruction* instruction) {
  const auto entry = canonical_names_->emplace(instruction, static_cast<int64_t>(canonical_names_->size()));
  out_.Add("tmp_");
  out_.AddInt(entry.first->second);
}

void HloTextPrinter::PrintShape(const SharedShape& shape) {
  if (options_.include_layout_in_shapes()) {
    out_.Add(shape->text());
  } else {
    ShapeUtil::PrintHumanString(&out_, shape->shape());
  }
}

// ---- Instructions ---------------------------------------------------------------------------------------------------

void HloTextPrinter::PrintInstruction(const HloInstruction& instruction) {
  if (options_.canonicalize_instruction_names()) {
    // A single instruction is printed without its name.
    if (options_.is_in_nested_computation()) {
      PrintCanonicalName(&instruction);
      out_.Add(" = ");
    }
  } else {
    PrintName(instruction.name());
    out_.Add(" = ");
  }
  if (options_.print_result_shape()) {
    PrintShape(instruction.shared_shape());
    out_.Add(' ');
  }
  PrintOpcode(instruction);
  out_.Add('(');
  PrintOperands(instruction);
  out_.Add(')');
  PrintAttributes(instruction);
  PrintMetadataAttribute(instruction);
  PrintBackendConfig(instruction);
}

void HloTextPrinter::PrintOpcode(const HloInstruction& instruction) {
  if (instruction.IsAsynchronous() && options_.syntax_sugar_async_ops())
    return out_.Add(hlo::PrintedOpcode(instruction));
  out_.Add(HloOpcodeString(instruction.opcode()));
}

void HloTextPrinter::PrintOperands(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kConstant) return PrintConstant(instruction);
  if (instruction.opcode() == HloOpcode::kParameter) {
    if (options_.print_parameter_number()) out_.AddInt(instruction.parameter_number());
    return;
  }
  const auto& operands = instruction.operands();
  const int64_t count = static_cast<int64_t>(operands.size());
  const int64_t interval = options_.print_operand_index_annotation_interval();
  constexpr int64_t kCompact = 4;
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) out_.Add(", ");
    if (options_.compact_operands() && count > kCompact && i == kCompact / 2) {
      out_.Add("..., ");
      i = count - kCompact / 2;
    }
    if (interval != 0 && i > 0 && i % interval == 0) {
      out_.Add("/*index=");
      out_.AddInt(i);
      out_.Add("*/");
    }
    PrintOperand(operands[i]);
  }
}

void HloTextPrinter::PrintOperand(const HloInstruction* operand) {
  if (options_.print_operand_shape()) PrintShape(operand->shared_shape());
  const bool names =
      options_.canonicalize_instruction_names() ? options_.is_in_nested_computation() : options_.print_operand_names();
  if (!names) return;
  if (options_.print_operand_shape()) out_.Add(' ');
  if (options_.canonicalize_instruction_names()) {
    PrintCanonicalName(operand);
  } else {
    PrintName(operand->name());
  }
}

// Whether the value affects the shape or position of other values by a user, not only their contents.
bool HloTextPrinter::IsEssential(const HloInstruction& constant) const {
  return std::any_of(constant.users().begin(), constant.users().end(), [](const HloInstruction* user) {
    return user->opcode() == HloOpcode::kDynamicSlice || user->opcode() == HloOpcode::kDynamicUpdateSlice;
  });
}

void HloTextPrinter::PrintConstant(const HloInstruction& instruction) {
  const SharedLiteral* literal = instruction.fields().Find<HloField::literal>();
  const bool essential = !options_.print_only_essential_constants() || IsEssential(instruction);
  const Shape& shape = instruction.shape();
  const bool small = shape.IsArray() && ShapeUtil::ElementsIn(shape) <= kMostElementsPrinted;
  const bool known = literal != nullptr && *literal && !literal->is_elided();
  if (!known || !essential || !(small || options_.print_large_constants())) {
    out_.Add("{...}");
    return;
  }
  (*literal)->PrintWithoutShapeOneline(&out_);
}

// ---- Attributes -----------------------------------------------------------------------------------------------------

namespace {
// The wrapped operation of an async-start, if the short form has all of it; otherwise null.
const HloInstruction* Sugared(const HloInstruction& instruction, const HloPrintOptions& options) {
  if (instruction.opcode() != HloOpcode::kAsyncStart || !options.syntax_sugar_async_ops()) return nullptr;
  const HloComputation* wrapped = instruction.async_wrapped_computation();
  return wrapped != nullptr && HasSugar(*wrapped) ? wrapped->root_instruction() : nullptr;
}
}  // namespace

void HloTextPrinter::PrintAttributes(const HloInstruction& instruction) {
  if (options_.print_extra_attributes()) PrintAttributesOf(instruction, /*frontend=*/true);
}

// The line of `add-start` has the attributes of the add among those of async-start, except for the computation. If
// both have frontend attributes, only those of async-start are printed.
void HloTextPrinter::PrintAttributesOf(const HloInstruction& instruction, bool frontend) {
  if (const HloInstruction* wrapped = Sugared(instruction, options_)) {
    PrintAttribute(instruction, HloAttribute::async_execution_thread);
    PrintAttributesOf(*wrapped, frontend && instruction.extras().frontend_attributes.empty());
    PrintAttribute(instruction, HloAttribute::output_to_operand_aliasing);
  } else {
    PrintOperationAttributes(instruction);
    PrintBodies(instruction);
  }
  PrintExtras(instruction, frontend);
}

// Called computations in full, if the options require that instead of their names.
void HloTextPrinter::PrintBodies(const HloInstruction& instruction) {
  using Mode = HloPrintOptions::PrintSubcomputationMode;
  const Mode mode = options_.print_subcomputation_mode();
  const auto called = instruction.called_computations();
  if ((mode != Mode::kFullBodies && mode != Mode::kNonSequentialBodies) || called.empty()) return;
  if (mode == Mode::kNonSequentialBodies &&
      GetInstructionCallContext(instruction.opcode()) == CallContext::kControlFlow) {
    return;
  }
  const auto print = [&](absl::string_view name, const HloComputation* computation) {
    out_.Add(", ");
    out_.Add(name);
    out_.Add("=\n");
    HloPrintOptions options = options_;
    options.set_is_in_nested_computation(true);
    HloTextPrinter printer(&out_, options);
    printer.module_ = module_;
    printer.PrintComputation(*computation);
  };
  const auto attributes = GetHloOpcodeInfo(instruction.opcode()).attributes;
  switch (instruction.opcode()) {
    case HloOpcode::kWhile:
      print("condition", instruction.while_condition());
      print("body", instruction.while_body());
      return;
    case HloOpcode::kSelectAndScatter:
      print("select", instruction.select());
      print("scatter", instruction.scatter());
      return;
    default:
      break;
  }
  const bool by_predicate =
      instruction.opcode() == HloOpcode::kConditional && instruction.operand(0)->shape().element_type() == PRED;
  if (by_predicate && called.size() == 2) {
    print("true_computation", called[0]);
    print("false_computation", called[1]);
    return;
  }
  bool applies = false;
  for (const HloOpcodeAttribute& entry : attributes) applies = applies || entry.attribute == HloAttribute::to_apply;
  const absl::string_view name = applies                                           ? "to_apply"
                                 : instruction.opcode() == HloOpcode::kConditional ? "branch_computations"
                                                                                   : "calls";
  for (const HloComputation* computation : called) print(name, computation);
}

void HloTextPrinter::PrintStatistics(const HloInstruction& instruction) {
  const StatisticsViz& statistics = instruction.extras().statistics_viz;
  if (statistics.statistics().empty()) return;
  AppendCat(&out_, ", statistics={visualizing_index=", statistics.stat_index_to_visualize());
  for (const Statistic& statistic : statistics.statistics()) {
    AppendCat(&out_, ",", statistic.stat_name(), "=", statistic.stat_val());
  }
  out_.Add('}');
}

void HloTextPrinter::PrintExtras(const HloInstruction& instruction, bool frontend) {
  const HloInstructionExtras& extras = instruction.extras();
  if (extras.parameter_replicated_at_leaf_buffers.has_value()) {
    out_.Add(", parameter_replication={");
    for (size_t i = 0; i < extras.parameter_replicated_at_leaf_buffers->size(); ++i) {
      if (i > 0) out_.Add(',');
      out_.Add((*extras.parameter_replicated_at_leaf_buffers)[i] ? "true" : "false");
    }
    out_.Add('}');
  }
  if (extras.sharding != nullptr) {
    out_.Add(", sharding=");
    extras.sharding->Print(&out_, /*include_metadata=*/options_.print_metadata());
  }
  if (frontend && !extras.frontend_attributes.empty()) {
    out_.Add(", frontend_attributes=");
    PrintFrontendAttributes(extras.frontend_attributes, &out_);
  }
  if (options_.print_control_dependencies() && !extras.control_predecessors.empty()) {
    out_.Add(", control-predecessors={");
    for (size_t i = 0; i < extras.control_predecessors.size(); ++i) {
      if (i > 0) out_.Add(", ");
      PrintName(extras.control_predecessors[i]->name());
    }
    out_.Add('}');
  }
  PrintStatistics(instruction);
  if (instruction.fields().Has(HloField::result_accuracy)) PrintAttribute(instruction, HloAttribute::result_accuracy);
  if (extras.original_value != nullptr && options_.print_original_value()) {
    out_.Add(", origin={");
    extras.original_value->Print(&out_);
    out_.Add('}');
  }
  for (const auto& [name, value] : extras.unknown_attributes) AppendCat(&out_, ", ", name, "=", value);
}

void HloTextPrinter::PrintMetadataAttribute(const HloInstruction& instruction) {
  if (!options_.print_metadata() || !instruction.has_metadata()) return;
  const OpMetadata& metadata = instruction.metadata();
  if (options_.print_metadata_only_op_name()) {
    if (metadata.op_name().empty()) return;
    out_.Add(", metadata={op_name=\"");
    AppendCEscaped(&out_, metadata.op_name());
    out_.Add("\"}");
    return;
  }
  if (metadata.stack_frame_id() == 0 && !IsMetadataPrinted(metadata)) return;
  out_.Add(", metadata=");
  PrintMetadata(&out_, metadata);
}

void HloTextPrinter::PrintBackendConfig(const HloInstruction& instruction) {
  if (!options_.print_backend_config() || !instruction.has_backend_config()) return;
  const std::string& config = instruction.raw_backend_config_string();
  out_.Add(", backend_config=");
  if (IsJsonDict(config)) {
    out_.Add(config);
  } else {
    out_.Add('"');
    AppendCEscaped(&out_, config);
    out_.Add('"');
  }
}

// ---- Computations ---------------------------------------------------------------------------------------------------

void HloTextPrinter::PrintComputation(const HloComputation& computation) {
  const HloModule* module = computation.parent();
  if (module != nullptr) {
    const std::vector<HloInstruction*> order = module->InstructionOrder(computation);
    PrintComputation(computation, absl::MakeConstSpan(order.data(), order.size()));
  } else {
    const std::vector<HloInstruction*> order = computation.MakeInstructionPostOrder();
    PrintComputation(computation, absl::MakeConstSpan(order.data(), order.size()));
  }
}

// (name: shape, …) -> shape
void HloTextPrinter::PrintSignature(const HloComputation& computation) {
  out_.Add('(');
  bool first = true;
  for (const HloInstruction* parameter : computation.parameter_instructions()) {
    if (!first) out_.Add(", ");
    first = false;
    out_.Add(options_.print_ids() ? parameter->name() : parameter->name().substr(0, parameter->name().find('.')));
    out_.Add(": ");
    ShapeUtil::PrintHumanString(&out_, parameter->shape());
  }
  out_.Add(") -> ");
  ShapeUtil::PrintHumanString(&out_, computation.root_instruction()->shape());
}

void HloTextPrinter::PrintComputation(const HloComputation& computation,
                                      absl::Span<const HloInstruction* const> order) {
  const std::string tab(2 * options_.indent_amount(), ' ');
  out_.Add(tab);
  if (!options_.is_in_nested_computation()) {
    if (options_.print_percent()) out_.Add('%');
    // The entry's name may change from run to run; a fingerprint must not.
    if (options_.print_ids()) {
      out_.Add(computation.name());
      out_.Add(' ');
    }
  }
  if (options_.print_program_shape()) {
    PrintSignature(computation);
    out_.Add(' ');
  }
  out_.Add("{\n");

  const HloPrintOptions saved = options_;
  CanonicalNames* const saved_names = canonical_names_;
  CanonicalNames names;
  canonical_names_ = &names;
  options_.set_indent_amount(saved.indent_amount() + 1).set_is_in_nested_computation(true);
  for (const HloInstruction* instruction : order) {
    out_.Add(tab);
    out_.Add("  ");
    if (instruction == computation.root_instruction()) out_.Add("ROOT ");
    PrintInstruction(*instruction);
    out_.Add('\n');
  }
  options_ = saved;
  canonical_names_ = saved_names;

  out_.Add(tab);
  out_.Add('}');
  if (!computation.IsMainThread()) AppendCat(&out_, ", execution_thread=\"", computation.execution_thread(), "\"");
  constexpr int64_t kLong = 5;
  if (options_.print_name_after_closing_brace() && computation.instruction_count() > kLong) {
    AppendCat(&out_, " // ", computation.name());
  }
}

// ---- Modules --------------------------------------------------------------------------------------------------------

void HloTextPrinter::PrintModule(const HloModule& module) {
  module_ = &module;
  PrintModuleHead(module);
  out_.Add("\n\n");
  PrintTables(module);
  for (const HloComputation* computation : module.MakeComputationPostOrder(/*print_order=*/true)) {
    // A computation in the short form is not printed by itself.
    if (options_.syntax_sugar_async_ops() && computation->IsAsyncComputation() && HasSugar(*computation)) continue;
    if (computation == module.entry_computation()) out_.Add("ENTRY ");
    PrintComputation(*computation);
    out_.Add("\n\n");
  }
}

void HloTextPrinter::PrintModuleHead(const HloModule& module) {
  out_.Add("HloModule ");
  if (options_.print_ids()) out_.Add(module.name());
  if (module.has_schedule()) out_.Add(", is_scheduled=true");
  const std::string aliases = module.input_output_alias_config().ToShortString();
  if (!aliases.empty()) AppendCat(&out_, ", input_output_alias={ ", aliases, " }");
  const std::string donors = module.buffer_donor_config().ToShortString();
  if (!donors.empty()) AppendCat(&out_, ", buffer_donor={ ", donors, " }");
  const HloModuleConfig& config = module.config();
  if (config.alias_passthrough_params()) out_.Add(", alias_passthrough_params=true");
  if (config.has_entry_computation_layout()) {
    out_.Add(", entry_computation_layout={");
    config.entry_computation_layout().Print(&out_);
    out_.Add('}');
  }
  const auto print_propagation = [&](absl::string_view name, const HloModuleConfig::BoolList& list) {
    if (list.size() == 1 && !list[0]) return;
    AppendCat(&out_, ", ", name, "={");
    for (size_t i = 0; i < list.size(); ++i) AppendCat(&out_, i > 0 ? "," : "", list[i] ? "true" : "false");
    out_.Add('}');
  };
  print_propagation("allow_spmd_sharding_propagation_to_parameters",
                    config.allow_spmd_sharding_propagation_to_parameters());
  print_propagation("allow_spmd_sharding_propagation_to_output", config.allow_spmd_sharding_propagation_to_output());
  if (config.replica_count() != 1) AppendCat(&out_, ", replica_count=", config.replica_count());
  if (config.num_partitions() != 1) AppendCat(&out_, ", num_partitions=", config.num_partitions());
  if (!module.frontend_attributes().empty()) {
    out_.Add(", frontend_attributes=");
    PrintFrontendAttributes(module.frontend_attributes(), &out_);
  }
  PrintRecoveryTable(module);
}

void HloTextPrinter::PrintRecoveryTable(const HloModule& module) {
  if (module.original_value_recovery_table().empty()) return;
  out_.Add(", origin_recovery_table={\n");
  for (const OriginalValueRecoveryEntry& entry : module.original_value_recovery_table()) {
    out_.Add("  {");
    PrintOriginalArray(&out_, entry.old_array);
    out_.Add("} : {");
    PrintOriginalArray(&out_, entry.new_array);
    out_.Add("}");
    if (entry.recovery_module != nullptr) {
      out_.Add(",\n  \"\n");
      // Indents all lines except empty ones.
      for (const absl::string_view line : absl::StrSplit(entry.recovery_module->ToString(), '\n')) {
        if (!line.empty()) AppendCat(&out_, "    ", line);
        out_.Add('\n');
      }
      out_.Add("  \"\n");
    } else {
      out_.Add("\n");
    }
  }
  out_.Add("}\n");
}

void HloTextPrinter::PrintTables(const HloModule& module) {
  const StackFrameIndex& index = module.stack_frame_index();
  if (index.empty()) return;
  int64_t number = 0;
  out_.Add("FileNames\n");
  for (const std::string& name : index.file_names) AppendCat(&out_, ++number, " \"", CEscaped(name), "\"\n");
  number = 0;
  out_.Add("\nFunctionNames\n");
  for (const std::string& name : index.function_names) AppendCat(&out_, ++number, " \"", CEscaped(name), "\"\n");
  number = 0;
  out_.Add("\nFileLocations\n");
  for (const StackFrameIndex::FileLocation& location : index.file_locations) {
    AppendCat(&out_, ++number, " {file_name_id=", location.file_name_id,
              " function_name_id=", location.function_name_id, " line=", location.line, " end_line=", location.end_line,
              " column=", location.column, " end_column=", location.end_column, "}\n");
  }
  number = 0;
  out_.Add("\nStackFrames\n");
  for (const StackFrameIndex::StackFrame& frame : index.stack_frames) {
    AppendCat(&out_, ++number, " {file_location_id=", frame.file_location_id,
              " parent_frame_id=", frame.parent_frame_id + 1, "}\n");
  }
  out_.Add("\n\n");
}

// ---- The members of the classes -------------------------------------------------------------------------------------

namespace {
template <typename Print>
std::string PrintToString(const HloPrintOptions& options, Print print) {
  TextBuffer buffer;
  HloTextPrinter printer(&buffer, options);
  print(printer);
  return buffer.Take();
}
}  // namespace

std::string HloInstruction::ToString(const HloPrintOptions& options) const {
  return PrintToString(options, [this](HloTextPrinter& printer) { printer.PrintInstruction(*this); });
}
std::string HloInstruction::ToString() const { return ToString(HloPrintOptions::Default()); }
void HloInstruction::Print(Printer* printer, const HloPrintOptions& options) const {
  printer->Append(ToString(options));
}

std::string HloInstruction::ToShortString() const {
  return absl::StrCat("%", name(), " = ", HloOpcodeString(opcode()), "(",
                      absl::StrJoin(operands(), ", ",
                                    [](std::string* out, const HloInstruction* operand) {
                                      absl::StrAppend(out, "%", operand->name());
                                    }),
                      ")");
}

std::string HloComputation::ToString(const HloPrintOptions& options) const {
  return PrintToString(options, [this](HloTextPrinter& printer) { printer.PrintComputation(*this); });
}
std::string HloComputation::ToString() const { return ToString(HloPrintOptions::Default()); }
std::string HloComputation::ToString(const HloPrintOptions& options,
                                     absl::Span<const HloInstruction* const> order) const {
  return PrintToString(options, [&](HloTextPrinter& printer) { printer.PrintComputation(*this, order); });
}
void HloComputation::Print(Printer* printer, const HloPrintOptions& options) const {
  printer->Append(ToString(options));
}
void HloComputation::Print(Printer* printer, const HloPrintOptions& options,
                           absl::Span<const HloInstruction* const> order) const {
  printer->Append(ToString(options, order));
}

std::string HloModule::ToString(const HloPrintOptions& options) const {
  return PrintToString(options, [this](HloTextPrinter& printer) { printer.PrintModule(*this); });
}
void HloModule::Print(Printer* printer, const HloPrintOptions& options) const { printer->Append(ToString(options)); }

}  // namespace kashi
