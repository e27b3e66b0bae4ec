#include "cli/relayout_options.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/verb.h"
#include "kashi/relayout/cache_model.h"

namespace kashi::cli {

bool RelayoutVerbOptions::writes_npy() const { return npy || absl::EndsWith(out, ".npy"); }

namespace {

std::string CheckCaches(const std::string& value) {
  const absl::Status status = ParseCacheModel(value).status();
  return status.ok() ? "" : std::string(status.message());
}

std::string CheckSeconds(const std::string& value) {
  double seconds = 0;
  return absl::SimpleAtod(value, &seconds) && seconds >= 0 && seconds <= 3600
             ? ""
             : absl::StrCat(value, " is not a number of seconds from 0 to 3600");
}

void AddReportOptions(Verb* verb, RelayoutVerbOptions* options) {
  verb->AddFlag("--plan", &options->plan, "Print the plan");
  verb->AddFlag("--check", &options->check,
                "Compare every byte with the result of the index loop (exit status 1 if one differs)");
  verb->AddFlag("--bench", &options->bench,
                "Measure the speed, and that of a copy of the same number of bytes by as many threads");
  verb->AddOption("--problems", &options->problems,
                  "Plan, check or measure each line `[name: ]FROM -> TO` of this file; `-` is standard input")
      ->File();
  verb->AddOption("--min-time", &options->min_seconds, "Seconds per measurement of --bench, at least (default: 0.5)")
      ->Check(CheckSeconds);
  verb->AddOption("--seed", &options->seed,
                  "Seed of the random data that --check and --bench use without IN (default: 42)");
}

std::vector<HelpSection> RelayoutSections() {
  return {
      {"",
       "SHAPE is a shape with its layout. `[begin:end,...] of SHAPE` is a part of an array. --to also takes a layout "
       "alone, for the shape of --from. If --to is a part, the rest of an existing OUT stays as it is.",
       {}},
      {"", "The contents of IN decide whether it is .npy or raw bytes. OUT is .npy if its name ends in .npy.", {}},
      {"Keys of --json",
       "",
       {{"name, from, to", "The problem"},
        {"plan", "The plan, as text"},
        {"equal", "Whether --check found no difference"},
        {"checked_bytes", "The number of bytes that --check compared"},
        {"difference", "The first difference"},
        {"gbps, copy_gbps", "The speed of the relayout and of the copy, in 10^9 bytes per second"},
        {"ratio", "gbps / copy_gbps"},
        {"bytes", "bytes_read + bytes_written"},
        {"bytes_read", "The bytes of the elements that are read"},
        {"bytes_written", "The bytes that are written, including filled padding"},
        {"threads, copy_threads", "The threads of the relayout and of the copy (1 if that copies faster)"},
        {"runs", "The number of runs"},
        {"execute_ns, copy_ns", "The median times"},
        {"execute_ns_min, copy_ns_min", "The shortest times"},
        {"plan_ns", "The time to make the plan"},
        {"error, column", "For a bad problem: the error and its place"}}}};
}

std::string UsageErrorOfFiles(const RelayoutVerbOptions& options) {
  if (options.out.empty() && !options.reports())
    return "give IN and OUT, or one of --plan, --check and --bench, which need no files";
  if (options.in.empty() && options.from.empty()) return "give --from: the shape and layout of the source";
  if (options.to.empty() && (options.out.empty() || !options.writes_npy())) {
    return "give --to: the shape and layout of the target (only an .npy file needs none)";
  }
  if (options.out.empty()) return "";
  if (options.bench) return "--bench writes no file: leave out OUT";
  if (!IsFile(options.out)) {
    if (options.reports() || options.json)
      return "OUT is standard output, where --plan, --check and --json print: give a file";
    if (options.pad == kKeepPadding) return "--pad keep needs an OUT that is an existing file";
  }
  return "";
}

}  // namespace

VerbHelp RelayoutHelp() {
  VerbHelp help;
  help.group = kArrayVerbs;
  help.summary = "Copy an array from one layout to another";
  help.examples =
      "  kashi relayout x.npy x.bin --to 'bf16[512,6144]{1,0:T(8,128)(2,1)}'      an array as a device stores it\n"
      "  kashi relayout x.bin x.npy --from 'bf16[512,6144]{1,0:T(8,128)(2,1)}'    and back\n"
      "  kashi relayout x.bin y.bin --from 'f32[64,3,224,224]' --to '{1,3,2,0}'   the same array in another order\n"
      "  kashi relayout x.bin y.npy --from '[0:8,128:256] of f32[8,1024]{1,0:T(8,128)}'\n"
      "  kashi relayout x.npy y.bin --to 'bf16[1000]{0:T(1024)}' --convert --pad nan\n"
      "  kashi relayout --from 'f32[1000,1001]' --to '{1,0:T(8,128)}' --plan --check --bench\n"
      "  kashi relayout --bench --json --problems problems.txt";
  help.sections = RelayoutSections();
  help.failure = "The input is bad, --check found a difference, or OUT cannot be written";
  help.stops_at_interrupt = true;
  return help;
}

void AddRelayoutOptions(Verb* verb, RelayoutVerbOptions* options) {
  verb->AddOption("IN", &options->in, "The array to read, raw bytes or .npy; `-` is standard input")->File();
  verb->AddOption("OUT", &options->out, "The file to write; `-` is standard output")->File();
  verb->BeginGroup("Layouts");
  verb->AddOption("--from", &options->from, "Shape and layout of IN (an .npy file needs none)")->Value("SHAPE");
  verb->AddOption("--to", &options->to, "Shape and layout of OUT (default for an .npy file: row-major)")
      ->Value("SHAPE");
  verb->AddFlag("--convert", &options->convert, "Convert the elements if the element types differ");
  verb->AddOption("--pad", &options->pad,
                  "Value of the padding of OUT: a number, bits such as 0x7fc0, or `keep` to leave it as it is "
                  "(default: 0)");
  verb->BeginGroup("Checks and measurements");
  AddReportOptions(verb, options);
  verb->BeginGroup("Limits");
  verb->AddOption("--threads", &options->threads, "Most threads (default: one per processor)")->Within(0, 1024);
  verb->AddFlag("--measure", &options->measure,
                "Run the best few plans, and keep the fastest; this takes memory for both arrays");
  verb->AddOption("--measure-file", &options->measure_file,
                  "The same; read from this file what earlier runs have measured, and add what this run measures")
      ->File();
  verb->AddOption("--caches", &options->caches,
                  "Plan for these caches: L1/WAYS,L2/WAYS,LARGEST, such as 32K/8,512K/8,32M (default: this machine's)")
      ->Value("CACHES")
      ->Check(CheckCaches);
  verb->AddSizeOption("--memory-limit", &options->memory_limit,
                      "Most memory for arrays, such as 500M (default: 7/8 of what is available)");
  verb->BeginGroup("Input and output");
  AddStrictFlag(verb, &options->strict);
  verb->AddFlag("--npy", &options->npy, "Write OUT as .npy whatever its name is");
  AddDurableFlag(verb);
  verb->AddFlag("--json", &options->json, "Print one JSON object per relayout");
}

std::string RelayoutUsageError(const RelayoutVerbOptions& options) {
  if (!options.measure_file.empty() && !IsFile(options.measure_file)) return "--measure-file needs a file";
  if (options.problems.empty()) return UsageErrorOfFiles(options);
  if (!options.reports()) return "--problems needs --plan, --check or --bench";
  if (!options.in.empty() || !options.from.empty() || !options.to.empty()) {
    return "--problems cannot be used with IN, OUT, --from or --to";
  }
  return "";
}

}  // namespace kashi::cli
