// Tells ThreadSanitizer of the locks and reference counts of abseil, whose libraries are built without it: these
// functions take the place of those of the shared libraries in programs that are built with ThreadSanitizer. Elsewhere
// this file is empty.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/base/config.h"
#include "absl/status/internal/status_internal.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "kashi/base/check.h"

extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);

namespace kashi::base {
namespace {

#define KASHI_TEXT_OF_NAME(name) KASHI_TEXT_OF(name)
#define KASHI_TEXT_OF(name) #name

// The function of abseil's library, by the end of its name as compilers write it: that of absl::Mutex::Lock() is
// "5Mutex4LockEv".
void* FunctionOfAbseil(const char* end_of_name) {
  const std::string space = KASHI_TEXT_OF_NAME(ABSL_OPTION_INLINE_NAMESPACE_NAME);
  const std::string name = "_ZN4absl" + std::to_string(space.size()) + space + end_of_name;
  void* const function = dlsym(RTLD_NEXT, name.c_str());
  KASHI_CHECK(function != nullptr) << "abseil's shared libraries have no " << name;
  return function;
}

template <typename... Arguments>
using Method = void (*)(absl::Mutex* mutex, Arguments... arguments);

// Within these functions, conditions are read by the thread that holds the lock for the one that waits: after
// ThreadSanitizer was told that the lock is free.
template <typename... Arguments>
void CallWithoutReads(Method<Arguments...> function, absl::Mutex* mutex, Arguments... arguments) {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  function(mutex, arguments...);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

}  // namespace
}  // namespace kashi::base

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  static const auto lock = reinterpret_cast<kashi::base::Method<>>(kashi::base::FunctionOfAbseil("5Mutex4LockEv"));
  __tsan_mutex_pre_lock(this, 0);
  lock(this);
  __tsan_mutex_post_lock(this, 0, 0);
}

void Mutex::Unlock() {
  static const auto unlock = reinterpret_cast<kashi::base::Method<>>(kashi::base::FunctionOfAbseil("5Mutex6UnlockEv"));
  __tsan_mutex_pre_unlock(this, 0);
  kashi::base::CallWithoutReads(unlock, this);
  __tsan_mutex_post_unlock(this, 0);
}

void Mutex::Await(const Condition& condition) {
  static const auto await = reinterpret_cast<kashi::base::Method<const Condition*>>(
      kashi::base::FunctionOfAbseil("5Mutex5AwaitERKNS0_9ConditionE"));
  __tsan_mutex_pre_unlock(this, 0);
  __tsan_mutex_post_unlock(this, 0);
  kashi::base::CallWithoutReads(await, this, &condition);
  __tsan_mutex_pre_lock(this, 0);
  __tsan_mutex_post_lock(this, 0, 0);
}

Mutex::~Mutex() {
  static const auto destroy = reinterpret_cast<kashi::base::Method<>>(kashi::base::FunctionOfAbseil("5MutexD1Ev"));
  __tsan_mutex_destroy(this, 0);
  destroy(this);
}

// As abseil has it, but compiled with ThreadSanitizer.
void Status::UnrefNonInlined(uintptr_t rep) {
  status_internal::StatusRep* const counted = RepToPointer(rep);
  if (counted->ref.load(std::memory_order_acquire) == 1 || counted->ref.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete counted;
  }
}

ABSL_NAMESPACE_END
}  // namespace absl

#endif
#endif
