// The operations of HLO: enum HloOpcode and what ops.def says about each.
#ifndef KASHI_HLO_IR_HLO_OPCODE_H_
#define KASHI_HLO_IR_HLO_OPCODE_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kashi {

enum class HloOpcode : uint8_t {
#define KASHI_OP(op, ...) k##op,
#include "kashi/hlo/ir/ops.def"
};

// An attribute as it stands in text (attributes.def).
enum class HloAttribute : uint8_t {
#define KASHI_ATTRIBUTE(identifier, ...) identifier,
#include "kashi/hlo/ir/attributes.def"
};

// How a call of another computation runs it: for each element (map, reduce, fusion), once in full (call, while), or either.
enum class CallContext { kEmbedded, kControlFlow, kBoth, kNone };

struct HloOpcodeFlags {
  static constexpr uint32_t kElementwise = 1 << 0;
  // The reader infers a result shape that the text leaves out (docs/spec/hlo.md 1.2).
  static constexpr uint32_t kInferable = 1 << 1;
  static constexpr uint32_t kCommutative = 1 << 2;
  // Floating point operands may be of different types (hlo-ops.md 0.2, point 6).
  static constexpr uint32_t kMixedPrecision = 1 << 3;
  // May have another layout than its operands (0.2, point 9).
  static constexpr uint32_t kMayChangeLayout = 1 << 4;
  // A layout-sensitive verifier wants the inferred shape exactly (0.2, point 5), …
  static constexpr uint32_t kExactLayout = 1 << 5;
  // … of the layout only minor_to_major.
  static constexpr uint32_t kMinorToMajorOnly = 1 << 6;
  static constexpr uint32_t kCollective = 1 << 7;  // runs on all members of a group at once
  static constexpr uint32_t kEmbeddedCall = 1 << 8;
  static constexpr uint32_t kControlFlow = 1 << 9;
  static constexpr uint32_t kAsync = 1 << 11;  // async-start, -update, -done
  static constexpr uint32_t kSideEffect = 1 << 12;
  static constexpr uint32_t kToken = 1 << 13;  // the result is a token whatever the text says
  static constexpr uint32_t kRandom = 1 << 14;
  static constexpr uint32_t kElementSizeFree = 1 << 15;
  // May have another layout than its operands unless `constrain_layout` is set.
  static constexpr uint32_t kLayoutFreeUnlessConstrained = 1 << 16;
};

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
struct HloOpcodeInfo {
  absl::string_view name;
  int8_t arity;  // -1: any
  HloShapeRule shape_rule;
  uint32_t flags;
  absl::Span<const HloOpcodeAttribute> attributes;  // in print order
  absl::string_view doc;

  bool Has(uint32_t flag) const { return (flags & flag) != 0; }
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
// The same without an error message to build: the reader's way.
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
