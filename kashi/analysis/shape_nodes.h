// The nodes of a shape's tuple tree as a flat list, with their sizes on the device.
//
//   (f32[2], (s8[], pred[]))     0 (…)   1 f32[2]   2 (…)   3 s8[]   4 pred[]
//
// A node is the table of pointers of a tuple, or an array, a token or an opaque value. The nodes of a subtree are
// consecutive, so aliasing two values of the same shape means aliasing two ranges.
#ifndef KASHI_ANALYSIS_SHAPE_NODES_H_
#define KASHI_ANALYSIS_SHAPE_NODES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/analysis/memory_target.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"

namespace kashi::analysis {

struct ShapeNode {
  const Shape* shape = nullptr;
  int32_t subtree_size = 1;  // nodes, itself included
  int32_t parent = -1;       // in the list
  int32_t number = 0;        // among the elements of the parent
  bool is_tuple = false;
  int64_t memory_space = 0;
  int64_t bytes = 0;  // on the device; of a tuple its table
  int64_t unpadded_bytes = 0;
};

class ShapeNodes {
 public:
  // RESOURCE_EXHAUSTED for more than 2^24 nodes, tuples nested more than 1000 deep, or 2^63 - 1 bytes. A node of
  // unknown size takes nothing: an unbounded dimension, an invalid layout of a module that was not verified. Without a
  // layout the default one counts.
  static absl::StatusOr<ShapeNodes> Make(const Shape& shape, const MemoryTarget& target);

  // In pre-order: the root first.
  absl::Span<const ShapeNode> nodes() const { return nodes_; }
  int32_t size() const { return static_cast<int32_t>(nodes_.size()); }
  // The node of a tuple element; nullopt unless the node is a tuple with this element. O(1).
  std::optional<int32_t> Element(int32_t node, int64_t number) const;
  // The node at the end of a path of elements; nullopt if there is none.
  std::optional<int32_t> Find(ShapeIndexView index) const;
  ShapeIndex IndexOf(int32_t node) const;
  // The bytes of all nodes.
  int64_t total_bytes() const { return total_bytes_; }

 private:
  int64_t total_bytes_ = 0;
  std::vector<ShapeNode> nodes_;
  std::vector<int32_t> elements_;        // the elements of each tuple, one tuple after the other
  std::vector<int32_t> first_elements_;  // by node: where its own begin in elements_
};

// ShapeNodes of the shapes of a module, made once for each shape object: instructions share them.
class ShapeNodesCache {
 public:
  // With `chooses_layouts` the nodes are those of a copy of the shape, whose arrays without tiles have the layouts that
  // the target chooses. Pre: then the target is a TPU.
  explicit ShapeNodesCache(const MemoryTarget& target, bool chooses_layouts = false)
      : target_(target), chooses_layouts_(chooses_layouts) {}
  // The shape must outlive the cache. The result is valid as long as the cache.
  absl::StatusOr<const ShapeNodes*> Get(const Shape& shape);
  bool chooses_layouts() const { return chooses_layouts_; }
  // The copies, to which nodes point.
  const std::vector<std::shared_ptr<const Shape>>& copies() const { return copies_; }

 private:
  MemoryTarget target_;
  bool chooses_layouts_;
  std::vector<std::shared_ptr<const Shape>> copies_;
  absl::flat_hash_map<const Shape*, std::unique_ptr<const ShapeNodes>> nodes_;
};

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_SHAPE_NODES_H_
