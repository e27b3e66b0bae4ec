#include "kashi/engine/event.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/engine/device_queue.h"

namespace kashi::engine {
namespace {

TEST(EventTest, ReadyAndFailed) {
  EXPECT_TRUE(Event().is_ready());
  EXPECT_TRUE(Event().Await().ok());
  const Event failed = Event::Failed(absl::DataLossError("gone"));
  EXPECT_TRUE(failed.is_ready());
  EXPECT_EQ(failed.Await(), absl::DataLossError("gone"));
  absl::Status seen;
  failed.OnReady([&](const absl::Status& status) { seen = status; });
  EXPECT_EQ(seen, absl::DataLossError("gone"));
}

TEST(EventTest, CallbacksInOrderAndOnce) {
  EventSource source;
  const Event event = source.event();
  EXPECT_FALSE(event.is_ready());
  std::vector<int> calls;
  for (int i = 0; i < 3; ++i) event.OnReady([&calls, i](const absl::Status&) { calls.push_back(i); });
  EXPECT_TRUE(calls.empty());
  source.Complete(absl::OkStatus());
  source.Complete(absl::InternalError("too late"));
  EXPECT_EQ(calls, std::vector<int>({0, 1, 2}));
  EXPECT_TRUE(event.Await().ok());
  event.OnReady([&calls](const absl::Status&) { calls.push_back(3); });
  EXPECT_EQ(calls.back(), 3);
}

TEST(EventTest, AnAbandonedEventFails) {
  Event event;
  { event = EventSource().event(); }
  EXPECT_EQ(event.Await().code(), absl::StatusCode::kCancelled);
  EventSource first;
  const Event of_first = first.event();
  {
    EventSource second;
    first = std::move(second);  // the old `first` is abandoned with `second`
  }
  first.Complete(absl::OkStatus());
  EXPECT_EQ(of_first.Await().code(), absl::StatusCode::kCancelled);
}

TEST(EventTest, ACallbackMayDestroyTheSource) {
  auto source = std::make_unique<EventSource>();
  int calls = 0;
  source->event().OnReady([&](const absl::Status&) { source = nullptr; });
  source->event().OnReady([&](const absl::Status& status) { calls += status.ok() ? 1 : 0; });
  source->Complete(absl::OkStatus());
  EXPECT_EQ(calls, 1);
}

TEST(EventTest, WaitsForAnotherThread) {
  for (int i = 0; i < 100; ++i) {
    EventSource source;
    const Event event = source.event();
    int value = 0;
    std::thread thread([&] {
      value = 7;
      source.Complete(absl::OkStatus());
    });
    EXPECT_TRUE(event.Await().ok());
    EXPECT_EQ(value, 7);
    thread.join();
  }
}

TEST(DeviceQueueTest, InOrder) {
  std::vector<int> order;
  {
    DeviceQueue queue;
    for (int i = 0; i < 1000; ++i) queue.Push([&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 1000);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[i], i);
}

TEST(DeviceQueueTest, RunsAtOnceOnlyIfNothingIsBefore) {
  DeviceQueue queue;
  bool has_run = false;
  EXPECT_TRUE(queue.TryRun([&] { has_run = true; }));
  EXPECT_TRUE(has_run);
  EventSource gate, begun;
  queue.Push([&, event = gate.event()] {
    begun.Complete(absl::OkStatus());
    EXPECT_TRUE(event.Await().ok());
  });
  EXPECT_FALSE(queue.TryRun([] { FAIL(); }));  // it waits, or runs
  EXPECT_TRUE(begun.event().Await().ok());
  EXPECT_FALSE(queue.TryRun([] { FAIL(); }));
  gate.Complete(absl::OkStatus());
  EventSource last;
  queue.Push([&] { last.Complete(absl::OkStatus()); });
  EXPECT_TRUE(last.event().Await().ok());
}

// No two tasks run at once, whoever runs them.
TEST(DeviceQueueTest, OneAtATime) {
  DeviceQueue queue;
  std::atomic<int> running = 0, most = 0, done = 0;
  const auto task = [&] {
    most = std::max(most.load(), ++running);
    std::this_thread::yield();
    --running;
    ++done;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        if (!queue.TryRun(task)) queue.Push(task);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EventSource last;
  queue.Push([&] { last.Complete(absl::OkStatus()); });
  EXPECT_TRUE(last.event().Await().ok());
  EXPECT_EQ(most, 1);
  EXPECT_EQ(done, 1500);
}

}  // namespace
}  // namespace kashi::engine
