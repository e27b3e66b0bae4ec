// Entry points: MakeFakeArguments, FillElidedConstants. An array's rule, its type and its constraints (ValueConstraint)
// make a plan: a distribution, and for matrices whether the diagonal is raised.
#include "kashi/analysis/fake_arguments.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/machine.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/elided_constant.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/random_array.h"

namespace kashi {

using analysis::ValueConstraint;
using analysis::ValueConstraints;
using base::DefaultMemoryLimit;
using hlo::ElidedConstants;
using hlo::SetConstant;
using literal::FillRandom;
namespace {

using Distribution = literal::RandomDistributionSpec;
using Kind = literal::RandomDistributionSpec::Kind;

constexpr double kInfinity = ValueConstraint::kInfinity;
constexpr double kLargestInteger = 127;  // if there is no constraint: most integers are indices or counts
constexpr double kMostExact = 0x1p53;    // of whole numbers in double
constexpr double kLeastPositive = 0.1;   // of values that must be positive, in an interval of length 1

struct Plan {
  Distribution distribution;
  bool is_dominant = false;
  bool is_constrained = false;  // by the program, not by the rule
};

// ---- Plans ----------------------------------------------------------------------------------------------------------

Distribution Uniform(double first, double last) { return {Kind::kUniform, first, last}; }
Distribution Constant(double value) { return {Kind::kConstant, value, value}; }

// The part of [-1, 1) that meets the constraint. If no part does: the nearest end of the constraint's interval.
Distribution RealsWithin(const ValueConstraint& constraint) {
  const double min = constraint.min;
  const double max = constraint.max;
  if (min == 0) {
    const double largest = std::min(max, 1 + kLeastPositive);
    return Uniform(kLeastPositive * std::min(largest, 1.0), largest);
  }
  const double first = std::max(min, -1.0);
  const double last = std::min(max, 1.0);
  if (first < last) return Uniform(first, last);
  return min > 0 ? Uniform(min, std::min(max, min + 1)) : Uniform(std::max(min, max - 1), max);
}

// Whether 0 is the only integer that meets the constraint, because the constraint is for the real numbers that the
// integers are converted to: quantized weights of a dot that needs small factors. With zeros its result would be zero.
bool IsMetByZeroOnly(const ValueConstraint& constraint) {
  return !constraint.is_index && constraint.min > -1 && constraint.max < 1 && constraint.min <= 0 &&
         constraint.max >= 0 && constraint.min < constraint.max;
}

// The part of [0, 127] that meets the constraint.
Distribution IntegersWithin(PrimitiveType type, const ValueConstraint& constraint, int64_t elements) {
  if (IsMetByZeroOnly(constraint)) {
    const bool may_be_negative = constraint.min < 0 && primitive_util::IsSignedIntegralType(type);
    return Uniform(may_be_negative ? -1 : 0, constraint.max > 0 ? 1 : 0);
  }
  const double most =
      constraint.no_duplicates ? std::max(kLargestInteger, 2.0 * static_cast<double>(elements)) : kLargestInteger;
  const double min = std::ceil(constraint.min);
  const double max = std::floor(constraint.max);
  const double first = std::max(min, std::min(max, 0.0));
  if (max == kInfinity) return Uniform(first, first + most);
  return Uniform(min == -kInfinity ? std::min(0.0, max) : min, std::max(min, max));
}

Distribution ByConstraint(PrimitiveType type, const ValueConstraint& constraint, int64_t elements) {
  Distribution distribution;
  const bool is_integer = primitive_util::IsIntegralType(type);
  if (constraint.value.has_value()) {
    distribution = Constant(*constraint.value);
  } else if (type == PRED) {
    distribution = constraint.continues_loop ? Constant(0) : Uniform(0, 1);
  } else if (!is_integer) {
    distribution = RealsWithin(constraint);
  } else if (constraint.any_bits && constraint.min == -kInfinity && constraint.max == kInfinity) {
    distribution = {Kind::kBits, 0, 0};
  } else {
    distribution = IntegersWithin(type, constraint, elements);
  }
  const bool is_point = distribution.kind == Kind::kUniform && distribution.first == distribution.last;
  if (is_point) distribution = Constant(distribution.first);
  distribution.no_duplicates = constraint.no_duplicates;
  distribution.is_sorted = constraint.is_sorted;
  return distribution;
}

bool IsNumber(PrimitiveType type) {
  return primitive_util::IsFloatingPointType(type) || primitive_util::IsComplexType(type);
}

// The distribution of the rule for a type; nullopt if it has none.
std::optional<Distribution> ByRule(const FakeRule& rule, PrimitiveType type, const ValueConstraint& constraint) {
  const bool is_integer = primitive_util::IsIntegralType(type);
  switch (rule.kind) {
    case FakeRule::Kind::kAuto:
      return std::nullopt;
    case FakeRule::Kind::kNormal:
      if (IsNumber(type)) return Distribution{Kind::kNormal, rule.a, rule.b};
      return std::nullopt;
    case FakeRule::Kind::kUniform:
      if (IsNumber(type)) return Uniform(rule.a, rule.b);
      return std::nullopt;
    case FakeRule::Kind::kPositive:
      if (IsNumber(type)) return Uniform(kLeastPositive, 1 + kLeastPositive);
      if (is_integer && !constraint.is_index) return Uniform(1, kLargestInteger);
      return std::nullopt;
    case FakeRule::Kind::kOnes:
      return Constant(1);
    case FakeRule::Kind::kIntegers:
      if (IsNumber(type) || is_integer) return Distribution{Kind::kWhole, rule.a, rule.b};
      return std::nullopt;
  }
  return std::nullopt;
}

Plan PlanOf(const Shape& shape, const ValueConstraint& constraint, const FakeRule& rule) {
  const PrimitiveType type = shape.element_type();
  if (const std::optional<Distribution> distribution = ByRule(rule, type, constraint))
    return {*distribution, false, false};
  const int64_t rank = shape.rank();
  const bool is_matrix =
      rank >= 2 && shape.dimensions(static_cast<int>(rank - 1)) == shape.dimensions(static_cast<int>(rank - 2));
  return {ByConstraint(type, constraint, ShapeUtil::ElementsIn(shape)),
          constraint.is_dominant && is_matrix && IsNumber(type), !constraint.is_free()};
}

FakeArray Describe(const Shape& shape, const ShapeIndex& index, const Plan& plan, const ValueConstraint& constraint) {
  FakeArray array = {index, shape, "", plan.distribution.first, plan.distribution.last, ""};
  constexpr const char* kNames[] = {"constant", "uniform", "normal", "whole", "bits"};
  array.rule = shape.element_type() == PRED && plan.distribution.kind != Kind::kConstant
                   ? "coin"
                   : kNames[static_cast<int>(plan.distribution.kind)];
  if (plan.is_constrained) array.user = std::string(constraint.user->name());
  return array;
}

// ---- Arrays ---------------------------------------------------------------------------------------------------------

// Makes each of the square matrices symmetric, and raises its diagonal by its size. Pre: default layout.
template <typename T>
void RaiseDiagonals(absl::Span<T> elements, int64_t n) {
  for (size_t begin = 0; n > 0 && begin < elements.size(); begin += static_cast<size_t>(n * n)) {
    T* const matrix = &elements[begin];
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        if constexpr (is_complex_v<T>) matrix[i * n + j] = matrix[i * n + j].real();
        matrix[j * n + i] = matrix[i * n + j];
      }
      if constexpr (is_complex_v<T>) matrix[i * n + i] = matrix[i * n + i].real();
      matrix[i * n + i] = static_cast<T>(matrix[i * n + i] + static_cast<T>(static_cast<float>(n + 1)));
    }
  }
}

void RaiseDiagonals(const Shape& shape, const ShapeIndex& index, Literal* literal) {
  const int64_t n = shape.dimensions(static_cast<int>(shape.rank() - 1));
  primitive_util::ArrayTypeSwitch<void>(
      [&](auto type) {
        using T = primitive_util::NativeTypeOf<type>;
        if constexpr (!is_specialized_integral_v<T>) RaiseDiagonals<T>(literal->data<T>(index), n);
      },
      shape.element_type());
}

uint64_t MixSeed(uint64_t seed, uint64_t number) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + number;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  return z ^ (z >> 27);
}

// Fills all arrays of a literal with default layouts.
absl::StatusOr<std::vector<FakeArray>> FillArrays(const HloInstruction& instruction,
                                                  const ValueConstraints& constraints, const FakeRule& rule,
                                                  uint64_t seed, const WorkMeter* meter, Literal* literal) {
  std::vector<FakeArray> arrays;
  KASHI_RETURN_IF_ERROR(ShapeUtil::ForEachLeafShapeWithStatus(
      literal->shape(), [&](const Shape& leaf, const ShapeIndex& index) -> absl::Status {
        if (!leaf.IsArray()) return absl::OkStatus();
        const ValueConstraint constraint = constraints.Of(&instruction, index);
        const Plan plan = PlanOf(leaf, constraint, rule);
        const uint64_t array_seed = MixSeed(seed, arrays.size());
        KASHI_RETURN_IF_ERROR(FillRandom(plan.distribution, array_seed, literal, index, meter));
        if (plan.is_dominant) RaiseDiagonals(leaf, index, literal);
        arrays.push_back(Describe(leaf, index, plan, constraint));
        return absl::OkStatus();
      }));
  return arrays;
}

// ---- Parameters -----------------------------------------------------------------------------------------------------

// "parameter 1 (b)"
std::string NameOf(const HloInstruction& parameter) {
  return absl::StrCat("parameter ", parameter.parameter_number(), " (", parameter.name(), ")");
}

// The bytes of all parameters; a large number if they do not fit.
double BytesOfParameters(const HloComputation& entry) {
  double bytes = 0;
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    ShapeUtil::ForEachLeafShape(parameter->shape(), [&](const Shape& leaf, const ShapeIndex&) {
      if (!leaf.IsArray()) return;
      double array = static_cast<double>(ShapeUtil::ByteSizeOfPrimitiveType(leaf.element_type()));
      for (const int64_t size : leaf.dimensions()) array *= static_cast<double>(size);
      bytes += array;
    });
  }
  return bytes;
}

absl::Status CheckArrays(const HloInstruction& parameter) {
  return ShapeUtil::ForEachLeafShapeWithStatus(parameter.shape(), [&](const Shape& leaf, const ShapeIndex&) {
    if (leaf.IsToken() || (leaf.IsArray() && !leaf.is_unbounded_dynamic())) return absl::OkStatus();
    return Unimplemented("%s: there are no random values for %s", NameOf(parameter), ShapeUtil::HumanString(leaf));
  });
}

// A rule for one parameter is meant for something.
absl::Status CheckRule(const HloInstruction& parameter, const FakeRule& rule) {
  bool fits = rule.kind == FakeRule::Kind::kAuto;
  ShapeUtil::ForEachLeafShape(parameter.shape(), [&](const Shape& leaf, const ShapeIndex&) {
    fits |= leaf.IsArray() && ByRule(rule, leaf.element_type(), ValueConstraint()).has_value();
  });
  if (fits) return absl::OkStatus();
  return InvalidArgument("%s is %s: the rule does not apply to this type", NameOf(parameter),
                         ShapeUtil::HumanString(parameter.shape()));
}

absl::Status CheckOptions(const HloComputation& entry, const FakeArgumentOptions& options) {
  for (const auto& [number, rule] : options.rules) {
    if (number < 0 || number >= entry.num_parameters()) {
      return InvalidArgument("there is no parameter %d: %s has %s", number, entry.name(),
                             base::Count(entry.num_parameters(), "parameter"));
    }
    KASHI_RETURN_IF_ERROR(CheckRule(*entry.parameter_instruction(number), rule));
  }
  for (const HloInstruction* parameter : entry.parameter_instructions()) KASHI_RETURN_IF_ERROR(CheckArrays(*parameter));
  const double limit =
      static_cast<double>(options.memory_limit_bytes > 0 ? options.memory_limit_bytes : DefaultMemoryLimit());
  const double bytes = BytesOfParameters(entry);
  if (bytes <= limit) return absl::OkStatus();
  return WithLimitKind(ResourceExhausted("the inputs need %.0f bytes, more than the limit of %.0f", bytes, limit),
                       LimitKind::kMemory);
}

// ---- Rules ----------------------------------------------------------------------------------------------------------

absl::Status NoRule(absl::string_view text) {
  return InvalidArgument(
      "`%s` is not a rule for random numbers; the rules are auto, normal, normal:MEAN,DEVIATION, uniform:A,B, "
      "positive, ones, "
      "integers:A,B",
      text);
}

// "a,b"
bool ParsePair(absl::string_view text, double* a, double* b) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  return parts.size() == 2 && absl::SimpleAtod(parts[0], a) && absl::SimpleAtod(parts[1], b) && std::isfinite(*a) &&
         std::isfinite(*b);
}

}  // namespace

absl::StatusOr<FakeRule> ParseFakeRule(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const bool has_numbers = absl::StrContains(text, ':');
  FakeRule rule;
  if (parts.first == "auto" && !has_numbers) return rule;
  if (parts.first == "positive" && !has_numbers) return FakeRule{FakeRule::Kind::kPositive};
  if (parts.first == "ones" && !has_numbers) return FakeRule{FakeRule::Kind::kOnes};
  if (parts.first == "normal" && !has_numbers) return FakeRule{FakeRule::Kind::kNormal, 0, 1};
  if (!has_numbers || !ParsePair(parts.second, &rule.a, &rule.b)) return NoRule(text);
  if (parts.first == "normal") {
    rule.kind = FakeRule::Kind::kNormal;
    return rule.b >= 0 ? absl::StatusOr<FakeRule>(rule) : InvalidArgument("%s: the deviation is negative", text);
  }
  if (rule.a > rule.b) return InvalidArgument("%s: the first number is larger than the second", text);
  if (parts.first == "uniform") {
    rule.kind = FakeRule::Kind::kUniform;
    return rule;
  }
  if (parts.first != "integers") return NoRule(text);
  rule.kind = FakeRule::Kind::kIntegers;
  const bool are_whole = rule.a == std::floor(rule.a) && rule.b == std::floor(rule.b);
  if (are_whole && std::max(std::abs(rule.a), std::abs(rule.b)) <= kMostExact) return rule;
  return InvalidArgument("%s: expected two whole numbers of at most 2^53", text);
}

std::string FakeArray::ToString() const {
  std::string text;
  if (rule == "constant") {
    text = absl::StrCat("all ", first);
  } else if (rule == "coin") {
    text = "false or true";
  } else if (rule == "bits") {
    text = "any bits";
  } else if (rule == "normal") {
    text = absl::StrCat("normal, mean ", first, ", deviation ", last);
  } else {
    const bool is_whole = rule == "whole" || primitive_util::IsIntegralType(shape.element_type());
    text = absl::StrCat(is_whole ? "integers " : "", "[", first, ", ", last, is_whole ? "]" : ")");
  }
  return user.empty() ? text : absl::StrCat(text, " for ", user);
}

absl::StatusOr<std::vector<FakeArgument>> MakeFakeArguments(const HloModule& module,
                                                            const FakeArgumentOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const ValueConstraints constraints, ValueConstraints::Build(module));
  const HloComputation& entry = *module.entry_computation();
  KASHI_RETURN_IF_ERROR(CheckOptions(entry, options));
  std::vector<FakeArgument> arguments;
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    const int64_t number = parameter->parameter_number();
    const auto own = options.rules.find(number);
    Shape shape = parameter->shape();
    LayoutUtil::SetToDefaultLayout(&shape);
    FakeArgument argument;
    KASHI_ASSIGN_OR_RETURN(argument.literal, Literal::Make(shape));
    KASHI_ASSIGN_OR_RETURN(
        argument.arrays,
        FillArrays(*parameter, constraints, own == options.rules.end() ? options.rule : own->second,
                   MixSeed(options.seed, static_cast<uint64_t>(number)), options.meter, &argument.literal));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

absl::StatusOr<Literal> MakeElidedValue(const HloInstruction& constant, const ValueConstraints& constraints,
                                        uint64_t seed) {
  Shape shape = constant.literal().shape();
  LayoutUtil::SetToDefaultLayout(&shape);
  KASHI_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
  KASHI_RETURN_IF_ERROR(FillArrays(constant, constraints, FakeRule(), seed, nullptr, &literal).status());
  return literal.Relayout(constant.literal().shape());
}

absl::Status FillElidedConstants(HloModule* module, uint64_t seed) {
  KASHI_ASSIGN_OR_RETURN(const ValueConstraints constraints, ValueConstraints::Build(*module));
  uint64_t number = 0;
  for (HloInstruction* constant : ElidedConstants(*module)) {
    KASHI_ASSIGN_OR_RETURN(Literal value, MakeElidedValue(*constant, constraints, MixSeed(~seed, number++)));
    SetConstant(constant, std::move(value));
  }
  return absl::OkStatus();
}

}  // namespace kashi
