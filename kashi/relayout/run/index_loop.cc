#include "kashi/relayout/run/index_loop.h"

#include <algorithm>

#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/index_map.h"
#include "kashi/array/primitive_util.h"
#include "kashi/relayout/nests/slots.h"

namespace kashi::relayout {
namespace {

// The element's own bits, extended to the target's slot as RowFunctionFor says.
absl::uint128 ExtendElement(absl::uint128 slot, const ElementForm& form) {
  const int64_t bits = std::min<int64_t>(form.slot_bits, primitive_util::BitWidth(form.type));
  if (bits >= 128) return slot;
  const absl::uint128 sign = absl::uint128(1) << (bits - 1);
  slot &= (sign << 1) - 1;
  return primitive_util::IsSignedIntegralType(form.type) && bits >= 8 ? (slot ^ sign) - sign : slot;
}

}  // namespace

void MoveByIndex(const RelayoutTask& task, const RowFunction& convert, const char* source, char* target) {
  const Placement &from = task.from, &to = task.to;
  const absl::Span<const int64_t> sizes = from.dimensions();
  if (task.element_count() == 0) return;
  DimensionVector index(sizes.size(), 0);
  const bool converts = from.element_type() != to.element_type();
  const bool keeps_form = from.slot_bits() == to.slot_bits();
  while (true) {
    const int64_t from_bit = from.BitOffset(index), to_bit = to.BitOffset(index);
    if (converts) {
      CallRowFunction(convert, source, from_bit, target, to_bit, 1);
    } else {
      const absl::uint128 slot = ReadSlot(source, from_bit, from.slot_bits());
      WriteSlot(target, to_bit, to.slot_bits(), keeps_form ? slot : ExtendElement(slot, task.from_form()));
    }
    size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

void ClearByIndex(const RelayoutTask& task, char* target) {
  const Placement& to = task.to;
  DimensionVector index(to.dimensions().size());
  const IndexMap& map = to.map();
  for (int64_t position = 0; position < map.padded_element_count(); ++position) {
    if (map.PhysicalToLogical(position, absl::MakeSpan(index))) continue;
    WriteSlot(target, map.prefix_bytes() * 8 + position * to.slot_bits(), to.slot_bits(), *task.options.padding);
  }
}

void ClearLastBits(const Placement& to, char* target) {
  const int64_t positions = to.map().padded_element_count();
  const int64_t bits = to.slot_bits() % 8 == 0 ? 0 : positions * to.slot_bits() % 8;
  if (bits == 0) return;
  char& last = target[to.map().byte_size() - 1];
  last = static_cast<char>(last & ((1 << bits) - 1));
}

}  // namespace kashi::relayout
