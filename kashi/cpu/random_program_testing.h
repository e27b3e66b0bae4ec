// Random programs: shapes, movements, fusions, reductions, loops and branches in all combinations. Arrays of unlike
// shapes meet: a sum or an element of one is an operand of another's kernel.
//
//   RandomProgram(7).Write()                          f32 only; no operation magnifies rounding, so results can be
//                                                     compared within a small tolerance
//   RandomProgram(7, /*mixes_types=*/true).Write()    many types, and operations that jump where an operand changes by
//                                                     a rounding error; the caller has to find out whether one did
#ifndef KASHI_CPU_RANDOM_PROGRAM_TESTING_H_
#define KASHI_CPU_RANDOM_PROGRAM_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"

namespace kashi::internal {

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed, bool mixes_types = false) : random_(seed), mixes_types_(mixes_types) {}

  std::string Write() {
    const int parameters = static_cast<int>(Below(mixes_types_ ? 4 : 3)) + 1;
    for (int i = 0; i < parameters; ++i) Add(RandomType(), RandomSizes(), absl::StrCat("parameter(", i, ")"));
    absl::StrAppend(&body_, "  start = s32[] parameter(", parameters, ")\n");
    for (const char* type : kTypes) {
      for (const char* number : {"0", "1"}) {
        absl::StrAppend(&body_, "  ", type, ".", number, " = ", type, "[] constant(", number, ")\n");
      }
    }
    const int64_t operations = Below(20) + 4;
    for (int64_t i = 0; i < operations; ++i) AddOperation();
    std::vector<std::string> shapes, names;
    for (size_t i = values_.size() - std::min<size_t>(values_.size(), 3); i < values_.size(); ++i) {
      shapes.push_back(Text(values_[i]));
      names.push_back(Name(i));
    }
    return absl::StrCat("HloModule m\n\n", computations_, "ENTRY e {\n", body_, "  ROOT root = (",
                        absl::StrJoin(shapes, ", "), ") tuple(", absl::StrJoin(names, ", "), ")\n}\n");
  }

 private:
  using Sizes = std::vector<int64_t>;
  struct Value {
    std::string type;
    Sizes sizes;
  };
  static constexpr const char* kTypes[] = {"f32", "f64", "bf16", "f16", "s32", "s8", "u8", "s64", "u32", "pred"};
  static constexpr int64_t kMostElements = 20000;

  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }
  template <typename List>
  auto OneOf(const List& list) {
    return std::data(list)[Below(static_cast<int64_t>(std::size(list)))];
  }
  std::string OneOf(std::initializer_list<const char*> list) { return std::data(list)[Below(std::size(list))]; }
  static std::string Text(const std::string& type, const Sizes& sizes) {
    return absl::StrCat(type, "[", absl::StrJoin(sizes, ","), "]");
  }
  static std::string Text(const Value& value) { return Text(value.type, value.sizes); }
  static std::string Name(size_t i) { return absl::StrCat("v", i); }
  static int64_t Count(const Sizes& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  }
  static bool IsReal(const std::string& type) { return absl::StrContains(type, "f"); }
  static bool IsPred(const std::string& type) { return type == "pred"; }
  static std::string Listed(const Sizes& numbers) { return absl::StrCat("{", absl::StrJoin(numbers, ","), "}"); }
  int64_t Rank(size_t x) const { return static_cast<int64_t>(values_[x].sizes.size()); }

  std::string RandomType() { return !mixes_types_ || Below(3) == 0 ? "f32" : std::string(OneOf(kTypes)); }
  Sizes RandomSizes() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 8, 9, 16, 33};
    if (Below(3) == 0) return Below(2) ? Sizes{20, 37} : Sizes{4, 9, 33};  // large enough for kernels of rows
    Sizes sizes;
    for (int64_t i = Below(4); i > 0; --i) sizes.push_back(OneOf(kSizes));
    return sizes;
  }

  size_t Add(const std::string& type, Sizes sizes, absl::string_view expression) {
    absl::StrAppend(&body_, "  ", Name(values_.size()), " = ", Text(type, sizes), " ", expression, "\n");
    values_.push_back({type, std::move(sizes)});
    return values_.size() - 1;
  }
  size_t AddLike(size_t x, absl::string_view expression) {
    return Add(std::string(values_[x].type), Sizes(values_[x].sizes), expression);
  }
  // A computation of two scalars; its name.
  std::string Combination(const std::string& operation, const std::string& type) {
    const std::string name = absl::StrCat(operation, ".", type);
    if (!absl::StrContains(computations_, absl::StrCat(name, " {"))) {
      absl::StrAppend(&computations_, absl::Substitute("$0 { a = $1[] parameter(0) b = $1[] parameter(1) ROOT c = $1[] "
                                                       "$2(b, a) }\n",
                                                       name, type, operation));
    }
    return name;
  }
  size_t AnyValue() { return static_cast<size_t>(Below(static_cast<int64_t>(values_.size()))); }
  // Another value of this type and these sizes if there is one.
  size_t Partner(size_t x) {
    for (int i = 0; i < 8; ++i) {
      const size_t y = AnyValue();
      if (values_[y].type == values_[x].type && values_[y].sizes == values_[x].sizes) return y;
    }
    return x;
  }

  void AddOperation() {
    const size_t x = AnyValue();
    struct Choice {
      void (RandomProgram::*add)(size_t x);
      int64_t least_rank;
      bool jumps;  // where an operand changes by a rounding error, or has other types
    };
    static constexpr Choice kChoices[] = {
        {&RandomProgram::AddUnary, 0, false},       {&RandomProgram::AddUnary, 0, false},
        {&RandomProgram::AddBinary, 0, false},      {&RandomProgram::AddBinary, 0, false},
        {&RandomProgram::AddBroadcast, 0, false},   {&RandomProgram::AddTranspose, 1, false},
        {&RandomProgram::AddReshape, 1, false},     {&RandomProgram::AddSlice, 1, false},
        {&RandomProgram::AddReverse, 1, false},     {&RandomProgram::AddPad, 1, false},
        {&RandomProgram::AddReduce, 1, false},      {&RandomProgram::AddDynamicSlice, 1, false},
        {&RandomProgram::AddUpdate, 1, false},      {&RandomProgram::AddGather, 1, false},
        {&RandomProgram::AddScatter, 1, false},     {&RandomProgram::AddRoll, 1, false},
        {&RandomProgram::AddNormalized, 1, false},  {&RandomProgram::AddNormalized, 1, false},
        {&RandomProgram::AddConcatenate, 1, false}, {&RandomProgram::AddOther, 0, false},
        {&RandomProgram::AddOther, 0, false},       {&RandomProgram::AddClamp, 0, false},
        {&RandomProgram::AddChoice, 0, false},      {&RandomProgram::AddRunningSum, 1, false},
        {&RandomProgram::AddLoop, 0, false},        {&RandomProgram::AddLoopOverRows, 1, false},
        {&RandomProgram::AddBranch, 0, false},      {&RandomProgram::AddDot, 1, false},
        {&RandomProgram::AddConvert, 0, true},      {&RandomProgram::AddConvert, 0, true},
        {&RandomProgram::AddCompare, 0, true},      {&RandomProgram::AddSelect, 0, true},
        {&RandomProgram::AddJump, 0, true},         {&RandomProgram::AddSort, 1, true},
    };
    const Choice choice = OneOf(kChoices);
    if (Rank(x) < choice.least_rank || (choice.jumps && !mixes_types_)) return AddUnary(x);
    (this->*choice.add)(x);
  }

  // ------------------------------------------------------------------------------------------- element by element
  void AddUnary(size_t x) {
    const std::string& type = values_[x].type;
    AddLike(x, absl::StrCat(IsPred(type)   ? "not"
                            : IsReal(type) ? OneOf({"tanh", "sine", "negate", "cosine"})
                                           : OneOf({"negate", "not"}),
                            "(", Name(x), ")"));
  }
  std::string BinaryOperation(const std::string& type) {
    if (IsPred(type)) return OneOf({"and", "or", "xor"});
    if (IsReal(type)) return OneOf({"add", "multiply", "subtract", "maximum", "minimum"});
    return OneOf({"add", "multiply", "subtract", "maximum", "minimum", "and", "or", "xor", "divide", "remainder",
                  "shift-left", "shift-right-arithmetic", "shift-right-logical"});
  }
  void AddBinary(size_t x) {
    AddLike(x, absl::StrCat(BinaryOperation(values_[x].type), "(", Name(x), ", ", Name(Partner(x)), ")"));
  }
  // A scalar of this type from another array: its sum, its greatest element, or one of its elements.
  std::string ScalarOfOther(const std::string& type) {
    size_t y = AnyValue();
    for (int i = 0; i < 8 && values_[y].type != type; ++i) y = AnyValue();
    if (values_[y].type != type) return absl::StrCat(type, ".1");
    const Sizes sizes = values_[y].sizes;
    if (sizes.empty()) return Name(y);
    if (Below(3) == 0) {
      std::vector<std::string> ranges;
      for (int64_t size : sizes) ranges.push_back(absl::StrCat("[", size - 1, ":", size, "]"));
      const size_t one = Add(type, Sizes(sizes.size(), 1),
                             absl::StrCat("slice(", Name(y), "), slice={", absl::StrJoin(ranges, ","), "}"));
      return Name(Add(type, {}, absl::StrCat("reshape(", Name(one), ")")));
    }
    Sizes all(sizes.size());
    std::iota(all.begin(), all.end(), 0);
    const std::string operation = IsPred(type) ? OneOf({"and", "or"}) : OneOf({"add", "maximum"});
    const size_t sum = Add(type, {},
                           absl::StrCat("reduce(", Name(y), ", ", type, ".0), dimensions=", Listed(all),
                                        ", to_apply=", Combination(operation, type)));
    if (!IsReal(type)) return Name(sum);
    return Name(Add(type, {}, absl::StrCat("tanh(", Name(sum), ")")));  // so that numbers stay small
  }
  std::string Repeated(const std::string& type, const Sizes& sizes, const std::string& scalar) {
    return Name(Add(type, sizes, absl::StrCat("broadcast(", scalar, "), dimensions={}")));
  }
  // x with a scalar of another array; or with sums of another array along the dimensions that x does not have.
  void AddOther(size_t x) {
    const Value value = values_[x];
    const std::string operation = BinaryOperation(value.type);
    const std::string other = Below(3) ? Repeated(value.type, value.sizes, ScalarOfOther(value.type)) : SumLike(x);
    if (other.empty()) return AddBinary(x);
    AddLike(x, absl::StrCat(operation, "(",
                            Below(2) ? absl::StrCat(Name(x), ", ", other) : absl::StrCat(other, ", ", Name(x)), ")"));
  }
  // The last dimensions of some array, summed over its first ones, are those of x: "" if there is no such array.
  std::string SumLike(size_t x) {
    const Value value = values_[x];
    for (int i = 0; i < 8; ++i) {
      const size_t y = AnyValue();
      const Sizes& sizes = values_[y].sizes;
      if (values_[y].type != value.type || sizes.size() <= value.sizes.size() || IsPred(value.type)) continue;
      const size_t more = sizes.size() - value.sizes.size();
      if (!std::equal(value.sizes.begin(), value.sizes.end(), sizes.begin() + static_cast<int64_t>(more))) continue;
      Sizes first(more);
      std::iota(first.begin(), first.end(), 0);
      const size_t sum =
          AddLike(x, absl::StrCat("reduce(", Name(y), ", ", value.type, ".0), dimensions=", Listed(first),
                                  ", to_apply=", Combination("add", value.type)));
      return IsReal(value.type) ? Name(AddLike(x, absl::StrCat("tanh(", Name(sum), ")"))) : Name(sum);
    }
    return "";
  }
  // Limits as scalars, or one of them as an array.
  void AddClamp(size_t x) {
    const Value value = values_[x];
    if (IsPred(value.type)) return AddUnary(x);
    std::string low = ScalarOfOther(value.type), high = Below(2) ? ScalarOfOther(value.type) : value.type + ".1";
    if (Below(3) == 0) {
      low = Repeated(value.type, value.sizes, low);
      high = Repeated(value.type, value.sizes, high);
    }
    AddLike(x, absl::StrCat("clamp(", low, ", ", Name(x), ", ", high, ")"));
  }
  // pred[]: by a parameter; the same for all elements.
  std::string Condition() {
    const std::string name = absl::StrCat("c", conditions_++);
    absl::StrAppend(&body_, "  ", name, ".n = s32[] constant(", Below(9) - 3, ")\n  ", name,
                    " = pred[] compare(start, ", name, ".n), direction=", OneOf({"LT", "GE", "NE"}), "\n");
    return name;
  }
  void AddChoice(size_t x) {
    const std::string condition = Condition();
    AddLike(x, absl::StrCat("select(", condition, ", ", Name(x), ", ", Name(Partner(x)), ")"));
  }

  // ------------------------------------------------------------------------------------------------- moved elements
  // Its dimensions among new ones.
  void AddBroadcast(size_t x) {
    Sizes sizes = values_[x].sizes, dimensions(sizes.size());
    std::iota(dimensions.begin(), dimensions.end(), 0);
    for (int64_t more = 1 + Below(2); more > 0 && Count(sizes) < 2000; --more) {
      const int64_t at = Below(static_cast<int64_t>(sizes.size()) + 1);
      for (int64_t& d : dimensions) d += d >= at;
      sizes.insert(sizes.begin() + at, Below(2) ? 3 : 17);
    }
    if (Count(sizes) > kMostElements) return;
    Add(values_[x].type, sizes, absl::StrCat("broadcast(", Name(x), "), dimensions=", Listed(dimensions)));
  }
  void AddTranspose(size_t x) {
    Sizes permutation(values_[x].sizes.size()), sizes;
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random_);
    for (int64_t from : permutation) sizes.push_back(values_[x].sizes[static_cast<size_t>(from)]);
    Add(values_[x].type, sizes, absl::StrCat("transpose(", Name(x), "), dimensions=", Listed(permutation)));
  }
  // Splits the number of elements anew, or joins two dimensions.
  void AddReshape(size_t x) {
    Sizes sizes = values_[x].sizes;
    if (sizes.size() > 1 && Below(2)) {
      const size_t at = static_cast<size_t>(Below(static_cast<int64_t>(sizes.size()) - 1));
      sizes[at] *= sizes[at + 1];
      sizes.erase(sizes.begin() + static_cast<int64_t>(at) + 1);
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
    Add(values_[x].type, sizes, absl::StrCat("reshape(", Name(x), ")"));
  }
  void AddSlice(size_t x) {
    std::vector<std::string> ranges;
    Sizes sizes;
    for (int64_t size : values_[x].sizes) {
      const int64_t begin = Below(size), limit = begin + 1 + Below(size - begin), stride = 1 + Below(3);
      ranges.push_back(absl::StrCat("[", begin, ":", limit, ":", stride, "]"));
      sizes.push_back((limit - begin + stride - 1) / stride);
    }
    Add(values_[x].type, sizes, absl::StrCat("slice(", Name(x), "), slice={", absl::StrJoin(ranges, ","), "}"));
  }
  void AddReverse(size_t x) { AddLike(x, absl::StrCat("reverse(", Name(x), "), dimensions={", Below(Rank(x)), "}")); }
  // With a constant, or with a scalar of another array.
  void AddPad(size_t x) {
    const std::string type = values_[x].type;
    std::vector<std::string> edges;
    Sizes sizes;
    for (int64_t size : values_[x].sizes) {
      const int64_t low = Below(4) - 1, high = Below(3), between = Below(4) == 0;
      sizes.push_back(size + low + high + (size - 1) * between);
      if (sizes.back() <= 0) return;
      edges.push_back(absl::StrCat(low, "_", high, "_", between));
    }
    const std::string with = Below(2) ? ScalarOfOther(type) : type + ".1";
    Add(type, sizes, absl::StrCat("pad(", Name(x), ", ", with, "), padding=", absl::StrJoin(edges, "x")));
  }
  void AddConcatenate(size_t x) {
    Sizes sizes = values_[x].sizes;
    if (Count(sizes) > 2000) return;
    const int64_t dimension = Below(Rank(x));
    sizes[static_cast<size_t>(dimension)] *= 2;
    Add(values_[x].type, sizes,
        absl::StrCat("concatenate(", Name(x), ", ", Name(Partner(x)), "), dimensions={", dimension, "}"));
  }
  void AddRoll(size_t x) {
    const Value value = values_[x];
    const int64_t dimension = Below(Rank(x));
    const int64_t size = value.sizes[static_cast<size_t>(dimension)];
    if (size < 2) return;
    const int64_t shift = 1 + Below(size - 1);
    std::vector<std::string> parts;
    for (const auto& [begin, limit] : {std::make_pair(size - shift, size), std::make_pair(int64_t{0}, size - shift)}) {
      std::vector<std::string> ranges;
      for (int64_t other : value.sizes) ranges.push_back(absl::StrCat("[0:", other, "]"));
      ranges[static_cast<size_t>(dimension)] = absl::StrCat("[", begin, ":", limit, "]");
      Sizes sizes = value.sizes;
      sizes[static_cast<size_t>(dimension)] = limit - begin;
      parts.push_back(
          Name(Add(value.type, sizes, absl::StrCat("slice(", Name(x), "), slice={", absl::StrJoin(ranges, ","), "}"))));
    }
    AddLike(x, absl::StrCat("concatenate(", absl::StrJoin(parts, ", "), "), dimensions={", dimension, "}"));
  }

  // ------------------------------------------------------------------------------------------- at indices at run time
  static std::string Starts(int64_t rank) {
    std::string starts;
    for (int64_t d = 0; d < rank; ++d) absl::StrAppend(&starts, ", start");
    return starts;
  }
  void AddDynamicSlice(size_t x) {
    Sizes sizes;
    for (int64_t size : values_[x].sizes) sizes.push_back(1 + Below(size));
    Add(values_[x].type, sizes,
        absl::StrCat("dynamic-slice(", Name(x), Starts(Rank(x)), "), dynamic_slice_sizes=", Listed(sizes)));
  }
  // A part of x over another part of it.
  void AddUpdate(size_t x) {
    AddDynamicSlice(x);
    const size_t part = values_.size() - 1;
    const size_t changed = AddLike(part, absl::StrCat(IsPred(values_[x].type) ? "not(" : "negate(", Name(part), ")"));
    AddLike(x, absl::StrCat("dynamic-update-slice(", Name(x), ", ", Name(changed), Starts(Rank(x)), ")"));
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
    absl::StrAppend(&body_, "  ", name, ".two = s32[", n, "] constant(", Listed(Sizes(static_cast<size_t>(n), 2)),
                    ")\n");
    absl::StrAppend(&body_, "  ", name, " = ", type, " subtract(", name, ".r, ", name, ".two)\n");
    return name;
  }
  // Of single elements if the dimension is the innermost one, else of rows.
  void AddGather(size_t x) {
    Sizes sizes = values_[x].sizes, window = sizes, offsets;
    const int64_t dimension = Below(Rank(x));
    for (int64_t d = 0; d < Rank(x); ++d) {
      if (d != dimension) offsets.push_back(d);
    }
    const size_t at = static_cast<size_t>(dimension);
    const std::string indices = AddIndices(sizes[at] = 1 + Below(20), values_[x].sizes[at]);
    window[at] = 1;
    if (Count(sizes) > kMostElements) return;
    Add(values_[x].type, sizes,
        absl::StrCat("gather(", Name(x), ", ", indices, "), offset_dims=", Listed(offsets), ", collapsed_slice_dims={",
                     dimension, "}, start_index_map={", dimension,
                     "}, index_vector_dim=1, slice_sizes=", Listed(window)));
  }
  // All elements of one value into those of another.
  void AddScatter(size_t x) {
    const size_t y = AnyValue();
    const std::string type = values_[x].type;
    const int64_t count = Count(values_[x].sizes), updates = Count(values_[y].sizes);
    if (updates > 500 || values_[y].type != type) return;
    const std::string indices = AddIndices(updates, count);
    const size_t to = Add(type, {count}, absl::StrCat("reshape(", Name(x), ")"));
    const size_t from = Add(type, {updates}, absl::StrCat("reshape(", Name(y), ")"));
    const size_t sum = Add(type, {count},
                           absl::StrCat("scatter(", Name(to), ", ", indices, ", ", Name(from),
                                        "), update_window_dims={}, inserted_window_dims={0}, "
                                        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=",
                                        Combination(IsPred(type) ? "or" : "add", type)));
    AddUnary(sum);
  }

  // -------------------------------------------------------------------------------------------- sums, rows, products
  std::string ReductionOperation(const std::string& type) {
    return IsPred(type) ? OneOf({"and", "or"}) : OneOf({"add", "maximum", "minimum"});
  }
  void AddReduce(size_t x) {
    const std::string type = values_[x].type;
    Sizes dimensions, sizes;
    for (size_t i = 0; i < values_[x].sizes.size(); ++i) {
      if (Below(2)) {
        dimensions.push_back(static_cast<int64_t>(i));
      } else {
        sizes.push_back(values_[x].sizes[i]);
      }
    }
    const std::string initial = Below(2) ? type + ".0" : ScalarOfOther(type);
    AddUnary(Add(type, sizes,
                 absl::StrCat("reduce(", Name(x), ", ", initial, "), dimensions=", Listed(dimensions),
                              ", to_apply=", Combination(ReductionOperation(type), type))));
  }
  // An array and something of its rows, such as their sums.
  void AddNormalized(size_t x) {
    const Value value = values_[x];
    Sizes rows = value.sizes, kept;
    rows.pop_back();
    const size_t y = Below(2) ? (AddUnary(x), values_.size() - 1) : x;
    size_t sum = Add(value.type, rows,
                     absl::StrCat("reduce(", Name(y), ", ", value.type, ".0), dimensions={", rows.size(),
                                  "}, to_apply=", Combination(ReductionOperation(value.type), value.type)));
    if (Below(2)) AddUnary(std::exchange(sum, sum + 1));
    if (Below(2)) {  // as JAX keeps dimensions
      Sizes with_one = rows;
      with_one.push_back(1);
      const size_t column = Add(value.type, with_one, absl::StrCat("reshape(", Name(sum), ")"));
      AddUnary(column);
      sum = Add(value.type, rows, absl::StrCat("reshape(", Name(column + 1), ")"));
    }
    for (size_t i = 0; i < rows.size(); ++i) kept.push_back(static_cast<int64_t>(i));
    const std::string wide = Name(AddLike(x, absl::StrCat("broadcast(", Name(sum), "), dimensions=", Listed(kept))));
    AddLike(x, absl::StrCat(IsPred(value.type) ? "xor" : OneOf({"subtract", "multiply"}), "(", Name(Below(2) ? x : y),
                            ", ", wide, ")"));
  }
  void AddRunningSum(size_t x) {
    const std::string type = values_[x].type;
    const size_t d = static_cast<size_t>(Below(Rank(x)));
    Sizes window(values_[x].sizes.size(), 1);
    window[d] = values_[x].sizes[d];
    std::vector<std::string> edges(window.size(), "0_0");
    edges[d] = Below(2) ? absl::StrCat(window[d] - 1, "_0") : absl::StrCat("0_", window[d] - 1);
    const size_t sum =
        AddLike(x, absl::StrCat("reduce-window(", Name(x), ", ", type, ".0), window={size=", absl::StrJoin(window, "x"),
                                " pad=", absl::StrJoin(edges, "x"),
                                "}, to_apply=", Combination(ReductionOperation(type), type)));
    AddUnary(sum);
  }
  // With a part of itself, so that sizes fit.
  void AddDot(size_t x) {
    const Value value = values_[x];
    if (IsPred(value.type) || Count(value.sizes) > 2000) return AddUnary(x);
    const int64_t d = Below(Rank(x)), n = value.sizes[static_cast<size_t>(d)], columns = 1 + Below(17);
    const size_t part =
        Add(value.type, {n, columns}, absl::StrCat("broadcast(", ScalarOfOther(value.type), "), dimensions={}"));
    Sizes sizes = value.sizes;
    sizes.erase(sizes.begin() + d);
    sizes.push_back(columns);
    AddUnary(Add(value.type, sizes,
                 absl::StrCat("dot(", Name(x), ", ", Name(part), "), lhs_contracting_dims={", d,
                              "}, rhs_contracting_dims={0}")));
  }

  // -------------------------------------------------------------------------------------------------- loops, branches
  // Adds a loop of up to 12 trips; `step` gives `next` from `a`, `k` (another value) and `i`.
  void AddWhile(size_t x, size_t other, const std::string& step) {
    const std::string name = absl::StrCat("w", loops_++), shape = Text(values_[x]), kept = Text(values_[other]);
    const std::string tuple = absl::StrCat("(s32[], ", shape, ", ", kept, ")");
    absl::StrAppend(&computations_, name, ".b {\n  s = ", tuple, " parameter(0)\n",
                    "  i = s32[] get-tuple-element(s), index=0\n  a = ", shape,
                    " get-tuple-element(s), index=1\n  k = ", kept,
                    " get-tuple-element(s), index=2\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n", step,
                    "  ROOT t = ", tuple, " tuple(j, next, k)\n}\n");
    absl::StrAppend(&computations_, name, ".c {\n  s = ", tuple,
                    " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(", Below(12),
                    ")\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n");
    absl::StrAppend(&body_, "  ", name, ".s = ", tuple, " tuple(s32.0, ", Name(x), ", ", Name(other), ")\n  ", name,
                    " = ", tuple, " while(", name, ".s), condition=", name, ".c, body=", name, ".b\n");
    AddLike(x, absl::StrCat("get-tuple-element(", name, "), index=1"));
  }
  // All of x changes in each trip, by the sum of another array.
  void AddLoop(size_t x) {
    const Value value = values_[x];
    size_t other = AnyValue();
    if (values_[other].type != value.type) other = x;
    Sizes all(values_[other].sizes.size());
    std::iota(all.begin(), all.end(), 0);
    const std::string operation = IsPred(value.type) ? "or" : "add";
    const std::string step = absl::Substitute(
        "  zero = $0[] constant(0)\n  sum = $0[] reduce(k, zero), dimensions=$1, to_apply=$2\n  part = $0[] $3(sum)\n  "
        "wide = $4 broadcast(part), dimensions={}\n  x = $4 $5(a, wide)\n  next = $4 $3(x)\n",
        value.type, Listed(all), Combination(operation, value.type),
        IsPred(value.type)   ? "not"
        : IsReal(value.type) ? "sine"
                             : "negate",
        Text(value), IsPred(value.type) ? "xor" : "subtract");
    AddWhile(x, other, step);
  }
  // A row of x changes in each trip.
  void AddLoopOverRows(size_t x) {
    const Value value = values_[x];
    Sizes row = value.sizes;
    row[0] = 1;
    std::string starts = "i";
    for (size_t d = 1; d < row.size(); ++d) absl::StrAppend(&starts, ", zero");
    const std::string step = absl::Substitute(
        "  zero = s32[] constant(0)\n  row = $0 dynamic-slice(k, $1), dynamic_slice_sizes=$2\n  old = $0 "
        "dynamic-slice(a, $1), dynamic_slice_sizes=$2\n  new = $0 $3(old, row)\n  next = $4 dynamic-update-slice(a, "
        "new, $1)\n",
        Text(value.type, row), starts, Listed(row), IsPred(value.type) ? "xor" : "subtract", Text(value));
    AddWhile(x, Partner(x), step);
  }
  void AddBranch(size_t x) {
    const std::string name = absl::StrCat("br", branches_++), shape = Text(values_[x]);
    const std::string& type = values_[x].type;
    absl::StrAppend(&computations_, name, ".t { a = ", shape, " parameter(0) ROOT r = ", shape, " ",
                    IsPred(type) ? "not" : "negate", "(a) }\n", name, ".f { a = ", shape,
                    " parameter(0) ROOT r = ", shape, " ", IsPred(type) ? "xor" : "maximum", "(a, a) }\n");
    const std::string condition = Condition();
    AddLike(x, absl::StrCat("conditional(", condition, ", ", Name(x), ", ", Name(Partner(x)),
                            "), true_computation=", name, ".t, false_computation=", name, ".f"));
  }

  // -------------------------------------------------------------------------------------------------- types, jumps
  void AddConvert(size_t x) {
    Add(std::string(OneOf(kTypes)), Sizes(values_[x].sizes), absl::StrCat("convert(", Name(x), ")"));
  }
  void AddCompare(size_t x) {
    Add("pred", Sizes(values_[x].sizes),
        absl::StrCat("compare(", Name(x), ", ", Name(Partner(x)),
                     "), direction=", OneOf({"EQ", "NE", "LT", "LE", "GT", "GE"})));
  }
  void AddSelect(size_t x) {
    AddCompare(x);
    const size_t mask = values_.size() - 1;
    AddLike(x, absl::StrCat("select(", Name(mask), ", ", Name(x), ", ", Name(Partner(x)), ")"));
  }
  void AddJump(size_t x) {
    const std::string& type = values_[x].type;
    if (!IsReal(type)) return AddBinary(x);
    AddLike(x, absl::StrCat(OneOf({"floor", "ceil", "round-nearest-even", "round-nearest-afz", "sign", "abs",
                                   "exponential", "logistic", "log", "sqrt", "rsqrt", "cbrt", "log-plus-one"}),
                            "(", Name(x), ")"));
  }
  void AddSort(size_t x) {
    const std::string type = values_[x].type, name = absl::StrCat("order.", type);
    if (!absl::StrContains(computations_, absl::StrCat(name, " {"))) {
      absl::StrAppend(&computations_,
                      absl::Substitute("$0 { a = $1[] parameter(0) b = $1[] parameter(1) ROOT c = pred[] "
                                       "compare(a, b), direction=LT }\n",
                                       name, type));
    }
    AddLike(x, absl::StrCat("sort(", Name(x), "), dimensions={", Below(Rank(x)), "}, is_stable=true, to_apply=", name));
  }

  std::mt19937 random_;
  const bool mixes_types_;
  std::string computations_, body_;
  int indices_ = 0, conditions_ = 0, loops_ = 0, branches_ = 0;
  std::vector<Value> values_;
};

}  // namespace kashi::internal

#endif  // KASHI_CPU_RANDOM_PROGRAM_TESTING_H_
