// The field numbers are those of ShapeProto, LayoutProto, TileProto and SplitConfigProto (array-model.md, 3.1 and 9).
#include "kashi/array/shape_proto_size.h"

#include "absl/types/span.h"
#include "kashi/base/math.h"

namespace kashi {
namespace {

// Seven bits a byte; negative numbers take the ten bytes of 64 bits.
int64_t VarintSize(int64_t value) { return CeilOfRatio(Log2Floor(static_cast<uint64_t>(value) | 1) + 1, 7); }

// A field's tag is its number and three bits of wire type. Scalars of value zero are not written.
int64_t ScalarFieldSize(int number, int64_t value) {
  return value == 0 ? 0 : VarintSize(number << 3) + VarintSize(value);
}
int64_t MessageFieldSize(int number, int64_t size) { return VarintSize(number << 3) + VarintSize(size) + size; }
int64_t PackedFieldSize(int number, absl::Span<const int64_t> values) {
  int64_t size = 0;
  for (int64_t value : values) size += VarintSize(value);
  return values.empty() ? 0 : MessageFieldSize(number, size);
}

int64_t LayoutProtoSize(const Layout& layout) {
  int64_t size = PackedFieldSize(1, layout.minor_to_major());
  for (const Tile& tile : layout.tiles()) size += MessageFieldSize(6, PackedFieldSize(1, tile.dimensions()));
  size += ScalarFieldSize(7, layout.element_size_in_bits());
  size += ScalarFieldSize(8, layout.memory_space());
  if (layout.has_physical_shape()) size += MessageFieldSize(10, ShapeProtoByteSize(layout.physical_shape()));
  size += ScalarFieldSize(11, layout.index_primitive_type());
  size += ScalarFieldSize(12, layout.pointer_primitive_type());
  size += ScalarFieldSize(15, layout.dynamic_shape_metadata_prefix_bytes());
  size += ScalarFieldSize(16, layout.tail_padding_alignment_in_elements());
  for (const SplitConfig& config : layout.split_configs()) {
    size += MessageFieldSize(17, ScalarFieldSize(1, config.dimension()) + PackedFieldSize(2, config.split_indices()));
  }
  return size;
}

}  // namespace

int64_t ShapeProtoByteSize(const Shape& shape) {
  int64_t size = ScalarFieldSize(2, shape.element_type_including_buffer());
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) size += MessageFieldSize(4, ShapeProtoByteSize(element));
  } else if (shape.IsBuffer() && shape.IsArray()) {
    size += MessageFieldSize(4, ShapeProtoByteSize(shape.buffer_shape()));
  } else if (shape.IsArray()) {
    size += PackedFieldSize(3, shape.dimensions());
    if (shape.has_layout()) size += MessageFieldSize(5, LayoutProtoSize(shape.layout()));
    if (shape.rank() > 0) size += MessageFieldSize(6, shape.rank());  // a byte a flag, false ones too
  }
  return size;
}

}  // namespace kashi
