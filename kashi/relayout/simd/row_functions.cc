// RowFunctionFor: the conversion from one form to another, stage by stage.
//
//   s4 E(4) -> s4 E(8)      unpack
//   s4 E(4) -> bf16         unpack   s8 -> f32   f32 -> bf16
//   s64 -> f8e5m2                    s64 -> f32  f32 -> f8e5m2     rounds twice, as ConvertElement does
//   f64 -> f8e5m2                    f64 -> f32  f32 -> f8e5m2     rounds once: the first stage rounds to odd
//   c64 E(64) -> u1 E(1)             c64 -> f32  f32 -> u1   pack
//
// So a few loops serve all pairs of types; those between f32 and the others carry nearly all of them.
#include "kashi/relayout/simd/row_functions.h"

#include <algorithm>
#include <cstring>

#include "kashi/array/primitive_util.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/row_functions_internal.h"

namespace kashi::relayout {
namespace {

using Stage = RowFunction::Stage;

int BitsOf(PrimitiveType type) { return GetPrimitiveTypeInfo(type).bits; }
int NativeSlotOf(PrimitiveType type) { return 8 * GetPrimitiveTypeInfo(type).bytes; }
bool IsPacked(int64_t slot_bits) { return slot_bits < 8; }
bool IsNarrowInteger(PrimitiveType type) { return primitive_util::IsIntegralType(type) && BitsOf(type) < 8; }
bool IsNarrowFloat(PrimitiveType type) { return primitive_util::IsFloatingPointType(type) && BitsOf(type) < 32; }

// ---- Steps that are neither packed nor loops

void CopyBytes(const Stage& stage, const char* from, int64_t from_bit, char* to, int64_t to_bit, int64_t count) {
  CopyRow(to + to_bit / 8, from + from_bit / 8, count * (stage.from_slot / 8));
}

void RunLoop(const Stage& stage, const char* from, int64_t from_bit, char* to, int64_t to_bit, int64_t count) {
  stage.loop(from + from_bit / 8, to + to_bit / 8, count);
}

// Converts slots of any whole bytes to any others. Slow and rare: an E(24), a c64 in an E(128).
void ResizeSlots(const Stage& stage, const char* from, int64_t from_bit, char* to, int64_t to_bit, int64_t count) {
  const int from_bytes = stage.from_slot / 8, to_bytes = stage.to_slot / 8, unused = 128 - stage.bits;
  const char* source = from + from_bit / 8;
  char* target = to + to_bit / 8;
  for (int64_t i = 0; i < count; ++i, source += from_bytes, target += to_bytes) {
    unsigned __int128 value = 0;
    std::memcpy(&value, source, from_bytes);
    value <<= unused;
    value = stage.is_signed ? static_cast<unsigned __int128>(static_cast<__int128>(value) >> unused) : value >> unused;
    std::memcpy(target, &value, to_bytes);
  }
}

// ---- The way of a conversion

// The type that comes next on the way from `from` to another.
PrimitiveType NextType(PrimitiveType from, PrimitiveType to) {
  if (from == PRED) return U8;  // the same bytes
  if (IsNarrowInteger(from)) return primitive_util::IsSignedIntegralType(from) ? S8 : U8;
  if (primitive_util::IsComplexType(from)) {
    return primitive_util::IsComplexType(to) || to == PRED ? to : primitive_util::ComplexComponentType(from);
  }
  if (primitive_util::IsComplexType(to)) {
    const PrimitiveType component = primitive_util::ComplexComponentType(to);
    return from == component ? to : NextType(from, component);
  }
  if (IsNarrowFloat(from)) return F32;
  if (from == F32) return to;
  if (from == F64) return to == F32 || (primitive_util::IsIntegralType(to) && BitsOf(to) >= 32) ? to : F32;
  if (IsNarrowFloat(to)) return F32;
  if (IsNarrowInteger(to)) return BitsOf(from) == 8 ? to : U8;
  if (to == F64 && BitsOf(from) < 32) return S32;
  return to;
}

// Whether ConvertElement takes a double to this type at once, though the way goes through f32.
bool IsRoundedLater(PrimitiveType to) {
  return primitive_util::IsIntegralType(to) || to == PRED ||
         (primitive_util::IsFloatingPointType(to) && BitsOf(to) < 16);
}

// The loop from a type to the next one; nullptr if the bytes are the same.
ConvertLoop LoopOf(PrimitiveType from, PrimitiveType next, PrimitiveType last) {
  if (from == PRED) return nullptr;
  if (IsNarrowInteger(from)) return ExtendLoop(BitsOf(from), next == S8);
  if (from == F64 && next == F32 && IsRoundedLater(last)) return RoundToOddLoop();
  if (primitive_util::IsIntegralType(from) && primitive_util::IsIntegralType(next)) {
    if (IsNarrowInteger(next)) return ExtendLoop(BitsOf(next), /*is_signed=*/false);
    if (BitsOf(from) == BitsOf(next)) return nullptr;
  }
  if (const ConvertLoop loop = VectorLoop(from, next)) return loop;
  const ConvertLoop loop = ScalarLoop(from, next);
  KASHI_CHECK(loop != nullptr) << primitive_util::LowercasePrimitiveTypeName(from) << " to "
                               << primitive_util::LowercasePrimitiveTypeName(next);
  return loop;
}

}  // namespace

class RowFunctionBuilder {
 public:
  RowFunction Build(const ElementForm& from, const ElementForm& to) {
    if (from.type == to.type) {
      Move(from.type, static_cast<int>(from.slot_bits), static_cast<int>(to.slot_bits), IsExtendedBySign(from.type));
    } else {
      Convert(from, to);
    }
    return result_;
  }

 private:
  // An s4 in a byte has high bits of 0, as in XLA (narrow_int.h).
  static bool IsExtendedBySign(PrimitiveType type) {
    return primitive_util::IsSignedIntegralType(type) && !IsNarrowInteger(type);
  }

  void Add(Stage::Function function, int from_slot, int to_slot, PrimitiveType type, bool is_signed) {
    AddStage({function, nullptr, from_slot, to_slot, BitsOf(type), is_signed});
  }
  void AddLoop(ConvertLoop loop, int from_slot, int to_slot) {
    AddStage({&RunLoop, loop, from_slot, to_slot, from_slot, false});
  }
  void AddStage(const Stage& stage) {
    KASHI_CHECK(result_.num_stages_ < RowFunction::kMaxStages);
    result_.stages_[result_.num_stages_++] = stage;
  }

  // Integers of such sizes are widened and cut; bits above the element's are right if it then fills its slot, or
  // if one side is bytes, which are made right there. nullptr otherwise.
  static ConvertLoop ResizeLoop(PrimitiveType type, int from_slot, int to_slot, bool is_signed) {
    const int smaller = std::min(from_slot, to_slot);
    const PrimitiveType unsigned_from = primitive_util::UnsignedIntegralTypeForBitWidth(from_slot);
    const PrimitiveType unsigned_to = primitive_util::UnsignedIntegralTypeForBitWidth(to_slot);
    if (unsigned_from == PRIMITIVE_TYPE_INVALID || unsigned_to == PRIMITIVE_TYPE_INVALID) return nullptr;
    if (from_slot == to_slot || (BitsOf(type) != smaller && smaller != 8)) return nullptr;
    return VectorLoop(is_signed ? primitive_util::SignedIntegralTypeForBitWidth(from_slot) : unsigned_from,
                      unsigned_to);
  }

  // Adds a stage between two slot sizes of one type.
  void Move(PrimitiveType type, int from_slot, int to_slot, bool is_signed) {
    if (from_slot == to_slot) {
      Add(IsPacked(from_slot) ? CopyPackedFunction() : &CopyBytes, from_slot, to_slot, type, is_signed);
      return;
    }
    if (IsPacked(from_slot)) Add(UnpackFunction(from_slot, is_signed), from_slot, 8, type, is_signed);
    const int from_bytes = std::max(from_slot, 8), to_bytes = std::max(to_slot, 8);
    const bool is_extended = BitsOf(type) < std::min(from_slot, to_slot);
    const ConvertLoop resize = ResizeLoop(type, from_bytes, to_bytes, is_signed);
    if (from_bytes != to_bytes && resize == nullptr) {
      Add(&ResizeSlots, from_bytes, to_bytes, type, is_signed);
    } else {
      if (is_extended && from_bytes == 8) AddLoop(ExtendLoop(BitsOf(type), is_signed), 8, 8);
      if (from_bytes != to_bytes) AddLoop(resize, from_bytes, to_bytes);
      if (is_extended && from_bytes != 8) AddLoop(ExtendLoop(BitsOf(type), is_signed), 8, 8);
    }
    if (IsPacked(to_slot)) Add(PackFunction(to_slot), 8, to_slot, type, is_signed);
  }

  void Convert(const ElementForm& from, const ElementForm& to) {
    const int native_from = NativeSlotOf(from.type), native_to = NativeSlotOf(to.type);
    PrimitiveType type = from.type;
    if (from.slot_bits != native_from) {
      Move(type, static_cast<int>(from.slot_bits), native_from, primitive_util::IsSignedIntegralType(type));
      if (IsNarrowInteger(type)) type = NextType(type, to.type);  // it has been extended
    }
    // Packing takes the low bits.
    const bool is_cut_later = to.slot_bits == BitsOf(to.type);
    for (PrimitiveType next; type != to.type; type = next) {
      next = NextType(type, to.type);
      if (is_cut_later && primitive_util::IsIntegralType(type) && IsNarrowInteger(next)) continue;
      const ConvertLoop loop = LoopOf(type, next, to.type);
      if (loop != nullptr) AddLoop(loop, NativeSlotOf(type), NativeSlotOf(next));
    }
    if (to.slot_bits != native_to) Move(to.type, native_to, static_cast<int>(to.slot_bits), IsExtendedBySign(to.type));
    if (result_.num_stages_ == 0) Add(&CopyBytes, native_from, native_to, to.type, false);
  }

  RowFunction result_;
};

void RowFunction::RunInPortions(const char* from, int64_t from_bit, char* to, int64_t to_bit, int64_t count) const {
  constexpr int64_t kPortion = 512;  // elements; of at most 16 bytes: two buffers are half of a small first cache
  alignas(64) char buffers[2][kPortion * 16];
  for (int64_t begin = 0; begin < count; begin += kPortion) {
    const int64_t size = std::min(kPortion, count - begin);
    const char* source = from;
    int64_t source_bit = from_bit + begin * stages_[0].from_slot;
    for (int i = 0; i + 1 < num_stages_; ++i) {
      char* const target = buffers[i % 2];
      stages_[i].function(stages_[i], source, source_bit, target, 0, size);
      source = target;
      source_bit = 0;
    }
    const Stage& last = stages_[num_stages_ - 1];
    last.function(last, source, source_bit, to, to_bit + begin * last.to_slot, size);
  }
}

RowFunction RowFunctionFor(const ElementForm& from, const ElementForm& to) {
  return RowFunctionBuilder().Build(from, to);
}

namespace {

absl::Status CheckForm(const char* side, const ElementForm& form) {
  if (!primitive_util::IsArrayType(form.type)) {
    return InvalidArgument("the %s has no elements: its type is %s", side, PrimitiveType_Name(form.type));
  }
  const int64_t slot = form.slot_bits;
  if (slot != 1 && slot != 2 && slot != 4 && (slot <= 0 || slot % 8 != 0 || slot > 128)) {
    return InvalidArgument("the %s has %d bits an element: not 1, 2, 4 or a multiple of 8 up to 128", side, slot);
  }
  if (slot < BitsOf(form.type)) {
    return InvalidArgument("the %s has %d bits an element, but a %s takes %d", side, slot,
                           primitive_util::LowercasePrimitiveTypeName(form.type), BitsOf(form.type));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckForms(const ElementForm& from, const ElementForm& to) {
  KASHI_RETURN_IF_ERROR(CheckForm("source", from));
  return CheckForm("target", to);
}

}  // namespace kashi::relayout
