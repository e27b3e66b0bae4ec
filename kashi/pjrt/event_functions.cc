// Errors, events, and what the plugin says of itself.
#include <memory>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "kashi/base/status.h"
#include "kashi/pjrt/errors.h"
#include "kashi/pjrt/functions.h"
#include "kashi/pjrt/objects.h"

namespace kashi::pjrt {
namespace {

// StableHLO's newest version that is read completely: JAX sends no newer one (docs/spec/pjrt.md 15.2).
constexpr int64_t kStableHloVersion[] = {1, 20, 0};
constexpr int64_t kOldestStableHloVersion[] = {0, 9, 0};

template <size_t n>
PJRT_NamedValue ListValue(absl::string_view name, const int64_t (&list)[n]) {
  PJRT_NamedValue value = {
      PJRT_SIZE(PJRT_NamedValue, value_size), nullptr, name.data(), name.size(), PJRT_NamedValue_kInt64List, {}, n};
  value.int64_array_value = list;
  return value;
}

}  // namespace

// Debian builds abseil so that each lock looks for deadlocks: a tenth of the time of a small program.
absl::Status Call(PJRT_Plugin_Initialize_Args&) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Plugin_Attributes_Args& args) {
  static const PJRT_NamedValue values[] = {ListValue("stablehlo_current_version", kStableHloVersion),
                                           ListValue("stablehlo_minimum_version", kOldestStableHloVersion)};
  args.attributes = values;
  args.num_attributes = std::size(values);
  return absl::OkStatus();
}

absl::Status Call(PJRT_Error_Destroy_Args& args) {
  delete args.error;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Error_Message_Args& args) {
  args.message = args.error->message.data();
  args.message_size = args.error->message.size();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Error_GetCode_Args& args) {
  args.code = static_cast<PJRT_Error_Code>(args.error->code);
  return absl::OkStatus();
}
absl::Status Call(PJRT_Error_ForEachPayload_Args&) { return absl::OkStatus(); }  // errors have none

absl::Status Call(PJRT_Event_Destroy_Args& args) {
  delete args.event;
  return absl::OkStatus();
}
absl::Status Call(PJRT_Event_IsReady_Args& args) {
  args.is_ready = args.event->event.is_ready();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Event_Error_Args& args) {
  if (!args.event->event.is_ready()) return absl::FailedPreconditionError("the event is not ready");
  return args.event->event.Await();
}
absl::Status Call(PJRT_Event_Await_Args& args) { return args.event->event.Await(); }
absl::Status Call(PJRT_Event_OnReady_Args& args) {
  args.event->event.OnReady([callback = args.callback, user = args.user_arg](const absl::Status& status) {
    callback(MakeError(status), user);
  });
  return absl::OkStatus();
}
absl::Status Call(PJRT_Event_Create_Args& args) {
  args.event = NewObject<PJRT_Event>();
  return absl::OkStatus();
}
absl::Status Call(PJRT_Event_Set_Args& args) {
  if (args.event->source == nullptr) return InvalidArgument("the event was not made by Event_Create");
  if (args.event->event.is_ready()) return absl::FailedPreconditionError("the event is set already");
  args.event->source->Complete(
      StatusOf(args.error_code, absl::string_view(args.error_message, args.error_message_size)));
  return absl::OkStatus();
}

}  // namespace kashi::pjrt
