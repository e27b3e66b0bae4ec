// The C++ types of the fields of instructions (fields.def) that are not records of xla_data.h.
#ifndef KASHI_HLO_IR_FIELD_TYPES_H_
#define KASHI_HLO_IR_FIELD_TYPES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/hlo/attributes/fusion_kind.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/literal/literal.h"

namespace kashi {

class HloComputation;

using Int64List = RepeatedField<int64_t>;
using ComputationVector = absl::InlinedVector<HloComputation*, 2>;
using SourceTargetPairs = std::vector<std::pair<int64_t, int64_t>>;
// Output {index} shares its buffer with (operand, index).
using OutputOperandAliasingPairs = std::vector<std::pair<ShapeIndex, std::pair<int64_t, ShapeIndex>>>;

// [start:limit:stride] of each dimension.
struct SliceRanges {
  std::vector<int64_t> starts;
  std::vector<int64_t> limits;
  std::vector<int64_t> strides;

  friend bool operator==(const SliceRanges& a, const SliceRanges& b) {
    return a.starts == b.starts && a.limits == b.limits && a.strides == b.strides;
  }
  template <typename H>
  friend H AbslHashValue(H h, const SliceRanges& ranges) {
    return H::combine(std::move(h), ranges.starts, ranges.limits, ranges.strides);
  }
};

// The two sides of a `domain` instruction.
struct DomainShardings {
  HloSharding entry;
  HloSharding exit;

  friend bool operator==(const DomainShardings& a, const DomainShardings& b) {
    return a.entry == b.entry && a.exit == b.exit;
  }
  template <typename H>
  friend H AbslHashValue(H h, const DomainShardings& domain) {
    return H::combine(std::move(h), domain.entry, domain.exit);
  }
};

// An immutable literal that instructions and their clones share.
class SharedLiteral {
 public:
  SharedLiteral() = default;
  explicit SharedLiteral(Literal literal) : literal_(std::make_shared<const Literal>(std::move(literal))) {}
  explicit SharedLiteral(std::shared_ptr<const Literal> literal) : literal_(std::move(literal)) {}
  const Literal& operator*() const { return *literal_; }
  const Literal* operator->() const { return literal_.get(); }
  explicit operator bool() const { return literal_ != nullptr; }

  // A literal in place of one whose elements a printer omitted: `constant({...})` (elided_constant.h).
  static SharedLiteral Elided(Literal stand_in) {
    SharedLiteral literal(std::move(stand_in));
    literal.is_elided_ = true;
    return literal;
  }
  bool is_elided() const { return is_elided_; }

  friend bool operator==(const SharedLiteral& a, const SharedLiteral& b) {
    if (a.is_elided_ != b.is_elided_) return false;
    if (a.literal_ == b.literal_) return true;
    return a.literal_ && b.literal_ && a.literal_->Equal(*b.literal_, /*layout_sensitive=*/true);
  }
  // Only the first elements of a large literal.
  template <typename H>
  friend H AbslHashValue(H h, const SharedLiteral& literal) {
    if (!literal.literal_) return H::combine(std::move(h), 0);
    constexpr int64_t kBytes = 64;
    return LiteralBase::Hash<H, /*layout_sensitive=*/true, kBytes>(std::move(h), *literal.literal_);
  }

 private:
  std::shared_ptr<const Literal> literal_;
  bool is_elided_ = false;
};

}  // namespace kashi

#endif  // KASHI_HLO_IR_FIELD_TYPES_H_
