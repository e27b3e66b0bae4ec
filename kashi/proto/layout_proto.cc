// FromProto and ToProto of Tile, SplitConfig and Layout.

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/proto/shape_reader.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi {

// ---------------------------------------------------------------------------------------------------------------------
// Tile
// ---------------------------------------------------------------------------------------------------------------------

absl::StatusOr<Tile> Tile::FromProto(const TileProto& proto) {
  for (int i = 0; i < proto.dimensions_size(); ++i) {
    const int64_t dimension = proto.dimensions(i);
    if (dimension >= 0) continue;
    return proto::proto_internal::RetCheckFailure(
        "TileProto.dimensions", "dimension >= 0 (entry ", i, " is ",
        dimension == kCombineDimension ? "`*`, which a proto cannot represent" : absl::StrCat(dimension), ")");
  }
  return Tile(proto.dimensions());
}

TileProto Tile::ToProto() const {
  TileProto proto;
  SetProto(proto);
  return proto;
}

void Tile::SetProto(TileProto& proto) const {
  proto.Clear();
  proto.mutable_dimensions()->Add(dimensions_.begin(), dimensions_.end());
}

// ---------------------------------------------------------------------------------------------------------------------
// SplitConfig
// ---------------------------------------------------------------------------------------------------------------------

SplitConfig SplitConfig::CreateFromProto(const SplitConfigProto& proto) {
  return SplitConfig(proto.dimension(), proto.split_indices());
}

SplitConfigProto SplitConfig::ToProto() const {
  SplitConfigProto proto;
  SetProto(proto);
  return proto;
}

void SplitConfig::SetProto(SplitConfigProto& proto) const {
  proto.Clear();
  proto.set_dimension(dimension_);
  proto.mutable_split_indices()->Add(split_indices_.begin(), split_indices_.end());
}

// ---------------------------------------------------------------------------------------------------------------------
// Layout
// ---------------------------------------------------------------------------------------------------------------------

absl::StatusOr<Layout> Layout::FromProto(const LayoutProto& proto) {
  Layout layout;
  KASHI_RETURN_IF_ERROR(proto::proto_internal::ShapeReader::Read(proto, &layout));
  return layout;
}

Layout Layout::CreateFromProto(const LayoutProto& proto) {
  absl::StatusOr<Layout> layout = FromProto(proto);
  KASHI_CHECK_OK(layout);
  return *std::move(layout);
}

LayoutProto Layout::ToProto() const {
  LayoutProto proto;
  SetProto(proto);
  return proto;
}

void Layout::SetProto(LayoutProto& proto) const {
  proto.Clear();
  proto.mutable_minor_to_major()->Add(minor_to_major_.begin(), minor_to_major_.end());
  for (const Tile& tile : tiles_) tile.SetProto(*proto.add_tiles());
  proto.set_element_size_in_bits(element_size_in_bits_);
  proto.set_memory_space(memory_space_);
  if (has_physical_shape()) physical_shape().SetProto(*proto.mutable_physical_shape());
  proto.set_index_primitive_type(index_primitive_type_);
  proto.set_pointer_primitive_type(pointer_primitive_type_);
  proto.set_dynamic_shape_metadata_prefix_bytes(dynamic_shape_metadata_prefix_bytes_);
  proto.set_tail_padding_alignment_in_elements(tail_padding_alignment_in_elements_);
  for (const SplitConfig& config : split_configs_) config.SetProto(*proto.add_split_configs());
}

}  // namespace kashi
