// Types.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/base/text.h"
#include "kashi/stablehlo/program/type_text.h"
#include "kashi/stablehlo/text/mlir_numbers.h"
#include "kashi/stablehlo/text/mlir_reader.h"

namespace kashi::stablehlo {

Type* MlirReader::NewType(Type::Kind kind) {
  Type* type = program_.New<Type>();
  type->kind = kind;
  return type;
}

const Type* MlirReader::NewOtherType(size_t begin) {
  Type* type = NewType(Type::Kind::kOther);
  type->name = cursor_.Slice(begin);
  return type;
}

// Most types are spelled `word` or `tensor<…>` without inner brackets, again and again: those are kept by spelling.
const Type* MlirReader::ReadType() {
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  const absl::string_view text = cursor_.text();
  size_t end = begin;
  while (end < text.size() && text_cursor_internal::Is(text[end], text_cursor_internal::kInside)) ++end;
  if (end == begin) return ReadTypeUncached();
  if (end < text.size() && text[end] == '<') {
    ++end;
    while (end < text.size() && text[end] != '>' && text[end] != '<' && text[end] != '\n') ++end;
    if (end >= text.size() || text[end] != '>') return ReadTypeUncached();
    ++end;
  }
  const absl::string_view spelling = text.substr(begin, end - begin);
  const auto found = types_.find(spelling);
  if (found != types_.end()) {
    cursor_.Seek(end);
    return found->second;
  }
  const Type* type = ReadTypeUncached();
  if (type != nullptr && cursor_.offset() == end) types_.emplace(spelling, type);
  return type;
}

const Type* MlirReader::ReadTypeUncached() {
  const Depth depth(this, kMaxDepth, &depth_);
  if (!depth.ok()) return nullptr;
  const char c = cursor_.Peek();
  if (c == '(') return ReadFunctionType();
  if (c == '!') return ReadDialectType();
  const size_t begin = cursor_.offset();
  const absl::string_view word = cursor_.ReadWord();
  if (word == "tensor") return ReadTensor();
  if (word == "memref") return ReadMemref();
  if (word == "complex") return ReadComplex();
  if (word == "tuple") return ReadTuple();
  if (word == "index") return NewType(Type::Kind::kIndex);
  if (word == "none") return NewType(Type::Kind::kNone);
  if (word == "vector") return SkipBalanced() ? NewOtherType(begin) : nullptr;
  absl::string_view element_name = word;
  if (word.size() > 2 && word[0] == 's' && word[1] == 'i') element_name.remove_prefix(1);  // si8 is i8
  const PrimitiveType element = ElementTypeOf(element_name);
  if (element != PRIMITIVE_TYPE_INVALID) {
    Type* type = NewType(Type::Kind::kElement);
    type->element = element;
    return type;
  }
  for (const absl::string_view other : {"tf32", "f6E2M3FN", "f6E3M2FN", "f80", "f128"}) {
    if (word == other) return NewOtherType(begin);
  }
  const size_t digits = word.substr(0, 2) == "ui" || word.substr(0, 2) == "si" ? 2 : 1;
  int64_t bits = 0;
  if (!word.empty() && (digits == 2 || word[0] == 'i') && absl::SimpleAtoi(word.substr(digits), &bits) && bits > 0) {
    return NewOtherType(begin);
  }
  cursor_.Seek(begin);
  if (word.empty()) {
    ErrorHere("a type");
  } else {
    Error(begin, begin + word.size(), absl::StrCat("no type is called `", word, "`"));
  }
  return nullptr;
}

bool MlirReader::SkipBalanced() {
  const size_t begin = cursor_.offset();
  if (cursor_.PeekHere() != '<') return ErrorHere("`<`");
  std::string closers;  // the closing bytes that are awaited, innermost last
  do {
    const char c = cursor_.PeekHere();
    if (cursor_.offset() >= cursor_.text().size()) return Error(begin, begin + 1, "this `<` is never closed");
    if (c == '"') {
      const size_t quote = cursor_.offset();
      if (cursor_.ReadQuoted().empty()) return Error(quote, quote + 1, "this string does not end on its line");
      continue;
    }
    if (c == '<') closers.push_back('>');
    if (c == '(') closers.push_back(')');
    if (c == '[') closers.push_back(']');
    if (c == '{') closers.push_back('}');
    const bool is_arrow = c == '>' && cursor_.text()[cursor_.offset() - 1] == '-';
    if ((c == '>' && !is_arrow) || c == ')' || c == ']' || c == '}') {
      if (closers.back() != c) return ErrorHere(absl::StrCat("`", closers.substr(closers.size() - 1), "`"));
      closers.pop_back();
    }
    cursor_.Seek(cursor_.offset() + 1);
  } while (!closers.empty());
  return true;
}

// 2x?x, to the element type.
bool MlirReader::ReadDimensions(absl::InlinedVector<int64_t, 8>* dimensions) {
  while (true) {
    const char c = cursor_.Peek();
    const size_t begin = cursor_.offset();
    if (c == '?') {
      cursor_.Seek(begin + 1);
      dimensions->push_back(kDynamic);
    } else if (c >= '0' && c <= '9') {
      size_t end = begin;
      while (end < cursor_.text().size() &&
             text_cursor_internal::Is(cursor_.text()[end], text_cursor_internal::kDigit)) {
        ++end;
      }
      int64_t size = 0;
      if (!ParseInteger(cursor_.text().substr(begin, end - begin), 64, true, &size)) {
        return Error(begin, end, "a dimension above 2^63 - 1");
      }
      cursor_.Seek(end);
      dimensions->push_back(size);
    } else {
      return true;
    }
    if (!cursor_.Match('x')) return ErrorHere("`x` after a dimension");
  }
}

const Type* MlirReader::ReadTensor() {
  if (!Expect('<', "after `tensor`")) return nullptr;
  Type* type = NewType(Type::Kind::kTensor);
  absl::InlinedVector<int64_t, 8> dimensions;
  if (cursor_.Match('*')) {
    type->kind = Type::Kind::kUnrankedTensor;
    if (!cursor_.Match('x')) return ErrorHere("`x` after `*`"), nullptr;
  } else if (!ReadDimensions(&dimensions)) {
    return nullptr;
  }
  const Type* element = ReadType();
  if (element == nullptr) return nullptr;
  type->dimensions = program_.CopyArray<int64_t>(dimensions);
  type->types = program_.CopyArray<const Type*>({element});
  if (cursor_.Match(',') && !ReadEncoding(type)) return nullptr;
  return Expect('>', "at the end of a tensor type") ? type : nullptr;
}

bool MlirReader::ReadEncoding(Type* type) {
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  for (const absl::string_view bounds :
       {"#stablehlo.bounds", "#mhlo.type_extensions<bounds = ", "#stablehlo.type_extensions<bounds = "}) {
    if (cursor_.Match(bounds)) return ReadBounds(type);
  }
  const Attribute* encoding = ReadAttribute();
  if (encoding == nullptr) return false;
  return Error(begin, cursor_.offset(), "a tensor has no encoding but #stablehlo.bounds<…>");
}

// <3, ?>, or [3, ?]> of older releases.
bool MlirReader::ReadBounds(Type* type) {
  const size_t begin = cursor_.offset();
  const bool older = cursor_.Match('[');
  if (!older && !Expect('<', "before bounds")) return false;
  absl::InlinedVector<int64_t, 8> bounds;
  do {
    int64_t bound = kDynamic;
    if (!cursor_.Match('?') && !ReadInt(&bound)) return false;
    bounds.push_back(bound);
  } while (cursor_.Match(','));
  if (older && !Expect(']', "after bounds")) return false;
  if (!Expect('>', "after bounds")) return false;
  if (bounds.size() != type->dimensions.size()) {
    return Error(begin, cursor_.offset(),
                 absl::StrCat(base::Count(static_cast<int64_t>(bounds.size()), "bound"), " for ",
                              base::Count(static_cast<int64_t>(type->dimensions.size()), "dimension")));
  }
  type->bounds = program_.CopyArray<int64_t>(bounds);
  return true;
}

const Type* MlirReader::ReadMemref() {
  const size_t begin = cursor_.offset() - absl::string_view("memref").size();
  if (!Expect('<', "after `memref`")) return nullptr;
  Type* type = NewType(Type::Kind::kBuffer);
  absl::InlinedVector<int64_t, 8> dimensions;
  if (!ReadDimensions(&dimensions)) return nullptr;
  const Type* element = ReadType();
  if (element == nullptr) return nullptr;
  type->dimensions = program_.CopyArray<int64_t>(dimensions);
  type->types = program_.CopyArray<const Type*>({element});
  if (cursor_.Match('>')) return type;
  cursor_.Seek(begin + absl::string_view("memref").size());  // with a layout or a memory space
  return SkipBalanced() ? NewOtherType(begin) : nullptr;
}

const Type* MlirReader::ReadComplex() {
  const size_t begin = cursor_.offset() - absl::string_view("complex").size();
  if (!Expect('<', "after `complex`")) return nullptr;
  const Type* part = ReadType();
  if (part == nullptr || !Expect('>', "after the type of a complex number's parts")) return nullptr;
  const PrimitiveType element = part->element == F32 ? C64 : part->element == F64 ? C128 : PRIMITIVE_TYPE_INVALID;
  if (element == PRIMITIVE_TYPE_INVALID) {
    Error(begin, cursor_.offset(), "the parts of a complex number are f32 or f64");
    return nullptr;
  }
  Type* type = NewType(Type::Kind::kElement);
  type->element = element;
  return type;
}

bool MlirReader::ReadTypeList(absl::InlinedVector<const Type*, 4>* types) {
  do {
    const Type* type = ReadType();
    if (type == nullptr) return false;
    types->push_back(type);
  } while (cursor_.Match(','));
  return true;
}

Type* MlirReader::NewComposite(Type::Kind kind, absl::Span<const Type* const> types) {
  WrittenSize size;
  for (const Type* type : types) size.Add(SizeOf(type));
  if (size.depth > kMaxDepth) return TooDeep(), nullptr;
  if (size.parts > MostParts()) {
    Error(cursor_.offset(), cursor_.offset() + 1, "aliases make a type with more parts than this text may have");
    return nullptr;
  }
  Type* type = NewType(kind);
  type->types = program_.CopyArray<const Type*>(types);
  type_sizes_[type] = size;
  return type;
}

MlirReader::WrittenSize MlirReader::SizeOf(const Type* type) const {
  const auto found = type_sizes_.find(type);
  return found == type_sizes_.end() ? WrittenSize() : found->second;
}

bool MlirReader::SetType(const Type* type, size_t begin, size_t end, Value* value) {
  value->type = type;
  value_parts_ += SizeOf(type).parts;
  return value_parts_ <= MostParts() ||
         Error(begin, end, "aliases make the types of values have more parts than this text may have");
}

const Type* MlirReader::ReadTuple() {
  if (!Expect('<', "after `tuple`")) return nullptr;
  absl::InlinedVector<const Type*, 4> types;
  if (cursor_.Peek() != '>' && !ReadTypeList(&types)) return nullptr;
  if (!Expect('>', "at the end of a tuple")) return nullptr;
  return NewComposite(Type::Kind::kTuple, types);
}

bool MlirReader::ReadTypeOrList(absl::InlinedVector<const Type*, 4>* types) {
  if (!cursor_.Match('(')) {
    const Type* type = ReadType();
    if (type == nullptr) return false;
    types->push_back(type);
    return true;
  }
  if (cursor_.Match(')')) return true;
  return ReadTypeList(types) && Expect(')', "at the end of a list of types");
}

const Type* MlirReader::ReadFunctionType() {
  absl::InlinedVector<const Type*, 4> types;
  if (!ReadTypeOrList(&types)) return nullptr;
  const size_t inputs = types.size();
  if (!cursor_.Match("->")) return ErrorHere("`->` of a function type"), nullptr;
  if (!ReadTypeOrList(&types)) return nullptr;
  Type* type = NewComposite(Type::Kind::kFunction, types);
  if (type != nullptr) type->input_count = static_cast<int64_t>(inputs);
  return type;
}

const Type* MlirReader::ReadDialectType() {
  const size_t begin = cursor_.offset();
  cursor_.Seek(begin + 1);
  const absl::string_view name = cursor_.ReadSuffix();
  if (name == "stablehlo.token" || name == "mhlo.token") return NewType(Type::Kind::kToken);
  if (name == "stablehlo.future") return ReadFuture();
  if (name == "quant.uniform") return ReadQuantized();
  const auto alias = type_aliases_.find(name);
  if (alias != type_aliases_.end()) return alias->second;
  if (name.find('.') == absl::string_view::npos) {
    Error(begin, cursor_.offset(), absl::StrCat("no type is called `!", name, "`"));
    return nullptr;
  }
  if (cursor_.PeekHere() == '<' && !SkipBalanced()) return nullptr;
  return NewOtherType(begin);
}

const Type* MlirReader::ReadFuture() {
  if (!Expect('<', "after `!stablehlo.future`")) return nullptr;
  absl::InlinedVector<const Type*, 4> types;
  if (!ReadTypeList(&types) || !Expect('>', "at the end of a future")) return nullptr;
  return NewComposite(Type::Kind::kFuture, types);
}

// <i8<-8:7>:f32:1, {0.5:3, 2.0}>
const Type* MlirReader::ReadQuantized() {
  if (!Expect('<', "after `!quant.uniform`")) return nullptr;
  Quantization* quantization = program_.New<Quantization>();
  if (!ReadQuantizedStorage(quantization) || !Expect(':', "before the expressed type")) return nullptr;
  quantization->expressed = ReadType();
  if (quantization->expressed == nullptr) return nullptr;
  if (cursor_.Match(':')) {
    if (cursor_.PeekHere() == '{') {
      ErrorHere("the number of a dimension: StableHLO has no operations on blocks with scales of their own");
      return nullptr;
    }
    if (!ReadInt(&quantization->dimension)) return nullptr;
  }
  if (!Expect(',', "before the scale")) return nullptr;
  const bool braces = cursor_.Match('{');
  if (!ReadScales(quantization) || (braces && !Expect('}', "after scales"))) return nullptr;
  if (!Expect('>', "at the end of a quantized type")) return nullptr;
  Type* type = NewType(Type::Kind::kQuantized);
  type->quantization = quantization;
  return type;
}

bool MlirReader::ReadQuantizedStorage(Quantization* quantization) {
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  const absl::string_view word = cursor_.ReadWord();
  // `u8` is this type's word for an unsigned one; the storage type itself has no sign.
  quantization->is_signed = word.substr(0, 1) != "u";
  const size_t prefix = word.find_first_of("0123456789");
  int64_t bits = 0;
  if (prefix == absl::string_view::npos || !absl::SimpleAtoi(word.substr(prefix), &bits) || bits < 1 || bits > 32) {
    return Error(begin, cursor_.offset(), "the storage of a quantized type is an integer of at most 32 bits");
  }
  const PrimitiveType element = ElementTypeOf(absl::StrCat("i", bits));
  Type* storage = NewType(element == PRIMITIVE_TYPE_INVALID ? Type::Kind::kOther : Type::Kind::kElement);
  storage->element = element;
  storage->name = word;
  quantization->storage = storage;
  const int64_t range = int64_t{1} << (quantization->is_signed ? bits - 1 : bits);
  quantization->storage_min = quantization->is_signed ? -range : 0;
  quantization->storage_max = range - 1;
  if (!cursor_.Match('<')) return true;
  return ReadInt(&quantization->storage_min) && Expect(':', "between the limits of the storage") &&
         ReadInt(&quantization->storage_max) && Expect('>', "after the limits of the storage");
}

bool MlirReader::ReadScales(Quantization* quantization) {
  absl::InlinedVector<double, 4> scales;
  absl::InlinedVector<int64_t, 4> zero_points;
  do {
    cursor_.SkipSpace();
    const size_t begin = cursor_.offset();
    size_t end = begin;
    while (text_cursor_internal::Is(cursor_.PeekHere(end - begin), text_cursor_internal::kSuffix) ||
           cursor_.PeekHere(end - begin) == '+') {
      ++end;
    }
    double scale = 0;
    if (!absl::SimpleAtod(cursor_.text().substr(begin, end - begin), &scale)) return ErrorHere("a scale");
    cursor_.Seek(end);
    int64_t zero_point = 0;
    if (cursor_.Match(':') && !ReadInt(&zero_point)) return false;
    scales.push_back(scale);
    zero_points.push_back(zero_point);
  } while (cursor_.Match(','));
  quantization->scales = program_.CopyArray<double>(scales);
  quantization->zero_points = program_.CopyArray<int64_t>(zero_points);
  return true;
}

const Type* MlirReader::TensorType(const Type* element, absl::Span<const int64_t> dimensions) {
  Type* type = NewType(Type::Kind::kTensor);
  type->dimensions = program_.CopyArray<int64_t>(dimensions);
  type->types = program_.CopyArray<const Type*>({element});
  return type;
}

const Type* MlirReader::IntegerListType(PrimitiveType element, int64_t count) {
  return TensorType(defaults_.ElementType(element), {count});
}

}  // namespace kashi::stablehlo
