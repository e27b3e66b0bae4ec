// `kashi version`: what this build is.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/verb.h"
#include "kashi/custom_calls/lapack_call.h"
#include "kashi/engine/engine.h"

namespace kashi::cli {

using custom_calls::HasLapack;
namespace {

// The instruction sets of the processor that the kernels use. None of them is required.
std::vector<std::string> CpuCapabilities() {
  std::vector<std::string> names;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) names.push_back("avx2");
  if (__builtin_cpu_supports("avx512f")) names.push_back("avx512f");
#endif
  return names;
}

// The verbs without those about the command itself, and the optional libraries that are built in.
std::vector<std::string> Features(const Command& command) {
  std::vector<std::string> names;
  for (const std::unique_ptr<Verb>& verb : command.verbs()) {
    if (verb->help().group != kOwnVerbs) names.push_back(verb->name());
  }
  if (HasLapack()) names.push_back("lapack");
  if (engine::FindEngine("cpu") != nullptr) names.push_back("cpu");
  return names;
}

std::string VersionText(const Command& command) {
  return absl::StrCat("kashi ", KASHI_VERSION, "\nfeatures: ", absl::StrJoin(Features(command), " "),
                      "\nCPU: ", absl::StrJoin(CpuCapabilities(), " "),
                      "\ncompiled engine: ", engine::AboutCompiledEngine(), "\n");
}

int RunVersion(const Command& command, bool json) {
  Answers answers("", json);
  if (json) {
    answers.AddLine({{"version", KASHI_VERSION},
                     {"features", Features(command)},
                     {"cpu", CpuCapabilities()},
                     {"compiled_engine", std::string(engine::AboutCompiledEngine())}});
  } else {
    answers.Add(VersionText(command));
  }
  return answers.Finish();
}

}  // namespace

void AddVersionVerb(Command* command) {
  auto json = std::make_shared<bool>(false);
  VerbHelp help;
  help.group = kOwnVerbs;
  help.summary = "Print the version, the features of this build and the CPU capabilities";
  help.examples = "  kashi version\n  kashi version --json";
  help.sections = {{"Keys of --json",
                    "",
                    {{"version", "The version"},
                     {"features", "The verbs, and `lapack` and `cpu` (the compiled engine) if they are built in"},
                     {"cpu", "The instruction sets that are used and that this processor has"},
                     {"compiled_engine", "yes, with the version of LLVM, or no, with what was missing"}}}};
  help.failure = "Standard output cannot be written";
  Verb* verb = command->AddVerb("version", help, [command, json] { return RunVersion(*command, *json); });
  verb->AddFlag("--json", json.get(), "Print one JSON object");
}

}  // namespace kashi::cli
