// loc(…).
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

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
    undefined_locations_.insert(named.location);
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

namespace {

// The limit on the depth of an alias, as in bytecode; with the levels inside of one loc(…) it is at most 1000 deep.
constexpr int64_t kMaxAliasDepth = 900;
constexpr int64_t kMaxAliasParts = 10000;

struct LocationSize {
  bool done = false;  // false: the walk is below it
  int64_t depth = 0;
  int64_t parts = 1;  // a part that is used twice counts twice
};
using LocationSizes = absl::flat_hash_map<const Location*, LocationSize>;

// Measures a location and all below it, with a stack of its own. False: one contains itself.
bool MeasureLocations(const Location* root, const absl::flat_hash_map<const Location*, Location*>& aliases,
                      LocationSizes* sizes) {
  if (!sizes->emplace(root, LocationSize()).second) return true;
  std::vector<std::pair<const Location*, size_t>> way = {{root, 0}};
  while (!way.empty()) {
    auto& [location, next] = way.back();
    if (next < location->children.size()) {
      const Location* child = location->children[next++];
      const auto [entry, is_new] = sizes->emplace(child, LocationSize());
      if (!is_new && !entry->second.done) return false;
      if (is_new) way.emplace_back(child, 0);
      continue;
    }
    LocationSize size;
    size.done = true;
    for (const Location* child : location->children) {
      const LocationSize& below = (*sizes)[child];
      size.depth = std::max(size.depth, below.depth + 1);
      size.parts = std::min(size.parts + below.parts, kMaxAliasParts + 1);
    }
    const auto alias = aliases.find(location);
    if (alias != aliases.end() && (size.depth > kMaxAliasDepth || size.parts > kMaxAliasParts)) {
      *alias->second = Location();  // unknown
      size.depth = 0;
      size.parts = 1;
    }
    (*sizes)[location] = size;
    way.pop_back();
  }
  return true;
}

}  // namespace

// Aliases may be used before their definition, so a loop is found at the end only. A location that is too large is
// read as unknown: it is not worth the program.
bool MlirReader::CheckLocations() {
  absl::flat_hash_map<const Location*, Location*> aliases;
  for (const auto& [name, named] : locations_) {
    if (!named.defined) return Error(named.offset, named.offset + 1 + name.size(), "this location is never defined");
    aliases.emplace(named.location, named.location);
  }
  LocationSizes sizes;
  for (const auto& [name, named] : locations_) {
    if (!MeasureLocations(named.location, aliases, &sizes)) {
      return Error(named.offset, named.offset + 1 + name.size(), "this location contains itself");
    }
  }
  return true;
}

}  // namespace kashi::stablehlo
