#include "kashi/query/shape_pattern.h"

#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/suggest.h"

namespace kashi::query {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// `*` stands for any letters. O(length of both) for one `*`, their product at most.
bool FitsName(absl::string_view pattern, absl::string_view name) {
  size_t star = absl::string_view::npos, resume = 0, p = 0;
  for (size_t n = 0; n < name.size();) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return absl::c_all_of(pattern.substr(p), [](char c) { return c == '*'; });
}

}  // namespace

std::vector<std::string> TypeNames() {
  std::vector<std::string> names;
#define KASHI_TYPE(type, number, name, ...) names.emplace_back(name);
#include "kashi/array/primitive_types.def"
  names.erase(names.begin());  // the invalid type
  return names;
}

class ShapePatternParser {
 public:
  explicit ShapePatternParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<ShapePattern> ParseAll() {
    KASHI_ASSIGN_OR_RETURN(ShapePattern pattern, ParsePattern(0));
    SkipSpace();
    if (at_ < text_.size()) return Error("expected the end of the pattern");
    return pattern;
  }
  size_t at() const { return at_; }

 private:
  absl::Status Error(absl::string_view message) const { return InvalidArgumentStrCat(message); }

  // Also skips comments: `/*index=5*/`, as HLO text has them in tuples.
  void SkipSpace() {
    for (;;) {
      while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
      const absl::string_view rest = text_.substr(at_);
      const size_t end = rest.find("*/");
      if (!absl::StartsWith(rest, "/*") || end == absl::string_view::npos) return;
      at_ += end + 2;
    }
  }
  bool Match(absl::string_view token) {
    SkipSpace();
    if (!absl::StartsWith(text_.substr(at_), token)) return false;
    at_ += token.size();
    return true;
  }

  absl::StatusOr<ShapePattern> ParsePattern(int depth) {
    constexpr int kMostDepth = 16;
    if (depth > kMostDepth) return Error("tuples are nested too deep");
    if (Match("(")) return ParseTuple(depth);
    SkipSpace();
    const size_t begin = at_;
    while (at_ < text_.size() && (absl::ascii_isalnum(text_[at_]) || text_[at_] == '*')) ++at_;
    ShapePattern pattern;
    pattern.type_ = std::string(text_.substr(begin, at_ - begin));
    if (absl::Status status = CheckType(pattern.type_); !status.ok()) {
      at_ = begin;
      return status;
    }
    if (Match("[")) {
      KASHI_RETURN_IF_ERROR(ParseDimensions(&pattern));
      KASHI_RETURN_IF_ERROR(ParseLayoutPart(&pattern));
    } else {
      pattern.is_anything_ = pattern.type_ == "*";
    }
    return pattern;
  }

  absl::Status CheckType(const std::string& type) const {
    if (type.empty()) return Error("expected a type, `*` or a tuple: f32[8,*], *[128], (f32[], s32[])");
    const std::vector<std::string> names = TypeNames();
    const auto fits = [&](const std::string& name) { return FitsName(type, name); };
    if (absl::c_any_of(names, fits)) return absl::OkStatus();
    return InvalidArgumentStrCat("no type is `", type, "`", base::DidYouMean(type, names));
  }

  absl::StatusOr<ShapePattern> ParseTuple(int depth) {
    ShapePattern tuple;
    tuple.is_tuple_ = true;
    if (Match(")")) return tuple;
    do {
      KASHI_ASSIGN_OR_RETURN(ShapePattern element, ParsePattern(depth + 1));
      tuple.elements_.push_back(std::move(element));
    } while (Match(","));
    if (!Match(")")) return Error("expected `,` or `)`");
    return tuple;
  }

  absl::Status ParseDimensions(ShapePattern* pattern) {
    auto& dimensions = pattern->dimensions_.emplace();
    if (Match("]")) return absl::OkStatus();
    bool has_any_number = false;
    do {
      SkipSpace();
      const size_t begin = at_;
      KASHI_ASSIGN_OR_RETURN(const Dimension dimension, ParseDimension());
      if (dimension.kind == Dimension::Kind::kAnyNumber && std::exchange(has_any_number, true)) {
        at_ = begin;
        return Error("only one `...` may be in a shape");
      }
      dimensions.push_back(dimension);
    } while (Match(","));
    return Match("]") ? absl::OkStatus() : Error("expected `,` or `]`");
  }

  using Dimension = ShapePattern::Dimension;

  absl::StatusOr<Dimension> ParseDimension() {
    using Kind = Dimension::Kind;
    if (Match("...")) return Dimension{Kind::kAnyNumber};
    if (Match("*")) return Dimension{Kind::kAny};
    if (Match("?")) return Dimension{Kind::kUnbounded};
    if (Match("<=")) {
      KASHI_ASSIGN_OR_RETURN(const int64_t bound, ParseSize());
      return Dimension{Kind::kBounded, bound, bound};
    }
    if (Match("..")) {
      KASHI_ASSIGN_OR_RETURN(const int64_t most, ParseSize());
      return Dimension{Kind::kSizes, 0, most};
    }
    KASHI_ASSIGN_OR_RETURN(const int64_t least, ParseSize());
    if (!Match("..")) return Dimension{Kind::kSizes, least, least};
    SkipSpace();
    const bool is_open = at_ >= text_.size() || !absl::ascii_isdigit(text_[at_]);
    if (is_open) return Dimension{Kind::kSizes, least, kMost};
    const size_t begin = at_;
    KASHI_ASSIGN_OR_RETURN(const int64_t most, ParseSize());
    if (most >= least) return Dimension{Kind::kSizes, least, most};
    at_ = begin;
    return Error("the range is empty");
  }

  absl::StatusOr<int64_t> ParseSize() {
    SkipSpace();
    const size_t begin = at_;
    while (at_ < text_.size() && absl::ascii_isdigit(text_[at_])) ++at_;
    int64_t size = 0;
    if (absl::SimpleAtoi(text_.substr(begin, at_ - begin), &size)) return size;
    at_ = begin;
    return Error("expected a size: 128, *, 2..8, 1000.., ..., <=10 or ?");
  }

  absl::Status ParseLayoutPart(ShapePattern* pattern) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != '{') return absl::OkStatus();
    const size_t end = text_.find('}', at_);
    if (end == absl::string_view::npos) return Error("expected `}` at the end of the layout");
    const absl::string_view text = text_.substr(at_, end + 1 - at_);
    const absl::StatusOr<Layout> layout = ParseLayout(text);
    if (!layout.ok()) return Error("the layout is wrong: it is written like {1,0} or {1,0:T(8,128)}");
    at_ = end + 1;
    pattern->layout_ = *layout;
    pattern->layout_is_exact_ = absl::StrContains(text, ":");
    return absl::OkStatus();
  }

  absl::string_view text_;
  size_t at_ = 0;
};

absl::StatusOr<ShapePattern> ShapePattern::Parse(absl::string_view text, size_t* error_at) {
  ShapePatternParser parser(text);
  absl::StatusOr<ShapePattern> pattern = parser.ParseAll();
  if (!pattern.ok() && error_at != nullptr) *error_at = parser.at();
  return pattern;
}

bool ShapePattern::Dimension::Matches(const Shape& shape, int dimension) const {
  switch (kind) {
    case Kind::kSizes: {
      const int64_t size = shape.dimensions(dimension);
      const bool is_range = least != most;  // a range also takes bounds
      return size >= least && size <= most && (is_range || shape.is_static_dimension(dimension));
    }
    case Kind::kBounded:
      return shape.is_bounded_dynamic_dimension(dimension) && shape.dimensions(dimension) == least;
    case Kind::kUnbounded:
      return shape.is_unbounded_dynamic_dimension(dimension);
    case Kind::kAny:
    case Kind::kAnyNumber:
      return true;
  }
  return false;
}

// Sizes before `...` are compared from the front, those behind it from the back.
bool ShapePattern::MatchesDimensions(const Shape& shape) const {
  if (!dimensions_.has_value()) return true;
  const auto count = static_cast<int>(dimensions_->size());
  int gap = count;
  for (int i = 0; i < count; ++i) {
    if ((*dimensions_)[i].kind == Dimension::Kind::kAnyNumber) gap = i;
  }
  const int behind = gap == count ? 0 : count - gap - 1;
  const bool fits = gap == count ? shape.rank() == count : shape.rank() >= gap + behind;
  if (!fits) return false;
  for (int i = 0; i < gap; ++i) {
    if (!(*dimensions_)[i].Matches(shape, i)) return false;
  }
  for (int i = 0; i < behind; ++i) {
    if (!(*dimensions_)[count - 1 - i].Matches(shape, static_cast<int>(shape.rank()) - 1 - i)) return false;
  }
  return true;
}

bool ShapePattern::MatchesLayout(const Shape& shape) const {
  if (!layout_.has_value()) return true;
  if (!shape.has_layout()) return false;
  return layout_is_exact_ ? shape.layout() == *layout_ : shape.layout().minor_to_major() == layout_->minor_to_major();
}

bool ShapePattern::Matches(const Shape& shape) const {
  if (is_anything_) return true;
  if (is_tuple_) {
    if (!shape.IsTuple() || shape.tuple_shapes_size() != elements_.size()) return false;
    for (size_t i = 0; i < elements_.size(); ++i) {
      if (!elements_[i].Matches(shape.tuple_shapes(static_cast<int>(i)))) return false;
    }
    return true;
  }
  const bool has_type =
      FitsName(type_, primitive_util::LowercasePrimitiveTypeName(shape.element_type_including_buffer()));
  if (!has_type) return false;
  if (!shape.IsArrayExcludingBuffer()) return !dimensions_.has_value() || dimensions_->empty();
  return MatchesDimensions(shape) && MatchesLayout(shape);
}

bool ShapePattern::MatchesPart(const Shape& shape) const {
  bool matches = false;
  ShapeUtil::ForEachSubshape(shape, [&](const Shape& part, const ShapeIndex&) { matches = matches || Matches(part); });
  return matches;
}

}  // namespace kashi::query
