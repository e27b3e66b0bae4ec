// How many bytes a shape takes as a serialized ShapeProto, without protobuf: the array room does not use it, but the size of
// a serialized literal (ShapeUtil::SerializedSize) counts its proto.
#ifndef KASHI_ARRAY_SHAPE_PROTO_SIZE_H_
#define KASHI_ARRAY_SHAPE_PROTO_SIZE_H_

#include <cstdint>

#include "kashi/array/shape.h"

namespace kashi {

// == shape.ToProto().ByteSizeLong()
int64_t ShapeProtoByteSize(const Shape& shape);

}  // namespace kashi

#endif  // KASHI_ARRAY_SHAPE_PROTO_SIZE_H_
