// Event: tells that something has happened, or why it never will: a buffer has its elements, a program has ended.
//
//   EventSource source;
//   Event event = source.event();          // copies are cheap, and mean one thing
//   event.OnReady([](const absl::Status& status) { … });
//   source.Complete(absl::OkStatus());     // once
//   absl::Status status = event.Await();
#ifndef KASHI_ENGINE_EVENT_H_
#define KASHI_ENGINE_EVENT_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"

namespace kashi {

// Thread-safe.
class Event {
 public:
  using Callback = std::function<void(const absl::Status&)>;

  // An event that has happened, without an error. Allocates nothing.
  Event() = default;
  static Event Failed(absl::Status error);

  bool is_ready() const;
  // Waits. Returns OK, or the error.
  absl::Status Await() const;
  // Calls the function once: now, on this thread, if the event is ready; otherwise on the thread that completes it,
  // after the functions of earlier calls. It may start programs; it must not wait for other events of the same
  // client, nor destroy the client.
  void OnReady(Callback callback) const;

 private:
  friend class EventSource;
  struct State;
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;  // null: ready, without an error
};

// The side that completes an event. Movable. If it is destroyed before that, the event fails with CANCELLED.
class EventSource {
 public:
  EventSource();
  ~EventSource();
  EventSource(EventSource&&) noexcept;
  EventSource& operator=(EventSource&&) noexcept;

  Event event() const;
  // The first call decides; later ones do nothing.
  void Complete(absl::Status status);

 private:
  std::shared_ptr<Event::State> state_;
};

}  // namespace kashi

#endif  // KASHI_ENGINE_EVENT_H_
