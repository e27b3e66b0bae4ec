// A memory analysis with XLA's own facts about the same module: its buffer assignment or its memory usage report.
//
// FAILED_PRECONDITION if the facts are for a different module.
#ifndef KASHI_ANALYSIS_XLA_MEMORY_FACTS_H_
#define KASHI_ANALYSIS_XLA_MEMORY_FACTS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/analysis/memory_spaces.h"
#include "kashi/analysis/xla_buffer_assignment.h"

namespace kashi::analysis {

// Places temporaries where the assignment has them, and takes its thread-local bytes. Adds the bytes of its blocks of
// temporaries to `block_bytes`, by memory space.
absl::Status PlaceAsXla(const XlaBufferAssignment& assignment, MemoryAnalysis* analysis,
                        std::map<int64_t, int64_t>* block_bytes);

// An error unless the arguments have as many bytes in the assignment as in the module.
absl::Status CheckArguments(const XlaBufferAssignment& assignment, MemorySpaces* spaces);

// Takes the totals of the report. A total has no parts: the resident bytes are subtracted, the rest are temporaries.
absl::Status TakeXlaUsage(absl::Span<const XlaMemoryUsage> usages, int64_t thread_local_bytes, MemorySpaces* spaces);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_XLA_MEMORY_FACTS_H_
