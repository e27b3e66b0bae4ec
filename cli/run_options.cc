#include "cli/run_options.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cli/known_arguments.h"
#include "cli/module_file.h"
#include "cli/partition_module.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "cli/verb.h"
#include "kashi/engine/engine.h"

namespace kashi::cli {
namespace {

std::vector<std::string> EnginesToChoose() {
  std::vector<std::string> names = engine::EngineNames();
  names.insert(names.begin(), "auto");
  return names;
}

void AddInputOptions(Verb* verb, RunOptions* options) {
  verb->BeginGroup("Inputs");
  verb->AddOption("--input", &options->inputs,
                  "Read an argument from this .npy file; repeat it for each array, in parameter order (default: random "
                  "arguments, or those of the snapshot)")
      ->File()
      ->OneEach();
  AddArgumentOption(verb);
  verb->AddOption("--random", &options->random,
                  "Rule for random arguments: RULE for all parameters, NUMBER=RULE for one; may be repeated (default: "
                  "auto)")
      ->Value("RULE")
      ->OneEach()
      ->Check(CheckRandomRule);
  verb->AddOption("--seed", &options->seed, "Seed of the random numbers (default: 42)");
  verb->AddOption("--devices-dir", &options->devices_dir,
                  "Read argument i of device k from DIR/dev<k>/in<i>.npy. For a program that is not partitioned yet, "
                  "these are the shards of its parameters")
      ->File("DIR");
  verb->AddOption("--as", &options->as,
                  "Treat the module as global (not partitioned yet) or per-device; auto decides by its shardings "
                  "(default: auto)")
      ->OneOf({"auto", "global", "per-device"});
  AddPartitionFlag(verb, &options->partitions,
                   "Partition a program that is not partitioned yet, and run the program of each device. Inputs are "
                   "the global ones, of which each device reads its part; outputs are joined, unless --split-outputs "
                   "is given");
}

void AddOutputOptions(Verb* verb, RunOptions* options) {
  verb->BeginGroup("Outputs");
  verb->AddOption("--output-dir", &options->output_dir,
                  "Write out0.npy, out1.npy ... to this directory; for several devices, dev<k>/out<i>.npy")
      ->File("DIR");
  verb->AddFlag("--split-outputs", &options->split_outputs,
                "Split the outputs of a program that is not partitioned yet into the shards of the devices");
  AddOutputOption(verb, &options->output, "Write the report to this file");
  verb->AddFlag("--json", &options->json, "Print one JSON object for each program");
}

void AddComparisonOptions(Verb* verb, RunOptions* options) {
  verb->BeginGroup("Comparison");
  verb->AddOption("--expect", &options->expect,
                  "Compare an output with this .npy file; repeat it for each output, in order")
      ->File()
      ->OneEach();
  verb->AddOption("--expect-devices", &options->expect_devices,
                  "Compare output i of device k with DIR/dev<k>/out<i>.npy")
      ->File("DIR");
  verb->AddOption("--tolerance", &options->tolerance,
                  "Largest error of a floating point number, absolute and relative (default: f64 1e-9, f32 1e-4, f16 "
                  "1e-2, others 5e-2)")
      ->Check(CheckTolerance);
  verb->AddFlag("--allow-nan", &options->allow_nan,
                "Accept an output whose elements are all NaN, if those of the expected output are too");
  verb->AddFlag("--allow-elided", &options->allow_elided,
                "Compare even if the text leaves out values of constants, `{...}`; random values replace them");
}

void AddDebuggingOptions(Verb* verb, RunOptions* options) {
  verb->BeginGroup("Debugging");
  verb->AddFlag("--check-nan", &options->check_nan,
                "Stop at the first instruction that makes a NaN or an infinity from operands without one, and describe "
                "it (exit status 1)");
  verb->AddFlag(
      "--check", &options->check,
      "Compute each kernel and thunk of the engine cpu once more, by the evaluator from the same "
      "operands; stop at the first that differs by more than the tolerance, and describe it (exit status 1). Then run "
      "the program once more with memory of its own for each value, and compare the result");
  verb->AddOption("--until", &options->until, "Stop after this instruction; its value is the output")->Value("NAME");
  verb->AddOption("--trace", &options->trace,
                  "Write the value of every instruction to this directory as .npy; index.tsv lists the files")
      ->File("DIR");
  verb->AddSizeOption("--trace-limit", &options->trace_limit, "Most bytes for the files of --trace (default: 1G)");
}

void AddExecutionOptions(Verb* verb, RunOptions* options) {
  verb->BeginGroup("Execution");
  verb->AddOption("--repeat", &options->repeat, "Run N times and report the times")->Within(1, 1000000);
  verb->AddOption("--engine", &options->engine,
                  "The engine: cpu compiles loops to machine code and rounds as XLA's compiler does; the evaluator "
                  "compiles nothing and is exact; auto takes one of them by the rule below (default: auto)")
      ->OneOf(EnginesToChoose());
  verb->AddOption("--denormals", &options->denormals,
                  "What the engine cpu does with denormal numbers in compiled loops (default: flush, as XLA does)")
      ->OneOf({"flush", "keep"});
  verb->AddOption("--target", &options->target,
                  "The processors that the engine cpu makes code for: all with SSE4.2 (x86-64-v2), with AVX2 and FMA "
                  "(x86-64-v3) or with AVX-512 (x86-64-v4); this one must be among them (default: this one, with all "
                  "its instructions)")
      ->OneOf({"x86-64-v2", "x86-64-v3", "x86-64-v4"});
  verb->AddOption(
          "--excess-precision", &options->excess_precision,
          "Whether to keep bits that the type of a result has no place for, where XLA does (default: on): of a bf16 "
          "result that is converted to f32 and, in the engine cpu, of a product that is added (fused multiply-add)")
      ->OneOf({"on", "off"});
  verb->AddOption("--dump-dir", &options->dump_dir,
                  "Write the stages of the engine cpu to this directory: HLO after each pass, LLVM IR, assembly")
      ->File("DIR");
  verb->AddOption("--cache-dir", &options->cache_dir,
                  "Take machine code of the engine cpu from this directory where an earlier run has left it, and leave "
                  "new code there (default: the environment variable KASHI_CACHE_DIR, or none)")
      ->File("DIR");
  verb->AddFlag(
      "--deterministic", &options->deterministic,
      "On several ranks of mpirun, add up floating point numbers of the devices in their order, as one process "
      "does: the same results for any number of ranks");
  verb->AddOption("--custom-call", &options->custom_calls,
                  "Compute the custom calls of TARGET by this command (an example: examples/custom_call.py)")
      ->Value("TARGET=COMMAND")
      ->OneEach();
  verb->BeginGroup("Profile");
  verb->AddFlag("--profile", &options->profile,
                "Print which steps of the program take the time, and how near they come to the machine's speed; with "
                "--repeat, of the runs after the first");
  verb->AddOption("--top", &options->top, "Number of steps of --profile to show (default: 20)")
      ->Within(0, std::numeric_limits<int64_t>::max());
  verb->AddOption("--profile-trace", &options->profile_trace,
                  "Write the steps over time to this file, for Perfetto (ui.perfetto.dev) or chrome://tracing")
      ->File();
  AddBreakdownOptions(verb, "the times of --profile", &options->breakdown);
  verb->BeginGroup("Limits");
  AddLimitOptions(verb, &options->limits);
  AddModuleFilterOption(verb);
  AddInputLimitOption(verb);
  verb->BeginGroup("Module text");
  AddStrictFlag(verb, &options->strict);
  AddFunctionOption(verb);
  verb->AddFlag("--all-functions", &options->parts.all_functions,
                "Run each function of a StableHLO program that has no arguments and that no other function calls "
                "(default: if they are tests, see below)");
  verb->AddFlag("--split-input-file", &options->parts.split_input_file,
                "Split a StableHLO text at the lines `// -----`, and run each part (default: yes, unless an option "
                "names --function or files of one program)");
}

std::vector<HelpSection> RunSections() {
  return {
      {"",
       "Arguments are in parameter order; the arrays of a tuple follow one another. Arrays of types that NumPy lacks, "
       "such as bf16, hold raw bits.",
       {}},
      {"",
       "Elements that are NaN on both sides are counted, but not compared. An output without any compared element "
       "counts as different.",
       {}},
      {"",
       "Of a StableHLO text, all parts between lines `// -----` run. Of a part, all functions without arguments run if "
       "it "
       "has several and no @main, or if functions beside @main compare values (check.expect_eq). Options that name "
       "files "
       "or a function of one program turn this off.",
       {}},
      {"Rule of --engine auto",
       "",
       {{"cpu", "With --check, --denormals, --dump-dir and --target, and for all programs but these:"},
        {"evaluator",
         "With --check-nan, --until and --trace, which need every value; for programs that it finishes before they "
         "would be compiled, which takes some 5 ms, and 0.3 ms an instruction "
         "(the runs of --repeat count together); for programs of more than 20,000 instructions; and where the engine "
         "cpu is not built in (`kashi version` lists it)"}}},
      {"Columns of --profile",
       "A step is a kernel or a loop of the engine cpu, or one instruction. Its measurement takes up to 100 ns.",
       {{"time, share", "In the mean run. Steps within the step, such as those of a loop, do not count"},
        {"calls", "In one run"},
        {"GB/s, of copy",
         "Bytes read and written, as `kashi cost` counts them, and the part of a copy's speed on this machine. Arrays "
         "in "
         "a cache may be faster"},
        {"GFLOP/s, of dot", "Flops and transcendentals, and the part of the speed of a large f32 dot on this machine"},
        {"step, what, source",
         "The instruction, what it computes, and the line that it comes from. Between steps, values are passed on and "
         "memory is prepared"}}},
      {"Rules of --random",
       "",
       {{"auto",
         "By use. Real numbers: [-1, 1); [0.1, 1.1) if they reach rsqrt, sqrt, log or a divisor; smaller for factors "
         "of "
         "long sums. Integers: 0 to 127; indices within their array; small loop counts; any bits for keys of random "
         "number generators. Initial values of reductions: the neutral element"},
        {"normal, normal:MEAN,DEVIATION",
         "Real numbers of this normal distribution (default: 0,1). Integers as in auto"},
        {"uniform:A,B", "Real numbers in [A, B). Integers as in auto"},
        {"positive", "Real numbers in [0.1, 1.1), integers from 1 to 127, indices as in auto"},
        {"ones", "1 everywhere"},
        {"integers:A,B", "Whole numbers from A to B"}}},
      {"Keys of --json",
       "",
       {{"file, engine", "The module, and the engine that ran it"},
        {"part", "Which program of the file, with --all-functions or --split-input-file: its line, its function"},
        {"elided_constants", "Constants whose values the text leaves out"},
        {"inputs", "How each random argument was made"},
        {"compile_ms", "The time of the verifier, and of the compiler of the engine cpu"},
        {"objects, objects_known", "With a cache: the parts of the machine code, and how many of them the cache had"},
        {"compared_steps", "With --check: how many steps were compared with the evaluator"},
        {"wrong_step",
         "With --check, instead of outputs: the first step that differs. instruction, device (or null), computation, "
         "text, source, operands, shape, leaf, index, evaluator, cpu, comparison. If the plan of memory is "
         "wrong: the result, with without_plan in the place of evaluator"},
        {"first_ms", "The time of the first run"},
        {"run_ms_min, run_ms_median", "The times of the runs after the first"},
        {"peak_rss_bytes", "The peak memory of the process"},
        {"profile",
         "With --profile: runs, run_ms, between_steps_ms, copy_gbps, dot_gflops, and steps. Per step: name, "
         "computation, opcode, what, ms, share and calls of a run; bytes, flops and transcendentals of a call; gbps, "
         "of_copy, gflops, of_dot; op_name, source. For several devices also collectives. Per operation: name, opcode, "
         "bytes, calls, ms, waiting_ms, latest (a device), latest_cost_ms, latest_rank"},
        {"outputs", "Per output: shape, elements, min, max, mean, nan, inf, value or beginning, comparison"},
        {"devices", "For several devices, instead of outputs: the outputs of each device"}}}};
}

bool NamesFilesOfOneProgram(const RunOptions& options) {
  return !options.devices_dir.empty() || !options.inputs.empty() || !options.output_dir.empty() ||
         !options.expect.empty() || !options.expect_devices.empty() || !options.trace.empty() ||
         !options.profile_trace.empty() || !options.dump_dir.empty();
}

}  // namespace

VerbHelp RunHelp() {
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Run a program and print its outputs";
  help.examples =
      "  kashi run module.hlo                                       with random arguments\n"
      "  kashi run module.hlo --input x.npy --input y.npy --output-dir out\n"
      "  kashi run module.hlo --input x.npy --expect want.npy       exit status 1 if the output differs\n"
      "  kashi run module.hlo --random normal --random 2=integers:0,9   parameter 2: integers; others: normal\n"
      "  kashi run snapshot.pb                                      with the arguments of the snapshot\n"
      "  kashi run before.hlo --partition                           on the devices that its shardings name\n"
      "  kashi run module.hlo --check-nan                           find the instruction that makes the first NaN\n"
      "  kashi run module.hlo --check                               find the kernel that computes something wrong\n"
      "  kashi run module.hlo --repeat 10 --json                    measure the time\n"
      "  kashi run module.hlo --repeat 10 --profile                 which steps take it\n"
      "  kashi run module.hlo --repeat 10 --profile --by layer      which layers take it\n"
      "  kashi run tests.mlir                                       StableHLO functions that check themselves\n"
      "  mpirun -n 4 kashi run step.hlo --devices-dir inputs        the devices of a program on several processes";
  help.sections = RunSections();
  help.failure = "The input is bad, the run failed, an output differs, or the output cannot be written";
  help.stops_at_interrupt = true;
  return help;
}

void AddRunOptions(Verb* verb, RunOptions* options) {
  verb->AddOption("FILE", &options->file, "A module or a snapshot, or `-` for standard input")->File()->Required();
  AddInputOptions(verb, options);
  AddOutputOptions(verb, options);
  AddComparisonOptions(verb, options);
  AddDebuggingOptions(verb, options);
  AddExecutionOptions(verb, options);
}

bool NeedsEvaluator(const RunOptions& options) {
  return !options.trace.empty() || !options.until.empty() || options.check_nan;
}

bool NeedsCompiledEngine(const RunOptions& options) {
  return options.check || !options.dump_dir.empty() || !options.denormals.empty() || !options.target.empty();
}

CompileOptions CompileOptionsOf(const RunOptions& options, int64_t devices, const WorkLimits& limits) {
  CompileOptions compile;
  compile.engine = options.engine;
  if (options.engine == "auto" && NeedsCompiledEngine(options)) compile.engine = "cpu";
  if (options.engine == "auto" && NeedsEvaluator(options)) compile.engine = "evaluator";
  compile.runs = SaturatingMultiply(options.repeat, devices);
  compile.target = options.target;
  compile.cache_folder = options.cache_dir;
  compile.numbers.flush_denormals = options.denormals != "keep";
  compile.numbers.excess_precision = options.excess_precision != "off";
  compile.limits = limits;
  return compile;
}

bool IsAboutOneProgram(const RunOptions& options) {
  return NamesFilesOfOneProgram(options) || !options.until.empty() || !options.random.empty();
}

std::string RunUsageError(const RunOptions& options) {
  const bool watches = NeedsEvaluator(options);
  const bool compiles = options.engine == "cpu" || NeedsCompiledEngine(options);
  if (compiles && watches) return "--trace, --until and --check-nan need --engine evaluator, which sees every value";
  if (compiles && options.engine == "evaluator") {
    return "--check, --dump-dir, --denormals and --target need --engine cpu";
  }
  if (const std::string error = options.breakdown.Error(); !error.empty()) return error;
  if (options.breakdown.by.has_value() && !options.profile) return "--by needs --profile";
  const bool measures = options.profile || !options.profile_trace.empty();
  if (measures && watches) {
    return "--profile and --profile-trace cannot be used with --trace, --until or --check-nan, which take time of "
           "their own";
  }
  if (options.repeat > 1 && watches) return "--repeat cannot be used with --trace, --until or --check-nan";
  const bool has_inputs = !options.devices_dir.empty() || !options.inputs.empty();
  if (has_inputs && !options.random.empty()) return "--random cannot be used with --input or --devices-dir";
  if (!options.devices_dir.empty() && !options.inputs.empty()) {
    return "--devices-dir and --input cannot be used together";
  }
  if (options.partitions && options.as == "per-device")
    return "--partition needs a global program, not --as per-device";
  if (options.partitions && watches) {
    return "--trace, --until and --check-nan see the global program: they cannot be used with --partition";
  }
  if (!options.expect.empty() && !options.expect_devices.empty()) {
    return "--expect and --expect-devices cannot be used together";
  }
  const bool is_one = !options.parts.split_input_file && !options.parts.all_functions;
  if (!is_one && NamesFilesOfOneProgram(options)) {
    return "--split-input-file and --all-functions run several programs: no option may name the files of one";
  }
  return "";
}

}  // namespace kashi::cli
