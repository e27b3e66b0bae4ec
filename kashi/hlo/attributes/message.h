// The building blocks of HLO's small records (Window, DotDimensionNumbers, …).
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
// KASHI_RECORD, which must name all members, defines ==, !=, hashing and Clear(). Records that have a message in
// kashi/proto/wire.proto also get the functions of messages for bytes and text (SerializeAsString(), ParseFromString(),
// DebugString()), which need kashi::proto.
#ifndef KASHI_HLO_ATTRIBUTES_MESSAGE_H_
#define KASHI_HLO_ATTRIBUTES_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kashi {

// A list with the interface of protobuf's lists. Two numbers fit without an allocation.
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

// A list of records with the interface of protobuf's lists. Each record has its own allocation and does not move if
// the list grows. As in protobuf, a pointer from Add() or Mutable() is valid until its record is removed.
template <typename T>
class RepeatedPtrField {
  using Pointers = std::vector<std::unique_ptr<T>>;

  template <typename Element, typename Base>
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = ptrdiff_t;
    using pointer = Element*;
    using reference = Element&;

    Iterator() = default;
    explicit Iterator(Base base) : base_(base) {}
    template <typename OtherElement, typename OtherBase>
    Iterator(const Iterator<OtherElement, OtherBase>& other)
        : base_(other.base()) {}  // NOLINT: to an iterator of const
    Base base() const { return base_; }

    reference operator*() const { return **base_; }
    pointer operator->() const { return base_->get(); }
    reference operator[](ptrdiff_t n) const { return *base_[n]; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return Iterator(base_++); }
    Iterator operator--(int) { return Iterator(base_--); }
    Iterator& operator+=(ptrdiff_t n) {
      base_ += n;
      return *this;
    }
    Iterator& operator-=(ptrdiff_t n) { return *this += -n; }
    friend Iterator operator+(Iterator i, ptrdiff_t n) { return i += n; }
    friend Iterator operator+(ptrdiff_t n, Iterator i) { return i += n; }
    friend Iterator operator-(Iterator i, ptrdiff_t n) { return i -= n; }
    friend ptrdiff_t operator-(Iterator a, Iterator b) { return a.base_ - b.base_; }
    friend bool operator==(Iterator a, Iterator b) { return a.base_ == b.base_; }
    friend bool operator!=(Iterator a, Iterator b) { return a.base_ != b.base_; }
    friend bool operator<(Iterator a, Iterator b) { return a.base_ < b.base_; }
    friend bool operator>(Iterator a, Iterator b) { return b < a; }
    friend bool operator<=(Iterator a, Iterator b) { return !(b < a); }
    friend bool operator>=(Iterator a, Iterator b) { return !(a < b); }

   private:
    Base base_;
  };

 public:
  using value_type = T;
  using reference = T&;
  using const_reference = const T&;
  using size_type = int;
  using difference_type = ptrdiff_t;
  using iterator = Iterator<T, typename Pointers::iterator>;
  using const_iterator = Iterator<const T, typename Pointers::const_iterator>;

  RepeatedPtrField() = default;
  template <typename Input, typename = typename std::iterator_traits<Input>::iterator_category>
  RepeatedPtrField(Input begin, Input end) {
    Add(begin, end);
  }
  RepeatedPtrField(const RepeatedPtrField& other) : RepeatedPtrField(other.begin(), other.end()) {}
  RepeatedPtrField(RepeatedPtrField&&) noexcept = default;
  RepeatedPtrField& operator=(const RepeatedPtrField& other) {
    if (this != &other) Assign(other.begin(), other.end());
    return *this;
  }
  RepeatedPtrField& operator=(RepeatedPtrField&&) noexcept = default;

  int size() const { return static_cast<int>(records_.size()); }
  bool empty() const { return records_.empty(); }
  const T& operator[](int i) const { return *records_[i]; }
  T& operator[](int i) { return *records_[i]; }
  const T& Get(int i) const { return *records_[i]; }
  const T& at(int i) const { return *records_.at(i); }
  T& at(int i) { return *records_.at(i); }
  T* Mutable(int i) { return records_[i].get(); }
  const T& front() const { return *records_.front(); }
  const T& back() const { return *records_.back(); }
  T& front() { return *records_.front(); }
  T& back() { return *records_.back(); }
  iterator begin() { return iterator(records_.begin()); }
  iterator end() { return iterator(records_.end()); }
  const_iterator begin() const { return const_iterator(records_.begin()); }
  const_iterator end() const { return const_iterator(records_.end()); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }

  T* Add() { return records_.emplace_back(std::make_unique<T>()).get(); }
  void Add(T value) { *Add() = std::move(value); }
  template <typename Input>
  void Add(Input begin, Input end) {
    for (; begin != end; ++begin) Add(*begin);
  }
  void push_back(T value) { Add(std::move(value)); }
  T& emplace_back() { return *Add(); }
  template <typename Input>
  void Assign(Input begin, Input end) {
    RepeatedPtrField copy(begin, end);
    *this = std::move(copy);
  }
  void resize(int size) {
    while (this->size() > size) RemoveLast();
    while (this->size() < size) Add();
  }
  void reserve(int size) { records_.reserve(size); }
  void Reserve(int size) { reserve(size); }
  void clear() { records_.clear(); }
  void Clear() { clear(); }
  void RemoveLast() { records_.pop_back(); }
  void pop_back() { RemoveLast(); }
  iterator erase(const_iterator at) { return iterator(records_.erase(at.base())); }
  iterator erase(const_iterator begin, const_iterator end) {
    return iterator(records_.erase(begin.base(), end.base()));
  }
  void DeleteSubrange(int start, int count) { erase(begin() + start, begin() + (start + count)); }
  void SwapElements(int i, int j) { std::swap(records_[i], records_[j]); }
  void CopyFrom(const RepeatedPtrField& other) { *this = other; }
  void Swap(RepeatedPtrField* other) { records_.swap(other->records_); }

  friend bool operator==(const RepeatedPtrField& a, const RepeatedPtrField& b) {
    if (a.size() != b.size()) return false;
    for (int i = 0; i < a.size(); ++i) {
      if (!(a[i] == b[i])) return false;
    }
    return true;
  }
  friend bool operator!=(const RepeatedPtrField& a, const RepeatedPtrField& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const RepeatedPtrField& list) {
    for (const T& record : list) h = H::combine(std::move(h), record);
    return H::combine(std::move(h), list.size());
  }

 private:
  Pointers records_;
};

namespace message_internal {

// Defined in kashi/proto for every record of wire.proto (the members that call them are templates, so that only callers
// need the definition). Reading returns false for other bytes; the contents of the record are then unspecified. The
// text is protobuf's, on one line or indented.
template <typename Record>
std::string BytesOfRecord(const Record& record);
template <typename Record>
bool ReadRecord(absl::string_view bytes, Record* record);
template <typename Record>
std::string TextOfRecord(const Record& record, bool one_line);
template <typename Record>
bool ReadRecordText(absl::string_view text, Record* record);

}  // namespace message_internal

// An optional record within a record: not present until it is written. A value type: a copy has its own record.
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

// A list of records. Pointers to them stay valid while the list grows.
#define KASHI_REPEATED_MESSAGE(type, name)                       \
 public:                                                         \
  const RepeatedPtrField<type>& name() const { return name##_; } \
  const type& name(int i) const { return name##_[i]; }           \
  int name##_size() const { return name##_.size(); }             \
  type* add_##name() { return name##_.Add(); }                   \
  RepeatedPtrField<type>* mutable_##name() { return &name##_; }  \
  type* mutable_##name(int i) { return name##_.Mutable(i); }     \
  void clear_##name() { name##_.clear(); }                       \
                                                                 \
 private:                                                        \
  RepeatedPtrField<type> name##_;

// A record that may be absent. Reading an absent record gives an empty one.
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
  void Clear() { *this = default_instance(); }                                                \
  void CopyFrom(const type& other) { *this = other; }                                         \
  void Swap(type* other) { std::swap(*this, *other); }                                        \
  template <typename Record = type>                                                           \
  std::string SerializeAsString() const {                                                     \
    return message_internal::BytesOfRecord<Record>(*this);                                    \
  }                                                                                           \
  template <typename Record = type>                                                           \
  bool SerializeToString(std::string* bytes) const {                                          \
    *bytes = SerializeAsString<Record>();                                                     \
    return true;                                                                              \
  }                                                                                           \
  template <typename Record = type>                                                           \
  size_t ByteSizeLong() const {                                                               \
    return SerializeAsString<Record>().size();                                                \
  }                                                                                           \
  template <typename Record = type>                                                           \
  bool ParseFromString(const std::string& bytes) {                                            \
    return message_internal::ReadRecord<Record>(bytes, this);                                 \
  }                                                                                           \
  template <typename Record = type>                                                           \
  std::string DebugString() const {                                                           \
    return message_internal::TextOfRecord<Record>(*this, /*one_line=*/false);                 \
  }                                                                                           \
  template <typename Record = type>                                                           \
  std::string ShortDebugString() const {                                                      \
    return message_internal::TextOfRecord<Record>(*this, /*one_line=*/true);                  \
  }                                                                                           \
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

#endif  // KASHI_HLO_ATTRIBUTES_MESSAGE_H_
