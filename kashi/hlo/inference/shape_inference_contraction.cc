// Dot, ragged dot and convolution (docs/spec/hlo-ops.md, 4).
#include <algorithm>
#include <numeric>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/hlo/attributes/dimension_numbers_text.h"
#include "kashi/hlo/attributes/window_util.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"
#include "kashi/hlo/ir/dimension_set.h"

namespace kashi {

using hlo::DimensionSet;
namespace {

using hlo::shape_inference::AllUnique;
using hlo::shape_inference::CompatibleSizes;
using hlo::shape_inference::HigherPrecision;
using hlo::shape_inference::ResultDimensions;

using DimensionList = absl::Span<const int64_t>;

absl::StatusOr<PrimitiveType> ResultType(const Shape& lhs, const Shape& rhs, std::optional<PrimitiveType> preferred) {
  if (preferred.has_value()) return *preferred;
  return HigherPrecision(lhs, rhs);
}

// ---- Dot -----------------------------------------------------------------------------------------------------------

bool AllInRange(DimensionList dimensions, int64_t rank) {
  return absl::c_all_of(dimensions, [rank](int64_t d) { return 0 <= d && d < rank; });
}

bool AllUniqueTogether(DimensionList a, DimensionList b) {
  std::vector<int64_t> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return AllUnique(all);
}

bool SizesMatch(const Shape& lhs, DimensionList lhs_dimensions, const Shape& rhs, DimensionList rhs_dimensions) {
  for (size_t i = 0; i < lhs_dimensions.size(); ++i) {
    if (!CompatibleSizes(lhs.dimensions(static_cast<int>(lhs_dimensions[i])),
                         rhs.dimensions(static_cast<int>(rhs_dimensions[i])))) {
      return false;
    }
  }
  return true;
}

absl::Status CheckDotDimensionNumbers(const Shape& lhs, const Shape& rhs, const DotDimensionNumbers& dnums) {
  if (!AllInRange(dnums.lhs_contracting_dimensions(), lhs.rank()) ||
      !AllInRange(dnums.lhs_batch_dimensions(), lhs.rank()) ||
      !AllInRange(dnums.rhs_contracting_dimensions(), rhs.rank()) ||
      !AllInRange(dnums.rhs_batch_dimensions(), rhs.rank())) {
    return InvalidArgument("A dimension number is out of range in Dot: %s. %s %s", DotDimensionNumbersToString(dnums),
                           ShapeUtil::HumanString(lhs), ShapeUtil::HumanString(rhs));
  }
  if (!AllUniqueTogether(dnums.lhs_contracting_dimensions(), dnums.lhs_batch_dimensions()) ||
      !AllUniqueTogether(dnums.rhs_contracting_dimensions(), dnums.rhs_batch_dimensions())) {
    return InvalidArgument("A dimension number is not unique in Dot: %s.", DotDimensionNumbersToString(dnums));
  }
  return absl::OkStatus();
}

absl::Status DotError(const Shape& lhs, const Shape& rhs, absl::string_view what) {
  return InvalidArgument("Cannot infer shape for dot operation: %s <dot> %s. %s", ShapeUtil::HumanString(lhs),
                         ShapeUtil::HumanString(rhs), what);
}

// Checks that contracted and batch dimensions have the same sizes on both sides.
absl::Status CheckDotSizes(const Shape& lhs, const Shape& rhs, const DotDimensionNumbers& dnums) {
  if (dnums.lhs_contracting_dimensions_size() != dnums.rhs_contracting_dimensions_size()) {
    return DotError(lhs, rhs, "Must specify the same number of contracting dimensions for lhs and rhs.");
  }
  if (!SizesMatch(lhs, dnums.lhs_contracting_dimensions(), rhs, dnums.rhs_contracting_dimensions())) {
    return DotError(lhs, rhs, "Contracting dimension sizes are not compatible.");
  }
  if (dnums.lhs_batch_dimensions_size() != dnums.rhs_batch_dimensions_size()) {
    return DotError(lhs, rhs, "Must the same number of batch dimensions for lhs and rhs.");
  }
  if (!SizesMatch(lhs, dnums.lhs_batch_dimensions(), rhs, dnums.rhs_batch_dimensions())) {
    return DotError(lhs, rhs, "Batch dimension sizes are not compatible.");
  }
  return absl::OkStatus();
}

void AddAllBut(const DimensionSet& left_out, const Shape& shape, ResultDimensions* result) {
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!left_out.contains(d)) result->AddFrom(shape, d);
  }
}

// Batch dimensions in the order of their list, then the free dimensions of lhs, then those of rhs.
void AddDotDimensions(const Shape& lhs, const Shape& rhs, const DotDimensionNumbers& dnums, DimensionList rhs_group,
                      ResultDimensions* result) {
  for (int64_t d : dnums.lhs_batch_dimensions()) result->AddFrom(lhs, d);
  AddAllBut(DimensionSet(lhs.rank(), {dnums.lhs_contracting_dimensions(), dnums.lhs_batch_dimensions()}), lhs, result);
  AddAllBut(DimensionSet(rhs.rank(), {dnums.rhs_contracting_dimensions(), dnums.rhs_batch_dimensions(), rhs_group}),
            rhs, result);
}

// ---- Ragged dot ----------------------------------------------------------------------------------------------------

absl::Status RaggedDotError(const Shape& lhs, const Shape& rhs, absl::string_view what) {
  return InvalidArgument("Cannot infer shape for ragged dot operation: %s <ragged_dot> %s. %s",
                         ShapeUtil::HumanString(lhs), ShapeUtil::HumanString(rhs), what);
}

// `what` is "lhs ragged" or "rhs group".
std::string OutOfRangeText(absl::string_view what, int64_t d, int64_t rank) {
  return absl::StrFormat("%s dimension %d is out of range [0, %d)", what, d, rank);
}

// The kind of dimension that the ragged dimension of lhs is.
enum class RaggedMode { kBatch, kContracting, kFree };

RaggedMode ModeOf(const DotDimensionNumbers& dnums, int64_t ragged) {
  if (absl::c_linear_search(dnums.lhs_batch_dimensions(), ragged)) return RaggedMode::kBatch;
  if (absl::c_linear_search(dnums.lhs_contracting_dimensions(), ragged)) return RaggedMode::kContracting;
  return RaggedMode::kFree;
}

// Appends the elements of `dimensions` before `end`, or all if it is not among them.
void AppendUntil(DimensionList dimensions, int64_t end, std::vector<int64_t>* list) {
  list->insert(list->end(), dimensions.begin(), absl::c_find(dimensions, end));
}

// The dimensions of lhs whose indices may each have their own groups: those before the ragged one in the order batch,
// free (or contracting, if the ragged one is contracting).
std::vector<int64_t> GroupPrefix(const Shape& lhs, const DotDimensionNumbers& dnums, int64_t ragged) {
  std::vector<int64_t> prefix;
  AppendUntil(dnums.lhs_batch_dimensions(), ragged, &prefix);
  switch (ModeOf(dnums, ragged)) {
    case RaggedMode::kBatch:
      break;
    case RaggedMode::kContracting:
      AppendUntil(dnums.lhs_contracting_dimensions(), ragged, &prefix);
      break;
    case RaggedMode::kFree: {
      const DimensionSet not_free(lhs.rank(), {dnums.lhs_batch_dimensions(), dnums.lhs_contracting_dimensions()});
      for (int64_t d = 0; d < ragged; ++d) {
        if (!not_free.contains(d)) prefix.push_back(d);
      }
      break;
    }
  }
  return prefix;
}

// group_sizes is a vector, or has the sizes of the prefix before that vector's dimension.
absl::Status CheckGroupSizes(const Shape& lhs, const Shape& rhs, const Shape& group_sizes,
                             const DotDimensionNumbers& dnums, int64_t ragged) {
  if (group_sizes.rank() == 1) return absl::OkStatus();
  const std::vector<int64_t> prefix = GroupPrefix(lhs, dnums, ragged);
  const int64_t rank = static_cast<int64_t>(prefix.size()) + 1;
  if (group_sizes.rank() != rank) {
    return RaggedDotError(lhs, rhs,
                          absl::StrFormat("expected group_sizes to have rank %d, got %d", rank, group_sizes.rank()));
  }
  std::vector<int64_t> expected;
  for (int64_t d : prefix) expected.push_back(lhs.dimensions(static_cast<int>(d)));
  expected.push_back(group_sizes.dimensions().back());
  if (DimensionList(expected) != group_sizes.dimensions()) {
    return RaggedDotError(lhs, rhs,
                          absl::StrCat("group_sizes is expected to have shape [", absl::StrJoin(expected, ", "),
                                       "], got [", absl::StrJoin(group_sizes.dimensions(), ", "), "]"));
  }
  return absl::OkStatus();
}

absl::Status CheckRhsGroups(const Shape& lhs, const Shape& rhs, const RaggedDotDimensionNumbers& ragged_dnums,
                            int64_t groups) {
  const DotDimensionNumbers& dnums = ragged_dnums.dot_dimension_numbers();
  const auto error = [&](absl::string_view what) { return RaggedDotError(lhs, rhs, what); };
  const DimensionList group_dims = ragged_dnums.rhs_group_dimensions();
  for (int64_t d : group_dims) {
    if (!AllInRange({d}, rhs.rank())) return error(OutOfRangeText("rhs group", d, rhs.rank()));
    if (absl::c_linear_search(dnums.rhs_contracting_dimensions(), d) ||
        absl::c_linear_search(dnums.rhs_batch_dimensions(), d)) {
      return error("rhs group dimension cannot be a batch or contracting dimension");
    }
  }
  if (ModeOf(dnums, ragged_dnums.lhs_ragged_dimensions(0)) != RaggedMode::kFree) {
    if (group_dims.empty()) return absl::OkStatus();
    return error("There must be zero group dimensions in the rhs when the ragged dimension is batch or contracting.");
  }
  if (group_dims.size() != 1) {
    return error(
        "There must be exactly one group dimension in the rhs when the lhs ragged dimension is non-contracting.");
  }
  const int64_t size = rhs.dimensions(static_cast<int>(group_dims[0]));
  if (!CompatibleSizes(size, groups)) {
    return error(absl::StrFormat("rhs group dimension is expected to have size=%d, got %d", groups, size));
  }
  return absl::OkStatus();
}

// ---- Convolution ---------------------------------------------------------------------------------------------------

// " got <conv>(f32[…], f32[…])\nDimension numbers: {…}.", the end of errors about sizes.
std::string ConvolutionText(const Shape& lhs, const Shape& rhs, const ConvolutionDimensionNumbers& dnums) {
  return absl::StrCat(" got <conv>(", ShapeUtil::HumanString(lhs), ", ", ShapeUtil::HumanString(rhs),
                      ")\nDimension numbers: {", ConvolutionDimensionNumbersToString(dnums), "}.");
}

// A sparse kernel is a tuple: its values, and metadata that inference ignores.
absl::StatusOr<const Shape*> KernelOf(const Shape& rhs) {
  if (rhs.IsTuple() && rhs.tuple_shapes_size() != 2) {
    return InvalidArgument("rhs of convolution, if a tuple, must have 2 elements for sparsity; got: %s",
                           ShapeUtil::HumanString(rhs));
  }
  const Shape& kernel = rhs.IsTuple() ? rhs.tuple_shapes(0) : rhs;
  KASHI_RETURN_IF_ERROR(ExpectArray(kernel, "rhs of convolution"));
  return &kernel;
}

absl::Status CheckGroupCounts(int64_t feature_group_count, int64_t batch_group_count) {
  if (feature_group_count <= 0) {
    return InvalidArgument("feature_group_count must be a positive number, got %d", feature_group_count);
  }
  if (batch_group_count <= 0) {
    return InvalidArgument("batch_group_count must be a positive number, got %d", batch_group_count);
  }
  if (batch_group_count > 1 && feature_group_count > 1) {
    return InvalidArgument("both batch_group_count %d and feature_group_count %d cannot be greater than 1",
                           batch_group_count, feature_group_count);
  }
  return absl::OkStatus();
}

// Checks that all ranks are the number of spatial dimensions plus two.
absl::Status CheckConvolutionRanks(const Shape& lhs, const Shape& rhs, const Window& window,
                                   const ConvolutionDimensionNumbers& dnums) {
  const auto numbers = [&dnums] { return ConvolutionDimensionNumbersToString(dnums); };
  const int spatial = dnums.input_spatial_dimensions_size();
  if (spatial != dnums.kernel_spatial_dimensions_size()) {
    return InvalidArgument("Both arguments to convolution must have same number of dimensions.\nNumbers: %s",
                           numbers());
  }
  if (spatial != dnums.output_spatial_dimensions_size()) {
    return InvalidArgument("Both input and output of convolution must have same number of dimensions.\nNumbers: %s",
                           numbers());
  }
  if (window.dimensions_size() != spatial) {
    return InvalidArgument("Window must have same number of dimensions as dimension numbers.\nWindow: %s\nNumbers: %s",
                           window_util::ToString(window), numbers());
  }
  if (lhs.rank() != spatial + 2) {
    return InvalidArgument("The LHS argument to a convolution should have rank %d; lhs: %s.", spatial + 2,
                           ShapeUtil::HumanString(lhs));
  }
  if (rhs.rank() != spatial + 2) {
    return InvalidArgument("The RHS argument to a convolution should have rank %d; rhs: %s.", spatial + 2,
                           ShapeUtil::HumanString(rhs));
  }
  return absl::OkStatus();
}

// The two numbers and the spatial ones, sorted.
std::vector<int64_t> SortedNumbers(int64_t a, int64_t b, DimensionList spatial) {
  std::vector<int64_t> numbers(spatial.begin(), spatial.end());
  numbers.push_back(a);
  numbers.push_back(b);
  absl::c_sort(numbers);
  return numbers;
}

// Checks that the numbers of each array are a permutation of its dimensions.
absl::Status CheckConvolutionNumbers(const ConvolutionDimensionNumbers& dnums) {
  const std::pair<const char*, std::vector<int64_t>> arrays[] = {
      {"Input",
       SortedNumbers(dnums.input_batch_dimension(), dnums.input_feature_dimension(), dnums.input_spatial_dimensions())},
      {"Window", SortedNumbers(dnums.kernel_input_feature_dimension(), dnums.kernel_output_feature_dimension(),
                               dnums.kernel_spatial_dimensions())},
      {"Output", SortedNumbers(dnums.output_batch_dimension(), dnums.output_feature_dimension(),
                               dnums.output_spatial_dimensions())},
  };
  std::vector<int64_t> expected(dnums.input_spatial_dimensions_size() + 2);
  absl::c_iota(expected, 0);
  for (const auto& [name, numbers] : arrays) {
    if (!AllInRange(numbers, expected.size())) {
      return InvalidArgument("A dimension number is out of range in convolution: %s",
                             ConvolutionDimensionNumbersToString(dnums));
    }
  }
  for (const auto& [name, numbers] : arrays) {
    if (numbers != expected) {
      return InvalidArgument("%s dimensions of convolution must contain each dimension exactly once: %s", name,
                             ConvolutionDimensionNumbersToString(dnums));
    }
  }
  return absl::OkStatus();
}

std::vector<int64_t> SizesOf(const Shape& shape, DimensionList dimensions) {
  std::vector<int64_t> sizes;
  for (int64_t d : dimensions) sizes.push_back(shape.dimensions(static_cast<int>(d)));
  return sizes;
}

// The sizes that are not spatial; `?` counts as its number.
struct ConvolutionSizes {
  int64_t input_batch, input_features, kernel_input_features, kernel_output_features;
  ConvolutionSizes(const Shape& lhs, const Shape& rhs, const ConvolutionDimensionNumbers& dnums)
      : input_batch(lhs.dimensions(static_cast<int>(dnums.input_batch_dimension()))),
        input_features(lhs.dimensions(static_cast<int>(dnums.input_feature_dimension()))),
        kernel_input_features(rhs.dimensions(static_cast<int>(dnums.kernel_input_feature_dimension()))),
        kernel_output_features(rhs.dimensions(static_cast<int>(dnums.kernel_output_feature_dimension()))) {}
};

// An error unless the group counts divide the sizes that they split. XLA lets `?`, a negative number, pass the third
// check.
absl::Status CheckConvolutionGroups(const ConvolutionSizes& sizes, int64_t feature_group_count,
                                    int64_t batch_group_count, absl::FunctionRef<std::string()> convolution) {
  if (sizes.kernel_output_features % batch_group_count != 0) {
    return InvalidArgument(
        "Expected output feature dimension size (value %d) to be a multiple of batch group count %d;%s",
        sizes.kernel_output_features, batch_group_count, convolution());
  }
  if (sizes.input_features % feature_group_count != 0 ||
      sizes.input_features / feature_group_count != sizes.kernel_input_features) {
    return InvalidArgument(
        "Expected LHS feature dimension (value %d) to be a multiple of feature_group_count (value %d), and LHS feature "
        "dimension / feature_group_count = RHS feature dimension (value %d);%s",
        sizes.input_features, feature_group_count, sizes.kernel_input_features, convolution());
  }
  if (sizes.kernel_output_features % feature_group_count > 0) {
    return InvalidArgument(
        "Expected output feature dimension (value %d) to be divisible by feature_group_count (value %d);%s",
        sizes.kernel_output_features, feature_group_count, convolution());
  }
  if (sizes.input_batch % batch_group_count != 0) {
    return InvalidArgument(
        "Expected input batch dimension (value %d) to be divisible by batch_group_count (value %d);%s",
        sizes.input_batch, batch_group_count, convolution());
  }
  return absl::OkStatus();
}

absl::Status CheckKernelSizes(const Shape& rhs, const Window& window, const ConvolutionDimensionNumbers& dnums) {
  std::vector<int64_t> window_sizes;
  for (const WindowDimension& dimension : window.dimensions()) window_sizes.push_back(dimension.size());
  if (SizesOf(rhs, dnums.kernel_spatial_dimensions()) == window_sizes) return absl::OkStatus();
  return InvalidArgument(
      "Window dimensions do not match RHS shape:\n\tRHS shape: %s\n\tWindow: {%s}\n\tDimension numbers: {%s}.",
      ShapeUtil::HumanString(rhs), window_util::ToString(window), ConvolutionDimensionNumbersToString(dnums));
}

// The sizes of the output's spatial dimensions, as an array.
absl::StatusOr<Shape> SpatialOutput(const Shape& lhs, const Window& window, const ConvolutionDimensionNumbers& dnums) {
  ResultDimensions base;
  for (int64_t size : SizesOf(lhs, dnums.input_spatial_dimensions())) {
    base.Add(size, /*is_dynamic=*/size == Shape::kUnboundedSize);
  }
  KASHI_ASSIGN_OR_RETURN(const Shape base_shape, base.Make(lhs.element_type()));
  return hlo::shape_inference::InferWindowOutputShape(base_shape, window, lhs.element_type());
}

}  // namespace

absl::StatusOr<Shape> ShapeInference::InferDotOpShape(const Shape& lhs, const Shape& rhs,
                                                      const DotDimensionNumbers& dimension_numbers,
                                                      std::optional<PrimitiveType> preferred_element_type) {
  KASHI_RETURN_IF_ERROR(ExpectArray(lhs, "lhs of dot"));
  KASHI_RETURN_IF_ERROR(ExpectArray(rhs, "rhs of dot"));
  KASHI_RETURN_IF_ERROR(CheckDotDimensionNumbers(lhs, rhs, dimension_numbers));
  KASHI_RETURN_IF_ERROR(CheckDotSizes(lhs, rhs, dimension_numbers));
  ResultDimensions result;
  AddDotDimensions(lhs, rhs, dimension_numbers, /*rhs_group=*/{}, &result);
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, ResultType(lhs, rhs, preferred_element_type));
  return result.Make(type);
}

absl::StatusOr<Shape> ShapeInference::InferRaggedDotOpShape(const Shape& lhs, const Shape& rhs,
                                                            const Shape& group_sizes,
                                                            const RaggedDotDimensionNumbers& ragged_dot_dim_nums,
                                                            std::optional<PrimitiveType> preferred_element_type) {
  KASHI_RETURN_IF_ERROR(ExpectArray(lhs, "lhs of ragged dot"));
  KASHI_RETURN_IF_ERROR(ExpectArray(rhs, "rhs of ragged dot"));
  KASHI_RETURN_IF_ERROR(ExpectArray(group_sizes, "group_sizes of ragged dot"));
  const DotDimensionNumbers& dnums = ragged_dot_dim_nums.dot_dimension_numbers();
  KASHI_RETURN_IF_ERROR(CheckDotDimensionNumbers(lhs, rhs, dnums));
  KASHI_RETURN_IF_ERROR(CheckDotSizes(lhs, rhs, dnums));

  if (ragged_dot_dim_nums.lhs_ragged_dimensions_size() != 1) {
    return RaggedDotError(lhs, rhs, "There must be exactly one ragged dimension in the lhs.");
  }
  const int64_t ragged = ragged_dot_dim_nums.lhs_ragged_dimensions(0);
  if (!AllInRange({ragged}, lhs.rank())) {
    return RaggedDotError(lhs, rhs, OutOfRangeText("lhs ragged", ragged, lhs.rank()));
  }
  KASHI_RETURN_IF_ERROR(CheckGroupSizes(lhs, rhs, group_sizes, dnums, ragged));
  const int64_t groups = group_sizes.dimensions().back();
  KASHI_RETURN_IF_ERROR(CheckRhsGroups(lhs, rhs, ragged_dot_dim_nums, groups));

  ResultDimensions result;
  if (ModeOf(dnums, ragged) == RaggedMode::kContracting) result.AddFrom(group_sizes, group_sizes.rank() - 1);
  AddDotDimensions(lhs, rhs, dnums, ragged_dot_dim_nums.rhs_group_dimensions(), &result);
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, ResultType(lhs, rhs, preferred_element_type));
  return result.Make(type);
}

absl::StatusOr<Shape> ShapeInference::InferConvolveShape(const Shape& lhs, const Shape& rhs,
                                                         int64_t feature_group_count, int64_t batch_group_count,
                                                         const Window& window,
                                                         const ConvolutionDimensionNumbers& dimension_numbers,
                                                         std::optional<PrimitiveType> preferred_element_type) {
  const ConvolutionDimensionNumbers& dnums = dimension_numbers;
  KASHI_RETURN_IF_ERROR(ExpectArray(lhs, "lhs of convolution"));
  KASHI_ASSIGN_OR_RETURN(const Shape* kernel, KernelOf(rhs));
  KASHI_RETURN_IF_ERROR(CheckGroupCounts(feature_group_count, batch_group_count));
  KASHI_RETURN_IF_ERROR(CheckConvolutionRanks(lhs, *kernel, window, dnums));
  KASHI_RETURN_IF_ERROR(CheckConvolutionNumbers(dnums));
  const ConvolutionSizes sizes(lhs, *kernel, dnums);
  KASHI_RETURN_IF_ERROR(CheckConvolutionGroups(sizes, feature_group_count, batch_group_count,
                                               [&] { return ConvolutionText(lhs, *kernel, dnums); }));
  KASHI_RETURN_IF_ERROR(CheckKernelSizes(*kernel, window, dnums));
  KASHI_ASSIGN_OR_RETURN(const Shape spatial, SpatialOutput(lhs, window, dnums));

  if (kernel->is_dynamic_dimension(static_cast<int>(dnums.kernel_output_feature_dimension()))) {
    return InvalidArgument("Dynamic output feature dim on convolution kernel is not supported: rhs shape is %s ",
                           ShapeUtil::HumanString(*kernel));
  }
  std::vector<int64_t> dimensions(lhs.rank());
  std::vector<bool> is_dynamic(lhs.rank());
  dimensions[dnums.output_batch_dimension()] = sizes.input_batch / batch_group_count;
  is_dynamic[dnums.output_batch_dimension()] =
      lhs.is_dynamic_dimension(static_cast<int>(dnums.input_batch_dimension()));
  dimensions[dnums.output_feature_dimension()] = sizes.kernel_output_features;
  for (int i = 0; i < spatial.dimensions_size(); ++i) {
    const int64_t d = dnums.output_spatial_dimensions(i);
    dimensions[d] = spatial.dimensions(i);
    is_dynamic[d] = lhs.is_dynamic_dimension(static_cast<int>(dnums.input_spatial_dimensions(i))) ||
                    kernel->is_dynamic_dimension(static_cast<int>(dnums.kernel_spatial_dimensions(i)));
  }
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, ResultType(lhs, *kernel, preferred_element_type));
  return ShapeUtil::MakeValidatedShape(type, dimensions, is_dynamic);
}

}  // namespace kashi
