// Guard pages: a way to find accesses beyond an array, for tests and bug reports. Each array lies in pages of its own,
// between two pages that nothing may touch. An access beyond it ends the process at that instruction, also in machine
// code that no sanitizer sees, with a line on standard error:
//
//   kashi: guard pages: multiply.fusion reads byte 132 of v, which has 132 bytes
//
//   kBehind   |guard|      [array]|guard|      the array ends where the guard behind it begins
//   kBefore   |guard|[array]      |guard|      the array begins where the guard before it ends
//
// Elements are then aligned to their size only, so code that needs a larger alignment fails, too. New memory is filled
// with a pattern, so that unwritten elements look wrong: all ones behind (NaN, -1), 0x7f before (3.4e38).
//
// The placement holds for the process. The variable KASHI_GUARD_PAGES of the environment sets it, tests use
// WithGuardPages. Off, an allocation and a step of the evaluator cost a load and a branch more, and code nothing.
#ifndef KASHI_BASE_GUARD_PAGES_H_
#define KASHI_BASE_GUARD_PAGES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/strings/string_view.h"

namespace kashi::base {

enum class GuardPages : char { kOff, kBehind, kBefore };

// The variable of the environment: "behind" or "before"; with any other value they stay off.
inline constexpr const char* kGuardPagesVariable = "KASHI_GUARD_PAGES";
// The placement that the text names, for readers of the variable: nullopt for any text but these two and "",
// and if the system has no guard pages.
std::optional<GuardPages> GuardPagesFromText(absl::string_view text);

extern std::atomic<GuardPages> current_guard_pages;
inline GuardPages CurrentGuardPages() { return current_guard_pages.load(std::memory_order_relaxed); }
inline bool HasGuardPages() { return CurrentGuardPages() != GuardPages::kOff; }

// Sets the placement until the end of its scope. No other thread may use memory of programs meanwhile, or have such an
// object: dies if one has set another placement. Memory that was allocated under another placement stays where it is.
class WithGuardPages {
 public:
  explicit WithGuardPages(GuardPages pages);
  ~WithGuardPages();
  WithGuardPages(const WithGuardPages&) = delete;
  WithGuardPages& operator=(const WithGuardPages&) = delete;

 private:
  const GuardPages before_, pages_;
};

// Allocates `bytes` between guard pages, placed by CurrentGuardPages (not off). alignment: a power of 2, up to a page.
// With an alignment of 1 an array touches its guard, and its elements are aligned to their size all the same.
// Null if the system has no more pages, or maps no more blocks. Thread-safe, as all functions below.
void* AllocateGuarded(int64_t bytes, int64_t alignment);
// Frees it; false if there is no such block here.
bool FreeGuarded(void* block);
// Whether an array of `bytes` bytes begins here and touches its guard.
bool IsGuarded(const void* array, int64_t bytes);
// After this call a write to the block ends the process, too.
void ProtectGuarded(const void* block);
// A copy of `bytes` bytes between guard pages, to which nobody may write.
std::shared_ptr<const void> CopyBetweenGuards(const void* data, int64_t bytes);
// Sets the block's name in messages, if there is such a block; only the first 63 bytes are kept.
void NameGuarded(const void* block, absl::string_view name);

// Names the current step of this thread in messages; no effect while guard pages are off. The name must outlive this.
class GuardedStep {
 public:
  explicit GuardedStep(absl::string_view name) {
    if (HasGuardPages()) Begin(name);
  }
  ~GuardedStep() {
    if (slot_ >= 0) End();
  }
  GuardedStep(const GuardedStep&) = delete;
  GuardedStep& operator=(const GuardedStep&) = delete;

 private:
  void Begin(absl::string_view name);
  void End();

  int slot_ = -1;
  absl::string_view name_;
  const GuardedStep* around_ = nullptr;
};

}  // namespace kashi::base

#endif  // KASHI_BASE_GUARD_PAGES_H_
