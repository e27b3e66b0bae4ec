#include "kashi/relayout/nests/boxes.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"

namespace kashi::relayout {
namespace {

constexpr size_t kMaxBoxes = 4096;
constexpr int64_t kMaxCuts = 256;  // in one period

// A part of one dimension: where it begins on both sides, and its loops, outermost first.
struct Piece {
  int64_t from_offset;
  int64_t to_offset;
  absl::InlinedVector<Loop, 4> loops;
};

// Sizes at which cuts repeat, and where in such a period they are.
struct Level {
  int64_t period;
  absl::InlinedVector<int64_t, 4> cuts;  // ascending, in [0, period)
};

// Cuts one dimension of two sides. Indices count from the beginning of the moved part: 0 .. size - 1.
class DimensionCutter {
 public:
  DimensionCutter(const DigitDimension& from, const DigitDimension& to) : from_(from), to_(to) {}

  absl::StatusOr<std::vector<Piece>> Cut(int64_t begin, int64_t end) {
    KASHI_RETURN_IF_ERROR(MakeLevels());
    Descend(begin, end, 0);
    if (pieces_.size() > kMaxBoxes) return Unimplemented("the tiles of both sides meet in too many ways");
    return std::move(pieces_);
  }

 private:
  // Goes from the largest step down. A period is a multiple of all smaller steps: a step that does not divide it joins
  // its level, with all steps before it, and their common multiple is the period.
  absl::Status MakeLevels() {
    absl::InlinedVector<int64_t, 8> steps;
    for (const DigitDimension* side : {&from_, &to_}) {
      for (const Digit& digit : side->digits) {
        if (digit.step > 1) steps.push_back(digit.step);
      }
    }
    std::sort(steps.begin(), steps.end(), std::greater<int64_t>());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    for (size_t i = 0; i < steps.size();) {
      Level level{steps[i], {}};
      const size_t first = i++;
      for (size_t s = i; s < steps.size(); ++s) {
        if (level.period % steps[s] == 0) continue;
        level.period = std::lcm(level.period, steps[s]);
        if (level.period / steps[s] > kMaxCuts) {
          return Unimplemented("tiles of %d and of %d meet too seldom", steps[first], steps[s]);
        }
        i = s + 1;
      }
      for (size_t s = first; s < i; ++s) AddCuts(steps[s], &level);
      std::sort(level.cuts.begin(), level.cuts.end());
      level.cuts.erase(std::unique(level.cuts.begin(), level.cuts.end()), level.cuts.end());
      levels_.push_back(std::move(level));
    }
    return absl::OkStatus();
  }

  void AddCuts(int64_t step, Level* level) const {
    for (const DigitDimension* side : {&from_, &to_}) {
      for (const Digit& digit : side->digits) {
        if (digit.step != step) continue;
        const int64_t first = (step - side->start % step) % step;
        for (int64_t cut = first; cut < level->period; cut += step) level->cuts.push_back(cut);
      }
    }
  }

  // [begin, end), within which neither side has a cut of a level above.
  //
  //          cut       cut       cut       cut
  //   begin   |period   |period   |         |  end
  //     [head][ loop of whole periods      ][tail]
  void Descend(int64_t begin, int64_t end, size_t level) {
    if (begin >= end || pieces_.size() > kMaxBoxes) return;
    if (level == levels_.size()) return Add(begin, end);
    const Level& l = levels_[level];
    const int64_t first = NextCut(l, begin);
    if (first >= end) return Descend(begin, end, level + 1);
    Descend(begin, first, level + 1);
    const int64_t periods = (end - first) / l.period;
    if (periods > 0) {
      if (periods > 1) loops_.push_back({periods, from_.StrideOf(l.period), to_.StrideOf(l.period)});
      DescendSegments(first, first + l.period, level);
      if (periods > 1) loops_.pop_back();
    }
    DescendSegments(first + periods * l.period, end, level);
  }

  void DescendSegments(int64_t begin, int64_t end, size_t level) {
    while (begin < end) {
      const int64_t next = std::min(end, NextCut(levels_[level], begin + 1));
      Descend(begin, next, level + 1);
      begin = next;
    }
  }

  // The first cut at or after the index.
  static int64_t NextCut(const Level& level, int64_t index) {
    const int64_t base = index / level.period * level.period;
    for (int64_t cut : level.cuts) {
      if (base + cut >= index) return base + cut;
    }
    return base + level.period + level.cuts[0];
  }

  void Add(int64_t begin, int64_t end) {
    Piece piece{from_.OffsetOf(from_.start + begin), to_.OffsetOf(to_.start + begin), loops_};
    if (end - begin > 1) piece.loops.push_back({end - begin, from_.StrideOf(1), to_.StrideOf(1)});
    pieces_.push_back(std::move(piece));
  }

  const DigitDimension& from_;
  const DigitDimension& to_;
  absl::InlinedVector<Level, 4> levels_;
  absl::InlinedVector<Loop, 4> loops_;
  std::vector<Piece> pieces_;
};

// Each box with each piece of one more dimension.
absl::Status MultiplyBoxes(absl::Span<const Piece> pieces, std::vector<Box>* boxes) {
  if (pieces.size() * boxes->size() > kMaxBoxes) {
    return Unimplemented("ragged edges of many dimensions make more than %d boxes", kMaxBoxes);
  }
  std::vector<Box> next;
  next.reserve(pieces.size() * boxes->size());
  for (const Piece& piece : pieces) {
    for (const Box& box : *boxes) {
      next.push_back(box);
      next.back().from_offset += piece.from_offset;
      next.back().to_offset += piece.to_offset;
      next.back().loops.insert(next.back().loops.end(), piece.loops.begin(), piece.loops.end());
    }
  }
  *boxes = std::move(next);
  return absl::OkStatus();
}

// A side without memory: padding comes from nowhere.
DigitDimension NowhereLike(const DigitDimension& to) {
  DigitDimension nowhere;
  nowhere.size = to.padded;
  nowhere.digits.push_back({1, 0});
  return nowhere;
}

// "512 -> 32", bytes where they are whole.
std::string BitsToString(int64_t from, int64_t to) {
  return from % 8 == 0 && to % 8 == 0 ? absl::StrCat(from / 8, " -> ", to / 8)
                                      : absl::StrCat(from, " -> ", to, " bits");
}

}  // namespace

int64_t Box::ElementCount() const {
  int64_t count = 1;
  for (const Loop& loop : loops) count *= loop.extent;
  return count;
}

std::string Box::ToString() const {
  std::string text = absl::StrCat("at ", BitsToString(from_offset, to_offset), ":");
  for (const Loop& loop : loops) {
    absl::StrAppend(&text, &loop == loops.data() ? " " : " x ", loop.extent, " (", BitsToString(loop.from, loop.to),
                    ")");
  }
  if (loops.empty()) absl::StrAppend(&text, " one element");
  return text;
}

void Coalesce(Box* box) {
  Loops& loops = box->loops;
  for (Loop& loop : loops) {
    if (loop.to >= 0) continue;
    box->from_offset += (loop.extent - 1) * loop.from;
    box->to_offset += (loop.extent - 1) * loop.to;
    loop = {loop.extent, -loop.from, -loop.to};
  }
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
    return a.to != b.to ? a.to > b.to : std::abs(a.from) > std::abs(b.from);
  });
  size_t kept = 0;
  for (size_t i = 0; i < loops.size(); ++i) {
    const Loop loop = loops[i];
    if (loop.extent == 1) continue;
    if (kept > 0 && loops[kept - 1].from == loop.extent * loop.from && loops[kept - 1].to == loop.extent * loop.to) {
      loops[kept - 1] = {loops[kept - 1].extent * loop.extent, loop.from, loop.to};
    } else {
      loops[kept++] = loop;
    }
  }
  loops.resize(kept);
}

namespace {

// Extends loop k of `box` by the elements of `next`, if these follow its last one:
//
//   box   12 (512 -> 32) x 7 (4 -> 4)
//   next  12 (512 -> 32) x 2 (4 -> 4), 28 bytes further on either side   ->   12 (512 -> 32) x 9 (4 -> 4)
bool JoinAt(size_t k, const Box& next, Box* box) {
  Loop& loop = box->loops[k];
  if (next.from_offset != box->from_offset + loop.extent * loop.from) return false;
  if (next.to_offset != box->to_offset + loop.extent * loop.to) return false;
  const bool has_loop = next.loops.size() == box->loops.size();  // else one value
  if (!has_loop && next.loops.size() + 1 != box->loops.size()) return false;
  for (size_t i = 0; i < box->loops.size(); ++i) {
    if (i == k && !has_loop) continue;
    const Loop& a = box->loops[i];
    const Loop& b = next.loops[i > k && !has_loop ? i - 1 : i];
    if (a.from != b.from || a.to != b.to || (i != k && a.extent != b.extent)) return false;
  }
  loop.extent += has_loop ? next.loops[k].extent : 1;
  Coalesce(box);
  return true;
}

// A box that was cut at the edge of a tile may continue behind it as before. Boxes beyond this number are rarely cut by
// edges alone.
void JoinNeighbours(std::vector<Box>* boxes) {
  constexpr size_t kMostBoxes = 64;
  if (boxes->size() > kMostBoxes) return;
  for (size_t i = 0; i < boxes->size(); ++i) {
    for (size_t j = 0; j < boxes->size();) {
      bool is_joined = false;
      for (size_t k = 0; k < (*boxes)[i].loops.size() && i != j && !is_joined; ++k) {
        is_joined = JoinAt(k, (*boxes)[j], &(*boxes)[i]);
      }
      if (!is_joined) {
        ++j;
        continue;
      }
      boxes->erase(boxes->begin() + j);
      if (j < i) --i;
      j = 0;
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<Box>> BoxesOf(const Digits& from, const Digits& to) {
  // A dimension that only one side's tiles have is of size 1.
  static const DigitDimension& one = *new DigitDimension{1, 0, 1, 1, {Digit{1, 0}}};
  std::vector<Box> boxes(1);
  boxes[0].from_offset = from.base;
  boxes[0].to_offset = to.base;
  for (size_t i = 0; i < std::max(from.dimensions.size(), to.dimensions.size()); ++i) {
    const DigitDimension& f = i < from.dimensions.size() ? from.dimensions[i] : one;
    const DigitDimension& t = i < to.dimensions.size() ? to.dimensions[i] : one;
    if (f.size == 0) return std::vector<Box>();
    KASHI_ASSIGN_OR_RETURN(std::vector<Piece> pieces, DimensionCutter(f, t).Cut(0, f.size));
    KASHI_RETURN_IF_ERROR(MultiplyBoxes(pieces, &boxes));
  }
  for (Box& box : boxes) Coalesce(&box);
  JoinNeighbours(&boxes);
  return boxes;
}

//             valid of dimension 1     its padding
//            +----------------------+-------------+
//   valid    |       elements       |   i = 1     |     padding of dimension i: elements of the dimensions before it,
//   of 0     |                      |             |     all there is room for of those behind it
//            +----------------------+-------------+
//   padding  |                   i = 0            |
//            +------------------------------------+
absl::StatusOr<std::vector<Box>> PaddingBoxesOf(const Digits& to) {
  std::vector<Box> result;
  for (const DigitDimension& dimension : to.dimensions) {
    if (dimension.whole == 0) return result;  // there is no memory
  }
  for (size_t i = 0; i < to.dimensions.size(); ++i) {
    if (to.dimensions[i].whole == to.dimensions[i].padded) continue;
    std::vector<Box> boxes(1);
    boxes[0].to_offset = to.base;
    for (size_t d = 0; d < to.dimensions.size(); ++d) {
      const DigitDimension& dimension = to.dimensions[d];
      const DigitDimension nowhere = NowhereLike(dimension);
      const int64_t begin = d == i ? dimension.whole : 0, end = d < i ? dimension.whole : dimension.padded;
      KASHI_ASSIGN_OR_RETURN(std::vector<Piece> pieces, DimensionCutter(nowhere, dimension).Cut(begin, end));
      KASHI_RETURN_IF_ERROR(MultiplyBoxes(pieces, &boxes));
    }
    result.insert(result.end(), boxes.begin(), boxes.end());
    if (result.size() > kMaxBoxes) return Unimplemented("padding of more than %d boxes", kMaxBoxes);
  }
  for (Box& box : result) Coalesce(&box);
  return result;
}

}  // namespace kashi::relayout
