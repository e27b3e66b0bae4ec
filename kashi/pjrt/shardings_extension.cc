#include "kashi/pjrt/shardings_extension.h"

#include "kashi/pjrt/objects.h"

namespace kashi::pjrt {
namespace {

PJRT_Error* GiveShardings(const PJRT_Executable::Leaves& leaves, PJRT_Shardings_Args* args) {
  const bool has_all = leaves.shardings.size() == leaves.types.size() && !leaves.types.empty();
  args->count = has_all ? leaves.shardings.size() : 0;
  args->shardings = has_all ? leaves.shardings.data() : nullptr;
  args->sharding_sizes = has_all ? leaves.sharding_sizes.data() : nullptr;
  return nullptr;
}

}  // namespace

PJRT_Extension_Base* ShardingsExtension(PJRT_Extension_Base* next) {
  static PJRT_Shardings_Extension extension = {
      {sizeof(PJRT_Shardings_Extension), PJRT_Extension_Type_Shardings, next},
      [](PJRT_Shardings_Args* args) { return GiveShardings(args->executable->arguments, args); },
      [](PJRT_Shardings_Args* args) { return GiveShardings(args->executable->results, args); }};
  return &extension.base;
}

}  // namespace kashi::pjrt
