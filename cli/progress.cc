#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/verb.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::WithThousands;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kQuiet(1);
constexpr std::chrono::milliseconds kBetween(100);
constexpr char kEraseLine[] = "\r\x1b[K";

size_t LineWidth() {
  constexpr size_t kUsual = 80;
  const size_t width = TerminalWidth(STDERR_FILENO);
  return width > 0 ? width : kUsual;
}

// Cuts the text to one line, because a wrapped line cannot be erased, and removes control characters: a hostile proto
// may have them in names.
std::string FittedTo(size_t width, std::string text) {
  constexpr unsigned char kContinuation = 0x80;  // of UTF-8, in the two upper bits
  for (char& c : text) {
    if (absl::ascii_iscntrl(c)) c = '?';
  }
  size_t size = std::min(text.size(), width - 1);
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == kContinuation) --size;
  text.resize(size);
  return text;
}

// The progress line of this process.
class ProgressLine {
 public:
  static ProgressLine& Get() {
    static ProgressLine line;
    return line;
  }

  void Add(const Progress::Describe* part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    parts_.push_back(part);
    if (parts_.size() > 1) return;
    begin_ = Clock::now();
    try {
      thread_ = std::thread([this] { ShowUntilOver(); });
    } catch (const std::system_error&) {  // no thread available: the work continues without a line
    }
  }

  void Remove(const Progress::Describe* part) {
    std::thread ended;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      parts_.erase(std::find(parts_.begin(), parts_.end(), part));
      if (parts_.empty()) ended = std::move(thread_);
    }
    if (!ended.joinable()) return;
    over_.notify_all();
    ended.join();
  }

  void Pause() {
    mutex_.lock();
    Erase();
  }
  void Resume() { mutex_.unlock(); }

 private:
  void ShowUntilOver() {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_over = [this] { return parts_.empty(); };
    for (auto wait = std::chrono::milliseconds(kQuiet); !over_.wait_for(lock, wait, is_over); wait = kBetween) Show();
    Erase();
  }

  void Show() {
    std::string text = absl::StrFormat("kashi: %.0f s", std::chrono::duration<double>(Clock::now() - begin_).count());
    for (const Progress::Describe* part : parts_) {
      const std::string about = (*part)();
      if (!about.empty()) absl::StrAppend(&text, ", ", about);
    }
    text = FittedTo(LineWidth(), std::move(text));
    if (text == shown_) return;
    std::fprintf(stderr, "%s%s", kEraseLine, text.c_str());
    shown_ = std::move(text);
  }

  void Erase() {
    if (!shown_.empty()) std::fputs(kEraseLine, stderr);
    shown_.clear();
  }

  std::mutex mutex_;  // guards all members below
  std::condition_variable over_;
  std::vector<const Progress::Describe*> parts_;
  Clock::time_point begin_;
  std::string shown_;
  std::thread thread_;
};

}  // namespace

bool Progress::IsShown() {
  static const bool is_shown = IsCapableTerminal(STDERR_FILENO);
  return is_shown;
}

Progress::Progress(Describe describe) : describe_(std::move(describe)) {
  if (IsShown()) ProgressLine::Get().Add(&describe_);
}

Progress::~Progress() {
  if (IsShown()) ProgressLine::Get().Remove(&describe_);
}

void ItemProgress::Next(absl::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++number_;
  name_ = std::string(name);
}

std::string ItemProgress::Text() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (number_ == 0 || count_ <= 1) return name_;
  return absl::StrCat(noun_, " ", WithThousands(static_cast<int64_t>(number_)), " of ",
                      WithThousands(static_cast<int64_t>(count_)), name_.empty() ? "" : ": ", name_);
}

ProgressPause::ProgressPause() { ProgressLine::Get().Pause(); }
ProgressPause::~ProgressPause() { ProgressLine::Get().Resume(); }

}  // namespace kashi::cli
