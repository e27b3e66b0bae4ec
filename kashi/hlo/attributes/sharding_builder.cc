#include "kashi/hlo/attributes/sharding_builder.h"

#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"

namespace kashi::sharding_builder {

OpSharding Replicate() {
  OpSharding sharding;
  sharding.set_type(OpSharding::REPLICATED);
  return sharding;
}

OpSharding Manual() {
  OpSharding sharding;
  sharding.set_type(OpSharding::MANUAL);
  return sharding;
}

OpSharding AssignDevice(int device) {
  OpSharding sharding;
  sharding.set_type(OpSharding::MAXIMAL);
  sharding.add_tile_assignment_dimensions(1);
  sharding.add_tile_assignment_devices(device);
  return sharding;
}

OpSharding Tile(const Shape& /*tile_shape*/, const TileAssignment& tile_assignment) {
  OpSharding sharding;
  sharding.set_type(OpSharding::OTHER);
  for (int64_t size : tile_assignment.dimensions()) sharding.add_tile_assignment_dimensions(size);
  for (int64_t device : tile_assignment) sharding.add_tile_assignment_devices(device);
  return sharding;
}

OpSharding Tile1D(const Shape& tile_shape, int64_t num_tiles) {
  KASHI_CHECK_EQ(tile_shape.dimensions_size(), 1);
  OpSharding sharding;
  sharding.set_type(OpSharding::OTHER);
  sharding.add_tile_assignment_dimensions(num_tiles);
  for (int64_t device = 0; device < num_tiles; ++device) sharding.add_tile_assignment_devices(device);
  return sharding;
}

OpSharding Tuple(const ShapeTree<OpSharding>& shardings) {
  OpSharding tuple;
  tuple.set_type(OpSharding::TUPLE);
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(shardings.shape())) {
    *tuple.add_tuple_shardings() = shardings.element(leaf.index);
  }
  if (tuple.tuple_shardings().empty()) *tuple.add_tuple_shardings() = shardings.element(ShapeIndex({}));
  return tuple;
}

}  // namespace kashi::sharding_builder
