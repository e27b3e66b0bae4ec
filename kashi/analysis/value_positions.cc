#include "kashi/analysis/value_positions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/hlo/text/hlo_place.h"

namespace kashi {

using analysis::ShapeNodes;
using analysis::ShapeNodesCache;
namespace {

constexpr int64_t kMaxPositions = int64_t{1} << 24;

}  // namespace

absl::Status AddToTotalBytes(int64_t bytes, int64_t* total) {
  constexpr int64_t kMaxTotalBytes = int64_t{1} << 60;
  if (bytes > kMaxTotalBytes - *total) return ResourceExhausted("the values of the module take more than 2^60 bytes");
  *total += bytes;
  return absl::OkStatus();
}

std::optional<PositionRange> PositionRange::Element(int64_t number) const {
  const std::optional<int32_t> element = nodes->Element(node, number);
  if (!element) return std::nullopt;
  return PositionRange{first + (*element - node), *element, nodes};
}

std::optional<PositionRange> PositionRange::Find(ShapeIndexView index) const {
  std::optional<PositionRange> range = *this;
  for (int64_t number : index) {
    range = range->Element(number);
    if (!range) return std::nullopt;
  }
  return range;
}

absl::StatusOr<ValuePositions> ValuePositions::Build(const CallGraph& graph, ShapeNodesCache* shapes) {
  ValuePositions result;
  int64_t size = 0;
  for (const CallGraph::Node& node : graph.nodes()) {
    if (!node.has_buffers) continue;
    const auto base = static_cast<int64_t>(result.entry_indices_.size());
    result.computation_bases_.emplace(node.computation, base);
    for (const HloInstruction* instruction : node.computation->instructions()) {
      const absl::StatusOr<const ShapeNodes*> found = shapes->Get(instruction->shape());
      if (!found.ok()) return AtInstruction(found.status(), *instruction);
      const ShapeNodes* const nodes = *found;
      KASHI_RETURN_IF_ERROR(AtInstruction(AddToTotalBytes(nodes->total_bytes(), &result.total_bytes_), *instruction));
      result.entry_indices_.resize(base + instruction->local_id() + 1, -1);
      result.entry_indices_.back() = static_cast<int32_t>(result.entries_.size());
      result.entries_.push_back({instruction, nodes, static_cast<int32_t>(size)});
      size += nodes->size();
      if (size > kMaxPositions) return ResourceExhausted("the module has more than %d values", kMaxPositions);
    }
  }
  result.size_ = static_cast<int32_t>(size);
  return result;
}

int32_t ValuePositions::EntryIndexOf(const HloInstruction* instruction) const {
  return entry_indices_[computation_bases_.at(instruction->parent()) + instruction->local_id()];
}

PositionRange ValuePositions::RangeOf(const HloInstruction* instruction) const {
  const Entry& entry = EntryOf(instruction);
  return {entry.first, 0, entry.nodes};
}

const ValuePositions::Entry& ValuePositions::EntryAt(int32_t position) const {
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), position,
                                      [](int32_t wanted, const Entry& entry) { return wanted < entry.first; });
  return *(after - 1);
}

std::string ValuePositions::NameOf(const Entry& entry, int32_t node) const {
  const bool is_array = node == 0 && !entry.nodes->nodes()[0].is_tuple;
  return absl::StrCat(entry.instruction->name(), is_array ? "" : entry.nodes->IndexOf(node).ToString());
}

}  // namespace kashi
