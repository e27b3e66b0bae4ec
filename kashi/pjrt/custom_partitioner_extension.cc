#include "kashi/pjrt/custom_partitioner_extension.h"

#include "absl/strings/string_view.h"
#include "kashi/pjrt/custom_call_partitioners.h"
#include "kashi/pjrt/custom_partitioner_c_api.h"
#include "kashi/pjrt/errors.h"

namespace kashi::pjrt {
namespace {

PJRT_Error* RegisterPartitioner(PJRT_Register_Custom_Partitioner_Args* args) {
  return MakeError(
      RegisteredPartitioners::Global().Register(absl::string_view(args->name, args->name_size), args->callbacks));
}

PJRT_Error* RegisterBatchPartitionable(PJRT_Register_Batch_Partitionable_Args* args) {
  RegisteredPartitioners::Global().RegisterBatchPartitionable(absl::string_view(args->name, args->name_size));
  return nullptr;
}

}  // namespace

PJRT_Extension_Base* CustomPartitionerExtension(PJRT_Extension_Base* next) {
  static PJRT_Custom_Partitioner_Extension extension = {
      {sizeof(PJRT_Custom_Partitioner_Extension), PJRT_Extension_Type_Custom_Partitioner, next},
      &RegisterPartitioner,
      &RegisterBatchPartitionable};
  return &extension.base;
}

}  // namespace kashi::pjrt
