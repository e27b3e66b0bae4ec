// The set of the dimensions that are in given lists. A query takes constant time.
#ifndef KASHI_HLO_IR_DIMENSION_SET_H_
#define KASHI_HLO_IR_DIMENSION_SET_H_

#include <cstdint>
#include <initializer_list>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace kashi::hlo {

class DimensionSet {
 public:
  // Ignores numbers outside [0, rank).
  DimensionSet(int64_t rank, std::initializer_list<absl::Span<const int64_t>> lists) : contains_(rank, false) {
    for (absl::Span<const int64_t> list : lists) {
      for (int64_t dimension : list) {
        if (0 <= dimension && dimension < rank) contains_[dimension] = true;
      }
    }
  }

  // Pre: 0 <= dimension < rank.
  bool contains(int64_t dimension) const { return contains_[dimension]; }

 private:
  absl::InlinedVector<bool, 8> contains_;
};

}  // namespace kashi::hlo

#endif  // KASHI_HLO_IR_DIMENSION_SET_H_
