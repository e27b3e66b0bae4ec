#include "kashi/stablehlo/conversion/locations.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kashi::stablehlo {
namespace {

constexpr size_t kMostParts = 1000;

const Location* Child(const Location& location, size_t i) {
  return i < location.children.size() ? location.children[i] : nullptr;
}

// The named parts of a location in order: of a call site the callee, of a fused location all.
template <typename OnName, typename OnFile>
void VisitParts(const Location& root, OnName on_name, OnFile on_file) {
  std::vector<const Location*> open = {&root};
  for (size_t visited = 0; !open.empty() && visited < kMostParts; ++visited) {
    const Location* location = open.back();
    open.pop_back();
    if (location == nullptr) continue;
    switch (location->kind) {
      case Location::Kind::kName:
        if (on_name(location->name)) open.push_back(Child(*location, 0));
        break;
      case Location::Kind::kCallSite:
        open.push_back(Child(*location, 0));
        break;
      case Location::Kind::kFused:
        open.insert(open.end(), location->children.rbegin(), location->children.rend());
        break;
      case Location::Kind::kFile:
        on_file(*location);
        break;
      case Location::Kind::kUnknown:
        break;
    }
  }
}

// The last component of a path, as a name of an instruction.
std::string InstructionName(absl::string_view op_name) {
  std::string name;
  for (absl::string_view part : absl::StrSplit(op_name, ';')) {
    const size_t slash = part.rfind('/');
    if (slash != absl::string_view::npos) part.remove_prefix(slash + 1);
    absl::StrAppend(&name, name.empty() ? "" : "_", part);
  }
  return name;
}

int32_t Clamped(int64_t number) {
  return static_cast<int32_t>(std::clamp<int64_t>(number, 0, std::numeric_limits<int32_t>::max()));
}

// A point in a file has no end.
int64_t EndLine(const Location& file) { return file.end_line == 0 ? file.line : file.end_line; }
int64_t EndColumn(const Location& file) { return file.end_line == 0 ? file.column : file.end_column; }

bool IsFunctionInFile(const Location& location) {
  const Location* child = Child(location, 0);
  return location.kind == Location::Kind::kName && child != nullptr && child->kind == Location::Kind::kFile;
}

void SetPosition(const Location& file, OpMetadata* metadata) {
  metadata->set_source_file(std::string(file.name));
  metadata->set_source_line(Clamped(file.line));
  metadata->set_source_end_line(Clamped(EndLine(file)));
  metadata->set_source_column(Clamped(file.column));
  metadata->set_source_end_column(Clamped(EndColumn(file)));
}

}  // namespace

std::string OpNameOf(const Location& location) {
  std::string op_name;
  const auto on_name = [&](absl::string_view name) {
    if (absl::EndsWith(name, ":")) return true;
    name = name.substr(0, name.find('@'));
    if (!name.empty()) absl::StrAppend(&op_name, op_name.empty() ? "" : ";", name);
    return false;
  };
  VisitParts(location, on_name, [](const Location&) {});
  return op_name;
}

const LocationConverter::Metadata& LocationConverter::Convert(const Location* location) {
  static const Metadata* const nothing = new Metadata();
  if (location == nullptr) return *nothing;
  const auto found = made_.find(location);
  if (found != made_.end()) return found->second;
  return made_.emplace(location, Make(*location)).first->second;
}

LocationConverter::Metadata LocationConverter::Make(const Location& location) {
  OpMetadata metadata;
  metadata.set_op_name(OpNameOf(location));
  std::string op_type;
  const Location* file = nullptr;
  const auto on_name = [&](absl::string_view name) {
    if (absl::EndsWith(name, ":") && op_type.empty()) op_type = std::string(name.substr(0, name.size() - 1));
    return true;
  };
  VisitParts(location, on_name, [&](const Location& found) { file = file == nullptr ? &found : file; });
  metadata.set_op_type(op_type);

  const Location* position = &location;
  for (size_t i = 0; i < kMostParts && position->kind == Location::Kind::kName && !IsFunctionInFile(*position); ++i) {
    if (Child(*position, 0) == nullptr) break;
    position = Child(*position, 0);
  }
  metadata.set_stack_frame_id(FrameOf(*position));
  if (metadata.stack_frame_id() == 0 && file != nullptr) SetPosition(*file, &metadata);

  Metadata result;
  result.name = InstructionName(metadata.op_name());
  if (!(metadata == OpMetadata())) result.value = base::SharedValue<OpMetadata>(std::move(metadata));
  return result;
}

// The innermost frame of a call site or of a function in a file; 0 if there is none. Callers get their frames first.
int32_t LocationConverter::FrameOf(const Location& location) {
  std::vector<const Location*> chain;  // from callee to callers
  const Location* at = &location;
  while (at != nullptr && at->kind == Location::Kind::kCallSite && chain.size() < kMostParts) {
    if (frames_of_.contains(at)) break;
    chain.push_back(at);
    at = Child(*at, 1);
  }
  int32_t frame = 0;
  if (at != nullptr && at->kind == Location::Kind::kCallSite) {
    const auto known = frames_of_.find(at);
    frame = known == frames_of_.end() ? 0 : known->second;
  } else if (at != nullptr && IsFunctionInFile(*at)) {
    frame = AddFrame(*Child(*at, 0), at->name, 0);
  }
  for (auto site = chain.rbegin(); site != chain.rend(); ++site) {
    const Location* callee = Child(**site, 0);
    if (callee != nullptr && IsFunctionInFile(*callee)) frame = AddFrame(*Child(*callee, 0), callee->name, frame);
    frames_of_[*site] = frame;
  }
  return frame;
}

int32_t LocationConverter::AddFrame(const Location& file, absl::string_view function, int32_t parent) {
  const FileLocation key(AddText(file.name, &files_, &tables_.file_names),
                         AddText(function, &functions_, &tables_.function_names), file.line, EndLine(file), file.column,
                         EndColumn(file));
  const auto [location, is_new_location] =
      file_locations_.try_emplace(key, static_cast<int32_t>(tables_.file_locations.size() + 1));
  if (is_new_location) {
    tables_.file_locations.push_back({std::get<0>(key), std::get<1>(key), Clamped(file.line), Clamped(EndLine(file)),
                                      Clamped(file.column), Clamped(EndColumn(file))});
  }
  const auto [frame, is_new] =
      frames_.try_emplace({location->second, parent}, static_cast<int32_t>(tables_.stack_frames.size() + 1));
  if (is_new) tables_.stack_frames.push_back({location->second, parent});
  return frame->second;
}

int32_t LocationConverter::AddText(absl::string_view text, absl::flat_hash_map<std::string, int32_t>* ids,
                                   std::vector<std::string>* table) {
  const auto [entry, is_new] = ids->try_emplace(std::string(text), static_cast<int32_t>(table->size() + 1));
  if (is_new) table->emplace_back(text);
  return entry->second;
}

}  // namespace kashi::stablehlo
