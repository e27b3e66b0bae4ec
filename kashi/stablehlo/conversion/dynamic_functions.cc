// Functions whose sizes depend on their arguments. StableHLO's pass refines such a function once, for the only way in
// which it may be called; here each kind of call gets a computation of its own: the shapes of the arguments, and the
// integers among them that are known, since sizes may depend on them.
//
//   func @f(%n: tensor<i64>, %x: tensor<?x3xf32>)
//   call @f(5, f32[4,3]), call @f(5, f32[4,3]), call @f(6, f32[4,3])      two computations
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal_util.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"
#include "kashi/stablehlo/conversion/shapes.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

constexpr int kDeepestType = 64;  // deeper types are errors where they are converted
// Arguments of more elements do not count as sizes.
constexpr int64_t kMostArgumentElements = 64;

bool HasUnknownSize(const Type& type, int depth = 0) {
  const bool is_array = type.kind == Type::Kind::kTensor || type.kind == Type::Kind::kBuffer;
  for (size_t i = 0; is_array && i < type.dimensions.size(); ++i) {
    if (type.dimensions[i] == kDynamic && (i >= type.bounds.size() || type.bounds[i] == kDynamic)) return true;
  }
  if (type.kind != Type::Kind::kTuple || depth >= kDeepestType) return false;
  return absl::c_any_of(type.types, [depth](const Type* element) { return HasUnknownSize(*element, depth + 1); });
}

bool HasUnknownSizeIn(const Operation& operation) {
  const auto has = [](const Value& value) { return HasUnknownSize(*value.type); };
  if (absl::c_any_of(operation.results, has)) return true;
  for (const Region& region : operation.regions) {
    for (const Block& block : region.blocks) {
      if (absl::c_any_of(block.arguments, has)) return true;
    }
  }
  return false;
}

// Whether the operation has operands that HLO needs as numbers, and that are not constants.
bool NeedsNumbers(const Operation& operation) {
  constexpr absl::string_view kNames[] = {"chlo.dynamic_reshape",      "stablehlo.dynamic_broadcast_in_dim",
                                          "stablehlo.dynamic_conv",    "stablehlo.dynamic_gather",
                                          "stablehlo.dynamic_iota",    "stablehlo.dynamic_pad",
                                          "stablehlo.dynamic_reshape", "stablehlo.real_dynamic_slice"};
  const Attribute* target = operation.Find("call_target_name");
  const bool is_call = operation.name == "stablehlo.custom_call" && target != nullptr &&
                       (FindDynamicCall(target->text) != nullptr || operation.Find(kShapeOperands) != nullptr);
  if (!is_call && !absl::c_linear_search(kNames, operation.name)) return false;
  return absl::c_any_of(operation.operands, [](const Value* operand) { return !IsConstant(*operand); });
}

bool IsSmallInteger(const Shape& shape) {
  return shape.IsArray() && shape.is_static() && shape.AreAllLeavesIntegers() &&
         ShapeUtil::ElementsIn(shape) <= kMostArgumentElements;
}

int64_t CountOperations(const Operation& function) {
  int64_t count = 0;
  for (const Block& block : function.regions[0].blocks)
    ForEachOperation(block, [&count](const Operation&) { ++count; });
  return count;
}

}  // namespace

void ModuleConverter::FindDynamicFunctions(absl::Span<const Operation* const> order) {
  constexpr int64_t kOperationsForFree = 100'000, kInstancesOfEach = 64;
  operations_left_ = kOperationsForFree;
  for (const Operation* function : order) {
    bool is_dynamic = HasUnknownSizeIn(*function);
    for (const Block& block : function->regions[0].blocks) {
      ForEachOperation(block, [&](const Operation& operation) {
        operations_left_ += kInstancesOfEach;
        is_dynamic = is_dynamic || HasUnknownSizeIn(operation) || NeedsNumbers(operation);
        for (const absl::string_view name : Callees(operation)) {
          const auto callee = functions_.find(name);
          is_dynamic = is_dynamic || (callee != functions_.end() && dynamic_functions_.contains(callee->second));
        }
      });
    }
    if (is_dynamic) dynamic_functions_.insert(function);
  }
}

absl::StatusOr<HloComputation*> ModuleConverter::FunctionFor(const Scope& caller, absl::string_view name,
                                                             absl::Span<HloInstruction* const> arguments) {
  const auto function = functions_.find(name);
  if (function == functions_.end() || !dynamic_functions_.contains(function->second)) return Function(name);
  std::string key(name);
  for (const HloInstruction* argument : arguments) {
    const Literal* value = IsSmallInteger(argument->shape()) ? known_.Find(argument) : nullptr;
    absl::StrAppend(&key, ";", value == nullptr ? ShapeUtil::HumanString(argument->shape()) : value->ToStringOneline());
  }
  const auto found = instances_.find(key);
  if (found != instances_.end()) return found->second;
  KASHI_ASSIGN_OR_RETURN(HloComputation* const computation, ConvertInstance(caller, *function->second, arguments));
  instances_[key] = computation;
  return computation;
}

absl::StatusOr<HloComputation*> ModuleConverter::ConvertInstance(const Scope& caller, const Operation& function,
                                                                 absl::Span<HloInstruction* const> arguments) {
  const Block& block = function.regions[0].blocks[0];
  const absl::string_view name = function.Find("sym_name")->text;
  if (caller.depth >= kDeepestConvertedRegion) {
    return Unimplemented("calls of functions whose sizes depend on their arguments are nested more than %d deep",
                         kDeepestConvertedRegion);
  }
  operations_left_ -= CountOperations(function);
  if (operations_left_ < 0) return Unimplemented("functions are called with too many different sizes");
  if (block.arguments.size() != arguments.size()) {
    return InvalidArgument("@%s has %d arguments, not %d", name, block.arguments.size(), arguments.size());
  }
  auto scope = std::make_unique<Scope>(std::string(name), caller.depth + 1, nullptr);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Shape& shape = arguments[i]->shape();
    KASHI_ASSIGN_OR_RETURN(const Shape declared, ShapeOfType(*block.arguments[i].type, UnknownSizes::kAllowed));
    if (!FitsType(declared, shape)) {
      return InvalidArgument("argument %d of @%s is %s, not %s", i, name, ShapeUtil::HumanString(declared),
                             ShapeUtil::HumanString(shape));
    }
    const HloInstruction* parameter = AddParameter(scope.get(), function, static_cast<int64_t>(i), shape);
    const Literal* value = IsSmallInteger(shape) ? known_.Find(arguments[i]) : nullptr;
    if (value != nullptr) known_.Set(parameter, value->Clone());
  }
  KASHI_ASSIGN_OR_RETURN(const Instructions results, ConvertBlock(scope.get(), block));
  HloInstruction* root =
      results.size() == 1 ? results[0] : scope->computation->AddInstruction(HloInstruction::CreateTuple(results));
  return Finish(std::move(scope), root);
}

absl::StatusOr<KnownArgument> ModuleConverter::AskForArgument(const Operation& function, int64_t number) const {
  if (options_.argument == nullptr || !dynamic_functions_.contains(&function)) return KnownArgument();
  const Type& type = *function.regions[0].blocks[0].arguments[number].type;
  KASHI_ASSIGN_OR_RETURN(const Shape shape, ShapeOfType(type, UnknownSizes::kAllowed));
  const bool is_size = shape.IsArray() && shape.dimensions().empty() && shape.AreAllLeavesIntegers();
  if (!is_size && !shape.is_unbounded_dynamic()) return KnownArgument();
  return options_.argument(number);
}

absl::StatusOr<Shape> ModuleConverter::EntryArgumentShape(const Type& type, int64_t number,
                                                          const KnownArgument& known) const {
  KASHI_ASSIGN_OR_RETURN(Shape shape, ShapeOfType(type, UnknownSizes::kAllowed));
  if (!shape.is_unbounded_dynamic()) return shape;
  if (shape.IsArray() && known.sizes.has_value()) {
    const std::vector<int64_t>& sizes = *known.sizes;
    bool fits = static_cast<int64_t>(sizes.size()) == shape.dimensions_size();
    for (int d = 0; fits && d < static_cast<int>(sizes.size()); ++d) {
      const bool is_unknown = shape.is_unbounded_dynamic_dimension(d);
      fits = sizes[d] >= 0 && (is_unknown || shape.is_dynamic_dimension(d) || sizes[d] == shape.dimensions(d));
      if (is_unknown && fits) shape.set_dimensions(d, sizes[d], /*is_dynamic=*/false);
    }
    if (!fits) {
      return InvalidArgument("sizes [%s] do not fit its type %s", absl::StrJoin(sizes, ","), TypeText(type));
    }
    KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShape(shape));
    return shape;
  }
  if (!shape.IsArray()) return Unimplemented("sizes in %s are not known, and HLO needs them", TypeText(type));
  return Unimplemented(
      "not all sizes of %s are known, and HLO needs them. Say the sizes of this argument, such as `--argument %d=[%s]`",
      TypeText(type), number, absl::StrJoin(shape.dimensions(), ",", [](std::string* text, int64_t size) {
        absl::StrAppend(text, size == Shape::kUnboundedSize ? 8 : size);
      }));
}

absl::Status ModuleConverter::SetKnownArgument(const HloInstruction& parameter, int64_t value) {
  const Shape& shape = parameter.shape();
  if (!shape.IsArray() || !shape.dimensions().empty() || !shape.AreAllLeavesIntegers()) {
    return InvalidArgument("the value %d is given, but its shape %s is no integer", value,
                           ShapeUtil::HumanString(shape));
  }
  KASHI_ASSIGN_OR_RETURN(Literal literal, LiteralUtil::CreateR0<int64_t>(value).Convert(shape.element_type()));
  KASHI_ASSIGN_OR_RETURN(const Literal back, literal.Convert(S64));
  if (back.Get<int64_t>({}) != value) {
    return InvalidArgument("the value %d does not fit %s", value, ShapeUtil::HumanString(shape));
  }
  known_.Set(&parameter, std::move(literal));
  return absl::OkStatus();
}

}  // namespace kashi::stablehlo
