#include "cli/bisect_region.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/program_run.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/fingerprint.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/query/submodule.h"
#include "kashi/values/value.h"

namespace kashi::cli {

using query::CutValue;
using query::Submodule;
namespace {

using InstructionSet = absl::flat_hash_set<const HloInstruction*>;
// A parameter of both parts: a value of A, or one that only B has.
using BorderKey = std::pair<const HloInstruction*, ShapeIndex>;

// ---- Parts as modules -----------------------------------------------------------------------------------------------

// The part that computes `end`, and where its parameters are from.
struct Part {
  std::unique_ptr<HloModule> module;
  std::vector<BorderKey> borders;  // by parameter
  int64_t result = 0;              // which of the results is the value of `end`
  bool has_several_results = false;
};

absl::StatusOr<Part> PartOf(const HloModule& module, const std::vector<const HloInstruction*>& region,
                            const HloInstruction* end) {
  KASHI_ASSIGN_OR_RETURN(Submodule submodule, query::ExtractSubmodule(module, region));
  Part part;
  for (const CutValue& cut : submodule.parameters) part.borders.emplace_back(cut.instruction, cut.index);
  const auto& results = submodule.results;
  const auto found = std::find_if(results.begin(), results.end(), [&](const CutValue& result) {
    return result.instruction == end && result.index.empty();
  });
  if (found == results.end()) return FailedPrecondition("%s is no result of its part", end->name());
  part.result = found - results.begin();
  part.has_several_results = results.size() > 1;
  part.module = std::move(submodule.module);
  return part;
}

// Replaces the entry by one with these parameters, of which some may be new, and with the result of the part only.
// `numbers`: the new number of each parameter that there was.
absl::Status GiveParameters(const std::vector<Shape>& shapes, const std::vector<std::string>& names,
                            const std::vector<int64_t>& numbers, Part* part) {
  HloModule* module = part->module.get();
  module->clear_schedule();
  HloComputation* old = module->entry_computation();
  HloComputation::Builder builder(old->name());
  std::vector<HloInstruction*> parameters;
  for (size_t i = 0; i < shapes.size(); ++i) {
    parameters.push_back(
        builder.AddInstruction(HloInstruction::CreateParameter(static_cast<int64_t>(i), shapes[i], names[i])));
  }
  const HloInstruction* result = old->root_instruction();
  if (part->has_several_results) result = result->operand(part->result);
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  for (int64_t i = 0; i < old->num_parameters(); ++i) {
    copies[old->parameter_instruction(i)] = parameters[numbers[i]];
  }
  std::vector<std::pair<HloInstruction*, std::string>> renamed;
  std::vector<const HloInstruction*> needed = RegionBefore(result, [](const HloInstruction*) { return false; });
  if (result->opcode() == HloOpcode::kParameter) needed.clear();
  for (const HloInstruction* x : needed) {
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : x->operands()) operands.push_back(copies.at(operand));
    copies[x] = builder.AddInstruction(x->CloneWithNewOperands(x->shape(), operands, ""));
    renamed.emplace_back(copies[x], x->name());
  }
  for (size_t i = 0; i < parameters.size(); ++i) renamed.emplace_back(parameters[i], names[i]);
  HloComputation* entry = module->AddEmbeddedComputation(builder.Build(copies.at(result)));
  module->ReplaceEntryComputation(entry);
  KASHI_RETURN_IF_ERROR(module->RemoveEmbeddedComputation(old));
  for (const auto& [x, name] : renamed) x->SetAndSanitizeName(name);
  KASHI_RETURN_IF_ERROR(module->RemoveUnusedComputations());
  *module->mutable_entry_computation_layout() = module->compute_computation_layout();
  return absl::OkStatus();
}

// ---- Values at the border -------------------------------------------------------------------------------------------

absl::StatusOr<Literal> ValueAt(const BorderKey& key, const ValueMap& values) {
  const auto found = values.find(key.first);
  if (found == values.end()) return FailedPrecondition("the value of %s is not known", key.first->name());
  Value value = found->second;
  for (const int64_t i : key.second) {
    if (!value.is_tuple()) return FailedPrecondition("the value of %s is no tuple", key.first->name());
    value = Value(value.element(i));
  }
  return value.ToLiteral(ShapeUtil::GetSubshape(key.first->shape(), key.second));
}

// A value that hardly is the value of two instructions by chance.
bool IsTelling(const Value& value) {
  constexpr int64_t kLeastElements = 4;
  if (!value.is_array() || value.element_count() < kLeastElements) return false;
  const int64_t size = value.element_bytes();
  for (int64_t i = 1; i < value.element_count(); ++i) {
    if (std::memcmp(value.bytes(), value.bytes() + i * size, static_cast<size_t>(size)) != 0) return true;
  }
  return false;
}

std::string KeyOf(const Value& value) {
  return absl::StrCat(ShapeUtil::HumanString(value.shape()), " ",
                      base::FingerprintOf({value.bytes(), static_cast<size_t>(value.byte_count())}).ToString());
}

// The instructions of a region that are nearest to its end: all of the same distance, as long as there is room.
std::vector<const HloInstruction*> NearestTo(const HloInstruction* end,
                                             const std::vector<const HloInstruction*>& region, size_t most) {
  const InstructionSet members(region.begin(), region.end());
  InstructionSet near = {end};
  std::vector<const HloInstruction*> last = {end};
  while (!last.empty()) {
    InstructionSet next;
    for (const HloInstruction* x : last) {
      for (const HloInstruction* operand : x->operands()) {
        if (members.contains(operand) && !near.contains(operand)) next.insert(operand);
      }
    }
    if (near.size() + next.size() > most) break;
    near.insert(next.begin(), next.end());
    last.assign(next.begin(), next.end());
  }
  std::vector<const HloInstruction*> result;
  for (const HloInstruction* x : region) {
    if (near.contains(x)) result.push_back(x);
  }
  return result;
}

// ---- Cutting out ----------------------------------------------------------------------------------------------------

class Cutter {
 public:
  Cutter(const ProgramForm& a, const ProgramForm& b, const DifferingPair& pair, const Counterparts& counterparts,
         absl::FunctionRef<bool(const HloInstruction*)> agrees, const Tolerance& tolerance,
         const EvaluationOptions& evaluation)
      : a_(a), b_(b), pair_(pair), counterparts_(counterparts), tolerance_(tolerance), evaluation_(evaluation) {
    for (const auto& [y, x] : counterparts) {
      if (y != pair.b && x != pair.a && agrees(y)) of_b_[y] = x;
    }
  }

  absl::StatusOr<DifferingParts> Cut() {
    KASHI_RETURN_IF_ERROR(ReadValues());
    const Counterparts before = of_b_;
    AddEqualValues();
    absl::StatusOr<DifferingParts> smaller = CutAtCommonBorder();
    if (smaller.ok() || !absl::IsFailedPrecondition(smaller.status()) || of_b_.size() == before.size()) return smaller;
    of_b_ = before;
    return CutAtCommonBorder();
  }

 private:
  std::vector<const HloInstruction*> RegionOfA() const {
    InstructionSet known;
    for (const auto& [y, x] : of_b_) known.insert(x);
    return RegionBefore(pair_.a, [&](const HloInstruction* x) { return known.contains(x) && !opened_.contains(x); });
  }
  std::vector<const HloInstruction*> RegionOfB() const {
    return RegionBefore(pair_.b, [&](const HloInstruction* y) { return of_b_.contains(y) && !opened_.contains(y); });
  }
  // A is right, so its part needs not begin where B's does.
  std::vector<const HloInstruction*> ShortRegionOfA(size_t most) const {
    std::vector<const HloInstruction*> region = RegionOfA();
    return region.size() <= most ? region : NearestTo(pair_.a, region, most);
  }

  // Lets the parts begin a little earlier, if then both begin at the same values: of x - y and x + n, where n = -y, the
  // second one begins at y too. Changes nothing if they do not meet soon.
  void MeetAtTheBorder() {
    constexpr int kMostSteps = 8;
    for (int step = 0; step < kMostSteps; ++step) {
      const InstructionSet of_a = BorderOf(RegionOfA());
      const InstructionSet of_b = BorderOf(RegionOfB());
      InstructionSet in_a;  // B's border
      for (const HloInstruction* y : of_b) {
        const auto partner = of_b_.find(y);
        in_a.insert(partner == of_b_.end() ? y : partner->second);
      }
      if (of_a == in_a) return;
      const size_t before = opened_.size();
      for (const HloInstruction* x : of_a) {
        if (!in_a.contains(x) && CanOpen(x)) opened_.insert(x);
      }
      for (const HloInstruction* y : of_b) {
        const auto partner = of_b_.find(y);
        if (partner != of_b_.end() && !of_a.contains(partner->second) && CanOpen(y)) opened_.insert(y);
      }
      constexpr size_t kMost = 8;
      if (opened_.size() == before || RegionOfA().size() > kMost || RegionOfB().size() > kMost) break;
    }
    opened_.clear();
  }
  static bool CanOpen(const HloInstruction* x) { return x->opcode() != HloOpcode::kParameter; }
  // What instructions of the region depend on, without what ExtractSubmodule copies into the part anyway.
  static InstructionSet BorderOf(const std::vector<const HloInstruction*>& region) {
    const InstructionSet members(region.begin(), region.end());
    InstructionSet border;
    for (const HloInstruction* x : region) {
      for (const HloInstruction* operand : x->operands()) {
        const bool is_broadcast = operand->opcode() == HloOpcode::kBroadcast;
        const HloOpcode opcode = is_broadcast ? operand->operand(0)->opcode() : operand->opcode();
        const bool is_copied = opcode == HloOpcode::kConstant || opcode == HloOpcode::kIota;
        if (!members.contains(operand) && !is_copied) border.insert(operand);
      }
    }
    return border;
  }

  // Those of the regions, and of what they depend on.
  absl::Status ReadValues() {
    const auto with_operands = [](const std::vector<const HloInstruction*>& region) {
      InstructionSet wanted(region.begin(), region.end());
      for (const HloInstruction* x : region) {
        for (const HloInstruction* operand : x->operands()) {
          wanted.insert(operand);
          // An element of a tuple may be cut out of the tuple.
          if (operand->opcode() == HloOpcode::kGetTupleElement) wanted.insert(operand->operand(0));
        }
      }
      return wanted;
    };
    InstructionSet of_a = with_operands(RegionOfA());
    const InstructionSet of_b = with_operands(RegionOfB());
    for (const HloInstruction* y : of_b) {
      const auto partner = counterparts_.find(y);
      if (partner != counterparts_.end()) of_a.insert(partner->second);
    }
    KASHI_ASSIGN_OR_RETURN(values_a_, ValuesUntil(a_, of_a, pair_.a, pair_.occurrence, evaluation_));
    KASHI_ASSIGN_OR_RETURN(values_b_, ValuesUntil(b_, of_b, pair_.b, pair_.occurrence, evaluation_));
    return absl::OkStatus();
  }

  // Instructions in the regions that have exactly one value correspond too, however they compute it.
  void AddEqualValues() {
    std::map<std::string, const HloInstruction*> by_value;
    for (const HloInstruction* x : RegionOfA()) {
      const auto value = values_a_.find(x);
      if (x != pair_.a && value != values_a_.end() && IsTelling(value->second)) by_value[KeyOf(value->second)] = x;
    }
    for (const HloInstruction* y : RegionOfB()) {
      const auto value = values_b_.find(y);
      if (y == pair_.b || value == values_b_.end() || !IsTelling(value->second)) continue;
      const auto found = by_value.find(KeyOf(value->second));
      if (found != by_value.end()) of_b_[y] = found->second;
    }
  }

  absl::StatusOr<DifferingParts> CutAtCommonBorder() {
    MeetAtTheBorder();
    if (!opened_.empty()) {
      KASHI_RETURN_IF_ERROR(ReadValues());
      absl::StatusOr<DifferingParts> parts = CutBetweenKnown();
      if (parts.ok() || !absl::IsFailedPrecondition(parts.status())) return parts;
      opened_.clear();
    }
    return CutBetweenKnown();
  }

  absl::StatusOr<DifferingParts> CutBetweenKnown() {
    const std::vector<const HloInstruction*> region_b = RegionOfB();
    const std::vector<const HloInstruction*> region_a = ShortRegionOfA(std::max(kShort, region_b.size()));
    KASHI_ASSIGN_OR_RETURN(Part a, PartOf(*a_.module, region_a, pair_.a));
    KASHI_ASSIGN_OR_RETURN(Part b, PartOf(*b_.module, region_b, pair_.b));
    DifferingParts parts;
    parts.is_cut = region_a.size() < RegionOfA().size();
    absl::flat_hash_set<std::string> taken;
    for (const Part* part : {&a, &b}) AddInnerNames(*part, &taken);
    std::map<BorderKey, int64_t> numbers;
    std::vector<Shape> shapes;
    std::vector<std::string> names;
    const auto add = [&](const BorderKey& key, const ValueMap& values) -> absl::StatusOr<int64_t> {
      const auto [place, is_new] = numbers.try_emplace(key, static_cast<int64_t>(shapes.size()));
      if (!is_new) return place->second;
      KASHI_ASSIGN_OR_RETURN(Literal value, ValueAt(key, values));
      shapes.push_back(ShapeUtil::GetSubshape(key.first->shape(), key.second));
      names.push_back(UniqueName(key, &taken));
      parts.inputs.push_back(std::move(value));
      return place->second;
    };
    std::vector<int64_t> of_a;
    std::vector<int64_t> of_b;
    for (const BorderKey& key : a.borders) {
      KASHI_ASSIGN_OR_RETURN(of_a.emplace_back(), add(key, values_a_));
    }
    for (const BorderKey& key : b.borders) {
      const std::optional<BorderKey> in_a = BorderInA(key);
      KASHI_ASSIGN_OR_RETURN(of_b.emplace_back(), in_a.has_value() ? add(*in_a, values_a_) : add(key, values_b_));
    }
    KASHI_RETURN_IF_ERROR(GiveParameters(shapes, names, of_a, &a));
    KASHI_RETURN_IF_ERROR(GiveParameters(shapes, names, of_b, &b));
    parts.instructions_a = a.module->entry_computation()->instruction_count() - static_cast<int64_t>(shapes.size());
    parts.instructions_b = b.module->entry_computation()->instruction_count() - static_cast<int64_t>(shapes.size());
    parts.a = std::move(a.module);
    parts.b = std::move(b.module);
    KASHI_RETURN_IF_ERROR(CompareResults(&parts));
    return parts;
  }

  // The value of A that a value at the border of B is, or nearly is.
  std::optional<BorderKey> BorderInA(const BorderKey& key) const {
    const auto partner = counterparts_.find(key.first);
    if (partner == counterparts_.end() || !ShapeUtil::Compatible(partner->second->shape(), key.first->shape())) {
      return std::nullopt;
    }
    const BorderKey in_a = {partner->second, key.second};
    if (of_b_.contains(key.first)) return in_a;
    const absl::StatusOr<Literal> a = ValueAt(in_a, values_a_);
    const absl::StatusOr<Literal> b = ValueAt(key, values_b_);
    if (!a.ok() || !b.ok() || !a->shape().IsArray()) return std::nullopt;
    const absl::StatusOr<OutputComparison> comparison = CompareForms(*a, *b, tolerance_);
    if (!comparison.ok() || comparison->statistics.mismatches > 0) return std::nullopt;
    return in_a;
  }

  static void AddInnerNames(const Part& part, absl::flat_hash_set<std::string>* names) {
    for (const HloComputation* computation : part.module->computations()) {
      for (const HloInstruction* x : computation->instructions()) {
        const bool is_border = computation->IsEntryComputation() && x->opcode() == HloOpcode::kParameter;
        if (!is_border) names->insert(std::string(x->name()));
      }
    }
  }
  static std::string UniqueName(const BorderKey& key, absl::flat_hash_set<std::string>* taken) {
    std::string name(key.first->name());
    for (const int64_t i : key.second) absl::StrAppend(&name, ".", i);
    while (!taken->insert(name).second) absl::StrAppend(&name, ".in");
    return name;
  }

  absl::Status CompareResults(DifferingParts* parts) const {
    KASHI_ASSIGN_OR_RETURN(const auto of_a, RunOn(*parts->a, parts->inputs, "evaluator", evaluation_));
    KASHI_ASSIGN_OR_RETURN(const auto of_b, RunOn(*parts->b, parts->inputs, "evaluator", evaluation_));
    if (of_a.size() != 1 || of_b.size() != 1)
      return FailedPrecondition("the parts have no single array as their result");
    KASHI_ASSIGN_OR_RETURN(parts->comparison, CompareForms(of_a[0], of_b[0], tolerance_));
    if (parts->comparison.statistics.mismatches > 0) return absl::OkStatus();
    return FailedPrecondition("the parts agree");
  }

  const ProgramForm& a_;
  const ProgramForm& b_;
  const DifferingPair& pair_;
  const Counterparts& counterparts_;    // of B's instructions in A
  Counterparts of_b_;                   // those that agree
  InstructionSet opened_;               // of both modules: in the parts although they agree
  static constexpr size_t kShort = 12;  // instructions
  const Tolerance& tolerance_;
  const EvaluationOptions& evaluation_;
  ValueMap values_a_;
  ValueMap values_b_;
};

}  // namespace

std::vector<const HloInstruction*> RegionBefore(const HloInstruction* end,
                                                absl::FunctionRef<bool(const HloInstruction*)> is_known) {
  std::vector<const HloInstruction*> region;
  std::vector<std::pair<const HloInstruction*, size_t>> path = {{end, 0}};  // with the operand that comes next
  InstructionSet seen = {end};
  while (!path.empty()) {
    auto& [x, next] = path.back();
    if (next == x->operands().size()) {
      region.push_back(x);
      path.pop_back();
      continue;
    }
    const HloInstruction* operand = x->operand(static_cast<int64_t>(next++));
    if (operand->opcode() == HloOpcode::kParameter || is_known(operand) || !seen.insert(operand).second) continue;
    path.emplace_back(operand, 0);
  }
  return region;
}

absl::StatusOr<DifferingParts> CutOut(const ProgramForm& a, const ProgramForm& b, const DifferingPair& pair,
                                      const Counterparts& counterparts,
                                      absl::FunctionRef<bool(const HloInstruction* b)> agrees,
                                      const Tolerance& tolerance, const EvaluationOptions& evaluation) {
  return Cutter(a, b, pair, counterparts, agrees, tolerance, evaluation).Cut();
}

}  // namespace kashi::cli
