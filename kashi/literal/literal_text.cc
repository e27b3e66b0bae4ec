// LiteralBase: ToString and Print in their six forms, GetAsString. (array-model.md, 8.2)
//
//   rank 1    {1, 2}      {5}    {}
//   rank 2    { { 1, 2 }, { 3, 4 } }      one line           { {5} }    { {}, {} }    {  }
//             {                           several lines: a line for each row; its two spaces are the only ones that are
//               { 1, 2 },                 before any line, for any rank
//               { 3, 4 }
//             }
//   rank > 3  braces between the outermost and the rows give the index of the element that they enclose:
//             { { /*i0=0*/ { /*i1=0*/ { 1, 2 } } } }
//
// Tuples and dimensions are walked with an explicit stack: neither depth nor rank is bounded by that of a thread.
#include "kashi/literal/literal_text.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/literal/literal_piece.h"
#include "kashi/literal/number_text.h"
#include "kashi/literal/strided_walk.h"

namespace kashi {

using literal::AppendNumber;
using literal::ArrayValueState;
using literal::ElementStrides;
using literal::kMaxNumberText;
using literal::WriteNumber;
namespace {

using literal::LiteralPiece;

struct TextForm {
  bool shapes;
  bool layouts;
  bool oneline;
};

// Collects text and hands it to a Printer in large pieces.
class TextBuffer {
 public:
  explicit TextBuffer(Printer* printer) : printer_(printer) {}
  ~TextBuffer() { Flush(); }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  void Append(absl::string_view text) {
    if (text.size() > sizeof(buffer_)) {
      Flush();
      printer_->Append(text);
      return;
    }
    char* out = Room(text.size());
    std::memcpy(out, text.data(), text.size());
    size_ += text.size();
  }
  template <typename T>
  void AppendElement(T value) {
    char* out = Room(kMaxNumberText);
    size_ += WriteNumber(value, out) - out;
  }

 private:
  char* Room(size_t size) {
    if (sizeof(buffer_) - size_ < size) Flush();
    return buffer_ + size_;
  }
  void Flush() {
    if (size_ > 0) printer_->Append(absl::string_view(buffer_, size_));
    size_ = 0;
  }

  Printer* printer_;
  size_t size_ = 0;
  char buffer_[8192];
};

template <typename T>
class ArrayPrinter {
 public:
  // `strides` and `sizes` of the elements to print, with the rank of the array.
  ArrayPrinter(const T* elements, absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides, bool oneline,
               TextBuffer* out)
      : elements_(elements), sizes_(sizes), strides_(strides), oneline_(oneline), out_(*out) {}

  void Print() {
    if (HasTooManyEmptyRows()) return out_.Append("{...}");
    if (sizes_.empty()) return PrintScalar(elements_[0]);
    if (sizes_.size() == 1) return PrintRow(elements_);
    PrintNested();
  }

 private:
  struct OpenBrace {
    const T* elements;  // where its part of the array begins
    int64_t next = 0;   // the number of the element to be printed next
  };

  // Rows without elements are printed as braces too, and an array of size 0 may have any number of them.
  bool HasTooManyEmptyRows() const {
    constexpr int64_t kMaxEmptyRows = 1 << 20;
    int64_t rows = 1;
    for (int64_t size : sizes_) {
      if (size == 0) return rows > kMaxEmptyRows;
      rows = std::min(rows * std::min(size, 2 * kMaxEmptyRows), 2 * kMaxEmptyRows);
    }
    return false;
  }

  absl::string_view line_break() const { return oneline_ ? " " : "\n"; }

  void PrintScalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      out_.Append(value ? "true" : "false");
    } else {
      out_.AppendElement(value);
    }
  }

  void PrintRow(const T* row) {
    const int64_t size = sizes_.back();
    const int64_t stride = strides_.back();
    const bool spaced = sizes_.size() > 1 && size > 1;
    out_.Append(spaced ? "{ " : "{");
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) out_.Append(", ");
      out_.AppendElement(row[i * stride]);
    }
    out_.Append(spaced ? " }" : "}");
  }

  // Prints every brace but those of the rows.
  void PrintNested() {
    const size_t row_level = sizes_.size() - 1;
    std::vector<OpenBrace> open = {{elements_}};
    PrintOpeningBrace(0, 0);
    while (!open.empty()) {
      const size_t level = open.size() - 1;
      OpenBrace& inner = open.back();
      if (inner.next == sizes_[level]) {
        out_.Append(line_break());
        out_.Append("}");
        open.pop_back();
        continue;
      }
      const int64_t i = inner.next++;
      const T* element = inner.elements + i * strides_[level];
      if (i > 0) {
        out_.Append(",");
        out_.Append(line_break());
      }
      if (level + 1 == row_level) {
        if (!oneline_) out_.Append("  ");
        PrintRow(element);
      } else {
        PrintOpeningBrace(level + 1, i);
        open.push_back({element});
      }
    }
  }

  // The brace of element `i` of the level around it; level 0 has nothing around it.
  void PrintOpeningBrace(size_t level, int64_t i) {
    out_.Append("{");
    if (sizes_.size() > 3 && level > 0) {
      out_.Append(absl::StrCat(" /*i", level - 1, "=", i, "*/"));
      if (sizes_[level] == 0) return;
    }
    out_.Append(line_break());
  }

  const T* elements_;
  absl::Span<const int64_t> sizes_;
  absl::Span<const int64_t> strides_;
  const bool oneline_;
  TextBuffer& out_;
};

std::string ShapeText(const Shape& shape, const TextForm& form) {
  return form.layouts ? ShapeUtil::HumanStringWithLayout(shape) : ShapeUtil::HumanString(shape);
}

void PrintArray(const LiteralPiece& piece, const TextForm& form, TextBuffer* out) {
  const Shape& shape = piece.subshape();
  const DimensionVector sizes = piece.current_sizes();
  if (form.shapes) {
    out->Append(ShapeText(shape, form));
    if (shape.is_dynamic()) out->Append(absl::StrCat("(", absl::StrJoin(sizes, ","), ")"));
    out->Append(" ");
  }
  const DimensionVector strides = ElementStrides(shape);
  primitive_util::ArrayTypeSwitch(
      [&](auto type) {
        using T = primitive_util::NativeTypeOf<type>;
        ArrayPrinter<T>(piece.data<T>().data(), sizes, strides, form.oneline, out).Print();
      },
      shape.element_type());
}

void PrintLeaf(const LiteralPiece& piece, const TextForm& form, TextBuffer* out) {
  using State = ArrayValueState;
  const Shape& shape = piece.subshape();
  if (shape.IsToken()) return out->Append("token");
  if (shape.IsArray() && piece.state() == State::kKnown) return PrintArray(piece, form, out);
  out->Append(ShapeText(shape, form));
  if (piece.state() == State::kUnknown) out->Append(" unknown");
  if (piece.state() == State::kUndetermined) out->Append(" undetermined");
}

void PrintTree(const LiteralPiece& root, const TextForm& form, Printer* printer) {
  struct OpenTuple {
    const LiteralPiece* piece;
    size_t next = 0;  // the number of the element to be printed next
  };
  TextBuffer out(printer);
  std::vector<OpenTuple> open;
  const auto print = [&](const LiteralPiece& piece) {
    if (!piece.subshape().IsTuple()) return PrintLeaf(piece, form, &out);
    out.Append(form.oneline ? "( " : "(\n");
    open.push_back({&piece});
  };
  print(root);
  while (!open.empty()) {
    OpenTuple& inner = open.back();
    if (inner.next == inner.piece->children().size()) {
      out.Append(form.oneline ? " )" : "\n)");
      open.pop_back();
      continue;
    }
    if (inner.next > 0) out.Append(form.oneline ? ", " : ",\n");
    print(inner.piece->children()[inner.next++]);
  }
}

// The text that `print` writes to a Printer, as a string.
template <typename Print>
std::string ToText(Print&& print) {
  StringPrinter printer;
  print(&printer);
  return std::move(printer).ToString();
}

}  // namespace

void LiteralBase::Print(Printer* printer) const {
  PrintTree(*root_, {/*shapes=*/true, /*layouts=*/false, /*oneline=*/false}, printer);
}
void LiteralBase::PrintOneline(Printer* printer) const {
  PrintTree(*root_, {/*shapes=*/true, /*layouts=*/false, /*oneline=*/true}, printer);
}
void LiteralBase::PrintWithoutShape(Printer* printer) const {
  PrintTree(*root_, {/*shapes=*/false, /*layouts=*/false, /*oneline=*/false}, printer);
}
void LiteralBase::PrintWithoutShapeOneline(Printer* printer) const {
  PrintTree(*root_, {/*shapes=*/false, /*layouts=*/false, /*oneline=*/true}, printer);
}
void LiteralBase::PrintWithLayout(Printer* printer) const {
  PrintTree(*root_, {/*shapes=*/true, /*layouts=*/true, /*oneline=*/false}, printer);
}
void LiteralBase::PrintWithLayoutOneline(Printer* printer) const {
  PrintTree(*root_, {/*shapes=*/true, /*layouts=*/true, /*oneline=*/true}, printer);
}

std::string LiteralBase::ToString() const {
  return ToText([this](Printer* printer) { Print(printer); });
}
std::string LiteralBase::ToStringOneline() const {
  return ToText([this](Printer* printer) { PrintOneline(printer); });
}
std::string LiteralBase::ToStringWithoutShape() const {
  return ToText([this](Printer* printer) { PrintWithoutShape(printer); });
}
std::string LiteralBase::ToStringWithoutShapeOneline() const {
  return ToText([this](Printer* printer) { PrintWithoutShapeOneline(printer); });
}
std::string LiteralBase::ToStringWithLayout() const {
  return ToText([this](Printer* printer) { PrintWithLayout(printer); });
}
std::string LiteralBase::ToStringWithLayoutOneline() const {
  return ToText([this](Printer* printer) { PrintWithLayoutOneline(printer); });
}

std::string LiteralBase::GetAsString(absl::Span<const int64_t> multi_index, const ShapeIndex& shape_index) const {
  return primitive_util::ArrayTypeSwitch(
      [&](auto type) -> std::string {
        using T = primitive_util::NativeTypeOf<type>;
        const T value = Get<T>(multi_index, shape_index);
        if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
        std::string text;
        AppendNumber(value, &text);
        return text;
      },
      piece(shape_index).subshape().element_type());
}

void literal::AppendLiteralValue(const LiteralBase& literal, std::string* text) {
  class AppendingPrinter : public Printer {
   public:
    explicit AppendingPrinter(std::string* text) : text_(*text) {}
    void Append(const absl::AlphaNum& piece) override { absl::StrAppend(&text_, piece); }

   private:
    std::string& text_;
  };
  AppendingPrinter printer(text);
  literal.PrintWithoutShapeOneline(&printer);
}

}  // namespace kashi
