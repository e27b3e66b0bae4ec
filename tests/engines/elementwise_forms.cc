// Forms of operations on elements: scalars and arrays mixed in every way, types mixed where an operation takes that.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "tests/engines/form.h"

namespace kashi::tests {
namespace {

std::vector<PrimitiveType> ArrayTypes() {
  std::vector<PrimitiveType> types;
#define KASHI_TYPE(name, ...) \
  if (primitive_util::IsArrayType(name)) types.push_back(name);
#include "kashi/array/primitive_types.def"
  return types;
}

// The shape itself, a scalar, and an array of ones of its rank.
std::vector<Shape> Widths(const Shape& x) {
  std::vector<Shape> widths = {x};
  if (!x.dimensions().empty()) {
    widths.push_back(ScalarOf(x.element_type()));
    widths.push_back(WithSizes(x, Sizes(x.dimensions().size(), 1)));
  }
  return widths;
}

void DraftUnary(HloOpcode, const Shape& x, std::vector<Draft>* drafts) { drafts->push_back({{x}, ""}); }

// A border between shardings has to say which.
void DraftForwarded(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  drafts->push_back({{x}, ""});
  drafts->push_back({{x}, "domain={kind=\"sharding\", entry={replicated}, exit={maximal device=0}}"});
}

void DraftBinary(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (const Shape& other : Widths(x)) {
    drafts->push_back({{x, other}, ""});
    if (other != x) drafts->push_back({{other, x}, ""});
  }
  if (primitive_util::IsFloatingPointType(x.element_type())) {
    for (PrimitiveType type : {BF16, F32}) {
      if (type != x.element_type()) drafts->push_back({{x, WithType(x, type)}, ""});
    }
  }
}

void DraftCompare(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (absl::string_view direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
    for (absl::string_view order : {"", ", type=TOTALORDER"}) {
      drafts->push_back({{x, x}, absl::StrCat("direction=", direction, order)});
    }
  }
  for (const Shape& other : Widths(x)) {
    if (other != x) drafts->push_back({{x, other}, "direction=LT"});
  }
}

// Each operand as an array and as a scalar; the first as a PRED too.
void DraftTernary(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const Shape scalar = ScalarOf(x.element_type());
  for (PrimitiveType first : {PRED, x.element_type()}) {
    for (int mask = 0; mask < 8; ++mask) {
      const Shape shapes[] = {mask & 1 ? scalar : x, mask & 2 ? scalar : x, mask & 4 ? scalar : x};
      drafts->push_back({{WithType(shapes[0], first), shapes[1], shapes[2]}, ""});
    }
    if (x.element_type() == PRED || x.dimensions().empty()) break;
  }
}

void DraftConvert(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (PrimitiveType type : ArrayTypes()) drafts->push_back({{x}, "", "", WithType(x, type)});
}

void DraftBitcastConvert(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (PrimitiveType type : ArrayTypes()) drafts->push_back({{x}, "", "", WithType(x, type)});
}

void DraftStochasticConvert(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (PrimitiveType random : {U8, U16, U32, U64}) {
    for (PrimitiveType type : ArrayTypes()) {
      drafts->push_back({{x, WithType(x, random)}, "", "", WithType(x, type)});
    }
  }
}

void DraftReducePrecision(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (const auto& [exponent, mantissa] : std::vector<std::pair<int, int>>{{5, 10}, {8, 7}, {4, 3}, {8, 0}, {1, 23}}) {
    drafts->push_back({{x}, absl::StrCat("exponent_bits=", exponent, ", mantissa_bits=", mantissa), "", x});
  }
}

}  // namespace

absl::Span<const RuleOfShapes> ElementwiseRules() {
  static constexpr RuleOfShapes kRules[] = {
      {HloShapeRule::kUnary, &DraftUnary},
      {HloShapeRule::kBinary, &DraftBinary},
      {HloShapeRule::kCompare, &DraftCompare},
      {HloShapeRule::kTernary, &DraftTernary},
      {HloShapeRule::kConvert, &DraftConvert},
      {HloShapeRule::kBitcastConvert, &DraftBitcastConvert},
      {HloShapeRule::kStochasticConvert, &DraftStochasticConvert},
      {HloShapeRule::kReducePrecision, &DraftReducePrecision},
      {HloShapeRule::kCopy, &DraftUnary},
      {HloShapeRule::kFirstOperand, &DraftForwarded},
  };
  return kRules;
}

}  // namespace kashi::tests
