#include "kashi/evaluator/product_trace.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/index_util.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"

namespace kashi::evaluator {
namespace {

using Tell = std::function<void(int64_t result, int64_t lhs, int64_t rhs)>;
using Index = std::vector<int64_t>;

// Arrays without a layout are row-major.
Shape WithLayout(const Shape& shape) { return shape.has_layout() ? shape : LayoutUtil::GetWithDefaultLayout(shape); }

Index Zeros(const Shape& shape) { return Index(shape.dimensions().size(), 0); }

// The three arrays, and an index into each.
struct Cursor {
  explicit Cursor(const HloInstruction& product)
      : out_shape(WithLayout(product.shape())),
        lhs_shape(WithLayout(product.operand(0)->shape())),
        rhs_shape(WithLayout(product.operand(1)->shape())),
        out(Zeros(out_shape)),
        lhs(Zeros(lhs_shape)),
        rhs(Zeros(rhs_shape)) {}

  void TellTo(const Tell& tell) const {
    tell(IndexUtil::MultidimensionalIndexToLinearIndex(out_shape, out),
         IndexUtil::MultidimensionalIndexToLinearIndex(lhs_shape, lhs),
         IndexUtil::MultidimensionalIndexToLinearIndex(rhs_shape, rhs));
  }

  const Shape out_shape;
  const Shape lhs_shape;
  const Shape rhs_shape;
  Index out, lhs, rhs;
};

// The dimensions of a result are those of the batch, the other ones of lhs, the other ones of rhs.
void TraceDot(const HloInstruction& dot, const Tell& tell) {
  const DotDimensionNumbers& numbers = dot.dot_dimension_numbers();
  Cursor at(dot);
  Index contracted_sizes;
  for (int64_t d : numbers.lhs_contracting_dimensions()) contracted_sizes.push_back(at.lhs_shape.dimensions(d));
  const Shape contracted = ShapeUtil::MakeShape(PRED, contracted_sizes);
  if (ShapeUtil::IsZeroElementArray(contracted) || ShapeUtil::IsZeroElementArray(at.out_shape)) return;
  do {
    size_t next = 0;
    for (int i = 0; i < numbers.lhs_batch_dimensions_size(); ++i, ++next) {
      at.lhs[numbers.lhs_batch_dimensions(i)] = at.rhs[numbers.rhs_batch_dimensions(i)] = at.out[next];
    }
    for (size_t d = 0; d < at.lhs.size(); ++d) {
      const int64_t dimension = static_cast<int64_t>(d);
      if (absl::c_linear_search(numbers.lhs_batch_dimensions(), dimension)) continue;
      if (!absl::c_linear_search(numbers.lhs_contracting_dimensions(), dimension)) at.lhs[d] = at.out[next++];
    }
    for (size_t d = 0; d < at.rhs.size(); ++d) {
      const int64_t dimension = static_cast<int64_t>(d);
      if (absl::c_linear_search(numbers.rhs_batch_dimensions(), dimension)) continue;
      if (!absl::c_linear_search(numbers.rhs_contracting_dimensions(), dimension)) at.rhs[d] = at.out[next++];
    }
    Index k = Zeros(contracted);
    do {
      for (size_t i = 0; i < k.size(); ++i) {
        at.lhs[numbers.lhs_contracting_dimensions(static_cast<int>(i))] = k[i];
        at.rhs[numbers.rhs_contracting_dimensions(static_cast<int>(i))] = k[i];
      }
      at.TellTo(tell);
    } while (IndexUtil::BumpIndices(contracted, absl::MakeSpan(k)));
  } while (IndexUtil::BumpIndices(at.out_shape, absl::MakeSpan(at.out)));
}

// The index in lhs that one dimension of the window reads; -1: in padding, or between elements.
int64_t PlaceInBase(const WindowDimension& window, int64_t out, int64_t in_window, int64_t base_size) {
  const __int128 dilated = static_cast<__int128>(out) * window.stride() - window.padding_low() +
                           static_cast<__int128>(in_window) * window.window_dilation();
  if (dilated < 0 || dilated % window.base_dilation() != 0) return -1;
  const __int128 place = dilated / window.base_dilation();
  return place < base_size ? static_cast<int64_t>(place) : -1;
}

// Sets one position of the window's spatial dimensions for one element of the result. False: it reads outside.
bool SetSpatial(const HloInstruction& convolution, Cursor* at) {
  const ConvolutionDimensionNumbers& numbers = convolution.convolution_dimension_numbers();
  for (int i = 0; i < convolution.window().dimensions_size(); ++i) {
    const WindowDimension& window = convolution.window().dimensions(i);
    const int64_t d = numbers.input_spatial_dimensions(i);
    int64_t in_window = at->rhs[numbers.kernel_spatial_dimensions(i)];
    if (window.window_reversal()) in_window = window.size() - 1 - in_window;
    at->lhs[d] =
        PlaceInBase(window, at->out[numbers.output_spatial_dimensions(i)], in_window, at->lhs_shape.dimensions(d));
    if (at->lhs[d] < 0) return false;
  }
  return true;
}

// Groups: of features, feature group g of the result reads feature group g of lhs; of batches, likewise batch group g.
void TraceConvolution(const HloInstruction& convolution, const Tell& tell) {
  const ConvolutionDimensionNumbers& numbers = convolution.convolution_dimension_numbers();
  Cursor at(convolution);
  if (ShapeUtil::IsZeroElementArray(at.out_shape) || ShapeUtil::IsZeroElementArray(at.rhs_shape)) return;
  const int64_t out_features = at.rhs_shape.dimensions(numbers.kernel_output_feature_dimension());
  const int64_t in_features = at.rhs_shape.dimensions(numbers.kernel_input_feature_dimension());
  const int64_t features_of_group = out_features / convolution.feature_group_count();
  const int64_t features_of_batch_group = out_features / convolution.batch_group_count();
  const int64_t batches = at.out_shape.dimensions(numbers.output_batch_dimension());
  do {
    const int64_t out_feature = at.out[numbers.output_feature_dimension()];
    at.rhs = Zeros(at.rhs_shape);
    do {
      if (at.rhs[numbers.kernel_output_feature_dimension()] != out_feature || !SetSpatial(convolution, &at)) continue;
      at.lhs[numbers.input_batch_dimension()] =
          at.out[numbers.output_batch_dimension()] + out_feature / features_of_batch_group * batches;
      at.lhs[numbers.input_feature_dimension()] =
          at.rhs[numbers.kernel_input_feature_dimension()] + out_feature / features_of_group * in_features;
      if (convolution.batch_group_count() > 1) {
        at.lhs[numbers.input_feature_dimension()] = at.rhs[numbers.kernel_input_feature_dimension()];
      }
      at.TellTo(tell);
    } while (IndexUtil::BumpIndices(at.rhs_shape, absl::MakeSpan(at.rhs)));
  } while (IndexUtil::BumpIndices(at.out_shape, absl::MakeSpan(at.out)));
}

}  // namespace

void TraceProducts(const HloInstruction& instruction, const Tell& tell) {
  if (instruction.opcode() == HloOpcode::kDot) TraceDot(instruction, tell);
  if (instruction.opcode() == HloOpcode::kConvolution) TraceConvolution(instruction, tell);
}

}  // namespace kashi::evaluator
