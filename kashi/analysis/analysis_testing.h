// For tests only: modules from text.
#ifndef KASHI_ANALYSIS_ANALYSIS_TESTING_H_
#define KASHI_ANALYSIS_ANALYSIS_TESTING_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::analysis {

inline std::unique_ptr<HloModule> ReadModule(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

inline MemoryAnalysis Analyze(const HloModule& module, absl::string_view target = "") {
  absl::StatusOr<MemoryAnalysis> memory = AnalyzeMemory(module, ParseMemoryTarget(target));
  EXPECT_TRUE(memory.ok()) << memory.status();
  return memory.ok() ? *std::move(memory) : MemoryAnalysis();
}

// The number of the buffer in which a value lies, -1 if there is none.
inline int BufferOf(const MemoryAnalysis& memory, absl::string_view value_name) {
  for (size_t i = 0; i < memory.buffers.size(); ++i) {
    for (const BufferValue& value : memory.buffers[i].values) {
      if (value.name == value_name) return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_ANALYSIS_TESTING_H_
