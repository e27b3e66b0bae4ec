#include "kashi/values/array_blocks.h"

#include "kashi/array/dimension_vector.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::values {

void CopyBlock(const Value& from, int64_t from_begin, Value* to, int64_t to_begin, int64_t count, int64_t d) {
  if (from.element_count() == 0) return;  // so that the products below fit
  const Slabs source(from.dimensions(), d);
  const Slabs target(to->dimensions(), d);
  const int bytes = from.element_bytes();
  const DimensionVector bounds = {source.outer, count * source.inner};
  const DimensionVector source_strides = {source.size * source.inner, 1};
  const DimensionVector target_strides = {target.size * target.inner, 1};
  literal::CopyStrided(bounds, bytes, {from.bytes() + from_begin * source.inner * bytes, source_strides},
                       {to->mutable_bytes() + to_begin * target.inner * bytes, target_strides});
}

}  // namespace kashi::values
