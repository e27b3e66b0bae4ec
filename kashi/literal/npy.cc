#include "kashi/literal/npy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/lexer.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"

namespace kashi {

using array::Lexer;
using array::QuoteToken;
using array::Token;
using array::UnescapeString;
using base::Count;
namespace {

using Kind = array::Token::Kind;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "Elements are written in the byte order of this machine.");

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;
constexpr int kMaxRank = 64;  // NumPy's
// The longest header of version 1; longer headers of later versions could only add padding.
constexpr int64_t kMostHeaderBytes = kMagicSize + 4 + 0xffff;

// The dtype's kind (b i u f c V) and bytes, and whether elements are to be reversed: '>f4' is {'f', 4, true}.
struct Dtype {
  char kind = 0;
  int64_t bytes = 0;
  bool big_endian = false;
  std::string name;  // of ml_dtypes, such as bfloat16, if it is one; then the rest is not set
};

struct Header {
  Dtype dtype;
  bool fortran_order = false;
  DimensionVector sizes;
};

// ---------------------------------------------------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------------------------------------------------

// The dtype's kind for elements of this type; V where NumPy has none.
char DtypeKind(PrimitiveType type) {
  switch (GetPrimitiveTypeInfo(type).type_class) {
    case PrimitiveClass::kPred:
      return 'b';
    case PrimitiveClass::kSigned:
      return primitive_util::BitWidth(type) >= 8 ? 'i' : 'V';
    case PrimitiveClass::kUnsigned:
      return primitive_util::BitWidth(type) >= 8 ? 'u' : 'V';
    case PrimitiveClass::kFloat:
      return type == F16 || type == F32 || type == F64 ? 'f' : 'V';
    case PrimitiveClass::kComplex:
      return 'c';
    case PrimitiveClass::kInvalid:
    case PrimitiveClass::kNonArray:
      return 0;
  }
  return 0;
}

// bf16 is bfloat16, f8e4m3fn float8_e4m3fn, s4 int4, u4 uint4.
std::string MlDtypesName(PrimitiveType type) {
  const PrimitiveTypeInfo& info = GetPrimitiveTypeInfo(type);
  absl::string_view text = info.text;
  if (type == BF16) return "bfloat16";
  if (info.type_class == PrimitiveClass::kSigned) return absl::StrCat("int", info.bits);
  if (info.type_class == PrimitiveClass::kUnsigned) return absl::StrCat("uint", info.bits);
  return absl::StrCat("float", text.substr(1, 1), "_", text.substr(2));
}

std::string DtypeText(const Dtype& dtype) {
  return dtype.name.empty() ? absl::StrCat(dtype.big_endian ? ">" : "", std::string(1, dtype.kind), dtype.bytes)
                            : dtype.name;
}

// The type that a dtype means by itself.
absl::StatusOr<PrimitiveType> TypeOf(const Dtype& dtype) {
  PrimitiveType result = PRIMITIVE_TYPE_INVALID;
  primitive_util::ArrayTypeForEach([&](auto type) {
    const char kind = DtypeKind(type);
    const bool same_layout = kind == dtype.kind && primitive_util::ByteWidth(type) == dtype.bytes;
    if (kind == 'V' ? dtype.name == MlDtypesName(type) : dtype.name.empty() && same_layout) result = type;
  });
  if (result != PRIMITIVE_TYPE_INVALID) return result;
  if (dtype.kind == 'V')
    return InvalidArgument(".npy: dtype %s matches several element types; give the type", DtypeText(dtype));
  return InvalidArgument(".npy: dtype %s has no element type", DtypeText(dtype));
}

// XLA's name of the type, or the file's name if XLA has none.
std::string HeldTypeText(const Dtype& dtype) {
  const absl::StatusOr<PrimitiveType> type = TypeOf(dtype);
  return type.ok() ? primitive_util::LowercasePrimitiveTypeName(*type) : DtypeText(dtype);
}

// Whether a file of this dtype can be read as elements of `type`.
bool Fits(const Dtype& dtype, PrimitiveType type) {
  const char kind = DtypeKind(type);
  if (!dtype.name.empty()) return kind == 'V' && dtype.name == MlDtypesName(type);
  if (dtype.bytes != primitive_util::ByteWidth(type)) return false;
  const bool is_raw = dtype.kind == 'V' || dtype.kind == 'u';
  return dtype.kind == kind || ((kind == 'V' || kind == 'b') && is_raw);
}

// ---------------------------------------------------------------------------------------------------------------------
// The header
// ---------------------------------------------------------------------------------------------------------------------

// A Python dictionary has the tokens of our other texts: strings, integers, identifiers, marks.
class HeaderReader {
 public:
  explicit HeaderReader(absl::string_view text) : lexer_(text) {}

  absl::StatusOr<Header> Read() {
    if (!lexer_.Match(Kind::kLeftBrace)) return Expected("`{`");
    while (!lexer_.Match(Kind::kRightBrace)) {
      KASHI_ASSIGN_OR_RETURN(const std::string key, ReadString());
      if (!lexer_.Match(Kind::kColon)) return Expected("`:`");
      KASHI_RETURN_IF_ERROR(ReadValue(key));
      if (!lexer_.Match(Kind::kComma) && lexer_.kind() != Kind::kRightBrace) return Expected("`,` or `}`");
    }
    if (lexer_.kind() != Kind::kEnd) return Expected("end of text");
    if (!has_descr_ || !has_order_ || !has_shape_) {
      return InvalidArgument(".npy header needs 'descr', 'fortran_order' and 'shape'");
    }
    return header_;
  }

 private:
  absl::Status Expected(absl::string_view what) {
    return InvalidArgument(".npy header, byte %d: expected %s, got %s", lexer_.token().begin, what, QuoteToken(lexer_));
  }

  absl::StatusOr<std::string> ReadString() {
    std::optional<std::string> text;
    if (lexer_.kind() == Kind::kString) text = UnescapeString(lexer_.token_text());
    if (!text.has_value()) return Expected("a string");
    lexer_.Next();
    return *text;
  }

  absl::Status ReadValue(const std::string& key) {
    if (key == "descr" && !has_descr_) {
      has_descr_ = true;
      return ReadDtype();
    }
    if (key == "fortran_order" && !has_order_) {
      has_order_ = true;
      header_.fortran_order = lexer_.AtIdent("True");
      if (!lexer_.AtIdent("True") && !lexer_.AtIdent("False")) return Expected("True or False");
      lexer_.Next();
      return absl::OkStatus();
    }
    if (key == "shape" && !has_shape_) {
      has_shape_ = true;
      return ReadSizes();
    }
    return InvalidArgument(".npy header has an unknown or repeated key");
  }

  // '<f4', '|b1', '>i2', '<V2', 'f4', 'bfloat16'.
  absl::Status ReadDtype() {
    KASHI_ASSIGN_OR_RETURN(const std::string text, ReadString());
    absl::string_view rest = text;
    Dtype& dtype = header_.dtype;
    dtype.big_endian = absl::ConsumePrefix(&rest, ">");
    if (!dtype.big_endian && !rest.empty() && (rest[0] == '<' || rest[0] == '|' || rest[0] == '='))
      rest.remove_prefix(1);
    if (rest.size() < 2 || !absl::ascii_isalpha(rest[0]))
      return InvalidArgument(".npy: the dtype is not that of an array of numbers");
    if (absl::SimpleAtoi(rest.substr(1), &dtype.bytes)) {
      dtype.kind = rest[0];
      if (dtype.bytes > 0 && dtype.bytes <= 16) return absl::OkStatus();
      return InvalidArgument(".npy: an element cannot have %s", Count(dtype.bytes, "byte"));
    }
    for (char c : rest) {
      if (!absl::ascii_isalnum(c) && c != '_')
        return InvalidArgument(".npy: the dtype is not that of an array of numbers");
    }
    dtype.name = std::string(rest.substr(0, 40));
    return absl::OkStatus();
  }

  // (), (3,), (2, 3); Python 2 wrote (3L,).
  absl::Status ReadSizes() {
    if (!lexer_.Match(Kind::kLeftParen)) return Expected("`(`");
    while (!lexer_.Match(Kind::kRightParen)) {
      const Token& token = lexer_.token();
      if (token.kind != Kind::kInt || token.int_value < 0) return Expected("a size");
      if (header_.sizes.size() == kMaxRank) return InvalidArgument(".npy: more than %d dimensions", kMaxRank);
      header_.sizes.push_back(token.int_value);
      lexer_.Next();
      if (lexer_.AtIdent("L")) lexer_.Next();
      if (!lexer_.Match(Kind::kComma) && lexer_.kind() != Kind::kRightParen) return Expected("`,` or `)`");
    }
    return absl::OkStatus();
  }

  Lexer lexer_;
  Header header_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

// Splits a file into the header's text and the elements' bytes.
absl::Status SplitFile(absl::string_view bytes, absl::string_view* header, absl::string_view* elements) {
  if (!absl::ConsumePrefix(&bytes, absl::string_view(kMagic, kMagicSize))) return InvalidArgument("not an .npy file");
  const int major = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
  if (major < 1 || major > 3) return InvalidArgument(".npy: unknown version %d; versions 1 to 3 are known", major);
  const size_t length_at = 2;
  const size_t length_size = major == 1 ? 2 : 4;
  if (bytes.size() < length_at + length_size) return InvalidArgument(".npy: the file ends within its header");
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + length_at, length_size);
  bytes.remove_prefix(length_at + length_size);
  if (length > bytes.size()) {
    return InvalidArgument(".npy: the header should have %s, but the file ends after %d", Count(length, "byte"),
                           bytes.size());
  }
  *header = bytes.substr(0, length);
  *elements = bytes.substr(length);
  return absl::OkStatus();
}

// Checks that the number of bytes is exactly that of the sizes. If a size is 0, it is 0 for any other sizes.
absl::Status CheckSizes(const Header& header, int64_t width, size_t bytes) {
  const bool is_empty = std::find(header.sizes.begin(), header.sizes.end(), 0) != header.sizes.end();
  std::optional<int64_t> wanted = is_empty ? 0 : width;
  for (int64_t size : header.sizes) {
    if (wanted.has_value()) wanted = CheckedMultiply(*wanted, size);
  }
  if (wanted == static_cast<int64_t>(bytes)) return absl::OkStatus();
  return InvalidArgument(".npy: sizes (%s) with elements of %s, but the file has %s of elements",
                         absl::StrJoin(header.sizes, ","), Count(width, "byte"),
                         Count(static_cast<int64_t>(bytes), "byte"));
}

// ---------------------------------------------------------------------------------------------------------------------
// The elements
// ---------------------------------------------------------------------------------------------------------------------

// Complex numbers are two parts of half the width.
void ReverseBytes(char* data, size_t size, int64_t width, bool is_complex) {
  const int64_t part = is_complex ? width / 2 : width;
  for (size_t at = 0; at + part <= size; at += part) std::reverse(data + at, data + at + part);
}

// Clears bits above those of the type, which could be anything; a bool becomes 0 or 1.
template <typename T>
void CleanElements(absl::Span<T> elements) {
  for (T& element : elements) {
    if constexpr (std::is_same_v<T, bool>) {
      const unsigned char byte = *reinterpret_cast<const unsigned char*>(&element);
      element = byte != 0;
    } else if constexpr (is_intN_v<T>) {
      element = T(*reinterpret_cast<const unsigned char*>(&element));
    } else {
      element = T::FromRep(*reinterpret_cast<const unsigned char*>(&element));
    }
  }
}

void CleanElements(Literal* literal) {
  primitive_util::ArrayTypeSwitch(
      [&](auto type) {
        if constexpr (type == PRED || primitive_util::IsSubByteNonPredType(type)) {
          CleanElements(literal->data<primitive_util::NativeTypeOf<type>>());
        }
      },
      literal->shape().element_type());
}

Layout FileLayout(size_t rank, bool fortran_order) {
  if (!fortran_order) return LayoutUtil::GetDefaultLayoutForRank(static_cast<int64_t>(rank));
  DimensionVector minor_to_major(rank);
  for (size_t i = 0; i < rank; ++i) minor_to_major[i] = static_cast<int64_t>(i);
  return LayoutUtil::MakeLayout(minor_to_major);
}

bool LiesAs(const Shape& shape, bool fortran_order) {
  const Layout layout = FileLayout(shape.dimensions().size(), fortran_order);
  return Layout::Equal().MinorToMajorOnly()(shape.layout(), layout);
}

absl::StatusOr<PrimitiveType> ElementType(const Header& header, const std::optional<Shape>& expected) {
  if (!expected.has_value()) return TypeOf(header.dtype);
  if (!expected->IsArrayExcludingBuffer() || expected->is_dynamic()) {
    return InvalidArgument(".npy holds a static array, not %s", expected->ToString());
  }
  if (!Fits(header.dtype, expected->element_type()) ||
      !std::equal(header.sizes.begin(), header.sizes.end(), expected->dimensions().begin(),
                  expected->dimensions().end())) {
    return InvalidArgument(".npy holds %s[%s], not %s", HeldTypeText(header.dtype), absl::StrJoin(header.sizes, ","),
                           expected->ToString());
  }
  return expected->element_type();
}

// The beginning of a file; `missing_bytes` follow it. `bytes` are the elements in the beginning.
absl::StatusOr<NpyElements> FindElements(absl::string_view beginning, int64_t missing_bytes,
                                         const std::optional<Shape>& expected) {
  absl::string_view header_text;
  NpyElements elements;
  KASHI_RETURN_IF_ERROR(SplitFile(beginning, &header_text, &elements.bytes));
  KASHI_ASSIGN_OR_RETURN(const Header header, HeaderReader(header_text).Read());
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, ElementType(header, expected));
  KASHI_RETURN_IF_ERROR(CheckSizes(header, primitive_util::ByteWidth(type), elements.bytes.size() + missing_bytes));
  elements.shape = Shape(type, header.sizes);
  *elements.shape.mutable_layout() = FileLayout(header.sizes.size(), header.fortran_order);
  elements.is_big_endian = header.dtype.big_endian && header.dtype.bytes > 1;
  return elements;
}

// The literal that has a file's elements as they lie there, as ReadNpy gives it.
absl::StatusOr<Literal> Finish(Literal literal, bool is_big_endian, const std::optional<Shape>& expected) {
  const PrimitiveType type = literal.shape().element_type();
  if (is_big_endian) {
    ReverseBytes(static_cast<char*>(literal.untyped_data()), static_cast<size_t>(literal.size_bytes()),
                 primitive_util::ByteWidth(type), primitive_util::IsComplexType(type));
  }
  CleanElements(&literal);
  if (!expected.has_value() || !expected->has_layout() || expected->layout() == literal.shape().layout()) {
    return literal;
  }
  KASHI_RETURN_IF_ERROR(LayoutUtil::ValidateLayoutForShape(expected->layout(), *expected));
  return literal.Relayout(expected->layout());
}

absl::Status CheckBox(const Shape& whole, absl::Span<const int64_t> starts, absl::Span<const int64_t> sizes) {
  const auto fits = [&](size_t i) {
    const int64_t size = whole.dimensions(static_cast<int>(i));
    return starts[i] >= 0 && sizes[i] >= 0 && starts[i] <= size && sizes[i] <= size - starts[i];
  };
  bool is_inside = starts.size() == whole.dimensions().size() && sizes.size() == starts.size();
  for (size_t i = 0; is_inside && i < starts.size(); ++i) is_inside = fits(i);
  if (is_inside) return absl::OkStatus();
  return InvalidArgument("[%s] elements from [%s] on are not within %s", absl::StrJoin(sizes, ","),
                         absl::StrJoin(starts, ","), whole.ToString());
}

// Calls `visit` with the place of each run of neighbours of a box, in elements, in the order of the box. `dims`: the
// dimensions from the minor one on. Stops at an error.
template <typename Visit>
absl::Status ForEachRun(const Shape& whole, absl::Span<const int64_t> starts, absl::Span<const int64_t> sizes,
                        absl::Span<const int64_t> dims, Visit visit) {
  int64_t run = 1;
  size_t inner = 0;  // dimensions within a run: all of the array's, and then one that is a part of it
  for (bool is_whole = true; inner < dims.size() && is_whole; ++inner) {
    is_whole = sizes[dims[inner]] == whole.dimensions(static_cast<int>(dims[inner]));
    run *= sizes[dims[inner]];
  }
  DimensionVector index(dims.size(), 0);
  while (true) {
    int64_t place = 0;
    for (size_t i = dims.size(); i-- > 0;) {
      place = place * whole.dimensions(static_cast<int>(dims[i])) + starts[dims[i]] + index[i];
    }
    KASHI_RETURN_IF_ERROR(visit(place, run));
    size_t i = inner;
    while (i < dims.size() && ++index[i] == sizes[dims[i]]) index[i++] = 0;
    if (i == dims.size()) return absl::OkStatus();
  }
}

}  // namespace

absl::StatusOr<Literal> ReadNpyPart(int64_t file_bytes, NpyPlaces read_at, const Shape& whole,
                                    absl::Span<const int64_t> starts, absl::Span<const int64_t> sizes) {
  std::string beginning(static_cast<size_t>(std::min(file_bytes, kMostHeaderBytes)), '\0');
  KASHI_RETURN_IF_ERROR(read_at(0, beginning.data(), static_cast<int64_t>(beginning.size())));
  const int64_t missing_bytes = file_bytes - static_cast<int64_t>(beginning.size());
  KASHI_ASSIGN_OR_RETURN(const NpyElements elements, FindElements(beginning, missing_bytes, whole));
  KASHI_RETURN_IF_ERROR(CheckBox(elements.shape, starts, sizes));
  Shape shape = elements.shape;
  for (size_t i = 0; i < sizes.size(); ++i) shape.set_dimensions(static_cast<int>(i), sizes[i]);
  KASHI_ASSIGN_OR_RETURN(Literal part, Literal::Make(shape));
  if (part.size_bytes() == 0) return part;
  const int64_t header = static_cast<int64_t>(beginning.size() - elements.bytes.size());
  const int64_t width = primitive_util::ByteWidth(shape.element_type());
  char* to = static_cast<char*>(part.untyped_data());
  KASHI_RETURN_IF_ERROR(
      ForEachRun(elements.shape, starts, sizes, shape.layout().minor_to_major(), [&](int64_t place, int64_t count) {
        char* const here = to;
        to += count * width;
        return read_at(header + place * width, here, count * width);
      }));
  return Finish(std::move(part), elements.is_big_endian, std::nullopt);
}

absl::StatusOr<NpyElements> FindNpyElements(absl::string_view bytes, const std::optional<Shape>& expected) {
  return FindElements(bytes, /*missing_bytes=*/0, expected);
}

absl::StatusOr<Literal> ReadNpy(absl::string_view bytes, const std::optional<Shape>& expected) {
  KASHI_ASSIGN_OR_RETURN(const NpyElements elements, FindNpyElements(bytes, expected));
  KASHI_ASSIGN_OR_RETURN(Literal literal, Literal::Make(elements.shape));
  if (elements.bytes.empty()) return literal;
  std::memcpy(literal.untyped_data(), elements.bytes.data(), elements.bytes.size());
  return Finish(std::move(literal), elements.is_big_endian, expected);
}

absl::StatusOr<Literal> ReadNpy(int64_t file_bytes, NpySource read, const std::optional<Shape>& expected) {
  std::string beginning(static_cast<size_t>(std::min(file_bytes, kMostHeaderBytes)), '\0');
  KASHI_RETURN_IF_ERROR(read(beginning.data(), static_cast<int64_t>(beginning.size())));
  const int64_t missing_bytes = file_bytes - static_cast<int64_t>(beginning.size());
  KASHI_ASSIGN_OR_RETURN(const NpyElements elements, FindElements(beginning, missing_bytes, expected));
  KASHI_ASSIGN_OR_RETURN(Literal literal, Literal::Make(elements.shape));
  if (literal.size_bytes() == 0) return literal;
  char* const data = static_cast<char*>(literal.untyped_data());
  std::copy(elements.bytes.begin(), elements.bytes.end(), data);
  KASHI_RETURN_IF_ERROR(read(data + elements.bytes.size(), missing_bytes));
  return Finish(std::move(literal), elements.is_big_endian, expected);
}

absl::StatusOr<DimensionVector> ReadNpySizes(absl::string_view bytes) {
  absl::string_view header_text;
  absl::string_view elements;
  KASHI_RETURN_IF_ERROR(SplitFile(bytes, &header_text, &elements));
  KASHI_ASSIGN_OR_RETURN(Header header, HeaderReader(header_text).Read());
  return std::move(header.sizes);
}

absl::Status WriteNpyHeader(const Shape& shape, std::string* bytes) {
  if (!shape.IsArrayExcludingBuffer() || shape.is_dynamic()) {
    return InvalidArgument(".npy holds a static array, not %s", shape.ToString());
  }
  const size_t rank = shape.dimensions().size();
  if (rank > kMaxRank) return InvalidArgument(".npy holds arrays of at most %d dimensions, not %d", kMaxRank, rank);
  const bool fortran_order = rank > 1 && LiesAs(shape, /*fortran_order=*/true);
  if (!fortran_order && !LiesAs(shape, /*fortran_order=*/false)) {
    return InvalidArgument(".npy is row-major or column-major, but %s is not", shape.ToString(true));
  }
  // NumPy ends headers at a multiple of 64 and leaves room for the first size (in fortran_order: the last) to grow.
  const char kind = DtypeKind(shape.element_type());
  const int64_t width = primitive_util::ByteWidth(shape.element_type());
  const absl::string_view order = width == 1 && kind != 'V' ? "|" : "<";
  std::string header = absl::StrCat("{'descr': '", order, std::string(1, kind), width,
                                    "', 'fortran_order': ", fortran_order ? "True" : "False", ", 'shape': (",
                                    absl::StrJoin(shape.dimensions(), ", "), rank == 1 ? ",), }" : "), }");
  constexpr size_t kPrefix = kMagicSize + 4;
  if (rank > 0) {
    const int64_t growing = fortran_order ? shape.dimensions().back() : shape.dimensions().front();
    header.append(21 - absl::StrCat(growing).size(), ' ');
  }
  header.append(RoundUpTo<size_t>(kPrefix + header.size() + 1, 64) - kPrefix - header.size() - 1, ' ');
  header.push_back('\n');
  const uint16_t length = static_cast<uint16_t>(header.size());
  bytes->assign(kMagic, kMagicSize);
  bytes->append("\x01\x00", 2);
  bytes->append(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes->append(header);
  return absl::OkStatus();
}

absl::Status WriteNpy(const LiteralSlice& literal, std::string* bytes) {
  if (!literal.shape().IsArray() || !literal.IsKnown()) {
    return InvalidArgument(".npy holds an array; %s is not an array, or is unknown", literal.shape().ToString());
  }
  const Shape& shape = literal.shape();
  if (shape.is_dynamic()) return WriteNpy(literal.ToStatic(), bytes);
  if (!LiesAs(shape, /*fortran_order=*/false) && !LiesAs(shape, /*fortran_order=*/true)) {
    return WriteNpy(literal.Relayout(FileLayout(shape.dimensions().size(), /*fortran_order=*/false)), bytes);
  }
  KASHI_RETURN_IF_ERROR(WriteNpyHeader(shape, bytes));
  if (literal.element_count() > 0) {
    bytes->append(static_cast<const char*>(literal.untyped_data()), literal.size_bytes());
  }
  return absl::OkStatus();
}

}  // namespace kashi
