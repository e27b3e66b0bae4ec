#include "kashi/evaluator/window_walk.h"

#include <numeric>
#include <utility>

#include "kashi/base/status.h"
#include "kashi/hlo/attributes/window_util.h"

namespace kashi::evaluator {
namespace {

// a^-1 modulo m, of numbers without a common divisor.
int64_t InverseModulo(int64_t a, int64_t m) {
  int64_t x = 1, next_x = 0, r = a % m, next_r = m;
  while (next_r != 0) {
    const int64_t quotient = r / next_r;
    x -= quotient * next_x;
    std::swap(x, next_x);
    r -= quotient * next_r;
    std::swap(r, next_r);
  }
  return (x % m + m) % m;
}

}  // namespace

WindowWalk::Progression::Progression(int64_t a, int64_t m)
    : common_(std::gcd(a, m)), step_(m / common_), inverse_(InverseModulo(a / common_, step_)) {}

bool WindowWalk::Progression::FirstFrom(int64_t low, int64_t b, int64_t* x) const {
  if (b % common_ != 0) return false;
  *x = low;
  if (step_ == 1) return true;
  const auto modulo = [this](__int128 n) { return static_cast<int64_t>((n % step_ + step_) % step_); };
  const int64_t residue = modulo(static_cast<__int128>(modulo(b / common_)) * inverse_);
  *x += modulo(static_cast<__int128>(residue) - low);
  return true;
}

absl::StatusOr<WindowWalk> WindowWalk::Make(const HloInstruction& instruction, absl::Span<const int64_t> inputs,
                                            absl::Span<const int64_t> outputs) {
  const Window& window = instruction.window();
  if (window.dimensions_size() != inputs.size() || inputs.size() != outputs.size()) {
    return InvalidArgument("The window of %s does not fit its operand.", instruction.name());
  }
  // So that sums of products of these stay far from overflow.
  constexpr int64_t kMost = int64_t{1} << 40;
  WindowWalk walk;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const WindowDimension& d = window.dimensions(i);
    Axis axis = {inputs[i],         outputs[i],          d.size(), d.stride(), d.padding_low(),
                 d.base_dilation(), d.window_dilation(), 0};
    if (axis.size < 1 || axis.stride < 1 || axis.base_dilation < 1 || axis.window_dilation < 1) {
      return InvalidArgument("The window of %s is malformed.", instruction.name());
    }
    // A single input or offset has no neighbours, so its dilation does not matter.
    if (axis.inputs <= 1) axis.base_dilation = 1;
    if (axis.size == 1) axis.window_dilation = 1;
    if (axis.outputs <= 1) axis.stride = 1;
    const auto is_huge = [](int64_t a, int64_t b) { return a != 0 && b > kMost / a; };
    if (is_huge(axis.inputs, axis.base_dilation) || is_huge(axis.size, axis.window_dilation) ||
        is_huge(axis.outputs, axis.stride) || axis.low > kMost || axis.low < -kMost) {
      return Unimplemented("%s with a window of that size: %s", instruction.name(), window_util::ToString(window));
    }
    axis.taps = Progression(axis.base_dilation, axis.window_dilation);
    axis.meetings = Progression(axis.stride, axis.base_dilation);
    Axis* last = walk.outer_.empty() ? nullptr : &walk.outer_.back();
    if (axis.IsTrivial() && last != nullptr && last->IsTrivial()) {
      last->inputs *= axis.inputs;
      last->outputs *= axis.outputs;
    } else {
      walk.outer_.push_back(axis);
    }
  }
  walk.Finish();
  return walk;
}

// Computes the other members from the axes, which are all in outer_.
void WindowWalk::Finish() {
  width_ = 1;
  if (!outer_.empty() && outer_.back().IsTrivial()) {
    width_ = outer_.back().outputs;
    outer_.pop_back();
  }
  row_ = {1, 1, 1, 1, 0, 1, 1, width_};
  if (!outer_.empty()) {
    row_ = outer_.back();
    outer_.pop_back();
  }
  inputs_ = width_ * row_.inputs;
  rows_ = 1;
  for (size_t i = outer_.size(); i-- > 0;) {
    outer_[i].input_stride = inputs_;
    inputs_ *= outer_[i].inputs;
    rows_ *= outer_[i].outputs;
  }
}

WindowWalk WindowWalk::WithPartsInnermost() const {
  WindowWalk walk = *this;
  walk.outer_.push_back(row_);
  const Axis inner = {width_, width_, 1, 1, 0, 1, 1, 0};
  if (width_ > 1) walk.outer_.push_back(inner);
  Axis parts = walk.outer_[0];
  walk.outer_.erase(walk.outer_.begin());
  if (width_ > 1) {
    walk.outer_.back().inputs *= parts.inputs;
    walk.outer_.back().outputs *= parts.outputs;
  } else {
    walk.outer_.push_back(parts);
  }
  walk.Finish();
  return walk;
}

// Exactly the inputs between the first and the last one that an output meets.
bool WindowWalk::IsOneRun() const {
  return row_.window_dilation == 1 &&
         std::all_of(outer_.begin(), outer_.end(), [](const Axis& axis) { return axis.IsTrivial(); });
}

WindowWalk::Inputs WindowWalk::InputsOf(int64_t o) const {
  if (row_.base_dilation == 1 && row_.window_dilation == 1) {
    const int64_t start = o * row_.stride - row_.low, begin = std::max<int64_t>(0, start);
    return {begin, std::max(begin, std::min(row_.inputs, start + row_.size))};
  }
  const Taps taps = TapsOf(row_, o);
  return {taps.first, taps.first + taps.count};
}

WindowWalk::Taps WindowWalk::TapsOf(const Axis& axis, int64_t o) {
  // i * base_dilation = start + w * window_dilation, w in [0, size)
  const int64_t start = o * axis.stride - axis.low;
  const int64_t last =
      std::min(axis.inputs - 1, FloorDiv(start + (axis.size - 1) * axis.window_dilation, axis.base_dilation));
  int64_t first = std::max<int64_t>(0, CeilDiv(start, axis.base_dilation));
  if (!axis.taps.FirstFrom(first, start, &first) || first > last) return {first, 1, 0};
  return {first, axis.taps.step(), (last - first) / axis.taps.step() + 1};
}

}  // namespace kashi::evaluator
