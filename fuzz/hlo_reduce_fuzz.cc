// Any bytes as HLO text: of a module whose structure is sound, every candidate of a reduction keeps the rules that the
// module keeps, and its text reads back as the same module. A check that says yes by chance leads to an end.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "fuzz/hlo_text_mutator.h"
#include "kashi/base/check.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/reduction/candidate.h"
#include "kashi/reduction/reducer.h"

namespace kashi::fuzz {
namespace {

constexpr int64_t kMostInstructions = 300, kMostQuestions = 100;

void CheckReadsBack(const reduction::Candidate& candidate, const reduction::Rules& rules) {
  const auto read = ParseAndReturnUnverifiedModule(candidate.text);
  KASHI_CHECK_OK(read);
  KASHI_CHECK_OK(rules.Check(**read));
  const std::string again = (*read)->ToString(HloPrintOptions().set_print_large_constants(true));
  KASHI_CHECK(again == candidate.text) << candidate.text << "\n" << again;
}

void Reduce(const HloModule& module) {
  const auto rules = reduction::Rules::Of(module, {});
  if (!rules.ok()) return;
  std::atomic<int64_t> questions{0};
  const auto by_chance = [&](const reduction::Candidate& candidate, const std::atomic<bool>&) -> absl::StatusOr<bool> {
    // The first question is about the module itself: text of a broken one may have another meaning.
    if (questions > 0) CheckReadsBack(candidate, *rules);
    if (++questions > kMostQuestions) return absl::ResourceExhaustedError("enough");
    return questions == 1 || candidate.fingerprint[0] % 3 == 0;
  };
  const auto reduction = reduction::Reducer(by_chance).Run(module);
  KASHI_CHECK_OK(reduction);
  KASHI_CHECK(!(reduction->before < reduction->best->size));
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = kashi::ParseAndReturnUnverifiedModule(text);
  if (module.ok() && (*module)->instruction_count() <= kashi::fuzz::kMostInstructions) {
    kashi::fuzz::Reduce(**module);
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return kashi::fuzz::MutateHloText(data, size, max_size, seed);
}
