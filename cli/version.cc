// `kashi version`: what this build is.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/verb.h"

namespace kashi::cli {
namespace {

// What the processor offers; the array model needs none of it.
Json CpuCapabilities() {
  Json names = Json::array();
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) names.push_back("avx2");
  if (__builtin_cpu_supports("avx512f")) names.push_back("avx512f");
#endif
  return names;
}

std::string VersionText(const Json& facts) {
  const auto join = [](const Json& names) { return absl::StrJoin(names.get<std::vector<std::string>>(), " "); };
  return absl::StrCat("kashi ", KASHI_VERSION, "\nfeatures: ", join(facts["features"]), "\nCPU: ", join(facts["cpu"]),
                      "\n");
}

int RunVersion(bool json) {
  Json facts;
  facts["version"] = KASHI_VERSION;
  facts["features"] = {"shape", "index", "draw",     "convert", "verify", "ops",
                       "run",   "diff",  "relayout", "memory",  "cost"};
  facts["cpu"] = CpuCapabilities();
  Answers answers("", json);
  if (json) {
    answers.AddLine(facts);
  } else {
    answers.Add(VersionText(facts));
  }
  return answers.Finish();
}

}  // namespace

void AddVersionVerb(Command* command) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = AddVerb(command, "version", "Tell the version, the features built in and the CPU's capabilities",
                           "  kashi version\n  kashi version --json", [json] { return RunVersion(*json); });
  AddFlag(verb, "--json", json.get(), "One JSON object");
}

}  // namespace kashi::cli
