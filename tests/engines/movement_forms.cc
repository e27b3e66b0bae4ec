// Forms of operations that move elements: dimensions added, dropped, permuted, cut, padded; sizes at run time.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "tests/engines/form.h"

namespace kashi::tests {
namespace {

Sizes SizesOf(const Shape& x) { return Sizes(x.dimensions().begin(), x.dimensions().end()); }
int64_t RankOf(const Shape& x) { return static_cast<int64_t>(x.dimensions().size()); }

// The anchor among new dimensions: inserted at each place, of size 1 and 3; in front and behind; permuted; none.
void DraftBroadcast(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const Sizes sizes = SizesOf(x);
  const auto add = [&](const Sizes& result, const Sizes& dimensions) {
    drafts->push_back({{x}, absl::StrCat("dimensions=", ListText(dimensions)), "", WithSizes(x, result)});
  };
  Sizes all(sizes.size());
  std::iota(all.begin(), all.end(), 0);
  add(sizes, all);
  for (int64_t at = 0; at <= RankOf(x); ++at) {
    for (int64_t size : {3, 1, 17}) {
      Sizes result = sizes, dimensions = all;
      result.insert(result.begin() + at, size);
      for (int64_t& d : dimensions) d += d >= at;
      add(result, dimensions);
    }
  }
  Sizes both = sizes, shifted = all;
  both.insert(both.begin(), 2);
  both.push_back(5);
  for (int64_t& d : shifted) ++d;
  add(both, shifted);
  if (sizes.size() > 1) {
    Sizes reversed = sizes, dimensions = all;
    absl::c_reverse(reversed);
    absl::c_reverse(dimensions);
    add(reversed, dimensions);
  }
}

void DraftReshape(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const Sizes sizes = SizesOf(x);
  const int64_t count = ShapeUtil::ElementsIn(x);
  const auto add = [&](const Sizes& result) { drafts->push_back({{x}, "", "", WithSizes(x, result)}); };
  add(sizes);
  add({count});
  add({1, count});
  add({count, 1});
  if (count == 1) add({});
  for (int64_t factor : {2, 3, 17}) {
    if (count % factor == 0) add({factor, count / factor}), add({count / factor, factor});
  }
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    Sizes joined = sizes;
    joined[i] *= joined[i + 1];
    joined.erase(joined.begin() + static_cast<int64_t>(i) + 1);
    add(joined);
  }
  Sizes with_one = sizes;
  with_one.insert(with_one.begin() + static_cast<int64_t>(sizes.size() / 2), 1);
  add(with_one);
}

// All permutations of up to three dimensions; of more, some.
void DraftTranspose(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  Sizes permutation(x.dimensions().size());
  std::iota(permutation.begin(), permutation.end(), 0);
  for (int i = 0; i < 12; ++i) {
    drafts->push_back({{x}, absl::StrCat("dimensions=", ListText(permutation))});
    const int steps = permutation.size() <= 3 ? 1 : 7;
    for (int step = 0; step < steps; ++step) {
      if (!std::next_permutation(permutation.begin(), permutation.end())) return;
    }
  }
}

void DraftReverse(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const int64_t rank = std::min<int64_t>(RankOf(x), 3);
  for (int mask = 0; mask < 1 << rank; ++mask) {
    Sizes dimensions;
    for (int64_t d = 0; d < rank; ++d) {
      if (mask >> d & 1) dimensions.push_back(RankOf(x) - 1 - d);
    }
    drafts->push_back({{x}, absl::StrCat("dimensions=", ListText(dimensions))});
  }
}

void DraftSlice(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  struct Cut {
    int64_t front, back, stride;
  };
  for (const Cut& cut : {Cut{0, 0, 1}, Cut{1, 0, 1}, Cut{0, 1, 1}, Cut{0, 0, 2}, Cut{1, 0, 3}, Cut{0, 1000, 1}}) {
    for (int64_t only = -1; only < RankOf(x); ++only) {
      std::vector<std::string> ranges;
      for (int64_t d = 0; d < RankOf(x); ++d) {
        const int64_t size = x.dimensions(static_cast<int>(d));
        const bool whole = only >= 0 && d != only;
        const int64_t begin = whole ? 0 : std::min(cut.front, size);
        const int64_t limit = whole ? size : std::max(begin, size - cut.back);
        ranges.push_back(absl::StrCat("[", begin, ":", limit, ":", whole ? 1 : cut.stride, "]"));
      }
      drafts->push_back({{x}, absl::StrCat("slice={", absl::StrJoin(ranges, ", "), "}")});
      if (RankOf(x) < 2) break;
    }
  }
}

void DraftPad(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (absl::string_view edges : {"0_0", "1_0", "0_2", "2_1", "0_0_1", "1_2_2", "-1_0", "-1_2", "3_-2_1"}) {
    for (int64_t only = -1; only < RankOf(x); ++only) {
      std::vector<absl::string_view> all;
      for (int64_t d = 0; d < RankOf(x); ++d) all.push_back(only >= 0 && d != only ? "0_0" : edges);
      drafts->push_back({{x, ScalarOf(x.element_type())}, absl::StrCat("padding=", absl::StrJoin(all, "x"))});
      if (RankOf(x) < 2) break;
    }
  }
}

// The anchor first, second, third and twice; other operands of sizes 0, 1 and of its own.
void DraftConcatenate(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (int64_t d = 0; d < RankOf(x); ++d) {
    const auto other = [&](int64_t size) {
      Sizes sizes = SizesOf(x);
      sizes[d] = size;
      return WithSizes(x, sizes);
    };
    for (const std::vector<Shape>& operands :
         {std::vector<Shape>{x}, {x, x}, {x, other(1)}, {other(3), x}, {other(0), x, other(2)}, {x, x, x, other(5)}}) {
      drafts->push_back({operands, absl::StrCat("dimensions={", d, "}")});
    }
  }
}

void DraftDynamicSizes(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (int64_t d = 0; d < RankOf(x); ++d) drafts->push_back({{x}, absl::StrCat("dimensions={", d, "}")});
}
void DraftSetDimensionSize(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (int64_t d = 0; d < RankOf(x); ++d) {
    drafts->push_back({{x, ScalarOf(S32)}, absl::StrCat("dimensions={", d, "}")});
  }
}
void DraftDynamicReshape(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const int64_t count = ShapeUtil::ElementsIn(x);
  drafts->push_back({{x, ScalarOf(S32)}, "", "", ShapeUtil::MakeShape(x.element_type(), {count}, {true})});
}

void DraftIota(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (int64_t d = 0; d < RankOf(x); ++d) drafts->push_back({{}, absl::StrCat("iota_dimension=", d), "", x});
}

// The same bytes: flattened, and with two dimensions swapped in the shape and in the layout.
void DraftBitcast(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  drafts->push_back({{x}, "", "", x});
  drafts->push_back({{x}, "", "", WithSizes(x, {ShapeUtil::ElementsIn(x)})});
  if (RankOf(x) != 2) return;
  const Shape swapped = WithSizes(x, {x.dimensions(1), x.dimensions(0)});
  drafts->push_back(
      {{x},
       "",
       "",
       swapped,
       absl::StrCat("  @b = ", ShapeText(swapped), "{0,1} bitcast($0)\n  $r = ", ShapeText(swapped), " copy(@b)\n")});
}

// Small numbers that all types have: 0 and 1 in turn.
std::string NestedNumbers(absl::Span<const int64_t> sizes, int64_t* next) {
  if (sizes.empty()) return absl::StrCat((*next)++ % 3 == 1);
  std::vector<std::string> parts;
  for (int64_t i = 0; i < sizes[0]; ++i) parts.push_back(NestedNumbers(sizes.subspan(1), next));
  return absl::StrCat("{", absl::StrJoin(parts, ","), "}");
}
void DraftConstant(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  if (ShapeUtil::ElementsIn(x) > 1000) return;
  int64_t next = 0;
  drafts->push_back(
      {{}, "", "", x, absl::StrCat("  $r = ", ShapeText(x), " constant(", NestedNumbers(SizesOf(x), &next), ")\n")});
}

void DraftParameter(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  drafts->push_back({{x}, "", "", x, absl::StrCat("  $r = ", ShapeText(x), " copy($0)\n")});
}

}  // namespace

absl::Span<const RuleOfShapes> MovementRules() {
  static constexpr RuleOfShapes kRules[] = {
      {HloShapeRule::kBroadcast, &DraftBroadcast},
      {HloShapeRule::kReshape, &DraftReshape},
      {HloShapeRule::kTranspose, &DraftTranspose},
      {HloShapeRule::kReverse, &DraftReverse},
      {HloShapeRule::kSlice, &DraftSlice},
      {HloShapeRule::kPad, &DraftPad},
      {HloShapeRule::kConcatenate, &DraftConcatenate},
      {HloShapeRule::kGetDimensionSize, &DraftDynamicSizes},
      {HloShapeRule::kSetDimensionSize, &DraftSetDimensionSize},
      {HloShapeRule::kDynamicReshape, &DraftDynamicReshape},
  };
  return kRules;
}

void DraftRandomBits(HloOpcode opcode, const Shape& x, std::vector<Draft>* drafts);
void DraftFusion(HloOpcode opcode, const Shape& x, std::vector<Draft>* drafts);

absl::Span<const RuleOfOperation> RulesOfOperations() {
  static constexpr RuleOfOperation kRules[] = {
      {HloOpcode::kIota, &DraftIota},         {HloOpcode::kBitcast, &DraftBitcast},
      {HloOpcode::kConstant, &DraftConstant}, {HloOpcode::kParameter, &DraftParameter},
      {HloOpcode::kFusion, &DraftFusion},     {HloOpcode::kRngBitGenerator, &DraftRandomBits},
  };
  return kRules;
}

}  // namespace kashi::tests
