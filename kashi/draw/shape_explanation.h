// Explains a shape: the meaning of each part of its text, its bytes, and layouts that take fewer bytes.
//
//   bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}
//     type        bf16: float, 1 sign, 8 exponent and 7 mantissa bits; 2 bytes per element
//     dimensions  p = 8, z = 1, y = 1280, x = 16384: …
//     …
//
// The text has about twenty lines of at most 120 columns, except for long names. Every line ends with a newline.
#ifndef KASHI_DRAW_SHAPE_EXPLANATION_H_
#define KASHI_DRAW_SHAPE_EXPLANATION_H_

#include <optional>
#include <string>

#include "kashi/array/shape.h"
#include "kashi/array/tpu_tiling.h"

namespace kashi {

// Explains any shape: of a tuple, with a table of its leaves. A shape that no memory can hold is explained in part,
// with the reason why it ends there. Cheaper layouts are those that `target` would choose, if it is given.
std::string ExplainShape(const Shape& shape, std::optional<TpuGeneration> target = std::nullopt);

}  // namespace kashi

#endif  // KASHI_DRAW_SHAPE_EXPLANATION_H_
