#include "kashi/relayout/placement.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

// Offsets are counted in bits, so 2^63 of them are all there are.
constexpr int64_t kMaxBytes = int64_t{1} << 57;

absl::Status CheckSlot(const Shape& shape, int64_t slot_bits) {
  const int64_t type_bits = primitive_util::BitWidth(shape.element_type());
  if (slot_bits >= type_bits) return absl::OkStatus();
  return InvalidArgument("%s: an element of %d bits has no room in %d", ShapeUtil::HumanStringWithLayout(shape),
                         type_bits, slot_bits);
}

// Only used in messages.
int64_t SaturatingEnd(int64_t start, int64_t size) { return CheckedAdd(start, size).value_or(INT64_MAX); }

// The least and the greatest byte offset must both be far from overflow.
absl::Status CheckReach(absl::Span<const int64_t> dimensions, absl::Span<const int64_t> byte_strides) {
  int64_t reach = 0;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] < 0) return InvalidArgument("dimension %d is negative: %d", i, dimensions[i]);
    const int64_t stride = byte_strides[i];
    if (stride < -kMaxBytes || stride > kMaxBytes) return InvalidArgument("the stride %d is too large", stride);
    if (dimensions[i] == 0) continue;
    int64_t span;
    if (__builtin_mul_overflow(stride < 0 ? -stride : stride, dimensions[i] - 1, &span) ||
        __builtin_add_overflow(reach, span, &reach) || reach > kMaxBytes) {
      return InvalidArgument("the array reaches over more than 2^57 bytes");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Placement> Placement::OfLayout(const Shape& shape) {
  KASHI_ASSIGN_OR_RETURN(IndexMap map, IndexMap::Make(shape));
  Placement result;
  result.shape_ = shape;
  result.slot_bits_ = map.element_size_in_bits();
  result.whole_sizes_.assign(map.dimensions().begin(), map.dimensions().end());
  result.sizes_ = result.whole_sizes_;
  result.starts_.resize(result.sizes_.size(), 0);
  if (map.byte_size() > kMaxBytes) return InvalidArgument("the array has more than 2^57 bytes");
  result.map_ = std::move(map);
  KASHI_RETURN_IF_ERROR(CheckSlot(shape, result.slot_bits_));
  return result;
}

absl::StatusOr<Placement> Placement::OfStrides(PrimitiveType type, absl::Span<const int64_t> dimensions,
                                               absl::Span<const int64_t> byte_strides) {
  if (!primitive_util::IsArrayType(type)) {
    return InvalidArgument("%s has no elements", primitive_util::LowercasePrimitiveTypeName(type));
  }
  if (dimensions.size() != byte_strides.size()) {
    return InvalidArgument("%d strides for %d dimensions", byte_strides.size(), dimensions.size());
  }
  KASHI_RETURN_IF_ERROR(CheckReach(dimensions, byte_strides));
  Placement result;
  KASHI_ASSIGN_OR_RETURN(result.shape_, ShapeUtil::MakeValidatedShape(type, dimensions));
  result.byte_strides_.assign(byte_strides.begin(), byte_strides.end());
  result.whole_sizes_.assign(dimensions.begin(), dimensions.end());
  result.sizes_ = result.whole_sizes_;
  result.starts_.resize(dimensions.size(), 0);
  result.slot_bits_ = 8 * primitive_util::ByteWidth(type);
  return result;
}

absl::StatusOr<Placement> Placement::Slice(absl::Span<const int64_t> starts, absl::Span<const int64_t> sizes) const {
  if (starts.size() != sizes_.size() || sizes.size() != sizes_.size()) {
    return InvalidArgument("a slice of %d starts and %d sizes of an array of rank %d", starts.size(), sizes.size(),
                           sizes_.size());
  }
  Placement result = *this;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] < 0 || sizes[i] < 0 || starts[i] > sizes_[i] || sizes[i] > sizes_[i] - starts[i]) {
      return InvalidArgument("the slice [%d:%d] of dimension %d is not within its size %d", starts[i],
                             SaturatingEnd(starts[i], sizes[i]), i, sizes_[i]);
    }
    result.starts_[i] += starts[i];
    result.sizes_[i] = sizes[i];
  }
  return result;
}

int64_t Placement::BitOffset(absl::Span<const int64_t> index) const {
  DimensionVector whole(starts_);
  for (size_t i = 0; i < whole.size(); ++i) whole[i] += index[i];
  if (has_layout()) return map_->prefix_bytes() * 8 + map_->LogicalToPhysical(whole) * slot_bits_;
  int64_t bytes = 0;
  for (size_t i = 0; i < whole.size(); ++i) bytes += whole[i] * byte_strides_[i];
  return bytes * 8;
}

std::string Placement::ToString() const {
  std::string text =
      has_layout() ? ShapeUtil::HumanStringWithLayout(shape_)
                   : absl::StrCat(ShapeUtil::HumanString(shape_), " by strides ", absl::StrJoin(byte_strides_, ","));
  if (sizes_ == whole_sizes_) return text;
  std::string slice;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    absl::StrAppend(&slice, i == 0 ? "" : ", ", starts_[i], ":", starts_[i] + sizes_[i]);
  }
  return absl::StrCat("[", slice, "] of ", text);
}

}  // namespace kashi
