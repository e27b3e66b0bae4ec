#include "kashi/reduction/module_size.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/text.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/while_loop_pattern.h"
#include "kashi/reduction/attributes.h"

namespace kashi::reduction {
namespace {

int64_t IterationsOf(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kWhile) return 0;
  const std::optional<ParsedWhileLoop> loop = PatternMatchParseWhileLoop(&instruction);
  if (!loop.has_value() || loop->is_dynamic()) return 0;
  return loop->static_while_loop->trip_count;
}

void AddArrays(const Shape& shape, ModuleSize* size) {
  ShapeUtil::ForEachSubshape(shape, [&](const Shape& part, const ShapeIndex&) {
    if (!part.IsArray() || part.is_unbounded_dynamic()) return;
    int64_t elements = 1;
    for (const int64_t dimension : part.dimensions()) elements = SaturatingMultiply(elements, dimension);
    size->elements = SaturatingAdd(size->elements, elements);
    const int64_t bits = primitive_util::BitWidth(part.element_type());
    size->bits = SaturatingAdd(size->bits, SaturatingMultiply(elements, bits));
  });
}

}  // namespace

bool IsOperation(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kConstant) {
    return instruction.shape().IsArray() && ShapeUtil::ElementsIn(instruction.shape()) > kMostNumbersInText;
  }
  if (opcode == HloOpcode::kParameter || opcode == HloOpcode::kTuple || opcode == HloOpcode::kGetTupleElement) {
    return false;
  }
  const bool is_broadcast = opcode == HloOpcode::kBroadcast && instruction.operand_count() == 1;
  return !is_broadcast || !instruction.operand(0)->IsConstant() ||
         !ShapeUtil::IsScalar(instruction.operand(0)->shape());
}

ModuleSize SizeOf(const HloModule& module, bool counts_iterations) {
  ModuleSize size;
  size.instructions = module.instruction_count();
  size.attributes = CountModuleAttributes(module);
  for (const HloComputation* computation : module.computations()) {
    size.parameters += computation->num_parameters();
    for (const HloInstruction* instruction : computation->instructions()) {
      size.operations += IsOperation(*instruction) ? 1 : 0;
      if (counts_iterations) size.iterations = SaturatingAdd(size.iterations, IterationsOf(*instruction));
      size.attributes += CountAttributes(*instruction);
      AddArrays(instruction->shape(), &size);
    }
  }
  return size;
}

std::string ModuleSize::ToString() const {
  return absl::StrCat(base::Count(instructions, "instruction"), " (", operations, " that compute), ",
                      base::Count(elements, "element"), ", ", base::Count(attributes, "attribute"));
}

}  // namespace kashi::reduction
