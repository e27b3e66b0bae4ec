// The value of each fact: a function for each row of facts.def.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/analysis/source_location.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/query/prepared_facts.h"

namespace kashi::query {
namespace {

using Prepared = ModuleFacts::Prepared;

template <Fact fact>
FactValue Compute(const Prepared& prepared, const HloInstruction& x);

#define KASHI_FACT_VALUE(key) \
  template <>                 \
  FactValue Compute<Fact::key>([[maybe_unused]] const Prepared& prepared, [[maybe_unused]] const HloInstruction& x)

// ---- What and where it is -------------------------------------------------------------------------------------------

KASHI_FACT_VALUE(file) { return prepared.options.file; }
KASHI_FACT_VALUE(file_line) { return Number(int64_t{x.text_place().line}); }
KASHI_FACT_VALUE(module) { return prepared.module.name(); }
KASHI_FACT_VALUE(computation) { return std::string(x.parent()->name()); }
KASHI_FACT_VALUE(name) { return std::string(x.name()); }
KASHI_FACT_VALUE(opcode) { return std::string(HloOpcodeString(x.opcode())); }
KASHI_FACT_VALUE(is_root) { return x.IsRoot(); }
KASHI_FACT_VALUE(fused) { return x.IsFused(); }
KASHI_FACT_VALUE(custom_call_target) {
  const std::string* const target = x.fields().Find<HloField::custom_call_target>();
  return target != nullptr ? *target : std::string();
}

// ---- The result -----------------------------------------------------------------------------------------------------

KASHI_FACT_VALUE(shape) { return ShapeUtil::HumanStringWithLayout(x.shape()); }
KASHI_FACT_VALUE(type) { return primitive_util::LowercasePrimitiveTypeName(x.shape().element_type_including_buffer()); }
KASHI_FACT_VALUE(rank) { return Number(x.shape().IsArray() ? x.shape().rank() : 0); }

// 0 for a size that is not known. Readers refuse arrays of more elements than an integer can count.
int64_t ElementsOf(const Shape& array) {
  return array.is_unbounded_dynamic() ? 0 : ShapeUtil::ExtentProduct</*kBoundedDynamicOk=*/true>(array).first;
}

// About, if the sum is beyond 2^63.
Number Sum(const Number& a, const Number& b) {
  int64_t sum = 0;
  const bool is_exact = a.is_integer() && b.is_integer() && !__builtin_add_overflow(a.integer(), b.integer(), &sum);
  return is_exact ? Number(sum) : Number(a.AsDouble() + b.AsDouble());
}

KASHI_FACT_VALUE(elements) {
  Number elements;
  ShapeUtil::ForEachSubshape(x.shape(), [&](const Shape& part, const ShapeIndex&) {
    if (part.IsArrayExcludingBuffer()) elements = Sum(elements, ElementsOf(part));
  });
  return elements;
}

KASHI_FACT_VALUE(bytes) { return Number(prepared.SizeOf(x).bytes); }
KASHI_FACT_VALUE(unpadded_bytes) { return Number(prepared.SizeOf(x).unpadded_bytes); }

bool HasLayout(const Shape& shape) { return shape.IsArrayExcludingBuffer() && shape.has_layout(); }

KASHI_FACT_VALUE(layout) { return HasLayout(x.shape()) ? x.shape().layout().ToString() : std::string(); }
KASHI_FACT_VALUE(memory_space) { return Number(HasLayout(x.shape()) ? LayoutUtil::MemorySpace(x.shape()) : 0); }
KASHI_FACT_VALUE(sharding) { return x.has_sharding() ? x.sharding().ToString() : std::string(); }

// ---- The user's program ---------------------------------------------------------------------------------------------

KASHI_FACT_VALUE(op_name) { return GetSourceLocation(x).op_name; }
KASHI_FACT_VALUE(scope) { return prepared.scopes->ScopeOf(x); }
KASHI_FACT_VALUE(layer) { return prepared.scopes->LayerOf(x); }
KASHI_FACT_VALUE(source) {
  const SourceLocation source = GetSourceLocation(x);
  return source.file.empty() ? std::string() : absl::StrCat(source.file, ":", source.line);
}
KASHI_FACT_VALUE(source_file) { return GetSourceLocation(x).file; }
KASHI_FACT_VALUE(line) { return Number(int64_t{GetSourceLocation(x).line}); }

// ---- The graph ------------------------------------------------------------------------------------------------------

template <typename List>
std::vector<std::string> NamesOfAll(const List& list) {
  std::vector<std::string> names;
  for (const auto* item : list) names.emplace_back(item->name());
  return names;
}

KASHI_FACT_VALUE(users) { return Number(x.user_count()); }
KASHI_FACT_VALUE(operands) { return Number(x.operand_count()); }
KASHI_FACT_VALUE(user_names) { return NamesOfAll(x.users()); }
KASHI_FACT_VALUE(operand_names) { return NamesOfAll(x.operands()); }
KASHI_FACT_VALUE(calls) { return NamesOfAll(x.called_computations()); }
KASHI_FACT_VALUE(depth) { return Number(prepared.depths.at(&x)); }

// ---- Cost -----------------------------------------------------------------------------------------------------------

KASHI_FACT_VALUE(count) { return Number(prepared.execution_counts().CountOf(&x)); }
KASHI_FACT_VALUE(trip_count) { return Number(prepared.execution_counts().TripCountOf(&x).value_or(0)); }
KASHI_FACT_VALUE(flops) { return Number(prepared.CostOf(x).flops); }
KASHI_FACT_VALUE(transcendentals) { return Number(prepared.CostOf(x).transcendentals); }
KASHI_FACT_VALUE(bytes_accessed) { return Number(prepared.CostOf(x).bytes_accessed); }
KASHI_FACT_VALUE(intensity) {
  const Cost cost = prepared.CostOf(x);
  return Number(cost.bytes_accessed > 0 ? cost.flops / cost.bytes_accessed : 0.0);
}
KASHI_FACT_VALUE(seconds) { return Number(prepared.roofline->SecondsOf(&x)); }
KASHI_FACT_VALUE(bound) { return std::string(insight::BoundName(prepared.roofline->TimeOf(&x).bound())); }

#undef KASHI_FACT_VALUE

constexpr FactFunction kFunctions[] = {
#define KASHI_FACT(key, ...) &Compute<Fact::key>,
#include "kashi/query/facts.def"
};

}  // namespace

FactFunction FunctionOf(Fact fact) { return kFunctions[static_cast<size_t>(fact)]; }

}  // namespace kashi::query
