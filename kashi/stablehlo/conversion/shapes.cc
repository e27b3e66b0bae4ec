#include "kashi/stablehlo/conversion/shapes.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
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
      return Unimplemented(
          "HLO has no quantized types, such as %s: lower the program by "
          "`stablehlo-opt --stablehlo-legalize-quant-to-math` first",
          TypeText(type));
    default:
      return Unimplemented("HLO has no elements of type %s", TypeText(type));
  }
}

absl::StatusOr<Shape> ArrayShape(const Type& type) {
  if (type.types.size() != 1) return InvalidArgument("%s is no type of a tensor", TypeText(type));
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType element, ElementTypeOfType(*type.types[0]));
  absl::InlinedVector<int64_t, 6> sizes(type.dimensions.begin(), type.dimensions.end());
  std::vector<bool> is_dynamic(sizes.size(), false);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != kDynamic) continue;
    if (i >= type.bounds.size() || type.bounds[i] == kDynamic) {
      return Unimplemented(
          "the size of dimension %d of %s is not known: HLO needs sizes. Export the program with the shapes of its "
          "arguments, or refine it (jax.export: call it with arguments of known shapes)",
          i, TypeText(type));
    }
    sizes[i] = type.bounds[i];
    is_dynamic[i] = true;
  }
  return ShapeUtil::MakeValidatedShape(element, sizes, is_dynamic);
}

absl::StatusOr<Shape> ShapeAtDepth(const Type& type, int depth);

absl::StatusOr<Shape> TupleShape(const Type& type, int depth) {
  if (depth >= kDeepestTuple) return Unimplemented("tuples are nested more than %d deep", kDeepestTuple);
  std::vector<Shape> elements;
  for (const Type* element : type.types) {
    KASHI_ASSIGN_OR_RETURN(elements.emplace_back(), ShapeAtDepth(*element, depth + 1));
  }
  return ShapeUtil::MakeValidatedTupleShape(elements);
}

absl::StatusOr<Shape> ShapeAtDepth(const Type& type, int depth) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      return ArrayShape(type);
    case Type::Kind::kBuffer: {
      KASHI_ASSIGN_OR_RETURN(Shape shape, ArrayShape(type));
      return ShapeUtil::MakeValidatedBufferShape(std::move(shape));
    }
    case Type::Kind::kToken:
      return ShapeUtil::MakeTokenShape();
    case Type::Kind::kTuple:
      return TupleShape(type, depth);
    case Type::Kind::kUnrankedTensor:
      return Unimplemented("the rank of %s is not known: HLO needs ranks and sizes", TypeText(type));
    default:
      return Unimplemented("HLO has no values of type %s", TypeText(type));
  }
}

}  // namespace

absl::StatusOr<Shape> ShapeOfType(const Type& type) { return ShapeAtDepth(type, 0); }

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
