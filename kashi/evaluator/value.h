// Value: what an instruction evaluates to: an array, a token, or a tuple of values.
//
// An array lies dense in logical row-major order, whatever layout its instruction has: layouts say where elements lie,
// not what they are, and only `bitcast` asks (bitcast.cc). Elements take the bytes of their native type
// (kashi/array/types.h: an s4 one byte). An array has the sizes that it really has: a dimension of bound 5 of which 3
// are in use is a 3 here.
//
// Values are cheap to copy: copies share memory, and a tuple shares its elements. Memory is written by its maker,
// before it is shared; and by the holder of the only reference (is_unique), which is how updates happen in place.
#ifndef KASHI_EVALUATOR_VALUE_H_
#define KASHI_EVALUATOR_VALUE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/base/check.h"
#include "kashi/literal/literal.h"

namespace kashi {

// Of an array: its element type and dimensions alone, static and in the default layout. Shared, for many values have
// it. The sizes may be those that a module has and no memory could hold
// (f32[9223372036854775807,0,9223372036854775807]): it is Value::MakeArray that says whether there is room.
using DenseShape = std::shared_ptr<const Shape>;
DenseShape MakeDenseShape(const Shape& array);
DenseShape MakeDenseShape(PrimitiveType type, absl::Span<const int64_t> dimensions);
// The same for sizes that nobody has looked at yet: INVALID_ARGUMENT where an array cannot be that large. (A type can
// be too wide for sizes that a narrower one may have, even where one of them is 0.)
absl::StatusOr<DenseShape> MakeCheckedDenseShape(PrimitiveType type, absl::Span<const int64_t> dimensions);

// The memory of a run: how many bytes it may have in arrays at one time, and blocks for them. Blocks that were given
// back are kept for the next array: fresh ones cost a page fault every 4 KiB, which takes longer than most
// operations. The run keeps those of middling size; large ones come from the pool of the process
// (kashi/base/page_buffer.h) and outlive the run there. Kept blocks do not count against the limit. Thread-safe.
class MemoryBudget {
 public:
  // 0: seven eighths of what the machine and its control groups have available when memory is first asked for (the
  // rest is for what no budget counts: modules, arguments, the system).
  explicit MemoryBudget(int64_t limit_bytes) : limit_(limit_bytes) {}
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Uninitialised, aligned to 64 bytes; null beyond the limit, or if the machine gives no more.
  void* Allocate(int64_t bytes);
  void Free(void* data, int64_t bytes);

  // Counts memory that somebody else allocates: scratch. RESOURCE_EXHAUSTED, naming what it is for, beyond the limit.
  absl::Status Reserve(int64_t bytes, absl::string_view what);
  void Release(int64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t limit();

 private:
  static int64_t CapacityFor(int64_t bytes);
  static bool IsKept(int64_t capacity);
  // False, and nothing taken, beyond the limit.
  bool Take(int64_t bytes);
  void* TakeKept(int64_t capacity);
  void DropKept();

  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> limit_;  // 0: not yet looked up
  std::mutex mutex_;
  std::multimap<int64_t, void*> kept_;  // by capacity
  int64_t kept_bytes_ = 0;
};

// Memory of an operation beside its results, counted as long as this lives.
class ScratchMemory {
 public:
  static absl::StatusOr<ScratchMemory> Reserve(std::shared_ptr<MemoryBudget> budget, int64_t bytes,
                                               absl::string_view what);
  ScratchMemory(ScratchMemory&&) = default;
  ~ScratchMemory() {
    if (budget_ != nullptr) budget_->Release(bytes_);
  }

 private:
  ScratchMemory(std::shared_ptr<MemoryBudget> budget, int64_t bytes) : budget_(std::move(budget)), bytes_(bytes) {}
  std::shared_ptr<MemoryBudget> budget_;
  int64_t bytes_;
};

class Value {
 public:
  Value() = default;  // nothing: what a moved-from value is

  // Uninitialised memory, aligned to 64 bytes. RESOURCE_EXHAUSTED, naming shape and bytes, beyond the budget. Arrays
  // of up to kSmallBytes lie in the node itself, are aligned to 16 bytes, and are not counted.
  static absl::StatusOr<Value> MakeArray(DenseShape shape, const std::shared_ptr<MemoryBudget>& budget);
  // Somebody's memory, which `owner` keeps alive. Never unique.
  static Value Borrow(DenseShape shape, const void* data, std::shared_ptr<const void> owner);
  static Value MakeTuple(std::vector<Value> elements);
  static Value MakeToken();

  // Valid elements of dynamic arrays only. A copy, unless the literal lies as a value does and `owner` keeps it alive.
  // UNIMPLEMENTED for opaque values; INVALID_ARGUMENT for unknown ones.
  static absl::StatusOr<Value> FromLiteral(const LiteralBase& literal, const std::shared_ptr<MemoryBudget>& budget,
                                           std::shared_ptr<const void> owner = nullptr);
  // Under the shape of the instruction: its layouts, and bounds where it is dynamic (sizes above a bound are cut, as
  // XLA cuts them). Dies unless the shape is that of the value.
  absl::StatusOr<Literal> ToLiteral(const Shape& shape) const;

  bool is_nothing() const { return node_ == nullptr; }
  bool is_array() const { return node_ != nullptr && node_->shape != nullptr; }
  bool is_tuple() const { return node_ != nullptr && node_->is_tuple; }

  // ---- Arrays. These die for other values.
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

  // Whether nobody else holds this memory, so that its holder may write.
  bool is_unique() const { return node_ != nullptr && node_.use_count() == 1 && node_->owner == nullptr; }
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
  // The same elements under another shape of as many elements of as many bytes. Keeps the memory if unique, else
  // shares it.
  static Value WithShape(Value value, DenseShape shape);

  // ---- Tuples. Die for other values.
  absl::Span<const Value> elements() const {
    KASHI_CHECK(is_tuple());
    return node_->elements;
  }
  const Value& element(int64_t i) const { return elements()[i]; }
  // Takes the element out if the tuple is unique (and leaves nothing there), else a copy.
  static Value TakeElement(Value tuple, int64_t i);

 private:
  static constexpr int64_t kSmallBytes = 64;

  struct Node {
    ~Node();
    DenseShape shape;  // null: no array
    void* data = nullptr;
    int64_t element_count = 0;
    int element_bytes = 0;
    bool is_tuple = false;
    std::shared_ptr<const void> owner;  // of the memory, if it is not ours
    std::shared_ptr<MemoryBudget> budget;
    std::vector<Value> elements;
    alignas(16) char small[kSmallBytes];
  };
  explicit Value(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  static std::shared_ptr<Node> MakeArrayNode(DenseShape shape, int64_t element_count);

  std::shared_ptr<Node> node_;
};

}  // namespace kashi

#endif  // KASHI_EVALUATOR_VALUE_H_
