// The size of a shape as a serialized ShapeProto in bytes, computed without protobuf. ShapeUtil::SerializedSize needs
// it: a serialized literal includes this proto.
#ifndef KASHI_ARRAY_SHAPE_PROTO_SIZE_H_
#define KASHI_ARRAY_SHAPE_PROTO_SIZE_H_

#include <cstdint>

#include "kashi/array/shape.h"

namespace kashi {

// == shape.ToProto().ByteSizeLong()
int64_t ShapeProtoByteSize(const Shape& shape);

}  // namespace kashi

#endif  // KASHI_ARRAY_SHAPE_PROTO_SIZE_H_
