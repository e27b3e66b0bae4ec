#include "kashi/engine/event.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"

namespace kashi {

struct Event::State {
  absl::Mutex mutex;
  std::optional<absl::Status> status;  // nothing: it has not happened
  std::vector<Callback> callbacks;
};

Event Event::Failed(absl::Status error) {
  EventSource source;
  source.Complete(std::move(error));
  return source.event();
}

bool Event::is_ready() const {
  if (state_ == nullptr) return true;
  const absl::MutexLock lock(&state_->mutex);
  return state_->status.has_value();
}

absl::Status Event::Await() const {
  if (state_ == nullptr) return absl::OkStatus();
  const absl::MutexLock lock(&state_->mutex);
  state_->mutex.Await(absl::Condition(
      +[](State* state) { return state->status.has_value(); }, state_.get()));
  return *state_->status;
}

void Event::OnReady(Callback callback) const {
  if (state_ == nullptr) return callback(absl::OkStatus());
  {
    const absl::MutexLock lock(&state_->mutex);
    if (!state_->status.has_value()) {
      state_->callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback(*state_->status);
}

EventSource::EventSource() : state_(std::make_shared<Event::State>()) {}
EventSource::EventSource(EventSource&&) noexcept = default;
EventSource& EventSource::operator=(EventSource&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
EventSource::~EventSource() {
  if (state_ != nullptr) Complete(absl::CancelledError("nobody will complete this event"));
}

Event EventSource::event() const { return Event(state_); }

void EventSource::Complete(absl::Status status) {
  const std::shared_ptr<Event::State> state = state_;  // a callback may destroy the source
  std::vector<Event::Callback> callbacks;
  {
    const absl::MutexLock lock(&state->mutex);
    if (state->status.has_value()) return;
    state->status = std::move(status);
    callbacks.swap(state->callbacks);
  }
  for (const Event::Callback& callback : callbacks) callback(*state->status);
}

}  // namespace kashi
