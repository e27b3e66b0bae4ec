// Internal to kashi/proto: FromProto of Shape and of Layout, each of which may contain the other. A work list replaces
// recursion, so that no proto can exhaust the stack. Trees deeper than kMaxTupleDepth are refused, because a copy or
// the destructor would exhaust the stack.
#ifndef KASHI_PROTO_SHAPE_READER_H_
#define KASHI_PROTO_SHAPE_READER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi::proto::proto_internal {

// Reads a proto into `*result`, which is unspecified after an error.
class ShapeReader {
 public:
  static absl::Status Read(const ShapeProto& proto, Shape* result);
  static absl::Status Read(const LayoutProto& proto, Layout* result);

 private:
  // A shape that is still to be read. `result` stays where it is: lists have their final size before their elements are
  // put on the list.
  struct Task {
    const ShapeProto* proto;
    int depth;
    Shape* result;
  };

  absl::Status Run();
  absl::Status ReadShape(const Task& task);
  absl::Status ReadKind(const Task& task);
  absl::Status ReadTuple(const Task& task);
  absl::Status ReadBuffer(const Task& task);
  static absl::Status ReadArray(const ShapeProto& proto, Shape* result);
  absl::Status ReadLayout(const LayoutProto& proto, int depth, Layout* result);

  std::vector<Task> tasks_;  // the next one last
};

// XLA's RET_CHECK: INTERNAL. Where XLA names its source line, this names the field.
template <typename... Args>
absl::Status RetCheckFailure(absl::string_view field, const Args&... args) {
  return absl::InternalError(absl::StrCat("RET_CHECK failure (", field, ") ", args...));
}

}  // namespace kashi::proto::proto_internal

#endif  // KASHI_PROTO_SHAPE_READER_H_
