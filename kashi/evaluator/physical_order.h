// PhysicalOrder: where the elements of a value, which lie row-major, come to lie in memory under the layout of a
// shape; and the fastest way there and back. IndexMap (kashi/array/index_map.h) has the truth; this moves whole
// arrays by it.
#ifndef KASHI_EVALUATOR_PHYSICAL_ORDER_H_
#define KASHI_EVALUATOR_PHYSICAL_ORDER_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape.h"
#include "kashi/base/work_meter.h"

namespace kashi::internal {

class PhysicalOrder {
 public:
  // Errors are those of IndexMap::Make. A shape without layout has the default one.
  static absl::StatusOr<PhysicalOrder> Make(const Shape& shape);

  const Shape& shape() const { return shape_; }
  const IndexMap& map() const { return map_; }

  // Whether element k in row-major order is at position k.
  bool IsRowMajor() const;
  // Whether element k is at the same position in both orders, for all k. May miss some such orders.
  static bool AreEqual(const PhysicalOrder& a, const PhysicalOrder& b);

  // Elements of 1, 2, 4, 8 or 16 bytes, map().padded_element_count() of them on the physical side. Spread leaves what
  // is padding there alone. Both end early when is_stopped().
  void Spread(const char* logical, int element_bytes, char* physical, StopFunction is_stopped = NeverStopped) const;
  void Collect(const char* physical, int element_bytes, char* logical, StopFunction is_stopped = NeverStopped) const;

 private:
  // How elements are moved:
  //   kLinear  MoveBox           no tiles, or tiles that change nothing: positions are sum_d i_d * stride_d
  //   kTiled   a relayout plan   tiles within tiles that they divide
  //   kMapped  IndexMap          tiles that merge dimensions, or do not divide the tile around them
  enum class Kind { kLinear, kTiled, kMapped };
  PhysicalOrder(Shape shape, IndexMap map) : shape_(std::move(shape)), map_(std::move(map)) {}
  template <bool kSpread>
  void Move(const char* from, int element_bytes, char* to, StopFunction is_stopped) const;
  template <bool kSpread>
  void MoveTiled(const char* from, int element_bytes, char* to, StopFunction is_stopped) const;
  template <bool kSpread>
  void MoveMapped(const char* from, int element_bytes, char* to, StopFunction is_stopped) const;
  template <bool kSpread>
  void MoveMappedRows(int64_t begin, int64_t end, const char* from, int element_bytes, char* to) const;

  Shape shape_;
  IndexMap map_;
  Kind kind_ = Kind::kLinear;
};

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_PHYSICAL_ORDER_H_
