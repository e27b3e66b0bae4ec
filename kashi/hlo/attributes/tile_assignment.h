// The device that holds each tile: an array of device numbers, one for each tile. (docs/spec/hlo.md, section 4)
//
// Most assignments are kept in iota form, which has the same size for any number of devices:
//
//   [2,4]<=[4,2]T(1,0)    0 .. 7 laid out as [4,2], transposed by (1,0), read as [2,4]:  0 2 4 6 / 1 3 5 7
//   [2,4]0,2,4,6,1,3,5,7  the same, as an explicit list
//
// The iota form is canonical: dimensions of size 1 are dropped and neighbours that stay neighbours are merged, as XLA
// does.
#ifndef KASHI_HLO_ATTRIBUTES_TILE_ASSIGNMENT_H_
#define KASHI_HLO_ATTRIBUTES_TILE_ASSIGNMENT_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/base/printer.h"
#include "kashi/literal/array.h"

namespace kashi {

// The product of sizes that a text may merely claim, capped at the largest int64_t.
int64_t SaturatingProduct(absl::Span<const int64_t> sizes);

// Device numbers 0, 1, … reshaped to reshape_dims, transposed by transpose_perm, and reshaped to dims. Texts may have
// invalid values (`[2,2]<=[8]`, `T(0,0)`, negative sizes), which can be stored, compared and printed too.
class IotaTileAssignment {
 public:
  using Permutation = absl::InlinedVector<int, 6>;

  static IotaTileAssignment Create(absl::Span<const int64_t> dims);
  // Dies where TryCreate returns nothing.
  static IotaTileAssignment Create(absl::Span<const int64_t> dims, absl::Span<const int64_t> reshape_dims,
                                   absl::Span<const int> transpose_perm);
  // Nothing if the two lists are not equally long, an entry of the second is not a dimension of the first, or merged
  // dimensions have a size beyond int64_t.
  static std::optional<IotaTileAssignment> TryCreate(absl::Span<const int64_t> dims,
                                                     absl::Span<const int64_t> reshape_dims,
                                                     absl::Span<const int> transpose_perm);

  int64_t ndims() const { return static_cast<int64_t>(dims_.size()); }
  int64_t dim(int n) const { return dims_[n]; }
  absl::Span<const int64_t> dims() const { return dims_; }
  absl::Span<const int64_t> reshape_dims() const { return reshape_dims_; }
  absl::Span<const int> transpose_perm() const { return transpose_perm_; }
  int64_t num_elements() const { return SaturatingProduct(dims_); }
  // Whether the three lists give the same number of devices, 1 or more, and transpose_perm is a permutation.
  bool IsConsistent() const;

  int64_t value_at(absl::Span<const int64_t> index) const;
  int64_t ValueAtLinearIndex(int64_t index) const;
  // The values with new dimensions. Pre: equal products.
  IotaTileAssignment WithDims(absl::Span<const int64_t> dims) const;
  // The assignment with dimension perm[i] at position i; nothing if the iota form cannot represent it.
  std::optional<IotaTileAssignment> Transpose(absl::Span<const int> perm) const;
  // The assignment in which each row of the last dimension is in ascending order; nothing as above.
  std::optional<IotaTileAssignment> SortRows() const;

  void Print(Printer* printer) const;  // [2,4]<=[4,2]T(1,0)
  std::string ToString() const;

  friend bool operator==(const IotaTileAssignment& a, const IotaTileAssignment& b) {
    return a.dims_ == b.dims_ && a.reshape_dims_ == b.reshape_dims_ && a.transpose_perm_ == b.transpose_perm_;
  }
  friend bool operator!=(const IotaTileAssignment& a, const IotaTileAssignment& b) { return !(a == b); }

 private:
  IotaTileAssignment() = default;

  DimensionVector dims_;
  DimensionVector reshape_dims_;
  Permutation transpose_perm_;
};

// A value type; copies share their data.
class TileAssignment {
 public:
  TileAssignment();                                                      // no device at all: dimensions [0]
  explicit TileAssignment(int64_t device_id);                            // [1]
  explicit TileAssignment(std::shared_ptr<const Array<int64_t>> array);  // must not be null
  explicit TileAssignment(IotaTileAssignment iota);
  explicit TileAssignment(std::initializer_list<int64_t> dims);  // 0, 1, 2, … in row-major order
  explicit TileAssignment(absl::Span<const int64_t> dims);
  TileAssignment(absl::Span<const int64_t> dims, absl::Span<const int64_t> reshape_dims,
                 absl::Span<const int> transpose_perm);

  absl::Span<const int64_t> dimensions() const {
    return rep_->iota.has_value() ? rep_->iota->dims() : rep_->array->dimensions();
  }
  int64_t num_dimensions() const { return static_cast<int64_t>(dimensions().size()); }
  int64_t dim(int64_t n) const { return dimensions()[n]; }
  int64_t num_elements() const { return SaturatingProduct(dimensions()); }
  // The iota form; empty if the assignment is an explicit list.
  const std::optional<IotaTileAssignment>& iota() const { return rep_->iota; }

  int64_t operator()(absl::Span<const int64_t> index) const;
  int64_t AtLinearIndex(int64_t index) const {
    return rep_->iota.has_value() ? rep_->iota->ValueAtLinearIndex(index) : rep_->array->begin()[index];
  }
  int64_t first() const { return AtLinearIndex(0); }  // there must be one
  bool UsesDevice(int64_t device) const;              // at once for the iota form
  // Calls f in row-major order; the index is valid during the call. EachStatus stops at the first error.
  void Each(absl::FunctionRef<void(absl::Span<const int64_t>, int64_t)> f) const;
  absl::Status EachStatus(absl::FunctionRef<absl::Status(absl::Span<const int64_t>, int64_t)> f) const;

  // All values, 8 bytes each. The first call makes them from the iota form, and any thread may make it.
  const Array<int64_t>& array() const { return *shared_array(); }
  const std::shared_ptr<const Array<int64_t>>& shared_array() const;
  std::shared_ptr<Array<int64_t>> shared_array_clone() const { return std::make_shared<Array<int64_t>>(array()); }
  // The assignment as an explicit list. An error if it has more than `max_devices` values, or an iota form that is not
  // consistent.
  absl::StatusOr<TileAssignment> ToExplicit(int64_t max_devices) const;

  // Pre: the number of elements stays the same.
  TileAssignment Reshape(absl::Span<const int64_t> dims) const;
  // Moves dimension perm[i] to position i. Keeps the iota form if possible. Errors are those of ToExplicit.
  absl::StatusOr<TileAssignment> TryTranspose(absl::Span<const int> perm, int64_t max_devices) const;
  TileAssignment Transpose(absl::Span<const int> perm) const;  // dies on an error
  // Sorts each row of the last dimension in ascending order; iota form and errors as above.
  absl::StatusOr<TileAssignment> TrySortRows(int64_t max_devices) const;

  void Print(Printer* printer) const;  // devices=[2,4]<=[4,2]T(1,0) or devices=[2,1]1,0
  std::string ToString() const;

  // Compares values: the iota form of a list equals the list. (Two iota forms are compared as forms.)
  friend bool operator==(const TileAssignment& a, const TileAssignment& b);
  friend bool operator!=(const TileAssignment& a, const TileAssignment& b) { return !(a == b); }
  // Hashes the dimensions and a few of the devices, so that a huge iota form costs nothing.
  template <typename H>
  friend H AbslHashValue(H h, const TileAssignment& tile) {
    h = H::combine(std::move(h), tile.dimensions());
    const int64_t count = tile.num_elements();
    const int64_t step = count <= 8 ? 1 : count / 8;
    for (int64_t i = 0; i < count && i < 8; ++i) h = H::combine(std::move(h), tile.AtLinearIndex(i * step));
    return h;
  }

 private:
  struct Rep {
    std::optional<IotaTileAssignment> iota;
    mutable std::once_flag once;  // guards `array` where there is an iota form
    mutable std::shared_ptr<const Array<int64_t>> array;
  };
  explicit TileAssignment(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

  std::shared_ptr<const Rep> rep_;
};

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_TILE_ASSIGNMENT_H_
