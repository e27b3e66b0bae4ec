#include "kashi/draw/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace kashi::draw {
namespace {

constexpr double kGapX = 18, kGapY = 34;        // between boxes
constexpr double kBendWidth = 3, kBendGap = 3;  // the room of a line that passes a layer
constexpr int64_t kMostBends = 24;              // a line over more layers goes straight
constexpr int kSweeps = 6;

using Lists = std::vector<std::vector<int64_t>>;

// Boxes, then the bends of long lines: both have a place in a layer.
struct Places {
  std::vector<double> widths, heights;
  std::vector<double> gaps;  // to the right of each
  Lists rows;                // the places of each layer, from left to right
  std::vector<int64_t> row_of;
  Lists above, below;  // the neighbours in the layers beside it
  Lists bends;         // by line
};

// Longest paths. What only waits for its users, as a parameter or a constant does, is just before the first of them.
std::vector<int64_t> LayersOf(const Lists& out, const Lists& into) {
  const size_t count = out.size();
  std::vector<int64_t> layers(count, 0);
  std::vector<bool> floats(count);
  for (size_t i = 0; i < count; ++i) {
    bool is_free = true;
    for (const int64_t from : into[i]) {
      layers[i] = std::max(layers[i], layers[from] + 1);
      is_free = is_free && floats[from] && out[from].size() == 1;
    }
    floats[i] = is_free;
  }
  for (size_t i = count; i-- > 0;) {
    if (!floats[i] || out[i].empty()) continue;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const int64_t to : out[i]) least = std::min(least, layers[to]);
    layers[i] = least - 1;
  }
  return layers;
}

// Boxes of a layer have no lines between them: a layer that is too wide becomes several.
Lists RowsOf(const std::vector<int64_t>& layers) {
  std::map<int64_t, std::vector<int64_t>> by_layer;
  for (size_t i = 0; i < layers.size(); ++i) by_layer[layers[i]].push_back(static_cast<int64_t>(i));
  const auto most = std::max<size_t>(10, static_cast<size_t>(std::sqrt(static_cast<double>(layers.size())) * 1.6));
  Lists rows;
  for (const auto& [layer, boxes] : by_layer) {
    const size_t parts = (boxes.size() + most - 1) / most;
    const size_t size = (boxes.size() + parts - 1) / parts;
    for (size_t at = 0; at < boxes.size(); at += size) {
      rows.emplace_back(boxes.begin() + static_cast<std::ptrdiff_t>(at),
                        boxes.begin() + static_cast<std::ptrdiff_t>(std::min(at + size, boxes.size())));
    }
  }
  return rows;
}

void AddLine(LayeredLine line, size_t number, size_t boxes, Places* places) {
  int64_t before = line.from;
  const int64_t from = places->row_of[line.from], to = places->row_of[line.to];
  if (to - from <= kMostBends && places->widths.size() < 7 * boxes) {
    for (int64_t row = from + 1; row < to; ++row) {
      const auto bend = static_cast<int64_t>(places->widths.size());
      places->widths.push_back(kBendWidth);
      places->heights.push_back(0);
      places->gaps.push_back(kBendGap);
      places->row_of.push_back(row);
      places->rows[row].push_back(bend);
      places->bends[number].push_back(bend);
      places->above.push_back({before});
      places->below.emplace_back();
      places->below[before].push_back(bend);
      before = bend;
    }
  }
  places->below[before].push_back(line.to);
  places->above[line.to].push_back(before);
}

Places MakePlaces(absl::Span<const LayeredBox> boxes, absl::Span<const LayeredLine> lines) {
  Lists out(boxes.size()), into(boxes.size());
  for (const LayeredLine& line : lines) {
    if (line.from >= line.to) continue;
    out[line.from].push_back(line.to);
    into[line.to].push_back(line.from);
  }
  Places places;
  places.rows = RowsOf(LayersOf(out, into));
  places.row_of.resize(boxes.size());
  places.above.resize(boxes.size());
  places.below.resize(boxes.size());
  places.bends.resize(lines.size());
  for (const LayeredBox& box : boxes) {
    places.widths.push_back(box.width);
    places.heights.push_back(box.height);
    places.gaps.push_back(kGapX);
  }
  for (size_t row = 0; row < places.rows.size(); ++row) {
    for (const int64_t box : places.rows[row]) places.row_of[box] = static_cast<int64_t>(row);
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].from < lines[i].to) AddLine(lines[i], i, boxes.size(), &places);
  }
  return places;
}

// Calls `visit` with each row, from above and from below in turn, and with the neighbours that were visited before.
template <typename Visit>
void Sweep(Places* places, Visit visit) {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    if (sweep % 2 == 0) {
      for (std::vector<int64_t>& row : places->rows) visit(&row, places->above, places->below);
    } else {
      for (auto row = places->rows.rbegin(); row != places->rows.rend(); ++row) {
        visit(&*row, places->below, places->above);
      }
    }
  }
}

// Orders each row by the mean place of the neighbours.
void OrderRows(Places* places) {
  std::vector<double> at(places->widths.size()), keys(places->widths.size());
  const auto number = [&](const std::vector<int64_t>& row) {
    for (size_t k = 0; k < row.size(); ++k)
      at[row[k]] = (static_cast<double>(k) + 0.5) / static_cast<double>(row.size());
  };
  for (const std::vector<int64_t>& row : places->rows) number(row);
  Sweep(places, [&](std::vector<int64_t>* row, const Lists& near, const Lists&) {
    for (const int64_t i : *row) {
      double sum = 0;
      for (const int64_t each : near[i]) sum += at[each];
      keys[i] = near[i].empty() ? at[i] : sum / static_cast<double>(near[i].size());
    }
    std::sort(row->begin(), row->end(),
              [&](int64_t a, int64_t b) { return std::make_pair(keys[a], a) < std::make_pair(keys[b], b); });
    number(*row);
  });
}

// Positions that keep the order and the distances of a row, as near to the wished centers as possible (least squares):
// pool adjacent violators.
void PlaceRow(const std::vector<int64_t>& row, const std::vector<double>& wishes, const Places& places,
              std::vector<double>* lefts) {
  struct Block {
    double sum;
    double size;
    size_t begin;
    double mean() const { return sum / size; }
  };
  std::vector<double> offsets;
  std::vector<Block> blocks;
  double offset = 0;
  for (size_t k = 0; k < row.size(); ++k) {
    const int64_t i = row[k];
    Block block = {wishes[i] - places.widths[i] / 2 - offset, 1, k};
    offsets.push_back(offset);
    offset += places.widths[i] + places.gaps[i];
    while (!blocks.empty() && blocks.back().mean() > block.mean()) {
      block = {blocks.back().sum + block.sum, blocks.back().size + block.size, blocks.back().begin};
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    const size_t end = b + 1 < blocks.size() ? blocks[b + 1].begin : row.size();
    for (size_t k = blocks[b].begin; k < end; ++k) (*lefts)[row[k]] = blocks[b].mean() + offsets[k];
  }
}

// The left side of each place.
std::vector<double> PlaceAcross(Places* places) {
  const std::vector<double>& widths = places->widths;
  std::vector<double> lefts(widths.size()), wishes(widths.size());
  for (const std::vector<int64_t>& row : places->rows) {
    double width = 0;
    for (const int64_t i : row) width += widths[i] + places->gaps[i];
    double x = -width / 2;
    for (const int64_t i : row) {
      lefts[i] = x;
      x += widths[i] + places->gaps[i];
    }
  }
  Sweep(places, [&](std::vector<int64_t>* row, const Lists& near, const Lists& far) {
    for (const int64_t i : *row) {
      const std::vector<int64_t>& list = near[i].empty() ? far[i] : near[i];
      double sum = 0;
      for (const int64_t each : list) sum += lefts[each] + widths[each] / 2;
      wishes[i] = list.empty() ? lefts[i] + widths[i] / 2 : sum / static_cast<double>(list.size());
    }
    PlaceRow(*row, wishes, *places, &lefts);
  });
  const double least = lefts.empty() ? 0 : *std::min_element(lefts.begin(), lefts.end());
  for (double& left : lefts) left -= least;
  return lefts;
}

}  // namespace

LayeredLayout LayOutInLayers(absl::Span<const LayeredBox> boxes, absl::Span<const LayeredLine> lines) {
  Places places = MakePlaces(boxes, lines);
  OrderRows(&places);
  const std::vector<double> lefts = PlaceAcross(&places);
  std::vector<double> tops(lefts.size());
  LayeredLayout layout;
  std::vector<double> row_tops, row_heights;
  for (const std::vector<int64_t>& row : places.rows) {
    double tallest = 0;
    for (const int64_t i : row) tallest = std::max(tallest, places.heights[i]);
    for (const int64_t i : row) tops[i] = layout.height;
    row_tops.push_back(layout.height);
    row_heights.push_back(tallest);
    layout.height += tallest + kGapY;
  }
  layout.height = std::max(layout.height - kGapY, 0.0);
  for (size_t i = 0; i < lefts.size(); ++i) layout.width = std::max(layout.width, lefts[i] + places.widths[i]);
  for (size_t i = 0; i < boxes.size(); ++i) layout.corners.push_back({lefts[i], tops[i]});
  const auto center = [&](int64_t i) { return lefts[i] + places.widths[i] / 2; };
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto& [from, to] = lines[i];
    std::vector<LayeredPoint>& route = layout.routes.emplace_back();
    route.push_back({center(from), tops[from] + boxes[from].height});
    const int64_t first = places.row_of[from];
    const bool is_short = boxes[from].height < row_heights[first];  // beside a taller box
    if (from < to && is_short) route.push_back({center(from), row_tops[first] + row_heights[first]});
    for (const int64_t bend : places.bends[i]) {  // beside the boxes of its layer, however tall they are
      const int64_t row = places.row_of[bend];
      route.push_back({center(bend), row_tops[row]});
      route.push_back({center(bend), row_tops[row] + row_heights[row]});
    }
    route.push_back({center(to), tops[to]});
  }
  return layout;
}

}  // namespace kashi::draw
