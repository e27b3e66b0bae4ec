// Entry points: WantOfOperands, HandToOperands. Below each, one function for a family of operations.
//
// A wish "positive" is the interval from 0 up: it stays that when it goes through additions and products. Code that
// draws numbers keeps away from 0 itself.
#include "kashi/analysis/operand_constraints.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/literal.h"

namespace kashi::internal {
namespace {

constexpr double kUnbounded = ValueConstraint::kInfinity;

// ---- Wishes ---------------------------------------------------------------------------------------------------------

ValueConstraint WishOf(const HloInstruction& user) {
  ValueConstraint wish;
  wish.user = &user;
  return wish;
}
ValueConstraint Within(const HloInstruction& user, double min, double max) {
  ValueConstraint wish = WishOf(user);
  wish.min = min;
  wish.max = max;
  return wish;
}
ValueConstraint Index(const HloInstruction& user, int64_t last) {
  ValueConstraint wish = Within(user, 0, static_cast<double>(std::max<int64_t>(last, 0)));
  wish.is_index = true;
  return wish;
}
ValueConstraint AnyBits(const HloInstruction& user) {
  ValueConstraint wish = WishOf(user);
  wish.any_bits = true;
  return wish;
}

bool IsBounded(const ValueConstraint& wish) { return wish.min > -kUnbounded || wish.max < kUnbounded; }
ValueConstraint WithInterval(ValueConstraint wish, double min, double max) {
  wish.min = min;
  wish.max = max;
  return wish;
}

// ---- Looking at operations ------------------------------------------------------------------------------------------

// Modules that were not verified may lack it.
const HloInstruction* Operand(const HloInstruction& instruction, int64_t number) {
  return number < instruction.operand_count() ? instruction.operand(number) : nullptr;
}
bool IsReal(const HloInstruction& x) {
  return x.shape().IsArray() && primitive_util::IsFloatingPointType(x.shape().element_type());
}
bool IsInteger(const HloInstruction& x) {
  return x.shape().IsArray() && primitive_util::IsIntegralType(x.shape().element_type());
}
void Send(const HloInstruction& instruction, int64_t number, const ValueConstraint& wish, ConstraintSink sink) {
  const HloInstruction* operand = Operand(instruction, number);
  if (operand != nullptr && operand->shape().IsArray()) sink(operand, wish);
}
void SendToAll(const HloInstruction& instruction, const ValueConstraint& wish, ConstraintSink sink) {
  for (int64_t i = 0; i < instruction.operand_count(); ++i) Send(instruction, i, wish, sink);
}
std::optional<double> ConstantOperand(const HloInstruction& instruction, int64_t number) {
  const HloInstruction* operand = Operand(instruction, number);
  return operand == nullptr ? std::nullopt : ConstantNumber(*operand);
}

// What a value is before it is spread, converted or copied.
const HloInstruction& BehindMoves(const HloInstruction& value) {
  constexpr int kMostSteps = 16;
  const HloInstruction* x = &value;
  for (int i = 0; i < kMostSteps; ++i) {
    switch (x->opcode()) {
      case HloOpcode::kBroadcast:
      case HloOpcode::kReshape:
      case HloOpcode::kConvert:
      case HloOpcode::kCopy:
        if (x->operand_count() != 1) return *x;
        x = x->operand(0);
        continue;
      default:
        return *x;
    }
  }
  return *x;
}

// The operation of a computation that only combines its two parameters; nullopt for others.
std::optional<HloOpcode> Combiner(const HloInstruction& instruction, size_t number = 0) {
  const auto callees = instruction.called_computations();
  if (callees.size() <= number || callees[number]->num_parameters() != 2) return std::nullopt;
  const HloInstruction* root = callees[number]->root_instruction();
  const bool combines = root != nullptr && root->operand_count() == 2 &&
                        absl::c_all_of(root->operands(), [](const HloInstruction* operand) {
                          return operand->opcode() == HloOpcode::kParameter;
                        });
  if (!combines) return std::nullopt;
  return root->opcode();
}

// ---- What operations want -------------------------------------------------------------------------------------------

void WantPositive(const HloInstruction& user, int64_t number, ConstraintSink sink) {
  const HloInstruction* operand = Operand(user, number);
  if (operand != nullptr && IsReal(*operand)) sink(operand, Within(user, 0, kUnbounded));
}

void WantDivisor(const HloInstruction& user, ConstraintSink sink) {
  const HloInstruction* divisor = Operand(user, 1);
  if (divisor == nullptr) return;
  if (IsReal(*divisor)) sink(divisor, Within(user, 0, kUnbounded));
  if (IsInteger(*divisor)) sink(divisor, Within(user, 1, kUnbounded));
}

// The base of a power that is no whole number.
void WantBase(const HloInstruction& power, ConstraintSink sink) {
  const std::optional<double> exponent = ConstantOperand(power, 1);
  if (exponent.has_value() && *exponent >= 0 && *exponent == std::floor(*exponent)) return;
  WantPositive(power, 0, sink);
}

// The lower limit below the upper one.
void WantLimits(const HloInstruction& clamp, ConstraintSink sink) {
  if (clamp.operand_count() != 3) return;
  const double middle = IsReal(clamp) ? -0.5 : 0;
  const std::optional<double> low = ConstantOperand(clamp, 0);
  const std::optional<double> high = ConstantOperand(clamp, 2);
  if (!low.has_value()) Send(clamp, 0, Within(clamp, -kUnbounded, high.value_or(middle)), sink);
  if (!high.has_value()) Send(clamp, 2, Within(clamp, low.value_or(middle + 1), kUnbounded), sink);
}

// Starts of a dynamic-slice or dynamic-update-slice: a scalar a dimension, or in old programs a vector of all.
void WantStarts(const HloInstruction& slice, int64_t first, const Shape& window, ConstraintSink sink) {
  const HloInstruction* sliced = Operand(slice, 0);
  const HloInstruction* start = Operand(slice, first);
  if (sliced == nullptr || start == nullptr || !sliced->shape().IsArray() || !window.IsArray()) return;
  const absl::Span<const int64_t> sizes = sliced->shape().dimensions();
  if (sizes.size() != window.dimensions().size()) return;
  int64_t least = sizes.empty() ? 0 : sizes[0];
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t last = sizes[d] - window.dimensions(static_cast<int>(d));
    least = std::min(least, last);
    if (start->shape().rank() == 0) Send(slice, first + static_cast<int64_t>(d), Index(slice, last), sink);
  }
  if (start->shape().rank() == 1) sink(start, Index(slice, least));
}

// `lasts`: of each part of an index vector the largest value. Where the vectors are put together of columns, each
// column gets its own.
void WantIndexVectors(const HloInstruction& user, int64_t vector_dimension, absl::Span<const int64_t> lasts,
                      ConstraintSink sink) {
  const HloInstruction* indices = Operand(user, 1);
  if (indices == nullptr || lasts.empty()) return;
  const auto index = [&](int64_t last) {
    ValueConstraint wish = Index(user, last);
    wish.is_sorted = user.indices_are_sorted();
    wish.no_duplicates = user.unique_indices();
    return wish;
  };
  const bool has_columns = indices->opcode() == HloOpcode::kConcatenate &&
                           indices->operand_count() == static_cast<int64_t>(lasts.size()) &&
                           indices->concatenate_dimension() == vector_dimension;
  if (!has_columns) return Send(user, 1, index(*absl::c_min_element(lasts)), sink);
  for (size_t i = 0; i < lasts.size(); ++i) sink(indices->operand(static_cast<int64_t>(i)), index(lasts[i]));
}

void WantGatherIndices(const HloInstruction& gather, ConstraintSink sink) {
  const GatherDimensionNumbers* numbers = gather.fields().Find<HloField::gather_dimension_numbers>();
  const HloInstruction* operand = Operand(gather, 0);
  if (numbers == nullptr || operand == nullptr) return;
  const absl::Span<const int64_t> sizes = operand->shape().dimensions();
  const absl::Span<const int64_t> slices = gather.gather_slice_sizes();
  std::vector<int64_t> lasts;
  for (const int64_t d : numbers->start_index_map()) {
    if (d < 0 || d >= static_cast<int64_t>(std::min(sizes.size(), slices.size()))) return;
    lasts.push_back(sizes[d] - slices[d]);
  }
  WantIndexVectors(gather, numbers->index_vector_dim(), lasts, sink);
}

// The sizes of the windows that a scatter writes, by dimension of its operand; empty for broken numbers.
std::vector<int64_t> ScatterWindow(const HloInstruction& scatter, const ScatterDimensionNumbers& numbers) {
  const Shape& updates = scatter.operand(scatter.operand_count() - 1)->shape();
  std::vector<int64_t> window;
  int next = 0;
  for (int64_t d = 0; d < scatter.operand(0)->shape().rank(); ++d) {
    const bool is_one = absl::c_linear_search(numbers.inserted_window_dims(), d) ||
                        absl::c_linear_search(numbers.input_batching_dims(), d);
    if (is_one) {
      window.push_back(1);
      continue;
    }
    if (next >= numbers.update_window_dims_size()) return {};
    const int64_t dimension = numbers.update_window_dims(next++);
    if (dimension < 0 || dimension >= updates.rank()) return {};
    window.push_back(updates.dimensions(static_cast<int>(dimension)));
  }
  return window;
}

void WantScatterIndices(const HloInstruction& scatter, ConstraintSink sink) {
  const ScatterDimensionNumbers* numbers = scatter.fields().Find<HloField::scatter_dimension_numbers>();
  // Several operands come before the indices; each has its updates behind them.
  if (numbers == nullptr || scatter.operand_count() != 3) return;
  const std::vector<int64_t> window = ScatterWindow(scatter, *numbers);
  std::vector<int64_t> lasts;
  for (const int64_t d : numbers->scatter_dims_to_operand_dims()) {
    if (d < 0 || d >= static_cast<int64_t>(window.size())) return;
    lasts.push_back(scatter.operand(0)->shape().dimensions(static_cast<int>(d)) - window[d]);
  }
  WantIndexVectors(scatter, numbers->index_vector_dim(), lasts, sink);
}

// The number that changes nothing.
std::optional<double> NeutralOf(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAdd:
    case HloOpcode::kOr:
    case HloOpcode::kXor:
      return 0;
    case HloOpcode::kMultiply:
      return 1;
    case HloOpcode::kMaximum:
      return -kUnbounded;
    case HloOpcode::kMinimum:
      return kUnbounded;
    default:
      return std::nullopt;
  }
}

void WantNeutral(const HloInstruction& user, int64_t number, size_t computation, ConstraintSink sink) {
  const std::optional<HloOpcode> combiner = Combiner(user, computation);
  if (!combiner.has_value() || !NeutralOf(*combiner).has_value()) return;
  ValueConstraint wish = WishOf(user);
  wish.value = NeutralOf(*combiner);
  Send(user, number, wish, sink);
}

// A label that is compared with 0, 1, 2 ... is one of these.
void WantLabels(const HloInstruction& compare, ConstraintSink sink) {
  if (compare.operand_count() != 2) return;
  for (int64_t i = 0; i < 2; ++i) {
    const HloInstruction& numbers = BehindMoves(*compare.operand(i));
    const int64_t dimension = numbers.fields().Get<HloField::iota_dimension>(-1);
    if (numbers.opcode() != HloOpcode::kIota || dimension < 0 || dimension >= numbers.shape().rank()) continue;
    const double last = static_cast<double>(numbers.shape().dimensions(static_cast<int>(dimension)) - 1);
    Send(compare, 1 - i, Within(compare, 0, std::max(last, 0.0)), sink);
  }
}

// Sums of `terms` products keep their size if the factors have this one.
void WantFactors(const HloInstruction& product, double terms, ConstraintSink sink) {
  if (!(terms > 3) || product.operand_count() < 2 || !IsReal(product)) return;
  const double largest = std::sqrt(3 / terms);
  for (int64_t i = 0; i < 2; ++i) {
    if (IsReal(*product.operand(i))) sink(product.operand(i), Within(product, -largest, largest));
  }
}
void WantDotFactors(const HloInstruction& dot, ConstraintSink sink) {
  const DotDimensionNumbers* numbers = dot.fields().Find<HloField::dot_dimension_numbers>();
  const HloInstruction* lhs = Operand(dot, 0);
  if (numbers == nullptr || lhs == nullptr) return;
  double terms = 1;
  for (const int64_t d : numbers->lhs_contracting_dimensions()) {
    if (d < 0 || d >= lhs->shape().rank()) return;
    terms *= static_cast<double>(lhs->shape().dimensions(static_cast<int>(d)));
  }
  WantFactors(dot, terms, sink);
}
void WantConvolutionFactors(const HloInstruction& convolution, ConstraintSink sink) {
  const auto* numbers = convolution.fields().Find<HloField::convolution_dimension_numbers>();
  const HloInstruction* kernel = Operand(convolution, 1);
  if (numbers == nullptr || kernel == nullptr) return;
  double terms = 1;
  for (int64_t d = 0; d < kernel->shape().rank(); ++d) {
    if (d == numbers->kernel_output_feature_dimension()) continue;
    terms *= static_cast<double>(kernel->shape().dimensions(static_cast<int>(d)));
  }
  WantFactors(convolution, terms, sink);
}

// Matrices that have a Cholesky factor, and triangles that can be solved.
void WantDominant(const HloInstruction& user, ConstraintSink sink) {
  ValueConstraint wish = WishOf(user);
  wish.is_dominant = true;
  Send(user, 0, wish, sink);
}
void WantOfCustomCall(const HloInstruction& call, ConstraintSink sink) {
  const std::string* target = call.fields().Find<HloField::custom_call_target>();
  if (target == nullptr) return;
  for (const absl::string_view part : {"potrf", "trsm", "Cholesky", "TriangularSolve"}) {
    if (absl::StrContains(*target, part)) return WantDominant(call, sink);
  }
}

void WantOfShift(const HloInstruction& shift, ConstraintSink sink) {
  if (!IsInteger(shift)) return;
  Send(shift, 0, AnyBits(shift), sink);
  Send(shift, 1, Within(shift, 0, primitive_util::BitWidth(shift.shape().element_type()) - 1), sink);
}

void WantOfRandom(const HloInstruction& rng, ConstraintSink sink) {
  if (rng.fields().Get<HloField::distribution>(RNG_INVALID) == RNG_NORMAL) return WantPositive(rng, 1, sink);
  Send(rng, 0, Within(rng, -kUnbounded, 0), sink);
  Send(rng, 1, Within(rng, 1, kUnbounded), sink);
}

void WantSize(const HloInstruction& set_size, ConstraintSink sink) {
  const auto dimensions = set_size.dimensions();
  if (dimensions.size() != 1 || dimensions[0] < 0 || dimensions[0] >= set_size.shape().rank()) return;
  ValueConstraint wish = Index(set_size, set_size.shape().dimensions(static_cast<int>(dimensions[0])));
  wish.min = std::min(1.0, wish.max);
  Send(set_size, 1, wish, sink);
}

// ---- What a result means for operands -------------------------------------------------------------------------------

// What remains of a wish behind an operation that moves elements, or spreads them.
ValueConstraint Moved(const HloInstruction& move, const HloInstruction& operand, ValueConstraint wish) {
  const bool same = operand.shape().dimensions() == move.shape().dimensions();
  wish.is_dominant &= same || move.opcode() == HloOpcode::kTranspose;
  wish.is_sorted &= same || move.opcode() == HloOpcode::kReshape || move.opcode() == HloOpcode::kBitcast;
  wish.no_duplicates &= move.opcode() != HloOpcode::kBroadcast;
  wish.any_bits &= IsInteger(operand);
  return wish;
}
void HandMoved(const HloInstruction& move, absl::Span<const int64_t> numbers, const ValueConstraint& wish,
               ConstraintSink sink) {
  for (const int64_t number : numbers) {
    if (const HloInstruction* operand = Operand(move, number)) Send(move, number, Moved(move, *operand, wish), sink);
  }
}

// a + b in [min, max].
void HandToSum(const HloInstruction& sum, const ValueConstraint& wish, ConstraintSink sink) {
  if (wish.is_dominant) SendToAll(sum, wish, sink);
  if (!IsBounded(wish) || sum.operand_count() != 2) return;
  for (int64_t i = 0; i < 2; ++i) {
    if (const std::optional<double> c = ConstantOperand(sum, i)) {
      const bool stays_positive = IsReal(sum) && wish.min == 0 && *c >= 0;
      return Send(sum, 1 - i, WithInterval(wish, stays_positive ? 0 : wish.min - *c, wish.max - *c), sink);
    }
  }
  if (wish.min < 0) return;
  const double largest = IsInteger(sum) ? std::floor(wish.max / 2) : wish.max / 2;
  SendToAll(sum, WithInterval(wish, wish.min == 0 ? 0 : wish.min / 2, largest), sink);
}

void HandToDifference(const HloInstruction& difference, const ValueConstraint& wish, ConstraintSink sink) {
  if (!IsBounded(wish)) return;
  if (const std::optional<double> c = ConstantOperand(difference, 1)) {
    return Send(difference, 0, WithInterval(wish, wish.min + *c, wish.max + *c), sink);
  }
  if (const std::optional<double> c = ConstantOperand(difference, 0)) {
    Send(difference, 1, WithInterval(wish, *c - wish.max, *c - wish.min), sink);
  }
}

// x times `factor` in [min, max].
ValueConstraint DividedBy(const ValueConstraint& wish, double factor, bool is_integer) {
  double low = wish.min / factor;
  double high = wish.max / factor;
  if (factor < 0) std::swap(low, high);
  return WithInterval(wish, is_integer ? std::ceil(low) : low, is_integer ? std::floor(high) : high);
}

void HandToProduct(const HloInstruction& product, const ValueConstraint& wish, ConstraintSink sink) {
  if (wish.is_dominant) SendToAll(product, wish, sink);
  if (!IsBounded(wish) || product.operand_count() != 2) return;
  for (int64_t i = 0; i < 2; ++i) {
    if (const std::optional<double> c = ConstantOperand(product, i)) {
      if (*c != 0 && std::isfinite(*c)) Send(product, 1 - i, DividedBy(wish, *c, IsInteger(product)), sink);
      return;
    }
  }
  if (wish.min < 0 || product.operand(0) == product.operand(1)) return;  // a square is positive
  const double largest = std::sqrt(wish.max);
  SendToAll(product, WithInterval(wish, std::sqrt(wish.min), IsInteger(product) ? std::floor(largest) : largest), sink);
}

void HandToQuotient(const HloInstruction& quotient, const ValueConstraint& wish, ConstraintSink sink) {
  if (wish.is_dominant) Send(quotient, 0, wish, sink);
  if (!IsBounded(wish)) return;
  const std::optional<double> c = ConstantOperand(quotient, 1);
  if (!c.has_value()) {
    if (wish.min == 0) Send(quotient, 0, WithInterval(wish, 0, kUnbounded), sink);
    return;
  }
  if (*c == 0 || !std::isfinite(*c)) return;
  ValueConstraint dividend = DividedBy(wish, 1 / *c, /*is_integer=*/false);
  if (IsInteger(quotient) && *c > 0) dividend = WithInterval(wish, wish.min * *c, wish.max * *c + (*c - 1));
  Send(quotient, 0, dividend, sink);
}

// The operands of a maximum whose constant already sees to the lower bound need not.
void HandToExtremum(const HloInstruction& extremum, const ValueConstraint& wish, ConstraintSink sink) {
  if (!IsBounded(wish)) return;
  ValueConstraint rest = wish;
  for (int64_t i = 0; i < extremum.operand_count(); ++i) {
    const std::optional<double> c = ConstantOperand(extremum, i);
    if (!c.has_value()) continue;
    if (extremum.opcode() == HloOpcode::kMaximum && *c >= wish.min) rest.min = -kUnbounded;
    if (extremum.opcode() == HloOpcode::kMinimum && *c <= wish.max) rest.max = kUnbounded;
  }
  if (IsBounded(rest)) SendToAll(extremum, rest, sink);
}

// Of reductions, over dimensions, windows or devices.
void HandToReduction(const HloInstruction& reduction, const ValueConstraint& wish, ConstraintSink sink) {
  if (!IsBounded(wish)) return;
  const HloOpcode combiner = Combiner(reduction).value_or(HloOpcode::kTuple);
  if (combiner == HloOpcode::kMaximum || combiner == HloOpcode::kMinimum) return Send(reduction, 0, wish, sink);
  const bool keeps_sign = combiner == HloOpcode::kAdd || combiner == HloOpcode::kMultiply;
  if (keeps_sign && wish.min >= 0) Send(reduction, 0, WithInterval(wish, 0, kUnbounded), sink);
}

// A loop goes on while the smaller one is smaller: few times.
void HandToLoopComparison(const HloInstruction& compare, const ValueConstraint& wish, ConstraintSink sink) {
  constexpr double kFew = 8;
  if (compare.operand_count() != 2 || !compare.fields().Has(HloField::comparison_direction)) return;
  const ComparisonDirection direction = compare.comparison_direction();
  if (direction == ComparisonDirection::kEq) return;
  const bool is_reversed = direction == ComparisonDirection::kGt || direction == ComparisonDirection::kGe;
  const int64_t smaller = is_reversed ? 1 : 0;
  ValueConstraint bounds = WishOf(*wish.user);
  const auto send = [&](int64_t number, double min, double max) {
    Send(compare, number, WithInterval(bounds, min, max), sink);
  };
  if (IsReal(*compare.operand(0))) {
    send(smaller, 0.1, 0.5);
    return send(1 - smaller, 1, 2);
  }
  if (!IsInteger(*compare.operand(0))) return;
  const std::optional<double> low = ConstantOperand(compare, smaller);
  const std::optional<double> high = ConstantOperand(compare, 1 - smaller);
  if (high.has_value()) {
    send(smaller, *high >= 0 ? std::max(0.0, *high - kFew) : *high - kFew, *high);
  } else {
    if (!low.has_value()) send(smaller, 0, 1);
    send(1 - smaller, low.value_or(0) + kFew / 2, low.value_or(0) + kFew);
  }
}

void HandLoopPredicate(const HloInstruction& predicate, const ValueConstraint& wish, ConstraintSink sink) {
  switch (predicate.opcode()) {
    case HloOpcode::kCompare:
      return HandToLoopComparison(predicate, wish, sink);
    case HloOpcode::kAnd:
    case HloOpcode::kOr:
    case HloOpcode::kBitcast:
    case HloOpcode::kConvert:
    case HloOpcode::kCopy:
    case HloOpcode::kReshape:
      return SendToAll(predicate, wish, sink);
    default:
      return;
  }
}

}  // namespace

std::optional<double> ConstantNumber(const HloInstruction& instruction) {
  const HloInstruction& value = BehindMoves(instruction);
  if (value.opcode() != HloOpcode::kConstant || !value.shape().IsArray()) return std::nullopt;
  const SharedLiteral* literal = value.fields().Find<HloField::literal>();
  if (literal == nullptr || !*literal || literal->is_elided() || !(*literal)->IsAllFirst()) return std::nullopt;
  if (const std::optional<int64_t> integer = (*literal)->GetFirstInteger()) return static_cast<double>(*integer);
  return (*literal)->GetAsDouble(DimensionVector(value.shape().rank(), 0));
}

ValueConstraint Meet(const ValueConstraint& first, const ValueConstraint& second) {
  if (first.is_free()) return second;
  if (second.is_free()) return first;
  const bool second_wins = second.is_index && !first.is_index;
  const ValueConstraint& strong = second_wins ? second : first;
  const ValueConstraint& weak = second_wins ? first : second;
  ValueConstraint both = strong;
  const double min = std::max(strong.min, weak.min);
  const double max = std::min(strong.max, weak.max);
  if (min <= max) {
    both.min = min;
    both.max = max;
  } else if (strong.is_index == weak.is_index && strong.max < 0 && weak.max >= 0) {
    both.min = weak.min;  // of `i < 0 ? i + size : i`
    both.max = weak.max;
  }
  both.any_bits |= weak.any_bits;
  both.no_duplicates |= weak.no_duplicates;
  both.is_sorted |= weak.is_sorted;
  both.is_dominant |= weak.is_dominant;
  both.continues_loop |= weak.continues_loop;
  if (!both.value.has_value()) both.value = weak.value;
  return both;
}

bool SameWish(const ValueConstraint& a, const ValueConstraint& b) {
  return a.min == b.min && a.max == b.max && a.is_index == b.is_index && a.any_bits == b.any_bits &&
         a.no_duplicates == b.no_duplicates && a.is_sorted == b.is_sorted && a.is_dominant == b.is_dominant &&
         a.continues_loop == b.continues_loop && a.value == b.value && a.user == b.user;
}

void WantOfOperands(const HloInstruction& x, ConstraintSink sink) {
  switch (x.opcode()) {
    case HloOpcode::kRsqrt:
    case HloOpcode::kSqrt:
    case HloOpcode::kLog:
      return WantPositive(x, 0, sink);
    case HloOpcode::kLog1p:
      return Send(x, 0, Within(x, -0.5, kUnbounded), sink);
    case HloOpcode::kAcosh:
      return Send(x, 0, Within(x, 1.1, kUnbounded), sink);
    case HloOpcode::kAcos:
    case HloOpcode::kAsin:
    case HloOpcode::kAtanh:
      return Send(x, 0, Within(x, -0.9, 0.9), sink);
    case HloOpcode::kDivide:
    case HloOpcode::kRemainder:
      return WantDivisor(x, sink);
    case HloOpcode::kPower:
      return WantBase(x, sink);
    case HloOpcode::kClamp:
      return WantLimits(x, sink);
    case HloOpcode::kBatchNormInference:
      return WantPositive(x, 4, sink);
    case HloOpcode::kBatchNormGrad:
      return WantPositive(x, 3, sink);
    case HloOpcode::kDynamicSlice:
      return WantStarts(x, 1, x.shape(), sink);
    case HloOpcode::kDynamicUpdateSlice:
      if (const HloInstruction* update = Operand(x, 1)) WantStarts(x, 2, update->shape(), sink);
      return;
    case HloOpcode::kGather:
      return WantGatherIndices(x, sink);
    case HloOpcode::kScatter:
      return WantScatterIndices(x, sink);
    case HloOpcode::kSort: {
      ValueConstraint wish = WishOf(x);
      wish.no_duplicates = true;
      return SendToAll(x, wish, sink);
    }
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
      if (x.operand_count() == 2) WantNeutral(x, 1, 0, sink);
      return;
    case HloOpcode::kSelectAndScatter:
      return WantNeutral(x, 2, 1, sink);
    case HloOpcode::kCompare:
      return WantLabels(x, sink);
    case HloOpcode::kConditional:
      return Send(x, 0, Index(x, static_cast<int64_t>(x.called_computations().size()) - 1), sink);
    case HloOpcode::kDot:
      return WantDotFactors(x, sink);
    case HloOpcode::kConvolution:
      return WantConvolutionFactors(x, sink);
    case HloOpcode::kCholesky:
    case HloOpcode::kTriangularSolve:
      return WantDominant(x, sink);
    case HloOpcode::kCustomCall:
      return WantOfCustomCall(x, sink);
    case HloOpcode::kRng:
      return WantOfRandom(x, sink);
    case HloOpcode::kRngBitGenerator:
      return Send(x, 0, AnyBits(x), sink);
    case HloOpcode::kShiftLeft:
    case HloOpcode::kShiftRightArithmetic:
    case HloOpcode::kShiftRightLogical:
      return WantOfShift(x, sink);
    case HloOpcode::kXor:
    case HloOpcode::kPopulationCount:
    case HloOpcode::kClz:
      if (IsInteger(x)) SendToAll(x, AnyBits(x), sink);
      return;
    case HloOpcode::kSetDimensionSize:
      return WantSize(x, sink);
    default:
      return;
  }
}

void HandToOperands(const HloInstruction& x, const ValueConstraint& wish, ConstraintSink sink) {
  if (wish.continues_loop) return HandLoopPredicate(x, wish, sink);
  switch (x.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kReshape:
    case HloOpcode::kDynamicReshape:
    case HloOpcode::kTranspose:
    case HloOpcode::kBroadcast:
    case HloOpcode::kCopy:
    case HloOpcode::kConvert:
    case HloOpcode::kReducePrecision:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
    case HloOpcode::kSetDimensionSize:
    case HloOpcode::kOptimizationBarrier:
    case HloOpcode::kDomain:
    case HloOpcode::kAddDependency:
    case HloOpcode::kAllGather:
    case HloOpcode::kAllToAll:
    case HloOpcode::kCollectivePermute:
    case HloOpcode::kCollectiveBroadcast:
    case HloOpcode::kSort:
    case HloOpcode::kFloor:
    case HloOpcode::kCeil:
    case HloOpcode::kRoundNearestAfz:
    case HloOpcode::kRoundNearestEven:
    case HloOpcode::kComplex:
    case HloOpcode::kReal:
      return HandMoved(x, {0}, wish, sink);
    case HloOpcode::kConcatenate:
      for (int64_t i = 0; i < x.operand_count(); ++i) HandMoved(x, {i}, wish, sink);
      return;
    case HloOpcode::kPad:
    case HloOpcode::kDynamicUpdateSlice:
      return HandMoved(x, {0, 1}, wish, sink);
    case HloOpcode::kScatter:
      if (x.operand_count() == 3) HandMoved(x, {0, 2}, wish, sink);
      return;
    case HloOpcode::kSelect:
      return HandMoved(x, {1, 2}, wish, sink);
    case HloOpcode::kClamp:
      return HandMoved(x, {1}, wish, sink);
    case HloOpcode::kNegate:
      if (IsBounded(wish)) Send(x, 0, WithInterval(wish, -wish.max, -wish.min), sink);
      return;
    case HloOpcode::kAdd:
      return HandToSum(x, wish, sink);
    case HloOpcode::kSubtract:
      return HandToDifference(x, wish, sink);
    case HloOpcode::kMultiply:
      return HandToProduct(x, wish, sink);
    case HloOpcode::kDivide:
      return HandToQuotient(x, wish, sink);
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
      return HandToExtremum(x, wish, sink);
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kAllReduce:
    case HloOpcode::kReduceScatter:
      return HandToReduction(x, wish, sink);
    default:
      return;
  }
}

}  // namespace kashi::internal
