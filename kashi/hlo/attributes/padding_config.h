// Short ways to make and query a PaddingConfig.
#ifndef KASHI_HLO_ATTRIBUTES_PADDING_CONFIG_H_
#define KASHI_HLO_ATTRIBUTES_PADDING_CONFIG_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi {

// (low, high) at the edges of each dimension.
inline PaddingConfig MakeEdgePaddingConfig(absl::Span<const std::pair<int64_t, int64_t>> padding) {
  PaddingConfig config;
  for (const auto& [low, high] : padding) {
    PaddingConfigDimension* dimension = config.add_dimensions();
    dimension->set_edge_padding_low(low);
    dimension->set_edge_padding_high(high);
  }
  return config;
}

inline PaddingConfig MakeNoPaddingConfig(int64_t rank) {
  PaddingConfig config;
  config.mutable_dimensions()->resize(rank);
  return config;
}

inline bool HasInteriorPadding(const PaddingConfig& config) {
  return std::any_of(config.dimensions().begin(), config.dimensions().end(),
                     [](const PaddingConfigDimension& d) { return d.interior_padding() != 0; });
}

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_PADDING_CONFIG_H_
