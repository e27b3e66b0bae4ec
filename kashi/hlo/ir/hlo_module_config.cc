#include "kashi/hlo/ir/hlo_module_config.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"

namespace kashi {

bool ShapeLayout::LayoutIsSet() const { return LayoutUtil::HasLayout(shape_); }
void ShapeLayout::SetToDefaultLayout() { LayoutUtil::SetToDefaultLayout(&shape_); }
void ShapeLayout::Clear() { LayoutUtil::ClearLayout(&shape_); }

bool ShapeLayout::MatchesLayoutInShape(const Shape& shape, bool minor_to_major_only,
                                       bool ignore_fully_empty_tiling) const {
  Shape::Equal equal = Shape::Equal().IgnoreDynamicDimension();
  if (minor_to_major_only) equal.MinorToMajorOnlyInLayout();
  if (ignore_fully_empty_tiling) {
    const auto is_tiled = [](const Shape& s) {
      bool tiled = false;
      ShapeUtil::ForEachSubshape(s, [&](const Shape& subshape, const ShapeIndex&) {
        tiled |= subshape.IsArray() && subshape.has_layout() && !subshape.layout().tiles().empty();
      });
      return tiled;
    };
    if (!is_tiled(shape) || !is_tiled(shape_)) equal.IgnoreTilesInLayout();
  }
  return equal(shape, shape_);
}

absl::Status ShapeLayout::CopyLayoutFromShape(const Shape& other) {
  if (!ShapeUtil::Compatible(other, shape_)) {
    return InvalidArgument("Shape %s is not compatible with shape %s", ShapeUtil::HumanString(other),
                           ShapeUtil::HumanString(shape_));
  }
  shape_ = other;
  return absl::OkStatus();
}

absl::Status ShapeLayout::AssignLayoutToShape(Shape* to) const {
  if (!ShapeUtil::Compatible(*to, shape_)) {
    return InvalidArgument("Shape %s is not compatible with shape %s", ShapeUtil::HumanString(*to),
                           ShapeUtil::HumanString(shape_));
  }
  *to = shape_;
  return absl::OkStatus();
}

ComputationLayout::ComputationLayout(const ProgramShape& program_shape, bool ignore_layouts)
    : result_(program_shape.result()) {
  for (const Shape& parameter : program_shape.parameters()) add_parameter_layout(ShapeLayout(parameter));
  if (ignore_layouts) SetToDefaultLayout();
}

void ComputationLayout::SetToDefaultLayout() {
  for (ShapeLayout& parameter : parameters_) parameter.SetToDefaultLayout();
  result_.SetToDefaultLayout();
}

bool ComputationLayout::LayoutIsSet() const {
  return absl::c_all_of(parameters_, [](const ShapeLayout& layout) { return layout.LayoutIsSet(); }) &&
         result_.LayoutIsSet();
}

bool ComputationLayout::AnyLayoutSet() const {
  return absl::c_any_of(parameters_, [](const ShapeLayout& layout) { return layout.LayoutIsSet(); }) ||
         result_.LayoutIsSet();
}

ProgramShape ComputationLayout::ComputeProgramShape() const {
  ProgramShape program_shape;
  for (int64_t i = 0; i < parameter_count(); ++i) program_shape.AddParameter(parameter_shape(i), absl::StrCat("p", i));
  *program_shape.mutable_result() = result_shape();
  return program_shape;
}

void ComputationLayout::Print(Printer* printer) const {
  constexpr int kAnnotated = 5;
  printer->Append("(");
  for (int i = 0; i < parameter_count(); ++i) {
    if (i > 0) printer->Append(", ");
    if (i > 0 && i % kAnnotated == 0) AppendCat(printer, "/*index=", i, "*/");
    parameter_shape(i).Print(printer, /*print_layout=*/true);
  }
  printer->Append(")->");
  result_shape().Print(printer, /*print_layout=*/true);
}

std::string ComputationLayout::ToString() const {
  StringPrinter printer;
  Print(&printer);
  return std::move(printer).ToString();
}

}  // namespace kashi
