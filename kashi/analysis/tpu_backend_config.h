// The facts about memory that the TPU compiler writes to the backend config of an instruction, as JSON:
//
//   "used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"16384"}]    scratch, while it runs
//   "aliasing_operands":{"lists":[{"indices":["0","2"]}]}                              operands and results
//                                                                                      in the same place
//
// Both are found by a search for these keys as the compiler writes them, without spaces. A JSON parser would take
// longer than the rest of the analysis.
#ifndef KASHI_ANALYSIS_TPU_BACKEND_CONFIG_H_
#define KASHI_ANALYSIS_TPU_BACKEND_CONFIG_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kashi::analysis {

struct ScopedMemory {
  int64_t memory_space = 0;
  int64_t bytes = 0;
};

// Empty for configs without this data, or in a different format, as other compilers write them.
std::vector<ScopedMemory> UsedScopedMemory(absl::string_view backend_config);

// Sets of operands and results that the compiler has put into one place: numbers from 0 are the operands; after them
// come the results: the instruction's array or the elements of its tuple. Empty as above.
std::vector<std::vector<int64_t>> AliasingOperands(absl::string_view backend_config);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_TPU_BACKEND_CONFIG_H_
