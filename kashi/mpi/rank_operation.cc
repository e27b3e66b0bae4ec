#include "kashi/mpi/rank_operation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/base/status.h"
#include "kashi/mpi/mpi_world.h"

namespace kashi::mpi {
namespace {

// The sleep of a thread that waits for another thread to advance an operation, and the pause between two tests of the
// operations for which no thread waits. MPI moves data only while it is called.
constexpr std::chrono::microseconds kSleep(100), kRest(20);

int64_t MonotonicNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

absl::Status RankQueue::CheckOrder(int64_t device, size_t devices_here, const HloInstruction& instruction) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int64_t number = numbers_[device]++;
  if (number == first_ + static_cast<int64_t>(order_.size())) order_.push_back(&instruction);
  if (order_[number - first_] != &instruction) return AtAnotherInstruction(instruction);
  const auto has_passed = [this](const auto& of_device) { return of_device.second > first_; };
  while (!order_.empty() && numbers_.size() == devices_here && absl::c_all_of(numbers_, has_passed)) {
    order_.pop_front();
    ++first_;
  }
  return absl::OkStatus();
}

void RankOperation::Begin() {
  const std::lock_guard<std::mutex> lock(queue_.mutex);
  number_ = group_.calls->fetch_add(1) + 1;
  if (queue_.waiting.empty()) {
    BeginThis();
    if (status_.ok() && !task_->has_more_calls()) return;
  }
  queue_.waiting.push_back(shared_from_this());
  AdvanceQueue();
}

void RankOperation::BeginThis() {
  has_begun_ = true;
  status_ = task_->Begin(checked_);
  if (!status_.ok()) is_over_.store(true);
}

bool RankOperation::Advance() {
  const std::lock_guard<std::mutex> lock(queue_.mutex);
  AdvanceQueue();
  AdvanceThis();
  return is_over_.load(std::memory_order_relaxed);
}

// An operation that has failed stays: no call after it would be the one that other ranks expect.
void RankOperation::AdvanceQueue() {
  while (!queue_.waiting.empty()) {
    RankOperation& next = *queue_.waiting.front();
    if (next.task_ == nullptr) return;
    if (next.has_begun_) {
      next.AdvanceThis();
    } else {
      next.BeginThis();
    }
    if (!next.status_.ok() || next.task_->has_more_calls()) return;
    queue_.waiting.pop_front();
  }
}

void RankOperation::AdvanceThis() {
  if (!has_begun_ || task_ == nullptr || is_over_.load(std::memory_order_relaxed)) return;
  const absl::StatusOr<bool> is_complete = task_->Advance();
  status_ = is_complete.status();
  if (status_.ok() && !*is_complete) return;
  complete_ns_.store(MonotonicNs());
  is_over_.store(true);
}

absl::Status RankOperation::Wait() {
  std::unique_lock<std::mutex> moves_on(waiting_mutex_, std::defer_lock);
  for (int64_t tests = 0;; ++tests) {
    const bool is_mover = moves_on.owns_lock() || moves_on.try_lock();
    if (is_mover ? Advance() : is_over_.load()) break;
    if (context_.stop->load(std::memory_order_relaxed)) return Cancelled("the run has ended");
    if (is_mover) {
      context_.world->Pause(tests);
    } else {
      std::this_thread::sleep_for(kSleep);
    }
  }
  const std::lock_guard<std::mutex> lock(queue_.mutex);
  return status_;
}

absl::Status RankOperation::MakeRowsOnce(MakeRows make) {
  const std::lock_guard<std::mutex> lock(rows_mutex_);
  if (!has_rows_) {
    has_rows_ = true;
    absl::StatusOr<devices::Given> rows = make(*task_);
    rows_status_ = rows.status();
    if (rows.ok()) rows_ = *std::move(rows);
  }
  return rows_status_;
}

void RankOperation::Abandon() {
  const std::lock_guard<std::mutex> lock(queue_.mutex);
  if (!is_over_.load() || !status_.ok()) task_ = nullptr;
}

RankProgress::~RankProgress() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void RankProgress::Add(std::shared_ptr<RankOperation> operation) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    operations_.push_back(std::move(operation));
    if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  }
  changed_.notify_one();
}

void RankProgress::Remove(const RankOperation& operation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = absl::c_find_if(operations_, [&](const auto& other) { return other.get() == &operation; });
  if (found != operations_.end()) operations_.erase(found);
}

void RankProgress::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !operations_.empty(); });
    if (ends_) return;
    const std::vector<std::shared_ptr<RankOperation>> now = operations_;
    lock.unlock();
    for (const std::shared_ptr<RankOperation>& operation : now) {
      if (operation->Advance()) Remove(*operation);
    }
    std::this_thread::sleep_for(kRest);
    lock.lock();
  }
}

}  // namespace kashi::mpi
