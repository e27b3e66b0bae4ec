// The run-time part of the PrimitiveType_... functions; the table itself is constexpr in the header.

#include "kashi/array/primitive_type.h"

#include <string>
#include <vector>

namespace kashi {

using primitive_type_internal::kInfos;
using primitive_type_internal::kNumInfos;

namespace primitive_type_internal {

const std::string& Name(int value) {
  // Never destroyed, so that code that runs at exit may still print types. The last is for numbers that are no type.
  static const std::vector<std::string>& names = *new std::vector<std::string>{
#define KASHI_TYPE(type, ...) #type,
#include "kashi/array/primitive_types.def"
      ""};
  return names[PrimitiveType_IsValid(value) ? value : kNumInfos];
}

}  // namespace primitive_type_internal

bool PrimitiveType_IsValid(int value) { return value >= 0 && value < kNumInfos; }

bool PrimitiveType_Parse(absl::string_view name, PrimitiveType* value) {
  for (const PrimitiveTypeInfo& info : kInfos) {
    if (info.name != name) continue;
    *value = info.type;
    return true;
  }
  return false;
}

}  // namespace kashi
