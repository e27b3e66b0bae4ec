#include "kashi/analysis/padding_report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/device_size.h"
#include "kashi/array/padding_advice.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/base/math.h"

namespace kashi {
namespace {

// The array with dimensions d and d + 1 merged into one, in the place of the more minor one; nullopt unless they are
// neighbours in memory, with d the more major one: otherwise merging them would change the order of the elements.
std::optional<Shape> MergeWithNext(const Shape& shape, int64_t d) {
  const auto& minor_to_major = shape.layout().minor_to_major();
  const auto place = absl::c_find(minor_to_major, d);
  if (place == minor_to_major.begin() || place == minor_to_major.end() || *(place - 1) != d + 1) return std::nullopt;
  const std::optional<int64_t> size = CheckedMultiply(shape.dimensions(d), shape.dimensions(d + 1));
  if (!size) return std::nullopt;
  std::vector<int64_t> dimensions(shape.dimensions().begin(), shape.dimensions().end());
  dimensions[d] = *size;
  dimensions.erase(dimensions.begin() + d + 1);
  std::vector<int64_t> order;
  for (int64_t dimension : minor_to_major) {
    if (dimension != d + 1) order.push_back(dimension > d ? dimension - 1 : dimension);
  }
  absl::StatusOr<Shape> merged = ShapeUtil::MakeValidatedShapeWithDenseLayout(shape.element_type(), dimensions, order);
  if (!merged.ok()) return std::nullopt;
  merged->mutable_layout()->set_memory_space(shape.layout().memory_space());
  return *std::move(merged);
}

// The shape with the tiles that the generation would choose, if it then takes fewer bytes.
std::optional<PaddingSuggestion> IfSmaller(PaddingSuggestion::Kind kind, Shape shape, int64_t bytes,
                                           TpuGeneration generation) {
  const absl::StatusOr<Layout> layout = ChooseTpuLayout(shape, generation);
  if (!layout.ok()) return std::nullopt;
  const int64_t memory_space = shape.layout().memory_space();
  *shape.mutable_layout() = *layout;
  shape.mutable_layout()->set_memory_space(memory_space);
  const absl::StatusOr<DeviceSize> size = GetDeviceSize(shape);
  if (!size.ok() || size->bytes >= bytes) return std::nullopt;
  return PaddingSuggestion{kind, std::move(shape), size->bytes};
}

void AddMerged(const Shape& shape, int64_t bytes, TpuGeneration generation,
               std::vector<PaddingSuggestion>* suggestions) {
  std::optional<PaddingSuggestion> best;
  for (int64_t d = 0; d + 1 < shape.dimensions_size(); ++d) {
    if (shape.dimensions(d) == 1 || shape.dimensions(d + 1) == 1) continue;
    std::optional<Shape> merged = MergeWithNext(shape, d);
    if (!merged) continue;
    std::optional<PaddingSuggestion> smaller = IfSmaller(PaddingSuggestion::Kind::kMergedDimensions, *std::move(merged),
                                                         best ? best->bytes : bytes, generation);
    if (!smaller) continue;
    best = std::move(smaller);
    best->dimension = d;
  }
  if (best) suggestions->push_back(*std::move(best));
}

// The type of the same kind that is half as wide.
std::optional<PrimitiveType> HalfAsWide(PrimitiveType type) {
  switch (type) {
    case C128:
      return C64;
    case F64:
      return F32;
    case F32:
      return BF16;
    case BF16:
    case F16:
      return F8E4M3FN;
    case S64:
      return S32;
    case S32:
      return S16;
    case S16:
      return S8;
    case S8:
      return S4;
    case U64:
      return U32;
    case U32:
      return U16;
    case U16:
      return U8;
    case U8:
      return U4;
    default:
      return std::nullopt;
  }
}

void AddNarrower(const Shape& shape, int64_t bytes, TpuGeneration generation,
                 std::vector<PaddingSuggestion>* suggestions) {
  const std::optional<PrimitiveType> type = HalfAsWide(shape.element_type());
  if (!type) return;
  Shape narrower = shape;
  narrower.set_element_type(*type);
  auto smaller = IfSmaller(PaddingSuggestion::Kind::kElementType, std::move(narrower), bytes, generation);
  if (smaller) suggestions->push_back(*std::move(smaller));
}

PaddingSuggestion FromAdvice(PaddingAdvice advice) {
  const auto kind = advice.kind == PaddingAdvice::Kind::kDimensionOrder ? PaddingSuggestion::Kind::kDimensionOrder
                                                                        : PaddingSuggestion::Kind::kTile;
  return {kind, std::move(advice.shape), advice.bytes};
}

}  // namespace

std::string PaddingSuggestionText(const PaddingSuggestion& suggestion) {
  switch (suggestion.kind) {
    case PaddingSuggestion::Kind::kDimensionOrder:
      return "another order";
    case PaddingSuggestion::Kind::kTile:
      return "another tile";
    case PaddingSuggestion::Kind::kMergedDimensions:
      return absl::StrCat("dimensions ", suggestion.dimension, " and ", suggestion.dimension + 1, " as one");
    case PaddingSuggestion::Kind::kElementType:
      return absl::StrCat(
          primitive_util::LowercasePrimitiveTypeName(suggestion.shape.element_type()), ", if its ",
          ShapeUtil::ElementIsFloating(suggestion.shape) || ShapeUtil::ElementIsComplex(suggestion.shape) ? "precision"
                                                                                                          : "range",
          " is enough");
  }
  return "";
}

std::vector<PaddingSuggestion> SuggestLessPadding(const Shape& shape, const MemoryTarget& target) {
  std::vector<PaddingSuggestion> suggestions;
  if (!target.is_tpu() || !shape.IsArray() || !shape.has_layout()) return suggestions;
  // A generation that was guessed is no better a judge than the layout itself.
  const std::optional<TpuGeneration> generation = target.is_guess ? std::nullopt : target.tpu;
  absl::StatusOr<std::vector<PaddingAdvice>> advice = AdviseOnPadding(shape, generation);
  if (advice.ok()) {
    for (PaddingAdvice& each : *advice) suggestions.push_back(FromAdvice(std::move(each)));
  }
  const absl::StatusOr<DeviceSize> size = GetDeviceSize(shape);
  const bool is_padded = size.ok() && size->padding_bytes > 0 && shape.layout().tiles_size() > 0 && !shape.is_dynamic();
  if (is_padded) AddMerged(shape, size->bytes, *target.tpu, &suggestions);
  absl::c_stable_sort(suggestions,
                      [](const PaddingSuggestion& a, const PaddingSuggestion& b) { return a.bytes < b.bytes; });
  if (is_padded) AddNarrower(shape, size->bytes, *target.tpu, &suggestions);
  return suggestions;
}

std::vector<PaddingEntry> RankPadding(const MemoryAnalysis& memory, size_t count) {
  absl::flat_hash_map<Shape, size_t> places;
  std::vector<PaddingEntry> entries;
  const auto add = [&](int32_t i) {
    const BufferValue& value = memory.buffers[i].main_value();
    if (value.bytes == value.unpadded_bytes) return;
    const auto [place, is_new] = places.try_emplace(*value.shape, entries.size());
    if (is_new) entries.push_back({value.shape, value.bytes, value.unpadded_bytes, {}, {}});
    entries[place->second].buffers.push_back(i);
  };
  for (int32_t i = 0; i < memory.buffers.size(); ++i) {
    if (memory.buffers[i].kind != MemoryBuffer::Kind::kTemporary) add(i);
  }
  for (const MemorySpaceUsage& space : memory.spaces) {
    for (int32_t i : space.temporaries) add(i);
  }
  absl::c_stable_sort(
      entries, [](const PaddingEntry& a, const PaddingEntry& b) { return a.padding_bytes() > b.padding_bytes(); });
  if (entries.size() > count) entries.resize(count);
  for (PaddingEntry& entry : entries) entry.suggestions = SuggestLessPadding(*entry.shape, memory.target);
  return entries;
}

}  // namespace kashi
