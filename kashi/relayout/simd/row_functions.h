// Rows of elements that change their form: from one slot size to another (packed 1, 2 and 4 bits, whole bytes), from
// one type to another, or both. The elements of a row follow one another on both sides.
#ifndef KASHI_RELAYOUT_SIMD_ROW_FUNCTIONS_H_
#define KASHI_RELAYOUT_SIMD_ROW_FUNCTIONS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kashi/array/primitive_type.h"

namespace kashi::relayout {

// Moves rows between two forms; from RowFunctionFor. A small value, free to copy; any number of threads may call one at
// once.
class RowFunction {
 public:
  // One pass over a row. A function has one pass, or several in portions, whose forms between stay in the first cache:
  // s4 packed -> s8 -> f32 -> bf16.
  struct Stage {
    using Function = void (*)(const Stage& stage, const char* from, int64_t from_bit, char* to, int64_t to_bit,
                              int64_t count);
    Function function;
    void (*loop)(const char* from, char* to, int64_t count);  // for stages from whole bytes to whole bytes, or nullptr
    int from_slot;                                            // bits
    int to_slot;
    int bits;  // of the element in its slot
    bool is_signed;
  };

  // Nothing to call.
  RowFunction() = default;
  explicit operator bool() const { return num_stages_ > 0; }

  // Moves `count` elements. `from_bit` and `to_bit` are the bits before the first element, counted from the addresses
  // (they may exceed 8); multiples of the slot size (of 8, if that is more than 8). Bits of the target that are not the
  // row's keep their values (a byte that the row shares with others is read and written). The sides do not overlap.
  void operator()(const char* from, int64_t from_bit, char* to, int64_t to_bit, int64_t count) const {
    if (count == 0) return;  // the stages may look at the first element's byte, and the addresses may be null
    if (num_stages_ == 1) {
      stages_[0].function(stages_[0], from, from_bit, to, to_bit, count);
    } else {
      RunInPortions(from, from_bit, to, to_bit, count);
    }
  }

 private:
  friend class RowFunctionBuilder;
  static constexpr int kMaxStages = 8;

  void RunInPortions(const char* from, int64_t from_bit, char* to, int64_t to_bit, int64_t count) const;

  int num_stages_ = 0;
  Stage stages_[kMaxStages];
};

// The form of an element in memory: its type, and the bits of its slot (1, 2, 4, or a multiple of 8).
struct ElementForm {
  PrimitiveType type;
  int64_t slot_bits;
};

// The fastest function for this pair of forms on this processor. Pre: CheckForms accepts them.
//
//   equal types       equal slots: all bits of the slots move. Else the bits of the element do; where the slot
//                     of the target is wider, a signed integer of at least 8 bits is sign-extended, anything
//                     else zero-extended
//   different types   as by XLA's convert (docs/spec/hlo-ops.md 1.5; ConvertElement, bit for bit, if the target's slot
//                     is that of the native type). Other slots: as above
RowFunction RowFunctionFor(const ElementForm& from, const ElementForm& to);

// Calls it for addresses and bits of any sign: row functions count bits from an address upwards; where a side has
// negative strides, its bits are counted downwards.
inline void CallRowFunction(const RowFunction& function, const char* from, int64_t from_bit, char* to, int64_t to_bit,
                            int64_t count) {
  function(from + (from_bit >> 3), from_bit & 7, to + (to_bit >> 3), to_bit & 7, count);
}

// INVALID_ARGUMENT: a type that has no elements (tuple, token, opaque), a slot that is too small for its type, or of a
// size that is neither 1, 2, 4 nor a multiple of 8 up to 128 bits.
absl::Status CheckForms(const ElementForm& from, const ElementForm& to);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_ROW_FUNCTIONS_H_
