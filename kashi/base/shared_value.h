// SharedValue<T>: a shared immutable value with a reference count, of the size of one pointer. Counting is thread-safe.
#ifndef KASHI_BASE_SHARED_VALUE_H_
#define KASHI_BASE_SHARED_VALUE_H_

#include <atomic>
#include <cstdint>
#include <utility>

namespace kashi::base {

template <typename T>
class SharedValue {
 public:
  SharedValue() = default;  // none
  explicit SharedValue(T value) : node_(new Node{{1}, std::move(value)}) {}
  SharedValue(const SharedValue& other) : node_(other.node_) {
    if (node_) node_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedValue(SharedValue&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  SharedValue& operator=(SharedValue other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~SharedValue() {
    if (node_ && node_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
  }

  explicit operator bool() const { return node_ != nullptr; }
  const T& operator*() const { return node_->value; }
  const T* operator->() const { return &node_->value; }
  // The value to write to: a copy of it if others share it.
  T* Mutable() {
    if (node_->owners.load(std::memory_order_acquire) != 1) *this = SharedValue(node_->value);
    return &node_->value;
  }
  bool SameAs(const SharedValue& other) const { return node_ == other.node_; }

 private:
  struct Node {
    std::atomic<int32_t> owners;
    T value;
  };
  Node* node_ = nullptr;
};

}  // namespace kashi::base

#endif  // KASHI_BASE_SHARED_VALUE_H_
