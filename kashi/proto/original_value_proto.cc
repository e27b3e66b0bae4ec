#include "kashi/proto/original_value_proto.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/base/status.h"

namespace kashi::proto::proto_internal {
namespace {

using Node = OriginalValue::Node;

// The limit of the text reader.
constexpr int kMaxDepth = 200;
// A place in a tuple may be more than the next one: elements that are empty tuples have no leaves. All of them
// together:
constexpr int64_t kMaxSkippedElements = 10000;

// The node at an index; it is made if it does not exist. Null if that is not possible.
Node* MakeNode(Node* tree, const google::protobuf::RepeatedField<int64_t>& index, int64_t* skipped) {
  if (index.size() > kMaxDepth) return nullptr;
  Node* node = tree;
  for (const int64_t i : index) {
    if (node->array.has_value()) return nullptr;
    const int64_t size = static_cast<int64_t>(node->elements.size());
    if (i < 0 || i > size + *skipped) return nullptr;
    node->is_tuple = true;
    for (int64_t place = size; place < i; ++place) node->elements.emplace_back().is_tuple = true;
    if (i >= size) {
      *skipped -= i - size;
      node->elements.emplace_back();
    }
    node = &node->elements[i];
  }
  return node;
}

void WriteLeaves(const Node& node, std::vector<int64_t>* index, OriginalValueProto* proto) {
  if (!node.is_tuple) {
    OriginalValueElementProto* element = proto->add_elements();
    element->mutable_shape_index()->Add(index->begin(), index->end());
    if (node.array.has_value()) WriteOriginalArray(*node.array, element->mutable_original_array());
    return;
  }
  index->push_back(0);
  for (const Node& child : node.elements) {
    WriteLeaves(child, index, proto);
    ++index->back();
  }
  index->pop_back();
}

}  // namespace

OriginalArray ReadOriginalArray(const OriginalArrayProto& proto) {
  return {proto.instruction_name(), ShapeIndex(proto.shape_index().begin(), proto.shape_index().end())};
}

void WriteOriginalArray(const OriginalArray& array, OriginalArrayProto* proto) {
  proto->set_instruction_name(array.instruction_name);
  proto->mutable_shape_index()->Add(array.shape_index.begin(), array.shape_index.end());
}

absl::StatusOr<OriginalValue> ReadOriginalValue(const OriginalValueProto& proto) {
  if (proto.is_synthetic_call()) return OriginalValue::SyntheticCall();
  Node tree;
  tree.is_tuple = proto.elements().empty();
  int64_t skipped = kMaxSkippedElements;
  for (const OriginalValueElementProto& element : proto.elements()) {
    Node* leaf = MakeNode(&tree, element.shape_index(), &skipped);
    if (leaf == nullptr || leaf->is_tuple || leaf->array.has_value()) {
      return InvalidArgument("original_value is not a tree");
    }
    if (element.has_original_array()) leaf->array = ReadOriginalArray(element.original_array());
  }
  return OriginalValue(std::move(tree));
}

// Recursion is as deep as the tree, which has its limit from where it was read.
void WriteOriginalValue(const OriginalValue& value, OriginalValueProto* proto) {
  proto->set_is_synthetic_call(value.is_synthetic_call());
  if (value.is_synthetic_call()) return;
  std::vector<int64_t> index;
  WriteLeaves(value.tree(), &index, proto);
}

}  // namespace kashi::proto::proto_internal

namespace kashi {

OriginalValueProto OriginalValue::ToProto() const {
  OriginalValueProto proto;
  proto::proto_internal::WriteOriginalValue(*this, &proto);
  return proto;
}

std::shared_ptr<OriginalValue> OriginalValue::FromProto(const OriginalValueProto& proto) {
  absl::StatusOr<OriginalValue> value = proto::proto_internal::ReadOriginalValue(proto);
  return value.ok() ? std::make_shared<OriginalValue>(*std::move(value)) : nullptr;
}

}  // namespace kashi
