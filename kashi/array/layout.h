// The placement of the elements of an array in memory: `Layout`, with its parts `Tile` and `SplitConfig`.
//
//   {1,0:T(8,128)(2,1)E(4)S(1)}
//    ^^^ minor_to_major: the fastest-varying logical dimension first; a permutation of [0, rank)
//        ^^^^^^^^^^^^^^ tiles, applied from left to right, each to the result of the one before (array-model.md, 4.1)
//                      E: bits per element, if not the natural width    S: memory space
//
// The classes have XLA's names and signatures. Like XLA's, they accept values without a meaning. ValidateLayoutForShape
// (layout_util.h) checks a layout as XLA does; IndexMap (index_map.h) gives exact positions.
#ifndef KASHI_ARRAY_LAYOUT_H_
#define KASHI_ARRAY_LAYOUT_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/printer.h"

namespace kashi {

class Shape;
class TileProto;
class SplitConfigProto;
class LayoutProto;

// One level of tiling: the sizes of a tile, most major first. It covers the most minor of the dimensions to which it is
// applied.
class Tile {
 public:
  // An entry of this value merges its dimension into the next more minor one before tiling; printed `*`.
  static constexpr int64_t kCombineDimension = std::numeric_limits<int64_t>::min();

  Tile() = default;
  explicit Tile(absl::Span<const int64_t> dimensions) : dimensions_(dimensions.begin(), dimensions.end()) {}

  // INTERNAL if an entry is negative, kCombineDimension included: XLA's protos cannot carry it. (kashi/proto)
  static absl::StatusOr<Tile> FromProto(const TileProto& proto);
  TileProto ToProto() const;
  void SetProto(TileProto& proto) const;

  // "(8,128)"; negative entries other than `*` print "Invalid value N".
  void Print(Printer* printer) const;
  std::string ToString() const;

  int64_t dimension(int i) const { return dimensions_[i]; }
  absl::Span<const int64_t> dimensions() const { return dimensions_; }
  Tile& add_dimensions(int64_t dimension) {
    dimensions_.push_back(dimension);
    return *this;
  }
  Tile& clear_dimensions() {
    dimensions_.clear();
    return *this;
  }

  bool operator==(const Tile& other) const { return dimensions_ == other.dimensions_; }
  bool operator!=(const Tile& other) const { return !(*this == other); }
  template <typename H>
  friend H AbslHashValue(H h, const Tile& tile) {
    return H::combine(std::move(h), tile.dimensions_);
  }

 private:
  absl::InlinedVector<int64_t, 2> dimensions_;
};
using TileVector = absl::InlinedVector<Tile, 3>;
std::ostream& operator<<(std::ostream& out, const Tile& tile);

// The positions at which a dimension is cut between memories: `SC(0:512)`. `dimension` is physical, 0 = most major.
class SplitConfig {
 public:
  SplitConfig(int64_t dimension, absl::Span<const int64_t> split_indices)
      : dimension_(dimension), split_indices_(split_indices.begin(), split_indices.end()) {}

  static SplitConfig CreateFromProto(const SplitConfigProto& proto);
  SplitConfigProto ToProto() const;
  void SetProto(SplitConfigProto& proto) const;

  std::string ToString() const;  // "(0:512)"

  int64_t dimension() const { return dimension_; }
  SplitConfig& set_dimension(int64_t dimension) {
    dimension_ = dimension;
    return *this;
  }
  absl::Span<const int64_t> split_indices() const { return split_indices_; }
  int64_t split_indices(int64_t i) const { return split_indices_[i]; }
  int64_t split_indices_size() const { return static_cast<int64_t>(split_indices_.size()); }
  SplitConfig& add_split_indices(int64_t index) {
    split_indices_.push_back(index);
    return *this;
  }
  SplitConfig& clear_split_indices() {
    split_indices_.clear();
    return *this;
  }

  bool operator==(const SplitConfig& other) const {
    return dimension_ == other.dimension_ && split_indices_ == other.split_indices_;
  }
  bool operator!=(const SplitConfig& other) const { return !(*this == other); }
  template <typename H>
  friend H AbslHashValue(H h, const SplitConfig& config) {
    return H::combine(std::move(h), config.dimension_, config.split_indices_);
  }

 private:
  int64_t dimension_;
  absl::InlinedVector<int64_t, 1> split_indices_;
};
std::ostream& operator<<(std::ostream& out, const SplitConfig& config);

class Layout {
 public:
  static constexpr int64_t kDefaultMemorySpace = 0;
  static constexpr int64_t kGenericFastMemorySpace = 1;
  static constexpr int64_t kHostMemorySpace = 5;

  Layout();
  Layout(const Layout& other);
  Layout(Layout&& other) noexcept;
  ~Layout();
  Layout& operator=(const Layout& other);
  Layout& operator=(Layout&& other) noexcept;

  // Dies if `tail_padding_alignment_in_elements` is below 1.
  explicit Layout(absl::Span<const int64_t> minor_to_major, absl::Span<const Tile> tiles = {},
                  PrimitiveType index_primitive_type = PRIMITIVE_TYPE_INVALID,
                  PrimitiveType pointer_primitive_type = PRIMITIVE_TYPE_INVALID,
                  int64_t tail_padding_alignment_in_elements = 1, int64_t element_size_in_bits = 0,
                  int64_t memory_space = 0, absl::Span<const SplitConfig> split_configs = {},
                  std::unique_ptr<Shape> physical_shape = nullptr, int64_t dynamic_shape_metadata_prefix_bytes = 0);
  Layout(absl::Span<const int64_t> minor_to_major, absl::Span<const Tile> tiles, int64_t element_size_in_bits);

  // INTERNAL for a negative tile entry or tail padding; an alignment of 0 means 1. (kashi/proto)
  static absl::StatusOr<Layout> FromProto(const LayoutProto& proto);
  // Dies where FromProto fails.
  static Layout CreateFromProto(const LayoutProto& proto);
  LayoutProto ToProto() const;
  void SetProto(LayoutProto& proto) const;

  // "{1,0:T(8,128)S(1)}": parts after the colon in XLA's order, only those that are not default.
  void Print(Printer* printer) const;
  std::string ToString() const;

  // Comparison with options: Layout::Equal().IgnoreTiles()(a, b).
  // The metadata prefix never takes part (array-model.md, 2.5).
  class Equal {
   public:
    bool operator()(const Layout& lhs, const Layout& rhs) const;
    Equal& IgnoreTiles(bool ignore = true) { return Set(&ignore_tiles_, ignore); }
    Equal& IgnoreTailPaddingAlignmentInElements(bool ignore = true) { return Set(&ignore_tail_padding_, ignore); }
    Equal& IgnoreIndexPrimitiveType(bool ignore = true) { return Set(&ignore_index_primitive_type_, ignore); }
    Equal& IgnorePointerPrimitiveType(bool ignore = true) { return Set(&ignore_pointer_primitive_type_, ignore); }
    Equal& IgnoreMemorySpace(bool ignore = true) { return Set(&ignore_memory_space_, ignore); }
    Equal& IgnoreSplitConfigs(bool ignore = true) { return Set(&ignore_split_configs_, ignore); }
    Equal& IgnorePhysicalShape(bool ignore = true) { return Set(&ignore_physical_shape_, ignore); }
    Equal& IgnoreElementSize(bool ignore = true) { return Set(&ignore_element_size_, ignore); }
    // Ignores tiles, memory space, element size, tail padding and split configs;
    // index and pointer types and the physical shape still count, as in XLA.
    Equal& MinorToMajorOnly(bool only = true) {
      return IgnoreTiles(only)
          .IgnoreTailPaddingAlignmentInElements(only)
          .IgnoreMemorySpace(only)
          .IgnoreElementSize(only)
          .IgnoreSplitConfigs(only);
    }

   private:
    Equal& Set(bool* option, bool value) {
      *option = value;
      return *this;
    }
    bool ignore_tiles_ = false;
    bool ignore_tail_padding_ = false;
    bool ignore_index_primitive_type_ = false;
    bool ignore_pointer_primitive_type_ = false;
    bool ignore_memory_space_ = false;
    bool ignore_split_configs_ = false;
    bool ignore_physical_shape_ = false;
    bool ignore_element_size_ = false;
  };
  bool operator==(const Layout& other) const { return Equal()(*this, other); }
  bool operator!=(const Layout& other) const { return !(*this == other); }

  // Minor to major.
  absl::Span<const int64_t> minor_to_major() const { return minor_to_major_; }
  int64_t minor_to_major(int i) const { return minor_to_major_[i]; }
  int minor_to_major_size() const { return static_cast<int>(minor_to_major_.size()); }
  Layout& set_minor_to_major(int i, int64_t dimension) {
    minor_to_major_[i] = dimension;
    return *this;
  }
  Layout& add_minor_to_major(int64_t dimension) {
    minor_to_major_.push_back(dimension);
    return *this;
  }
  Layout& clear_minor_to_major() {
    minor_to_major_.clear();
    return *this;
  }
  DimensionVector* mutable_minor_to_major() { return &minor_to_major_; }
  // Removes the logical dimension and renumbers the rest. Dies if there is no such dimension.
  Layout& DeleteDimension(int dimension);

  // Tiles.
  absl::Span<const Tile> tiles() const { return tiles_; }
  const Tile& tiles(int i) const { return tiles_[i]; }
  int64_t tiles_size() const { return static_cast<int64_t>(tiles_.size()); }
  Tile* mutable_tiles(int i) { return &tiles_[i]; }
  TileVector* mutable_tiles() { return &tiles_; }
  Tile* add_tiles() {
    tiles_.emplace_back();
    return &tiles_.back();
  }
  Layout& clear_tiles() {
    tiles_.clear();
    return *this;
  }

  // 0: the natural width of the element type, in whole bytes.
  int64_t element_size_in_bits() const { return element_size_in_bits_; }
  Layout& set_element_size_in_bits(int64_t bits) {
    element_size_in_bits_ = bits;
    return *this;
  }

  // The element count after tiling is rounded up to a multiple of this; at least 1.
  int64_t tail_padding_alignment_in_elements() const { return tail_padding_alignment_in_elements_; }
  Layout& set_tail_padding_alignment_in_elements(int64_t alignment) {
    tail_padding_alignment_in_elements_ = alignment;
    return *this;
  }

  // Left from sparse arrays: text keeps them, validation refuses them.
  PrimitiveType index_primitive_type() const { return index_primitive_type_; }
  Layout& set_index_primitive_type(PrimitiveType type) {
    index_primitive_type_ = type;
    return *this;
  }
  PrimitiveType pointer_primitive_type() const { return pointer_primitive_type_; }
  Layout& set_pointer_primitive_type(PrimitiveType type) {
    pointer_primitive_type_ = type;
    return *this;
  }

  // Held in 8 bits, as XLA does: set_memory_space(128) reads back as -128.
  int64_t memory_space() const { return memory_space_; }
  Layout& set_memory_space(int64_t space) {
    memory_space_ = static_cast<int8_t>(static_cast<uint8_t>(static_cast<uint64_t>(space)));
    return *this;
  }

  absl::Span<const SplitConfig> split_configs() const { return split_configs_; }
  const SplitConfig& split_configs(int i) const { return split_configs_[i]; }
  int64_t split_configs_size() const { return static_cast<int64_t>(split_configs_.size()); }
  SplitConfig* mutable_split_configs(int i) { return &split_configs_[i]; }
  Layout& add_split_configs(const SplitConfig& config) {
    split_configs_.push_back(config);
    return *this;
  }
  Layout& clear_split_configs() {
    split_configs_.clear();
    return *this;
  }

  bool has_physical_shape() const { return physical_shape_ != nullptr; }
  const Shape& physical_shape() const;  // dies if there is none
  Shape* mutable_physical_shape();      // makes one if there is none
  Layout& clear_physical_shape();

  // Bytes in front of the data that hold run-time sizes.
  int64_t dynamic_shape_metadata_prefix_bytes() const { return dynamic_shape_metadata_prefix_bytes_; }
  Layout& set_dynamic_shape_metadata_prefix_bytes(int64_t bytes) {
    dynamic_shape_metadata_prefix_bytes_ = bytes;
    return *this;
  }

  void Swap(Layout* other) { std::swap(*this, *other); }
  void Clear() { *this = Layout(); }

  template <typename H>
  friend H AbslHashValue(H h, const Layout& l) {
    return H::combine(std::move(h), l.minor_to_major_, l.tiles_, l.element_size_in_bits_, l.index_primitive_type_,
                      l.pointer_primitive_type_, l.memory_space_, l.split_configs_,
                      l.tail_padding_alignment_in_elements_);
  }

 private:
  DimensionVector minor_to_major_;
  TileVector tiles_;
  absl::InlinedVector<SplitConfig, 1> split_configs_;
  std::unique_ptr<Shape> physical_shape_;
  int64_t element_size_in_bits_ = 0;
  int64_t tail_padding_alignment_in_elements_ = 1;
  int64_t dynamic_shape_metadata_prefix_bytes_ = 0;
  PrimitiveType index_primitive_type_ = PRIMITIVE_TYPE_INVALID;
  PrimitiveType pointer_primitive_type_ = PRIMITIVE_TYPE_INVALID;
  int8_t memory_space_ = 0;
};
std::ostream& operator<<(std::ostream& out, const Layout& layout);

}  // namespace kashi

#endif  // KASHI_ARRAY_LAYOUT_H_
