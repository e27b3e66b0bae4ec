#include "kashi/scale/trip_count.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/while_loop_pattern.h"
#include "kashi/scale/evaluated_loop.h"

namespace kashi::scale {
namespace {

constexpr int64_t kMostWorkOfALoop = 500'000;

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

std::optional<int64_t> TripCounts::Of(const HloInstruction& loop) {
  if (const auto known = KnownTripCount(loop.raw_backend_config_string())) return known;
  return Derive(loop);
}

std::optional<int64_t> TripCounts::Derive(const HloInstruction& loop) {
  if (work_left_ <= 0 || loop.opcode() != HloOpcode::kWhile) return std::nullopt;
  EvaluationOptions options;
  options.max_work = std::min(work_left_, kMostWorkOfALoop);
  options.max_loop_iterations = kMostEvaluatedIterations;
  evaluator::EvaluationRun run(options);
  std::optional<int64_t> count;
  const std::optional<ParsedWhileLoop> parsed = PatternMatchParseWhileLoop(loop, &run);
  if (parsed.has_value() && !parsed->is_dynamic()) {
    count = parsed->static_while_loop->trip_count;
  } else {
    count = EvaluateTripCount(loop, kMostEvaluatedIterations, &run);  // it may wrap, or count numbers beyond 2^63
  }
  work_left_ -= run.limits().work->spent();
  return count;
}

std::optional<int64_t> TripCountOf(const HloInstruction& loop) { return TripCounts().Of(loop); }

}  // namespace kashi::scale
