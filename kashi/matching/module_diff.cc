#include "kashi/matching/module_diff.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/elided_constant.h"
#include "kashi/matching/module_matcher.h"
#include "kashi/matching/operation_text.h"
#include "kashi/matching/value_graph.h"

namespace kashi::matching {

using hlo::IsElidedConstant;
namespace {

std::string OperandNames(const HloInstruction& x) {
  const auto name = [](std::string* out, const HloInstruction* operand) { absl::StrAppend(out, operand->name()); };
  return absl::StrCat("(", absl::StrJoin(x.operands(), ", ", name), ")");
}

std::string CalleeNames(const HloInstruction& x) {
  const auto name = [](std::string* out, const HloComputation* callee) { absl::StrAppend(out, callee->name()); };
  return absl::StrJoin(x.called_computations(), ", ", name);
}

class Differ {
 public:
  Differ(const HloModule& a, const HloModule& b, bool with_layouts)
      : a_(a, with_layouts), b_(b, with_layouts), with_layouts_(with_layouts), matcher_(a_, b_) {
    matcher_.Match();
  }

  ModuleDiff Diff();

 private:
  enum class Side { kA, kB };

  std::string ShapeText(const HloInstruction& x) const { return x.shape().ToString(with_layouts_); }
  const Pairing& pairing() const { return matcher_.pairing(); }
  bool HasPartner(const HloComputation* c, Side side) const {
    return (side == Side::kA ? matcher_.PartnerOfA(c) : matcher_.PartnerOfB(c)) != nullptr;
  }
  const HloComputation* PlaceOf(NodeId node, Side side) const;
  bool IsTold(NodeId node, Side side) const;
  NodeId BehindCopies(NodeId node, Side side) const;
  bool OperandsCorrespond(NodeId a, NodeId b) const;
  bool HaveSameValue(NodeId a, NodeId b) const;
  bool CalleesCorrespond(const HloInstruction& x, const HloInstruction& y) const;
  bool IsForwardedParameter(const ValueGraph& graph, NodeId node) const {
    return !graph.IsValue(node) && graph.instruction(node).opcode() == HloOpcode::kParameter;
  }
  void AddChanges(NodeId a, NodeId b, ComputationDiff* diff) const;
  void AddOperationChanges(const HloInstruction& x, const HloInstruction& y, bool follows, ComputationDiff* diff) const;
  bool ShapeFollowsOperand(NodeId a, NodeId b) const;
  void AddRootChange(ComputationDiff* diff) const;
  void AddInstructions(ModuleDiff* diff) const;
  void AddComputations(ModuleDiff* diff) const;

  const ValueGraph a_;
  const ValueGraph b_;
  const bool with_layouts_;
  ModuleMatcher matcher_;
};

// The computation under which an instruction is told: its own if that has a counterpart, otherwise the one with the
// outermost fusion or call around it. Null: none of them has one.
const HloComputation* Differ::PlaceOf(NodeId node, Side side) const {
  const ValueGraph& graph = side == Side::kA ? a_ : b_;
  const HloComputation* own = graph.instruction(node).parent();
  if (HasPartner(own, side)) return own;
  if (graph.RegionOf(own) >= 0) return nullptr;
  const auto& regions = graph.regions();
  const auto region = std::upper_bound(regions.begin(), regions.end(), node,
                                       [](NodeId n, const ValueGraph::Region& r) { return n < r.end; });
  return HasPartner(region->computation, side) ? region->computation : nullptr;
}

// Whether an instruction without a partner is a difference of its own: not what forwards values into, or within, a
// fusion, because the fusion is told.
bool Differ::IsTold(NodeId node, Side side) const {
  const ValueGraph& graph = side == Side::kA ? a_ : b_;
  if (graph.IsValue(node) || graph.IsTransparentCall(node)) return true;
  return !IsForwardedParameter(graph, node) && HasPartner(graph.instruction(node).parent(), side);
}

// The value that a copy without a partner copies.
NodeId Differ::BehindCopies(NodeId node, Side side) const {
  const ValueGraph& graph = side == Side::kA ? a_ : b_;
  const auto is_free = [&](NodeId n) { return (side == Side::kA ? pairing().OfA(n) : pairing().OfB(n)) == kNoNode; };
  while (is_free(node)) {
    const HloOpcode opcode = graph.instruction(node).opcode();
    const bool copies = opcode == HloOpcode::kCopy || opcode == HloOpcode::kCopyStart || opcode == HloOpcode::kCopyDone;
    if (!copies) break;
    node = graph.operands(node)[0];
  }
  return node;
}

bool Differ::OperandsCorrespond(NodeId a, NodeId b) const {
  const HloInstruction& x = a_.instruction(a);
  const HloInstruction& y = b_.instruction(b);
  if (x.operand_count() != y.operand_count()) return false;
  for (int64_t i = 0; i < x.operand_count(); ++i) {
    const NodeId operand_a = a_.NodeOf(x.operand(i));
    const NodeId operand_b = b_.NodeOf(y.operand(i));
    if (pairing().ArePaired(operand_a, operand_b)) continue;
    const bool both_have_others = pairing().OfA(operand_a) != kNoNode && pairing().OfB(operand_b) != kNoNode;
    const bool have_moved = matcher_.PartnerOfA(x.parent()) != y.parent();
    if (!HaveSameValue(a_.value(operand_a), b_.value(operand_b)) || (both_have_others && !have_moved)) return false;
  }
  return true;
}

// Whether two values correspond, but for copies, or one of them is a duplicate that the other module does not have.
bool Differ::HaveSameValue(NodeId a, NodeId b) const {
  const bool is_duplicate =
      (pairing().OfA(a) == kNoNode || pairing().OfB(b) == kNoNode) && a_.structure_above(a) == b_.structure_above(b);
  return is_duplicate || pairing().ArePaired(BehindCopies(a, Side::kA), BehindCopies(b, Side::kB));
}

bool Differ::CalleesCorrespond(const HloInstruction& x, const HloInstruction& y) const {
  const auto of_x = x.called_computations();
  const auto of_y = y.called_computations();
  if (of_x.size() != of_y.size()) return false;
  for (size_t i = 0; i < of_x.size(); ++i) {
    if (matcher_.PartnerOfA(of_x[i]) != of_y[i]) return false;
  }
  return true;
}

// Whether only the layout or the type differs, as it does for an operand.
bool Differ::ShapeFollowsOperand(NodeId a, NodeId b) const {
  const HloInstruction& x = a_.instruction(a);
  const HloInstruction& y = b_.instruction(b);
  if (!ShapeUtil::CompatibleIgnoringElementType(x.shape(), y.shape()) || x.operand_count() != y.operand_count()) {
    return false;
  }
  for (int64_t i = 0; i < x.operand_count(); ++i) {
    const bool is_pair = pairing().ArePaired(a_.NodeOf(x.operand(i)), b_.NodeOf(y.operand(i)));
    if (is_pair && ShapeText(*x.operand(i)) != ShapeText(*y.operand(i))) return true;
  }
  return false;
}

void Differ::AddChanges(NodeId a, NodeId b, ComputationDiff* diff) const {
  const HloInstruction& x = a_.instruction(a);
  const HloInstruction& y = b_.instruction(b);
  // The operands of the fusion tell what its parameters are.
  if (IsForwardedParameter(a_, a) && IsForwardedParameter(b_, b)) return;
  const auto add = [&](absl::string_view what, std::string from, std::string to, bool is_consequence = false) {
    diff->changes.push_back({&x, &y, std::string(what), std::move(from), std::move(to), is_consequence});
  };
  if (matcher_.PartnerOfA(x.parent()) != y.parent()) {
    const bool is_fusion_new = !HasPartner(y.parent(), Side::kB) || !HasPartner(x.parent(), Side::kA);
    add("moved", std::string(x.parent()->name()), std::string(y.parent()->name()), is_fusion_new);
  }
  // Another operation has other operands.
  if (x.opcode() == y.opcode() && !OperandsCorrespond(a, b)) add("operands", OperandNames(x), OperandNames(y));
  AddOperationChanges(x, y, ShapeFollowsOperand(a, b), diff);
  if (!CalleesCorrespond(x, y)) add("calls", CalleeNames(x), CalleeNames(y));
}

void Differ::AddOperationChanges(const HloInstruction& x, const HloInstruction& y, bool follows,
                                 ComputationDiff* diff) const {
  if (a_.operation(a_.NodeOf(&x)) == b_.operation(b_.NodeOf(&y))) return;
  const auto add = [&](absl::string_view what, std::string from, std::string to, bool is_consequence = false) {
    diff->changes.push_back({&x, &y, std::string(what), std::move(from), std::move(to), is_consequence});
  };
  const std::string shape_x = ShapeText(x);
  const std::string shape_y = ShapeText(y);
  if (shape_x != shape_y) add("shape", shape_x, shape_y, follows);
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

void Differ::AddRootChange(ComputationDiff* diff) const {
  const HloInstruction* x = diff->a->root_instruction();
  const HloInstruction* y = diff->b->root_instruction();
  const NodeId a = a_.NodeOf(x);
  const NodeId b = b_.NodeOf(y);
  if (pairing().ArePaired(a, b)) return;
  const bool is_told = pairing().OfA(a) == kNoNode || pairing().OfB(b) == kNoNode;
  if (is_told && HaveSameValue(a_.value(a), b_.value(b))) return;
  diff->changes.push_back({x, y, "root", std::string(x->name()), std::string(y->name())});
}

void Differ::AddInstructions(ModuleDiff* diff) const {
  absl::flat_hash_map<const HloComputation*, ComputationDiff*> by_a;
  absl::flat_hash_map<const HloComputation*, ComputationDiff*> by_b;
  for (ComputationDiff& each : diff->computations) by_a[each.a] = by_b[each.b] = &each;
  for (NodeId a = 0; a < a_.size(); ++a) {
    const HloComputation* place = PlaceOf(a, Side::kA);
    const NodeId b = pairing().OfA(a);
    if (b != kNoNode) {
      const HloInstruction& x = a_.instruction(a);
      const HloInstruction& y = b_.instruction(b);
      diff->counterparts[&x] = &y;
      diff->renamed += x.name() == y.name() ? 0 : 1;
      const HloComputation* place_b = PlaceOf(b, Side::kB);
      ComputationDiff* told = place != nullptr ? by_a.at(place) : place_b != nullptr ? by_b.at(place_b) : nullptr;
      AddChanges(a, b, told != nullptr ? told : &diff->computations.front());
    } else if (place != nullptr && IsTold(a, Side::kA)) {
      by_a.at(place)->only_a.push_back(&a_.instruction(a));
    }
  }
  for (NodeId b = 0; b < b_.size(); ++b) {
    const HloComputation* place = PlaceOf(b, Side::kB);
    if (pairing().OfB(b) == kNoNode && place != nullptr && IsTold(b, Side::kB)) {
      by_b.at(place)->only_b.push_back(&b_.instruction(b));
    }
  }
}

void Differ::AddComputations(ModuleDiff* diff) const {
  for (const auto& [a, b] : matcher_.computations()) diff->computations.push_back({a, b, {}, {}, {}});
  for (const ValueGraph::Region& region : a_.regions()) {
    if (!HasPartner(region.computation, Side::kA)) diff->only_a.push_back(region.computation);
  }
  for (const ValueGraph::Region& region : b_.regions()) {
    if (!HasPartner(region.computation, Side::kB)) diff->only_b.push_back(region.computation);
  }
}

ModuleDiff Differ::Diff() {
  ModuleDiff diff;
  AddComputations(&diff);
  AddInstructions(&diff);
  for (ComputationDiff& each : diff.computations) AddRootChange(&each);
  return diff;
}

}  // namespace

int64_t ModuleDiff::size() const {
  int64_t size = static_cast<int64_t>(only_a.size() + only_b.size());
  for (const ComputationDiff& computation : computations) size += static_cast<int64_t>(computation.size());
  return size;
}

ModuleDiff DiffModules(const HloModule& a, const HloModule& b, bool with_layouts) {
  return Differ(a, b, with_layouts).Diff();
}

}  // namespace kashi::matching
