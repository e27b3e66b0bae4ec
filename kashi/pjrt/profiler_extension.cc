#include "kashi/pjrt/profiler_extension.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kashi/base/catch_exceptions.h"
#include "kashi/base/status.h"
#include "kashi/engine/launch_trace.h"
#include "kashi/pjrt/device_profile.h"
#include "kashi/pjrt/objects.h"
#include "kashi/pjrt/profiler_c_api.h"

struct PLUGIN_Profiler_Error {
  const absl::StatusCode code;
  const std::string message;
};

struct PLUGIN_Profiler {
  ~PLUGIN_Profiler() {
    if (is_watching) kashi::engine::LaunchTrace::Global().End();
  }

  bool is_watching = false;
  int64_t since_1970_ns = 0;  // what the monotonic clock lacks to the time since 1970
  std::string profile;        // a serialized XSpace
};

namespace kashi::pjrt {
namespace {

int64_t Since1970Ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - engine::LaunchTrace::NowNs();
}

absl::Status Serve(PLUGIN_Profiler_Create_Args& args) {
  args.profiler = NewObject<PLUGIN_Profiler>();
  return absl::OkStatus();
}
absl::Status Serve(PLUGIN_Profiler_Destroy_Args& args) {
  delete args.profiler;
  return absl::OkStatus();
}
absl::Status Serve(PLUGIN_Profiler_Start_Args& args) {
  KASHI_RETURN_IF_ERROR(engine::LaunchTrace::Global().Begin());
  args.profiler->is_watching = true;
  args.profiler->since_1970_ns = Since1970Ns();
  return absl::OkStatus();
}
absl::Status Serve(PLUGIN_Profiler_Stop_Args& args) {
  if (!std::exchange(args.profiler->is_watching, false)) return absl::FailedPreconditionError("the profiler is not on");
  const XSpace space = ProfileOf(engine::LaunchTrace::Global().End(), args.profiler->since_1970_ns);
  if (space.SerializeToString(&args.profiler->profile)) return absl::OkStatus();
  return absl::ResourceExhaustedError("the profile takes more than 2 GiB");
}
absl::Status Serve(PLUGIN_Profiler_CollectData_Args& args) {
  std::string& profile = args.profiler->profile;
  if (args.buffer != nullptr && args.buffer_size_in_bytes < profile.size()) {
    return InvalidArgument("the profile takes %d bytes, but there is room for %d", profile.size(),
                           args.buffer_size_in_bytes);
  }
  if (args.buffer == nullptr) {
    args.buffer = reinterpret_cast<uint8_t*>(profile.data());
  } else if (args.buffer != reinterpret_cast<const uint8_t*>(profile.data())) {
    profile.copy(reinterpret_cast<char*>(args.buffer), profile.size());
  }
  args.buffer_size_in_bytes = profile.size();
  return absl::OkStatus();
}

// No exception may reach a caller in C.
template <typename Args>
PLUGIN_Profiler_Error* ServeProfiler(Args* args) {
  const absl::Status status = base::CatchExceptions([&] { return Serve(*args); });
  if (status.ok()) return nullptr;
  return new PLUGIN_Profiler_Error{status.code(), std::string(status.message())};
}

PLUGIN_Profiler_Api MakeProfilerTable() {
  PLUGIN_Profiler_Api api = {};
  api.struct_size = sizeof(api);
  api.error_destroy = [](PLUGIN_Profiler_Error_Destroy_Args* args) { delete args->error; };
  api.error_message = [](PLUGIN_Profiler_Error_Message_Args* args) {
    Give(args->error->message, &args->message, &args->message_size);
  };
  api.error_get_code = [](PLUGIN_Profiler_Error_GetCode_Args* args) -> PLUGIN_Profiler_Error* {
    args->code = static_cast<int>(args->error->code);
    return nullptr;
  };
  api.create = &ServeProfiler<PLUGIN_Profiler_Create_Args>;
  api.destroy = &ServeProfiler<PLUGIN_Profiler_Destroy_Args>;
  api.start = &ServeProfiler<PLUGIN_Profiler_Start_Args>;
  api.stop = &ServeProfiler<PLUGIN_Profiler_Stop_Args>;
  api.collect_data = &ServeProfiler<PLUGIN_Profiler_CollectData_Args>;
  return api;
}

}  // namespace

PJRT_Extension_Base* ProfilerExtension(PJRT_Extension_Base* next) {
  static PLUGIN_Profiler_Api api = MakeProfilerTable();
  static PJRT_Profiler_Extension extension = {
      {sizeof(PJRT_Profiler_Extension), PJRT_Extension_Type_Profiler, next}, &api, /*traceme_context_id=*/0};
  return &extension.base;
}

}  // namespace kashi::pjrt
