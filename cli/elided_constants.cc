#include "cli/elided_constants.h"

#include <deque>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "cli/verb.h"
#include "kashi/analysis/fake_arguments.h"
#include "kashi/analysis/value_constraints.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/elided_constant.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

using analysis::ValueConstraints;
using hlo::ElidedConstants;
using hlo::IsElidedConstant;
using hlo::SetConstant;
namespace {

constexpr size_t kMostNames = 5;

// At least one of the two is elided; either may be null.
struct Pair {
  HloInstruction* a;
  HloInstruction* b;
};

class Pairing {
 public:
  Pairing(const matching::ModuleDiff& diff, HloModule* a, HloModule* b) {
    absl::flat_hash_map<const HloInstruction*, const HloInstruction*> counterparts_of_b;
    for (const auto& [x, y] : diff.counterparts) counterparts_of_b[y] = x;
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> constants_of_b = ConstantsOf(b);
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> constants_of_a = ConstantsOf(a);
    std::deque<HloInstruction*> alone;  // in a
    for (HloInstruction* x : ElidedConstants(*a)) {
      HloInstruction* y = Counterpart(*x, diff.counterparts, constants_of_b);
      if (y == nullptr) {
        alone.push_back(x);
      } else {
        pairs_.push_back({x, y});
      }
    }
    for (HloInstruction* y : ElidedConstants(*b)) {
      HloInstruction* x = Counterpart(*y, counterparts_of_b, constants_of_a);
      if (x != nullptr && IsElidedConstant(*x)) continue;  // it has a value
      pairs_.push_back({x == nullptr ? TakeOfSameShape(*y, &alone) : x, y});
    }
    for (HloInstruction* x : alone) pairs_.push_back({x, nullptr});
  }

  absl::Span<const Pair> pairs() const { return pairs_; }

 private:
  using Constants = absl::flat_hash_map<const HloInstruction*, HloInstruction*>;

  static Constants ConstantsOf(HloModule* module) {
    Constants constants;
    for (HloComputation* computation : module->computations()) {
      for (HloInstruction* instruction : computation->instructions()) {
        if (instruction->IsConstant()) constants[instruction] = instruction;
      }
    }
    return constants;
  }
  // The next constant of the same shape without a counterpart; null if there is none.
  static HloInstruction* Counterpart(
      const HloInstruction& constant,
      const absl::flat_hash_map<const HloInstruction*, const HloInstruction*>& counterparts,
      const Constants& constants) {
    const auto other = counterparts.find(&constant);
    if (other == counterparts.end()) return nullptr;
    const auto found = constants.find(other->second);
    if (found == constants.end()) return nullptr;
    return ShapeUtil::Compatible(found->second->shape(), constant.shape()) ? found->second : nullptr;
  }
  static HloInstruction* TakeOfSameShape(const HloInstruction& constant, std::deque<HloInstruction*>* alone) {
    for (auto each = alone->begin(); each != alone->end(); ++each) {
      if (!ShapeUtil::Compatible((*each)->shape(), constant.shape())) continue;
      HloInstruction* taken = *each;
      alone->erase(each);
      return taken;
    }
    return nullptr;
  }

  std::vector<Pair> pairs_;
};

// Sets the value in the layout of the constant.
void SetValue(HloInstruction* constant, const Literal& value) {
  if (constant != nullptr) SetConstant(constant, value.Relayout(constant->literal().shape()));
}

}  // namespace

std::vector<std::string> ElidedNames(const HloModule& module) {
  std::vector<std::string> names;
  for (const HloInstruction* constant : ElidedConstants(module)) names.emplace_back(constant->name());
  return names;
}

std::string ElidedText(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMostNames);
  const auto add = [](std::string* out, const std::string& name) { absl::StrAppend(out, "`", name, "`"); };
  const std::string rest = shown < names.size() ? absl::StrCat(" and ", names.size() - shown, " more") : "";
  return absl::StrCat(Count(static_cast<int64_t>(names.size()), "constant"), names.size() == 1 ? " is" : " are",
                      " elided, `{...}`: the file lacks ", names.size() == 1 ? "its value (" : "their values (",
                      absl::StrJoin(absl::MakeConstSpan(names).first(shown), ", ", add), rest,
                      "); use the .pb of the dump, or dump again with --xla_dump_hlo_print_large_constants");
}

void WarnOfElided(const std::string& file, const std::vector<std::string>& names, const std::string& consequence) {
  if (names.empty()) return;
  PrintWarning(absl::StrCat(file, ": ", ElidedText(names), consequence));
}

absl::Status FillElidedAlike(const matching::ModuleDiff& diff, HloModule* a, HloModule* b, uint64_t seed) {
  const Pairing pairing(diff, a, b);
  if (pairing.pairs().empty()) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const ValueConstraints constraints_a, ValueConstraints::Build(*a));
  KASHI_ASSIGN_OR_RETURN(const ValueConstraints constraints_b, ValueConstraints::Build(*b));
  for (const Pair& pair : pairing.pairs()) {
    const bool has_a = pair.a != nullptr && !IsElidedConstant(*pair.a);
    const bool has_b = pair.b != nullptr && !IsElidedConstant(*pair.b);
    if (has_a) {
      SetValue(pair.b, pair.a->literal());
    } else if (has_b) {
      SetValue(pair.a, pair.b->literal());
    } else {
      const HloInstruction& either = pair.a != nullptr ? *pair.a : *pair.b;
      const ValueConstraints& constraints = pair.a != nullptr ? constraints_a : constraints_b;
      KASHI_ASSIGN_OR_RETURN(const Literal value, MakeElidedValue(either, constraints, ++seed));
      SetValue(pair.a, value);
      SetValue(pair.b, value);
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::cli
