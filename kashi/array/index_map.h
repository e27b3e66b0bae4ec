// The exact map between the logical indices of an array and its positions in memory.
//
// A tiled layout is a mixed-radix number system (array-model.md, 4.1). Each tile splits physical dimensions into (which
// tile, where within the tile), or first merges some of them (`*`); the result of all tiles is a row-major array
// of *physical dimensions* with padding in it:
//
//   // s32[3,5]{1,0:T(2,4)}: physical dimensions 2,2,2,4
//   //          tile (0,0)     |  tile (0,1)
//   //    0   1   2   3        |   8   -   -   -
//   //    4   5   6   7        |  12   -   -   -
//   //   ----------------------+-----------------   row 3 and columns 5..7 are padding
//   //   16  17  18  19        |  24   -   -   -
//   //    -   -   -   -        |   -   -   -   -
//
// Making an IndexMap from a shape takes about a microsecond, proportional to the rank and the tile entries. A query
// then takes a few nanoseconds. It allocates no memory if rank plus intermediate values are at most 64. An IndexMap is
// immutable and can be shared between threads. Split configs (SC) do not change positions.
//
//   Post: for all logical i: PhysicalToLogical(LogicalToPhysical(i)) gives i
//   Post: every p in [0, padded_element_count()) is exactly one element, or padding
//
// Method: every digit of the number system is floor(v / d) mod m for an index v. This equals floor(v/d) - m *
// floor(v/(d*m)). So a position is a sum of quotients of the index, and an index is a sum of digits of the position:
//
//   physical = i0*4 + i1 + i0/2*8 + i1/4*4            i0 = p/16*2 + p/4%2        padding unless i0 < 3
//                                                     i1 = p/8%2*4 + p%4         padding unless i1 < 5
//
// A quotient takes one multiplication. If the digits do not nest (T(3)(2): 2 does not divide 3) or are merged (`*`),
// the value between the two tiles is computed first. In the other direction this value is compared with its bound,
// because values beyond it are padding too. ToString() prints all of this.
#ifndef KASHI_ARRAY_INDEX_MAP_H_
#define KASHI_ARRAY_INDEX_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/optimization.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape.h"

namespace kashi {

class IndexMap {
 public:
  // The shape must be an array (or a buffer: its array) with a layout that ValidateLayoutForShape accepts.
  // INVALID_ARGUMENT for anything else, for a `*` that has no more minor dimension to merge into, for unbounded
  // dimensions, and where a size or a position would not fit int64_t. Bounded dynamic dimensions count with their
  // bound.
  static absl::StatusOr<IndexMap> Make(const Shape& shape);

  int rank() const { return static_cast<int>(dimensions_.size()); }
  absl::Span<const int64_t> dimensions() const { return dimensions_; }  // logical
  // Sizes of the physical dimensions after all tiles, most major first; padding included.
  absl::Span<const int64_t> physical_dimensions() const { return physical_dimensions_; }

  int64_t element_count() const { return element_count_; }                // elements of the logical array
  int64_t tiled_element_count() const { return tiled_element_count_; }    // product of physical_dimensions()
  int64_t padded_element_count() const { return padded_element_count_; }  // … rounded up to the tail alignment L
  int64_t element_size_in_bits() const { return element_size_in_bits_; }  // E, else 8 * bytes of the element type
  // M: bytes in front of the first element; a negative one counts as 0.
  int64_t prefix_bytes() const { return prefix_bytes_; }
  // prefix_bytes() + padded_element_count() elements in whole bytes.
  int64_t byte_size() const { return byte_size_; }

  // The position of an element, counted in elements. Pre: `index` has rank() entries, each within its dimension.
  int64_t LogicalToPhysical(absl::Span<const int64_t> index) const;

  // The element at a position: writes its index to `index` (rank() entries) and returns true, or returns false where
  // there is padding (the contents of `index` are then unspecified). Pre: 0 <= physical < padded_element_count().
  bool PhysicalToLogical(int64_t physical, absl::Span<int64_t> index) const;

  // The byte, counted from the start of the buffer with the prefix included, that holds the first bit of the element at
  // a position, and that bit within it: packed elements fill a byte from its lowest bit upwards.
  int64_t ByteOffset(int64_t physical) const { return prefix_bytes_ + static_cast<int64_t>(BitsBefore(physical) / 8); }
  int BitInByte(int64_t physical) const { return static_cast<int>(BitsBefore(physical) % 8); }

  // Calls `visit` once per position in [begin, end), in memory order; `index` is empty for padding
  // (and at rank 0: see `is_element`).
  // Pre: 0 <= begin, end <= padded_element_count().
  using PhysicalVisitor = absl::FunctionRef<void(int64_t physical, bool is_element, absl::Span<const int64_t> index)>;
  void ForEachPhysical(int64_t begin, int64_t end, PhysicalVisitor visit) const;
  void ForEachPhysical(PhysicalVisitor visit) const { ForEachPhysical(0, padded_element_count_, visit); }

  // Calls `visit` once per element, in logical row-major order (last dimension fastest); at rank 0 once, index empty.
  using LogicalVisitor = absl::FunctionRef<void(absl::Span<const int64_t> index, int64_t physical)>;
  void ForEachLogical(LogicalVisitor visit) const;

  // The first level of tiles, where its tiles lie one after the other in memory: how many positions one holds (padding
  // of inner tiles included) and a visit of the t-th one. 0 if the layout has no tiles, and also where a later tile
  // reaches beyond the first one's dimensions and so interleaves first-level tiles, as the second does in
  // f32[8,8]{1,0:T(4)(2,2)}: there is no run of memory to call a tile, and ForEachPhysical serves.
  // Pre of ForEachInTile: 0 <= tile < tile_count().
  int64_t tile_element_count() const { return tile_element_count_; }
  int64_t tile_count() const { return tile_element_count_ == 0 ? 0 : tiled_element_count_ / tile_element_count_; }
  void ForEachInTile(int64_t tile, PhysicalVisitor visit) const {
    ForEachPhysical(tile * tile_element_count_, (tile + 1) * tile_element_count_, visit);
  }

  // The formulas above, one a line; for people.
  std::string ToString() const;

 private:
  friend class IndexMapBuilder;

  // See MakeDivisor.
  struct Divisor {
    uint64_t magic;
    uint8_t shift;
  };
  static constexpr uint64_t kMagicOfOne = uint64_t{1} << 63;
  static uint64_t Quotient(uint64_t value, const Divisor& divisor) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(value << 1) * divisor.magic) >> 64) >> divisor.shift;
  }

  // From logical to physical: coefficient * floor(values[source] / divisor), modulo 2^64.
  struct Term {
    uint64_t coefficient;
    Divisor divisor;
    int32_t source;
  };
  // values[target] = the sum of terms [begin, end).
  struct Sum {
    int32_t target;
    int32_t begin;
    int32_t end;
  };
  // The values are the index, then the intermediate values, each made by one of `inner`. The result's terms stand last.
  struct Sums {
    std::vector<Term> terms;
    std::vector<Sum> inner;
    int32_t result_begin = 0;
    // If there are no intermediate values: the coefficients of the terms with divisor 1, by dimension; 0 for none.
    absl::InlinedVector<uint64_t, InlineRank()> strides;
    int32_t quotients_begin = 0;  // the first term with another divisor; the terms with divisor 1 come before it
    static uint64_t Add(const Term* begin, const Term* end, const uint64_t* values, uint64_t sum);
  };

  // From physical to logical: values[target] += weight * (floor(value / divisor) mod bound).
  struct Digit {
    uint64_t bound;
    uint64_t weight;
    Divisor divisor;
    int32_t target;
  };
  // A value that consists of the digits [begin, end), major to minor: the product of the bounds of the more minor ones
  // is a digit's divisor. Beyond `bound` there is padding.
  struct Container {
    int32_t value;
    int32_t begin;
    int32_t end;
    uint64_t bound;
  };
  // The values are the index, then those in between. The first container is the position, the others are in-between
  // values, each after those that have digits of it.
  struct Digits {
    std::vector<Digit> digits;
    std::vector<Container> containers;
    void Distribute(const Container& container, uint64_t value, uint64_t* values) const;
  };

  // The bits of a buffer that has 2^63 - 1 bytes need more than 64.
  unsigned __int128 BitsBefore(int64_t physical) const {
    return static_cast<unsigned __int128>(physical) * static_cast<uint64_t>(element_size_in_bits_);
  }
  int64_t ToPhysicalWithInner(absl::Span<const int64_t> index) const;
  bool ToLogicalWithInner(int64_t physical, absl::Span<int64_t> index) const;
  static std::string DivisionToString(const std::string& value, const Divisor& divisor);
  std::string SumToString(int32_t begin, int32_t end, absl::Span<const std::string> names) const;
  std::string DigitsToString(int32_t target, absl::Span<const std::string> names) const;

  Sums to_physical_;
  Digits to_logical_;
  DimensionVector dimensions_;
  DimensionVector physical_dimensions_;
  int64_t element_count_ = 0;
  int64_t tiled_element_count_ = 0;
  int64_t padded_element_count_ = 0;
  int64_t tile_element_count_ = 0;
  int64_t element_size_in_bits_ = 0;
  int64_t prefix_bytes_ = 0;
  int64_t byte_size_ = 0;
};

inline uint64_t IndexMap::Sums::Add(const Term* begin, const Term* end, const uint64_t* values, uint64_t sum) {
  for (const Term* term = begin; term != end; ++term) {
    sum += Quotient(values[term->source], term->divisor) * term->coefficient;
  }
  return sum;
}

inline int64_t IndexMap::LogicalToPhysical(absl::Span<const int64_t> index) const {
  if (ABSL_PREDICT_FALSE(!to_physical_.inner.empty())) return ToPhysicalWithInner(index);
  const uint64_t* values = reinterpret_cast<const uint64_t*>(index.data());  // indices are not negative
  const uint64_t* strides = to_physical_.strides.data();
  uint64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i) sum += values[i] * strides[i];
  const std::vector<Term>& terms = to_physical_.terms;
  return static_cast<int64_t>(
      Sums::Add(terms.data() + to_physical_.quotients_begin, terms.data() + terms.size(), values, sum));
}

}  // namespace kashi

#endif  // KASHI_ARRAY_INDEX_MAP_H_
