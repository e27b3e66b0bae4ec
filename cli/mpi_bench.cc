#include "cli/mpi_bench.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/verb.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

// "12.3" µs, or nothing if it was not measured.
std::string Microseconds(const Json& point, const char* key) {
  return point.contains(key) ? absl::StrFormat("%.2f", point[key].get<double>()) : "";
}

std::string TextOf(const Json& json) {
  std::string text = absl::StrCat(json["ranks"].get<int>(), " ranks, ", json["ranks_of_machine"].get<int>(),
                                  " on this machine; one device each\n");
  for (const Json& collective : json["collectives"]) {
    absl::StrAppendFormat(&text, "%s: %.2f us and %.3f us/KiB\n", collective["name"].get<std::string>(),
                          collective["alpha_us"].get<double>(), collective["beta_ns_per_byte"].get<double>() * 1.024);
    absl::StrAppendFormat(&text, "  %12s %12s %12s %12s\n", "bytes", "us", "nonblocking", "blocking");
    for (const Json& point : collective["points"]) {
      absl::StrAppendFormat(&text, "  %12d %12s %12s %12s\n", point["bytes"].get<int64_t>(), Microseconds(point, "us"),
                            Microseconds(point, "nonblocking_us"), Microseconds(point, "blocking_us"));
    }
  }
  return text;
}

int RunMpiBench(const MpiBenchOptions& options) {
  if (TheRanks() == nullptr) {
    return FailUsage("mpi-bench measures ranks: start it by mpirun, such as `mpirun -n 4 kashi mpi-bench`");
  }
  if (options.least_bytes > options.most_bytes) return FailUsage("--least is more than --most");
  const absl::StatusOr<Json> json = TheRanks()->Measure(options);
  if (!json.ok()) return Fail(json.status());
  return WriteResult(options.output, options.json ? absl::StrCat(json->dump(), "\n") : TextOf(*json));
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
  help.sections = {{"",
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
  verb->AddSizeOption("--most", &options->most_bytes, "The largest operand; each is four times the one before (default: 4M)");
  verb->AddFlag("--bare", &options->bare, "Measure MPI's own nonblocking and blocking calls, too");
  verb->BeginGroup("Output");
  AddOutputOption(verb, &options->output, "Write to this file");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
