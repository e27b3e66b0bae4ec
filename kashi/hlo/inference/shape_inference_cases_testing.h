// Shape inference from a line of text, for tests that compare with recorded results of XLA:
//
//   kind        operands                   computations               attributes
//   dot         f32[2,3];f32[3,4]                                     lhs_contracting_dims={1};rhs_contracting_dims={0}
//   while       s32[]                      (s32[])->pred[];(s32[])->s32[]
//
// Items are separated by `;`. The parameters of computations are named p0, p1, ….
#ifndef KASHI_HLO_INFERENCE_SHAPE_INFERENCE_CASES_TESTING_H_
#define KASHI_HLO_INFERENCE_SHAPE_INFERENCE_CASES_TESTING_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/dimension_numbers_text.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/hlo/inference/shape_inference.h"

namespace kashi::hlo {

class ShapeInferenceCase {
 public:
  ShapeInferenceCase(std::string kind, const std::string& operands, const std::string& computations,
                     const std::string& attributes)
      : kind_(std::move(kind)) {
    for (const std::string& text : Items(operands)) operands_.push_back(ParseOperand(text));
    for (const Shape& operand : operands_) pointers_.push_back(&operand);
    for (const std::string& text : Items(computations)) computations_.push_back(ParseComputation(text));
    for (const std::string& text : Items(attributes)) attributes_.insert(absl::StrSplit(text, absl::MaxSplits('=', 1)));
  }
  ShapeInferenceCase(const ShapeInferenceCase&) = delete;
  ShapeInferenceCase& operator=(const ShapeInferenceCase&) = delete;

  absl::StatusOr<Shape> Infer() const {
    if (kind_ == "dot") {
      return ShapeInference::InferDotOpShape(operands_[0], operands_[1], Dot(), std::nullopt);
    }
    if (kind_ == "ragged-dot") {
      RaggedDotDimensionNumbers dnums;
      *dnums.mutable_dot_dimension_numbers() = Dot();
      *dnums.mutable_lhs_ragged_dimensions() = List("lhs_ragged_dims");
      *dnums.mutable_rhs_group_dimensions() = List("rhs_group_dims");
      return ShapeInference::InferRaggedDotOpShape(operands_[0], operands_[1], operands_[2], dnums, std::nullopt);
    }
    if (kind_ == "convolution") return InferConvolution();
    if (kind_ == "gather") {
      return ShapeInference::InferGatherShape(operands_[0], operands_[1], Gather(), List("slice_sizes"));
    }
    if (kind_ == "scatter") return ShapeInference::InferScatterShape(pointers_, computations_[0], Scatter());
    if (kind_ == "call") return ShapeInference::InferCallShape(pointers_, computations_[0]);
    if (kind_ == "while") {
      return ShapeInference::InferWhileShape(computations_[0], computations_[1], operands_[0]);
    }
    if (kind_ == "conditional") {
      return ShapeInference::InferConditionalShape(operands_[0], computations_, absl::MakeSpan(operands_).subspan(1));
    }
    return InferLinearAlgebra();
  }

 private:
  static std::vector<std::string> Items(const std::string& text) {
    return absl::StrSplit(text, ';', absl::SkipEmpty());
  }

  static Shape ParseOperand(absl::string_view text) {
    absl::StatusOr<Shape> shape = ParseShape(text);
    if (!shape.ok()) {
      ADD_FAILURE() << text << ": " << shape.status();
      return ShapeUtil::MakeNil();
    }
    return *std::move(shape);
  }

  static ProgramShape ParseComputation(absl::string_view text) {
    const std::pair<absl::string_view, absl::string_view> halves = absl::StrSplit(text, "->");
    ProgramShape program;
    const Shape parameters = ParseOperand(halves.first);
    for (int i = 0; i < parameters.tuple_shapes_size(); ++i) {
      program.AddParameter(parameters.tuple_shapes(i), absl::StrCat("p", i));
    }
    *program.mutable_result() = ParseOperand(halves.second);
    return program;
  }

  std::string Text(const std::string& name) const {
    const auto found = attributes_.find(name);
    return found == attributes_.end() ? "" : found->second;
  }
  int64_t Int(const std::string& name, int64_t absent = 0) const {
    int64_t value = absent;
    if (const std::string text = Text(name); !text.empty() && !absl::SimpleAtoi(text, &value)) ADD_FAILURE() << text;
    return value;
  }
  bool Bool(const std::string& name) const { return Text(name) == "true"; }
  RepeatedField<int64_t> List(const std::string& name) const {
    RepeatedField<int64_t> list;
    const std::string text = Text(name);
    const absl::string_view items = absl::StripSuffix(absl::StripPrefix(text, "{"), "}");
    for (absl::string_view item : absl::StrSplit(items, ',', absl::SkipEmpty())) {
      if (!absl::SimpleAtoi(item, list.Add())) ADD_FAILURE() << name << "=" << text;
    }
    return list;
  }

  DotDimensionNumbers Dot() const {
    DotDimensionNumbers dnums;
    *dnums.mutable_lhs_contracting_dimensions() = List("lhs_contracting_dims");
    *dnums.mutable_rhs_contracting_dimensions() = List("rhs_contracting_dims");
    *dnums.mutable_lhs_batch_dimensions() = List("lhs_batch_dims");
    *dnums.mutable_rhs_batch_dimensions() = List("rhs_batch_dims");
    return dnums;
  }
  GatherDimensionNumbers Gather() const {
    GatherDimensionNumbers dnums;
    *dnums.mutable_offset_dims() = List("offset_dims");
    *dnums.mutable_collapsed_slice_dims() = List("collapsed_slice_dims");
    *dnums.mutable_start_index_map() = List("start_index_map");
    *dnums.mutable_operand_batching_dims() = List("operand_batching_dims");
    *dnums.mutable_start_indices_batching_dims() = List("start_indices_batching_dims");
    dnums.set_index_vector_dim(Int("index_vector_dim"));
    return dnums;
  }
  ScatterDimensionNumbers Scatter() const {
    ScatterDimensionNumbers dnums;
    *dnums.mutable_update_window_dims() = List("update_window_dims");
    *dnums.mutable_inserted_window_dims() = List("inserted_window_dims");
    *dnums.mutable_scatter_dims_to_operand_dims() = List("scatter_dims_to_operand_dims");
    *dnums.mutable_input_batching_dims() = List("input_batching_dims");
    *dnums.mutable_scatter_indices_batching_dims() = List("scatter_indices_batching_dims");
    dnums.set_index_vector_dim(Int("index_vector_dim"));
    return dnums;
  }

  absl::StatusOr<Shape> InferConvolution() const {
    std::string error;
    const std::optional<ConvolutionDimensionNumbers> dnums = ParseDimLabels(Text("dim_labels"), &error);
    if (!dnums.has_value()) return absl::InvalidArgumentError(error);
    const std::string window_text = Text("window");
    const std::optional<Window> window =
        ParseWindow(absl::StripSuffix(absl::StripPrefix(window_text, "{"), "}"), &error);
    if (!window.has_value()) return absl::InvalidArgumentError(error);
    return ShapeInference::InferConvolveShape(operands_[0], operands_[1], Int("feature_group_count", 1),
                                              Int("batch_group_count", 1), *window, *dnums, std::nullopt);
  }

  absl::StatusOr<Shape> InferLinearAlgebra() const {
    const absl::Span<const Shape> x = operands_;
    if (kind_ == "fft") {
      return ShapeInference::InferFftShape(x[0], StringToFftType(Text("fft_type")).value(), List("fft_length"));
    }
    if (kind_ == "cholesky") return ShapeInference::InferCholeskyShape(x[0]);
    if (kind_ == "triangular-solve") {
      TriangularSolveOptions options;
      options.set_left_side(Bool("left_side"));
      if (const std::string text = Text("transpose_a"); !text.empty()) {
        options.set_transpose_a(StringToTranspose(text).value());
      }
      return ShapeInference::InferTriangularSolveShape(x[0], x[1], options);
    }
    const int64_t feature_index = Int("feature_index");
    if (kind_ == "batch-norm-training") {
      return ShapeInference::InferBatchNormTrainingShape(x[0], x[1], x[2], feature_index);
    }
    if (kind_ == "batch-norm-inference") {
      return ShapeInference::InferBatchNormInferenceShape(x[0], x[1], x[2], x[3], x[4], feature_index);
    }
    if (kind_ == "batch-norm-grad") {
      return ShapeInference::InferBatchNormGradShape(x[0], x[1], x[2], x[3], x[4], feature_index);
    }
    return absl::InvalidArgumentError("no such kind: " + kind_);
  }

  std::string kind_;
  std::vector<Shape> operands_;
  std::vector<const Shape*> pointers_;
  std::vector<ProgramShape> computations_;
  std::map<std::string, std::string> attributes_;
};

// The result's shape with its layout, or "error: " and the message.
inline std::string InferShapeText(const std::string& kind, const std::string& operands, const std::string& attributes,
                                  const std::string& computations = "") {
  absl::StatusOr<Shape> shape = ShapeInferenceCase(kind, operands, computations, attributes).Infer();
  return shape.ok() ? shape->ToString(/*print_layout=*/true) : absl::StrCat("error: ", shape.status().message());
}

}  // namespace kashi::hlo

#endif  // KASHI_HLO_INFERENCE_SHAPE_INFERENCE_CASES_TESTING_H_
