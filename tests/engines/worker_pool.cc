#include "tests/engines/worker_pool.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/base/check.h"

namespace kashi::tests {
namespace {

using Clock = std::chrono::steady_clock;

// Before each job a worker writes a record without text, and after it one with text, if there is any.
struct RecordHeader {
  int64_t job;
  int64_t bytes;  // of the text that follows; -1: the job begins
};

void WriteAll(int to, const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(to, next, bytes);
    if (written <= 0) _exit(3);  // nobody listens
    next += written;
    bytes -= static_cast<size_t>(written);
  }
}

class Worker {
 public:
  Worker(const WorkerPool& pool, int64_t first) : pool_(pool), next_(first) { Start(); }

  int pipe() const { return from_; }
  bool done() const { return from_ < 0; }
  int64_t finished() const { return finished_; }

  // Reads what is there; false to end the run.
  bool Read() {
    char buffer[65536];
    const ssize_t count = read(from_, buffer, sizeof(buffer));
    if (count <= 0) return AfterItsEnd();
    unread_.append(buffer, static_cast<size_t>(count));
    RecordHeader header;
    while (unread_.size() >= sizeof(header)) {
      std::memcpy(&header, unread_.data(), sizeof(header));
      const size_t text = header.bytes < 0 ? 0 : static_cast<size_t>(header.bytes);
      if (unread_.size() < sizeof(header) + text) break;
      const std::string told = unread_.substr(sizeof(header), text);
      unread_.erase(0, sizeof(header) + text);
      if (!Take(header, told)) return false;
    }
    return true;
  }
  void KillIfLate() {
    if (done() || Clock::now() - since_ < std::chrono::seconds(pool_.patience_seconds)) return;
    late_ = true;
    kill(process_, SIGKILL);
  }
  void Stop() {
    if (done()) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    close(from_);
    from_ = -1;
  }

 private:
  void Start() {
    int ends[2];
    KASHI_CHECK_EQ(::pipe(ends), 0);
    std::fflush(nullptr);
    process_ = fork();
    KASHI_CHECK(process_ >= 0);
    if (process_ == 0) {
      close(ends[0]);
      Work(ends[1]);
    }
    close(ends[1]);
    from_ = ends[0];
    since_ = Clock::now();
    current_ = -1;
    late_ = false;
    unread_.clear();
  }

  [[noreturn]] void Work(int to) const {
    for (int64_t job = next_; job < pool_.jobs; job += pool_.workers) {
      const RecordHeader begins{job, -1};
      WriteAll(to, &begins, sizeof(begins));
      const std::string told = pool_.work(job);
      const RecordHeader ends{job, static_cast<int64_t>(told.size())};
      WriteAll(to, &ends, sizeof(ends));
      WriteAll(to, told.data(), told.size());
    }
    _exit(0);
  }

  bool Take(const RecordHeader& header, const std::string& told) {
    since_ = Clock::now();
    if (header.bytes < 0) {
      current_ = header.job;
      return true;
    }
    current_ = -1;
    next_ = header.job + pool_.workers;
    ++finished_;
    return pool_.report(header.job, /*dead=*/false, told);
  }

  bool AfterItsEnd() {
    int status = 0;
    waitpid(process_, &status, 0);
    close(from_);
    from_ = -1;
    if (current_ < 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    const std::string reason = late_                 ? absl::StrCat("took more than ", pool_.patience_seconds, " s")
                               : WIFSIGNALED(status) ? absl::StrCat("died: ", strsignal(WTERMSIG(status)))
                                                     : absl::StrCat("ended with status ", WEXITSTATUS(status));
    const int64_t job = current_ >= 0 ? current_ : next_;
    next_ = job + pool_.workers;
    ++finished_;
    const bool go_on = pool_.report(job, /*dead=*/true, reason);
    if (go_on && next_ < pool_.jobs) Start();
    return go_on;
  }

  const WorkerPool& pool_;
  int64_t next_, current_ = -1, finished_ = 0;
  pid_t process_ = -1;
  int from_ = -1;
  bool late_ = false;
  Clock::time_point since_;
  std::string unread_;
};

}  // namespace

int64_t WorkerPool::Run() const {
  std::vector<Worker> all;
  all.reserve(static_cast<size_t>(workers));
  for (int i = 0; i < workers && i < jobs; ++i) all.emplace_back(*this, i);
  bool go_on = true;
  while (go_on) {
    std::vector<pollfd> pipes;
    std::vector<Worker*> owners;
    for (Worker& worker : all) {
      if (worker.done()) continue;
      pipes.push_back({worker.pipe(), POLLIN, 0});
      owners.push_back(&worker);
    }
    if (pipes.empty()) break;
    poll(pipes.data(), pipes.size(), 1000);
    for (size_t i = 0; i < pipes.size() && go_on; ++i) {
      if (pipes[i].revents != 0) go_on = owners[i]->Read();
      owners[i]->KillIfLate();
    }
  }
  int64_t finished = 0;
  for (Worker& worker : all) {
    worker.Stop();
    finished += worker.finished();
  }
  return finished;
}

}  // namespace kashi::tests
