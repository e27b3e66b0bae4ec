#include "kashi/hlo/ir/original_value.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kashi/base/check.h"

namespace kashi {
namespace {

void PrintNode(Printer* printer, const OriginalValue::Node& node) {
  if (!node.is_tuple) {
    printer->Append("{");
    if (node.array.has_value()) PrintOriginalArray(printer, *node.array);
    printer->Append("}");
    return;
  }
  printer->Append("(");
  for (size_t i = 0; i < node.elements.size(); ++i) {
    if (i > 0) printer->Append(", ");
    PrintNode(printer, node.elements[i]);
  }
  printer->Append(")");
}

OriginalValue::Node NodeOf(const OriginalValue::ArrayTree::Node& tree) {
  OriginalValue::Node node;
  node.is_tuple = !tree.IsLeaf();
  if (tree.IsLeaf()) {
    node.array = tree.value();
  } else {
    for (const OriginalValue::ArrayTree::Node& child : tree.children()) node.elements.push_back(NodeOf(child));
  }
  return node;
}

// Nodes come in pre-order: the path of each begins with that of a tuple before it.
OriginalValue::Node NodeOf(const OriginalValue::ArrayTree& tree) {
  OriginalValue::Node root;
  for (const auto& [index, array] : tree) {
    OriginalValue::Node* node = &root;
    for (const int64_t i : index) {
      if (node->elements.size() <= static_cast<size_t>(i)) node->elements.resize(i + 1);
      node = &node->elements[i];
    }
    node->is_tuple = !tree.IsLeaf(index);
    if (!node->is_tuple) node->array = array;
  }
  return root;
}

using Leaves = std::vector<std::pair<ShapeIndex, std::optional<OriginalArray>>>;

void AppendLeaves(const OriginalValue::Node& node, ShapeIndex* index, Leaves* leaves) {
  if (!node.is_tuple) leaves->emplace_back(*index, node.array);
  for (size_t i = 0; i < node.elements.size(); ++i) {
    index->push_back(static_cast<int64_t>(i));
    AppendLeaves(node.elements[i], index, leaves);
    index->pop_back();
  }
}

}  // namespace

OriginalValue::OriginalValue(const ArrayTree& tree) : tree_(NodeOf(tree)) {}
OriginalValue::OriginalValue(const ArrayTree::Node& tree) : tree_(NodeOf(tree)) {}

Leaves OriginalValue::original_arrays() const {
  Leaves leaves;
  ShapeIndex index;
  AppendLeaves(tree_, &index, &leaves);
  return leaves;
}

const std::optional<OriginalArray>& OriginalValue::original_array(ShapeIndexView index) const {
  const Node* node = &tree_;
  for (const int64_t i : index) {
    KASHI_CHECK(i >= 0 && i < static_cast<int64_t>(node->elements.size()))
        << "no node " << ShapeIndex(index).ToString();
    node = &node->elements[i];
  }
  KASHI_CHECK(!node->is_tuple) << "a tuple at " << ShapeIndex(index).ToString();
  return node->array;
}

std::optional<OriginalArray>* OriginalValue::mutable_original_array(ShapeIndexView index) {
  return const_cast<std::optional<OriginalArray>*>(&original_array(index));
}

void PrintOriginalArray(Printer* printer, const OriginalArray& array) {
  AppendCat(printer, "\"", array.instruction_name, "\"");
  if (!array.shape_index.empty()) AppendCat(printer, " ", array.shape_index.ToString());
}

void OriginalValue::Print(Printer* printer) const {
  if (is_synthetic_call_) {
    printer->Append("[synthetic_call]");
  } else {
    PrintNode(printer, tree_);
  }
}

std::string OriginalValue::ToString() const {
  StringPrinter printer;
  Print(&printer);
  return std::move(printer).ToString();
}

}  // namespace kashi
