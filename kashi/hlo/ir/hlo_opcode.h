// The operations of HLO: enum HloOpcode and the properties of each opcode from ops.def.
#ifndef KASHI_HLO_IR_HLO_OPCODE_H_
#define KASHI_HLO_IR_HLO_OPCODE_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kashi {

enum class HloOpcode : uint8_t {
#define KASHI_OP(op, ...) k##op,
#include "kashi/hlo/ir/ops.def"
};

// An attribute in text (attributes.def).
enum class HloAttribute : uint8_t {
#define KASHI_ATTRIBUTE(identifier, ...) identifier,
#include "kashi/hlo/ir/attributes.def"
};

// How a call of another computation runs it: for each element (map, reduce, fusion), once in full (call, while), or
// either.
enum class CallContext { kEmbedded, kControlFlow, kBoth, kNone };

// The properties of an operation in ops.def, besides its shape rule and attributes: flags, and one rule of each kind. A
// row has only what differs from the default. The default fits an operation that makes a new array from its operands.
struct HloOpcodeFlags {
  static constexpr uint32_t kElementwise = 1 << 0;
  // The reader infers a result shape that the text leaves out (docs/spec/hlo.md 1.2).
  static constexpr uint32_t kInferable = 1 << 1;
  static constexpr uint32_t kCommutative = 1 << 2;
  // Floating point operands may be of different types (hlo-ops.md 0.2, point 6).
  static constexpr uint32_t kMixedPrecision = 1 << 3;
  // The layout may differ from the operands' layouts (0.2, point 9).
  static constexpr uint32_t kMayChangeLayout = 1 << 4;
  // A layout-sensitive verifier requires exactly the inferred shape (0.2, point 5), …
  static constexpr uint32_t kExactLayout = 1 << 5;
  // … but compares only minor_to_major of the layout.
  static constexpr uint32_t kMinorToMajorOnly = 1 << 6;
  static constexpr uint32_t kCollective = 1 << 7;       // runs on all members of a group at once
  static constexpr uint32_t kEmbeddedCall = 1 << 8;     // calls a computation for each element (CallContext::kEmbedded)
  static constexpr uint32_t kControlFlow = 1 << 9;      // calls computations as a whole (CallContext::kControlFlow)
  static constexpr uint32_t kTranscendental = 1 << 10;  // counted as such by the cost analysis
  static constexpr uint32_t kAsync = 1 << 11;           // async-start, -update, -done
  static constexpr uint32_t kSideEffect = 1 << 12;      // moves data from or to a host
  static constexpr uint32_t kToken = 1 << 13;           // the result is a token, for any text
  static constexpr uint32_t kRandom = 1 << 14;
  // A layout-sensitive verifier allows different element sizes in the layouts of the result and of the operands.
  static constexpr uint32_t kElementSizeFree = 1 << 15;
  // The layout may differ from the operands' layouts unless `constrain_layout` is set.
  static constexpr uint32_t kLayoutFreeUnlessConstrained = 1 << 16;
  // The result consists of unchanged elements of the operands.
  static constexpr uint32_t kMovesElements = 1 << 17;
  // The result is operand 0, an array or a tuple; the operation only waits for the other operands.
  static constexpr uint32_t kForwardsOperand = 1 << 18;
  // Computes nothing: the values are given, or they are an operand's values with a new name, type, layout or shape.
  static constexpr uint32_t kKeepsValues = 1 << 19;
  // Operands, or the result, may be tuples or tokens.
  static constexpr uint32_t kTakesTuples = 1 << 20;
  // XlaBuilder::IsConstant is false for all operands (hlo-ops.md 0.2).
  static constexpr uint32_t kNeverConstant = 1 << 21;
  // A half of an asynchronous collective. It has a side effect.
  static constexpr uint32_t kAsyncCollective = 1 << 22;
  // HloElementTypeConverter does not change it: it forwards values, its types are visible outside of the module, or its
  // computations are converted instead.
  static constexpr uint32_t kKeepsTypes = 1 << 23;
  // The result may hold a `b(…)`.
  static constexpr uint32_t kMayHoldBuffers = 1 << 24;
  // If the text has several `dimensions`, the first one counts.
  static constexpr uint32_t kFirstDimensionOnly = 1 << 25;

  // Rules with one function each, in the files that op_rules.def names.
  enum class Cost : uint8_t {
    kDefault,  // elementwise: flops or transcendentals; others: only bytes
#define KASHI_COST_RULE(name) k##name,
#include "kashi/hlo/ir/op_rules.def"
  };
  enum class Requirement : uint8_t {
    kDefault,  // nothing
#define KASHI_REQUIREMENT_RULE(name) k##name,
#include "kashi/hlo/ir/op_rules.def"
  };
  enum class Constraint : uint8_t {
    kDefault,  // a constraint on the result is dropped
#define KASHI_CONSTRAINT_RULE(name) k##name,
#include "kashi/hlo/ir/op_rules.def"
  };
  enum class TextCheck : uint8_t {
    kDefault,  // nothing more
#define KASHI_TEXT_CHECK(name) k##name,
#include "kashi/hlo/ir/op_rules.def"
  };

  // The origin of the buffers of the result and of their contents.
  enum class Flow : uint8_t {
    kDefault,      // they are new
    kOperand,      // operand 0 with all its parts
    kTuple,        // the operands, one for each element
    kElement,      // an element of operand 0
    kEachOperand,  // new; for several operands a tuple with one result for each
    kCopy,         // new; for a tuple only the table is new
    kCopyStart,    // (new, operand 0, new)
    kCopyDone,     // element 0 of operand 0
    kStart,        // (operands, new, …)
    kDone,         // element 1 of operand 0
    kAsyncStart,   // ((operands), result of the computation, …)
    kAsyncDone,    // element 1 of operand 0
    kSend,         // (operand 0, new, new)
    kRecvDone,     // (element 0 of operand 0, new)
    kCallee,       // the result of one of the computations
    kLoop,         // operand 0, or the result of the body
  };
  // Which operands and results must have the same buffer.
  enum class InPlace : uint8_t {
    kDefault,       // none
    kFirst,         // operand 0
    kSecond,        // operand 1
    kAll,           // each operand with its element of the result
    kScatter,       // the operands that are updated
    kResize,        // operand 0, if the buffer keeps its size
    kPermute,       // operand 1, if there are offsets
    kPermuteStart,  // the same, with element 1 of the result
  };
  // Which operands may have the same buffer as the result.
  enum class Sharing : uint8_t {
    kDefault,  // those of elementwise operations
    kAlways,
    kFirst,   // operand 0, if the value is not another operand too
    kSecond,  // operand 1, likewise
    kSort,    // an operand with its own element of the result
    kCall,    // as in the computation
    kFusion,  // as in the computation, if it works element by element
  };
  // The neutral element of an associative and commutative operation with two operands.
  enum class Neutral : uint8_t {
    kDefault,  // not such an operation
    kZero,
    kOne,
    kLowest,
    kHighest,
    kAllOnes,  // all bits
  };
};

// Flags and rules, put together by |: `kElementwise | kInferable | Cost::kMap`.
struct HloOpcodeTraits {
  using Flags = HloOpcodeFlags;

  // NOLINTBEGIN(google-explicit-constructor): rows of ops.def are written so
  constexpr HloOpcodeTraits(uint32_t flags) : flags(flags) {}
  constexpr HloOpcodeTraits(Flags::Cost rule) : cost(rule) {}
  constexpr HloOpcodeTraits(Flags::Requirement rule) : requirement(rule) {}
  constexpr HloOpcodeTraits(Flags::Constraint rule) : constraint(rule) {}
  constexpr HloOpcodeTraits(Flags::TextCheck rule) : text_check(rule) {}
  constexpr HloOpcodeTraits(Flags::Flow rule) : flow(rule) {}
  constexpr HloOpcodeTraits(Flags::InPlace rule) : in_place(rule) {}
  constexpr HloOpcodeTraits(Flags::Sharing rule) : sharing(rule) {}
  constexpr HloOpcodeTraits(Flags::Neutral rule) : neutral(rule) {}
  // NOLINTEND(google-explicit-constructor)

  constexpr bool Has(uint32_t flag) const { return (flags & flag) != 0; }

  template <typename Rule>
  static constexpr bool kIsRule =
      std::is_enum_v<Rule> && !std::is_convertible_v<Rule, uint32_t> && std::is_constructible_v<HloOpcodeTraits, Rule>;

  // Two rules of one kind are not a constant expression, so a row with two rules does not compile.
  template <typename Rule>
  static constexpr Rule OneOf(Rule a, Rule b) {
    return a == Rule::kDefault ? b : b == Rule::kDefault ? a : throw "two rules of one kind";
  }

  constexpr HloOpcodeTraits With(const HloOpcodeTraits& other) const {
    HloOpcodeTraits both(flags | other.flags);
    both.cost = OneOf(cost, other.cost);
    both.requirement = OneOf(requirement, other.requirement);
    both.constraint = OneOf(constraint, other.constraint);
    both.text_check = OneOf(text_check, other.text_check);
    both.flow = OneOf(flow, other.flow);
    both.in_place = OneOf(in_place, other.in_place);
    both.sharing = OneOf(sharing, other.sharing);
    both.neutral = OneOf(neutral, other.neutral);
    return both;
  }

  uint32_t flags = 0;
  Flags::Cost cost = Flags::Cost::kDefault;
  Flags::Requirement requirement = Flags::Requirement::kDefault;
  Flags::Constraint constraint = Flags::Constraint::kDefault;
  Flags::TextCheck text_check = Flags::TextCheck::kDefault;
  Flags::Flow flow = Flags::Flow::kDefault;
  Flags::InPlace in_place = Flags::InPlace::kDefault;
  Flags::Sharing sharing = Flags::Sharing::kDefault;
  Flags::Neutral neutral = Flags::Neutral::kDefault;
};

// Argument-dependent lookup finds an operator of an enum only if a parameter has exactly that type, so this is a
// template.
template <typename Rule, std::enable_if_t<HloOpcodeTraits::kIsRule<Rule>, int> = 0>
constexpr HloOpcodeTraits operator|(HloOpcodeTraits traits, Rule rule) {
  return traits.With(rule);
}

// An entry of an operation's list of attributes.
struct HloOpcodeAttribute {
  HloAttribute attribute;
  enum Need : uint8_t { kOptional, kRequired, kAlwaysPrinted } need;
};

// The function of instruction_shape.cc that infers the shape of the result.
enum class HloShapeRule : uint8_t {
  kNone,
#define KASHI_SHAPE_RULE(name) k##name,
#include "kashi/hlo/ir/shape_rules.def"
};

// A row of ops.def.
struct HloOpcodeInfo : HloOpcodeTraits {
  absl::string_view name;
  int8_t arity;  // -1: any
  HloShapeRule shape_rule;
  absl::Span<const HloOpcodeAttribute> attributes;  // in print order
  absl::string_view doc;
};
const HloOpcodeInfo& GetHloOpcodeInfo(HloOpcode opcode);

absl::string_view HloAttributeName(HloAttribute attribute);  // as in text

inline constexpr int kHloOpcodeIsVariadic = -1;
constexpr uint32_t HloOpcodeCount() {
  uint32_t count = 0;
#define KASHI_OP(...) ++count;
#include "kashi/hlo/ir/ops.def"
  return count;
}

inline absl::string_view HloOpcodeString(HloOpcode opcode) { return GetHloOpcodeInfo(opcode).name; }
absl::StatusOr<HloOpcode> StringToHloOpcode(absl::string_view name);
// As StringToHloOpcode, but without the cost of an error message, for the reader.
std::optional<HloOpcode> FindHloOpcode(absl::string_view name);
std::optional<int8_t> HloOpcodeArity(HloOpcode opcode);  // nullopt: any number of operands
bool HloOpcodeIsComparison(HloOpcode opcode);
bool HloOpcodeIsVariadic(HloOpcode opcode);
bool HloOpcodeIsAsync(HloOpcode opcode);
bool HloOpcodeIsBinaryCommutative(HloOpcode opcode);
CallContext GetInstructionCallContext(HloOpcode opcode);
absl::string_view CallContextToString(CallContext context);

std::ostream& operator<<(std::ostream& out, HloOpcode opcode);
std::ostream& operator<<(std::ostream& out, const CallContext& context);

}  // namespace kashi

#endif  // KASHI_HLO_IR_HLO_OPCODE_H_
