// The text of a random program under construction: its values, its computations, and random choices by a seed.
#ifndef KASHI_CPU_RANDOM_PROGRAM_TEXT_TESTING_H_
#define KASHI_CPU_RANDOM_PROGRAM_TEXT_TESTING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
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

namespace kashi::cpu::random_program {

using Sizes = std::vector<int64_t>;
struct TypedValue {
  std::string type;
  Sizes sizes;
};
inline constexpr const char* kTypes[] = {"f32", "f64", "bf16", "f16", "s32", "s8", "u8", "s64", "u32", "pred"};
inline constexpr int64_t kMostElements = 20000;

inline std::string Text(const std::string& type, const Sizes& sizes) {
  return absl::StrCat(type, "[", absl::StrJoin(sizes, ","), "]");
}
inline std::string Text(const TypedValue& value) { return Text(value.type, value.sizes); }
inline std::string Name(size_t i) { return absl::StrCat("v", i); }
inline int64_t Count(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}
inline bool IsReal(const std::string& type) { return absl::StrContains(type, "f"); }
inline bool IsPred(const std::string& type) { return type == "pred"; }
inline std::string Listed(const Sizes& numbers) { return absl::StrCat("{", absl::StrJoin(numbers, ","), "}"); }

enum class NameKind { kIndices, kCondition, kLoop, kBranch };

class ProgramText {
 public:
  ProgramText(uint32_t seed, bool mixes_types) : random_(seed), mixes_types_(mixes_types) {}

  // ---- Random choices.

  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }
  template <typename List>
  auto OneOf(const List& list) {
    return std::data(list)[Below(static_cast<int64_t>(std::size(list)))];
  }
  std::string OneOf(std::initializer_list<const char*> list) { return std::data(list)[Below(std::size(list))]; }
  int64_t Rank(size_t x) const { return static_cast<int64_t>(values_[x].sizes.size()); }

  std::string RandomType() { return !mixes_types_ || Below(3) == 0 ? "f32" : std::string(OneOf(kTypes)); }
  Sizes RandomSizes() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 8, 9, 16, 33};
    if (Below(3) == 0) return Below(2) ? Sizes{20, 37} : Sizes{4, 9, 33};  // large enough for kernels of rows
    Sizes sizes;
    for (int64_t i = Below(4); i > 0; --i) sizes.push_back(OneOf(kSizes));
    return sizes;
  }

  // ---- Values and computations.

  const std::vector<TypedValue>& values() const { return values_; }
  const std::string& body() const { return body_; }
  const std::string& computations() const { return computations_; }
  bool mixes_types() const { return mixes_types_; }
  std::mt19937& random() { return random_; }
  // A number that no earlier call returned, to make names unique: one sequence for each kind of name.
  int NewNumber(NameKind kind) { return numbers_[static_cast<size_t>(kind)]++; }

  template <typename... Parts>
  void AppendToBody(const Parts&... parts) {
    absl::StrAppend(&body_, parts...);
  }
  template <typename... Parts>
  void AppendToComputations(const Parts&... parts) {
    absl::StrAppend(&computations_, parts...);
  }
  size_t Add(const std::string& type, Sizes sizes, absl::string_view expression) {
    absl::StrAppend(&body_, "  ", Name(values_.size()), " = ", Text(type, sizes), " ", expression, "\n");
    values_.push_back({type, std::move(sizes)});
    return values_.size() - 1;
  }
  size_t AddLike(size_t x, absl::string_view expression) {
    return Add(std::string(values_[x].type), Sizes(values_[x].sizes), expression);
  }
  // Adds a computation of two scalars, and returns its name.
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
  // Another value with this type and these sizes, if there is one.
  size_t Partner(size_t x) {
    for (int i = 0; i < 8; ++i) {
      const size_t y = AnyValue();
      if (values_[y].type == values_[x].type && values_[y].sizes == values_[x].sizes) return y;
    }
    return x;
  }

 private:
  std::mt19937 random_;
  const bool mixes_types_;
  std::string computations_, body_;
  std::array<int, 4> numbers_ = {};  // by NameKind
  std::vector<TypedValue> values_;
};

// ---- For all kinds of operations.

inline std::string BinaryOperation(ProgramText* p, const std::string& type) {
  if (IsPred(type)) return p->OneOf({"and", "or", "xor"});
  if (IsReal(type)) return p->OneOf({"add", "multiply", "subtract", "maximum", "minimum"});
  return p->OneOf({"add", "multiply", "subtract", "maximum", "minimum", "and", "or", "xor", "divide", "remainder",
                   "shift-left", "shift-right-arithmetic", "shift-right-logical"});
}

// A pred[], from a parameter: the same for all elements.
inline std::string Condition(ProgramText* p) {
  const std::string name = absl::StrCat("c", p->NewNumber(NameKind::kCondition));
  p->AppendToBody("  ", name, ".n = s32[] constant(", p->Below(9) - 3, ")\n  ", name, " = pred[] compare(start, ", name,
                  ".n), direction=", p->OneOf({"LT", "GE", "NE"}), "\n");
  return name;
}

}  // namespace kashi::cpu::random_program

#endif  // KASHI_CPU_RANDOM_PROGRAM_TEXT_TESTING_H_
