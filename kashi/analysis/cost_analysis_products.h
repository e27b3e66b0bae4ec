// Flops of products of matrices and of convolutions: a multiplication and the addition after it are two.
#ifndef KASHI_ANALYSIS_COST_ANALYSIS_PRODUCTS_H_
#define KASHI_ANALYSIS_COST_ANALYSIS_PRODUCTS_H_

#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::analysis {

inline constexpr double kFmaFlops = 2;

// dot and scaled-dot: for each element of the result as many products as the contracted dimensions of the left side
// have elements. Ignores dimension numbers that the shape does not have.
double DotFlops(const Shape& lhs, const Shape& result, const DotDimensionNumbers& numbers);

// Counts as XLA does: a dot into the result without its first dimensions, as many as there are group dimensions. So
// f32[m,k] by f32[g,k,n] is 2*k*n, as if m were 1.
double RaggedDotFlops(const HloInstruction& ragged_dot);
// The products that it needs: each row by the matrix of its group, or each group's rows by each other, as if all rows
// were in a group.
double NeededRaggedDotFlops(const HloInstruction& ragged_dot);

// Counts only products with elements of the input, not with its padding or the holes of dilation. Windows with
// numbers beyond 2^31, or with more than 64 successive kernel positions that meet the holes differently, count as if
// all products were with elements.
double ConvolutionFlops(const HloInstruction& convolution, const Shape& input, const Shape& result);
double ConvolutionFlops(const HloInstruction& convolution);  // of its own shapes; 0 without two operands

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_COST_ANALYSIS_PRODUCTS_H_
