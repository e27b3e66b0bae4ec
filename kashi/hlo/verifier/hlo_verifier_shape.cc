// Checks of every instruction: a valid shape that follows from its operands, one floating point precision, operands of
// its size and layout, a sharding that fits. (docs/spec/hlo-ops.md, 0.2)
#include <cstdint>
#include <optional>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/inference/instruction_shape.h"
#include "kashi/hlo/verifier/hlo_verifier_internal.h"

namespace kashi::hlo::hlo_verifier {
namespace {

constexpr int64_t kDefaultMemorySpace = 0;
constexpr int64_t kGenericFastMemorySpace = 1;
constexpr int64_t kHostMemorySpace = 5;

// ---- The inferred shape ---------------------------------------------------------------------------------------------

// Operations whose text has more, or less, than inference reads: they have checks of their own.
bool HasOwnShapeCheck(HloShapeRule rule) {
  return rule == HloShapeRule::kNone || rule == HloShapeRule::kBroadcast || rule == HloShapeRule::kReshape ||
         rule == HloShapeRule::kDynamicReshape || rule == HloShapeRule::kWhile;
}

// Whether a copy brings an array from the device to the host, or back.
bool IsHostOffload(const HloInstruction& x, const Shape& inferred) {
  if (x.opcode() != HloOpcode::kCopy || !x.shape().has_layout() || !inferred.has_layout()) return false;
  const int64_t from = inferred.layout().memory_space();
  const int64_t to = x.shape().layout().memory_space();
  return from != to && (from == kHostMemorySpace || to == kHostMemorySpace);
}

bool IsAsInferred(const HloInstruction& x, const Shape& inferred, const Verification& v) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(x.opcode());
  // Other copies may change layout and precision.
  if (v.opts().layout_sensitive && IsHostOffload(x, inferred)) {
    return Shape::Equal().IgnoreMemorySpaceInLayout().IgnoreSplitConfigInLayout()(x.shape(), inferred);
  }
  const bool is_fused_update = x.opcode() == HloOpcode::kDynamicUpdateSlice && x.IsFused();
  if (info.Has(HloOpcodeFlags::kExactLayout)) {
    Shape::Equal equal;
    equal.MinorToMajorOnlyInLayout(info.Has(HloOpcodeFlags::kMinorToMajorOnly));
    equal.IgnoreTilesInLayout(is_fused_update).IgnoreMemorySpaceInLayout(is_fused_update);
    return v.ShapesSame(x.shape(), inferred, equal);
  }
  return v.opts().allow_mixed_precision ? ShapeUtil::CompatibleIgnoringFpPrecision(x.shape(), inferred)
                                        : ShapeUtil::Compatible(x.shape(), inferred);
}

absl::Status CheckInferredShape(const HloInstruction& x, const Verification& v) {
  if (HasOwnShapeCheck(GetHloOpcodeInfo(x.opcode()).shape_rule)) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const Shape inferred, InferInstructionShape(x));
  if (IsAsInferred(x, inferred, v)) return absl::OkStatus();
  return Internal("Expected instruction to have shape equal to %s, actual shape is %s", v.ShapeText(inferred),
                  v.ShapeText(x.shape()));
}

// ---- Precision ------------------------------------------------------------------------------------------------------

absl::Status CheckPrecision(const HloInstruction& x, const Verification& v) {
  if (v.opts().allow_mixed_precision || GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kMixedPrecision)) {
    return absl::OkStatus();
  }
  std::optional<PrimitiveType> seen;
  for (const HloInstruction* operand : x.operands()) {
    KASHI_RETURN_IF_ERROR(
        ShapeUtil::ForEachLeafShapeWithStatus(operand->shape(), [&](const Shape& leaf, const ShapeIndex&) {
          if (!leaf.IsArray() || !ShapeUtil::ElementIsFloating(leaf)) return absl::OkStatus();
          if (!seen.has_value()) seen = leaf.element_type();
          if (*seen == leaf.element_type()) return absl::OkStatus();
          return Internal(
              "Seen floating point types of different precisions (%s and %s) in %s, but mixed precision is disallowed.",
              primitive_util::LowercasePrimitiveTypeName(*seen),
              primitive_util::LowercasePrimitiveTypeName(leaf.element_type()), x.name());
        }));
  }
  return absl::OkStatus();
}

// ---- Sizes and layouts of operands ----------------------------------------------------------------------------------

// Inference stretches sizes of 1; HLO does not.
absl::Status CheckNoImplicitBroadcast(const HloInstruction& x) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(x.opcode());
  const bool is_unary_or_binary = info.arity == 1 || info.arity == 2;
  if (!info.Has(HloOpcodeFlags::kElementwise) || !is_unary_or_binary ||
      info.shape_rule == HloShapeRule::kBitcastConvert) {
    return absl::OkStatus();
  }
  for (const HloInstruction* operand : x.operands()) {
    if (ShapeUtil::CompatibleIgnoringElementType(operand->shape(), x.shape())) continue;
    return FailedPrecondition(
        "Implicit broadcast is not allowed in HLO. Found different shapes for instruction %s: output %s, operand %s %s",
        HloOpcodeString(x.opcode()), ShapeUtil::HumanString(x.shape()), operand->name(),
        ShapeUtil::HumanString(operand->shape()));
  }
  return absl::OkStatus();
}

// The layouts that operand and result must have in common where an operation may not change it.
bool SameLayoutButFor(const HloInstruction& x, const Shape& operand) {
  Layout::Equal equal;
  equal.IgnoreTiles().IgnoreMemorySpace().IgnoreSplitConfigs();
  const bool is_predicate = x.opcode() == HloOpcode::kSelect && operand.element_type() == PRED;
  equal.IgnoreElementSize(is_predicate || GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kElementSizeFree));
  return equal(x.shape().layout(), operand.layout());
}

// The directions in which a slice may copy between the memories of device and host.
absl::Status CheckMemoryChange(const HloInstruction& x, int64_t from, int64_t to) {
  if (from == to) return absl::OkStatus();
  if ((from == kGenericFastMemorySpace) != (to == kGenericFastMemorySpace)) {
    return Internal(
        "Instruction shouldn't change layout memory space between generic fast memory space and others for "
        "instruction: %s, from S(%d) to S(%d)",
        x.name(), from, to);
  }
  const bool to_host = from == kDefaultMemorySpace && to == kHostMemorySpace;
  const bool to_device = from == kHostMemorySpace && to == kDefaultMemorySpace;
  if (x.opcode() == HloOpcode::kDynamicSlice && to_host) {
    return Internal("DynamicSlice instruction shouldn't change layout memory space from device to host: %s", x.name());
  }
  if (x.opcode() == HloOpcode::kDynamicUpdateSlice && to_device) {
    return Internal("DynamicUpdateSlice instruction shouldn't change layout memory space from host to device: %s",
                    x.name());
  }
  if (to_host || to_device) return absl::OkStatus();
  return Internal("Instruction shouldn't change layout memory space: %s, from S(%d) to S(%d)", x.name(), from, to);
}

bool MayLeadToHost(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kDynamicSlice || x.opcode() == HloOpcode::kDynamicUpdateSlice ||
         x.opcode() == HloOpcode::kCopy;
}

absl::Status CheckLayoutUnchanged(const HloInstruction& x, const Verification& v) {
  const auto has_layout = [](const Shape& shape) { return shape.IsArrayExcludingBuffer() && shape.has_layout(); };
  if (!v.opts().layout_sensitive || v.opts().InstructionCanChangeLayout(&x) || !has_layout(x.shape())) {
    return absl::OkStatus();
  }
  for (const HloInstruction* operand : x.operands()) {
    if (!has_layout(operand->shape()) || operand->shape().rank() != x.shape().rank()) continue;
    if (MayLeadToHost(x)) {
      KASHI_RETURN_IF_ERROR(
          CheckMemoryChange(x, operand->shape().layout().memory_space(), x.shape().layout().memory_space()));
    }
    if (SameLayoutButFor(x, operand->shape())) continue;
    return Internal("Instruction shouldn't change layouts %s: it has %s, its operand %s has %s", x.name(),
                    v.ShapeText(x.shape()), operand->name(), v.ShapeText(operand->shape()));
  }
  return absl::OkStatus();
}

// ---- Attributes that any instruction may have -----------------------------------------------------------------------

absl::Status CheckResultAccuracy(const HloInstruction& x) {
  if (!x.has_result_accuracy()) return absl::OkStatus();
  const HloOpcodeInfo& info = GetHloOpcodeInfo(x.opcode());
  const bool is_listed = absl::c_any_of(info.attributes, [](const HloOpcodeAttribute& entry) {
    return entry.attribute == HloAttribute::result_accuracy;
  });
  // The text of copy, convert and bitcast may have it, but the operations cannot.
  if (is_listed && info.shape_rule == HloShapeRule::kUnary) return absl::OkStatus();
  return Internal("Unary op with result accuracy is not supported for %s", info.name);
}

absl::Status CheckSharding(const HloInstruction& x, const Verification& v) {
  if (!x.has_sharding()) return absl::OkStatus();
  // One partition is the default and has no meaning: a module that is not partitioned yet has shardings for many.
  const int64_t partitions = v.module().config().num_partitions();
  const bool is_known = v.opts().verify_sharding_device_numbers && partitions != 1;
  const std::optional<int64_t> devices = is_known ? std::optional(partitions) : std::nullopt;
  const absl::Status status = x.sharding().Validate(x.shape(), devices);
  return status.ok() ? status
                     : absl::Status(status.code(), absl::StrCat("Invalid sharding for instruction: ", x.name(), ": ",
                                                                status.message()));
}

// Loops, branches and fusions run on the thread of their caller; other calls only if the options require it.
absl::Status CheckThreads(const HloInstruction& x, const Verification& v) {
  const bool is_always =
      x.opcode() == HloOpcode::kWhile || x.opcode() == HloOpcode::kConditional || x.opcode() == HloOpcode::kFusion;
  const bool is_async = GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kAsync);
  const bool is_asked = v.opts().verify_call_nested_computation_thread_name && !is_async;
  if (!is_always && !is_asked) return absl::OkStatus();
  for (const HloComputation* callee : x.called_computations()) {
    if (callee->execution_thread() == x.parent()->execution_thread()) continue;
    return Internal(
        "Callable instruction %s expects parent computation thread name same as called computation's thread name "
        "(%s vs %s)",
        x.name(), x.parent()->execution_thread(), callee->execution_thread());
  }
  return absl::OkStatus();
}

absl::Status CheckNameUnchanged(const HloInstruction& x, const Verification& v) {
  if (!v.opts().verify_instruction_name_unchanged) return absl::OkStatus();
  const std::string& scheduled = x.metadata().scheduling_name();
  const bool is_copy = absl::StrContains(x.name(), ".remat") || absl::StrContains(x.name(), ".clone");
  if (scheduled.empty() || scheduled == x.name() || is_copy) return absl::OkStatus();
  return Internal("Expected instruction name to remain the same. Was '%s' previously '%s'.", x.name(), scheduled);
}

absl::Status CheckNoHostMemory(const HloInstruction& x, const Verification& v) {
  if (!v.opts().verify_no_host_memory_space) return absl::OkStatus();
  return ShapeUtil::ForEachLeafShapeWithStatus(x.shape(), [&](const Shape& leaf, const ShapeIndex& index) {
    if (!leaf.IsArray() || LayoutUtil::MemorySpace(leaf) != kHostMemorySpace) return absl::OkStatus();
    return Internal("Instruction has a shape in host memory at index %s: %s", index.ToString(),
                    ShapeUtil::HumanStringWithLayout(x.shape()));
  });
}

absl::Status CheckBounded(const HloInstruction& x, const Verification& v) {
  if (v.opts().allow_unbounded_dynamism || !x.shape().is_unbounded_dynamic()) return absl::OkStatus();
  return InvalidArgument("Unbounded dynamism is disabled for instruction: %s of shape %s", x.name(),
                         ShapeUtil::HumanString(x.shape()));
}

}  // namespace

void FindMalformed(Verification* v) {
  for (const HloComputation* computation : v->module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      const size_t before = v->findings().size();
      v->Report(x, "shape", ShapeUtil::ValidateShapeWithOptionalLayout(x->shape()));
      const absl::Status count = CheckArity(*x);
      v->Report(x, "operand count", count);
      if (count.ok()) v->Report(x, "attributes", CheckInstructionIsComplete(*x));
      if (v->findings().size() != before) v->NoteMalformed(x);
    }
  }
}

void VerifyShapeOf(const HloInstruction& x, Verification* v) {
  v->Report(&x, "unbounded dynamism", CheckBounded(x, *v));
  v->Report(&x, "result shape", CheckInferredShape(x, *v));
  v->Report(&x, "mixed precision", CheckPrecision(x, *v));
}

void VerifyEveryInstruction(const HloInstruction& x, Verification* v) {
  v->Report(&x, "implicit broadcast", CheckNoImplicitBroadcast(x));
  v->Report(&x, "result accuracy", CheckResultAccuracy(x));
  v->Report(&x, "sharding", CheckSharding(x, *v));
  v->Report(&x, "execution thread", CheckThreads(x, *v));
  v->Report(&x, "layout change", CheckLayoutUnchanged(x, *v));
  v->Report(&x, "instruction name", CheckNameUnchanged(x, *v));
  v->Report(&x, "host memory", CheckNoHostMemory(x, *v));
}

}  // namespace kashi::hlo::hlo_verifier
