// Small programs and what real XLA makes of them: tests/data/evaluator/programs.txt, random ones, a sample of what
// scripts/oracle_programs.py asks; linear_algebra.txt, what JAX does by LAPACK, and linear_algebra_old.txt, how JAX
// 0.4.20 called it; custom_calls.txt, its calls of other functions (all by scripts/oracle_jax.py).
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/custom_calls/lapack_call.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/evaluator/stored_programs_testing.h"

namespace kashi::evaluator {
namespace {

// Bits of the significand, the first one included.
int SignificandWidth(PrimitiveType type) {
  return primitive_util::SignificandWidth(
      primitive_util::IsComplexType(type) ? primitive_util::ComplexComponentType(type) : type);
}

std::vector<std::complex<double>> Widened(const LiteralSlice& literal) {
  const Literal wide = literal.Convert(C128).value();
  std::vector<std::complex<double>> values;
  wide.EachCell<complex128>([&](absl::Span<const int64_t>, complex128 value) { values.push_back(value); });
  return values;
}

bool IsNan(std::complex<double> x) { return std::isnan(x.real()) || std::isnan(x.imag()); }

// The number of units in the last place by which two numbers may differ.
int Ulps(absl::string_view tolerance, int significand_width) {
  if (tolerance == "exact" || tolerance == "flushed") return 0;
  if (significand_width < 20) return tolerance == "near" ? 2 : 16;
  return tolerance == "loose" ? 4096 : 64;
}

// Below, a number is denormal. (Parts of a complex one; eight bit types compute in f32.)
double SmallestNormal(PrimitiveType type) {
  switch (type) {
    case F64:
    case C128:
      return std::numeric_limits<double>::min();
    case F16:
      return std::ldexp(1.0, -14);
    default:
      return std::numeric_limits<float>::min();
  }
}

// The number of elements that differ by more than the tolerance: units in the last place of the value, and where
// rounding adds up ("ulp", "loose") of a twentieth of the largest value. Compiled code makes 0 of denormal numbers
// ("flushed", "near").
int CountDifferent(const LiteralSlice& want, const LiteralSlice& got, absl::string_view tolerance) {
  const PrimitiveType type = want.shape().element_type();
  const bool is_integral = primitive_util::IsIntegralType(type) || type == PRED;
  if (is_integral) return want.Equal(got) ? 0 : 1;
  const int width = SignificandWidth(type);
  const bool may_flush = tolerance == "flushed" || tolerance == "near";
  const double unit = Ulps(tolerance, width) * std::ldexp(1.0, 1 - width);
  const std::vector<std::complex<double>> x = Widened(want), y = Widened(got);
  double scale = 0;
  for (std::complex<double> value : x) {
    if (may_flush || tolerance == "exact") break;
    if (std::isfinite(std::abs(value))) scale = std::max(scale, std::abs(value));
  }
  int different = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (IsNan(x[i]) && IsNan(y[i]))) continue;
    if (may_flush && std::max(std::abs(x[i]), std::abs(y[i])) < SmallestNormal(type)) continue;
    if (!(std::abs(x[i] - y[i]) <= unit * (std::abs(x[i]) + 0.05 * scale))) ++different;
  }
  return different;
}

void ExpectWhatXlaGives(const StoredProgram& program) {
  SCOPED_TRACE(absl::StrCat("program ", program.name));
  std::vector<Literal> arguments;
  for (const std::string& input : program.inputs) arguments.push_back(ReadStoredLiteral(input));
  const Literal result = EvaluateText(program.text, arguments);
  const bool is_tuple = result.shape().IsTuple();
  ASSERT_EQ(is_tuple ? result.shape().tuple_shapes().size() : 1, program.outputs.size());
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const Literal want = ReadStoredLiteral(program.outputs[i].literal);
    const LiteralSlice got = is_tuple ? LiteralSlice(result, {static_cast<int64_t>(i)}) : LiteralSlice(result);
    ASSERT_TRUE(ShapeUtil::Compatible(want.shape(), got.shape()));
    EXPECT_EQ(CountDifferent(want, got, program.outputs[i].tolerance), 0)
        << "output " << i << "\nwanted " << want << "\ngot " << got << "\n"
        << program.text;
  }
}

TEST(ProgramsTest, GiveWhatXlaGives) {
  const std::vector<StoredProgram> programs = ReadStoredPrograms("evaluator/programs.txt");
  ASSERT_GT(programs.size(), 100);
  for (const StoredProgram& program : programs) ExpectWhatXlaGives(program);
}

TEST(ProgramsTest, LinearAlgebraGivesWhatJaxGives) {
  if (!custom_calls::HasLapack()) GTEST_SKIP() << "built without LAPACK";
  const std::vector<StoredProgram> programs = ReadStoredPrograms("evaluator/linear_algebra.txt");
  ASSERT_GT(programs.size(), 60);
  for (const StoredProgram& program : programs) ExpectWhatXlaGives(program);
}

TEST(ProgramsTest, LinearAlgebraOfOlderJaxGivesWhatItGave) {
  if (!custom_calls::HasLapack()) GTEST_SKIP() << "built without LAPACK";
  const std::vector<StoredProgram> programs = ReadStoredPrograms("evaluator/linear_algebra_old.txt");
  ASSERT_GT(programs.size(), 30);
  for (const StoredProgram& program : programs) ExpectWhatXlaGives(program);
}

TEST(ProgramsTest, CustomCallsGiveWhatJaxGives) {
  const std::vector<StoredProgram> programs = ReadStoredPrograms("evaluator/custom_calls.txt");
  ASSERT_GE(programs.size(), 6);
  for (const StoredProgram& program : programs) ExpectWhatXlaGives(program);
}

}  // namespace
}  // namespace kashi::evaluator
