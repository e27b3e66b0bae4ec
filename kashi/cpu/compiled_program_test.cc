#include "kashi/cpu/compiled_program.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "kashi/array/primitive_util.h"
#include "kashi/codegen/element_emitters.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/literal/literal_util.h"
#include "kashi/passes/pipeline.h"

namespace kashi::cpu {
namespace {

constexpr ErrorSpec kExact(0);

std::string TypeName(PrimitiveType type) { return primitive_util::LowercasePrimitiveTypeName(type); }

// ---- Elementwise operations, on all pairs of special numbers.

std::vector<double> SpecialNumbers(PrimitiveType type) {
  if (type == PRED) return {0, 1};
  if (!primitive_util::IsFloatingPointType(type)) {
    const int bits = primitive_util::BitWidth(type);
    const bool is_signed = primitive_util::IsSignedIntegralType(type);
    const double highest = std::ldexp(1.0, bits - is_signed) - (bits < 64 ? 1 : 2048);
    const double lowest = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
    std::vector<double> numbers = {0,   1,       2,     3, 5, 7, double(bits - 1), double(bits), double(bits + 1),
                                   100, highest, lowest};
    if (is_signed) numbers.insert(numbers.end(), {-1, -2, -3, -7, -100});
    return numbers;
  }
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  return {0.0,  -0.0,  1.0,  -1.0,  0.5,  -0.5,  1.5, 2.5,  -2.5,  3.25,
          1e-3, -1e-3, 10.0, -10.0, 88.0, -88.0, 1e4, kInf, -kInf, kNan};
}

Literal Numbers(PrimitiveType type, const std::vector<double>& numbers) {
  return LiteralUtil::CreateR1<double>(numbers).Convert(type).value();
}

// x and y such that every number meets every other one.
void ExpectOnAllPairs(const std::string& expression, PrimitiveType type, PrimitiveType result, ErrorSpec error,
                      const std::string& target) {
  const std::vector<double> numbers = SpecialNumbers(type);
  std::vector<double> x, y;
  for (double a : numbers) {
    for (double b : numbers) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  const std::string array = absl::StrCat(TypeName(type), "[", x.size(), "]");
  std::vector<Literal> arguments;
  arguments.push_back(Numbers(type, x));
  arguments.push_back(Numbers(type, y));
  CompileOptions options;
  options.numbers = {/*flush_denormals=*/false, /*excess_precision=*/false};
  options.target = target;
  // A second operation makes it worth a kernel.
  const std::string result_array = absl::StrCat(TypeName(result), "[", x.size(), "]");
  ExpectAsEvaluator(absl::StrCat("ENTRY e { x = ", array, " parameter(0) y = ", array, " parameter(1) r = ",
                                 result_array, " ", expression, " ROOT c = ", result_array, " copy(r) }"),
                    arguments, error, /*kernels=*/1, options);
}

// `rows` of the table of a domain, on one type.
void ExpectRows(absl::Span<const codegen::ElementEmitterRow> rows, PrimitiveType type, const std::string& target) {
  for (const codegen::ElementEmitterRow& row : rows) {
    const bool is_pred = row.opcode == HloOpcode::kIsFinite;
    const std::string name(HloOpcodeString(row.opcode));
    const bool needs_sign = row.opcode == HloOpcode::kAbs || row.opcode == HloOpcode::kSign;
    if (needs_sign && primitive_util::IsUnsignedIntegralType(type)) continue;
    // Allows one more or one less rounding, in the type, for functions that are not exact.
    const double ulp = type == F64 ? 1e-14 : type == F32 ? 1e-6 : type == F16 ? 1e-3 : 1e-2;
    const ErrorSpec error = row.is_expensive ? ErrorSpec(ulp, ulp) : kExact;
    if (row.opcode == HloOpcode::kCompare) {
      for (const char* direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
        ExpectOnAllPairs(absl::StrCat("compare(x, y), direction=", direction), type, PRED, kExact, target);
        if (!primitive_util::IsFloatingPointType(type)) continue;
        ExpectOnAllPairs(absl::StrCat("compare(x, y), direction=", direction, ", type=TOTALORDER"), type, PRED, kExact,
                         target);
      }
    } else if (row.opcode == HloOpcode::kClamp) {
      ExpectOnAllPairs("clamp(x, y, x)", type, type, kExact, target);
    } else {
      const bool is_unary = HloOpcodeArity(row.opcode).value() == 1;
      ExpectOnAllPairs(absl::StrCat(name, is_unary ? "(x)" : "(x, y)"), type, is_pred ? PRED : type, error, target);
    }
  }
}

// A type, and CompileOptions::target.
class ElementwiseOnTypeTest : public ::testing::TestWithParam<std::tuple<PrimitiveType, std::string>> {
 protected:
  void SetUp() override { KASHI_SKIP_UNLESS_THIS_RUNS(target); }
  const PrimitiveType type = std::get<0>(GetParam());
  const std::string target = std::get<1>(GetParam());
};

TEST_P(ElementwiseOnTypeTest, AgreesWithTheEvaluator) {
  if (type == PRED) {
    ExpectRows(codegen::PredEmitters(), type, target);
  } else {
    ExpectRows(primitive_util::IsFloatingPointType(type) ? codegen::RealEmitters() : codegen::IntegerEmitters(), type,
               target);
  }
}

TEST_P(ElementwiseOnTypeTest, ConvertsToAllTypes) {
  for (PrimitiveType to : {PRED, S8, S16, S32, S64, U8, U16, U32, U64, BF16, F16, F32, F64}) {
    if (to != type) ExpectOnAllPairs("convert(x)", type, to, kExact, target);  // else there is nothing to compile
  }
}

TEST_P(ElementwiseOnTypeTest, SelectsAndBitcasts) {
  CompileOptions options;
  options.target = target;
  const std::string name = TypeName(type);
  ExpectAsEvaluator(absl::StrCat("ENTRY e { p = pred[77] parameter(0) x = ", name, "[77] parameter(1) y = ", name,
                                 "[77] parameter(2) n = pred[77] not(p) ROOT r = ", name, "[77] select(n, x, y) }"),
                    kExact, 1, options);
  if (type == PRED) return;
  const PrimitiveType bits = primitive_util::UnsignedIntegralTypeForBitWidth(primitive_util::BitWidth(type));
  const std::string array = absl::StrCat(TypeName(bits), "[77]");
  ExpectAsEvaluator(absl::StrCat("ENTRY e { x = ", name, "[77] parameter(0) b = ", array, " bitcast-convert(x) c = ",
                                 array, " not(b) ROOT r = ", name, "[77] bitcast-convert(c) }"),
                    ErrorSpec(0, 0, /*relaxed_nans=*/true), 1, options);
}

std::string NameOfElementwiseTest(const ::testing::TestParamInfo<ElementwiseOnTypeTest::ParamType>& info) {
  const auto& [type, target] = info.param;
  return absl::StrCat(TypeName(type), "_", NameOfTarget(target));
}
INSTANTIATE_TEST_SUITE_P(Types, ElementwiseOnTypeTest,
                         ::testing::Combine(::testing::Values(PRED, S8, S16, S32, S64, U8, U16, U32, U64, BF16, F16,
                                                              F32, F64),
                                            ::testing::Values("")),
                         NameOfElementwiseTest);
// Types for which code of processors before AVX-512 is most unlike the host's. tests/engines has all others.
INSTANTIATE_TEST_SUITE_P(Targets, ElementwiseOnTypeTest,
                         ::testing::Combine(::testing::Values(S64, F16, F32),
                                            ::testing::Values("x86-64-v2", "x86-64-v3")),
                         NameOfElementwiseTest);

// ---- Numbers.

TEST(CompiledProgramTest, FlushesDenormalNumbersIfToldTo) {
  const char kText[] =
      "ENTRY e { x = f32[3] parameter(0) y = f32[3] parameter(1) m = f32[3] multiply(x, y) ROOT r = "
      "f32[3] add(m, m) }";
  const auto module = ReadVerified(kText).value();
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR1<float>({1e-30f, 1e-40f, 2}));
  arguments.push_back(LiteralUtil::CreateR1<float>({1e-10f, 1e10f, 2}));
  CompileOptions options;
  EXPECT_EQ(RunCompiled(*module, arguments, options).value(), LiteralUtil::CreateR1<float>({0, 0, 8}));
  options.numbers.flush_denormals = false;
  EXPECT_EQ(RunCompiled(*module, arguments, options).value(), HloEvaluator().Evaluate(*module, arguments).value());
}

// The comparison of the two engines found 5.6e-45 here: a number that is 0 to a comparison was given back as it was.
TEST(CompiledProgramTest, SignsOfFlushedNumbersAreZeros) {
  const auto module = ReadVerified("ENTRY e { x = f32[6] parameter(0) ROOT r = f32[6] sign(x) }").value();
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR1<float>({1e-40f, -1e-40f, 0.0f, -0.0f, -3, INFINITY}));
  const Literal result = RunCompiled(*module, arguments, CompileOptions()).value();
  EXPECT_EQ(result, LiteralUtil::CreateR1<float>({0.0f, -0.0f, 0.0f, -0.0f, -1, 1}));
  EXPECT_TRUE(std::signbit(result.data<float>()[1]) && !std::signbit(result.data<float>()[0]));
}

// ---- Operations that move elements, within a kernel: on short and long rows, so that all kinds of loops are taken.

TEST(CompiledProgramTest, MovesElements) {
  for (int64_t n : {1, 3, 8, 20, 37, 64, 100}) {
    const std::string a = absl::StrCat("f32[6,", n, "]"), v = absl::StrCat("f32[", n, "]");
    const std::vector<std::string> programs = {
        absl::StrCat("x = ", v, " parameter(0) m = ", a, " broadcast(x), dimensions={1}"),
        "x = f32[6] parameter(0) m = " + a + " broadcast(x), dimensions={0}",
        absl::StrCat("x = f32[", n, ",6] parameter(0) m = ", a, " transpose(x), dimensions={1,0}"),
        absl::StrCat("x = f32[2,", n, ",3] parameter(0) m = ", a, " reshape(x)"),
        absl::StrCat("x = f32[", 6 * n, "] parameter(0) n = ", "f32[", 6 * n, "] negate(x) m = ", a, " reshape(n)"),
        absl::StrCat("x = f32[13,", 2 * n + 1, "] parameter(0) m = ", a, " slice(x), slice={[1:13:2],[1:", 2 * n + 1,
                     ":2]}"),
        "x = " + a + " parameter(0) m = " + a + " reverse(x), dimensions={1}",
        "x = " + a + " parameter(0) m = " + a + " reverse(x), dimensions={0,1}",
        absl::StrCat("x = f32[4,", n + 3, "] parameter(0) z = f32[] constant(7) m = ", a,
                     " pad(x, z), padding=1_1x-2_-1"),
        absl::StrCat("x = f32[8,", n, "] parameter(0) z = f32[] constant(7) y = f32[6,", n,
                     "] pad(x, z), padding=-1_-1x0_0 m = ", a, " pad(y, z), padding=2_-2x1_-1"),
        absl::StrCat("x = f32[2,", n, "] parameter(0) w = f32[4,", n, "] parameter(1) m = ", a,
                     " concatenate(x, w), dimensions={0}"),
        absl::StrCat("i = s32[6,", n, "] iota(), iota_dimension=1 m = ", a, " convert(i)"),
        absl::StrCat("m = ", a, " iota(), iota_dimension=0"),
        absl::StrCat("x = f32[9,", n + 5, "] parameter(0) i = s32[] constant(2) j = s32[] constant(100) m = ", a,
                     " dynamic-slice(x, i, j), dynamic_slice_sizes={6,", n, "}"),
    };
    for (const std::string& program : programs) {
      ExpectAsEvaluator(absl::StrCat("ENTRY e { ", program, " e = ", a, " exponential(m) s = ", a, " add(e, m) k = ", a,
                                     " negate(s) ROOT r = ", a, " copy(k) }"),
                        ErrorSpec(1e-5, 1e-5));
    }
  }
}

// ---- Reductions: all sets of dimensions of small shapes, and the combiners.

TEST(CompiledProgramTest, ReducesAllDimensions) {
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{1},
                                                                             {7},
                                                                             {100},
                                                                             {3, 5},
                                                                             {5, 70},
                                                                             {70, 5},
                                                                             {600, 3},
                                                                             {2, 3, 40},
                                                                             {3, 1, 17},
                                                                             {4, 9, 1},
                                                                             {2, 3, 4, 5},
                                                                             {1, 1},
                                                                             {3, 600}}) {
    for (int set = 0; set < (1 << sizes.size()); ++set) {
      std::vector<int64_t> reduced, kept;
      for (size_t i = 0; i < sizes.size(); ++i)
        (set >> i & 1 ? reduced : kept).push_back(set >> i & 1 ? static_cast<int64_t>(i) : sizes[i]);
      const std::string a = absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]");
      ExpectAsEvaluator(
          absl::StrCat(
              "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) } ENTRY e { x = ", a,
              " parameter(0) y = ", a, " multiply(x, x) z = f32[] constant(3) ROOT r = f32[", absl::StrJoin(kept, ","),
              "] reduce(y, z), dimensions={", absl::StrJoin(reduced, ","), "}, to_apply=add }"),
          ErrorSpec(1e-5, 1e-5), 1);
    }
  }
}

TEST(CompiledProgramTest, ReducesByEveryCombiner) {
  for (const char* type : {"pred", "s8", "u8", "s32", "u32", "s64", "f32", "bf16", "f16", "f64"}) {
    const bool is_real = type[0] == 'f' || type[0] == 'b';
    std::vector<std::string> combiners = {"add(a, b)", "multiply(b, a)", "maximum(a, b)", "minimum(a, b)"};
    if (!is_real) combiners.insert(combiners.end(), {"and(a, b)", "or(a, b)", "xor(a, b)"});
    for (const std::string& combiner : combiners) {
      for (const char* dimensions : {"0", "1", "0,1"}) {
        const std::string kept = absl::string_view(dimensions) == "0"   ? "50"
                                 : absl::string_view(dimensions) == "1" ? "9"
                                                                        : "";
        const std::string init = combiner[0] == 'm' || combiner[0] == 'a' ? "1" : "0";
        const double error = !is_real                            ? 0
                             : absl::string_view(type) == "bf16" ? 0.05
                             : absl::string_view(type) == "f16"  ? 1e-2
                                                                 : 1e-5;
        ExpectAsEvaluator(
            absl::StrCat("c { a = ", type, "[] parameter(0) b = ", type, "[] parameter(1) ROOT r = ", type, "[] ",
                         combiner, " } ENTRY e { x = ", type, "[9,50] parameter(0) z = ", type, "[] constant(", init,
                         ") ROOT r = ", type, "[", kept, "] reduce(x, z), dimensions={", dimensions, "}, to_apply=c }"),
            ErrorSpec(error, error), 1);
      }
    }
  }
}

// Kept are 21 rows, with other dimensions between: two vectors of rows and some that are left.
TEST(CompiledProgramTest, ReducesInOrderWhatMustNotBeRegrouped) {
  for (const char* type : {"f32", "f64", "bf16", "s32", "u8"}) {
    ExpectAsEvaluator(absl::StrReplaceAll(R"(
      c { a = T[] parameter(0) b = T[] parameter(1) n = T[] negate(a) h = T[] constant(3) k = T[] divide(n, h)
        ROOT r = T[] add(k, b) }
      ENTRY e { x = T[3,4,7,5] parameter(0) y = T[3,4,7,5] multiply(x, x) z = T[] constant(1)
        ROOT r = T[3,7] reduce(y, z), dimensions={1,3}, to_apply=c })",
                                          {{"T[", absl::StrCat(type, "[")}}),
                      ErrorSpec(type[0] == 'b' ? 0.05 : 1e-5, type[0] == 'b' ? 0.05 : 1e-5), 1);
  }
}

TEST(CompiledProgramTest, FindsTheLargestAndItsPlace) {
  for (const char* dimensions : {"0", "1"}) {
    const char* kept = dimensions[0] == '0' ? "33" : "20";
    ExpectAsEvaluator(absl::StrCat(R"(
      argmax { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
        g = pred[] compare(a, b), direction=GE v = f32[] select(g, a, b) k = s32[] select(g, i, j)
        ROOT t = (f32[], s32[]) tuple(v, k) }
      ENTRY e { x = f32[20,33] parameter(0) i = s32[20,33] iota(), iota_dimension=)",
                                   dimensions, R"(
        lowest = f32[] constant(-inf) zero = s32[] constant(0)
        ROOT r = (f32[)",
                                   kept, "], s32[", kept, R"(]) reduce(x, i, lowest, zero), dimensions={)", dimensions,
                                   R"(}, to_apply=argmax })"),
                      kExact, 1);
  }
}

// ---- Fusion.

TEST(CompiledProgramTest, OneKernelForEqualFusions) {
  ExpectAsEvaluator(
      "ENTRY e { x = f32[40] parameter(0) y = f32[40] parameter(1) a = f32[40] exponential(x) b = f32[40] add(a, x) "
      "c = f32[40] exponential(y) d = f32[40] add(c, y) ROOT t = (f32[40], f32[40]) tuple(b, d) }",
      ErrorSpec(1e-5, 1e-5), 1);
}

// exp has the sizes of a row; the sum needs it for each column, so that it is computed before.
TEST(CompiledProgramTest, ComputesExpensiveOperationsOnce) {
  ExpectAsEvaluator(
      "ENTRY e { x = f32[40] parameter(0) y = f32[500,40] parameter(1) a = f32[40] exponential(x) b = f32[500,40] "
      "broadcast(a), dimensions={1} ROOT c = f32[500,40] add(b, y) }",
      ErrorSpec(1e-5, 1e-5), 2);
}

TEST(CompiledProgramTest, RunsLoopsAndBranches) {
  ExpectAsEvaluator(R"(
    body { s = (s32[], f32[33]) parameter(0) i = s32[] get-tuple-element(s), index=0 x = f32[33] get-tuple-element(s), index=1
      one = s32[] constant(1) n = s32[] add(i, one) c = f32[] constant(0.5) cb = f32[33] broadcast(c), dimensions={}
      y = f32[33] multiply(x, cb) z = f32[33] cosine(y) ROOT t = (s32[], f32[33]) tuple(n, z) }
    condition { s = (s32[], f32[33]) parameter(0) i = s32[] get-tuple-element(s), index=0 l = s32[] constant(10)
      ROOT c = pred[] compare(i, l), direction=LT }
    up { x = f32[33] parameter(0) y = f32[33] sine(x) ROOT z = f32[33] add(y, x) }
    down { x = f32[33] parameter(0) y = f32[33] sine(x) ROOT z = f32[33] subtract(y, x) }
    ENTRY e { x = f32[33] parameter(0) zero = s32[] constant(0) s = (s32[], f32[33]) tuple(zero, x)
      w = (s32[], f32[33]) while(s), condition=condition, body=body y = f32[33] get-tuple-element(w), index=1
      k = s32[] parameter(1) p = s32[] clamp(zero, k, k)
      ROOT c = f32[33] conditional(p, y, y), branch_computations={up, down} })",
                    ErrorSpec(1e-5, 1e-5));
}

// The kernels and native functions of loops that nothing needs would outlive them.
TEST(CompiledProgramTest, LeavesOutDeadLoops) {
  const std::string program = R"(
    body { s = (s32[], f32[N]) parameter(0) i = s32[] get-tuple-element(s), index=0
      x = f32[N] get-tuple-element(s), index=1 one = s32[] constant(1) n = s32[] add(i, one)
      y = f32[N] cosine(x) z = f32[N] exponential(y) ROOT t = (s32[], f32[N]) tuple(n, z) }
    condition { s = (s32[], f32[N]) parameter(0) i = s32[] get-tuple-element(s), index=0 l = s32[] constant(100)
      ROOT c = pred[] compare(i, l), direction=LT }
    ENTRY e { x = f32[N] parameter(0) zero = s32[] constant(0) s = (s32[], f32[N]) tuple(zero, x)
      w = (s32[], f32[N]) while(s), condition=condition, body=body
      y = f32[N] exponential(x) ROOT z = f32[N] add(y, x) })";
  for (const char* size : {"[9]", "[9000]"}) {
    ExpectAsEvaluator(absl::StrReplaceAll(program, {{"[N]", size}}), ErrorSpec(1e-5, 1e-5), 1);
  }
}

// Several kernels of one module, on many threads at once, in several runs of one program.
TEST(CompiledProgramTest, LargeArraysOnAllThreads) {
  ExpectAsEvaluator(
      "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) } ENTRY e { x = f32[1000,301] "
      "parameter(0) y = f32[1000,301] exponential(x) z = f32[] constant(0) r = f32[1000] reduce(y, z), dimensions={1}, "
      "to_apply=add c = f32[301] reduce(y, z), dimensions={0}, to_apply=add rb = f32[1000,301] broadcast(r), "
      "dimensions={0} q = f32[1000,301] divide(y, rb) ROOT t = (f32[1000,301], f32[301]) tuple(q, c) }",
      ErrorSpec(1e-4, 1e-4));
}

TEST(CompiledProgramTest, ManyThreadsCompileAtOnce) {
  const auto module =
      ReadVerified("ENTRY e { x = f32[9] parameter(0) y = f32[9] sine(x) ROOT z = f32[9] add(x, y) }").value();
  const std::vector<Literal> arguments = RandomArguments(*module);
  const Literal expected = HloEvaluator().Evaluate(*module, arguments).value();
  std::vector<std::thread> threads;
  std::atomic<int> agree{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto program = CompiledProgram::Compile(*module);
      const absl::StatusOr<Literal> actual = RunProgram(*program.value(), arguments);
      if (actual.ok() && literal_comparison::Near(expected, *actual, ErrorSpec(1e-5, 1e-5)).ok()) ++agree;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(agree, 8);
}

TEST(CompiledProgramTest, KeepsItsStages) {
  const auto module =
      ReadVerified("ENTRY e { x = f32[9] parameter(0) y = f32[9] exponential(x) ROOT z = f32[9] add(x, y) }").value();
  CompileOptions options;
  options.keep_stages = true;
  const auto program = CompiledProgram::Compile(*module, options).value();
  std::vector<std::string> names, expected;
  for (const passes::PassRow& pass : passes::Passes()) {
    expected.push_back(absl::StrFormat("%02d-%s.hlo", expected.size() + 1, pass.name));
  }
  for (const char* stage : {"fused.hlo", "program.thunks", "program.buffers", "kernels.ll", "kernels.s"})
    expected.push_back(stage);
  for (const auto& [name, text] : program->stages()) {
    names.push_back(name);
    EXPECT_NE(text, "") << name;
  }
  EXPECT_EQ(names, expected);
}

// By the processor's instructions for bf16 where it has them: sums of two products are rounded.
TEST(CompiledProgramTest, Bf16Dots) {
  for (const char* text : {
           "lhs_contracting_dims={2}, rhs_contracting_dims={1}|bf16[3,40,77]|bf16[3,77,50]|bf16[3,40,50]",
           "lhs_contracting_dims={2}, rhs_contracting_dims={2}|bf16[3,40,600]|bf16[3,33,600]|f32[3,40,33]",
           "lhs_contracting_dims={1}, rhs_contracting_dims={1}|bf16[1,128,64]|bf16[1,128,96]|bf16[1,64,96]",
           "lhs_contracting_dims={1}, rhs_contracting_dims={2}|bf16[2,5,64]|bf16[2,96,5]|f32[2,64,96]",
       }) {
    const std::vector<std::string> parts = absl::StrSplit(text, '|');
    ExpectAsEvaluator(absl::StrCat("HloModule m\nENTRY e {\n  x = ", parts[1], " parameter(0)\n  y = ", parts[2],
                                   " parameter(1)\n  ROOT d = ", parts[3],
                                   " dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, ", parts[0], "\n}"),
                      ErrorSpec(1e-2, 1e-2));
  }
}

// Dots that a transpose follows, with operands that are read along and across k.
TEST(CompiledProgramTest, TransposedDots) {
  for (const char* transposed : {"f32[2,5,3,4,6]|0,3,1,2,4", "f32[6,3,4,2,5]|4,1,2,0,3", "f32[2,3,4,5,6]|0,1,2,3,4"}) {
    const std::vector<std::string> parts = absl::StrSplit(transposed, '|');
    ExpectAsEvaluator(absl::StrCat(R"(HloModule m
ENTRY e {
  x = f32[2,7,3,4] parameter(0)
  y = f32[2,5,6,7] parameter(1)
  d = f32[2,3,4,5,6] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={3}
  ROOT r = )",
                                   parts[0], " transpose(d), dimensions={", parts[1], "}\n}"));
  }
}

// Windows of few elements: padding, strides, dilation, and an operand with a producer.
TEST(CompiledProgramTest, SmallWindows) {
  for (const char* window : {
           "f32[2,4,5,8]|size=1x2x2x1 stride=1x2x2x1|add",
           "f32[2,4,5,8]|size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0|maximum",
           "f32[2,8,8,8]|size=1x2x3x1 pad=0_0x1_0x0_0x0_0|multiply",
           "f32[2,6,9,8]|size=1x3x2x1 rhs_dilate=1x2x1x1 pad=0_0x1_1x0_0x0_0|minimum",
           "f32[1,8,9,8]|size=2x1x2x1|add",
           "f32[2,6,9,8]|size=1x3x3x1 pad=0_0x-1_1x1_0x0_0|add",
       }) {
    const std::vector<std::string> parts = absl::StrSplit(window, '|');
    ExpectAsEvaluator(absl::StrCat(R"(HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] )",
                                   parts[2], R"((a, b)
}
ENTRY e {
  x = f32[2,8,10,8] parameter(0)
  init = f32[] constant(0.5)
  n = f32[2,8,10,8] negate(x)
  ROOT r = )",
                                   parts[0], " reduce-window(n, init), window={", parts[1], "}, to_apply=f\n}"),
                      ErrorSpec(1e-5, 1e-5), /*kernels=*/1);
  }
}

}  // namespace
}  // namespace kashi::cpu
