// Kernels that go over each row several times, and loops that are cut at concatenations and paddings.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kashi/cpu/cpu_testing.h"

namespace kashi::cpu {
namespace {

constexpr ErrorSpec kClose(1e-4, 1e-4);

// R: the type; {S}, {K}: sizes of the array and of its rows; {D}: the row dimension; {B}: the others.
std::string ProgramText(absl::string_view body, absl::string_view type, absl::string_view rows, int columns) {
  const int rank = static_cast<int>(std::count(rows.begin(), rows.end(), ',')) + 1;
  std::string kept;
  for (int i = 0; i < rank; ++i) absl::StrAppend(&kept, i == 0 ? "" : ",", i);
  return absl::StrReplaceAll(
      absl::StrCat("add { a = R[] parameter(0) b = R[] parameter(1) ROOT c = R[] add(a, b) }\n"
                   "max { a = R[] parameter(0) b = R[] parameter(1) ROOT c = R[] maximum(a, b) }\n"
                   "ENTRY e {\n  x = R[{S}] parameter(0)\n  zero = R[] constant(0)\n  low = R[] constant(-inf)\n",
                   body, "}\n"),
      {{"R[", absl::StrCat(type, "[")},
       {"{S}", absl::StrCat(rows, ",", columns)},
       {"{K}", std::string(rows)},
       {"{D}", absl::StrCat("dimensions={", rank, "}")},
       {"{B}", absl::StrCat("dimensions={", kept, "}")},
       {"{C}", absl::StrCat(columns)}});
}

constexpr char kSoftmax[] = R"(
  m = R[{K}] reduce(x, low), {D}, to_apply=max
  mb = R[{S}] broadcast(m), {B}
  d = R[{S}] subtract(x, mb)
  e = R[{S}] exponential(d)
  s = R[{K}] reduce(e, zero), {D}, to_apply=add
  sb = R[{S}] broadcast(s), {B}
  ROOT r = R[{S}] divide(e, sb)
)";
constexpr char kLayerNorm[] = R"(
  gamma = R[{C}] parameter(1)
  n = R[] constant(37)
  nb = R[{K}] broadcast(n), dimensions={}
  s = R[{K}] reduce(x, zero), {D}, to_apply=add
  mean = R[{K}] divide(s, nb)
  b = R[{S}] broadcast(mean), {B}
  d = R[{S}] subtract(x, b)
  q = R[{S}] multiply(d, d)
  v = R[{K}] reduce(q, zero), {D}, to_apply=add
  v1 = R[{K},1] reshape(v)
  eps = R[] constant(0.5)
  epsb = R[{K},1] broadcast(eps), dimensions={}
  ve = R[{K},1] add(v1, epsb)
  i = R[{K},1] rsqrt(ve)
  i1 = R[{K}] reshape(i)
  ib = R[{S}] broadcast(i1), {B}
  y = R[{S}] multiply(d, ib)
  g = R[{S}] broadcast(gamma), {D}
  ROOT r = R[{S}] multiply(y, g)
)";
constexpr char kLogSumExp[] = R"(
  m = R[{K}] reduce(x, low), {D}, to_apply=max
  mb = R[{S}] broadcast(m), {B}
  d = R[{S}] subtract(x, mb)
  e = R[{S}] exponential(d)
  ROOT s = R[{K}] reduce(e, zero), {D}, to_apply=add
)";
// Two expensive values that later phases read: one is kept in the row of the result, the other in a buffer.
constexpr char kTwoKept[] = R"(
  t = R[{S}] tanh(x)
  c = R[{S}] cosine(x)
  s = R[{K}] reduce(t, zero), {D}, to_apply=add
  m = R[{K}] reduce(c, low), {D}, to_apply=max
  sb = R[{S}] broadcast(s), {B}
  mb = R[{S}] broadcast(m), {B}
  a = R[{S}] multiply(t, sb)
  b = R[{S}] multiply(c, mb)
  ROOT r = R[{S}] add(a, b)
)";

TEST(RowKernelTest, OneKernelForAllPhases) {
  for (const char* body : {kSoftmax, kLayerNorm, kLogSumExp, kTwoKept}) {
    for (const char* type : {"f32", "f64"}) {
      ExpectAsEvaluator(ProgramText(body, type, "20", 37), kClose, 1);
      ExpectAsEvaluator(ProgramText(body, type, "3,7", 16), kClose, 1);
    }
    ExpectAsEvaluator(ProgramText(body, "f32", "40", 9000), kClose, 1);   // rows too long for a buffer
    ExpectAsEvaluator(ProgramText(body, "f32", "300", 1000), kClose, 1);  // on all threads
    ExpectAsEvaluator(ProgramText(body, "f32", "2", 37), kClose);         // too few rows
    ExpectAsEvaluator(ProgramText(body, "f32", "20", 5), kClose);         // too short
    ExpectAsEvaluator(ProgramText(body, "bf16", "20", 37), ErrorSpec(0.05, 0.05));
    ExpectAsEvaluator(ProgramText(body, "f16", "20", 37), ErrorSpec(0.05, 0.05));
  }
}

TEST(RowKernelTest, SumsOfOtherRowsAreKernelsOfTheirOwn) {
  // Row i is reduced for row i + 1.
  ExpectAsEvaluator(R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    ENTRY e { x = f32[21,37] parameter(0) zero = f32[] constant(0)
      s = f32[21] reduce(x, zero), dimensions={1}, to_apply=add  t = f32[20] slice(s), slice={[1:21]}
      b = f32[20,37] broadcast(t), dimensions={0}  y = f32[20,37] slice(x), slice={[0:20],[0:37]}
      ROOT r = f32[20,37] multiply(y, b) })",
                    kClose);
  // Rows of a transposed array.
  ExpectAsEvaluator(R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    ENTRY e { x = f32[32,32] parameter(0) zero = f32[] constant(0)
      s = f32[32] reduce(x, zero), dimensions={1}, to_apply=add  b = f32[32,32] broadcast(s), dimensions={1}
      ROOT r = f32[32,32] multiply(x, b) })",
                    kClose);
}

TEST(RowKernelTest, IntegersAndPredicates) {
  ExpectAsEvaluator(R"(
    or { a = pred[] parameter(0) b = pred[] parameter(1) ROOT c = pred[] or(a, b) }
    ENTRY e { x = s32[20,37] parameter(0) no = pred[] constant(false) zero = s32[] constant(0)
      zeros = s32[20,37] broadcast(zero), dimensions={}  p = pred[20,37] compare(x, zeros), direction=GT
      s = pred[20] reduce(p, no), dimensions={1}, to_apply=or  b = pred[20,37] broadcast(s), dimensions={0}
      n = s32[20,37] negate(x) ROOT r = s32[20,37] select(b, x, n) })",
                    kClose, 1);
}

std::string Rolled(absl::string_view x, absl::string_view shape, int size, int shift, int dimension, int other) {
  const auto range = [&](int begin, int limit) {
    const std::string rolled = absl::StrCat("[", begin, ":", limit, "]"), whole = absl::StrCat("[0:", other, "]");
    return dimension == 0 ? absl::StrCat(rolled, ",", whole) : absl::StrCat(whole, ",", rolled);
  };
  const auto part = [&](int n) {
    return dimension == 0 ? absl::StrCat("f32[", n, ",", other, "]") : absl::StrCat("f32[", other, ",", n, "]");
  };
  const std::string name = absl::StrCat(x, ".", dimension, ".", shift);
  return absl::StrCat("  ", name, ".a = ", part(shift), " slice(", x, "), slice={", range(size - shift, size), "}\n  ",
                      name, ".b = ", part(size - shift), " slice(", x, "), slice={", range(0, size - shift), "}\n  ",
                      name, " = ", shape, " concatenate(", name, ".a, ", name, ".b), dimensions={", dimension, "}\n");
}

// Each cell is the sum of its four neighbours: one kernel, nine loop nests.
TEST(SegmentsTest, Rolls) {
  for (const int rows : {3, 20}) {
    for (const int columns : {9, 100}) {
      const std::string shape = absl::StrCat("f32[", rows, ",", columns, "]");
      ExpectAsEvaluator(
          absl::StrCat("ENTRY e {\n  x = ", shape, " parameter(0)\n", Rolled("x", shape, rows, 1, 0, columns),
                       Rolled("x", shape, rows, rows - 1, 0, columns), Rolled("x", shape, columns, 1, 1, rows),
                       Rolled("x", shape, columns, columns - 1, 1, rows), "  a = ", shape, " add(x.0.1, x.0.", rows - 1,
                       ")\n  b = ", shape, " add(x.1.1, x.1.", columns - 1, ")\n  ROOT r = ", shape, " add(a, b)\n}\n"),
          kClose, 1);
    }
  }
}

TEST(SegmentsTest, ConcatenationsThatAreMoved) {
  const std::string begin =
      "ENTRY e { x = f32[40] parameter(0) y = f32[24] parameter(1) n = f32[40] negate(x) t = f32[24] tanh(y) "
      "c = f32[64] concatenate(n, t), dimensions={0} ";
  for (const char* end : {
           "ROOT r = f32[64] negate(c) }",
           "ROOT r = f32[64] reverse(c), dimensions={0} }",
           "s = f32[21] slice(c), slice={[1:64:3]} ROOT r = f32[21] negate(s) }",
           "s = f32[8,8] reshape(c) ROOT r = f32[8,8] negate(s) }",
           "s = f32[1,64] reshape(c) ROOT r = f32[1,64] negate(s) }",
           "s = f32[5,64] broadcast(c), dimensions={1} ROOT r = f32[5,64] negate(s) }",
           "s = f32[64,5] broadcast(c), dimensions={0} ROOT r = f32[64,5] negate(s) }",
           "z = f32[] constant(9) s = f32[70] pad(c, z), padding=7_-1 ROOT r = f32[70] negate(s) }",
           "z = f32[] constant(9) s = f32[20] pad(c, z), padding=-30_-14 ROOT r = f32[20] negate(s) }",
           "z = f32[] constant(9) s = f32[127] pad(c, z), padding=0_0_1 ROOT r = f32[127] negate(s) }",
           "z = f32[] constant(9) s = f32[10] pad(c, z), padding=1099511627776_-1099511627830 "
           "ROOT r = f32[10] negate(s) }",
       }) {
    ExpectAsEvaluator(absl::StrCat(begin, end), kClose);
  }
}

// A column of one value for each row, beside an array of many columns or as its padding: the value is computed once for
// the row, though the concatenation asks for it by column.
TEST(SegmentsTest, ExpensiveColumns) {
  for (const std::string rows : {"33", "5,7"}) {
    const std::string column = absl::StrCat("f32[", rows, ",1]"), wide = absl::StrCat("f32[", rows, ",34]");
    const int rank = rows == "33" ? 2 : 3;
    const auto concatenate = [&](absl::string_view operands, int columns) {
      return absl::StrCat("f32[", rows, ",", columns, "] concatenate(", operands, "), dimensions={", rank - 1, "}");
    };
    const std::string edges = rank == 2 ? "0_0x" : "0_0x0_0x";
    const std::string parameters = absl::StrCat("x = ", wide, " parameter(0) y = ", column, " parameter(1) ");
    for (const std::string value : {"exponential(y)", "sqrt(y)", "negate(y)"}) {
      for (const std::string& root :
           {concatenate("x, c", 35), concatenate("c, x", 35), concatenate("x, c, y", 36), concatenate("c, x, c", 36),
            absl::StrCat("f32[", rows, ",36] pad(c, z), padding=", edges, "17_18"),
            absl::StrCat("f32[", rows, ",20] pad(c, z), padding=", edges, "-1_20"),
            absl::StrCat(wide, " broadcast(k), dimensions={", rank == 2 ? "0" : "0,1", "}")}) {
        ExpectAsEvaluator(absl::StrCat("ENTRY e { ", parameters, "z = f32[] constant(2) c = ", column, " ", value,
                                       " k = f32[", rows, "] reshape(c) ROOT r = ", root, " }"),
                          kClose);
      }
    }
  }
}

// f is computed once for each element, though it is read in two places.
TEST(SegmentsTest, ExpensiveOperandsAreNotComputedTwice) {
  ExpectAsEvaluator(R"(
    ENTRY e { x = f32[100] parameter(0) f = f32[100] sine(x)
      a = f32[99] slice(f), slice={[0:99]}  b = f32[99] slice(f), slice={[1:100]}  ROOT r = f32[99] add(a, b) })",
                    kClose, 2);
}

}  // namespace
}  // namespace kashi::cpu
