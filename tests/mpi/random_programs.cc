// Runs random programs of collective operations on the ranks of mpirun, and compares each result with that of threads,
// bit for bit:
//
//   mpirun -n 3 kashi_mpi_random --programs 50 --seed 1
//
// Every rank runs every program by threads, too. Prints "N programs agree", or the first that does not.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/mpi/mpi_ranks.h"
#include "tests/mpi/random_collectives.h"

namespace kashi::testing {
namespace {

struct Settings {
  int64_t programs = 20;
  uint64_t seed = 1;
  bool prints = false;
};

struct Trial {
  RandomProgramOptions program;
  MpiOptions mpi;
  bool compiled;
};

Trial MakeTrial(uint64_t seed) {
  std::mt19937_64 random(seed);
  Trial trial;
  trial.program.seed = seed;
  trial.program.replicas = 1 + static_cast<int64_t>(random() % 4);
  trial.program.partitions = 1 + static_cast<int64_t>(random() % 4);
  trial.program.operations = 1 + static_cast<int>(random() % 6);
  trial.mpi.deterministic = random() % 2 == 0;
  trial.program.exact_sums = !trial.mpi.deterministic;
  if (random() % 3 == 0) trial.mpi.most_count = 64 + static_cast<int64_t>(random() % 1000);
  trial.compiled = random() % 3 == 0;
  return trial;
}

absl::StatusOr<std::vector<Literal>> RunTrial(const Trial& trial, const HloModule& module,
                                              std::vector<std::vector<Literal>> arguments, MpiRanks* ranks) {
  if (trial.compiled) {
    KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, Program::Compile(module));
    return ranks == nullptr ? program->ExecuteOnDevices(std::move(arguments))
                            : ranks->RunOnDevices(*program, std::move(arguments));
  }
  return ranks == nullptr ? RunOnDevices(module, std::move(arguments))
                          : ranks->RunOnDevices(module, std::move(arguments));
}

std::vector<std::vector<Literal>> Copy(const std::vector<std::vector<Literal>>& arguments) {
  std::vector<std::vector<Literal>> copy(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    for (const Literal& argument : arguments[i]) copy[i].push_back(argument.Clone());
  }
  return copy;
}

// What is wrong; "" if nothing is.
std::string Check(const Trial& trial, const std::string& text, MpiRanks* ranks) {
  const auto module = ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) return std::string(module.status().message());
  HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  const absl::Status verified = verifier.Run(module->get()).status();
  if (!verified.ok()) return std::string(verified.message());
  const int64_t devices = trial.program.replicas * trial.program.partitions;
  std::vector<std::vector<Literal>> arguments(devices);
  for (int64_t d = 0; d < devices; ++d) arguments[d] = MakeArguments(**module, trial.program.seed, d);
  const auto expected = RunTrial(trial, **module, Copy(arguments), nullptr);
  if (!expected.ok()) return absl::StrCat("by threads: ", expected.status().message());
  auto actual = RunTrial(trial, **module, std::move(arguments), ranks);
  if (!actual.ok()) return absl::StrCat("by ranks: ", actual.status().message());
  const absl::Status gathered =
      ranks->GatherToFirst((**module).entry_computation()->root_instruction()->shape(), &*actual);
  if (!gathered.ok()) return absl::StrCat("gathering: ", gathered.message());
  const auto [first, end] = ranks->DevicesHere(devices);
  for (int64_t d = 0; d < devices; ++d) {
    if (ranks->rank() != 0 && (d < first || d >= end)) continue;
    if ((*expected)[d] == (*actual)[d]) continue;
    return absl::StrCat("device ", d, " has another result: ", (*actual)[d].ToStringOneline().substr(0, 2000),
                        "\nand by threads: ", (*expected)[d].ToStringOneline().substr(0, 2000));
  }
  return "";
}

int Run(const Settings& settings) {
  const auto ranks = MpiRanks::Make(MPI_Comm_c2f(MPI_COMM_WORLD));
  if (!ranks.ok()) {
    std::fprintf(stderr, "%s\n", ranks.status().ToString().c_str());
    return 1;
  }
  for (uint64_t seed = settings.seed; seed < settings.seed + static_cast<uint64_t>(settings.programs); ++seed) {
    const Trial trial = MakeTrial(seed);
    (*ranks)->set_options(trial.mpi);
    const std::string text = MakeRandomProgram(trial.program);
    if (settings.prints && (*ranks)->rank() == 0) std::printf("%s\n", text.c_str());
    const std::string problem = Check(trial, text, ranks->get());
    if (problem.empty()) continue;
    std::fprintf(stderr, "rank %d of %d, --seed %llu%s%s, most_count %lld: %s\n%s\n", (*ranks)->rank(),
                 (*ranks)->size(), static_cast<unsigned long long>(seed),
                 trial.mpi.deterministic ? ", deterministic" : "", trial.compiled ? ", compiled" : "",
                 static_cast<long long>(trial.mpi.most_count), problem.c_str(), text.c_str());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if ((*ranks)->rank() == 0) std::printf("%lld programs agree\n", static_cast<long long>(settings.programs));
  return 0;
}

std::optional<Settings> ParseSettings(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view name = argv[i];
    if (name == "--print") {
      settings.prints = true;
    } else if (name == "--programs" && i + 1 < argc) {
      if (!absl::SimpleAtoi(argv[++i], &settings.programs)) return std::nullopt;
    } else if (name == "--seed" && i + 1 < argc) {
      if (!absl::SimpleAtoi(argv[++i], &settings.seed)) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return settings;
}

}  // namespace
}  // namespace kashi::testing

int main(int argc, char** argv) {
  const auto settings = kashi::testing::ParseSettings(argc, argv);
  if (!settings.has_value()) {
    std::fprintf(stderr, "usage: kashi_mpi_random [--programs N] [--seed N] [--print]\n");
    return 2;
  }
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  const int status = kashi::testing::Run(*settings);
  MPI_Finalize();
  return status;
}
