// What the small records of HLO (Window, DotDimensionNumbers, …) are made of.
//
// In XLA these records are proto messages, and code written against XLA calls their generated accessors: `x()`,
// `set_x()`, `add_x()`, `mutable_x()`, `x_size()`, `clear_x()`. Here they are plain values with the same accessors, so
// that this room needs no protobuf; kashi/proto turns them into wire messages and back. A record is
//
//   class SourceTarget {
//     KASHI_SCALAR(int64_t, source, 0)
//     KASHI_SCALAR(int64_t, target, 0)
//     KASHI_RECORD(SourceTarget, source_, target_)
//   };
//
// KASHI_RECORD, which must name all members, gives ==, !=, hashing and Clear().
#ifndef KASHI_HLO_MESSAGE_H_
#define KASHI_HLO_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace kashi {

// A list with the names that protobuf's lists have. Two numbers fit without an allocation.
template <typename T>
class RepeatedField : public absl::InlinedVector<T, (sizeof(T) <= 8 ? 16 / sizeof(T) : 1)> {
  using Base = absl::InlinedVector<T, (sizeof(T) <= 8 ? 16 / sizeof(T) : 1)>;

 public:
  using Base::Base;
  RepeatedField() = default;
  explicit RepeatedField(absl::Span<const T> values) : Base(values.begin(), values.end()) {}

  int size() const { return static_cast<int>(Base::size()); }
  T* Add() { return &this->emplace_back(); }
  void Add(T value) { this->push_back(std::move(value)); }
  template <typename Iterator>
  void Add(Iterator begin, Iterator end) {
    this->insert(this->end(), begin, end);
  }
  template <typename Iterator>
  void Assign(Iterator begin, Iterator end) {
    this->assign(begin, end);
  }
  const T& Get(int i) const { return (*this)[i]; }
  T* Mutable(int i) { return &(*this)[i]; }
  void Set(int i, T value) { (*this)[i] = std::move(value); }
  void Clear() { this->clear(); }
  void Reserve(int size) { this->reserve(size); }
  void RemoveLast() { this->pop_back(); }
};
template <typename T>
using RepeatedPtrField = RepeatedField<T>;

// A record within a record that need not be there: nothing at all until somebody writes to it. A value: copying copies it.
template <typename T>
class OptionalMessage {
 public:
  OptionalMessage() = default;
  OptionalMessage(const OptionalMessage& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  OptionalMessage(OptionalMessage&&) noexcept = default;
  OptionalMessage& operator=(const OptionalMessage& other) {
    value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
    return *this;
  }
  OptionalMessage& operator=(OptionalMessage&&) noexcept = default;

  bool has_value() const { return value_ != nullptr; }
  const T& value() const {
    static const T* const absent = new T();
    return value_ ? *value_ : *absent;
  }
  T* mutable_value() {
    if (!value_) value_ = std::make_unique<T>();
    return value_.get();
  }
  void reset() { value_.reset(); }

  friend bool operator==(const OptionalMessage& a, const OptionalMessage& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || *a.value_ == *b.value_);
  }
  template <typename H>
  friend H AbslHashValue(H h, const OptionalMessage& message) {
    h = H::combine(std::move(h), message.has_value());
    return message.has_value() ? H::combine(std::move(h), *message.value_) : std::move(h);
  }

 private:
  std::unique_ptr<T> value_;
};

// A number, truth value, enum or string.
#define KASHI_SCALAR(type, name, default_value)               \
 public:                                                      \
  const type& name() const { return name##_; }                \
  void set_##name(type value) { name##_ = std::move(value); } \
  type* mutable_##name() { return &name##_; }                 \
  void clear_##name() { name##_ = default_value; }            \
                                                              \
 private:                                                     \
  type name##_ = default_value;

// A list of numbers, enums or strings.
#define KASHI_REPEATED(type, name)                                      \
 public:                                                                \
  const RepeatedField<type>& name() const { return name##_; }           \
  const type& name(int i) const { return name##_[i]; }                  \
  int name##_size() const { return name##_.size(); }                    \
  void add_##name(type value) { name##_.Add(std::move(value)); }        \
  void set_##name(int i, type value) { name##_[i] = std::move(value); } \
  RepeatedField<type>* mutable_##name() { return &name##_; }            \
  type* mutable_##name(int i) { return &name##_[i]; }                   \
  void clear_##name() { name##_.clear(); }                              \
                                                                        \
 private:                                                               \
  RepeatedField<type> name##_;

// A list of records.
#define KASHI_REPEATED_MESSAGE(type, name)                    \
 public:                                                      \
  const RepeatedField<type>& name() const { return name##_; } \
  const type& name(int i) const { return name##_[i]; }        \
  int name##_size() const { return name##_.size(); }          \
  type* add_##name() { return name##_.Add(); }                \
  RepeatedField<type>* mutable_##name() { return &name##_; }  \
  type* mutable_##name(int i) { return &name##_[i]; }         \
  void clear_##name() { name##_.clear(); }                    \
                                                              \
 private:                                                     \
  RepeatedField<type> name##_;

// A record that may be absent; reading an absent one reads an empty one.
#define KASHI_MESSAGE(type, name)                            \
 public:                                                     \
  bool has_##name() const { return name##_.has_value(); }    \
  const type& name() const { return name##_.value(); }       \
  type* mutable_##name() { return name##_.mutable_value(); } \
  void clear_##name() { name##_.reset(); }                   \
                                                             \
 private:                                                    \
  OptionalMessage<type> name##_;

#define KASHI_RECORD(type, ...)                                                               \
 private:                                                                                     \
  auto Members() const { return std::tie(__VA_ARGS__); }                                      \
                                                                                              \
 public:                                                                                      \
  void Clear() { *this = type(); }                                                            \
  void CopyFrom(const type& other) { *this = other; }                                         \
  void Swap(type* other) { std::swap(*this, *other); }                                        \
  static const type& default_instance() {                                                     \
    static const type* const instance = new type();                                           \
    return *instance;                                                                         \
  }                                                                                           \
  friend bool operator==(const type& a, const type& b) { return a.Members() == b.Members(); } \
  friend bool operator!=(const type& a, const type& b) { return !(a == b); }                  \
  template <typename H>                                                                       \
  friend H AbslHashValue(H h, const type& record) {                                           \
    return H::combine(std::move(h), record.Members());                                        \
  }

}  // namespace kashi

#endif  // KASHI_HLO_MESSAGE_H_
