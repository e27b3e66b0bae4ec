// Helpers of the ShapeInference files: checks of several operations (docs/spec/hlo-ops.md, 0.1), and the list
// of dimensions of a result. Only shape_inference_*.cc include it. ExpectArray is in broadcast.h.
#ifndef KASHI_HLO_INFERENCE_SHAPE_INFERENCE_INTERNAL_H_
#define KASHI_HLO_INFERENCE_SHAPE_INFERENCE_INTERNAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/broadcast.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi::hlo {
namespace shape_inference {

inline bool IsFloatingOrComplex(const Shape& shape) {
  return ShapeUtil::ElementIsFloating(shape) || ShapeUtil::ElementIsComplex(shape);
}

// Collects the dimensions of a result. Sizes need not be valid before Make.
class ResultDimensions {
 public:
  void Add(int64_t size, bool is_dynamic = false) {
    sizes_.push_back(size);
    dynamic_.push_back(is_dynamic);
  }
  //  Adds dimension i of `shape` with its flag.
  void AddFrom(const Shape& shape, int64_t i) {
    Add(shape.dimensions(static_cast<int>(i)), shape.is_dynamic_dimension(static_cast<int>(i)));
  }
  void AddAllFrom(const Shape& shape) {
    for (int i = 0; i < shape.dimensions_size(); ++i) AddFrom(shape, i);
  }

  absl::Span<const int64_t> sizes() const { return sizes_; }
  int size() const { return static_cast<int>(sizes_.size()); }

  // The array in the default layout. INVALID_ARGUMENT for a negative size other than `?`, and for more bytes than
  // int64_t can count.
  absl::StatusOr<Shape> Make(PrimitiveType element_type) const {
    return ShapeUtil::MakeValidatedShape(element_type, sizes_, dynamic_);
  }

 private:
  std::vector<int64_t> sizes_;
  std::vector<bool> dynamic_;
};

// "F32", the name of the element type in errors.
const std::string& TypeName(const Shape& shape);

// The equivalent of a RET_CHECK of XLA: INTERNAL, with a text like that of InvalidArgument.
#define KASHI_RET_CHECK(condition, ...)                                            \
  do {                                                                             \
    if (!(condition)) return ::kashi::Internal("RET_CHECK failure: " __VA_ARGS__); \
  } while (false)

// Whether sizes are compatible: equal, or one of them is `?`. Bounds count as sizes.
bool CompatibleSizes(int64_t a, int64_t b);

// The wider of the two element types; INVALID_ARGUMENT if neither is (XLA dies: see TryHigherPrecisionType).
absl::StatusOr<PrimitiveType> HigherPrecision(const Shape& a, const Shape& b);

// Whether `dimensions` has no number twice.
bool AllUnique(absl::Span<const int64_t> dimensions);

// A tuple of `shapes`; a single shape is not wrapped.
Shape MaybeTuple(absl::Span<const Shape> shapes);
std::vector<Shape> CopyShapes(absl::Span<const Shape* const> shapes);
std::vector<const Shape*> PointersTo(absl::Span<const Shape> shapes);

// REDUCER: checks that `reducer` takes an accumulator and an element for each input, and returns the accumulators.
// Element type i is that of input i; there are as many initial values.
absl::Status CheckReducer(const ProgramShape& reducer, absl::Span<const Shape* const> init_values,
                          absl::Span<const PrimitiveType> input_types);

// WINDOW: an array of `element_type` with one element for each position of the window over the padded and dilated base.
absl::StatusOr<Shape> InferWindowOutputShape(const Shape& base, const Window& window, PrimitiveType element_type);

}  // namespace shape_inference
}  // namespace kashi::hlo

#endif  // KASHI_HLO_INFERENCE_SHAPE_INFERENCE_INTERNAL_H_
