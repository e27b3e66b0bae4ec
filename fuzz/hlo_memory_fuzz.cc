// Any bytes as HLO text, and the memory and cost analyses of the module, whether or not a verifier would accept it:
// nothing ends the process, no sum overflows, and the facts about buffers are consistent.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "fuzz/hlo_text_mutator.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/analysis/memory_target.h"
#include "kashi/analysis/padding_report.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/check.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::fuzz {
namespace {

void CheckBuffers(const MemoryAnalysis& memory) {
  for (const MemoryBuffer& buffer : memory.buffers) {
    KASHI_CHECK(!buffer.values.empty());
    KASHI_CHECK_GE(buffer.bytes, buffer.unpadded_bytes);
    KASHI_CHECK_GE(buffer.unpadded_bytes, 0);
    KASHI_CHECK_LT(buffer.region, memory.sequences.size());
    KASHI_CHECK_LE(buffer.first_step, buffer.last_step) << buffer.main_value().name;
    KASHI_CHECK_LT(buffer.last_step, memory.sequences[buffer.region].size()) << buffer.main_value().name;
    for (const BufferValue& value : buffer.values) KASHI_CHECK_LE(value.bytes, buffer.bytes);
    GetSourceLocation(*buffer.main_value().instruction);
  }
}

void CheckSpaces(const MemoryAnalysis& memory) {
  for (const MemorySpaceUsage& space : memory.spaces) {
    KASHI_CHECK_GE(space.temp_bytes, 0);
    KASHI_CHECK_GE(space.peak_bytes, space.temp_bytes);
    KASHI_CHECK_GE(space.padding_bytes, 0);
    for (const MemoryLevel& level : space.levels) {
      KASHI_CHECK_GE(level.bytes, 0);
      KASHI_CHECK_LE(level.bytes, space.temp_bytes);
    }
  }
}

void Measure(const HloModule& module, absl::string_view target) {
  const auto memory = AnalyzeMemory(module, ParseMemoryTarget(target));
  if (!memory.ok()) return;
  CheckBuffers(*memory);
  CheckSpaces(*memory);
  KASHI_CHECK_GE(memory->xla_temp_bytes, 0);
  KASHI_CHECK_GE(memory->XlaPeakBytes(), memory->xla_temp_bytes);
  for (const PaddingEntry& entry : RankPadding(*memory, 4)) {
    for (const PaddingSuggestion& suggestion : entry.suggestions) {
      KASHI_CHECK_LT(suggestion.bytes, entry.bytes);
      PaddingSuggestionText(suggestion);
    }
  }
}

void CountCosts(const HloModule& module) {
  const auto costs = CostAnalysis::Run(module);
  if (!costs.ok()) return;
  for (double number : {costs->total().flops, costs->total().transcendentals, costs->total().bytes_accessed}) {
    KASHI_CHECK(number >= 0) << number;  // nor is it NaN
  }
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = kashi::ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) return 0;
  for (const char* target : {"", "v5e", "v3", "host"}) kashi::fuzz::Measure(**module, target);
  kashi::fuzz::CountCosts(**module);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return kashi::fuzz::MutateHloText(data, size, max_size, seed);
}
