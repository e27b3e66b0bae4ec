#include "cli/memory_breakdown.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cli/cost_text.h"
#include "cli/verb.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"

namespace kashi::cli {
namespace {

constexpr char kNoBuffer[] = "(gaps and tables)";

std::string MemoryText(double bytes) { return base::HumanBytes(static_cast<int64_t>(bytes)); }

bool HasOpName(const MemoryAnalysis& memory, int32_t buffer) {
  return !GetSourceLocation(*memory.buffers[buffer].main_value().instruction).op_name.empty();
}

}  // namespace

const MemorySpaceUsage* FindSpace(const MemoryAnalysis& memory, int64_t memory_space) {
  for (const MemorySpaceUsage& space : memory.spaces) {
    if (space.memory_space == memory_space) return &space;
  }
  return nullptr;
}

std::vector<int32_t> BuffersAtPeak(const MemoryAnalysis& memory, const MemorySpaceUsage& space) {
  std::vector<int32_t> numbers = space.temporaries;
  for (int32_t i = 0; i < memory.buffers.size(); ++i) {
    const MemoryBuffer& buffer = memory.buffers[i];
    if (buffer.kind != MemoryBuffer::Kind::kTemporary && buffer.memory_space == space.memory_space)
      numbers.push_back(i);
  }
  absl::c_stable_sort(numbers, [&](int32_t a, int32_t b) { return memory.buffers[a].bytes > memory.buffers[b].bytes; });
  return numbers;
}

absl::StatusOr<BreakdownTable> MemoryBreakdown(const HloModule& module, const MemoryAnalysis& memory,
                                               int64_t memory_space, const BreakdownOptions& options) {
  const MemorySpaceUsage* space = FindSpace(memory, memory_space);
  if (space == nullptr) return InvalidArgument("the module does not use memory space %d", memory_space);
  KASHI_ASSIGN_OR_RETURN(const insight::ExecutionCounts counts, insight::ExecutionCounts::Compute(module));
  BreakdownShape shape;
  shape.columns = {{"bytes", "bytes", MemoryText, MemoryText}, {"padding_bytes", "padding", MemoryText, MemoryText}};
  shape.items = "buffers";
  KASHI_ASSIGN_OR_RETURN(BreakdownTable table, BreakdownTable::Create(module, counts, options, std::move(shape)));
  int64_t rest = space->peak_bytes;
  for (const int32_t number : BuffersAtPeak(memory, *space)) {
    const MemoryBuffer& buffer = memory.buffers[number];
    if (buffer.lies_in >= 0) continue;
    rest -= buffer.bytes;
    table.Add(*buffer.main_value().instruction,
              {static_cast<double>(buffer.bytes), static_cast<double>(buffer.bytes - buffer.unpadded_bytes)});
  }
  if (rest != 0) table.AddOther(kNoBuffer, {static_cast<double>(rest), 0});
  table.Sort();
  return table;
}

std::string PeakByScopeText(const HloModule& module, const MemoryAnalysis& memory, int64_t memory_space) {
  const MemorySpaceUsage* space = FindSpace(memory, memory_space);
  if (space == nullptr) return "";
  const std::vector<int32_t> buffers = BuffersAtPeak(memory, *space);
  if (absl::c_none_of(buffers, [&](int32_t buffer) { return HasOpName(memory, buffer); })) return "";
  BreakdownOptions options;
  options.by = insight::Grouping::kScope;
  const absl::StatusOr<BreakdownTable> table = MemoryBreakdown(module, memory, memory_space, options);
  return table.ok() ? table->ToSummary() : "";
}

}  // namespace kashi::cli
