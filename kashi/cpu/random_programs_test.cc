// Random programs, compiled and evaluated: shapes, movements, fusions and reductions in all combinations.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/cpu/cpu_testing.h"

namespace kashi::internal {
namespace {

using Sizes = std::vector<int64_t>;

// Writes a program of f32 arrays of up to some thousand elements, from a seed. No operation jumps where its operand
// changes by a rounding error (but for the choice by a parameter), and numbers stay small.
class ProgramWriter {
 public:
  explicit ProgramWriter(uint32_t seed) : random_(seed) {}

  std::string Write() {
    const int parameters = Below(3) + 1;
    for (int i = 0; i < parameters; ++i) Add(RandomSizes(), absl::StrCat("parameter(", i, ")"));
    body_ += absl::StrCat("  start = s32[] parameter(", parameters,
                          ")\n  zero = f32[] constant(0)\n  two = f32[] constant(2)\n");
    const int operations = Below(20) + 4;
    for (int i = 0; i < operations; ++i) AddOperation();
    std::vector<std::string> shapes, names;
    for (size_t i = values_.size() - std::min<size_t>(values_.size(), 3); i < values_.size(); ++i) {
      shapes.push_back(Text(values_[i]));
      names.push_back(Name(i));
    }
    return absl::StrCat(
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
        "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(b, a) }\n"
        "ENTRY e {\n",
        body_, "  ROOT root = (", absl::StrJoin(shapes, ", "), ") tuple(", absl::StrJoin(names, ", "), ")\n}\n");
  }

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }
  static std::string Text(const Sizes& sizes) { return absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]"); }
  static std::string Name(size_t i) { return absl::StrCat("v", i); }
  static int64_t Count(const Sizes& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  }

  Sizes RandomSizes() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 8, 9, 16, 33};
    if (Below(3) == 0) return Below(2) ? Sizes{20, 37} : Sizes{4, 9, 33};  // large enough for kernels of rows
    Sizes sizes;
    for (int64_t i = Below(4); i > 0; --i) sizes.push_back(kSizes[Below(9)]);
    return sizes;
  }
  size_t Add(Sizes sizes, const std::string& expression) {
    body_ += absl::StrCat("  ", Name(values_.size()), " = ", Text(sizes), " ", expression, "\n");
    values_.push_back(std::move(sizes));
    return values_.size() - 1;
  }
  // Another value of the same sizes if there is one.
  size_t Partner(size_t x) {
    for (int i = 0; i < 8; ++i) {
      const size_t y = static_cast<size_t>(Below(static_cast<int64_t>(values_.size())));
      if (values_[y] == values_[x]) return y;
    }
    return x;
  }

  void AddOperation() {
    const size_t x = static_cast<size_t>(Below(static_cast<int64_t>(values_.size())));
    const int64_t rank = static_cast<int64_t>(values_[x].size());
    switch (Below(rank == 0 ? 4 : 18)) {
      case 0:
        return void(Add(values_[x], absl::StrCat("tanh(", Name(x), ")")));
      case 1:
        return void(
            Add(values_[x], absl::StrCat(Below(2) ? "add(" : "multiply(", Name(x), ", ", Name(Partner(x)), ")")));
      case 2:
        return void(Add(values_[x], absl::StrCat("sine(", Name(x), ")")));
      case 3:
        return AddBroadcast(x);
      case 4:
        return void(Add(values_[x], absl::StrCat("negate(", Name(x), ")")));
      case 5:
        return AddTranspose(x);
      case 6:
        return AddReshape(x);
      case 7:
        return AddSlice(x);
      case 8:
        return void(Add(values_[x], absl::StrCat("reverse(", Name(x), "), dimensions={", Below(rank), "}")));
      case 9:
        return AddPad(x);
      case 10:
        return AddReduce(x);
      case 11:
        return AddDynamicSlice(x);
      case 12:
        return AddGather(x);
      case 13:
        return AddScatter(x);
      case 14:
        return AddRoll(x);
      case 15:
      case 16:
        return AddNormalized(x);
      default:
        return AddConcatenate(x);
    }
  }

  void AddBroadcast(size_t x) {
    if (Count(values_[x]) > 2000) return;
    Sizes sizes = values_[x], dimensions(sizes.size());
    const int64_t at = Below(static_cast<int64_t>(sizes.size()) + 1);
    for (size_t i = 0; i < dimensions.size(); ++i)
      dimensions[i] = static_cast<int64_t>(i) + (static_cast<int64_t>(i) >= at);
    sizes.insert(sizes.begin() + at, Below(2) ? 3 : 17);
    Add(sizes, absl::StrCat("broadcast(", Name(x), "), dimensions={", absl::StrJoin(dimensions, ","), "}"));
  }
  void AddTranspose(size_t x) {
    Sizes permutation(values_[x].size()), sizes;
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random_);
    for (int64_t from : permutation) sizes.push_back(values_[x][from]);
    Add(sizes, absl::StrCat("transpose(", Name(x), "), dimensions={", absl::StrJoin(permutation, ","), "}"));
  }
  // Splits the number of elements anew, or joins two dimensions.
  void AddReshape(size_t x) {
    Sizes sizes = values_[x];
    if (sizes.size() > 1 && Below(2)) {
      const int64_t at = Below(static_cast<int64_t>(sizes.size()) - 1);
      sizes[at] *= sizes[at + 1];
      sizes.erase(sizes.begin() + at + 1);
    } else {
      int64_t left = Count(sizes);
      sizes.clear();
      for (int64_t factor : {2, 3, 4}) {
        if (left % factor != 0 || Below(2)) continue;
        sizes.push_back(factor);
        left /= factor;
      }
      sizes.insert(sizes.begin() + Below(static_cast<int64_t>(sizes.size()) + 1), left);
    }
    Add(sizes, absl::StrCat("reshape(", Name(x), ")"));
  }
  void AddSlice(size_t x) {
    std::vector<std::string> ranges;
    Sizes sizes;
    for (int64_t size : values_[x]) {
      const int64_t begin = Below(size), limit = begin + 1 + Below(size - begin), stride = 1 + Below(3);
      ranges.push_back(absl::StrCat("[", begin, ":", limit, ":", stride, "]"));
      sizes.push_back((limit - begin + stride - 1) / stride);
    }
    Add(sizes, absl::StrCat("slice(", Name(x), "), slice={", absl::StrJoin(ranges, ","), "}"));
  }
  void AddPad(size_t x) {
    std::vector<std::string> edges;
    Sizes sizes;
    for (int64_t size : values_[x]) {
      const int64_t low = Below(4) - 1, high = Below(3);
      if (size + low + high <= 0) return;
      edges.push_back(absl::StrCat(low, "_", high));
      sizes.push_back(size + low + high);
    }
    Add(sizes, absl::StrCat("pad(", Name(x), ", two), padding=", absl::StrJoin(edges, "x")));
  }
  void AddReduce(size_t x) {
    Sizes dimensions, sizes;
    for (size_t i = 0; i < values_[x].size(); ++i) {
      if (Below(2)) {
        dimensions.push_back(static_cast<int64_t>(i));
      } else {
        sizes.push_back(values_[x][i]);
      }
    }
    const char* combiner = Below(2) ? "add" : "max";
    const size_t sum = Add(sizes, absl::StrCat("reduce(", Name(x), ", zero), dimensions={",
                                               absl::StrJoin(dimensions, ","), "}, to_apply=", combiner));
    Add(sizes, absl::StrCat("tanh(", Name(sum), ")"));
  }
  void AddDynamicSlice(size_t x) {
    Sizes sizes;
    std::string starts;
    for (int64_t size : values_[x]) {
      sizes.push_back(1 + Below(size));
      absl::StrAppend(&starts, ", start");
    }
    Add(sizes,
        absl::StrCat("dynamic-slice(", Name(x), starts, "), dynamic_slice_sizes={", absl::StrJoin(sizes, ","), "}"));
  }
  // s32[n]: numbers below, within and beyond a dimension of `size`. Returns its name.
  std::string AddIndices(int64_t n, int64_t size) {
    const std::string name = absl::StrCat("i", indices_++), type = absl::StrCat("s32[", n, "]");
    absl::StrAppend(&body_, "  ", name, ".n = ", type, " iota(), iota_dimension=0\n");
    absl::StrAppend(&body_, "  ", name, ".f = s32[] constant(", 7 + Below(100), ")\n");
    absl::StrAppend(&body_, "  ", name, ".m = s32[] constant(", size + 3, ")\n");
    for (const char* scalar : {"f", "m"}) {
      absl::StrAppend(&body_, "  ", name, ".", scalar, "s = ", type, " broadcast(", name, ".", scalar,
                      "), dimensions={}\n");
    }
    absl::StrAppend(&body_, "  ", name, ".p = ", type, " multiply(", name, ".n, ", name, ".fs)\n");
    absl::StrAppend(&body_, "  ", name, ".r = ", type, " remainder(", name, ".p, ", name, ".ms)\n");
    absl::StrAppend(&body_, "  ", name, ".two = s32[", n, "] constant({", absl::StrJoin(Sizes(n, 2), ","), "})\n");
    absl::StrAppend(&body_, "  ", name, " = ", type, " subtract(", name, ".r, ", name, ".two)\n");
    return name;
  }
  // Of single elements if the dimension is the innermost one, else of rows.
  void AddGather(size_t x) {
    Sizes sizes = values_[x], window = sizes, offsets;
    const int64_t dimension = Below(static_cast<int64_t>(sizes.size()));
    for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
      if (d != dimension) offsets.push_back(d);
    }
    const std::string indices = AddIndices(sizes[dimension] = 1 + Below(20), values_[x][dimension]);
    window[dimension] = 1;
    Add(sizes, absl::StrCat("gather(", Name(x), ", ", indices, "), offset_dims={", absl::StrJoin(offsets, ","),
                            "}, collapsed_slice_dims={", dimension, "}, start_index_map={", dimension,
                            "}, index_vector_dim=1, slice_sizes={", absl::StrJoin(window, ","), "}"));
  }
  // All elements of one value into those of another.
  void AddScatter(size_t x) {
    const size_t y = static_cast<size_t>(Below(static_cast<int64_t>(values_.size())));
    const int64_t count = Count(values_[x]), updates = Count(values_[y]);
    if (updates > 500) return;
    const std::string indices = AddIndices(updates, count);
    const size_t to = Add({count}, absl::StrCat("reshape(", Name(x), ")"));
    const size_t from = Add({updates}, absl::StrCat("reshape(", Name(y), ")"));
    const size_t sum = Add({count}, absl::StrCat("scatter(", Name(to), ", ", indices, ", ", Name(from),
                                                 "), update_window_dims={}, inserted_window_dims={0}, "
                                                 "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"));
    Add({count}, absl::StrCat("tanh(", Name(sum), ")"));
  }
  void AddRoll(size_t x) {
    const int64_t dimension = Below(static_cast<int64_t>(values_[x].size())), size = values_[x][dimension];
    if (size < 2) return;
    const int64_t shift = 1 + Below(size - 1);
    std::vector<size_t> parts;
    for (const auto& [begin, limit] : {std::make_pair(size - shift, size), std::make_pair(int64_t{0}, size - shift)}) {
      std::vector<std::string> ranges;
      for (int64_t other : values_[x]) ranges.push_back(absl::StrCat("[0:", other, "]"));
      ranges[dimension] = absl::StrCat("[", begin, ":", limit, "]");
      Sizes sizes = values_[x];
      sizes[dimension] = limit - begin;
      parts.push_back(Add(sizes, absl::StrCat("slice(", Name(x), "), slice={", absl::StrJoin(ranges, ","), "}")));
    }
    Add(values_[x],
        absl::StrCat("concatenate(", Name(parts[0]), ", ", Name(parts[1]), "), dimensions={", dimension, "}"));
  }
  // An array and something of its rows, such as their sums.
  void AddNormalized(size_t x) {
    Sizes rows = values_[x], kept;
    rows.pop_back();
    const size_t y = Below(2) ? Add(values_[x], absl::StrCat("tanh(", Name(x), ")")) : x;
    size_t sum = Add(rows, absl::StrCat("reduce(", Name(y), ", zero), dimensions={", rows.size(),
                                        "}, to_apply=", Below(2) ? "add" : "max"));
    if (Below(2)) sum = Add(rows, absl::StrCat(Below(2) ? "sine(" : "negate(", Name(sum), ")"));
    if (Below(2)) {  // as JAX keeps dimensions
      Sizes with_one = rows;
      with_one.push_back(1);
      const size_t column =
          Add(with_one, absl::StrCat("tanh(", Name(Add(with_one, absl::StrCat("reshape(", Name(sum), ")"))), ")"));
      sum = Add(rows, absl::StrCat("reshape(", Name(column), ")"));
    }
    for (size_t i = 0; i < rows.size(); ++i) kept.push_back(static_cast<int64_t>(i));
    const size_t wide =
        Add(values_[x], absl::StrCat("broadcast(", Name(sum), "), dimensions={", absl::StrJoin(kept, ","), "}"));
    Add(values_[x], absl::StrCat(Below(2) ? "subtract(" : "multiply(", Name(Below(2) ? x : y), ", ", Name(wide), ")"));
  }
  void AddConcatenate(size_t x) {
    if (Count(values_[x]) > 2000) return;
    Sizes sizes = values_[x];
    const int64_t dimension = Below(static_cast<int64_t>(sizes.size()));
    sizes[dimension] *= 2;
    Add(sizes, absl::StrCat("concatenate(", Name(x), ", ", Name(Partner(x)), "), dimensions={", dimension, "}"));
  }

  std::mt19937 random_;
  std::string body_;
  int indices_ = 0;
  std::vector<Sizes> values_;
};

TEST(RandomProgramsTest, GiveWhatTheEvaluatorGives) {
  for (uint32_t seed = 0; seed < 400; seed += kShare) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ExpectAsEvaluator(ProgramWriter(seed).Write(), ErrorSpec(1e-4, 1e-4));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace kashi::internal
