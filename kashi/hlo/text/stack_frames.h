// Stack frames from one table into another.
#ifndef KASHI_HLO_TEXT_STACK_FRAMES_H_
#define KASHI_HLO_TEXT_STACK_FRAMES_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::hlo {

// Copies the requested frames and their callers, each entry once. So the new tables are in the order of use, without
// unused entries, as in XLA's reader.
class StackFrameCopier {
 public:
  // Borrows both.
  StackFrameCopier(const StackFrameIndex* from, StackFrameIndex* to) : from_(*from), to_(*to) {}

  // The frame's number in the new table; 0 for one that the old table does not have, or whose callers never end.
  int32_t Copy(int32_t frame_id);

 private:
  int32_t CopyLocation(int32_t location_id);
  int32_t CopyString(int32_t id, const std::vector<std::string>& from, std::vector<std::string>* to,
                     absl::flat_hash_map<std::string, int32_t>* ids);

  const StackFrameIndex& from_;
  StackFrameIndex& to_;
  absl::flat_hash_map<std::string, int32_t> file_names_;
  absl::flat_hash_map<std::string, int32_t> function_names_;
  using Location = std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t, int32_t>;
  absl::flat_hash_map<Location, int32_t> locations_;
  absl::flat_hash_map<std::pair<int32_t, int32_t>, int32_t> frames_;  // (location, caller)
  absl::flat_hash_map<int32_t, int32_t> copied_;                      // old frame to new
};

}  // namespace kashi::hlo

#endif  // KASHI_HLO_TEXT_STACK_FRAMES_H_
