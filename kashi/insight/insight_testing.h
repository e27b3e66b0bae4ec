// For tests only: modules from text, and instructions by name.
#ifndef KASHI_INSIGHT_INSIGHT_TESTING_H_
#define KASHI_INSIGHT_INSIGHT_TESTING_H_

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::insight {

inline std::unique_ptr<HloModule> ReadModule(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

inline std::unique_ptr<HloModule> ReadModuleFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file.good()) << path;
  return ReadModule(text.str());
}

// The first instruction of this name.
inline const HloInstruction* Find(const HloModule& module, absl::string_view name) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->name() == name) return instruction;
    }
  }
  ADD_FAILURE() << "no instruction " << name;
  return module.entry_computation()->root_instruction();
}

// Modules of XLA: tests/data/corpus, and others of the larger corpus that have loops.
inline std::vector<std::filesystem::path> CorpusFiles() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"tests/data/corpus", "tests/data/insight/loops"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      const bool is_readable = name.find("unreadable") == std::string::npos;  // not even XLA reads these
      if (entry.path().extension() == ".hlo" && is_readable) files.push_back(entry.path());
    }
  }
  EXPECT_GT(files.size(), 100);
  return files;
}

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_INSIGHT_TESTING_H_
