// Random programs with random shardings: the devices compute the results of the global program, bit for bit.
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

namespace kashi::partition {
namespace {

using Sizes = std::vector<int64_t>;

std::string TextOf(const Sizes& sizes) { return absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]"); }
std::string ListOf(const Sizes& sizes) { return absl::StrCat("{", absl::StrJoin(sizes, ","), "}"); }

int64_t CountOf(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

std::string Name(size_t i) { return absl::StrCat("v", i); }

// The text of a program of f32 arrays for some devices, its values, and the choices that a seed makes.
class ShardedProgramText {
 public:
  ShardedProgramText(uint32_t seed, int64_t devices) : random_(seed), devices_(devices) {}

  int64_t devices() const { return devices_; }
  const std::string& body() const { return body_; }
  const std::string& computations() const { return computations_; }
  std::mt19937& random() { return random_; }
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }
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
  void AddComputation(const std::string& text) { computations_ += text; }

  // Products are brought back to small numbers.
  size_t AddSmall(Sizes sizes, const std::string& expression) {
    const size_t big = Add(sizes, expression);
    const std::string limit = Fresh();
    Helper(absl::StrCat(limit, " = f32[] constant(7)"));
    const std::string limits = Fresh();
    Helper(absl::StrCat(limits, " = ", TextOf(sizes), " broadcast(", limit, "), dimensions={}"));
    return Add(sizes, absl::StrCat("remainder(", Name(big), ", ", limits, ")"));
  }

 private:
  std::mt19937 random_;
  const int64_t devices_;
  std::vector<Sizes> values_;
  std::string body_, computations_;
  int64_t helpers_ = 0;
};

void AddBinary(ShardedProgramText* p, size_t x) {
  static constexpr const char* kOps[] = {"add", "subtract", "multiply", "maximum"};
  p->AddSmall(p->Of(x), absl::StrCat(kOps[p->Below(4)], "(", Name(x), ", ", Name(p->Partner(x)), ")"));
}

void AddShardingCall(ShardedProgramText* p, size_t x) {
  p->Add(p->Of(x), absl::StrCat("custom-call(", Name(x),
                                "), custom_call_target=\"Sharding\", sharding=", p->RandomSharding(p->Of(x).size())));
}

void AddBroadcast(ShardedProgramText* p, size_t x) {
  if (CountOf(p->Of(x)) > 400 || p->RankOf(x) > 2) return;
  Sizes sizes = p->Of(x), dimensions(sizes.size());
  const int64_t at = p->Below(p->RankOf(x) + 1);
  for (size_t i = 0; i < dimensions.size(); ++i) dimensions[i] = static_cast<int64_t>(i) + (i >= at ? 1 : 0);
  sizes.insert(sizes.begin() + at, p->Below(7) + 1);
  p->Add(sizes, absl::StrCat("broadcast(", Name(x), "), dimensions=", ListOf(dimensions)));
}

void AddIota(ShardedProgramText* p, size_t) {
  const Sizes sizes = p->RandomSizes();
  p->AddSmall(sizes, absl::StrCat("iota(), iota_dimension=", p->Below(static_cast<int64_t>(sizes.size()))));
}

void AddTranspose(ShardedProgramText* p, size_t x) {
  Sizes order(p->Of(x).size()), sizes;
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), p->random());
  for (const int64_t d : order) sizes.push_back(p->Of(x)[d]);
  p->Add(sizes, absl::StrCat("transpose(", Name(x), "), dimensions=", ListOf(order)));
}

void AddReshape(ShardedProgramText* p, size_t x) {
  Sizes sizes;
  int64_t rest = CountOf(p->Of(x));
  for (const int64_t divisor : {4, 2, 3}) {
    if (rest % divisor != 0 || p->Below(2)) continue;
    sizes.push_back(divisor);
    rest /= divisor;
  }
  sizes.insert(sizes.begin() + p->Below(static_cast<int64_t>(sizes.size()) + 1), rest);
  p->Add(sizes, absl::StrCat("reshape(", Name(x), ")"));
}

// As jnp.roll does it.
void AddRoll(ShardedProgramText* p, size_t x) {
  const Sizes sizes = p->Of(x);
  const size_t d = static_cast<size_t>(p->Below(p->RankOf(x)));
  if (sizes[d] < 2) return;
  const int64_t by = p->Below(sizes[d] - 1) + 1;
  const auto part = [&](int64_t begin, int64_t end) {
    Sizes of_part = sizes;
    of_part[d] = end - begin;
    std::vector<std::string> ranges;
    for (size_t i = 0; i < sizes.size(); ++i) {
      ranges.push_back(i == d ? absl::StrCat("[", begin, ":", end, "]") : absl::StrCat("[0:", sizes[i], "]"));
    }
    return p->Add(of_part, absl::StrCat("slice(", Name(x), "), slice={", absl::StrJoin(ranges, ", "), "}"));
  };
  const size_t end = part(by, sizes[d]), begin = part(0, by);
  p->Add(sizes, absl::StrCat("concatenate(", Name(end), ", ", Name(begin), "), dimensions={", d, "}"));
}

void AddReduce(ShardedProgramText* p, size_t x) {
  Sizes dimensions, sizes;
  for (int64_t d = 0; d < p->RankOf(x); ++d) {
    if (p->Below(2)) {
      dimensions.push_back(d);
    } else {
      sizes.push_back(p->Of(x)[d]);
    }
  }
  p->AddSmall(sizes, absl::StrCat("reduce(", Name(x), p->Below(2) ? ", zero" : ", two",
                                  "), dimensions=", ListOf(dimensions), ", to_apply=", p->Below(3) ? "add" : "max"));
}

void AddDot(ShardedProgramText* p, size_t x) {
  const int64_t contracted = p->Below(p->RankOf(x));
  for (int tries = 0; tries < 20; ++tries) {
    const size_t y = static_cast<size_t>(p->Below(p->size()));
    for (int64_t d = 0; d < p->RankOf(y); ++d) {
      if (p->Of(y)[d] != p->Of(x)[contracted]) continue;
      Sizes sizes, batch_x, batch_y;
      const bool has_batch = contracted > 0 && d > 0 && p->Of(x)[0] == p->Of(y)[0];
      if (has_batch) sizes.push_back(p->Of(x)[0]);
      for (int64_t i = has_batch ? 1 : 0; i < p->RankOf(x); ++i) {
        if (i != contracted) sizes.push_back(p->Of(x)[i]);
      }
      for (int64_t i = has_batch ? 1 : 0; i < p->RankOf(y); ++i) {
        if (i != d) sizes.push_back(p->Of(y)[i]);
      }
      if (CountOf(sizes) > 2000) continue;
      p->AddSmall(sizes, absl::StrCat("dot(", Name(x), ", ", Name(y), "), lhs_contracting_dims={", contracted,
                                      "}, rhs_contracting_dims={", d, "}",
                                      has_batch ? ", lhs_batch_dims={0}, rhs_batch_dims={0}" : ""));
      return;
    }
  }
}

void AddSlice(ShardedProgramText* p, size_t x) {
  Sizes sizes;
  std::vector<std::string> ranges;
  for (const int64_t size : p->Of(x)) {
    const int64_t begin = p->Below(2) ? 0 : p->Below(size);
    const int64_t end = p->Below(2) ? size : begin + 1 + p->Below(size - begin);
    const int64_t stride = p->Below(3) ? 1 : 2;
    sizes.push_back((end - begin + stride - 1) / stride);
    ranges.push_back(absl::StrCat("[", begin, ":", end, ":", stride, "]"));
  }
  p->Add(sizes, absl::StrCat("slice(", Name(x), "), slice={", absl::StrJoin(ranges, ", "), "}"));
}

void AddPad(ShardedProgramText* p, size_t x) {
  Sizes sizes;
  std::vector<std::string> padding;
  for (const int64_t size : p->Of(x)) {
    const int64_t low = p->Below(3) ? 0 : p->Below(3), high = p->Below(3) ? 0 : p->Below(3),
                  inner = p->Below(4) ? 0 : 1;
    sizes.push_back(size + low + high + std::max<int64_t>(size - 1, 0) * inner);
    padding.push_back(absl::StrCat(low, "_", high, "_", inner));
  }
  p->Add(sizes, absl::StrCat("pad(", Name(x), ", two), padding=", absl::StrJoin(padding, "x")));
}

void AddConcatenate(ShardedProgramText* p, size_t x) {
  const int64_t d = p->Below(p->RankOf(x));
  Sizes sizes = p->Of(x);
  sizes[d] *= 2;
  if (CountOf(sizes) > 2000) return;
  p->Add(sizes, absl::StrCat("concatenate(", Name(x), ", ", Name(p->Partner(x)), "), dimensions={", d, "}"));
}

void AddReverse(ShardedProgramText* p, size_t x) {
  p->Add(p->Of(x), absl::StrCat("reverse(", Name(x), "), dimensions={", p->Below(p->RankOf(x)), "}"));
}
void AddSort(ShardedProgramText* p, size_t x) {
  p->Add(p->Of(x),
         absl::StrCat("sort(", Name(x), "), dimensions={", p->Below(p->RankOf(x)), "}, is_stable=true, to_apply=less"));
}

std::string Starts(ShardedProgramText* p, size_t x) {
  return absl::StrJoin(std::vector<std::string>(p->Of(x).size(), "start"), ", ");
}
Sizes PartOf(ShardedProgramText* p, size_t x) {
  Sizes sizes;
  for (const int64_t size : p->Of(x)) sizes.push_back(p->Below(2) ? size : p->Below(size) + 1);
  return sizes;
}

void AddDynamicSlice(ShardedProgramText* p, size_t x) {
  const Sizes sizes = PartOf(p, x);
  p->Add(sizes, absl::StrCat("dynamic-slice(", Name(x), ", ", Starts(p, x), "), dynamic_slice_sizes=", ListOf(sizes)));
}

void AddUpdate(ShardedProgramText* p, size_t x) {
  const Sizes sizes = PartOf(p, x);
  const size_t part = p->AddSmall(sizes, "iota(), iota_dimension=0");
  p->Add(p->Of(x), absl::StrCat("dynamic-update-slice(", Name(x), ", ", Name(part), ", ", Starts(p, x), ")"));
}

// Rows of an array by indices.
std::string Indices(ShardedProgramText* p, int64_t count, int64_t below) {
  Sizes indices;
  for (int64_t i = 0; i < count; ++i) indices.push_back(p->Below(below + 1));
  const std::string name = p->Fresh();
  p->Helper(absl::StrCat(name, " = s32[", count, ",1] constant({{", absl::StrJoin(indices, "},{"),
                         "}}), sharding=", p->RandomSharding(2)));
  return name;
}

void AddGather(ShardedProgramText* p, size_t x) {
  const int64_t count = p->Below(9) + 1;
  const std::string indices = Indices(p, count, p->Of(x)[0]);
  Sizes sizes = p->Of(x), slice = p->Of(x), offset(p->Of(x).size() - 1);
  sizes[0] = count;
  slice[0] = 1;
  std::iota(offset.begin(), offset.end(), 1);
  p->Add(sizes, absl::StrCat("gather(", Name(x), ", ", indices, "), offset_dims=", ListOf(offset),
                             ", collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes=",
                             ListOf(slice)));
}

void AddScatter(ShardedProgramText* p, size_t x) {
  const int64_t count = p->Below(9) + 1;
  const std::string indices = Indices(p, count, p->Of(x)[0]);
  Sizes sizes = p->Of(x), window(p->Of(x).size() - 1);
  sizes[0] = count;
  std::iota(window.begin(), window.end(), 1);
  const size_t updates = p->AddSmall(sizes, "iota(), iota_dimension=0");
  p->AddSmall(
      p->Of(x),
      absl::StrCat("scatter(", Name(x), ", ", indices, ", ", Name(updates), "), update_window_dims=", ListOf(window),
                   ", inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
                   "to_apply=add"));
}

void AddWindow(ShardedProgramText* p, size_t x) {
  Sizes sizes;
  std::vector<std::string> window, pad;
  for (const int64_t size : p->Of(x)) {
    const int64_t width = p->Below(2) ? 1 : 1 + p->Below(std::min<int64_t>(size, 3));
    window.push_back(absl::StrCat(width));
    pad.push_back(absl::StrCat(width - 1, "_0"));
    sizes.push_back(size);
  }
  p->AddSmall(sizes, absl::StrCat("reduce-window(", Name(x), ", zero), window={size=", absl::StrJoin(window, "x"),
                                  " pad=", absl::StrJoin(pad, "x"), "}, to_apply=add"));
}

// Two arrays of these sizes go around.
void AddLoop(ShardedProgramText* p, size_t x) {
  const std::string shape = TextOf(p->Of(x)), state = absl::StrCat("(s32[], ", shape, ", ", shape, ")");
  const std::string name = p->Fresh();
  p->AddComputation(absl::StrCat(
      name, "_body {\n  p = ", state, " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  a = ", shape,
      " get-tuple-element(p), index=1\n  b = ", shape,
      " get-tuple-element(p), index=2\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  c = ", shape,
      " maximum(a, b)\n  d = ", shape, " reverse(a), dimensions={0}\n  ROOT r = ", state, " tuple(j, c, d)\n}\n", name,
      "_more {\n  p = ", state,
      " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(3)\n  ROOT c = pred[] "
      "compare(i, n), direction=LT\n}\n"));
  p->Helper(absl::StrCat(name, "_init = ", state, " tuple(start, ", Name(x), ", ", Name(p->Partner(x)), ")"));
  p->Helper(
      absl::StrCat(name, " = ", state, " while(", name, "_init), condition=", name, "_more, body=", name, "_body"));
  p->Add(p->Of(x), absl::StrCat("get-tuple-element(", name, "), index=", p->Below(2) + 1));
}

void AddConditional(ShardedProgramText* p, size_t x) {
  const std::string shape = TextOf(p->Of(x)), name = p->Fresh();
  p->AddComputation(absl::StrCat(name, "_t { p = ", shape, " parameter(0) ROOT n = ", shape, " negate(p) }\n", name,
                                 "_f { p = ", shape, " parameter(0) ROOT n = ", shape, " reverse(p), dimensions={",
                                 p->Below(p->RankOf(x)), "} }\n"));
  Sizes all(p->Of(x).size());
  std::iota(all.begin(), all.end(), 0);
  p->Helper(absl::StrCat(name, "_sum = f32[] reduce(", Name(x), ", zero), dimensions=", ListOf(all), ", to_apply=add"));
  p->Helper(absl::StrCat(name, "_p = pred[] compare(", name, "_sum, zero), direction=GT"));
  p->Add(p->Of(x), absl::StrCat("conditional(", name, "_p, ", Name(x), ", ", Name(p->Partner(x)),
                                "), true_computation=", name, "_t, false_computation=", name, "_f"));
}

// Each device reverses and adds its part, in a manual region.
void AddRegion(ShardedProgramText* p, size_t x) {
  Sizes part = p->Of(x), whole = p->Of(x), tiles(p->Of(x).size(), 1);
  const int64_t d = p->Below(p->RankOf(x));
  tiles[d] = p->devices();
  part[d] = (part[d] + p->devices() - 1) / p->devices();
  whole[d] = part[d] * p->devices();
  const std::string sharding = absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), "]<=[", p->devices(), "]}");
  const std::string name = p->Fresh(), local = TextOf(part);
  p->Helper(absl::StrCat(name, "a = ", TextOf(p->Of(x)), " custom-call(", Name(x),
                         "), custom_call_target=\"Sharding\", sharding=", sharding));
  p->Helper(absl::StrCat(name, "b = ", local, " custom-call(", name,
                         "a), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}"));
  p->Helper(absl::StrCat(name, "c = ", local, " reverse(", name, "b), dimensions={0}"));
  p->Helper(absl::StrCat(name, "d = ", local, " all-reduce(", name, "c), channel_id=1, replica_groups=[1,",
                         p->devices(), "]<=[", p->devices(), "], use_global_device_ids=true, to_apply=max"));
  p->Helper(absl::StrCat(name, "e = ", local, " subtract(", name, "d, ", name, "c)"));
  p->Helper(absl::StrCat(name, "f = ", local, " custom-call(", name,
                         "e), custom_call_target=\"Sharding\", sharding={manual}"));
  p->AddSmall(whole, absl::StrCat("custom-call(", name,
                                  "f), custom_call_target=\"SPMDShardToFullShape\", sharding=", sharding));
}

// Layout [batch, size, feature], kernel [width, feature, out].
void AddConvolution(ShardedProgramText* p, size_t x) {
  if (p->RankOf(x) != 3) return;
  const Sizes in = p->Of(x);
  const int64_t groups = in[2] % 2 == 0 && p->Below(2) ? 2 : 1, out = 4 * groups, width = p->Below(2) + 1;
  const int64_t batch_groups = groups == 1 && in[0] % 2 == 0 && p->Below(2) ? 2 : 1;
  const size_t kernel = p->AddSmall({width, in[2] / groups, out}, "iota(), iota_dimension=2");
  p->AddSmall({in[0] / batch_groups, in[1], out},
              absl::StrCat("convolution(", Name(x), ", ", Name(kernel), "), window={size=", width, " pad=0_", width - 1,
                           "}, dim_labels=b0f_0io->b0f", groups > 1 ? ", feature_group_count=2" : "",
                           batch_groups > 1 ? ", batch_group_count=2" : ""));
}

void AddOperation(ShardedProgramText* p) {
  using Adder = void (*)(ShardedProgramText*, size_t);
  static constexpr Adder kAny[] = {AddBinary, AddShardingCall, AddBroadcast, AddIota};
  static constexpr Adder kOfArrays[] = {
      AddTranspose, AddReshape, AddReshape,     AddRoll,        AddReduce, AddReduce,       AddDot,    AddDot,
      AddSlice,     AddPad,     AddConcatenate, AddReverse,     AddSort,   AddDynamicSlice, AddUpdate, AddGather,
      AddScatter,   AddWindow,  AddLoop,        AddConditional, AddRegion, AddConvolution};
  const size_t x = static_cast<size_t>(p->Below(p->size()));
  const Adder adder = p->RankOf(x) == 0 || p->Below(4) == 0 ? kAny[p->Below(std::size(kAny))]
                                                            : kOfArrays[p->Below(std::size(kOfArrays))];
  adder(p, x);
}

std::string WriteShardedProgram(uint32_t seed, int64_t devices) {
  ShardedProgramText p(seed, devices);
  const int64_t parameters = p.Below(3) + 1;
  for (int64_t i = 0; i < parameters; ++i) {
    const Sizes sizes = p.RandomSizes();
    p.Add(sizes, absl::StrCat("parameter(", i, "), sharding=", p.RandomSharding(sizes.size())));
  }
  for (const char* line : {"zero = f32[] constant(0)", "two = f32[] constant(2)", "start = s32[] constant(1)"})
    p.Helper(line);
  const int64_t operations = p.Below(14) + 3;
  for (int64_t i = 0; i < operations; ++i) AddOperation(&p);
  std::vector<std::string> shapes, names;
  for (int64_t i = p.size() - std::min<int64_t>(p.size(), 4); i < p.size(); ++i) {
    shapes.push_back(TextOf(p.Of(i)));
    names.push_back(Name(i));
  }
  return absl::StrCat("HloModule m, num_partitions=", devices,
                      "\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
                      "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(b, a) }\n"
                      "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), "
                      "direction=LT }\n",
                      p.computations(), "ENTRY e {\n", p.body(), "  ROOT root = (", absl::StrJoin(shapes, ", "),
                      ") tuple(", absl::StrJoin(names, ", "), ")\n}\n");
}

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
      count_from_outside != nullptr ? std::strtoul(count_from_outside, nullptr, 10) : 2000 / base::kShare;
  static constexpr int64_t kDevices[] = {2, 4, 4, 8, 6, 3};
  for (uint32_t seed = first; seed < first + programs; ++seed) {
    const int64_t devices = kDevices[seed % std::size(kDevices)];
    const std::string text = WriteShardedProgram(seed, devices);
    auto module = ParseAndReturnUnverifiedModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << "\nseed " << seed << "\n" << text;
    ASSERT_TRUE(Verify(module->get()).ok()) << Verify(module->get()) << "\nseed " << seed << "\n" << text;
    ASSERT_EQ(DifferenceFromWhole(**module, devices, SmallNumbers(**module, seed)), "") << "seed " << seed << "\n"
                                                                                        << text;
  }
}

}  // namespace
}  // namespace kashi::partition
