// XLA's arguments for tests: MakeFakeArguments. The numbers are the same in each run.
#ifndef KASHI_COMPAT_XLA_TESTS_TEST_UTILS_H_
#define KASHI_COMPAT_XLA_TESTS_TEST_UTILS_H_

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/base/status.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"

namespace xla {

// Small whole numbers.
inline absl::StatusOr<Literal> MakeFakeLiteral(const Shape& shape, std::minstd_rand0* engine) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes()) {
      KASHI_ASSIGN_OR_RETURN(Literal made, MakeFakeLiteral(element, engine));
      elements.push_back(std::move(made));
    }
    return LiteralUtil::MakeTupleOwned(std::move(elements));
  }
  if (!shape.IsArray()) return LiteralUtil::CreateToken();
  Literal numbers(ShapeUtil::MakeShape(S8, shape.dimensions()));
  KASHI_RETURN_IF_ERROR(numbers.Populate<int8_t>([&](absl::Span<const int64_t>) {
    return static_cast<int8_t>((*engine)() % (shape.element_type() == PRED ? 2 : 6));
  }));
  KASHI_ASSIGN_OR_RETURN(Literal converted, numbers.Convert(shape.element_type()));
  return shape.has_layout() ? converted.Relayout(shape) : std::move(converted);
}

// One literal per parameter of the entry computation, filled with small whole numbers.
inline absl::StatusOr<std::vector<Literal>> MakeFakeArguments(const HloModule* module) {
  std::minstd_rand0 engine;
  std::vector<Literal> arguments;
  for (const HloInstruction* parameter : module->entry_computation()->parameter_instructions()) {
    KASHI_ASSIGN_OR_RETURN(Literal made, MakeFakeLiteral(parameter->shape(), &engine));
    arguments.push_back(std::move(made));
  }
  return arguments;
}

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_TESTS_TEST_UTILS_H_
