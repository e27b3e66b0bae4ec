// The axes of the factors of a rule, in dimensions that are cut.
//
// A dimension may consist of several factors, its digits: 32 of f32[32] = 4 * 8 beside f32[4,8]. Its first axes cut
// the first digit, and the next ones the next digit, but only where the first one is cut into single elements:
// otherwise the parts of f32[4,8] would be no ranges of f32[32].
//
//   axes of size 2      f32[4,8] as [{0,1}, {2}]   f32[32] as [{0,1,2}]
//                       f32[4,8] as [{0}, {2}]     f32[32] as [{0}]
#ifndef KASHI_PARTITION_FACTOR_AXES_H_
#define KASHI_PARTITION_FACTOR_AXES_H_

#include <optional>
#include <vector>

#include "kashi/partition/device_axes.h"
#include "kashi/partition/partition_rule.h"

namespace kashi::partition {

// The longest prefix of a list of axes along which all dimensions of a factor may be cut.
AxisList Spread(const DeviceAxes& axes, const PartitionRule& rule, int factor, const AxisList& list);

// The longest prefix along which a factor may be cut where the operation is computed. For a moving window or a
// rotation: all of the list, or nothing.
AxisList Allowed(const DeviceAxes& axes, const PartitionRule& rule, int factor, const AxisList& list);

// Of a dimension that consists of digits and is cut along a list: the axes of each digit.
std::vector<AxisList> AxesOfDigits(const DeviceAxes& axes, const PartitionRule& rule, int dimension,
                                   const AxisList& list);

// `dimension`: the factor of a dimension, which has `factor` as a digit or is that. Nullopt: it has not.
// AxesIn: the axes of the factor, if the dimension is cut along the list.
// CutFor: how the dimension, now cut along `now`, is to be cut so that the factor is cut along `wanted`. Nullopt also
// if a digit before it is not cut into single elements.
std::optional<AxisList> AxesIn(const DeviceAxes& axes, const PartitionRule& rule, int factor, int dimension,
                               const AxisList& list);
std::optional<AxisList> CutFor(const DeviceAxes& axes, const PartitionRule& rule, int factor, int dimension,
                               const AxisList& now, const AxisList& wanted);

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_FACTOR_AXES_H_
