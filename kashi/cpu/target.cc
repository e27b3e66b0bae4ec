#include "kashi/cpu/target.h"

#include <initializer_list>
#include <utility>

#include <llvm/ADT/SmallVector.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/status.h"

namespace kashi::cpu {
namespace {

struct Level {
  const char* name;  // LLVM knows a processor of this name
  int vector_bits;
  bool has_fma;
};
constexpr Level kLevels[] = {{"x86-64-v2", 128, false}, {"x86-64-v3", 256, true}, {"x86-64-v4", 512, true}};

bool Has(const Processor& processor, std::initializer_list<const char*> features) {
  return absl::c_all_of(features, [&](const char* feature) {
    const auto found = processor.features.find(feature);
    return found != processor.features.end() && found->second;
  });
}

// The features of a processor that LLVM knows by name, without x87: all have it, and LLVM does not look for it.
std::vector<std::string> FeaturesOf(const char* processor) {
  llvm::SmallVector<llvm::StringRef> found;
  llvm::X86::getFeaturesForCPU(processor, found);
  std::vector<std::string> features;
  for (const llvm::StringRef feature : found) {
    if (feature != "x87") features.push_back(feature.str());
  }
  return features;
}

std::string TextOf(const Processor& processor) {
  return absl::StrJoin(processor.features, ",", [](std::string* text, const auto& feature) {
    absl::StrAppend(text, feature.second ? "+" : "-", feature.first);
  });
}

}  // namespace

const Processor& Processor::Host() {
  static const auto& host = *[] {
    auto* const processor = new Processor{llvm::sys::getHostCPUName().str(), {}};
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      processor->features[feature.first().str()] = feature.second;
    }
    return processor;
  }();
  return host;
}

Target::Target(std::string processor, std::string features, int vector_bits, bool has_fma)
    : processor_(std::move(processor)), features_(std::move(features)), vector_bits_(vector_bits), has_fma_(has_fma) {}

absl::StatusOr<Target> Target::Of(const Processor& processor) {
  if (!Has(processor, {"sse4.1"})) {
    return absl::UnimplementedError("the compiled engine needs a processor with SSE 4.1");
  }
  const bool has_fma = Has(processor, {"fma"});
  const bool has_avx2 = has_fma && Has(processor, {"avx2"});
  const bool has_fast_avx512 =
      has_avx2 && Has(processor, {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512bf16"});
  return Target(processor.name, TextOf(processor), has_fast_avx512 ? 512 : has_avx2 ? 256 : 128, has_fma);
}

absl::StatusOr<Target> Target::ForLevel(absl::string_view level, const Processor& runs_on) {
  const Level* const found = absl::c_find_if(kLevels, [&](const Level& known) { return known.name == level; });
  if (found == std::end(kLevels)) {
    return InvalidArgument("no target has the name `%s`; the targets are: %s", level, absl::StrJoin(Levels(), ", "));
  }
  for (const std::string& feature : FeaturesOf(found->name)) {
    if (Has(runs_on, {feature.c_str()})) continue;
    return FailedPrecondition("this processor cannot run code for the target %s: it has no %s", level, feature);
  }
  return Target(found->name, "", found->vector_bits, found->has_fma);
}

std::vector<std::string> Target::Levels() {
  std::vector<std::string> names;
  for (const Level& level : kLevels) names.push_back(level.name);
  return names;
}

}  // namespace kashi::cpu
