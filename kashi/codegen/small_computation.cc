#include "kashi/codegen/small_computation.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "kashi/array/shape_util.h"
#include "kashi/codegen/small_array.h"
#include "kashi/codegen/small_dot.h"
#include "kashi/codegen/small_windows.h"
#include "kashi/evaluator/contraction.h"
#include "kashi/passes/plain_array.h"

namespace kashi::codegen {
namespace {

using Operands = absl::Span<const SmallOperand>;

bool HasSmallOperandsFrom(const HloInstruction& instruction, int64_t first) {
  return std::all_of(instruction.operands().begin() + first, instruction.operands().end(),
                     [](const HloInstruction* x) { return IsSmallArray(x->shape()); });
}

// ---- Operations on a large array in memory, their first operand ----------------------------------------------------

std::vector<llvm::Value*> IndicesOf(const LaneBuilder& lanes, const HloInstruction& instruction, int first_start,
                                    const Shape& slice, Operands operands) {
  std::vector<llvm::Value*> starts;
  for (size_t i = first_start; i < operands.size(); ++i) starts.push_back(operands[i].registers);
  const PrimitiveType type = starts.empty() ? S32 : instruction.operand(first_start)->shape().element_type();
  return SliceIndices(lanes, instruction.operand(0)->shape().dimensions(), slice.dimensions(), starts, type);
}

bool CanReadSlice(const HloInstruction& slice) {
  return IsSmallArray(slice.shape()) && HasStartsOfOneType(slice, 1) && KeepsElementType(slice);
}
llvm::Value* ReadSlice(const LaneBuilder& lanes, const HloInstruction& slice, Operands operands) {
  const std::vector<llvm::Value*> indices = IndicesOf(lanes, slice, 1, slice.shape(), operands);
  return LoadSmallElements(lanes, slice.shape(), operands[0].memory, indices);
}

bool CanReadStaticSlice(const HloInstruction& slice) { return IsSmallArray(slice.shape()) && KeepsElementType(slice); }
llvm::Value* ReadStaticSlice(const LaneBuilder& lanes, const HloInstruction& slice, Operands operands) {
  const DimensionVector strides = evaluator::RowMajorStrides(slice.operand(0)->shape().dimensions());
  std::vector<llvm::Value*> indices;
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(slice.shape()); ++i) {
    const std::vector<int64_t> coordinates = SmallCoordinates(i, slice.shape().dimensions());
    int64_t index = 0;
    for (size_t d = 0; d < coordinates.size(); ++d) {
      index += (slice.slice_starts(d) + coordinates[d] * slice.slice_strides(d)) * strides[d];
    }
    indices.push_back(lanes.ir().getInt64(static_cast<uint64_t>(index)));
  }
  return LoadSmallElements(lanes, slice.shape(), operands[0].memory, indices);
}

bool CanWriteSlice(const HloInstruction& update) {
  return HasStartsOfOneType(update, 2) && KeepsElementType(update, 2);
}
llvm::Value* WriteSlice(const LaneBuilder& lanes, const HloInstruction& update, Operands operands) {
  const Shape& slice = update.operand(1)->shape();
  const std::vector<llvm::Value*> indices = IndicesOf(lanes, update, 2, slice, operands);
  StoreSmallElements(lanes, slice, operands[1].registers, operands[0].memory, indices);
  return nullptr;
}

llvm::Value* ReadWindows(const LaneBuilder& lanes, const HloInstruction& gather, Operands operands) {
  return EmitGatherFromMemory(lanes, gather, operands[0].memory, operands[1].registers);
}
llvm::Value* WriteWindows(const LaneBuilder& lanes, const HloInstruction& scatter, Operands operands) {
  EmitScatterToMemory(lanes, scatter, operands[0].memory, operands[1].registers, operands[2].registers);
  return nullptr;
}

struct MemoryRow {
  HloOpcode opcode;
  bool writes;
  bool (*can_emit)(const HloInstruction& instruction);
  llvm::Value* (*emit)(const LaneBuilder& lanes, const HloInstruction& instruction, Operands operands);
};
constexpr MemoryRow kMemoryRows[] = {
    {HloOpcode::kDynamicSlice, false, &CanReadSlice, &ReadSlice},
    {HloOpcode::kSlice, false, &CanReadStaticSlice, &ReadStaticSlice},
    {HloOpcode::kGather, false, &CanEmitSmallGather, &ReadWindows},
    {HloOpcode::kDynamicUpdateSlice, true, &CanWriteSlice, &WriteSlice},
    {HloOpcode::kScatter, true, &CanEmitSmallScatter, &WriteWindows},
};

// Null: there is none, or the first operand is no large array.
const MemoryRow* FindMemoryRow(const HloInstruction& instruction) {
  if (instruction.operands().empty() || !instruction.shape().IsArray() || instruction.HasControlDependencies()) {
    return nullptr;
  }
  const Shape& array = instruction.operand(0)->shape();
  if (IsSmallArray(array) || !passes::IsPlainArray(array) || !HasSmallOperandsFrom(instruction, 1)) return nullptr;
  for (const MemoryRow& row : kMemoryRows) {
    if (row.opcode == instruction.opcode()) return row.can_emit(instruction) ? &row : nullptr;
  }
  return nullptr;
}

llvm::Value* EmitDot(const LaneBuilder& lanes, const HloInstruction& dot, Operands operands) {
  absl::flat_hash_map<std::pair<int, int64_t>, llvm::Value*> known;
  const auto element = [&](int operand, int64_t i) {
    llvm::Value*& value = known[{operand, i}];
    if (value != nullptr) return value;
    llvm::Value* const index = lanes.ir().getInt64(static_cast<uint64_t>(i));
    const SmallOperand& array = operands[operand];
    return value = array.memory == nullptr
                       ? SmallElement(lanes.ir(), array.registers, index)
                       : lanes.WithLanes(1).LoadScalar(dot.shape().element_type(), array.memory, index,
                                                       /*is_invariant=*/false);
  };
  return EmitSmallDot(
      lanes, dot, [&](int64_t i) { return element(0, i); }, [&](int64_t i) { return element(1, i); });
}

// The same array with other dimensions.
bool KeepsMemory(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  return (opcode == HloOpcode::kReshape || opcode == HloOpcode::kCopy) && KeepsElementType(instruction) &&
         passes::IsPlainArray(instruction.shape());
}

}  // namespace

bool CanEmitAlone(const HloInstruction& instruction) {
  if (!instruction.shape().IsArray() || instruction.HasControlDependencies()) return false;
  return CanEmitSmallDot(instruction) || FindMemoryRow(instruction) != nullptr || CanEmitSmallArray(instruction);
}

bool EmitAlone(const LaneBuilder& lanes, const HloInstruction& instruction, Operands operands, llvm::Value** value) {
  if (CanEmitSmallDot(instruction)) {
    *value = EmitDot(lanes, instruction, operands);
    return true;
  }
  if (const MemoryRow* const row = FindMemoryRow(instruction); row != nullptr) {
    *value = row->emit(lanes, instruction, operands);
    return true;
  }
  std::vector<llvm::Value*> registers;
  for (const SmallOperand& operand : operands) registers.push_back(operand.registers);
  *value = EmitSmallArray(lanes, instruction, registers);
  return *value != nullptr;
}

int64_t UpdatedParameter(const HloComputation& fused) {
  const HloInstruction& root = *fused.root_instruction();
  const MemoryRow* const row = FindMemoryRow(root);
  return row != nullptr && row->writes ? root.operand(0)->parameter_number() : -1;
}

bool CanEmitSmallComputation(const HloComputation& fused) {
  const HloInstruction& root = *fused.root_instruction();
  if (root.opcode() == HloOpcode::kTuple && !HasSmallOperandsFrom(root, 0)) return false;
  for (const HloInstruction* instruction : fused.instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter || instruction->opcode() == HloOpcode::kTuple) continue;
    const bool is_small = instruction->shape().IsArray() && IsSmallArray(instruction->shape());
    if (!is_small && instruction != &root && KeepsMemory(*instruction)) continue;
    if (!CanEmitAlone(*instruction)) return false;
    const MemoryRow* const row = FindMemoryRow(*instruction);
    const bool updates_parameter = instruction == &root && root.operand(0)->opcode() == HloOpcode::kParameter;
    if (row != nullptr && row->writes && !updates_parameter) return false;
  }
  return true;
}

bool EmitSmallComputation(const LaneBuilder& lanes, const HloComputation& fused, Operands operands,
                          std::vector<llvm::Value*>* values) {
  absl::flat_hash_map<const HloInstruction*, SmallOperand> known;
  for (const HloInstruction* instruction : fused.MakeInstructionPostOrder()) {
    SmallOperand& result = known[instruction];
    if (instruction->opcode() == HloOpcode::kParameter) {
      result = operands[instruction->parameter_number()];
      continue;
    }
    if (instruction->opcode() == HloOpcode::kTuple) continue;  // the root
    std::vector<SmallOperand> own;
    for (const HloInstruction* operand : instruction->operands()) own.push_back(known.at(operand));
    if (!IsSmallArray(instruction->shape()) && KeepsMemory(*instruction)) {
      result.memory = own[0].memory;
      continue;
    }
    llvm::Value* value = nullptr;
    if (!EmitAlone(lanes, *instruction, own, &value)) return false;
    known[instruction] = {value, nullptr};
  }
  const HloInstruction* const root = fused.root_instruction();
  if (root->opcode() != HloOpcode::kTuple) {
    values->push_back(known.at(root).registers);
    return true;
  }
  for (const HloInstruction* operand : root->operands()) values->push_back(known.at(operand).registers);
  return true;
}

}  // namespace kashi::codegen
