#include "kashi/analysis/memory_analysis.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kashi/analysis/buffer_groups.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/heap_simulator_trace.h"
#include "kashi/analysis/host_buffer_assignment.h"
#include "kashi/analysis/live_ranges.h"
#include "kashi/analysis/shape_nodes.h"
#include "kashi/analysis/tpu_backend_config.h"
#include "kashi/analysis/value_positions.h"
#include "kashi/array/layout.h"
#include "kashi/base/status.h"

namespace kashi {

using internal::AssignHostBuffers;
using internal::HostBufferAssignment;
using internal::ScopedMemory;
using internal::ShapeNode;
using internal::ShapeNodes;
using internal::ShapeNodesCache;
using internal::TraceTemporaries;
using internal::UsedScopedMemory;
namespace {

class Analyzer {
 public:
  Analyzer(const HloModule& module, const MemoryTarget& target, const XlaMemoryFacts& facts)
      : module_(module),
        // A guess of a TPU comes from tiles.
        shapes_(target, /*chooses_layouts=*/target.is_tpu() && !target.is_guess && !HasTiles(module)),
        facts_(facts) {
    result_.target = target;
    result_.has_chosen_layouts = shapes_.chooses_layouts();
    result_.is_scheduled = module.has_schedule();
  }

  absl::StatusOr<MemoryAnalysis> Run() {
    KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module_));
    KASHI_ASSIGN_OR_RETURN(const ValuePositions positions, ValuePositions::Build(graph, &shapes_));
    const BufferGroups groups = BufferGroups::Build(module_, graph, positions);
    const LiveRanges ranges = LiveRanges::Compute(module_, graph, positions, groups);
    MakeBuffers(positions, groups, ranges);
    KASHI_RETURN_IF_ERROR(AddElements(graph, positions.total_bytes(), ranges.region_count() - 1));
    if (facts_.assignment) {
      KASHI_RETURN_IF_ERROR(PlaceAsXla(*facts_.assignment));
    } else if (!result_.target.is_tpu() && result_.is_scheduled && ranges.region_count() == 1) {
      Place(AssignHostBuffers(module_, graph, positions, groups, ranges, result_.target.buffer_alignment(),
                              thread_local_count_));
    } else if (result_.is_scheduled && result_.target.is_tpu() && !result_.has_chosen_layouts) {
      result_.basis = MemoryBasis::kSchedule;
    }
    AddResident(positions);
    KASHI_RETURN_IF_ERROR(FindPeaks(graph, ranges));
    KASHI_RETURN_IF_ERROR(CheckAgainstXla());
    KASHI_RETURN_IF_ERROR(FindXlaPeak(graph, positions, groups, ranges));
    for (int32_t region = 0; region < ranges.region_count(); ++region) {
      result_.sequences.emplace_back(ranges.sequence(region).begin(), ranges.sequence(region).end());
    }
    AddScratch();
    TakeSpaces();
    AddPadding();
    result_.chosen_shapes = shapes_.copies();
    return std::move(result_);
  }

 private:
  // ---- Buffers.

  struct GroupFacts {
    int32_t buffer = -1;
    bool is_argument = false;
    bool is_output = false;
    bool has_constants = false;
    bool has_other_values = false;
  };

  void MakeBuffers(const ValuePositions& positions, const BufferGroups& groups, const LiveRanges& ranges) {
    std::vector<GroupFacts> facts(groups.group_count());
    buffer_of_group_.assign(groups.group_count(), -1);
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
    is_temporary_group_.resize(facts.size());
    for (size_t group = 0; group < facts.size(); ++group) {
      if (facts[group].buffer < 0) continue;
      buffer_of_group_[group] = facts[group].buffer;
      result_.buffers[facts[group].buffer].kind = KindOf(facts[group]);
      is_temporary_group_[group] = KindOf(facts[group]) == MemoryBuffer::Kind::kTemporary;
    }
  }
  // Of computations that work on elements, such as a sort's comparison. Their constants lie in memory, as all do but
  // those of fusions, which are in the code. What else they make is a thread's own.
  absl::Status AddElements(const CallGraph& graph, int64_t total_bytes, int32_t entry_region) {
    for (const CallGraph::Node& node : graph.nodes()) {
      if (!node.is_reached || node.has_buffers || node.computation->IsFusionComputation()) continue;
      for (const HloInstruction* instruction : node.computation->instructions()) {
        KASHI_ASSIGN_OR_RETURN(const ShapeNodes* nodes, shapes_.Get(instruction->shape()));
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
        ++thread_local_count_;
        result_.thread_local_bytes += nodes.nodes()[0].bytes;
        return;
      default:
        thread_local_count_ += nodes.size();
        result_.thread_local_bytes += nodes.total_bytes();
    }
  }
  // An untiled scalar that is a constant of a compiled TPU program takes as much as a whole vector register, 4096
  // bytes; elsewhere those of 32 bits take four (device_size.h).
  int64_t BytesOf(const ShapeNode& node, const HloInstruction& instruction) const {
    const Shape& shape = *node.shape;
    const bool is_untiled_scalar = instruction.IsConstant() && shape.IsArray() && shape.dimensions_size() == 0 &&
                                   (!shape.has_layout() || shape.layout().tiles_size() == 0);
    if (!result_.target.is_tpu() || !result_.is_scheduled || !is_untiled_scalar) return node.bytes;
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

  // If the placement fails, the temporaries are an estimate: the sum of those that are alive at the same time.
  void Place(const absl::StatusOr<HostBufferAssignment>& assignment) {
    if (!assignment.ok()) return;
    result_.has_places = true;
    result_.basis = MemoryBasis::kPlacement;
    placed_bytes_[Layout::kDefaultMemorySpace] = assignment->temp_bytes;
    for (size_t group = 0; group < assignment->places.size(); ++group) {
      const int32_t number = buffer_of_group_[group];
      if (number < 0 || result_.buffers[number].kind != MemoryBuffer::Kind::kTemporary) continue;
      const HostBufferAssignment::Place& place = assignment->places[group];
      result_.buffers[number].offset = place.offset;
      if (place.owner >= 0) result_.buffers[number].lies_in = buffer_of_group_[place.owner];
    }
  }

  // ---- What XLA says.

  absl::Status PlaceAsXla(const XlaBufferAssignment& assignment) {
    result_.has_places = true;
    result_.basis = MemoryBasis::kXlaAssignment;
    result_.thread_local_bytes = 0;
    absl::flat_hash_map<absl::string_view, std::pair<int32_t, int64_t>> buffers;  // and bytes, by value
    for (int32_t i = 0; i < result_.buffers.size(); ++i) {
      for (const BufferValue& value : result_.buffers[i].values)
        buffers.emplace(value.name, std::make_pair(i, value.bytes));
    }
    for (const XlaBufferAssignment::Allocation& allocation : assignment.allocations) {
      if (allocation.is_thread_local) {
        result_.thread_local_bytes += allocation.bytes;
        continue;
      }
      if (allocation.is_temporary) placed_bytes_[allocation.memory_space] += allocation.bytes;
      std::vector<std::pair<int32_t, int64_t>> placed;  // buffers and their offsets
      for (const XlaBufferAssignment::Value& value : allocation.values) {
        const auto found = buffers.find(value.name);
        if (value.bytes == 0) continue;  // a token, or a table that the program does without
        if (found == buffers.end()) return IsAboutAnother("the module has no value `%s`", value.name);
        if (found->second.second != value.bytes) {
          return IsAboutAnother("value `%s` has %d bytes there, but %d bytes in this module", value.name, value.bytes,
                                found->second.second);
        }
        placed.emplace_back(found->second.first, value.offset);
      }
      PlaceWithin(allocation, placed);
    }
    return absl::OkStatus();
  }
  void PlaceWithin(const XlaBufferAssignment::Allocation& allocation,
                   const std::vector<std::pair<int32_t, int64_t>>& placed) {
    const auto owner = absl::c_find_if(placed, [this](const std::pair<int32_t, int64_t>& each) {
      return result_.buffers[each.first].kind != MemoryBuffer::Kind::kTemporary;
    });
    for (const auto& [number, offset] : placed) {
      MemoryBuffer& buffer = result_.buffers[number];
      if (buffer.kind != MemoryBuffer::Kind::kTemporary) continue;
      buffer.offset = offset;
      buffer.lies_in = allocation.is_temporary || owner == placed.end() ? -1 : owner->first;
    }
  }
  template <typename... Args>
  static absl::Status IsAboutAnother(const absl::FormatSpec<Args...>& format, const Args&... args) {
    return absl::FailedPreconditionError(
        absl::StrCat("XLA's buffer assignment is for a different module: ", absl::StrFormat(format, args...)));
  }
  // Arguments are the same in both; of a total without details what is resident is taken off.
  absl::Status CheckAgainstXla() {
    if (facts_.assignment) {
      std::map<int64_t, int64_t> arguments;
      for (const XlaBufferAssignment::Allocation& allocation : facts_.assignment->allocations) {
        if (allocation.is_argument && !IsOnlyTable(allocation)) arguments[allocation.memory_space] += allocation.bytes;
      }
      for (const auto& [number, bytes] : arguments) {
        if (Space(number).argument_bytes == bytes) continue;
        return IsAboutAnother("the arguments in S(%d) have %d bytes there, but %d bytes in this module", number, bytes,
                              Space(number).argument_bytes);
      }
      return absl::OkStatus();
    }
    if (!facts_.usage) return absl::OkStatus();
    result_.basis = MemoryBasis::kXlaUsage;
    for (const XlaMemoryUsage& usage : *facts_.usage) {
      MemorySpaceUsage& space = Space(usage.memory_space);
      const int64_t temporaries = usage.bytes - ResidentBytes(space) -
                                  (usage.memory_space == Layout::kDefaultMemorySpace ? result_.thread_local_bytes : 0);
      if (temporaries < 0) {
        return absl::FailedPreconditionError(absl::StrFormat(
            "XLA's memory usage report is for a different module: S(%d) has %d bytes there, but the arguments, "
            "outputs and constants of this module alone have %d",
            usage.memory_space, usage.bytes, usage.bytes - temporaries));
      }
      space.gap_bytes = std::max<int64_t>(space.gap_bytes + temporaries - space.temp_bytes, 0);
      space.temp_bytes = temporaries;
    }
    return absl::OkStatus();
  }
  static bool IsOnlyTable(const XlaBufferAssignment::Allocation& allocation) {
    return absl::c_any_of(allocation.values, [](const auto& value) { return absl::EndsWith(value.name, "{}"); });
  }

  // ---- What is resident.

  MemorySpaceUsage& Space(int64_t number) {
    MemorySpaceUsage& space = spaces_[number];
    space.memory_space = number;
    return space;
  }
  void AddLeaves(const PositionRange& range, int64_t MemorySpaceUsage::*sum) {
    for (int32_t i = 0; i < range.size(); ++i) {
      const ShapeNode& node = range.nodes->nodes()[range.node + i];
      if (!node.is_tuple) Space(node.memory_space).*sum += node.bytes;
    }
  }
  void AddAliased(const PositionRange& output) {
    std::vector<bool> is_aliased(output.size());  // once each, although an alias may be within another one's tuple
    for (const auto& [index, alias] : module_.input_output_alias_config().aliases()) {
      const std::optional<int32_t> node = output.nodes->Find(index);
      if (!node || is_aliased[*node]) continue;
      std::fill_n(is_aliased.begin() + *node, output.nodes->nodes()[*node].subtree_size, true);
    }
    for (int32_t i = 0; i < output.size(); ++i) {
      const ShapeNode& node = output.nodes->nodes()[i];
      if (is_aliased[i] && !node.is_tuple) Space(node.memory_space).alias_bytes += node.bytes;
    }
  }
  void AddUnusedDonors(const ValuePositions& positions) {
    const HloComputation& entry = *module_.entry_computation();
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
    for (const auto& [output, alias] : module_.input_output_alias_config().aliases()) {
      take(alias.parameter_number, alias.parameter_index, /*is_donor=*/false);
    }
    for (const HloBufferDonorConfig::BufferDonor& donor : module_.buffer_donor_config().buffer_donor()) {
      take(donor.param_number, donor.param_index, /*is_donor=*/true);
    }
  }
  void AddResident(const ValuePositions& positions) {
    const HloComputation& entry = *module_.entry_computation();
    for (const HloInstruction* parameter : entry.parameter_instructions()) {
      AddLeaves(positions.RangeOf(parameter), &MemorySpaceUsage::argument_bytes);
    }
    const PositionRange output = positions.RangeOf(entry.root_instruction());
    AddLeaves(output, &MemorySpaceUsage::output_bytes);
    AddAliased(output);
    AddUnusedDonors(positions);
    for (const ShapeNode& node : output.nodes->nodes()) {
      if (node.is_tuple) result_.output_table_bytes += node.bytes;
    }
    for (const MemoryBuffer& buffer : result_.buffers) {
      if (buffer.kind == MemoryBuffer::Kind::kConstant) Space(buffer.memory_space).constant_bytes += buffer.bytes;
    }
  }

  // ---- Peaks.

  absl::Status FindPeaks(const CallGraph& graph, const LiveRanges& ranges) {
    std::vector<MemoryUse> uses;
    std::vector<int32_t> buffers;  // by use
    for (int32_t i = 0; i < result_.buffers.size(); ++i) {
      const MemoryBuffer& buffer = result_.buffers[i];
      if (buffer.kind != MemoryBuffer::Kind::kTemporary || buffer.lies_in >= 0) continue;
      uses.push_back({{buffer.region, buffer.first_step, buffer.last_step}, buffer.memory_space, buffer.bytes});
      buffers.push_back(i);
    }
    if (result_.has_places) CountSharedPlacesOnce(buffers, &uses);
    KASHI_ASSIGN_OR_RETURN(auto peaks, FindMemoryPeaks(uses, graph, ranges));
    for (auto& [number, peak] : peaks) {
      MemorySpaceUsage& space = Space(number);
      space.temp_bytes = peak.bytes;
      space.peak_step = peak.step;
      space.levels = std::move(peak.levels);
      for (int32_t use : peak.uses) space.temporaries.push_back(buffers[use]);
      absl::c_stable_sort(space.temporaries,
                          [this](int32_t a, int32_t b) { return result_.buffers[a].bytes > result_.buffers[b].bytes; });
    }
    for (const auto& [number, bytes] : placed_bytes_) {
      MemorySpaceUsage& space = Space(number);
      space.gap_bytes = std::max<int64_t>(bytes - space.temp_bytes, 0);
      space.temp_bytes = bytes;
    }
    return absl::OkStatus();
  }

  // What is written over an operand that dies has its place: in that step the two count once. By use, the numbers of
  // buffers.
  void CountSharedPlacesOnce(const std::vector<int32_t>& buffers, std::vector<MemoryUse>* uses) const {
    std::vector<size_t> order(uses->size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](size_t use) {
      return std::make_tuple((*uses)[use].memory_space, result_.buffers[buffers[use]].offset, (*uses)[use].range.first);
    };
    absl::c_sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
    int32_t end = -1;  // of what has lain there
    for (size_t i = 0; i < order.size(); ++i) {
      MemoryUse& use = (*uses)[order[i]];
      const bool is_same_place =
          i > 0 && (*uses)[order[i - 1]].memory_space == use.memory_space &&
          result_.buffers[buffers[order[i - 1]]].offset == result_.buffers[buffers[order[i]]].offset;
      if (!is_same_place) end = -1;
      use.range.first = std::max(use.range.first, std::min(end + 1, use.range.last));
      end = std::max(end, use.range.last);
    }
  }

  absl::Status FindXlaPeak(const CallGraph& graph, const ValuePositions& positions, const BufferGroups& groups,
                           const LiveRanges& ranges) {
    if (!result_.target.is_tpu()) return absl::OkStatus();
    const std::vector<MemoryUse> traced =
        TraceTemporaries(positions, groups, ranges, result_.target, is_temporary_group_);
    KASHI_ASSIGN_OR_RETURN(const auto peaks, FindMemoryPeaks(traced, graph, ranges));
    for (const auto& [space, peak] : peaks) result_.xla_temp_bytes = std::max(result_.xla_temp_bytes, peak.bytes);
    return absl::OkStatus();
  }

  void AddScratch() {
    for (const auto& sequence : result_.sequences) {
      for (const HloInstruction* instruction : sequence) {
        if (!instruction->has_backend_config()) continue;
        for (const ScopedMemory& scoped : UsedScopedMemory(instruction->raw_backend_config_string())) {
          if (scoped.bytes == 0) continue;
          MemorySpaceUsage& space = Space(scoped.memory_space);
          space.scratch_bytes = std::max(space.scratch_bytes, scoped.bytes);
        }
      }
    }
  }

  void AddPadding() {
    std::map<int64_t, MemorySpaceUsage*> by_number;
    for (MemorySpaceUsage& space : result_.spaces) by_number[space.memory_space] = &space;
    for (const MemoryBuffer& buffer : result_.buffers) {
      if (buffer.kind == MemoryBuffer::Kind::kTemporary) continue;
      by_number[buffer.memory_space]->padding_bytes += buffer.bytes - buffer.unpadded_bytes;
    }
    for (MemorySpaceUsage& space : result_.spaces) {
      for (int32_t i : space.temporaries) {
        space.padding_bytes += result_.buffers[i].bytes - result_.buffers[i].unpadded_bytes;
      }
    }
  }

  int64_t ResidentBytes(const MemorySpaceUsage& space) const {
    return space.argument_bytes + space.output_bytes - space.alias_bytes + space.constant_bytes +
           (space.memory_space == Layout::kDefaultMemorySpace ? result_.output_table_bytes : 0);
  }
  void TakeSpaces() {
    Space(Layout::kDefaultMemorySpace);
    // Wrong aliases can put an output into the buffer of another space, where nothing else is.
    for (const MemoryBuffer& buffer : result_.buffers) {
      if (buffer.kind != MemoryBuffer::Kind::kTemporary) Space(buffer.memory_space);
    }
    for (auto& [number, space] : spaces_) {
      space.peak_bytes = ResidentBytes(space) + space.temp_bytes;
      result_.spaces.push_back(std::move(space));
    }
    // Sorted by number, but the default space comes first also where there are negative ones.
    absl::c_stable_partition(result_.spaces, [](const MemorySpaceUsage& space) {
      return space.memory_space == Layout::kDefaultMemorySpace;
    });
  }

  const HloModule& module_;
  ShapeNodesCache shapes_;
  MemoryAnalysis result_;
  std::map<int64_t, MemorySpaceUsage> spaces_;
  std::vector<bool> is_temporary_group_;
  std::vector<int32_t> buffer_of_group_;  // -1 for none
  int64_t thread_local_count_ = 0;
  const XlaMemoryFacts& facts_;
  std::map<int64_t, int64_t> placed_bytes_;  // of the block of temporaries, by memory space
};

}  // namespace

absl::string_view MemoryBufferKindName(MemoryBuffer::Kind kind) {
  switch (kind) {
    case MemoryBuffer::Kind::kArgument:
      return "argument";
    case MemoryBuffer::Kind::kOutput:
      return "output";
    case MemoryBuffer::Kind::kAliased:
      return "aliased";
    case MemoryBuffer::Kind::kConstant:
      return "constant";
    case MemoryBuffer::Kind::kTemporary:
      return "temporary";
  }
  return "";
}

absl::string_view MemoryBasisName(MemoryBasis basis) {
  switch (basis) {
    case MemoryBasis::kEstimate:
      return "estimate";
    case MemoryBasis::kSchedule:
      return "schedule";
    case MemoryBasis::kPlacement:
      return "placement";
    case MemoryBasis::kXlaAssignment:
      return "xla buffer assignment";
    case MemoryBasis::kXlaUsage:
      return "xla memory usage report";
  }
  return "";
}

int64_t MemoryAnalysis::XlaPeakBytes() const {
  int64_t bytes = output_table_bytes + xla_temp_bytes;
  for (const MemorySpaceUsage& space : spaces) {
    bytes += space.argument_bytes + space.output_bytes - space.alias_bytes + space.constant_bytes;
  }
  return bytes;
}

namespace {

absl::Status IsForOtherTarget(const MemoryTarget& of_facts, const MemoryTarget& wanted) {
  return FailedPrecondition("XLA wrote it for the target %s, but the target is %s", of_facts.name(), wanted.name());
}

// For a target that the caller gives. Facts of another target are an error that names both.
absl::StatusOr<MemoryAnalysis> AnalyzeForTarget(const HloModule& module, const MemoryTarget& target,
                                                const XlaMemoryFacts& facts) {
  if (!facts.assignment && !facts.usage) return Analyzer(module, target, facts).Run();
  const MemoryTarget guess = GuessMemoryTarget(module);
  if (guess.is_tpu() != target.is_tpu()) return IsForOtherTarget(guess, target);
  absl::StatusOr<MemoryAnalysis> memory = Analyzer(module, target, facts).Run();
  if (!absl::IsFailedPrecondition(memory.status())) return memory;
  const absl::StatusOr<MemoryAnalysis> fitting = AnalyzeMemory(module, std::nullopt, facts);
  return fitting.ok() ? IsForOtherTarget(fitting->target, target) : memory;
}

}  // namespace

absl::StatusOr<MemoryAnalysis> AnalyzeMemory(const HloModule& module, const std::optional<MemoryTarget>& target,
                                             const XlaMemoryFacts& facts) {
  if (target.has_value()) return AnalyzeForTarget(module, *target, facts);
  const MemoryTarget guess = GuessMemoryTarget(module);
  absl::StatusOr<MemoryAnalysis> memory = Analyzer(module, guess, facts).Run();
  if (!absl::IsFailedPrecondition(memory.status()) || !guess.is_tpu()) return memory;
  // Layouts cannot distinguish generations that differ only in the tables of tuples; XLA's files can.
  int64_t alignment = GetTpuGenerationInfo(*guess.tpu).tuple_table_alignment;
  for (const TpuGenerationInfo& other : TpuGenerations()) {
    if (other.generation < *guess.tpu || other.tuple_table_alignment == alignment) continue;
    alignment = other.tuple_table_alignment;
    absl::StatusOr<MemoryAnalysis> fitting = Analyzer(module, {other.generation, /*is_guess=*/true}, facts).Run();
    if (fitting.ok()) return fitting;
  }
  return memory;
}

}  // namespace kashi
