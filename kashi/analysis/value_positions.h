// Numbers for the positions of values: a position is a node of the shape of an instruction, in a computation that has
// buffers (call_graph.h). Facts per position are then vectors.
//
//   p = (f32[2], s32[]) parameter(0)        4 p{}   5 p{0}   6 p{1}
//   g = f32[2] get-tuple-element(p) …       7 g
#ifndef KASHI_ANALYSIS_VALUE_POSITIONS_H_
#define KASHI_ANALYSIS_VALUE_POSITIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/shape_nodes.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

// The positions of a value or of a part of it: first, first + 1, …, one for each node in the subtree of `node`.
struct PositionRange {
  int32_t first = 0;
  int32_t node = 0;
  const analysis::ShapeNodes* nodes = nullptr;

  int32_t size() const { return nodes->nodes()[node].subtree_size; }
  // nullopt unless this is a tuple with this element.
  std::optional<PositionRange> Element(int64_t number) const;
  std::optional<PositionRange> Find(ShapeIndexView index) const;
};

// Adds the bytes of a value to those of a module. RESOURCE_EXHAUSTED beyond 2^60: so there is no overflow in sums over
// the module's values that count each of them a few times. Pre: bytes >= 0, 0 <= total <= 2^60.
absl::Status AddToTotalBytes(int64_t bytes, int64_t* total);

class ValuePositions {
 public:
  struct Entry {
    const HloInstruction* instruction = nullptr;
    const analysis::ShapeNodes* nodes = nullptr;
    int32_t first = 0;  // of its positions
  };

  // RESOURCE_EXHAUSTED for more than 2^24 positions or 2^60 bytes in all. The module, the graph and the cache must
  // outlive this.
  static absl::StatusOr<ValuePositions> Build(const CallGraph& graph, analysis::ShapeNodesCache* shapes);

  // Sorted by computation, callees first, then in the order of their instructions.
  absl::Span<const Entry> entries() const { return entries_; }
  int32_t size() const { return size_; }
  int64_t total_bytes() const { return total_bytes_; }  // of all positions
  // Dies for an instruction of a computation without buffers.
  int32_t EntryIndexOf(const HloInstruction* instruction) const;
  const Entry& EntryOf(const HloInstruction* instruction) const { return entries_[EntryIndexOf(instruction)]; }
  PositionRange RangeOf(const HloInstruction* instruction) const;
  // The entry that the position belongs to. O(log entries).
  const Entry& EntryAt(int32_t position) const;
  // "name" of an array, "name{1,0}" or "name{}" of a node of a tuple's tree.
  std::string NameOf(const Entry& entry, int32_t node) const;

 private:
  int32_t size_ = 0;
  int64_t total_bytes_ = 0;
  std::vector<Entry> entries_;
  std::vector<int32_t> entry_indices_;                                     // by computation's base + local id
  absl::flat_hash_map<const HloComputation*, int64_t> computation_bases_;  // in entry_indices_
};

}  // namespace kashi

#endif  // KASHI_ANALYSIS_VALUE_POSITIONS_H_
