// The options of `kashi run` and its help.
#ifndef KASHI_CLI_RUN_OPTIONS_H_
#define KASHI_CLI_RUN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/breakdown_options.h"
#include "cli/limits.h"
#include "cli/module_file.h"
#include "cli/options.h"
#include "kashi/base/work_meter.h"
#include "kashi/engine/compile_options.h"

namespace kashi::cli {

struct RunOptions {
  std::string file;
  PartOptions parts;
  std::vector<std::string> inputs;
  std::string output_dir;
  std::string engine = "auto";  // auto, cpu or evaluator
  std::string dump_dir;
  std::string denormals;  // flush or keep; "": not given
  std::string target;     // a level of x86-64; "": not given
  std::string cache_dir;  // of object code; "": not given
  std::string excess_precision = "on";
  std::vector<std::string> expect;
  std::string expect_devices;
  std::optional<double> tolerance;
  bool allow_nan = false;
  bool allow_elided = false;
  std::vector<std::string> random;
  uint64_t seed = 42;
  int repeat = 1;
  std::string devices_dir;
  std::string as = "auto";
  bool split_outputs = false;
  bool partitions = false;
  bool deterministic = false;
  std::vector<std::string> custom_calls;
  std::string trace;
  uint64_t trace_limit = uint64_t{1} << 30;
  std::string until;
  bool check_nan = false;
  bool check = false;
  bool profile = false;
  std::string profile_trace;
  BreakdownOptions breakdown;  // of --profile
  int64_t top = 20;
  LimitOptions limits;
  std::string output;
  bool strict = false;
  bool json = false;
};

VerbHelp RunHelp();
void AddRunOptions(Verb* verb, RunOptions* options);

// Whether there are options that only the evaluator has, because it sees every value; or only the compiled engine.
bool NeedsEvaluator(const RunOptions& options);
bool NeedsCompiledEngine(const RunOptions& options);

// The options to compile a program that will run on this number of devices.
CompileOptions CompileOptionsOf(const RunOptions& options, int64_t devices, const WorkLimits& limits);

// Whether options are about one program of the file: its arguments, outputs or instructions, or files that it makes.
bool IsAboutOneProgram(const RunOptions& options);

// An error message about options that cannot be used together; "" if there is none.
std::string RunUsageError(const RunOptions& options);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_OPTIONS_H_
