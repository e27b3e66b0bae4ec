// A value for every node of a shape's tuple tree. XLA's ShapeTree.
//
//   ShapeTree<bool> live(ParseShape("(f32[2], (s8[], pred[]))").value(), false);
//   *live.mutable_element({1, 0}) = true;
//   for (const auto& [index, value] : live) ...      // {} {0} {1} {1,0} {1,1}
//
// A TupleTree (tuple_tree.h, with the same costs) and the shape. A tree made from a `const Shape*` does not own the
// shape, which must outlive the tree.
#ifndef KASHI_ARRAY_SHAPE_TREE_H_
#define KASHI_ARRAY_SHAPE_TREE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/tuple_tree.h"

namespace kashi {

template <typename T>
class ShapeTree {
 public:
  using Node = typename TupleTree<T>::NodePair;
  using iterator = typename TupleTree<T>::iterator;
  using const_iterator = typename TupleTree<T>::const_iterator;
  using reverse_iterator = typename TupleTree<T>::reverse_iterator;
  using const_reverse_iterator = typename TupleTree<T>::const_reverse_iterator;
  using leaf_iterator = typename TupleTree<T>::leaf_iterator;
  using const_leaf_iterator = typename TupleTree<T>::const_leaf_iterator;
  using reverse_leaf_iterator = typename TupleTree<T>::reverse_leaf_iterator;
  using const_reverse_leaf_iterator = typename TupleTree<T>::const_reverse_leaf_iterator;

  // A tree of the empty tuple.
  ShapeTree() : ShapeTree(ShapeUtil::MakeNil()) {}
  // Values are T().
  explicit ShapeTree(Shape shape) : ShapeTree(std::make_shared<const Shape>(std::move(shape))) {}
  explicit ShapeTree(const Shape* shape) : shape_(shape), tree_(*shape) {}
  ShapeTree(Shape shape, const T& init_value)
      : ShapeTree(std::make_shared<const Shape>(std::move(shape)), init_value) {}
  ShapeTree(const Shape* shape, const T& init_value) : shape_(shape), tree_(*shape, init_value) {}

  const T& element(ShapeIndexView index) const { return tree_.element(index); }
  T* mutable_element(ShapeIndexView index) { return tree_.mutable_element(index); }
  const Shape& shape() const { return *shape_; }
  // From now on the tree has the caller's `shape`. Dies unless its tuple tree is the same.
  void replace_shape_ptr(const Shape& shape) {
    KASHI_CHECK(tree_.IsStructurallyCompatible(shape)) << shape << " vs. " << *shape_;
    shape_ = &shape;
    owned_shape_.reset();
  }
  bool IsLeaf(ShapeIndexView index) const { return tree_.IsLeaf(index); }
  int64_t leaf_count() const { return tree_.leaf_count(); }

  // All nodes in pre-order; all leaves.
  iterator begin() { return tree_.begin(); }
  iterator end() { return tree_.end(); }
  const_iterator begin() const { return tree_.begin(); }
  const_iterator end() const { return tree_.end(); }
  reverse_iterator rbegin() { return tree_.rbegin(); }
  reverse_iterator rend() { return tree_.rend(); }
  const_reverse_iterator rbegin() const { return tree_.rbegin(); }
  const_reverse_iterator rend() const { return tree_.rend(); }
  iterator find(ShapeIndexView index) { return tree_.find(index); }
  const_iterator find(ShapeIndexView index) const { return tree_.find(index); }
  array::IteratorRange<iterator> nodes() { return tree_.nodes(); }
  array::IteratorRange<const_iterator> nodes() const { return tree_.nodes(); }
  leaf_iterator leaf_begin() { return tree_.leaf_begin(); }
  leaf_iterator leaf_end() { return tree_.leaf_end(); }
  const_leaf_iterator leaf_begin() const { return tree_.leaf_begin(); }
  const_leaf_iterator leaf_end() const { return tree_.leaf_end(); }
  reverse_leaf_iterator leaf_rbegin() { return tree_.leaf_rbegin(); }
  reverse_leaf_iterator leaf_rend() { return tree_.leaf_rend(); }
  const_reverse_leaf_iterator leaf_rbegin() const { return tree_.leaf_rbegin(); }
  const_reverse_leaf_iterator leaf_rend() const { return tree_.leaf_rend(); }
  array::IteratorRange<leaf_iterator> leaves() { return tree_.leaves(); }
  array::IteratorRange<const_leaf_iterator> leaves() const { return tree_.leaves(); }

  // Loops in pre-order or post-order; a WithStatus form stops at the first error and returns it.
  void ForEachElement(absl::FunctionRef<void(const ShapeIndex&, const T&)> fn) const { tree_.ForEachElement(fn); }
  void ForEachMutableElement(absl::FunctionRef<void(const ShapeIndex&, T*)> fn) { tree_.ForEachMutableElement(fn); }
  absl::Status ForEachElementWithStatus(absl::FunctionRef<absl::Status(const ShapeIndex&, const T&)> fn) const {
    return tree_.ForEachElementWithStatus(fn);
  }
  absl::Status ForEachMutableElementWithStatus(absl::FunctionRef<absl::Status(const ShapeIndex&, T*)> fn) {
    return tree_.ForEachMutableElementWithStatus(fn);
  }
  void ForEachElementPostOrder(absl::FunctionRef<void(const ShapeIndex&, const T&)> fn) const {
    tree_.ForEachElementPostOrder(fn);
  }
  void ForEachMutableElementPostOrder(absl::FunctionRef<void(const ShapeIndex&, T*)> fn) {
    tree_.ForEachMutableElementPostOrder(fn);
  }
  absl::Status ForEachElementPostOrderWithStatus(
      absl::FunctionRef<absl::Status(const ShapeIndex&, const T&)> fn) const {
    return tree_.ForEachElementPostOrderWithStatus(fn);
  }
  absl::Status ForEachMutableElementPostOrderWithStatus(absl::FunctionRef<absl::Status(const ShapeIndex&, T*)> fn) {
    return tree_.ForEachMutableElementPostOrderWithStatus(fn);
  }

  // Returns a tree of the same shape with fn(value) at each node. A borrowed shape stays borrowed.
  template <typename U>
  ShapeTree<U> Map(absl::FunctionRef<U(const T&)> fn) const {
    return ShapeTree<U>(shape_, owned_shape_, tree_.template Map<U>(fn));
  }
  template <typename U>
  absl::StatusOr<ShapeTree<U>> MapWithStatus(absl::FunctionRef<absl::StatusOr<U>(const T&)> fn) const {
    KASHI_ASSIGN_OR_RETURN(TupleTree<U> tree, tree_.template MapWithStatus<U>(fn));
    return ShapeTree<U>(shape_, owned_shape_, std::move(tree));
  }

  // Dies unless the subshapes are Compatible.
  void CopySubtreeFrom(const ShapeTree& other, const ShapeIndex& source_index, const ShapeIndex& target_index) {
    KASHI_CHECK(ShapeUtil::Compatible(ShapeUtil::GetSubshape(shape(), target_index),
                                      ShapeUtil::GetSubshape(other.shape(), source_index)));
    KASHI_CHECK_OK(tree_.CopyCompatibleSubtreeFrom(other.tree_, source_index, target_index));
  }
  // The subtree at `index`, with a copy of its shape. INVALID_ARGUMENT: no such subshape.
  absl::StatusOr<ShapeTree> SubShapeTree(const ShapeIndex& index) const {
    KASHI_ASSIGN_OR_RETURN(const Shape* subshape, ShapeUtil::TryGetSubshape(shape(), index));
    KASHI_ASSIGN_OR_RETURN(TupleTree<T> tree, tree_.Subtree(index));
    auto owned = std::make_shared<const Shape>(*subshape);
    return ShapeTree(owned.get(), owned, std::move(tree));
  }

  // Indices and values; the shapes may differ otherwise.
  bool operator==(const ShapeTree& other) const { return tree_ == other.tree_; }
  bool operator!=(const ShapeTree& other) const { return !(*this == other); }

 private:
  template <typename U>
  friend class ShapeTree;

  template <typename... Args>
  explicit ShapeTree(std::shared_ptr<const Shape> shape, const Args&... args)
      : shape_(shape.get()), owned_shape_(shape), tree_(*shape, args...) {}
  ShapeTree(const Shape* shape, std::shared_ptr<const Shape> owned_shape, TupleTree<T> tree)
      : shape_(shape), owned_shape_(std::move(owned_shape)), tree_(std::move(tree)) {}

  const Shape* shape_;
  std::shared_ptr<const Shape> owned_shape_;  // null: the caller's
  TupleTree<T> tree_;
};

}  // namespace kashi

#endif  // KASHI_ARRAY_SHAPE_TREE_H_
