// gather and scatter against their definitions, element by element, on random dimension numbers.
#include "kashi/kernels/indexed_windows.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"

namespace kashi::evaluator {
namespace {

using Index = std::vector<int64_t>;

std::string List(const Index& values) { return absl::StrCat("{", absl::StrJoin(values, ","), "}"); }
std::string Array(const Index& dims) { return absl::StrCat("s32[", absl::StrJoin(dims, ","), "]"); }

// One operand, one array of indices, one batch of windows, and how they are related.
struct CaseMaker {
  explicit CaseMaker(uint64_t seed) : random(seed) {
    // The role of every dimension of the operand in a window.
    operand.resize(Random(1, 4));
    window.resize(operand.size(), 1);
    Index indexable;
    for (int64_t d = 0; d < static_cast<int64_t>(operand.size()); ++d) {
      operand[d] = Random(1, 5);
      const int64_t role = Random(0, 4);
      if (role == 0) {
        operand_batching.push_back(d);
        continue;
      }
      if (role == 1) collapsed.push_back(d);
      if (role > 1) window[d] = Random(0, 2) == 0 ? operand[d] : Random(1, operand[d]);
      indexable.push_back(d);
    }
    std::shuffle(indexable.begin(), indexable.end(), random);
    start_map.assign(indexable.begin(), indexable.begin() + Random(0, indexable.size()));

    // The indices: the batching dimensions, and others, in any order; then the vector somewhere among them.
    Index counters;
    for (int64_t d : operand_batching) counters.push_back(operand[d]);
    for (int64_t i = Random(0, 2); i > 0; --i) counters.push_back(Random(1, 20));
    Index order(counters.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (int64_t i : order) indices.push_back(counters[i]);
    index_vector_dim = start_map.size() == 1 && Random(0, 2) == 0 ? indices.size() : Random(0, indices.size());
    is_vector = start_map.size() != 1 || index_vector_dim < static_cast<int64_t>(indices.size()) || Random(0, 1) == 0;
    if (is_vector) indices.insert(indices.begin() + index_vector_dim, start_map.size());
    for (size_t k = 0; k < operand_batching.size(); ++k) {
      const int64_t place = absl::c_find(order, static_cast<int64_t>(k)) - order.begin();
      indices_batching.push_back(place + (is_vector && place >= index_vector_dim));
    }

    // The batch: counters in order, window dimensions anywhere among them.
    Index widths;
    for (size_t d = 0; d < operand.size(); ++d) {
      if (!absl::c_linear_search(collapsed, d) && !absl::c_linear_search(operand_batching, d)) {
        widths.push_back(window[d]);
      }
    }
    for (int64_t i : order) batch.push_back(counters[i]);
    for (size_t k = 0, next = 0; k < widths.size(); ++k) {
      next = Random(next, batch.size());
      batch.insert(batch.begin() + next, widths[k]);
      window_dims.push_back(next++);
    }
  }

  int64_t Random(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

  Literal RandomLiteral(const Index& dims, int32_t low, int32_t high) {
    Literal literal(ShapeUtil::MakeShape(S32, dims));
    for (int32_t& x : literal.data<int32_t>()) x = static_cast<int32_t>(Random(low, high));
    return literal;
  }

  // The operand's index that belongs to an index of the batch; nothing if its window reaches beyond and is not clamped.
  std::optional<Index> OperandIndex(const Literal& starts, absl::Span<const int64_t> at, bool clamp) const {
    Index counter;
    for (size_t d = 0; d < at.size(); ++d) {
      if (!absl::c_linear_search(window_dims, d)) counter.push_back(at[d]);
    }
    if (is_vector) counter.insert(counter.begin() + index_vector_dim, 0);
    Index from(operand.size(), 0);
    for (size_t k = 0; k < start_map.size(); ++k) {
      if (is_vector) counter[index_vector_dim] = k;
      from[start_map[k]] = starts.Get<int32_t>(counter);
    }
    for (size_t k = 0; k < operand_batching.size(); ++k) from[operand_batching[k]] = counter[indices_batching[k]];
    for (size_t d = 0; d < operand.size(); ++d) {
      const int64_t limit = operand[d] - window[d];
      if (!clamp && (from[d] < 0 || from[d] > limit)) return std::nullopt;
      from[d] = std::clamp<int64_t>(from[d], 0, limit);
    }
    for (size_t d = 0, k = 0; d < operand.size(); ++d) {
      if (absl::c_linear_search(collapsed, d) || absl::c_linear_search(operand_batching, d)) continue;
      from[d] += at[window_dims[k++]];
    }
    return from;
  }

  std::mt19937_64 random;
  Index operand, window, operand_batching, collapsed, start_map, indices, indices_batching, batch, window_dims;
  int64_t index_vector_dim;
  bool is_vector;
};

TEST(IndexedWindowsTest, GatherIsWhatItsDefinitionSays) {
  for (uint64_t seed = 0; seed < 1000 && !testing::Test::HasFailure(); ++seed) {
    CaseMaker c(seed);
    const Literal x = c.RandomLiteral(c.operand, -1000, 1000);
    const Literal starts = c.RandomLiteral(c.indices, -1, 5);
    const std::string text =
        absl::StrCat("HloModule m\nENTRY main {\n x = ", Array(c.operand), " parameter(0)\n i = ", Array(c.indices),
                     " parameter(1)\n ROOT y = ", Array(c.batch), " gather(x, i), offset_dims=", List(c.window_dims),
                     ", collapsed_slice_dims=", List(c.collapsed), ", start_index_map=", List(c.start_map),
                     ", operand_batching_dims=", List(c.operand_batching),
                     ", start_indices_batching_dims=", List(c.indices_batching),
                     ", index_vector_dim=", c.index_vector_dim, ", slice_sizes=", List(c.window), "\n}");
    Literal expected(ShapeUtil::MakeShape(S32, c.batch));
    ShapeUtil::ForEachIndexNoStatus(expected.shape(), [&](absl::Span<const int64_t> at) {
      expected.Set<int32_t>(at, x.Get<int32_t>(*c.OperandIndex(starts, at, /*clamp=*/true)));
      return true;
    });
    EXPECT_EQ(EvaluateText(text, std::vector<const Literal*>{&x, &starts}), expected) << seed << "\n" << text;
  }
}

int32_t Applied(absl::string_view function, int32_t a, int32_t b) {
  const uint32_t x = a, y = b;
  if (function == "add") return static_cast<int32_t>(x + y);
  if (function == "append") return static_cast<int32_t>(x * 10 + y);
  return b;
}

TEST(IndexedWindowsTest, ScatterIsWhatItsDefinitionSays) {
  for (uint64_t seed = 0; seed < 1500 && !testing::Test::HasFailure(); ++seed) {
    CaseMaker c(seed);
    const absl::string_view function = std::vector<absl::string_view>{"add", "append", "assign"}[seed % 3];
    Literal x = c.RandomLiteral(c.operand, -1000, 1000);
    const Literal updates = c.RandomLiteral(c.batch, -1000, 1000);
    const Literal starts = c.RandomLiteral(c.indices, -1, 4);
    const std::string text = absl::StrCat(
        R"(HloModule m
        add { a = s32[] parameter(0)
              b = s32[] parameter(1)
              ROOT c = s32[] add(a, b) }
        append { a = s32[] parameter(0)
                 b = s32[] parameter(1)
                 ten = s32[] constant(10)
                 shifted = s32[] multiply(a, ten)
                 ROOT c = s32[] add(shifted, b) }
        assign { a = s32[] parameter(0)
                 ROOT b = s32[] parameter(1) }
        ENTRY main {)",
        "\n x = ", Array(c.operand), " parameter(0)\n i = ", Array(c.indices), " parameter(1)\n u = ", Array(c.batch),
        " parameter(2)\n ROOT y = ", Array(c.operand), " scatter(x, i, u), to_apply=", function,
        ", update_window_dims=", List(c.window_dims), ", inserted_window_dims=", List(c.collapsed),
        ", scatter_dims_to_operand_dims=", List(c.start_map), ", input_batching_dims=", List(c.operand_batching),
        ", scatter_indices_batching_dims=", List(c.indices_batching), ", index_vector_dim=", c.index_vector_dim, "\n}");
    const Literal result = EvaluateText(text, std::vector<const Literal*>{&x, &starts, &updates});

    // Window by window.
    std::vector<Index> all;
    ShapeUtil::ForEachIndexNoStatus(updates.shape(), [&](absl::Span<const int64_t> at) {
      all.emplace_back(at.begin(), at.end());
      return true;
    });
    const auto counter = [&](const Index& at) {
      Index picked;
      for (size_t d = 0; d < at.size(); ++d) {
        if (!absl::c_linear_search(c.window_dims, d)) picked.push_back(at[d]);
      }
      return picked;
    };
    std::stable_sort(all.begin(), all.end(), [&](const Index& a, const Index& b) { return counter(a) < counter(b); });
    for (const Index& at : all) {
      const std::optional<Index> to = c.OperandIndex(starts, at, /*clamp=*/false);
      if (!to.has_value()) continue;
      x.Set<int32_t>(*to, Applied(function, x.Get<int32_t>(*to), updates.Get<int32_t>(at)));
    }
    EXPECT_EQ(result, x) << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace kashi::evaluator
