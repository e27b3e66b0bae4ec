// Entry points: ParseRelayoutSide, ParseRelayoutProblem.
#include "kashi/relayout/relayout_problem.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/lexer.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/status.h"

namespace kashi {

using array::Lexer;
using array::QuoteToken;
using array::Token;
namespace {

using Kind = Token::Kind;

// One range of a part, as in the text.
struct Range {
  std::optional<int64_t> begin;
  std::optional<int64_t> end;
  size_t text_begin = 0;
  size_t text_end = 0;
};

class SideReader {
 public:
  SideReader(absl::string_view text, bool strict, std::vector<Diagnostic>* diagnostics)
      : lexer_(text), strict_(strict), diagnostics_(diagnostics) {}

  std::optional<RelayoutSide> Read(const RelayoutSide* other) {
    RelayoutSide side;
    std::vector<Range> ranges;
    side.is_part = lexer_.kind() == Kind::kLeftSquare;
    if (side.is_part && !ReadRanges(&ranges)) return std::nullopt;
    const size_t shape_begin = lexer_.token().begin;
    const bool is_layout_alone = lexer_.kind() == Kind::kLeftBrace && !side.is_part;
    if (!(is_layout_alone ? ReadLayoutOf(other, &side.shape) : ReadShape(&side.shape))) return std::nullopt;
    if (!side.shape.IsArrayExcludingBuffer())
      return Error(shape_begin, lexer_.previous_end(), "only arrays have a place in memory");
    if (side.shape.is_dynamic()) {
      return Error(shape_begin, lexer_.previous_end(), "sizes must be known: no `<=` and no `?`");
    }
    side.starts.assign(side.shape.dimensions().size(), 0);
    side.sizes.assign(side.shape.dimensions().begin(), side.shape.dimensions().end());
    if (side.is_part && !SetPart(ranges, &side)) return std::nullopt;
    return side;
  }

 private:
  std::nullopt_t Error(size_t begin, size_t end, std::string message) {
    diagnostics_->push_back({Diagnostic::Severity::kError, begin, end, std::move(message)});
    return std::nullopt;
  }
  bool ErrorExpected(absl::string_view what) {
    Error(lexer_.token().begin, lexer_.token().end, absl::StrCat("expected ", what, ", got ", QuoteToken(lexer_)));
    return false;
  }

  ShapeParserOptions Options() const {
    ShapeParserOptions options;
    options.strict = strict_;
    options.fill_missing_layouts = false;
    return options;
  }

  bool ReadShape(Shape* shape) {
    std::optional<Shape> read = ParseShapePrefix(&lexer_, Options(), diagnostics_);
    if (!read.has_value()) return false;
    *shape = *std::move(read);
    return lexer_.kind() == Kind::kEnd || ErrorExpected("nothing more");
  }

  // Read behind the array's type and sizes, as a layout is read everywhere.
  bool ReadLayoutOf(const RelayoutSide* other, Shape* shape) {
    const size_t layout_begin = lexer_.token().begin;
    if (other == nullptr) {
      return Error(layout_begin, lexer_.token().end, "a layout alone: of which array? Say the whole shape"), false;
    }
    if (other->sizes.empty() && lexer_.LookAhead().kind == Kind::kRightBrace) return ReadLayoutOfScalar(*other, shape);
    const std::string array = absl::StrCat(primitive_util::LowercasePrimitiveTypeName(other->shape.element_type()), "[",
                                           absl::StrJoin(other->sizes, ","), "]");
    const std::string text = absl::StrCat(array, lexer_.text().substr(layout_begin));
    std::vector<Diagnostic> found;
    const absl::StatusOr<Shape> read = ParseShape(text, Options(), &found);
    const auto in_text = [&](size_t offset) { return layout_begin + offset - std::min(offset, array.size()); };
    for (Diagnostic& diagnostic : found) {
      diagnostic.begin = in_text(diagnostic.begin);
      diagnostic.end = in_text(diagnostic.end);
      diagnostics_->push_back(std::move(diagnostic));
    }
    if (!read.ok()) return false;
    *shape = *read;
    lexer_.MoveTo(lexer_.text().size());
    return true;
  }

  // `{}`, which behind a shape no one writes.
  bool ReadLayoutOfScalar(const RelayoutSide& other, Shape* shape) {
    lexer_.Next();
    lexer_.Next();
    *shape = Shape(other.shape.element_type(), {});
    return lexer_.kind() == Kind::kEnd || ErrorExpected("nothing more");
  }

  // `[0:8, 128:, :] of`
  bool ReadRanges(std::vector<Range>* ranges) {
    lexer_.Next();
    while (!lexer_.Match(Kind::kRightSquare)) {
      Range range;
      range.text_begin = lexer_.token().begin;
      if (!ReadBound(&range.begin)) return false;
      if (!lexer_.Match(Kind::kColon)) return ErrorExpected("a range such as 0:8");
      if (!ReadBound(&range.end)) return false;
      range.text_end = lexer_.previous_end();
      ranges->push_back(range);
      if (!lexer_.Match(Kind::kComma) && lexer_.kind() != Kind::kRightSquare) return ErrorExpected("`,` or `]`");
    }
    if (!lexer_.AtIdent("of")) return ErrorExpected("`of` and the shape of the whole array");
    lexer_.Next();
    return true;
  }

  bool ReadBound(std::optional<int64_t>* bound) {
    if (lexer_.kind() != Kind::kInt) return true;
    if (lexer_.token().int_value < 0) return ErrorExpected("an index from 0 up");
    *bound = lexer_.token().int_value;
    lexer_.Next();
    return true;
  }

  bool SetPart(const std::vector<Range>& ranges, RelayoutSide* side) {
    const size_t rank = side->sizes.size();
    if (ranges.size() != rank) {
      Error(0, ranges.empty() ? 1 : ranges.back().text_end,
            absl::StrCat(ranges.size(), " ranges for an array of rank ", rank));
      return false;
    }
    for (size_t i = 0; i < rank; ++i) {
      const int64_t size = side->shape.dimensions()[i];
      const int64_t begin = ranges[i].begin.value_or(0), end = ranges[i].end.value_or(size);
      if (begin > end || end > size) {
        Error(ranges[i].text_begin, ranges[i].text_end,
              absl::StrCat(begin, ":", end, " is no range in dimension ", i, ", which has size ", size));
        return false;
      }
      side->starts[i] = begin;
      side->sizes[i] = end - begin;
    }
    return true;
  }

  Lexer lexer_;
  const bool strict_;
  std::vector<Diagnostic>* const diagnostics_;
};

// Reads text[begin, end) as a side; diagnostics have offsets into `text`.
std::optional<RelayoutSide> ParseSideAt(absl::string_view text, size_t begin, size_t end, const RelayoutSide* other,
                                        bool strict, std::vector<Diagnostic>* diagnostics) {
  const size_t first = diagnostics->size();
  std::optional<RelayoutSide> side = ParseRelayoutSide(text.substr(begin, end - begin), other, strict, diagnostics);
  for (size_t i = first; i < diagnostics->size(); ++i) {
    (*diagnostics)[i].begin += begin;
    (*diagnostics)[i].end += begin;
  }
  return side;
}

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(c) || absl::string_view("_-+./").find(c) != absl::string_view::npos;
}

// Where a side begins, after an optional `name: `. A shape never begins with a name.
size_t EndOfName(absl::string_view line, size_t begin) {
  size_t end = begin;
  while (end < line.size() && IsNameCharacter(line[end])) ++end;
  const bool is_name = end > begin && end + 1 < line.size() && line[end] == ':' && absl::ascii_isspace(line[end + 1]);
  return is_name ? end : begin;
}

}  // namespace

absl::StatusOr<Placement> RelayoutSide::ToPlacement() const {
  Shape whole = shape;
  if (!whole.has_layout()) LayoutUtil::SetToDefaultLayout(&whole);
  KASHI_ASSIGN_OR_RETURN(Placement placement, Placement::OfLayout(whole));
  if (!is_part) return placement;
  return placement.Slice(starts, sizes);
}

std::optional<RelayoutSide> ParseRelayoutSide(absl::string_view text, const RelayoutSide* other, bool strict,
                                              std::vector<Diagnostic>* diagnostics) {
  return SideReader(text, strict, diagnostics).Read(other);
}

std::optional<RelayoutProblem> ParseRelayoutProblem(absl::string_view line, bool strict,
                                                    std::vector<Diagnostic>* diagnostics) {
  line = absl::StripTrailingAsciiWhitespace(WithoutComment(line));
  RelayoutProblem problem;
  size_t begin = line.size() - absl::StripLeadingAsciiWhitespace(line).size();
  const size_t name_end = EndOfName(line, begin);
  problem.name = std::string(line.substr(begin, name_end - begin));
  if (name_end > begin) begin = name_end + 1;
  const absl::string_view arrow = "->";
  const size_t arrow_begin = line.find(arrow, begin);
  if (arrow_begin == absl::string_view::npos) {
    diagnostics->push_back(
        {Diagnostic::Severity::kError, line.size(), line.size(), "expected `->` and the other side"});
    return std::nullopt;
  }
  std::optional<RelayoutSide> from = ParseSideAt(line, begin, arrow_begin, nullptr, strict, diagnostics);
  if (!from.has_value()) return std::nullopt;
  problem.from = *std::move(from);
  std::optional<RelayoutSide> to =
      ParseSideAt(line, arrow_begin + arrow.size(), line.size(), &problem.from, strict, diagnostics);
  if (!to.has_value()) return std::nullopt;
  problem.to = *std::move(to);
  return problem;
}

absl::string_view WithoutComment(absl::string_view line) {
  for (size_t at = line.find('#'); at != absl::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || absl::ascii_isspace(line[at - 1])) return line.substr(0, at);
  }
  return line;
}

}  // namespace kashi
