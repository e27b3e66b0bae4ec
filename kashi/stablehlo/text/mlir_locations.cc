// loc(…).
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/stablehlo/text/mlir_reader.h"

namespace kashi::stablehlo {

bool MlirReader::ReadOptionalLocation(const Location** location) {
  if (!cursor_.MatchWord("loc")) return true;
  if (!Expect('(', "after `loc`")) return false;
  *location = ReadLocation();
  return *location != nullptr && Expect(')', "at the end of a location");
}

Location* MlirReader::LocationAlias(absl::string_view name, size_t offset) {
  NamedLocation& named = locations_[name];
  if (named.location == nullptr) {
    named.location = program_.New<Location>();
    named.offset = offset;
  }
  return named.location;
}

const Location* MlirReader::ReadLocation() {
  const Depth depth(this, kMaxDepth, &depth_);
  if (!depth.ok()) return nullptr;
  const char c = cursor_.Peek();
  if (c == '"') return ReadFileOrName();
  if (c == '#') {
    const size_t begin = cursor_.offset();
    cursor_.Seek(begin + 1);
    return LocationAlias(cursor_.ReadSuffix(), begin);
  }
  if (cursor_.MatchWord("unknown")) return program_.New<Location>();
  if (cursor_.MatchWord("fused")) return ReadFused();
  if (cursor_.MatchWord("callsite")) return ReadCallSite();
  if (cursor_.MatchWord("loc")) {
    if (!Expect('(', "after `loc`")) return nullptr;
    const Location* inner = ReadLocation();
    return inner != nullptr && Expect(')', "at the end of a location") ? inner : nullptr;
  }
  ErrorHere("a location");
  return nullptr;
}

// "file":1:2 to :3, or "name"(child)
const Location* MlirReader::ReadFileOrName() {
  Location* location = program_.New<Location>();
  if (!ReadString(&location->name)) return nullptr;
  if (cursor_.Peek() == ':') {
    location->kind = Location::Kind::kFile;
    return ReadFilePosition(location) ? location : nullptr;
  }
  location->kind = Location::Kind::kName;
  if (!cursor_.Match('(')) return location;
  const Location* child = ReadLocation();
  if (child == nullptr || !Expect(')', "after the location of a name")) return nullptr;
  location->children = program_.CopyArray<const Location*>({child});
  return location;
}

bool MlirReader::ReadFilePosition(Location* location) {
  cursor_.Match(':');
  if (!ReadInt(&location->line)) return false;
  if (cursor_.Match(':') && !ReadInt(&location->column)) return false;
  if (!cursor_.MatchWord("to")) return true;
  location->end_line = location->line;
  if (cursor_.Peek() != ':' && !ReadInt(&location->end_line)) return false;
  return Expect(':', "before the last column") && ReadInt(&location->end_column);
}

// fused<metadata>[a, b]
const Location* MlirReader::ReadFused() {
  if (cursor_.Match('<') && (ReadAttribute() == nullptr || !Expect('>', "after the metadata of a location"))) {
    return nullptr;
  }
  if (!Expect('[', "after `fused`")) return nullptr;
  absl::InlinedVector<const Location*, 4> children;
  if (cursor_.Peek() != ']') {
    do {
      const Location* child = ReadLocation();
      if (child == nullptr) return nullptr;
      children.push_back(child);
    } while (cursor_.Match(','));
  }
  if (!Expect(']', "at the end of a fused location")) return nullptr;
  Location* location = program_.New<Location>();
  location->kind = Location::Kind::kFused;
  location->children = program_.CopyArray<const Location*>(children);
  return location;
}

const Location* MlirReader::ReadCallSite() {
  if (!Expect('(', "after `callsite`")) return nullptr;
  const Location* callee = ReadLocation();
  if (callee == nullptr) return nullptr;
  if (!cursor_.MatchWord("at")) return ErrorHere("`at` in a call site"), nullptr;
  const Location* caller = ReadLocation();
  if (caller == nullptr || !Expect(')', "at the end of a call site")) return nullptr;
  Location* location = program_.New<Location>();
  location->kind = Location::Kind::kCallSite;
  location->children = program_.CopyArray<const Location*>({callee, caller});
  return location;
}

// Aliases may be used before their definition, so a loop is found at the end only: a walk that marks what is on its
// way.
bool MlirReader::CheckLocations() {
  absl::flat_hash_map<const Location*, size_t> offsets;
  for (const auto& [name, named] : locations_) {
    if (!named.defined) return Error(named.offset, named.offset + 1 + name.size(), "this location is never defined");
    offsets.emplace(named.location, named.offset);
  }
  absl::flat_hash_map<const Location*, bool> done;  // false: on the way
  std::vector<std::pair<const Location*, size_t>> way;
  for (const auto& [root, offset] : offsets) {
    if (!done.emplace(root, false).second) continue;
    way.emplace_back(root, 0);
    while (!way.empty()) {
      auto& [location, next] = way.back();
      if (next == location->children.size()) {
        done[location] = true;
        way.pop_back();
        continue;
      }
      const Location* child = location->children[next++];
      const auto [entry, is_new] = done.emplace(child, false);
      if (!is_new && !entry->second) return Error(offset, offset + 1, "this location contains itself");
      if (is_new) way.emplace_back(child, 0);
    }
  }
  return true;
}

}  // namespace kashi::stablehlo
