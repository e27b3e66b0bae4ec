#include "kashi/query/text_search.h"

#include <algorithm>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kashi::query {
namespace {

// The name in "%add.1 = …" or "%main (…": up to the first space.
absl::string_view NameAtBegin(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "%")) return "";
  return text.substr(0, text.find(' '));
}

// "ENTRY main {", "add { x = …": a line that opens a computation, as people write it.
bool IsHead(absl::string_view line) {
  return !line.empty() && line[0] != ' ' && line[0] != '}' && absl::StrContains(line, "{") &&
         !absl::StartsWith(line, "HloModule");
}

// "  ROOT %": the instruction whose name follows has the line for itself.
bool IsBeforeFirst(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  absl::ConsumeSuffix(&text, "%");
  text = absl::StripAsciiWhitespace(text);
  return text.empty() || text == "ROOT";
}

}  // namespace

void ModuleText::SplitLines(absl::string_view text) { lines_ = absl::StrSplit(text, '\n'); }

void ModuleText::SortPlaces() {
  absl::c_stable_sort(
      places_, [](const Place& a, const Place& b) { return std::tie(a.line, a.column) < std::tie(b.line, b.column); });
}

// The line that opens a computation is before its first instruction, and after the end of the one before.
void ModuleText::AddEndsAndHeads() {
  std::vector<Place> others;
  size_t next = 0;  // place
  for (size_t line = 0; line < lines_.size(); ++line) {
    while (next < places_.size() && places_[next].line < line) ++next;
    if (absl::StartsWith(lines_[line], "}")) others.push_back({line, 0, nullptr, nullptr});
    if (IsHead(lines_[line]) && next < places_.size()) {
      others.push_back({line, 0, places_[next].computation, nullptr});
    }
  }
  // Heads come before instructions of the same place.
  places_.insert(places_.begin(), others.begin(), others.end());
  SortPlaces();
}

ModuleText ModuleText::ReadFrom(const HloModule& module, absl::string_view text) {
  ModuleText result;
  result.SplitLines(text);
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      const HloTextPlace place = x->text_place();
      if (place.line == 0 || place.line > result.lines_.size()) continue;
      const absl::string_view before = result.lines_[place.line - 1].substr(0, place.column - 1);
      const bool is_first = IsBeforeFirst(before);
      result.places_.push_back({place.line - 1, is_first ? 0 : place.column - 1, computation, x});
    }
  }
  result.SortPlaces();
  result.AddEndsAndHeads();
  return result;
}

// In printed text each instruction and each head of a computation begins a line with its name.
ModuleText ModuleText::PrintOf(const HloModule& module) {
  absl::flat_hash_map<absl::string_view, const HloInstruction*> instructions;
  absl::flat_hash_map<absl::string_view, const HloComputation*> computations;
  for (const HloComputation* computation : module.computations()) {
    computations[computation->name()] = computation;
    for (const HloInstruction* x : computation->instructions()) instructions[x->name()] = x;
  }
  ModuleText result;
  result.printed_ = module.ToString();
  result.SplitLines(result.printed_);
  for (size_t line = 0; line < result.lines_.size(); ++line) {
    absl::string_view text = result.lines_[line];
    if (absl::StartsWith(text, "}")) result.places_.push_back({line, 0, nullptr, nullptr});
    if (absl::ConsumePrefix(&text, "  ")) {
      absl::ConsumePrefix(&text, "ROOT ");
      const auto x = instructions.find(NameAtBegin(text));
      if (x != instructions.end()) result.places_.push_back({line, 0, x->second->parent(), x->second});
    } else {
      absl::ConsumePrefix(&text, "ENTRY ");
      const auto computation = computations.find(NameAtBegin(text));
      if (computation != computations.end()) result.places_.push_back({line, 0, computation->second, nullptr});
    }
  }
  return result;
}

void ModuleText::Find(const RegularExpression& pattern, absl::FunctionRef<bool(const TextMatch&)> visit) const {
  size_t next = 0;  // the first place behind the fit
  for (size_t line = 0; line < lines_.size(); ++line) {
    const auto fit = pattern.Find(lines_[line], 0);
    if (!fit.has_value()) continue;
    TextMatch match{static_cast<int64_t>(line) + 1, lines_[line], fit->first, fit->second};
    // The last thing that begins before the end of the fit.
    const size_t end = std::max(fit->second, fit->first + 1);
    while (next < places_.size() &&
           (places_[next].line < line || (places_[next].line == line && places_[next].column < end))) {
      ++next;
    }
    if (next > 0) {
      match.computation = places_[next - 1].computation;
      match.instruction = places_[next - 1].instruction;
    }
    if (!visit(match)) return;
  }
}

}  // namespace kashi::query
