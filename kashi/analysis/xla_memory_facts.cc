#include "kashi/analysis/xla_memory_facts.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kashi/array/layout.h"
#include "kashi/base/status.h"

namespace kashi::analysis {
namespace {

template <typename... Args>
absl::Status IsAboutAnother(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::FailedPreconditionError(
      absl::StrCat("XLA's buffer assignment is for a different module: ", absl::StrFormat(format, args...)));
}

void PlaceWithin(const XlaBufferAssignment::Allocation& allocation,
                 const std::vector<std::pair<int32_t, int64_t>>& placed, absl::Span<MemoryBuffer> buffers) {
  const auto owner = absl::c_find_if(placed, [&](const std::pair<int32_t, int64_t>& each) {
    return buffers[each.first].kind != MemoryBuffer::Kind::kTemporary;
  });
  for (const auto& [number, offset] : placed) {
    MemoryBuffer& buffer = buffers[number];
    if (buffer.kind != MemoryBuffer::Kind::kTemporary) continue;
    buffer.offset = offset;
    buffer.lies_in = allocation.is_temporary || owner == placed.end() ? -1 : owner->first;
  }
}

bool IsOnlyTable(const XlaBufferAssignment::Allocation& allocation) {
  return absl::c_any_of(allocation.values, [](const auto& value) { return absl::EndsWith(value.name, "{}"); });
}

}  // namespace

absl::Status PlaceAsXla(const XlaBufferAssignment& assignment, MemoryAnalysis* analysis,
                        std::map<int64_t, int64_t>* block_bytes) {
  analysis->has_places = true;
  analysis->basis = MemoryBasis::kXlaAssignment;
  analysis->thread_local_bytes = 0;
  absl::flat_hash_map<absl::string_view, std::pair<int32_t, int64_t>> buffers;  // and bytes, by value
  for (int32_t i = 0; i < analysis->buffers.size(); ++i) {
    for (const BufferValue& value : analysis->buffers[i].values)
      buffers.emplace(value.name, std::make_pair(i, value.bytes));
  }
  for (const XlaBufferAssignment::Allocation& allocation : assignment.allocations) {
    if (allocation.is_thread_local) {
      analysis->thread_local_bytes += allocation.bytes;
      continue;
    }
    if (allocation.is_temporary) (*block_bytes)[allocation.memory_space] += allocation.bytes;
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
    PlaceWithin(allocation, placed, absl::MakeSpan(analysis->buffers));
  }
  return absl::OkStatus();
}

absl::Status CheckArguments(const XlaBufferAssignment& assignment, MemorySpaces* spaces) {
  std::map<int64_t, int64_t> arguments;
  for (const XlaBufferAssignment::Allocation& allocation : assignment.allocations) {
    if (allocation.is_argument && !IsOnlyTable(allocation)) arguments[allocation.memory_space] += allocation.bytes;
  }
  for (const auto& [number, bytes] : arguments) {
    const int64_t own_bytes = spaces->Space(number).argument_bytes;
    if (own_bytes == bytes) continue;
    return IsAboutAnother("the arguments in S(%d) have %d bytes there, but %d bytes in this module", number, bytes,
                          own_bytes);
  }
  return absl::OkStatus();
}

absl::Status TakeXlaUsage(absl::Span<const XlaMemoryUsage> usages, int64_t thread_local_bytes, MemorySpaces* spaces) {
  for (const XlaMemoryUsage& usage : usages) {
    MemorySpaceUsage& space = spaces->Space(usage.memory_space);
    const int64_t temporaries = usage.bytes - spaces->ResidentBytes(space) -
                                (usage.memory_space == Layout::kDefaultMemorySpace ? thread_local_bytes : 0);
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

}  // namespace kashi::analysis
