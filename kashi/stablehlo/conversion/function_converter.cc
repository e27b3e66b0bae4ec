// Functions, and the module's data about the entry: parameters, results, layouts, aliases (docs/spec/vhlo.md 6.2).
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/converter.h"
#include "kashi/stablehlo/conversion/sdy_text.h"
#include "kashi/stablehlo/conversion/shapes.h"
#include "kashi/stablehlo/conversion/shardings.h"

namespace kashi::stablehlo {
namespace {

// The attributes of argument or result `i`; the list may be empty.
absl::Span<const NamedAttribute> AttributesOf(const Operation& function, absl::string_view list, size_t i) {
  const Attribute* dictionaries = function.Find(list);
  if (dictionaries == nullptr || i >= dictionaries->elements.size()) return {};
  return dictionaries->elements[i]->fields;
}

bool HasSdyResult(const Operation& function, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (FindNamed(AttributesOf(function, "res_attrs", i), "sdy.sharding") != nullptr) return true;
  }
  return false;
}

absl::StatusOr<int64_t> NumberOr(const Attribute* attribute, int64_t fallback) {
  return attribute == nullptr ? absl::StatusOr<int64_t>(fallback) : ReadInt64(*attribute);
}

// `mhlo.layout_mode` of an argument or result: "default", "auto", or a layout.
absl::Status ApplyLayoutMode(const Attribute* mode, ShapeLayout* layout) {
  if (mode == nullptr || mode->text == "default" || mode->text == "auto") return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const Layout parsed, ParseLayout(mode->text));
  if (!layout->shape().IsArray() || parsed.minor_to_major().size() != layout->shape().dimensions().size()) {
    return InvalidArgument("mhlo.layout_mode=\"%s\" does not fit %s", mode->text,
                           ShapeUtil::HumanString(layout->shape()));
  }
  layout->ResetLayout(parsed);
  return absl::OkStatus();
}

// An element of `mhlo.xla_entry_computation_parameter_layouts`: a permutation, minor to major.
absl::Status ApplyMinorToMajor(const Attribute& order, ShapeLayout* layout) {
  if (!layout->shape().IsArray()) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> minor_to_major, ReadInt64List(order));
  const Layout made = LayoutUtil::MakeLayout(minor_to_major);
  KASHI_RETURN_IF_ERROR(LayoutUtil::ValidateLayoutForShape(made, layout->shape()));
  layout->ResetLayout(made);
  return absl::OkStatus();
}

}  // namespace

absl::Status ModuleConverter::ReadModuleAttributes() {
  const Operation& module = *program_.module;
  const Attribute* name = module.Find("sym_name");
  if (name != nullptr && !name->text.empty()) module_->set_name(name->text);
  KASHI_ASSIGN_OR_RETURN(const int64_t partitions, NumberOr(module.Find("mhlo.num_partitions"), 1));
  KASHI_ASSIGN_OR_RETURN(const int64_t replicas, NumberOr(module.Find("mhlo.num_replicas"), 1));
  if (partitions < 1 || replicas < 1)
    return InvalidArgument("mhlo.num_partitions and mhlo.num_replicas must be positive");
  HloModuleConfig& config = module_->mutable_config();
  config.set_num_partitions(partitions);
  config.set_replica_count(replicas);
  const Attribute* automatic = module.Find("mhlo.use_auto_spmd_partitioning");
  if (automatic != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const bool is_automatic, ReadBool(*automatic));
    config.set_use_auto_spmd_partitioning(is_automatic);
  }
  const Attribute* dynamic = module.Find("mhlo.is_dynamic");
  if (dynamic != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const bool is_dynamic, ReadBool(*dynamic));
    module_->set_is_dynamic(is_dynamic);
  }
  const Attribute* frontend = module.Find("mhlo.frontend_attributes");
  if (frontend != nullptr) {
    for (const NamedAttribute& field : frontend->fields) {
      module_->add_frontend_attribute(std::string(field.name), std::string(field.value->text));
    }
  }
  std::vector<std::string> meshes;
  for (const Operation* operation : module.regions[0].blocks[0].operations) {
    if (operation->name != "sdy.mesh") continue;
    const Attribute* mesh = operation->Find("mesh");
    const Attribute* symbol = operation->Find("sym_name");
    if (mesh == nullptr || symbol == nullptr) return InvalidArgument("an sdy.mesh without name or axes");
    KASHI_ASSIGN_OR_RETURN(const std::string text, SdyMeshText(*mesh));
    meshes.push_back(absl::StrCat(symbol->text, " = #sdy.mesh", text));
  }
  if (!meshes.empty()) {
    module_->add_frontend_attribute("xla.sdy.meshes", absl::StrCat("{", absl::StrJoin(meshes, ", "), "}"));
  }
  return absl::OkStatus();
}

// Computations other than the entry keep no shardings of their parameters and results, but these must make sense.
absl::Status ModuleConverter::CheckShardings(const Operation& function) const {
  for (const absl::string_view list : {"arg_attrs", "res_attrs"}) {
    const Attribute* attributes = function.Find(list);
    if (attributes == nullptr) continue;
    for (size_t i = 0; i < attributes->elements.size(); ++i) {
      KASHI_RETURN_IF_ERROR(ShardingIn(sdy_meshes_, AttributesOf(function, list, i)).status());
    }
  }
  return absl::OkStatus();
}

absl::Status ModuleConverter::ConvertFunction(const Operation& function, bool is_entry) {
  const Block& block = function.regions[0].blocks[0];
  const absl::string_view name = function.Find("sym_name")->text;
  auto scope = std::make_unique<Scope>(std::string(name), 0, nullptr);
  const absl::Status shardings = CheckShardings(function);
  if (!shardings.ok()) return ErrorAt(function, shardings);
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    const int64_t number = static_cast<int64_t>(i);
    const absl::Status made = MakeParameter(scope.get(), function, number, is_entry);
    if (made.ok()) continue;
    return ErrorAt(function, absl::Status(made.code(), absl::StrCat("argument ", i, ": ", made.message())));
  }
  KASHI_ASSIGN_OR_RETURN(Instructions results, ConvertBlock(scope.get(), block));
  if (!is_entry) {
    HloInstruction* root =
        results.size() == 1 ? results[0] : scope->computation->AddInstruction(HloInstruction::CreateTuple(results));
    computations_[name] = Finish(std::move(scope), root);
    return absl::OkStatus();
  }
  absl::StatusOr<HloInstruction*> root = MakeEntryRoot(scope.get(), function, std::move(results));
  if (!root.ok()) return ErrorAt(function, root.status());
  scope->computation->set_root_instruction(*root, /*accept_different_shape=*/true);
  module_->AddEntryComputation(std::move(scope->computation));
  const absl::Status attributes = SetEntryAttributes(function);
  return attributes.ok() ? attributes : ErrorAt(function, attributes);
}

HloInstruction* ModuleConverter::AddParameter(Scope* scope, const Operation& function, int64_t number,
                                              const Shape& shape) {
  const Value& argument = function.regions[0].blocks[0].arguments[number];
  const std::string op_name = argument.location == nullptr ? "" : OpNameOf(*argument.location);
  HloInstruction* parameter = scope->computation->AddParameter(
      HloInstruction::CreateParameter(number, shape, op_name.empty() ? absl::StrCat("Arg_", number) : op_name));
  if (!op_name.empty()) parameter->set_metadata_op_name(op_name);
  AddFrontendAttributes(FindNamed(AttributesOf(function, "arg_attrs", number), "mhlo.frontend_attributes"), parameter);
  scope->values[&argument] = parameter;
  return parameter;
}

absl::Status ModuleConverter::MakeParameter(Scope* scope, const Operation& function, int64_t number, bool is_entry) {
  const Type& type = *function.regions[0].blocks[0].arguments[number].type;
  KnownArgument known;
  if (is_entry) {
    KASHI_ASSIGN_OR_RETURN(known, AskForArgument(function, number));
  }
  KASHI_ASSIGN_OR_RETURN(const Shape shape, is_entry ? EntryArgumentShape(type, number, known) : ShapeOfType(type));
  HloInstruction* const parameter = AddParameter(scope, function, number, shape);
  if (!is_entry) return absl::OkStatus();
  if (known.value.has_value()) KASHI_RETURN_IF_ERROR(SetKnownArgument(*parameter, *known.value));
  const absl::Span<const NamedAttribute> attributes = AttributesOf(function, "arg_attrs", number);
  KASHI_ASSIGN_OR_RETURN(std::optional<HloSharding> sharding, ShardingIn(sdy_meshes_, attributes));
  if (sharding.has_value()) parameter->set_sharding(*std::move(sharding));
  const Attribute* sdy = FindNamed(attributes, "sdy.sharding");
  if (sdy != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const std::string text, SdyShardingText(*sdy));
    parameter->set_frontend_attribute("xla.sdy.sharding", absl::StrCat("#sdy.sharding", text));
  }
  const Attribute* replicated = FindNamed(attributes, "mhlo.is_same_data_across_replicas");
  if (replicated != nullptr && (replicated->kind == Attribute::Kind::kUnit || replicated->integer != 0)) {
    parameter->set_parameter_replicated_at_leaf_buffers(
        std::vector<bool>(static_cast<size_t>(ShapeUtil::GetLeafCount(shape)), true));
  }
  return absl::OkStatus();
}

// A single result is the root itself; several, or none, are a tuple. A single result with a sharding has XLA's form,
// the element of a tuple of one.
absl::StatusOr<HloInstruction*> ModuleConverter::MakeEntryRoot(Scope* scope, const Operation& function,
                                                               Instructions results) {
  HloComputation* computation = scope->computation.get();
  std::vector<HloSharding> shardings;
  const bool has_sdy = HasSdyResult(function, results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const absl::Span<const NamedAttribute> attributes = AttributesOf(function, "res_attrs", i);
    KASHI_ASSIGN_OR_RETURN(std::optional<HloSharding> sharding, ShardingIn(sdy_meshes_, attributes));
    if (sharding.has_value()) shardings.push_back(*std::move(sharding));
    const Attribute* sdy = FindNamed(attributes, "sdy.sharding");
    if (!has_sdy || sdy == nullptr) continue;
    KASHI_ASSIGN_OR_RETURN(const std::string text, SdyShardingPerValueText({sdy}));
    auto constraint = HloInstruction::CreateCustomCall(results[i]->shape(), {results[i]}, "xla.sdy.FuncResultSharding");
    constraint->mutable_fields()->Set<HloField::custom_call_has_side_effect>(true);
    constraint->set_frontend_attribute("xla.sdy.sharding", text);
    results[i] = computation->AddInstruction(std::move(constraint));
  }
  const bool is_sharded = !results.empty() && shardings.size() == results.size();
  if (results.size() == 1 && !is_sharded) return results[0];
  HloInstruction* root = computation->AddInstruction(HloInstruction::CreateTuple(results));
  if (results.size() == 1) {
    root = computation->AddInstruction(HloInstruction::CreateGetTupleElement(root, 0));
    root->set_sharding(std::move(shardings[0]));
  } else if (is_sharded && ShapeUtil::GetLeafCount(root->shape()) == static_cast<int64_t>(shardings.size())) {
    root->set_sharding(HloSharding::FlatTuple(std::move(shardings)));
  }
  return root;
}

static std::string MemoryKindOf(const Operation& function, absl::string_view list, size_t i) {
  const Attribute* kind = FindNamed(AttributesOf(function, list, i), "mhlo.memory_kind");
  return kind != nullptr && kind->kind == Attribute::Kind::kString ? std::string(kind->text) : "";
}

void ModuleConverter::KeepMemoryKinds(const Operation& function) {
  const Block& block = function.regions[0].blocks[0];
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    options_.memory_kinds->arguments.push_back(MemoryKindOf(function, "arg_attrs", i));
  }
  for (size_t i = 0; i < block.operations.back()->operands.size(); ++i) {
    options_.memory_kinds->results.push_back(MemoryKindOf(function, "res_attrs", i));
  }
}

absl::Status ModuleConverter::SetEntryAttributes(const Operation& function) {
  if (options_.memory_kinds != nullptr) KeepMemoryKinds(function);
  ComputationLayout layout = module_->compute_computation_layout();
  KASHI_RETURN_IF_ERROR(SetEntryLayouts(function, &layout));
  const Shape& result = module_->result_shape();
  HloInputOutputAliasConfig aliases(result);
  const size_t argument_count = function.regions[0].blocks[0].arguments.size();
  const bool is_one_result = function.regions[0].blocks[0].operations.back()->operands.size() == 1;
  for (size_t i = 0; i < argument_count; ++i) {
    const int64_t number = static_cast<int64_t>(i);
    const absl::Span<const NamedAttribute> attributes = AttributesOf(function, "arg_attrs", i);
    const Attribute* donor = FindNamed(attributes, "jax.buffer_donor");
    if (donor != nullptr && (donor->kind == Attribute::Kind::kUnit || donor->integer != 0)) {
      module_->buffer_donor_config().AddBufferDonor(number, {});
    }
    const Attribute* output = FindNamed(attributes, "tf.aliasing_output");
    if (output == nullptr) continue;
    KASHI_ASSIGN_OR_RETURN(const int64_t k, ReadInt64(*output));
    const ShapeIndex index = is_one_result ? ShapeIndex() : ShapeIndex({k});
    KASHI_RETURN_IF_ERROR(aliases.SetUpAlias(index, number, {}));
  }
  module_->set_input_output_alias_config(std::move(aliases));
  module_->mutable_config().set_entry_computation_layout(std::move(layout));
  return absl::OkStatus();
}

absl::Status ModuleConverter::SetEntryLayouts(const Operation& function, ComputationLayout* layout) {
  const Attribute* parameters = program_.module->Find("mhlo.xla_entry_computation_parameter_layouts");
  for (int i = 0; i < layout->parameter_count(); ++i) {
    if (parameters != nullptr && static_cast<size_t>(i) < parameters->elements.size()) {
      KASHI_RETURN_IF_ERROR(ApplyMinorToMajor(*parameters->elements[i], layout->mutable_parameter_layout(i)));
    }
    const Attribute* mode = FindNamed(AttributesOf(function, "arg_attrs", i), "mhlo.layout_mode");
    KASHI_RETURN_IF_ERROR(ApplyLayoutMode(mode, layout->mutable_parameter_layout(i)));
  }
  const Attribute* result = program_.module->Find("mhlo.xla_entry_computation_result_layout");
  if (result != nullptr && result->kind == Attribute::Kind::kTensor) {
    KASHI_RETURN_IF_ERROR(ApplyMinorToMajor(*result, layout->mutable_result_layout()));
  }
  if (!layout->result_shape().IsTuple()) {
    return ApplyLayoutMode(FindNamed(AttributesOf(function, "res_attrs", 0), "mhlo.layout_mode"),
                           layout->mutable_result_layout());
  }
  Shape shape = layout->result_shape();
  for (int i = 0; i < shape.tuple_shapes_size(); ++i) {
    ShapeLayout element(shape.tuple_shapes(i));
    const Attribute* mode = FindNamed(AttributesOf(function, "res_attrs", i), "mhlo.layout_mode");
    KASHI_RETURN_IF_ERROR(ApplyLayoutMode(mode, &element));
    *shape.mutable_tuple_shapes(i) = element.shape();
  }
  *layout->mutable_result_layout() = ShapeLayout(std::move(shape));
  return absl::OkStatus();
}

}  // namespace kashi::stablehlo
