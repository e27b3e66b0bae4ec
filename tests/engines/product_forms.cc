// Forms of products and of linear algebra: which dimensions contract, which are batches, which types are mixed.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "tests/engines/form.h"

namespace kashi::tests {
namespace {

std::string DotDimensions(const Sizes& lhs_batch, const Sizes& lhs, const Sizes& rhs_batch, const Sizes& rhs) {
  std::string text;
  if (!lhs_batch.empty()) text = absl::StrCat("lhs_batch_dims=", ListText(lhs_batch), ", ");
  absl::StrAppend(&text, "lhs_contracting_dims=", ListText(lhs), ", ");
  if (!rhs_batch.empty()) absl::StrAppend(&text, "rhs_batch_dims=", ListText(rhs_batch), ", ");
  return absl::StrCat(text, "rhs_contracting_dims=", ListText(rhs));
}

// A product over dimension d with a vector, with a matrix on either side, with itself; an outer product; all of it in
// batches.
void DraftDot(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const Sizes sizes(x.dimensions().begin(), x.dimensions().end());
  const int64_t rank = static_cast<int64_t>(sizes.size());
  const auto matrix = [&](const Sizes& other) { return WithSizes(x, other); };
  drafts->push_back({{x, matrix({3})}, DotDimensions({}, {}, {}, {})});
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t n = sizes[static_cast<size_t>(d)];
    drafts->push_back({{x, matrix({n})}, DotDimensions({}, {d}, {}, {0})});
    for (int64_t columns : {1, 3, 17}) {
      drafts->push_back({{x, matrix({n, columns})}, DotDimensions({}, {d}, {}, {0})});
      drafts->push_back({{matrix({columns, n}), x}, DotDimensions({}, {1}, {}, {d})});
    }
    drafts->push_back({{x, x}, DotDimensions({}, {d}, {}, {d})});
    drafts->push_back({{x, matrix({4, n})}, DotDimensions({}, {d}, {}, {1})});
    if (d > 0) {
      drafts->push_back({{x, matrix({sizes[0], n, 5})}, DotDimensions({0}, {d}, {0}, {1})});
      drafts->push_back({{x, x}, DotDimensions({0}, {d}, {0}, {d})});
    }
    for (PrimitiveType wider : {F32, S32}) {
      drafts->push_back({{x, matrix({n, 3})}, DotDimensions({}, {d}, {}, {0}), "", ScalarOf(wider)});
    }
  }
}

void DraftRaggedDot(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  if (x.dimensions().size() != 2) return;
  const Shape rhs = WithSizes(x, {3, x.dimensions(1), 5});
  const std::string contraction = "lhs_contracting_dims={1}, rhs_contracting_dims={1}, ";
  drafts->push_back(
      {{x, rhs, ShapeUtil::MakeShape(S32, {3})}, absl::StrCat(contraction, "lhs_ragged_dims={0}, rhs_group_dims={0}")});
}

void DraftScaledDot(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  if (x.dimensions().size() != 2) return;
  const int64_t rows = x.dimensions(0), columns = x.dimensions(1);
  for (int64_t block : {1, 2}) {
    drafts->push_back(
        {{x, WithSizes(x, {columns, 3}), WithSizes(x, {rows, columns / block}), WithSizes(x, {columns / block, 3})},
         DotDimensions({}, {1}, {}, {0})});
  }
}

// A window of each spatial dimension, with the features last.
struct ConvolutionWindow {
  int64_t size;
  const char *stride = "1", *pad = "0_0", *base_dilation = "1", *window_dilation = "1", *reversal = "0";
};

std::string TextOf(const ConvolutionWindow& window, size_t dimensions) {
  const auto each = [&](const std::string& text) {
    return absl::StrJoin(std::vector<std::string>(dimensions, text), "x");
  };
  return absl::StrCat("window={size=", each(absl::StrCat(window.size)), " stride=", each(window.stride),
                      " pad=", each(window.pad), " lhs_dilate=", each(window.base_dilation),
                      " rhs_dilate=", each(window.window_dilation), " rhs_reversal=", each(window.reversal), "}, ");
}

void DraftConvolution(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const size_t rank = x.dimensions().size();
  if (rank < 2 || rank > 4) return;
  const std::string spatial = std::string("01").substr(0, rank - 2);
  const std::string labels = absl::StrCat("b", spatial, "f_", spatial, "io->b", spatial, "f");
  const int64_t features = x.dimensions().back();
  const ConvolutionWindow windows[] = {{1},
                                       {2},
                                       {2, "2"},
                                       {3, "1", "1_1"},
                                       {2, "1", "0_0", "2"},
                                       {2, "1", "1_0", "1", "2"},
                                       {2, "1", "-1_2", "1", "1", "1"}};
  for (const ConvolutionWindow& window : windows) {
    for (int64_t groups : {int64_t{1}, features}) {
      if (groups == 0) continue;
      Sizes kernel(rank - 2, window.size);
      kernel.push_back(features / groups);
      kernel.push_back(groups == 1 ? 3 : groups * 2);
      std::string attributes = absl::StrCat(rank == 2 ? "" : TextOf(window, rank - 2), "dim_labels=", labels);
      if (groups > 1) absl::StrAppend(&attributes, ", feature_group_count=", groups);
      drafts->push_back({{x, WithSizes(x, kernel)}, attributes});
    }
    if (rank == 2) break;
  }
}

void DraftCholesky(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  // Most matrices have no factor; its numbers are then NaN in both engines.
  for (absl::string_view lower : {"true", "false"}) drafts->push_back({{x}, absl::StrCat("lower=", lower)});
}

void DraftTriangularSolve(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  for (absl::string_view transposed : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
    for (int mask = 0; mask < 8; ++mask) {
      const auto flag = [&](int bit) { return mask >> bit & 1 ? "true" : "false"; };
      Sizes other(x.dimensions().begin(), x.dimensions().end());
      if (other.size() < 2) return;
      other[other.size() - (mask & 1 ? 1 : 2)] = 3;
      drafts->push_back({{x, WithSizes(x, other)},
                         absl::StrCat("left_side=", flag(0), ", lower=", flag(1), ", unit_diagonal=", flag(2),
                                      ", transpose_a=", transposed)});
    }
  }
}

void DraftFft(HloOpcode, const Shape& x, std::vector<Draft>* drafts) {
  const Sizes sizes(x.dimensions().begin(), x.dimensions().end());
  for (absl::string_view kind : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
    for (size_t rank = 1; rank <= std::min<size_t>(sizes.size(), 3); ++rank) {
      Sizes lengths(sizes.end() - static_cast<int64_t>(rank), sizes.end());
      if (kind == "IRFFT") lengths.back() = 2 * (lengths.back() - 1);
      drafts->push_back({{x}, absl::StrCat("fft_type=", kind, ", fft_length=", ListText(lengths))});
    }
  }
}

// With the features in each dimension. All three operations, by the number of their operands.
void DraftBatchNorm(HloOpcode opcode, const Shape& x, std::vector<Draft>* drafts) {
  const bool is_gradient = GetHloOpcodeInfo(opcode).shape_rule == HloShapeRule::kBatchNormGrad;
  for (int d = 0; d < x.dimensions_size(); ++d) {
    std::vector<Shape> operands(static_cast<size_t>(GetHloOpcodeInfo(opcode).arity), WithSizes(x, {x.dimensions(d)}));
    operands.front() = x;
    if (is_gradient) operands.back() = x;
    drafts->push_back({operands, absl::StrCat("epsilon=4.5, feature_index=", d)});
  }
}

}  // namespace

absl::Span<const RuleOfShapes> ProductRules() {
  static constexpr RuleOfShapes kRules[] = {
      {HloShapeRule::kDot, &DraftDot},
      {HloShapeRule::kRaggedDot, &DraftRaggedDot},
      {HloShapeRule::kScaledDot, &DraftScaledDot},
      {HloShapeRule::kConvolution, &DraftConvolution},
      {HloShapeRule::kCholesky, &DraftCholesky},
      {HloShapeRule::kTriangularSolve, &DraftTriangularSolve},
      {HloShapeRule::kFft, &DraftFft},
      {HloShapeRule::kBatchNormTraining, &DraftBatchNorm},
      {HloShapeRule::kBatchNormInference, &DraftBatchNorm},
      {HloShapeRule::kBatchNormGrad, &DraftBatchNorm},
  };
  return kRules;
}

}  // namespace kashi::tests
