#include "kashi/proto/shape_reader.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/status.h"

namespace kashi::proto::proto_internal {
namespace {

// Null if there is none. The layout of a buffer itself has priority over that of its array, as in XLA.
const LayoutProto* LayoutOf(const ShapeProto& proto) {
  if (proto.has_layout()) return &proto.layout();
  const bool has_array_with_layout = proto.element_type() == BUFFER && proto.tuple_shapes(0).has_layout();
  return has_array_with_layout ? &proto.tuple_shapes(0).layout() : nullptr;
}

}  // namespace

absl::Status ShapeReader::Read(const ShapeProto& proto, Shape* result) {
  ShapeReader reader;
  reader.tasks_.push_back({&proto, /*depth=*/0, result});
  return reader.Run();
}

absl::Status ShapeReader::Read(const LayoutProto& proto, Layout* result) {
  ShapeReader reader;
  KASHI_RETURN_IF_ERROR(reader.ReadLayout(proto, /*depth=*/0, result));
  return reader.Run();
}

absl::Status ShapeReader::Run() {
  while (!tasks_.empty()) {
    const Task task = tasks_.back();
    tasks_.pop_back();
    KASHI_RETURN_IF_ERROR(ReadShape(task));
  }
  return absl::OkStatus();
}

absl::Status ShapeReader::ReadShape(const Task& task) {
  if (task.depth > kMaxTupleDepth) {
    return InvalidArgument("Malformed shape proto: nested deeper than %d.", kMaxTupleDepth);
  }
  KASHI_RETURN_IF_ERROR(ReadKind(task));
  const LayoutProto* layout = LayoutOf(*task.proto);
  if (layout == nullptr) return absl::OkStatus();
  if (!task.result->IsArray()) {
    return RetCheckFailure("ShapeProto.layout", "Malformed shape proto: element_type ",
                           PrimitiveType_Name(task.result->element_type_including_buffer()),
                           " should not have a layout.");
  }
  return ReadLayout(*layout, task.depth, task.result->mutable_layout());
}

// Reads all but the layout. An invalid type number gives an invalid shape; fields that the kind lacks are skipped.
absl::Status ShapeReader::ReadKind(const Task& task) {
  const PrimitiveType type = task.proto->element_type();
  if (primitive_util::IsArrayType(type)) return ReadArray(*task.proto, task.result);
  if (type == TUPLE) return ReadTuple(task);
  if (type == BUFFER) return ReadBuffer(task);
  *task.result = type == TOKEN || type == OPAQUE_TYPE ? Shape(type) : Shape();
  return absl::OkStatus();
}

absl::Status ShapeReader::ReadArray(const ShapeProto& proto, Shape* result) {
  const int flags = proto.is_dynamic_dimension_size(), dimensions = proto.dimensions_size();
  if (flags != 0 && flags != dimensions) {
    return RetCheckFailure("ShapeProto.is_dynamic_dimension",
                           "Malformed shape proto: number of is_dynamic_dimension fields (", flags,
                           ") does not match number of dimension fields (", dimensions, ").");
  }
  *result = Shape(proto.element_type(), proto.dimensions(), proto.is_dynamic_dimension());
  return absl::OkStatus();
}

absl::Status ShapeReader::ReadTuple(const Task& task) {
  const int size = task.proto->tuple_shapes_size();
  *task.result = Shape(std::vector<Shape>(size));
  for (int i = size - 1; i >= 0; --i) {
    tasks_.push_back({&task.proto->tuple_shapes(i), task.depth + 1, task.result->mutable_tuple_shapes(i)});
  }
  return absl::OkStatus();
}

absl::Status ShapeReader::ReadBuffer(const Task& task) {
  if (task.proto->tuple_shapes_size() != 1) {
    return absl::InvalidArgumentError("Buffer shape must have exactly one tuple shape.");
  }
  const ShapeProto& array = task.proto->tuple_shapes(0);
  if (!primitive_util::IsArrayType(array.element_type())) {
    return absl::InvalidArgumentError("Buffer shape must have array shape.");
  }
  *task.result = Shape(BUFFER);
  return ReadArray(array, task.result->mutable_buffer_shape());
}

absl::Status ShapeReader::ReadLayout(const LayoutProto& proto, int depth, Layout* result) {
  *result = Layout(proto.minor_to_major());
  for (const TileProto& tile_proto : proto.tiles()) {
    KASHI_ASSIGN_OR_RETURN(*result->add_tiles(), Tile::FromProto(tile_proto));
  }
  const int64_t alignment = proto.tail_padding_alignment_in_elements();
  if (alignment < 0) {
    return RetCheckFailure("LayoutProto.tail_padding_alignment_in_elements", "alignment > 0 (it is ", alignment, ")");
  }
  result->set_tail_padding_alignment_in_elements(alignment == 0 ? 1 : alignment);
  result->set_element_size_in_bits(proto.element_size_in_bits());
  result->set_memory_space(proto.memory_space());
  result->set_index_primitive_type(proto.index_primitive_type());
  result->set_pointer_primitive_type(proto.pointer_primitive_type());
  result->set_dynamic_shape_metadata_prefix_bytes(proto.dynamic_shape_metadata_prefix_bytes());
  for (const SplitConfigProto& config : proto.split_configs()) {
    result->add_split_configs(SplitConfig::CreateFromProto(config));
  }
  if (proto.has_physical_shape()) {
    tasks_.push_back({&proto.physical_shape(), depth + 1, result->mutable_physical_shape()});
  }
  return absl::OkStatus();
}

}  // namespace kashi::proto::proto_internal
