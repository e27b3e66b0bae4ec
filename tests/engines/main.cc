// Compares the compiled engine with the evaluator on every form of every operation, alone and in pairs, in every frame.
// README.md has the modes.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "kashi/base/check.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/cpu/target.h"
#include "kashi/literal/npy.h"
#include "tests/engines/catalogue.h"
#include "tests/engines/form.h"
#include "tests/engines/trial.h"
#include "tests/engines/worker_pool.h"

namespace kashi::tests {
namespace {

struct Settings {
  int64_t alone = 2000 / base::kShare, pairs = 3500 / base::kShare, random = 500 / base::kShare;  // by lot
  uint64_t seed = 1;
  bool is_long = false, covers = false;
  int64_t start = 0, shard = 0, shards = 1;
  double seconds = 0;  // 0: no limit. Without --long: programs by lot, until then
  int64_t most_findings = 20;
  int workers = 0;
  std::string out, target;
  std::optional<ProgramId> one;
  bool lists = false;
};

bool ParseSetting(absl::string_view argument, Settings* settings) {
  const auto number = [&](absl::string_view name, auto* value) {
    return absl::ConsumePrefix(&argument, name) && absl::SimpleAtoi(argument, value);
  };
  if (argument == "--long") return settings->is_long = true;
  if (argument == "--cover") return settings->covers = true;
  if (argument == "--list") return settings->lists = true;
  if (number("--alone=", &settings->alone) || number("--pairs=", &settings->pairs)) return true;
  if (number("--random=", &settings->random)) return true;
  if (number("--seed=", &settings->seed) || number("--start=", &settings->start)) return true;
  if (number("--shard=", &settings->shard) || number("--shards=", &settings->shards)) return true;
  if (number("--findings=", &settings->most_findings) || number("--workers=", &settings->workers)) return true;
  if (absl::ConsumePrefix(&argument, "--seconds=")) return absl::SimpleAtod(argument, &settings->seconds);
  if (absl::ConsumePrefix(&argument, "--out=")) return !(settings->out = std::string(argument)).empty();
  if (absl::ConsumePrefix(&argument, "--target=")) return !(settings->target = std::string(argument)).empty();
  settings->one = ParseProgramId(argument);
  return settings->one.has_value();
}

// The programs of a run, in order.
class Plan {
 public:
  Plan(const Catalogue& catalogue, const Settings& settings) : catalogue_(catalogue), settings_(settings) {
    std::mt19937_64 random(settings.seed);
    if (settings.covers) cover_ = catalogue.Cover(&random);
  }

  int64_t size() const {
    if (settings_.is_long || settings_.covers) {
      const int64_t all =
          settings_.covers ? static_cast<int64_t>(cover_.size()) : catalogue_.alone_count() + catalogue_.pair_count();
      return std::max<int64_t>(0, (all - settings_.start - settings_.shard + settings_.shards - 1) / settings_.shards);
    }
    if (settings_.seconds > 0) return std::numeric_limits<int64_t>::max() / 2;
    return settings_.alone + settings_.pairs + settings_.random;
  }
  int64_t Position(int64_t job) const { return settings_.start + settings_.shard + job * settings_.shards; }
  ProgramId At(int64_t job) const {
    if (settings_.covers) return cover_[static_cast<size_t>(Position(job))];
    return settings_.is_long ? InSteps(job) : ByLot(job);
  }

 private:
  // A long run goes through all programs in great steps, so that any part of it has something of everything.
  ProgramId InSteps(int64_t job) const {
    const int64_t alone = catalogue_.alone_count(), all = alone + catalogue_.pair_count();
    constexpr int64_t kStep = 1'000'000'007;  // a prime number, so that it meets all numbers
    const auto number = static_cast<int64_t>(static_cast<unsigned __int128>(Position(job)) * kStep %
                                             static_cast<unsigned __int128>(all));
    return number < alone ? ProgramId{ProgramId::kAlone, number} : ProgramId{ProgramId::kPair, number - alone};
  }
  ProgramId ByLot(int64_t job) const {
    std::mt19937_64 random(settings_.seed * 1'000'003 + static_cast<uint64_t>(job));
    random.discard(2);
    const ProgramId::Kind kind = settings_.seconds > 0                     ? static_cast<ProgramId::Kind>(job % 3)
                                 : job < settings_.alone                   ? ProgramId::kAlone
                                 : job < settings_.alone + settings_.pairs ? ProgramId::kPair
                                                                           : ProgramId::kRandom;
    return catalogue_.Draw(kind, &random);
  }

  const Catalogue& catalogue_;
  const Settings& settings_;
  std::vector<ProgramId> cover_;
};

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  KASHI_CHECK(file.good()) << path;
}

// The program and its arguments as files: out/pair-12.hlo, out/pair-12.0.npy …
void KeepFinding(const WrittenProgram& program, const std::string& what, const std::string& base) {
  WriteFile(base + ".hlo", absl::StrCat("// ", program.name, ": ", what, "\n", program.text));
  const auto module = ReadVerified(program.text);
  if (!module.ok()) return;
  const std::vector<Literal> arguments = MakeArguments(**module, program.arguments, program.seed);
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string bytes;
    KASHI_CHECK_OK(WriteNpy(arguments[i], &bytes));
    WriteFile(absl::StrCat(base, ".", i, ".npy"), bytes);
  }
}

constexpr int kSkipped = 77;  // the exit status, as ctest knows it

constexpr char kNotCompared[] = "not compared", kNoPlace[] = "no place";

// "" if the engines agree; else how they differ, or why nothing was compared.
std::string Tell(const WrittenProgram& program, const std::string& target) {
  if (program.text.empty()) return kNoPlace;
  const Verdict verdict = RunTrial(program.text, program.arguments, program.seed, target);
  return verdict.kind == Verdict::kSame ? "" : verdict.kind == Verdict::kNotCompared ? kNotCompared : verdict.detail;
}

// Replaces a program that differs by the simplest one that differs, too.
void Simplify(const Catalogue& catalogue, ProgramId id, const std::string& target, WrittenProgram* program,
              std::string* what) {
  const std::vector<WrittenProgram> simpler = catalogue.Simpler(id);
  WorkerPool pool;
  pool.jobs = static_cast<int64_t>(simpler.size());
  pool.work = [&](int64_t job) { return Tell(simpler[static_cast<size_t>(job)], target); };
  pool.report = [&](int64_t job, bool dead, const std::string& told) {
    if (!dead && (told.empty() || told == kNotCompared)) return true;
    *program = simpler[static_cast<size_t>(job)];
    *what = told;
    return false;
  };
  pool.Run();
}

// What the workers tell, counted.
class Findings {
 public:
  Findings(const Catalogue& catalogue, const Plan& plan, const Settings& settings)
      : catalogue_(catalogue), plan_(plan), settings_(settings) {}

  bool Report(int64_t job, bool dead, const std::string& told) {
    ++done_;
    if (told == kNotCompared) {
      ++not_compared_;
    } else if (told == kNoPlace) {
      ++no_place_;
    } else if (dead || !told.empty()) {
      Add(plan_.At(job), told);
    }
    if ((settings_.is_long || settings_.covers) && done_ % 1000 == 0) PrintProgress(job);
    const bool late = settings_.seconds > 0 && Seconds() > settings_.seconds;
    return found_ < settings_.most_findings && !late;
  }
  // The last line is what scripts/count_tests.py counts.
  int Summarise() const {
    std::printf("%lld programs in %.0f s; %lld were not compared\n%lld passed, %lld failed\n",
                static_cast<long long>(done_ - no_place_), Seconds(), static_cast<long long>(not_compared_),
                static_cast<long long>(done_ - no_place_ - not_compared_ - found_), static_cast<long long>(found_));
    return found_ == 0 ? 0 : 1;
  }

 private:
  double Seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  void PrintProgress(int64_t job) const {
    std::fprintf(stderr, "%d done, next --start=%d, %d found, %.0f s\n", static_cast<int>(done_),
                 static_cast<int>(plan_.Position(job)), static_cast<int>(found_), Seconds());
  }
  void Add(ProgramId id, std::string what) {
    ++found_;
    WrittenProgram program = catalogue_.Write(id);
    std::printf("%s (%s): %s\n", ToText(id).c_str(), program.name.c_str(), what.c_str());
    Simplify(catalogue_, id, settings_.target, &program, &what);
    if (settings_.out.empty()) {
      std::printf("The simplest (%s): %s\n%s\n", program.name.c_str(), what.c_str(), program.text.c_str());
    } else {
      std::printf("  the simplest (%s): %s\n", program.name.c_str(), what.c_str());
      KeepFinding(program, what, absl::StrCat(settings_.out, "/", absl::StrReplaceAll(ToText(id), {{":", "-"}})));
    }
    std::fflush(stdout);
  }

  const Catalogue& catalogue_;
  const Plan& plan_;
  const Settings& settings_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int64_t done_ = 0, found_ = 0, not_compared_ = 0, no_place_ = 0;
};

// Prints one program and what comes of it.
int RunOne(const Catalogue& catalogue, const Settings& settings) {
  const WrittenProgram program = catalogue.Write(*settings.one);
  std::printf("%s\n%s", program.name.c_str(), program.text.c_str());
  std::fflush(stdout);
  const std::string told = Tell(program, settings.target);
  std::printf("%s\n", told.empty() ? "the same" : told.c_str());
  if (!settings.out.empty()) KeepFinding(program, told, absl::StrCat(settings.out, "/program"));
  return told.empty() ? 0 : 1;
}

// Everything by lot, or everything.
int RunAll(const Catalogue& catalogue, const Settings& settings) {
  const Plan plan(catalogue, settings);
  Findings findings(catalogue, plan, settings);
  WorkerPool pool;
  pool.jobs = plan.size();
  pool.workers = settings.workers > 0 ? settings.workers : static_cast<int>(std::thread::hardware_concurrency());
  pool.work = [&](int64_t job) { return Tell(catalogue.Write(plan.At(job)), settings.target); };
  pool.report = [&](int64_t job, bool dead, const std::string& told) { return findings.Report(job, dead, told); };
  pool.Run();
  return findings.Summarise();
}

int Main(const Settings& settings) {
  const Catalogue catalogue;
  std::printf("%lld programs of one form, %lld of two\n", static_cast<long long>(catalogue.alone_count()),
              static_cast<long long>(catalogue.pair_count()));
  const std::vector<HloOpcode> missing = catalogue.Missing();
  for (HloOpcode opcode : missing) std::printf("%s has no form\n", std::string(HloOpcodeString(opcode)).c_str());
  std::fflush(stdout);
  if (settings.lists) return missing.empty() ? 0 : 1;
  if (settings.one.has_value()) return RunOne(catalogue, settings);
  const int status = RunAll(catalogue, settings);
  return missing.empty() ? status : 1;
}

}  // namespace
}  // namespace kashi::tests

int main(int argc, char** argv) {
  kashi::tests::Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (!kashi::tests::ParseSetting(argv[i], &settings)) {
      std::fprintf(stderr, "engine_forms: unknown argument '%s'; see tests/engines/README.md\n", argv[i]);
      return 2;
    }
  }
  if (!settings.target.empty()) {
    const absl::Status status = kashi::cpu::Target::ForLevel(settings.target).status();
    if (!status.ok()) {
      std::fprintf(stderr, "engine_forms: %s\n", std::string(status.message()).c_str());
      return absl::IsFailedPrecondition(status) ? kashi::tests::kSkipped : 2;
    }
  }
  return kashi::tests::Main(settings);
}
