// Bytes -> ShapeProto -> Shape -> text and proto again: no bytes end the process, and a shape that was read is read
// again as the same shape.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/base/check.h"
#include "kashi/proto/xla_data.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kashi::ShapeProto proto;
  if (!proto.ParseFromArray(data, static_cast<int>(size))) return 0;
  const absl::StatusOr<kashi::Shape> shape = kashi::Shape::FromProto(proto);
  if (!shape.ok()) return 0;
  const std::string text = shape->ToString(/*print_layout=*/true);
  const absl::StatusOr<kashi::Shape> again = kashi::Shape::FromProto(shape->ToProto());
  KASHI_CHECK_OK(again);
  KASHI_CHECK(*again == *shape);
  KASHI_CHECK_EQ(again->ToString(/*print_layout=*/true), text);
  return 0;
}
