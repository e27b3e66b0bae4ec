// FromProto and ToProto of Shape, ProgramShape and ShapeIndex.

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/status.h"
#include "kashi/proto/shape_reader.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi {

// ---------------------------------------------------------------------------------------------------------------------
// Shape
// ---------------------------------------------------------------------------------------------------------------------

namespace proto_internal {
namespace {

absl::Status ReadArray(const ShapeProto& proto, Shape* result) {
  const int flags = proto.is_dynamic_dimension_size(), dimensions = proto.dimensions_size();
  if (flags != 0 && flags != dimensions) {
    return RetCheckFailure("ShapeProto.is_dynamic_dimension",
                           "Malformed shape proto: number of is_dynamic_dimension fields (", flags,
                           ") does not match number of dimension fields (", dimensions, ").");
  }
  *result = Shape(proto.element_type(), proto.dimensions(), proto.is_dynamic_dimension());
  return absl::OkStatus();
}

absl::Status ReadTuple(const ShapeProto& proto, int depth, Shape* result) {
  *result = Shape(std::vector<Shape>(proto.tuple_shapes_size()));
  for (int i = 0; i < proto.tuple_shapes_size(); ++i) {
    KASHI_RETURN_IF_ERROR(ReadShape(proto.tuple_shapes(i), depth + 1, result->mutable_tuple_shapes(i)));
  }
  return absl::OkStatus();
}

absl::Status ReadBuffer(const ShapeProto& proto, int depth, Shape* result) {
  if (proto.tuple_shapes_size() != 1) {
    return absl::InvalidArgumentError("Buffer shape must have exactly one tuple shape.");
  }
  if (!primitive_util::IsArrayType(proto.tuple_shapes(0).element_type())) {
    return absl::InvalidArgumentError("Buffer shape must have array shape.");
  }
  *result = Shape(BUFFER);
  return ReadShape(proto.tuple_shapes(0), depth + 1, result->mutable_buffer_shape());
}

// All but the layout. A number that is no type gives an invalid shape; fields that the kind has no use for are skipped.
absl::Status ReadKind(const ShapeProto& proto, int depth, Shape* result) {
  const PrimitiveType type = proto.element_type();
  if (primitive_util::IsArrayType(type)) return ReadArray(proto, result);
  if (type == TUPLE) return ReadTuple(proto, depth, result);
  if (type == BUFFER) return ReadBuffer(proto, depth, result);
  *result = type == TOKEN || type == OPAQUE_TYPE ? Shape(type) : Shape();
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadShape(const ShapeProto& proto, int depth, Shape* result) {
  if (depth > kMaxTupleDepth) {
    return InvalidArgument("Malformed shape proto: nested deeper than %d.", kMaxTupleDepth);
  }
  KASHI_RETURN_IF_ERROR(ReadKind(proto, depth, result));
  if (!proto.has_layout()) return absl::OkStatus();
  if (!result->IsArray()) {
    return RetCheckFailure("ShapeProto.layout", "Malformed shape proto: element_type ",
                           PrimitiveType_Name(result->element_type()), " should not have a layout.");
  }
  return ReadLayout(proto.layout(), depth, result->mutable_layout());
}

}  // namespace proto_internal

absl::StatusOr<Shape> Shape::FromProto(const ShapeProto& proto) {
  Shape shape;
  KASHI_RETURN_IF_ERROR(proto_internal::ReadShape(proto, /*depth=*/0, &shape));
  return shape;
}

ShapeProto Shape::ToProto() const {
  ShapeProto proto;
  SetProto(proto);
  return proto;
}

void Shape::SetProto(ShapeProto& proto) const {
  proto.Clear();
  proto.set_element_type(element_type_including_buffer());
  if (IsTuple()) {
    for (const Shape& element : tuple_shapes()) element.SetProto(*proto.add_tuple_shapes());
  } else if (IsBuffer()) {
    if (IsArray()) buffer_shape().SetProto(*proto.add_tuple_shapes());
  } else if (IsArray()) {
    proto.mutable_dimensions()->Add(dimensions().begin(), dimensions().end());
    proto.mutable_is_dynamic_dimension()->Add(dynamic_dimensions().begin(), dynamic_dimensions().end());
    if (has_layout()) layout().SetProto(*proto.mutable_layout());
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// ProgramShape
// ---------------------------------------------------------------------------------------------------------------------

absl::StatusOr<ProgramShape> ProgramShape::FromProto(const ProgramShapeProto& proto) {
  if (proto.parameters_size() != proto.parameter_names_size()) {
    return proto_internal::RetCheckFailure(
        "ProgramShapeProto.parameter_names",
        "ProgramShapeProto has different numbers of parameters and parameter names: ", proto.parameters_size(), " vs ",
        proto.parameter_names_size());
  }
  ProgramShape program_shape;
  for (int i = 0; i < proto.parameters_size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(Shape parameter, Shape::FromProto(proto.parameters(i)));
    program_shape.AddParameter(std::move(parameter), proto.parameter_names(i));
  }
  KASHI_ASSIGN_OR_RETURN(*program_shape.mutable_result(), Shape::FromProto(proto.result()));
  return program_shape;
}

ProgramShapeProto ProgramShape::ToProto() const {
  ProgramShapeProto proto;
  for (const Shape& parameter : parameters_) parameter.SetProto(*proto.add_parameters());
  result_.SetProto(*proto.mutable_result());
  for (const std::string& name : parameter_names_) proto.add_parameter_names(name);
  return proto;
}

// ---------------------------------------------------------------------------------------------------------------------
// ShapeIndex
// ---------------------------------------------------------------------------------------------------------------------

ShapeIndex ShapeIndex::FromProto(const ShapeIndexProto& proto) {
  return ShapeIndex(proto.index().begin(), proto.index().end());
}

ShapeIndexProto ShapeIndex::ToProto() const {
  ShapeIndexProto proto;
  proto.mutable_index()->Add(begin(), end());
  return proto;
}

}  // namespace kashi
