// A sharding as a drawing: a grid of the array's parts, with the devices that hold each.
//
//   f32[8,16] in 8 parts of f32[4,4], 64 bytes on each of 8 devices
//
//               0..3  4..7  8..11  12..15
//     0..3         0     1      2       3
//     4..7         4     5      6       7
//
// Rows are the first dimension that is cut, columns the second; further cut dimensions give one grid each.
#ifndef KASHI_CLI_SHARDING_FIGURE_H_
#define KASHI_CLI_SHARDING_FIGURE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kashi/hlo/spmd/device_parts.h"

namespace kashi::cli {

// "0 to 3, 8": ascending numbers, with the runs of more than two as ranges.
std::string NumbersText(absl::Span<const int64_t> numbers);

// The grids, at most `most_lines` lines in all and `width` columns wide (0: no limit). The text says what it leaves
// out.
std::string ShardingFigure(const hlo::DeviceParts& parts, absl::Span<const int64_t> dimensions, size_t width,
                           size_t most_lines);

}  // namespace kashi::cli

#endif  // KASHI_CLI_SHARDING_FIGURE_H_
