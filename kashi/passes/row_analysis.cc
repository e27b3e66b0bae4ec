#include "kashi/passes/row_analysis.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/passes/combiner.h"

namespace kashi::passes {
namespace {

// Shorter rows are hardly worth vectors; longer ones do not stay in L2; threads share the rows.
constexpr int64_t kLeastColumns = 16, kMostColumns = 65536, kLeastRows = 16;

bool IsReduceOfRows(const HloInstruction& reduce, absl::Span<const int64_t> sizes) {
  return IsRowReduce(reduce) && reduce.operand(0)->shape().dimensions() == sizes;
}

// Whether the coordinate is within `size` for each index of a dimension of `count`. Outside, a padding or another
// operand of a concatenation is meant.
bool IsWithin(const Affine& affine, int64_t count, int64_t size) {
  const std::optional<int64_t> way = CheckedMultiply(affine.step, count - 1);
  const std::optional<int64_t> last = way.has_value() ? CheckedAdd(affine.offset, *way) : std::nullopt;
  return last.has_value() && std::min(affine.offset, *last) >= 0 && std::max(affine.offset, *last) < size;
}

// The coordinates as functions of those of the row, if they are the same in all columns, and within the instruction in
// all rows. A dimension of one index may be asked for by column, as by a concatenation; that index is 0.
std::optional<IndexMapping> MappingOfRow(const HloInstruction& instruction, IndexMapping mapping,
                                         absl::Span<const int64_t> sizes) {
  const int64_t column_dimension = static_cast<int64_t>(sizes.size()) - 1;
  for (size_t i = 0; i < mapping.size(); ++i) {
    const int64_t size = instruction.shape().dimensions(i), dimension = mapping[i].dimension;
    if (dimension < 0 || dimension == column_dimension) {
      if (size != 1) return std::nullopt;
      mapping[i] = Affine();
    } else if (!IsWithin(mapping[i], sizes[dimension], size)) {
      return std::nullopt;
    }
  }
  return mapping;
}

bool IsAtResult(const HloInstruction& instruction, const IndexMapping& mapping, absl::Span<const int64_t> sizes) {
  if (instruction.shape().dimensions() != sizes) return false;
  for (size_t i = 0; i < mapping.size(); ++i) {
    if (sizes[i] != 1 && mapping[i] != Affine{static_cast<int64_t>(i)}) return false;
  }
  return true;
}

// Row i of the result, not another one.
bool IsAtRow(const IndexMapping& mapping, absl::Span<const int64_t> row_sizes) {
  for (size_t i = 0; i < mapping.size(); ++i) {
    if (row_sizes[i] != 1 && mapping[i] != Affine{static_cast<int64_t>(i)}) return false;
  }
  return true;
}

}  // namespace

bool IsRowReduce(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kReduce || instruction.operand_count() != 2) return false;
  const int64_t rank = instruction.operand(0)->shape().dimensions_size();
  return instruction.dimensions().size() == 1 && instruction.dimensions(0) == rank - 1 &&
         hlo::ReorderableCombiner(*instruction.to_apply()).has_value();
}

std::optional<absl::Span<const int64_t>> RowSizesOf(const HloInstruction& root) {
  if (root.opcode() == HloOpcode::kReduce && !IsRowReduce(root)) return std::nullopt;
  if (root.opcode() == HloOpcode::kScatter || !root.shape().IsArray()) return std::nullopt;
  const Shape& shape = root.opcode() == HloOpcode::kReduce ? root.operand(0)->shape() : root.shape();
  const absl::Span<const int64_t> sizes = shape.dimensions();
  if (sizes.size() < 2 || sizes.back() < kLeastColumns || sizes.back() > kMostColumns) return std::nullopt;
  if (ShapeUtil::ElementsIn(shape) / sizes.back() < kLeastRows) return std::nullopt;
  return sizes;
}

RowAnalysis AnalyzeRows(const HloInstruction& root, absl::FunctionRef<bool(const HloInstruction&)> is_member) {
  RowAnalysis analysis;
  const absl::Span<const int64_t> sizes = *RowSizesOf(root);
  // The index with which a member is read; nothing: with several. A scalar has the empty index.
  absl::flat_hash_map<const HloInstruction*, std::optional<IndexMapping>> mappings;
  const auto visit = [&](const HloInstruction& instruction, const IndexMapping& mapping) {
    if (&instruction == &root) return;
    const auto [known, is_new] = mappings.emplace(&instruction, mapping);
    if (!is_new && known->second != mapping) known->second.reset();
  };
  const size_t root_rank = root.shape().dimensions().size();
  analysis.is_valid = VisitMappings({&root}, IdentityMapping(root_rank), is_member, visit);
  if (!analysis.is_valid) return analysis;  // of mappings that were not seen, nothing is known
  for (const auto& [instruction, mapping] : mappings) {
    if (instruction->opcode() == HloOpcode::kReduce) {
      analysis.is_valid = analysis.is_valid && mapping.has_value() && IsReduceOfRows(*instruction, sizes) &&
                          IsAtRow(*mapping, sizes.first(sizes.size() - 1));
    }
    if (!mapping.has_value() || mapping->empty()) continue;
    if (const auto of_row = MappingOfRow(*instruction, *mapping, sizes)) analysis.once_per_row[instruction] = *of_row;
    if (IsAtResult(*instruction, *mapping, sizes)) analysis.at_result.insert(instruction);
  }
  return analysis;
}

bool IsForRowKernel(const HloComputation& fused, const CodeSupport& support) {
  const HloInstruction& root = *fused.root_instruction();
  if (!RowSizesOf(root).has_value()) return false;
  const auto is_inner_reduce = [&](const HloInstruction* x) { return x != &root && x->opcode() == HloOpcode::kReduce; };
  if (absl::c_any_of(fused.instructions(), is_inner_reduce)) return true;
  const RowAnalysis analysis = AnalyzeRows(root, [](const HloInstruction&) { return true; });
  return analysis.is_valid &&
         absl::c_any_of(analysis.once_per_row, [&](const auto& entry) { return support.IsExpensive(*entry.first); });
}

}  // namespace kashi::passes
