// What changed between the memory of two modules.
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
#include "kashi/analysis/memory_analysis.h"
#include "kashi/base/text.h"

namespace kashi::cli {
namespace {

// A buffer of a and the one of b that corresponds; one of them may be null.
struct Pair {
  const MemoryBuffer* a;
  const MemoryBuffer* b;

  int64_t growth() const { return (b == nullptr ? 0 : b->bytes) - (a == nullptr ? 0 : a->bytes); }
  bool has_moved() const { return a != nullptr && b != nullptr && a->memory_space != b->memory_space; }
  bool is_change() const { return growth() != 0 || has_moved(); }
};

std::vector<Pair> PairUp(const MemoryAnalysis& a, const MemoryAnalysis& b) {
  absl::flat_hash_map<absl::string_view, const MemoryBuffer*> by_name;
  for (const MemoryBuffer& buffer : b.buffers) {
    for (const BufferValue& value : buffer.values) by_name.emplace(value.name, &buffer);
  }
  absl::flat_hash_map<const MemoryBuffer*, bool> is_taken;
  std::vector<Pair> pairs;
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

void AppendSpaces(const MemoryAnalysis& a, const MemoryAnalysis& b, std::string* text) {
  std::map<int64_t, std::pair<int64_t, int64_t>> peaks;
  for (const MemorySpaceUsage& space : a.spaces) peaks[space.memory_space].first = space.peak_bytes;
  for (const MemorySpaceUsage& space : b.spaces) peaks[space.memory_space].second = space.peak_bytes;
  absl::StrAppendFormat(text, "%-16s%14s%14s%14s\n", "peak in", "before", "after", "change");
  for (const auto& [number, bytes] : peaks) {
    const std::string name = MemorySpaceName(b.target, number);
    absl::StrAppendFormat(text, "%-16s%14s%14s%14s\n", absl::StrCat("S(", number, ")", name.empty() ? "" : " ", name),
                          HumanBytes(bytes.first), HumanBytes(bytes.second), Signed(bytes.second - bytes.first));
  }
}

}  // namespace

std::string MemoryComparison(const MemoryAnalysis& a, const MemoryAnalysis& b, int64_t top) {
  std::vector<Pair> pairs = PairUp(a, b);
  pairs.erase(std::remove_if(pairs.begin(), pairs.end(), [](const Pair& pair) { return !pair.is_change(); }),
              pairs.end());
  absl::c_stable_sort(pairs, [](const Pair& x, const Pair& y) {
    const auto weight = [](const Pair& pair) {
      return pair.has_moved() ? std::max(pair.a->bytes, pair.b->bytes) : std::llabs(pair.growth());
    };
    return weight(x) > weight(y);
  });
  std::string text;
  AppendSpaces(a, b, &text);
  absl::StrAppend(&text, "\n", WithThousands(static_cast<int64_t>(pairs.size())),
                  pairs.size() == 1 ? " buffer differs" : " buffers differ",
                  pairs.empty() || top == 0 ? "\n" : "; the largest differences:\n");
  for (size_t i = 0; i < pairs.size() && i < top; ++i) {
    const MemoryBuffer& named = pairs[i].b != nullptr ? *pairs[i].b : *pairs[i].a;
    absl::StrAppend(&text, "\n  ", named.main_value().name, ": ",
                    pairs[i].has_moved() ? "moved" : Signed(pairs[i].growth()), "\n     before  ", SideText(pairs[i].a),
                    "\n     after   ", SideText(pairs[i].b), "\n");
  }
  return text;
}

}  // namespace kashi::cli
