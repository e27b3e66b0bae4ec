#include "kashi/codegen/element_index.h"

#include <optional>
#include <utility>

#include <llvm/IR/Intrinsics.h>

#include "kashi/array/common_factors.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"

namespace kashi::codegen {
namespace {

CoordinateRange RangeFrom(std::optional<int64_t> first, std::optional<int64_t> last) {
  return first.has_value() && last.has_value() ? CoordinateRange{*first, *last} : CoordinateRange();
}

}  // namespace

llvm::Value* CoordinateMath::LaneConstant(int64_t value) const {
  return lanes_.Splat(llvm::ConstantInt::get(lane_type_, value));
}

Coordinate CoordinateMath::Constant(int64_t value) const {
  return {lanes_.ir().getInt64(value), 0, nullptr, {value, value}};
}

llvm::Value* CoordinateMath::AsLanes(const Coordinate& a) const {
  if (!a.is_affine()) return a.lanes;
  if (lanes_.lanes() == 1) return a.base;
  llvm::Value* base = lanes_.Splat(lanes_.ir().CreateTrunc(a.base, lane_type_));
  if (a.step == 0) return base;
  llvm::Value* steps = lanes_.ir().CreateMul(lanes_.LaneNumbers(lane_type_), LaneConstant(a.step));
  return lanes_.ir().CreateAdd(base, steps);
}

llvm::Value* CoordinateMath::AsNumbers(const Coordinate& a, llvm::Type* scalar) const {
  return lanes_.ir().CreateIntCast(AsLanes(a), lanes_.Widen(scalar), /*isSigned=*/true);
}

Coordinate CoordinateMath::Sum(const Coordinate& a, const Coordinate& b) const {
  if (a.is_affine() && b.is_affine()) {
    return {lanes_.ir().CreateNSWAdd(a.base, b.base), a.step + b.step, nullptr};
  }
  return {nullptr, 0, lanes_.ir().CreateAdd(AsLanes(a), AsLanes(b))};
}

Coordinate CoordinateMath::Add(const Coordinate& a, const Coordinate& b) const {
  Coordinate sum = Sum(a, b);
  sum.range = RangeFrom(CheckedAdd(a.range.first, b.range.first), CheckedAdd(a.range.last, b.range.last));
  return sum;
}

Coordinate CoordinateMath::Product(const Coordinate& a, int64_t factor) const {
  if (a.is_affine()) {
    return {lanes_.ir().CreateNSWMul(a.base, lanes_.ir().getInt64(factor)), a.step * factor, nullptr};
  }
  return {nullptr, 0, lanes_.ir().CreateMul(a.lanes, LaneConstant(factor))};
}

Coordinate CoordinateMath::Multiply(const Coordinate& a, int64_t factor) const {
  if (factor == 1) return a;
  Coordinate product = Product(a, factor);
  const int64_t smallest = factor < 0 ? a.range.last : a.range.first;
  const int64_t largest = factor < 0 ? a.range.first : a.range.last;
  product.range = RangeFrom(CheckedMultiply(smallest, factor), CheckedMultiply(largest, factor));
  return product;
}

Coordinate CoordinateMath::Divide(const Coordinate& a, int64_t divisor) const {
  if (divisor == 1) return a;
  if (a.is_uniform() || lanes_.lanes() == 1) {
    return {lanes_.ir().CreateUDiv(a.base, lanes_.ir().getInt64(divisor)), 0, nullptr};
  }
  return {nullptr, 0, lanes_.ir().CreateUDiv(AsLanes(a), LaneConstant(divisor))};
}

Coordinate CoordinateMath::Remainder(const Coordinate& a, int64_t divisor) const {
  if (divisor == 1) return Constant(0);
  if (a.is_uniform() || lanes_.lanes() == 1) {
    return {lanes_.ir().CreateURem(a.base, lanes_.ir().getInt64(divisor)), 0, nullptr};
  }
  return {nullptr, 0, lanes_.ir().CreateURem(AsLanes(a), LaneConstant(divisor))};
}

Coordinate CoordinateMath::Clamp(const Coordinate& a, int64_t limit) const {
  if (a.range.IsWithin(0, limit)) return a;
  const auto clamp = [&](llvm::Value* value) {
    llvm::Value* zero = llvm::ConstantInt::get(value->getType(), 0);
    llvm::Value* last = llvm::ConstantInt::get(value->getType(), limit - 1);
    llvm::Value* raised = lanes_.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, zero);
    return lanes_.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smin, raised, last);
  };
  if (a.is_uniform() || lanes_.lanes() == 1) return {clamp(a.base), 0, nullptr};
  return {nullptr, 0, clamp(AsLanes(a))};
}

llvm::Value* CoordinateMath::IsBelow(const Coordinate& a, int64_t limit) const {
  if (a.is_uniform() || lanes_.lanes() == 1) {
    return lanes_.Splat(lanes_.ir().CreateICmpSLT(a.base, lanes_.ir().getInt64(limit)));
  }
  return lanes_.ir().CreateICmpSLT(AsLanes(a), LaneConstant(limit));
}

ElementIndex ElementIndex::FromCoordinates(absl::Span<const int64_t> sizes, std::vector<Coordinate> coordinates) {
  ElementIndex index;
  index.sizes_.assign(sizes.begin(), sizes.end());
  index.coordinates_ = std::move(coordinates);
  index.has_coordinates_ = true;
  return index;
}

ElementIndex ElementIndex::FromLinear(absl::Span<const int64_t> sizes, Coordinate linear) {
  ElementIndex index;
  index.sizes_.assign(sizes.begin(), sizes.end());
  index.linear_ = linear;
  return index;
}

ElementIndex ElementIndex::Make(absl::Span<const int64_t> sizes, std::vector<Coordinate> coordinates,
                                Coordinate linear) {
  ElementIndex index = FromCoordinates(sizes, std::move(coordinates));
  index.linear_ = linear;
  return index;
}

namespace {

// Row-major: of all dimensions in [begin, end).
Coordinate LinearOf(absl::Span<const int64_t> sizes, absl::Span<const Coordinate> coordinates,
                    const CoordinateMath& math) {
  Coordinate linear = math.Constant(0);
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1) linear = math.Add(math.Multiply(coordinates[i], stride), linear);
    stride *= sizes[i];
  }
  return linear;
}

// The other way round. Appends to `coordinates`.
void Split(const Coordinate& linear, absl::Span<const int64_t> sizes, const CoordinateMath& math,
           std::vector<Coordinate>* coordinates) {
  int64_t stride = 1;
  for (int64_t size : sizes) stride *= size;
  bool is_first = true;  // the first needs no remainder
  for (int64_t size : sizes) {
    stride /= size;
    if (size == 1) {
      coordinates->push_back(math.Constant(0));
      continue;
    }
    const Coordinate quotient = math.Divide(linear, stride);
    coordinates->push_back(is_first ? quotient : math.Remainder(quotient, size));
    is_first = false;
  }
}

}  // namespace

const Coordinate& ElementIndex::Linear(const CoordinateMath& math) {
  if (!linear_.has_value()) linear_ = LinearOf(sizes_, coordinates_, math);
  return *linear_;
}

const std::vector<Coordinate>& ElementIndex::Coordinates(const CoordinateMath& math) {
  if (!has_coordinates_) {
    Split(*linear_, sizes_, math, &coordinates_);
    has_coordinates_ = true;
  }
  return coordinates_;
}

ElementIndex ElementIndex::Reshape(absl::Span<const int64_t> sizes, const CoordinateMath& math) {
  if (!has_coordinates_) return FromLinear(sizes, *linear_);
  std::vector<Coordinate> coordinates;
  const auto cuts = CommonFactors(sizes_, sizes);
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const auto [from, to] = cuts[i];
    const int64_t from_count = cuts[i + 1].first - from, to_count = cuts[i + 1].second - to;
    if (from_count == 1 && to_count == 1) {
      coordinates.push_back(coordinates_[from]);
      continue;
    }
    const Coordinate linear = LinearOf(absl::MakeConstSpan(sizes_).subspan(from, from_count),
                                       absl::MakeConstSpan(coordinates_).subspan(from, from_count), math);
    Split(linear, sizes.subspan(to, to_count), math, &coordinates);
  }
  ElementIndex index = FromCoordinates(sizes, std::move(coordinates));
  index.linear_ = linear_;
  return index;
}

namespace {

// Cut to 0 … last, in an integer type that holds both the numbers and `last`.
llvm::Value* CutToRange(Ir& ir, PrimitiveType type, llvm::Value* numbers, llvm::Type* wide, int64_t last) {
  const bool is_signed = primitive_util::IsSignedIntegralType(type);
  llvm::Value* value = ir.CreateIntCast(numbers, wide, is_signed);
  const auto constant = [&](int64_t number) { return llvm::ConstantInt::get(wide, static_cast<uint64_t>(number)); };
  if (is_signed) value = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, constant(0));
  return ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, value, constant(last));
}

}  // namespace

llvm::Value* EmitSliceStart(Ir& ir, PrimitiveType type, llvm::Value* start, int64_t last) {
  return CutToRange(ir, type, start, ir.getInt64Ty(), last);
}

Coordinate CoordinateMath::ClampNumbers(llvm::Value* numbers, PrimitiveType type, int64_t last) const {
  Ir& ir = lanes_.ir();
  if (lanes_.lanes() == 1) return {EmitSliceStart(ir, type, numbers, last), 0, nullptr};
  const bool is_long = primitive_util::BitWidth(type) > static_cast<int>(lane_type_->getBitWidth());
  llvm::Type* wide = lanes_.Widen(is_long ? ir.getInt64Ty() : lane_type_);
  llvm::Value* clamped = CutToRange(ir, type, numbers, wide, last);
  return {nullptr, 0, ir.CreateIntCast(clamped, lanes_.Widen(lane_type_), /*isSigned=*/false)};
}

}  // namespace kashi::codegen
