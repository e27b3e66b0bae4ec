// Patterns of instructions. pattern_matcher.cc has the code for all patterns.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/util.h"
#include "kashi/hlo/attributes/dimension_numbers_text.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"
#include "kashi/hlo/matcher/match_reason.h"
#include "kashi/hlo/matcher/pattern_matcher.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi {

using hlo::LineBreak;
using hlo::Reason;
using hlo::Silent;
using hlo::TextOf;
using hlo::WithoutCapture;

HloInstructionPattern HloInstructionPattern::WithName(absl::string_view name) const {
  return With(
      [name = std::string(name)](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.name() == name) return true;
        return Reason(option) << "HloInstruction not named \"" << name << "\"";
      },
      absl::StrCat("named \"", name, "\""));
}

HloInstructionPattern HloInstructionPattern::WithOpcode(HloOpcode opcode) const {
  return With(
      [opcode](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.opcode() == opcode) return true;
        return Reason(option) << "HloInstruction doesn't have opcode " << opcode;
      },
      absl::StrCat("with opcode ", HloOpcodeString(opcode)));
}

HloInstructionPattern HloInstructionPattern::WithoutOpcode(HloOpcode opcode) const {
  return With(
      [opcode](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.opcode() != opcode) return true;
        return Reason(option) << "HloInstruction has opcode " << opcode << ", expected anything else";
      },
      absl::StrCat("with any opcode other than ", HloOpcodeString(opcode)));
}

HloInstructionPattern HloInstructionPattern::WithCustomCallTarget(
    std::initializer_list<absl::string_view> any_of) const {
  const std::vector<std::string> targets(any_of.begin(), any_of.end());
  const std::string listed =
      targets.size() == 1 ? targets[0] : absl::StrCat("one of {", absl::StrJoin(targets, ", "), "}");
  return With(
      [targets, listed](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.opcode() == HloOpcode::kCustomCall &&
            std::find(targets.begin(), targets.end(), x.custom_call_target()) != targets.end()) {
          return true;
        }
        return Reason(option) << "HloInstruction is not a custom call with a target '" << listed << "'";
      },
      absl::StrCat("custom call with target '", listed, "'"));
}

HloInstructionPattern HloInstructionPattern::WithPredicate(std::function<bool(const HloInstruction*)> predicate) const {
  return With(
      [predicate = std::move(predicate)](const HloInstruction& x, const MatchOption& option) -> bool {
        return predicate(&x) ? true : Reason(option) << "HloInstruction does not match user-specified predicate";
      },
      "which matches a user-specified predicate");
}

namespace {

// Equal in the literal's type and in the value's: 1 is 1.0, and 1.5 is no s32.
bool HoldsValue(const Literal& literal, const Literal& value) {
  const auto equals = [](const Literal& x, const Literal& y) {
    const absl::StatusOr<Literal> converted = x.Convert(y.shape().element_type());
    return converted.ok() && *converted == y;
  };
  const absl::StatusOr<Literal> scalar = literal.Reshape({});
  return scalar.ok() && equals(*scalar, value) && equals(value, *scalar);
}

}  // namespace

HloInstructionPattern HloInstructionPattern::IsScalarOf(std::shared_ptr<const Literal> value, bool is_effective) const {
  const std::string what = absl::StrCat("constant ", is_effective ? "effective " : "", "scalar");
  return With(
      [value, what, is_effective](const HloInstruction& x, const MatchOption& option) -> bool {
        if (!x.IsConstant()) return Reason(option) << "HloInstruction is not a constant";
        const Shape& shape = x.shape();
        if (is_effective ? !ShapeUtil::IsEffectiveScalar(shape) : !ShapeUtil::IsScalar(shape)) {
          return Reason(option) << "HloInstruction is not a " << what;
        }
        if (value == nullptr || HoldsValue(x.literal(), *value)) return true;
        return Reason(option) << "HloInstruction's constant value " << x.literal().ToStringWithoutShape()
                              << " did not match expected value " << value->ToStringWithoutShape();
      },
      absl::StrCat("which is a ", what,
                   value == nullptr ? "" : absl::StrCat(" with value ", value->ToStringWithoutShape())));
}

// ---- Their shape ----------------------------------------------------------------------------------------------------

HloInstructionPattern HloInstructionPattern::WithShape(const ShapePattern& shape) const {
  return With(
      [shape](const HloInstruction& x, const MatchOption& option) -> bool {
        return shape.Match(&x.shape(), option) ? true : Reason(option) << "\nin output shape";
      },
      [shape](int indent) { return absl::StrCat("outputting", LineBreak(indent), shape.ToString(indent)); });
}
HloInstructionPattern HloInstructionPattern::WithShape(PrimitiveType type) const { return WithElementType(type); }
HloInstructionPattern HloInstructionPattern::WithShape(PrimitiveType type, absl::Span<const int64_t> dimensions) const {
  return WithShape(ShapePattern().WithElementType(type).WithDims(dimensions));
}
HloInstructionPattern HloInstructionPattern::WithShape(PrimitiveType type, absl::Span<const int64_t> dimensions,
                                                       absl::Span<const int64_t> minor_to_major) const {
  return WithShape(ShapePattern().WithElementType(type).WithDims(dimensions).WithLayout(minor_to_major));
}
HloInstructionPattern HloInstructionPattern::WithShapeEqualTo(const Shape* shape) const {
  return WithShape(ShapePattern().EqualTo(shape));
}
HloInstructionPattern HloInstructionPattern::WithShapeCompatibleTo(const Shape* shape) const {
  return WithShape(ShapePattern().CompatibleTo(shape));
}
HloInstructionPattern HloInstructionPattern::WithElementType(PrimitiveType type) const {
  return WithShape(ShapePattern().WithElementType(type));
}

// ---- Their operands -------------------------------------------------------------------------------------------------

namespace {

bool MatchOperand(const HloInstruction& x, int64_t i, const HloInstructionPattern& pattern, const MatchOption& option) {
  const HloInstruction* operand = x.operand(i);
  if (!pattern.Match(operand, option)) return Reason(option) << "\nin operand " << i;
  if (!option.single_user_only || operand->user_count() == 1) return true;
  return Reason(option) << "Operand " << i << " of HloInstruction has " << operand->user_count()
                        << " users. Expected 1.";
}

std::string OperandWords(int64_t i, const HloInstructionPattern& pattern, int indent) {
  return absl::StrCat("with operand ", i, " which is:", LineBreak(indent + 2), pattern.ToString(indent + 2));
}

}  // namespace

HloInstructionPattern HloInstructionPattern::WithNumOperands(int64_t count) const {
  return With(
      [count](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.operand_count() == count) return true;
        return Reason(option) << "HloInstruction doesn't have " << count << " operands";
      },
      absl::StrCat("with ", count, " operand", count == 1 ? "" : "s"));
}

HloInstructionPattern HloInstructionPattern::WithOperand(int64_t i, const HloInstructionPattern& operand) const {
  return With(
      [i, operand](const HloInstruction& x, const MatchOption& option) -> bool {
        if (i < x.operand_count()) return MatchOperand(x, i, operand, option);
        return Reason(option) << "desired operand index " << i << " is out of bounds";
      },
      [i, operand](int indent) { return OperandWords(i, operand, indent); });
}

HloInstructionPattern HloInstructionPattern::WithOperandIfPresent(int64_t i,
                                                                  const HloInstructionPattern& operand) const {
  return With(
      [i, operand](const HloInstruction& x, const MatchOption& option) {
        return i >= x.operand_count() || MatchOperand(x, i, operand, option);
      },
      [i, operand](int indent) {
        return absl::StrCat("either with fewer operands, or ", OperandWords(i, operand, indent));
      });
}

HloInstructionPattern HloInstructionPattern::WithBinaryOperandsAnyOrder(const HloInstructionPattern& a,
                                                                        const HloInstructionPattern& b) const {
  return With(
      [a, b](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.operand_count() != 2) return Reason(option) << "HloInstruction did not have two operands";
        const auto fits = [&](const HloInstructionPattern& first, const HloInstructionPattern& second,
                              const MatchOption& how) {
          return MatchOperand(x, 0, first, how) && MatchOperand(x, 1, second, how);
        };
        const MatchOption trial = WithoutCapture(Silent(option));
        if (fits(a, b, trial)) return fits(a, b, option);
        if (fits(b, a, trial)) return fits(b, a, option);
        Reason(option) << "HloInstruction's operands (ignoring order) did not match.\nIn this order:\n";
        fits(a, b, WithoutCapture(option));
        Reason(option) << "\nIn the other order:\n";
        fits(b, a, WithoutCapture(option));
        return false;
      },
      [a, b](int indent) {
        const std::string line = LineBreak(indent);
        return absl::StrCat("with two operands in either order:", line, " - ", a.ToString(indent + 3), line, " - ",
                            b.ToString(indent + 3));
      });
}

// ---- Their users ----------------------------------------------------------------------------------------------------

HloInstructionPattern HloInstructionPattern::WithOneUse() const {
  return With(
      [](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.user_count() != 1) {
          return Reason(option) << "HloInstruction has " << x.user_count() << " users, but expected exactly one.";
        }
        const size_t uses = x.users()[0]->OperandIndices(&x).size();
        if (uses == 1) return true;
        return Reason(option) << "HloInstruction is used " << uses
                              << " times by its user, but is expected to be used just once";
      },
      "which has exactly one use");
}

HloInstructionPattern HloInstructionPattern::WithNumUser(int64_t count) const {
  return With(
      [count](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.user_count() == count) return true;
        return Reason(option) << "HloInstruction has " << x.user_count() << " users, but expected exactly " << count;
      },
      absl::StrCat("which has exactly ", count, " user", count == 1 ? "" : "s"));
}

HloInstructionPattern HloInstructionPattern::WithAtMostNumUser(int64_t count) const {
  return With(
      [count](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.user_count() <= count) return true;
        return Reason(option) << "HloInstruction has " << x.user_count() << " users, but expected at most " << count;
      },
      absl::StrCat("which has at most ", count, " user", count == 1 ? "" : "s"));
}

// ---- Their attributes -----------------------------------------------------------------------------------------------

HloInstructionPattern HloInstructionPattern::WithParameterNum(int64_t number) const {
  return With(
      [number](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.opcode() == HloOpcode::kParameter && x.parameter_number() == number) return true;
        return Reason(option) << "HloInstruction is not parameter " << number;
      },
      absl::StrCat("which is parameter ", number));
}

HloInstructionPattern HloInstructionPattern::WithTupleIndex(int64_t index) const {
  return With(
      [index](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.opcode() == HloOpcode::kGetTupleElement && x.tuple_index() == index) return true;
        return Reason(option) << "HloInstruction is not a get-tuple-element with index " << index;
      },
      absl::StrCat("which is a GTE with index ", index));
}

HloInstructionPattern HloInstructionPattern::WithFusionKind(FusionKind kind) const {
  return With(
      [kind](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.opcode() == HloOpcode::kFusion && x.fusion_kind() == kind) return true;
        return Reason(option) << "HloInstruction does not have fusion kind " << ::kashi::ToString(kind);
      },
      absl::StrCat("with fusion kind ", ::kashi::ToString(kind)));
}

HloInstructionPattern HloInstructionPattern::WithComparisonDirection(ComparisonDirection direction) const {
  return With(
      [direction](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.opcode() == HloOpcode::kCompare && x.comparison_direction() == direction) return true;
        return Reason(option) << "HloInstruction is not comparison " << ComparisonDirectionToString(direction);
      },
      absl::StrCat("which has comparison direction ", ComparisonDirectionToString(direction)));
}

HloInstructionPattern HloInstructionPattern::WithContractingDims(absl::Span<const int64_t> lhs,
                                                                 absl::Span<const int64_t> rhs) const {
  const std::string what = absl::StrCat("contracting dimensions ", TextOf(lhs), " and ", TextOf(rhs));
  return With(
      [lhs = DimensionVector(lhs.begin(), lhs.end()), rhs = DimensionVector(rhs.begin(), rhs.end()), what](
          const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.opcode() != HloOpcode::kDot) return Reason(option) << "HloInstruction is not dot";
        const DotDimensionNumbers& dnums = x.dot_dimension_numbers();
        if (absl::MakeConstSpan(dnums.lhs_contracting_dimensions()) == absl::MakeConstSpan(lhs) &&
            absl::MakeConstSpan(dnums.rhs_contracting_dimensions()) == absl::MakeConstSpan(rhs)) {
          return true;
        }
        return Reason(option) << "HloInstruction does not have " << what;
      },
      absl::StrCat("with ", what));
}

HloInstructionPattern HloInstructionPattern::WithConvDnums(absl::string_view dim_labels) const {
  absl::StatusOr<ConvolutionDimensionNumbers> dnums = ParseConvolutionDimensionNumbers(dim_labels);
  KASHI_CHECK_OK(dnums.status());
  return WithConvDnums(*std::move(dnums));
}

HloInstructionPattern HloInstructionPattern::WithConvDnums(ConvolutionDimensionNumbers dimension_numbers) const {
  const std::string what = absl::StrCat("dimension numbers ", ConvolutionDimensionNumbersToString(dimension_numbers));
  return With(
      [dimension_numbers = std::move(dimension_numbers), what](const HloInstruction& x,
                                                               const MatchOption& option) -> bool {
        if (x.fields().Has(HloField::convolution_dimension_numbers) &&
            x.convolution_dimension_numbers() == dimension_numbers) {
          return true;
        }
        return Reason(option) << "HloInstruction is not a convolution with " << what;
      },
      absl::StrCat("which has ", what));
}

HloInstructionPattern HloInstructionPattern::WithReplicaGroups(ReplicaGroupLists groups) const {
  std::vector<ReplicaGroup> wanted;
  for (const std::vector<int64_t>& group : groups) {
    wanted.emplace_back().mutable_replica_ids()->Add(group.begin(), group.end());
  }
  const std::string what = absl::StrCat("replica_groups ", ReplicaGroupsToString(wanted));
  return With(
      [wanted = std::move(wanted), what](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.fields().Has(HloField::replica_groups) && x.device_list().CheckExpandable().ok() &&
            x.replica_groups() == wanted) {
          return true;
        }
        return Reason(option) << "HloInstruction is not a collective with " << what;
      },
      absl::StrCat("with ", what));
}

HloInstructionPattern HloInstructionPattern::WithSharding(absl::string_view sharding) const {
  absl::StatusOr<HloSharding> wanted = ParseSharding(sharding);
  KASHI_CHECK_OK(wanted.status());
  return With(
      [wanted = *std::move(wanted)](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.has_sharding() && x.sharding() == wanted) return true;
        return Reason(option) << "HloInstruction does not have sharding " << wanted.ToString();
      },
      absl::StrCat("with sharding ", sharding));
}

HloInstructionPattern HloInstructionPattern::WithControlDeps(absl::Span<HloInstruction* const> predecessors,
                                                             absl::Span<HloInstruction* const> successors) const {
  const auto names = [](absl::Span<HloInstruction* const> list) {
    return absl::StrJoin(list, ",", [](std::string* out, const HloInstruction* x) { absl::StrAppend(out, x->name()); });
  };
  const std::string what =
      absl::StrCat("control predecessors {", names(predecessors), "} and control successors {", names(successors), "}");
  using List = std::vector<HloInstruction*>;
  return With(
      [before = List(predecessors.begin(), predecessors.end()), after = List(successors.begin(), successors.end()),
       what](const HloInstruction& x, const MatchOption& option) -> bool {
        if (x.control_predecessors() == before && x.control_successors() == after) return true;
        return Reason(option) << "HloInstruction does not have " << what;
      },
      absl::StrCat("with ", what));
}

}  // namespace kashi
