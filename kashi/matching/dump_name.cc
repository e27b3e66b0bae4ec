#include "kashi/matching/dump_name.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"

namespace kashi::matching {
namespace {

using Segments = absl::Span<const absl::string_view>;

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

std::string Joined(Segments segments) { return absl::StrJoin(segments, "."); }

// The ending of a file with a module; "" for other files.
absl::string_view ModuleEnding(absl::string_view name) {
  for (const absl::string_view ending : {".hlo.pb.gz", ".hlo.pb", ".hlo.txt", ".hlo_text", ".pbtxt", ".txt", ".hlo"}) {
    if (absl::EndsWith(name, ending)) return ending;
  }
  return "";
}

// "copy-insertion", "after_adding_copies": a stage of a pass, or between two passes of a pipeline.
DumpStage NumberedStage(int64_t number, Segments rest) {
  constexpr absl::string_view kAfter = "after_";
  constexpr absl::string_view kBefore = "before_";
  const auto begins_with = [](absl::string_view word) {
    return [word](absl::string_view segment) { return absl::StartsWith(segment, word); };
  };
  const auto after = std::find_if(rest.begin() + 1, rest.end(), begins_with(kAfter));
  const auto before = std::find_if(after, rest.end(), begins_with(kBefore));
  const auto joined = [&](Segments::const_iterator begin, Segments::const_iterator end) {
    return Joined(rest.subspan(begin - rest.begin(), end - begin));
  };
  DumpStage stage;
  stage.number = number;
  if (after == rest.end()) {  // a step of a pass under another name
    stage.pipeline = std::string(rest[0]);
    stage.after = Joined(rest.subspan(1));
    return stage;
  }
  stage.pipeline = joined(rest.begin(), after);
  stage.after = std::string(absl::StripPrefix(joined(after, before), kAfter));
  if (before != rest.end()) stage.before = std::string(absl::StripPrefix(joined(before, rest.end()), kBefore));
  return stage;
}

// The number of segments at the end that name a stage without a number; 0: there is no such stage.
size_t NamedStageLength(Segments segments) {
  for (const absl::string_view word : {"before_optimizations", "after_optimizations", "after_spmd_partition",
                                       "after_codegen", "after_optimizations_before_buffer_assignment"}) {
    const size_t at = segments.back().find(word);
    const bool is_report = segments.back().find('-') != absl::string_view::npos;
    if (at == absl::string_view::npos || is_report) continue;
    // "sm_9", "0_gpu_after_optimizations"
    const bool has_point = segments.size() > 1 && at > 0 && absl::StartsWith(segments[segments.size() - 2], "sm_") &&
                           absl::ascii_isdigit(segments.back()[0]);
    return has_point ? 2 : 1;
  }
  return 0;
}

// The position of the number of a stage, after which at least two segments follow; 0: there is none.
size_t FindStageNumber(Segments segments) {
  constexpr size_t kLeastDigits = 4;
  for (size_t i = segments.size(); i-- > 2;) {
    const bool is_number = segments[i].size() >= kLeastDigits && IsNumber(segments[i]);
    if (is_number && i + 2 < segments.size()) return i;
  }
  return 0;
}

}  // namespace

std::string DumpStage::Title() const {
  if (number < 0) return name;
  return begins_pipeline() ? absl::StrCat("before ", pipeline) : absl::StrCat(pipeline, "/", after);
}

std::optional<DumpName> ParseDumpName(absl::string_view file_name) {
  constexpr absl::string_view kModule = "module_";
  const size_t first_point = file_name.find('.');
  if (first_point != absl::string_view::npos && IsNumber(file_name.substr(0, first_point))) {
    file_name.remove_prefix(first_point + 1);
  }
  DumpName result;
  absl::string_view ending = ModuleEnding(file_name);
  const std::vector<absl::string_view> all = absl::StrSplit(absl::StripSuffix(file_name, ending), '.');
  const Segments segments = all;
  if (!absl::StartsWith(segments[0], kModule) || !IsNumber(segments[0].substr(kModule.size()))) return std::nullopt;
  if (!absl::SimpleAtoi(segments[0].substr(kModule.size()), &result.number)) return std::nullopt;
  size_t module_end = std::min<size_t>(2, segments.size());
  const size_t named = ending.empty() || segments.size() < 3 ? 0 : NamedStageLength(segments);
  const size_t number_at = ending.empty() || named > 0 ? 0 : FindStageNumber(segments);
  int64_t number = 0;
  if (named > 0) {
    module_end = segments.size() - named;
    result.stage.emplace().name = Joined(segments.subspan(module_end));
  } else if (number_at > 0 && absl::SimpleAtoi(segments[number_at], &number)) {
    module_end = number_at;
    result.stage = NumberedStage(number, segments.subspan(number_at + 1));
  }
  result.module = Joined(segments.first(module_end));
  result.ending = result.stage.has_value()
                      ? std::string(ending)
                      : std::string(file_name.substr(std::min(result.module.size() + 1, file_name.size())));
  return result;
}

}  // namespace kashi::matching
