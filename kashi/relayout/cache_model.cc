#include "kashi/relayout/cache_model.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

constexpr int64_t kMostL1Bytes = int64_t{1} << 20;
constexpr int64_t kMostL2Bytes = int64_t{64} << 20;
constexpr int64_t kMostWays = 64;

// Parses "32768K", "2M", "64" as bytes; nullopt for other text, and for numbers that are not positive or beyond 2^50.
std::optional<int64_t> ParseBytes(absl::string_view text) {
  int shift = 0;
  if (absl::ConsumeSuffix(&text, "K")) {
    shift = 10;
  } else if (absl::ConsumeSuffix(&text, "M")) {
    shift = 20;
  }
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < 1 || number > int64_t{1} << 30) return std::nullopt;
  return number << shift;
}

std::string BytesToString(int64_t bytes) {
  if (bytes % (1 << 20) == 0) return absl::StrCat(bytes >> 20, "M");
  return bytes % 1024 == 0 ? absl::StrCat(bytes >> 10, "K") : absl::StrCat(bytes);
}

bool IsUsable(const CacheModel::Level& level, int64_t most_bytes) {
  return level.ways >= 1 && level.ways <= kMostWays && level.bytes <= most_bytes && level.bytes % level.ways == 0 &&
         IsPowerOf2(level.period()) && level.period() >= CacheModel::kLine;
}

absl::StatusOr<CacheModel::Level> ParseLevel(absl::string_view text, absl::string_view name, int64_t most_bytes) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  const std::optional<int64_t> bytes = ParseBytes(parts[0]);
  int64_t ways = 0;
  if (parts.size() != 2 || !bytes.has_value() || !absl::SimpleAtoi(parts[1], &ways)) {
    return InvalidArgument("%s is `%s`: expected its size and its ways, such as 32K/8", name, text);
  }
  const CacheModel::Level level = {*bytes, ways};
  if (IsUsable(level, most_bytes)) return level;
  return InvalidArgument(
      "%s is `%s`: expected 1 to %d ways, size / ways a power of two of at least %d bytes, and at most %s", name, text,
      kMostWays, CacheModel::kLine, BytesToString(most_bytes));
}

// ---- The machine

std::string FirstWordOf(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// Linux has a folder for each cache of a processor.
struct CacheFolder {
  int64_t level = 0;
  std::string type;  // Data, Instruction, Unified
  int64_t bytes = 0;
  int64_t ways = 0;
};

std::optional<CacheFolder> ReadCacheFolder(const std::string& folder) {
  CacheFolder cache;
  cache.type = FirstWordOf(folder + "/type");
  const std::optional<int64_t> bytes = ParseBytes(FirstWordOf(folder + "/size"));
  if (!bytes.has_value() || !absl::SimpleAtoi(FirstWordOf(folder + "/level"), &cache.level)) return std::nullopt;
  if (!absl::SimpleAtoi(FirstWordOf(folder + "/ways_of_associativity"), &cache.ways)) cache.ways = 0;
  cache.bytes = *bytes;
  return cache;
}

// Virtual machines above all may report nonsense about their caches: such levels are ignored.
void Take(const CacheModel::Level& found, int64_t most_bytes, CacheModel::Level* level) {
  if (found.ways > 0 && IsUsable(found, most_bytes)) *level = found;
}

void AskSystem(CacheModel* model) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  Take({sysconf(_SC_LEVEL1_DCACHE_SIZE), sysconf(_SC_LEVEL1_DCACHE_ASSOC)}, kMostL1Bytes, &model->l1);
  Take({sysconf(_SC_LEVEL2_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_ASSOC)}, kMostL2Bytes, &model->l2);
#endif
}

}  // namespace

CacheModel CacheModel::OfMachineBelow(const std::string& root) {
  constexpr int kMostFolders = 8;
  CacheModel model;
  int64_t largest = 0;
  for (int i = 0; i < kMostFolders; ++i) {
    const std::optional<CacheFolder> cache =
        ReadCacheFolder(absl::StrCat(root, "/sys/devices/system/cpu/cpu0/cache/index", i));
    if (!cache.has_value()) break;
    if (cache->type == "Instruction") continue;
    largest = std::max(largest, cache->bytes);
    if (cache->level == 1) Take({cache->bytes, cache->ways}, kMostL1Bytes, &model.l1);
    if (cache->level == 2) Take({cache->bytes, cache->ways}, kMostL2Bytes, &model.l2);
  }
  if (largest == 0 && root.empty()) AskSystem(&model);
  if (largest > 0) model.last_bytes = largest;
  model.last_bytes = std::max(model.last_bytes, model.l2.bytes);
  return model;
}

const CacheModel& CacheModel::OfMachine() {
  static const CacheModel model = OfMachineBelow("");
  return model;
}

std::string CacheModel::ToString() const {
  return absl::StrCat(BytesToString(l1.bytes), "/", l1.ways, ",", BytesToString(l2.bytes), "/", l2.ways, ",",
                      BytesToString(last_bytes));
}

absl::StatusOr<CacheModel> ParseCacheModel(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  if (parts.size() != 3) {
    return InvalidArgument("`%s` does not say caches: expected L1/WAYS,L2/WAYS,LARGEST, such as 32K/8,512K/8,32M",
                           text);
  }
  CacheModel model;
  KASHI_ASSIGN_OR_RETURN(model.l1, ParseLevel(parts[0], "L1", kMostL1Bytes));
  KASHI_ASSIGN_OR_RETURN(model.l2, ParseLevel(parts[1], "L2", kMostL2Bytes));
  const std::optional<int64_t> last = ParseBytes(parts[2]);
  if (!last.has_value() || *last < model.l2.bytes) {
    return InvalidArgument("the largest cache is `%s`: expected a size such as 32M, not less than that of L2",
                           parts[2]);
  }
  model.last_bytes = *last;
  return model;
}

}  // namespace kashi
