#include "kashi/base/guard_pages.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "kashi/base/check.h"
#include "kashi/base/math.h"

#if __has_include(<sys/mman.h>)
#define KASHI_HAS_GUARD_PAGES 1
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#else
#define KASHI_HAS_GUARD_PAGES 0
#endif

namespace kashi::base {

std::atomic<GuardPages> current_guard_pages{GuardPages::kOff};

namespace {

// The variable is read before main.
[[maybe_unused]] const bool is_variable_read = [] {
  const char* const text = std::getenv(kGuardPagesVariable);
  if (text == nullptr) return false;
  current_guard_pages.store(GuardPagesFromText(text).value_or(GuardPages::kOff));
  return true;
}();

}  // namespace

std::optional<GuardPages> GuardPagesFromText(absl::string_view text) {
  if (text.empty()) return GuardPages::kOff;
  if (KASHI_HAS_GUARD_PAGES == 0) return std::nullopt;
  if (text == "behind") return GuardPages::kBehind;
  if (text == "before") return GuardPages::kBefore;
  return std::nullopt;
}

WithGuardPages::WithGuardPages(GuardPages pages) : before_(current_guard_pages.exchange(pages)), pages_(pages) {}
WithGuardPages::~WithGuardPages() { KASHI_CHECK(current_guard_pages.exchange(before_) == pages_); }

#if KASHI_HAS_GUARD_PAGES

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Steps
// ---------------------------------------------------------------------------------------------------------------------

// The innermost step of each thread that has one. A thread of the pool has none, so the message of its fault names the
// steps of all threads.
constexpr int kMostThreads = 64;
std::array<std::atomic<const absl::string_view*>, kMostThreads> running_steps;
thread_local const GuardedStep* innermost_step = nullptr;
thread_local const absl::string_view* innermost_name = nullptr;

int TakeSlot(const absl::string_view* name) {
  for (int slot = 0; slot < kMostThreads; ++slot) {
    const absl::string_view* none = nullptr;
    if (running_steps[slot].compare_exchange_strong(none, name)) return slot;
  }
  return kMostThreads;  // the names of further threads are not known to others
}

// ---------------------------------------------------------------------------------------------------------------------
// Blocks
// ---------------------------------------------------------------------------------------------------------------------

struct GuardedBlock {
  char* pages;  // the guard before, the pages of the array, the guard behind
  size_t mapped;
  char* data;
  int64_t bytes;
  char name[64] = "";
};

struct BlockTable {
  std::mutex mutex;
  std::map<const char*, GuardedBlock> blocks;  // by `pages`
};

// Never destroyed: objects that are destroyed later may free blocks.
BlockTable& Blocks() {
  static BlockTable* const table = new BlockTable;
  return *table;
}
std::atomic<int64_t> block_count{0};

// The block whose pages, guards included, have this address; null: none. The mutex is locked.
GuardedBlock* FindBlock(BlockTable& table, const void* address) {
  const char* const at = static_cast<const char*>(address);
  auto next = table.blocks.upper_bound(at);
  if (next == table.blocks.begin()) return nullptr;
  GuardedBlock& block = std::prev(next)->second;
  return at < block.pages + block.mapped ? &block : nullptr;
}
GuardedBlock* FindBlockOf(BlockTable& table, const void* data) {
  GuardedBlock* const block = FindBlock(table, data);
  return block != nullptr && block->data == data ? block : nullptr;
}

// ---------------------------------------------------------------------------------------------------------------------
// Faults
// ---------------------------------------------------------------------------------------------------------------------

struct sigaction segv_before, bus_before;

// A text in memory of its own: a fault may come while the heap is locked.
class FaultText {
 public:
  void Add(absl::string_view text) {
    const size_t count = std::min(text.size(), sizeof(text_) - size_);
    std::memcpy(text_ + size_, text.data(), count);
    size_ += count;
  }
  void Add(int64_t number) {
    char digits[24];
    std::snprintf(digits, sizeof(digits), "%lld", static_cast<long long>(number));
    Add(digits);
  }
  void Write() const {
    if (write(STDERR_FILENO, text_, size_) < 0) return;  // there is no other way to report
  }

 private:
  char text_[1024];
  size_t size_ = 0;
};

void AddSteps(FaultText* text) {
  if (innermost_name != nullptr) return text->Add(*innermost_name);
  bool is_first = true;
  for (const auto& running : running_steps) {
    const absl::string_view* const name = running.load();
    if (name == nullptr) continue;
    text->Add(is_first ? "" : " or ");
    text->Add(*name);
    is_first = false;
  }
  if (is_first) text->Add("code outside of any step");
}

bool IsWrite([[maybe_unused]] const void* context) {
#if defined(__x86_64__) && defined(__linux__)
  constexpr greg_t kWriteBit = 2;  // of the error code of a page fault
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0;
#else
  return false;
#endif
}

void Describe(const GuardedBlock& block, const void* address, bool is_write, FaultText* text) {
  text->Add("kashi: guard pages: ");
  AddSteps(text);
  text->Add(is_write ? " writes byte " : " reads byte ");
  text->Add(static_cast<const char*>(address) - block.data);
  text->Add(" of ");
  text->Add(block.name[0] == '\0' ? "an array" : block.name);
  const bool is_inside = address >= block.data && address < block.data + block.bytes;
  text->Add(is_inside ? ", which is only to be read, and has " : ", which has ");
  text->Add(block.bytes);
  text->Add(block.bytes == 1 ? " byte\n" : " bytes\n");
}

// Says which array the address belongs to. Then the instruction runs again, and its fault goes to whoever was there
// before: the system, a sanitizer, a fuzzer.
void OnFault(int signal, siginfo_t* info, void* context) {
  BlockTable& table = Blocks();
  if (table.mutex.try_lock()) {
    if (const GuardedBlock* const block = FindBlock(table, info->si_addr); block != nullptr) {
      FaultText text;
      Describe(*block, info->si_addr, IsWrite(context), &text);
      text.Write();
    }
    table.mutex.unlock();
  }
  sigaction(signal, signal == SIGBUS ? &bus_before : &segv_before, nullptr);
}

void WatchFaults() {
  static const bool is_done = [] {
    struct sigaction action = {};
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &segv_before);
    sigaction(SIGBUS, &action, &bus_before);
    return true;
  }();
  static_cast<void>(is_done);
}

}  // namespace

void GuardedStep::Begin(absl::string_view name) {
  name_ = name;
  around_ = innermost_step;
  if (around_ == nullptr) {
    slot_ = TakeSlot(&name_);
  } else {
    slot_ = around_->slot_;
    if (slot_ < kMostThreads) running_steps[slot_].store(&name_);
  }
  innermost_step = this;
  innermost_name = &name_;
}

void GuardedStep::End() {
  const absl::string_view* const outer = around_ == nullptr ? nullptr : &around_->name_;
  if (slot_ < kMostThreads) running_steps[slot_].store(outer);
  innermost_step = around_;
  innermost_name = outer;
}

void* AllocateGuarded(int64_t bytes, int64_t alignment) {
  static const int64_t page = sysconf(_SC_PAGESIZE);
  if (bytes < 0 || bytes > PTRDIFF_MAX / 2) return nullptr;
  WatchFaults();
  const int64_t usable = RoundUpTo(bytes, page), mapped = usable + 2 * page;
  void* const pages =
      mmap(nullptr, static_cast<size_t>(mapped), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(pages) + page;
  if (usable > 0 && mprotect(first, static_cast<size_t>(usable), PROT_READ | PROT_WRITE) != 0) {
    munmap(pages, static_cast<size_t>(mapped));
    return nullptr;
  }
  const bool is_before = CurrentGuardPages() == GuardPages::kBefore;
  std::memset(first, is_before ? 0x7f : 0xff, static_cast<size_t>(usable));
  char* const data = is_before ? first : first + (usable - bytes) / alignment * alignment;
  BlockTable& table = Blocks();
  const std::lock_guard<std::mutex> lock(table.mutex);
  table.blocks[static_cast<char*>(pages)] = {static_cast<char*>(pages), static_cast<size_t>(mapped), data, bytes};
  block_count.fetch_add(1);
  return data;
}

bool FreeGuarded(void* block) {
  if (block_count.load(std::memory_order_relaxed) == 0) return false;
  BlockTable& table = Blocks();
  const std::lock_guard<std::mutex> lock(table.mutex);
  GuardedBlock* const found = FindBlockOf(table, block);
  if (found == nullptr) return false;
  munmap(found->pages, found->mapped);
  table.blocks.erase(found->pages);
  block_count.fetch_sub(1);
  return true;
}

bool IsGuarded(const void* array, int64_t bytes) {
  BlockTable& table = Blocks();
  const std::lock_guard<std::mutex> lock(table.mutex);
  const GuardedBlock* const block = FindBlockOf(table, array);
  if (block == nullptr || block->bytes != bytes) return false;
  static const int64_t page = sysconf(_SC_PAGESIZE);
  return block->data == block->pages + page || block->data + bytes == block->pages + block->mapped - page;
}

void ProtectGuarded(const void* block) {
  static const int64_t page = sysconf(_SC_PAGESIZE);
  BlockTable& table = Blocks();
  const std::lock_guard<std::mutex> lock(table.mutex);
  GuardedBlock* const found = FindBlockOf(table, block);
  if (found == nullptr) return;
  const size_t usable = found->mapped - 2 * static_cast<size_t>(page);
  if (usable > 0) mprotect(found->pages + page, usable, PROT_READ);
}

void NameGuarded(const void* block, absl::string_view name) {
  BlockTable& table = Blocks();
  const std::lock_guard<std::mutex> lock(table.mutex);
  GuardedBlock* const found = FindBlockOf(table, block);
  if (found == nullptr) return;
  const size_t count = std::min(name.size(), sizeof(found->name) - 1);
  std::memcpy(found->name, name.data(), count);
  found->name[count] = '\0';
}

#else

void GuardedStep::Begin(absl::string_view) {}
void GuardedStep::End() {}
void* AllocateGuarded(int64_t, int64_t) { return nullptr; }
bool FreeGuarded(void*) { return false; }
bool IsGuarded(const void*, int64_t) { return true; }
void ProtectGuarded(const void*) {}
void NameGuarded(const void*, absl::string_view) {}

#endif  // KASHI_HAS_GUARD_PAGES

std::shared_ptr<const void> CopyBetweenGuards(const void* data, int64_t bytes) {
  void* const copy = AllocateGuarded(bytes, /*alignment=*/1);
  KASHI_CHECK(copy != nullptr) << "no memory for " << bytes << " bytes between guard pages";
  if (bytes > 0) std::memcpy(copy, data, static_cast<size_t>(bytes));
  ProtectGuarded(copy);
  return std::shared_ptr<const void>(copy, [](const void* block) { FreeGuarded(const_cast<void*>(block)); });
}

}  // namespace kashi::base
