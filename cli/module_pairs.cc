#include "cli/module_pairs.h"

#include <deque>
#include <filesystem>
#include <functional>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace kashi::cli {
namespace {

std::string FileName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// "jit_f.after_optimizations.txt" of "module_0003.jit_f.after_optimizations.txt".
std::string WithoutNumber(const std::string& path) {
  const std::string name = FileName(path);
  absl::string_view rest = name;
  if (!absl::ConsumePrefix(&rest, "module_")) return name;
  const size_t digits = rest.find_first_not_of("0123456789");
  if (digits == 0 || digits == absl::string_view::npos || rest[digits] != '.') return name;
  return std::string(rest.substr(digits + 1));
}

// Moves the files with equal keys from `a` and `b` to pairs.
void PairBy(const std::function<std::string(const std::string&)>& key, std::vector<std::string>* a,
            std::vector<std::string>* b, std::map<std::string, std::string>* partners) {
  std::map<std::string, std::deque<std::string>> waiting;
  for (const std::string& path : *b) waiting[key(path)].push_back(path);
  std::vector<std::string> rest;
  for (const std::string& path : *a) {
    std::deque<std::string>& candidates = waiting[key(path)];
    if (candidates.empty()) {
      rest.push_back(path);
      continue;
    }
    (*partners)[path] = candidates.front();
    candidates.pop_front();
  }
  *a = rest;
  b->clear();
  for (const auto& [name, paths] : waiting) b->insert(b->end(), paths.begin(), paths.end());
}

}  // namespace

ModulePairs PairModules(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  ModulePairs result;
  result.only_a = a;
  result.only_b = b;
  std::map<std::string, std::string> partners;
  PairBy(FileName, &result.only_a, &result.only_b, &partners);
  PairBy(WithoutNumber, &result.only_a, &result.only_b, &partners);
  for (const std::string& path : a) {
    const auto partner = partners.find(path);
    if (partner != partners.end()) result.pairs.push_back({FileName(path), path, partner->second});
  }
  return result;
}

}  // namespace kashi::cli
