#include "cli/mpi_bench.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/verb.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

// "12.34", or nothing if it was not measured.
std::string Microseconds(std::optional<double> us) { return us.has_value() ? absl::StrFormat("%.2f", *us) : ""; }

std::string MeasurementText(const RankMeasurement& measured) {
  std::string text = absl::StrCat(Count(measured.ranks, "rank"), ", ", measured.ranks_of_machine,
                                  " on this machine; one device each\n");
  for (const MeasuredCollective& collective : measured.collectives) {
    absl::StrAppendFormat(&text, "%s: %.2f us + %.4f us a KiB\n", collective.name, collective.alpha_us,
                          collective.beta_ns_per_byte * 1.024);
    absl::StrAppendFormat(&text, "  %12s %12s %12s %12s\n", "bytes", "us", "nonblocking", "blocking");
    for (const MeasuredPoint& point : collective.points) {
      std::string line = absl::StrFormat("  %12d %12s %12s %12s", point.bytes, Microseconds(point.us),
                                         Microseconds(point.nonblocking_us), Microseconds(point.blocking_us));
      line.erase(line.find_last_not_of(' ') + 1);
      absl::StrAppend(&text, line, "\n");
    }
  }
  return text;
}

Json MeasurementJson(const RankMeasurement& measured) {
  Json collectives = Json::array();
  for (const MeasuredCollective& collective : measured.collectives) {
    Json points = Json::array();
    for (const MeasuredPoint& point : collective.points) {
      Json json = {{"bytes", point.bytes}, {"us", point.us}};
      if (point.nonblocking_us.has_value()) json["nonblocking_us"] = *point.nonblocking_us;
      if (point.blocking_us.has_value()) json["blocking_us"] = *point.blocking_us;
      points.push_back(std::move(json));
    }
    collectives.push_back({{"name", collective.name},
                           {"alpha_us", collective.alpha_us},
                           {"beta_ns_per_byte", collective.beta_ns_per_byte},
                           {"points", std::move(points)}});
  }
  return {{"version", KASHI_VERSION},
          {"ranks", measured.ranks},
          {"ranks_of_machine", measured.ranks_of_machine},
          {"collectives", std::move(collectives)}};
}

int RunMpiBench(const MpiBenchOptions& options) {
  if (TheRanks() == nullptr) {
    return FailUsage("mpi-bench measures ranks: start it by mpirun, such as `mpirun -n 4 kashi mpi-bench`");
  }
  if (options.least_bytes > options.most_bytes) return FailUsage("--least is more than --most");
  const absl::StatusOr<RankMeasurement> measured = TheRanks()->Measure(options);
  if (!measured.ok()) return Fail(measured.status());
  return WriteResult(options.output,
                     options.json ? absl::StrCat(MeasurementJson(*measured).dump(), "\n") : MeasurementText(*measured));
}

}  // namespace

void AddMpiBenchVerb(Command* command) {
  auto options = std::make_shared<MpiBenchOptions>();
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Measure collective operations on the ranks of mpirun";
  help.examples =
      "  mpirun -n 4 kashi mpi-bench                          latency and bandwidth of each operation\n"
      "  mpirun -n 4 kashi mpi-bench --json -o cluster.json   for a model of costs\n"
      "  mpirun -n 2 kashi mpi-bench --bare --most 64M        beside MPI's own calls";
  help.sections = {
      {"",
       "Each rank has one device. The bytes are those of a device's operand; the time is the median of one "
       "operation in a program. alpha and beta are those of the line time = alpha + beta * bytes that is "
       "nearest to all times, by their ratio.",
       {}},
      {"Keys of --json",
       "",
       {{"version, ranks, ranks_of_machine", "What was measured"},
        {"collectives", "Per operation: name, alpha_us, beta_ns_per_byte, points"},
        {"points", "Per size: bytes, us; with --bare nonblocking_us and blocking_us, of MPI's own calls"}}}};
  help.failure = "It was not started by mpirun, the ranks cannot talk, or the output cannot be written";
  Verb* verb = command->AddVerb("mpi-bench", help, [options] { return RunMpiBench(*options); });
  verb->BeginGroup("Measurement");
  verb->AddOption("--collective", &options->collectives, "Measure this operation; may be repeated (default: all)")
      ->OneOf({std::begin(kMeasuredCollectives), std::end(kMeasuredCollectives)})
      ->OneEach();
  verb->AddSizeOption("--least", &options->least_bytes, "The smallest operand (default: 1K)");
  verb->AddSizeOption("--most", &options->most_bytes,
                      "The largest operand; each is four times the one before (default: 4M)");
  verb->AddFlag("--bare", &options->bare, "Measure MPI's own nonblocking and blocking calls, too");
  verb->BeginGroup("Output");
  AddOutputOption(verb, &options->output, "Write to this file");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
