#include "kashi/engine/event.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/engine/device_queue.h"
#include "kashi/engine/nested_launch.h"

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

// Each of them gives some tasks by TryRun and some by Push. They run one at a time, in order, whoever runs them.
TEST(DeviceQueueTest, InOrderForEachCaller) {
  DeviceQueue queue;
  struct Caller {
    std::atomic<bool> is_running = false;
    std::vector<int> order;
  };
  std::vector<Caller> callers(3);
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (Caller& caller : callers) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const auto task = [&caller, &done, i] {
          EXPECT_FALSE(caller.is_running.exchange(true));
          caller.order.push_back(i);
          std::this_thread::yield();
          caller.is_running = false;
          ++done;
        };
        if (!queue.TryRun(task)) queue.Push(task);
        if (i % 10 == 0) queue.Push(task);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  queue.Drain();
  EXPECT_EQ(done, 3 * 550);
  for (const Caller& caller : callers) {
    EXPECT_EQ(caller.order.size(), 550);
    EXPECT_TRUE(std::is_sorted(caller.order.begin(), caller.order.end()));
  }
}

// All tasks run at once: each waits for all others.
TEST(DeviceQueueTest, CallersDoNotWaitForEachOther) {
  DeviceQueue queue;
  constexpr int kCallers = 20;
  std::atomic<int> meeting = 0;
  const auto meet = [&] {
    ++meeting;
    while (meeting < kCallers) std::this_thread::yield();
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kCallers; ++t) {
    threads.emplace_back([&, t] {
      if (t % 2 == 0) {
        EXPECT_TRUE(queue.TryRun(meet));
      } else {
        queue.Push(meet);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  queue.Drain();
  EXPECT_EQ(meeting, kCallers);
}

// The system may give a thread the id of one that has ended.
TEST(DeviceQueueTest, ANewThreadIsANewCaller) {
  DeviceQueue queue;
  for (int i = 0; i < 20; ++i) {
    EventSource gate;
    std::thread([&, event = gate.event()] { queue.Push([event] { EXPECT_TRUE(event.Await().ok()); }); }).join();
    std::thread([&] { queue.Push([&gate] { gate.Complete(absl::OkStatus()); }); }).join();
    queue.Drain();
  }
}

TEST(DeviceQueueTest, ATaskMayPushOthers) {
  std::vector<int> order;
  {
    DeviceQueue queue;
    EXPECT_TRUE(queue.TryRun([&] {
      queue.Push([&] { order.push_back(2); });
      EXPECT_FALSE(queue.TryRun([] { FAIL(); }));
      {
        const NestedCaller nested;
        EXPECT_TRUE(queue.TryRun([&] { order.push_back(1); }));
      }
      EXPECT_FALSE(queue.TryRun([] { FAIL(); }));
    }));
  }
  EXPECT_EQ(order, std::vector<int>({1, 2}));
}

}  // namespace
}  // namespace kashi::engine
