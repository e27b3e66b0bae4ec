// For tests only: a relayout as data, which can be printed, and run on guarded memory; and its expected result,
// computed in the obvious way, without a Placement and without an IndexMap.
#ifndef KASHI_RELAYOUT_RELAYOUT_RUNNER_TESTING_H_
#define KASHI_RELAYOUT_RELAYOUT_RUNNER_TESTING_H_

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "kashi/array/index_map.h"
#include "kashi/array/index_map_oracle_testing.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/relayout/placement.h"
#include "kashi/relayout/relayout_plan.h"

namespace kashi::relayout::relayout_testing {

using Index = std::vector<int64_t>;
using TileList = std::vector<Index>;

// ------------------------------------------------------------------------------------------------------------ trials

struct Side {
  Shape shape;                        // the whole array; its layout says where elements are unless there are strides
  std::optional<Index> byte_strides;  //
  std::optional<Index> starts;        // of a part of `sizes`
  Index sizes;

  bool is_whole_buffer() const {
    return !byte_strides && (!starts || absl::MakeConstSpan(sizes) == shape.dimensions());
  }
};

// The place of a buffer in its guarded memory: the distance in bytes from the guard page before it, or kAtEnd: just in
// front of the page after it.
inline constexpr int64_t kAtEnd = -1;

struct Trial {
  Side from;
  Side to;
  RelayoutOptions options;
  int64_t from_shift = 0;
  int64_t to_shift = 0;
};

inline int64_t SlotBits(const Side& side) {
  const int64_t bits = side.byte_strides ? 0 : side.shape.layout().element_size_in_bits();
  return bits != 0 ? bits : 8 * primitive_util::ByteWidth(side.shape.element_type());
}

inline absl::StatusOr<Placement> PlacementOf(const Side& side) {
  KASHI_ASSIGN_OR_RETURN(
      Placement whole,
      side.byte_strides ? Placement::OfStrides(side.shape.element_type(), side.shape.dimensions(), *side.byte_strides)
                        : Placement::OfLayout(side.shape));
  if (!side.starts) return whole;
  return whole.Slice(*side.starts, side.sizes);
}

inline absl::StatusOr<RelayoutPlan> MakePlan(const Trial& trial) {
  KASHI_ASSIGN_OR_RETURN(const Placement from, PlacementOf(trial.from));
  KASHI_ASSIGN_OR_RETURN(const Placement to, PlacementOf(trial.to));
  return RelayoutPlan::Make(from, to, trial.options);
}

inline std::string ToString(const Side& side) {
  std::string text;
  for (size_t d = 0; side.starts && d < side.sizes.size(); ++d) {
    const int64_t start = (*side.starts)[d];
    absl::StrAppend(&text, d == 0 ? "[" : ", ", start, ":", start + side.sizes[d],
                    d + 1 == side.sizes.size() ? "] of " : "");
  }
  absl::StrAppend(&text, side.shape.ToString(/*print_layout=*/!side.byte_strides));
  if (side.byte_strides) absl::StrAppend(&text, " by strides ", absl::StrJoin(*side.byte_strides, ","));
  return text;
}

// One line with all facts; those that the command also takes stand first.
inline std::string ToString(const Trial& trial) {
  std::string text =
      absl::StrCat("kashi relayout --check --from '", ToString(trial.from), "' --to '", ToString(trial.to), "'");
  const std::optional<absl::uint128>& padding = trial.options.padding;
  absl::StrAppend(&text, "  # padding ");
  if (padding) {
    absl::StrAppendFormat(&text, "%#x:%016x", absl::Uint128High64(*padding), absl::Uint128Low64(*padding));
  } else {
    absl::StrAppend(&text, "left alone");
  }
  absl::StrAppend(&text, ", threads ", trial.options.threads, trial.options.convert ? ", convert" : "",
                  trial.options.non_temporal_stores.value_or(false) ? ", non-temporal stores" : "", ", shifts ",
                  trial.from_shift, " ", trial.to_shift);
  return text;
}

// ----------------------------------------------------------------------------------------------------- the obvious way

inline absl::uint128 LowBits(absl::uint128 value, int64_t bits) {
  return bits >= 128 ? value : value & ((absl::uint128(1) << static_cast<int>(bits)) - 1);
}

inline absl::uint128 ReadBits(const char* address, int64_t bit, int64_t bits) {
  absl::uint128 value = 0;
  for (int64_t i = bits; i-- > 0;) {
    value = value << 1 | absl::uint128(static_cast<uint8_t>(address[(bit + i) >> 3]) >> ((bit + i) & 7) & 1);
  }
  return value;
}

inline void WriteBits(char* address, int64_t bit, int64_t bits, absl::uint128 value) {
  for (int64_t i = 0; i < bits; ++i, value >>= 1) {
    const int mask = 1 << ((bit + i) & 7);
    char& byte = address[(bit + i) >> 3];
    byte = static_cast<char>(absl::Uint128Low64(value) & 1 ? byte | mask : byte & ~mask);
  }
}

// A value as it lies in its slot, from its lowest bits.
inline absl::uint128 InSlot(PrimitiveType type, absl::uint128 value, int64_t slot_bits) {
  const int bits = primitive_util::BitWidth(type);
  value = LowBits(value, bits);
  const bool is_negative =
      primitive_util::IsSignedIntegralType(type) && bits >= 8 && (value >> (bits - 1)) != 0;  // see narrow_int.h
  if (is_negative && bits < 128) value |= ~absl::uint128(0) << bits;
  return LowBits(value, slot_bits);
}

// Bits from the address to each element of the part, in row-major order.
inline Index BitOffsets(const Side& side) {
  const Index whole(side.shape.dimensions().begin(), side.shape.dimensions().end());
  Index of_whole(array::index_map_oracle::Product(whole), 0);
  if (side.byte_strides) {
    Index index(whole.size(), 0);
    for (int64_t& offset : of_whole) {
      for (size_t d = 0; d < index.size(); ++d) offset += 8 * index[d] * (*side.byte_strides)[d];
      array::index_map_oracle::Bump(whole, &index);
    }
  } else {
    const array::index_map_oracle::Cells cells = array::index_map_oracle::Materialise(side.shape);
    const int64_t prefix = std::max<int64_t>(0, side.shape.layout().dynamic_shape_metadata_prefix_bytes());
    for (size_t p = 0; p < cells.cells.size(); ++p) {
      if (cells.cells[p] != cells.kPadding) of_whole[cells.cells[p]] = 8 * prefix + p * SlotBits(side);
    }
  }
  if (!side.starts) return of_whole;
  Index of_part(array::index_map_oracle::Product(side.sizes)), index(side.sizes.size(), 0), at(index.size());
  for (int64_t& offset : of_part) {
    for (size_t d = 0; d < index.size(); ++d) at[d] = index[d] + (*side.starts)[d];
    offset = of_whole[array::index_map_oracle::Linear(at, whole)];
    array::index_map_oracle::Bump(side.sizes, &index);
  }
  return of_part;
}

inline void FillPadding(const Side& side, absl::uint128 padding, char* target) {
  const array::index_map_oracle::Cells cells = array::index_map_oracle::Materialise(side.shape);
  const int64_t tail = side.shape.layout().tail_padding_alignment_in_elements();
  const int64_t count = static_cast<int64_t>(cells.cells.size());
  const int64_t prefix = std::max<int64_t>(0, side.shape.layout().dynamic_shape_metadata_prefix_bytes());
  for (int64_t p = 0; p < (count + tail - 1) / tail * tail; ++p) {
    if (p < count && cells.cells[p] != cells.kPadding) continue;
    WriteBits(target, 8 * prefix + p * SlotBits(side), SlotBits(side), padding);
  }
  // Bits that are left of the last byte are 0.
  const int64_t end = 8 * prefix + (count + tail - 1) / tail * tail * SlotBits(side);
  WriteBits(target, end, (8 - end % 8) % 8, 0);
}

// Converts the bits of a value of the source's type to those of a value of the target's.
using ElementConversion = absl::FunctionRef<absl::uint128(absl::uint128)>;

inline void BruteForce(const Trial& trial, const char* source, char* target, ElementConversion convert) {
  const Side &from = trial.from, &to = trial.to;
  const Index from_bits = BitOffsets(from), to_bits = BitOffsets(to);
  KASHI_CHECK_EQ(from_bits.size(), to_bits.size());
  const PrimitiveType from_type = from.shape.element_type(), to_type = to.shape.element_type();
  const bool keeps_form = from_type == to_type && SlotBits(from) == SlotBits(to);  // then all bits move
  if (to.is_whole_buffer() && trial.options.padding) FillPadding(to, *trial.options.padding, target);
  for (size_t i = 0; i < from_bits.size(); ++i) {
    const absl::uint128 slot = ReadBits(source, from_bits[i], SlotBits(from));
    const absl::uint128 value = LowBits(slot, primitive_util::BitWidth(from_type));
    WriteBits(target, to_bits[i], SlotBits(to), keeps_form ? slot : InSlot(to_type, convert(value), SlotBits(to)));
  }
}

// ---------------------------------------------------------------------------------------------------------------
// memory

// Bytes from the address that may belong to the array: [begin, end).
struct Extent {
  int64_t begin;
  int64_t end;
};

// INVALID_ARGUMENT where there is none, and beyond `limit` bytes.
inline absl::StatusOr<Extent> ExtentOf(const Side& side, int64_t limit) {
  if (!side.byte_strides) {
    KASHI_ASSIGN_OR_RETURN(const IndexMap map, IndexMap::Make(side.shape));
    if (map.byte_size() > limit) return InvalidArgument("too large");
    return Extent{0, map.byte_size()};
  }
  absl::int128 begin = 0, end = primitive_util::ByteWidth(side.shape.element_type());
  for (int d = 0; d < side.shape.dimensions_size(); ++d) {
    if (side.shape.dimensions(d) == 0) return Extent{0, 0};
    const absl::int128 reach = absl::int128(side.shape.dimensions(d) - 1) * (*side.byte_strides)[d];
    (reach < 0 ? begin : end) += reach;
    if (end - begin > limit) return InvalidArgument("too large");
  }
  return Extent{static_cast<int64_t>(begin), static_cast<int64_t>(end)};
}

// Memory between two pages that end the process when they are touched.
class GuardedMemory {
 public:
  explicit GuardedMemory(int64_t bytes) : bytes_((bytes + kPage - 1) / kPage * kPage) {
    void* const all = mmap(nullptr, bytes_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    KASHI_CHECK(all != MAP_FAILED);
    begin_ = static_cast<char*>(all) + kPage;
    KASHI_CHECK_EQ(mprotect(begin_, bytes_, PROT_READ | PROT_WRITE), 0);
  }
  ~GuardedMemory() { munmap(begin_ - kPage, bytes_ + 2 * kPage); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  char* begin() const { return begin_; }
  char* end() const { return begin_ + bytes_; }
  // The address of an array with this extent. Pre: it fits.
  char* Place(const Extent& extent, int64_t shift) const {
    return (shift == kAtEnd ? end() - extent.end : begin_ + shift - extent.begin);
  }

 private:
  static constexpr int64_t kPage = 4096;
  int64_t bytes_;
  char* begin_;
};

inline constexpr int64_t kMostShift = 256;

// Runs trials on memory of its own that is full of noise.
class Runner {
 public:
  explicit Runner(int64_t capacity)
      : capacity_(capacity),
        source_(capacity + kMostShift),
        target_(capacity + kMostShift),
        want_(capacity + kMostShift),
        noise_(capacity + kMostShift) {}

  bool Fits(const Trial& trial) const {
    return ExtentOf(trial.from, capacity_).ok() && ExtentOf(trial.to, capacity_).ok();
  }

  // Compares Execute with ExecuteByIndex: the difference, or "". Memory around the target must keep its bytes.
  // Pre of all functions: Fits(trial).
  std::string Run(const Trial& trial) {
    const absl::StatusOr<RelayoutPlan> plan = MakePlan(trial);
    if (!plan.ok()) return absl::StrCat("Make: ", plan.status().message());
    return Run(
        trial, [&](const char* from, char* to) { plan->Execute(from, to); },
        [&](const char* from, char* to) { plan->ExecuteByIndex(from, to); });
  }

  // ExecuteByIndex against BruteForce.
  std::string RunBruteForce(const Trial& trial, ElementConversion convert) {
    const absl::StatusOr<RelayoutPlan> plan = MakePlan(trial);
    if (!plan.ok()) return absl::StrCat("Make: ", plan.status().message());
    return Run(
        trial, [&](const char* from, char* to) { plan->ExecuteByIndex(from, to); },
        [&](const char* from, char* to) { BruteForce(trial, from, to, convert); });
  }

  using Execution = absl::FunctionRef<void(const char* from, char* to)>;
  std::string Run(const Trial& trial, Execution execute, Execution want) {
    const Extent from = ExtentOf(trial.from, capacity_).value(), to = ExtentOf(trial.to, capacity_).value();
    MakeNoise(std::max(from.end - from.begin, to.end - to.begin));
    const char* const source = source_.Place(from, trial.from_shift);
    const Region region = RegionOf(to, trial.to_shift);
    execute(source, target_.begin() + region.address);
    want(source, want_.begin() + region.address);
    std::string difference;
    if (std::memcmp(target_.begin() + region.begin, want_.begin() + region.begin, region.end - region.begin) != 0) {
      difference = FirstDifference(region);
    }
    for (const GuardedMemory* memory : {&target_, &want_}) {
      std::memcpy(memory->begin() + region.begin, noise_.begin() + region.begin, region.end - region.begin);
    }
    return difference;
  }

 private:
  static constexpr int64_t kCanary = 128;

  // Offsets in target_, want_ and noise_: the compared bytes, and the address in them.
  struct Region {
    int64_t begin;
    int64_t end;
    int64_t address;
  };
  Region RegionOf(const Extent& extent, int64_t shift) const {
    const int64_t address = target_.Place(extent, shift) - target_.begin();
    return {std::max<int64_t>(0, address + extent.begin - kCanary),
            std::min<int64_t>(target_.end() - target_.begin(), address + extent.end + kCanary), address};
  }

  // Fills the first and the last `bytes` bytes of all memories, and somewhat more.
  void MakeNoise(int64_t bytes) {
    const int64_t all = noise_.end() - noise_.begin();
    bytes = std::min((bytes + kMostShift + kCanary + 7) / 8 * 8, all);
    const int64_t before = noise_bytes_;
    if (bytes <= before) return;
    noise_bytes_ = std::min(2 * bytes, all);
    AddNoise(before, noise_bytes_);
    AddNoise(all - noise_bytes_, all - before);
  }
  void AddNoise(int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += 8) {
      const uint64_t words[] = {random_(), random_()};
      std::memcpy(source_.begin() + at, &words[0], 8);
      for (const GuardedMemory* memory : {&target_, &want_, &noise_}) std::memcpy(memory->begin() + at, &words[1], 8);
    }
  }

  std::string FirstDifference(const Region& region) const {
    int64_t at = region.begin, count = 0;
    while (target_.begin()[at] == want_.begin()[at]) ++at;
    for (int64_t i = at; i < region.end; ++i) count += target_.begin()[i] != want_.begin()[i];
    return absl::StrFormat("byte %d of the target is %#04x, not %#04x as it should be (%d bytes differ; was %#04x)",
                           at - region.address, static_cast<uint8_t>(target_.begin()[at]),
                           static_cast<uint8_t>(want_.begin()[at]), count, static_cast<uint8_t>(noise_.begin()[at]));
  }

  int64_t capacity_;
  GuardedMemory source_, target_, want_, noise_;
  int64_t noise_bytes_ = 0;
  std::mt19937_64 random_{20261122};
};

}  // namespace kashi::relayout::relayout_testing

#endif  // KASHI_RELAYOUT_RELAYOUT_RUNNER_TESTING_H_
