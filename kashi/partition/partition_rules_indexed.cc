// The rules of gather and scatter, and of operations on the last dimensions of a batch.
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/partition/partition_rules.h"

namespace kashi::partition {
namespace {

int64_t SizeAt(const Shape& shape, int64_t dimension) { return shape.dimensions(static_cast<int>(dimension)); }

// The dimensions that are not in either list.
template <typename A, typename B>
std::vector<int64_t> OtherDimensions(int64_t rank, const A& a, const B& b) {
  std::vector<int64_t> others;
  for (int64_t i = 0; i < rank; ++i) {
    if (!absl::c_linear_search(a, i) && !absl::c_linear_search(b, i)) others.push_back(i);
  }
  return others;
}

// Gather and scatter have one form: an array, indices, and windows (the result of a gather, the updates of a scatter).
// Window dimensions are dimensions of the array in order; the other dimensions of the windows are those of the indices
// order.
struct IndexedDimensions {
  const Shape& array;
  const Shape& indices;
  const Shape& windows;
  int64_t index_vector_dim;
  std::vector<int64_t> window_dims;            // of the windows
  std::vector<int64_t> array_window_dims;      // of the array, for each of window_dims
  std::vector<int64_t> array_batching_dims;    // of the array
  std::vector<int64_t> indices_batching_dims;  // of the indices, for each of those
};

struct IndexedFactors {
  std::vector<int> array;
  std::vector<int> indices;
  std::vector<int> windows;
};

// A window dimension that is as large as the array's passes, if windows differ from each other in other dimensions.
// Batching dimensions are common to all three. `passes_indices`: whether each index makes a window of its own, as in a
// gather; the windows of a scatter add up in one array.
IndexedFactors TieIndexed(const IndexedDimensions& dims, bool passes_indices, PartitionRule* rule) {
  IndexedFactors factors = {WholeDimensions(dims.array), WholeDimensions(dims.indices), WholeDimensions(dims.windows)};
  for (size_t k = 0; k < dims.window_dims.size() && k < dims.array_window_dims.size(); ++k) {
    const int64_t window = dims.window_dims[k];
    const int64_t array = dims.array_window_dims[k];
    if (SizeAt(dims.windows, window) != SizeAt(dims.array, array)) continue;
    factors.array[array] = factors.windows[window] = rule->Add(SizeAt(dims.array, array));
  }
  const std::vector<int64_t> of_indices =
      OtherDimensions(dims.indices.rank(), std::vector<int64_t>{dims.index_vector_dim}, std::vector<int64_t>());
  const std::vector<int64_t> of_windows =
      OtherDimensions(dims.windows.rank(), dims.window_dims, std::vector<int64_t>());
  for (size_t k = 0; k < of_indices.size() && k < of_windows.size(); ++k) {
    const auto batching = absl::c_find(dims.indices_batching_dims, of_indices[k]);
    const bool is_batching = batching != dims.indices_batching_dims.end();
    if (!is_batching && !passes_indices) continue;
    const int factor = rule->Add(SizeAt(dims.indices, of_indices[k]));
    factors.indices[of_indices[k]] = factors.windows[of_windows[k]] = factor;
    if (is_batching) factors.array[dims.array_batching_dims[batching - dims.indices_batching_dims.begin()]] = factor;
  }
  return factors;
}

template <typename List>
std::vector<int64_t> ToVector(const List& list) {
  return std::vector<int64_t>(list.begin(), list.end());
}

// The first dimensions of all arrays of a rank, but for the last `count`.
std::vector<int> LeadingFactors(const Shape& shape, int64_t leading, const std::vector<int>& factors) {
  std::vector<int> dims = WholeDimensions(shape);
  for (int64_t i = 0; i < leading && i < shape.rank(); ++i) dims[i] = factors[i];
  return dims;
}

}  // namespace

std::optional<PartitionRule> GatherRule(const HloInstruction& gather) {
  const GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  const Shape& array = gather.operand(0)->shape();
  PartitionRule rule;
  IndexedFactors factors = TieIndexed(
      {array, gather.operand(1)->shape(), gather.shape(), numbers.index_vector_dim(), ToVector(numbers.offset_dims()),
       OtherDimensions(array.rank(), numbers.collapsed_slice_dims(), numbers.operand_batching_dims()),
       ToVector(numbers.operand_batching_dims()), ToVector(numbers.start_indices_batching_dims())},
      /*passes_indices=*/true, &rule);
  rule.operands = {std::move(factors.array), std::move(factors.indices)};
  rule.results = {std::move(factors.windows)};
  return rule;
}

std::optional<PartitionRule> ScatterRule(const HloInstruction& scatter) {
  const ScatterDimensionNumbers& numbers = scatter.scatter_dimension_numbers();
  const int64_t arrays = (scatter.operand_count() - 1) / 2;
  if (arrays < 1) return std::nullopt;
  const Shape& array = scatter.operand(0)->shape();
  PartitionRule rule;
  const IndexedFactors factors =
      TieIndexed({array, scatter.operand(arrays)->shape(), scatter.operand(arrays + 1)->shape(),
                  numbers.index_vector_dim(), ToVector(numbers.update_window_dims()),
                  OtherDimensions(array.rank(), numbers.inserted_window_dims(), numbers.input_batching_dims()),
                  ToVector(numbers.input_batching_dims()), ToVector(numbers.scatter_indices_batching_dims())},
                 /*passes_indices=*/false, &rule);
  std::vector<int> of_array = factors.array;
  for (int& factor : of_array) factor = factor == kWhole ? rule.AddWhole() : factor;
  rule.operands.assign(arrays, of_array);
  rule.operands.push_back(factors.indices);
  rule.operands.resize(2 * arrays + 1, factors.windows);
  rule.results.assign(ResultsOf(scatter).size(), of_array);
  return rule;
}

// The last dimensions belong to the operation: those of the transform, of a matrix, of the sorted lines.
std::optional<PartitionRule> LeadingRule(const HloInstruction& instruction) {
  int64_t own = instruction.opcode() == HloOpcode::kCholesky ? 2 : 1;
  if (instruction.opcode() == HloOpcode::kFft) own = static_cast<int64_t>(instruction.fft_length().size());
  const Shape& input = instruction.operand(0)->shape();
  return LeadingDimensionsRule(instruction, input.rank() - own);
}

PartitionRule LeadingDimensionsRule(const HloInstruction& instruction, int64_t leading) {
  const Shape& input = instruction.operand(0)->shape();
  PartitionRule rule;
  std::vector<int> factors;
  for (int64_t i = 0; i < leading; ++i) factors.push_back(rule.Add(SizeAt(input, i)));
  for (const HloInstruction* operand : instruction.operands()) {
    rule.operands.push_back(LeadingFactors(operand->shape(), leading, factors));
  }
  for (const Shape* result : ResultsOf(instruction)) {
    rule.results.push_back(LeadingFactors(*result, leading, factors));
  }
  return rule;
}

// The transformed dimensions are whole; shardings spread through those whose size stays.
std::optional<PartitionRule> FftRule(const HloInstruction& fft) {
  std::optional<PartitionRule> rule = LeadingRule(fft);
  const Shape& input = fft.operand(0)->shape();
  for (int64_t i = input.rank() - static_cast<int64_t>(fft.fft_length().size()); i < input.rank(); ++i) {
    if (SizeAt(input, i) == SizeAt(fft.shape(), i)) rule->operands[0][i] = rule->results[0][i] = rule->AddWhole();
  }
  return rule;
}

// Each column of b (row, if the matrix is on the right) is a system by itself.
std::optional<PartitionRule> TriangularSolveRule(const HloInstruction& solve) {
  std::optional<PartitionRule> rule = LeadingRule(solve);
  const Shape& b = solve.operand(1)->shape();
  if (!rule.has_value() || b.rank() < 2) return std::nullopt;
  const int64_t leading = b.rank() - 2;
  rule->operands[0] = LeadingFactors(solve.operand(0)->shape(), leading, rule->operands[0]);
  rule->operands[1] = LeadingFactors(b, leading, rule->operands[0]);
  const int64_t free = solve.triangular_solve_options().left_side() ? b.rank() - 1 : b.rank() - 2;
  rule->operands[1][free] = rule->Add(SizeAt(b, free));
  rule->results = {rule->operands[1]};
  return rule;
}

// Features are normalised one by one.
std::optional<PartitionRule> BatchNormRule(const HloInstruction& norm) {
  PartitionRule rule;
  const Shape& input = norm.operand(0)->shape();
  const bool is_inference = norm.opcode() == HloOpcode::kBatchNormInference;
  std::vector<int> factors = WholeDimensions(input);
  for (int64_t i = 0; i < input.rank(); ++i) {
    if (is_inference || i == norm.feature_index()) factors[i] = rule.Add(SizeAt(input, i));
  }
  const std::vector<int> feature = {factors[norm.feature_index()]};
  const auto factors_of = [&](const Shape& shape) { return shape.rank() == input.rank() ? factors : feature; };
  if (input.rank() == 1) return std::nullopt;
  for (const HloInstruction* operand : norm.operands()) rule.operands.push_back(factors_of(operand->shape()));
  for (const Shape* result : ResultsOf(norm)) rule.results.push_back(factors_of(*result));
  return rule;
}

}  // namespace kashi::partition
