#include "kashi/reduction/resize.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "kashi/array/common_factors.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/inference/instruction_shape.h"
#include "kashi/literal/literal.h"

namespace kashi::reduction {
namespace {

using Sizes = DimensionVector;
using NewSize = absl::FunctionRef<int64_t(int64_t size)>;

Sizes SizesOf(const Shape& array) { return {array.dimensions().begin(), array.dimensions().end()}; }

int64_t ProductOf(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product = SaturatingMultiply(product, size);
  return product;
}

// The shape with other sizes, which must fit its rank. Layout and flags stay.
void SetSizes(absl::Span<const int64_t> sizes, Shape* array) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int dimension = static_cast<int>(i);
    array->set_dimensions(dimension, sizes[i], array->is_dynamic_dimension(dimension));
  }
}

Shape Renamed(Shape shape, NewSize new_size) {
  ShapeUtil::ForEachMutableSubshape(&shape, [&](Shape* part, const ShapeIndex&) {
    if (!part->IsArrayExcludingBuffer()) return;
    Sizes sizes = SizesOf(*part);
    for (int64_t& size : sizes) size = size > 1 ? new_size(size) : size;  // unbounded sizes are negative
    SetSizes(sizes, part);
  });
  return shape;
}

// Gives `shape` the sizes of `from`; layouts, types and flags stay. An error if the shapes have other trees or ranks.
absl::Status TakeSizes(const Shape& from, Shape* shape) {
  return ShapeUtil::ForEachMutableSubshapeWithStatus(shape, [&](Shape* part, const ShapeIndex& index) -> absl::Status {
    if (!part->IsArrayExcludingBuffer()) return absl::OkStatus();
    KASHI_ASSIGN_OR_RETURN(const Shape* other, ShapeUtil::TryGetSubshape(from, index));
    if (!other->IsArrayExcludingBuffer() || other->rank() != part->rank()) return Internal("shapes of other ranks");
    if (other->is_unbounded_dynamic()) return Unimplemented("sizes that are not known");
    SetSizes(SizesOf(*other), part);
    return absl::OkStatus();
  });
}

// ---- Reshapes -------------------------------------------------------------------------------------------------------

// Sizes for `old_sizes` with this product: renamed ones, or with one size that is another.
std::optional<Sizes> FitProduct(absl::Span<const int64_t> old_sizes, int64_t product, NewSize new_size) {
  Sizes renamed;
  for (const int64_t size : old_sizes) renamed.push_back(new_size(size));
  if (ProductOf(renamed) == product) return renamed;
  for (const Sizes& base : {renamed, Sizes(old_sizes.begin(), old_sizes.end())}) {
    for (size_t i = 0; i < base.size(); ++i) {
      Sizes sizes = base;
      sizes[i] = 1;
      const int64_t others = ProductOf(sizes);
      if (others <= 0 || product % others != 0) continue;
      sizes[i] = product / others;
      return sizes;
    }
  }
  return std::nullopt;
}

// The result of a reshape whose operand has changed, piece by piece of the dimensions that it merges or splits. A
// bitcast may have another number of elements: its sizes are renamed.
absl::StatusOr<Sizes> ReshapedSizes(const Sizes& old_operand, const Sizes& operand, const Sizes& old_result,
                                    NewSize new_size) {
  Sizes sizes;
  if (ProductOf(old_operand) != ProductOf(old_result)) {
    for (const int64_t size : old_result) sizes.push_back(new_size(size));
    return sizes;
  }
  const auto cuts = CommonFactors(old_operand, old_result);
  for (size_t piece = 0; piece + 1 < cuts.size(); ++piece) {
    const auto [from, result_from] = cuts[piece];
    const auto [to, result_to] = cuts[piece + 1];
    const auto part = absl::MakeConstSpan(operand).subspan(from, to - from);
    const auto result_part = absl::MakeConstSpan(old_result).subspan(result_from, result_to - result_from);
    const std::optional<Sizes> fit = FitProduct(result_part, ProductOf(part), new_size);
    if (!fit.has_value()) return Internal("no sizes with that product");
    sizes.insert(sizes.end(), fit->begin(), fit->end());
  }
  return sizes;
}

// ---- The attributes and the shape of an instruction -----------------------------------------------------------------

class Resizer {
 public:
  Resizer(ModuleEdit* edit, NewSize new_size) : edit_(edit), new_size_(new_size) {}

  absl::Status Resize(HloInstruction* x) {
    KASHI_RETURN_IF_ERROR(AdaptAttributes(x));
    const Shape before = x->shape();
    KASHI_ASSIGN_OR_RETURN(Shape after, NewShape(x));
    if (before != after) {
      old_shapes_.emplace(x, before);
      edit_->SetShape(x, after);
    }
    return absl::OkStatus();
  }

 private:
  const Shape& OldShape(const HloInstruction* x) const {
    const auto old = old_shapes_.find(x);
    return old == old_shapes_.end() ? x->shape() : old->second;
  }
  // Of operand 0, if it is an array of that rank, before and now.
  struct OperandSizes {
    Sizes before, now;
  };
  std::optional<OperandSizes> Operand(const HloInstruction& x, size_t rank) const {
    if (x.operand_count() == 0) return std::nullopt;
    const Shape& shape = x.operand(0)->shape();
    if (!shape.IsArrayExcludingBuffer() || static_cast<size_t>(shape.rank()) != rank) return std::nullopt;
    return OperandSizes{SizesOf(OldShape(x.operand(0))), SizesOf(shape)};
  }

  absl::Status AdaptAttributes(HloInstruction* x);
  void AdaptSlice(const HloInstruction& x, SliceRanges* ranges) const;
  void AdaptSizes(const HloInstruction& x, Int64List* sizes) const;
  void AdaptPadding(const HloInstruction& x, PaddingConfig* padding) const;
  void AdaptWindow(const HloInstruction& x, Window* window) const;
  absl::Status ResizeConstant(HloInstruction* constant) const;

  absl::StatusOr<Shape> NewShape(HloInstruction* x);
  absl::StatusOr<Shape> BroadcastShape(const HloInstruction& x) const;
  absl::StatusOr<Shape> ReshapedShape(const HloInstruction& x) const;
  absl::StatusOr<Shape> InferredShape(HloInstruction* x);
  // The shape in which the pieces of a gather or a scatter among devices are counted: as many as before.
  void KeepPieceCount(HloInstruction* x);

  ModuleEdit* const edit_;
  const NewSize new_size_;
  absl::flat_hash_map<const HloInstruction*, Shape> old_shapes_;
};

// The whole of a dimension stays the whole; of others as many elements as their new size, from the same start if it is
// still there.
void Resizer::AdaptSlice(const HloInstruction& x, SliceRanges* ranges) const {
  const std::optional<OperandSizes> operand = Operand(x, ranges->starts.size());
  if (!operand.has_value()) return;
  for (size_t i = 0; i < ranges->starts.size(); ++i) {
    int64_t& start = ranges->starts[i];
    int64_t& limit = ranges->limits[i];
    const int64_t stride = std::max<int64_t>(1, ranges->strides[i]);
    const int64_t size = operand->now[i];
    if (start == 0 && limit == operand->before[i]) {
      limit = size;
      continue;
    }
    const int64_t count = new_size_((limit - start + stride - 1) / stride);
    const int64_t extent = std::min(size, count > 0 ? (count - 1) * stride + 1 : 0);
    start = std::max<int64_t>(0, std::min(start, size - extent));
    limit = start + extent;
  }
}

// Sizes of slices of operand 0.
void Resizer::AdaptSizes(const HloInstruction& x, Int64List* sizes) const {
  const std::optional<OperandSizes> operand = Operand(x, sizes->size());
  if (!operand.has_value()) return;
  for (size_t i = 0; i < operand->now.size(); ++i) {
    const int64_t size = (*sizes)[static_cast<int>(i)];
    sizes->Set(static_cast<int>(i),
               size == operand->before[i] ? operand->now[i] : std::min(new_size_(size), operand->now[i]));
  }
}

// So that the result has its new size: the edge behind gives what is missing.
void Resizer::AdaptPadding(const HloInstruction& x, PaddingConfig* padding) const {
  const std::optional<OperandSizes> operand = Operand(x, static_cast<size_t>(padding->dimensions_size()));
  if (!operand.has_value() || !x.shape().IsArray() || x.shape().rank() != padding->dimensions_size()) return;
  for (int i = 0; i < padding->dimensions_size(); ++i) {
    PaddingConfigDimension* const dimension = padding->mutable_dimensions(i);
    const int64_t wanted = new_size_(x.shape().dimensions(i));
    const int64_t size = operand->now[i];
    if (wanted == x.shape().dimensions(i) && size == operand->before[i]) continue;
    const int64_t inner = size + std::max<int64_t>(0, size - 1) * dimension->interior_padding();
    dimension->set_edge_padding_low(std::min(dimension->edge_padding_low(), std::max<int64_t>(0, wanted - inner)));
    dimension->set_edge_padding_high(wanted - inner - dimension->edge_padding_low());
  }
}

// A window over a whole dimension stays one, with its padding; that of a convolution has the sizes of the kernel.
void Resizer::AdaptWindow(const HloInstruction& x, Window* window) const {
  const auto* convolution = x.fields().Find<HloField::convolution_dimension_numbers>();
  const std::optional<OperandSizes> operand = Operand(x, static_cast<size_t>(window->dimensions_size()));
  for (int i = 0; i < window->dimensions_size(); ++i) {
    WindowDimension* const dimension = window->mutable_dimensions(i);
    const int64_t before = dimension->size();
    if (convolution != nullptr) {
      if (i >= convolution->kernel_spatial_dimensions_size() || x.operand_count() < 2) return;
      const int64_t kernel = convolution->kernel_spatial_dimensions(i);
      const Shape& shape = x.operand(1)->shape();
      if (!shape.IsArray() || kernel < 0 || kernel >= shape.rank()) return;
      dimension->set_size(shape.dimensions(static_cast<int>(kernel)));
    } else if (operand.has_value() && before == operand->before[i]) {
      dimension->set_size(operand->now[i]);
    }
    const auto adapted = [&](int64_t padding) { return padding == before - 1 ? dimension->size() - 1 : padding; };
    dimension->set_padding_low(adapted(dimension->padding_low()));
    dimension->set_padding_high(adapted(dimension->padding_high()));
  }
}

absl::Status Resizer::ResizeConstant(HloInstruction* constant) const {
  const SharedLiteral literal = constant->shared_literal();
  const Shape& shape = literal->shape();
  const Shape renamed = Renamed(shape, new_size_);
  if (renamed == shape) return absl::OkStatus();
  if (!shape.IsArray()) return Unimplemented("%s is a constant tuple", constant->name());
  if (literal.is_elided()) {
    KASHI_ASSIGN_OR_RETURN(Literal resized, Literal::Make(renamed));
    constant->mutable_fields()->Set<HloField::literal>(SharedLiteral::Elided(std::move(resized)));
  } else {
    Literal resized = literal->Slice(Sizes(shape.rank(), 0), SizesOf(renamed));
    constant->mutable_fields()->Set<HloField::literal>(SharedLiteral(std::move(resized)));
  }
  return absl::OkStatus();
}

absl::Status Resizer::AdaptAttributes(HloInstruction* x) {
  HloFieldList* const fields = x->mutable_fields();
  if (x->IsConstant() && fields->Has(HloField::literal)) KASHI_RETURN_IF_ERROR(ResizeConstant(x));
  if (fields->Has(HloField::slice_ranges)) AdaptSlice(*x, fields->Mutable<HloField::slice_ranges>());
  if (fields->Has(HloField::dynamic_slice_sizes)) AdaptSizes(*x, fields->Mutable<HloField::dynamic_slice_sizes>());
  if (fields->Has(HloField::gather_slice_sizes)) AdaptSizes(*x, fields->Mutable<HloField::gather_slice_sizes>());
  if (fields->Has(HloField::padding_config)) AdaptPadding(*x, fields->Mutable<HloField::padding_config>());
  if (fields->Has(HloField::window)) AdaptWindow(*x, fields->Mutable<HloField::window>());
  if (fields->Has(HloField::fft_length)) {
    for (int64_t& length : *fields->Mutable<HloField::fft_length>()) length = new_size_(length);
  }
  if (fields->Has(HloField::k)) *fields->Mutable<HloField::k>() = new_size_(x->k());
  if (const int64_t* groups = fields->Find<HloField::feature_group_count>(); groups != nullptr && *groups > 1) {
    fields->Set<HloField::feature_group_count>(new_size_(*groups));
  }
  if (const int64_t* groups = fields->Find<HloField::batch_group_count>(); groups != nullptr && *groups > 1) {
    fields->Set<HloField::batch_group_count>(new_size_(*groups));
  }
  if (const Shape* shape = fields->Find<HloField::outfeed_shape>()) {
    fields->Set<HloField::outfeed_shape>(Renamed(*shape, new_size_));
  }
  if (fields->Has(HloField::operand_shapes_with_layout)) {
    std::vector<Shape>* const shapes = fields->Mutable<HloField::operand_shapes_with_layout>();
    for (size_t i = 0; i < shapes->size() && static_cast<int64_t>(i) < x->operand_count(); ++i) {
      KASHI_RETURN_IF_ERROR(TakeSizes(x->operand(static_cast<int64_t>(i))->shape(), &(*shapes)[i]));
    }
  }
  return absl::OkStatus();
}

// Dimensions of the operand have its sizes.
absl::StatusOr<Shape> Resizer::BroadcastShape(const HloInstruction& x) const {
  Shape shape = Renamed(x.shape(), new_size_);
  const Shape& operand = x.operand(0)->shape();
  const auto* const field = x.fields().Find<HloField::dimensions>();
  const auto dimensions = field != nullptr ? absl::MakeConstSpan(*field) : absl::Span<const int64_t>();
  if (!shape.IsArray() || !operand.IsArray() || dimensions.size() != operand.dimensions().size()) {
    return Internal("%s is no broadcast of an array", x.name());
  }
  Sizes sizes = SizesOf(shape);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] < 0 || dimensions[i] >= shape.rank()) return Internal("no dimension %d", dimensions[i]);
    sizes[dimensions[i]] = operand.dimensions(static_cast<int>(i));
  }
  SetSizes(sizes, &shape);
  return shape;
}

absl::StatusOr<Shape> Resizer::ReshapedShape(const HloInstruction& x) const {
  Shape shape = x.shape();
  const Shape& operand = x.operand(0)->shape();
  if (!shape.IsArrayExcludingBuffer() || !operand.IsArrayExcludingBuffer() || !operand.is_static()) {
    return Renamed(std::move(shape), new_size_);
  }
  KASHI_ASSIGN_OR_RETURN(const Sizes sizes,
                         ReshapedSizes(SizesOf(OldShape(x.operand(0))), SizesOf(operand), SizesOf(shape), new_size_));
  SetSizes(sizes, &shape);
  return shape;
}

void Resizer::KeepPieceCount(HloInstruction* x) {
  const auto* const dimensions = x->fields().Find<HloField::dimensions>();
  if (dimensions == nullptr || dimensions->size() != 1 || x->operand_count() == 0) return;
  const int dimension = static_cast<int>((*dimensions)[0]);
  const Shape& operand = x->operand(0)->shape();
  const Shape& old_operand = OldShape(x->operand(0));
  Shape shape = x->shape();
  ShapeUtil::ForEachMutableSubshape(&shape, [&](Shape* part, const ShapeIndex&) {
    if (!part->IsArrayExcludingBuffer() || !operand.IsArray() || dimension < 0 || dimension >= part->rank() ||
        dimension >= operand.rank() || old_operand.dimensions(dimension) <= 0) {
      return;
    }
    const int64_t old_size = part->dimensions(dimension);
    const int64_t old_piece = old_operand.dimensions(dimension);
    const int64_t size = operand.dimensions(dimension);
    const int64_t now = old_size >= old_piece ? SaturatingMultiply(size, old_size / old_piece)
                                              : size / (old_piece / std::max<int64_t>(1, old_size));
    part->set_dimensions(dimension, now, part->is_dynamic_dimension(dimension));
  });
  x->set_shared_shape(SharedShape(ShapeWithText(shape)));
}

absl::StatusOr<Shape> Resizer::InferredShape(HloInstruction* x) {
  const Shape before = x->shape();
  if (GetHloOpcodeInfo(x->opcode()).Has(HloOpcodeFlags::kCollective)) KeepPieceCount(x);
  absl::StatusOr<Shape> inferred = hlo::InferInstructionShape(*x);
  x->set_shared_shape(SharedShape(ShapeWithText(before)));
  KASHI_RETURN_IF_ERROR(inferred.status());
  Shape shape = before;
  KASHI_RETURN_IF_ERROR(TakeSizes(*inferred, &shape));
  return shape;
}

absl::StatusOr<Shape> Resizer::NewShape(HloInstruction* x) {
  if (x->opcode() == HloOpcode::kBroadcast) return BroadcastShape(*x);
  const HloShapeRule rule = GetHloOpcodeInfo(x->opcode()).shape_rule;
  if (rule == HloShapeRule::kReshape || x->opcode() == HloOpcode::kBitcast) return ReshapedShape(*x);
  if (rule == HloShapeRule::kDynamicReshape) return Renamed(x->shape(), new_size_);
  if (rule != HloShapeRule::kNone) return InferredShape(x);
  if (x->opcode() != HloOpcode::kFusion) return Renamed(x->shape(), new_size_);
  Shape shape = x->shape();
  KASHI_RETURN_IF_ERROR(TakeSizes(x->fused_expression_root()->shape(), &shape));
  return shape;
}

}  // namespace

absl::Status ResizeModule(ModuleEdit* edit, absl::FunctionRef<int64_t(int64_t size)> new_size) {
  Resizer resizer(edit, new_size);
  for (const HloComputation* computation : edit->module()->MakeComputationPostOrder()) {
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      KASHI_RETURN_IF_ERROR(resizer.Resize(instruction));
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi::reduction
