#include "kashi/analysis/memory_buffers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kashi/base/status.h"

namespace kashi::analysis {
namespace {

class BufferMaker {
 public:
  BufferMaker(const HloModule& module, const MemoryTarget& target, ShapeNodesCache* shapes)
      : module_(module), target_(target), shapes_(shapes) {}

  absl::StatusOr<ModuleBuffers> Run(const CallGraph& graph, const ValuePositions& positions, const BufferGroups& groups,
                                    const LiveRanges& ranges) && {
    MakeBuffers(positions, groups, ranges);
    KASHI_RETURN_IF_ERROR(AddElements(graph, positions.total_bytes(), ranges.region_count() - 1));
    return std::move(result_);
  }

 private:
  struct GroupFacts {
    int32_t buffer = -1;
    bool is_argument = false;
    bool is_output = false;
    bool has_constants = false;
    bool has_other_values = false;
  };

  void MakeBuffers(const ValuePositions& positions, const BufferGroups& groups, const LiveRanges& ranges) {
    std::vector<GroupFacts> facts(groups.group_count());
    result_.buffer_of_group.assign(groups.group_count(), -1);
    const auto mark = [&](const HloInstruction* instruction, bool GroupFacts::*fact) {
      const PositionRange range = positions.RangeOf(instruction);
      for (int32_t i = 0; i < range.size(); ++i) facts[groups.GroupOf(range.first + i)].*fact = true;
    };
    const HloComputation& entry = *module_.entry_computation();
    for (const HloInstruction* parameter : entry.parameter_instructions()) mark(parameter, &GroupFacts::is_argument);
    mark(entry.root_instruction(), &GroupFacts::is_output);
    for (const ValuePositions::Entry& each : positions.entries()) {
      for (int32_t node = 0; node < each.nodes->size(); ++node) {
        const int32_t position = each.first + node;
        const int32_t group = groups.GroupOf(position);
        const ShapeNode& shape = each.nodes->nodes()[node];
        if (groups.KindOf(position) == PositionKind::kForwarded || groups.IsBorrowed(group)) continue;
        if (shape.shape->IsToken() || shape.shape->IsOpaque()) continue;
        if (facts[group].buffer < 0) facts[group].buffer = AddBuffer(ranges.RangeOf(group));
        if (groups.KindOf(position) == PositionKind::kValue) {
          (each.instruction->IsConstant() ? facts[group].has_constants : facts[group].has_other_values) = true;
        }
        AddValue({positions.NameOf(each, node), each.instruction, shape.shape, BytesOf(shape, *each.instruction),
                  shape.unpadded_bytes, shape.memory_space, groups.KindOf(position) == PositionKind::kPhi},
                 &result_.buffers[facts[group].buffer]);
      }
    }
    result_.is_temporary_group.resize(facts.size());
    for (size_t group = 0; group < facts.size(); ++group) {
      if (facts[group].buffer < 0) continue;
      result_.buffer_of_group[group] = facts[group].buffer;
      result_.buffers[facts[group].buffer].kind = KindOf(facts[group]);
      result_.is_temporary_group[group] = KindOf(facts[group]) == MemoryBuffer::Kind::kTemporary;
    }
  }
  // Adds the values of computations that work on elements, such as a sort's comparison. Their constants lie in memory,
  // as all constants except those of fusions, which are in the code. Their other values are thread-local.
  absl::Status AddElements(const CallGraph& graph, int64_t total_bytes, int32_t entry_region) {
    for (const CallGraph::Node& node : graph.nodes()) {
      if (!node.is_reached || node.has_buffers || node.computation->IsFusionComputation()) continue;
      for (const HloInstruction* instruction : node.computation->instructions()) {
        KASHI_ASSIGN_OR_RETURN(const ShapeNodes* nodes, shapes_->Get(instruction->shape()));
        KASHI_RETURN_IF_ERROR(AddToTotalBytes(nodes->total_bytes(), &total_bytes));
        if (!instruction->IsConstant()) {
          AddThreadLocal(*instruction, *nodes);
        } else if (instruction->shape().IsArray()) {
          AddConstantOfElements(*instruction, nodes->nodes()[0], entry_region);
        }
      }
    }
    return absl::OkStatus();
  }
  void AddConstantOfElements(const HloInstruction& instruction, const ShapeNode& shape, int32_t entry_region) {
    MemoryBuffer& buffer = result_.buffers[AddBuffer({entry_region, 0, 0})];
    buffer.kind = MemoryBuffer::Kind::kConstant;
    AddValue({std::string(instruction.name()), &instruction, shape.shape, BytesOf(shape, instruction),
              shape.unpadded_bytes, shape.memory_space, /*is_phi=*/false},
             &buffer);
  }
  void AddThreadLocal(const HloInstruction& instruction, const ShapeNodes& nodes) {
    using Flow = HloOpcodeFlags::Flow;
    const HloOpcodeInfo& info = GetHloOpcodeInfo(instruction.opcode());
    if (info.Has(HloOpcodeFlags::kForwardsOperand) || instruction.opcode() == HloOpcode::kBitcast) return;
    switch (info.flow) {
      case Flow::kElement:
        return;
      case Flow::kTuple:
        ++result_.thread_local_count;
        result_.thread_local_bytes += nodes.nodes()[0].bytes;
        return;
      default:
        result_.thread_local_count += nodes.size();
        result_.thread_local_bytes += nodes.total_bytes();
    }
  }
  // An untiled scalar that is a constant of a compiled TPU program takes as much as a whole vector register, 4096
  // bytes; other untiled scalars of 32 bits take four (device_size.h).
  int64_t BytesOf(const ShapeNode& node, const HloInstruction& instruction) const {
    const Shape& shape = *node.shape;
    const bool is_untiled_scalar = instruction.IsConstant() && shape.IsArray() && shape.dimensions_size() == 0 &&
                                   (!shape.has_layout() || shape.layout().tiles_size() == 0);
    if (!target_.is_tpu() || !module_.has_schedule() || !is_untiled_scalar) return node.bytes;
    return std::max<int64_t>(node.bytes, 8 * 128 * node.unpadded_bytes);
  }
  int32_t AddBuffer(const LiveRange& range) {
    MemoryBuffer& buffer = result_.buffers.emplace_back();
    buffer.region = range.region;
    buffer.first_step = range.first;
    buffer.last_step = range.last;
    return static_cast<int32_t>(result_.buffers.size()) - 1;
  }
  static void AddValue(BufferValue value, MemoryBuffer* buffer) {
    const bool is_main = buffer->values.empty() || value.bytes > buffer->bytes ||
                         (value.bytes == buffer->bytes && !value.is_phi && buffer->main_value().is_phi);
    buffer->values.push_back(std::move(value));
    if (!is_main) return;
    std::swap(buffer->values.front(), buffer->values.back());
    buffer->bytes = buffer->main_value().bytes;
    buffer->unpadded_bytes = buffer->main_value().unpadded_bytes;
    buffer->memory_space = buffer->main_value().memory_space;
  }
  static MemoryBuffer::Kind KindOf(const GroupFacts& fact) {
    if (fact.is_argument) return fact.is_output ? MemoryBuffer::Kind::kAliased : MemoryBuffer::Kind::kArgument;
    if (fact.is_output) return MemoryBuffer::Kind::kOutput;
    return fact.has_constants && !fact.has_other_values ? MemoryBuffer::Kind::kConstant
                                                        : MemoryBuffer::Kind::kTemporary;
  }

  const HloModule& module_;
  const MemoryTarget& target_;
  ShapeNodesCache* const shapes_;
  ModuleBuffers result_;
};

}  // namespace

absl::StatusOr<ModuleBuffers> MakeModuleBuffers(const HloModule& module, const MemoryTarget& target,
                                                const CallGraph& graph, const ValuePositions& positions,
                                                const BufferGroups& groups, const LiveRanges& ranges,
                                                ShapeNodesCache* shapes) {
  return BufferMaker(module, target, shapes).Run(graph, positions, groups, ranges);
}

}  // namespace kashi::analysis
