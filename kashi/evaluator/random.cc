// rng, rng-bit-generator, rng-get-and-update-state (docs/spec/hlo-ops.md 8). The bits of rng-bit-generator are exactly
// XLA's. The values of rng only have the right distribution.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "absl/numeric/bits.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/parallel_for.h"

namespace kashi::evaluator {
namespace {

using uint128 = unsigned __int128;

// ---- Block functions: kLanes counters at once ----------------------------------------------------------------------

constexpr int kLanes = 16;
template <int words>
using Blocks = std::array<std::array<uint32_t, kLanes>, words>;

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

// A word of kLanes blocks, in vectors of the size that every processor of ours has.
using Vector = uint32_t __attribute__((vector_size(16)));
struct Lanes {
  Vector a, b, c, d;

  void Add(const Lanes& x) {
    a += x.a;
    b += x.b;
    c += x.c;
    d += x.d;
  }
  void Add(uint32_t x) {
    a += x;
    b += x;
    c += x;
    d += x;
  }
  template <int bits>
  void RotateAndXor(const Lanes& x) {
    a = (a << bits | a >> (32 - bits)) ^ x.a;
    b = (b << bits | b >> (32 - bits)) ^ x.b;
    c = (c << bits | c >> (32 - bits)) ^ x.c;
    d = (d << bits | d >> (32 - bits)) ^ x.d;
  }
};

template <int... rotations>
void MixFourTimes(Lanes& x0, Lanes& x1) {
  (..., (x0.Add(x1), x1.RotateAndXor<rotations>(x0)));
}

// Threefry2x32 of 20 rounds, of the counters first, first + 1, …
void Threefry(uint64_t key, uint64_t first, Blocks<2>& words) {
  const uint32_t k[3] = {Low(key), High(key), 0x1BD11BDA ^ Low(key) ^ High(key)};
  for (int lane = 0; lane < kLanes; ++lane) {
    words[0][lane] = Low(first + lane);
    words[1][lane] = High(first + lane);
  }
  Lanes x0, x1;
  static_assert(sizeof(Lanes) == sizeof(words[0]));
  std::memcpy(&x0, words[0].data(), sizeof(x0));
  std::memcpy(&x1, words[1].data(), sizeof(x1));
  x0.Add(k[0]);
  x1.Add(k[1]);
  for (int group = 0; group < 5; ++group) {
    group % 2 == 0 ? MixFourTimes<13, 15, 26, 6>(x0, x1) : MixFourTimes<17, 29, 16, 24>(x0, x1);
    x0.Add(k[(group + 1) % 3]);
    x1.Add(k[(group + 2) % 3] + group + 1);
  }
  std::memcpy(words[0].data(), &x0, sizeof(x0));
  std::memcpy(words[1].data(), &x1, sizeof(x1));
}

// Philox4x32 of 10 rounds.
void Philox(uint64_t key, uint128 first, Blocks<4>& x) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint128 counter = first + lane;
    for (int word = 0; word < 4; ++word) x[word][lane] = static_cast<uint32_t>(counter >> (32 * word));
  }
  uint32_t k0 = Low(key), k1 = High(key);
  for (int round = 0; round < 10; ++round) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint64_t p0 = uint64_t{0xD2511F53} * x[0][lane], p1 = uint64_t{0xCD9E8D57} * x[2][lane];
      x[0][lane] = High(p1) ^ x[1][lane] ^ k0;
      x[1][lane] = Low(p1);
      x[2][lane] = High(p0) ^ x[3][lane] ^ k1;
      x[3][lane] = Low(p0);
    }
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
}

// ---- rng-bit-generator ---------------------------------------------------------------------------------------------

// An array of bits: unsigned integers of 1, 2, 4 or 8 bytes with the low `bits` set.
class BitArray {
 public:
  explicit BitArray(Value& value)
      : data_(value.mutable_bytes()),
        bytes_(value.element_bytes()),
        mask_(bytes_ == 1 ? (1u << primitive_util::BitWidth(value.element_type())) - 1 : ~uint32_t{0}) {}

  // Elements [at, at + n) with step `step` of up to 32 bits each.
  void Set(int64_t at, int64_t step, const uint32_t* words, int64_t n) const {
    switch (bytes_) {
      case 1:
        return SetAs<uint8_t>(at, step, words, n);
      case 2:
        return SetAs<uint16_t>(at, step, words, n);
      default:
        return SetAs<uint32_t>(at, step, words, n);
    }
  }
  void Set64(int64_t at, int64_t step, const uint32_t* low, const uint32_t* high, int64_t n) const {
    uint64_t* const to = reinterpret_cast<uint64_t*>(data_) + at;
    for (int64_t i = 0; i < n; ++i) to[i * step] = low[i] | uint64_t{high[i]} << 32;
  }
  bool is_64_bit() const { return bytes_ == 8; }

 private:
  template <typename T>
  void SetAs(int64_t at, int64_t step, const uint32_t* words, int64_t n) const {
    T* const to = reinterpret_cast<T*>(data_) + at;
    for (int64_t i = 0; i < n; ++i) to[i * step] = static_cast<T>(words[i] & mask_);
  }

  char* data_;
  int bytes_;
  uint32_t mask_;
};

constexpr int64_t kBlocksPerPiece = 1 << 11;

// 64 bits: an element a block.
absl::StatusOr<uint64_t> ThreefryBits64(const EvaluationRun& run, uint64_t key, uint64_t counter, int64_t elements,
                                        const BitArray& out) {
  KASHI_RETURN_IF_ERROR(ParallelFor(
      run, (elements + kLanes - 1) / kLanes, kBlocksPerPiece / kLanes, [&](int64_t begin, int64_t end, int) {
        Blocks<2> x;
        for (int64_t i = begin * kLanes; i < std::min(end * kLanes, elements); i += kLanes) {
          Threefry(key, counter + i, x);
          out.Set64(i, 1, x[0].data(), x[1].data(), std::min<int64_t>(kLanes, elements - i));
        }
      }));
  return counter + elements;
}

// The array seen as [outer][split][inner]: blocks fill its elements in pairs of neighbours along one dimension.
struct SplitView {
  int64_t outer = 1;
  int64_t split = 1;
  int64_t inner = 1;

  int64_t half() const { return split / 2 + split % 2; }
  int64_t pairs() const { return outer * half() * inner; }
};

// Along the first dimension of even size; if there is none, the first of the largest size.
SplitView SplitDimension(absl::Span<const int64_t> dimensions) {
  SplitView view;
  if (dimensions.empty()) return view;
  auto split = std::find_if(dimensions.begin(), dimensions.end(), [](int64_t size) { return size % 2 == 0; });
  if (split == dimensions.end()) split = std::max_element(dimensions.begin(), dimensions.end());
  for (auto size = dimensions.begin(); size != split; ++size) view.outer *= *size;
  view.split = *split;
  for (auto size = split + 1; size != dimensions.end(); ++size) view.inner *= *size;
  return view;
}

// Pairs [first, first + n), which are all in the same row of the split dimension's index.
void SetPairs(const SplitView& view, int64_t first, int64_t n, const Blocks<2>& x, int lane, const BitArray& out) {
  const int64_t row = first / view.inner, column = first % view.inner;  // row: (outer, half) in one
  const int64_t j = row % view.half();
  const int64_t at = (row / view.half() * view.split + 2 * j) * view.inner + column;
  out.Set(at, 1, x[0].data() + lane, n);
  if (2 * j + 1 < view.split) out.Set(at + view.inner, 1, x[1].data() + lane, n);
}

// SetPairs where inner is 1 and the pairs are in one outer row: then pairs are contiguous.
void SetNeighbours(const SplitView& view, int64_t first, int64_t n, const Blocks<2>& x, int lane, const BitArray& out) {
  const int64_t j = first % view.half(), at = first / view.half() * view.split + 2 * j;
  out.Set(at, 2, x[0].data() + lane, n);
  out.Set(at + 1, 2, x[1].data() + lane, std::min(n, view.split / 2 - j));
}

absl::StatusOr<uint64_t> ThreefryBits32(const EvaluationRun& run, uint64_t key, uint64_t counter,
                                        absl::Span<const int64_t> dimensions, const BitArray& out) {
  const SplitView view = SplitDimension(dimensions);
  const int64_t pairs = view.pairs(), line = view.inner == 1 ? view.half() : view.inner;
  KASHI_RETURN_IF_ERROR(
      ParallelFor(run, (pairs + kLanes - 1) / kLanes, kBlocksPerPiece / kLanes, [&](int64_t begin, int64_t end, int) {
        Blocks<2> x;
        for (int64_t i = begin * kLanes; i < std::min(end * kLanes, pairs); i += kLanes) {
          Threefry(key, counter + i, x);
          const int64_t next = std::min(i + kLanes, pairs);
          for (int64_t at = i; at < next;) {
            const int64_t n = std::min(next - at, line - at % line);
            (view.inner == 1 ? SetNeighbours : SetPairs)(view, at, n, x, static_cast<int>(at - i), out);
            at += n;
          }
        }
      }));
  return counter + pairs;
}

// Four words a block, in order; 64 bits take two of them.
absl::StatusOr<uint128> PhiloxBits(const EvaluationRun& run, uint64_t key, uint128 counter, int64_t elements,
                                   const BitArray& out) {
  const int64_t per_block = out.is_64_bit() ? 2 : 4;
  const int64_t blocks = elements / per_block + (elements % per_block != 0);
  KASHI_RETURN_IF_ERROR(
      ParallelFor(run, (blocks + kLanes - 1) / kLanes, kBlocksPerPiece / kLanes, [&](int64_t begin, int64_t end, int) {
        Blocks<4> x;
        for (int64_t i = begin * kLanes; i < std::min(end * kLanes, blocks); i += kLanes) {
          Philox(key, counter + i, x);
          for (int64_t word = 0; word < per_block; ++word) {
            const int64_t at = i * per_block + word;
            if (at >= elements) break;
            const int64_t n = std::min<int64_t>(kLanes, (elements - at - 1) / per_block + 1);
            if (out.is_64_bit()) {
              out.Set64(at, 2, x[2 * word].data(), x[2 * word + 1].data(), n);
            } else {
              out.Set(at, 4, x[word].data(), n);
            }
          }
        }
      }));
  return counter + blocks;
}

// Fills the bits, and returns the state afterwards.
absl::StatusOr<std::vector<uint64_t>> GenerateBits(const Operation& op, absl::Span<const uint64_t> state, Value& bits) {
  const BitArray out(bits);
  const uint64_t key = state[0];
  if (op.instruction.rng_algorithm() == RNG_THREE_FRY) {
    if (state.size() != 2) return InvalidArgument("%s: rng_three_fry takes a state of u64[2]", op.instruction.name());
    KASHI_ASSIGN_OR_RETURN(const uint64_t next, out.is_64_bit()
                                                    ? ThreefryBits64(op.run, key, state[1], bits.element_count(), out)
                                                    : ThreefryBits32(op.run, key, state[1], bits.dimensions(), out));
    return std::vector<uint64_t>{key, next};
  }
  // Without a third word, the key is the high word of the counter, and does not change.
  const uint64_t high = state.size() == 3 ? state[2] : key;
  KASHI_ASSIGN_OR_RETURN(const uint128 next,
                         PhiloxBits(op.run, key, uint128{high} << 64 | state[1], bits.element_count(), out));
  std::vector<uint64_t> result{key, static_cast<uint64_t>(next), static_cast<uint64_t>(next >> 64)};
  result.resize(state.size());
  return result;
}

// ---- rng -----------------------------------------------------------------------------------------------------------

// An array of type T with elements from draw(), in order, because there is one source of random numbers.
template <typename T, typename Draw>
absl::StatusOr<Value> DrawElements(EvaluationRun& run, absl::Span<const int64_t> dimensions, const Draw& draw) {
  KASHI_ASSIGN_OR_RETURN(Value out, run.MakeArray(primitive_util::NativeToPrimitiveType<T>(), dimensions));
  constexpr size_t kDrawsPerCheck = 1 << 16;
  const absl::Span<T> elements = out.mutable_data<T>();
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i % kDrawsPerCheck == 0) KASHI_RETURN_IF_ERROR(run.CheckStopped());
    elements[i] = draw();
  }
  return out;
}

// A random multiple of 2^-digits in [0, 1).
double UnitReal(std::mt19937_64& random, int digits) {
  return std::ldexp(static_cast<double>(random() >> (64 - digits)), -digits);
}

absl::StatusOr<Value> UniformIntegers(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const Value a, op.run.Convert(op.operands[0], U64));  // signed numbers modulo 2^64
  KASHI_ASSIGN_OR_RETURN(const Value b, op.run.Convert(op.operands[1], U64));
  const uint64_t least = a.data<uint64_t>()[0], range = b.data<uint64_t>()[0] - least;
  std::mt19937_64& random = op.run.random();
  return DrawElements<uint64_t>(op.run, op.result()->dimensions(),
                                [&] { return least + (range == 0 ? 0 : random() % range); });
}

// Numbers with as few digits as the result's type has, so that rounding never turns a smaller number into b.
absl::StatusOr<Value> UniformReals(Operation& op, double a, double b) {
  std::mt19937_64& random = op.run.random();
  const int digits = primitive_util::SignificandWidth(op.result()->element_type());
  const double unit = std::ldexp(1.0, -digits);
  return DrawElements<double>(op.run, op.result()->dimensions(),
                              [&] { return a + (b - a) * (static_cast<double>(random() >> (64 - digits)) * unit); });
}

// Box and Muller, one of the two: sqrt(-2 log u) cos(2 pi v), u in (0, 1].
absl::StatusOr<Value> NormalReals(Operation& op, double mean, double deviation) {
  std::mt19937_64& random = op.run.random();
  return DrawElements<double>(op.run, op.result()->dimensions(), [&] {
    const double u = 1 - UnitReal(random, 53), v = UnitReal(random, 53);
    return mean + deviation * (std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v));
  });
}

absl::StatusOr<Value> DrawReals(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const Value a, op.run.Convert(op.operands[0], F64));
  KASHI_ASSIGN_OR_RETURN(const Value b, op.run.Convert(op.operands[1], F64));
  const double first = a.data<double>()[0], second = b.data<double>()[0];
  return op.instruction.random_distribution() == RNG_NORMAL ? NormalReals(op, first, second)
                                                            : UniformReals(op, first, second);
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kRng>(Operation& op) {
  const PrimitiveType type = op.result()->element_type();
  KASHI_ASSIGN_OR_RETURN(Value drawn, primitive_util::IsFloatingPointType(type) ? DrawReals(op) : UniformIntegers(op));
  return op.run.Convert(std::move(drawn), type);
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kRngBitGenerator>(Operation& op) {
  const bool has_state = op.results.size() == 2;  // text from the TPU compiler has only the bits
  const DenseShape& shape = op.results.back();
  const PrimitiveType type = shape->element_type();
  const Value& state = op.operands[0];
  if (type == PRED || primitive_util::IsComplexType(type)) {
    return Unimplemented("%s: rng-bit-generator of %s", op.instruction.name(),
                         primitive_util::LowercasePrimitiveTypeName(type));
  }
  if (!state.is_array() || state.element_type() != U64 || state.rank() != 1 ||
      (state.dimension(0) != 2 && state.dimension(0) != 3)) {
    return Unimplemented("%s: rng-bit-generator takes a state of u64[2] or u64[3], not %s", op.instruction.name(),
                         op.instruction.operand(0)->shape().ToString());
  }
  KASHI_ASSIGN_OR_RETURN(Value bits, op.MakeResult(has_state ? 1 : 0));
  KASHI_ASSIGN_OR_RETURN(const std::vector<uint64_t> next, GenerateBits(op, state.data<uint64_t>(), bits));
  if (!has_state) return bits;
  KASHI_ASSIGN_OR_RETURN(Value next_state, op.MakeResultOf(U64, state.dimensions()));
  std::copy(next.begin(), next.end(), next_state.mutable_data<uint64_t>().begin());
  std::vector<Value> results;
  results.push_back(std::move(next_state));
  results.push_back(std::move(bits));
  return Value::MakeTuple(std::move(results));
}

// The low half first.
template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kRngGetAndUpdateState>(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResult());
  uint128& state = op.run.rng_state();
  out.mutable_data<uint64_t>()[0] = static_cast<uint64_t>(state);
  out.mutable_data<uint64_t>()[1] = static_cast<uint64_t>(state >> 64);
  state += static_cast<uint128>(static_cast<__int128>(op.instruction.delta()));
  return out;
}

}  // namespace kashi::evaluator
