// `kashi version`: what this build is.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/verb.h"
#include "kashi/evaluator/lapack_call.h"

namespace kashi::internal::cli {
namespace {

// What the processor offers; the array model needs none of it.
std::vector<std::string> CpuCapabilities() {
  std::vector<std::string> names;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) names.push_back("avx2");
  if (__builtin_cpu_supports("avx512f")) names.push_back("avx512f");
#endif
  return names;
}

std::vector<std::string> Features() {
  std::vector<std::string> names = {"shape", "index", "draw",     "convert", "verify", "ops",
                                    "run",   "diff",  "relayout", "memory",  "cost"};
  if (HasLapack()) names.push_back("lapack");
  return names;
}

std::string VersionText() {
  return absl::StrCat("kashi ", KASHI_VERSION, "\nfeatures: ", absl::StrJoin(Features(), " "),
                      "\nCPU: ", absl::StrJoin(CpuCapabilities(), " "), "\n");
}

int RunVersion(bool json) {
  Answers answers("", json);
  if (json) {
    answers.AddLine({{"version", KASHI_VERSION}, {"features", Features()}, {"cpu", CpuCapabilities()}});
  } else {
    answers.Add(VersionText());
  }
  return answers.Finish();
}

}  // namespace

void AddVersionVerb(Command* command) {
  auto json = std::make_shared<bool>(false);
  Verb* verb = command->AddVerb("version", "Print the version, the built-in features and the capabilities of the CPU",
                                "  kashi version\n  kashi version --json", [json] { return RunVersion(*json); });
  verb->AddFlag("--json", json.get(), "Print one JSON object");
}

}  // namespace kashi::internal::cli
