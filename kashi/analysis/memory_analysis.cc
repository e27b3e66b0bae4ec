#include "kashi/analysis/memory_analysis.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/analysis/buffer_groups.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/heap_simulator_trace.h"
#include "kashi/analysis/host_buffer_assignment.h"
#include "kashi/analysis/live_ranges.h"
#include "kashi/analysis/memory_buffers.h"
#include "kashi/analysis/memory_spaces.h"
#include "kashi/analysis/shape_nodes.h"
#include "kashi/analysis/value_positions.h"
#include "kashi/analysis/xla_memory_facts.h"
#include "kashi/array/layout.h"
#include "kashi/base/status.h"

namespace kashi {

using analysis::AssignHostBuffers;
using analysis::CheckArguments;
using analysis::HostBufferAssignment;
using analysis::MakeModuleBuffers;
using analysis::MemorySpaces;
using analysis::ModuleBuffers;
using analysis::PlaceAsXla;
using analysis::ShapeNodesCache;
using analysis::TakeXlaUsage;
using analysis::TraceTemporaries;
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
    KASHI_ASSIGN_OR_RETURN(buffers_,
                           MakeModuleBuffers(module_, result_.target, graph, positions, groups, ranges, &shapes_));
    result_.buffers = std::move(buffers_.buffers);
    result_.thread_local_bytes = buffers_.thread_local_bytes;
    if (facts_.assignment) {
      KASHI_RETURN_IF_ERROR(PlaceAsXla(*facts_.assignment, &result_, &block_bytes_));
    } else if (!result_.target.is_tpu() && result_.is_scheduled && ranges.region_count() == 1) {
      Place(AssignHostBuffers(module_, graph, positions, groups, ranges, result_.target.buffer_alignment(),
                              buffers_.thread_local_count));
    } else if (result_.is_scheduled && result_.target.is_tpu() && !result_.has_chosen_layouts) {
      result_.basis = MemoryBasis::kSchedule;
    }
    spaces_.AddResident(module_, positions, result_.buffers);
    KASHI_RETURN_IF_ERROR(FindPeaks(graph, ranges));
    KASHI_RETURN_IF_ERROR(CheckAgainstXla());
    KASHI_RETURN_IF_ERROR(FindXlaPeak(graph, positions, groups, ranges));
    for (int32_t region = 0; region < ranges.region_count(); ++region) {
      result_.sequences.emplace_back(ranges.sequence(region).begin(), ranges.sequence(region).end());
      spaces_.AddScratch(result_.sequences.back());
    }
    result_.output_table_bytes = spaces_.output_table_bytes();
    result_.spaces = std::move(spaces_).Take(result_.buffers);
    result_.chosen_shapes = shapes_.copies();
    return std::move(result_);
  }

 private:
  // If the placement fails, the temporaries are an estimate: the sum of those that are alive at the same time.
  void Place(const absl::StatusOr<HostBufferAssignment>& assignment) {
    if (!assignment.ok()) return;
    result_.has_places = true;
    result_.basis = MemoryBasis::kPlacement;
    block_bytes_[Layout::kDefaultMemorySpace] = assignment->temp_bytes;
    for (size_t group = 0; group < assignment->places.size(); ++group) {
      const int32_t number = buffers_.buffer_of_group[group];
      if (number < 0 || result_.buffers[number].kind != MemoryBuffer::Kind::kTemporary) continue;
      const HostBufferAssignment::Place& place = assignment->places[group];
      result_.buffers[number].offset = place.offset;
      if (place.owner >= 0) result_.buffers[number].lies_in = buffers_.buffer_of_group[place.owner];
    }
  }

  // Compares with XLA's facts. The arguments must have the same bytes in XLA and here.
  absl::Status CheckAgainstXla() {
    if (facts_.assignment) return CheckArguments(*facts_.assignment, &spaces_);
    if (!facts_.usage) return absl::OkStatus();
    result_.basis = MemoryBasis::kXlaUsage;
    return TakeXlaUsage(*facts_.usage, result_.thread_local_bytes, &spaces_);
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
      MemorySpaceUsage& space = spaces_.Space(number);
      space.temp_bytes = peak.bytes;
      space.peak_step = peak.step;
      space.levels = std::move(peak.levels);
      for (int32_t use : peak.uses) space.temporaries.push_back(buffers[use]);
      absl::c_stable_sort(space.temporaries,
                          [this](int32_t a, int32_t b) { return result_.buffers[a].bytes > result_.buffers[b].bytes; });
    }
    for (const auto& [number, bytes] : block_bytes_) {
      MemorySpaceUsage& space = spaces_.Space(number);
      space.gap_bytes = std::max<int64_t>(bytes - space.temp_bytes, 0);
      space.temp_bytes = bytes;
    }
    return absl::OkStatus();
  }

  // A buffer that is written over a dying operand has the operand's place: in that step the two count once. `buffers`
  // are the numbers of the buffers, by use.
  void CountSharedPlacesOnce(const std::vector<int32_t>& buffers, std::vector<MemoryUse>* uses) const {
    std::vector<size_t> order(uses->size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](size_t use) {
      return std::make_tuple((*uses)[use].memory_space, result_.buffers[buffers[use]].offset, (*uses)[use].range.first);
    };
    absl::c_sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
    int32_t end = -1;  // the last step of the values placed there so far
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
        TraceTemporaries(positions, groups, ranges, result_.target, buffers_.is_temporary_group);
    KASHI_ASSIGN_OR_RETURN(const auto peaks, FindMemoryPeaks(traced, graph, ranges));
    for (const auto& [space, peak] : peaks) result_.xla_temp_bytes = std::max(result_.xla_temp_bytes, peak.bytes);
    return absl::OkStatus();
  }

  const HloModule& module_;
  ShapeNodesCache shapes_;
  const XlaMemoryFacts& facts_;
  MemoryAnalysis result_;
  ModuleBuffers buffers_;  // the buffers themselves are in result_
  MemorySpaces spaces_;
  std::map<int64_t, int64_t> block_bytes_;  // of the blocks of temporaries, by memory space
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

// For a target that the caller gives. Facts about another target are an error that names both.
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
