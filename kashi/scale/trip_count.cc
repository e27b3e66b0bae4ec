#include "kashi/scale/trip_count.h"

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "kashi/evaluator/while_loop_pattern.h"

namespace kashi::scale {
namespace {

// Drops white space, then the token if it is next.
bool Take(absl::string_view token, absl::string_view* text) {
  while (!text->empty() && (text->front() == ' ' || text->front() == '\n')) text->remove_prefix(1);
  return absl::ConsumePrefix(text, token);
}

}  // namespace

std::optional<int64_t> KnownTripCount(absl::string_view backend_config) {
  constexpr absl::string_view kKey = "\"known_trip_count\"";
  const size_t key = backend_config.find(kKey);
  if (key == absl::string_view::npos) return std::nullopt;
  absl::string_view rest = backend_config.substr(key + kKey.size());
  for (const absl::string_view token : {":", "{", "\"n\"", ":"}) {
    if (!Take(token, &rest)) return std::nullopt;
  }
  Take("\"", &rest);
  int64_t count = 0;
  if (!absl::SimpleAtoi(rest.substr(0, rest.find_first_not_of("0123456789")), &count)) return std::nullopt;
  return count;
}

std::optional<int64_t> TripCountOf(const HloInstruction& loop) {
  if (const auto known = KnownTripCount(loop.raw_backend_config_string())) return known;
  const std::optional<ParsedWhileLoop> parsed = PatternMatchParseWhileLoop(&loop);
  if (!parsed.has_value() || parsed->is_dynamic() || parsed->static_while_loop->trip_count < 0) return std::nullopt;
  return parsed->static_while_loop->trip_count;
}

}  // namespace kashi::scale
