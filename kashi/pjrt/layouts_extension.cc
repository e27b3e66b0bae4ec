#include "kashi/pjrt/layouts_extension.h"

#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/pjrt/errors.h"
#include "kashi/pjrt/objects.h"
#include "kashi/pjrt/types.h"

namespace kashi::pjrt {
namespace {

PJRT_Error* Destroy(PJRT_Layouts_MemoryLayout_Destroy_Args* args) {
  delete args->layout;
  return nullptr;
}
PJRT_Error* Serialize(PJRT_Layouts_MemoryLayout_Serialize_Args* args) {
  GiveBytes(args->layout->layout.ToString(), &args->serialized_bytes, &args->serialized_bytes_size,
            &args->serialized_layout, &args->serialized_layout_deleter);
  return nullptr;
}

// The layout of an array that nobody gave one.
template <typename Args>
PJRT_Error* GetDefault(Args* args) {
  absl::StatusOr<Shape> shape = ShapeOf(args->type, args->dims, args->num_dims);
  if (!shape.ok()) return MakeError(shape.status());
  if (shape->IsArray()) LayoutUtil::SetToDefaultLayout(&*shape);
  args->layout = NewObject<PJRT_Layouts_MemoryLayout>(VisibleLayout(*shape));
  return nullptr;
}

PJRT_Error* OfBuffer(PJRT_Layouts_Buffer_MemoryLayout_Args* args) {
  args->layout = NewObject<PJRT_Layouts_MemoryLayout>(VisibleLayout(args->buffer->shape));
  return nullptr;
}

PJRT_Error* GiveLayouts(PJRT_Executable::Leaves& leaves, PJRT_Layouts_Executable_Layouts_Args* args) {
  args->count = leaves.layouts.size();
  args->layouts = leaves.layouts.data();
  return nullptr;
}

}  // namespace

absl::Status SetVisibleLayout(const Layout& layout, Shape* array) {
  if (!array->IsArray() || !layout.tiles().empty()) {
    return InvalidArgument("%s has no layout %s on this device", ShapeUtil::HumanString(*array), layout.ToString());
  }
  KASHI_RETURN_IF_ERROR(LayoutUtil::ValidateLayoutForShape(layout, *array));
  *array->mutable_layout() = layout;
  return absl::OkStatus();
}

Layout VisibleLayout(const Shape& shape) { return shape.IsArray() ? shape.layout() : Layout(); }

PJRT_Extension_Base* LayoutsExtension(PJRT_Extension_Base* next) {
  static PJRT_Layouts_Extension extension = {
      {sizeof(PJRT_Layouts_Extension), PJRT_Extension_Type_Layouts, next},
      &Destroy,
      &Serialize,
      &GetDefault<PJRT_Layouts_Client_GetDefaultLayout_Args>,
      &OfBuffer,
      &GetDefault<PJRT_Layouts_Topology_GetDefaultLayout_Args>,
      [](PJRT_Layouts_Executable_Layouts_Args* args) { return GiveLayouts(args->executable->results, args); },
      [](PJRT_Layouts_Executable_Layouts_Args* args) { return GiveLayouts(args->executable->arguments, args); }};
  return &extension.base;
}

}  // namespace kashi::pjrt
