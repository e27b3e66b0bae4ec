// The path to a subshape in a tree of tuples: the tuple element numbers from the root on. `{}` is the root.
#ifndef KASHI_ARRAY_SHAPE_INDEX_H_
#define KASHI_ARRAY_SHAPE_INDEX_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"

namespace kashi {

class ShapeIndexProto;

using ShapeIndexView = absl::Span<const int64_t>;

class ShapeIndex : public absl::InlinedVector<int64_t, 2> {
 public:
  using InlinedVector::InlinedVector;
  explicit ShapeIndex(ShapeIndexView view) : ShapeIndex(view.begin(), view.end()) {}

  void push_front(int64_t value) { insert(begin(), value); }
  void pop_front() { erase(begin()); }

  static ShapeIndex FromProto(const ShapeIndexProto& proto);  // kashi/proto
  ShapeIndexProto ToProto() const;

  std::string ToString() const;  // "{1,0}"
};
std::ostream& operator<<(std::ostream& out, const ShapeIndex& index);

// A subshape together with its place.
struct IndexedShape {
  IndexedShape() = default;
  IndexedShape(ShapeIndex index, Shape shape) : index(std::move(index)), shape(std::move(shape)) {}
  ShapeIndex index;
  Shape shape;
};

}  // namespace kashi

#endif  // KASHI_ARRAY_SHAPE_INDEX_H_
