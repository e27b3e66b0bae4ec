#include "kashi/engine/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kashi/base/status.h"
#include "kashi/engine/build_facts.h"

namespace kashi::engine {
namespace {

constexpr absl::string_view kObjectMagic = "kashi object ";
constexpr size_t kCheckBytes = 32;  // the fingerprint, in hexadecimal digits

absl::Status Unusable(const std::string& folder, absl::string_view why) {
  return FailedPrecondition("cannot use %s as a cache of object code: %s", folder, why);
}

// Why others could put code there; "": they cannot.
std::string WhyUnsafe(const struct stat& about) {
  if (about.st_uid != geteuid()) return "it belongs to another user";
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write to it (chmod go-w mends that)";
  return "";
}

// A file of another program is not the one with this key, whatever its name is.
std::string HeadOf(const base::Fingerprint& key) {
  return absl::StrCat(kObjectMagic, Version(), "\n", key.ToString(), "\n");
}

// Nothing if there is no such file, or if it is no file of bytes, or if others could have written it.
std::optional<std::string> ReadOwnFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat about;
  const bool is_own = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && WhyUnsafe(about).empty();
  std::string bytes(is_own ? static_cast<size_t>(about.st_size) : 0, 0);
  size_t count = 0;
  while (count < bytes.size()) {
    const ssize_t more = read(file, bytes.data() + count, bytes.size() - count);
    if (more <= 0) break;
    count += static_cast<size_t>(more);
  }
  close(file);
  if (!is_own || count < bytes.size()) return std::nullopt;
  return bytes;
}

}  // namespace

absl::StatusOr<ObjectCache> ObjectCache::Open(std::string folder) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(folder).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) return Unusable(folder, error.message());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return Unusable(folder, std::strerror(errno));
  struct stat about;
  if (stat(folder.c_str(), &about) != 0) return Unusable(folder, std::strerror(errno));
  if (!S_ISDIR(about.st_mode)) return Unusable(folder, "it is no folder");
  if (const std::string why = WhyUnsafe(about); !why.empty()) return Unusable(folder, why);
  return ObjectCache(std::move(folder));
}

std::string ObjectCache::PathOf(const base::Fingerprint& key) const {
  return absl::StrCat(folder_, "/", key.ToString(), ".object");
}

std::optional<std::string> ObjectCache::Find(const base::Fingerprint& key) const {
  const std::optional<std::string> bytes = ReadOwnFile(PathOf(key));
  const std::string head = HeadOf(key);
  if (!bytes.has_value() || bytes->size() < head.size() + kCheckBytes) return std::nullopt;
  const absl::string_view checked = absl::string_view(*bytes).substr(0, bytes->size() - kCheckBytes);
  if (!absl::StartsWith(checked, head)) return std::nullopt;
  if (base::FingerprintOf(checked).ToString() != absl::string_view(*bytes).substr(checked.size())) return std::nullopt;
  return std::string(checked.substr(head.size()));
}

absl::Status ObjectCache::Keep(const CompiledObject& object) const {
  static std::atomic<int64_t> count{0};
  const std::string path = PathOf(object.key);
  const std::string other = absl::StrCat(path, ".", getpid(), ".", count++);
  std::string bytes = absl::StrCat(HeadOf(object.key), object.code);
  absl::StrAppend(&bytes, base::FingerprintOf(bytes).ToString());
  std::ofstream file(other, std::ios::binary);
  file << bytes;
  file.close();
  if (file && std::rename(other.c_str(), path.c_str()) == 0) return absl::OkStatus();
  const std::string why = std::strerror(errno);
  std::remove(other.c_str());
  return FailedPrecondition("cannot keep object code in %s: %s", folder_, why);
}

}  // namespace kashi::engine
