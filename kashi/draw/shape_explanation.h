// A shape told to a person: what each part of its text means, where its bytes go, and what would cost less.
//
//   bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}
//     type        bf16: float, 1 sign, 8 exponent and 7 mantissa bits; 2 bytes an element
//     dimensions  p = 8, z = 1, y = 1280, x = 16384: …
//     …
//
// Text of some twenty lines, 120 columns at most where names allow it, every line ended by a newline.
#ifndef KASHI_DRAW_SHAPE_EXPLANATION_H_
#define KASHI_DRAW_SHAPE_EXPLANATION_H_

#include <optional>
#include <string>

#include "kashi/array/shape.h"
#include "kashi/array/tpu_tiling.h"

namespace kashi {

// Any shape: of a tuple, a table of its leaves. A shape that no memory can hold is explained as far as it goes, and the
// explanation says why it ends. Cheaper layouts are those that `target` would choose, if it is given.
std::string ExplainShape(const Shape& shape, std::optional<TpuGeneration> target = std::nullopt);

}  // namespace kashi

#endif  // KASHI_DRAW_SHAPE_EXPLANATION_H_
