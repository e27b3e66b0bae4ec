// Patterns of instructions: XLA's `match` vocabulary.
//
//   namespace m = match;
//   HloInstruction *x, *scale;
//   if (Match(instruction, m::Multiply(m::Op(&x), m::Broadcast(m::Constant(&scale)).WithOneUse()))) …
//
// Each operation of ops.def has a function of its name: m::Add() matches any operands; m::Add(lhs, rhs) matches
// operands in this order; m::Add(&found, lhs, rhs) also returns the instruction that matched. A commutative operation
// also has m::AddAnyOrder(lhs, rhs). m::Op() matches any instruction, m::Shape() any shape, m::Layout() any
// layout; the With… and Is… functions of these patterns add conditions. m::AnyOf<HloInstruction>(p, q, …) and
// m::AllOf<HloInstruction>(p, q, …) are patterns, too.
//
// Captures are written only when the whole pattern has matched. With a stream in MatchOption, Match writes
// there why the pattern did not match. DescribeTo and operator<< describe a pattern.
//
// Patterns are values of only three types, so that code with many patterns compiles quickly. Making one costs one or
// two allocations per condition. A pattern may be reused, by several threads if it captures nothing. The recursion
// depth is the depth of the pattern.
//
// Not supported: m::SharedSubpattern, m::OptConvert and similar functions.
#ifndef KASHI_HLO_MATCHER_PATTERN_MATCHER_H_
#define KASHI_HLO_MATCHER_PATTERN_MATCHER_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/literal/literal_util.h"

namespace kashi {

struct MatchOption {
  bool capture = true;
  // Operands must have no other user.
  bool single_user_only = false;
  // Receives the reason why something does not match; null: not needed.
  std::ostream* explain_os = nullptr;
};

namespace pattern_internal {

// One condition on a value. `words` writes its text; lines after the first are indented by this number of spaces.
template <typename Item>
struct Condition {
  std::function<bool(const Item&, const MatchOption&)> is_met;
  std::function<std::string(int indent)> words;
};
template <typename Item>
using Conditions = absl::InlinedVector<std::shared_ptr<const Condition<Item>>, 3>;

// All conditions, in order; the first one that fails gives the reason.
template <typename Item>
bool AreMet(const Conditions<Item>& conditions, const Item& item, const MatchOption& option) {
  for (const auto& condition : conditions) {
    if (!condition->is_met(item, option)) return false;
  }
  return true;
}
// "a shape:\n * with element type f32 AND\n * that is a scalar".
template <typename Item>
std::string Describe(absl::string_view what, const Conditions<Item>& conditions, int indent);
extern template std::string Describe(absl::string_view, const Conditions<Layout>&, int);
extern template std::string Describe(absl::string_view, const Conditions<Shape>&, int);
extern template std::string Describe(absl::string_view, const Conditions<HloInstruction>&, int);

// The common base of the three kinds of patterns. `Self` is the type of the pattern.
template <typename Item, typename Self>
class Pattern {
 public:
  // As Match(), but may write captures even if the whole pattern does not match.
  bool Match(const Item* item, const MatchOption& option) const;
  std::string ToString(int indent = 0) const { return Describe<Item>(Self::kWhat, conditions_, indent); }
  void DescribeTo(std::ostream* out, int indent = 0) const { *out << ToString(indent); }
  friend std::ostream& operator<<(std::ostream& out, const Self& pattern) { return out << pattern.ToString(); }

  // This pattern with one more condition.
  Self With(std::function<bool(const Item&, const MatchOption&)> is_met,
            std::function<std::string(int indent)> words) const {
    Self more(static_cast<const Self&>(*this));
    more.conditions_.push_back(
        std::make_shared<const Condition<Item>>(Condition<Item>{std::move(is_met), std::move(words)}));
    return more;
  }
  Self With(std::function<bool(const Item&, const MatchOption&)> is_met, std::string words) const {
    return With(std::move(is_met), [words = std::move(words)](int) { return words; });
  }
  // Sets where the match is written; null: nowhere. A pointer to pointer to const also works.
  Self Capturing(const Item** captured) const {
    Self more(static_cast<const Self&>(*this));
    more.captured_ = captured;
    return more;
  }

 private:
  Conditions<Item> conditions_;
  const Item** captured_ = nullptr;
};

}  // namespace pattern_internal

class LayoutPattern : public pattern_internal::Pattern<Layout, LayoutPattern> {
 public:
  static constexpr absl::string_view kWhat = "a layout";
  LayoutPattern EqualTo(const Layout* layout) const;
  LayoutPattern WithDenseFormat() const { return *this; }  // every layout is dense
};

class ShapePattern : public pattern_internal::Pattern<Shape, ShapePattern> {
 public:
  static constexpr absl::string_view kWhat = "a shape";
  ShapePattern EqualTo(const Shape* shape) const;  // layouts count
  ShapePattern CompatibleTo(const Shape* shape) const;
  ShapePattern WithElementType(PrimitiveType type) const;
  ShapePattern WithRank(int64_t rank) const;
  ShapePattern WithDims(absl::Span<const int64_t> dimensions) const;
  ShapePattern IsScalar() const;
  ShapePattern IsEffectiveScalar() const;  // all sizes are 1
  ShapePattern IsArray() const;
  ShapePattern IsDenseArray() const { return IsArray(); }
  ShapePattern IsTuple() const;
  ShapePattern WithLayout(const LayoutPattern& layout) const;
  ShapePattern WithLayout(absl::Span<const int64_t> minor_to_major) const;
  ShapePattern WithLayoutEqualTo(const Layout* layout) const;
  ShapePattern WithSubshape(ShapeIndexView index, const ShapePattern& subshape) const;
  ShapePattern WithSubshapeEqualTo(ShapeIndexView index, const Shape* shape) const;
  ShapePattern WithSubshapeCompatibleTo(ShapeIndexView index, const Shape* shape) const;
};

class HloInstructionPattern : public pattern_internal::Pattern<HloInstruction, HloInstructionPattern> {
 public:
  static constexpr absl::string_view kWhat = "an HloInstruction";
  using ReplicaGroupLists = std::vector<std::vector<int64_t>>;

  // ---- What it is.
  HloInstructionPattern WithName(absl::string_view name) const;
  HloInstructionPattern WithOpcode(HloOpcode opcode) const;
  HloInstructionPattern WithoutOpcode(HloOpcode opcode) const;
  HloInstructionPattern WithCustomCallTarget(std::initializer_list<absl::string_view> any_of) const;
  HloInstructionPattern WithCustomCallTarget(absl::string_view target) const { return WithCustomCallTarget({target}); }
  HloInstructionPattern WithPredicate(std::function<bool(const HloInstruction*)> predicate) const;
  // For constants. The value must be equal in the type of the literal and in its own type.
  HloInstructionPattern IsConstant() const { return WithOpcode(HloOpcode::kConstant); }
  HloInstructionPattern IsNonConstant() const { return WithoutOpcode(HloOpcode::kConstant); }
  HloInstructionPattern IsConstantScalar() const { return IsScalarOf(nullptr, /*is_effective=*/false); }
  HloInstructionPattern IsConstantEffectiveScalar() const { return IsScalarOf(nullptr, /*is_effective=*/true); }
  template <typename NativeT>
  HloInstructionPattern IsConstantScalar(const NativeT& value) const {
    return IsScalarOf(ScalarOf(value), /*is_effective=*/false);
  }
  template <typename NativeT>
  HloInstructionPattern IsConstantEffectiveScalar(const NativeT& value) const {
    return IsScalarOf(ScalarOf(value), /*is_effective=*/true);
  }

  // ---- Its shape.
  HloInstructionPattern WithShape(const ShapePattern& shape) const;
  HloInstructionPattern WithShape(PrimitiveType type) const;
  HloInstructionPattern WithShape(PrimitiveType type, absl::Span<const int64_t> dimensions) const;
  HloInstructionPattern WithShape(PrimitiveType type, absl::Span<const int64_t> dimensions,
                                  absl::Span<const int64_t> minor_to_major) const;
  HloInstructionPattern WithShapeEqualTo(const Shape* shape) const;
  HloInstructionPattern WithShapeCompatibleTo(const Shape* shape) const;
  HloInstructionPattern WithElementType(PrimitiveType type) const;

  // ---- Its operands.
  HloInstructionPattern WithNumOperands(int64_t count) const;
  HloInstructionPattern WithOperand(int64_t i, const HloInstructionPattern& operand) const;
  HloInstructionPattern WithOperandIfPresent(int64_t i, const HloInstructionPattern& operand) const;
  // Exactly two operands, in either order.
  HloInstructionPattern WithBinaryOperandsAnyOrder(const HloInstructionPattern& a,
                                                   const HloInstructionPattern& b) const;

  // ---- Its users. One use: one user, which uses it once. The use of a root as the result does not count.
  HloInstructionPattern WithOneUse() const;
  HloInstructionPattern WithOneUser() const { return WithNumUser(1); }
  HloInstructionPattern WithNumUser(int64_t count) const;
  HloInstructionPattern WithAtMostNumUser(int64_t count) const;

  // ---- Its attributes; false for operations that do not have them.
  HloInstructionPattern WithParameterNum(int64_t number) const;
  HloInstructionPattern WithTupleIndex(int64_t index) const;
  HloInstructionPattern WithFusionKind(FusionKind kind) const;
  HloInstructionPattern WithComparisonDirection(ComparisonDirection direction) const;
  HloInstructionPattern WithContractingDims(absl::Span<const int64_t> lhs, absl::Span<const int64_t> rhs) const;
  // "b0f_0io->b0f"; dies if it is invalid.
  HloInstructionPattern WithConvDnums(absl::string_view dim_labels) const;
  HloInstructionPattern WithConvDnums(ConvolutionDimensionNumbers dimension_numbers) const;
  HloInstructionPattern WithReplicaGroups(ReplicaGroupLists groups) const;
  // "{devices=[2,1]0,1}"; dies if it is invalid.
  HloInstructionPattern WithSharding(absl::string_view sharding) const;
  HloInstructionPattern WithControlDeps(absl::Span<HloInstruction* const> predecessors,
                                        absl::Span<HloInstruction* const> successors) const;

 private:
  template <typename NativeT>
  static std::shared_ptr<const Literal> ScalarOf(const NativeT& value) {
    return std::make_shared<const Literal>(LiteralUtil::CreateR0(value));
  }
  HloInstructionPattern IsScalarOf(std::shared_ptr<const Literal> value, bool is_effective) const;
};

extern template class pattern_internal::Pattern<Layout, LayoutPattern>;
extern template class pattern_internal::Pattern<Shape, ShapePattern>;
extern template class pattern_internal::Pattern<HloInstruction, HloInstructionPattern>;

// Whether the pattern matches; only then are captures written. False for a null pointer.
bool Match(const Layout* layout, const LayoutPattern& pattern, MatchOption option = {});
bool Match(const Shape* shape, const ShapePattern& pattern, MatchOption option = {});
bool Match(const HloInstruction* instruction, const HloInstructionPattern& pattern, MatchOption option = {});
// Also requires that every instruction below the top one has a single user.
bool MatchSingleUserOnly(const HloInstruction* instruction, const HloInstructionPattern& pattern);

namespace pattern_internal {

// The pattern type of a kind of value, for AnyOf and AllOf.
template <typename Item>
struct PatternOf;
template <>
struct PatternOf<Layout> {
  using type = LayoutPattern;
};
template <>
struct PatternOf<Shape> {
  using type = ShapePattern;
};
template <>
struct PatternOf<HloInstruction> {
  using type = HloInstructionPattern;
};

template <typename P>
P AnyOfList(std::vector<P> patterns);
template <typename P>
P AllOfList(std::vector<P> patterns);

HloInstructionPattern Operation(HloOpcode opcode, const HloInstruction** captured,
                                absl::Span<const HloInstructionPattern> operands);
HloInstructionPattern OperationAnyOrder(HloOpcode opcode, const HloInstruction** captured,
                                        const HloInstructionPattern& a, const HloInstructionPattern& b);

struct IsCommutative : HloOpcodeFlags {
#define KASHI_OP(op, name, arity, rule, flags, ...) static constexpr bool op = HloOpcodeTraits(flags).Has(kCommutative);
#include "kashi/hlo/ir/ops.def"
};

// The arguments of the functions of operations: patterns, and optionally before them a pointer that receives the match.
template <typename... Args>
inline constexpr bool kAreOperands = ((std::is_convertible_v<Args, HloInstructionPattern> ||
                                       std::is_convertible_v<Args, const HloInstruction* const*>)&&...);

// A pointer to the variable for a captured instruction, which may be const or not.
inline const HloInstruction** Captured(const HloInstruction** captured) { return captured; }
inline const HloInstruction** Captured(HloInstruction** captured) {
  return const_cast<const HloInstruction**>(captured);
}

inline HloInstructionPattern Make(HloOpcode opcode) { return Operation(opcode, nullptr, {}); }
template <typename... Operands>
HloInstructionPattern Make(HloOpcode opcode, const HloInstructionPattern& first, const Operands&... rest) {
  const std::initializer_list<HloInstructionPattern> list = {first, HloInstructionPattern(rest)...};
  return Operation(opcode, nullptr, absl::MakeConstSpan(list.begin(), list.size()));
}
template <typename Instruction, typename... Operands>
HloInstructionPattern Make(HloOpcode opcode, Instruction** captured, const Operands&... operands) {
  const std::initializer_list<HloInstructionPattern> list = {HloInstructionPattern(operands)...};
  return Operation(opcode, Captured(captured), absl::MakeConstSpan(list.begin(), list.size()));
}
inline HloInstructionPattern MakeAnyOrder(HloOpcode opcode, const HloInstructionPattern& a,
                                          const HloInstructionPattern& b) {
  return OperationAnyOrder(opcode, nullptr, a, b);
}
template <typename Instruction>
HloInstructionPattern MakeAnyOrder(HloOpcode opcode, Instruction** captured, const HloInstructionPattern& a,
                                   const HloInstructionPattern& b) {
  return OperationAnyOrder(opcode, Captured(captured), a, b);
}

}  // namespace pattern_internal

namespace match {

// ---- Anything.
inline HloInstructionPattern Op() { return {}; }
inline HloInstructionPattern Op(const HloInstruction** captured) { return Op().Capturing(captured); }
inline HloInstructionPattern Op(HloInstruction** captured) { return Op(pattern_internal::Captured(captured)); }
inline ShapePattern Shape() { return {}; }
inline ShapePattern Shape(const ::kashi::Shape** captured) { return Shape().Capturing(captured); }
inline ShapePattern Shape(::kashi::Shape** captured) { return Shape(const_cast<const ::kashi::Shape**>(captured)); }
inline LayoutPattern Layout() { return {}; }
inline LayoutPattern Layout(const ::kashi::Layout** captured) { return Layout().Capturing(captured); }
inline LayoutPattern Layout(::kashi::Layout** captured) {
  return Layout(const_cast<const ::kashi::Layout**>(captured));
}

// ---- One of several patterns, tried in order; or all of them. Item: HloInstruction, Shape or Layout.
template <typename Item, typename... Patterns>
auto AnyOf(const Patterns&... patterns) {
  using P = typename pattern_internal::PatternOf<std::remove_const_t<Item>>::type;
  return pattern_internal::AnyOfList<P>({P(patterns)...});
}
template <typename Item, typename... Patterns>
HloInstructionPattern AnyOf(HloInstruction** captured, const Patterns&... patterns) {
  return AnyOf<Item>(patterns...).Capturing(pattern_internal::Captured(captured));
}
template <typename Item, typename... Patterns>
auto AllOf(const Patterns&... patterns) {
  using P = typename pattern_internal::PatternOf<std::remove_const_t<Item>>::type;
  return pattern_internal::AllOfList<P>({P(patterns)...});
}

// ---- Operations by their names, from ops.def.
#define KASHI_OP(op, ...)                                                                         \
  template <typename... Args, std::enable_if_t<pattern_internal::kAreOperands<Args...>, int> = 0> \
  HloInstructionPattern op(const Args&... args) {                                                 \
    return pattern_internal::Make(HloOpcode::k##op, args...);                                     \
  }
#include "kashi/hlo/ir/ops.def"
#define KASHI_OP(op, ...)                                                            \
  template <typename... Args, bool is_offered = pattern_internal::IsCommutative::op, \
            std::enable_if_t<is_offered, int> = 0>                                   \
  HloInstructionPattern op##AnyOrder(const Args&... args) {                          \
    return pattern_internal::MakeAnyOrder(HloOpcode::k##op, args...);                \
  }
#include "kashi/hlo/ir/ops.def"

// ---- Operations that differ by more than their operands.
inline HloInstructionPattern Parameter() { return Op().WithOpcode(HloOpcode::kParameter); }
inline HloInstructionPattern Parameter(int64_t number) { return Parameter().WithParameterNum(number); }
template <typename Instruction>
HloInstructionPattern Parameter(Instruction** captured) {
  return Parameter().Capturing(pattern_internal::Captured(captured));
}
template <typename Instruction>
HloInstructionPattern Parameter(Instruction** captured, int64_t number) {
  return Parameter(captured).WithParameterNum(number);
}

inline HloInstructionPattern GetTupleElement() { return Op().WithOpcode(HloOpcode::kGetTupleElement); }
inline HloInstructionPattern GetTupleElement(const HloInstructionPattern& tuple) {
  return GetTupleElement().WithOperand(0, tuple);
}
inline HloInstructionPattern GetTupleElement(const HloInstructionPattern& tuple, int64_t index) {
  return GetTupleElement(tuple).WithTupleIndex(index);
}
template <typename Instruction, typename... Args>
HloInstructionPattern GetTupleElement(Instruction** captured, const Args&... args) {
  return GetTupleElement(args...).Capturing(pattern_internal::Captured(captured));
}

inline HloInstructionPattern CustomCall() { return Op().WithOpcode(HloOpcode::kCustomCall); }
template <typename... Operands>
HloInstructionPattern CustomCall(const HloInstructionPattern& first, const Operands&... rest) {
  return pattern_internal::Make(HloOpcode::kCustomCall, first, rest...);
}
template <typename... Operands>
HloInstructionPattern CustomCall(absl::string_view target, const Operands&... operands) {
  return pattern_internal::Make(HloOpcode::kCustomCall, operands...).WithCustomCallTarget(target);
}
template <typename... Operands>
HloInstructionPattern CustomCall(std::initializer_list<absl::string_view> any_of, const Operands&... operands) {
  return pattern_internal::Make(HloOpcode::kCustomCall, operands...).WithCustomCallTarget(any_of);
}
template <typename Instruction, typename... Args>
HloInstructionPattern CustomCall(Instruction** captured, const Args&... args) {
  return CustomCall(args...).Capturing(pattern_internal::Captured(captured));
}

#define KASHI_MATCH_COMPARISON(name, direction)                   \
  template <typename... Args>                                     \
  HloInstructionPattern name(const Args&... args) {               \
    return pattern_internal::Make(HloOpcode::kCompare, args...)   \
        .WithComparisonDirection(ComparisonDirection::direction); \
  }
KASHI_MATCH_COMPARISON(Eq, kEq)
KASHI_MATCH_COMPARISON(Ne, kNe)
KASHI_MATCH_COMPARISON(Ge, kGe)
KASHI_MATCH_COMPARISON(Gt, kGt)
KASHI_MATCH_COMPARISON(Le, kLe)
KASHI_MATCH_COMPARISON(Lt, kLt)
#undef KASHI_MATCH_COMPARISON
template <typename... Args>
HloInstructionPattern EqAnyOrder(const Args&... args) {
  return pattern_internal::MakeAnyOrder(HloOpcode::kCompare, args...).WithComparisonDirection(ComparisonDirection::kEq);
}
template <typename... Args>
HloInstructionPattern NeAnyOrder(const Args&... args) {
  return pattern_internal::MakeAnyOrder(HloOpcode::kCompare, args...).WithComparisonDirection(ComparisonDirection::kNe);
}

// Constant scalars, and constant arrays with one element; with a value: equal to it.
#define KASHI_MATCH_SCALAR(name)                                             \
  inline HloInstructionPattern name() { return Op().Is##name(); }            \
  template <typename Instruction>                                            \
  HloInstructionPattern name(Instruction** captured) {                       \
    return Op(captured).Is##name();                                          \
  }                                                                          \
  template <typename NativeT>                                                \
  HloInstructionPattern name(const NativeT& value) {                         \
    return Op().Is##name(value);                                             \
  }                                                                          \
  template <typename Instruction, typename NativeT>                          \
  HloInstructionPattern name(Instruction** captured, const NativeT& value) { \
    return Op(captured).Is##name(value);                                     \
  }
KASHI_MATCH_SCALAR(ConstantScalar)
KASHI_MATCH_SCALAR(ConstantEffectiveScalar)
#undef KASHI_MATCH_SCALAR
inline HloInstructionPattern NonConstant() { return Op().IsNonConstant(); }
template <typename Instruction>
HloInstructionPattern NonConstant(Instruction** captured) {
  return Op(captured).IsNonConstant();
}

}  // namespace match
}  // namespace kashi

#endif  // KASHI_HLO_MATCHER_PATTERN_MATCHER_H_
