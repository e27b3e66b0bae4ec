// Reads XLA's files about the memory of a module, beside the module in a dump (--xla_dump_to).
//
//   module_0008.jit_f.cpu_after_optimizations.txt                          the module
//   module_0008.jit_f.cpu_after_optimizations-buffer-assignment.txt        the place of each value
//   module_0008.jit_f.cpu_after_optimizations-memory-usage-report.txt      totals by memory space
//
//   BufferAssignment:
//   allocation 0: size 32768, maybe-live-out:
//    value: <35 tanh @0> (size=8192,offset=0): f32[16,128]{1,0}
//    value: <42 while.5{1} (phi) @0> (size=32768,offset=0): f32[64,128]{1,0}
//   allocation 1: size 4, parameter 0, shape |f32[]| at ShapeIndex {}:
//
// Source: the files of jaxlib 0.10.2.
#ifndef KASHI_ANALYSIS_XLA_BUFFER_ASSIGNMENT_H_
#define KASHI_ANALYSIS_XLA_BUFFER_ASSIGNMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi {

struct XlaBufferAssignment {
  struct Value {
    std::string name;  // as BufferValue::name
    int64_t memory_space = 0;
    int64_t bytes = 0;
    int64_t offset = 0;  // in its allocation
  };
  struct Allocation {
    int64_t bytes = 0;
    int64_t memory_space = 0;
    bool is_argument = false;
    bool is_constant = false;
    bool is_thread_local = false;
    bool lives_out = false;     // outputs, and values that share a place with one
    bool is_temporary = false;  // "preallocated-temp"
    std::vector<Value> values;
  };
  std::vector<Allocation> allocations;
};

// Text after the allocations, which some versions write, is not read. INVALID_ARGUMENT with name:line:column, the line
// and a caret for other text, and for numbers that are negative or too large, sizes with a sum above 2^60, and values
// outside of their allocation. O(text).
absl::StatusOr<XlaBufferAssignment> ParseXlaBufferAssignment(absl::string_view text, absl::string_view name);

struct XlaMemoryUsage {
  int64_t memory_space = 0;
  int64_t bytes = 0;  // of all allocations
};
// "Memory Space: default (color=0)" and "Total bytes: 112680 (110.0KiB)", once for each space; other lines are not
// read. INVALID_ARGUMENT as above, and for a text without such lines.
absl::StatusOr<std::vector<XlaMemoryUsage>> ParseXlaMemoryUsageReport(absl::string_view text, absl::string_view name);

}  // namespace kashi

#endif  // KASHI_ANALYSIS_XLA_BUFFER_ASSIGNMENT_H_
