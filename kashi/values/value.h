// Value: the value of an instruction: an array, a token, or a tuple of values. The value of an operation that another
// one ends may be pending (pending_value.h): nobody reads it before that.
//
// An array is dense and row-major, for every layout of its instruction. Layouts say where elements are in memory, not
// what they are, and only `bitcast` needs them (kashi/evaluator/bitcast.cc). Elements have the bytes of their native
// type (kashi/array/types.h): an s4 has one byte. An array has its real sizes: a dimension with bound 5 and current
// size 3 has size 3 here.
//
// Values are cheap to copy: copies share memory, and tuples share their elements. Only two may write to memory: the
// operation that makes the value, before it shares it, and the holder of the only reference (is_unique). So updates can
// work in place.
#ifndef KASHI_VALUES_VALUE_H_
#define KASHI_VALUES_VALUE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/base/check.h"
#include "kashi/base/sole_owner.h"
#include "kashi/literal/literal.h"
#include "kashi/values/memory_budget.h"

namespace kashi {

namespace values {
class PendingValue;
}  // namespace values

// The shape of an array: element type and dimensions, static, with the default layout. Shared, because many values have
// the same shape. A module may have sizes that no memory can hold (f32[9223372036854775807,0,9223372036854775807]).
// Value::MakeArray checks whether there is enough memory.
using DenseShape = std::shared_ptr<const Shape>;
DenseShape MakeDenseShape(const Shape& array);
DenseShape MakeDenseShape(PrimitiveType type, absl::Span<const int64_t> dimensions);
// MakeDenseShape for unchecked sizes: INVALID_ARGUMENT if an array cannot have these sizes. (The limit depends on the
// width of the element type, even if one of the sizes is 0.)
absl::StatusOr<DenseShape> MakeCheckedDenseShape(PrimitiveType type, absl::Span<const int64_t> dimensions);

class Value {
 public:
  Value() = default;  // nothing: the state of a moved-from value

  // Uninitialised memory, aligned to 64 bytes. RESOURCE_EXHAUSTED, with shape and bytes, if the budget is exceeded.
  // Arrays of up to kSmallBytes are stored in the node itself, aligned to 16 bytes, and are not counted. With guard
  // pages, all are of the budget's memory, and aligned to the size of an element.
  static absl::StatusOr<Value> MakeArray(DenseShape shape, const std::shared_ptr<MemoryBudget>& budget);
  // The same, aligned to 64 bytes and counted whatever its size.
  static absl::StatusOr<Value> MakeAlignedArray(DenseShape shape, const std::shared_ptr<MemoryBudget>& budget);
  // Uses memory that `owner` keeps alive. Never unique. With guard pages, it is a copy if the memory is not between
  // them, and a write to it ends the process.
  static Value Borrow(DenseShape shape, const void* data, std::shared_ptr<const void> owner);
  // Memory that the value owns: unique, as an array of MakeArray. The deleter of `memory` frees it. The address may be
  // one of a device, which means nothing on the host (kashi/engine/device_memory.h).
  static Value Owning(DenseShape shape, std::shared_ptr<void> memory);
  // Memory of the caller's that the value may write to: unique, as an array of its own. It must outlive the value.
  static Value OnMemory(DenseShape shape, void* data);
  static Value MakeTuple(std::vector<Value> elements);
  static Value MakeToken();
  static Value MakePending(std::shared_ptr<values::PendingValue> pending);

  // Of dynamic arrays, only the valid elements. Copies them, unless the literal is dense and row-major and `owner`
  // keeps it alive. UNIMPLEMENTED for opaque values, INVALID_ARGUMENT for unknown ones.
  static absl::StatusOr<Value> FromLiteral(const LiteralBase& literal, const std::shared_ptr<MemoryBudget>& budget,
                                           std::shared_ptr<const void> owner = nullptr);
  // A literal with the shape of the instruction, with its layouts and dynamic bounds. Sizes above a bound are cut, as
  // in XLA. Dies if the value has a different shape.
  absl::StatusOr<Literal> ToLiteral(const Shape& shape) const;

  bool is_nothing() const { return node_ == nullptr; }
  bool is_array() const { return node_ != nullptr && node_->shape != nullptr; }
  bool is_tuple() const { return node_ != nullptr && node_->is_tuple; }
  // Null: the value is there.
  values::PendingValue* pending() const { return node_ == nullptr ? nullptr : node_->pending.get(); }

  // ---- Arrays. These functions die for other values.
  const Shape& shape() const { return *dense_shape(); }
  const DenseShape& dense_shape() const {
    KASHI_CHECK(is_array());
    return node_->shape;
  }
  PrimitiveType element_type() const { return shape().element_type(); }
  absl::Span<const int64_t> dimensions() const { return shape().dimensions(); }
  int64_t dimension(int64_t i) const { return shape().dimensions(i); }
  int rank() const { return static_cast<int>(shape().dimensions().size()); }
  int64_t element_count() const { return node_->element_count; }
  int element_bytes() const { return node_->element_bytes; }
  int64_t byte_count() const { return element_count() * element_bytes(); }

  const void* untyped_data() const {
    KASHI_CHECK(is_array());
    return node_->data;
  }
  const char* bytes() const { return static_cast<const char*>(untyped_data()); }
  template <typename T>
  absl::Span<const T> data() const {
    KASHI_CHECK(element_type() == primitive_util::NativeToPrimitiveType<T>());
    return absl::MakeConstSpan(static_cast<const T*>(untyped_data()), static_cast<size_t>(element_count()));
  }

  // Whether this is the only reference to the memory, so that the holder may write to it.
  bool is_unique() const { return node_ != nullptr && !node_->is_borrowed && base::IsSoleOwner(node_); }
  // Whether the memory is an allocation of a MemoryBudget.
  bool is_of_budget() const { return node_ != nullptr && node_->budget != nullptr; }
  // Die unless unique.
  void* mutable_data() {
    KASHI_CHECK(is_unique());
    return node_->data;
  }
  char* mutable_bytes() { return static_cast<char*>(mutable_data()); }
  template <typename T>
  absl::Span<T> mutable_data() {
    KASHI_CHECK(element_type() == primitive_util::NativeToPrimitiveType<T>());
    return absl::MakeSpan(static_cast<T*>(mutable_data()), static_cast<size_t>(element_count()));
  }
  // Also keeps `keeper` alive as long as memory that the value, or an element of it, borrows.
  static Value KeepingAlive(Value value, const std::shared_ptr<const void>& keeper);
  // The value's elements with a new shape. The numbers of elements and the bytes of an element must be equal. Reuses
  // the memory if unique, otherwise shares it.
  static Value WithShape(Value value, DenseShape shape);

  // Of an array of bf16 that an operation computed: the numbers before they were rounded, f32. Nothing if no convert
  // asks for them (kashi/evaluator/excess_precision.h). Only copies and moves of this Value have them; elements of
  // tuples do not.
  Value unrounded() const { return Value(unrounded_); }
  void set_unrounded(Value wide) { unrounded_ = std::move(wide.node_); }
  void DropUnrounded() { unrounded_ = nullptr; }

  // ---- Tuples. Die for other values.
  absl::Span<const Value> elements() const {
    KASHI_CHECK(is_tuple());
    return node_->elements;
  }
  const Value& element(int64_t i) const { return elements()[i]; }
  // Moves the element out of the tuple if the tuple is unique, otherwise copies it.
  static Value TakeElement(Value tuple, int64_t i);

 private:
  static constexpr int64_t kSmallBytes = 64;

  struct Node {
    ~Node();
    DenseShape shape;  // null: not an array
    void* data = nullptr;
    int64_t element_count = 0;
    int element_bytes = 0;
    bool is_tuple = false;
    bool is_borrowed = false;           // others may read the memory
    std::shared_ptr<const void> owner;  // of memory that is not the budget's; null: the caller keeps it
    std::shared_ptr<MemoryBudget> budget;
    std::vector<Value> elements;
    std::shared_ptr<values::PendingValue> pending;
    alignas(16) char small[kSmallBytes];
  };
  explicit Value(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  static std::shared_ptr<Node> MakeArrayNode(DenseShape shape, int64_t element_count);

  std::shared_ptr<Node> node_;
  std::shared_ptr<Node> unrounded_;
};

}  // namespace kashi

#endif  // KASHI_VALUES_VALUE_H_
