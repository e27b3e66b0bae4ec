// Buffers that operations share: output_to_operand_aliasing, custom calls, values of buffer type.
// (docs/spec/hlo-ops.md, 6)
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/verifier/hlo_verifier_internal.h"

namespace kashi::hlo::hlo_verifier {

absl::Status CheckOutputOperandAliasing(const HloInstruction& x, Shape::Equal equal, const Verification& v,
                                        bool scalars_may_move) {
  if (!v.opts().layout_sensitive) equal.IgnoreLayout().IgnoreDynamicDimension();
  for (const auto& [output_index, source] : x.output_operand_aliasing()) {
    const auto& [operand, operand_index] = source;
    if (operand < 0 || operand >= x.operand_count()) {
      return Internal("Invalid aliasing operand index: %d of %d operands", operand, x.operand_count());
    }
    if (!ShapeUtil::IndexIsValid(x.shape(), output_index)) {
      return Internal("Invalid aliasing output shape index: %s of %s", output_index.ToString(), v.ShapeText(x.shape()));
    }
    if (!ShapeUtil::IndexIsValid(x.operand(operand)->shape(), operand_index)) {
      return Internal("Invalid aliasing operand shape index: %s of %s", operand_index.ToString(),
                      v.ShapeText(x.operand(operand)->shape()));
    }
    const Shape& output = ShapeUtil::GetSubshape(x.shape(), output_index);
    const Shape& input = ShapeUtil::GetSubshape(x.operand(operand)->shape(), operand_index);
    Shape::Equal equal_here = equal;
    if (scalars_may_move && ShapeUtil::IsScalar(output)) equal_here.IgnoreMemorySpaceInLayout();
    if (equal_here(output, input)) continue;
    return Internal("Different aliasing shapes: operand %d at %s is %s, output %s is %s", operand,
                    operand_index.ToString(), v.ShapeText(input), output_index.ToString(), v.ShapeText(output));
  }
  return absl::OkStatus();
}

namespace {

// Pin makes a buffer of an array, CreateBuffer makes a new one, Unpin makes an array of a buffer.
constexpr absl::string_view kPin = "Pin";
constexpr absl::string_view kCreateBuffer = "CreateBuffer";
constexpr absl::string_view kUnpin = "Unpin";

// ---- Custom calls ---------------------------------------------------------------------------------------------------

absl::Status CheckConstrainedLayouts(const HloInstruction& x, const Verification&) {
  if (!x.layout_constrained() || x.IsCustomCall("LayoutConstraint")) return absl::OkStatus();
  if (!LayoutUtil::HasLayout(x.shape()))
    return Internal("A layout-constrained custom call must have a layout in its result");
  const std::vector<Shape>& constraints = x.operand_shapes_with_layout();
  if (static_cast<int64_t>(constraints.size()) != x.operand_count()) {
    return Internal("A custom call of %d operands has %d layout constraints", x.operand_count(), constraints.size());
  }
  for (int64_t i = 0; i < x.operand_count(); ++i) {
    const Shape& operand = x.operand(i)->shape();
    if (!ShapeUtil::Compatible(operand, constraints[i])) {
      return Internal("Layout constraint %d is %s, but the operand is %s", i, ShapeUtil::HumanString(constraints[i]),
                      ShapeUtil::HumanString(operand));
    }
    if (!LayoutUtil::HasLayout(constraints[i])) return Internal("Layout constraint %d has no layout", i);
  }
  return absl::OkStatus();
}

absl::Status CheckCustomCallAliasing(const HloInstruction& x, const Verification& v) {
  if (x.get_frontend_attribute("xla_skip_custom_call_alias_shape_check").has_value()) return absl::OkStatus();
  Shape::Equal equal;
  equal.IgnoreBuffer(x.IsCustomCall(kPin) || x.IsCustomCall(kUnpin));
  return CheckOutputOperandAliasing(x, equal, v, /*scalars_may_move=*/true);
}

bool IsBufferOf(const Shape& buffer, const Shape& array) {
  return buffer.IsBuffer() && array.IsArrayExcludingBuffer() && ShapeUtil::Compatible(buffer.buffer_shape(), array);
}

// Pin and Unpin.
absl::Status CheckPinning(const HloInstruction& x, bool is_pin) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 1));
  const Shape& operand = x.operand(0)->shape();
  if (is_pin ? !IsBufferOf(x.shape(), operand) : !IsBufferOf(operand, x.shape())) {
    return InvalidArgument("custom-call to %s must turn %s of the same shape, but turns %s into %s",
                           x.custom_call_target(), is_pin ? "an array into a buffer" : "a buffer into an array",
                           ShapeUtil::HumanString(operand), ShapeUtil::HumanString(x.shape()));
  }
  if (x.output_operand_aliasing().size() == 1) return absl::OkStatus();
  return InvalidArgument("custom-call to %s must have one output-to-operand aliasing, but has %d",
                         x.custom_call_target(), x.output_operand_aliasing().size());
}

// Each incoming buffer is returned once, and vice versa.
absl::Status CheckBuffersPassThrough(const HloInstruction& x) {
  using Place = std::pair<int64_t, ShapeIndex>;
  absl::flat_hash_map<Place, int> uses;  // operand -1: the output
  for (const auto& [output_index, source] : x.output_operand_aliasing()) {
    ++uses[Place(-1, output_index)];
    ++uses[source];
  }
  const auto check = [&](const Shape& shape, int64_t operand) {
    return ShapeUtil::ForEachLeafShapeWithStatus(shape, [&](const Shape& leaf, const ShapeIndex& index) {
      const auto found = uses.find(Place(operand, index));
      const int count = found == uses.end() ? 0 : found->second;
      if (!leaf.IsBuffer() || count == 1) return absl::OkStatus();
      return InvalidArgument("%s %d at %s is a buffer in %d output-to-operand aliasing pairs instead of one",
                             operand < 0 ? "Output" : "Operand", operand < 0 ? 0 : operand, index.ToString(), count);
    });
  };
  KASHI_RETURN_IF_ERROR(check(x.shape(), -1));
  for (int64_t i = 0; i < x.operand_count(); ++i) KASHI_RETURN_IF_ERROR(check(x.operand(i)->shape(), i));
  return absl::OkStatus();
}

absl::Status CheckCustomCallBuffers(const HloInstruction& x, const Verification&) {
  if (x.IsCustomCall(kPin)) return CheckPinning(x, /*is_pin=*/true);
  if (x.IsCustomCall(kUnpin)) return CheckPinning(x, /*is_pin=*/false);
  if (!x.IsCustomCall(kCreateBuffer)) return CheckBuffersPassThrough(x);
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 0));
  if (x.shape().IsBuffer()) return absl::OkStatus();
  return InvalidArgument("custom-call to CreateBuffer must have a buffer result, but has %s",
                         ShapeUtil::HumanString(x.shape()));
}

constexpr OpcodeCheck kChecks[] = {
    {HloOpcode::kCustomCall, "layout constraints", CheckConstrainedLayouts},
    {HloOpcode::kCustomCall, "aliasing", CheckCustomCallAliasing},
    {HloOpcode::kCustomCall, "buffers", CheckCustomCallBuffers},
};

// ---- Buffers in the graph -------------------------------------------------------------------------------------------

bool HasBuffer(const Shape& shape) {
  return !ShapeUtil::ForEachLeafShapeWithStatus(shape, [](const Shape& leaf, const ShapeIndex&) {
            return leaf.IsBuffer() ? Internal("found") : absl::OkStatus();
          }).ok();
}

bool MayHaveBuffers(const HloInstruction& x) {
  if (x.opcode() == HloOpcode::kParameter) return !x.parent()->IsEntryComputation();
  return GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kMayHoldBuffers);
}

absl::Status CheckBuffers(const HloInstruction& x) {
  const auto has_buffer = [](const HloInstruction* operand) { return HasBuffer(operand->shape()); };
  if (!MayHaveBuffers(x) && (HasBuffer(x.shape()) || absl::c_any_of(x.operands(), has_buffer))) {
    return InvalidArgument("Seen buffers while buffers aren't allowed in this context: %s in computation %s",
                           HloOpcodeString(x.opcode()), x.parent()->name());
  }
  return absl::OkStatus();
}

// ---- Writers of buffers ---------------------------------------------------------------------------------------------

// The origin of a buffer: the instruction and the index in its shape. Tuples and get-tuple-elements only forward it.
using BufferValue = std::pair<const HloInstruction*, ShapeIndex>;

// The instructions that may change the contents of the buffers of one computation.
class BufferWriters {
 public:
  // Pre: operands are added first. `goes_around`: a while body passes the value to its next iteration.
  void Add(const HloInstruction& x, bool goes_around) {
    const HloOpcodeInfo& info = GetHloOpcodeInfo(x.opcode());
    const bool is_writer = info.Has(HloOpcodeFlags::kEmbeddedCall | HloOpcodeFlags::kControlFlow) ||
                           (goes_around && x.opcode() == HloOpcode::kTuple);
    absl::flat_hash_set<const HloInstruction*> seen;
    for (const HloInstruction* operand : x.operands()) {
      if (!is_writer || !seen.insert(operand).second) continue;
      for (const auto& [index, value] : values_[operand]) NoteWriter(value, x);
    }
    PassOn(x);
  }

  struct Finding {
    BufferValue value;
    const HloInstruction* first;
    const HloInstruction* second;
  };
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  using Values = std::vector<std::pair<ShapeIndex, BufferValue>>;  // by index in the instruction's shape

  void NoteWriter(const BufferValue& value, const HloInstruction& writer) {
    const HloInstruction*& known = writers_[value];
    if (known != nullptr && known != &writer) findings_.push_back({value, known, &writer});
    if (known == nullptr) known = &writer;
  }

  void PassOn(const HloInstruction& x) {
    if (!HasBuffer(x.shape())) return;
    Values values;
    if (x.opcode() == HloOpcode::kGetTupleElement) {
      const int64_t element = x.tuple_index();
      for (const auto& [index, value] : values_[x.operand(0)]) {
        if (index.empty() || index[0] != element) continue;
        values.emplace_back(ShapeIndex(index.begin() + 1, index.end()), value);
      }
    } else if (x.opcode() == HloOpcode::kTuple) {
      for (int64_t i = 0; i < x.operand_count(); ++i) {
        for (const auto& [index, value] : values_[x.operand(i)]) {
          ShapeIndex longer = index;
          longer.push_front(i);
          values.emplace_back(std::move(longer), value);
        }
      }
    } else {
      for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(x.shape())) {
        if (leaf.shape.IsBuffer()) values.emplace_back(leaf.index, BufferValue(&x, leaf.index));
      }
    }
    values_[&x] = std::move(values);
  }

  absl::flat_hash_map<const HloInstruction*, Values> values_;
  absl::flat_hash_map<BufferValue, const HloInstruction*> writers_;
  std::vector<Finding> findings_;
};

void VerifyWriters(const HloComputation& computation, bool is_body, Verification* v) {
  const auto has_buffer = [](const HloInstruction* x) { return HasBuffer(x->shape()); };
  if (absl::c_none_of(computation.instructions(), has_buffer)) return;
  BufferWriters writers;
  for (const HloInstruction* x : computation.MakeInstructionPostOrder()) {
    if (v->MayExamine(*x)) writers.Add(*x, is_body && x == computation.root_instruction());
  }
  for (const BufferWriters::Finding& finding : writers.findings()) {
    const auto& [instruction, index] = finding.value;
    v->Report(
        instruction, "buffers",
        InvalidArgument("an HLO buffer value has more than one writers (or unpins): %s %s is written by %s and %s",
                        instruction->name(), index.ToString(), finding.first->name(), finding.second->name()));
  }
}

}  // namespace

absl::Span<const OpcodeCheck> CustomCallChecks() { return kChecks; }

void VerifyBuffers(Verification* v) {
  absl::flat_hash_set<const HloInstruction*> body_roots;
  for (const HloComputation* computation : v->module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      if (x->opcode() != HloOpcode::kWhile || v->IsMalformed(x)) continue;
      body_roots.insert(x->while_body()->root_instruction());
    }
  }
  for (const HloComputation* computation : v->module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      if (!v->MayExamine(*x)) continue;
      v->Report(x, "buffers", CheckBuffers(*x));
    }
    VerifyWriters(*computation, body_roots.contains(computation->root_instruction()), v);
  }
}

}  // namespace kashi::hlo::hlo_verifier
