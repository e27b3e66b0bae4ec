// Receptions: what a device has begun to receive, by number. For implementations of Device::BeginReceive.
#ifndef KASHI_DEVICES_RECEPTIONS_H_
#define KASHI_DEVICES_RECEPTIONS_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::devices {

template <typename Reception>
class Receptions {
 public:
  // Its number, which is not 0.
  uint32_t Begin(Reception reception) {
    do {
      ++last_;
    } while (last_ == 0 || open_.contains(last_));
    open_.emplace(last_, std::move(reception));
    return last_;
  }
  // INVALID_ARGUMENT if there is none of this number, or not any more.
  absl::StatusOr<Reception> End(const HloInstruction& done, uint32_t number) {
    const auto found = open_.find(number);
    if (found == open_.end()) return InvalidArgument("%s: what it waits for was received before", done.name());
    Reception reception = std::move(found->second);
    open_.erase(found);
    return reception;
  }

 private:
  absl::flat_hash_map<uint32_t, Reception> open_;
  uint32_t last_ = 0;
};

}  // namespace kashi::devices

#endif  // KASHI_DEVICES_RECEPTIONS_H_
