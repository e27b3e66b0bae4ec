// `kashi convert`: a module from any form to any other.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/graph.h"
#include "cli/known_arguments.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/partition_module.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/text/printed_opcode.h"
#include "kashi/proto/hlo_json.h"
#include "kashi/proto/hlo_proto_io.h"
#include "kashi/stablehlo/conversion/hlo_to_stablehlo.h"

namespace kashi::cli {

using base::HumanBytes;
namespace {

struct ConvertOptions {
  std::vector<std::string> inputs;
  std::string to;
  std::string output;
  bool json = false;
  bool strict = false;
  bool bench = false;
  bool large_constants = false;
  bool short_form = false;
  bool canonical = false;
  bool fingerprint = false;
  bool no_metadata = false;
  bool no_percent = false;
  bool no_backend_config = false;
  bool operand_shapes = false;
  std::string as = "module";
  GraphOptions graph;
};

// --to, or else the format for the name of the output.
std::string FormatOf(const ConvertOptions& options) {
  if (!options.to.empty()) return options.to;
  const std::string extension = std::filesystem::path(options.output).extension().string();
  for (const char* format : {"pb", "pbtxt", "json", "mlir", "dot", "svg"}) {
    if (extension == absl::StrCat(".", format)) return format;
  }
  return "text";
}

bool IsGraph(absl::string_view format) { return format == "dot" || format == "svg"; }

HloPrintOptions PrintOptionsOf(const ConvertOptions& options) {
  HloPrintOptions print;
  if (options.short_form) print = HloPrintOptions::ShortParsable();
  if (options.canonical) print = HloPrintOptions::Canonical();
  if (options.fingerprint) print = HloPrintOptions::ModuleFingerprint();
  if (options.large_constants) print.set_print_large_constants(true);
  if (options.no_metadata) print.set_print_metadata(false);
  if (options.no_percent) print.set_print_percent(false);
  if (options.no_backend_config) print.set_print_backend_config(false);
  if (options.operand_shapes) print.set_print_operand_shape(true);
  return print;
}

absl::StatusOr<std::string> Convert(const ModuleFile& file, const std::string& format, const ConvertOptions& options) {
  if (format == "text") return file.module->ToString(PrintOptionsOf(options));
  if (IsGraph(format)) return DrawGraph(file, format == "svg", options.graph);
  if (format == "json") return HloModuleToJson(*file.module);
  HloProtoFile proto = *file.proto;
  proto.text_format = format == "pbtxt";
  std::string bytes;
  KASHI_RETURN_IF_ERROR(WriteHloProto(*file.module, proto, &bytes));
  return bytes;
}

// ---- StableHLO ------------------------------------------------------------------------------------------------------

// StableHLO text. The module must be valid. After an error, adds it to `answers` and returns nullopt.
std::optional<std::string> ConvertToMlir(const ModuleFile& file, const ConvertOptions& options,
                                         std::vector<std::string>* notes, Answers* answers) {
  HloVerifierOpts rules = VerifierOptionsFor(*file.module);
  rules.allow_unbounded_dynamism = true;
  if (!CheckModule(file, answers, rules)) return std::nullopt;
  std::vector<stablehlo::StableHloProblem> problems;
  absl::StatusOr<std::string> text =
      stablehlo::ConvertToStableHlo(*file.module, {/*has_locations=*/!options.no_metadata, &problems, notes});
  if (text.ok()) return *std::move(text);
  std::vector<HloFinding> findings;
  for (const stablehlo::StableHloProblem& problem : problems) {
    findings.push_back({problem.instruction, problem.instruction->parent(), "StableHLO",
                        absl::StrCat(hlo::PrintedOpcode(*problem.instruction), ": ", problem.status.message())});
  }
  if (findings.empty()) {
    answers->AddFileError(file.name, text.status());
  } else {
    AddFindings(file, findings, answers);
  }
  return std::nullopt;
}

// ---- --bench --------------------------------------------------------------------------------------------------------

// The time of the fastest of several runs, in seconds.
template <typename Work>
double BestSeconds(Work work) {
  using Clock = std::chrono::steady_clock;
  constexpr int kMostRuns = 40;
  constexpr std::chrono::seconds kEnough(2);
  double best = std::numeric_limits<double>::infinity();
  const Clock::time_point begin = Clock::now();
  for (int run = 0; run < kMostRuns && (run < 3 || Clock::now() - begin < kEnough); ++run) {
    best = std::min(best, work());
  }
  return best;
}

void Bench(const ModuleFile& file, Answers* answers) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const std::string text = file.is_text ? *file.bytes : file.module->ToString();
  const double parse_seconds = BestSeconds([&] {
    const Clock::time_point begin = Clock::now();
    const auto module = ParseAndReturnUnverifiedModule(text);
    return since(begin);  // the module is destroyed after the clock is read
  });
  size_t printed_size = 0;
  const double print_seconds = BestSeconds([&] {
    const Clock::time_point begin = Clock::now();
    const std::string printed = file.module->ToString();
    const double seconds = since(begin);
    printed_size = printed.size();
    return seconds;
  });
  constexpr double kMega = 1e6;
  Json json;
  json["file"] = file.name;
  json["text_bytes"] = text.size();
  json["instructions"] = file.module->instruction_count();
  const double parse_speed = text.size() / kMega / parse_seconds;
  const double print_speed = printed_size / kMega / print_seconds;
  json["parse_mb_per_s"] = parse_speed;
  json["print_mb_per_s"] = print_speed;
  if (answers->json()) {
    answers->AddLine(json);
  } else {
    answers->Add(absl::StrFormat("%s: %s of text, %s; reading %.0f MB/s, printing %.0f MB/s\n", file.name,
                                 HumanBytes(static_cast<int64_t>(text.size())),
                                 Count(file.module->instruction_count(), "instruction"), parse_speed, print_speed));
  }
}

// ---- Files ----------------------------------------------------------------------------------------------------------

// The record of --json: the output file, or the text itself.
Json ConversionJson(const ModuleFile& file, const std::string& format, const std::string& converted,
                    const std::vector<std::string>& notes, const std::string& output) {
  Json json = {{"file", file.name},
               {"module", file.module->name()},
               {"format", format},
               {"instructions", file.module->instruction_count()},
               {"bytes", converted.size()}};
  if (!notes.empty()) json["notes"] = notes;
  if (IsFile(output)) {
    json["output"] = output;
  } else {
    json["text"] = converted;
  }
  return json;
}

// The module in the format. After an error, adds it to `answers` and returns nullopt.
std::optional<std::string> ConvertModule(const ModuleFile& file, const std::string& format,
                                         const ConvertOptions& options, std::vector<std::string>* notes,
                                         Answers* answers) {
  if (format == "mlir") return ConvertToMlir(file, options, notes, answers);
  absl::StatusOr<std::string> converted = Convert(file, format, options);
  if (converted.ok()) return *std::move(converted);
  answers->AddFileError(file.name, converted.status());
  return std::nullopt;
}

// Writes one module to `output`, or to standard output if that is empty. Adds errors and the records of --json to
// `answers`.
void ConvertOne(const std::string& path, const std::string& output, const ConvertOptions& options, Answers* answers) {
  std::optional<ModuleFile> file = ReadModuleFile(path, {options.strict}, answers);
  if (!file.has_value()) return;
  if (options.as == "partitioned" && !PartitionModuleFile(&*file, answers)) return;
  if (options.bench) return Bench(*file, answers);
  const std::string format = FormatOf(options);
  std::vector<std::string> notes;
  const std::optional<std::string> converted = ConvertModule(*file, format, options, &notes, answers);
  if (!converted.has_value()) return;
  for (const std::string& note : notes) PrintNote(absl::StrCat(file->name, ": note: ", note, "\n"));
  if (IsFile(output)) {
    const absl::Status written = WriteOutput(output, *converted);
    if (!written.ok()) return answers->AddFileError(file->name, written);
  }
  if (options.json) {
    answers->AddLine(ConversionJson(*file, format, *converted, notes, output));
  } else if (!IsFile(output)) {
    answers->Add(*converted);
  }
}

// "x" of x.hlo.pb.gz: removes all endings of module files.
std::string NameWithoutEndings(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (bool found = true; found;) {
    found = false;
    for (const absl::string_view ending : {".gz", ".txt", ".hlo", ".hlo_text", ".pb", ".pbtxt", ".json"}) {
      if (name.size() <= ending.size() || !absl::EndsWith(name, ending)) continue;
      name.resize(name.size() - ending.size());
      found = true;
    }
  }
  return name;
}

// Names of files to write in a directory. If the names of modules differ only in their endings, as for the text and the
// proto of one module in a dump, the later ones keep their endings: x.hlo, x.hlo.pb.hlo.
class OutputNames {
 public:
  OutputNames(std::string directory, std::string ending)
      : directory_(std::move(directory)), ending_(std::move(ending)) {}

  std::string NameFor(const std::string& path) {
    std::string name = absl::StrCat(NameWithoutEndings(path), ".", ending_);
    if (!taken_.insert(name).second) {
      name = absl::StrCat(std::filesystem::path(path).filename().string(), ".", ending_);
      for (int i = 2; !taken_.insert(name).second; ++i) {
        name = absl::StrCat(std::filesystem::path(path).filename().string(), ".", i, ".", ending_);
      }
    }
    return (std::filesystem::path(directory_) / name).string();
  }

 private:
  std::string directory_;
  std::string ending_;
  std::set<std::string> taken_;
};

// Several modules: one file each in the output directory; without one, the texts under their names.
int ConvertMany(const std::vector<std::string>& paths, const ConvertOptions& options, Answers* answers) {
  const std::string format = FormatOf(options);
  if (options.output.empty() && format != "text" && !options.bench && !options.json) {
    return FailUsage(absl::StrCat("to write several modules as ", format, ", give a directory: -o DIR"));
  }
  if (!options.output.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.output, error);
    if (error) return Fail(InvalidArgument("cannot create the directory %s: %s", options.output, error.message()));
  }
  ItemProgress progress("module", paths.size());
  OutputNames names(options.output, format == "text" ? "hlo" : format);
  for (const std::string& path : paths) {
    if (answers->is_broken()) break;
    progress.Next(path);
    const bool is_titled = options.output.empty() && !options.bench && !options.json;
    if (is_titled) answers->Add(absl::StrCat("// ", path, "\n"));
    ConvertOne(path, options.output.empty() ? "" : names.NameFor(path), options, answers);
  }
  return answers->Finish();
}

int RunConvert(const ConvertOptions& options) {
  if (options.graph.chooses_a_part() && !IsGraph(FormatOf(options))) {
    return FailUsage("--computation and --around need --to dot or --to svg");
  }
  if (options.json && !options.bench && FormatOf(options) == "pb" && !IsFile(options.output)) {
    return FailUsage("--json cannot print a binary proto: give a file with -o");
  }
  Answers answers("", options.json);
  const std::vector<std::string> paths = ExpandModulePaths(options.inputs, &answers);
  std::error_code error;
  const bool into_directory = !options.output.empty() && std::filesystem::is_directory(options.output, error);
  if (options.inputs.size() > 1 || paths.size() > 1 || into_directory) return ConvertMany(paths, options, &answers);
  if (paths.empty()) return answers.Finish();
  ItemProgress progress("module", 1);
  progress.Next(paths[0]);
  ConvertOne(paths[0], options.output, options, &answers);
  return answers.Finish();
}

}  // namespace

namespace {

void AddTextOptions(Verb* verb, ConvertOptions* options) {
  verb->AddFlag("--large-constants", &options->large_constants, "Print all elements of constants");
  verb->AddFlag("--short", &options->short_form,
                "Print short text that can be read back: no %, no signatures, no metadata");
  verb->AddFlag("--canonical", &options->canonical, "Print text without names: equal computations have equal text");
  verb->AddFlag("--fingerprint", &options->fingerprint, "Print the text from which XLA computes a fingerprint");
  verb->AddFlag("--no-metadata", &options->no_metadata, "Leave out metadata");
  verb->AddFlag("--no-percent", &options->no_percent, "Print names without %");
  verb->AddFlag("--no-backend-config", &options->no_backend_config, "Leave out backend configs");
  verb->AddFlag("--operand-shapes", &options->operand_shapes, "Print the shapes of operands");
}

}  // namespace

void AddConvertVerb(Command* command) {
  auto options = std::make_shared<ConvertOptions>();
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Convert modules between text, protos, JSON and StableHLO, or draw them as graphs";
  help.examples =
      "  kashi convert module.hlo                        canonical text, as XLA prints it\n"
      "  kashi convert before.pb --large-constants       a proto as text, with all its data\n"
      "  kashi convert module.hlo -o module.pb           text to HloModuleProto; also .pbtxt, .json, .mlir, .dot\n"
      "  kashi convert module.hlo -o graph.svg           the graph, with scopes and fusions as boxes\n"
      "  kashi convert module.hlo -o graph.svg --around dot.3 --depth 2   the neighbours of an instruction\n"
      "  kashi convert dump_dir -o out --to pb           every module of an --xla_dump_to directory\n"
      "  kashi convert before.hlo --as partitioned       the program of each device, of a program with shardings\n"
      "  kashi convert module.hlo --bench --json         the speed of reading and printing";
  help.sections = {{"",
                    "The contents of a file decide its kind, not its name: HLO text, or HloModuleProto, HloProto or "
                    "HloSnapshot in binary, text or JSON form; gzip is unpacked. The module is verified (see `kashi "
                    "verify`) only for --to mlir: StableHLO has no form for a module that breaks rules.",
                    {}}};
  help.failure = "A module cannot be read or converted, or the output cannot be written";
  Verb* verb = command->AddVerb("convert", help, [options] { return RunConvert(*options); });
  verb->AddOption("FILE", &options->inputs, kModuleOrDirectory)->File()->Required();
  verb->BeginGroup("Output");
  verb->AddOption("--to", &options->to,
                  "Format to write: text, pb, pbtxt, json, mlir, which is StableHLO, dot or svg "
                  "(default: by the ending of -o, or text)")
      ->OneOf({"text", "pb", "pbtxt", "json", "mlir", "dot", "svg"});
  verb->AddOption("--as", &options->as,
                  "partitioned: the program of each device, of a program that is not partitioned yet (default: module, "
                  "which is the module as it is)")
      ->OneOf({"module", "partitioned"});
  AddOutputOption(verb, &options->output, "Write to this file, or several modules to this directory");
  AddJsonFlag(verb, &options->json);
  verb->AddFlag("--bench", &options->bench,
                "Measure reading and printing instead of writing: the fastest of several runs on one core");
  verb->BeginGroup("Text");
  AddTextOptions(verb, options.get());
  verb->BeginGroup("Graphs");
  AddGraphOptions(verb, &options->graph);
  verb->BeginGroup("Input");
  AddArgumentOption(verb);
  AddModuleFilterOption(verb);
  AddInputLimitOption(verb);
  AddFunctionOption(verb);
  AddStrictFlag(verb, &options->strict);
}

}  // namespace kashi::cli
