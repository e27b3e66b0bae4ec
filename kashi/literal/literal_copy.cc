// Copies: whole subtrees, boxes, and the literals that hold the same elements in another layout or shape.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "kashi/array/layout_util.h"
#include "kashi/array/permutation_util.h"
#include "kashi/base/math.h"
#include "kashi/base/util.h"
#include "kashi/literal/literal.h"

namespace kashi {

using literal::CopyStrided;
using literal::ElementStrides;
using literal::VisitPairs;
namespace {

using literal::LiteralPiece;

int ElementBytes(const LiteralPiece& piece) { return primitive_util::ByteWidth(piece.subshape().element_type()); }

// A box of elements, from one place to another. Both are in bounds.
void CopyBox(absl::Span<const int64_t> sizes, const LiteralPiece& from, absl::Span<const int64_t> from_base,
             const LiteralPiece& to, absl::Span<const int64_t> to_base) {
  const DimensionVector from_strides = ElementStrides(from.subshape()), to_strides = ElementStrides(to.subshape());
  int64_t from_position = 0, to_position = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return;
    from_position += from_base[i] * from_strides[i];
    to_position += to_base[i] * to_strides[i];
  }
  const int bytes = ElementBytes(from);
  CopyStrided(sizes, bytes, {from.memory() + from_position * bytes, from_strides},
              {to.memory() + to_position * bytes, to_strides});
}

void CopyBox(absl::Span<const int64_t> sizes, const LiteralPiece& from, const LiteralPiece& to) {
  const DimensionVector zeros(sizes.size(), 0);
  CopyBox(sizes, from, zeros, to, zeros);
}

// If only one side is dynamic, its sizes stay, as in XLA.
void CopyDynamicSizes(const LiteralPiece& from, LiteralPiece* to) {
  if (!from.subshape().is_dynamic()) return;
  for (int i = 0; i < to->subshape().dimensions_size(); ++i) {
    if (to->subshape().is_dynamic_dimension(i)) to->set_dynamic_size(i, from.dynamic_size(i));
  }
}

// An array leaf of the same element type and rank. The current sizes are already known to fit. A leaf that is not known
// makes the other one unknown; a known leaf makes the other one known.
absl::Status CopyLeaf(const LiteralPiece& from, LiteralPiece* to, bool only_dynamic_bound) {
  if (from.buffer() == nullptr) to->Free();
  to->set_state(from.state());
  if (from.buffer() == nullptr) return absl::OkStatus();
  if (to->buffer() == nullptr) {
    KASHI_RETURN_IF_ERROR(to->Allocate());
    std::memset(to->buffer(), 0, to->size_bytes());
  }
  if (only_dynamic_bound) {
    DimensionVector sizes = from.current_sizes();
    const DimensionVector room = to->current_sizes();
    for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::min(sizes[i], room[i]);
    CopyBox(sizes, from, *to);
    return absl::OkStatus();
  }
  if (from.buffer() != to->buffer()) CopyBox(from.subshape().dimensions(), from, *to);
  CopyDynamicSizes(from, to);
  return absl::OkStatus();
}

absl::Status CheckBox(const Shape& shape, absl::Span<const int64_t> base, absl::Span<const int64_t> size) {
  if (base.size() != shape.dimensions().size() || size.size() != base.size()) {
    return InvalidArgument("a box of rank %d at an index of rank %d in %s", size.size(), base.size(), shape.ToString());
  }
  for (size_t i = 0; i < base.size(); ++i) {
    const int64_t bound = shape.dimensions(static_cast<int>(i));
    if (base[i] < 0 || size[i] < 0 || base[i] > bound || size[i] > bound - base[i]) {
      return InvalidArgument("a box of %d at %d does not fit dimension %d of %s", size[i], base[i], i,
                             shape.ToString());
    }
  }
  return absl::OkStatus();
}

bool Overlap(const LiteralPiece& a, const LiteralPiece& b) {
  return a.buffer() < b.buffer() + b.size_bytes() && b.buffer() < a.buffer() + a.size_bytes();
}

}  // namespace

absl::StatusOr<Literal> LiteralBase::CopyWithShape(const Shape& other_shape) const {
  KASHI_ASSIGN_OR_RETURN(Literal result, Literal::Make(other_shape, /*allocate_arrays=*/false));
  absl::Status status;
  VisitPairs(*root_, *result.root_, [&](Piece& from, Piece& to) {
    if (!status.ok()) return;
    to.set_state(from.state());
    if (from.buffer() == nullptr) return;
    status = to.Allocate();
    if (status.ok()) status = CopyLeaf(from, &to, /*only_dynamic_bound=*/false);
  });
  KASHI_RETURN_IF_ERROR(status);
  return result;
}

Literal LiteralBase::Clone() const { return CopyWithShape(shape()).value(); }

std::unique_ptr<Literal> LiteralBase::CloneToUnique() const { return std::make_unique<Literal>(Clone()); }

Literal LiteralBase::Relayout(const Layout& new_layout, const ShapeIndex& shape_index) const {
  Shape new_shape = shape();
  Shape* subshape = ShapeUtil::GetMutableSubshape(&new_shape, shape_index);
  KASHI_CHECK_OK(LayoutUtil::ValidateLayoutForShape(new_layout, *subshape));
  *subshape->mutable_layout() = new_layout;
  return CopyWithShape(new_shape).value();
}

Literal LiteralBase::Relayout(const Shape& shape_with_layout) const {
  KASHI_CHECK(ShapeUtil::Compatible(shape_with_layout, shape()))
      << "Given shape_with_layout " << shape_with_layout << " not compatible with literal shape " << shape();
  Shape new_shape = shape();
  KASHI_CHECK_OK(LayoutUtil::CopyLayoutBetweenShapes(shape_with_layout, &new_shape));
  return CopyWithShape(new_shape).value();
}

Literal LiteralBase::ToStatic() const {
  Shape static_shape = shape();
  ShapeUtil::ForEachMutableLeafShape(&static_shape, [&](Shape* leaf, const ShapeIndex& index) {
    if (!leaf->IsArray()) return;
    const DimensionVector sizes = piece(index).current_sizes();
    for (int i = 0; i < leaf->dimensions_size(); ++i) leaf->set_dimensions(i, sizes[i], /*is_dynamic=*/false);
  });
  Literal result(static_shape);
  KASHI_CHECK_OK(result.CopyFrom(*this, {}, {}, /*only_dynamic_bound=*/true));
  return result;
}

Literal LiteralBase::ToBoundedDynamic(const Shape& bounded_shape) const {
  KASHI_CHECK(ShapeUtil::DynamicShapeIsCompatible(shape(), bounded_shape)) << shape() << " vs. " << bounded_shape;
  Literal result(bounded_shape);
  ShapeUtil::ForEachLeafShape(shape(), [&](const Shape& leaf, const ShapeIndex& index) {
    if (!leaf.IsArray()) return;
    const Shape& bounds = result.piece(index).subshape();
    for (int i = 0; i < leaf.dimensions_size(); ++i) {
      if (bounds.is_dynamic_dimension(i)) result.SetDynamicSize(i, index, GetDynamicSize(i, index));
    }
  });
  KASHI_CHECK_OK(result.CopyFrom(*this, {}, {}, /*only_dynamic_bound=*/true));
  return result;
}

absl::StatusOr<Literal> LiteralBase::Reshape(absl::Span<const int64_t> dimensions) const {
  if (!shape().IsArray()) return InvalidArgument("Reshape needs an array, not %s", shape().ToString());
  if (shape().is_dynamic()) return Unimplemented("Reshape of a dynamic shape: %s", shape().ToString());
  KASHI_ASSIGN_OR_RETURN(const Shape result_shape, ShapeUtil::MakeValidatedShape(shape().element_type(), dimensions));
  KASHI_ASSIGN_OR_RETURN(Literal result, Literal::Make(result_shape));
  if (result.element_count() != element_count()) {
    return InvalidArgument("Shapes before and after Literal::Reshape have different numbers of elements: %s vs %s.",
                           shape().ToString(), result_shape.ToString());
  }
  const Shape row_major = ShapeUtil::MakeShapeWithDescendingLayout(shape().element_type(), shape().dimensions());
  CopyStrided(shape().dimensions(), ElementBytes(*root_), {root_->memory(), ElementStrides(shape())},
              {result.root_->memory(), ElementStrides(row_major)});
  return result;
}

absl::StatusOr<Literal> LiteralBase::Broadcast(const Shape& result_shape, absl::Span<const int64_t> dimensions) const {
  if (!shape().IsArray() || !result_shape.IsArray() || shape().element_type() != result_shape.element_type()) {
    return InvalidArgument("Broadcast needs arrays of the same element type, not %s from %s", result_shape.ToString(),
                           shape().ToString());
  }
  if (dimensions.size() != shape().dimensions().size()) {
    return InvalidArgument("Broadcast of %s got %d dimensions", shape().ToString(), dimensions.size());
  }
  KASHI_ASSIGN_OR_RETURN(Literal result, Literal::Make(result_shape));
  const DimensionVector strides = ElementStrides(shape());
  DimensionVector source_strides(result_shape.dimensions_size(), 0);
  std::vector<bool> is_taken(result_shape.dimensions_size(), false);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t size = shape().dimensions(static_cast<int>(i)), to = dimensions[i];
    if (to < 0 || to >= result_shape.dimensions_size() || is_taken[to] ||
        (size != 1 && size != result_shape.dimensions(static_cast<int>(to)))) {
      return InvalidArgument("dimension %d of %s cannot become dimension %d of %s", i, shape().ToString(), to,
                             result_shape.ToString());
    }
    is_taken[to] = true;
    if (size != 1) source_strides[to] = strides[i];
    if (shape().is_dynamic_dimension(static_cast<int>(i)) && size != 1) {
      result.SetDynamicSize(to, GetDynamicSize(static_cast<int64_t>(i)));
    }
  }
  CopyStrided(result_shape.dimensions(), ElementBytes(*root_), {root_->memory(), source_strides},
              {result.root_->memory(), ElementStrides(result.shape())});
  return result;
}

Literal LiteralBase::Transpose(absl::Span<const int64_t> permutation) const {
  KASHI_CHECK(shape().IsArray()) << shape();
  KASHI_CHECK(IsPermutation(permutation) && permutation.size() == shape().dimensions().size())
      << VectorString(permutation) << " for " << shape();
  Literal result(ShapeUtil::PermuteDimensions(permutation, shape()));
  std::memcpy(result.root_->memory(), root_->memory(), size_bytes());
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (!result.shape().is_dynamic_dimension(static_cast<int>(i))) continue;
    result.SetDynamicSize(static_cast<int64_t>(i), GetDynamicSize(permutation[i]));
  }
  return result;
}

Literal LiteralBase::Slice(absl::Span<const int64_t> start_indices, absl::Span<const int64_t> limit_indices) const {
  KASHI_CHECK(shape().IsArray()) << shape();
  const int rank = shape().dimensions_size();
  KASHI_CHECK(start_indices.size() == shape().dimensions().size() && limit_indices.size() == start_indices.size());
  Shape result_shape = shape();
  for (int i = 0; i < rank; ++i) {
    KASHI_CHECK(0 <= start_indices[i] && start_indices[i] <= limit_indices[i] &&
                limit_indices[i] <= shape().dimensions(i))
        << "[" << start_indices[i] << ", " << limit_indices[i] << ") of dimension " << i << " of " << shape();
    result_shape.set_dimensions(i, limit_indices[i] - start_indices[i], shape().is_dynamic_dimension(i));
  }
  Literal result(result_shape);
  const DimensionVector zeros(rank, 0);
  CopyBox(result_shape.dimensions(), *root_, start_indices, *result.root_, zeros);
  for (int i = 0; i < rank; ++i) {
    if (!shape().is_dynamic_dimension(i)) continue;
    const int64_t rest = std::max<int64_t>(GetDynamicSize(i) - start_indices[i], 0);
    result.SetDynamicSize(i, static_cast<DynamicSizeType>(std::min(rest, result_shape.dimensions(i))));
  }
  return result;
}

Literal LiteralBase::ReplicateElements(int64_t times) const {
  DimensionVector sizes = {times}, dimensions;
  for (int64_t size : shape().dimensions()) {
    sizes.push_back(size);
    dimensions.push_back(static_cast<int64_t>(dimensions.size()) + 1);
  }
  return Broadcast(ShapeUtil::MakeShape(shape().element_type(), sizes), dimensions).value();
}

absl::Status MutableLiteralBase::CopyFrom(const LiteralSlice& src_literal, const ShapeIndex& dest_shape_index,
                                          const ShapeIndex& src_shape_index, bool only_dynamic_bound) {
  const Piece& target = piece(dest_shape_index);
  const Piece& source = src_literal.piece(src_shape_index);
  const Shape& to = target.subshape();
  const Shape& from = source.subshape();
  const bool fits = !only_dynamic_bound ? ShapeUtil::Compatible(to, from)
                    : to.is_static()    ? ShapeUtil::DynamicShapeIsCompatible(to, from)
                                        : ShapeUtil::DynamicShapeIsCompatible(from, to);
  if (!fits || (only_dynamic_bound && !ShapeUtil::SameElementType(to, from))) {
    return InvalidArgument("Destination subshape incompatible with source subshape: %s vs %s",
                           ShapeUtil::HumanString(to), ShapeUtil::HumanString(from));
  }
  absl::Status status;
  VisitPairs(source, target, [&](Piece& from_piece, Piece& to_piece) {
    if (!from_piece.subshape().IsArray() || !status.ok()) return;
    status = CopyLeaf(from_piece, &to_piece, only_dynamic_bound);
  });
  return status;
}

absl::Status MutableLiteralBase::PrepareToCopy(const LiteralSlice& from) {
  if (!shape().IsArray() || !from.shape().IsArray() || shape().element_type() != from.shape().element_type()) {
    return InvalidArgument("elements can be copied between arrays of the same element type, not from %s to %s",
                           from.shape().ToString(), shape().ToString());
  }
  if (from.root_->buffer() == nullptr) return InvalidArgument("the elements of %s are unknown", from.ToString());
  return MakeKnown();
}

absl::Status MutableLiteralBase::CopySliceFrom(const LiteralSlice& src_literal, absl::Span<const int64_t> src_base,
                                               absl::Span<const int64_t> dest_base,
                                               absl::Span<const int64_t> copy_size) {
  // An element of an array to a scalar, or a scalar into an array: the box has no dimensions.
  if (copy_size.empty() && (src_base.empty() || dest_base.empty())) {
    return CopyElementFrom(src_literal, src_base, dest_base);
  }
  KASHI_RETURN_IF_ERROR(PrepareToCopy(src_literal));
  KASHI_RETURN_IF_ERROR(CheckBox(src_literal.shape(), src_base, copy_size));
  KASHI_RETURN_IF_ERROR(CheckBox(shape(), dest_base, copy_size));
  if (Overlap(*src_literal.root_, *root_)) {
    const Literal copy = src_literal.Clone();
    CopyBox(copy_size, *copy.root_, src_base, *root_, dest_base);
  } else {
    CopyBox(copy_size, *src_literal.root_, src_base, *root_, dest_base);
  }
  return absl::OkStatus();
}

absl::Status MutableLiteralBase::CopyElementFrom(const LiteralSlice& src_literal, absl::Span<const int64_t> src_index,
                                                 absl::Span<const int64_t> dest_index) {
  KASHI_RETURN_IF_ERROR(PrepareToCopy(src_literal));
  KASHI_RETURN_IF_ERROR(CheckBox(src_literal.shape(), src_index, DimensionVector(src_index.size(), 1)));
  KASHI_RETURN_IF_ERROR(CheckBox(shape(), dest_index, DimensionVector(dest_index.size(), 1)));
  const int bytes = ElementBytes(*root_);
  std::memmove(root_->memory() + root_->LinearIndex(dest_index) * bytes,
               src_literal.root_->memory() + src_literal.root_->LinearIndex(src_index) * bytes, bytes);
  return absl::OkStatus();
}

void MutableLiteralBase::PopulateFromRowMajor(PrimitiveType type, absl::Span<const int64_t> dimensions,
                                              const void* values) {
  KASHI_CHECK_OK(PrepareToPopulate(type));
  KASHI_CHECK(absl::Span<const int64_t>(root_->current_sizes()) == dimensions)
      << "values of dimensions " << VectorString(dimensions) << " for a literal " << shape() << " of current sizes "
      << VectorString(root_->current_sizes());
  const Shape row_major = ShapeUtil::MakeShapeWithDescendingLayout(type, dimensions);
  CopyStrided(dimensions, ElementBytes(*root_), {static_cast<const char*>(values), ElementStrides(row_major)},
              {root_->memory(), ElementStrides(shape())});
}

}  // namespace kashi
