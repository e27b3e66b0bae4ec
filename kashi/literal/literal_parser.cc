// Entry points: ParseLiteralPrefix, ParseLiteral.
//
//   LiteralReader    tuples, and the checks of the shape
//     ArrayReader    braces, commas, `...`: the same for all element types
//       LiteralElements  numbers of one type: one by one from the lexer, or a run of plain ones straight from the bytes
//
// The order of ArrayReader's checks is that of XLA's reader, which defines the accepted text.
#include "kashi/literal/literal_parser.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/literal/literal_elements.h"
#include "kashi/literal/strided_walk.h"

namespace kashi {

using array::Lexer;
using array::QuoteToken;
using array::Token;
using base::Count;
using literal::ElementStrides;
using literal::LiteralElements;
using literal::LiteralInput;
using literal::WithLiteralElements;

namespace {

using Kind = array::Token::Kind;

constexpr int64_t kMaxElementBytes = 16;

// ---------------------------------------------------------------------------------------------------------------------
// Arrays
// ---------------------------------------------------------------------------------------------------------------------

class ArrayReader {
 public:
  // Stores elements in `memory`, laid out by `shape`; if it is null, stores nothing.
  ArrayReader(LiteralInput in, const Shape& shape, LiteralElements* elements, char* memory)
      : in_(in),
        sizes_(shape.dimensions()),
        rank_(sizes_.size()),
        elements_(*elements),
        memory_(memory == nullptr ? single_ : memory),
        strides_(rank_, 0),
        open_(rank_) {
    if (memory == nullptr) return;
    strides_ = ElementStrides(shape);
    for (int64_t& stride : strides_) stride *= primitive_util::ByteWidth(shape.element_type());
  }

  bool Read() {
    do {
      if (!ReadNext()) return false;
    } while (nest_ > 0);
    return true;
  }

  // Whether the text does not list every element: the others are zeros.
  bool unlisted() const { return unlisted_; }
  // the text has `...` for elements.
  bool elided() const { return elided_; }
  // The element without braces: the only one, or the first one.
  const char* single() const { return has_single_ ? single_ : nullptr; }

 private:
  // A brace that is open: where its part of the array begins, and how many elements it has so far.
  struct OpenBrace {
    char* memory = nullptr;
    int64_t seen = 0;
  };

  bool ReadNext() {
    switch (in_.lexer.kind()) {
      case Kind::kLeftBrace:
        return ReadOpeningBrace();
      case Kind::kRightBrace:
        return ReadClosingBrace();
      case Kind::kDots:
        return ReadDots();
      case Kind::kComma:
        unlisted_ |= nest_ == 0;  // in the place of a single element a comma is no element, and the text has no others
        in_.lexer.Next();
        return true;
      default:
        if (!elements_.CheckBegin()) return false;
        return nest_ == 0 ? ReadSingle() : ReadElements();
    }
  }

  bool ReadOpeningBrace() {
    if (nest_ == rank_) return ErrorNesting("larger");
    char* memory = memory_;
    if (nest_ > 0) {
      if (AtEndOfBrace()) return ErrorCount("more");
      memory = NextElement();
      ++open_[nest_ - 1].seen;
    }
    open_[nest_++] = {memory, 0};
    in_.lexer.Next();
    return true;
  }

  bool ReadClosingBrace() {
    if (nest_ == 0) return in_.ErrorHere("unexpected '}' token: expected a literal");
    if (!AtEndOfBrace()) return ErrorCount(absl::StrCat(open_[nest_ - 1].seen));
    --nest_;
    in_.lexer.Next();
    return true;
  }

  bool ReadDots() {
    if (nest_ != 1) {
      return in_.ErrorHere(absl::StrCat("expects `...` at nest level 1, but sees it at nest level ", nest_));
    }
    open_[0].seen = sizes_[0];
    unlisted_ = true;
    elided_ = elided_ || !HasNoElements();
    in_.lexer.Next();
    return true;
  }

  bool ReadSingle() {
    const bool at_complex = in_.lexer.kind() == Kind::kLeftParen;
    if (rank_ > 0 && (at_complex || HasNoElements())) return ErrorNesting("0");
    has_single_ = true;
    unlisted_ |= rank_ > 0;
    return elements_.ReadOne(single_);
  }

  bool ReadElements() {
    if (nest_ != rank_) return ErrorNesting(absl::StrCat(nest_));
    if (AtEndOfBrace()) {
      return in_.ErrorHere(absl::StrCat("expects ", Count(sizes_[nest_ - 1], "element"),
                                        " on the minor-most dimension, but sees more, in the ", PlaceText(),
                                        "th element"));
    }
    OpenBrace& row = open_[nest_ - 1];
    char* const to = NextElement();
    const int64_t read = elements_.ReadRun(to, strides_[nest_ - 1], sizes_[nest_ - 1] - row.seen);
    if (read == 0 && !elements_.ReadOne(to)) return false;
    row.seen += std::max<int64_t>(read, 1);
    return true;
  }

  bool AtEndOfBrace() const { return open_[nest_ - 1].seen == sizes_[nest_ - 1]; }
  char* NextElement() const { return open_[nest_ - 1].memory + open_[nest_ - 1].seen * strides_[nest_ - 1]; }
  bool HasNoElements() const { return std::count(sizes_.begin(), sizes_.end(), 0) > 0; }
  bool ErrorNesting(absl::string_view seen) {
    return in_.ErrorHere(absl::StrCat("expects nested array in rank ", rank_, ", but sees ", seen,
                                      ": elements stand in one brace for each dimension"));
  }
  bool ErrorCount(absl::string_view seen) {
    return in_.ErrorHere(absl::StrCat("expects ", Count(sizes_[nest_ - 1], "element"), " in the ", PlaceText(),
                                      "th element, but sees ", seen));
  }
  // The index of the array's part in the innermost brace; [] for the outermost brace. With many dimensions, only the
  // last ones.
  std::string PlaceText() const {
    constexpr size_t kShown = 8;
    const size_t first = nest_ - 1 > kShown ? nest_ - 1 - kShown : 0;
    std::string text = first > 0 ? "[..." : "[";
    for (size_t d = first; d + 1 < nest_; ++d) absl::StrAppend(&text, d > 0 ? "," : "", open_[d].seen - 1);
    return text + "]";
  }

  LiteralInput in_;
  const absl::Span<const int64_t> sizes_;
  const size_t rank_;
  LiteralElements& elements_;
  alignas(kMaxElementBytes) char single_[kMaxElementBytes] = {};
  char* const memory_;
  DimensionVector strides_;  // in bytes; zeros if all elements go to one place
  std::vector<OpenBrace> open_;
  size_t nest_ = 0;
  bool unlisted_ = false;
  bool elided_ = false;
  bool has_single_ = false;
};

// ---------------------------------------------------------------------------------------------------------------------
// Trees
// ---------------------------------------------------------------------------------------------------------------------

// `rows`: the product of the sizes up to the first 0, the rows of braces in a text of all elements. `elements`: the
// product of all sizes.
struct ElementCount {
  int64_t rows = 1;
  int64_t elements = 1;
};
ElementCount CountElements(const Shape& shape) {
  ElementCount count;
  for (int64_t size : shape.dimensions()) {
    if (size == 0) {
      count.elements = 0;
      return count;
    }
    count.rows = CheckedMultiply(count.rows, size).value_or(std::numeric_limits<int64_t>::max());
    count.elements = count.rows;
  }
  return count;
}

class LiteralReader {
 public:
  LiteralReader(Lexer* lexer, int64_t* unlisted_bytes, std::vector<Diagnostic>* diagnostics)
      : in_{*lexer, *diagnostics}, unlisted_bytes_(*unlisted_bytes) {}

  // Whether the text read so far elides elements.
  bool elided() const { return elided_; }

  std::optional<Literal> Read(const Shape& shape) {
    Shape constant_shape = shape;
    const absl::Status status = MakeConstantShape(&constant_shape);
    if (!status.ok()) {
      in_.ErrorHere(std::string(status.message()));
      return std::nullopt;
    }
    return constant_shape.IsTuple() ? ReadTuple(constant_shape) : ReadArray(constant_shape);
  }

 private:
  static absl::Status MakeConstantLeaf(Shape* shape) {
    if (shape->IsBuffer()) *shape = Shape(shape->buffer_shape());
    if (!shape->IsArray()) {
      return InvalidArgument("a constant is an array or a tuple of arrays, not %s", shape->ToString());
    }
    if (shape->is_unbounded_dynamic()) {
      return InvalidArgument("a constant needs a size in every dimension, unlike %s", shape->ToString());
    }
    shape->clear_dynamic_dimensions();
    if (!shape->has_layout()) LayoutUtil::SetToDefaultLayout(shape);
    shape->mutable_layout()->set_element_size_in_bits(0);
    return LayoutUtil::ValidateLayoutForShape(shape->layout(), *shape);
  }
  static absl::Status MakeConstantShape(Shape* shape) {
    return ShapeUtil::ForEachMutableSubshapeWithStatus(shape, [](Shape* subshape, const ShapeIndex&) {
      return subshape->IsTuple() ? absl::OkStatus() : MakeConstantLeaf(subshape);
    });
  }

  std::optional<Literal> ReadTuple(const Shape& shape) {
    absl::StatusOr<Literal> literal = Literal::Make(shape, /*allocate_arrays=*/false);
    if (!Check(literal)) return std::nullopt;
    std::vector<const Shape*> open;
    ShapeIndex index;  // of the element to be read next: one number for each open tuple
    const auto begin = [&](const Shape& tuple) {
      open.push_back(&tuple);
      index.push_back(0);
      return in_.lexer.Match(Kind::kLeftParen) || in_.ErrorGot("expects '(' in front of tuple elements");
    };
    if (!begin(shape)) return std::nullopt;
    while (!open.empty()) {
      if (index.back() == open.back()->tuple_shapes_size()) {
        if (!in_.lexer.Match(Kind::kRightParen)) {
          in_.ErrorGot(absl::StrCat("expects ')' at the end of the tuple with ", Count(index.back(), "element")));
          return std::nullopt;
        }
        open.pop_back();
        index.pop_back();
        if (!index.empty()) ++index.back();
        continue;
      }
      if (index.back() > 0) in_.lexer.Match(Kind::kComma);
      const Shape& element = open.back()->tuple_shapes(static_cast<int>(index.back()));
      if (element.IsTuple()) {
        if (!begin(element)) return std::nullopt;
        continue;
      }
      std::optional<Literal> array = ReadArray(element);
      if (!array.has_value() || !CheckOk(literal->MoveFrom(*std::move(array), index))) return std::nullopt;
      ++index.back();
    }
    return *std::move(literal);
  }

  std::optional<Literal> ReadArray(const Shape& shape) {
    std::optional<Literal> literal;
    WithLiteralElements(shape.element_type(), in_,
                        [&](LiteralElements* elements) { literal = ReadArray(shape, elements); });
    return literal;
  }

  std::optional<Literal> ReadArray(const Shape& shape, LiteralElements* elements) {
    const Token first = in_.lexer.token();
    const ElementCount count = CountElements(shape);
    // An element takes at least one byte of text. If fewer are left, the elements are unlisted, or the end of
    // the text will come too soon.
    const bool may_be_listed = static_cast<uint64_t>(count.elements) <= in_.lexer.text().size() - first.begin;
    absl::StatusOr<Literal> literal = Literal();
    if (may_be_listed) literal = Literal::Make(shape);
    if (!Check(literal)) return std::nullopt;
    const bool has_memory = may_be_listed && count.elements > 0;
    ArrayReader reader(in_, shape, elements, has_memory ? static_cast<char*>(literal->untyped_data()) : nullptr);
    if (!reader.Read()) return std::nullopt;
    elided_ = elided_ || reader.elided();
    if (reader.unlisted()) {
      literal = MakeZeros(shape, count, {first.kind, first.begin, in_.lexer.previous_end()});
      if (!literal.ok()) return std::nullopt;
    }
    if (reader.single() != nullptr) {
      std::memcpy(literal->untyped_data(), reader.single(), primitive_util::ByteWidth(shape.element_type()));
    }
    return *std::move(literal);
  }

  // For elements that `text` does not list. Empty arrays cost their braces, because they may be printed.
  absl::StatusOr<Literal> MakeZeros(const Shape& shape, const ElementCount& count, const Token& text) {
    const int64_t width = primitive_util::ByteWidth(shape.element_type());
    const int64_t elements = count.elements > 0 ? count.elements : count.rows;
    const int64_t bytes = CheckedMultiply(elements, width).value_or(std::numeric_limits<int64_t>::max());
    if (bytes > unlisted_bytes_) {
      in_.Error(text, absl::StrCat(shape.ToString(), " needs ", bytes, " bytes for elements that are not listed; ",
                                   unlisted_bytes_, " are allowed"));
      return absl::ResourceExhaustedError("");
    }
    unlisted_bytes_ -= bytes;
    absl::StatusOr<Literal> literal = Literal::Make(shape);
    if (Check(literal) && count.elements > 0) std::memset(literal->untyped_data(), 0, literal->size_bytes());
    return literal;
  }

  bool CheckOk(const absl::Status& status) { return status.ok() || in_.ErrorHere(std::string(status.message())); }
  bool Check(const absl::StatusOr<Literal>& literal) { return CheckOk(literal.status()); }

  LiteralInput in_;
  int64_t& unlisted_bytes_;
  bool elided_ = false;
};

}  // namespace

std::optional<Literal> ParseLiteralPrefix(Lexer* lexer, const Shape& shape, const LiteralParserOptions& options,
                                          std::vector<Diagnostic>* diagnostics) {
  int64_t own_budget = kDefaultUnlistedBytes;
  int64_t* const budget = options.unlisted_bytes != nullptr ? options.unlisted_bytes : &own_budget;
  LiteralReader reader(lexer, budget, diagnostics);
  std::optional<Literal> literal = reader.Read(shape);
  if (options.is_elided != nullptr && reader.elided()) *options.is_elided = true;
  return literal;
}

absl::StatusOr<Literal> ParseLiteral(absl::string_view text, const Shape& shape) {
  Lexer lexer(text);
  std::vector<Diagnostic> diagnostics;
  std::optional<Literal> literal = ParseLiteralPrefix(&lexer, shape, LiteralParserOptions(), &diagnostics);
  if (literal.has_value() && lexer.kind() == Kind::kEnd) return *std::move(literal);
  if (literal.has_value()) {
    diagnostics.push_back({Diagnostic::Severity::kError, lexer.token().begin, lexer.token().end,
                           absl::StrCat("unexpected ", QuoteToken(lexer), " after the literal")});
  }
  return DiagnosticsToStatus({"literal", text}, diagnostics);
}

}  // namespace kashi
