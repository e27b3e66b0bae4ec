// Random programs with random shardings: what the devices compute is what the global program computes, bit for bit.
// Numbers are small and whole, so that sums are exact in any order.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/partition/partition_testing.h"

namespace kashi::internal {
namespace {

using Sizes = std::vector<int64_t>;

std::string TextOf(const Sizes& sizes) { return absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]"); }
std::string ListOf(const Sizes& sizes) { return absl::StrCat("{", absl::StrJoin(sizes, ","), "}"); }

int64_t CountOf(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// Writes a program of f32 arrays for some devices.
class ShardedProgramWriter {
 public:
  ShardedProgramWriter(uint32_t seed, int64_t devices) : random_(seed), devices_(devices) {}

  std::string Write() {
    const int64_t parameters = Below(3) + 1;
    for (int64_t i = 0; i < parameters; ++i) {
      const Sizes sizes = RandomSizes();
      Add(sizes, absl::StrCat("parameter(", i, "), sharding=", RandomSharding(sizes.size())));
    }
    body_ += "  zero = f32[] constant(0)\n  two = f32[] constant(2)\n  start = s32[] constant(1)\n";
    const int64_t operations = Below(14) + 3;
    for (int64_t i = 0; i < operations; ++i) AddOperation();
    std::vector<std::string> shapes, names;
    for (size_t i = values_.size() - std::min<size_t>(values_.size(), 4); i < values_.size(); ++i) {
      shapes.push_back(TextOf(values_[i]));
      names.push_back(Name(i));
    }
    return absl::StrCat("HloModule m, num_partitions=", devices_,
                        "\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
                        "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(b, a) }\n"
                        "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), "
                        "direction=LT }\n",
                        computations_, "ENTRY e {\n", body_, "  ROOT root = (", absl::StrJoin(shapes, ", "), ") tuple(",
                        absl::StrJoin(names, ", "), ")\n}\n");
  }

 private:
  using Adder = void (ShardedProgramWriter::*)(size_t);

  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }
  static std::string Name(size_t i) { return absl::StrCat("v", i); }
  const Sizes& Of(size_t x) const { return values_[x]; }
  int64_t RankOf(size_t x) const { return static_cast<int64_t>(values_[x].size()); }

  Sizes RandomSizes() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 8, 8, 12, 16};
    Sizes sizes;
    for (int64_t i = Below(3) + 1; i > 0; --i) sizes.push_back(kSizes[Below(10)]);
    return sizes;
  }

  // Each prime part of the devices goes to a dimension, or to copies; the order of devices is any.
  std::string RandomSharding(size_t rank) {
    if (Below(5) == 0 || rank == 0) return "{replicated}";
    Sizes tiles(rank + 1, 1), reshape;
    std::vector<int> places;
    for (int64_t rest = devices_; rest > 1;) {
      const int64_t part = rest % 2 == 0 ? 2 : rest;
      rest /= part;
      reshape.push_back(part);
      places.push_back(static_cast<int>(Below(static_cast<int64_t>(rank) + 1)));
      tiles[places.back()] *= part;
    }
    std::vector<int> order(reshape.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return places[a] < places[b]; });
    if (Below(8) == 0) std::shuffle(order.begin(), order.end(), random_);  // also ones that no axes express
    return absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), "]<=[", absl::StrJoin(reshape, ","), "]",
                        order.size() > 1 ? absl::StrCat("T(", absl::StrJoin(order, ","), ")") : "",
                        " last_tile_dim_replicate}");
  }

  size_t Add(Sizes sizes, const std::string& expression) {
    body_ += absl::StrCat("  ", Name(values_.size()), " = ", TextOf(sizes), " ", expression);
    if (Below(6) == 0 && !absl::StrContains(expression, "sharding")) {
      body_ += absl::StrCat(", sharding=", RandomSharding(sizes.size()));
    }
    body_ += "\n";
    values_.push_back(std::move(sizes));
    return values_.size() - 1;
  }
  void Helper(const std::string& line) { body_ += absl::StrCat("  ", line, "\n"); }
  std::string Fresh() { return absl::StrCat("h", helpers_++); }

  size_t Partner(size_t x) {
    for (int i = 0; i < 8; ++i) {
      const size_t y = static_cast<size_t>(Below(static_cast<int64_t>(values_.size())));
      if (values_[y] == values_[x]) return y;
    }
    return x;
  }

  void AddOperation() {
    static constexpr Adder kAny[] = {&ShardedProgramWriter::AddBinary, &ShardedProgramWriter::AddShardingCall,
                                     &ShardedProgramWriter::AddBroadcast, &ShardedProgramWriter::AddIota};
    static constexpr Adder kOfArrays[] = {&ShardedProgramWriter::AddTranspose,   &ShardedProgramWriter::AddReshape,
                                          &ShardedProgramWriter::AddReduce,      &ShardedProgramWriter::AddReduce,
                                          &ShardedProgramWriter::AddDot,         &ShardedProgramWriter::AddDot,
                                          &ShardedProgramWriter::AddSlice,       &ShardedProgramWriter::AddPad,
                                          &ShardedProgramWriter::AddConcatenate, &ShardedProgramWriter::AddReverse,
                                          &ShardedProgramWriter::AddSort,        &ShardedProgramWriter::AddDynamicSlice,
                                          &ShardedProgramWriter::AddUpdate,      &ShardedProgramWriter::AddGather,
                                          &ShardedProgramWriter::AddScatter,     &ShardedProgramWriter::AddWindow,
                                          &ShardedProgramWriter::AddLoop,        &ShardedProgramWriter::AddConditional,
                                          &ShardedProgramWriter::AddRegion,      &ShardedProgramWriter::AddConvolution};
    const size_t x = static_cast<size_t>(Below(static_cast<int64_t>(values_.size())));
    const Adder adder =
        RankOf(x) == 0 || Below(4) == 0 ? kAny[Below(std::size(kAny))] : kOfArrays[Below(std::size(kOfArrays))];
    (this->*adder)(x);
  }

  // Products are brought back to small numbers.
  size_t AddSmall(Sizes sizes, const std::string& expression) {
    const size_t big = Add(sizes, expression);
    const std::string limit = Fresh();
    Helper(absl::StrCat(limit, " = f32[] constant(7)"));
    const std::string limits = Fresh();
    Helper(absl::StrCat(limits, " = ", TextOf(sizes), " broadcast(", limit, "), dimensions={}"));
    return Add(sizes, absl::StrCat("remainder(", Name(big), ", ", limits, ")"));
  }

  void AddBinary(size_t x) {
    static constexpr const char* kOps[] = {"add", "subtract", "multiply", "maximum"};
    AddSmall(Of(x), absl::StrCat(kOps[Below(4)], "(", Name(x), ", ", Name(Partner(x)), ")"));
  }
  void AddShardingCall(size_t x) {
    Add(Of(x), absl::StrCat("custom-call(", Name(x),
                            "), custom_call_target=\"Sharding\", sharding=", RandomSharding(Of(x).size())));
  }
  void AddBroadcast(size_t x) {
    if (CountOf(Of(x)) > 400 || RankOf(x) > 2) return;
    Sizes sizes = Of(x), dimensions(sizes.size());
    const int64_t at = Below(RankOf(x) + 1);
    for (size_t i = 0; i < dimensions.size(); ++i) dimensions[i] = static_cast<int64_t>(i) + (i >= at ? 1 : 0);
    sizes.insert(sizes.begin() + at, Below(7) + 1);
    Add(sizes, absl::StrCat("broadcast(", Name(x), "), dimensions=", ListOf(dimensions)));
  }
  void AddIota(size_t) {
    const Sizes sizes = RandomSizes();
    AddSmall(sizes, absl::StrCat("iota(), iota_dimension=", Below(static_cast<int64_t>(sizes.size()))));
  }
  void AddTranspose(size_t x) {
    Sizes order(Of(x).size()), sizes;
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    for (const int64_t d : order) sizes.push_back(Of(x)[d]);
    Add(sizes, absl::StrCat("transpose(", Name(x), "), dimensions=", ListOf(order)));
  }
  void AddReshape(size_t x) {
    Sizes sizes;
    int64_t rest = CountOf(Of(x));
    for (const int64_t divisor : {4, 2, 3}) {
      if (rest % divisor != 0 || Below(2)) continue;
      sizes.push_back(divisor);
      rest /= divisor;
    }
    sizes.insert(sizes.begin() + Below(static_cast<int64_t>(sizes.size()) + 1), rest);
    Add(sizes, absl::StrCat("reshape(", Name(x), ")"));
  }
  void AddReduce(size_t x) {
    Sizes dimensions, sizes;
    for (int64_t d = 0; d < RankOf(x); ++d) {
      if (Below(2)) {
        dimensions.push_back(d);
      } else {
        sizes.push_back(Of(x)[d]);
      }
    }
    AddSmall(sizes, absl::StrCat("reduce(", Name(x), Below(2) ? ", zero" : ", two",
                                 "), dimensions=", ListOf(dimensions), ", to_apply=", Below(3) ? "add" : "max"));
  }
  void AddDot(size_t x) {
    const int64_t contracted = Below(RankOf(x));
    for (int tries = 0; tries < 20; ++tries) {
      const size_t y = static_cast<size_t>(Below(static_cast<int64_t>(values_.size())));
      for (int64_t d = 0; d < RankOf(y); ++d) {
        if (Of(y)[d] != Of(x)[contracted]) continue;
        Sizes sizes, batch_x, batch_y;
        const bool has_batch = contracted > 0 && d > 0 && Of(x)[0] == Of(y)[0];
        if (has_batch) sizes.push_back(Of(x)[0]);
        for (int64_t i = has_batch ? 1 : 0; i < RankOf(x); ++i) {
          if (i != contracted) sizes.push_back(Of(x)[i]);
        }
        for (int64_t i = has_batch ? 1 : 0; i < RankOf(y); ++i) {
          if (i != d) sizes.push_back(Of(y)[i]);
        }
        if (CountOf(sizes) > 2000) continue;
        AddSmall(sizes, absl::StrCat("dot(", Name(x), ", ", Name(y), "), lhs_contracting_dims={", contracted,
                                     "}, rhs_contracting_dims={", d, "}",
                                     has_batch ? ", lhs_batch_dims={0}, rhs_batch_dims={0}" : ""));
        return;
      }
    }
  }
  void AddSlice(size_t x) {
    Sizes sizes;
    std::vector<std::string> ranges;
    for (const int64_t size : Of(x)) {
      const int64_t begin = Below(2) ? 0 : Below(size);
      const int64_t end = Below(2) ? size : begin + 1 + Below(size - begin);
      const int64_t stride = Below(3) ? 1 : 2;
      sizes.push_back((end - begin + stride - 1) / stride);
      ranges.push_back(absl::StrCat("[", begin, ":", end, ":", stride, "]"));
    }
    Add(sizes, absl::StrCat("slice(", Name(x), "), slice={", absl::StrJoin(ranges, ", "), "}"));
  }
  void AddPad(size_t x) {
    Sizes sizes;
    std::vector<std::string> padding;
    for (const int64_t size : Of(x)) {
      const int64_t low = Below(3) ? 0 : Below(3), high = Below(3) ? 0 : Below(3), inner = Below(4) ? 0 : 1;
      sizes.push_back(size + low + high + std::max<int64_t>(size - 1, 0) * inner);
      padding.push_back(absl::StrCat(low, "_", high, "_", inner));
    }
    Add(sizes, absl::StrCat("pad(", Name(x), ", two), padding=", absl::StrJoin(padding, "x")));
  }
  void AddConcatenate(size_t x) {
    const int64_t d = Below(RankOf(x));
    Sizes sizes = Of(x);
    sizes[d] *= 2;
    if (CountOf(sizes) > 2000) return;
    Add(sizes, absl::StrCat("concatenate(", Name(x), ", ", Name(Partner(x)), "), dimensions={", d, "}"));
  }
  void AddReverse(size_t x) { Add(Of(x), absl::StrCat("reverse(", Name(x), "), dimensions={", Below(RankOf(x)), "}")); }
  void AddSort(size_t x) {
    Add(Of(x), absl::StrCat("sort(", Name(x), "), dimensions={", Below(RankOf(x)), "}, is_stable=true, to_apply=less"));
  }
  std::string Starts(size_t x) { return absl::StrJoin(std::vector<std::string>(Of(x).size(), "start"), ", "); }
  Sizes PartOf(size_t x) {
    Sizes sizes;
    for (const int64_t size : Of(x)) sizes.push_back(Below(2) ? size : Below(size) + 1);
    return sizes;
  }
  void AddDynamicSlice(size_t x) {
    const Sizes sizes = PartOf(x);
    Add(sizes, absl::StrCat("dynamic-slice(", Name(x), ", ", Starts(x), "), dynamic_slice_sizes=", ListOf(sizes)));
  }
  void AddUpdate(size_t x) {
    const Sizes sizes = PartOf(x);
    const size_t part = AddSmall(sizes, "iota(), iota_dimension=0");
    Add(Of(x), absl::StrCat("dynamic-update-slice(", Name(x), ", ", Name(part), ", ", Starts(x), ")"));
  }

  // Rows of an array by indices.
  std::string Indices(int64_t count, int64_t below) {
    Sizes indices;
    for (int64_t i = 0; i < count; ++i) indices.push_back(Below(below + 1));
    const std::string name = Fresh();
    Helper(absl::StrCat(name, " = s32[", count, ",1] constant({{", absl::StrJoin(indices, "},{"),
                        "}}), sharding=", RandomSharding(2)));
    return name;
  }
  void AddGather(size_t x) {
    const int64_t count = Below(9) + 1;
    const std::string indices = Indices(count, Of(x)[0]);
    Sizes sizes = Of(x), slice = Of(x), offset(Of(x).size() - 1);
    sizes[0] = count;
    slice[0] = 1;
    std::iota(offset.begin(), offset.end(), 1);
    Add(sizes, absl::StrCat(
                   "gather(", Name(x), ", ", indices, "), offset_dims=", ListOf(offset),
                   ", collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes=", ListOf(slice)));
  }
  void AddScatter(size_t x) {
    const int64_t count = Below(9) + 1;
    const std::string indices = Indices(count, Of(x)[0]);
    Sizes sizes = Of(x), window(Of(x).size() - 1);
    sizes[0] = count;
    std::iota(window.begin(), window.end(), 1);
    const size_t updates = AddSmall(sizes, "iota(), iota_dimension=0");
    AddSmall(Of(x), absl::StrCat("scatter(", Name(x), ", ", indices, ", ", Name(updates),
                                 "), update_window_dims=", ListOf(window),
                                 ", inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
                                 "to_apply=add"));
  }
  void AddWindow(size_t x) {
    Sizes sizes;
    std::vector<std::string> window, pad;
    for (const int64_t size : Of(x)) {
      const int64_t width = Below(2) ? 1 : 1 + Below(std::min<int64_t>(size, 3));
      window.push_back(absl::StrCat(width));
      pad.push_back(absl::StrCat(width - 1, "_0"));
      sizes.push_back(size);
    }
    AddSmall(sizes, absl::StrCat("reduce-window(", Name(x), ", zero), window={size=", absl::StrJoin(window, "x"),
                                 " pad=", absl::StrJoin(pad, "x"), "}, to_apply=add"));
  }
  // Two arrays of these sizes go around.
  void AddLoop(size_t x) {
    const std::string shape = TextOf(Of(x)), state = absl::StrCat("(s32[], ", shape, ", ", shape, ")");
    const std::string name = Fresh();
    computations_ += absl::StrCat(
        name, "_body {\n  p = ", state, " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  a = ", shape,
        " get-tuple-element(p), index=1\n  b = ", shape,
        " get-tuple-element(p), index=2\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  c = ", shape,
        " maximum(a, b)\n  d = ", shape, " reverse(a), dimensions={0}\n  ROOT r = ", state, " tuple(j, c, d)\n}\n",
        name, "_more {\n  p = ", state,
        " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(3)\n  ROOT c = pred[] "
        "compare(i, n), direction=LT\n}\n");
    Helper(absl::StrCat(name, "_init = ", state, " tuple(start, ", Name(x), ", ", Name(Partner(x)), ")"));
    Helper(
        absl::StrCat(name, " = ", state, " while(", name, "_init), condition=", name, "_more, body=", name, "_body"));
    Add(Of(x), absl::StrCat("get-tuple-element(", name, "), index=", Below(2) + 1));
  }
  void AddConditional(size_t x) {
    const std::string shape = TextOf(Of(x)), name = Fresh();
    computations_ += absl::StrCat(name, "_t { p = ", shape, " parameter(0) ROOT n = ", shape, " negate(p) }\n", name,
                                  "_f { p = ", shape, " parameter(0) ROOT n = ", shape, " reverse(p), dimensions={",
                                  Below(RankOf(x)), "} }\n");
    Sizes all(Of(x).size());
    std::iota(all.begin(), all.end(), 0);
    Helper(absl::StrCat(name, "_sum = f32[] reduce(", Name(x), ", zero), dimensions=", ListOf(all), ", to_apply=add"));
    Helper(absl::StrCat(name, "_p = pred[] compare(", name, "_sum, zero), direction=GT"));
    Add(Of(x), absl::StrCat("conditional(", name, "_p, ", Name(x), ", ", Name(Partner(x)), "), true_computation=", name,
                            "_t, false_computation=", name, "_f"));
  }
  // Each device reverses and adds its part, in a manual region.
  void AddRegion(size_t x) {
    Sizes part = Of(x), whole = Of(x), tiles(Of(x).size(), 1);
    const int64_t d = Below(RankOf(x));
    tiles[d] = devices_;
    part[d] = (part[d] + devices_ - 1) / devices_;
    whole[d] = part[d] * devices_;
    const std::string sharding = absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), "]<=[", devices_, "]}");
    const std::string name = Fresh(), local = TextOf(part);
    Helper(absl::StrCat(name, "a = ", TextOf(Of(x)), " custom-call(", Name(x),
                        "), custom_call_target=\"Sharding\", sharding=", sharding));
    Helper(absl::StrCat(name, "b = ", local, " custom-call(", name,
                        "a), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}"));
    Helper(absl::StrCat(name, "c = ", local, " reverse(", name, "b), dimensions={0}"));
    Helper(absl::StrCat(name, "d = ", local, " all-reduce(", name, "c), channel_id=1, replica_groups=[1,", devices_,
                        "]<=[", devices_, "], use_global_device_ids=true, to_apply=max"));
    Helper(absl::StrCat(name, "e = ", local, " subtract(", name, "d, ", name, "c)"));
    Helper(absl::StrCat(name, "f = ", local, " custom-call(", name,
                        "e), custom_call_target=\"Sharding\", sharding={manual}"));
    AddSmall(whole, absl::StrCat("custom-call(", name,
                                 "f), custom_call_target=\"SPMDShardToFullShape\", sharding=", sharding));
  }
  // In [batch, size, feature], kernel [width, feature, out].
  void AddConvolution(size_t x) {
    if (RankOf(x) != 3) return;
    const Sizes in = Of(x);
    const int64_t groups = in[2] % 2 == 0 && Below(2) ? 2 : 1, out = 4 * groups, width = Below(2) + 1;
    const int64_t batch_groups = groups == 1 && in[0] % 2 == 0 && Below(2) ? 2 : 1;
    const size_t kernel = AddSmall({width, in[2] / groups, out}, "iota(), iota_dimension=2");
    AddSmall({in[0] / batch_groups, in[1], out},
             absl::StrCat("convolution(", Name(x), ", ", Name(kernel), "), window={size=", width, " pad=0_", width - 1,
                          "}, dim_labels=b0f_0io->b0f", groups > 1 ? ", feature_group_count=2" : "",
                          batch_groups > 1 ? ", batch_group_count=2" : ""));
  }

  std::mt19937 random_;
  const int64_t devices_;
  std::vector<Sizes> values_;
  std::string body_, computations_;
  int64_t helpers_ = 0;
};

std::vector<Literal> SmallNumbers(const HloModule& module, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Literal> arguments;
  for (const Shape& shape : ParameterShapes(module)) {
    Literal numbers(ShapeUtil::MakeShape(F32, shape.dimensions()));
    for (float& number : numbers.data<float>()) number = static_cast<float>(random() % 9) - 4;
    arguments.push_back(std::move(numbers));
  }
  return arguments;
}

TEST(RandomPartitionTest, DevicesComputeWhatTheWholeProgramDoes) {
  const char* from_outside = std::getenv("KASHI_SEED");
  const uint32_t first = from_outside == nullptr ? 1 : static_cast<uint32_t>(std::strtoul(from_outside, nullptr, 10));
  const char* count_from_outside = std::getenv("KASHI_PROGRAMS");
  const uint32_t programs =
      count_from_outside != nullptr ? std::strtoul(count_from_outside, nullptr, 10) : 2000 / kShare;
  static constexpr int64_t kDevices[] = {2, 4, 4, 8, 6, 3};
  for (uint32_t seed = first; seed < first + programs; ++seed) {
    const int64_t devices = kDevices[seed % std::size(kDevices)];
    const std::string text = ShardedProgramWriter(seed, devices).Write();
    auto module = ParseAndReturnUnverifiedModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << "\nseed " << seed << "\n" << text;
    ASSERT_TRUE(Verify(module->get()).ok()) << Verify(module->get()) << "\nseed " << seed << "\n" << text;
    ASSERT_EQ(DifferenceFromWhole(**module, devices, SmallNumbers(**module, seed)), "") << "seed " << seed << "\n"
                                                                                        << text;
  }
}

}  // namespace
}  // namespace kashi::internal
