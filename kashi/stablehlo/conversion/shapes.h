// Types and constants of StableHLO as shapes and literals of HLO.
//
//   tensor<2x3xf32>                               f32[2,3]{1,0}
//   tensor<?x3xf32, #stablehlo.bounds<8, ?>>      f32[<=8,3]{1,0}
//   tuple<tensor<2xi1>, !stablehlo.token>         (pred[2]{0}, token[])
//
//   tensor<4x!quant.uniform<i8:f32, 0.5:3>>       s8[4]{0}, the stored integers
//
// Errors say which form HLO lacks (unranked types, sizes that are not known); callers add the operation.
#ifndef KASHI_STABLEHLO_CONVERSION_SHAPES_H_
#define KASHI_STABLEHLO_CONVERSION_SHAPES_H_

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/literal/literal.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Whether a size may be unknown (`?` without a bound), and so unbounded dynamic, f32[?,3]. Otherwise it is an error.
enum class UnknownSizes { kError, kAllowed };

// With the default layout. An `index` becomes s64, as in XLA.
absl::StatusOr<Shape> ShapeOfType(const Type& type, UnknownSizes unknown = UnknownSizes::kError);

// Whether a value of shape `actual` may stand for the shape of a type: unknown sizes match any size, and the results of
// reductions may be wider.
bool FitsType(const Shape& type, const Shape& actual);

// The elements of a dense<…> attribute. A splat of any size becomes a scalar literal: the caller broadcasts it.
absl::StatusOr<Literal> LiteralOfTensor(const Attribute& tensor);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_SHAPES_H_
