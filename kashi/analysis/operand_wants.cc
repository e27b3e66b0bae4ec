// The rules of HloOpcodeFlags::Wants (kashi/hlo/ir/op_rules.def), one function each. Entry point: WantOfOperands.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "kashi/analysis/constraint_rules.h"
#include "kashi/analysis/operand_constraints.h"
#include "kashi/array/primitive_util.h"

namespace kashi::internal {
namespace {

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

// ---- What operations want -------------------------------------------------------------------------------------------

void WantPositiveOperand(const HloInstruction& user, int64_t number, ConstraintSink sink) {
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
  WantPositiveOperand(power, 0, sink);
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
void WantStartsOf(const HloInstruction& slice, int64_t first, const Shape& window, ConstraintSink sink) {
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
  switch (GetHloOpcodeInfo(opcode).neutral) {
    case HloOpcodeFlags::Neutral::kZero:
      return 0;
    case HloOpcodeFlags::Neutral::kOne:
      return 1;
    case HloOpcodeFlags::Neutral::kLowest:
      return -kUnbounded;
    case HloOpcodeFlags::Neutral::kHighest:
      return kUnbounded;
    case HloOpcodeFlags::Neutral::kAllOnes:
    case HloOpcodeFlags::Neutral::kDefault:
      return std::nullopt;
  }
  return std::nullopt;
}

void WantNeutralOperand(const HloInstruction& user, int64_t number, size_t computation, ConstraintSink sink) {
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
void WantCustomCall(const HloInstruction& call, ConstraintSink sink) {
  const std::string* target = call.fields().Find<HloField::custom_call_target>();
  if (target == nullptr) return;
  for (const absl::string_view part : {"potrf", "trsm", "Cholesky", "TriangularSolve"}) {
    if (absl::StrContains(*target, part)) return WantDominant(call, sink);
  }
}

void WantShift(const HloInstruction& shift, ConstraintSink sink) {
  if (!IsInteger(shift)) return;
  Send(shift, 0, AnyBits(shift), sink);
  Send(shift, 1, Within(shift, 0, primitive_util::BitWidth(shift.shape().element_type()) - 1), sink);
}

void WantRange(const HloInstruction& rng, ConstraintSink sink) {
  if (rng.fields().Get<HloField::distribution>(RNG_INVALID) == RNG_NORMAL) return WantPositiveOperand(rng, 1, sink);
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

// ---- Rules of op_rules.def that need no more than a line ------------------------------------------------------------

void WantDefault(const HloInstruction&, ConstraintSink) {}

void WantPositive(const HloInstruction& x, ConstraintSink sink) { WantPositiveOperand(x, 0, sink); }
void WantAboveMinusOne(const HloInstruction& x, ConstraintSink sink) { Send(x, 0, Within(x, -0.5, kUnbounded), sink); }
void WantAboveOne(const HloInstruction& x, ConstraintSink sink) { Send(x, 0, Within(x, 1.1, kUnbounded), sink); }
void WantWithinOne(const HloInstruction& x, ConstraintSink sink) { Send(x, 0, Within(x, -0.9, 0.9), sink); }
void WantVariance(const HloInstruction& x, ConstraintSink sink) {
  WantPositiveOperand(x, x.opcode() == HloOpcode::kBatchNormGrad ? 3 : 4, sink);
}

void WantStarts(const HloInstruction& x, ConstraintSink sink) {
  if (x.opcode() == HloOpcode::kDynamicSlice) return WantStartsOf(x, 1, x.shape(), sink);
  if (const HloInstruction* update = Operand(x, 1)) WantStartsOf(x, 2, update->shape(), sink);
}
void WantBranch(const HloInstruction& x, ConstraintSink sink) {
  Send(x, 0, Index(x, static_cast<int64_t>(x.called_computations().size()) - 1), sink);
}

// Keys of a sort.
void WantDistinct(const HloInstruction& x, ConstraintSink sink) {
  ValueConstraint wish = WishOf(x);
  wish.no_duplicates = true;
  SendToAll(x, wish, sink);
}

void WantNeutral(const HloInstruction& x, ConstraintSink sink) {
  if (x.operand_count() == 2) WantNeutralOperand(x, 1, 0, sink);
}
void WantScatterNeutral(const HloInstruction& x, ConstraintSink sink) { WantNeutralOperand(x, 2, 1, sink); }

void WantState(const HloInstruction& x, ConstraintSink sink) { Send(x, 0, AnyBits(x), sink); }
void WantBits(const HloInstruction& x, ConstraintSink sink) {
  if (IsInteger(x)) SendToAll(x, AnyBits(x), sink);
}

}  // namespace

void WantOfOperands(const HloInstruction& instruction, ConstraintSink sink) {
  static constexpr void (*kRules[])(const HloInstruction&, ConstraintSink) = {
      &WantDefault,
#define KASHI_WANTS_RULE(name) &Want##name,
#include "kashi/hlo/ir/op_rules.def"
  };
  kRules[static_cast<size_t>(GetHloOpcodeInfo(instruction.opcode()).wants)](instruction, sink);
}

}  // namespace kashi::internal
