#include "cli/module_diff.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/elided_constant.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

using hlo::IsElidedConstant;
namespace {

using InstructionMap = absl::flat_hash_map<const HloInstruction*, const HloInstruction*>;

// The operation without names: "dot(, ), lhs_contracting_dims={1}, …".
std::string OperationText(const HloInstruction& instruction) {
  static const HloPrintOptions options =
      HloPrintOptions::Canonical()
          .set_print_subcomputation_mode(HloPrintOptions::PrintSubcomputationMode::kOff)
          .set_print_result_shape(false)
          .set_print_operand_shape(false)
          .set_print_backend_config(true)
          .set_print_original_value(false)
          .set_syntax_sugar_async_ops(false);
  return instruction.ToString(options);
}

// The attributes: the text after the operands, which have no names there.
std::string AttributesOf(const HloInstruction& instruction) {
  const std::string text = OperationText(instruction);
  const size_t end = text.find("), ");
  return end == std::string::npos ? "none" : text.substr(end + 3);
}

// ---- Instructions ---------------------------------------------------------------------------------------------------

class ComputationMatcher {
 public:
  // Adds the pairs to `counterparts`.
  ComputationMatcher(const HloComputation& a, const HloComputation& b, bool with_layouts, InstructionMap* counterparts)
      : a_(a), b_(b), with_layouts_(with_layouts), counterparts_(*counterparts) {
    for (const HloInstruction* x : a.MakeInstructionPostOrder()) order_a_.push_back(x);
    for (const HloInstruction* x : b.MakeInstructionPostOrder()) order_b_.push_back(x);
    for (const auto* order : {&order_a_, &order_b_}) {
      for (const HloInstruction* x : *order) operations_[x] = OperationOf(*x);
    }
  }

  ComputationDiff Match();

 private:
  enum class Operands { kSame, kAny };
  using Key = std::pair<absl::string_view, std::vector<const HloInstruction*>>;

  std::string ShapeText(const HloInstruction& x) const { return x.shape().ToString(with_layouts_); }
  std::string OperationOf(const HloInstruction& x) const;
  bool SameOperation(const HloInstruction* x, const HloInstruction* y) const {
    return operations_.find(x)->second == operations_.find(y)->second;
  }
  bool SameOperands(const HloInstruction& x, const HloInstruction& y) const;
  const HloInstruction* CounterpartOf(const HloInstruction* x) const {
    const auto found = counterparts_.find(x);
    return found == counterparts_.end() ? nullptr : found->second;
  }
  bool IsFree(const HloInstruction* x, const HloInstruction* y) const {
    return y != nullptr && counterparts_.count(x) == 0 && taken_.count(y) == 0;
  }
  void Pair(const HloInstruction* x, const HloInstruction* y) {
    counterparts_[x] = y;
    taken_.insert(y);
  }

  void PairParameters();
  template <typename Condition>
  void PairByName(Condition condition);
  void PairByOperation(Operands operands);
  ComputationDiff Collect() const;
  void AddChanges(const HloInstruction& x, const HloInstruction& y, ComputationDiff* diff) const;

  const HloComputation& a_;
  const HloComputation& b_;
  const bool with_layouts_;
  InstructionMap& counterparts_;
  std::vector<const HloInstruction*> order_a_;
  std::vector<const HloInstruction*> order_b_;
  absl::flat_hash_map<const HloInstruction*, std::string> operations_;
  absl::flat_hash_set<const HloInstruction*> taken_;  // of b
};

std::string ComputationMatcher::OperationOf(const HloInstruction& x) const {
  std::string text = absl::StrCat(ShapeText(x), " ", OperationText(x));
  // The text lacks the values of large constants.
  if (IsElidedConstant(x)) {
    absl::StrAppend(&text, "#elided");
  } else if (x.IsConstant()) {
    absl::StrAppend(&text, "#", absl::HashOf(LiteralBase::AbslHashable<false>(x.literal())));
  }
  return text;
}

bool ComputationMatcher::SameOperands(const HloInstruction& x, const HloInstruction& y) const {
  if (x.operand_count() != y.operand_count()) return false;
  for (int64_t i = 0; i < x.operand_count(); ++i) {
    if (CounterpartOf(x.operand(i)) != y.operand(i)) return false;
  }
  return true;
}

void ComputationMatcher::PairParameters() {
  for (int64_t i = 0; i < std::min(a_.num_parameters(), b_.num_parameters()); ++i) {
    Pair(a_.parameter_instruction(i), b_.parameter_instruction(i));
  }
}

template <typename Condition>
void ComputationMatcher::PairByName(Condition condition) {
  absl::flat_hash_map<absl::string_view, const HloInstruction*> by_name;
  for (const HloInstruction* y : order_b_) by_name[y->name()] = y;
  for (const HloInstruction* x : order_a_) {
    const auto found = by_name.find(x->name());
    if (found != by_name.end() && IsFree(x, found->second) && condition(x, found->second)) Pair(x, found->second);
  }
}

void ComputationMatcher::PairByOperation(Operands operands) {
  absl::flat_hash_map<Key, std::vector<const HloInstruction*>> waiting;  // last first
  for (auto y = order_b_.rbegin(); y != order_b_.rend(); ++y) {
    if (taken_.count(*y) > 0) continue;
    Key key{operations_[*y], {}};
    if (operands == Operands::kSame) key.second.assign((*y)->operands().begin(), (*y)->operands().end());
    waiting[std::move(key)].push_back(*y);
  }
  for (const HloInstruction* x : order_a_) {
    if (counterparts_.count(x) > 0) continue;
    Key key{operations_[x], {}};
    if (operands == Operands::kSame) {
      for (const HloInstruction* operand : x->operands()) key.second.push_back(CounterpartOf(operand));
    }
    const auto found = waiting.find(key);
    if (found == waiting.end() || found->second.empty()) continue;
    Pair(x, found->second.back());
    found->second.pop_back();
  }
}

ComputationDiff ComputationMatcher::Match() {
  PairParameters();
  PairByName([&](const auto* x, const auto* y) { return SameOperation(x, y) && SameOperands(*x, *y); });
  PairByOperation(Operands::kSame);
  PairByName([](const auto* x, const auto* y) { return x->opcode() == y->opcode(); });
  PairByOperation(Operands::kAny);
  if (IsFree(a_.root_instruction(), b_.root_instruction())) Pair(a_.root_instruction(), b_.root_instruction());
  PairByName([](const auto*, const auto*) { return true; });
  return Collect();
}

std::string OperandNames(const HloInstruction& x) {
  const auto name = [](std::string* out, const HloInstruction* operand) { absl::StrAppend(out, operand->name()); };
  return absl::StrCat("(", absl::StrJoin(x.operands(), ", ", name), ")");
}

void ComputationMatcher::AddChanges(const HloInstruction& x, const HloInstruction& y, ComputationDiff* diff) const {
  const auto add = [&](absl::string_view what, std::string from, std::string to) {
    diff->changes.push_back({&x, &y, std::string(what), std::move(from), std::move(to)});
  };
  if (!SameOperands(x, y)) add("operands", OperandNames(x), OperandNames(y));
  if (SameOperation(&x, &y)) return;
  const std::string shape_x = ShapeText(x);
  const std::string shape_y = ShapeText(y);
  if (shape_x != shape_y) add("shape", shape_x, shape_y);
  if (x.opcode() != y.opcode()) {
    return add("opcode", std::string(HloOpcodeString(x.opcode())), std::string(HloOpcodeString(y.opcode())));
  }
  const std::string text_x = OperationText(x);
  const std::string text_y = OperationText(y);
  if (IsElidedConstant(x) != IsElidedConstant(y)) {
    return add("value", IsElidedConstant(x) ? "elided" : "known", IsElidedConstant(y) ? "elided" : "known");
  }
  if (x.IsConstant() && (text_x != text_y || shape_x == shape_y)) return add("value", text_x, text_y);
  if (text_x != text_y) add("attributes", AttributesOf(x), AttributesOf(y));
}

ComputationDiff ComputationMatcher::Collect() const {
  ComputationDiff diff{&a_, &b_, {}, {}, {}};
  for (const HloInstruction* x : order_a_) {
    if (const HloInstruction* y = CounterpartOf(x)) {
      AddChanges(*x, *y, &diff);
    } else {
      diff.only_a.push_back(x);
    }
  }
  for (const HloInstruction* y : order_b_) {
    if (taken_.count(y) == 0) diff.only_b.push_back(y);
  }
  const HloInstruction* root = a_.root_instruction();
  if (CounterpartOf(root) != b_.root_instruction()) {
    diff.changes.push_back(
        {root, b_.root_instruction(), "root", std::string(root->name()), std::string(b_.root_instruction()->name())});
  }
  return diff;
}

// ---- Computations ---------------------------------------------------------------------------------------------------

class ModuleMatcher {
 public:
  ModuleMatcher(const HloModule& a, const HloModule& b, bool with_layouts)
      : a_(a), b_(b), with_layouts_(with_layouts) {}

  ModuleDiff Match();

 private:
  void Pair(const HloComputation* x, const HloComputation* y);
  void PairCalleesOf(const HloComputation& computation);
  void AddCallChanges();
  void AddNamesakes();
  void CountRenamed();

  const HloModule& a_;
  const HloModule& b_;
  const bool with_layouts_;
  absl::flat_hash_map<const HloComputation*, const HloComputation*> counterparts_;
  absl::flat_hash_set<const HloComputation*> taken_;  // of b
  ModuleDiff diff_;
};

// Does nothing if one of them has a counterpart already.
void ModuleMatcher::Pair(const HloComputation* x, const HloComputation* y) {
  if (counterparts_.count(x) > 0 || taken_.count(y) > 0) return;
  counterparts_[x] = y;
  taken_.insert(y);
  diff_.computations.push_back(ComputationMatcher(*x, *y, with_layouts_, &diff_.counterparts).Match());
}

void ModuleMatcher::PairCalleesOf(const HloComputation& computation) {
  for (const HloInstruction* x : computation.instructions()) {
    const auto y = diff_.counterparts.find(x);
    if (y == diff_.counterparts.end()) continue;
    const auto callees_x = x->called_computations();
    const auto callees_y = y->second->called_computations();
    for (size_t i = 0; i < std::min(callees_x.size(), callees_y.size()); ++i) Pair(callees_x[i], callees_y[i]);
  }
}

// The computations that paired instructions call must be paired.
void ModuleMatcher::AddCallChanges() {
  const auto names = [](absl::Span<HloComputation* const> callees) {
    return absl::StrJoin(callees, ", ", [](std::string* out, const auto* c) { absl::StrAppend(out, c->name()); });
  };
  for (ComputationDiff& computation : diff_.computations) {
    for (const HloInstruction* x : computation.a->instructions()) {
      const auto y = diff_.counterparts.find(x);
      if (y == diff_.counterparts.end()) continue;
      const auto callees_x = x->called_computations();
      const auto callees_y = y->second->called_computations();
      bool same = callees_x.size() == callees_y.size();
      for (size_t i = 0; same && i < callees_x.size(); ++i) same = counterparts_[callees_x[i]] == callees_y[i];
      if (!same) computation.changes.push_back({x, y->second, "calls", names(callees_x), names(callees_y)});
    }
  }
}

void ModuleMatcher::AddNamesakes() {
  absl::flat_hash_map<absl::string_view, const HloInstruction*> by_name;
  for (const HloComputation* computation : b_.computations()) {
    for (const HloInstruction* y : computation->instructions()) by_name[y->name()] = y;
  }
  for (const auto& [x, y] : diff_.counterparts) by_name.erase(y->name());
  for (const HloComputation* computation : a_.computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      const auto found = by_name.find(x->name());
      if (found == by_name.end() || diff_.counterparts.count(x) > 0) continue;
      const HloInstruction* y = found->second;
      const bool is_same = x->opcode() == y->opcode() && x->opcode() != HloOpcode::kParameter &&
                           x->metadata().op_name() == y->metadata().op_name();
      if (is_same) diff_.namesakes[x] = y;
    }
  }
}

void ModuleMatcher::CountRenamed() {
  for (const auto& [x, y] : diff_.counterparts) diff_.renamed += x->name() == y->name() ? 0 : 1;
}

ModuleDiff ModuleMatcher::Match() {
  Pair(a_.entry_computation(), b_.entry_computation());
  // The list grows during the loop.
  for (size_t i = 0; i < diff_.computations.size(); ++i) PairCalleesOf(*diff_.computations[i].a);
  absl::flat_hash_map<absl::string_view, const HloComputation*> by_name;
  for (const HloComputation* y : b_.computations()) by_name[y->name()] = y;
  for (const HloComputation* x : a_.computations()) {
    const auto found = by_name.find(x->name());
    if (found != by_name.end()) Pair(x, found->second);
  }
  for (const HloComputation* x : a_.computations()) {
    if (counterparts_.count(x) == 0) diff_.only_a.push_back(x);
  }
  for (const HloComputation* y : b_.computations()) {
    if (taken_.count(y) == 0) diff_.only_b.push_back(y);
  }
  AddCallChanges();
  AddNamesakes();
  CountRenamed();
  return std::move(diff_);
}

}  // namespace

int64_t ModuleDiff::size() const {
  int64_t size = static_cast<int64_t>(only_a.size() + only_b.size());
  for (const ComputationDiff& computation : computations) size += static_cast<int64_t>(computation.size());
  return size;
}

ModuleDiff DiffModules(const HloModule& a, const HloModule& b, bool with_layouts) {
  return ModuleMatcher(a, b, with_layouts).Match();
}

}  // namespace kashi::cli
