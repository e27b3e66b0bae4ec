// Forms of operations with indices at run time. The indices are operands too, so that any producer can make them.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "tests/engines/form.h"

namespace kashi::tests {
namespace {

constexpr PrimitiveType kIndexTypes[] = {S32, S64, U32, S8, U8};

// Some sizes of a window in the anchor: all of it, one element, a half, nothing; the last dimension whole.
std::vector<Sizes> WindowsIn(const Shape& x) {
  const Sizes all(x.dimensions().begin(), x.dimensions().end());
  std::vector<Sizes> windows = {all, Sizes(all.size(), 1), Sizes(all.size(), 0)};
  Sizes half = all, rows(all.size(), 1);
  for (int64_t& size : half) size = (size + 1) / 2;
  windows.push_back(half);
  if (!all.empty()) {
    rows.back() = all.back();
    windows.push_back(rows);
  }
  return windows;
}

void AddStarts(const Shape& x, PrimitiveType type, std::vector<Shape>* operands) {
  operands->insert(operands->end(), x.dimensions().size(), ScalarOf(type));
}

void DraftDynamicSlice(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (PrimitiveType type : kIndexTypes) {
    for (const Sizes& window : WindowsIn(x)) {
      Draft draft{{x}, absl::StrCat("dynamic_slice_sizes=", ListText(window))};
      AddStarts(x, type, &draft.operands);
      drafts->push_back(std::move(draft));
    }
    if (x.element_type() != S32) break;
  }
}

void DraftDynamicUpdateSlice(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (PrimitiveType type : kIndexTypes) {
    for (const Sizes& window : WindowsIn(x)) {
      Draft draft{{x, WithSizes(x, window)}, ""};
      AddStarts(x, type, &draft.operands);
      drafts->push_back(std::move(draft));
    }
    if (x.element_type() != S32) break;
  }
}

// One way to take windows of an array by indices, for gather and scatter alike.
struct Indexing {
  Sizes indices;         // sizes of the array of indices
  int64_t index_vector;  // its dimension that holds one index
  Sizes window;          // sizes of a window in the array
  Sizes offsets;         // dimensions of the result that are the window's
  Sizes dropped;         // dimensions of the window that the result does not have
  Sizes map;             // the dimension that each part of an index is for
  Sizes result;
};

// Rows, columns or planes along dimension d: by a list of indices, by one index, by a list of vectors of length 1.
void IndexAlong(const Shape& x, int64_t d, std::vector<Indexing>* all) {
  const Sizes sizes(x.dimensions().begin(), x.dimensions().end());
  for (const Sizes& indices : {Sizes{5}, Sizes{}, Sizes{3, 1}, Sizes{2, 3}}) {
    Indexing indexing{indices, static_cast<int64_t>(indices.size()), sizes, {}, {d}, {d}, {}};
    const bool in_vectors = indices == Sizes{3, 1};
    if (in_vectors) indexing.index_vector = 1;
    indexing.window[static_cast<size_t>(d)] = 1;
    const Sizes batch = in_vectors ? Sizes{3} : indices;
    // The dimensions of the indices come first, or last.
    for (bool first : {true, false}) {
      indexing.result = first ? batch : Sizes();
      indexing.offsets.clear();
      for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i) {
        if (i == d) continue;
        indexing.offsets.push_back(static_cast<int64_t>(indexing.result.size()));
        indexing.result.push_back(sizes[static_cast<size_t>(i)]);
      }
      if (!first) indexing.result.insert(indexing.result.end(), batch.begin(), batch.end());
      all->push_back(indexing);
      if (sizes.size() < 2) break;
    }
  }
}

// Single elements by whole vectors of indices, and windows that keep all their dimensions.
void IndexByPoints(const Shape& x, std::vector<Indexing>* all) {
  const Sizes sizes(x.dimensions().begin(), x.dimensions().end());
  const int64_t rank = static_cast<int64_t>(sizes.size());
  Sizes dimensions(sizes.size()), backwards, offsets;
  for (int64_t i = 0; i < rank; ++i) {
    dimensions[static_cast<size_t>(i)] = i;
    backwards.push_back(rank - 1 - i);
    offsets.push_back(i + 1);
  }
  all->push_back({{7, rank}, 1, Sizes(sizes.size(), 1), {}, dimensions, dimensions, {7}});
  all->push_back({{rank, 7}, 0, Sizes(sizes.size(), 1), {}, dimensions, backwards, {7}});
  Sizes half = sizes, result = {3};
  for (int64_t& size : half) result.push_back(size = (size + 1) / 2);
  all->push_back({{3, rank}, 1, half, offsets, {}, dimensions, result});
}

std::vector<Indexing> IndexingsOf(const Shape& x) {
  std::vector<Indexing> all;
  for (int64_t d = 0; d < static_cast<int64_t>(x.dimensions().size()); ++d) IndexAlong(x, d, &all);
  if (!x.dimensions().empty()) IndexByPoints(x, &all);
  return all;
}

void DraftGather(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (const Indexing& indexing : IndexingsOf(x)) {
    for (PrimitiveType type : kIndexTypes) {
      const Shape indices = ShapeUtil::MakeShape(type, indexing.indices);
      drafts->push_back(
          {{x, indices},
           absl::StrCat("offset_dims=", ListText(indexing.offsets), ", collapsed_slice_dims=",
                        ListText(indexing.dropped), ", start_index_map=", ListText(indexing.map),
                        ", index_vector_dim=", indexing.index_vector, ", slice_sizes=", ListText(indexing.window))});
      if (x.element_type() != S32) break;
    }
  }
  if (x.dimensions().size() < 2) return;
  // The first dimension is a batch: each row takes from its own row.
  Sizes window(x.dimensions().size(), 1);
  Sizes dropped;
  for (size_t i = 2; i < window.size(); ++i) dropped.push_back(static_cast<int64_t>(i));
  dropped.insert(dropped.begin(), 1);
  drafts->push_back({{x, ShapeUtil::MakeShape(S32, {x.dimensions(0), 4})},
                     absl::StrCat("offset_dims={}, collapsed_slice_dims=", ListText(dropped),
                                  ", start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, "
                                  "index_vector_dim=2, slice_sizes=",
                                  ListText(window))});
}

void DraftScatter(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const std::string scalar = ShapeText(ScalarOf(x.element_type()));
  const std::string replace =
      absl::StrCat("@f {\n  a = ", scalar, " parameter(0)\n  ROOT b = ", scalar, " parameter(1)\n}\n");
  const std::string combine = BinaryComputation("@f", BinaryNeighbour(x.element_type()), x.element_type());
  const std::string largest = BinaryComputation("@f", "maximum", x.element_type());
  for (const Indexing& indexing : IndexingsOf(x)) {
    for (const std::string& computation : {combine, replace, largest}) {
      for (PrimitiveType type : kIndexTypes) {
        const Shape indices = ShapeUtil::MakeShape(type, indexing.indices);
        drafts->push_back({{x, indices, WithSizes(x, indexing.result)},
                           absl::StrCat("update_window_dims=", ListText(indexing.offsets),
                                        ", inserted_window_dims=", ListText(indexing.dropped),
                                        ", scatter_dims_to_operand_dims=", ListText(indexing.map),
                                        ", index_vector_dim=", indexing.index_vector, ", to_apply=@f"),
                           computation});
        if (x.element_type() != S32) break;
      }
    }
  }
}

}  // namespace

absl::Span<const RuleOfShapes> IndexedRules() {
  static constexpr RuleOfShapes kRules[] = {
      {HloShapeRule::kDynamicSlice, &DraftDynamicSlice},
      {HloShapeRule::kDynamicUpdateSlice, &DraftDynamicUpdateSlice},
      {HloShapeRule::kGather, &DraftGather},
      {HloShapeRule::kScatter, &DraftScatter},
  };
  return kRules;
}

}  // namespace kashi::tests
