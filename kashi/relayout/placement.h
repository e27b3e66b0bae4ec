// The positions of an array's elements in memory: by a layout, or by NumPy's byte strides; of all of the array, or
// a part of it. One side of a relayout.
//
//   Placement::OfLayout(ParseShape("bf16[512,6144]{1,0:T(8,128)(2,1)}").value())   a device buffer
//   Placement::OfStrides(F32, {3, 4}, {4, -12})                                    a NumPy view, its rows reversed
//   device->Slice({0, 128}, {512, 128})                                            columns 128 to 255 of the buffer
#ifndef KASHI_RELAYOUT_PLACEMENT_H_
#define KASHI_RELAYOUT_PLACEMENT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/index_map.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/shape.h"

namespace kashi {

class Placement {
 public:
  // The address that goes with it is that of the buffer's first byte (its prefix, M, included). INVALID_ARGUMENT as
  // from IndexMap::Make, and for E(bits) that cannot hold the type.
  static absl::StatusOr<Placement> OfLayout(const Shape& shape);

  // An element's first byte is at the address + sum of index * byte_strides; strides may be negative, 0, and no
  // multiple of the element size. Types of less than a byte have a byte each.
  static absl::StatusOr<Placement> OfStrides(PrimitiveType type, absl::Span<const int64_t> dimensions,
                                             absl::Span<const int64_t> byte_strides);

  // The part of this array that begins at index `starts` and has `sizes`; the address stays that of the whole array.
  absl::StatusOr<Placement> Slice(absl::Span<const int64_t> starts, absl::Span<const int64_t> sizes) const;

  PrimitiveType element_type() const { return shape_.element_type(); }
  absl::Span<const int64_t> dimensions() const { return sizes_; }  // of the part
  absl::Span<const int64_t> starts() const { return starts_; }     // of the part in the whole

  // The whole array, and where its elements are if a layout says it.
  const Shape& shape() const { return shape_; }
  bool has_layout() const { return map_.has_value(); }
  const IndexMap& map() const { return *map_; }                             // Pre: has_layout()
  absl::Span<const int64_t> byte_strides() const { return byte_strides_; }  // Pre: !has_layout()

  // Bits that an element takes: E of the layout, else those of its storage.
  int64_t slot_bits() const { return slot_bits_; }
  // Whether this is all of the array, so that everything between its elements is padding.
  bool is_whole_buffer() const { return has_layout() && sizes_ == whole_sizes_; }

  // The offset of the element with this index (of the part), in bits from the address. Pre: rank entries, each in its
  // dimension.
  int64_t BitOffset(absl::Span<const int64_t> index) const;

  // "f32[8,128]{1,0:T(8,128)}", "f32[3,4] by strides 4,-12", "[0:512, 128:256] of bf16[…]…".
  std::string ToString() const;

 private:
  Placement() = default;

  Shape shape_;
  std::optional<IndexMap> map_;
  DimensionVector byte_strides_;
  DimensionVector whole_sizes_;
  DimensionVector starts_;
  DimensionVector sizes_;
  int64_t slot_bits_ = 0;
};

}  // namespace kashi

#endif  // KASHI_RELAYOUT_PLACEMENT_H_
