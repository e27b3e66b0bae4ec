// What the TPU compiler writes of memory into an instruction's backend config, as JSON:
//
//   "used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"16384"}]    scratch, while it runs
//   "aliasing_operands":{"lists":[{"indices":["0","2"]}]}                              what lies in one place
//
// Both are read by looking for these keys as the compiler spells them: it writes no spaces, and a JSON reader would
// take longer than all else that is done with a module.
#ifndef KASHI_ANALYSIS_TPU_BACKEND_CONFIG_H_
#define KASHI_ANALYSIS_TPU_BACKEND_CONFIG_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kashi::internal {

struct ScopedMemory {
  int64_t memory_space = 0;
  int64_t bytes = 0;
};

// Empty for configs that say nothing, or nothing that can be understood: other compilers write other things there.
std::vector<ScopedMemory> UsedScopedMemory(absl::string_view backend_config);

// Sets of operands and results that the compiler has put into one place: numbered from 0 are the operands, and behind
// them the results, which are the instruction's array or the elements of its tuple. Empty as above.
std::vector<std::vector<int64_t>> AliasingOperands(absl::string_view backend_config);

}  // namespace kashi::internal

#endif  // KASHI_ANALYSIS_TPU_BACKEND_CONFIG_H_
