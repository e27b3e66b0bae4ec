// OpSharding records for builders of computations, which have no HloSharding. (XLA's xla::sharding_builder)
#ifndef KASHI_HLO_ATTRIBUTES_SHARDING_BUILDER_H_
#define KASHI_HLO_ATTRIBUTES_SHARDING_BUILDER_H_

#include <cstdint>

#include "kashi/array/shape.h"
#include "kashi/array/shape_tree.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/literal/array.h"

namespace kashi::sharding_builder {

using TileAssignment = Array<int64_t>;

OpSharding Replicate();
OpSharding Manual();
OpSharding AssignDevice(int device);
// Does not keep `tile_shape`, which XLA still writes into the record although nothing reads it.
OpSharding Tile(const Shape& tile_shape, const TileAssignment& tile_assignment);
// Tiles the only dimension of the shape over devices 0 .. num_tiles-1.
OpSharding Tile1D(const Shape& tile_shape, int64_t num_tiles);
// One sharding for each leaf; one sharding for a tuple without leaves.
OpSharding Tuple(const ShapeTree<OpSharding>& shardings);

}  // namespace kashi::sharding_builder

#endif  // KASHI_HLO_ATTRIBUTES_SHARDING_BUILDER_H_
