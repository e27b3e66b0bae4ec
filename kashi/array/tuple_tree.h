// A tree of values for nested tuples: one value per node, also for tuple nodes. XLA's TupleTree.
//
//   TupleTree<int>::Node leaf = TupleTree<int>::Node::Leaf(7);
//   TupleTree<int> tree({TupleTree<int>::Node::Leaf(1), TupleTree<int>::Node::Tuple({leaf, leaf})});   // (1, (7, 7))
//   *tree.mutable_element({1, 0}) = 8;
//   for (auto& [index, value] : tree.leaves()) ...     // {0} 1, {1,0} 8, {1,1} 7
//
// The nodes are one vector in pre-order. Finding a node by its index takes one step per level; an invalid index dies.
// An empty tuple is not a leaf. Only Node recurses, as deep as it is nested in the program.
#ifndef KASHI_ARRAY_TUPLE_TREE_H_
#define KASHI_ARRAY_TUPLE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"

namespace kashi {
namespace array {

// The form of a tree: the places of each node's children in pre-order. Trees of the same form share one object.
class TupleTreeForm {
 public:
  static constexpr int64_t kLeaf = -1;

  // The number of children of every node in pre-order; kLeaf for a non-tuple. Dies if the numbers do not form a tree.
  explicit TupleTreeForm(std::vector<int64_t> arities);
  static std::vector<int64_t> AritiesOf(const Shape& shape);

  int64_t size() const { return static_cast<int64_t>(arities_.size()); }
  bool is_leaf(int64_t node) const { return arities_[node] == kLeaf; }
  const std::vector<int64_t>& arities() const { return arities_; }
  // Nodes [node, end(node)) are the subtree.
  int64_t end(int64_t node) const { return ends_[node]; }
  const std::vector<int64_t>& leaves() const { return leaves_; }

  // -1 if there is none.
  int64_t Find(ShapeIndexView index) const;
  int64_t FindOrDie(ShapeIndexView index) const;
  // The index of every node, in pre-order.
  std::vector<ShapeIndex> Indices() const;
  // All nodes, children before their tuple.
  std::vector<int64_t> PostOrder() const;

 private:
  std::vector<int64_t> arities_;
  std::vector<int64_t> ends_;
  std::vector<int64_t> first_child_;  // where a tuple's part of children_ begins
  std::vector<int64_t> children_;
  std::vector<int64_t> leaves_;
};

// [begin, end) for range-for loops.
template <typename Iterator>
class IteratorRange {
 public:
  IteratorRange(Iterator begin, Iterator end) : begin_(begin), end_(end) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }

 private:
  Iterator begin_;
  Iterator end_;
};

// Selects the constructor of a tree whose nodes are added later.
struct FormOnly {};

// Steps through some of the nodes: those whose numbers are in a list.
template <typename Value>
class LeafIterator {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = std::remove_const_t<Value>;
  using difference_type = ptrdiff_t;
  using pointer = Value*;
  using reference = Value&;

  LeafIterator() = default;
  LeafIterator(Value* nodes, const int64_t* position) : nodes_(nodes), position_(position) {}
  reference operator*() const { return nodes_[*position_]; }
  pointer operator->() const { return &nodes_[*position_]; }
  LeafIterator& operator++() {
    ++position_;
    return *this;
  }
  LeafIterator operator++(int) {
    LeafIterator before = *this;
    ++position_;
    return before;
  }
  LeafIterator& operator--() {
    --position_;
    return *this;
  }
  LeafIterator operator--(int) {
    LeafIterator before = *this;
    --position_;
    return before;
  }
  bool operator==(const LeafIterator& other) const { return position_ == other.position_; }
  bool operator!=(const LeafIterator& other) const { return position_ != other.position_; }

 private:
  Value* nodes_ = nullptr;
  const int64_t* position_ = nullptr;
};

}  // namespace array

template <typename T>
class TupleTree {
 public:
  using NodePair = std::pair<ShapeIndex, T>;
  using Nodes = std::vector<NodePair>;
  using iterator = typename Nodes::iterator;
  using const_iterator = typename Nodes::const_iterator;
  using reverse_iterator = typename Nodes::reverse_iterator;
  using const_reverse_iterator = typename Nodes::const_reverse_iterator;
  using leaf_iterator = array::LeafIterator<NodePair>;
  using const_leaf_iterator = array::LeafIterator<const NodePair>;
  using reverse_leaf_iterator = std::reverse_iterator<leaf_iterator>;
  using const_reverse_leaf_iterator = std::reverse_iterator<const_leaf_iterator>;

  // The input form of a tree: a value, or a tuple of nodes (with an optional value of its own).
  class Node {
   public:
    Node() : Node(T{}) {}
    Node(T value) : value_(std::move(value)) {}  // NOLINT: {1, 2} is a list of leaves
    static Node Leaf(T value) { return Node(std::move(value)); }
    static Node Tuple() { return Tuple(std::vector<Node>()); }
    static Node Tuple(std::vector<Node> children) { return Tuple(T{}, std::move(children)); }
    static Node Tuple(std::initializer_list<Node> children) { return Tuple(std::vector<Node>(children)); }
    static Node Tuple(T value, std::vector<Node> children) {
      Node node(std::move(value));
      node.children_ = std::move(children);
      return node;
    }

    bool IsLeaf() const { return !children_.has_value(); }
    const T& value() const { return value_; }
    T& value() { return value_; }
    const std::vector<Node>& children() const { return *children_; }  // of a tuple
    std::vector<Node>& children() { return *children_; }

   private:
    T value_;
    std::optional<std::vector<Node>> children_;
  };

  // A tree of one leaf.
  TupleTree() : TupleTree(T{}) {}
  explicit TupleTree(T leaf) : TupleTree(Node(std::move(leaf))) {}
  // A tuple of leaves, or of nodes.
  TupleTree(std::initializer_list<T> leaves)
      : TupleTree(Node::Tuple(std::vector<Node>(leaves.begin(), leaves.end()))) {}
  TupleTree(std::initializer_list<Node> children) : TupleTree(Node::Tuple(std::vector<Node>(children))) {}
  explicit TupleTree(Node&& root) {
    std::vector<int64_t> arities;
    std::vector<T> values;
    Flatten(std::move(root), &arities, &values);
    form_ = std::make_shared<array::TupleTreeForm>(std::move(arities));
    nodes_.reserve(values.size());
    std::vector<ShapeIndex> indices = form_->Indices();
    for (size_t i = 0; i < values.size(); ++i) nodes_.emplace_back(std::move(indices[i]), std::move(values[i]));
  }
  // The tree of a shape; every value is made of `args`.
  template <typename... Args>
  explicit TupleTree(const Shape& shape, const Args&... args)
      : TupleTree(std::make_shared<array::TupleTreeForm>(array::TupleTreeForm::AritiesOf(shape)), args...) {}

  const T& element(ShapeIndexView index) const { return nodes_[form_->FindOrDie(index)].second; }
  T* mutable_element(ShapeIndexView index) { return &nodes_[form_->FindOrDie(index)].second; }

  bool IsLeaf(ShapeIndexView index) const { return form_->is_leaf(form_->FindOrDie(index)); }
  bool IsTuple() const { return !form_->is_leaf(0); }
  int64_t leaf_count() const { return static_cast<int64_t>(form_->leaves().size()); }
  bool IsStructurallyCompatible(const Shape& shape) const {
    return form_->arities() == array::TupleTreeForm::AritiesOf(shape);
  }

  // All nodes in pre-order, as pairs of index and value. The index must not be changed.
  iterator begin() { return nodes_.begin(); }
  iterator end() { return nodes_.end(); }
  const_iterator begin() const { return nodes_.begin(); }
  const_iterator end() const { return nodes_.end(); }
  reverse_iterator rbegin() { return nodes_.rbegin(); }
  reverse_iterator rend() { return nodes_.rend(); }
  const_reverse_iterator rbegin() const { return nodes_.rbegin(); }
  const_reverse_iterator rend() const { return nodes_.rend(); }
  array::IteratorRange<iterator> nodes() { return {begin(), end()}; }
  array::IteratorRange<const_iterator> nodes() const { return {begin(), end()}; }
  // The node at an index; dies if there is none.
  iterator find(ShapeIndexView index) { return begin() + form_->FindOrDie(index); }
  const_iterator find(ShapeIndexView index) const { return begin() + form_->FindOrDie(index); }

  leaf_iterator leaf_begin() { return {nodes_.data(), form_->leaves().data()}; }
  leaf_iterator leaf_end() { return {nodes_.data(), form_->leaves().data() + leaf_count()}; }
  const_leaf_iterator leaf_begin() const { return {nodes_.data(), form_->leaves().data()}; }
  const_leaf_iterator leaf_end() const { return {nodes_.data(), form_->leaves().data() + leaf_count()}; }
  reverse_leaf_iterator leaf_rbegin() { return reverse_leaf_iterator(leaf_end()); }
  reverse_leaf_iterator leaf_rend() { return reverse_leaf_iterator(leaf_begin()); }
  const_reverse_leaf_iterator leaf_rbegin() const { return const_reverse_leaf_iterator(leaf_end()); }
  const_reverse_leaf_iterator leaf_rend() const { return const_reverse_leaf_iterator(leaf_begin()); }
  array::IteratorRange<leaf_iterator> leaves() { return {leaf_begin(), leaf_end()}; }
  array::IteratorRange<const_leaf_iterator> leaves() const { return {leaf_begin(), leaf_end()}; }

  // Loops in pre-order or post-order; a WithStatus form stops at the first error and returns it.
  void ForEachElement(absl::FunctionRef<void(const ShapeIndex&, const T&)> fn) const {
    for (const NodePair& node : nodes_) fn(node.first, node.second);
  }
  void ForEachMutableElement(absl::FunctionRef<void(const ShapeIndex&, T*)> fn) {
    for (NodePair& node : nodes_) fn(node.first, &node.second);
  }
  absl::Status ForEachElementWithStatus(absl::FunctionRef<absl::Status(const ShapeIndex&, const T&)> fn) const {
    for (const NodePair& node : nodes_) KASHI_RETURN_IF_ERROR(fn(node.first, node.second));
    return absl::OkStatus();
  }
  absl::Status ForEachMutableElementWithStatus(absl::FunctionRef<absl::Status(const ShapeIndex&, T*)> fn) {
    for (NodePair& node : nodes_) KASHI_RETURN_IF_ERROR(fn(node.first, &node.second));
    return absl::OkStatus();
  }
  void ForEachElementPostOrder(absl::FunctionRef<void(const ShapeIndex&, const T&)> fn) const {
    for (int64_t i : form_->PostOrder()) fn(nodes_[i].first, nodes_[i].second);
  }
  void ForEachMutableElementPostOrder(absl::FunctionRef<void(const ShapeIndex&, T*)> fn) {
    for (int64_t i : form_->PostOrder()) fn(nodes_[i].first, &nodes_[i].second);
  }
  absl::Status ForEachElementPostOrderWithStatus(
      absl::FunctionRef<absl::Status(const ShapeIndex&, const T&)> fn) const {
    for (int64_t i : form_->PostOrder()) KASHI_RETURN_IF_ERROR(fn(nodes_[i].first, nodes_[i].second));
    return absl::OkStatus();
  }
  absl::Status ForEachMutableElementPostOrderWithStatus(absl::FunctionRef<absl::Status(const ShapeIndex&, T*)> fn) {
    for (int64_t i : form_->PostOrder()) KASHI_RETURN_IF_ERROR(fn(nodes_[i].first, &nodes_[i].second));
    return absl::OkStatus();
  }

  // Returns a tree of the same form with fn(value) at each node.
  template <typename U>
  TupleTree<U> Map(absl::FunctionRef<U(const T&)> fn) const {
    TupleTree<U> result{array::FormOnly(), form_};
    for (const NodePair& node : nodes_) result.nodes_.emplace_back(node.first, fn(node.second));
    return result;
  }
  template <typename U>
  absl::StatusOr<TupleTree<U>> MapWithStatus(absl::FunctionRef<absl::StatusOr<U>(const T&)> fn) const {
    TupleTree<U> result{array::FormOnly(), form_};
    for (const NodePair& node : nodes_) {
      KASHI_ASSIGN_OR_RETURN(U value, fn(node.second));
      result.nodes_.emplace_back(node.first, std::move(value));
    }
    return result;
  }

  // INVALID_ARGUMENT: no such node on one of the sides, or subtrees of different forms.
  absl::Status CopyCompatibleSubtreeFrom(const TupleTree& other, const ShapeIndex& source_index,
                                         const ShapeIndex& target_index) {
    const int64_t from = other.form_->Find(source_index), to = form_->Find(target_index);
    if (from < 0) return InvalidArgument("no node %s in the source tree", source_index.ToString());
    if (to < 0) return InvalidArgument("no node %s in the target tree", target_index.ToString());
    if (other.AritiesAt(from) != AritiesAt(to)) {
      return InvalidArgument("the trees at %s of the source and %s of the target differ", source_index.ToString(),
                             target_index.ToString());
    }
    for (int64_t i = 0; i < form_->end(to) - to; ++i) nodes_[to + i].second = other.nodes_[from + i].second;
    return absl::OkStatus();
  }
  // INVALID_ARGUMENT: no such node.
  absl::StatusOr<TupleTree> Subtree(const ShapeIndex& index) const {
    const int64_t root = form_->Find(index);
    if (root < 0) return InvalidArgument("no node %s in the tree", index.ToString());
    TupleTree result{array::FormOnly(), std::make_shared<array::TupleTreeForm>(
                                            std::vector<int64_t>(AritiesAt(root).begin(), AritiesAt(root).end()))};
    std::vector<ShapeIndex> indices = result.form_->Indices();
    for (size_t i = 0; i < indices.size(); ++i) {
      result.nodes_.emplace_back(std::move(indices[i]), nodes_[root + i].second);
    }
    return result;
  }
  absl::StatusOr<Node> ToNode(ShapeIndexView index = {}) const {
    const int64_t root = form_->Find(index);
    if (root < 0) return InvalidArgument("no node %s in the tree", ShapeIndex(index).ToString());
    int64_t next = root;
    return MakeNode(&next);
  }

  // Indices and values.
  bool operator==(const TupleTree& other) const { return nodes_ == other.nodes_; }
  bool operator!=(const TupleTree& other) const { return !(*this == other); }

 private:
  template <typename U>
  friend class TupleTree;
  template <typename U>
  friend class ShapeTree;

  using Form = std::shared_ptr<const array::TupleTreeForm>;

  template <typename... Args>
  explicit TupleTree(Form form, const Args&... args) : TupleTree(array::FormOnly(), std::move(form)) {
    for (ShapeIndex& index : form_->Indices()) nodes_.emplace_back(std::move(index), T(args...));
  }
  TupleTree(array::FormOnly, Form form) : form_(std::move(form)) { nodes_.reserve(form_->size()); }

  static void Flatten(Node root, std::vector<int64_t>* arities, std::vector<T>* values) {
    arities->push_back(root.IsLeaf() ? array::TupleTreeForm::kLeaf : static_cast<int64_t>(root.children().size()));
    values->push_back(std::move(root.value()));
    if (root.IsLeaf()) return;
    for (Node& child : root.children()) Flatten(std::move(child), arities, values);
  }
  // The inverse; *next moves on behind the subtree.
  Node MakeNode(int64_t* next) const {
    const int64_t node = (*next)++;
    if (form_->is_leaf(node)) return Node::Leaf(nodes_[node].second);
    std::vector<Node> children;
    for (int64_t i = 0; i < form_->arities()[node]; ++i) children.push_back(MakeNode(next));
    return Node::Tuple(nodes_[node].second, std::move(children));
  }
  absl::Span<const int64_t> AritiesAt(int64_t root) const {
    return absl::MakeConstSpan(form_->arities()).subspan(root, form_->end(root) - root);
  }

  Form form_;
  Nodes nodes_;
};

}  // namespace kashi

#endif  // KASHI_ARRAY_TUPLE_TREE_H_
