#include "kashi/pjrt/plugin.h"

#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "kashi/base/catch_exceptions.h"
#include "kashi/base/status.h"
#include "kashi/pjrt/custom_partitioner_extension.h"
#include "kashi/pjrt/errors.h"
#include "kashi/pjrt/ffi_extension.h"
#include "kashi/pjrt/functions.h"
#include "kashi/pjrt/layouts_extension.h"
#include "kashi/pjrt/live_clients.h"
#include "kashi/pjrt/pjrt_c_api.h"
#include "kashi/pjrt/profiler_extension.h"
#include "kashi/pjrt/shardings_extension.h"

namespace kashi::pjrt {
namespace {

// No exception may reach a caller in C.
template <typename Args>
absl::Status CallSafely(Args& args) {
  return base::CatchExceptions([&] { return Call(args); });
}

// A caller that was built with an older version has shorter structures: the fields beyond are zero, and nothing is
// written to them.
template <typename Args>
PJRT_Error* Offered(Args* args) {
  if (args->struct_size >= sizeof(Args)) return MakeError(CallSafely(*args));
  Args complete = {};
  const size_t size = args->struct_size;
  std::memcpy(&complete, args, size);
  const absl::Status status = CallSafely(complete);
  complete.struct_size = size;
  // The header of version 0.70 counts wrong here: it says 24, and has the field behind.
  if constexpr (std::is_same_v<Args, PJRT_Plugin_Attributes_Args>) args->num_attributes = complete.num_attributes;
  std::memcpy(args, &complete, size);
  return MakeError(status);
}

PJRT_Error* NotOffered(const char* name) {
  return MakeError(Unimplemented("Kashi's plugin does not offer PJRT_%s", name));
}

// Error_Destroy and Error_Message return nothing in the header of XLA: whoever calls them ignores the result.
PJRT_Api MakeTable() {
  PJRT_Api api = {};
  api.struct_size = sizeof(PJRT_Api);
  api.extension_start = KashiExtension(
      ProfilerExtension(LayoutsExtension(ShardingsExtension(CustomPartitionerExtension(FfiExtension())))));
  api.pjrt_api_version = {sizeof(PJRT_Api_Version), nullptr, PJRT_API_MAJOR, PJRT_API_MINOR};
#define PJRT_OFFERED(name, ...) api.PJRT_##name = &Offered<PJRT_##name##_Args>;
#define PJRT_NOT_OFFERED(name, ...) \
  api.PJRT_##name = [](PJRT_##name##_Args*) -> PJRT_Error* { return NotOffered(#name); };
#define PJRT_ABSENT(name, ...)
#include "kashi/pjrt/pjrt_functions.def"
#undef PJRT_OFFERED
#undef PJRT_NOT_OFFERED
#undef PJRT_ABSENT
  return api;
}

}  // namespace

const PJRT_Api* Api() {
  static const PJRT_Api api = MakeTable();
  return &api;
}

}  // namespace kashi::pjrt
