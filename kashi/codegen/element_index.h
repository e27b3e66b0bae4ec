// The elements of an array that the lanes of a vector represent.
//
// A *coordinate* is a number for each lane: `base + step * lane`, or any numbers in a vector of their own. The index of
// an array has a coordinate for each dimension, or only one for all dimensions together (its linear index), or both:
//
//   f32[4,64], row r, columns c … c+7:   {r + 0 lane, c + 1 lane},   linear 64 r + c + 1 lane
//   its broadcast from f32[64]:          {c + 1 lane}                 one vector load
//   its broadcast from f32[4]:           {r + 0 lane}                 one scalar load
//   its transpose f32[64,4]:             {c + 1 lane, r + 0 lane}     linear 4 c + r + 4 lane: a load for each lane
//
// A missing coordinate or linear index is computed on demand.
#ifndef KASHI_CODEGEN_ELEMENT_INDEX_H_
#define KASHI_CODEGEN_ELEMENT_INDEX_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "kashi/codegen/lane_builder.h"

namespace kashi::codegen {

// All values that a coordinate may have, if this is known when the code is made.
struct CoordinateRange {
  int64_t first = -kUnlimited;
  int64_t last = kUnlimited;

  static constexpr int64_t kUnlimited = int64_t{1} << 62;
  bool IsWithin(int64_t begin, int64_t end) const { return first >= begin && last < end; }
  bool IsOutside(int64_t begin, int64_t end) const { return last < begin || first >= end; }
};

struct Coordinate {
  llvm::Value* base = nullptr;   // i64: of lane 0
  int64_t step = 0;              // from one lane to the next
  llvm::Value* lanes = nullptr;  // instead of base and step: a vector of integers
  CoordinateRange range;         // of all lanes

  Coordinate() = default;
  Coordinate(llvm::Value* lane_0, int64_t lane_step, llvm::Value* all_lanes, CoordinateRange all = {})
      : base(lane_0), step(lane_step), lanes(all_lanes), range(all) {}

  bool is_affine() const { return lanes == nullptr; }
  bool is_uniform() const { return is_affine() && step == 0; }
};

// Arithmetic on coordinates. All are at least 0 and fit `lane_type`, a signed integer type.
class CoordinateMath {
 public:
  CoordinateMath(const LaneBuilder& lanes, llvm::IntegerType* lane_type) : lanes_(lanes), lane_type_(lane_type) {}

  Coordinate Constant(int64_t value) const;
  Coordinate Add(const Coordinate& a, const Coordinate& b) const;
  Coordinate Add(const Coordinate& a, int64_t b) const { return Add(a, Constant(b)); }
  Coordinate Multiply(const Coordinate& a, int64_t factor) const;
  Coordinate Divide(const Coordinate& a, int64_t divisor) const;
  Coordinate Remainder(const Coordinate& a, int64_t divisor) const;
  // Clamps to [0, limit). Emits no code if the range is known to be inside.
  Coordinate Clamp(const Coordinate& a, int64_t limit) const;
  // Register values of an integer type, each lane clamped to 0 … last.
  Coordinate ClampNumbers(llvm::Value* numbers, PrimitiveType type, int64_t last) const;
  // For each lane, whether a < limit, as i1.
  llvm::Value* IsBelow(const Coordinate& a, int64_t limit) const;
  // The numbers as a vector of lane_type (for one lane: an i64).
  llvm::Value* AsLanes(const Coordinate& a) const;
  // The numbers as integers of a register type.
  llvm::Value* AsNumbers(const Coordinate& a, llvm::Type* scalar) const;

  const LaneBuilder& lanes() const { return lanes_; }

 private:
  llvm::Value* LaneConstant(int64_t value) const;
  Coordinate Sum(const Coordinate& a, const Coordinate& b) const;
  Coordinate Product(const Coordinate& a, int64_t factor) const;

  const LaneBuilder& lanes_;
  llvm::IntegerType* lane_type_;
};

class ElementIndex {
 public:
  static ElementIndex FromCoordinates(absl::Span<const int64_t> sizes, std::vector<Coordinate> coordinates);
  static ElementIndex FromLinear(absl::Span<const int64_t> sizes, Coordinate linear);
  // Pre: coordinates and linear index agree.
  static ElementIndex Make(absl::Span<const int64_t> sizes, std::vector<Coordinate> coordinates, Coordinate linear);

  absl::Span<const int64_t> sizes() const { return sizes_; }
  const Coordinate& Linear(const CoordinateMath& math);
  const Coordinate& At(int64_t dimension, const CoordinateMath& math) { return Coordinates(math)[dimension]; }
  const std::vector<Coordinate>& Coordinates(const CoordinateMath& math);
  bool HasCoordinates() const { return has_coordinates_; }

  // The index of the same elements in an array of other sizes. Dimensions that both have keep their coordinates.
  ElementIndex Reshape(absl::Span<const int64_t> sizes, const CoordinateMath& math);

 private:
  std::vector<int64_t> sizes_;
  std::vector<Coordinate> coordinates_;
  bool has_coordinates_ = false;
  std::optional<Coordinate> linear_;
};

// The start of a slice (i64), clamped to 0 … last, so that the slice lies within the array. `start`: a scalar of this
// type, signed or unsigned.
llvm::Value* EmitSliceStart(Ir& ir, PrimitiveType type, llvm::Value* start, int64_t last);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_ELEMENT_INDEX_H_
