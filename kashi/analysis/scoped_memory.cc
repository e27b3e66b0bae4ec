#include "kashi/analysis/scoped_memory.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kashi {
namespace {

// What stands between `begin` and the next `end`, and takes all of it off the text; nullopt if there is none.
std::optional<absl::string_view> TakeBetween(absl::string_view begin, char end, absl::string_view* text) {
  const size_t at = text->find(begin);
  if (at == absl::string_view::npos) return std::nullopt;
  const size_t first = at + begin.size();
  const size_t last = text->find(end, first);
  if (last == absl::string_view::npos) return std::nullopt;
  const absl::string_view found = text->substr(first, last - first);
  text->remove_prefix(last + 1);
  return found;
}

// The value of `"key":"123"`.
std::optional<int64_t> NumberOf(absl::string_view key, absl::string_view object) {
  const std::optional<absl::string_view> digits = TakeBetween(absl::StrCat("\"", key, "\":\""), '"', &object);
  int64_t number;
  if (!digits || !absl::SimpleAtoi(*digits, &number) || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::vector<ScopedMemory> UsedScopedMemory(absl::string_view backend_config) {
  std::vector<ScopedMemory> result;
  std::optional<absl::string_view> list = TakeBetween("\"used_scoped_memory_configs\":[", ']', &backend_config);
  if (!list) return result;
  while (const std::optional<absl::string_view> object = TakeBetween("{", '}', &*list)) {
    const std::optional<int64_t> memory_space = NumberOf("memory_space", *object);
    const std::optional<int64_t> bytes = NumberOf("size", *object);
    if (memory_space && bytes) result.push_back({*memory_space, *bytes});
  }
  return result;
}

}  // namespace kashi
