// A little of tsl::Env: the clock, sleeping, and files as strings.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_ENV_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_ENV_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tsl {

class Env {
 public:
  static Env* Default() {
    static Env& env = *new Env;
    return &env;
  }
  uint64_t NowNanos() const {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count());
  }
  uint64_t NowMicros() const { return NowNanos() / 1000; }
  uint64_t NowSeconds() const { return NowNanos() / 1000000000; }
  void SleepForMicroseconds(int64_t micros) { std::this_thread::sleep_for(std::chrono::microseconds(micros)); }

  absl::Status FileExists(const std::string& path) const {
    return std::ifstream(path).good() ? absl::OkStatus() : absl::NotFoundError(absl::StrCat(path, " not found"));
  }
  absl::Status DeleteFile(const std::string& path) const {
    return std::remove(path.c_str()) == 0 ? absl::OkStatus() : absl::NotFoundError(absl::StrCat(path, " not found"));
  }
};

inline absl::Status ReadFileToString(Env* /*env*/, const std::string& path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, " not found"));
  text->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return absl::OkStatus();
}
inline absl::Status WriteStringToFile(Env* /*env*/, const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat("cannot write ", path));
}

}  // namespace tsl

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_ENV_H_
