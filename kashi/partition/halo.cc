#include "kashi/partition/halo.h"

#include <algorithm>
#include <cstdlib>

#include "kashi/base/math.h"
#include "kashi/partition/device_program.h"

namespace kashi::partition {
namespace {

// Beyond these the arithmetic could overflow. No program has such windows over parts.
constexpr int64_t kLargest = int64_t{1} << 30;

// Each neighbour is a collective operation; beyond these one all-gather is better.
constexpr int64_t kMostNeighbours = 2;

bool IsSmall(const MovingWindow& window) {
  for (const int64_t number : {window.start, window.step, window.window, window.from_size, window.to_size}) {
    if (number > kLargest || number < -kLargest) return false;
  }
  return window.step > 0 && window.window > 0 && window.from_size > 0 && window.to_size > 0;
}

}  // namespace

std::optional<HaloPlan> PlanHalo(const MovingWindow& window, int64_t parts) {
  if (!IsSmall(window)) return std::nullopt;
  HaloPlan plan;
  plan.shard = CeilOfRatio(window.from_size, parts);
  const int64_t results = CeilOfRatio(window.to_size, parts);
  plan.length = (results - 1) * window.step + window.window;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t count = std::min(results, window.to_size - part * results);
    plan.places.push_back(window.start + part * results * window.step);
    if (count <= 0) continue;  // only padding
    const int64_t begin = plan.places.back(), end = begin + (count - 1) * window.step + window.window;
    plan.leaves_array = plan.leaves_array || begin < 0 || end > window.from_size;
    const int64_t first = std::max<int64_t>(begin, 0), last = std::min(end, window.from_size);
    if (first >= last) continue;
    plan.left = std::max(plan.left, part * plan.shard - first);
    plan.right = std::max(plan.right, last - (part + 1) * plan.shard);
  }
  if (plan.left + plan.right >= (parts - 1) * plan.shard) return std::nullopt;
  if (CeilOfRatio(plan.left, plan.shard) + CeilOfRatio(plan.right, plan.shard) > kMostNeighbours) return std::nullopt;
  const int64_t has = plan.left + plan.shard + plan.right;
  for (int64_t part = 0; part < parts; ++part) {
    if (part * results >= window.to_size) continue;
    const int64_t start = plan.places[part] - (part * plan.shard - plan.left);
    plan.low = std::max(plan.low, -start);
    plan.high = std::max(plan.high, start + plan.length - has);
  }
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t start = plan.places[part] - (part * plan.shard - plan.left) + plan.low;
    plan.starts.push_back(std::clamp<int64_t>(start, 0, plan.low + has + plan.high - plan.length));
    plan.places[part] += plan.starts[part] - start;
  }
  // Windows that lie outside need more padding than there are elements: rather gather.
  if (plan.low + plan.high > 2 * (plan.length + has)) return std::nullopt;
  return plan;
}

// A piece of the part that is `distance` parts before this one; behind it for negative distances. goes_around: the
// first part is behind the last one.
HloInstruction* DeviceProgram::FromNeighbour(HloInstruction* x, const AxisList& along, int64_t distance,
                                             bool goes_around) {
  AxisList others;
  const AxisSet used = SetOf(along);
  for (int axis = 0; axis < axes().num_axes(); ++axis) {
    if ((used >> axis & 1) == 0) others.push_back(axis);
  }
  const int64_t parts = axes().SizeOf(along);
  std::vector<int64_t> device_at(axes().devices());
  for (int64_t device = 0; device < axes().devices(); ++device) {
    device_at[axes().IndexOf(others, device) * parts + axes().IndexOf(along, device)] = device;
  }
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t source = 0; source < axes().devices(); ++source) {
    int64_t target = axes().IndexOf(along, source) + distance;
    if (goes_around) target = ((target % parts) + parts) % parts;
    if (target < 0 || target >= parts) continue;
    pairs.emplace_back(source, device_at[axes().IndexOf(others, source) * parts + target]);
  }
  return Permute(x, pairs);
}

HloInstruction* DeviceProgram::ExchangeHalo(HloInstruction* x, int64_t dimension, const AxisList& along,
                                            const HaloPlan& plan) {
  const auto piece = [&](int64_t begin, int64_t end) { return Part(x, dimension, begin, end); };
  std::vector<HloInstruction*> parts = {x};
  for (int64_t distance = 1, left = plan.left; left > 0; ++distance, left -= plan.shard) {
    parts.insert(parts.begin(),
                 FromNeighbour(piece(plan.shard - std::min(left, plan.shard), plan.shard), along, distance));
  }
  for (int64_t distance = 1, right = plan.right; right > 0; ++distance, right -= plan.shard) {
    parts.push_back(FromNeighbour(piece(0, std::min(right, plan.shard)), along, -distance));
  }
  if (parts.size() == 1) return x;
  Shape shape = x->shape();
  shape.set_dimensions(static_cast<int>(dimension), plan.left + plan.shard + plan.right);
  return Add(HloInstruction::CreateConcatenate(shape, parts, dimension));
}

HloInstruction* DeviceProgram::ElementsForWindows(HloInstruction* x, int64_t dimension, const AxisList& along,
                                                  const MovingWindow& window, const HaloPlan& plan,
                                                  HloInstruction* outside) {
  x = ExchangeHalo(x, dimension, along, plan);
  x = PadEdges(x, dimension, plan.low, plan.high);
  std::vector<std::vector<int64_t>> offsets(x->shape().rank(), std::vector<int64_t>(axes().devices(), 0));
  std::vector<int64_t> sizes(x->shape().dimensions().begin(), x->shape().dimensions().end());
  std::vector<int64_t> before(axes().devices()), inside(axes().devices());
  for (int64_t device = 0; device < axes().devices(); ++device) {
    const int64_t part = axes().IndexOf(along, device);
    offsets[dimension][device] = plan.starts[part];
    before[device] = std::clamp<int64_t>(-plan.places[part], 0, plan.length);
    inside[device] = std::clamp<int64_t>(window.from_size - plan.places[part], 0, plan.length);
  }
  sizes[dimension] = plan.length;
  x = SliceAt(x, offsets, sizes);
  if (!plan.leaves_array) return x;
  x = Mask(x, dimension, inside, outside);
  return MaskBefore(x, dimension, before, outside);
}

}  // namespace kashi::partition
