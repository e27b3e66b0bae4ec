#include "kashi/stablehlo/conversion/shapes.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/quantized_values.h"
#include "kashi/stablehlo/program/attribute_access.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

constexpr int kDeepestTuple = 64;

absl::StatusOr<PrimitiveType> ElementTypeOfType(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kElement:
      return type.element;
    case Type::Kind::kIndex:
      return S64;
    case Type::Kind::kQuantized:
      return StorageType(*type.quantization);
    default:
      return Unimplemented("HLO has no elements of type %s", TypeText(type));
  }
}

absl::StatusOr<Shape> ArrayShape(const Type& type, UnknownSizes unknown) {
  if (type.types.size() != 1) return InvalidArgument("%s is no type of a tensor", TypeText(type));
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType element, ElementTypeOfType(*type.types[0]));
  absl::InlinedVector<int64_t, 6> sizes(type.dimensions.begin(), type.dimensions.end());
  std::vector<bool> is_dynamic(sizes.size(), false);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != kDynamic) continue;
    is_dynamic[i] = true;
    const bool is_bounded = i < type.bounds.size() && type.bounds[i] != kDynamic;
    if (!is_bounded && unknown == UnknownSizes::kError) {
      return Unimplemented("the size of dimension %d of %s is not known: HLO needs sizes", i, TypeText(type));
    }
    sizes[i] = is_bounded ? type.bounds[i] : Shape::kUnboundedSize;
  }
  return ShapeUtil::MakeValidatedShape(element, sizes, is_dynamic);
}

absl::StatusOr<Shape> ShapeAtDepth(const Type& type, UnknownSizes unknown, int depth);

absl::StatusOr<Shape> TupleShape(const Type& type, UnknownSizes unknown, int depth) {
  if (depth >= kDeepestTuple) return Unimplemented("tuples are nested more than %d deep", kDeepestTuple);
  std::vector<Shape> elements;
  for (const Type* element : type.types) {
    KASHI_ASSIGN_OR_RETURN(elements.emplace_back(), ShapeAtDepth(*element, unknown, depth + 1));
  }
  return ShapeUtil::MakeValidatedTupleShape(elements);
}

absl::StatusOr<Shape> ShapeAtDepth(const Type& type, UnknownSizes unknown, int depth) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      return ArrayShape(type, unknown);
    case Type::Kind::kBuffer: {
      KASHI_ASSIGN_OR_RETURN(Shape shape, ArrayShape(type, unknown));
      return ShapeUtil::MakeValidatedBufferShape(std::move(shape));
    }
    case Type::Kind::kToken:
      return ShapeUtil::MakeTokenShape();
    case Type::Kind::kTuple:
      return TupleShape(type, unknown, depth);
    case Type::Kind::kUnrankedTensor:
      return Unimplemented("the rank of %s is not known: HLO needs ranks and sizes", TypeText(type));
    default:
      return Unimplemented("HLO has no values of type %s", TypeText(type));
  }
}

}  // namespace

absl::StatusOr<Shape> ShapeOfType(const Type& type, UnknownSizes unknown) { return ShapeAtDepth(type, unknown, 0); }

bool FitsType(const Shape& type, const Shape& actual) {
  if (!type.is_unbounded_dynamic()) return ShapeUtil::CompatibleIgnoringFpPrecision(type, actual);
  return Shape::Equal().IgnoreDynamicDimension().IgnoreLayout().IgnoreFpPrecision()(type, actual);
}

absl::StatusOr<Literal> LiteralOfTensor(const Attribute& tensor) {
  if (tensor.kind != Attribute::Kind::kTensor || tensor.type == nullptr) {
    return InvalidArgument("the value of a constant must be dense<…>");
  }
  KASHI_ASSIGN_OR_RETURN(Shape shape, ShapeOfType(*tensor.type));
  if (!shape.IsArray() || shape.is_dynamic()) {
    return InvalidArgument("a constant cannot have the type %s", TypeText(*tensor.type));
  }
  if (tensor.is_splat) shape = ShapeUtil::MakeScalarShape(shape.element_type());
  const int64_t count = ShapeUtil::ElementsIn(shape);
  const int64_t bytes = ElementBytes(*tensor.type->types[0]);
  // The text pays for the elements, so that no memory is taken for elements that a type merely claims.
  if (bytes <= 0 || static_cast<uint64_t>(count) != tensor.text.size() / bytes || tensor.text.size() % bytes != 0) {
    return InvalidArgument("a constant of type %s has %d bytes", TypeText(*tensor.type), tensor.text.size());
  }
  Literal literal(shape);
  if (literal.size_bytes() != static_cast<int64_t>(tensor.text.size())) {
    return Unimplemented("constants of type %s", TypeText(*tensor.type));
  }
  if (!tensor.text.empty()) std::memcpy(literal.untyped_data(), tensor.text.data(), tensor.text.size());
  return literal;
}

}  // namespace kashi::stablehlo
