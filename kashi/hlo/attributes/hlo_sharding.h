// How the value of an instruction is distributed over devices. (docs/spec/hlo.md, section 4; XLA's interface)
//
//   {replicated}                                     every device has the whole value
//   {maximal device=3}                               device 3 has the whole value
//   {devices=[2,1]<=[2]}                             cut in two along dimension 0
//   {devices=[2,2]<=[4] last_tile_dim_replicate}     the last tile dimension is not one of the array: its devices hold
//              copies
//   {devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}     the last two tile dimensions are not the array's
//   {manual} {unknown} {unreduced}                   for passes that spread the work themselves
//   {{replicated}, {manual}}                         a tuple: one for each leaf of the shape, in pre-order
//   {mesh['a'=2,'b'=2], [{'a'}, {'b'}]}              by axes of a mesh: see mesh.h
//
// A value of the size of two pointers: copies share their data. `leaf` below is a sharding that is not a tuple.
#ifndef KASHI_HLO_ATTRIBUTES_HLO_SHARDING_H_
#define KASHI_HLO_ATTRIBUTES_HLO_SHARDING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/array/shape_tree.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/attributes/mesh.h"
#include "kashi/hlo/attributes/tile_assignment.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi {

class HloSharding {
 public:
  // Shardings of one group are to become the same (`as`) or alike (`like`) when shardings are propagated.
  struct ShardGroup {
    ShardGroup(int64_t id, bool as, bool like) : shard_group_id(id), shard_as(as), shard_like(like) {}
    int64_t shard_group_id = 0;
    bool shard_as = false;
    bool shard_like = false;
    friend bool operator==(const ShardGroup& a, const ShardGroup& b) {
      return a.shard_group_id == b.shard_group_id && a.shard_as == b.shard_as && a.shard_like == b.shard_like;
    }
    friend bool operator!=(const ShardGroup& a, const ShardGroup& b) { return !(a == b); }
  };
  static ShardGroup ShardAs(int64_t id) { return ShardGroup(id, /*as=*/true, /*like=*/false); }
  static ShardGroup ShardLike(int64_t id) { return ShardGroup(id, /*as=*/false, /*like=*/true); }
  static ShardGroup NotShardGroup() { return ShardGroup(0, /*as=*/false, /*like=*/false); }

  // ---- Making. A wrong argument ends the process; FromProto and the text reader return errors. --------------------

  using MetadataSpan = absl::Span<const OpMetadata>;
  static HloSharding Replicate(MetadataSpan metadata = {});
  static HloSharding Manual(MetadataSpan metadata = {});
  static HloSharding Unknown(MetadataSpan metadata = {});
  static HloSharding Unreduced(MetadataSpan metadata = {});
  static HloSharding AssignDevice(int64_t device_id, MetadataSpan metadata = {});
  static HloSharding Tile(const TileAssignment& tile, MetadataSpan metadata = {});
  static HloSharding Tile(const Array<int64_t>& tile, MetadataSpan metadata = {}) {
    return Tile(ToTile(tile), metadata);
  }
  static HloSharding IotaTile(absl::Span<const int64_t> tile_dims, MetadataSpan metadata = {}) {
    return Tile(TileAssignment(tile_dims), metadata);
  }
  static HloSharding IotaTile(absl::Span<const int64_t> tile_dims, absl::Span<const int64_t> reshape_dims,
                              absl::Span<const int> transpose_perm, MetadataSpan metadata = {}) {
    return Tile(TileAssignment(tile_dims, reshape_dims, transpose_perm), metadata);
  }
  // Tiles the only dimension of `shape` over devices 0 .. num_tiles-1.
  static HloSharding Tile1D(const Shape& shape, int64_t num_tiles, MetadataSpan metadata = {});
  // Devices along the last tile dimension hold copies, and are sorted: their order has no meaning. Replicate() if
  // only that dimension has devices, Tile() if it has none.
  static HloSharding PartialTile(const TileAssignment& tile, MetadataSpan metadata = {});
  static HloSharding PartialTile(const Array<int64_t>& tile, MetadataSpan metadata = {}) {
    return PartialTile(ToTile(tile), metadata);
  }
  // The last tile dimensions, one for each type, are groups of devices. Dimensions of one type are merged, those of
  // size 1 dropped, and the rest ordered by type, replicated last.
  static HloSharding Subgroup(const TileAssignment& tile, absl::Span<const OpSharding::Type> types,
                              MetadataSpan metadata = {});
  static HloSharding Subgroup(const Array<int64_t>& tile, absl::Span<const OpSharding::Type> types,
                              MetadataSpan metadata = {}) {
    return Subgroup(ToTile(tile), types, metadata);
  }
  // PartialTile and Subgroup, but with an error if they would have to make a list of more than `max_devices`, or if the
  // numbers of devices do not fit each other.
  static absl::StatusOr<HloSharding> TryPartialTile(const TileAssignment& tile, int64_t max_devices,
                                                    MetadataSpan metadata = {});
  static absl::StatusOr<HloSharding> TrySubgroup(const TileAssignment& tile, absl::Span<const OpSharding::Type> types,
                                                 int64_t max_devices, MetadataSpan metadata = {});

  // Tuples. A tuple shape needs RequiredLeaves shardings, none of them a tuple: one for each leaf, or one if it has
  // none.
  static HloSharding Tuple(const ShapeTree<HloSharding>& shardings);
  static HloSharding Tuple(const Shape& tuple_shape, absl::Span<const HloSharding> shardings);
  static HloSharding FlatTuple(std::vector<HloSharding> shardings);
  static HloSharding SingleTuple(const Shape& tuple_shape, const HloSharding& sharding);  // the same for every leaf
  static HloSharding Single(const Shape& shape, const HloSharding& sharding);  // SingleTuple for tuple shapes
  static int64_t RequiredLeaves(const Shape& shape);

  explicit HloSharding(NamedSharding named);
  // The sharding without names that is equal to a named sharding. An error if its mesh is not consistent.
  static absl::StatusOr<HloSharding> V3ToV2Sharding(const NamedSharding& named);

  // Not for nested tuples.
  static absl::StatusOr<HloSharding> FromProto(const OpSharding& proto);
  OpSharding ToProto() const;

  // ---- Text: hlo_sharding_text.h reads it. ------------------------------------------------------------------------

  void Print(Printer* printer, bool include_metadata = false) const;
  std::string ToString(bool include_metadata = false) const;

  // ---- What it is. Of a tuple: whether all elements are, so every answer is true for the empty tuple. ---------------

  bool IsTuple() const;
  bool IsReplicated() const;
  bool IsTileMaximal() const;  // replicated, or on one device
  bool IsManual() const;
  bool IsUnknown() const;
  bool IsUnreduced() const;
  bool IsTiled() const { return !IsTileMaximal() && !IsManual() && !IsUnknown() && !IsUnreduced(); }
  bool IsManualSubgroup() const;
  bool IsUnreducedSubgroup() const;
  bool IsReplicatedLeaf() const;  // these are for leaves
  bool IsTileMaximalLeaf() const;
  bool IsManualLeaf() const;
  bool IsUnknownLeaf() const;
  bool IsUnreducedLeaf() const;
  bool IsTiledLeaf() const;
  bool UseNamedShardingLeaf() const;
  const NamedSharding& named_sharding() const;  // there must be one

  bool IsShardGroup() const { return IsShardAs() || IsShardLike(); }
  bool IsShardAs() const { return GetShardGroup().shard_as; }
  bool IsShardLike() const { return GetShardGroup().shard_like; }
  const ShardGroup& GetShardGroup() const;
  HloSharding& SetShardGroup(const ShardGroup& shard_group);
  HloSharding& SetShardGroupFromProto(const OpSharding& proto);
  HloSharding& ClearShardGroup() { return SetShardGroup(NotShardGroup()); }

  // ---- Devices -----------------------------------------------------------------------------------------------------

  static bool IsReservedDevice(int64_t device) { return device < 0; }
  bool UsesDevice(int64_t device) const;
  // The number of leaves that each device alone holds; *count is set to the number of leaves.
  std::map<int64_t, int64_t> UsedDevices(int64_t* count) const;
  // The one device that has the whole value; for a tuple, of all its elements.
  std::optional<int64_t> UniqueDevice() const;
  int64_t GetUniqueDevice() const;  // there must be one
  bool HasUniqueDevice() const { return UniqueDevice().has_value(); }

  // ---- Tiles: of leaves that are tiled, unless said otherwise. A named sharding answers as V3ToV2Sharding does.
  // ------

  const TileAssignment& tile_assignment() const;  // of any leaf; [0] where there are no devices
  const std::vector<OpSharding::Type>& subgroup_types() const;
  bool ReplicateOnLastTileDim() const;
  bool HasPartialReplication() const;      // ReplicateOnLastTileDim, or a replicated subgroup
  int64_t SubgroupReplicationDim() const;  // tile dimensions; -1 if there is none
  int64_t SubgroupManualDim() const;
  int64_t SubgroupUnreducedDim() const;
  // The number of tile dimensions that are dimensions of the array.
  int64_t TiledDataRank() const;
  int64_t TiledDataRankLeaf() const { return TiledDataRank(); }
  // The number of tiles of the array; the number of tiles times their copies. 1 if tile-maximal.
  int64_t NumTiles() const;
  int64_t NumTilesLeaf() const { return NumTiles(); }
  int64_t NumTiles(absl::Span<const int64_t> dims) const;  // along those dimensions
  int64_t TotalNumTiles() const;
  std::vector<int64_t> TileIndexForDevice(int64_t device) const;      // it must have one
  int64_t DeviceForTileIndex(absl::Span<const int64_t> index) const;  // of a full index, or of the array's part
  std::vector<int64_t> TileOffsetForDevice(const Shape& shape, int64_t device) const;
  std::vector<int64_t> TileLimitForDevice(const Shape& shape, int64_t device) const;  // one past the last element
  // The largest tile: sizes are divided and rounded up. A leaf that is not tiled does not change the shape.
  Shape TileShape(const Shape& shape) const;
  Shape TileShape(const Shape& shape, int64_t device) const;  // the tile of that device
  // f(device, offsets, limits) for each device. An error if `dims` has another rank.
  absl::Status EachTile(absl::Span<const int64_t> dims,
                        absl::FunctionRef<void(int64_t, absl::Span<const int64_t>, absl::Span<const int64_t>)> f) const;

  // ---- Tuples ------------------------------------------------------------------------------------------------------

  const std::vector<HloSharding>& tuple_elements() const;  // none for a leaf
  std::vector<HloSharding>& tuple_elements();
  // The sharding of the part at `index` of a tuple shape; itself a tuple if that part is.
  HloSharding GetSubSharding(const Shape& shape, const ShapeIndex& index) const;
  // Returns *this if it is a tuple that fits, otherwise SingleTuple.
  absl::StatusOr<HloSharding> GetTupleSharding(const Shape& shape) const;
  HloSharding NormalizeTupleSharding(const Shape& shape) const;
  // The sharding that all leaves have in common.
  std::optional<HloSharding> ExtractSingleSharding() const;
  // A tree with the sharding of each leaf; for a leaf, that sharding everywhere. The second function dies on an error.
  absl::StatusOr<ShapeTree<HloSharding>> AsShapeTree(const Shape& shape) const;
  ShapeTree<HloSharding> GetAsShapeTree(const Shape& shape) const;

  // Checks that a shape may have this sharding: ranks, the number of leaves, and device numbers, which must be below
  // num_devices and unique. Without num_devices there is no limit on device numbers.
  absl::Status Validate(const Shape& shape, std::optional<int64_t> num_devices = std::nullopt) const;

  const std::vector<OpMetadata>& metadata() const;
  std::vector<OpMetadata>& metadata();
  HloSharding WithMetadata(MetadataSpan metadata, bool overwrite) const;  // of tuples: of all elements
  HloSharding WithoutMetadata() const;

  // Ignores metadata; a named sharding is equal to the same sharding without names.
  friend bool operator==(const HloSharding& a, const HloSharding& b);
  friend bool operator!=(const HloSharding& a, const HloSharding& b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, const HloSharding& sharding) { return out << sharding.ToString(); }
  template <typename H>
  friend H AbslHashValue(H h, const HloSharding& sharding) {
    return H::combine(std::move(h), sharding.HashValue());
  }

 private:
  enum class Kind : char { kReplicated, kMaximal, kManual, kUnknown, kUnreduced, kTiled, kTuple, kNamed };
  struct Rep;

  explicit HloSharding(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
  static HloSharding OfKind(Kind kind, MetadataSpan metadata);
  static TileAssignment ToTile(const Array<int64_t>& tile) {
    return TileAssignment(std::make_shared<const Array<int64_t>>(tile));
  }
  static absl::StatusOr<HloSharding> FromTiles(const TileAssignment& tile, std::vector<OpSharding::Type> types,
                                               int64_t max_devices, MetadataSpan metadata);
  static absl::StatusOr<HloSharding> LeafFromProto(const OpSharding& proto);

  // The data for writing, which is not shared with other shardings.
  Rep* MutableRep();
  // For a leaf: *this if it is not a named sharding, otherwise its V3ToV2Sharding, which is computed once.
  const absl::StatusOr<HloSharding>& TryUnnamed() const;
  const HloSharding& Unnamed() const;  // Unknown() on an error: texts may have such meshes
  template <typename Predicate>
  bool AllLeaves(Predicate predicate) const;
  absl::Status CheckLeafCount(const Shape& shape) const;
  absl::Status ValidateLeaf(const Shape& shape, std::optional<int64_t> num_devices) const;
  void PrintLeaf(Printer* printer, bool include_metadata) const;
  int64_t SubgroupDim(OpSharding::Type type) const;
  size_t HashValue() const;

  std::shared_ptr<const Rep> rep_;
};

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_HLO_SHARDING_H_
