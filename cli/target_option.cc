#include "cli/target_option.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/machine_peaks.h"
#include "cli/suggest.h"
#include "kashi/base/check.h"

namespace kashi::cli {
namespace {

constexpr absl::string_view kThisProcessor = "cpu";
constexpr double kGiga = 1e9;

std::vector<std::string> TargetNames() {
  std::vector<std::string> names = {std::string(kThisProcessor)};
  for (const insight::Accelerator& each : insight::Accelerators()) names.push_back(each.name);
  return names;
}

}  // namespace

void AddAcceleratorOption(Verb* verb, const std::string& description, std::string* name) {
  const auto set = [name](const std::string& text) {
    const std::string lower = absl::AsciiStrToLower(text);
    if (lower != kThisProcessor && insight::FindAccelerator(lower) == nullptr) {
      return absl::StrCat("unknown target `", text, "`; the targets are: cpu, ", insight::AcceleratorNames(),
                          DidYouMean(lower, TargetNames()));
    }
    *name = lower;
    return std::string();
  };
  verb->AddOption("--target", set,
                  absl::StrCat(description, ": cpu (this processor, measured), ", insight::AcceleratorNames()))
      ->Value("NAME");
}

const insight::Accelerator& AcceleratorOf(absl::string_view name) {
  if (name == kThisProcessor) {
    static const auto* const kCpu = [] {
      const MachinePeaks peaks = MeasureMachinePeaks();
      return new insight::Accelerator(insight::MakeCpu(peaks.dot_gflops * kGiga, peaks.copy_gbps * kGiga));
    }();
    return *kCpu;
  }
  const insight::Accelerator* found = insight::FindAccelerator(name);
  KASHI_CHECK(found != nullptr) << name;
  return *found;
}

}  // namespace kashi::cli
