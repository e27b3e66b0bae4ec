#include "kashi/evaluator/bitcast.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "kashi/array/index_map.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/operation.h"
#include "kashi/kernels/physical_order.h"

namespace kashi::evaluator {
namespace {

// An array's memory: its elements in physical order, each of whole bytes or of some bits of one.
struct Memory {
  kernels::PhysicalOrder order;
  int element_bytes;  // in a value

  int64_t byte_size() const { return order.map().byte_size(); }
  bool is_packed() const { return order.map().element_size_in_bits() != 8 * element_bytes; }
  // Whether its bytes are those of a value.
  bool IsDense() const { return !is_packed() && order.map().prefix_bytes() == 0 && order.IsRowMajor(); }
};

absl::StatusOr<Memory> MemoryOf(const Shape& shape) {
  if (!shape.IsArray()) return InvalidArgument("%s is not an array", ShapeUtil::HumanString(shape));
  KASHI_ASSIGN_OR_RETURN(kernels::PhysicalOrder order, kernels::PhysicalOrder::Make(shape));
  Memory memory{std::move(order), primitive_util::ByteWidth(shape.element_type())};
  const int64_t bits = memory.order.map().element_size_in_bits();
  if (memory.is_packed() && (memory.element_bytes != 1 || bits > 8)) {
    return Unimplemented("elements of %d bits in %s", bits, ShapeUtil::HumanStringWithLayout(shape));
  }
  return memory;
}

absl::Status CheckSizes(const Value& value, const Shape& shape) {
  if (value.is_array() && value.dimensions() == shape.dimensions()) return absl::OkStatus();
  return Unimplemented("a bitcast of %s with a size below its bound", ShapeUtil::HumanString(shape));
}

// Writes memory.byte_size() bytes.
absl::Status WriteMemory(EvaluationRun& run, const Memory& memory, const Value& value, char* bytes) {
  const IndexMap& map = memory.order.map();
  if (map.element_count() * map.element_size_in_bits() != memory.byte_size() * 8) {
    std::memset(bytes, 0, memory.byte_size());
  }
  char* const elements = bytes + map.prefix_bytes();
  if (!memory.is_packed()) {
    return memory.order.Spread(value.bytes(), memory.element_bytes, elements, [&run] { return run.CheckStopped(); });
  }
  KASHI_ASSIGN_OR_RETURN(Value unpacked, run.MakeArray(U8, {map.padded_element_count()}));
  std::memset(unpacked.mutable_data(), 0, unpacked.byte_count());
  KASHI_RETURN_IF_ERROR(
      memory.order.Spread(value.bytes(), 1, unpacked.mutable_bytes(), [&run] { return run.CheckStopped(); }));
  primitive_util::PackIntN(static_cast<int>(map.element_size_in_bits()),
                           {unpacked.bytes(), static_cast<size_t>(unpacked.byte_count())},
                           {elements, static_cast<size_t>(memory.byte_size() - map.prefix_bytes())});
  return absl::OkStatus();
}

// Reads memory.byte_size() bytes.
absl::StatusOr<Value> ReadMemory(EvaluationRun& run, const Memory& memory, const char* bytes) {
  const IndexMap& map = memory.order.map();
  const char* const elements = bytes + map.prefix_bytes();
  KASHI_ASSIGN_OR_RETURN(Value value, run.MakeArray(MakeDenseShape(memory.order.shape())));
  if (!memory.is_packed()) {
    KASHI_RETURN_IF_ERROR(memory.order.Collect(elements, memory.element_bytes, value.mutable_bytes(),
                                               [&run] { return run.CheckStopped(); }));
    return value;
  }
  KASHI_ASSIGN_OR_RETURN(Value unpacked, run.MakeArray(U8, {map.padded_element_count()}));
  primitive_util::UnpackIntN(static_cast<int>(map.element_size_in_bits()),
                             {elements, static_cast<size_t>(memory.byte_size() - map.prefix_bytes())},
                             {unpacked.mutable_bytes(), static_cast<size_t>(unpacked.byte_count())});
  KASHI_RETURN_IF_ERROR(
      memory.order.Collect(unpacked.bytes(), 1, value.mutable_bytes(), [&run] { return run.CheckStopped(); }));
  return value;
}

bool KeepsPlaces(const Memory& a, const Memory& b) {
  return a.element_bytes == b.element_bytes &&
         a.order.map().element_size_in_bits() == b.order.map().element_size_in_bits() &&
         a.order.map().prefix_bytes() == b.order.map().prefix_bytes() &&
         kernels::PhysicalOrder::AreEqual(a.order, b.order);
}

// The bitcast of one array.
absl::StatusOr<Value> Reinterpret(EvaluationRun& run, Value value, const Memory& from, const Memory& to) {
  if (KeepsPlaces(from, to)) return Value::WithShape(std::move(value), MakeDenseShape(to.order.shape()));
  const bool is_enough = from.byte_size() >= to.byte_size();
  if (from.IsDense() && value.byte_count() >= to.byte_size()) return ReadMemory(run, to, value.bytes());
  if (to.IsDense() && is_enough && from.byte_size() == to.order.map().element_count() * to.element_bytes) {
    KASHI_ASSIGN_OR_RETURN(Value out, run.MakeArray(MakeDenseShape(to.order.shape())));
    KASHI_RETURN_IF_ERROR(WriteMemory(run, from, value, out.mutable_bytes()));
    return out;
  }
  KASHI_ASSIGN_OR_RETURN(Value bytes, run.MakeArray(U8, {std::max(from.byte_size(), to.byte_size())}));
  KASHI_RETURN_IF_ERROR(WriteMemory(run, from, value, bytes.mutable_bytes()));
  std::memset(bytes.mutable_bytes() + from.byte_size(), 0, bytes.byte_count() - from.byte_size());
  return ReadMemory(run, to, bytes.bytes());
}

// A PRED is 0 or 1 here, for any bytes that it is made from.
absl::StatusOr<Value> AsPred(EvaluationRun& run, absl::StatusOr<Value> bytes) {
  KASHI_RETURN_IF_ERROR(bytes.status());
  return run.Convert(*std::move(bytes), PRED);
}

Shape WithType(const Shape& shape, PrimitiveType type) {
  Shape other = shape;
  other.set_element_type(type);
  return other;
}

absl::StatusOr<Value> Bitcast(EvaluationRun& run, Value value, const Shape& from_shape, const Shape& to_shape) {
  if (to_shape.element_type() == PRED && from_shape.element_type() != PRED) {
    return AsPred(run, Bitcast(run, std::move(value), from_shape, WithType(to_shape, U8)));
  }
  KASHI_RETURN_IF_ERROR(CheckSizes(value, from_shape));
  KASHI_ASSIGN_OR_RETURN(const Memory from, MemoryOf(from_shape));
  KASHI_ASSIGN_OR_RETURN(const Memory to, MemoryOf(to_shape));
  return Reinterpret(run, std::move(value), from, to);
}

absl::Status Named(const Operation& op, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(op.instruction.name(), ": ", status.message()));
}

}  // namespace

absl::StatusOr<Value> ReinterpretPhysicalBytes(EvaluationRun& run,
                                               absl::Span<const std::pair<Value, const Shape*>> parts,
                                               const Shape& to) {
  if (parts.size() == 1) return Bitcast(run, parts[0].first, *parts[0].second, to);
  if (to.element_type() == PRED) return AsPred(run, ReinterpretPhysicalBytes(run, parts, WithType(to, U8)));
  std::vector<Memory> memories;
  int64_t size = 0;
  for (const auto& [value, shape] : parts) {
    KASHI_RETURN_IF_ERROR(CheckSizes(value, *shape));
    KASHI_ASSIGN_OR_RETURN(Memory memory, MemoryOf(*shape));
    if (__builtin_add_overflow(size, memory.byte_size(), &size)) return ResourceExhausted("more than 2^63 bytes");
    memories.push_back(std::move(memory));
  }
  KASHI_ASSIGN_OR_RETURN(const Memory target, MemoryOf(to));
  KASHI_ASSIGN_OR_RETURN(Value bytes, run.MakeArray(U8, {std::max(size, target.byte_size())}));
  int64_t offset = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    KASHI_RETURN_IF_ERROR(WriteMemory(run, memories[i], parts[i].first, bytes.mutable_bytes() + offset));
    offset += memories[i].byte_size();
  }
  std::memset(bytes.mutable_bytes() + size, 0, bytes.byte_count() - size);
  return ReadMemory(run, target, bytes.bytes());
}

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kBitcast>(Operation& op) {
  Value value = std::move(op.operands[0]);
  if (!value.is_array()) return value;
  absl::StatusOr<Value> result =
      Bitcast(op.run, std::move(value), op.instruction.operand(0)->shape(), op.instruction.shape());
  if (!result.ok()) return Named(op, result.status());
  return result;
}

namespace {

// Bits of an element among others. Of a PRED there are 8, unlike for all other types of less than a byte.
int LogicalBits(PrimitiveType type) { return type == PRED ? 8 : primitive_util::BitWidth(type); }

// The elements as one string of bits, the first in the lowest ones, cut into elements of the other type.
//
//   s4 {1, 2, 3, 15}   <->   u8 {0x21, 0xf3}   <->   u16 0xf321
absl::StatusOr<Value> ConvertBits(EvaluationRun& run, const Value& in, DenseShape shape) {
  const int in_bits = LogicalBits(in.element_type()), out_bits = LogicalBits(shape->element_type());
  KASHI_ASSIGN_OR_RETURN(Value out, run.MakeArray(shape));
  const absl::Span<const char> in_bytes(in.bytes(), in.byte_count());
  const absl::Span<char> out_bytes(out.mutable_bytes(), out.byte_count());
  if (in_bits >= 8 && out_bits >= 8) {
    std::memcpy(out_bytes.data(), in_bytes.data(), out_bytes.size());
  } else if (in_bits >= 8) {
    primitive_util::UnpackIntN(out_bits, in_bytes, out_bytes);
  } else if (out_bits >= 8) {
    primitive_util::PackIntN(in_bits, in_bytes, out_bytes);
  } else {
    std::vector<char> packed(primitive_util::PackedByteSize(in.element_count(), in_bits));
    primitive_util::PackIntN(in_bits, in_bytes, absl::MakeSpan(packed));
    primitive_util::UnpackIntN(out_bits, packed, out_bytes);
  }
  return out;
}

// The conversion between types whose elements have the same number of bits in total.
absl::StatusOr<Value> BitcastConvert(EvaluationRun& run, Value in, const DenseShape& shape) {
  if (shape->element_type() == PRED && in.element_type() != PRED) {
    return AsPred(run, BitcastConvert(run, std::move(in), MakeDenseShape(U8, shape->dimensions())));
  }
  if (LogicalBits(in.element_type()) == LogicalBits(shape->element_type())) {
    return Value::WithShape(std::move(in), shape);
  }
  return ConvertBits(run, in, shape);
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kBitcastConvert>(Operation& op) {
  Value in = std::move(op.operands[0]);
  const __int128 in_bits = static_cast<__int128>(in.element_count()) * LogicalBits(in.element_type());
  const __int128 out_bits =
      static_cast<__int128>(ShapeUtil::ElementsIn(*op.result())) * LogicalBits(op.result()->element_type());
  if (in_bits != out_bits) {
    return InvalidArgument("%s: %s does not have the same number of bits as %s", op.instruction.name(),
                           ShapeUtil::HumanString(in.shape()), ShapeUtil::HumanString(*op.result()));
  }
  return BitcastConvert(op.run, std::move(in), op.result());
}

}  // namespace kashi::evaluator
