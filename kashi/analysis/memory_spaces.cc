#include "kashi/analysis/memory_spaces.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/analysis/shape_nodes.h"
#include "kashi/analysis/tpu_backend_config.h"
#include "kashi/array/layout.h"

namespace kashi::analysis {
namespace {

void AddPadding(absl::Span<const MemoryBuffer> buffers, std::vector<MemorySpaceUsage>* spaces) {
  std::map<int64_t, MemorySpaceUsage*> by_number;
  for (MemorySpaceUsage& space : *spaces) by_number[space.memory_space] = &space;
  for (const MemoryBuffer& buffer : buffers) {
    if (buffer.kind == MemoryBuffer::Kind::kTemporary) continue;
    by_number[buffer.memory_space]->padding_bytes += buffer.bytes - buffer.unpadded_bytes;
  }
  for (MemorySpaceUsage& space : *spaces) {
    for (int32_t i : space.temporaries) {
      space.padding_bytes += buffers[i].bytes - buffers[i].unpadded_bytes;
    }
  }
}

}  // namespace

MemorySpaceUsage& MemorySpaces::Space(int64_t number) {
  MemorySpaceUsage& space = spaces_[number];
  space.memory_space = number;
  return space;
}

void MemorySpaces::AddLeaves(const PositionRange& range, int64_t MemorySpaceUsage::*sum) {
  for (int32_t i = 0; i < range.size(); ++i) {
    const ShapeNode& node = range.nodes->nodes()[range.node + i];
    if (!node.is_tuple) Space(node.memory_space).*sum += node.bytes;
  }
}

void MemorySpaces::AddAliased(const HloModule& module, const PositionRange& output) {
  std::vector<bool> is_aliased(output.size());  // once each, although an alias may be within another one's tuple
  for (const auto& [index, alias] : module.input_output_alias_config().aliases()) {
    const std::optional<int32_t> node = output.nodes->Find(index);
    if (!node || is_aliased[*node]) continue;
    std::fill_n(is_aliased.begin() + *node, output.nodes->nodes()[*node].subtree_size, true);
  }
  for (int32_t i = 0; i < output.size(); ++i) {
    const ShapeNode& node = output.nodes->nodes()[i];
    if (is_aliased[i] && !node.is_tuple) Space(node.memory_space).alias_bytes += node.bytes;
  }
}

void MemorySpaces::AddUnusedDonors(const HloModule& module, const ValuePositions& positions) {
  const HloComputation& entry = *module.entry_computation();
  std::vector<std::vector<bool>> is_taken(entry.num_parameters());  // by parameter and node, once each
  for (int64_t i = 0; i < entry.num_parameters(); ++i) {
    is_taken[i].resize(positions.RangeOf(entry.parameter_instruction(i)).size());
  }
  const auto take = [&](int64_t number, const ShapeIndex& index, bool is_donor) {
    if (number < 0 || number >= entry.num_parameters()) return;
    const ShapeNodes& nodes = *positions.RangeOf(entry.parameter_instruction(number)).nodes;
    const std::optional<int32_t> place = nodes.Find(index);
    if (!place || is_taken[number][*place]) return;
    for (int32_t i = *place; i < *place + nodes.nodes()[*place].subtree_size; ++i) {
      const ShapeNode& node = nodes.nodes()[i];
      if (is_donor && !is_taken[number][i] && !node.is_tuple) {
        Space(node.memory_space).unused_donor_bytes += node.bytes;
      }
      is_taken[number][i] = true;
    }
  };
  for (const auto& [output, alias] : module.input_output_alias_config().aliases()) {
    take(alias.parameter_number, alias.parameter_index, /*is_donor=*/false);
  }
  for (const HloBufferDonorConfig::BufferDonor& donor : module.buffer_donor_config().buffer_donor()) {
    take(donor.param_number, donor.param_index, /*is_donor=*/true);
  }
}

void MemorySpaces::AddResident(const HloModule& module, const ValuePositions& positions,
                               absl::Span<const MemoryBuffer> buffers) {
  const HloComputation& entry = *module.entry_computation();
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    AddLeaves(positions.RangeOf(parameter), &MemorySpaceUsage::argument_bytes);
  }
  const PositionRange output = positions.RangeOf(entry.root_instruction());
  AddLeaves(output, &MemorySpaceUsage::output_bytes);
  AddAliased(module, output);
  AddUnusedDonors(module, positions);
  for (const ShapeNode& node : output.nodes->nodes()) {
    if (node.is_tuple) output_table_bytes_ += node.bytes;
  }
  for (const MemoryBuffer& buffer : buffers) {
    if (buffer.kind == MemoryBuffer::Kind::kConstant) Space(buffer.memory_space).constant_bytes += buffer.bytes;
  }
}

void MemorySpaces::AddScratch(absl::Span<const HloInstruction* const> sequence) {
  for (const HloInstruction* instruction : sequence) {
    if (!instruction->has_backend_config()) continue;
    for (const ScopedMemory& scoped : UsedScopedMemory(instruction->raw_backend_config_string())) {
      if (scoped.bytes == 0) continue;
      MemorySpaceUsage& space = Space(scoped.memory_space);
      space.scratch_bytes = std::max(space.scratch_bytes, scoped.bytes);
    }
  }
}

int64_t MemorySpaces::ResidentBytes(const MemorySpaceUsage& space) const {
  return space.argument_bytes + space.output_bytes - space.alias_bytes + space.constant_bytes +
         (space.memory_space == Layout::kDefaultMemorySpace ? output_table_bytes_ : 0);
}

std::vector<MemorySpaceUsage> MemorySpaces::Take(absl::Span<const MemoryBuffer> buffers) && {
  std::vector<MemorySpaceUsage> result;
  Space(Layout::kDefaultMemorySpace);
  // Wrong aliases can put an output into the buffer of another space, where nothing else is.
  for (const MemoryBuffer& buffer : buffers) {
    if (buffer.kind != MemoryBuffer::Kind::kTemporary) Space(buffer.memory_space);
  }
  for (auto& [number, space] : spaces_) {
    space.peak_bytes = ResidentBytes(space) + space.temp_bytes;
    result.push_back(std::move(space));
  }
  // Sorted by number, but the default space comes first also where there are negative ones.
  absl::c_stable_partition(
      result, [](const MemorySpaceUsage& space) { return space.memory_space == Layout::kDefaultMemorySpace; });
  AddPadding(buffers, &result);
  return result;
}

}  // namespace kashi::analysis
