#include "kashi/hlo/text/stack_frames.h"

namespace kashi::hlo {

int32_t StackFrameCopier::CopyString(int32_t id, const std::vector<std::string>& from, std::vector<std::string>* to,
                                     absl::flat_hash_map<std::string, int32_t>* ids) {
  if (id < 1 || id > static_cast<int64_t>(from.size())) return 0;
  const std::string& text = from[id - 1];
  const auto [entry, is_new] = ids->emplace(text, static_cast<int32_t>(to->size()) + 1);
  if (is_new) to->push_back(text);
  return entry->second;
}

int32_t StackFrameCopier::CopyLocation(int32_t location_id) {
  if (location_id < 1 || location_id > static_cast<int64_t>(from_.file_locations.size())) return 0;
  StackFrameIndex::FileLocation location = from_.file_locations[location_id - 1];
  location.file_name_id = CopyString(location.file_name_id, from_.file_names, &to_.file_names, &file_names_);
  location.function_name_id =
      CopyString(location.function_name_id, from_.function_names, &to_.function_names, &function_names_);
  const Location key(location.file_name_id, location.function_name_id, location.line, location.end_line,
                     location.column, location.end_column);
  const auto [entry, is_new] = locations_.emplace(key, static_cast<int32_t>(to_.file_locations.size()) + 1);
  if (is_new) to_.file_locations.push_back(location);
  return entry->second;
}

int32_t StackFrameCopier::Copy(int32_t frame_id) {
  // From the frame outwards to one that is copied already, or has no caller …
  std::vector<int32_t> chain;
  int32_t caller = 0;
  for (int32_t frame = frame_id; frame != 0; frame = from_.stack_frames[frame - 1].parent_frame_id) {
    if (frame < 1 || frame > static_cast<int64_t>(from_.stack_frames.size())) return 0;
    if (chain.size() > from_.stack_frames.size()) return 0;  // a circle
    const auto found = copied_.find(frame);
    if (found != copied_.end()) {
      caller = found->second;
      break;
    }
    chain.push_back(frame);
  }
  // … and back inwards.
  for (; !chain.empty(); chain.pop_back()) {
    const StackFrameIndex::StackFrame& frame = from_.stack_frames[chain.back() - 1];
    const int32_t location = CopyLocation(frame.file_location_id);
    const auto [entry, is_new] =
        frames_.emplace(std::make_pair(location, caller), static_cast<int32_t>(to_.stack_frames.size()) + 1);
    if (is_new) to_.stack_frames.push_back({location, caller});
    caller = entry->second;
    copied_[chain.back()] = caller;
  }
  return caller;
}

}  // namespace kashi::hlo
