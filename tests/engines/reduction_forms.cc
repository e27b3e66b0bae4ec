// Forms of operations with a computation over many elements: every operation with a neutral element as the computation,
// and computations of several values.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "tests/engines/form.h"

namespace kashi::tests {
namespace {

int64_t RankOfAnchor(const Shape& x) { return static_cast<int64_t>(x.dimensions().size()); }

// `@f` for each operation of the table that has a neutral element.
std::vector<std::string> Combinations(PrimitiveType type) {
  std::vector<std::string> combinations;
  for (uint32_t i = 0; i < HloOpcodeCount(); ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    if (GetHloOpcodeInfo(opcode).neutral == HloOpcodeFlags::Neutral::kDefault) continue;
    combinations.push_back(BinaryComputation("@f", HloOpcodeString(opcode), type));
  }
  return combinations;
}

// The greatest and its index, as argmax.
std::string ArgmaxComputation(PrimitiveType type) {
  return absl::Substitute(R"(@f {
  a = $0 parameter(0)
  i = s32[] parameter(1)
  b = $0 parameter(2)
  j = s32[] parameter(3)
  first = pred[] compare(a, b), direction=GE
  m = $0 select(first, a, b)
  n = s32[] select(first, i, j)
  ROOT both = ($0, s32[]) tuple(m, n)
}
)",
                          ShapeText(ScalarOf(type)));
}

// The sum and the sum of squares.
std::string MomentsComputation(PrimitiveType type) {
  return absl::Substitute(R"(@f {
  a = $0 parameter(0)
  s = $0 parameter(1)
  b = $0 parameter(2)
  t = $0 parameter(3)
  ab = $0 add(a, b)
  tt = $0 multiply(t, t)
  st = $0 add(s, tt)
  ROOT both = ($0, $0) tuple(ab, st)
}
)",
                          ShapeText(ScalarOf(type)));
}

void DraftReduce(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const PrimitiveType type = x.element_type();
  const Shape scalar = ScalarOf(type);
  const std::vector<std::string> combinations = Combinations(type);
  for (int mask = 0; mask < 1 << RankOfAnchor(x); ++mask) {
    Sizes dimensions;
    for (int64_t d = 0; d < RankOfAnchor(x); ++d) {
      if (mask >> d & 1) dimensions.push_back(d);
    }
    const std::string attributes = absl::StrCat("dimensions=", ListText(dimensions), ", to_apply=@f");
    for (const std::string& combination : combinations) drafts->push_back({{x, scalar}, attributes, combination});
    drafts->push_back({{x, WithType(x, S32), scalar, ScalarOf(S32)}, attributes, ArgmaxComputation(type)});
    drafts->push_back({{x, x, scalar, scalar}, attributes, MomentsComputation(type)});
  }
}

// Windows of all dimensions from one text per dimension: "size,stride,pad,lhs_dilate,rhs_dilate" of the last or of each
// dimension.
struct WindowOfDimension {
  const char *size, *stride, *pad, *base_dilation, *window_dilation;
};
constexpr WindowOfDimension kWindows[] = {
    {"2", "1", "0_0", "1", "1"}, {"2", "2", "0_0", "1", "1"},  {"3", "1", "1_1", "1", "1"}, {"3", "2", "2_0", "1", "2"},
    {"2", "1", "0_1", "2", "1"}, {"3", "1", "-1_2", "1", "1"}, {"1", "1", "0_0", "1", "1"},
};
constexpr WindowOfDimension kNoWindow = {"1", "1", "0_0", "1", "1"};

std::string WindowText(const std::vector<WindowOfDimension>& window) {
  const auto join = [&](const char* WindowOfDimension::*part) {
    std::vector<std::string> parts;
    for (const WindowOfDimension& dimension : window) parts.emplace_back(dimension.*part);
    return absl::StrJoin(parts, "x");
  };
  return absl::StrCat("window={size=", join(&WindowOfDimension::size), " stride=", join(&WindowOfDimension::stride),
                      " pad=", join(&WindowOfDimension::pad), " lhs_dilate=", join(&WindowOfDimension::base_dilation),
                      " rhs_dilate=", join(&WindowOfDimension::window_dilation), "}");
}

// Each window on each single dimension, and on all.
std::vector<std::string> WindowTexts(const Shape& x) {
  std::vector<std::string> texts;
  const int64_t rank = RankOfAnchor(x);
  for (const WindowOfDimension& window : kWindows) {
    for (int64_t only = rank > 1 ? -1 : 0; only < rank; ++only) {
      std::vector<WindowOfDimension> all;
      for (int64_t d = 0; d < rank; ++d) all.push_back(only < 0 || only == d ? window : kNoWindow);
      texts.push_back(WindowText(all));
    }
  }
  // Sums from each end, as cumsum has them.
  if (rank > 0 && x.dimensions(static_cast<int>(rank - 1)) > 0) {
    const int64_t size = x.dimensions(static_cast<int>(rank - 1));
    const std::string whole = absl::StrCat(size);
    for (const std::string& padding : {absl::StrCat(size - 1, "_0"), absl::StrCat("0_", size - 1)}) {
      std::vector<WindowOfDimension> all(static_cast<size_t>(rank), kNoWindow);
      all.back() = {whole.c_str(), "1", padding.c_str(), "1", "1"};
      texts.push_back(WindowText(all));
    }
  }
  return texts;
}

void DraftReduceWindow(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const PrimitiveType type = x.element_type();
  const Shape scalar = ScalarOf(type);
  const std::string sum = BinaryComputation("@f", BinaryNeighbour(type), type);
  const std::string largest = BinaryComputation("@f", "maximum", type);
  for (const std::string& window : WindowTexts(x)) {
    const std::string attributes = absl::StrCat(window, ", to_apply=@f");
    drafts->push_back({{x, scalar}, attributes, sum});
    drafts->push_back({{x, scalar}, attributes, largest});
    drafts->push_back({{x, WithType(x, S32), scalar, ScalarOf(S32)}, attributes, ArgmaxComputation(type)});
  }
}

void DraftSelectAndScatter(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const std::string scalar = ShapeText(ScalarOf(x.element_type()));
  const std::string computations =
      absl::StrCat("@s {\n  a = ", scalar, " parameter(0)\n  b = ", scalar,
                   " parameter(1)\n  ROOT c = pred[] compare(a, b), direction=GE\n}\n",
                   BinaryComputation("@f", BinaryNeighbour(x.element_type()), x.element_type()));
  const size_t rank = x.dimensions().size();
  for (const auto& [size, stride] : std::vector<std::pair<int64_t, int64_t>>{{2, 2}, {2, 1}, {3, 2}, {1, 1}}) {
    Sizes sources;
    std::vector<int64_t> sizes(rank, size), strides(rank, stride);
    for (int64_t whole : x.dimensions()) sources.push_back(whole < size ? 0 : (whole - size) / stride + 1);
    drafts->push_back({{x, WithSizes(x, sources), ScalarOf(x.element_type())},
                       absl::StrCat("window={size=", absl::StrJoin(sizes, "x"), " stride=", absl::StrJoin(strides, "x"),
                                    "}, select=@s, scatter=@f"),
                       computations});
  }
}

// By total order: else NaNs have no place.
void DraftSort(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const std::string scalar = ShapeText(ScalarOf(x.element_type()));
  const char* const total = primitive_util::IsFloatingPointType(x.element_type()) ? ", type=TOTALORDER" : "";
  for (absl::string_view comparison : {"direction=LT", "direction=GT"}) {
    const std::string key = absl::StrCat("@f {\n  a = ", scalar, " parameter(0)\n  b = ", scalar, " parameter(1)\n");
    const std::string order = absl::StrCat("  ROOT c = pred[] compare(a, b), ", comparison, total, "\n}\n");
    const std::string value = "  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n";
    for (int64_t d = 0; d < RankOfAnchor(x); ++d) {
      for (absl::string_view is_stable : {"true", "false"}) {
        const std::string attributes = absl::StrCat("dimensions={", d, "}, is_stable=", is_stable, ", to_apply=@f");
        drafts->push_back({{x}, attributes, absl::StrCat(key, order)});
        drafts->push_back({{x, WithType(x, S32)}, attributes, absl::StrCat(key, value, order)});
      }
    }
  }
}

// A running sum, and a running sum with the element before.
void DraftScan(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (int64_t d = 0; d < RankOfAnchor(x); ++d) {
    Sizes slice(x.dimensions().begin(), x.dimensions().end());
    slice.erase(slice.begin() + d);
    const Shape carry = WithSizes(x, slice);
    const std::string computation = absl::Substitute(
        "@f {\n  a = $0 parameter(0)\n  c = $0 parameter(1)\n  s = $0 $1(a, c)\n  ROOT t = ($0, $0) tuple(s, s)\n}\n",
        ShapeText(carry), BinaryNeighbour(x.element_type()));
    for (absl::string_view way : {"", ", is_reverse=true"}) {
      drafts->push_back(
          {{x, carry}, absl::StrCat("dimensions={", d, "}, num_carries=1", way, ", to_apply=@f"), computation});
    }
  }
}

void DraftTopK(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (int64_t k : {1, 3, 0}) {
    for (absl::string_view largest : {"true", "false"}) {
      drafts->push_back({{x}, absl::StrCat("k=", k, ", largest=", largest)});
    }
  }
}

void DraftMap(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const std::string scalar = ShapeText(ScalarOf(x.element_type()));
  Sizes dimensions;
  for (int64_t d = 0; d < RankOfAnchor(x); ++d) dimensions.push_back(d);
  const std::string attributes = absl::StrCat("dimensions=", ListText(dimensions), ", to_apply=@f");
  drafts->push_back({{x, x}, attributes, BinaryComputation("@f", BinaryNeighbour(x.element_type()), x.element_type())});
  drafts->push_back({{x},
                     attributes,
                     absl::StrCat("@f {\n  a = ", scalar, " parameter(0)\n  ROOT c = ", scalar, " ",
                                  UnaryNeighbour(x.element_type()), "(a)\n}\n")});
}

}  // namespace

absl::Span<const RuleOfShapes> ReductionRules() {
  static constexpr RuleOfShapes kRules[] = {
      {HloShapeRule::kReduce, &DraftReduce},
      {HloShapeRule::kReduceWindow, &DraftReduceWindow},
      {HloShapeRule::kSelectAndScatter, &DraftSelectAndScatter},
      {HloShapeRule::kSort, &DraftSort},
      {HloShapeRule::kScan, &DraftScan},
      {HloShapeRule::kTopK, &DraftTopK},
      {HloShapeRule::kMap, &DraftMap},
  };
  return kRules;
}

}  // namespace kashi::tests
