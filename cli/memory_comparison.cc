// The comparison of the memory of two modules.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/memory_json.h"
#include "cli/memory_report.h"
#include "cli/verb.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::HumanBytes;
namespace {

// A buffer of a and its counterpart in b; one of them may be null.
struct BufferPair {
  const MemoryBuffer* a;
  const MemoryBuffer* b;

  int64_t growth() const { return (b == nullptr ? 0 : b->bytes) - (a == nullptr ? 0 : a->bytes); }
  bool has_moved() const { return a != nullptr && b != nullptr && a->memory_space != b->memory_space; }
  bool is_change() const { return growth() != 0 || has_moved(); }
};

std::vector<BufferPair> PairUp(const MemoryAnalysis& a, const MemoryAnalysis& b) {
  absl::flat_hash_map<absl::string_view, const MemoryBuffer*> by_name;
  for (const MemoryBuffer& buffer : b.buffers) {
    for (const BufferValue& value : buffer.values) by_name.emplace(value.name, &buffer);
  }
  absl::flat_hash_map<const MemoryBuffer*, bool> is_taken;
  std::vector<BufferPair> pairs;
  for (const MemoryBuffer& buffer : a.buffers) {
    const MemoryBuffer* partner = nullptr;
    for (const BufferValue& value : buffer.values) {
      const auto found = by_name.find(value.name);
      if (found == by_name.end() || is_taken[found->second]) continue;
      partner = found->second;
      is_taken[partner] = true;
      break;
    }
    pairs.push_back({&buffer, partner});
  }
  for (const MemoryBuffer& buffer : b.buffers) {
    if (!is_taken[&buffer]) pairs.push_back({nullptr, &buffer});
  }
  return pairs;
}

std::string Signed(int64_t bytes) { return absl::StrCat(bytes < 0 ? "-" : "+", HumanBytes(std::llabs(bytes))); }

std::string SideText(const MemoryBuffer* buffer) {
  if (buffer == nullptr) return "nothing";
  return absl::StrCat(HumanBytes(buffer->bytes), " in S(", buffer->memory_space, ") ",
                      buffer->main_value().shape->ToString(/*print_layout=*/true));
}

// The peaks before and after, by memory space.
std::map<int64_t, std::pair<int64_t, int64_t>> Peaks(const MemoryAnalysis& a, const MemoryAnalysis& b) {
  std::map<int64_t, std::pair<int64_t, int64_t>> peaks;
  for (const MemorySpaceUsage& space : a.spaces) peaks[space.memory_space].first = space.peak_bytes;
  for (const MemorySpaceUsage& space : b.spaces) peaks[space.memory_space].second = space.peak_bytes;
  return peaks;
}

void AppendSpaces(const MemoryAnalysis& a, const MemoryAnalysis& b, std::string* text) {
  absl::StrAppendFormat(text, "%-16s%14s%14s%14s\n", "peak in", "before", "after", "change");
  for (const auto& [number, bytes] : Peaks(a, b)) {
    const std::string name = MemorySpaceName(b.target, number);
    absl::StrAppendFormat(text, "%-16s%14s%14s%14s\n", absl::StrCat("S(", number, ")", name.empty() ? "" : " ", name),
                          HumanBytes(bytes.first), HumanBytes(bytes.second), Signed(bytes.second - bytes.first));
  }
}

// The pairs that differ, the largest differences first.
std::vector<BufferPair> Changes(const MemoryAnalysis& a, const MemoryAnalysis& b) {
  std::vector<BufferPair> pairs = PairUp(a, b);
  pairs.erase(std::remove_if(pairs.begin(), pairs.end(), [](const BufferPair& pair) { return !pair.is_change(); }),
              pairs.end());
  absl::c_stable_sort(pairs, [](const BufferPair& x, const BufferPair& y) {
    const auto weight = [](const BufferPair& pair) {
      return pair.has_moved() ? std::max(pair.a->bytes, pair.b->bytes) : std::llabs(pair.growth());
    };
    return weight(x) > weight(y);
  });
  return pairs;
}

// null for a missing buffer.
Json SideJson(const MemoryBuffer* buffer) {
  if (buffer == nullptr) return Json();
  Json json;
  json["value"] = buffer->main_value().name;
  json["bytes"] = buffer->bytes;
  json["memory_space"] = buffer->memory_space;
  json["shape"] = buffer->main_value().shape->ToString(/*print_layout=*/true);
  return json;
}

}  // namespace

std::string MemoryComparison(const MemoryAnalysis& a, const MemoryAnalysis& b, int64_t top) {
  const std::vector<BufferPair> pairs = Changes(a, b);
  std::string text;
  AppendSpaces(a, b, &text);
  for (const MemoryAnalysis* side : {&a, &b}) {
    if (!side->has_chosen_layouts) continue;
    absl::StrAppend(&text, side == &a ? "\nBefore: " : "\nAfter: ", ChosenLayoutsNote(side->target), "\n");
  }
  absl::StrAppend(&text, "\n", Count(static_cast<int64_t>(pairs.size()), "buffer"),
                  pairs.size() == 1 ? " differs" : " differ",
                  pairs.empty() || top == 0 ? "\n" : "; the largest differences:\n");
  for (size_t i = 0; i < pairs.size() && i < top; ++i) {
    const MemoryBuffer& named = pairs[i].b != nullptr ? *pairs[i].b : *pairs[i].a;
    absl::StrAppend(&text, "\n  ", named.main_value().name, ": ",
                    pairs[i].has_moved() ? "moved" : Signed(pairs[i].growth()), "\n     before  ", SideText(pairs[i].a),
                    "\n     after   ", SideText(pairs[i].b), "\n");
  }
  return text;
}

Json MemoryComparisonJson(const MemoryAnalysis& a, const MemoryAnalysis& b, const std::string& before,
                          const std::string& after) {
  Json json;
  json["before"] = before;
  json["after"] = after;
  Json spaces = Json::array();
  for (const auto& [number, bytes] : Peaks(a, b)) {
    Json space;
    space["memory_space"] = number;
    space["name"] = MemorySpaceName(b.target, number);
    space["peak_bytes_before"] = bytes.first;
    space["peak_bytes_after"] = bytes.second;
    spaces.push_back(space);
  }
  json["spaces"] = spaces;
  Json buffers = Json::array();
  for (const BufferPair& pair : Changes(a, b)) {
    Json buffer;
    buffer["before"] = SideJson(pair.a);
    buffer["after"] = SideJson(pair.b);
    buffers.push_back(buffer);
  }
  json["buffers"] = buffers;
  return json;
}

}  // namespace kashi::cli
