#include "cli/report_compare.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cli/page_json.h"
#include "cli/report_instructions.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/matching/module_diff.h"

namespace kashi::cli {
namespace {

// The numbers of computations of A and B, one after the other: pairs first, then those without a partner.
class ComputationPairs {
 public:
  ComputationPairs(const ReportInstructions& a, const ReportInstructions& b, const matching::ModuleDiff& diff) {
    const auto numbers_a = NumbersOf(a), numbers_b = NumbersOf(b);
    absl::flat_hash_set<int64_t> paired_b;
    for (int64_t number = 0; number < static_cast<int64_t>(a.computations().size()); ++number) {
      const HloComputation* partner = PartnerOf(*a.computations()[number], diff);
      const int64_t other = partner == nullptr ? -1 : numbers_b.at(partner);
      const bool is_free = other >= 0 && paired_b.insert(other).second;
      Add(number, is_free ? other : -1);
    }
    for (int64_t number = 0; number < static_cast<int64_t>(b.computations().size()); ++number) {
      if (paired_b.count(number) == 0) Add(-1, number);
    }
  }

  const std::vector<int64_t>& numbers() const { return numbers_; }

 private:
  static absl::flat_hash_map<const HloComputation*, int64_t> NumbersOf(const ReportInstructions& all) {
    absl::flat_hash_map<const HloComputation*, int64_t> numbers;
    for (const HloComputation* each : all.computations()) numbers.emplace(each, static_cast<int64_t>(numbers.size()));
    return numbers;
  }
  // The computation in which most counterparts are.
  static const HloComputation* PartnerOf(const HloComputation& a, const matching::ModuleDiff& diff) {
    for (const matching::ComputationDiff& pair : diff.computations) {
      if (pair.a == &a) return pair.b;
    }
    absl::flat_hash_map<const HloComputation*, int64_t> votes;
    std::pair<int64_t, const HloComputation*> best = {0, nullptr};
    for (const HloInstruction* instruction : a.instructions()) {
      const auto found = diff.counterparts.find(instruction);
      if (found == diff.counterparts.end()) continue;
      const int64_t count = ++votes[found->second->parent()];
      if (count > best.first) best = {count, found->second->parent()};
    }
    return best.second;
  }
  void Add(int64_t a, int64_t b) {
    numbers_.push_back(a);
    numbers_.push_back(b);
  }

  std::vector<int64_t> numbers_;
};

}  // namespace

std::string ReportComparisonJson(const HloModule& a, const HloModule& b) {
  const matching::ModuleDiff diff = matching::DiffModules(a, b, /*with_layouts=*/true);
  const ReportInstructions all_a(a), all_b(b);
  PageTexts texts;
  std::string json = absl::StrCat("{\"renamed\":", diff.renamed, ",\n");
  const auto counterpart = [&](const HloInstruction* instruction) {
    const auto found = diff.counterparts.find(instruction);
    return found == diff.counterparts.end() ? int64_t{-1} : all_b.NumberOf(found->second);
  };
  AddNumbers("counterparts", all_a.instructions(), counterpart, &json);
  const auto same = [](int64_t number) { return number; };
  AddNumbers("computations", ComputationPairs(all_a, all_b, diff).numbers(), same, &json);
  std::vector<const matching::InstructionChange*> changes;
  for (const matching::ComputationDiff& computation : diff.computations) {
    for (const matching::InstructionChange& change : computation.changes) changes.push_back(&change);
  }
  using Change = matching::InstructionChange;
  const auto add = [&](absl::string_view key, auto number_of) { AddNumbers(key, changes, number_of, &json); };
  add("change_a", [&](const Change* each) { return all_a.NumberOf(each->a); });
  add("change_b", [&](const Change* each) { return all_b.NumberOf(each->b); });
  add("change_what", [&](const Change* each) { return texts.Number(each->what); });
  add("change_from", [&](const Change* each) { return texts.Number(each->from); });
  add("change_to", [&](const Change* each) { return texts.Number(each->to); });
  add("change_follows", [](const Change* each) { return each->is_consequence ? 1 : 0; });
  return absl::StrCat(json, "\"texts\":[", texts.json(), "]}");
}

}  // namespace kashi::cli
