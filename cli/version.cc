// `kashi version`: what this build is.
#include <cstdio>
#include <memory>

#include "cli/verb.h"
#include "nlohmann/json.hpp"

namespace kashi::cli {
namespace {

// What the processor offers; the array model needs none of it.
nlohmann::ordered_json CpuCapabilities() {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) names.push_back("avx2");
  if (__builtin_cpu_supports("avx512f")) names.push_back("avx512f");
#endif
  return names;
}

int RunVersion(bool json) {
  nlohmann::ordered_json facts;
  facts["version"] = KASHI_VERSION;
  facts["features"] = {"shape", "index", "draw"};
  facts["cpu"] = CpuCapabilities();
  if (json) {
    std::printf("%s\n", facts.dump().c_str());
    return kSuccess;
  }
  std::printf("kashi %s\nfeatures:", KASHI_VERSION);
  for (const auto& feature : facts["features"]) std::printf(" %s", feature.get<std::string>().c_str());
  std::printf("\nCPU:");
  for (const auto& name : facts["cpu"]) std::printf(" %s", name.get<std::string>().c_str());
  std::printf("\n");
  return kSuccess;
}

}  // namespace

void AddVersionVerb(Command* command) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = AddVerb(command, "version", "Tell the version, the features built in and the CPU's capabilities",
                           "  kashi version\n  kashi version --json", [json] { return RunVersion(*json); });
  verb->add_flag("--json", *json, "One JSON object");
}

}  // namespace kashi::cli
