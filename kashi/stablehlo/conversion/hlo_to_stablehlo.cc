#include "kashi/stablehlo/conversion/hlo_to_stablehlo.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/stablehlo_writer.h"

namespace kashi::stablehlo {

absl::StatusOr<std::string> ConvertToStableHlo(const HloModule& module, const StableHloTextOptions& options) {
  if (!module.has_entry_computation()) return InvalidArgument("the module has no entry computation");
  return StableHloWriter(module, options).Write();
}

namespace {

// The results of the entry: the elements of its tuple. A tuple of one is one result of a tuple type.
ShapeList EntryResults(const Shape& shape) {
  if (!shape.IsTuple() || shape.tuple_shapes().size() == 1) return {&shape};
  ShapeList shapes;
  for (const Shape& element : shape.tuple_shapes()) shapes.push_back(&element);
  return shapes;
}

}  // namespace

absl::StatusOr<std::string> StableHloWriter::Write() {
  CountCallers();
  const HloComputation& entry = *module_.entry_computation();
  function_names_[&entry] = "main";
  taken_names_.insert("main");
  text_ = absl::StrCat("\"builtin.module\"() <{sym_name = ", QuotedText(module_.name()), "}> ({\n");
  depth_ = 1;
  KASHI_RETURN_IF_ERROR(WriteEntry(entry));
  while (!functions_to_write_.empty()) {
    const HloComputation* function = functions_to_write_.back();
    functions_to_write_.pop_back();
    KASHI_RETURN_IF_ERROR(WriteFunction(*function));
  }
  absl::StrAppend(&text_, "}) {", ModuleAttributes(), "} : () -> ()\n");
  if (options_.problems != nullptr) *options_.problems = problems_;
  KASHI_RETURN_IF_ERROR(ErrorOfProblems());
  if (types_.definitions().empty()) return std::move(text_);
  return absl::StrCat(types_.definitions(), text_);
}

void StableHloWriter::CountCallers() {
  for (const HloComputation* computation : module_.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      for (const HloComputation* callee : instruction->called_computations()) ++caller_counts_[callee];
    }
  }
}

std::string StableHloWriter::FunctionSymbol(const HloComputation& computation) {
  const auto [name, is_new] = function_names_.try_emplace(&computation);
  if (is_new) {
    std::string candidate(computation.name());
    for (int i = 1; !taken_names_.insert(candidate).second; ++i) candidate = absl::StrCat(computation.name(), "_", i);
    name->second = std::move(candidate);
    functions_to_write_.push_back(&computation);
  }
  return SymbolText(name->second);
}

std::string StableHloWriter::ModuleAttributes() const {
  std::vector<std::string> attributes;
  if (!module_.frontend_attributes().map().empty()) {
    attributes.push_back(
        absl::StrCat("mhlo.frontend_attributes = ", DictionaryText(module_.frontend_attributes().map())));
  }
  attributes.push_back(absl::StrCat("mhlo.num_partitions = ", module_.config().num_partitions(), " : i32"));
  attributes.push_back(absl::StrCat("mhlo.num_replicas = ", module_.config().replica_count(), " : i32"));
  if (module_.config().use_auto_spmd_partitioning()) attributes.push_back("mhlo.use_auto_spmd_partitioning = true");
  return absl::StrJoin(attributes, ", ");
}

absl::Status StableHloWriter::WriteFunction(const HloComputation& computation) {
  next_number_ = 0;
  value_types_.clear();
  ShapeList parameters;
  for (const HloInstruction* parameter : computation.parameter_instructions()) {
    const ShapeList leaves = LeavesOf(parameter->shape());
    parameters.insert(parameters.end(), leaves.begin(), leaves.end());
  }
  const ShapeList results = LeavesOf(computation.root_instruction()->shape());
  Indent();
  text_.append("\"func.func\"() <{function_type = ");
  AppendSignature(TypesOf(parameters), TypesOf(results));
  absl::StrAppend(&text_, ", sym_name = ", QuotedText(function_names_.at(&computation)),
                  ", sym_visibility = \"private\"}> ({\n");
  ++depth_;
  const ValueNames arguments = WriteArguments(parameters, {});
  BindParameters(computation, arguments);
  KASHI_RETURN_IF_ERROR(WriteInstructions(computation));
  KASHI_RETURN_IF_ERROR(WriteReturn("func.return", NamesOf(computation.root_instruction()), results));
  --depth_;
  Indent();
  text_.append("}) : () -> ()\n");
  return absl::OkStatus();
}

absl::Status StableHloWriter::WriteEntry(const HloComputation& entry) {
  ShapeList parameters;
  std::vector<std::string> locations;
  std::vector<std::string> argument_attributes;
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    parameters.push_back(&parameter->shape());
    locations.push_back(LocationOf(*parameter));
    argument_attributes.push_back(ArgumentAttributes(*parameter));
  }
  const HloInstruction& root = *entry.root_instruction();
  const ShapeList results = EntryResults(root.shape());
  Indent();
  absl::StrAppend(&text_, "\"func.func\"() <{arg_attrs = [", absl::StrJoin(argument_attributes, ", "),
                  "], function_type = ");
  AppendSignature(TypesOf(parameters), TypesOf(results));
  absl::StrAppend(&text_, ResultAttributes(root, results.size()),
                  ", sym_name = \"main\", sym_visibility = \"public\"}> ({\n");
  ++depth_;
  const ValueNames arguments = WriteArguments(parameters, locations);
  for (size_t i = 0; i < arguments.size(); ++i) {
    ValueNames leaves;
    KASHI_RETURN_IF_ERROR(Unpack(arguments[i], *parameters[i], &leaves));
    SetNames(entry.parameter_instruction(static_cast<int64_t>(i)), std::move(leaves));
  }
  KASHI_RETURN_IF_ERROR(WriteInstructions(entry));
  const ValueNames root_leaves = NamesOf(&root);
  absl::Span<const ValueName> leaves = root_leaves;
  ValueNames packed;
  for (const Shape* result : results) {
    KASHI_ASSIGN_OR_RETURN(packed.emplace_back(), Pack(*result, &leaves));
  }
  KASHI_RETURN_IF_ERROR(WriteReturn("func.return", packed, results));
  --depth_;
  Indent();
  text_.append("}) : () -> ()\n");
  return absl::OkStatus();
}

// StableHLO has aliases of whole parameters with whole results.
void StableHloWriter::AddAliases(int64_t parameter, std::vector<std::string>* attributes) {
  for (const auto& [output, alias] : module_.input_output_alias_config().aliases()) {
    if (alias.parameter_number != parameter) continue;
    if (alias.parameter_index.empty() && output.size() <= 1) {
      attributes->push_back(absl::StrCat("tf.aliasing_output = ", output.empty() ? 0 : output[0], " : i32"));
    } else if (options_.notes != nullptr) {
      options_.notes->push_back(absl::StrCat("left out, because StableHLO has no aliases of parts of tuples: result {",
                                             absl::StrJoin(output, ","), "} in the buffer of parameter ", parameter,
                                             " {", absl::StrJoin(alias.parameter_index, ","), "}"));
    }
  }
}

std::string StableHloWriter::ArgumentAttributes(const HloInstruction& parameter) {
  const int64_t number = parameter.parameter_number();
  std::vector<std::string> attributes;
  AddAliases(number, &attributes);
  if (module_.buffer_donor_config().ParameterIsBufferDonor(number, {})) attributes.push_back("jax.buffer_donor = true");
  const std::string common = AttributesOf(parameter);
  if (!common.empty()) attributes.push_back(common);
  const std::optional<std::vector<bool>>& replicated = parameter.parameter_replicated_at_leaf_buffers();
  if (replicated.has_value() && absl::c_all_of(*replicated, [](bool is_replicated) { return is_replicated; })) {
    attributes.push_back("mhlo.is_same_data_across_replicas = true");
  }
  if (module_.config().has_entry_computation_layout()) {
    const Shape& shape = module_.entry_computation_layout().parameter_shape(static_cast<int>(number));
    if (shape.IsArray() && shape.has_layout() && !LayoutUtil::IsMonotonicWithDim0Major(shape.layout())) {
      attributes.push_back(absl::StrCat("mhlo.layout_mode = ", QuotedText(shape.layout().ToString())));
    }
  }
  return absl::StrCat("{", absl::StrJoin(attributes, ", "), "}");
}

// The shardings of the results, which are those of the root.
std::string StableHloWriter::ResultAttributes(const HloInstruction& root, size_t count) const {
  if (!root.has_sharding() || count == 0) return "";
  const HloSharding& sharding = root.sharding();
  std::vector<std::string> results;
  if (sharding.IsTuple() && sharding.tuple_elements().size() == count && root.shape().IsTuple()) {
    for (const HloSharding& element : sharding.tuple_elements()) {
      results.push_back(absl::StrCat("{mhlo.sharding = ", QuotedText(element.ToString()), "}"));
    }
  } else if (root.opcode() == HloOpcode::kGetTupleElement && !sharding.IsTuple()) {
    results.push_back(absl::StrCat("{mhlo.sharding = ", QuotedText(sharding.ToString()), "}"));
  } else {
    return "";
  }
  return absl::StrCat(", res_attrs = [", absl::StrJoin(results, ", "), "]");
}

std::string StableHloWriter::AttributesOf(const HloInstruction& instruction) const {
  std::vector<std::string> attributes;
  if (instruction.has_frontend_attributes()) {
    attributes.push_back(
        absl::StrCat("mhlo.frontend_attributes = ", DictionaryText(instruction.frontend_attributes().map())));
  }
  if (instruction.has_sharding()) {
    attributes.push_back(absl::StrCat("mhlo.sharding = ", QuotedText(instruction.sharding().ToString())));
  }
  return absl::StrJoin(attributes, ", ");
}

std::string StableHloWriter::LocationOf(const HloInstruction& instruction) const {
  const OpMetadata& metadata = instruction.metadata();
  if (!options_.has_locations || metadata.op_name().empty()) return "";
  const std::string name = QuotedText(metadata.op_name());
  if (metadata.source_file().empty()) return absl::StrCat(" loc(", name, ")");
  return absl::StrCat(" loc(", name, "(", QuotedText(metadata.source_file()), ":", metadata.source_line(), ":",
                      metadata.source_column(), "))");
}

}  // namespace kashi::stablehlo
