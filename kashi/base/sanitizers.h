// KASHI_SANITIZED is 1 where the address, thread or memory sanitizer watches this code, else 0: it makes code slow, and
// has an allocator of its own. KASHI_THREAD_SANITIZED is 1 where it is the thread sanitizer.
#ifndef KASHI_BASE_SANITIZERS_H_
#define KASHI_BASE_SANITIZERS_H_

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KASHI_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define KASHI_SANITIZED 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define KASHI_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KASHI_THREAD_SANITIZED 1
#endif
#endif

#ifndef KASHI_THREAD_SANITIZED
#define KASHI_THREAD_SANITIZED 0
#endif

#ifndef KASHI_SANITIZED
#define KASHI_SANITIZED 0
#endif

#endif  // KASHI_BASE_SANITIZERS_H_
