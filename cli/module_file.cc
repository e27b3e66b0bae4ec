#include "cli/module_file.h"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "cli/gzip.h"
#include "cli/known_arguments.h"
#include "cli/verb.h"
#include "kashi/base/diagnostic.h"
#include "kashi/base/machine.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/text/input_kind.h"
#include "kashi/proto/hlo_json.h"
#include "kashi/proto/hlo_proto_io.h"
#include "kashi/stablehlo/conversion/read_stablehlo.h"
#include "kashi/stablehlo/text/text_reader.h"

namespace kashi::cli {

using base::AvailableMemoryBytes;
namespace {

absl::Status CannotRead(const std::string& path) {
  return InvalidArgument("cannot read %s: %s", path, std::strerror(errno));
}

// Decides by the end of the name whether a file of a dump directory may be a module. Other parts of the name are the
// name of the program and the generation of a GPU (sm_9.0a_gpu_after_optimizations.txt).
bool IsModuleName(absl::string_view name) {
  const auto is_ending = [&name](absl::string_view ending) { return absl::ConsumeSuffix(&name, ending); };
  constexpr absl::string_view kEndings[] = {".txt", ".hlo", ".pbtxt", ".pb", ".hlo_text", ".mlirbc", ".mlir.bc"};
  if (!absl::c_any_of(kEndings, is_ending)) return false;
  constexpr absl::string_view kOthers[] = {"-memory-usage-report", "config", "debug_options", "autotune_results"};
  return !absl::c_any_of(kOthers, is_ending);
}

// XLA's backends write other texts beside modules. An unreadable file counts as a module, so that its error is
// reported.
bool IsOtherText(const std::filesystem::path& path) {
  if (path.extension() != ".txt") return false;
  char beginning[1024];
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  const size_t size = std::fread(beginning, 1, sizeof(beginning), file);
  std::fclose(file);
  return size > 0 && !hlo::BeginsLikeHloText({beginning, size});
}

// Protos have bytes that text does not have, or begin with a field: `name: "…"`.
bool LooksLikeProto(absl::string_view bytes) {
  if (hlo::BeginsLikeHloText(bytes)) return false;
  bool text_format = false;
  GuessHloProtoKind(bytes, &text_format);
  if (text_format) return true;
  constexpr size_t kEnough = 4096;
  const absl::string_view beginning = bytes.substr(0, kEnough);
  return std::any_of(beginning.begin(), beginning.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\0' && !absl::ascii_isspace(c);
  });
}

// --input-limit; 0 if it is not given.
uint64_t input_limit = 0;
// --function; "" if it is not given.
std::string entry_function;
// --module; "" if it is not given.
std::string module_filter;

uint64_t InputLimit() {
  constexpr uint64_t kMostByDefault = uint64_t{4} << 30;
  if (input_limit > 0) return input_limit;
  return std::min<uint64_t>(kMostByDefault, static_cast<uint64_t>(AvailableMemoryBytes()) / 2);
}

absl::Status IsTooLarge(const std::string& path, uint64_t limit) {
  return ResourceExhausted("%s has more than %d bytes (--input-limit sets the limit)", path == "-" ? "<stdin>" : path,
                           limit);
}

// `expected_size` is 0 for a pipe or a device, whose size is unknown.
absl::StatusOr<std::string> ReadUpTo(uint64_t limit, std::FILE* file, const std::string& path, uint64_t expected_size) {
  if (expected_size > limit) return IsTooLarge(path, limit);
  std::string bytes;
  bytes.reserve(expected_size + 1);
  constexpr size_t kChunk = 1 << 16;
  for (size_t got = kChunk; got == kChunk;) {
    const size_t before = bytes.size();
    if (before > limit) return IsTooLarge(path, limit);
    bytes.resize(before + kChunk);
    got = std::fread(&bytes[before], 1, kChunk, file);
    bytes.resize(before + got);
  }
  if (std::ferror(file) != 0) return CannotRead(path);
  if (bytes.size() > limit) return IsTooLarge(path, limit);
  return bytes;
}

}  // namespace

ModuleFile::ModuleFile() : proto(std::make_unique<HloProtoFile>()) {}
ModuleFile::ModuleFile(ModuleFile&&) noexcept = default;
ModuleFile& ModuleFile::operator=(ModuleFile&&) noexcept = default;
ModuleFile::~ModuleFile() = default;

void AddInputLimitOption(Verb* verb) {
  verb->AddSizeOption(
      "--input-limit", &input_limit,
      "Largest file to read, such as 500M (default: 4G, or half of the available memory if that is less)");
}

void AddFunctionOption(Verb* verb) {
  verb->AddOption("--function", &entry_function,
                  "The function of a StableHLO program to take (default: main, or the only one)")
      ->Value("NAME");
}

void AddModuleFilterOption(Verb* verb) {
  verb->AddOption(
          "--module", &module_filter,
          "Of a directory: only files whose name fits this pattern, '*.before_*', or has this text in it, jit_step")
      ->Value("GLOB");
}

// A pattern is compared with the whole name, a text without `*`, `?` and `[` with any part of it.
bool PassesModuleFilter(const std::string& name) {
  if (module_filter.find_first_of("*?[") == std::string::npos) return absl::StrContains(name, module_filter);
  return fnmatch(module_filter.c_str(), name.c_str(), 0) == 0;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const bool is_stdin = path == "-";
  std::FILE* file = is_stdin ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return CannotRead(path);
  std::error_code unknown;
  const auto size = is_stdin ? 0 : std::filesystem::file_size(path, unknown);
  absl::StatusOr<std::string> bytes = ReadUpTo(InputLimit(), file, path, unknown ? 0 : size);
  if (!is_stdin) std::fclose(file);
  return bytes;
}

namespace {

absl::StatusOr<std::string> ReadUnpacked(const std::string& path) {
  KASHI_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  if (!IsGzip(bytes)) return bytes;
  return Gunzip(bytes, static_cast<int64_t>(std::min<uint64_t>(InputLimit(), std::numeric_limits<int64_t>::max())));
}

// The module of a proto or of JSON.
absl::Status ReadProto(bool is_json, ModuleFile* file) {
  absl::StatusOr<std::unique_ptr<HloModule>> module =
      is_json ? HloModuleFromJson(*file->bytes) : ReadHloProto(*file->bytes, file->proto.get());
  if (module.ok()) {
    file->module = *std::move(module);
    return absl::OkStatus();
  }
  const std::string other = hlo::DescribeOtherKind(*file->bytes);
  return other.empty() ? module.status() : InvalidArgument("%s: %s", file->name, other);
}

// False after an error.
bool ReadText(const ModuleReaderOptions& options, ModuleFile* file, Answers* answers) {
  file->is_text = true;
  HloParserOptions parser_options;
  parser_options.set_source_name(file->name).set_keep_unknown_attributes(!options.strict);
  std::vector<Diagnostic> diagnostics;
  absl::StatusOr<std::unique_ptr<HloModule>> module =
      ParseAndReturnUnverifiedModule(*file->bytes, HloModuleConfig(), parser_options, &diagnostics);
  const SourceText source{file->name, *file->bytes};
  if (module.ok() && (!options.strict || diagnostics.empty())) {
    answers->Warn(source, diagnostics);
    file->module = *std::move(module);
    return true;
  }
  const std::string other = hlo::DescribeOtherKind(*file->bytes);
  if (!module.ok() && !other.empty()) {
    answers->AddFileError(file->name, InvalidArgument("%s: %s", file->name, other));
  } else if (diagnostics.empty()) {
    answers->AddFileError(file->name, module.status());
  } else {
    answers->AddFileError(source, diagnostics);
  }
  return false;
}

}  // namespace

namespace {

void AddReadingError(const std::string& name, const absl::Status& status, Answers* answers) {
  const bool is_named = absl::StrContains(status.message(), name);
  answers->AddFileError(name, is_named ? status : WithMessage(status, absl::StrCat(name, ": ", status.message())));
}

absl::StatusOr<ModuleFile> ReadFileBytes(const std::string& path) {
  ModuleFile file;
  file.name = path == "-" ? "<stdin>" : path;
  KASHI_ASSIGN_OR_RETURN(std::string bytes, ReadUnpacked(path));
  file.bytes = std::make_shared<const std::string>(std::move(bytes));
  return file;
}

// Adds a hint on how to run a program without the requested entry, or several programs in one text.
absl::Status AddHint(const absl::Status& status, absl::string_view bytes) {
  if (status.ok()) return status;
  std::string hint;
  if (absl::IsNotFound(status)) hint = "\n  --function takes a name; `kashi run --all-functions` runs each function";
  if (absl::StrContains(bytes, "\n// -----")) hint = "\n  `kashi run --split-input-file` splits it at lines `// -----`";
  return hint.empty() ? status : WithMessage(status, absl::StrCat(status.message(), hint));
}

stablehlo::ConversionOptions ConversionFor(const ModuleReaderOptions& options, std::string function) {
  stablehlo::ConversionOptions conversion;
  conversion.entry = std::move(function);
  conversion.argument = [&options](int64_t number) { return FindKnownArgument(number, options.inputs); };
  return conversion;
}

absl::Status ReadStableHloModule(const ModuleReaderOptions& options, ModuleFile* file) {
  absl::StatusOr<std::unique_ptr<HloModule>> module =
      stablehlo::ReadStableHlo(*file->bytes, file->name, ConversionFor(options, entry_function));
  if (!module.ok()) return AddHint(module.status(), *file->bytes);
  file->module = *std::move(module);
  file->is_mlir_text = !stablehlo::IsBinaryStableHlo(*file->bytes);
  return absl::OkStatus();
}

// Makes the module from the bytes.
std::optional<ModuleFile> ReadModule(ModuleFile file, const ModuleReaderOptions& options, Answers* answers) {
  const std::string& bytes = *file.bytes;
  const bool is_json = LooksLikeHloJson(bytes);
  absl::Status status;
  if (hlo::IsEmptyInput(bytes)) {
    status = InvalidArgument("%s is empty", file.name);
  } else if (stablehlo::IsStableHlo(bytes)) {
    status = ReadStableHloModule(options, &file);
  } else if (!entry_function.empty()) {
    status = InvalidArgument("%s is not StableHLO: --function is for StableHLO only", file.name);
  } else if (is_json || LooksLikeProto(bytes)) {
    status = ReadProto(is_json, &file);
  } else if (!ReadText(options, &file, answers)) {
    return std::nullopt;
  }
  if (status.ok()) return file;
  AddReadingError(file.name, status, answers);
  return std::nullopt;
}

}  // namespace

std::optional<ModuleFile> ReadModuleFile(const std::string& path, const ModuleReaderOptions& options,
                                         Answers* answers) {
  absl::StatusOr<ModuleFile> file = ReadFileBytes(path);
  if (file.ok()) return ReadModule(*std::move(file), options, answers);
  AddReadingError(path == "-" ? "<stdin>" : path, file.status(), answers);
  return std::nullopt;
}

namespace {

// The programs of a StableHLO file.
class ProgramVisitor {
 public:
  ProgramVisitor(const ModuleFile& file, const ModuleReaderOptions& options, const PartOptions& parts, Answers* answers,
                 absl::FunctionRef<bool(ModuleFile)> visit)
      : file_(file), options_(options), parts_(parts), answers_(*answers), visit_(visit) {}

  void VisitAll() {
    const SourceText whole{file_.name, *file_.bytes};
    const bool splits = parts_.split_input_file || parts_.as_tests;
    if (!splits || stablehlo::IsBinaryStableHlo(*file_.bytes)) {
      VisitPart(whole, "");
      return;
    }
    const std::vector<SourceText> parts = stablehlo::SplitModules(whole.text, whole.name);
    const bool are_several = parts_.split_input_file || parts.size() > 1;
    for (const SourceText& part : parts) {
      if (!VisitPart(part, are_several ? absl::StrCat("line ", part.first_line) : "")) return;
    }
  }

 private:
  // Whether to go on. `place` is "" for the only part.
  bool VisitPart(const SourceText& part, const std::string& place) {
    const absl::StatusOr<stablehlo::StableHloFile> program = stablehlo::StableHloFile::Read(part);
    if (!program.ok()) return AddReadingError(file_.name, program.status(), &answers_), true;
    if (!place.empty() && program->is_empty()) return true;
    const std::vector<std::string> functions = FunctionsOf(*program);
    const bool names_functions = parts_.all_functions || functions.size() > 1;
    for (const std::string& function : functions) {
      absl::StatusOr<std::unique_ptr<HloModule>> module = program->Convert(ConversionFor(options_, function));
      if (!module.ok()) {
        AddReadingError(file_.name, AddHint(module.status(), ""), &answers_);
        continue;
      }
      ModuleFile file;
      file.name = file_.name;
      file.bytes = file_.bytes;
      file.is_mlir_text = !stablehlo::IsBinaryStableHlo(*file_.bytes);
      file.part = absl::StrCat(place, place.empty() || !names_functions ? "" : ": ",
                               names_functions ? absl::StrCat("@", function) : "");
      file.module = *std::move(module);
      if (!visit_(std::move(file))) return false;
    }
    return true;
  }

  // The entries of the programs; "" is the one that the converter takes.
  std::vector<std::string> FunctionsOf(const stablehlo::StableHloFile& program) {
    const bool are_tests = parts_.as_tests && program.has_tests();
    if (!parts_.all_functions && !are_tests) return {entry_function};
    std::vector<std::string> functions = program.functions();
    if (functions.empty()) {
      AddReadingError(file_.name, InvalidArgument("%s: no function without arguments that no other calls", file_.name),
                      &answers_);
    }
    return functions;
  }

  const ModuleFile& file_;
  const ModuleReaderOptions& options_;
  const PartOptions& parts_;
  Answers& answers_;
  absl::FunctionRef<bool(ModuleFile)> visit_;
};

}  // namespace

void ForEachProgram(const std::string& path, const ModuleReaderOptions& options, PartOptions parts, Answers* answers,
                    absl::FunctionRef<bool(ModuleFile)> visit) {
  absl::StatusOr<ModuleFile> file = ReadFileBytes(path);
  if (!file.ok()) return AddReadingError(path == "-" ? "<stdin>" : path, file.status(), answers);
  const bool is_stablehlo = stablehlo::IsStableHlo(*file->bytes);
  parts.as_tests = parts.as_tests && entry_function.empty() && !parts.split_input_file && !parts.all_functions;
  if (!parts.split_input_file && !parts.all_functions && (!parts.as_tests || !is_stablehlo)) {
    std::optional<ModuleFile> program = ReadModule(*std::move(file), options, answers);
    if (program.has_value()) visit(*std::move(program));
    return;
  }
  if (!is_stablehlo) {
    return AddReadingError(
        file->name,
        InvalidArgument("%s is not StableHLO: --split-input-file and --all-functions are for StableHLO only",
                        file->name),
        answers);
  }
  ProgramVisitor(*file, options, parts, answers, visit).VisitAll();
}

absl::StatusOr<std::vector<std::string>> ExpandModulePath(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) {
    if (module_filter.empty()) return std::vector<std::string>{path};
    return InvalidArgument("--module chooses among the modules of a directory, and %s is not a directory",
                           path == "-" ? "<stdin>" : path);
  }
  std::vector<std::string> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_regular_file(error) && IsModuleName(entry->path().filename().string()) &&
        !IsOtherText(entry->path())) {
      files.push_back(entry->path().string());
    }
  }
  if (error) return InvalidArgument("cannot read %s: %s", path, error.message());
  if (files.empty())
    return InvalidArgument("%s has no module: no file of a dump, such as module_0000.*.txt or *.hlo.pb", path);
  std::sort(files.begin(), files.end());
  const std::string first = fs::path(files.front()).filename().string();
  const auto is_other = [](const std::string& file) { return !PassesModuleFilter(fs::path(file).filename().string()); };
  const size_t count = files.size();
  files.erase(std::remove_if(files.begin(), files.end(), is_other), files.end());
  if (!files.empty()) return files;
  return InvalidArgument("%s has %s, but none fits --module %s; the first is %s", path,
                         Count(static_cast<int64_t>(count), "module"), module_filter, first);
}

std::vector<std::string> ExpandModulePaths(const std::vector<std::string>& paths, Answers* answers) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::vector<std::string>> expanded = ExpandModulePath(path);
    if (expanded.ok()) {
      files.insert(files.end(), expanded->begin(), expanded->end());
    } else {
      answers->AddFileError(path, expanded.status());
    }
  }
  return files;
}

}  // namespace kashi::cli
