// Loops and branches of random programs (random_program_testing.h).
#ifndef KASHI_CPU_RANDOM_PROGRAM_LOOPS_TESTING_H_
#define KASHI_CPU_RANDOM_PROGRAM_LOOPS_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kashi/cpu/random_program_text_testing.h"

namespace kashi::cpu::random_program {

// Adds a loop of up to 12 trips; `step` computes `next` from `a`, `k` (another value) and `i`.
inline void AddWhile(ProgramText* p, size_t x, size_t other, const std::string& step) {
  const std::string name = absl::StrCat("w", p->NewNumber(NameKind::kLoop)), shape = Text(p->values()[x]),
                    kept = Text(p->values()[other]);
  const std::string tuple = absl::StrCat("(s32[], ", shape, ", ", kept, ")");
  p->AppendToComputations(name, ".b {\n  s = ", tuple, " parameter(0)\n",
                          "  i = s32[] get-tuple-element(s), index=0\n  a = ", shape,
                          " get-tuple-element(s), index=1\n  k = ", kept,
                          " get-tuple-element(s), index=2\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n", step,
                          "  ROOT t = ", tuple, " tuple(j, next, k)\n}\n");
  p->AppendToComputations(name, ".c {\n  s = ", tuple,
                          " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(",
                          p->Below(12), ")\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n");
  p->AppendToBody("  ", name, ".s = ", tuple, " tuple(s32.0, ", Name(x), ", ", Name(other), ")\n  ", name, " = ", tuple,
                  " while(", name, ".s), condition=", name, ".c, body=", name, ".b\n");
  p->AddLike(x, absl::StrCat("get-tuple-element(", name, "), index=1"));
}

// Each trip changes all of x by the sum of another array.
inline void AddLoop(ProgramText* p, size_t x) {
  const TypedValue value = p->values()[x];
  size_t other = p->AnyValue();
  if (p->values()[other].type != value.type) other = x;
  Sizes all(p->values()[other].sizes.size());
  std::iota(all.begin(), all.end(), 0);
  const std::string operation = IsPred(value.type) ? "or" : "add";
  const std::string step = absl::Substitute(
      "  zero = $0[] constant(0)\n  sum = $0[] reduce(k, zero), dimensions=$1, to_apply=$2\n  part = $0[] $3(sum)\n  "
      "wide = $4 broadcast(part), dimensions={}\n  x = $4 $5(a, wide)\n  next = $4 $3(x)\n",
      value.type, Listed(all), p->Combination(operation, value.type),
      IsPred(value.type)   ? "not"
      : IsReal(value.type) ? "sine"
                           : "negate",
      Text(value), IsPred(value.type) ? "xor" : "subtract");
  AddWhile(p, x, other, step);
}

// Each trip changes a row of x.
inline void AddLoopOverRows(ProgramText* p, size_t x) {
  const TypedValue value = p->values()[x];
  Sizes row = value.sizes;
  row[0] = 1;
  std::string starts = "i";
  for (size_t d = 1; d < row.size(); ++d) absl::StrAppend(&starts, ", zero");
  const std::string step = absl::Substitute(
      "  zero = s32[] constant(0)\n  row = $0 dynamic-slice(k, $1), dynamic_slice_sizes=$2\n  old = $0 "
      "dynamic-slice(a, $1), dynamic_slice_sizes=$2\n  new = $0 $3(old, row)\n  next = $4 dynamic-update-slice(a, "
      "new, $1)\n",
      Text(value.type, row), starts, Listed(row), IsPred(value.type) ? "xor" : "subtract", Text(value));
  AddWhile(p, x, p->Partner(x), step);
}

// A loop with three arrays as its state, each of which becomes something of all of them.
inline void AddLoopOfSeveral(ProgramText* p, size_t x) {
  const TypedValue value = p->values()[x];
  const std::string name = absl::StrCat("w", p->NewNumber(NameKind::kLoop)), shape = Text(value);
  const std::string tuple = absl::StrCat("(s32[], ", shape, ", ", shape, ", ", shape, ")");
  p->AppendToComputations(name, ".b {\n  s = ", tuple, " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n",
                          "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n");
  for (int i = 0; i < 3; ++i) {
    p->AppendToComputations("  a", i, " = ", shape, " get-tuple-element(s), index=", i + 1, "\n");
  }
  const int64_t count = 6 + p->Below(6);
  const auto any = [&](int64_t n) { return absl::StrCat("a", n - 1 - p->Below(std::min<int64_t>(n, 5))); };
  for (int64_t i = 3; i < count; ++i) {
    const std::string operation = BinaryOperation(p, value.type);
    p->AppendToComputations("  b", i, " = ", shape, " ", operation, "(", any(i), ", ", any(i), ")\n  a", i, " = ",
                            shape, " ",
                            IsReal(value.type)   ? "tanh"
                            : IsPred(value.type) ? "not"
                                                 : "negate",
                            "(b", i, ")\n");
  }
  p->AppendToComputations("  ROOT t = ", tuple, " tuple(j, ", any(count), ", ", any(count), ", ", any(count), ")\n}\n");
  p->AppendToComputations(name, ".c {\n  s = ", tuple,
                          " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(",
                          p->Below(12), ")\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n");
  p->AppendToBody("  ", name, ".s = ", tuple, " tuple(s32.0, ", Name(x), ", ", Name(p->Partner(x)), ", ",
                  Name(p->Partner(x)), ")\n  ", name, " = ", tuple, " while(", name, ".s), condition=", name,
                  ".c, body=", name, ".b\n");
  for (int i = 1; i < 4; ++i) p->AddLike(x, absl::StrCat("get-tuple-element(", name, "), index=", i));
}

inline void AddBranch(ProgramText* p, size_t x) {
  const std::string name = absl::StrCat("br", p->NewNumber(NameKind::kBranch)), shape = Text(p->values()[x]);
  const std::string& type = p->values()[x].type;
  p->AppendToComputations(name, ".t { a = ", shape, " parameter(0) ROOT r = ", shape, " ",
                          IsPred(type) ? "not" : "negate", "(a) }\n", name, ".f { a = ", shape,
                          " parameter(0) ROOT r = ", shape, " ", IsPred(type) ? "xor" : "maximum", "(a, a) }\n");
  const std::string condition = Condition(p);
  p->AddLike(x, absl::StrCat("conditional(", condition, ", ", Name(x), ", ", Name(p->Partner(x)),
                             "), true_computation=", name, ".t, false_computation=", name, ".f"));
}

}  // namespace kashi::cpu::random_program

#endif  // KASHI_CPU_RANDOM_PROGRAM_LOOPS_TESTING_H_
