// The attribute `origin`: the value of the program before compilation that an instruction's result is equal to.
#ifndef KASHI_HLO_IR_ORIGINAL_VALUE_H_
#define KASHI_HLO_IR_ORIGINAL_VALUE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/array/tuple_tree.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

class OriginalValueProto;

// A tree with the structure of the instruction's shape. Each leaf names an original array, or nothing.
class OriginalValue {
 public:
  using ArrayTree = TupleTree<std::optional<OriginalArray>>;

  struct Node {
    std::optional<OriginalArray> array;  // of a leaf
    bool is_tuple = false;
    std::vector<Node> elements;  // of a tuple
    friend bool operator==(const Node& a, const Node& b) {
      return a.array == b.array && a.is_tuple == b.is_tuple && a.elements == b.elements;
    }
  };

  OriginalValue() = default;
  explicit OriginalValue(Node tree) : tree_(std::move(tree)) {}
  // XLA's ways to make one: from a tree, from literal nodes, or from a shape, with leaves that name nothing yet.
  explicit OriginalValue(const ArrayTree& tree);
  explicit OriginalValue(const ArrayTree::Node& tree);
  explicit OriginalValue(const Shape& shape) : OriginalValue(ArrayTree(shape)) {}
  static OriginalValue SyntheticCall() {
    OriginalValue value;
    value.is_synthetic_call_ = true;
    return value;
  }

  bool is_synthetic_call() const { return is_synthetic_call_; }
  const Node& tree() const { return tree_; }
  // The leaves in pre-order, each with its index.
  std::vector<std::pair<ShapeIndex, std::optional<OriginalArray>>> original_arrays() const;
  // The array of a leaf. Both die if there is no leaf at that index.
  const std::optional<OriginalArray>& original_array(ShapeIndexView index) const;
  std::optional<OriginalArray>* mutable_original_array(ShapeIndexView index);

  // kashi/proto. Null if the proto is not a tree.
  OriginalValueProto ToProto() const;
  static std::shared_ptr<OriginalValue> FromProto(const OriginalValueProto& proto);

  // `{"name" {0,1}}`, `({"a"}, {"b"})`, `[synthetic_call]`: the text between the braces of `origin={…}`.
  void Print(Printer* printer) const;
  std::string ToString() const;

  friend bool operator==(const OriginalValue& a, const OriginalValue& b) {
    return a.is_synthetic_call_ == b.is_synthetic_call_ && a.tree_ == b.tree_;
  }
  friend bool operator!=(const OriginalValue& a, const OriginalValue& b) { return !(a == b); }

 private:
  bool is_synthetic_call_ = false;
  Node tree_;
};

// `"name" {0,1}`, without enclosing braces.
void PrintOriginalArray(Printer* printer, const OriginalArray& array);

}  // namespace kashi

#endif  // KASHI_HLO_IR_ORIGINAL_VALUE_H_
