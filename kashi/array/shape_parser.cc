// Entry points: ParseShape, ParseLayout, ParseProgramShape, ParseShapePrefix.
//
// The reader follows the control flow of XLA's own reader, which defines the accepted text: the readers of layout
// attributes record their errors and stop where they stand, but the layout goes on. Such an error matters only if
// something behind it fails too; if nothing does, it is a warning here (array-model.md, 2.3).
#include "kashi/array/shape_parser.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"

namespace kashi {

using array::Lexer;
using array::QuoteToken;
using array::Token;
using array::TokenKindName;
namespace {

using Kind = array::Token::Kind;
using Severity = Diagnostic::Severity;

constexpr size_t kMaxDiagnostics = 32;

class ShapeReader {
 public:
  ShapeReader(Lexer* lexer, const ShapeParserOptions& options, std::vector<Diagnostic>* diagnostics)
      : lexer_(*lexer), options_(options), diagnostics_(*diagnostics), first_(diagnostics->size()) {}

  // Decides how the recorded errors count: after a success, warnings (errors when strict); after a failure, errors.
  template <typename T>
  std::optional<T> Finish(std::optional<T> result) {
    const bool failed = !result.has_value();
    for (size_t i = first_; i < diagnostics_.size(); ++i) {
      diagnostics_[i].severity = failed || options_.strict ? Severity::kError : Severity::kWarning;
    }
    if (options_.strict && diagnostics_.size() > first_) return std::nullopt;
    return result;
  }

  std::optional<Shape> ReadShape();
  std::optional<Layout> ReadLayout();
  std::optional<ProgramShape> ReadProgramShape();
  bool ExpectEnd(absl::string_view behind_what) {
    if (lexer_.kind() == Kind::kEnd) return true;
    return ErrorHere(absl::StrCat("unexpected text after the ", behind_what));
  }

 private:
  // All of these return false, so that a reader can say `return Error(…)`.
  bool Error(size_t begin, size_t end, std::string message);
  bool ErrorHere(std::string message) { return Error(lexer_.token().begin, lexer_.token().end, std::move(message)); }
  bool ErrorExpected(absl::string_view what);
  bool Expect(Kind kind, absl::string_view where);

  // start [item {"," item}] end
  bool ReadList(Kind start, Kind end, absl::string_view what, absl::FunctionRef<bool()> read_item);
  bool ReadInt(int64_t* value);
  bool ReadPrimitiveType(PrimitiveType* type);

  std::optional<Shape> ReadNonTuple();
  bool ReadArray(Shape* shape);
  bool ReadDimensions(DimensionVector* sizes, std::vector<bool>* dynamic);
  bool MakeArray(PrimitiveType type, size_t begin, const DimensionVector& sizes, const std::vector<bool>& dynamic,
                 Shape* shape);
  bool ReadLayoutOf(Shape* shape);
  bool CheckTupleElement(const Shape& element, size_t begin, size_t end);
  void CheckArray(const Shape& shape, size_t begin, size_t end);
  bool AtLayout() const;

  // Layout attributes, in the order in which they may stand.
  struct LayoutFields {
    DimensionVector minor_to_major;
    std::vector<Tile> tiles;
    int64_t tail_padding = 1;
    PrimitiveType index_type = PRIMITIVE_TYPE_INVALID;
    PrimitiveType pointer_type = PRIMITIVE_TYPE_INVALID;
    int64_t element_size = 0;
    int64_t memory_space = 0;
    std::vector<SplitConfig> split_configs;
    int64_t metadata_prefix = 0;
  };
  bool ReadLayoutAttributes(LayoutFields* fields);
  bool ReadDimLevelTypes();
  bool ReadTiles(std::vector<Tile>* tiles);
  bool ReadTileDimension(Tile* tile);
  bool ReadIntAttribute(absl::string_view what, int64_t* value);
  bool ReadSparseType(PrimitiveType* type);
  bool ReadSplitConfigs(std::vector<SplitConfig>* configs);
  // Records an error that ends XLA's process, even if reading continues here.
  void FatalError(const Token& token, std::string message) {
    Error(token.begin, token.end, std::move(message));
    fatal_ = true;
  }

  Lexer& lexer_;
  const ShapeParserOptions& options_;
  std::vector<Diagnostic>& diagnostics_;
  const size_t first_;  // earlier diagnostics belong to the caller
  bool fatal_ = false;
};

bool ShapeReader::Error(size_t begin, size_t end, std::string message) {
  // The first message about a place tells the cause; further messages about that place would only repeat it.
  if (diagnostics_.size() > first_ && diagnostics_.back().begin == begin) return false;
  // A hostile text could have an error every few bytes. The last one is kept: it may be the one that ends the reading.
  if (diagnostics_.size() == first_ + kMaxDiagnostics) diagnostics_.pop_back();
  diagnostics_.push_back({Severity::kError, begin, end, std::move(message)});
  return false;
}

bool ShapeReader::ErrorExpected(absl::string_view what) {
  return ErrorHere(absl::StrCat("expected ", what, ", got ", QuoteToken(lexer_)));
}

bool ShapeReader::Expect(Kind kind, absl::string_view where) {
  if (lexer_.Match(kind)) return true;
  return ErrorExpected(absl::StrCat(TokenKindName(kind), " ", where));
}

bool ShapeReader::ReadList(Kind start, Kind end, absl::string_view what, absl::FunctionRef<bool()> read_item) {
  if (!Expect(start, absl::StrCat("to begin ", what))) return false;
  if (lexer_.kind() != end) {
    do {
      if (!read_item()) return false;
    } while (lexer_.Match(Kind::kComma));
  }
  return Expect(end, absl::StrCat("to end ", what));
}

bool ShapeReader::ReadInt(int64_t* value) {
  const Token& token = lexer_.token();
  if (token.kind != Kind::kInt) return ErrorHere(absl::StrCat("expects integer, got ", QuoteToken(lexer_)));
  if (token.wrapped) {
    ErrorHere(absl::StrCat(lexer_.token_text(), " does not fit in a signed 64-bit integer; XLA reads it as ",
                           token.int_value));
  }
  *value = token.int_value;
  lexer_.Next();
  return true;
}

bool ShapeReader::ReadPrimitiveType(PrimitiveType* type) {
  constexpr absl::string_view kWhat = "an element type such as f32";
  if (lexer_.kind() != Kind::kIdent) return ErrorExpected(kWhat);
  absl::StatusOr<PrimitiveType> read = primitive_util::StringToPrimitiveType(lexer_.token_text());
  // `tuple` and `buffer` are no type names in shape text.
  if (!read.ok() || *read == TUPLE || *read == BUFFER) return ErrorExpected(kWhat);
  *type = *read;
  lexer_.Next();
  return true;
}

// Tuples are kept on a stack of our own: `(` pushes, `)` pops.
std::optional<Shape> ShapeReader::ReadShape() {
  struct OpenTuple {
    size_t begin;
    std::vector<Shape> elements;
  };
  std::vector<OpenTuple> open;
  while (true) {
    size_t begin = lexer_.token().begin;
    std::optional<Shape> shape;
    if (lexer_.Match(Kind::kLeftParen)) {
      if (open.size() == kMaxTupleDepth) {
        Error(begin, begin + 1, absl::StrCat("tuples nest more than ", kMaxTupleDepth, " deep"));
        return std::nullopt;
      }
      open.push_back({begin, {}});
      if (lexer_.kind() != Kind::kRightParen) continue;
    } else {
      shape = ReadNonTuple();
      if (!shape.has_value()) return std::nullopt;
    }
    // A shape is complete, or a tuple that is still empty stands before its `)`.
    while (true) {
      if (shape.has_value()) {
        if (open.empty()) {
          CheckArray(*shape, begin, lexer_.previous_end());
          return shape;
        }
        if (!CheckTupleElement(*shape, begin, lexer_.previous_end())) return std::nullopt;
        open.back().elements.push_back(std::move(*shape));
        shape.reset();
        if (lexer_.Match(Kind::kComma)) break;
      }
      if (!Expect(Kind::kRightParen, "to end the tuple")) return std::nullopt;
      begin = open.back().begin;
      shape = Shape(std::move(open.back().elements));
      open.pop_back();
    }
  }
}

std::optional<Shape> ShapeReader::ReadNonTuple() {
  Shape shape;
  if (!lexer_.AtIdent("b") || lexer_.LookAhead().kind != Kind::kLeftParen) {
    if (!ReadArray(&shape)) return std::nullopt;
    return shape;
  }
  lexer_.Next();
  lexer_.Next();
  const size_t begin = lexer_.token().begin;
  if (lexer_.kind() == Kind::kLeftParen || lexer_.AtIdent("b")) {
    ErrorExpected("an array shape in a buffer");
    return std::nullopt;
  }
  if (!ReadArray(&shape)) return std::nullopt;
  if (!shape.IsArray()) {
    Error(begin, lexer_.previous_end(), "a buffer holds an array");
    return std::nullopt;
  }
  if (!Expect(Kind::kRightParen, "to end the buffer shape")) return std::nullopt;
  Shape buffer(BUFFER);
  *buffer.mutable_buffer_shape() = std::move(shape);
  return buffer;
}

bool ShapeReader::ReadArray(Shape* shape) {
  PrimitiveType type = PRIMITIVE_TYPE_INVALID;
  DimensionVector sizes;
  std::vector<bool> dynamic;
  if (!ReadPrimitiveType(&type)) return false;
  const size_t begin = lexer_.token().begin;
  if (!ReadDimensions(&sizes, &dynamic)) return false;
  if (!MakeArray(type, begin, sizes, dynamic, shape)) return false;
  return !AtLayout() || ReadLayoutOf(shape);
}

bool ShapeReader::ReadDimensions(DimensionVector* sizes, std::vector<bool>* dynamic) {
  return ReadList(Kind::kLeftSquare, Kind::kRightSquare, "the dimensions", [&] {
    int64_t size = Shape::kUnboundedSize;
    bool is_dynamic = true;
    const size_t begin = lexer_.token().begin;
    if (!lexer_.Match(Kind::kQuestion)) {
      is_dynamic = lexer_.Match(Kind::kLessEqual);
      const size_t end = lexer_.token().end;
      if (!ReadInt(&size)) return false;
      if (!Shape::IsValidDimensionSize(size, is_dynamic)) {
        return Error(begin, end, absl::StrCat("a dimension must have a size of 0 or more, got ", size));
      }
      if (size == Shape::kUnboundedSize) {
        Error(begin, end, "this bound is the number that marks an unbounded dimension; write `?`");
      }
    }
    sizes->push_back(size);
    dynamic->push_back(is_dynamic);
    return true;
  });
}

bool ShapeReader::MakeArray(PrimitiveType type, size_t begin, const DimensionVector& sizes,
                            const std::vector<bool>& dynamic, Shape* shape) {
  if (!primitive_util::IsArrayType(type)) {
    const std::string& name = primitive_util::LowercasePrimitiveTypeName(type);
    if (!sizes.empty()) return Error(begin, lexer_.previous_end(), absl::StrCat(name, " shapes have no dimensions"));
    if (AtLayout()) return ErrorHere(absl::StrCat(name, " shapes have no layout"));
    *shape = Shape(type);
    return true;
  }
  *shape = Shape(type, {});
  for (size_t i = 0; i < sizes.size(); ++i) shape->add_dimensions(sizes[i], dynamic[i]);
  if (options_.fill_missing_layouts || sizes.empty()) {
    *shape->mutable_layout() = LayoutUtil::MakeDescendingLayout(static_cast<int64_t>(sizes.size()));
  }
  return true;
}

// `{` begins a layout only before an integer or `:`. Any other `{` belongs to the text around the shape.
bool ShapeReader::AtLayout() const {
  if (lexer_.kind() != Kind::kLeftBrace) return false;
  const Kind next = lexer_.LookAhead().kind;
  return next == Kind::kInt || next == Kind::kColon;
}

bool ShapeReader::ReadLayoutOf(Shape* shape) {
  const size_t begin = lexer_.token().begin;
  std::optional<Layout> layout = ReadLayout();
  if (!layout.has_value()) return false;
  if (layout->minor_to_major_size() != shape->dimensions_size()) {
    return Error(begin, lexer_.previous_end(),
                 absl::StrCat("Dimensions size is ", shape->dimensions_size(), ", but minor to major size is ",
                              layout->minor_to_major_size(), "."));
  }
  *shape->mutable_layout() = *std::move(layout);
  return true;
}

// XLA validates a tuple as a whole when it closes; its tuples have been validated when they closed.
bool ShapeReader::CheckTupleElement(const Shape& element, size_t begin, size_t end) {
  if (element.IsTuple()) return true;
  absl::Status status = ShapeUtil::ValidateShapeWithOptionalLayout(element);
  return status.ok() || Error(begin, end, absl::StrCat("invalid tuple element: ", status.message()));
}

// XLA does not validate an array that stands alone.
void ShapeReader::CheckArray(const Shape& shape, size_t begin, size_t end) {
  if (!shape.IsArray()) return;
  absl::Status status = ShapeUtil::ValidateShapeWithOptionalLayout(shape);
  if (!status.ok()) Error(begin, end, absl::StrCat("XLA parses this shape, but refuses to use it: ", status.message()));
}

std::optional<Layout> ShapeReader::ReadLayout() {
  LayoutFields fields;
  if (!Expect(Kind::kLeftBrace, "to begin a layout")) return std::nullopt;
  if (lexer_.kind() == Kind::kInt) {
    do {
      if (!ReadInt(&fields.minor_to_major.emplace_back())) return std::nullopt;
    } while (lexer_.Match(Kind::kComma));
  }
  if (lexer_.Match(Kind::kColon) && !ReadLayoutAttributes(&fields)) return std::nullopt;
  if (!Expect(Kind::kRightBrace, "to end the layout") || fatal_) return std::nullopt;
  return LayoutUtil::MakeLayout(fields.minor_to_major, fields.tiles, fields.tail_padding, fields.index_type,
                                fields.pointer_type, fields.element_size, fields.memory_space, fields.split_configs,
                                /*physical_shape=*/std::nullopt, fields.metadata_prefix);
}

// Returns false only where XLA's reader ends the layout too. Results of attribute readers do not count: see the top.
bool ShapeReader::ReadLayoutAttributes(LayoutFields* fields) {
  const auto match_letter = [&](absl::string_view letter) {
    if (!lexer_.AtIdent(letter)) return false;
    lexer_.Next();
    return true;
  };
  if (const Token token = lexer_.token(); match_letter("D")) {
    ReadDimLevelTypes();
    Error(token.begin, token.end, "dimension level types (D) are an obsolete encoding; XLA ignores them");
  }
  if (match_letter("T")) ReadTiles(&fields->tiles);
  if (match_letter("L")) {
    const Token value = lexer_.LookAhead();
    ReadIntAttribute("the tail padding alignment", &fields->tail_padding);
    if (fields->tail_padding < 1) {
      FatalError(value, absl::StrCat("tail padding alignment must be at least 1, got ", fields->tail_padding));
    }
  }
  if (lexer_.Match(Kind::kHash)) ReadSparseType(&fields->index_type);
  if (lexer_.Match(Kind::kStar)) ReadSparseType(&fields->pointer_type);
  if (match_letter("E")) ReadIntAttribute("the element size", &fields->element_size);
  if (match_letter("S")) {
    const Token value = lexer_.LookAhead();
    ReadIntAttribute("the memory space", &fields->memory_space);
    const int64_t read = Layout().set_memory_space(fields->memory_space).memory_space();
    if (read != fields->memory_space) {
      Error(value.begin, value.end,
            absl::StrCat("memory space ", fields->memory_space, " does not fit in 8 bits; XLA reads it as ", read));
    }
  }
  if (match_letter("SC")) ReadSplitConfigs(&fields->split_configs);
  if (lexer_.AtIdent("P")) return ErrorHere("layout has a physical_shape, but is not a sparse array");
  if (match_letter("M")) {
    const Token value = lexer_.LookAhead();
    ReadIntAttribute("the metadata prefix", &fields->metadata_prefix);
    if (fields->metadata_prefix < 0) Error(value.begin, value.end, "XLA ignores a negative metadata prefix");
  }
  return true;
}

bool ShapeReader::ReadDimLevelTypes() {
  return ReadList(Kind::kLeftParen, Kind::kRightParen, "the dimension level types", [&] {
    if (!lexer_.AtIdent("D") && !lexer_.AtIdent("C") && !lexer_.AtIdent("S") && !lexer_.AtIdent("H")) {
      return ErrorExpected("a dimension level type (D, C, S or H)");
    }
    lexer_.Next();
    lexer_.Match(Kind::kPlus);
    lexer_.Match(Kind::kTilde);
    return true;
  });
}

bool ShapeReader::ReadTiles(std::vector<Tile>* tiles) {
  do {
    tiles->emplace_back();
    Tile* tile = &tiles->back();
    Token last;
    const bool complete = ReadList(Kind::kLeftParen, Kind::kRightParen, "a tile", [&] {
      last = lexer_.token();
      return ReadTileDimension(tile);
    });
    if (!complete) return false;
    if (!tile->dimensions().empty() && tile->dimensions().back() == Tile::kCombineDimension) {
      Error(last.begin, last.end,
            "the last entry of a tile is `*`, but there is no more minor dimension to merge with");
    }
  } while (lexer_.kind() == Kind::kLeftParen);
  return true;
}

bool ShapeReader::ReadTileDimension(Tile* tile) {
  const Token token = lexer_.token();
  int64_t size = Tile::kCombineDimension;
  if (!lexer_.Match(Kind::kStar) && !ReadInt(&size)) return false;
  if (size < 0 && size != Tile::kCombineDimension) {
    FatalError(token, absl::StrCat("tile dimension must be positive or `*`, got ", size));
  }
  tile->add_dimensions(size);
  return true;
}

bool ShapeReader::ReadIntAttribute(absl::string_view what, int64_t* value) {
  return Expect(Kind::kLeftParen, absl::StrCat("before ", what)) && ReadInt(value) &&
         Expect(Kind::kRightParen, absl::StrCat("behind ", what));
}

// Here XLA goes on even within the attribute: each of the three parts may be missing.
bool ShapeReader::ReadSparseType(PrimitiveType* type) {
  bool complete = Expect(Kind::kLeftParen, "before the type");
  complete = ReadPrimitiveType(type) && complete;
  return Expect(Kind::kRightParen, "after the type") && complete;
}

bool ShapeReader::ReadSplitConfigs(std::vector<SplitConfig>* configs) {
  do {
    int64_t dimension = 0;
    if (!Expect(Kind::kLeftParen, "to begin a split config") || !ReadInt(&dimension)) return false;
    configs->push_back(SplitConfig(dimension, {}));
    const bool complete = ReadList(Kind::kColon, Kind::kRightParen, "the split indices", [&] {
      int64_t index = 0;
      if (!ReadInt(&index)) return false;
      configs->back().add_split_indices(index);
      return true;
    });
    if (!complete) return false;
  } while (lexer_.kind() == Kind::kLeftParen);
  return true;
}

// "(" [name shape {"," name shape}] ")" "->" shape
std::optional<ProgramShape> ShapeReader::ReadProgramShape() {
  ProgramShape program;
  const bool complete = ReadList(Kind::kLeftParen, Kind::kRightParen, "the parameters", [&] {
    std::string name;
    if (lexer_.Match(Kind::kLeftParen)) {
      if (!lexer_.AtIdent("unknown")) return ErrorExpected("`(unknown):` or a parameter's name");
      lexer_.Next();
      if (!Expect(Kind::kRightParen, "behind `unknown`") || !Expect(Kind::kColon, "behind `(unknown)`")) return false;
    } else if (lexer_.kind() == Kind::kName) {
      name = std::string(absl::StripSuffix(lexer_.token_text(), ":"));
      lexer_.Next();
    } else {
      return ErrorExpected("a parameter's name and `:`");
    }
    std::optional<Shape> shape = ReadShape();
    if (!shape.has_value()) return false;
    program.AddParameter(*std::move(shape), std::move(name));
    return true;
  });
  if (!complete || !Expect(Kind::kArrow, "before the result")) return std::nullopt;
  std::optional<Shape> result = ReadShape();
  if (!result.has_value()) return std::nullopt;
  *program.mutable_result() = *std::move(result);
  return program;
}

// Reads the whole of `text` with one of ShapeReader's readers.
template <typename T>
absl::StatusOr<T> ReadAll(absl::string_view text, const ShapeParserOptions& options,
                          std::vector<Diagnostic>* diagnostics, std::optional<T> (ShapeReader::*read)(),
                          absl::string_view what) {
  Lexer lexer(text);
  std::vector<Diagnostic> found;
  ShapeReader reader(&lexer, options, &found);
  std::optional<T> result = (reader.*read)();
  if (result.has_value() && !reader.ExpectEnd(what)) result.reset();
  result = reader.Finish(std::move(result));
  absl::Status status;
  if (!result.has_value()) status = DiagnosticsToStatus({options.source_name, text, options.first_line}, found);
  if (diagnostics != nullptr) {
    diagnostics->insert(diagnostics->end(), std::make_move_iterator(found.begin()),
                        std::make_move_iterator(found.end()));
  }
  if (!result.has_value()) return status;
  return *std::move(result);
}

}  // namespace

absl::StatusOr<Shape> ParseShape(absl::string_view text, const ShapeParserOptions& options,
                                 std::vector<Diagnostic>* diagnostics) {
  return ReadAll<Shape>(text, options, diagnostics, &ShapeReader::ReadShape, "shape");
}

absl::StatusOr<Shape> ParseShape(absl::string_view text) { return ParseShape(text, ShapeParserOptions()); }

absl::StatusOr<Layout> ParseLayout(absl::string_view text) {
  ShapeParserOptions options;
  options.source_name = "layout";
  return ReadAll<Layout>(text, options, nullptr, &ShapeReader::ReadLayout, "layout");
}

absl::StatusOr<ProgramShape> ParseProgramShape(absl::string_view text) {
  ShapeParserOptions options;
  options.source_name = "program shape";
  return ReadAll<ProgramShape>(text, options, nullptr, &ShapeReader::ReadProgramShape, "program shape");
}

std::optional<Shape> ParseShapePrefix(Lexer* lexer, const ShapeParserOptions& options,
                                      std::vector<Diagnostic>* diagnostics) {
  ShapeReader reader(lexer, options, diagnostics);
  return reader.Finish(reader.ReadShape());
}

}  // namespace kashi
