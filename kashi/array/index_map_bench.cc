// Nanoseconds per index (the counter `index`): IndexMap against a plain strided computation over the same logical
// dimensions without tiles and the same list of indices, in order and random; and back, against a division for each
// dimension.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/check.h"

namespace kashi::array {
namespace {

constexpr int kCount = 4096;  // indices; small enough to stay in the nearest caches

IndexMap MapOf(const std::string& text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  KASHI_CHECK_OK(shape);
  absl::StatusOr<IndexMap> map = IndexMap::Make(*shape);
  KASHI_CHECK_OK(map);
  return *std::move(map);
}

// kCount indices, `rank` numbers each, one after the other.
std::vector<int64_t> MakeIndices(absl::Span<const int64_t> sizes, bool is_random) {
  std::mt19937_64 random(1);
  std::vector<int64_t> indices;
  DimensionVector index(sizes.size(), 0);
  for (int i = 0; i < kCount; ++i) {
    for (size_t d = sizes.size(); is_random && d-- > 0;) index[d] = random() % sizes[d];
    indices.insert(indices.end(), index.begin(), index.end());
    for (size_t d = sizes.size(); !is_random && d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
  return indices;
}

std::vector<int64_t> MakePositions(int64_t count, bool is_random) {
  std::mt19937_64 random(1);
  std::vector<int64_t> positions(kCount);
  for (int i = 0; i < kCount; ++i) positions[i] = static_cast<int64_t>(is_random ? random() % count : i % count);
  return positions;
}

// The time of one of `count` indices an iteration, in nanoseconds: shown as "index=3.2n".
void CountIndices(benchmark::State& state, int64_t count) {
  using benchmark::Counter;
  state.counters["index"] = Counter(static_cast<double>(count), Counter::kIsIterationInvariantRate | Counter::kInvert);
}

// The usual hand-written formula: the sum of index * stride, with the strides in a list.
void BM_PlainStrided(benchmark::State& state, const std::string& text, bool is_random) {
  const IndexMap map = MapOf(text);
  const size_t rank = map.rank();
  const std::vector<int64_t> indices = MakeIndices(map.dimensions(), is_random);
  std::vector<int64_t> strides(rank, 1);
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * map.dimensions()[d];
  for (auto _ : state) {
    for (int i = 0; i < kCount; ++i) {
      int64_t linear = 0;
      for (size_t d = 0; d < rank; ++d) linear += indices[i * rank + d] * strides[d];
      benchmark::DoNotOptimize(linear);
    }
  }
  CountIndices(state, kCount);
}

// … and its inverse.
void BM_PlainDivisions(benchmark::State& state, const std::string& text, bool is_random) {
  const IndexMap map = MapOf(text);
  const std::vector<int64_t> positions = MakePositions(map.element_count(), is_random);
  const std::vector<int64_t> sizes(map.dimensions().begin(), map.dimensions().end());
  DimensionVector index(map.rank());
  for (auto _ : state) {
    for (int64_t p : positions) {
      for (size_t d = sizes.size(); d-- > 0; p /= sizes[d]) index[d] = p % sizes[d];
      benchmark::DoNotOptimize(index.data());
      benchmark::ClobberMemory();
    }
  }
  CountIndices(state, kCount);
}

void BM_LogicalToPhysical(benchmark::State& state, const std::string& text, bool is_random) {
  const IndexMap map = MapOf(text);
  const size_t rank = map.rank();
  const std::vector<int64_t> indices = MakeIndices(map.dimensions(), is_random);
  for (auto _ : state) {
    for (int i = 0; i < kCount; ++i) {
      benchmark::DoNotOptimize(map.LogicalToPhysical(absl::MakeConstSpan(indices).subspan(i * rank, rank)));
    }
  }
  CountIndices(state, kCount);
}

void BM_PhysicalToLogical(benchmark::State& state, const std::string& text, bool is_random) {
  const IndexMap map = MapOf(text);
  const std::vector<int64_t> positions = MakePositions(map.padded_element_count(), is_random);
  DimensionVector index(map.rank());
  for (auto _ : state) {
    for (int64_t p : positions) {
      benchmark::DoNotOptimize(map.PhysicalToLogical(p, absl::MakeSpan(index)));
      benchmark::DoNotOptimize(index.data());
      benchmark::ClobberMemory();
    }
  }
  CountIndices(state, kCount);
}

void BM_ForEachPhysical(benchmark::State& state, const std::string& text) {
  const IndexMap map = MapOf(text);
  const int64_t count = std::min<int64_t>(kCount, map.padded_element_count());
  for (auto _ : state) {
    int64_t elements = 0;
    map.ForEachPhysical(0, count, [&](int64_t, bool is_element, absl::Span<const int64_t>) { elements += is_element; });
    benchmark::DoNotOptimize(elements);
  }
  CountIndices(state, count);
}

void BM_ForEachLogical(benchmark::State& state, const std::string& text) {
  const IndexMap map = MapOf(text);
  for (auto _ : state) {
    int64_t sum = 0;
    map.ForEachLogical([&](absl::Span<const int64_t>, int64_t physical) { sum += physical; });
    benchmark::DoNotOptimize(sum);
  }
  CountIndices(state, map.element_count());
}

void BM_Make(benchmark::State& state, const std::string& text) {
  const Shape shape = *ParseShape(text);
  for (auto _ : state) benchmark::DoNotOptimize(IndexMap::Make(shape));
}

struct Case {
  std::string name;
  std::string shape;
};
const Case kCases[] = {
    {"row_major_4d", "f32[8,16,32,64]{3,2,1,0}"},
    {"one_tile_2d", "f32[300,500]{1,0:T(8,128)}"},
    {"one_tile_4d", "f32[8,16,32,64]{3,2,1,0:T(8,128)}"},
    {"two_tiles_2d", "bf16[300,500]{1,0:T(8,128)(2,1)}"},
    {"two_tiles_4d", "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"},
    {"combine", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}"},
    {"one_ragged_tile_2d", "f32[300,500]{1,0:T(7,100)}"},
    {"two_ragged_tiles_2d", "f32[300,500]{1,0:T(7,100)(3,9)}"},
};

const bool kRegistered = [] {
  for (const Case& c : kCases) {
    for (bool is_random : {false, true}) {
      const std::string order = is_random ? "/random" : "/in_order";
      benchmark::RegisterBenchmark(("plain_strided/" + c.name + order).c_str(), BM_PlainStrided, c.shape, is_random);
      benchmark::RegisterBenchmark(("to_physical/" + c.name + order).c_str(), BM_LogicalToPhysical, c.shape, is_random);
      benchmark::RegisterBenchmark(("plain_divisions/" + c.name + order).c_str(), BM_PlainDivisions, c.shape,
                                   is_random);
      benchmark::RegisterBenchmark(("to_logical/" + c.name + order).c_str(), BM_PhysicalToLogical, c.shape, is_random);
    }
    benchmark::RegisterBenchmark(("for_each_physical/" + c.name).c_str(), BM_ForEachPhysical, c.shape);
    if (c.name != "two_tiles_4d") {
      benchmark::RegisterBenchmark(("for_each_logical/" + c.name).c_str(), BM_ForEachLogical, c.shape);
    }
    benchmark::RegisterBenchmark(("make/" + c.name).c_str(), BM_Make, c.shape);
  }
  return true;
}();

}  // namespace
}  // namespace kashi::array
