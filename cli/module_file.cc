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
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/proto/hlo_json.h"
#include "kashi/proto/hlo_proto_io.h"
#include "kashi/stablehlo/conversion/read_stablehlo.h"

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

std::optional<ModuleFile> ReadModuleFile(const std::string& path, const ModuleReaderOptions& options,
                                         Answers* answers) {
  ModuleFile file;
  file.name = path == "-" ? "<stdin>" : path;
  const auto fail = [&](const absl::Status& status) -> std::optional<ModuleFile> {
    const bool is_named = absl::StrContains(status.message(), file.name);
    answers->AddFileError(
        file.name, is_named ? status : absl::Status(status.code(), absl::StrCat(file.name, ": ", status.message())));
    return std::nullopt;
  };
  absl::StatusOr<std::string> bytes = ReadUnpacked(path);
  if (!bytes.ok()) return fail(bytes.status());
  file.bytes = *std::move(bytes);
  if (stablehlo::IsStableHlo(file.bytes)) {
    stablehlo::ConversionOptions conversion;
    conversion.argument = [&options](int64_t number) { return FindKnownArgument(number, options.inputs); };
    absl::StatusOr<std::unique_ptr<HloModule>> module =
        stablehlo::ReadStableHlo(file.bytes, file.name, std::move(conversion));
    if (!module.ok()) return fail(module.status());
    file.module = *std::move(module);
    return file;
  }
  const bool is_json = LooksLikeHloJson(file.bytes);
  if (is_json || LooksLikeProto(file.bytes)) {
    const absl::Status read = ReadProto(is_json, &file);
    if (!read.ok()) return fail(read);
    return file;
  }
  if (!ReadText(options, &file, answers)) return std::nullopt;
  return file;
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
