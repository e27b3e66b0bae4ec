// Other element types: Convert, ConvertToShape, BitcastConvert.
#include <algorithm>
#include <utility>
#include <vector>

#include "kashi/array/element_convert.h"
#include "kashi/base/parallel.h"
#include "kashi/literal/literal.h"

namespace kashi {

using array::ConvertElement;
using base::ParallelFor;
namespace {

using primitive_util::NativeTypeOf;

// Elements that are worth another thread.
constexpr int64_t kConvertGrain = 1 << 16;

// Conversions of narrow types go by way of a wider one that holds all their values, a chunk at a time, which leaves
// seven types to convert from: the work for every pair of types would be a large program, and no faster.
constexpr PrimitiveType WayPoint(PrimitiveType from) {
  switch (GetPrimitiveTypeInfo(from).type_class) {
    case PrimitiveClass::kPred:
      return S32;
    case PrimitiveClass::kSigned:
    case PrimitiveClass::kUnsigned:
      return from == U32 ? S64 : GetPrimitiveTypeInfo(from).bits < 32 ? S32 : from;
    case PrimitiveClass::kFloat:
      return GetPrimitiveTypeInfo(from).bits < 32 ? F32 : from;
    case PrimitiveClass::kComplex:
    case PrimitiveClass::kInvalid:
    case PrimitiveClass::kNonArray:
      return from;
  }
  return from;
}

template <typename To, typename From>
void ConvertElements(const From* from, int64_t count, To* to) {
  std::transform(from, from + count, to, [](From value) { return ConvertElement<To>(value); });
}

template <PrimitiveType kFrom>
void ConvertRange(const void* from, int64_t count, PrimitiveType to_type, void* to) {
  primitive_util::ArrayTypeSwitch(
      [&](auto type) {
        using From = NativeTypeOf<kFrom>;
        using To = NativeTypeOf<type>;
        if constexpr (!is_complex_v<From> || is_complex_v<To>) {
          ConvertElements(static_cast<const From*>(from), count, static_cast<To*>(to));
        }
      },
      to_type);
}

template <PrimitiveType kFrom>
void ConvertByWayPoint(const void* from, int64_t count, PrimitiveType to_type, void* to) {
  constexpr int64_t kChunk = 1024;
  constexpr PrimitiveType kWayPoint = WayPoint(kFrom);
  const auto* elements = static_cast<const NativeTypeOf<kFrom>*>(from);
  const int64_t to_bytes = primitive_util::ByteWidth(to_type);
  NativeTypeOf<kWayPoint> chunk[kChunk];
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    const int64_t size = std::min(kChunk, count - begin);
    ConvertElements(elements + begin, size, chunk);
    ConvertRange<kWayPoint>(chunk, size, to_type, static_cast<char*>(to) + begin * to_bytes);
  }
}

template <PrimitiveType kFrom>
void ConvertFrom(const void* from, int64_t count, PrimitiveType to_type, void* to) {
  const int64_t from_bytes = primitive_util::ByteWidth(kFrom), to_bytes = primitive_util::ByteWidth(to_type);
  ParallelFor(count, kConvertGrain, [&](int64_t begin, int64_t end, int) {
    const void* source = static_cast<const char*>(from) + begin * from_bytes;
    void* target = static_cast<char*>(to) + begin * to_bytes;
    if constexpr (WayPoint(kFrom) == kFrom) {
      ConvertRange<kFrom>(source, end - begin, to_type, target);
    } else {
      ConvertByWayPoint<kFrom>(source, end - begin, to_type, target);
    }
  });
}

// Bits of all elements if sub-byte ones are packed.
int64_t PackedBytes(const Shape& shape) {
  const int64_t elements = ShapeUtil::ElementsIn(shape);
  return primitive_util::IsSubByteNonPredType(shape.element_type())
             ? primitive_util::PackedByteSize(elements, primitive_util::BitWidth(shape.element_type()))
             : elements * primitive_util::ByteWidth(shape.element_type());
}

absl::Span<const char> Pack(const Shape& shape, absl::Span<const char> elements, std::vector<char>* packed) {
  if (!primitive_util::IsSubByteNonPredType(shape.element_type())) return elements;
  packed->resize(PackedBytes(shape));
  primitive_util::PackIntN(shape.element_type(), elements, absl::MakeSpan(*packed));
  return *packed;
}

// Makes every byte of a PRED 0 or 1: other bytes are not valid bools.
void NormalizePreds(absl::Span<char> bytes) {
  for (char& byte : bytes) byte = byte != 0;
}

}  // namespace

absl::StatusOr<Literal> LiteralBase::Convert(PrimitiveType primitive_dest_type) const {
  if (!shape().IsArray()) return InvalidArgument("Convert needs an array, not %s", shape().ToString());
  const PrimitiveType type = shape().element_type();
  if (type == primitive_dest_type) return Clone();
  const bool loses_imaginary_part =
      primitive_util::IsComplexType(type) && !primitive_util::IsComplexType(primitive_dest_type);
  if (loses_imaginary_part || !primitive_util::IsArrayType(primitive_dest_type)) {
    return Unimplemented("Converting from type %s to type %s is not implemented.", PrimitiveType_Name(type),
                         PrimitiveType_Name(primitive_dest_type));
  }
  KASHI_ASSIGN_OR_RETURN(Literal result, Literal::Make(ShapeUtil::ChangeElementType(shape(), primitive_dest_type),
                                                       root_->buffer() != nullptr, root_->state()));
  if (root_->buffer() == nullptr) return result;
  primitive_util::ArrayTypeSwitch(
      [&](auto from) {
        ConvertFrom<from>(root_->memory(), element_count(), primitive_dest_type, result.untyped_data());
      },
      type);
  for (int i = 0; i < shape().dimensions_size(); ++i) {
    if (shape().is_dynamic_dimension(i)) result.SetDynamicSize(i, GetDynamicSize(i));
  }
  return result;
}

absl::StatusOr<Literal> LiteralBase::ConvertToShape(const Shape& dest_shape) const {
  if (!dest_shape.IsTuple()) return Convert(dest_shape.element_type());
  if (!ShapeUtil::EqualStructure(shape(), dest_shape)) {
    return InvalidArgument("a literal of %s cannot be converted to %s: the tuples differ", shape().ToString(),
                           dest_shape.ToString());
  }
  Shape result_shape = shape();
  std::vector<Literal> leaves;
  KASHI_RETURN_IF_ERROR(ShapeUtil::ForEachMutableLeafShapeWithStatus(
      &result_shape, [&](Shape* leaf, const ShapeIndex& index) -> absl::Status {
        const LiteralSlice source(*this, index);
        if (leaf->IsArray()) {
          KASHI_ASSIGN_OR_RETURN(Literal converted,
                                 source.Convert(ShapeUtil::GetSubshape(dest_shape, index).element_type()));
          leaves.push_back(std::move(converted));
        } else {
          leaves.push_back(source.Clone());
        }
        *leaf = leaves.back().shape();
        return absl::OkStatus();
      }));
  KASHI_ASSIGN_OR_RETURN(Literal result, Literal::Make(result_shape, /*allocate_arrays=*/false));
  auto next = leaves.begin();
  KASHI_RETURN_IF_ERROR(ShapeUtil::ForEachLeafShapeWithStatus(
      result_shape, [&](const Shape&, const ShapeIndex& index) { return result.MoveFrom(std::move(*next++), index); }));
  return result;
}

absl::StatusOr<Literal> LiteralBase::BitcastConvert(const Shape& dest_shape) const {
  if (!shape().IsArray() || !dest_shape.IsArray()) {
    return InvalidArgument("bitcast_convert needs arrays, not %s and %s", shape().ToString(), dest_shape.ToString());
  }
  if (shape().is_dynamic() || dest_shape.is_dynamic()) {
    return InvalidArgument("bitcast_convert does not support dynamic shapes: %s, %s", shape().ToString(),
                           dest_shape.ToString());
  }
  KASHI_ASSIGN_OR_RETURN(Literal result, Literal::Make(dest_shape));
  const bool same_bytes = result.size_bytes() == size_bytes();
  if (!same_bytes && PackedBytes(result.shape()) != PackedBytes(shape())) {
    return InvalidArgument("Can not bitcast-convert from shape %s to a shape of different size %s", shape().ToString(),
                           dest_shape.ToString());
  }
  const absl::Span<const char> from(root_->memory(), size_bytes());
  const absl::Span<char> to(result.root_->memory(), result.size_bytes());
  std::vector<char> packed;
  if (same_bytes) {
    std::copy(from.begin(), from.end(), to.begin());
  } else if (const absl::Span<const char> bytes = Pack(shape(), from, &packed);
             primitive_util::IsSubByteNonPredType(dest_shape.element_type())) {
    primitive_util::UnpackIntN(dest_shape.element_type(), bytes, to);
  } else {
    std::copy(bytes.begin(), bytes.end(), to.begin());
  }
  if (dest_shape.element_type() == PRED) NormalizePreds(to);
  return result;
}

}  // namespace kashi
