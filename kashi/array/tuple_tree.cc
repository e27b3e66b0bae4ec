#include "kashi/array/tuple_tree.h"

#include "kashi/array/shape_util.h"

namespace kashi::array {

TupleTreeForm::TupleTreeForm(std::vector<int64_t> arities) : arities_(std::move(arities)), ends_(arities_.size()) {
  struct OpenTuple {
    int64_t node;
    int64_t missing;  // children that are still to come
  };
  std::vector<OpenTuple> open;
  const auto close = [&](int64_t end) {
    while (!open.empty() && open.back().missing == 0) {
      ends_[open.back().node] = end;
      open.pop_back();
    }
  };
  KASHI_CHECK(!arities_.empty());
  first_child_.reserve(arities_.size());
  for (int64_t node = 0; node < size(); ++node) {
    KASHI_CHECK(node == 0 || !open.empty()) << "nodes after the end of the tree";
    if (!open.empty()) {
      OpenTuple& parent = open.back();
      children_[first_child_[parent.node] + arities_[parent.node] - parent.missing] = node;
      --parent.missing;
    }
    first_child_.push_back(static_cast<int64_t>(children_.size()));
    if (is_leaf(node)) {
      leaves_.push_back(node);
      ends_[node] = node + 1;
    } else {
      children_.resize(children_.size() + arities_[node]);
      open.push_back({node, arities_[node]});
    }
    close(node + 1);
  }
  KASHI_CHECK(open.empty()) << "nodes are missing";
}

std::vector<int64_t> TupleTreeForm::AritiesOf(const Shape& shape) {
  std::vector<int64_t> arities;
  ShapeUtil::ForEachSubshape(shape, [&](const Shape& subshape, const ShapeIndex&) {
    arities.push_back(subshape.IsTuple() ? subshape.tuple_shapes_size() : kLeaf);
  });
  return arities;
}

int64_t TupleTreeForm::Find(ShapeIndexView index) const {
  int64_t node = 0;
  for (int64_t i : index) {
    if (i < 0 || i >= arities_[node]) return -1;
    node = children_[first_child_[node] + i];
  }
  return node;
}

int64_t TupleTreeForm::FindOrDie(ShapeIndexView index) const {
  const int64_t node = Find(index);
  KASHI_CHECK_GE(node, 0) << "no node " << ShapeIndex(index) << " in the tree";
  return node;
}

std::vector<ShapeIndex> TupleTreeForm::Indices() const {
  std::vector<ShapeIndex> indices(size());
  for (int64_t node = 0; node < size(); ++node) {
    for (int64_t i = 0; i < arities_[node]; ++i) {
      ShapeIndex& child = indices[children_[first_child_[node] + i]];
      child.reserve(indices[node].size() + 1);
      child.assign(indices[node].begin(), indices[node].end());
      child.push_back(i);
    }
  }
  return indices;
}

std::vector<int64_t> TupleTreeForm::PostOrder() const {
  std::vector<int64_t> order, open;
  order.reserve(size());
  for (int64_t node = 0; node <= size(); ++node) {
    while (!open.empty() && (node == size() || ends_[open.back()] <= node)) {
      order.push_back(open.back());
      open.pop_back();
    }
    if (node < size()) open.push_back(node);
  }
  return order;
}

}  // namespace kashi::array
