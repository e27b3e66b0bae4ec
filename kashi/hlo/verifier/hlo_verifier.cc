#include "kashi/hlo/verifier/hlo_verifier.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/inference/instruction_shape.h"
#include "kashi/hlo/verifier/hlo_verifier_internal.h"

namespace kashi {
namespace hlo::hlo_verifier {

// ---------------------------------------------------------------------------------------------------------------------
// Verification
// ---------------------------------------------------------------------------------------------------------------------

void Verification::Report(const HloInstruction* instruction, absl::string_view rule, const absl::Status& status) {
  if (status.ok()) return;
  findings_.push_back(
      {instruction, instruction->parent(), std::string(rule), std::string(status.message()), status.code()});
}

void Verification::Report(const HloComputation* computation, absl::string_view rule, const absl::Status& status) {
  if (status.ok()) return;
  findings_.push_back({nullptr, computation, std::string(rule), std::string(status.message()), status.code()});
}

void Verification::ReportModule(absl::string_view rule, const absl::Status& status) {
  if (status.ok()) return;
  findings_.push_back({nullptr, nullptr, std::string(rule), std::string(status.message()), status.code()});
}

bool Verification::MayExamine(const HloComputation& computation) const {
  if (malformed_.empty()) return true;
  return !IsMalformed(computation.root_instruction()) &&
         absl::c_none_of(computation.parameter_instructions(),
                         [this](const HloInstruction* parameter) { return IsMalformed(parameter); });
}

bool Verification::MayExamine(const HloInstruction& instruction) const {
  if (malformed_.empty()) return true;
  return !IsMalformed(&instruction) &&
         absl::c_none_of(instruction.operands(), [this](const HloInstruction* x) { return IsMalformed(x); }) &&
         absl::c_all_of(instruction.called_computations(),
                        [this](const HloComputation* computation) { return MayExamine(*computation); });
}

bool Verification::ShapesSame(const Shape& a, const Shape& b, Shape::Equal equal) const {
  return opts_.layout_sensitive ? equal(a, b) : ShapeUtil::Compatible(a, b);
}

bool Verification::ShapesSameUpToPrecision(const Shape& a, const Shape& b) const {
  if (!opts_.allow_mixed_precision) return ShapesSame(a, b);
  return opts_.layout_sensitive ? Shape::Equal().IgnoreFpPrecision()(a, b)
                                : ShapeUtil::CompatibleIgnoringFpPrecision(a, b);
}

std::string Verification::ShapeText(const Shape& shape) const {
  return opts_.layout_sensitive ? ShapeUtil::HumanStringWithLayout(shape) : ShapeUtil::HumanString(shape);
}

// ---------------------------------------------------------------------------------------------------------------------
// Common steps
// ---------------------------------------------------------------------------------------------------------------------

absl::Status CheckParameterCount(const HloInstruction& x, const HloComputation& computation, int64_t expected) {
  if (computation.num_parameters() == expected) return absl::OkStatus();
  return Internal("Expected computation %s called from %s to have %d parameters, has %d", computation.name(), x.name(),
                  expected, computation.num_parameters());
}

absl::Status CheckOperandAndParameter(const HloInstruction& x, int64_t operand, const HloComputation& computation,
                                      int64_t parameter, const Verification& v) {
  if (operand >= x.operand_count()) return Internal("%s has no operand %d", x.name(), operand);
  if (parameter >= computation.num_parameters()) {
    return Internal("computation %s has no parameter %d", computation.name(), parameter);
  }
  const Shape& given = x.operand(operand)->shape();
  const Shape& taken = computation.parameter_instruction(parameter)->shape();
  if (v.ShapesSame(given, taken)) return absl::OkStatus();
  return Internal("Operand %s shape does not match parameter's %s in computation %s: %s vs %s",
                  x.operand(operand)->name(), computation.parameter_instruction(parameter)->name(), computation.name(),
                  v.ShapeText(given), v.ShapeText(taken));
}

absl::Status CheckOperandCount(const HloInstruction& x, int64_t expected) {
  if (x.operand_count() == expected) return absl::OkStatus();
  return Internal("Expected %d operands for %s instruction, but it has %d", expected, HloOpcodeString(x.opcode()),
                  x.operand_count());
}

absl::Status CheckArity(const HloInstruction& x) {
  return hlo::HasItsOperandCount(x) ? absl::OkStatus() : CheckOperandCount(x, GetHloOpcodeInfo(x.opcode()).arity);
}

absl::Status CheckIsToken(const HloInstruction& x, int64_t operand) {
  if (operand >= x.operand_count()) return Internal("%s has no operand %d", x.name(), operand);
  const Shape& shape = x.operand(operand)->shape();
  if (shape.IsToken()) return absl::OkStatus();
  return Internal("Expected operand %d to be token-shaped, actual shape is %s", operand, ShapeUtil::HumanString(shape));
}

absl::Status CheckResultIs(const HloInstruction& x, const Shape& expected, const Verification& v) {
  if (v.ShapesSame(x.shape(), expected, Shape::Equal().MinorToMajorOnlyInLayout())) return absl::OkStatus();
  return Internal("Expected instruction to have shape equal to %s, actual shape is %s", v.ShapeText(expected),
                  v.ShapeText(x.shape()));
}

absl::Status CheckElementTypesOfParameters(const HloInstruction& x, int64_t count) {
  const HloComputation& computation = *x.to_apply();
  for (int64_t i = 0; i < count; ++i) {
    if (i >= computation.num_parameters()) return absl::OkStatus();  // shape inference has said so
    const Shape& parameter = computation.parameter_instruction(i)->shape();
    if (!parameter.IsArray() || !x.operand(i)->shape().IsArray() ||
        ShapeUtil::SameElementType(parameter, x.operand(i)->shape())) {
      continue;
    }
    return InvalidArgument(
        "Shape mismatch between to_apply computation parameter and operand %d: element types of %s and %s differ", i,
        ShapeUtil::HumanString(parameter), ShapeUtil::HumanString(x.operand(i)->shape()));
  }
  return absl::OkStatus();
}

absl::Status CheckConsistentShardings(const HloInstruction& x, absl::Span<const HloInstruction* const> instructions) {
  const HloInstruction* first = nullptr;
  for (const HloInstruction* instruction : instructions) {
    if (!instruction->has_sharding()) continue;
    if (first == nullptr) first = instruction;
    if (first->sharding() == instruction->sharding()) continue;
    return Internal("Inconsistent %s sharding among instructions: %s has %s, %s has %s", HloOpcodeString(x.opcode()),
                    first->name(), first->sharding().ToString(), instruction->name(),
                    instruction->sharding().ToString());
  }
  return absl::OkStatus();
}

// ---------------------------------------------------------------------------------------------------------------------
// The order of checks
// ---------------------------------------------------------------------------------------------------------------------
namespace {

using ChecksByOpcode = std::array<std::vector<OpcodeCheck>, HloOpcodeCount()>;

const ChecksByOpcode& OpcodeChecks() {
  static const ChecksByOpcode* const checks = [] {
    auto* all = new ChecksByOpcode;
    for (const auto table : {DataChecks(), ControlChecks(), AsyncChecks(), CollectiveChecks(), CustomCallChecks()}) {
      for (const OpcodeCheck& check : table) (*all)[static_cast<int>(check.opcode)].push_back(check);
    }
    return all;
  }();
  return *checks;
}

// Checks the shapes of a whole computation first, as XLA does.
void VerifyComputation(const HloComputation& computation, Verification* v) {
  const std::vector<HloInstruction*> order = computation.MakeInstructionPostOrder();
  for (const HloInstruction* x : order) {
    if (v->MayExamine(*x)) VerifyShapeOf(*x, v);
  }
  for (const HloInstruction* x : order) {
    if (!v->MayExamine(*x)) continue;
    VerifyEveryInstruction(*x, v);
    for (const OpcodeCheck& check : OpcodeChecks()[static_cast<int>(x->opcode())]) {
      v->Report(x, check.rule, check.check(*x, *v));
    }
  }
}

}  // namespace
}  // namespace hlo::hlo_verifier

std::vector<HloFinding> VerifyHlo(const HloModule& module, const HloVerifierOpts& opts) {
  hlo::hlo_verifier::Verification v(module, opts);
  if (hlo::hlo_verifier::VerifyStructure(&v)) {
    hlo::hlo_verifier::FindMalformed(&v);
    hlo::hlo_verifier::VerifyAsyncPairs(&v);
    hlo::hlo_verifier::VerifyChannels(&v);
    hlo::hlo_verifier::VerifyNames(&v);
    for (const HloComputation* computation : module.computations())
      hlo::hlo_verifier::VerifyComputation(*computation, &v);
    hlo::hlo_verifier::VerifyAsyncComputations(&v);
    hlo::hlo_verifier::VerifyBuffers(&v);
    hlo::hlo_verifier::VerifyModuleWide(&v);
    if (opts.verify_no_collective_deadlocks) hlo::hlo_verifier::VerifyDeadlocks(&v);
  }
  return std::move(v.findings());
}

int64_t HloVerifierOpts::DefaultShapeSize(const Shape& shape) {
  constexpr int64_t kPointerSize = 8;
  return ShapeUtil::ByteSizeOf(shape, kPointerSize);
}

bool InstructionMayChangeLayout(const HloInstruction* instruction) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(instruction->opcode());
  // Its only purpose is to hold a layout.
  if (instruction->IsCustomCall("LayoutConstraint")) return false;
  if (info.Has(HloOpcodeFlags::kLayoutFreeUnlessConstrained)) return !instruction->constrain_layout();
  return info.Has(HloOpcodeFlags::kMayChangeLayout);
}

HloVerifier::HloVerifier(bool layout_sensitive, bool allow_mixed_precision,
                         HloPredicate instruction_can_change_layout_func,
                         std::function<int64_t(const Shape&)> shape_size_func, bool verify_no_collective_deadlocks)
    : HloVerifier(HloVerifierOpts{}
                      .WithLayoutSensitive(layout_sensitive)
                      .WithAllowMixedPrecision(allow_mixed_precision)
                      .WithInstructionCanChangeLayout(instruction_can_change_layout_func)
                      .WithCustomShapeSize(shape_size_func)
                      .WithVerifyNoCollectiveDeadlocks(verify_no_collective_deadlocks)) {}

absl::StatusOr<bool> HloVerifier::Run(HloModule* module, const absl::flat_hash_set<absl::string_view>&) {
  const std::vector<HloFinding> findings = VerifyHlo(*module, target_metadata_->GetVerifierOpts());
  if (findings.empty()) return false;
  const HloFinding& first = findings.front();
  std::string message = absl::StrCat("during context [", context_, "]: ", first.message);
  if (first.instruction != nullptr) {
    absl::StrAppend(&message, ", for instruction ", first.instruction->ToString());
  } else if (first.computation != nullptr) {
    absl::StrAppend(&message, ", for computation ", first.computation->name());
  }
  return absl::Status(first.code, message);
}

}  // namespace kashi
