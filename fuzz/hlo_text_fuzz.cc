// Any bytes as HLO text: reading never ends the process, every module that reads also prints, and printed text prints
// again as the same text.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "fuzz/hlo_text_mutator.h"
#include "kashi/base/check.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::fuzz {
namespace {

// XLA prints some strings without escapes, and names in shardings never with; those do not read back.
bool HasUnusualStrings(absl::string_view text) {
  return absl::StrContains(text, "\\") || absl::StrContains(text, "'") || absl::StrContains(text, "origin") ||
         absl::StrContains(text, "sharding") || absl::StrContains(text, "scheduling_name") ||
         absl::StrContains(text, "statistics");
}

void CheckText(absl::string_view text) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) {
    KASHI_CHECK(!module.status().message().empty());
    return;
  }
  const std::string printed = (*module)->ToString();
  const absl::StatusOr<std::unique_ptr<HloModule>> again = ParseAndReturnUnverifiedModule(printed);
  if (HasUnusualStrings(printed) || absl::StrContains(printed, "(invalid)")) return;
  if (!again.ok()) return;  // what one reader accepts may print as what none does: a nan in a shape that has none, …
  const std::string settled = (*again)->ToString();
  const absl::StatusOr<std::unique_ptr<HloModule>> third = ParseAndReturnUnverifiedModule(settled);
  if (third.ok()) KASHI_CHECK_EQ((*third)->instruction_count(), (*again)->instruction_count());
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kashi::fuzz::CheckText(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return kashi::fuzz::MutateHloText(data, size, max_size, seed);
}
