#include "kashi/analysis/memory_peaks.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

// The peak of one region in one memory space.
struct RegionPeak {
  int64_t bytes = 0;
  int32_t step = 0;
  std::vector<MemoryLevel> levels;
  std::vector<int32_t> uses;                   // of the region itself
  const RegionPeak* called_at_peak = nullptr;  // the region whose own peak is counted there
};

using PeaksBySpace = std::map<int64_t, RegionPeak>;

// A step that runs other regions: in a space it needs as much as the one of them that needs most.
struct Call {
  int32_t step;
  const RegionPeak* peak;
};

class Sweep {
 public:
  void Add(int32_t first, int32_t last, int64_t bytes) {
    if (bytes == 0) return;
    changes_.push_back({first, bytes});
    changes_.push_back({last + 1, -bytes});
  }
  RegionPeak Finish() {
    // Ends come before begins in a step: the sum never counts buffers that are not alive together.
    absl::c_sort(changes_, [](const Change& a, const Change& b) {
      return a.step != b.step ? a.step < b.step : a.bytes < b.bytes;
    });
    RegionPeak peak;
    int64_t now = 0;
    for (size_t i = 0; i < changes_.size();) {
      const int32_t step = changes_[i].step;
      for (; i < changes_.size() && changes_[i].step == step; ++i) now += changes_[i].bytes;
      peak.levels.push_back({step, now});
      if (now <= peak.bytes) continue;
      peak.bytes = now;
      peak.step = step;
    }
    return peak;
  }

 private:
  struct Change {
    int32_t step;
    int64_t bytes;
  };
  std::vector<Change> changes_;
};

class PeakFinder {
 public:
  PeakFinder(absl::Span<const MemoryUse> uses, const CallGraph& graph, const LiveRanges& ranges)
      : uses_(uses), graph_(graph), ranges_(ranges), peaks_(ranges.region_count()) {}

  absl::StatusOr<std::map<int64_t, MemoryPeak>> Run() {
    KASHI_RETURN_IF_ERROR(Sort());
    for (int32_t region = 0; region < ranges_.region_count(); ++region) FindPeaksOf(region);
    std::map<int64_t, MemoryPeak> result;
    for (auto& [space, peak] : peaks_.back()) result[space] = Whole(&peak);
    return result;
  }

 private:
  absl::Status Sort() {
    constexpr size_t kMaxSpaces = 64;
    absl::flat_hash_set<int64_t> spaces;
    uses_of_.resize(ranges_.region_count());
    for (size_t i = 0; i < uses_.size(); ++i) {
      uses_of_[uses_[i].range.region][uses_[i].memory_space].push_back(static_cast<int32_t>(i));
      spaces.insert(uses_[i].memory_space);
      if (spaces.size() > kMaxSpaces) return ResourceExhausted("temporaries in more than %d memory spaces", kMaxSpaces);
    }
    return absl::OkStatus();
  }

  // The calls of a region, by memory space. Pre: the called regions have been measured.
  std::map<int64_t, std::vector<Call>> CallsOf(int32_t region) const {
    std::map<int64_t, std::vector<Call>> calls;
    const auto sequence = ranges_.sequence(region);
    for (int32_t step = 0; step < sequence.size(); ++step) {
      for (const HloComputation* callee : ControlFlowCallees(*sequence[step])) {
        if (graph_.IsInline(callee)) continue;
        for (const auto& [space, peak] : peaks_[ranges_.RegionOf(callee)]) AddCall({step, &peak}, &calls[space]);
      }
    }
    return calls;
  }
  static void AddCall(const Call& call, std::vector<Call>* calls) {
    if (calls->empty() || calls->back().step != call.step) {
      calls->push_back(call);
    } else if (call.peak->bytes > calls->back().peak->bytes) {
      calls->back() = call;
    }
  }

  void FindPeaksOf(int32_t region) {
    const std::map<int64_t, std::vector<Call>> calls = CallsOf(region);
    std::map<int64_t, Sweep> sweeps;
    for (const auto& [space, numbers] : uses_of_[region]) {
      for (int32_t i : numbers) sweeps[space].Add(uses_[i].range.first, uses_[i].range.last, uses_[i].bytes);
    }
    for (const auto& [space, of_space] : calls) {
      for (const Call& call : of_space) sweeps[space].Add(call.step, call.step, call.peak->bytes);
    }
    for (auto& [space, sweep] : sweeps) {
      RegionPeak& peak = peaks_[region][space] = sweep.Finish();
      NoteWhatIsThere(region, space, calls, &peak);
    }
  }
  void NoteWhatIsThere(int32_t region, int64_t space, const std::map<int64_t, std::vector<Call>>& calls,
                       RegionPeak* peak) const {
    if (const auto uses = uses_of_[region].find(space); uses != uses_of_[region].end()) {
      for (int32_t i : uses->second) {
        const LiveRange& range = uses_[i].range;
        if (range.first <= peak->step && peak->step <= range.last) peak->uses.push_back(i);
      }
    }
    if (const auto called = calls.find(space); called != calls.end()) {
      for (const Call& call : called->second) {
        if (call.step == peak->step) peak->called_at_peak = call.peak;
      }
    }
  }

  static MemoryPeak Whole(RegionPeak* peak) {
    MemoryPeak whole = {peak->bytes, peak->step, std::move(peak->levels), {}};
    for (const RegionPeak* each = peak; each != nullptr; each = each->called_at_peak) {
      whole.uses.insert(whole.uses.end(), each->uses.begin(), each->uses.end());
    }
    return whole;
  }

  absl::Span<const MemoryUse> uses_;
  const CallGraph& graph_;
  const LiveRanges& ranges_;
  std::vector<std::map<int64_t, std::vector<int32_t>>> uses_of_;  // by region and memory space
  std::vector<PeaksBySpace> peaks_;                               // by region
};

}  // namespace

absl::StatusOr<std::map<int64_t, MemoryPeak>> FindMemoryPeaks(absl::Span<const MemoryUse> uses, const CallGraph& graph,
                                                              const LiveRanges& ranges) {
  return PeakFinder(uses, graph, ranges).Run();
}

}  // namespace kashi
