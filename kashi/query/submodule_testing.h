// Modules for tests of this room: those that XLA wrote, and small ones.
#ifndef KASHI_QUERY_SUBMODULE_TESTING_H_
#define KASHI_QUERY_SUBMODULE_TESTING_H_

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::query {

inline std::unique_ptr<HloModule> ReadModule(absl::string_view text) {
  auto module = ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) {
    ADD_FAILURE() << module.status();
    return nullptr;
  }
  return *std::move(module);
}

inline std::string ReadTestFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The HLO texts of the test data of at most so many bytes, sorted.
inline std::vector<std::string> CorpusPaths(size_t most_bytes) {
  std::vector<std::string> paths;
  for (const char* root : {KASHI_TEST_DATA "/corpus", KASHI_TEST_DATA "/host_dumps", KASHI_TEST_DATA "/tpu_dumps",
                           "fuzz/corpus/hlo_evaluate_fuzz", "examples"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string path = entry.path().string();
      const bool is_module = entry.path().extension() == ".hlo" || path.rfind("optimizations.txt") != std::string::npos;
      if (entry.is_regular_file() && is_module && entry.file_size() <= most_bytes) paths.push_back(path);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline const HloInstruction* FindByName(const HloModule& module, absl::string_view name) {
  for (const HloComputation* computation : module.computations()) {
    if (const HloInstruction* found = computation->GetInstructionWithName(name)) return found;
  }
  ADD_FAILURE() << "no instruction " << name;
  return nullptr;
}

}  // namespace kashi::query

#endif  // KASHI_QUERY_SUBMODULE_TESTING_H_
