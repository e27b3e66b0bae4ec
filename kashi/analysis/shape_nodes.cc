#include "kashi/analysis/shape_nodes.h"

#include <utility>

#include "kashi/array/device_size.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi::analysis {
namespace {

constexpr size_t kMaxNodes = size_t{1} << 24;
constexpr int32_t kMaxDepth = 1000;  // each node has a name that is as long as it is deep

DeviceSize SizeOf(const Shape& leaf, const MemoryTarget& target) {
  if (leaf.IsArray() && !leaf.has_layout()) {
    Shape dense = leaf;
    LayoutUtil::SetToDefaultLayout(&dense);
    return GetDeviceSize(dense, target.size_options()).value_or(DeviceSize());
  }
  return GetDeviceSize(leaf, target.size_options()).value_or(DeviceSize());
}

// The previous leaf, reused for equal leaves: measuring takes longer than comparing, and tuples often have equal leaves
// in a row.
ShapeNode SameLeaf(const Shape& shape, const ShapeNode& other) {
  ShapeNode node;
  node.shape = &shape;
  node.memory_space = other.memory_space;
  node.bytes = other.bytes;
  node.unpadded_bytes = other.unpadded_bytes;
  return node;
}

ShapeNode NodeOf(const Shape& shape, const MemoryTarget& target, const ShapeNode* before) {
  if (before != nullptr && !shape.IsTuple() && *before->shape == shape) return SameLeaf(shape, *before);
  ShapeNode node;
  node.shape = &shape;
  node.is_tuple = shape.IsTuple();
  if (node.is_tuple) {
    node.bytes = node.unpadded_bytes = target.TableBytes(shape.tuple_shapes_size());
    return node;
  }
  const DeviceSize size = SizeOf(shape, target);
  node.bytes = size.bytes;
  node.unpadded_bytes = size.unpadded_bytes;
  if (shape.IsArray() && shape.has_layout()) node.memory_space = shape.layout().memory_space();
  return node;
}

}  // namespace

absl::StatusOr<ShapeNodes> ShapeNodes::Make(const Shape& shape, const MemoryTarget& target) {
  struct Pending {
    const Shape* shape;
    int32_t parent;
    int32_t number;
    int32_t depth;
  };
  ShapeNodes result;
  std::vector<ShapeNode>& nodes = result.nodes_;
  std::vector<Pending> rest = {{&shape, -1, 0, 0}};
  while (!rest.empty()) {
    const Pending next = rest.back();
    rest.pop_back();
    const auto place = static_cast<int32_t>(nodes.size());
    nodes.push_back(NodeOf(*next.shape, target, nodes.empty() ? nullptr : &nodes.back()));
    nodes.back().parent = next.parent;
    nodes.back().number = next.number;
    const std::optional<int64_t> total = CheckedAdd(result.total_bytes_, nodes.back().bytes);
    if (!total) return ResourceExhausted("a tuple takes more than 2^63 bytes");
    result.total_bytes_ = *total;
    result.first_elements_.push_back(static_cast<int32_t>(result.elements_.size()));
    if (next.parent >= 0) result.elements_[result.first_elements_[next.parent] + next.number] = place;
    if (!next.shape->IsTuple()) continue;
    if (next.depth == kMaxDepth) return ResourceExhausted("tuples are nested more than %d deep", kMaxDepth);
    const int count = next.shape->tuple_shapes_size();
    if (nodes.size() + rest.size() + count > kMaxNodes) {
      return ResourceExhausted("a tuple has more than %d elements", kMaxNodes);
    }
    result.elements_.resize(result.elements_.size() + count);
    for (int32_t i = count; i-- > 0;) rest.push_back({&next.shape->tuple_shapes(i), place, i, next.depth + 1});
  }
  for (int32_t i = result.size(); i-- > 1;) nodes[nodes[i].parent].subtree_size += nodes[i].subtree_size;
  return result;
}

std::optional<int32_t> ShapeNodes::Element(int32_t node, int64_t number) const {
  const ShapeNode& tuple = nodes_[node];
  if (!tuple.is_tuple || number < 0 || number >= tuple.shape->tuple_shapes_size()) return std::nullopt;
  return elements_[first_elements_[node] + number];
}

std::optional<int32_t> ShapeNodes::Find(ShapeIndexView index) const {
  std::optional<int32_t> node = 0;
  for (int64_t number : index) {
    node = Element(*node, number);
    if (!node) return std::nullopt;
  }
  return node;
}

ShapeIndex ShapeNodes::IndexOf(int32_t node) const {
  std::vector<int64_t> numbers;  // innermost first
  for (; nodes_[node].parent >= 0; node = nodes_[node].parent) numbers.push_back(nodes_[node].number);
  return ShapeIndex(numbers.rbegin(), numbers.rend());
}

absl::StatusOr<const ShapeNodes*> ShapeNodesCache::Get(const Shape& shape) {
  std::unique_ptr<const ShapeNodes>& nodes = nodes_[&shape];
  if (nodes == nullptr) {
    const Shape* measured = &shape;
    if (chooses_layouts_) {
      auto copy = std::make_shared<Shape>(shape);
      SetTpuLayouts(*target_.tpu, copy.get()).IgnoreError();  // an array without a valid layout has no known size
      measured = copy.get();
      copies_.push_back(std::move(copy));
    }
    KASHI_ASSIGN_OR_RETURN(ShapeNodes made, ShapeNodes::Make(*measured, target_));
    nodes = std::make_unique<const ShapeNodes>(std::move(made));
  }
  return nodes.get();
}

}  // namespace kashi::analysis
