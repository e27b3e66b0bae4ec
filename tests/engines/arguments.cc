#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <utility>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/literal/fake_literal.h"
#include "tests/engines/form.h"
#include "tests/engines/trial.h"

namespace kashi::tests {
namespace {

// Of a type with this range of exponents.
double ExtremeNumber(int least_exponent, int greatest_exponent, std::minstd_rand0* random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const double specials[] = {0, -0.0, 1, -1, kInfinity, -kInfinity, kNaN, std::copysign(kNaN, -1), 0.5};
  if ((*random)() % 3 == 0) return specials[(*random)() % 9];
  const double significand = std::uniform_real_distribution<double>(1, 2)(*random);
  const int exponent = std::uniform_int_distribution<int>(least_exponent, greatest_exponent)(*random);
  return std::ldexp((*random)() % 2 ? significand : -significand, exponent);
}

double RealNumber(ArgumentKind kind, PrimitiveType type, std::minstd_rand0* random) {
  if (kind == ArgumentKind::kSmall) return std::uniform_real_distribution<double>(-2, 2)(*random);
  // Products of several numbers neither overflow nor get denormal: there the engines may differ.
  return ExtremeNumber(primitive_util::UnderflowExponent(type) / 8, primitive_util::OverflowExponent(type) / 8, random);
}

Literal MakeReals(const Shape& shape, ArgumentKind kind, std::minstd_rand0* random) {
  Literal wide(WithType(shape, F64));
  for (double& value : wide.data<double>()) value = RealNumber(kind, shape.element_type(), random);
  return wide.Convert(shape.element_type()).value();
}

Literal MakeComplex(const Shape& shape, ArgumentKind kind, std::minstd_rand0* random) {
  Literal wide(WithType(shape, C128));
  const PrimitiveType part = primitive_util::ComplexComponentType(shape.element_type());
  for (complex128& value : wide.data<complex128>()) {
    value = {RealNumber(kind, part, random), RealNumber(kind, part, random)};
  }
  return wide.Convert(shape.element_type()).value();
}

Literal MakeIntegers(const Shape& shape, ArgumentKind kind, std::minstd_rand0* random) {
  std::optional<std::pair<int64_t, int64_t>> limit;
  if (kind == ArgumentKind::kSmall) {
    limit.emplace(primitive_util::IsUnsignedIntegralType(shape.element_type()) ? 0 : -3, 9);
    const int bits = primitive_util::BitWidth(shape.element_type());
    if (bits < 8) limit.reset();
  }
  return MakeFakeLiteral(shape, random, limit, /*is_sorted=*/false, /*no_duplicates=*/false, /*use_large_range=*/false,
                         /*max_bits_of_precision=*/std::nullopt)
      .value();
}

}  // namespace

std::vector<Literal> MakeArguments(const HloModule& module, ArgumentKind kind, uint32_t seed) {
  std::minstd_rand0 random(seed * 2654435761u + 1);
  random.discard(3);
  std::vector<Literal> arguments;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    const Shape& shape = parameter->shape();
    KASHI_CHECK(shape.IsArray()) << shape;
    const PrimitiveType type = shape.element_type();
    if (primitive_util::IsFloatingPointType(type)) {
      arguments.push_back(MakeReals(shape, kind, &random));
    } else if (primitive_util::IsComplexType(type)) {
      arguments.push_back(MakeComplex(shape, kind, &random));
    } else {
      arguments.push_back(MakeIntegers(shape, kind, &random));
    }
  }
  return arguments;
}

}  // namespace kashi::tests
