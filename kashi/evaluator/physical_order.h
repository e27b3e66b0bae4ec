// PhysicalOrder: where the elements of a value, which lie row-major, come to lie in memory under the layout of a shape; and
// the fastest way there and back. IndexMap (kashi/array/index_map.h) has the truth; this moves whole arrays by it.
#ifndef KASHI_EVALUATOR_PHYSICAL_ORDER_H_
#define KASHI_EVALUATOR_PHYSICAL_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape.h"
#include "kashi/base/work_meter.h"

namespace kashi::internal {

class PhysicalOrder {
 public:
  // Errors are those of IndexMap::Make. A shape without layout has the default one. Cost: up to the sum of the dimensions.
  static absl::StatusOr<PhysicalOrder> Make(const Shape& shape);

  const Shape& shape() const { return shape_; }
  const IndexMap& map() const { return map_; }

  // Whether element k in row-major order is at position k.
  bool IsRowMajor() const;
  // Whether element k is at the same position in both orders, for all k. May miss some such orders.
  static bool AreEqual(const PhysicalOrder& a, const PhysicalOrder& b);

  // Elements of 1, 2, 4, 8 or 16 bytes, map().padded_element_count() of them on the physical side. Spread leaves what is
  // padding there alone. Both end early when is_stopped().
  void Spread(const char* logical, int element_bytes, char* physical, StopFunction is_stopped = NeverStopped) const;
  void Collect(const char* physical, int element_bytes, char* logical, StopFunction is_stopped = NeverStopped) const;

 private:
  // How positions come about:
  //   kLinear    sum_d i_d * stride_d           no tiles, or tiles that change nothing
  //   kSeparable sum_d table_d[i_d]             any tiles, but for those that merge dimensions
  //   kMapped    IndexMap
  enum class Kind { kLinear, kSeparable, kMapped };
  // Neighbours along the last dimension that are neighbours in memory.
  struct Run {
    int64_t begin;
    int64_t position;
    int64_t length;
  };
  PhysicalOrder(Shape shape, IndexMap map) : shape_(std::move(shape)), map_(std::move(map)) {}
  void MakeTables();
  template <int kBytes, bool kSpread>
  void Move(const char* from, char* to, StopFunction is_stopped) const;
  template <int kBytes, bool kSpread>
  void MoveRows(int64_t begin, int64_t end, const char* from, char* to) const;

  Shape shape_;
  IndexMap map_;
  Kind kind_ = Kind::kLinear;
  std::vector<std::vector<int64_t>> tables_;
  std::vector<Run> runs_;  // of the last dimension, where they are long
};

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_PHYSICAL_ORDER_H_
