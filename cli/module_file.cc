#include "cli/module_file.h"

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
#include "cli/input_kind.h"
#include "cli/known_arguments.h"
#include "cli/verb.h"
#include "kashi/base/diagnostic.h"
#include "kashi/base/machine.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/proto/hlo_json.h"
#include "kashi/proto/hlo_proto_io.h"
#include "kashi/stablehlo/conversion/read_stablehlo.h"
#include "kashi/stablehlo/text/text_reader.h"

namespace kashi::cli {

using internal::AvailableMemoryBytes;
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
  return size > 0 && !BeginsLikeHloText({beginning, size});
}

// Protos have bytes that text does not have, or begin with a field: `name: "…"`.
bool LooksLikeProto(absl::string_view bytes) {
  if (BeginsLikeHloText(bytes)) return false;
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
      is_json ? HloModuleFromJson(file->bytes) : ReadHloProto(file->bytes, file->proto.get());
  if (module.ok()) {
    file->module = *std::move(module);
    return absl::OkStatus();
  }
  const std::string other = DescribeOtherKind(file->bytes);
  return other.empty() ? module.status() : InvalidArgument("%s", other);
}

// False after an error.
bool ReadText(const ModuleReaderOptions& options, ModuleFile* file, Answers* answers) {
  file->is_text = true;
  HloParserOptions parser_options;
  parser_options.set_source_name(file->name).set_keep_unknown_attributes(!options.strict);
  std::vector<Diagnostic> diagnostics;
  absl::StatusOr<std::unique_ptr<HloModule>> module =
      ParseAndReturnUnverifiedModule(file->bytes, HloModuleConfig(), parser_options, &diagnostics);
  const SourceText source{file->name, file->bytes};
  if (module.ok() && (!options.strict || diagnostics.empty())) {
    answers->Warn(source, diagnostics);
    file->module = *std::move(module);
    return true;
  }
  const std::string other = DescribeOtherKind(file->bytes);
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
  KASHI_ASSIGN_OR_RETURN(file.bytes, ReadUnpacked(path));
  return file;
}

// What to do about a program without the entry that is asked for, or about several programs in one text.
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
      stablehlo::ReadStableHlo(file->bytes, file->name, ConversionFor(options, entry_function));
  if (!module.ok()) return AddHint(module.status(), file->bytes);
  file->module = *std::move(module);
  return absl::OkStatus();
}

}  // namespace

std::optional<ModuleFile> ReadModuleFile(const std::string& path, const ModuleReaderOptions& options,
                                         Answers* answers) {
  absl::StatusOr<ModuleFile> file = ReadFileBytes(path);
  absl::Status status = file.status();
  if (status.ok()) {
    const bool is_json = LooksLikeHloJson(file->bytes);
    if (stablehlo::IsStableHlo(file->bytes)) {
      status = ReadStableHloModule(options, &*file);
    } else if (!entry_function.empty()) {
      status = InvalidArgument("%s is no StableHLO: --function has no meaning for an HLO module", file->name);
    } else if (is_json || LooksLikeProto(file->bytes)) {
      status = ReadProto(is_json, &*file);
    } else if (!ReadText(options, &*file, answers)) {
      return std::nullopt;
    }
  }
  if (status.ok()) return *std::move(file);
  AddReadingError(path == "-" ? "<stdin>" : path, status, answers);
  return std::nullopt;
}

namespace {

// Whether to go on.
bool VisitPart(const SourceText& part, const ModuleReaderOptions& options, const PartOptions& parts, Answers* answers,
               absl::FunctionRef<bool(ModuleFile)> visit) {
  const std::string name(part.name);
  const absl::StatusOr<stablehlo::StableHloFile> program = stablehlo::StableHloFile::Read(part);
  if (!program.ok()) return AddReadingError(name, program.status(), answers), true;
  if (parts.split_input_file && program->is_empty()) return true;
  const std::string place = parts.split_input_file ? absl::StrCat("line ", part.first_line) : "";
  if (parts.all_functions && program->functions().empty()) {
    AddReadingError(name, InvalidArgument("%s: no function without arguments that no other calls", name), answers);
  }
  for (const std::string& function :
       parts.all_functions ? program->functions() : std::vector<std::string>{entry_function}) {
    absl::StatusOr<std::unique_ptr<HloModule>> module = program->Convert(ConversionFor(options, function));
    if (!module.ok()) {
      AddReadingError(name, AddHint(module.status(), ""), answers);
      continue;
    }
    ModuleFile file;
    file.name = name;
    file.part = absl::StrCat(place, place.empty() || function.empty() ? "" : ": ",
                             function.empty() ? "" : absl::StrCat("@", function));
    file.module = *std::move(module);
    if (!visit(std::move(file))) return false;
  }
  return true;
}

}  // namespace

void ForEachProgram(const std::string& path, const ModuleReaderOptions& options, const PartOptions& parts,
                    Answers* answers, absl::FunctionRef<bool(ModuleFile)> visit) {
  if (!parts.split_input_file && !parts.all_functions) {
    std::optional<ModuleFile> file = ReadModuleFile(path, options, answers);
    if (file.has_value()) visit(*std::move(file));
    return;
  }
  const absl::StatusOr<ModuleFile> file = ReadFileBytes(path);
  if (!file.ok()) return AddReadingError(path, file.status(), answers);
  if (!stablehlo::IsStableHlo(file->bytes)) {
    return AddReadingError(file->name, InvalidArgument("%s is no StableHLO, and has one program", file->name), answers);
  }
  const SourceText whole{file->name, file->bytes};
  if (!parts.split_input_file || stablehlo::IsBinaryStableHlo(file->bytes)) {
    VisitPart(whole, options, parts, answers, visit);
    return;
  }
  for (const SourceText& part : stablehlo::SplitModules(whole.text, whole.name)) {
    if (!VisitPart(part, options, parts, answers, visit)) return;
  }
}

absl::StatusOr<std::vector<std::string>> ExpandModulePath(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return std::vector<std::string>{path};
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
  return files;
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
