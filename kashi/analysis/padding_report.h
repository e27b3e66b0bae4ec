// The arrays of a program with the most padding, and suggestions to make them smaller.
//
//   f32[256,512,128,2]{3,2,1,0:T(8,128)}    8 GiB for 128 MiB of data
//     another order                         f32[256,512,128,2]{2,3,1,0:T(2,128)}   128 MiB
//     dimensions 2 and 3 as one             f32[256,512,256]{2,1,0:T(8,128)}       128 MiB
//     bf16, if its precision is enough      bf16[256,512,128,2]{3,2,1,0:T(8,128)(2,1)}  4 GiB
#ifndef KASHI_ANALYSIS_PADDING_REPORT_H_
#define KASHI_ANALYSIS_PADDING_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kashi/analysis/memory_analysis.h"
#include "kashi/array/shape.h"

namespace kashi {

// A shape that takes fewer bytes: measured, with tiles that the target's compiler would choose. All but the last kind
// hold the same data.
struct PaddingSuggestion {
  enum class Kind {
    kDimensionOrder,
    kTile,
    kMergedDimensions,  // two neighbouring dimensions as one: a reshape in the program
    kElementType,       // a type half as wide, with the tiles of that type, which are not always half as large
  };
  Kind kind;
  Shape shape;
  int64_t bytes;
  int64_t dimension = 0;  // kMergedDimensions: this one and the next
};
std::string PaddingSuggestionText(const PaddingSuggestion& suggestion);  // "another order", "dimensions 2 and 3 as one"

// All buffers of one shape that are alive when their memory space is fullest.
struct PaddingEntry {
  const Shape* shape = nullptr;
  int64_t bytes = 0;  // of one
  int64_t unpadded_bytes = 0;
  std::vector<int32_t> buffers;                // numbers in MemoryAnalysis::buffers; the first is the example to show
  std::vector<PaddingSuggestion> suggestions;  // as SuggestLessPadding orders them; may be empty

  int64_t padding_bytes() const { return (bytes - unpadded_bytes) * static_cast<int64_t>(buffers.size()); }
};

// Changes that make an array of this shape smaller on the target: the cheapest first, but another type last, since the
// program may not allow it.
std::vector<PaddingSuggestion> SuggestLessPadding(const Shape& shape, const MemoryTarget& target);

// The shapes with the most padding, the worst first, at most `count` of them.
std::vector<PaddingEntry> RankPadding(const MemoryAnalysis& memory, size_t count);

}  // namespace kashi

#endif  // KASHI_ANALYSIS_PADDING_REPORT_H_
