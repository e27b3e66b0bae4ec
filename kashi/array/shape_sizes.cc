// ShapeUtil: numbers of elements and bytes. The table of what each function counts is in array-model.md,
// 4.3. Products wrap on overflow, as upstream's do (ValidateShape and the MakeValidated… functions detect it
// beforehand).

#include <algorithm>
#include <climits>

#include "kashi/array/shape_proto_size.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/wrapping.h"

namespace kashi {

using base::WrappingAdd;
using base::WrappingMultiply;
using base::WrappingRoundUpTo;
using base::WrappingSubtract;
namespace {

// Rounded up. Upstream's division rounds towards zero for the negative bits of an invalid E.
int64_t BytesOfBits(int64_t bits) { return bits < 0 ? bits / CHAR_BIT : CeilOfRatio<int64_t>(bits, CHAR_BIT); }

// `elements` elements one after the other, of E bits if the layout gives that, else of the type's bytes.
int64_t BytesOfElements(const Shape& shape, int64_t elements) {
  if (shape.has_layout() && shape.layout().element_size_in_bits() != 0) {
    return BytesOfBits(WrappingMultiply(elements, shape.layout().element_size_in_bits()));
  }
  return WrappingMultiply(elements, ShapeUtil::ByteSizeOfPrimitiveType(shape.element_type()));
}

// The unit to which the first tile pads a dimension, by position from the minor end. A `*` merges it into the
// next more minor one; upstream does not follow that but takes the second tile's entry at the same position, or else
// the number of elements that share 32 bits.
int64_t PaddingUnit(const Shape& shape, int64_t minor) {
  const auto entry_at = [minor](const Tile& tile) {
    const int64_t rank = static_cast<int64_t>(tile.dimensions().size());
    return minor < rank ? tile.dimension(static_cast<int>(rank - 1 - minor)) : Tile::kCombineDimension;
  };
  const Layout& layout = shape.layout();
  int64_t unit = entry_at(layout.tiles(0));
  if (unit == Tile::kCombineDimension && layout.tiles_size() > 1) unit = entry_at(layout.tiles(1));
  if (unit == Tile::kCombineDimension) unit = std::max<int64_t>(1, 32 / ShapeUtil::ElementSizeInBits(shape));
  KASHI_CHECK_GT(unit, 0) << "tile of " << shape;
  return unit;
}

// In a serialized literal PRED is packed, eight to a byte, and so are types narrower than a byte, with or without E.
int64_t SerializedArraySize(const Shape& shape) {
  const PrimitiveType type = shape.element_type();
  if (type != PRED && !primitive_util::IsSubByteNonPredType(type)) return ShapeUtil::ByteSizeOfElements(shape);
  return CeilOfRatio<int64_t>(ShapeUtil::ElementsIn(shape), CHAR_BIT / primitive_util::BitWidth(type));
}

}  // namespace

template <bool kBoundedDynamicOk>
std::pair<int64_t, bool> ShapeUtil::ExtentProduct(const Shape& shape) {
  int64_t product = 1;
  bool overflows = false;
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (kBoundedDynamicOk && shape.is_unbounded_dynamic_dimension(i)) continue;
    overflows |= !CheckedMultiply(product, shape.dimensions(i)).has_value();
    product = WrappingMultiply(product, shape.dimensions(i));
  }
  return {product, overflows};
}
template std::pair<int64_t, bool> ShapeUtil::ExtentProduct<true>(const Shape& shape);
template std::pair<int64_t, bool> ShapeUtil::ExtentProduct<false>(const Shape& shape);

int64_t ShapeUtil::ElementsIn(const Shape& shape) { return ExtentProduct</*kBoundedDynamicOk=*/false>(shape).first; }

int64_t ShapeUtil::ElementsInRecursive(const Shape& shape) {
  if (!shape.IsTuple()) return ElementsIn(shape);
  int64_t elements = 0;
  for (const Shape& element : shape.tuple_shapes()) elements = WrappingAdd(elements, ElementsInRecursive(element));
  return elements;
}

int64_t ShapeUtil::ByteSizeOf(const Shape& shape, int64_t pointer_size) {
  if (shape.IsTuple()) return ByteSizeOfTupleIndexTable(shape, pointer_size);
  if (shape.IsToken()) return 0;
  if (shape.IsOpaque()) {
    KASHI_CHECK_GT(pointer_size, 0);
    return pointer_size;
  }
  return ByteSizeOfElements(shape);
}

int64_t ShapeUtil::ByteSizeOfPrimitiveType(PrimitiveType type) { return primitive_util::ByteWidth(type); }

int64_t ShapeUtil::ByteSizeOfTupleIndexTable(const Shape& shape, int64_t pointer_size) {
  KASHI_CHECK_GT(pointer_size, 0);
  return WrappingMultiply(pointer_size, TupleElementCount(shape));
}

int64_t ShapeUtil::ByteSizeOfElements(const Shape& shape) { return BytesOfElements(shape, ElementsIn(shape)); }

int64_t ShapeUtil::ByteSizeOfElementsRecursive(const Shape& shape) {
  if (shape.IsToken()) return 0;
  if (!shape.IsTuple()) return ByteSizeOfElements(shape);
  int64_t bytes = 0;
  for (const Shape& element : shape.tuple_shapes()) bytes = WrappingAdd(bytes, ByteSizeOfElementsRecursive(element));
  return bytes;
}

absl::StatusOr<int64_t> ShapeUtil::SerializedSize(const Shape& shape) {
  return SerializedSizeWithProto(shape, ShapeProtoByteSize(shape));
}

absl::StatusOr<int64_t> ShapeUtil::SerializedSizeWithProto(const Shape& shape, int64_t proto_byte_size) {
  KASHI_RETURN_IF_ERROR(ValidateShapeWithOptionalLayout(shape));
  constexpr int64_t kHeaderSize = sizeof(int64_t);
  std::optional<int64_t> size = CheckedAdd(kHeaderSize, proto_byte_size);
  KASHI_RETURN_IF_ERROR(ForEachLeafShapeWithStatus(shape, [&](const Shape& leaf, const ShapeIndex&) {
    if (!leaf.IsArray() || leaf.is_unbounded_dynamic()) {
      return InvalidArgument("Shape cannot be serialized: %s", shape.ToString());
    }
    const int64_t dynamic_sizes = leaf.is_dynamic() ? leaf.rank() * static_cast<int64_t>(sizeof(DynamicSizeType)) : 0;
    if (size.has_value()) size = CheckedAdd(*size, dynamic_sizes);
    if (size.has_value()) size = CheckedAdd(*size, SerializedArraySize(leaf));
    return size.has_value() ? absl::OkStatus() : InvalidArgument("Serialized size of shape overflows int64_t.");
  }));
  return *size;
}

int64_t ShapeUtil::ArraySize(const Shape& shape) {
  const Layout& layout = shape.layout();
  if (layout.tiles_size() == 0) return ByteSizeOfElements(shape);
  if (shape.is_unbounded_dynamic()) return Shape::kUnboundedSize;

  const int64_t rank = shape.rank();
  const int64_t tile_rank = static_cast<int64_t>(layout.tiles(0).dimensions().size());
  int64_t elements = 1;
  for (int64_t minor = 0; minor < std::max(rank, tile_rank); ++minor) {
    int64_t size = minor < rank ? LayoutUtil::MaxSplitSize(shape, LayoutUtil::Minor(layout, minor)) : 1;
    if (minor < tile_rank) size = WrappingRoundUpTo(size, PaddingUnit(shape, minor));
    elements = WrappingMultiply(elements, size);
  }
  KASHI_CHECK_GE(layout.tail_padding_alignment_in_elements(), 1);
  elements = WrappingRoundUpTo(elements, layout.tail_padding_alignment_in_elements());
  return BytesOfElements(shape, elements);
}

int64_t ShapeUtil::ArrayDataSize(const Shape& shape) {
  DimensionVector last = CreateDimensionVectorFromShape(shape);
  for (int64_t& index : last) index = WrappingSubtract(index, 1);
  return BytesOfElements(shape, WrappingAdd(LayoutUtil::LinearIndex(shape, last), 1));
}

int64_t ShapeUtil::ElementSizeInBits(const Shape& shape) {
  if (shape.has_layout() && shape.layout().element_size_in_bits() != 0) return shape.layout().element_size_in_bits();
  return ByteSizeOfPrimitiveType(shape.element_type()) * CHAR_BIT;
}

absl::Status ShapeUtil::ByteStrides(const Shape& shape, absl::Span<int64_t> strides) {
  if (!shape.has_layout()) return Internal("shape %s does not have a layout", shape.ToString());
  if (shape.rank() != static_cast<int64_t>(strides.size())) {
    return Internal("%d strides for shape %s", strides.size(), shape.ToString());
  }
  KASHI_RETURN_IF_ERROR(LayoutUtil::ValidateLayoutForShape(shape.layout(), shape));
  const int64_t bits = ElementSizeInBits(shape);
  if (bits % CHAR_BIT != 0) {
    return InvalidArgument("the elements of shape %s do not fill whole bytes", shape.ToString(/*print_layout=*/true));
  }
  int64_t stride = bits / CHAR_BIT;
  for (int64_t dimension : shape.layout().minor_to_major()) {
    strides[dimension] = stride;
    stride = WrappingMultiply(stride, shape.dimensions(static_cast<int>(dimension)));
  }
  return absl::OkStatus();
}

std::optional<absl::InlinedVector<int64_t, 4>> ShapeUtil::ByteStrides(const Shape& shape) {
  if (!shape.IsArray()) return std::nullopt;
  absl::InlinedVector<int64_t, 4> strides(shape.rank());
  if (!ByteStrides(shape, absl::MakeSpan(strides)).ok()) return std::nullopt;
  return strides;
}

void ShapeUtil::UpdateElementSizeInBits(Shape* shape, bool pack_subbyte_types) {
  ForEachMutableLeafShape(shape, [&](Shape* leaf, const ShapeIndex&) {
    if (!leaf->has_layout()) return;
    const bool is_packed = pack_subbyte_types && primitive_util::IsSubByteNonPredType(leaf->element_type());
    leaf->mutable_layout()->set_element_size_in_bits(is_packed ? primitive_util::BitWidth(leaf->element_type()) : 0);
  });
}

}  // namespace kashi
