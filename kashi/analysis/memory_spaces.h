// The memory spaces of a module and the bytes that are resident in each.
#ifndef KASHI_ANALYSIS_MEMORY_SPACES_H_
#define KASHI_ANALYSIS_MEMORY_SPACES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/analysis/value_positions.h"

namespace kashi::analysis {

class MemorySpaces {
 public:
  // A space that is asked for is there from then on.
  MemorySpaceUsage& Space(int64_t number);

  // Adds the bytes of arguments, outputs and constants.
  void AddResident(const HloModule& module, const ValuePositions& positions, absl::Span<const MemoryBuffer> buffers);
  // Adds the scratch that the instructions' backend configs name.
  void AddScratch(absl::Span<const HloInstruction* const> sequence);

  int64_t ResidentBytes(const MemorySpaceUsage& space) const;
  // Bytes of the table of pointers of a result that is a tuple; they lie in the default space.
  int64_t output_table_bytes() const { return output_table_bytes_; }

  // The spaces with their peaks and padding: the default space first, the others by number.
  std::vector<MemorySpaceUsage> Take(absl::Span<const MemoryBuffer> buffers) &&;

 private:
  void AddLeaves(const PositionRange& range, int64_t MemorySpaceUsage::*sum);
  void AddAliased(const HloModule& module, const PositionRange& output);
  void AddUnusedDonors(const HloModule& module, const ValuePositions& positions);

  std::map<int64_t, MemorySpaceUsage> spaces_;
  int64_t output_table_bytes_ = 0;
};

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_MEMORY_SPACES_H_
