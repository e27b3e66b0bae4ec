// Literals and LiteralProto (docs/spec/array-model.md 8.3), and the bytes of Serialize: ToProto, CreateFromProto,
// Serialize..., Deserialize... of kashi/literal/literal.h.
//
// A serialized literal is
//
//   8 bytes     size of the ShapeProto, the low byte first
//               the ShapeProto
//               each array leaf, in the order of the tree:
//                 if it is dynamic: the current size of each dimension, 4 bytes each
//                 the elements in storage order, little-endian; PRED and types of less than 8 bits packed, the first in
//                 the low bits of a byte
//
// Nothing is allocated for elements before it is known that the proto, or the text, holds them.
#include "kashi/proto/literal_proto.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_parser.h"
#include "kashi/proto/xla_data.pb.h"

#ifndef ABSL_IS_LITTLE_ENDIAN
#error "Elements are copied as they are in memory: this needs a little-endian machine."
#endif

namespace kashi {

using literal::ArrayValueState;
namespace {

using literal::LiteralPiece;

// The types whose elements are a list of numbers, and the lists; a complex number is two entries.
// clang-format off
#define KASHI_LIST_FIELDS(V) \
  V(PRED, preds, bool) \
  V(S32, s32s, int32_t) \
  V(S64, s64s, int64_t) \
  V(U32, u32s, uint32_t) \
  V(U64, u64s, uint64_t) \
  V(F32, f32s, float) \
  V(F64, f64s, double) \
  V(C64, c64s, float) \
  V(C128, c128s, double)
// clang-format on
// The types whose elements are bytes.
// clang-format off
#define KASHI_BYTES_FIELDS(V) \
  V(S1, s1s) \
  V(S2, s2s) \
  V(S4, s4s) \
  V(S8, s8s) \
  V(S16, s16s) \
  V(U1, u1s) \
  V(U2, u2s) \
  V(U4, u4s) \
  V(U8, u8s) \
  V(U16, u16s) \
  V(F16, f16s) \
  V(BF16, bf16s) \
  V(F4E2M1FN, f4e2m1fns) \
  V(F6E2M3FN, f6e2m3fns) \
  V(F6E3M2FN, f6e3m2fns) \
  V(F8E3M4, f8e3m4s) \
  V(F8E4M3, f8e4m3s) \
  V(F8E4M3FN, f8e4m3fns) \
  V(F8E4M3B11FNUZ, f8e4m3b11fnuzs) \
  V(F8E4M3FNUZ, f8e4m3fnuzs) \
  V(F8E5M2, f8e5m2s) \
  V(F8E5M2FNUZ, f8e5m2fnuzs) \
  V(F8E8M0FNU, f8e8m0fnus)
// clang-format on

// Clears the high bits: of a type narrower than a byte only the low bits count.
void ClearHighBits(PrimitiveType type, char* bytes, size_t size) {
  const int bits = primitive_util::BitWidth(type);
  if (bits >= CHAR_BIT) return;
  const unsigned char mask = static_cast<unsigned char>((1 << bits) - 1);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) & mask);
}

// ---- Elements of one array ------------------------------------------------------------------------------------------

template <typename T, typename List>
void AppendTo(List* list, const LiteralPiece& piece) {
  const auto* begin = reinterpret_cast<const T*>(piece.memory());
  list->Add(begin, begin + piece.size_bytes() / static_cast<int64_t>(sizeof(T)));
}

void WriteElements(const LiteralPiece& piece, LiteralProto* proto) {
  const PrimitiveType type = piece.subshape().element_type();
  std::string* bytes = nullptr;
  switch (type) {
#define KASHI_WRITE_LIST(type, field, native) \
  case type:                                  \
    return AppendTo<native>(proto->mutable_##field(), piece);
    KASHI_LIST_FIELDS(KASHI_WRITE_LIST)
#undef KASHI_WRITE_LIST
#define KASHI_WRITE_BYTES(type, field) \
  case type:                           \
    bytes = proto->mutable_##field();  \
    break;
    KASHI_BYTES_FIELDS(KASHI_WRITE_BYTES)
#undef KASHI_WRITE_BYTES
    default:
      return;
  }
  bytes->assign(piece.memory(), piece.size_bytes());
  ClearHighBits(type, &(*bytes)[0], bytes->size());
}

// Bytes that the elements held by the proto take in memory.
int64_t BytesHeld(PrimitiveType type, const LiteralProto& proto) {
  switch (type) {
#define KASHI_COUNT_LIST(type, field, native) \
  case type:                                  \
    return static_cast<int64_t>(proto.field##_size()) * static_cast<int64_t>(sizeof(native));
    KASHI_LIST_FIELDS(KASHI_COUNT_LIST)
#undef KASHI_COUNT_LIST
#define KASHI_COUNT_BYTES(type, field) \
  case type:                           \
    return static_cast<int64_t>(proto.field().size());
    KASHI_BYTES_FIELDS(KASHI_COUNT_BYTES)
#undef KASHI_COUNT_BYTES
    default:
      return 0;
  }
}

// Pre: the piece has memory for exactly the elements of the proto.
void ReadElements(const LiteralProto& proto, const LiteralPiece& piece) {
  const PrimitiveType type = piece.subshape().element_type();
  const std::string* bytes = nullptr;
  switch (type) {
#define KASHI_READ_LIST(type, field, native)                                                          \
  case type:                                                                                          \
    std::copy(proto.field().begin(), proto.field().end(), reinterpret_cast<native*>(piece.memory())); \
    return;
    KASHI_LIST_FIELDS(KASHI_READ_LIST)
#undef KASHI_READ_LIST
#define KASHI_READ_BYTES(type, field) \
  case type:                          \
    bytes = &proto.field();           \
    break;
    KASHI_BYTES_FIELDS(KASHI_READ_BYTES)
#undef KASHI_READ_BYTES
    default:
      return;
  }
  std::memcpy(piece.memory(), bytes->data(), bytes->size());
  ClearHighBits(type, piece.memory(), bytes->size());
}

// ---- Reading a proto ------------------------------------------------------------------------------------------------

absl::Status CheckDynamicSizes(const LiteralProto& proto, const Shape& shape) {
  if (proto.dynamic_sizes_size() == 0) return absl::OkStatus();
  if (proto.dynamic_sizes_size() != shape.dimensions_size()) {
    return InvalidArgument("LiteralProto has %d dynamic sizes for a shape of rank %d", proto.dynamic_sizes_size(),
                           shape.dimensions_size());
  }
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (proto.dynamic_sizes(i) < 0 || proto.dynamic_sizes(i) > shape.dimensions(i)) {
      return InvalidArgument("LiteralProto has dynamic size %d for dimension %d of %s", proto.dynamic_sizes(i), i,
                             shape.ToString());
    }
  }
  return absl::OkStatus();
}

// The values of an array are there, as many as the shape says. Without values `*unlisted_bytes` pays for them.
absl::Status CheckArray(const LiteralProto& proto, const Shape& shape, bool prohibit_empty, int64_t* unlisted_bytes) {
  if (!LayoutUtil::HasLayout(shape)) return InvalidArgument("LiteralProto has no layout");
  KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShapeWithOptionalLayout(shape));
  KASHI_RETURN_IF_ERROR(CheckDynamicSizes(proto, shape));
  const PrimitiveType type = shape.element_type();
  std::optional<int64_t> bytes = primitive_util::ByteWidth(type);
  for (const int64_t size : shape.dimensions()) {
    if (size < 0) return InvalidArgument("LiteralProto of an unbounded shape %s", shape.ToString());
    if (bytes.has_value()) bytes = CheckedMultiply(*bytes, size);
  }
  const int64_t held = BytesHeld(type, proto);
  if (bytes.has_value() && *bytes == held) return absl::OkStatus();
  if (held == 0 && !prohibit_empty) {
    if (!bytes.has_value() || *bytes > *unlisted_bytes) {
      return ResourceExhausted("LiteralProto of %s has no values and is too large to fill with zeros",
                               shape.ToString());
    }
    *unlisted_bytes -= *bytes;
    return absl::OkStatus();
  }
  const std::string wanted =
      bytes.has_value() ? absl::StrCat(*bytes / primitive_util::ByteWidth(type)) : "2^63 or more";
  return InvalidArgument("Expected %s elements in LiteralProto: it has %d bytes of values for %s, which takes %s",
                         wanted, held, shape.ToString(), bytes.has_value() ? absl::StrCat(*bytes) : "more than 2^63");
}

// A node of a proto with its counterpart on the other side. A list of these replaces recursion, to limit the stack.
template <typename Other>
struct Pair {
  const LiteralProto* proto;
  Other other;
};

absl::Status CheckTree(const LiteralProto& root, const Shape& root_shape, bool prohibit_empty,
                       int64_t* unlisted_bytes) {
  std::vector<Pair<const Shape*>> open = {{&root, &root_shape}};
  while (!open.empty()) {
    const auto [proto, shape] = open.back();
    open.pop_back();
    if (shape->IsArray()) {
      if (proto != &root) {
        KASHI_ASSIGN_OR_RETURN(const Shape own_shape, Shape::FromProto(proto->shape()));
        if (own_shape != *shape) {
          return InvalidArgument("an element of a LiteralProto has shape %s, but the tuple says %s",
                                 own_shape.ToString(/*print_layout=*/true), shape->ToString(/*print_layout=*/true));
        }
      }
      KASHI_RETURN_IF_ERROR(CheckArray(*proto, *shape, prohibit_empty, unlisted_bytes));
    } else if (shape->IsTuple()) {
      if (proto->tuple_literals_size() != shape->tuple_shapes_size()) {
        return InvalidArgument("Expected %d tuple elements in LiteralProto, but it has %d", shape->tuple_shapes_size(),
                               proto->tuple_literals_size());
      }
      for (int i = 0; i < shape->tuple_shapes_size(); ++i) {
        open.push_back({&proto->tuple_literals(i), &shape->tuple_shapes(i)});
      }
    } else if (shape->element_type_including_buffer() == PRIMITIVE_TYPE_INVALID) {
      return InvalidArgument("LiteralProto of an invalid type");
    }
  }
  return absl::OkStatus();
}

void ReadArray(const LiteralProto& proto, LiteralPiece* piece) {
  const Shape& shape = piece->subshape();
  if (BytesHeld(shape.element_type(), proto) == 0) {
    if (piece->size_bytes() > 0) std::memset(piece->memory(), 0, piece->size_bytes());
  } else {
    ReadElements(proto, *piece);
  }
  for (int i = 0; i < proto.dynamic_sizes_size(); ++i) {
    if (shape.is_dynamic_dimension(i)) piece->set_dynamic_size(i, proto.dynamic_sizes(i));
  }
}

// ---- Serialized literals --------------------------------------------------------------------------------------------

// The leaves below, in the order of the tree.
template <typename Visit>
absl::Status ForEachLeaf(LiteralPiece* root, Visit visit) {
  std::vector<LiteralPiece*> open = {root};
  while (!open.empty()) {
    LiteralPiece* piece = open.back();
    open.pop_back();
    if (!piece->subshape().IsTuple()) {
      KASHI_RETURN_IF_ERROR(visit(piece));
      continue;
    }
    for (size_t i = piece->children().size(); i > 0; --i) open.push_back(&piece->children()[i - 1]);
  }
  return absl::OkStatus();
}

int ElementsInByte(PrimitiveType type) { return CHAR_BIT / primitive_util::BitWidth(type); }
bool IsPacked(PrimitiveType type) { return primitive_util::BitWidth(type) < CHAR_BIT; }

void AppendElements(const LiteralPiece& piece, std::string* output) {
  const PrimitiveType type = piece.subshape().element_type();
  if (!IsPacked(type)) {
    output->append(piece.memory(), piece.size_bytes());
    return;
  }
  const int bits = primitive_util::BitWidth(type), in_byte = ElementsInByte(type);
  const int64_t count = piece.element_count();
  for (int64_t first = 0; first < count; first += in_byte) {
    int byte = 0;
    for (int64_t i = first; i < std::min(count, first + in_byte); ++i) {
      byte |= (piece.memory()[i] & ((1 << bits) - 1)) << (bits * (i - first));
    }
    output->push_back(static_cast<char>(byte));
  }
}

// Takes the elements off the front.
void ReadElements(absl::string_view* data, const LiteralPiece& piece) {
  const PrimitiveType type = piece.subshape().element_type();
  if (!IsPacked(type)) {
    std::memcpy(piece.memory(), data->data(), piece.size_bytes());
    data->remove_prefix(piece.size_bytes());
    return;
  }
  const int bits = primitive_util::BitWidth(type), in_byte = ElementsInByte(type);
  const int64_t count = piece.element_count();
  for (int64_t i = 0; i < count; ++i) {
    const int byte = static_cast<unsigned char>((*data)[i / in_byte]);
    piece.memory()[i] = static_cast<char>((byte >> (bits * (i % in_byte))) & ((1 << bits) - 1));
  }
  data->remove_prefix(CeilOfRatio<int64_t>(count, in_byte));
}

template <typename T>
T TakeNumber(absl::string_view* data) {
  T value;
  std::memcpy(&value, data->data(), sizeof(value));
  data->remove_prefix(sizeof(value));
  return value;
}

template <typename T>
void AppendNumber(T value, std::string* output) {
  output->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

absl::Status proto::proto_internal::CheckLiteral(const LiteralProto& proto, bool prohibit_empty,
                                                 int64_t* unlisted_bytes) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, Shape::FromProto(proto.shape()));
  return CheckTree(proto, shape, prohibit_empty, unlisted_bytes);
}

// ---------------------------------------------------------------------------------------------------------------- prot

LiteralProto LiteralBase::ToProto() const {
  struct Task {
    const Piece* piece;
    LiteralProto* proto;
  };
  LiteralProto root;
  std::vector<Task> open = {{root_, &root}};
  while (!open.empty()) {
    const auto [piece, proto] = open.back();
    open.pop_back();
    const Shape& shape = piece->subshape();
    shape.SetProto(*proto->mutable_shape());
    if (shape.IsArray()) {
      if (piece->state() != ArrayValueState::kKnown) continue;
      WriteElements(*piece, proto);
      if (!shape.is_dynamic()) continue;
      for (int i = 0; i < shape.dimensions_size(); ++i) proto->add_dynamic_sizes(piece->dynamic_size(i));
    } else {
      for (const Piece& child : piece->children()) open.push_back({&child, proto->add_tuple_literals()});
    }
  }
  return root;
}

absl::StatusOr<Literal> MutableLiteralBase::CreateFromProto(const LiteralProto& proto, bool prohibit_empty_literal) {
  if (!proto.has_shape()) return InvalidArgument("LiteralProto has no shape");
  KASHI_ASSIGN_OR_RETURN(const Shape shape, Shape::FromProto(proto.shape()));
  int64_t unlisted_bytes = kDefaultUnlistedBytes;
  KASHI_RETURN_IF_ERROR(CheckTree(proto, shape, prohibit_empty_literal, &unlisted_bytes));
  KASHI_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
  std::vector<Pair<Piece*>> open = {{&proto, const_cast<Piece*>(literal.root_)}};
  while (!open.empty()) {
    const auto [node, piece] = open.back();
    open.pop_back();
    if (piece->subshape().IsArray()) ReadArray(*node, piece);
    for (size_t i = 0; i < piece->children().size(); ++i) {
      open.push_back({&node->tuple_literals(static_cast<int>(i)), &piece->children()[i]});
    }
  }
  return literal;
}

// --------------------------------------------------------------------------------------------------------- serializati

absl::StatusOr<std::string> LiteralBase::SerializeAsString() const {
  std::string bytes;
  KASHI_RETURN_IF_ERROR(SerializeToString(&bytes));
  return bytes;
}

absl::Status LiteralBase::SerializeToString(std::string* output) const {
  KASHI_ASSIGN_OR_RETURN(const int64_t size, SerializedSize());
  const std::string shape_bytes = shape().ToProto().SerializeAsString();
  output->clear();
  output->reserve(size);
  AppendNumber(static_cast<int64_t>(shape_bytes.size()), output);
  output->append(shape_bytes);
  return ForEachLeaf(const_cast<Piece*>(root_), [&](Piece* piece) {
    if (piece->state() != ArrayValueState::kKnown) return FailedPrecondition("an unknown literal has no bytes");
    const Shape& leaf = piece->subshape();
    if (leaf.is_dynamic()) {
      for (int i = 0; i < leaf.dimensions_size(); ++i) AppendNumber(piece->dynamic_size(i), output);
    }
    AppendElements(*piece, output);
    return absl::OkStatus();
  });
}

absl::StatusOr<Literal> Literal::DeserializeFromString(absl::string_view data) {
  const int64_t size = static_cast<int64_t>(data.size());
  constexpr int64_t kHeaderSize = sizeof(int64_t);
  if (size < kHeaderSize) return InvalidArgument("a serialized literal of %d bytes is too short", size);
  const int64_t proto_size = TakeNumber<int64_t>(&data);
  if (proto_size < 0 || proto_size > size - kHeaderSize) {
    return InvalidArgument("a serialized literal of %d bytes cannot have a shape of %d bytes", size, proto_size);
  }
  ShapeProto proto;
  if (proto_size > INT_MAX || !proto.ParseFromArray(data.data(), static_cast<int>(proto_size))) {
    return InvalidArgument("a serialized literal has no valid shape");
  }
  data.remove_prefix(proto_size);
  KASHI_ASSIGN_OR_RETURN(const Shape shape, Shape::FromProto(proto));
  if (!LayoutUtil::HasLayout(shape)) return InvalidArgument("a serialized literal has no layout");
  KASHI_ASSIGN_OR_RETURN(const int64_t expected_size, ShapeUtil::SerializedSizeWithProto(shape, proto_size));
  if (expected_size != size) {
    return InvalidArgument("a serialized literal of shape %s has %d bytes, not %d", shape.ToString(), expected_size,
                           size);
  }
  KASHI_ASSIGN_OR_RETURN(Literal literal, Make(shape));
  KASHI_RETURN_IF_ERROR(ForEachLeaf(const_cast<Piece*>(literal.root_), [&](Piece* piece) {
    const Shape& leaf = piece->subshape();
    for (int i = 0; leaf.is_dynamic() && i < leaf.dimensions_size(); ++i) {
      const DynamicSizeType dynamic_size = TakeNumber<DynamicSizeType>(&data);
      if (dynamic_size < 0 || dynamic_size > leaf.dimensions(i)) {
        return InvalidArgument("a serialized literal of shape %s has dynamic size %d in dimension %d", leaf.ToString(),
                               dynamic_size, i);
      }
      if (leaf.is_dynamic_dimension(i)) piece->set_dynamic_size(i, dynamic_size);
    }
    ReadElements(&data, *piece);
    return absl::OkStatus();
  }));
  return literal;
}

}  // namespace kashi
