#include "cli/relayout_check.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::Count;
using base::ParallelFor;
namespace {

// SplitMix64. The n-th number of a seed is a function of n, so that any thread can make any part.
uint64_t RandomBits(uint64_t seed, uint64_t n) {
  uint64_t bits = seed + (n + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

// Sets the bits above those of the type in each of `count` slots of whole bytes: to the sign, or to zero.
void CleanSlots(char* data, int64_t count, int64_t slot_bytes, int type_bits, bool is_signed) {
  const int top_bit = type_bits % 8;
  for (int64_t i = 0; i < count; ++i, data += slot_bytes) {
    char* last = data + (type_bits - 1) / 8;
    const unsigned mask = top_bit == 0 ? 0xff : (1u << top_bit) - 1;
    unsigned value = static_cast<unsigned char>(*last) & mask;
    const bool is_negative = is_signed && (value & ((mask + 1) >> 1)) != 0;
    if (is_negative) value |= ~mask;
    *last = static_cast<char>(value);
    std::memset(last + 1, is_negative ? 0xff : 0, data + slot_bytes - (last + 1));
  }
}

std::string DescribeBit(const Placement& to, int64_t bit) {
  const IndexMap& map = to.map();
  bit -= 8 * map.prefix_bytes();
  if (bit < 0) return "before the array";
  const int64_t position = bit / to.slot_bits();
  if (position >= map.padded_element_count()) return "after the array";
  DimensionVector index(map.rank());
  if (!map.PhysicalToLogical(position, absl::MakeSpan(index))) return "padding";
  return absl::StrCat("element [", absl::StrJoin(index, ","), "]");
}

}  // namespace

void FillRandom(char* data, int64_t bytes, uint64_t seed) {
  constexpr int64_t kGrain = 1 << 17;
  constexpr int64_t kWord = sizeof(uint64_t);
  ParallelFor(CeilOfRatio(bytes, kWord), kGrain, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t word = RandomBits(seed, i);
      std::memcpy(data + i * kWord, &word, std::min(kWord, bytes - i * kWord));
    }
  });
}

void FillRandomArray(const Placement& placement, char* data, uint64_t seed) {
  const IndexMap& map = placement.map();
  FillRandom(data, map.byte_size(), seed);
  const PrimitiveType type = placement.element_type();
  const int64_t slot_bits = placement.slot_bits();
  if (slot_bits % 8 != 0 || slot_bits == primitive_util::BitWidth(type)) return;
  CleanSlots(data + map.prefix_bytes(), map.padded_element_count(), slot_bits / 8, primitive_util::BitWidth(type),
             primitive_util::IsSignedIntegralType(type));
}

CheckResult CheckByIndex(const RelayoutPlan& plan, const char* source, const char* got, char* wanted) {
  plan.ExecuteByIndex(source, wanted);
  CheckResult result;
  result.bytes = plan.target_bytes();
  if (result.bytes == 0 || std::memcmp(got, wanted, result.bytes) == 0) return result;
  result.is_equal = false;
  result.byte = std::mismatch(got, got + result.bytes, wanted).first - got;
  result.got = static_cast<unsigned char>(got[result.byte]);
  result.want = static_cast<unsigned char>(wanted[result.byte]);
  result.place = DescribeBit(plan.to(), 8 * result.byte + __builtin_ctz(result.got ^ result.want));
  return result;
}

std::string ToText(const CheckResult& result) {
  if (result.is_equal) return absl::StrCat("check: equal (", Count(result.bytes, "byte"), ")\n");
  return absl::StrFormat("check: DIFFERENT from the index loop, first at byte %d (%s): 0x%02x, not 0x%02x\n",
                         result.byte, result.place, result.got, result.want);
}

void AddTo(const CheckResult& result, Json* json) {
  (*json)["equal"] = result.is_equal;
  (*json)["checked_bytes"] = result.bytes;
  if (result.is_equal) return;
  (*json)["difference"] = {{"byte", result.byte}, {"place", result.place}, {"got", result.got}, {"want", result.want}};
}

}  // namespace kashi::cli
