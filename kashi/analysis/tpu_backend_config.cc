#include "kashi/analysis/tpu_backend_config.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kashi::analysis {
namespace {

// Returns the text between `begin` and the next `end`, and removes it from the input; nullopt if there is none.
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

// The numbers of `"0","2"`; empty if one of them is not a number.
std::vector<int64_t> NumbersOf(absl::string_view list) {
  std::vector<int64_t> numbers;
  for (absl::string_view each : absl::StrSplit(list, ',')) {
    int64_t number;
    if (!absl::ConsumePrefix(&each, "\"") || !absl::ConsumeSuffix(&each, "\"") || !absl::SimpleAtoi(each, &number)) {
      return {};
    }
    numbers.push_back(number);
  }
  return numbers;
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

std::vector<std::vector<int64_t>> AliasingOperands(absl::string_view backend_config) {
  constexpr absl::string_view kKey = "\"aliasing_operands\":{\"lists\":[";
  std::vector<std::vector<int64_t>> result;
  const size_t at = backend_config.rfind(kKey);  // it is the last key, or nearly so
  if (at == absl::string_view::npos) return result;
  absl::string_view lists = backend_config.substr(at + kKey.size());
  while (absl::ConsumePrefix(&lists, "{\"indices\":[")) {
    const size_t end = lists.find(']');
    if (end == absl::string_view::npos) return result;
    result.push_back(NumbersOf(lists.substr(0, end)));
    lists.remove_prefix(end + 1);
    if (!absl::ConsumePrefix(&lists, "},")) return result;
  }
  return result;
}

}  // namespace kashi::analysis
