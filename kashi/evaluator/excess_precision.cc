#include "kashi/evaluator/excess_precision.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "kashi/array/shape_util.h"
#include "kashi/devices/sharding_border.h"

namespace kashi::evaluator {
namespace {

bool IsBf16(const HloInstruction* x) { return x->shape().IsArray() && x->shape().element_type() == BF16; }

bool IsProduct(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kDot || x.opcode() == HloOpcode::kConvolution;
}

Shape AsF32(const Shape& shape) { return ShapeUtil::ChangeElementType(shape, F32); }

// Manual regions know their computations by name: their calls stay, in compiled programs too.
bool HasManualRegions(absl::Span<HloComputation* const> computations) {
  return absl::c_any_of(computations, [](const HloComputation* computation) {
    return absl::c_any_of(computation->instructions(), [](const HloInstruction* x) {
      return devices::BorderKindOf(*x) != devices::BorderKind::kNone;
    });
  });
}

}  // namespace

bool CanBeUnrounded(const HloInstruction& x) {
  if (!IsBf16(&x) || x.operands().empty() || !absl::c_all_of(x.operands(), IsBf16)) return false;
  if (x.HasControlDependencies()) return false;
  const bool calls = GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kEmbeddedCall);
  return (HloInstruction::IsOpElementwise(x.opcode()) && !calls) || IsProduct(x);
}

bool TakesUnrounded(const HloInstruction& convert) {
  return convert.opcode() == HloOpcode::kConvert && convert.shape().element_type() == F32 &&
         !convert.HasControlDependencies() && IsBf16(convert.operand(0));
}

bool HasWideOperands(const HloInstruction& x) { return !IsProduct(x); }

WideInstruction MakeWide(const HloInstruction& x) {
  WideInstruction wide;
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* operand : x.operands()) {
    const Shape shape = HasWideOperands(x) ? AsF32(operand->shape()) : operand->shape();
    const auto number = static_cast<int64_t>(operands.size());
    wide.parameters.push_back(HloInstruction::CreateParameter(number, shape, operand->name()));
    operands.push_back(wide.parameters.back().get());
  }
  wide.instruction = x.CloneWithNewOperands(AsF32(x.shape()), operands);
  wide.instruction->SetAndSanitizeName(x.name());
  return wide;
}

bool CanInline(const HloInstruction& call) {
  if (call.opcode() != HloOpcode::kCall && call.opcode() != HloOpcode::kFusion) return false;
  if (call.HasControlDependencies()) return false;
  const HloComputation& body = *call.called_computations()[0];
  if (call.operand_count() != body.num_parameters()) return false;
  // The value of a parameter or of the root is converted to the declared shape at a call.
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    if (!ShapeUtil::Compatible(call.operand(i)->shape(), body.parameter_instruction(i)->shape())) return false;
  }
  if (!ShapeUtil::Compatible(call.shape(), body.root_instruction()->shape())) return false;
  return absl::c_none_of(body.instructions(), [](const HloInstruction* x) { return x->HasControlDependencies(); });
}

UnroundedResults::UnroundedResults(absl::Span<HloComputation* const> computations) {
  std::vector<const HloInstruction*> wanted;  // instructions whose users take the result before it is rounded
  absl::flat_hash_set<const HloInstruction*> inlined;
  absl::flat_hash_map<const HloComputation*, std::vector<const HloInstruction*>> calls;
  for (const HloComputation* computation : computations) {
    for (const HloInstruction* x : computation->instructions()) {
      if (!TakesUnrounded(*x)) continue;
      takers_.insert(x);
      wanted.push_back(x->operand(0));
    }
  }
  if (wanted.empty()) return;  // most programs
  if (!HasManualRegions(computations)) {
    for (const HloComputation* computation : computations) {
      for (const HloInstruction* x : computation->instructions()) {
        if (x->opcode() != HloOpcode::kCall || !CanInline(*x)) continue;
        inlined.insert(x);
        calls[x->to_apply()].push_back(x);
      }
    }
  }
  absl::flat_hash_set<const HloInstruction*> seen(wanted.begin(), wanted.end());
  const auto want = [&](const HloInstruction* x, const HloInstruction* call) {
    takers_.insert(call);
    if (seen.insert(x).second) wanted.push_back(x);
  };
  while (!wanted.empty()) {
    const HloInstruction* x = wanted.back();
    wanted.pop_back();
    if (CanBeUnrounded(*x)) kept_.insert(x);
    if (x->opcode() == HloOpcode::kParameter) {
      const auto found = calls.find(x->parent());
      if (found == calls.end()) continue;
      for (const HloInstruction* call : found->second) want(call->operand(x->parameter_number()), call);
    } else if (inlined.contains(x)) {
      want(x->to_apply()->root_instruction(), x);
    }
  }
}

}  // namespace kashi::evaluator
