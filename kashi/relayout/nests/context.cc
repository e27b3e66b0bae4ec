#include "kashi/relayout/nests/context.h"

#include <algorithm>

#include "kashi/array/primitive_util.h"

namespace kashi::relayout {

PlanContext::PlanContext(const ElementForm& given_from, const ElementForm& given_to, const CacheModel& caches,
                         const PlanChoice& choice)
    : from(given_from), to(given_to), caches(caches), choice(choice), sizes(caches, choice.block_scale) {
  if (keeps_form() && to.slot_bits % 8 == 0) return;
  moves_nibbles = keeps_form() && to.slot_bits == 4;
  resizes_nibbles = from.type == to.type && primitive_util::BitWidth(to.type) == 4 &&
                    std::min(from.slot_bits, to.slot_bits) == 4 && std::max(from.slot_bits, to.slot_bits) == 8;
  // If nothing is converted, all bits of a slot move, also those that the type does not use.
  if (keeps_form()) from.type = to.type = primitive_util::UnsignedIntegralTypeForBitWidth(to.slot_bits);
  const auto bits = [](PrimitiveType type) -> int64_t { return 8 * primitive_util::ByteWidth(type); };
  const PrimitiveType narrow = bits(from.type) < bits(to.type) ? from.type : to.type;
  scratch = {narrow, bits(narrow)};
  convert = RowFunctionFor(from, to);
  in = RowFunctionFor(from, scratch);
  out = RowFunctionFor(scratch, to);
}

}  // namespace kashi::relayout
