// Transformations of all shapes of a module at once: a size of dimensions becomes a smaller one, an element type a
// narrower one, wherever it occurs.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/literal/literal.h"
#include "kashi/reduction/resize.h"
#include "kashi/reduction/transformations.h"

namespace kashi::reduction {

// ---- Sizes ----------------------------------------------------------------------------------------------------------

// {number: the size, 0 for all sizes; value: what it becomes at most}. First all at once, then one by one, those with
// the most elements first.
Sites FindSizes(const HloModule& module) {
  std::map<int64_t, int64_t> elements;  // of the arrays with a dimension of that size
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      ShapeUtil::ForEachSubshape(instruction->shape(), [&](const Shape& part, const ShapeIndex&) {
        if (!part.IsArray() || part.is_unbounded_dynamic()) return;
        int64_t count = 1;
        for (const int64_t size : part.dimensions()) count = SaturatingMultiply(count, size);
        for (const int64_t size : part.dimensions()) {
          if (size > 1) elements[size] = SaturatingAdd(elements[size], count);
        }
      });
    }
  }
  std::vector<std::pair<int64_t, int64_t>> order(elements.begin(), elements.end());
  absl::c_stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  Sites sites;
  const auto add = [&](int64_t size, int64_t largest) {
    for (const int64_t to : {int64_t{1}, int64_t{2}, largest / 2}) {
      const bool is_new = sites.empty() || sites.back().number != size || sites.back().value < to;
      if (to < largest && is_new) sites.push_back({nullptr, size, to});
    }
  };
  if (order.size() > 1) add(0, elements.rbegin()->first);
  for (const auto& [size, count] : order) add(size, size);
  return sites;
}

absl::Status ShrinkSizes(absl::Span<const Site> sites, ModuleEdit* edit) {
  const Site& site = sites[0];
  return ResizeModule(
      edit, [&](int64_t size) { return size == site.number || site.number == 0 ? std::min(size, site.value) : size; });
}

// ---- Types ----------------------------------------------------------------------------------------------------------

namespace {

// The wide types of a group go together: a complex number is made of two real ones.
struct WideType {
  int group;
  PrimitiveType wide;
  PrimitiveType narrow;
};
constexpr WideType kWideTypes[] = {{0, F64, F32}, {0, C128, C64}, {1, S64, S32}, {2, U64, U32}};
constexpr int kGroups = 3;

PrimitiveType Narrowed(PrimitiveType type, int group) {
  for (const WideType& row : kWideTypes) {
    if (row.group == group && row.wide == type) return row.narrow;
  }
  return type;
}

Shape WithNarrowTypes(Shape shape, int group) {
  ShapeUtil::ForEachMutableSubshape(&shape, [&](Shape* part, const ShapeIndex&) {
    if (part->IsArrayExcludingBuffer()) part->set_element_type(Narrowed(part->element_type(), group));
  });
  return shape;
}

absl::Status NarrowConstant(HloInstruction* constant, int group) {
  const SharedLiteral literal = constant->shared_literal();
  if (!literal->shape().IsArray()) return Unimplemented("%s is a constant tuple", constant->name());
  if (literal.is_elided()) {
    KASHI_ASSIGN_OR_RETURN(Literal narrow, Literal::Make(WithNarrowTypes(literal->shape(), group)));
    constant->mutable_fields()->Set<HloField::literal>(SharedLiteral::Elided(std::move(narrow)));
  } else {
    KASHI_ASSIGN_OR_RETURN(Literal narrow, literal->Convert(Narrowed(literal->shape().element_type(), group)));
    constant->mutable_fields()->Set<HloField::literal>(SharedLiteral(std::move(narrow)));
  }
  return absl::OkStatus();
}

}  // namespace

// {number: the group}
Sites FindTypes(const HloModule& module) {
  Sites sites;
  for (int group = 0; group < kGroups; ++group) {
    const bool is_there = absl::c_any_of(module.computations(), [&](const HloComputation* computation) {
      return absl::c_any_of(computation->instructions(),
                            [&](const HloInstruction* x) { return WithNarrowTypes(x->shape(), group) != x->shape(); });
    });
    if (is_there) sites.push_back({nullptr, group});
  }
  return sites;
}

absl::Status NarrowTypes(absl::Span<const Site> sites, ModuleEdit* edit) {
  const int group = static_cast<int>(sites[0].number);
  for (HloComputation* computation : edit->module()->computations()) {
    for (HloInstruction* x : computation->instructions()) {
      const Shape narrow = WithNarrowTypes(x->shape(), group);
      if (x->IsConstant() && narrow != x->shape()) KASHI_RETURN_IF_ERROR(NarrowConstant(x, group));
      if (narrow != x->shape()) edit->SetShape(x, narrow);
      if (x->fields().Has(HloField::operand_shapes_with_layout)) {
        for (Shape& shape : *x->mutable_fields()->Mutable<HloField::operand_shapes_with_layout>()) {
          shape = WithNarrowTypes(shape, group);
        }
      }
      if (const Shape* const shape = x->fields().Find<HloField::outfeed_shape>()) {
        x->mutable_fields()->Set<HloField::outfeed_shape>(WithNarrowTypes(*shape, group));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::reduction
