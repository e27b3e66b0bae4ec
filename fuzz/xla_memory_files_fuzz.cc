// Any bytes as XLA's file about a module's memory, and the analysis of a module with it. The input is the text of a
// module, a line "====", and the text of a *-buffer-assignment.txt or a *-memory-usage-report.txt; without the line,
// the latter alone. A file that reads is consistent, and so is its analysis; an error has a place and a
// caret.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "fuzz/hlo_text_mutator.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/analysis/xla_buffer_assignment.h"
#include "kashi/base/check.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::fuzz {
namespace {

constexpr absl::string_view kSeparator = "\n====\n";
constexpr int64_t kMostBytesInAll = int64_t{1} << 60;

void CheckError(const absl::Status& status) {
  KASHI_CHECK(absl::StartsWith(status.message(), "report.txt:")) << status.ToString();
}

void CheckAssignment(const XlaBufferAssignment& assignment) {
  int64_t total = 0;
  for (const XlaBufferAssignment::Allocation& allocation : assignment.allocations) {
    KASHI_CHECK_GE(allocation.bytes, 0);
    total += allocation.bytes;
    KASHI_CHECK_LE(total, kMostBytesInAll);
    for (const XlaBufferAssignment::Value& value : allocation.values) {
      KASHI_CHECK(!value.name.empty());
      KASHI_CHECK_GE(value.bytes, 0);
      KASHI_CHECK_GE(value.offset, 0);
      KASHI_CHECK_LE(value.offset + value.bytes, allocation.bytes) << value.name;
    }
  }
}

XlaMemoryFacts ReadFacts(absl::string_view text) {
  XlaMemoryFacts facts;
  absl::StatusOr<XlaBufferAssignment> assignment = ParseXlaBufferAssignment(text, "report.txt");
  if (assignment.ok()) {
    CheckAssignment(*assignment);
    facts.assignment = *std::move(assignment);
    return facts;
  }
  CheckError(assignment.status());
  absl::StatusOr<std::vector<XlaMemoryUsage>> usage = ParseXlaMemoryUsageReport(text, "report.txt");
  if (!usage.ok()) {
    CheckError(usage.status());
    return facts;
  }
  for (const XlaMemoryUsage& space : *usage) KASHI_CHECK_GE(space.bytes, 0);
  facts.usage = *std::move(usage);
  return facts;
}

void Analyze(absl::string_view text, const XlaMemoryFacts& facts) {
  const auto module = ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) return;
  const absl::StatusOr<MemoryAnalysis> memory = AnalyzeMemory(**module, std::nullopt, facts);
  if (!memory.ok()) {
    KASHI_CHECK(!memory.status().message().empty());
    return;
  }
  for (const MemorySpaceUsage& space : memory->spaces) {
    KASHI_CHECK_GE(space.temp_bytes, 0);
    KASHI_CHECK_GE(space.peak_bytes, 0);
    KASHI_CHECK_GE(space.gap_bytes, 0);
  }
  for (const MemoryBuffer& buffer : memory->buffers) {
    KASHI_CHECK(!buffer.values.empty());
    KASHI_CHECK_GE(buffer.bytes, 0);
    KASHI_CHECK_LT(buffer.lies_in, static_cast<int64_t>(memory->buffers.size()));
  }
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t at = text.find(kashi::fuzz::kSeparator);
  if (at == absl::string_view::npos) {
    kashi::fuzz::ReadFacts(text);
  } else {
    kashi::fuzz::Analyze(text.substr(0, at), kashi::fuzz::ReadFacts(text.substr(at + kashi::fuzz::kSeparator.size())));
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return kashi::fuzz::MutateHloText(data, size, max_size, seed);
}
