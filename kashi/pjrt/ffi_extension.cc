#include "kashi/pjrt/ffi_extension.h"

#include "absl/strings/string_view.h"
#include "kashi/pjrt/errors.h"
#include "kashi/pjrt/ffi_c_api.h"
#include "kashi/pjrt/ffi_handlers.h"
#include "kashi/pjrt/objects.h"

namespace kashi::pjrt {
namespace {

PJRT_Error* RegisterType(PJRT_FFI_Type_Register_Args* args) {
  XLA_FFI_TypeInfo info = {sizeof(XLA_FFI_TypeInfo), nullptr, nullptr};
  if (args->type_info != nullptr) info.deleter = args->type_info->deleter;
  return MakeError(FfiTypes::Global().Register(absl::string_view(args->type_name, args->type_name_size), info.deleter,
                                               &args->type_id));
}

PJRT_Error* AddUserData(PJRT_FFI_UserData_Add_Args* args) {
  args->context->user_data[args->user_data.type_id] = args->user_data.data;
  return nullptr;
}

PJRT_Error* RegisterHandler(PJRT_FFI_Register_Handler_Args* args) {
  XLA_FFI_Handler_Bundle bundle = {};
  bundle.execute = reinterpret_cast<XLA_FFI_Handler*>(args->handler);
  return MakeError(FfiHandlers::Global().Register(absl::string_view(args->target_name, args->target_name_size),
                                                  absl::string_view(args->platform_name, args->platform_name_size),
                                                  bundle));
}

}  // namespace

PJRT_Extension_Base* FfiExtension() {
  static PJRT_FFI_Extension extension = {
      {sizeof(PJRT_FFI_Extension), PJRT_Extension_Type_FFI, nullptr}, &RegisterType, &AddUserData, &RegisterHandler};
  return &extension.base;
}

}  // namespace kashi::pjrt
