// The machine as a relayout plan sees it: its caches. The sizes of blocks, the sets in which lines evict one another,
// and the size from which on a target is written with non-temporal stores all follow from it.
//
//   CacheModel::OfMachine()                        measured once: /sys, else sysconf, else usual sizes
//   ParseCacheModel("48K/12,2M/16,260M")           another machine: L1 and L2 with their ways, and the largest cache
#ifndef KASHI_RELAYOUT_CACHE_MODEL_H_
#define KASHI_RELAYOUT_CACHE_MODEL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi {

struct CacheModel {
  // A cache of one core. Addresses that are equal modulo period() share a set, which has room for `ways` lines.
  struct Level {
    int64_t bytes;
    int64_t ways;

    int64_t period() const { return bytes / ways; }
  };

  // Bytes. Kernels are written for lines of this size; a machine with others runs them, more slowly.
  static constexpr int64_t kLine = 64;

  Level l1 = {32 << 10, 8};
  Level l2 = {512 << 10, 8};
  int64_t last_bytes = 32 << 20;  // of the largest cache, which several cores may share

  // The caches of the first processor. Sizes that the system does not tell are the defaults above. Looked up once.
  static const CacheModel& OfMachine();
  // The caches of a machine whose /sys is below `root`.
  static CacheModel OfMachineBelow(const std::string& root);

  // "32K/8,512K/8,32M"; ParseCacheModel reads it.
  std::string ToString() const;
};

// INVALID_ARGUMENT unless the text is `L1/WAYS,L2/WAYS,LARGEST`: sizes in bytes, K or M; ways from 1 to 64; L1 and L2
// have powers of two as periods, of a line at least; L1 is at most 1M and L2 at most 64M; the largest cache is not
// smaller than L2.
absl::StatusOr<CacheModel> ParseCacheModel(absl::string_view text);

}  // namespace kashi

#endif  // KASHI_RELAYOUT_CACHE_MODEL_H_
