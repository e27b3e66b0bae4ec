#include "tests/engines/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/combiner.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/literal/literal_comparison.h"

namespace kashi::tests {
namespace {

PrimitiveType PartType(PrimitiveType type) {
  return primitive_util::IsComplexType(type) ? primitive_util::ComplexComponentType(type) : type;
}
bool HasReals(PrimitiveType type) { return primitive_util::IsFloatingPointType(PartType(type)); }

// Holds all numbers of 64 bits: neighbours of large integers, such as the bits of an f64, are unlike.
using Number = long double;

// The elements as numbers; of complex ones both parts.
std::vector<Number> NumbersOf(const LiteralSlice& array) {
  const PrimitiveType type = array.shape().element_type();
  if (primitive_util::IsComplexType(type)) {
    const Literal wide = array.Convert(C128).value();
    const auto* parts = reinterpret_cast<const double*>(wide.untyped_data());
    return {parts, parts + 2 * wide.element_count()};
  }
  if (type == S64) {
    const Literal whole = array.Convert(S64).value();
    return {whole.data<int64_t>().begin(), whole.data<int64_t>().end()};
  }
  if (type == U64) {
    const Literal whole = array.Convert(U64).value();
    return {whole.data<uint64_t>().begin(), whole.data<uint64_t>().end()};
  }
  const Literal wide = array.Convert(F64).value();
  return {wide.data<double>().begin(), wide.data<double>().end()};
}

struct Bounds {
  double relative;
  double absolute;  // below it numbers may be flushed to 0
};
Bounds BoundsOf(PrimitiveType type, const Exactness& exactness) {
  const PrimitiveType part = PartType(type);
  const double unit = std::ldexp(1.0, 1 - primitive_util::SignificandWidth(part));
  const double units = part == F32 || part == F64 ? 64 : part == F16 || part == BF16 ? 8 : 1.01;
  // What is flushed may be multiplied then; the short exponents of narrow types leave no room for that.
  const int magnified = primitive_util::ExponentWidth(part) >= 8 ? 10 : 0;
  return {std::max(units * unit, 8 * exactness.unit),
          std::ldexp(1.0, primitive_util::UnderflowExponent(part) + magnified)};
}

double LargestFinite(const std::vector<Number>& numbers) {
  double largest = 0;
  for (const Number x : numbers) {
    if (std::isfinite(x)) largest = std::max(largest, static_cast<double>(std::abs(x)));
  }
  return largest;
}

// How far the nearby results are from the expected number; infinite where one of them is of another kind.
Number SpreadOf(Number expected, size_t at, const std::vector<std::vector<Number>>& nearby) {
  Number spread = 0;
  for (const std::vector<Number>& numbers : nearby) {
    const Number x = numbers[at];
    if (std::isnan(x) && std::isnan(expected)) continue;
    if (x == expected) continue;
    if (!std::isfinite(x) || !std::isfinite(expected)) return std::numeric_limits<Number>::infinity();
    spread = std::max(spread, std::abs(x - expected));
  }
  return spread;
}

// Whether a nearby result has this number. Those of programs whose results are defined differ in denormal numbers only,
// which some operations magnify: sign.
bool IsOneOf(const std::vector<std::vector<Number>>& nearby, size_t at, Number actual) {
  return std::any_of(nearby.begin(), nearby.end(), [&](const auto& numbers) { return numbers[at] == actual; });
}

// C leaves the sign of an infinite part open where the other part is NaN: asinh(NaN + inf i).
bool HasFreeSign(const std::vector<Number>& want, const std::vector<Number>& got, size_t at) {
  const size_t other = at ^ 1;
  return std::isinf(want[at]) && std::isinf(got[at]) && std::isnan(want[other]) && std::isnan(got[other]);
}

bool IsNear(double expected, double actual, const Bounds& bounds, double largest) {
  if (expected == actual || (std::isnan(expected) && std::isnan(actual))) return true;
  if (!std::isfinite(expected) || !std::isfinite(actual)) return false;
  return std::abs(expected - actual) <= bounds.relative * (std::abs(expected) + 0.05 * largest) + bounds.absolute;
}

std::string DescribeArray(const LiteralSlice& expected, const LiteralSlice& actual, const Exactness& exactness,
                          const std::vector<LiteralSlice>& nearby) {
  const bool exact = exactness.only_moves || exactness.is_defined;
  const PrimitiveType type = expected.shape().element_type();
  const size_t bytes = static_cast<size_t>(expected.size_bytes());
  if (std::memcmp(expected.untyped_data(), actual.untyped_data(), bytes) == 0) return "";
  const std::vector<Number> want = NumbersOf(expected), got = NumbersOf(actual);
  std::vector<std::vector<Number>> near;
  for (const LiteralSlice& other : nearby) near.push_back(NumbersOf(other));
  const Bounds bounds = HasReals(type) ? BoundsOf(type, exactness) : Bounds{0, 0};
  const double largest = LargestFinite(want);
  const size_t width = want.empty() ? 1 : bytes / want.size();
  const auto* a = static_cast<const char*>(expected.untyped_data());
  const auto* b = static_cast<const char*>(actual.untyped_data());
  int64_t wrong = 0;
  std::string first;
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::memcmp(a + i * width, b + i * width, width) == 0) continue;
    if (!exact && HasReals(type) && IsNear(want[i], got[i], bounds, largest)) continue;
    if (exact && std::isnan(want[i]) && std::isnan(got[i])) continue;
    if (!exact && primitive_util::IsComplexType(type) && HasFreeSign(want, got, i)) continue;
    const bool is_flushed = want[i] != got[i] && std::abs(want[i] - got[i]) <= bounds.absolute;
    if (exactness.is_defined && (is_flushed || IsOneOf(near, i, got[i]))) continue;
    const Number spread = SpreadOf(want[i], i, near);
    if (!exact && (std::isinf(spread) || (spread > 0 && std::abs(want[i] - got[i]) <= 8 * spread))) continue;
    if (wrong++ == 0)
      first = absl::StrCat("number ", i, " is ", static_cast<double>(got[i]), ", not ", static_cast<double>(want[i]));
  }
  if (wrong == 0) return "";
  return absl::StrCat(wrong, " of ", want.size(), " numbers of ", ShapeUtil::HumanString(expected.shape()),
                      " differ: ", first);
}

}  // namespace

std::string DescribeDifference(const Literal& expected, const Literal& actual, const Exactness& exactness,
                               const NearbyResults& nearby) {
  if (!ShapeUtil::Compatible(expected.shape(), actual.shape())) {
    return absl::StrCat("the shape is ", ShapeUtil::HumanString(actual.shape()), ", not ",
                        ShapeUtil::HumanString(expected.shape()));
  }
  std::string difference;
  ShapeUtil::ForEachLeafShape(expected.shape(), [&](const Shape& shape, const ShapeIndex& index) {
    if (!difference.empty() || !shape.IsArray()) return;
    const LiteralSlice want(expected, index), got(actual, index);
    if (shape.is_dynamic()) {
      const absl::Status same = literal_comparison::Near(want, got, ErrorSpec(1e-4, 1e-4));
      if (!same.ok()) difference = std::string(same.message());
      return;
    }
    std::vector<LiteralSlice> near;
    for (const Literal& other : nearby) near.emplace_back(other, index);
    difference = DescribeArray(want, got, exactness, near);
  });
  return difference;
}

bool HasNaN(const LiteralSlice& array) {
  if (!HasReals(array.shape().element_type())) return false;
  const std::vector<Number> numbers = NumbersOf(array);
  return std::any_of(numbers.begin(), numbers.end(), [](double x) { return std::isnan(x); });
}

double SumOfMagnitudes(const LiteralSlice& array) {
  double sum = 0;
  for (const Number x : NumbersOf(array)) sum += static_cast<double>(std::abs(x));
  return sum;
}

Literal Nudge(const Literal& argument, const Exactness& exactness, uint32_t seed) {
  const PrimitiveType type = argument.shape().element_type();
  if (!HasReals(type)) return argument.Clone();
  std::minstd_rand random(seed);
  const PrimitiveType part = PartType(type) == F64 && exactness.narrows_f64 ? F32 : PartType(type);
  const double unit = std::ldexp(1.0, 1 - primitive_util::SignificandWidth(part));
  const bool is_complex = primitive_util::IsComplexType(type);
  Literal wide = argument.Convert(is_complex ? C128 : F64).value();
  auto* numbers = static_cast<double*>(wide.untyped_data());
  const int64_t count = wide.element_count() * (is_complex ? 2 : 1);
  for (int64_t i = 0; i < count; ++i) numbers[i] *= 1 + unit * (static_cast<double>(random() % 5) - 2);
  return wide.Convert(type).value();
}

namespace {

bool IsReal(const HloInstruction& x) { return x.shape().IsArray() && HasReals(x.shape().element_type()); }

// Sums of up to 32 bits, which both engines compute in f64 and round once.
bool IsSumInF64(const HloInstruction& x) {
  if (x.opcode() != HloOpcode::kReduce || x.operand_count() != 2) return false;
  const PrimitiveType type = x.shape().element_type();
  return (type == F32 || type == F16 || type == BF16) && hlo::CombinerOf(*x.to_apply()) == HloOpcode::kAdd &&
         x.to_apply()->root_instruction()->shape().element_type() == type;
}

// Windows that fold by one operation: both engines fold them in the same order, and round at each step.
bool IsOrderedWindow(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kReduceWindow && x.operand_count() == 2 &&
         hlo::ReorderableCombiner(*x.to_apply()).has_value() &&
         x.shape().element_type() == x.operand(0)->shape().element_type() &&
         x.to_apply()->root_instruction()->shape().element_type() == x.shape().element_type();
}

// Whether each element of the result is one function of elements of the operands that is rounded once, or what a
// computation gives.
bool IsDefined(const HloInstruction& x) {
  if (IsSumInF64(x) || IsOrderedWindow(x)) return true;
  const HloOpcodeInfo& info = GetHloOpcodeInfo(x.opcode());
  constexpr uint32_t kFree = HloOpcodeFlags::kTranscendental | HloOpcodeFlags::kEmbeddedCall;
  const auto is_complex = [](const HloInstruction* y) {
    return y->shape().IsArray() && primitive_util::IsComplexType(y->shape().element_type());
  };
  if (is_complex(&x) || (x.opcode() == HloOpcode::kAbs && is_complex(x.operand(0)))) return false;
  const bool runs_computations = info.Has(HloOpcodeFlags::kControlFlow) || x.opcode() == HloOpcode::kFusion;
  return runs_computations || (HloInstruction::IsOpElementwise(x.opcode()) && !info.Has(kFree));
}

// Whether a sum may take a product that is not rounded (a fused multiply-add). Products of bf16 are in f32 then.
bool MayFuseProducts(const HloModule& module) {
  bool has_product = false, has_sum = false;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      if (!IsReal(*x)) continue;
      has_product = has_product || x->opcode() == HloOpcode::kMultiply;
      const bool is_sum = x->opcode() == HloOpcode::kAdd || x->opcode() == HloOpcode::kSubtract;
      has_sum = has_sum || (is_sum && x->shape().element_type() != BF16);
    }
  }
  return has_product && has_sum;
}

}  // namespace

Exactness ExactnessOf(const HloModule& module) {
  Exactness exactness{/*only_moves=*/true, /*is_defined=*/!MayFuseProducts(module)};
  constexpr uint32_t kMoves =
      HloOpcodeFlags::kMovesElements | HloOpcodeFlags::kKeepsValues | HloOpcodeFlags::kForwardsOperand;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      const HloOpcode opcode = instruction->opcode();
      const bool moves = opcode != HloOpcode::kConvert && GetHloOpcodeInfo(opcode).Has(kMoves);
      exactness.only_moves = exactness.only_moves && moves;
      exactness.is_defined = exactness.is_defined && (moves || IsDefined(*instruction));
      ShapeUtil::ForEachLeafShape(instruction->shape(), [&](const Shape& shape, const ShapeIndex&) {
        if (!shape.IsArray()) return;
        const PrimitiveType part = PartType(shape.element_type());
        exactness.narrows_f64 = exactness.narrows_f64 || part == F32;
        if (part == BF16 || part == F16 || part == F32) {
          const int digits = primitive_util::SignificandWidth(part);
          exactness.unit = std::max(exactness.unit, std::ldexp(1.0, 1 - digits));
        }
      });
    }
  }
  return exactness;
}

}  // namespace kashi::tests
