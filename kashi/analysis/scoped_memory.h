// The scratch memory that the TPU compiler gives an instruction while it runs, as its backend config says:
//
//   "used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"16384"}]
#ifndef KASHI_ANALYSIS_SCOPED_MEMORY_H_
#define KASHI_ANALYSIS_SCOPED_MEMORY_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kashi {

struct ScopedMemory {
  int64_t memory_space = 0;
  int64_t bytes = 0;
};

// Empty for configs that say nothing, or nothing that can be understood: other compilers write other things there.
std::vector<ScopedMemory> UsedScopedMemory(absl::string_view backend_config);

}  // namespace kashi

#endif  // KASHI_ANALYSIS_SCOPED_MEMORY_H_
