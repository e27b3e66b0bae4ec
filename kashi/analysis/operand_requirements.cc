// The rules of HloOpcodeFlags::Requirement (kashi/hlo/ir/op_rules.def), one function each. Entry point:
// ConstrainOperands.
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

namespace kashi::analysis {
namespace {

ValueConstraint Within(const HloInstruction& user, double min, double max) {
  ValueConstraint constraint = ConstraintFrom(user);
  constraint.min = min;
  constraint.max = max;
  return constraint;
}
ValueConstraint Index(const HloInstruction& user, int64_t last) {
  ValueConstraint constraint = Within(user, 0, static_cast<double>(std::max<int64_t>(last, 0)));
  constraint.is_index = true;
  return constraint;
}
ValueConstraint AnyBits(const HloInstruction& user) {
  ValueConstraint constraint = ConstraintFrom(user);
  constraint.any_bits = true;
  return constraint;
}

// ---- Constraints of operations --------------------------------------------------------------------------------------

void ConstrainPositiveOperand(const HloInstruction& user, int64_t number, ConstraintSink sink) {
  const HloInstruction* operand = Operand(user, number);
  if (operand != nullptr && IsReal(*operand)) sink(operand, Within(user, 0, kUnbounded));
}

void ConstrainDivisor(const HloInstruction& user, ConstraintSink sink) {
  const HloInstruction* divisor = Operand(user, 1);
  if (divisor == nullptr) return;
  if (IsReal(*divisor)) sink(divisor, Within(user, 0, kUnbounded));
  if (IsInteger(*divisor)) sink(divisor, Within(user, 1, kUnbounded));
}

// The base must be positive if the exponent is not a whole number.
void ConstrainBase(const HloInstruction& power, ConstraintSink sink) {
  const std::optional<double> exponent = ConstantOperand(power, 1);
  if (exponent.has_value() && *exponent >= 0 && *exponent == std::floor(*exponent)) return;
  ConstrainPositiveOperand(power, 0, sink);
}

// The lower limit must be below the upper one.
void ConstrainLimits(const HloInstruction& clamp, ConstraintSink sink) {
  if (clamp.operand_count() != 3) return;
  const double middle = IsReal(clamp) ? -0.5 : 0;
  const std::optional<double> low = ConstantOperand(clamp, 0);
  const std::optional<double> high = ConstantOperand(clamp, 2);
  if (!low.has_value()) Send(clamp, 0, Within(clamp, -kUnbounded, high.value_or(middle)), sink);
  if (!high.has_value()) Send(clamp, 2, Within(clamp, low.value_or(middle + 1), kUnbounded), sink);
}

// The starts of a dynamic-slice or dynamic-update-slice: one scalar per dimension, or one vector in old programs.
void ConstrainStartsOf(const HloInstruction& slice, int64_t first, const Shape& window, ConstraintSink sink) {
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

// `lasts` has the largest value of each component of an index vector. If the vectors are concatenated from columns,
// each column gets its own constraint.
void ConstrainIndexVectors(const HloInstruction& user, int64_t vector_dimension, absl::Span<const int64_t> lasts,
                           ConstraintSink sink) {
  const HloInstruction* indices = Operand(user, 1);
  if (indices == nullptr || lasts.empty()) return;
  const auto index = [&](int64_t last) {
    ValueConstraint constraint = Index(user, last);
    constraint.is_sorted = user.indices_are_sorted();
    constraint.no_duplicates = user.unique_indices();
    return constraint;
  };
  const bool has_columns = indices->opcode() == HloOpcode::kConcatenate &&
                           indices->operand_count() == static_cast<int64_t>(lasts.size()) &&
                           indices->concatenate_dimension() == vector_dimension;
  if (!has_columns) return Send(user, 1, index(*absl::c_min_element(lasts)), sink);
  for (size_t i = 0; i < lasts.size(); ++i) sink(indices->operand(static_cast<int64_t>(i)), index(lasts[i]));
}

void ConstrainGatherIndices(const HloInstruction& gather, ConstraintSink sink) {
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
  ConstrainIndexVectors(gather, numbers->index_vector_dim(), lasts, sink);
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

void ConstrainScatterIndices(const HloInstruction& scatter, ConstraintSink sink) {
  const ScatterDimensionNumbers* numbers = scatter.fields().Find<HloField::scatter_dimension_numbers>();
  // With more operands, the indices have another number: several arrays come before them.
  if (numbers == nullptr || scatter.operand_count() != 3) return;
  const std::vector<int64_t> window = ScatterWindow(scatter, *numbers);
  std::vector<int64_t> lasts;
  for (const int64_t d : numbers->scatter_dims_to_operand_dims()) {
    if (d < 0 || d >= static_cast<int64_t>(window.size())) return;
    lasts.push_back(scatter.operand(0)->shape().dimensions(static_cast<int>(d)) - window[d]);
  }
  ConstrainIndexVectors(scatter, numbers->index_vector_dim(), lasts, sink);
}

// The neutral element.
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

void ConstrainNeutralOperand(const HloInstruction& user, int64_t number, size_t computation, ConstraintSink sink) {
  const std::optional<HloOpcode> combiner = Combiner(user, computation);
  if (!combiner.has_value() || !NeutralOf(*combiner).has_value()) return;
  ValueConstraint constraint = ConstraintFrom(user);
  constraint.value = NeutralOf(*combiner);
  Send(user, number, constraint, sink);
}

// If a label is compared with an iota 0, 1, 2 ..., it must be one of these numbers.
void ConstrainLabels(const HloInstruction& compare, ConstraintSink sink) {
  if (compare.operand_count() != 2) return;
  for (int64_t i = 0; i < 2; ++i) {
    const HloInstruction& numbers = BeforeMoves(*compare.operand(i));
    const int64_t dimension = numbers.fields().Get<HloField::iota_dimension>(-1);
    if (numbers.opcode() != HloOpcode::kIota || dimension < 0 || dimension >= numbers.shape().rank()) continue;
    const double last = static_cast<double>(numbers.shape().dimensions(static_cast<int>(dimension)) - 1);
    Send(compare, 1 - i, Within(compare, 0, std::max(last, 0.0)), sink);
  }
}

// Keeps the factors so small that sums of `terms` products do not grow.
void ConstrainFactors(const HloInstruction& product, double terms, ConstraintSink sink) {
  if (!(terms > 3) || product.operand_count() < 2 || !IsReal(product)) return;
  const double largest = std::sqrt(3 / terms);
  for (int64_t i = 0; i < 2; ++i) {
    if (IsReal(*product.operand(i))) sink(product.operand(i), Within(product, -largest, largest));
  }
}
void ConstrainDotFactors(const HloInstruction& dot, ConstraintSink sink) {
  const DotDimensionNumbers* numbers = dot.fields().Find<HloField::dot_dimension_numbers>();
  const HloInstruction* lhs = Operand(dot, 0);
  if (numbers == nullptr || lhs == nullptr) return;
  double terms = 1;
  for (const int64_t d : numbers->lhs_contracting_dimensions()) {
    if (d < 0 || d >= lhs->shape().rank()) return;
    terms *= static_cast<double>(lhs->shape().dimensions(static_cast<int>(d)));
  }
  ConstrainFactors(dot, terms, sink);
}
void ConstrainConvolutionFactors(const HloInstruction& convolution, ConstraintSink sink) {
  const auto* numbers = convolution.fields().Find<HloField::convolution_dimension_numbers>();
  const HloInstruction* kernel = Operand(convolution, 1);
  if (numbers == nullptr || kernel == nullptr) return;
  double terms = 1;
  for (int64_t d = 0; d < kernel->shape().rank(); ++d) {
    if (d == numbers->kernel_output_feature_dimension()) continue;
    terms *= static_cast<double>(kernel->shape().dimensions(static_cast<int>(d)));
  }
  ConstrainFactors(convolution, terms, sink);
}

// Constrains matrices that must have a Cholesky factor, and triangular systems.
void ConstrainDominant(const HloInstruction& user, ConstraintSink sink) {
  ValueConstraint constraint = ConstraintFrom(user);
  constraint.is_dominant = true;
  Send(user, 0, constraint, sink);
}
void ConstrainCustomCall(const HloInstruction& call, ConstraintSink sink) {
  const std::string* target = call.fields().Find<HloField::custom_call_target>();
  if (target == nullptr) return;
  for (const absl::string_view part : {"potrf", "trsm", "Cholesky", "TriangularSolve"}) {
    if (absl::StrContains(*target, part)) return ConstrainDominant(call, sink);
  }
}

void ConstrainShift(const HloInstruction& shift, ConstraintSink sink) {
  if (!IsInteger(shift)) return;
  Send(shift, 0, AnyBits(shift), sink);
  Send(shift, 1, Within(shift, 0, primitive_util::BitWidth(shift.shape().element_type()) - 1), sink);
}

void ConstrainRange(const HloInstruction& rng, ConstraintSink sink) {
  if (rng.fields().Get<HloField::distribution>(RNG_INVALID) == RNG_NORMAL)
    return ConstrainPositiveOperand(rng, 1, sink);
  Send(rng, 0, Within(rng, -kUnbounded, 0), sink);
  Send(rng, 1, Within(rng, 1, kUnbounded), sink);
}

void ConstrainSize(const HloInstruction& set_size, ConstraintSink sink) {
  const auto dimensions = set_size.dimensions();
  if (dimensions.size() != 1 || dimensions[0] < 0 || dimensions[0] >= set_size.shape().rank()) return;
  ValueConstraint constraint = Index(set_size, set_size.shape().dimensions(static_cast<int>(dimensions[0])));
  constraint.min = std::min(1.0, constraint.max);
  Send(set_size, 1, constraint, sink);
}

// ---- Rules of op_rules.def that fit on one line ---------------------------------------------------------------------

void ConstrainDefault(const HloInstruction&, ConstraintSink) {}

void ConstrainPositive(const HloInstruction& x, ConstraintSink sink) { ConstrainPositiveOperand(x, 0, sink); }
void ConstrainAboveMinusOne(const HloInstruction& x, ConstraintSink sink) {
  Send(x, 0, Within(x, -0.5, kUnbounded), sink);
}
void ConstrainAboveOne(const HloInstruction& x, ConstraintSink sink) { Send(x, 0, Within(x, 1.1, kUnbounded), sink); }
void ConstrainWithinOne(const HloInstruction& x, ConstraintSink sink) { Send(x, 0, Within(x, -0.9, 0.9), sink); }
void ConstrainVariance(const HloInstruction& x, ConstraintSink sink) {
  ConstrainPositiveOperand(x, x.opcode() == HloOpcode::kBatchNormGrad ? 3 : 4, sink);
}

void ConstrainStarts(const HloInstruction& x, ConstraintSink sink) {
  if (x.opcode() == HloOpcode::kDynamicSlice) return ConstrainStartsOf(x, 1, x.shape(), sink);
  if (const HloInstruction* update = Operand(x, 1)) ConstrainStartsOf(x, 2, update->shape(), sink);
}
void ConstrainBranch(const HloInstruction& x, ConstraintSink sink) {
  Send(x, 0, Index(x, static_cast<int64_t>(x.called_computations().size()) - 1), sink);
}

// The keys of a sort.
void ConstrainDistinct(const HloInstruction& x, ConstraintSink sink) {
  ValueConstraint constraint = ConstraintFrom(x);
  constraint.no_duplicates = true;
  SendToAll(x, constraint, sink);
}

void ConstrainNeutral(const HloInstruction& x, ConstraintSink sink) {
  if (x.operand_count() == 2) ConstrainNeutralOperand(x, 1, 0, sink);
}
void ConstrainScatterNeutral(const HloInstruction& x, ConstraintSink sink) { ConstrainNeutralOperand(x, 2, 1, sink); }

void ConstrainState(const HloInstruction& x, ConstraintSink sink) { Send(x, 0, AnyBits(x), sink); }
void ConstrainBits(const HloInstruction& x, ConstraintSink sink) {
  if (IsInteger(x)) SendToAll(x, AnyBits(x), sink);
}

}  // namespace

void ConstrainOperands(const HloInstruction& instruction, ConstraintSink sink) {
  static constexpr void (*kRules[])(const HloInstruction&, ConstraintSink) = {
      &ConstrainDefault,
#define KASHI_REQUIREMENT_RULE(name) &Constrain##name,
#include "kashi/hlo/ir/op_rules.def"
  };
  kRules[static_cast<size_t>(GetHloOpcodeInfo(instruction.opcode()).requirement)](instruction, sink);
}

}  // namespace kashi::analysis
