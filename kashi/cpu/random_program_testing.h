// Random programs: shapes, movements, fusions, reductions, loops and branches in all combinations. Arrays of different
// shapes interact: a sum or an element of one is an operand of another's kernel.
//
//   RandomProgram(7).Write()                          f32 only; no operation magnifies rounding, so results can be
//                                                     compared within a small tolerance
//   RandomProgram(7, /*mixes_types=*/true).Write()    many types, and operations that jump where an operand changes by
//                                                     a rounding error; the caller has to find out whether one did
#ifndef KASHI_CPU_RANDOM_PROGRAM_TESTING_H_
#define KASHI_CPU_RANDOM_PROGRAM_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "kashi/cpu/random_program_loops_testing.h"
#include "kashi/cpu/random_program_text_testing.h"

namespace kashi::cpu {
namespace random_program {

// ------------------------------------------------------------------------------------------- element by element
inline void AddUnary(ProgramText* p, size_t x) {
  const std::string& type = p->values()[x].type;
  p->AddLike(x, absl::StrCat(IsPred(type)   ? "not"
                             : IsReal(type) ? p->OneOf({"tanh", "sine", "negate", "cosine"})
                                            : p->OneOf({"negate", "not"}),
                             "(", Name(x), ")"));
}

inline void AddBinary(ProgramText* p, size_t x) {
  p->AddLike(x, absl::StrCat(BinaryOperation(p, p->values()[x].type), "(", Name(x), ", ", Name(p->Partner(x)), ")"));
}

// Some values of x and its partners, all of which may be results.
inline void AddSeveral(ProgramText* p, size_t x) {
  for (int64_t i = 1 + p->Below(3); i >= 0; --i)
    AddUnary(p, p->Below(2) ? x : (AddBinary(p, x), p->values().size() - 1));
}

// One element of y, somewhere in it.
inline size_t GatherOne(ProgramText* p, size_t y) {
  const TypedValue value = p->values()[y];
  Sizes at, all(value.sizes.size());
  for (int64_t size : value.sizes) at.push_back(p->Below(size));
  std::iota(all.begin(), all.end(), 0);
  const std::string name = absl::StrCat("i", p->NewNumber(NameKind::kIndices));
  p->AppendToBody("  ", name, " = s32[", at.size(), "] constant(", Listed(at), ")\n");
  return p->Add(value.type, {},
                absl::StrCat("gather(", Name(y), ", ", name, "), offset_dims={}, collapsed_slice_dims=", Listed(all),
                             ", start_index_map=", Listed(all),
                             ", index_vector_dim=0, slice_sizes=", Listed(Sizes(value.sizes.size(), 1))));
}

// A scalar of this type from another array: its sum, its greatest element, or one of its elements.
inline std::string ScalarOfOther(ProgramText* p, const std::string& type) {
  size_t y = p->AnyValue();
  for (int i = 0; i < 8 && p->values()[y].type != type; ++i) y = p->AnyValue();
  if (p->values()[y].type != type) return absl::StrCat(type, ".1");
  const Sizes sizes = p->values()[y].sizes;
  if (sizes.empty()) return Name(y);
  if (p->Below(3) == 0) {
    std::vector<std::string> ranges;
    for (int64_t size : sizes) ranges.push_back(absl::StrCat("[", size - 1, ":", size, "]"));
    const size_t one = p->Add(type, Sizes(sizes.size(), 1),
                              absl::StrCat("slice(", Name(y), "), slice={", absl::StrJoin(ranges, ","), "}"));
    return Name(p->Add(type, {}, absl::StrCat("reshape(", Name(one), ")")));
  }
  if (p->Below(4) == 0) return Name(GatherOne(p, y));
  Sizes all(sizes.size());
  std::iota(all.begin(), all.end(), 0);
  const std::string operation = IsPred(type) ? p->OneOf({"and", "or"}) : p->OneOf({"add", "maximum"});
  const size_t sum = p->Add(type, {},
                            absl::StrCat("reduce(", Name(y), ", ", type, ".0), dimensions=", Listed(all),
                                         ", to_apply=", p->Combination(operation, type)));
  if (!IsReal(type)) return Name(sum);
  return Name(p->Add(type, {}, absl::StrCat("tanh(", Name(sum), ")")));  // so that numbers stay small
}

inline std::string Repeated(ProgramText* p, const std::string& type, const Sizes& sizes, const std::string& scalar) {
  return Name(p->Add(type, sizes, absl::StrCat("broadcast(", scalar, "), dimensions={}")));
}

// An array whose last dimensions are those of x, summed over its first dimensions; "" if there is none.
inline std::string SumLike(ProgramText* p, size_t x) {
  const TypedValue value = p->values()[x];
  for (int i = 0; i < 8; ++i) {
    const size_t y = p->AnyValue();
    const Sizes& sizes = p->values()[y].sizes;
    if (p->values()[y].type != value.type || sizes.size() <= value.sizes.size() || IsPred(value.type)) continue;
    const size_t more = sizes.size() - value.sizes.size();
    if (!std::equal(value.sizes.begin(), value.sizes.end(), sizes.begin() + static_cast<int64_t>(more))) continue;
    Sizes first(more);
    std::iota(first.begin(), first.end(), 0);
    const size_t sum =
        p->AddLike(x, absl::StrCat("reduce(", Name(y), ", ", value.type, ".0), dimensions=", Listed(first),
                                   ", to_apply=", p->Combination("add", value.type)));
    return IsReal(value.type) ? Name(p->AddLike(x, absl::StrCat("tanh(", Name(sum), ")"))) : Name(sum);
  }
  return "";
}

// Combines x with a scalar of another array, or with sums of another array along the dimensions that x does not have.
inline void AddOther(ProgramText* p, size_t x) {
  const TypedValue value = p->values()[x];
  const std::string operation = BinaryOperation(p, value.type);
  const std::string other =
      p->Below(3) ? Repeated(p, value.type, value.sizes, ScalarOfOther(p, value.type)) : SumLike(p, x);
  if (other.empty()) return AddBinary(p, x);
  p->AddLike(x,
             absl::StrCat(operation, "(",
                          p->Below(2) ? absl::StrCat(Name(x), ", ", other) : absl::StrCat(other, ", ", Name(x)), ")"));
}

// A clamp with limits that are scalars, or one of which is an array.
inline void AddClamp(ProgramText* p, size_t x) {
  const TypedValue value = p->values()[x];
  if (IsPred(value.type)) return AddUnary(p, x);
  std::string low = ScalarOfOther(p, value.type), high = p->Below(2) ? ScalarOfOther(p, value.type) : value.type + ".1";
  if (p->Below(3) == 0) {
    low = Repeated(p, value.type, value.sizes, low);
    high = Repeated(p, value.type, value.sizes, high);
  }
  p->AddLike(x, absl::StrCat("clamp(", low, ", ", Name(x), ", ", high, ")"));
}

inline void AddChoice(ProgramText* p, size_t x) {
  const std::string condition = Condition(p);
  p->AddLike(x, absl::StrCat("select(", condition, ", ", Name(x), ", ", Name(p->Partner(x)), ")"));
}

// ------------------------------------------------------------------------------------------------- moved elements
// Broadcasts x to more dimensions.
inline void AddBroadcast(ProgramText* p, size_t x) {
  Sizes sizes = p->values()[x].sizes, dimensions(sizes.size());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  for (int64_t more = 1 + p->Below(2); more > 0 && Count(sizes) < 2000; --more) {
    const int64_t at = p->Below(static_cast<int64_t>(sizes.size()) + 1);
    for (int64_t& d : dimensions) d += d >= at;
    sizes.insert(sizes.begin() + at, p->Below(2) ? 3 : 17);
  }
  if (Count(sizes) > kMostElements) return;
  p->Add(p->values()[x].type, sizes, absl::StrCat("broadcast(", Name(x), "), dimensions=", Listed(dimensions)));
}

inline void AddTranspose(ProgramText* p, size_t x) {
  Sizes permutation(p->values()[x].sizes.size()), sizes;
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), p->random());
  for (int64_t from : permutation) sizes.push_back(p->values()[x].sizes[static_cast<size_t>(from)]);
  p->Add(p->values()[x].type, sizes, absl::StrCat("transpose(", Name(x), "), dimensions=", Listed(permutation)));
}

// Splits the elements into other dimensions, or joins two dimensions.
inline void AddReshape(ProgramText* p, size_t x) {
  Sizes sizes = p->values()[x].sizes;
  if (sizes.size() > 1 && p->Below(2)) {
    const size_t at = static_cast<size_t>(p->Below(static_cast<int64_t>(sizes.size()) - 1));
    sizes[at] *= sizes[at + 1];
    sizes.erase(sizes.begin() + static_cast<int64_t>(at) + 1);
  } else {
    int64_t left = Count(sizes);
    sizes.clear();
    for (int64_t factor : {2, 3, 4}) {
      if (left % factor != 0 || p->Below(2)) continue;
      sizes.push_back(factor);
      left /= factor;
    }
    sizes.insert(sizes.begin() + p->Below(static_cast<int64_t>(sizes.size()) + 1), left);
  }
  p->Add(p->values()[x].type, sizes, absl::StrCat("reshape(", Name(x), ")"));
}

inline void AddSlice(ProgramText* p, size_t x) {
  std::vector<std::string> ranges;
  Sizes sizes;
  for (int64_t size : p->values()[x].sizes) {
    const int64_t begin = p->Below(size), limit = begin + 1 + p->Below(size - begin), stride = 1 + p->Below(3);
    ranges.push_back(absl::StrCat("[", begin, ":", limit, ":", stride, "]"));
    sizes.push_back((limit - begin + stride - 1) / stride);
  }
  p->Add(p->values()[x].type, sizes, absl::StrCat("slice(", Name(x), "), slice={", absl::StrJoin(ranges, ","), "}"));
}

inline void AddReverse(ProgramText* p, size_t x) {
  p->AddLike(x, absl::StrCat("reverse(", Name(x), "), dimensions={", p->Below(p->Rank(x)), "}"));
}

// Pads with a constant, or with a scalar of another array.
inline void AddPad(ProgramText* p, size_t x) {
  const std::string type = p->values()[x].type;
  std::vector<std::string> edges;
  Sizes sizes;
  for (int64_t size : p->values()[x].sizes) {
    const int64_t low = p->Below(4) - 1, high = p->Below(3), between = p->Below(4) == 0;
    sizes.push_back(size + low + high + (size - 1) * between);
    if (sizes.back() <= 0) return;
    edges.push_back(absl::StrCat(low, "_", high, "_", between));
  }
  const std::string with = p->Below(2) ? ScalarOfOther(p, type) : type + ".1";
  p->Add(type, sizes, absl::StrCat("pad(", Name(x), ", ", with, "), padding=", absl::StrJoin(edges, "x")));
}

// x, and before or behind it what is computed of its first index of a dimension.
inline void AddEdge(ProgramText* p, size_t x, int64_t dimension) {
  const TypedValue value = p->values()[x];
  std::vector<std::string> ranges;
  for (int64_t size : value.sizes) ranges.push_back(absl::StrCat("[0:", size, "]"));
  ranges[static_cast<size_t>(dimension)] = "[0:1]";
  Sizes sizes = value.sizes;
  sizes[static_cast<size_t>(dimension)] = 1;
  size_t edge =
      p->Add(value.type, sizes, absl::StrCat("slice(", Name(x), "), slice={", absl::StrJoin(ranges, ","), "}"));
  AddUnary(p, edge);
  if (p->values().back().type == value.type && p->values().back().sizes == sizes) edge = p->values().size() - 1;
  sizes[static_cast<size_t>(dimension)] = value.sizes[static_cast<size_t>(dimension)] + 1;
  const std::string operands =
      p->Below(2) ? absl::StrCat(Name(x), ", ", Name(edge)) : absl::StrCat(Name(edge), ", ", Name(x));
  p->Add(value.type, sizes, absl::StrCat("concatenate(", operands, "), dimensions={", dimension, "}"));
}

inline void AddConcatenate(ProgramText* p, size_t x) {
  Sizes sizes = p->values()[x].sizes;
  if (Count(sizes) > 2000) return;
  const int64_t dimension = p->Below(p->Rank(x));
  if (p->Below(3) == 0) return AddEdge(p, x, dimension);
  sizes[static_cast<size_t>(dimension)] *= 2;
  p->Add(p->values()[x].type, sizes,
         absl::StrCat("concatenate(", Name(x), ", ", Name(p->Partner(x)), "), dimensions={", dimension, "}"));
}

inline void AddRoll(ProgramText* p, size_t x) {
  const TypedValue value = p->values()[x];
  const int64_t dimension = p->Below(p->Rank(x));
  const int64_t size = value.sizes[static_cast<size_t>(dimension)];
  if (size < 2) return;
  const int64_t shift = 1 + p->Below(size - 1);
  std::vector<std::string> parts;
  for (const auto& [begin, limit] : {std::make_pair(size - shift, size), std::make_pair(int64_t{0}, size - shift)}) {
    std::vector<std::string> ranges;
    for (int64_t other : value.sizes) ranges.push_back(absl::StrCat("[0:", other, "]"));
    ranges[static_cast<size_t>(dimension)] = absl::StrCat("[", begin, ":", limit, "]");
    Sizes sizes = value.sizes;
    sizes[static_cast<size_t>(dimension)] = limit - begin;
    parts.push_back(Name(
        p->Add(value.type, sizes, absl::StrCat("slice(", Name(x), "), slice={", absl::StrJoin(ranges, ","), "}"))));
  }
  p->AddLike(x, absl::StrCat("concatenate(", absl::StrJoin(parts, ", "), "), dimensions={", dimension, "}"));
}

// ------------------------------------------------------------------------------------------- at indices at run time
inline std::string Starts(int64_t rank) {
  std::string starts;
  for (int64_t d = 0; d < rank; ++d) absl::StrAppend(&starts, ", start");
  return starts;
}

inline void AddDynamicSlice(ProgramText* p, size_t x) {
  Sizes sizes;
  for (int64_t size : p->values()[x].sizes) sizes.push_back(1 + p->Below(size));
  p->Add(p->values()[x].type, sizes,
         absl::StrCat("dynamic-slice(", Name(x), Starts(p->Rank(x)), "), dynamic_slice_sizes=", Listed(sizes)));
}

// Writes a part of x over another part of it.
inline void AddUpdate(ProgramText* p, size_t x) {
  AddDynamicSlice(p, x);
  const size_t part = p->values().size() - 1;
  const size_t changed =
      p->AddLike(part, absl::StrCat(IsPred(p->values()[x].type) ? "not(" : "negate(", Name(part), ")"));
  p->AddLike(x, absl::StrCat("dynamic-update-slice(", Name(x), ", ", Name(changed), Starts(p->Rank(x)), ")"));
}

// s32[n]: indices below, within and beyond a dimension of `size`. Returns the name.
inline std::string AddIndices(ProgramText* p, int64_t n, int64_t size) {
  const std::string name = absl::StrCat("i", p->NewNumber(NameKind::kIndices)), type = absl::StrCat("s32[", n, "]");
  p->AppendToBody("  ", name, ".n = ", type, " iota(), iota_dimension=0\n");
  p->AppendToBody("  ", name, ".f = s32[] constant(", 7 + p->Below(100), ")\n");
  p->AppendToBody("  ", name, ".m = s32[] constant(", size + 3, ")\n");
  for (const char* scalar : {"f", "m"}) {
    p->AppendToBody("  ", name, ".", scalar, "s = ", type, " broadcast(", name, ".", scalar, "), dimensions={}\n");
  }
  p->AppendToBody("  ", name, ".p = ", type, " multiply(", name, ".n, ", name, ".fs)\n");
  p->AppendToBody("  ", name, ".r = ", type, " remainder(", name, ".p, ", name, ".ms)\n");
  p->AppendToBody("  ", name, ".two = s32[", n, "] constant(", Listed(Sizes(static_cast<size_t>(n), 2)), ")\n");
  p->AppendToBody("  ", name, " = ", type, " subtract(", name, ".r, ", name, ".two)\n");
  return name;
}

// Gathers single elements if the dimension is the innermost one, otherwise rows.
inline void AddGather(ProgramText* p, size_t x) {
  Sizes sizes = p->values()[x].sizes, window = sizes, offsets;
  const int64_t dimension = p->Below(p->Rank(x));
  for (int64_t d = 0; d < p->Rank(x); ++d) {
    if (d != dimension) offsets.push_back(d);
  }
  const size_t at = static_cast<size_t>(dimension);
  const std::string indices = AddIndices(p, sizes[at] = 1 + p->Below(20), p->values()[x].sizes[at]);
  window[at] = 1;
  if (Count(sizes) > kMostElements) return;
  p->Add(p->values()[x].type, sizes,
         absl::StrCat("gather(", Name(x), ", ", indices, "), offset_dims=", Listed(offsets), ", collapsed_slice_dims={",
                      dimension, "}, start_index_map={", dimension,
                      "}, index_vector_dim=1, slice_sizes=", Listed(window)));
}

// Scatters all elements of one value into another one.
inline void AddScatter(ProgramText* p, size_t x) {
  const size_t y = p->AnyValue();
  const std::string type = p->values()[x].type;
  const int64_t count = Count(p->values()[x].sizes), updates = Count(p->values()[y].sizes);
  if (updates > 500 || p->values()[y].type != type) return;
  const std::string indices = AddIndices(p, updates, count);
  const size_t to = p->Add(type, {count}, absl::StrCat("reshape(", Name(x), ")"));
  const size_t from = p->Add(type, {updates}, absl::StrCat("reshape(", Name(y), ")"));
  const size_t sum = p->Add(type, {count},
                            absl::StrCat("scatter(", Name(to), ", ", indices, ", ", Name(from),
                                         "), update_window_dims={}, inserted_window_dims={0}, "
                                         "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=",
                                         p->Combination(IsPred(type) ? "or" : "add", type)));
  AddUnary(p, sum);
}

// -------------------------------------------------------------------------------------------- sums, rows, products
inline std::string ReductionOperation(ProgramText* p, const std::string& type) {
  return IsPred(type) ? p->OneOf({"and", "or"}) : p->OneOf({"add", "maximum", "minimum"});
}

inline void AddReduce(ProgramText* p, size_t x) {
  const std::string type = p->values()[x].type;
  Sizes dimensions, sizes;
  for (size_t i = 0; i < p->values()[x].sizes.size(); ++i) {
    if (p->Below(2)) {
      dimensions.push_back(static_cast<int64_t>(i));
    } else {
      sizes.push_back(p->values()[x].sizes[i]);
    }
  }
  const std::string initial = p->Below(2) ? type + ".0" : ScalarOfOther(p, type);
  AddUnary(p, p->Add(type, sizes,
                     absl::StrCat("reduce(", Name(x), ", ", initial, "), dimensions=", Listed(dimensions),
                                  ", to_apply=", p->Combination(ReductionOperation(p, type), type))));
}

// Combines an array with something of its rows, such as their sums.
inline void AddNormalized(ProgramText* p, size_t x) {
  const TypedValue value = p->values()[x];
  Sizes rows = value.sizes, kept;
  rows.pop_back();
  const size_t y = p->Below(2) ? (AddUnary(p, x), p->values().size() - 1) : x;
  size_t sum = p->Add(value.type, rows,
                      absl::StrCat("reduce(", Name(y), ", ", value.type, ".0), dimensions={", rows.size(),
                                   "}, to_apply=", p->Combination(ReductionOperation(p, value.type), value.type)));
  if (p->Below(2)) AddUnary(p, std::exchange(sum, sum + 1));
  if (p->Below(2)) {  // as JAX keeps dimensions
    Sizes with_one = rows;
    with_one.push_back(1);
    const size_t column = p->Add(value.type, with_one, absl::StrCat("reshape(", Name(sum), ")"));
    AddUnary(p, column);
    sum = p->Add(value.type, rows, absl::StrCat("reshape(", Name(column + 1), ")"));
  }
  for (size_t i = 0; i < rows.size(); ++i) kept.push_back(static_cast<int64_t>(i));
  const std::string wide = Name(p->AddLike(x, absl::StrCat("broadcast(", Name(sum), "), dimensions=", Listed(kept))));
  p->AddLike(x, absl::StrCat(IsPred(value.type) ? "xor" : p->OneOf({"subtract", "multiply"}), "(",
                             Name(p->Below(2) ? x : y), ", ", wide, ")"));
}

inline void AddRunningSum(ProgramText* p, size_t x) {
  const std::string type = p->values()[x].type;
  const size_t d = static_cast<size_t>(p->Below(p->Rank(x)));
  Sizes window(p->values()[x].sizes.size(), 1);
  window[d] = p->values()[x].sizes[d];
  std::vector<std::string> edges(window.size(), "0_0");
  edges[d] = p->Below(2) ? absl::StrCat(window[d] - 1, "_0") : absl::StrCat("0_", window[d] - 1);
  const size_t sum =
      p->AddLike(x, absl::StrCat("reduce-window(", Name(x), ", ", type,
                                 ".0), window={size=", absl::StrJoin(window, "x"), " pad=", absl::StrJoin(edges, "x"),
                                 "}, to_apply=", p->Combination(ReductionOperation(p, type), type)));
  AddUnary(p, sum);
}

// A dot with a part of x itself, so that sizes fit.
inline void AddDot(ProgramText* p, size_t x) {
  const TypedValue value = p->values()[x];
  if (IsPred(value.type) || Count(value.sizes) > 2000) return AddUnary(p, x);
  const int64_t d = p->Below(p->Rank(x)), n = value.sizes[static_cast<size_t>(d)], columns = 1 + p->Below(17);
  const size_t part =
      p->Add(value.type, {n, columns}, absl::StrCat("broadcast(", ScalarOfOther(p, value.type), "), dimensions={}"));
  Sizes sizes = value.sizes;
  sizes.erase(sizes.begin() + d);
  sizes.push_back(columns);
  AddUnary(p, p->Add(value.type, sizes,
                     absl::StrCat("dot(", Name(x), ", ", Name(part), "), lhs_contracting_dims={", d,
                                  "}, rhs_contracting_dims={0}")));
}

// -------------------------------------------------------------------------------------------------- types, jumps
inline void AddConvert(ProgramText* p, size_t x) {
  p->Add(std::string(p->OneOf(kTypes)), Sizes(p->values()[x].sizes), absl::StrCat("convert(", Name(x), ")"));
}

inline void AddCompare(ProgramText* p, size_t x) {
  p->Add("pred", Sizes(p->values()[x].sizes),
         absl::StrCat("compare(", Name(x), ", ", Name(p->Partner(x)),
                      "), direction=", p->OneOf({"EQ", "NE", "LT", "LE", "GT", "GE"})));
}

inline void AddSelect(ProgramText* p, size_t x) {
  AddCompare(p, x);
  const size_t mask = p->values().size() - 1;
  p->AddLike(x, absl::StrCat("select(", Name(mask), ", ", Name(x), ", ", Name(p->Partner(x)), ")"));
}

inline void AddJump(ProgramText* p, size_t x) {
  const std::string& type = p->values()[x].type;
  if (!IsReal(type)) return AddBinary(p, x);
  p->AddLike(x, absl::StrCat(p->OneOf({"floor", "ceil", "round-nearest-even", "round-nearest-afz", "sign", "abs",
                                       "exponential", "logistic", "log", "sqrt", "rsqrt", "cbrt", "log-plus-one"}),
                             "(", Name(x), ")"));
}

inline void AddSort(ProgramText* p, size_t x) {
  const std::string type = p->values()[x].type, name = absl::StrCat("order.", type);
  if (!absl::StrContains(p->computations(), absl::StrCat(name, " {"))) {
    p->AppendToComputations(
        absl::Substitute("$0 { a = $1[] parameter(0) b = $1[] parameter(1) ROOT c = pred[] "
                         "compare(a, b), direction=LT }\n",
                         name, type));
  }
  p->AddLike(x, absl::StrCat("sort(", Name(x), "), dimensions={", p->Below(p->Rank(x)),
                             "}, is_stable=", p->Below(2) ? "true" : "false", ", to_apply=", name));
}

// ------------------------------------------------------------------------------------------------- one of them all
inline void AddOperation(ProgramText* p) {
  const size_t x = p->AnyValue();
  struct Choice {
    void (*add)(ProgramText* p, size_t x);
    int64_t least_rank;
    bool jumps;  // where an operand changes by a rounding error, or has other types
  };
  static constexpr Choice kChoices[] = {
      {&AddUnary, 0, false},         {&AddUnary, 0, false},      {&AddBinary, 0, false},
      {&AddBinary, 0, false},        {&AddBroadcast, 0, false},  {&AddTranspose, 1, false},
      {&AddReshape, 1, false},       {&AddSlice, 1, false},      {&AddReverse, 1, false},
      {&AddPad, 1, false},           {&AddReduce, 1, false},     {&AddDynamicSlice, 1, false},
      {&AddUpdate, 1, false},        {&AddGather, 1, false},     {&AddScatter, 1, false},
      {&AddRoll, 1, false},          {&AddNormalized, 1, false}, {&AddNormalized, 1, false},
      {&AddConcatenate, 1, false},   {&AddOther, 0, false},      {&AddOther, 0, false},
      {&AddClamp, 0, false},         {&AddChoice, 0, false},     {&AddRunningSum, 1, false},
      {&AddLoopOfSeveral, 0, false}, {&AddSeveral, 0, false},    {&AddLoop, 0, false},
      {&AddLoopOverRows, 1, false},  {&AddBranch, 0, false},     {&AddDot, 1, false},
      {&AddConvert, 0, true},        {&AddConvert, 0, true},     {&AddCompare, 0, true},
      {&AddSelect, 0, true},         {&AddJump, 0, true},        {&AddSort, 1, true},
  };
  const Choice choice = p->OneOf(kChoices);
  if (p->Rank(x) < choice.least_rank || (choice.jumps && !p->mixes_types())) return AddUnary(p, x);
  choice.add(p, x);
}

}  // namespace random_program

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed, bool mixes_types = false) : text_(seed, mixes_types) {}

  std::string Write() {
    const int parameters = static_cast<int>(text_.Below(text_.mixes_types() ? 4 : 3)) + 1;
    for (int i = 0; i < parameters; ++i)
      text_.Add(text_.RandomType(), text_.RandomSizes(), absl::StrCat("parameter(", i, ")"));
    text_.AppendToBody("  start = s32[] parameter(", parameters, ")\n");
    for (const char* type : random_program::kTypes) {
      for (const char* number : {"0", "1"}) {
        text_.AppendToBody("  ", type, ".", number, " = ", type, "[] constant(", number, ")\n");
      }
    }
    const int64_t operations = text_.Below(20) + 4;
    for (int64_t i = 0; i < operations; ++i) random_program::AddOperation(&text_);
    std::vector<std::string> shapes, names;
    for (size_t i = text_.values().size() - std::min<size_t>(text_.values().size(), 3); i < text_.values().size();
         ++i) {
      shapes.push_back(random_program::Text(text_.values()[i]));
      names.push_back(random_program::Name(i));
    }
    const std::string aliases = AddAliased(parameters, &shapes, &names);
    return absl::StrCat("HloModule m", aliases, "\n\n", text_.computations(), "ENTRY e {\n", text_.body(),
                        "  ROOT root = (", absl::StrJoin(shapes, ", "), ") tuple(", absl::StrJoin(names, ", "),
                        ")\n}\n");
  }

 private:
  // For some parameters, a result that may take their memory: a value of their type, which may be computed from them.
  std::string AddAliased(int parameters, std::vector<std::string>* shapes, std::vector<std::string>* names) {
    std::vector<std::string> aliases;
    for (int parameter = 0; parameter < parameters; ++parameter) {
      if (text_.Below(3) == 0) continue;
      const size_t before = text_.values().size();
      const std::string type = random_program::Text(text_.values()[parameter]);
      if (text_.Below(2) == 0) random_program::AddUnary(&text_, static_cast<size_t>(parameter));
      std::vector<size_t> fitting;
      for (size_t i = static_cast<size_t>(parameters); i < text_.values().size(); ++i) {
        if (random_program::Text(text_.values()[i]) == type) fitting.push_back(i);
      }
      if (fitting.empty()) continue;
      const bool is_new = text_.values().size() > before && text_.Below(2) == 0;
      const size_t chosen = is_new ? fitting.back() : text_.OneOf(fitting);
      aliases.push_back(absl::StrCat("{", shapes->size(), "}: (", parameter, ", {}, may-alias)"));
      shapes->push_back(type);
      names->push_back(random_program::Name(chosen));
    }
    return aliases.empty() ? "" : absl::StrCat(", input_output_alias={ ", absl::StrJoin(aliases, ", "), " }");
  }

  random_program::ProgramText text_;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_RANDOM_PROGRAM_TESTING_H_
