#include "kashi/hlo/matcher/pattern_matcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/util.h"
#include "kashi/hlo/matcher/match_reason.h"

namespace kashi {

using hlo::LineBreak;
using hlo::Reason;
using hlo::Silent;
using hlo::TextOf;
using hlo::WithoutCapture;

namespace pattern_internal {
namespace {

// The name of the matched item, for reasons.
std::string NameOf(const Layout& layout) { return layout.ToString(); }
std::string NameOf(const Shape& shape) { return ShapeUtil::HumanStringWithLayout(shape); }
std::string NameOf(const HloInstruction& instruction) {
  return instruction.ToString(HloPrintOptions().set_print_metadata(false).set_print_percent(false));
}

}  // namespace

template <typename Item>
std::string Describe(absl::string_view what, const Conditions<Item>& conditions, int indent) {
  std::string text(what);
  for (size_t i = 0; i < conditions.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? ":" : " AND", LineBreak(indent), " * ", conditions[i]->words(indent + 3));
  }
  return text;
}
template std::string Describe(absl::string_view, const Conditions<Layout>&, int);
template std::string Describe(absl::string_view, const Conditions<Shape>&, int);
template std::string Describe(absl::string_view, const Conditions<HloInstruction>&, int);

template <typename Item, typename Self>
bool Pattern<Item, Self>::Match(const Item* item, const MatchOption& option) const {
  if (item == nullptr) return Reason(option) << Self::kWhat << " is null";
  if (!AreMet(conditions_, *item, option)) return Reason(option) << "\nin " << NameOf(*item);
  if (option.capture && captured_ != nullptr) *captured_ = item;
  return true;
}

// The first pattern that matches writes the captures; the reasons are those of all patterns.
template <typename P>
P AnyOfList(std::vector<P> patterns) {
  const auto shared = std::make_shared<const std::vector<P>>(std::move(patterns));
  return P().With(
      [shared](const auto& item, const MatchOption& option) -> bool {
        for (const P& pattern : *shared) {
          if (pattern.Match(&item, WithoutCapture(Silent(option)))) return pattern.Match(&item, option);
        }
        Reason reason(option);
        reason << "None of the following matchers succeeded:";
        for (size_t i = 0; i < shared->size(); ++i) {
          reason << "\nMatcher #" << i + 1 << "\n - " << (*shared)[i].ToString(3) << "\nfailed with\n - ";
          (*shared)[i].Match(&item, WithoutCapture(option));
        }
        return false;
      },
      [shared](int indent) {
        return absl::StrCat("any of:", LineBreak(indent), " - ",
                            absl::StrJoin(*shared, absl::StrCat(" OR", LineBreak(indent), " - "),
                                          [&](std::string* out, const P& p) { out->append(p.ToString(indent + 3)); }));
      });
}

template <typename P>
P AllOfList(std::vector<P> patterns) {
  const auto shared = std::make_shared<const std::vector<P>>(std::move(patterns));
  return P().With(
      [shared](const auto& item, const MatchOption& option) {
        return std::all_of(shared->begin(), shared->end(), [&](const P& p) { return p.Match(&item, option); });
      },
      [shared](int indent) {
        return absl::StrCat("all of:", LineBreak(indent), " - ",
                            absl::StrJoin(*shared, absl::StrCat(" AND", LineBreak(indent), " - "),
                                          [&](std::string* out, const P& p) { out->append(p.ToString(indent + 3)); }));
      });
}

#define KASHI_INSTANTIATE(Item, P)      \
  template class Pattern<Item, P>;      \
  template P AnyOfList(std::vector<P>); \
  template P AllOfList(std::vector<P>);
KASHI_INSTANTIATE(Layout, LayoutPattern)
KASHI_INSTANTIATE(Shape, ShapePattern)
KASHI_INSTANTIATE(HloInstruction, HloInstructionPattern)
#undef KASHI_INSTANTIATE

HloInstructionPattern Operation(HloOpcode opcode, const HloInstruction** captured,
                                absl::Span<const HloInstructionPattern> operands) {
  HloInstructionPattern pattern = HloInstructionPattern().Capturing(captured).WithOpcode(opcode);
  if (!operands.empty() && HloOpcodeIsVariadic(opcode)) {
    pattern = pattern.WithNumOperands(static_cast<int64_t>(operands.size()));
  }
  for (size_t i = 0; i < operands.size(); ++i) pattern = pattern.WithOperand(static_cast<int64_t>(i), operands[i]);
  return pattern;
}

HloInstructionPattern OperationAnyOrder(HloOpcode opcode, const HloInstruction** captured,
                                        const HloInstructionPattern& a, const HloInstructionPattern& b) {
  return HloInstructionPattern().Capturing(captured).WithOpcode(opcode).WithBinaryOperandsAnyOrder(a, b);
}

}  // namespace pattern_internal

namespace {

DimensionVector Copy(absl::Span<const int64_t> numbers) { return DimensionVector(numbers.begin(), numbers.end()); }

template <typename P, typename Item, typename Result>
bool MatchWhole(const Item* item, const P& pattern, const Result& option) {
  if (option.capture && !pattern.Match(item, WithoutCapture(option))) return false;
  return pattern.Match(item, option);
}

}  // namespace

bool Match(const Layout* layout, const LayoutPattern& pattern, MatchOption option) {
  return MatchWhole(layout, pattern, option);
}
bool Match(const Shape* shape, const ShapePattern& pattern, MatchOption option) {
  return MatchWhole(shape, pattern, option);
}
bool Match(const HloInstruction* instruction, const HloInstructionPattern& pattern, MatchOption option) {
  return MatchWhole(instruction, pattern, option);
}
bool MatchSingleUserOnly(const HloInstruction* instruction, const HloInstructionPattern& pattern) {
  MatchOption option;
  option.single_user_only = true;
  return Match(instruction, pattern, option);
}

// ---- Layouts --------------------------------------------------------------------------------------------------------

LayoutPattern LayoutPattern::EqualTo(const Layout* layout) const {
  return With(
      [layout](const Layout& actual, const MatchOption& option) -> bool {
        if (actual == *layout) return true;
        return Reason(option) << "Layout " << actual << " is not equal to expected " << *layout;
      },
      absl::StrCat("equal to ", layout->ToString()));
}

// ---- Shapes ---------------------------------------------------------------------------------------------------------

ShapePattern ShapePattern::EqualTo(const Shape* shape) const {
  return With(
      [shape](const Shape& actual, const MatchOption& option) -> bool {
        if (ShapeUtil::Equal(actual, *shape)) return true;
        return Reason(option) << "Shape not equal to " << TextOf(*shape);
      },
      absl::StrCat("equal to ", TextOf(*shape)));
}

ShapePattern ShapePattern::CompatibleTo(const Shape* shape) const {
  return With(
      [shape](const Shape& actual, const MatchOption& option) -> bool {
        if (ShapeUtil::Compatible(actual, *shape)) return true;
        return Reason(option) << "Shape not compatible with " << ShapeUtil::HumanString(*shape);
      },
      absl::StrCat("compatible with ", ShapeUtil::HumanString(*shape)));
}

ShapePattern ShapePattern::WithElementType(PrimitiveType type) const {
  return With(
      [type](const Shape& actual, const MatchOption& option) -> bool {
        const PrimitiveType element_type =
            actual.IsArray() ? actual.element_type() : actual.element_type_including_buffer();
        if (element_type == type) return true;
        return Reason(option) << "Shape does not have element type " << TextOf(type);
      },
      absl::StrCat("with element type ", TextOf(type)));
}

namespace {

ShapePattern WithShapePredicate(const ShapePattern& pattern, bool (*predicate)(const Shape&), const char* what) {
  return pattern.With(
      [predicate, what](const Shape& actual, const MatchOption& option) -> bool {
        return predicate(actual) ? true : Reason(option) << "Shape is not " << what;
      },
      absl::StrCat("that represents ", what));
}

}  // namespace

ShapePattern ShapePattern::IsScalar() const {
  return WithShapePredicate(
      *this, [](const Shape& s) { return ShapeUtil::IsScalar(s); }, "a scalar");
}
ShapePattern ShapePattern::IsEffectiveScalar() const {
  return WithShapePredicate(
      *this, [](const Shape& s) { return ShapeUtil::IsEffectiveScalar(s); }, "an effective scalar");
}
ShapePattern ShapePattern::IsArray() const {
  return WithShapePredicate(
      *this, [](const Shape& s) { return s.IsArray(); }, "an array");
}
ShapePattern ShapePattern::IsTuple() const {
  return WithShapePredicate(
      *this, [](const Shape& s) { return s.IsTuple(); }, "a tuple");
}

ShapePattern ShapePattern::WithRank(int64_t rank) const {
  return With(
      [rank](const Shape& actual, const MatchOption& option) -> bool {
        if (actual.IsArray() && static_cast<int64_t>(actual.dimensions().size()) == rank) return true;
        return Reason(option) << "Shape does not have rank " << rank;
      },
      absl::StrCat("that has ", rank, " dimension", rank == 1 ? "" : "s"));
}

ShapePattern ShapePattern::WithDims(absl::Span<const int64_t> dimensions) const {
  return With(
      [dimensions = Copy(dimensions)](const Shape& actual, const MatchOption& option) -> bool {
        if (actual.IsArray() && actual.dimensions() == absl::MakeConstSpan(dimensions)) return true;
        return Reason(option) << "Shape does not have dimensions " << TextOf(dimensions);
      },
      absl::StrCat("with dimensions ", TextOf(dimensions)));
}

ShapePattern ShapePattern::WithLayout(const LayoutPattern& layout) const {
  return With(
      [layout](const Shape& actual, const MatchOption& option) -> bool {
        if (!actual.IsArray() || !actual.has_layout()) return Reason(option) << "Shape does not have a layout";
        return layout.Match(&actual.layout(), option);
      },
      [layout](int indent) { return absl::StrCat("with ", layout.ToString(indent)); });
}

ShapePattern ShapePattern::WithLayout(absl::Span<const int64_t> minor_to_major) const {
  return WithLayout(LayoutPattern().With(
      [order = Copy(minor_to_major)](const Layout& actual, const MatchOption& option) -> bool {
        if (actual.minor_to_major() == absl::MakeConstSpan(order)) return true;
        return Reason(option) << "Layout does not have minor_to_major " << TextOf(order);
      },
      absl::StrCat("with minor_to_major ", TextOf(minor_to_major))));
}

ShapePattern ShapePattern::WithLayoutEqualTo(const Layout* layout) const {
  return WithLayout(LayoutPattern().EqualTo(layout));
}

ShapePattern ShapePattern::WithSubshape(ShapeIndexView index, const ShapePattern& subshape) const {
  return With(
      [index = ShapeIndex(index), subshape](const Shape& actual, const MatchOption& option) -> bool {
        if (!ShapeUtil::IndexIsValid(actual, index)) {
          return Reason(option) << "Shape has no subshape at index " << index.ToString();
        }
        if (subshape.Match(&ShapeUtil::GetSubshape(actual, index), option)) return true;
        return Reason(option) << "\nin subshape at " << index.ToString();
      },
      [index = ShapeIndex(index), subshape](int indent) {
        return absl::StrCat("with subshape at index ", index.ToString(), " which is", LineBreak(indent),
                            subshape.ToString(indent));
      });
}
ShapePattern ShapePattern::WithSubshapeEqualTo(ShapeIndexView index, const Shape* shape) const {
  return WithSubshape(index, ShapePattern().EqualTo(shape));
}
ShapePattern ShapePattern::WithSubshapeCompatibleTo(ShapeIndexView index, const Shape* shape) const {
  return WithSubshape(index, ShapePattern().CompatibleTo(shape));
}

}  // namespace kashi
