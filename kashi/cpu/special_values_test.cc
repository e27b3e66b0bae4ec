// Elementwise operations on special values (zeros of both signs, infinities, NaN, whole numbers, bounds of formulas):
// the compiled engine gives the evaluator's result with the same sign, also where that is a zero. All operations of
// ops.def that take one or two real numbers, in each type that the engine computes with.
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::cpu {
namespace {

struct ElementwiseOperation {
  absl::string_view name;
  HloOpcode opcode;
  int operands;
};

std::vector<ElementwiseOperation> ElementwiseOperations() {
  std::vector<ElementwiseOperation> operations;
#define KASHI_OP(op, name, ...) operations.push_back({name, HloOpcode::k##op, 0});
#include "kashi/hlo/ir/ops.def"
  std::vector<ElementwiseOperation> elementwise;
  for (ElementwiseOperation operation : operations) {
    if (!HloInstruction::IsOpElementwise(operation.opcode)) continue;
    const HloShapeRule rule = GetHloOpcodeInfo(operation.opcode).shape_rule;
    operation.operands = rule == HloShapeRule::kUnary ? 1 : rule == HloShapeRule::kBinary ? 2 : 0;
    if (operation.operands > 0) elementwise.push_back(operation);
  }
  return elementwise;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSpecialValues[] = {0.0,  -0.0,  kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
                                     1,    -1,    2,         -2,         3,
                                     -3,   0.5,   -0.5,      0.25,       -0.25,
                                     0.75, -0.75, 1.5,       -1.5,       2.5,
                                     -2.5, 1e-3,  -1e-3,     20,         -20,
                                     80,   -80,   3e4,       -3e4};

// Each value, or each pair of two values.
std::vector<std::vector<double>> ArgumentsOf(int operands) {
  std::vector<std::vector<double>> arguments(operands);
  for (double x : kSpecialValues) {
    if (operands == 1) {
      arguments[0].push_back(x);
      continue;
    }
    for (double y : kSpecialValues) {
      arguments[0].push_back(x);
      arguments[1].push_back(y);
    }
  }
  return arguments;
}

bool IsSame(double expected, double actual, double relative) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::signbit(expected) != std::signbit(actual)) return false;
  if (expected == actual) return true;
  return std::isfinite(expected) && std::abs(expected - actual) <= relative * std::abs(expected);
}

std::vector<double> AsDoubles(const Literal& literal) {
  const Literal wide = literal.Convert(F64).value();
  return {wide.data<double>().begin(), wide.data<double>().end()};
}

class SpecialValuesOfTypeTest : public testing::TestWithParam<PrimitiveType> {};

TEST_P(SpecialValuesOfTypeTest, GiveTheSameSigns) {
  const PrimitiveType type = GetParam();
  const double relative = type == F64 ? 1e-14 : type == F32 ? 1e-6 : type == F16 ? 2e-3 : 1e-2;
  CompileOptions options;
  options.numbers.flush_denormals = false;
  int tried = 0;
  for (const ElementwiseOperation& operation : ElementwiseOperations()) {
    const std::vector<std::vector<double>> values = ArgumentsOf(operation.operands);
    const Shape shape = ShapeUtil::MakeShape(type, {static_cast<int64_t>(values[0].size())});
    std::string parameters;
    std::vector<std::string> names;
    std::vector<Literal> arguments;
    for (const std::vector<double>& column : values) {
      names.push_back(absl::StrCat("p", arguments.size()));
      absl::StrAppend(&parameters, names.back(), " = ", ShapeUtil::HumanString(shape), " parameter(", arguments.size(),
                      ") ");
      arguments.push_back(LiteralUtil::CreateR1<double>(column).Convert(type).value());
    }
    const auto module = ReadVerified(absl::StrCat("ENTRY e { ", parameters, "ROOT r = ", ShapeUtil::HumanString(shape),
                                                  " ", operation.name, "(", absl::StrJoin(names, ", "), ") }"));
    if (!module.ok()) continue;  // an operation on integers
    const absl::StatusOr<Literal> evaluated = HloEvaluator(EvaluationOptions()).Evaluate(**module, arguments);
    if (absl::IsUnimplemented(evaluated.status())) continue;
    ++tried;
    const std::vector<double> expected = AsDoubles(*evaluated);
    const std::vector<double> actual = AsDoubles(RunCompiled(**module, arguments, options).value());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(IsSame(expected[i], actual[i], relative))
          << operation.name << " of " << values[0][i] << (values.size() > 1 ? absl::StrCat(", ", values[1][i]) : "")
          << ": " << actual[i] << " instead of " << expected[i];
    }
  }
  EXPECT_GE(tried, 30);
}

// LLVM 19 swaps the operands of such a comparison in f16 to load p from the stack, where it lies during the call of
// sine. All directions, for scalars, and for two vectors and a rest.
TEST_P(SpecialValuesOfTypeTest, ComparisonsUnderAMask) {
  const std::string type(primitive_util::LowercasePrimitiveTypeName(GetParam()));
  const std::string directions[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  for (const std::string size : {"", "70"}) {
    for (const std::string& first : directions) {
      for (const std::string& second : directions) {
        for (const std::string combine : {"and", "or"}) {
          const auto shape = [&](absl::string_view of) { return absl::StrCat(of, "[", size, "]"); };
          ExpectAsEvaluator(absl::StrCat(
              "ENTRY e { p = ", shape(type), " parameter(0) q = ", shape(type), " parameter(1) s = ", shape(type),
              " sine(p) a = ", shape("pred"), " compare(s, q), direction=", first, " b = ", shape("pred"),
              " compare(p, s), direction=", second, " ROOT c = ", shape("pred"), " ", combine, "(a, b) }"));
        }
      }
    }
  }
}

// Complex numbers with such parts. Each part of the result has the evaluator's sign, infinity or NaN.
class ComplexSpecialValuesTest : public testing::TestWithParam<PrimitiveType> {};

std::vector<std::complex<double>> ComplexSpecialValues() {
  const double parts[] = {0.0, -0.0, 1, -2.5, 0.5, 40, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
  std::vector<std::complex<double>> values;
  for (double real : parts) {
    for (double imaginary : parts) values.emplace_back(real, imaginary);
  }
  return values;
}

std::vector<std::complex<double>> AsComplex(const Literal& literal) {
  const Literal wide = literal.Convert(C128).value();
  return {wide.data<complex128>().begin(), wide.data<complex128>().end()};
}

TEST_P(ComplexSpecialValuesTest, GiveTheSameSigns) {
  const PrimitiveType type = GetParam(), part = primitive_util::ComplexComponentType(type);
  const double relative = type == C128 ? 1e-14 : 1e-6;
  CompileOptions options;
  options.numbers.flush_denormals = false;
  std::vector<std::complex<double>> x, y;
  for (const std::complex<double> first : ComplexSpecialValues()) {
    for (const std::complex<double> second : ComplexSpecialValues()) {
      x.push_back(first);
      y.push_back(second);
    }
  }
  std::vector<Literal> arguments;
  for (const auto& column : {x, y}) {
    arguments.push_back(LiteralUtil::CreateR1<complex128>(column).Convert(type).value());
  }
  const std::string shape = ShapeUtil::HumanString(arguments[0].shape());
  const std::string of_parts = ShapeUtil::HumanString(ShapeUtil::ChangeElementType(arguments[0].shape(), part));
  const std::string of_pred = ShapeUtil::HumanString(ShapeUtil::ChangeElementType(arguments[0].shape(), PRED));
  const auto same = [&](absl::string_view operation) { return absl::StrCat(shape, " ", operation); };
  for (const std::string& operation :
       {same("add(x, y)"), same("subtract(x, y)"), same("multiply(x, y)"), same("divide(x, y)"), same("negate(x)"),
        same("exponential(x)"), same("select(p, x, y)"), absl::StrCat(of_parts, " abs(x)"),
        absl::StrCat(of_parts, " real(x)"), absl::StrCat(of_parts, " imag(x)"), same("complex(i, j)"),
        absl::StrCat(of_pred, " compare(x, y), direction=EQ"), absl::StrCat(of_pred, " compare(x, y), direction=NE"),
        same("convert(j)"), absl::StrCat(type == C64 ? "c128" : "c64", shape.substr(shape.find('[')), " convert(x)")}) {
    const std::string text = absl::StrCat(
        "ENTRY e { x = ", shape, " parameter(0) y = ", shape, " parameter(1) i = ", of_parts, " imag(y) j = ", of_parts,
        " real(x) p = ", of_pred, " compare(i, j), direction=LT ROOT r = ", operation, " }");
    const auto module = ReadVerified(text).value();
    const auto expected = AsComplex(HloEvaluator(EvaluationOptions()).Evaluate(*module, arguments).value());
    const auto actual = AsComplex(RunCompiled(*module, arguments, options).value());
    for (size_t i = 0; i < expected.size(); ++i) {
      const double tolerance = std::isfinite(std::abs(expected[i])) ? relative : 0;
      EXPECT_TRUE(IsSame(expected[i].real(), actual[i].real(), tolerance) &&
                  IsSame(expected[i].imag(), actual[i].imag(), tolerance))
          << operation << " of " << x[i] << ", " << y[i] << ": " << actual[i] << " instead of " << expected[i];
    }
  }
}

// e^-17 - 1 is the largest f32 above -1, and not -1: a power with this exponent has no result.
TEST(SpecialValuesTest, ExpMinusOneNearMinusOne) {
  std::vector<float> x;
  for (int i = 0; i < 400; ++i) x.push_back(-20 + 0.05f * static_cast<float>(i));
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR1<float>(x));
  const auto module =
      ReadVerified("ENTRY e { x = f32[400] parameter(0) ROOT r = f32[400] exponential-minus-one(x) }").value();
  const Literal result = RunCompiled(*module, arguments).value();
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(result.data<float>()[i], std::expm1(static_cast<double>(x[i])), x[i] < -1 ? 3.1e-8 : 6.1e-8) << x[i];
  }
}

// exp(89) is infinite in f32, and stays so in the sum. A fused multiply-add of the last product in exp would be finite.
TEST(SpecialValuesTest, SumsOfInfiniteResults) {
  const char kText[] =
      "ENTRY e { x = f32[40] parameter(0) y = f32[40] parameter(1) a = f32[40] exponential(x) b = f32[40] negate(a) "
      "c = f32[40] add(b, y) d = f32[40] subtract(y, a) ROOT r = (f32[40], f32[40]) tuple(c, d) }";
  for (const float y : {1e38f, std::numeric_limits<float>::infinity()}) {
    std::vector<Literal> arguments;
    arguments.push_back(LiteralUtil::CreateR1<float>(std::vector<float>(40, 89)));
    arguments.push_back(LiteralUtil::CreateR1<float>(std::vector<float>(40, y)));
    ExpectAsEvaluator(kText, arguments, ErrorSpec(0, 0));
  }
}

// A sum of products begins at 0, so it is 0 although all products are -0; atan2 shows the sign. As a native function
// and as steps of their own, with up to 20 products.
TEST(SpecialValuesTest, SumsOfProductsOfZero) {
  for (const char* type : {"f32", "f64"}) {
    for (const int k : {1, 2, 3, 8, 20}) {
      for (const int m : {1, 3}) {
        const std::string text = absl::Substitute(
            "ENTRY e { z = $0[] constant(0) a = $0[$2,$1] broadcast(z), dimensions={} b = $0[$1,16] parameter(0) n = "
            "$0[$1,16] negate(b) s = $0[$1,16] abs(n) t = $0[$1,16] negate(s) d = $0[$2,16] dot(a, t), "
            "lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT r = $0[$2,16] atan2(d, d) }",
            type, k, m);
        ExpectAsEvaluator(text, ErrorSpec(0, 0));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ComplexSpecialValuesTest, testing::Values(C64, C128),
                         [](const auto& type) { return primitive_util::LowercasePrimitiveTypeName(type.param); });
INSTANTIATE_TEST_SUITE_P(Types, SpecialValuesOfTypeTest, testing::Values(F64, F32, F16, BF16),
                         [](const auto& type) { return primitive_util::LowercasePrimitiveTypeName(type.param); });

}  // namespace
}  // namespace kashi::cpu
