// Forms of operations that call computations or forward values. They are several lines, as their operands or results
// are tuples or tokens.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "tests/engines/form.h"

namespace kashi::tests {
namespace {

// In the texts: $0 is the anchor's shape, $1 and $2 its neighbours. `%` is for the `$` of a form.
void AddLines(const Shape& x, std::vector<Shape> operands, absl::string_view computations, absl::string_view lines,
              std::vector<Draft>* drafts) {
  const auto fill = [&](absl::string_view text) {
    std::string filled =
        absl::Substitute(text, ShapeText(x), UnaryNeighbour(x.element_type()), BinaryNeighbour(x.element_type()));
    for (char& c : filled) {
      if (c == '%') c = '$';
    }
    return filled;
  };
  drafts->push_back({std::move(operands), "", fill(computations), x, fill(lines)});
}

constexpr absl::string_view kOfOne = "@f {\n  a = $0 parameter(0)\n  ROOT c = $0 $1(a)\n}\n";
constexpr absl::string_view kOfTwo = "@f {\n  a = $0 parameter(0)\n  b = $0 parameter(1)\n  ROOT c = $0 $2(a, b)\n}\n";

void DraftCall(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  AddLines(x, {x}, kOfOne, "  %r = $0 call(%0), to_apply=@f\n", drafts);
  AddLines(x, {x, x}, kOfTwo, "  %r = $0 call(%0, %1), to_apply=@f\n", drafts);
}

// Trips that are known, and a trip count that an operand gives (a remainder, so that it ends soon).
void DraftWhile(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  constexpr absl::string_view kBody = R"(@f {
  s = (s32[], s32[], $0) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  a = $0 get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  b = $0 $1(a)
  c = $0 $2(a, b)
  ROOT t = (s32[], s32[], $0) tuple(j, n, c)
}
@g {
  s = (s32[], s32[], $0) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT more = pred[] compare(i, n), direction=LT
}
)";
  constexpr absl::string_view kLoop = R"(  @zero = s32[] constant(0)
  @s = (s32[], s32[], $0) tuple(@zero, @n, %0)
  @w = (s32[], s32[], $0) while(@s), condition=@g, body=@f
  %r = $0 get-tuple-element(@w), index=2
)";
  AddLines(x, {x}, kBody, absl::StrCat("  @n = s32[] constant(3)\n", kLoop), drafts);
  AddLines(x, {x, ScalarOf(S32)}, kBody,
           absl::StrCat("  @limit = s32[] constant(5)\n  @n = s32[] remainder(%1, @limit)\n", kLoop), drafts);
}

void DraftConditional(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  constexpr absl::string_view kBranches =
      "@f {\n  a = $0 parameter(0)\n  ROOT c = $0 $1(a)\n}\n@g {\n  ROOT a = $0 parameter(0)\n}\n"
      "@h {\n  a = $0 parameter(0)\n  ROOT c = $0 $2(a, a)\n}\n";
  AddLines(x, {ScalarOf(PRED), x, x}, kBranches,
           "  %r = $0 conditional(%0, %1, %2), true_computation=@f, false_computation=@g\n", drafts);
  AddLines(x, {ScalarOf(S32), x, x, x}, kBranches,
           "  %r = $0 conditional(%0, %1, %2, %3), branch_computations={@f, @g, @h}\n", drafts);
}

void DraftTuple(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (int index : {0, 1}) {
    AddLines(x, {x, x}, "",
             absl::StrCat("  @t = ($0, $0) tuple(%0, %1)\n  %r = $0 get-tuple-element(@t), index=", index, "\n"),
             drafts);
  }
  AddLines(x, {x, x}, "",
           "  @t = ($0, $0) tuple(%0, %1)\n  @u = (($0, $0), $0) tuple(@t, %0)\n  @b = (($0, $0), $0) opt-barrier(@u)\n"
           "  @v = ($0, $0) get-tuple-element(@b), index=0\n  %r = $0 get-tuple-element(@v), index=1\n",
           drafts);
}

void DraftAddDependency(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  AddLines(x, {x}, "", "  @t = token[] after-all()\n  %r = $0 add-dependency(%0, @t)\n", drafts);
}

void DraftCopyStart(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  AddLines(x, {x}, "", "  @s = ($0, $0, u32[]) copy-start(%0)\n  %r = $0 copy-done(@s)\n", drafts);
}

void DraftNumber(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  if (x.dimensions().empty() && x.element_type() == F32) drafts->push_back({{}, "", "", ScalarOf(U32)});
}

}  // namespace

void DraftFusion(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  AddLines(x, {x, x}, kOfTwo, "  %r = $0 fusion(%0, %1), kind=kLoop, calls=@f\n", drafts);
}

// The states of all algorithms; the result has the anchor's sizes.
void DraftRandomBits(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (absl::string_view algorithm : {"rng_default", "rng_three_fry", "rng_philox"}) {
    for (int64_t words : {2, 3}) {
      const Shape state = ShapeUtil::MakeShape(U64, {words});
      drafts->push_back({{state}, absl::StrCat("algorithm=", algorithm), "", ShapeUtil::MakeTupleShape({state, x})});
    }
  }
}

absl::Span<const RuleOfShapes> ControlRules() {
  static constexpr RuleOfShapes kRules[] = {
      {HloShapeRule::kCall, &DraftCall},
      {HloShapeRule::kWhile, &DraftWhile},
      {HloShapeRule::kConditional, &DraftConditional},
      {HloShapeRule::kTuple, &DraftTuple},
      {HloShapeRule::kAddDependency, &DraftAddDependency},
      {HloShapeRule::kCopyStart, &DraftCopyStart},
      {HloShapeRule::kU32, &DraftNumber},
  };
  return kRules;
}

}  // namespace kashi::tests
