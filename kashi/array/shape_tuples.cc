// ShapeUtil: trees of tuples: the walks through them, and subshapes by index.

#include <algorithm>
#include <utility>

#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"

namespace kashi {
namespace {

// Tells which nodes are visited, and whether a tuple comes before or after its elements.
struct VisitTuples {
  bool before;
  bool after;
};

// Tuples may nest thousands deep: this frame is small, and the index is shared.
template <typename ShapeType, typename Visitor>
absl::Status WalkTree(ShapeType* shape, const Visitor& visit, VisitTuples tuples, ShapeIndex* index) {
  if (!shape->IsTuple() || tuples.before) KASHI_RETURN_IF_ERROR(visit(shape, *index));
  if (!shape->IsTuple()) return absl::OkStatus();
  for (int i = 0; i < shape->tuple_shapes_size(); ++i) {
    index->push_back(i);
    // Through const_cast, for one spelling of both walks; a mutable walk began with a mutable shape.
    KASHI_RETURN_IF_ERROR(
        WalkTree(const_cast<ShapeType*>(&std::as_const(*shape).tuple_shapes(i)), visit, tuples, index));
    index->pop_back();
  }
  return tuples.after ? visit(shape, *index) : absl::OkStatus();
}

const Shape* FindSubshape(const Shape& shape, ShapeIndexView index) {
  const Shape* subshape = &shape;
  for (int64_t i : index) {
    if (!subshape->IsTuple() || i < 0 || i >= subshape->tuple_shapes_size()) return nullptr;
    subshape = &subshape->tuple_shapes(static_cast<int>(i));
  }
  return subshape;
}

}  // namespace

absl::Status ShapeUtil::Walk(const Shape& shape, SubshapeVisitor visitor, WalkOrder order) {
  ShapeIndex index;
  const auto visit = [visitor](const Shape* subshape, const ShapeIndex& at) { return visitor(*subshape, at); };
  return WalkTree(&shape, visit, {order == kPreOrder, order == kPostOrder}, &index);
}

absl::Status ShapeUtil::WalkMutable(Shape* shape, MutableSubshapeVisitor visitor, WalkOrder order) {
  ShapeIndex index;
  return WalkTree(shape, visitor, {order == kPreOrder, order == kPostOrder}, &index);
}

bool ShapeUtil::IsNestedTuple(const Shape& shape) {
  if (!shape.IsTuple()) return false;
  for (const Shape& element : shape.tuple_shapes()) {
    if (element.IsTuple()) return true;
  }
  return false;
}

bool ShapeUtil::IsEmptyTuple(const Shape& shape) { return shape.IsTuple() && shape.tuple_shapes().empty(); }

int64_t ShapeUtil::TupleElementCount(const Shape& shape) { return shape.tuple_shapes_size(); }

const Shape& ShapeUtil::GetTupleElementShape(const Shape& shape, int64_t index) {
  KASHI_CHECK(index >= 0 && index < TupleElementCount(shape)) << "no element " << index << " in " << shape;
  return shape.tuple_shapes(static_cast<int>(index));
}

int64_t ShapeUtil::SubshapeCount(const Shape& shape) {
  int64_t count = 0;
  ForEachSubshape(shape, [&](const Shape&, const ShapeIndex&) { ++count; });
  return count;
}

int64_t ShapeUtil::GetLeafCount(const Shape& shape) {
  int64_t count = 0;
  ForEachLeafShape(shape, [&](const Shape&, const ShapeIndex&) { ++count; });
  return count;
}

int64_t ShapeUtil::GetLeafCountTuple(const Shape& shape) {
  KASHI_CHECK(shape.IsTuple()) << "not a tuple shape: " << shape;
  return GetLeafCount(shape);
}

std::vector<IndexedShape> ShapeUtil::GetLeafShapes(const Shape& shape) {
  std::vector<IndexedShape> leaves;
  ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex& index) { leaves.emplace_back(index, leaf); });
  return leaves;
}

bool ShapeUtil::IsLeafIndex(const Shape& shape, const ShapeIndex& index) {
  return !GetSubshape(shape, index).IsTuple();
}

bool ShapeUtil::IndexIsValid(const Shape& shape, ShapeIndexView index) { return FindSubshape(shape, index) != nullptr; }

const Shape& ShapeUtil::GetSubshape(const Shape& shape, ShapeIndexView index) {
  const absl::StatusOr<const Shape*> subshape = TryGetSubshape(shape, index);
  KASHI_CHECK_OK(subshape);
  return **subshape;
}

absl::StatusOr<const Shape*> ShapeUtil::TryGetSubshape(const Shape& shape, ShapeIndexView index) {
  const Shape* subshape = FindSubshape(shape, index);
  if (subshape != nullptr) return subshape;
  return InvalidArgument("Shape index %s not a valid subshape index for tuple with shape %s",
                         ShapeIndex(index).ToString(), shape.ToString());
}

Shape* ShapeUtil::GetMutableSubshape(Shape* shape, ShapeIndexView index) {
  return const_cast<Shape*>(&GetSubshape(*shape, index));
}

bool ShapeUtil::IsPrefix(const Shape& prefix, const Shape& shape) {
  if (!prefix.IsTuple()) return Equal(prefix, shape);
  if (IsEmptyTuple(prefix)) return true;
  if (!shape.IsTuple() || prefix.tuple_shapes_size() > shape.tuple_shapes_size()) return false;
  return std::equal(prefix.tuple_shapes().begin(), prefix.tuple_shapes().end(), shape.tuple_shapes().begin(), IsPrefix);
}

std::vector<const Shape*> ShapeUtil::FlattenTupleShape(const Shape& shape) {
  std::vector<const Shape*> flattened;
  FlattenTupleShape(shape, flattened);
  return flattened;
}

void ShapeUtil::FlattenTupleShape(const Shape& shape, std::vector<const Shape*>& flattened) {
  ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex&) { flattened.push_back(&leaf); });
}

}  // namespace kashi
