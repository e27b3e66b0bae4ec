// Patterns of shapes.
//
//   f32[8,128]       this type and these sizes        f32[*,128]       any size of the first dimension
//   bf16[...,128]    the last size is 128             f32[1000..]      a size of at least 1000
//   f32[2..8]        from 2 to 8                      f32              any array of this type
//   f8*[*,*]         types by `*`                     *[128,128]       any type
//   f32[<=10]        bounded; a plain size is fixed   f32[?]           of unknown size
//   f32[*,*]{0,1}    this order of dimensions         {1,0:T(8,128)}   this layout exactly
//   (s32[], *)       a tuple of two                   *                any shape
#ifndef KASHI_QUERY_SHAPE_PATTERN_H_
#define KASHI_QUERY_SHAPE_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"

namespace kashi::query {

// "pred", "s8", …; also "tuple" and the like.
std::vector<std::string> TypeNames();

class ShapePattern {
 public:
  // INVALID_ARGUMENT; `error_at`, if given, is then the byte that the error is about. Tuples may be nested 16 deep.
  static absl::StatusOr<ShapePattern> Parse(absl::string_view text, size_t* error_at = nullptr);

  // Whether the whole shape fits.
  bool Matches(const Shape& shape) const;
  // Whether the shape, or a part of its tuple, fits. O(parts).
  bool MatchesPart(const Shape& shape) const;

 private:
  friend class ShapePatternParser;

  struct Dimension {
    enum class Kind { kSizes, kBounded, kUnbounded, kAny, kAnyNumber } kind = Kind::kAny;
    int64_t least = 0, most = 0;  // kSizes; kBounded: both are the bound
    bool Matches(const Shape& shape, int dimension) const;
  };

  bool MatchesDimensions(const Shape& shape) const;
  bool MatchesLayout(const Shape& shape) const;

  bool is_anything_ = false;
  bool is_tuple_ = false;
  std::vector<ShapePattern> elements_;                // of a tuple
  std::string type_;                                  // may have `*`
  std::optional<std::vector<Dimension>> dimensions_;  // nullopt: any
  std::optional<Layout> layout_;
  bool layout_is_exact_ = false;  // otherwise only the order of dimensions counts
};

}  // namespace kashi::query

#endif  // KASHI_QUERY_SHAPE_PATTERN_H_
