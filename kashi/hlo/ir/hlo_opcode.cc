#include "kashi/hlo/ir/hlo_opcode.h"

#include <array>
#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

// The words of ops.def. `A(x)` and the like become entries of a list that ends with an empty entry, so that an
// operation may have none.
#define R(name) \
  { HloAttribute::name, HloOpcodeAttribute::kRequired }
#define O(name) \
  { HloAttribute::name, HloOpcodeAttribute::kOptional }
#define A(name) \
  { HloAttribute::name, HloOpcodeAttribute::kAlwaysPrinted }
constexpr size_t kMostAttributes = 15;
struct AttributeRow {
  HloOpcodeAttribute entries[kMostAttributes];
};
constexpr AttributeRow kAttributeRows[] = {
#define KASHI_OP(op, name, arity, rule, traits, doc, ...) {{__VA_ARGS__}},
#include "kashi/hlo/ir/ops.def"
};
template <size_t N>
constexpr size_t CountOf(const HloOpcodeAttribute (&)[N]) {
  return N - 1;
}
constexpr HloOpcodeAttribute kNoAttribute = {HloAttribute::algorithm, HloOpcodeAttribute::kOptional};
constexpr uint8_t kAttributeCounts[] = {
#define KASHI_OP(op, name, arity, rule, traits, doc, ...) CountOf({kNoAttribute, ##__VA_ARGS__}),
#include "kashi/hlo/ir/ops.def"
};
#undef R
#undef O
#undef A

// Rows name flags and rules without their class.
struct Rows : HloOpcodeFlags {
  static constexpr HloOpcodeTraits kTraits[] = {
#define KASHI_OP(op, name, arity, rule, traits, ...) HloOpcodeTraits(traits),
#include "kashi/hlo/ir/ops.def"
  };
};

const std::array<HloOpcodeInfo, HloOpcodeCount()>& Table() {
  static const auto* const table = new std::array<HloOpcodeInfo, HloOpcodeCount()>{{
#define KASHI_OP(op, name, arity, rule, traits, doc, ...)                                       \
  HloOpcodeInfo{Rows::kTraits[static_cast<int>(HloOpcode::k##op)],                              \
                name,                                                                           \
                arity,                                                                          \
                HloShapeRule::k##rule,                                                          \
                absl::MakeConstSpan(kAttributeRows[static_cast<int>(HloOpcode::k##op)].entries, \
                                    kAttributeCounts[static_cast<int>(HloOpcode::k##op)]),      \
                doc},
#include "kashi/hlo/ir/ops.def"
  }};
  return *table;
}

constexpr absl::string_view kAttributeNames[] = {
#define KASHI_ATTRIBUTE(identifier, name, ...) name,
#include "kashi/hlo/ir/attributes.def"
};

}  // namespace

const HloOpcodeInfo& GetHloOpcodeInfo(HloOpcode opcode) {
  static const auto& table = Table();
  return table[static_cast<size_t>(opcode)];
}

absl::string_view HloAttributeName(HloAttribute attribute) { return kAttributeNames[static_cast<size_t>(attribute)]; }

std::optional<HloOpcode> FindHloOpcode(absl::string_view name) {
  static const auto* const opcodes = new absl::flat_hash_map<absl::string_view, HloOpcode>{
#define KASHI_OP(op, name, ...) {name, HloOpcode::k##op},
#include "kashi/hlo/ir/ops.def"
  };
  const auto found = opcodes->find(name);
  if (found == opcodes->end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<HloOpcode> StringToHloOpcode(absl::string_view name) {
  if (const std::optional<HloOpcode> opcode = FindHloOpcode(name)) return *opcode;
  return InvalidArgument("Unknown opcode: %s", name);
}

std::optional<int8_t> HloOpcodeArity(HloOpcode opcode) {
  const int8_t arity = GetHloOpcodeInfo(opcode).arity;
  if (arity == kHloOpcodeIsVariadic) return std::nullopt;
  return arity;
}

bool HloOpcodeIsComparison(HloOpcode opcode) { return opcode == HloOpcode::kCompare; }
bool HloOpcodeIsVariadic(HloOpcode opcode) { return GetHloOpcodeInfo(opcode).arity == kHloOpcodeIsVariadic; }
bool HloOpcodeIsAsync(HloOpcode opcode) { return GetHloOpcodeInfo(opcode).Has(HloOpcodeFlags::kAsync); }
bool HloOpcodeIsBinaryCommutative(HloOpcode opcode) {
  return GetHloOpcodeInfo(opcode).Has(HloOpcodeFlags::kCommutative);
}

CallContext GetInstructionCallContext(HloOpcode opcode) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode);
  if (info.Has(HloOpcodeFlags::kControlFlow)) return CallContext::kControlFlow;
  if (info.Has(HloOpcodeFlags::kEmbeddedCall)) return CallContext::kEmbedded;
  return CallContext::kNone;
}

absl::string_view CallContextToString(CallContext context) {
  switch (context) {
    case CallContext::kEmbedded:
      return "kEmbedded";
    case CallContext::kControlFlow:
      return "kControlFlow";
    case CallContext::kBoth:
      return "kBoth";
    case CallContext::kNone:
      return "kNone";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, HloOpcode opcode) {
  const absl::string_view name = HloOpcodeString(opcode);
  return out.write(name.data(), name.size());
}
std::ostream& operator<<(std::ostream& out, const CallContext& context) {
  const absl::string_view name = CallContextToString(context);
  return out.write(name.data(), name.size());
}

}  // namespace kashi
