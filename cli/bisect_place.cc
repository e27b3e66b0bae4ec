#include "cli/bisect_place.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/flat_module.h"
#include "cli/program_run.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/matching/module_diff.h"

namespace kashi::cli {
namespace {

constexpr char kEvaluator[] = "evaluator";
constexpr char kKnownValue[] = "kashi.bisect.known_value";
// At the begin, and at the end. Each costs a run of B.
constexpr size_t kMostCandidates = 24;

bool EndsSearch(const absl::Status& status) {
  return LimitKindOf(status) != LimitKind::kNone || absl::IsCancelled(status);
}

// The number of outputs that differ.
int64_t DifferingOutputs(const std::vector<Literal>& expected, const std::vector<Literal>& actual,
                         const Tolerance& tolerance) {
  int64_t count = 0;
  for (size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
    const absl::StatusOr<OutputComparison> comparison = CompareForms(expected[i], actual[i], tolerance);
    count += comparison.ok() && comparison->statistics.mismatches == 0 ? 0 : 1;
  }
  return count;
}

class PlaceFinder {
 public:
  PlaceFinder(const ProgramForm& a, const ProgramForm& b, const std::vector<Literal>& expected,
              const Tolerance& tolerance, const EvaluationOptions& evaluation)
      : arguments_a_(*a.arguments),
        arguments_b_(*b.arguments),
        expected_(expected),
        tolerance_(tolerance),
        evaluation_(evaluation) {}

  absl::Status Prepare(const HloModule& a, const HloModule& b) {
    KASHI_ASSIGN_OR_RETURN(place_.flat_a, FlatModule(a));
    KASHI_ASSIGN_OR_RETURN(place_.flat_b, FlatModule(b));
    const matching::ModuleDiff diff = matching::DiffModules(*place_.flat_a, *place_.flat_b, /*with_layouts=*/false);
    counterparts_ = diff.counterparts;
    AddOutputs();
    for (const auto& [x, y] : counterparts_) of_b_[y] = x;
    KASHI_ASSIGN_OR_RETURN(const auto outputs, RunOn(*place_.flat_b, arguments_b_, kEvaluator, evaluation_));
    differing_outputs_ = DifferingOutputs(expected_, outputs, tolerance_);
    return absl::OkStatus();
  }
  bool differs() const { return differing_outputs_ > 0; }

  // With this tolerance for values within the program.
  absl::StatusOr<bool> Find(const Tolerance& tolerance);
  DifferencePlace place() && { return std::move(place_); }

 private:
  ProgramForm a() const { return {place_.flat_a.get(), &arguments_a_}; }
  ProgramForm b() const { return {place_.flat_b.get(), &arguments_b_}; }
  void AddOutputs();
  // How many outputs differ if an instruction of B has A's values.
  absl::StatusOr<int64_t> DifferingOutputsWith(const DifferingPair& pair, const std::vector<Value>& values) const;
  absl::StatusOr<int64_t> Remaining(size_t number) const;
  absl::StatusOr<bool> Take(size_t number, const Tolerance& tolerance);
  absl::Status Describe(const DifferingPair& pair);

  const Arguments& arguments_a_;
  const Arguments& arguments_b_;
  const std::vector<Literal>& expected_;
  const Tolerance tolerance_;
  const EvaluationOptions& evaluation_;
  DifferencePlace place_;
  Counterparts counterparts_;  // of A's instructions in B
  Counterparts of_b_;          // the other way round
  std::optional<ValuePairs> pairs_;
  int64_t differing_outputs_ = 0;
};

// Outputs correspond whatever computes them, unless they have counterparts already.
void PlaceFinder::AddOutputs() {
  absl::flat_hash_set<const HloInstruction*> taken;
  for (const auto& [x, y] : counterparts_) taken.insert(y);
  const auto add = [&](const HloInstruction* x, const HloInstruction* y) {
    if (!x->shape().IsArray() || !y->shape().IsArray() || !ShapeUtil::SameDimensions(x->shape(), y->shape())) return;
    if (counterparts_.contains(x) || taken.contains(y)) return;
    counterparts_[x] = y;
    taken.insert(y);
  };
  const HloInstruction* x = place_.flat_a->entry_computation()->root_instruction();
  const HloInstruction* y = place_.flat_b->entry_computation()->root_instruction();
  add(x, y);
  if (x->opcode() != HloOpcode::kTuple || y->opcode() != HloOpcode::kTuple) return;
  for (int64_t i = 0; i < std::min(x->operand_count(), y->operand_count()); ++i) add(x->operand(i), y->operand(i));
}

absl::StatusOr<int64_t> PlaceFinder::DifferingOutputsWith(const DifferingPair& pair,
                                                          const std::vector<Value>& values) const {
  const std::unique_ptr<HloModule> copy = place_.flat_b->Clone("");
  HloComputation* computation = copy->GetComputationWithName(pair.b->parent()->name());
  HloInstruction* replaced = computation->GetInstructionWithName(pair.b->name());
  KASHI_RETURN_IF_ERROR(replaced->DropAllControlDeps());
  KASHI_RETURN_IF_ERROR(computation->ReplaceWithNewInstruction(
      replaced, HloInstruction::CreateCustomCall(pair.b->shape(), {}, kKnownValue)));
  EvaluationOptions evaluation = evaluation_;
  size_t next = 0;
  evaluation.custom_call_handler = [&](const HloInstruction& call,
                                       absl::Span<const Literal* const>) -> absl::StatusOr<Literal> {
    if (call.custom_call_target() != kKnownValue) return Unimplemented("not ours");
    if (next == values.size()) return FailedPrecondition("the loop has more iterations");
    const Value& value = values[next++];
    KASHI_ASSIGN_OR_RETURN(Literal literal, value.ToLiteral(value.shape()));
    return literal.ConvertToShape(call.shape());
  };
  KASHI_ASSIGN_OR_RETURN(const auto outputs, RunOn(*copy, arguments_b_, kEvaluator, std::move(evaluation)));
  return DifferingOutputs(expected_, outputs, tolerance_);
}

absl::Status PlaceFinder::Describe(const DifferingPair& pair) {
  KASHI_ASSIGN_OR_RETURN(const ValueMap of_a, ValuesUntil(a(), {}, pair.a, pair.occurrence, evaluation_));
  KASHI_ASSIGN_OR_RETURN(const ValueMap of_b, ValuesUntil(b(), {}, pair.b, pair.occurrence, evaluation_));
  place_.a = {pair.a, Summarize(of_a.at(pair.a))};
  place_.b = {pair.b, Summarize(of_b.at(pair.b))};
  place_.occurrence = pair.occurrence;
  return absl::OkStatus();
}

// How many outputs differ if the instruction has A's values; all that do now if that cannot be tried.
absl::StatusOr<int64_t> PlaceFinder::Remaining(size_t number) const {
  const DifferingPair& pair = pairs_->differing()[number];
  const std::optional<std::vector<Value>> values = pairs_->ValuesOfA(pair.a);
  if (pair.b->opcode() == HloOpcode::kParameter || !values.has_value()) return differing_outputs_;
  const absl::StatusOr<int64_t> remaining = DifferingOutputsWith(pair, *values);
  if (!remaining.ok() && !EndsSearch(remaining.status())) return differing_outputs_;
  return remaining;
}

// Whether it can be cut out, so that the parts differ. Then it is the place.
absl::StatusOr<bool> PlaceFinder::Take(size_t number, const Tolerance& tolerance) {
  const DifferingPair& pair = pairs_->differing()[number];
  if (pair.b->opcode() == HloOpcode::kParameter) return false;
  const auto agrees = [&](const HloInstruction* y) { return pairs_->AgreesBefore(y, number); };
  absl::StatusOr<DifferingParts> parts = CutOut(a(), b(), pair, of_b_, agrees, tolerance, evaluation_);
  if (!parts.ok() && EndsSearch(parts.status())) return parts.status();
  if (!parts.ok()) return false;
  place_.parts = *std::move(parts);
  KASHI_RETURN_IF_ERROR(Describe(pair));
  return true;
}

absl::StatusOr<bool> PlaceFinder::Find(const Tolerance& tolerance) {
  KASHI_ASSIGN_OR_RETURN(pairs_, ValuePairs::Compare(a(), b(), counterparts_, tolerance, evaluation_));
  const size_t count = pairs_->differing().size();
  // The first ones, and the last ones: an output explains itself.
  std::vector<size_t> order;
  for (size_t i = 0; i < count; ++i) {
    if (i < kMostCandidates || i + kMostCandidates >= count) order.push_back(i);
  }
  std::vector<size_t> partial;
  for (const size_t i : order) {
    KASHI_ASSIGN_OR_RETURN(const int64_t remaining, Remaining(i));
    if (remaining < differing_outputs_) partial.push_back(i);
    if (remaining > 0) continue;
    KASHI_ASSIGN_OR_RETURN(place_.explains_all, Take(i, tolerance));
    if (place_.explains_all) return true;
  }
  for (const size_t i : partial) {
    KASHI_ASSIGN_OR_RETURN(place_.explains_some, Take(i, tolerance));
    if (place_.explains_some) return true;
  }
  for (const size_t i : order) {  // several faults may hide each other
    KASHI_ASSIGN_OR_RETURN(const bool is_cut, Take(i, tolerance));
    if (is_cut) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::optional<DifferencePlace>> FindPlace(const ProgramForm& a, const ProgramForm& b,
                                                         const std::vector<Literal>& expected,
                                                         const Tolerance& tolerance,
                                                         const EvaluationOptions& evaluation) {
  PlaceFinder finder(a, b, expected, tolerance, evaluation);
  KASHI_RETURN_IF_ERROR(finder.Prepare(*a.module, *b.module));
  if (!finder.differs()) return std::nullopt;
  // A small error may grow later: then values that are equal by the tolerance are not equal by a narrower one.
  KASHI_ASSIGN_OR_RETURN(bool found, finder.Find(tolerance));
  constexpr double kNarrower = 1e-6;
  if (!found) {
    KASHI_ASSIGN_OR_RETURN(found, finder.Find(Tolerance{kNarrower, tolerance.allow_nan}));
  }
  if (!found) return std::nullopt;
  return std::move(finder).place();
}

}  // namespace kashi::cli
