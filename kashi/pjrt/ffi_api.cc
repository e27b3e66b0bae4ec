#include "kashi/pjrt/ffi_api.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"
#include "kashi/pjrt/errors.h"
#include "kashi/pjrt/ffi_handlers.h"

absl::Status XLA_FFI_Future::Await() {
  const absl::MutexLock lock(&mutex);
  mutex.Await(absl::Condition(&is_done));
  return status;
}

void XLA_FFI_Future::Complete(absl::Status with) {
  const absl::MutexLock lock(&mutex);
  status = std::move(with);
  is_done = true;
}

XLA_FFI_ExecutionContext::~XLA_FFI_ExecutionContext() {
  while (true) {
    std::vector<std::thread> running;
    {
      const absl::MutexLock lock(&mutex);
      running.swap(tasks);
    }
    if (running.empty()) break;
    for (std::thread& task : running) task.join();
  }
  const absl::MutexLock lock(&mutex);
  for (void* const data : memory) std::free(data);
}

namespace kashi::pjrt {

FfiState::~FfiState() {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [stage, object] : objects_) {
    const FfiTypes::Deleter deleter = FfiTypes::Global().DeleterOf(object.type_id);
    if (deleter != nullptr) deleter(object.data);
  }
}

absl::Status FfiState::Set(int stage, int64_t type_id, void* object) {
  const absl::MutexLock lock(&mutex_);
  if (objects_.emplace(stage, Object{type_id, object}).second) return absl::OkStatus();
  return absl::AlreadyExistsError("the state is set already");
}

absl::Status FfiState::Get(int stage, int64_t type_id, void** object) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = objects_.find(stage);
  if (found == objects_.end()) return absl::NotFoundError("the state is not set");
  if (found->second.type_id != type_id) {
    return InvalidArgument("the state has type %d, not %d", found->second.type_id, type_id);
  }
  *object = found->second.data;
  return absl::OkStatus();
}

absl::Status TakeStatus(XLA_FFI_Error* error) {
  if (error == nullptr) return absl::OkStatus();
  const std::unique_ptr<XLA_FFI_Error> owned(error);
  return owned->status;
}

namespace {

XLA_FFI_Error* MakeFfiError(const absl::Status& status) {
  return status.ok() ? nullptr : new XLA_FFI_Error{status, std::string(status.message())};
}

// ---- The functions of the table ----------------------------------------------------------------------------------

XLA_FFI_Error* Serve(XLA_FFI_Error_Create_Args& args) {
  const absl::string_view message = args.message == nullptr ? "" : args.message;
  const absl::Status status = StatusOf(args.errc, message);
  return MakeFfiError(status.ok() ? absl::UnknownError(message) : status);
}
XLA_FFI_Error* Serve(XLA_FFI_Error_GetDetails_Args& args) {
  args.message = args.error->message.c_str();
  // A handler that was built with version 0.3 asks for the message alone.
  if (args.struct_size > offsetof(XLA_FFI_Error_GetDetails_Args, errc))
    args.errc = static_cast<int>(args.error->status.code());
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_Error_Destroy_Args& args) {
  delete args.error;
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_Handler_Register_Args& args) {
  return MakeFfiError(FfiHandlers::Global().Register(absl::string_view(args.name.ptr, args.name.len),
                                                     absl::string_view(args.platform.ptr, args.platform.len),
                                                     args.bundle));
}
XLA_FFI_Error* Serve(XLA_FFI_Stream_Get_Args&) {
  return MakeFfiError(Unimplemented("XLA FFI GPU context is not available: a processor has no stream"));
}
XLA_FFI_Error* Serve(XLA_FFI_Type_Register_Args& args) {
  const FfiTypes::Deleter deleter = args.type_info == nullptr ? nullptr : args.type_info->deleter;
  return MakeFfiError(
      FfiTypes::Global().Register(absl::string_view(args.name.ptr, args.name.len), deleter, &args.type_id->type_id));
}
XLA_FFI_Error* Serve(XLA_FFI_ExecutionContext_Get_Args& args) {
  const auto found = args.ctx->run.user_data.find(args.type_id->type_id);
  if (found == args.ctx->run.user_data.end()) {
    return MakeFfiError(absl::NotFoundError(absl::StrCat("the run has no data of type ", args.type_id->type_id)));
  }
  args.data = found->second;
  return nullptr;
}
FfiState& StateOf(XLA_FFI_ExecutionContext& context, int stage) {
  return stage == XLA_FFI_ExecutionStage_INSTANTIATE ? context.program_state : context.call_state;
}
XLA_FFI_Error* Serve(XLA_FFI_State_Set_Args& args) {
  return MakeFfiError(StateOf(*args.ctx, args.stage).Set(args.stage, args.type_id->type_id, args.state));
}
XLA_FFI_Error* Serve(XLA_FFI_State_Get_Args& args) {
  return MakeFfiError(StateOf(*args.ctx, args.stage).Get(args.stage, args.type_id->type_id, &args.state));
}
XLA_FFI_Error* Serve(XLA_FFI_DeviceMemory_Allocate_Args& args) {
  const size_t alignment = std::max(args.alignment, sizeof(void*));
  void* data = nullptr;
  if ((alignment & (alignment - 1)) != 0 || posix_memalign(&data, alignment, std::max<size_t>(args.size, 1)) != 0) {
    return MakeFfiError(absl::ResourceExhaustedError(absl::StrCat("Out of memory allocating ", args.size, " bytes")));
  }
  const absl::MutexLock lock(&args.ctx->mutex);
  args.ctx->memory.push_back(data);
  args.data = data;
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_DeviceMemory_Free_Args& args) {
  const absl::MutexLock lock(&args.ctx->mutex);
  const auto found = absl::c_find(args.ctx->memory, args.data);
  if (found == args.ctx->memory.end()) return MakeFfiError(InvalidArgument("the memory is not of this call"));
  std::free(*found);
  args.ctx->memory.erase(found);
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_ThreadPool_Schedule_Args& args) {
  const absl::MutexLock lock(&args.ctx->mutex);
  args.ctx->tasks.emplace_back(args.task, args.data);
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_ThreadPool_NumThreads_Args& args) {
  *args.num_threads = std::max(1U, std::thread::hardware_concurrency());
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_Future_Create_Args& args) {
  args.future = new XLA_FFI_Future;
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_Future_SetAvailable_Args& args) {
  args.future->Complete(absl::OkStatus());
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_Future_SetError_Args& args) {
  args.future->Complete(TakeStatus(args.error));
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_RunId_Get_Args& args) {
  args.run_id = args.ctx->run.run_id;
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_DeviceOrdinal_Get_Args& args) {
  args.device_ordinal = args.ctx->run.device_ordinal;
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_InvokeContext_FindExtension_Args& args) {
  args.extension = nullptr;
  return nullptr;
}
XLA_FFI_Error* Serve(XLA_FFI_CustomOptions_Get_Args& args) {
  static const XLA_FFI_Attrs kNone = {sizeof(XLA_FFI_Attrs), nullptr, 0, nullptr, nullptr, nullptr};
  args.attrs = &kNone;
  return nullptr;
}

// No exception may reach a handler in C.
template <typename Args>
XLA_FFI_Error* ServeSafely(Args& args) {
  try {
    return Serve(args);
  } catch (const std::exception& error) {
    return MakeFfiError(absl::ResourceExhaustedError(error.what()));
  }
}

XLA_FFI_Api MakeFfiTable() {
  XLA_FFI_Api api = {};
  api.struct_size = sizeof(XLA_FFI_Api);
  api.api_version = {sizeof(XLA_FFI_Api_Version), nullptr, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
#define KASHI_FFI_FILL(name, ...) \
  api.name = [](XLA_FFI_##name##_Args* args) -> XLA_FFI_Error* { return ServeSafely(*args); };
  KASHI_FFI_FUNCTIONS(KASHI_FFI_FILL)
#undef KASHI_FFI_FILL
  return api;
}

}  // namespace

const XLA_FFI_Api* FfiApi() {
  static const XLA_FFI_Api api = MakeFfiTable();
  return &api;
}

}  // namespace kashi::pjrt
