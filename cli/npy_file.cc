#include "cli/npy_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cli/module_file.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/literal/npy.h"

namespace kashi::cli {
namespace {

absl::StatusOr<Literal> NameFile(const std::string& path, absl::StatusOr<Literal> literal) {
  if (literal.ok()) return literal;
  return absl::Status(literal.status().code(), absl::StrCat(path, ": ", literal.status().message()));
}

// Reads a file of unknown size, such as a pipe. Also reports a missing file.
absl::StatusOr<Literal> ReadWhole(const std::string& path, const Shape& expected) {
  KASHI_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return NameFile(path, ReadNpy(bytes, expected));
}

}  // namespace

absl::StatusOr<Literal> ReadNpyFile(const std::string& path, const Shape& expected) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return ReadWhole(path, expected);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return InvalidArgument("cannot read %s: %s", path, std::strerror(errno));
  const auto size = std::filesystem::file_size(path, error);
  if (error) return InvalidArgument("cannot read %s: %s", path, error.message());
  const auto read = [&file](char* to, int64_t bytes) {
    errno = 0;
    const size_t wanted = static_cast<size_t>(bytes);
    if (std::fread(to, 1, wanted, file.get()) == wanted) return absl::OkStatus();
    return InvalidArgument("cannot read: %s", errno != 0 ? std::strerror(errno) : "the file became shorter");
  };
  return NameFile(path, ReadNpy(static_cast<int64_t>(size), read, expected));
}

absl::StatusOr<Literal> ReadNpyFilePart(const std::string& path, const Shape& whole, absl::Span<const int64_t> starts,
                                        absl::Span<const int64_t> sizes) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) {
    KASHI_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    const auto read_at = [&bytes](int64_t offset, char* to, int64_t size) {
      bytes.copy(to, static_cast<size_t>(size), static_cast<size_t>(offset));
      return absl::OkStatus();
    };
    return NameFile(path, ReadNpyPart(static_cast<int64_t>(bytes.size()), read_at, whole, starts, sizes));
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return InvalidArgument("cannot read %s: %s", path, std::strerror(errno));
  const auto size = std::filesystem::file_size(path, error);
  if (error) return InvalidArgument("cannot read %s: %s", path, error.message());
  const auto read_at = [&file](int64_t offset, char* to, int64_t bytes) {
    errno = 0;
    const size_t wanted = static_cast<size_t>(bytes);
    if (fseeko(file.get(), offset, SEEK_SET) == 0 && std::fread(to, 1, wanted, file.get()) == wanted) {
      return absl::OkStatus();
    }
    return InvalidArgument("cannot read: %s", errno != 0 ? std::strerror(errno) : "the file became shorter");
  };
  return NameFile(path, ReadNpyPart(static_cast<int64_t>(size), read_at, whole, starts, sizes));
}

absl::Status WriteNpyFile(const std::string& path, const LiteralSlice& literal) {
  std::string beginning;
  if (literal.IsKnown() && WriteNpyHeader(literal.shape(), &beginning).ok()) {
    absl::string_view elements;
    if (literal.size_bytes() > 0) {
      elements = {static_cast<const char*>(literal.untyped_data()), static_cast<size_t>(literal.size_bytes())};
    }
    return WriteOnThisRank(path, {beginning, elements});
  }
  KASHI_RETURN_IF_ERROR(WriteNpy(literal, &beginning));  // rearranges the elements, or returns an error
  return WriteOnThisRank(path, {beginning});
}

}  // namespace kashi::cli
