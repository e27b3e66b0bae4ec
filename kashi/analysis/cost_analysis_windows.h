// How often a reduce-window runs its computation: as XLA counts it, and as it needs to.
#ifndef KASHI_ANALYSIS_COST_ANALYSIS_WINDOWS_H_
#define KASHI_ANALYSIS_COST_ANALYSIS_WINDOWS_H_

#include "kashi/array/shape.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi::analysis {

// The elements of one window.
double WindowElements(const Window& window);

// XLA's number: each window adds up all of its elements. Only windows of 2n - 1 elements over n, with padding of n - 1
// on both sides, count as a cumulative sum. `result`: the first one.
double XlaWindowRuns(const Window& window, const Shape& result);

// Along a cumulative dimension each window begins with the input, or each window ends with it: a window of n elements
// with padding of n - 1 before, and every one that reaches further. All results along it come from one pass, which adds
// each element once. Cumulative dimensions take their passes first, one after the other; then windows over the other
// dimensions add up all of their elements. For example
//
//   f32[8,1000]    window 1x1000 pad 0_0x999_0     XLA 8 * 1000 * 999, needed 8 * 999
//   f32[8,1000]    window 3x3 pad 1_1x1_1          both 8 * 1000 * 8
//
// Never more than XLA's number without its special case. `operand` and `result`: the first ones.
double NeededWindowRuns(const Window& window, const Shape& operand, const Shape& result);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_COST_ANALYSIS_WINDOWS_H_
