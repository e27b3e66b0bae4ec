// Each door asks MakeGeometry, which validates and then holds the one fact: widths and strides by logical dimension.
#include "kashi/array/legacy_layout.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

struct Geometry {
  DimensionVector widths;   // padding included
  DimensionVector strides;  // in elements
  int64_t count = 0;        // product of widths
};

// The product of `sizes` in any order: a 0 makes it 0, also beside sizes that would not fit without it.
std::optional<int64_t> CheckedProduct(absl::Span<const int64_t> sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  std::optional<int64_t> product = 1;
  for (size_t i = 0; i < sizes.size() && product; ++i) product = CheckedMultiply(*product, sizes[i]);
  return product;
}

absl::Status ValidateOrder(const LegacyLayout& layout, const Shape& shape) {
  const int rank = shape.dimensions_size();
  const std::string order = absl::StrCat("{", absl::StrJoin(layout.minor_to_major, ", "), "}");
  if (layout.minor_to_major.size() != static_cast<size_t>(rank)) {
    return InvalidArgument("layout minor_to_major field contains %d elements, but shape is rank %d: %s; shape: %s",
                           layout.minor_to_major.size(), rank, order, shape.ToString());
  }
  std::vector<bool> is_seen(rank, false);
  for (int64_t dimension : layout.minor_to_major) {
    if (dimension < 0 || dimension >= rank) {
      return InvalidArgumentStrCat("layout minor_to_major field has out-of-bounds value: ", order);
    }
    if (is_seen[dimension]) {
      return InvalidArgumentStrCat("layout minor_to_major field has duplicate values: ", order);
    }
    is_seen[dimension] = true;
  }
  return absl::OkStatus();
}

absl::Status ValidatePadding(const LegacyLayout& layout, const Shape& shape) {
  if (layout.padded_dimensions.empty()) return absl::OkStatus();
  if (layout.padded_dimensions.size() != static_cast<size_t>(shape.dimensions_size())) {
    return InvalidArgument("layout has %d padded dimensions, but shape is rank %d", layout.padded_dimensions.size(),
                           shape.dimensions_size());
  }
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (layout.padded_dimensions[i] < shape.dimensions(i)) {
      return InvalidArgument(
          "for dimension %d, dimension padding (%d) is smaller than the dimension size (%d) of the shape", i,
          layout.padded_dimensions[i], shape.dimensions(i));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Geometry> MakeGeometry(const LegacyLayout& layout, const Shape& shape) {
  KASHI_RETURN_IF_ERROR(ValidateLegacyLayout(layout, shape));
  if (layout.format == LegacyFormat::kSparse) {
    return Unimplemented("the elements of a sparse array have no fixed positions: %s", layout.ToString());
  }
  Geometry geometry;
  if (layout.padded_dimensions.empty()) {
    geometry.widths.assign(shape.dimensions().begin(), shape.dimensions().end());
  } else {
    geometry.widths = layout.padded_dimensions;
  }
  const std::optional<int64_t> count = CheckedProduct(geometry.widths);
  if (!count) return InvalidArgumentStrCat("the padded elements of ", shape.ToString(), " do not fit in 63 bits");
  geometry.count = *count;
  geometry.strides.assign(geometry.widths.size(), 0);  // without positions all stay 0
  int64_t stride = 1;
  for (size_t i = 0; i < layout.minor_to_major.size() && geometry.count > 0; ++i) {
    geometry.strides[layout.minor_to_major[i]] = stride;
    stride *= geometry.widths[layout.minor_to_major[i]];
  }
  return geometry;
}

}  // namespace

absl::string_view PaddingValueName(PaddingValue value) {
  switch (value) {
    case PaddingValue::kInvalid:
      return "INVALID";
    case PaddingValue::kZero:
      return "ZERO";
    case PaddingValue::kOne:
      return "ONE";
    case PaddingValue::kLowest:
      return "LOWEST";
    case PaddingValue::kHighest:
      return "HIGHEST";
    case PaddingValue::kUnknown:
      return "UNKNOWN";
  }
  return "";
}

std::string LegacyLayout::ToString() const {
  if (format == LegacyFormat::kSparse) return absl::StrCat("sparse{", max_sparse_elements, "}");
  return absl::StrCat("{", absl::StrJoin(minor_to_major, ","), "}");
}

absl::Status ValidateLegacyLayout(const LegacyLayout& layout, const Shape& shape) {
  if (shape.IsTuple()) return InvalidArgument("a single Layout is not valid for tuple shapes");
  if (!shape.IsArray()) return InvalidArgumentStrCat("a layout is not valid for ", shape.ToString());
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (shape.dimensions(i) < 0) {  // unbounded ones too
      return InvalidArgumentStrCat("dimension ", i, " of ", shape.ToString(), " has no size");
    }
  }
  switch (layout.format) {
    case LegacyFormat::kDense:
      KASHI_RETURN_IF_ERROR(ValidateOrder(layout, shape));
      return ValidatePadding(layout, shape);
    case LegacyFormat::kSparse:
      if (layout.padded_dimensions.empty()) return absl::OkStatus();
      return InvalidArgument("a sparse layout must not have padded dimensions");
    case LegacyFormat::kInvalid:
      break;
  }
  return InvalidArgumentStrCat("layout does not have a valid format: ", static_cast<int>(layout.format));
}

absl::StatusOr<int64_t> LegacyPaddedElementCount(const LegacyLayout& layout, const Shape& shape) {
  KASHI_ASSIGN_OR_RETURN(const Geometry geometry, MakeGeometry(layout, shape));
  return geometry.count;
}

absl::StatusOr<int64_t> LegacyByteSize(const LegacyLayout& layout, const Shape& shape) {
  KASHI_ASSIGN_OR_RETURN(const int64_t count, LegacyPaddedElementCount(layout, shape));
  const std::optional<int64_t> bytes = CheckedMultiply(count, GetPrimitiveTypeInfo(shape.element_type()).bytes);
  if (!bytes) return InvalidArgumentStrCat("the padded bytes of ", shape.ToString(), " do not fit in 63 bits");
  return *bytes;
}

absl::StatusOr<int64_t> LegacyLinearIndex(const LegacyLayout& layout, const Shape& shape,
                                          absl::Span<const int64_t> index) {
  KASHI_ASSIGN_OR_RETURN(const Geometry geometry, MakeGeometry(layout, shape));
  const auto out_of_bounds = [&] {
    return InvalidArgumentStrCat("index (", absl::StrJoin(index, ","), ") is out of bounds for ", shape.ToString());
  };
  if (index.size() != geometry.widths.size()) return out_of_bounds();
  int64_t linear = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= shape.dimensions(static_cast<int>(i))) return out_of_bounds();
    linear += index[i] * geometry.strides[i];
  }
  return linear;
}

absl::StatusOr<std::vector<int64_t>> LegacyPicture(const LegacyLayout& layout, const Shape& shape) {
  constexpr int64_t kMaxPositions = int64_t{1} << 28;
  KASHI_ASSIGN_OR_RETURN(const Geometry geometry, MakeGeometry(layout, shape));
  if (geometry.count > kMaxPositions) {
    return ResourceExhausted("a figure of %d positions is too large; the limit is %d", geometry.count, kMaxPositions);
  }
  std::vector<int64_t> picture(static_cast<size_t>(geometry.count), kLegacyPadding);
  const std::optional<int64_t> elements = CheckedProduct(shape.dimensions());  // at most geometry.count
  DimensionVector index(geometry.widths.size(), 0);
  int64_t position = 0;
  for (int64_t element = 0; element < *elements; ++element) {
    picture[position] = element;
    for (int i = shape.dimensions_size() - 1; i >= 0; --i) {
      position += geometry.strides[i];
      if (++index[i] < shape.dimensions(i)) break;
      position -= index[i] * geometry.strides[i];
      index[i] = 0;
    }
  }
  return picture;
}

absl::StatusOr<Layout> ToModernLayout(const LegacyLayout& layout, const Shape& shape) {
  KASHI_ASSIGN_OR_RETURN(const Geometry geometry, MakeGeometry(layout, shape));
  Layout modern(layout.minor_to_major);
  if (geometry.widths == DimensionVector(shape.dimensions().begin(), shape.dimensions().end()) || geometry.count == 0) {
    return modern;
  }
  Tile tile;
  for (int i = shape.dimensions_size() - 1; i >= 0; --i) tile.add_dimensions(geometry.widths[layout.minor_to_major[i]]);
  const absl::Span<const int64_t> sizes = shape.dimensions();
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return InvalidArgumentStrCat(shape.ToString(), " padded to ", geometry.count,
                                 " positions has no tiled layout: an array without elements has no positions there");
  }
  *modern.add_tiles() = std::move(tile);
  return modern;
}

}  // namespace kashi
