#include "kashi/base/processors.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kashi::base {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// quota / period, of two texts; nothing for "max", -1, or what is no number.
std::optional<double> Quota(absl::string_view quota, absl::string_view period) {
  double used = 0, of = 0;
  if (!absl::SimpleAtod(quota, &used) || !absl::SimpleAtod(period, &of)) return std::nullopt;
  return used > 0 && of > 0 ? std::optional<double>(used / of) : std::nullopt;
}

// Version 2: "max 100000" or "150000 100000". Version 1: a file for each number.
std::optional<double> QuotaOfFolder(const std::string& folder) {
  const std::string both = ReadText(folder + "/cpu.max");
  const std::vector<absl::string_view> words = absl::StrSplit(both, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  if (words.size() == 2) return Quota(words[0], words[1]);
  const std::string quota = ReadText(folder + "/cpu.cfs_quota_us"), period = ReadText(folder + "/cpu.cfs_period_us");
  return Quota(absl::StripAsciiWhitespace(quota), absl::StripAsciiWhitespace(period));
}

std::optional<double> Smaller(std::optional<double> a, std::optional<double> b) {
  if (!a.has_value()) return b;
  return b.has_value() ? std::min(*a, *b) : a;
}

// Of the group and of those above it, up to the place where they are mounted. Within a container the path may be that
// outside of it, and only its last folders, or the mount itself, are there.
std::optional<double> QuotaOfGroup(const std::string& mount, std::string path) {
  std::optional<double> least = QuotaOfFolder(mount);
  for (; path.size() > 1; path.resize(path.rfind('/'))) least = Smaller(least, QuotaOfFolder(mount + path));
  return least;
}

}  // namespace

std::optional<double> ProcessorQuota(absl::string_view groups, const std::string& root) {
  std::optional<double> least;
  for (absl::string_view line : absl::StrSplit(groups, '\n', absl::SkipEmpty())) {
    // "0::/path", or "3:cpu,cpuacct:/path"
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3 || fields[2].empty() || fields[2][0] != '/') continue;
    const std::vector<absl::string_view> controllers = absl::StrSplit(fields[1], ',');
    if (fields[1].empty()) {
      least = Smaller(least, QuotaOfGroup(root, fields[2]));
    } else if (absl::c_linear_search(controllers, "cpu")) {
      least = Smaller(least, QuotaOfGroup(absl::StrCat(root, "/", fields[1]), fields[2]));
      least = Smaller(least, QuotaOfGroup(root + "/cpu", fields[2]));
    }
  }
  return least;
}

int ProcessorCount() {
  static const int count = [] {
    const int allowed = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const std::optional<double> quota = ProcessorQuota(ReadText("/proc/self/cgroup"), "/sys/fs/cgroup");
    if (!quota.has_value() || *quota >= allowed) return allowed;
    return std::max(1, static_cast<int>(*quota));
  }();
  return count;
}

}  // namespace kashi::base
