#include "kashi/cpu/thunks/packed_operands.h"

#include <tuple>

#include "absl/algorithm/container.h"

namespace kashi::cpu {
namespace {

// The form of the packed rhs of a dot.
auto PackedFormOf(const codegen::DotMatrices& dot) {
  return std::make_tuple(dot.type, dot.sizes.batch, dot.sizes.k, dot.sizes.n, dot.rhs.batch, dot.rhs.row,
                         dot.rhs.column);
}

}  // namespace

std::vector<int> PackedOperands::LeaveLoop() {
  std::vector<int> numbers;
  for (const Packed& packed : loops_.back().packed) numbers.push_back(packed.number);
  loops_.pop_back();
  return numbers;
}

int PackedOperands::NumberOf(const codegen::DotMatrices& dot, int rhs, bool is_constant) {
  std::vector<Packed>* packed = is_constant ? &constants_ : nullptr;
  for (auto loop = loops_.rbegin(); !is_constant && loop != loops_.rend(); ++loop) {
    if (!absl::c_linear_search(loop->kept, rhs)) break;
    packed = &loop->packed;
  }
  const int64_t bytes = DotThunk::PackedBytesOf(dot);
  if (packed == nullptr || bytes == 0) return DotThunk::kNone;
  for (const Packed& known : *packed) {
    if (known.rhs == rhs && PackedFormOf(known.dot) == PackedFormOf(dot)) return known.number;
  }
  if (bytes > kMaxBytes - bytes_) return DotThunk::kNone;
  bytes_ += bytes;
  packed->push_back({rhs, dot, count_});
  return count_++;
}

}  // namespace kashi::cpu
