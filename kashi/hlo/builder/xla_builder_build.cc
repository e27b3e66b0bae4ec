// From a builder's instructions to computations and programs (docs/spec/hlo-ops.md 10.1).
#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/builder/xla_builder.h"

namespace kashi {
namespace {

using Computations = std::vector<std::unique_ptr<HloComputation>>;

// Copies of the computations and of all that they call, callees first.
Computations CopyWithCallees(absl::Span<HloComputation* const> computations, HloComputationMap* copy_of) {
  Computations copies;
  const auto copy = [&](const HloComputation* original) {
    if (copy_of->contains(original)) return;
    copies.push_back(original->Clone(/*suffix=*/"", copy_of));
    (*copy_of)[original] = copies.back().get();
  };
  for (const HloComputation* computation : computations) {
    for (const HloComputation* callee : computation->MakeEmbeddedComputationsList()) copy(callee);
    copy(computation);
  }
  return copies;
}

// `add.12` without its number.
absl::string_view BaseName(absl::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos || dot == 0) return name;
  return absl::c_all_of(name.substr(dot + 1), absl::ascii_isdigit) ? name.substr(0, dot) : name;
}

// Operations that depend on more than their operands, or on called programs (docs/spec/hlo-ops.md 0.2).
bool IsNeverConstant(const HloInstruction& instruction) {
  return GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kNeverConstant);
}

// The program with this entry. `id` is the builder's, so that the same calls always give the same program.
std::shared_ptr<HloModule> MakeModule(Computations callees, std::unique_ptr<HloComputation> entry,
                                      const ProgramShape& program_shape, int64_t id) {
  auto module = std::make_shared<HloModule>(entry->name(), HloModuleConfig(program_shape, /*ignore_layouts=*/false));
  module->set_unique_id(static_cast<int>(id));
  for (auto& callee : callees) module->AddComputationAsIs(std::move(callee), /*is_entry=*/false);
  module->AddComputationAsIs(std::move(entry), /*is_entry=*/true);
  return module;
}

// A copy with other operands, in no computation yet. Its callees are copied to `callees`. A size becomes a constant.
std::unique_ptr<HloInstruction> CopyForConstant(const HloInstruction& original,
                                                absl::Span<HloInstruction* const> operands,
                                                bool dynamic_dimension_is_minus_one, Computations* callees,
                                                HloComputationMap* copy_of) {
  if (original.opcode() == HloOpcode::kGetDimensionSize) {
    const Shape& shape = original.operand(0)->shape();
    const int dimension = static_cast<int>(original.dimension());
    const bool is_unknown = shape.is_unbounded_dynamic_dimension(dimension) || dynamic_dimension_is_minus_one;
    const int64_t size = is_unknown ? -1 : shape.dimensions(dimension);
    auto constant = HloInstruction::CreateConstant(LiteralUtil::CreateR0<int32_t>(static_cast<int32_t>(size)));
    constant->SetAndSanitizeName(original.name());
    return constant;
  }
  auto copy = original.CloneWithNewOperands(original.shape(), operands, /*suffix=*/"");
  for (auto& callee : CopyWithCallees(original.called_computations(), copy_of)) callees->push_back(std::move(callee));
  for (size_t i = 0; i < original.called_computations().size(); ++i) {
    copy->set_called_computation(static_cast<int64_t>(i), copy_of->at(original.called_computations()[i]));
  }
  return copy;
}

}  // namespace

// ---- Embedding -----------------------------------------------------------------------------------------------------

void XlaBuilder::Renumber(HloComputation* computation) {
  computation->SetAndSanitizeName(absl::StrCat(BaseName(computation->name()), ".", NextId()));
  for (HloInstruction* instruction : computation->instructions()) {
    instruction->SetAndSanitizeName(absl::StrCat(BaseName(instruction->name()), ".", NextId()));
  }
}

absl::StatusOr<HloComputation*> XlaBuilder::EmbedCopy(const XlaComputation& computation) {
  KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<const HloModule> module, computation.GetModule());
  HloComputationMap copy_of;
  for (auto& copy : CopyWithCallees({module->entry_computation()}, &copy_of)) {
    Renumber(copy.get());
    embedded_.push_back(std::move(copy));
  }
  return embedded_.back().get();
}

absl::StatusOr<XlaComputationId> XlaBuilder::BuildSubComputation(std::optional<XlaOp> root,
                                                                 bool remove_dynamic_dimensions) {
  if (parent_builder_ == nullptr) return Internal("builder %s is not a sub-builder", name_);
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* last, root ? Find(*root) : Last());
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloComputation> computation, TakeComputation(last, remove_dynamic_dimensions));
  for (auto& callee : embedded_) {
    parent_builder_->Renumber(callee.get());
    parent_builder_->embedded_.push_back(std::move(callee));
  }
  embedded_.clear();
  parent_builder_->Renumber(computation.get());
  parent_builder_->embedded_.push_back(std::move(computation));
  parent_builder_->called_ancestor_ = std::max(parent_builder_->called_ancestor_, called_ancestor_ - 1);
  return XlaComputationId(static_cast<int64_t>(parent_builder_->embedded_.size()) - 1, parent_builder_);
}

// ---- Building ------------------------------------------------------------------------------------------------------

absl::StatusOr<XlaComputation> XlaBuilder::Build(bool remove_dynamic_dimensions) {
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* root, Last());
  return Build(XlaOp(root->unique_id(), this), remove_dynamic_dimensions);
}

absl::StatusOr<XlaComputation> XlaBuilder::Build(XlaOp root, bool remove_dynamic_dimensions) {
  KASHI_RETURN_IF_ERROR(first_error_);
  if (root.builder_ != this) {
    return InvalidArgument("Given root operation is not in this computation: builder %s.", name_);
  }
  if (called_ancestor_ > 0) {
    return Unimplemented("Build() is not supported when the builder calls computations from its parent.");
  }
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* instruction, Find(root));
  if (remove_dynamic_dimensions) RemoveDynamicDimensions();
  KASHI_ASSIGN_OR_RETURN(ProgramShape program_shape, ProgramShapeOf(instruction));
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloComputation> entry, TakeComputation(instruction, false));
  auto module = MakeModule(std::exchange(embedded_, {}), std::move(entry), program_shape, last_id_);
  KASHI_RETURN_IF_ERROR(ApplyAliases(program_shape, module.get()));
  return XlaComputation(std::move(module), std::move(program_shape));
}

absl::StatusOr<XlaComputation> XlaBuilder::Build(XlaComputationId entry) {
  KASHI_RETURN_IF_ERROR(first_error_);
  if (entry.builder_ != this)
    return InvalidArgument("computation %d is not embedded in builder %s", entry.handle_, name_);
  KASHI_ASSIGN_OR_RETURN(HloComputation * original, Embed(entry));
  HloComputationMap copy_of;
  Computations copies = CopyWithCallees({original}, &copy_of);
  std::unique_ptr<HloComputation> copy = std::move(copies.back());
  copies.pop_back();
  ProgramShape program_shape;
  for (const HloInstruction* parameter : copy->parameter_instructions()) {
    program_shape.AddParameter(parameter->shape(), std::string(BaseName(parameter->name())));
  }
  *program_shape.mutable_result() = copy->root_instruction()->shape();
  auto module = MakeModule(std::move(copies), std::move(copy), program_shape, last_id_);
  return XlaComputation(std::move(module), std::move(program_shape));
}

XlaComputation XlaBuilder::BuildAndNoteError() {
  KASHI_CHECK(parent_builder_ != nullptr) << name_ << " is not a sub-builder";
  absl::StatusOr<XlaComputation> computation = Build();
  if (computation.ok()) return *std::move(computation);
  const absl::Status& error = computation.status();
  parent_builder_->ReportError(absl::Status(error.code(), absl::StrCat(error.message(), "; error from: ", name_)));
  return XlaComputation();
}

absl::StatusOr<std::unique_ptr<HloComputation>> XlaBuilder::TakeComputation(const HloInstruction* root,
                                                                            bool remove_dynamic_dimensions) {
  KASHI_RETURN_IF_ERROR(first_error_);
  KASHI_RETURN_IF_ERROR(ProgramShapeOf(root).status());
  if (remove_dynamic_dimensions) RemoveDynamicDimensions();
  HloInstruction* const root_instruction = instructions_[root->unique_id()].get();
  HloComputation::Builder builder(absl::StrCat(SanitizeName(name_), ".", NextId()));
  for (auto& instruction : instructions_) builder.AddInstruction(std::move(instruction));
  instructions_.clear();
  parameter_names_.clear();
  last_outfeed_token_ = nullptr;
  last_infeed_ = nullptr;
  return builder.Build(root_instruction);
}

absl::Status XlaBuilder::ApplyAliases(const ProgramShape& program_shape, HloModule* module) const {
  const auto check = [&](int64_t number, const ShapeIndex& index) -> absl::Status {
    if (number < 0 || number >= program_shape.parameters_size()) {
      return InvalidArgument("Invalid parameter number %d (total %d)", number, program_shape.parameters_size());
    }
    if (!ShapeUtil::IndexIsValid(program_shape.parameters(static_cast<int>(number)), index)) {
      return InvalidArgument("Invalid parameter %d index: %s", number, index.ToString());
    }
    return absl::OkStatus();
  };
  HloInputOutputAliasConfig aliases(program_shape.result());
  for (const Alias& alias : aliases_) {
    KASHI_RETURN_IF_ERROR(check(alias.parameter.parameter_number, alias.parameter.parameter_index));
    KASHI_RETURN_IF_ERROR(aliases.SetUpAlias(alias.output_index, alias.parameter.parameter_number,
                                             alias.parameter.parameter_index, alias.parameter.kind));
  }
  module->set_input_output_alias_config(std::move(aliases));
  for (const auto& [number, index] : donors_) {
    KASHI_RETURN_IF_ERROR(check(number, index));
    if (module->input_output_alias_config().ParameterHasAlias(number, index)) {
      return InvalidArgument("parameter %d index %s is already aliased with an output: it cannot be a buffer donor too",
                             number, index.ToString());
    }
    module->buffer_donor_config().AddBufferDonor(number, index);
  }
  return absl::OkStatus();
}

void XlaBuilder::RemoveDynamicDimensions() {
  for (const auto& instruction : instructions_) {
    const bool has_bounds = instruction->shape().is_dynamic() && !instruction->shape().is_unbounded_dynamic();
    if (has_bounds) instruction->mutable_shape()->clear_dynamic_dimensions();
  }
}

// ---- Constants -----------------------------------------------------------------------------------------------------

absl::StatusOr<std::set<int64_t>> XlaBuilder::ConstantSubGraph(const HloInstruction* root,
                                                               bool sizes_are_constant) const {
  std::set<int64_t> needed;
  std::vector<const HloInstruction*> unseen = {root};
  while (!unseen.empty()) {
    const HloInstruction* const instruction = unseen.back();
    unseen.pop_back();
    if (!needed.insert(instruction->unique_id()).second) continue;
    if (instruction->opcode() == HloOpcode::kGetDimensionSize && sizes_are_constant) continue;
    if (IsNeverConstant(*instruction) || instruction->opcode() == HloOpcode::kGetDimensionSize) {
      return InvalidArgument(
          "Operand to BuildConstantSubGraph depends on a parameter.\n\n  op requested for constant subgraph: %s\n\n"
          "  which depends on: %s",
          root->ToString(), instruction->ToString());
    }
    unseen.insert(unseen.end(), instruction->operands().begin(), instruction->operands().end());
  }
  return needed;
}

absl::StatusOr<bool> XlaBuilder::IsConstant(XlaOp operand) const {
  KASHI_RETURN_IF_ERROR(first_error_);
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* root, Find(operand));
  return ConstantSubGraph(root, /*sizes_are_constant=*/false).ok();
}

absl::StatusOr<XlaComputation> XlaBuilder::BuildConstantSubGraph(XlaOp root, bool dynamic_dimension_is_minus_one) {
  KASHI_RETURN_IF_ERROR(first_error_);
  KASHI_ASSIGN_OR_RETURN(const HloInstruction* root_instruction, Find(root));
  KASHI_ASSIGN_OR_RETURN(const std::set<int64_t> needed, ConstantSubGraph(root_instruction, true));

  HloComputation::Builder builder(absl::StrCat(SanitizeName(name_), ".", NextId()));
  Computations callees;
  HloComputationMap copy_of;
  std::vector<HloInstruction*> copies(instructions_.size());
  for (const int64_t handle : needed) {
    const HloInstruction& original = *instructions_[handle];
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : original.operands()) operands.push_back(copies[operand->unique_id()]);
    copies[handle] =
        builder.AddInstruction(CopyForConstant(original, operands, dynamic_dimension_is_minus_one, &callees, &copy_of));
  }
  ProgramShape program_shape;
  *program_shape.mutable_result() = root_instruction->shape();
  std::unique_ptr<HloComputation> entry = builder.Build(copies[root_instruction->unique_id()]);
  auto module = MakeModule(std::move(callees), std::move(entry), program_shape, last_id_);
  return XlaComputation(std::move(module), std::move(program_shape));
}

}  // namespace kashi
