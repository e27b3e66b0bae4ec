#include "cli/diff_structure.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/attribute_difference.h"
#include "cli/value_summary.h"
#include "cli/verb.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

using base::WithThousands;
using matching::ComputationDiff;
using matching::InstructionChange;
using matching::ModuleDiff;
namespace {

constexpr size_t kMostLines = 60;
constexpr size_t kMostImportantLines = 30;  // if there are more than kMostLines
constexpr size_t kMostOpcodes = 12;

std::string ComputationTitle(const HloComputation& a, const HloComputation& b) {
  return a.name() == b.name() ? std::string(a.name()) : absl::StrCat(a.name(), " (in B ", b.name(), ")");
}

// ---- Numbers of operations ------------------------------------------------------------------------------------------

struct OpcodeCount {
  absl::string_view opcode;
  int64_t a = 0;
  int64_t b = 0;
};

// The opcodes whose counts differ, the largest difference first.
std::vector<OpcodeCount> OpcodeCounts(const HloModule& a, const HloModule& b) {
  std::map<absl::string_view, OpcodeCount> counts;
  const auto count = [&](const HloModule& module, int64_t OpcodeCount::*side) {
    for (const HloComputation* computation : module.computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        OpcodeCount& found = counts[HloOpcodeString(instruction->opcode())];
        found.opcode = HloOpcodeString(instruction->opcode());
        ++(found.*side);
      }
    }
  };
  count(a, &OpcodeCount::a);
  count(b, &OpcodeCount::b);
  std::vector<OpcodeCount> differing;
  for (const auto& [opcode, found] : counts) {
    if (found.a != found.b) differing.push_back(found);
  }
  std::stable_sort(differing.begin(), differing.end(), [](const OpcodeCount& x, const OpcodeCount& y) {
    return std::abs(x.b - x.a) > std::abs(y.b - y.a);
  });
  return differing;
}

std::string OpcodeTable(const std::vector<OpcodeCount>& counts, bool all) {
  if (counts.empty()) return "";
  std::string text = absl::StrFormat("  %-24s %9s %9s %9s\n", "operation", "A", "B", "B - A");
  const size_t shown = all ? counts.size() : std::min(counts.size(), kMostOpcodes);
  for (size_t i = 0; i < shown; ++i) {
    const OpcodeCount& each = counts[i];
    const std::string change = absl::StrCat(each.b > each.a ? "+" : "-", WithThousands(std::abs(each.b - each.a)));
    absl::StrAppendFormat(&text, "  %-24s %9s %9s %9s\n", each.opcode, WithThousands(each.a), WithThousands(each.b),
                          change);
  }
  if (shown < counts.size()) {
    absl::StrAppend(&text, "  and ", Count(static_cast<int64_t>(counts.size() - shown), "other operation"),
                    " (--all)\n");
  }
  return text;
}

// ---- Differences ----------------------------------------------------------------------------------------------------

// One line of the report.
struct Difference {
  std::string computation;
  std::string text;
  std::string kind;  // for the counts of lines that are not shown: "operands", "only in A"
  int weight = 0;    // larger is more important
};

// Whether an operation computes values, or only moves them.
bool ComputesValues(const HloInstruction& x) { return !GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kKeepsValues); }

int WeightOf(const InstructionChange& change) {
  if (change.is_consequence) return 0;
  if (change.what == "value" || change.what == "opcode" || change.what == "root") return 5;
  if (change.what == "attributes") return 4;
  if (change.what == "shape" || change.what == "operands") return ComputesValues(*change.a) ? 3 : 1;
  return 2;  // calls, moved
}

// Causes before consequences.
void AddDifferences(const ComputationDiff& diff, std::vector<Difference>* differences) {
  const std::string title = ComputationTitle(*diff.a, *diff.b);
  const auto add_changes = [&](bool consequences) {
    for (const InstructionChange& change : diff.changes) {
      if (change.is_consequence != consequences) continue;
      const std::string what = change.what == "attributes"
                                   ? AttributeDifference(change.from, change.to)
                                   : absl::StrCat(change.what, " ", change.from, " -> ", change.to);
      differences->push_back(
          {title, absl::StrCat(InstructionTitle(*change.a, *change.b), "  ", what), change.what, WeightOf(change)});
    }
  };
  const auto add_only = [&](const char* where, const std::vector<const HloInstruction*>& instructions) {
    for (const HloInstruction* x : instructions) {
      differences->push_back({title, absl::StrCat(where, "  ", ShortText(*x)), where, ComputesValues(*x) ? 3 : 0});
    }
  };
  add_changes(/*consequences=*/false);
  add_only("only in A", diff.only_a);
  add_only("only in B", diff.only_b);
  add_changes(/*consequences=*/true);
}

std::vector<Difference> DifferencesOf(const ModuleDiff& diff) {
  std::vector<Difference> differences;
  for (const ComputationDiff& computation : diff.computations) AddDifferences(computation, &differences);
  const auto add_only = [&](const char* where, const std::vector<const HloComputation*>& computations) {
    for (const HloComputation* x : computations) {
      differences.push_back(
          {"", absl::StrCat(where, ": computation ", x->name(), " of ", Count(x->instruction_count(), "instruction")),
           absl::StrCat("computations ", where), 2});
    }
  };
  add_only("only in A", diff.only_a);
  add_only("only in B", diff.only_b);
  return differences;
}

// The differences that are shown: all, or those with the largest weights.
std::vector<bool> ChooseShown(const std::vector<Difference>& differences, bool all) {
  std::vector<bool> is_shown(differences.size(), true);
  if (all || differences.size() <= kMostLines) return is_shown;
  std::vector<size_t> order(differences.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t x, size_t y) { return differences[x].weight > differences[y].weight; });
  for (size_t i = kMostImportantLines; i < order.size(); ++i) is_shown[order[i]] = false;
  return is_shown;
}

std::string DifferenceText(const std::vector<Difference>& differences, bool all) {
  const std::vector<bool> is_shown = ChooseShown(differences, all);
  std::string text;
  std::string title;
  std::map<std::string, int64_t> others;
  for (size_t i = 0; i < differences.size(); ++i) {
    const Difference& each = differences[i];
    if (!is_shown[i]) {
      ++others[each.kind];
      continue;
    }
    if (each.computation != title && !each.computation.empty()) absl::StrAppend(&text, "  ", each.computation, ":\n");
    title = each.computation;
    absl::StrAppend(&text, each.computation.empty() ? "  " : "    ", each.text, "\n");
  }
  if (others.empty()) return text;
  const auto add = [](std::string* out, const std::pair<const std::string, int64_t>& other) {
    absl::StrAppend(out, other.first, " ", WithThousands(other.second));
  };
  return absl::StrCat(text, "  and others: ", absl::StrJoin(others, ", ", add), " (--all)\n");
}

}  // namespace

std::string InstructionTitle(const HloInstruction& a, const HloInstruction& b) {
  return a.name() == b.name() ? std::string(a.name()) : absl::StrCat(a.name(), " (in B ", b.name(), ")");
}

std::string StructureText(const HloModule& a, const HloModule& b, const ModuleDiff& diff, bool all) {
  std::string text =
      diff.size() == 0 ? "structure: equal" : absl::StrCat("structure: ", Count(diff.size(), "difference"));
  if (diff.renamed > 0) {
    absl::StrAppend(&text, ", ", Count(diff.renamed, "instruction"),
                    diff.renamed == 1 ? " under another name" : " under other names");
  }
  return absl::StrCat(text, "\n", OpcodeTable(OpcodeCounts(a, b), all), DifferenceText(DifferencesOf(diff), all));
}

Json OpcodesJson(const HloModule& a, const HloModule& b) {
  Json list = Json::array();
  for (const OpcodeCount& each : OpcodeCounts(a, b)) {
    list.push_back({{"opcode", each.opcode}, {"a", each.a}, {"b", each.b}});
  }
  return list;
}

Json StructureJson(const ModuleDiff& diff) {
  Json list = Json::array();
  const auto add_only = [&](const char* where, absl::string_view computation, const HloInstruction* instruction) {
    Json& json = list.emplace_back();
    json["computation"] = computation;
    if (instruction != nullptr) json["instruction"] = instruction->name();
    json["what"] = where;
  };
  for (const ComputationDiff& computation : diff.computations) {
    for (const InstructionChange& change : computation.changes) {
      list.push_back({{"computation", computation.a->name()},
                      {"instruction", change.a->name()},
                      {"instruction_b", change.b->name()},
                      {"what", change.what},
                      {"from", change.from},
                      {"to", change.to}});
    }
    for (const HloInstruction* x : computation.only_a) add_only("only in A", computation.a->name(), x);
    for (const HloInstruction* y : computation.only_b) add_only("only in B", computation.b->name(), y);
  }
  for (const HloComputation* x : diff.only_a) add_only("only in A", x->name(), nullptr);
  for (const HloComputation* y : diff.only_b) add_only("only in B", y->name(), nullptr);
  return list;
}

}  // namespace kashi::cli
