// PhysicalOrder: moves the row-major elements of a value to their positions under the layout of a shape, and back.
// IndexMap (kashi/array/index_map.h) defines the positions; this class moves whole arrays fast.
#ifndef KASHI_KERNELS_PHYSICAL_ORDER_H_
#define KASHI_KERNELS_PHYSICAL_ORDER_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape.h"
#include "kashi/base/work_meter.h"

namespace kashi::kernels {

class PhysicalOrder {
 public:
  // Returns the errors of IndexMap::Make. A shape without layout has the default layout.
  static absl::StatusOr<PhysicalOrder> Make(const Shape& shape);

  const Shape& shape() const { return shape_; }
  const IndexMap& map() const { return map_; }

  // Whether element k in row-major order is at position k.
  bool IsRowMajor() const;
  // Whether all elements have the same positions in both orders. May return false for some equal orders.
  static bool AreEqual(const PhysicalOrder& a, const PhysicalOrder& b);

  // Elements have 1, 2, 4, 8 or 16 bytes; the physical side has map().padded_element_count() of them. Spread does not
  // write padding. Both end early with the error of check_stopped().
  [[nodiscard]] absl::Status Spread(const char* logical, int element_bytes, char* physical,
                                    StopFunction check_stopped) const;
  [[nodiscard]] absl::Status Collect(const char* physical, int element_bytes, char* logical,
                                     StopFunction check_stopped) const;

 private:
  // How elements are moved:
  //   kLinear  MoveBox           no tiles, or tiles that change nothing: positions are sum_d i_d * stride_d
  //   kTiled   a relayout plan   tiles within tiles that they divide
  //   kMapped  IndexMap          tiles that merge dimensions, or do not divide the tile around them
  enum class Kind { kLinear, kTiled, kMapped };
  PhysicalOrder(Shape shape, IndexMap map) : shape_(std::move(shape)), map_(std::move(map)) {}
  template <bool kSpread>
  absl::Status Move(const char* from, int element_bytes, char* to, StopFunction check_stopped) const;
  template <bool kSpread>
  absl::Status MoveTiled(const char* from, int element_bytes, char* to, StopFunction check_stopped) const;
  template <bool kSpread>
  absl::Status MoveMapped(const char* from, int element_bytes, char* to, StopFunction check_stopped) const;
  template <bool kSpread>
  void MoveMappedRows(int64_t begin, int64_t end, const char* from, int element_bytes, char* to) const;

  Shape shape_;
  IndexMap map_;
  Kind kind_ = Kind::kLinear;
};

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_PHYSICAL_ORDER_H_
