// FromProto and ToProto of Shape, ProgramShape and ShapeIndex.

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/proto/shape_reader.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi {

// ---------------------------------------------------------------------------------------------------------------------
// Shape
// ---------------------------------------------------------------------------------------------------------------------

absl::StatusOr<Shape> Shape::FromProto(const ShapeProto& proto) {
  Shape shape;
  KASHI_RETURN_IF_ERROR(proto::proto_internal::ShapeReader::Read(proto, &shape));
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
    return proto::proto_internal::RetCheckFailure(
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

absl::StatusOr<int64_t> ShapeUtil::SerializedSizeWithProto(const Shape& shape, const ShapeProto& proto) {
  return SerializedSizeWithProto(shape, static_cast<int64_t>(proto.ByteSizeLong()));
}

}  // namespace kashi
