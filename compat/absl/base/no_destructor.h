// abseil's own header where it has one; else absl::NoDestructor.
#ifndef KASHI_COMPAT_ABSL_BASE_NO_DESTRUCTOR_H_
#define KASHI_COMPAT_ABSL_BASE_NO_DESTRUCTOR_H_

#if __has_include_next("absl/base/no_destructor.h")
#include_next "absl/base/no_destructor.h"
#else

#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

namespace absl {

// A T that is never destroyed, for statics: `static const absl::NoDestructor<std::vector<int>> list({1, 2});`
template <typename T>
class NoDestructor {
 public:
  template <typename... Args,
            typename = std::enable_if_t<!std::is_same_v<void(std::decay_t<Args>...), void(NoDestructor)> &&
                                        std::is_constructible_v<T, Args...>>>
  explicit NoDestructor(Args&&... args) {
    ::new (&storage_) T(std::forward<Args>(args)...);
  }
  explicit NoDestructor(const T& value) { ::new (&storage_) T(value); }
  explicit NoDestructor(T&& value) { ::new (&storage_) T(std::move(value)); }
  NoDestructor(const NoDestructor&) = delete;
  NoDestructor& operator=(const NoDestructor&) = delete;

  T* get() { return std::launder(reinterpret_cast<T*>(&storage_)); }
  const T* get() const { return std::launder(reinterpret_cast<const T*>(&storage_)); }
  T& operator*() { return *get(); }
  const T& operator*() const { return *get(); }
  T* operator->() { return get(); }
  const T* operator->() const { return get(); }

 private:
  alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace absl

#endif  // abseil has none

#endif  // KASHI_COMPAT_ABSL_BASE_NO_DESTRUCTOR_H_
