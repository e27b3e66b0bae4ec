// How operands of different sizes are made to fit, by instructions (docs/spec/hlo-ops.md 10.2). Internal to the
// builder.
#ifndef KASHI_HLO_BUILDER_XLA_BROADCASTING_H_
#define KASHI_HLO_BUILDER_XLA_BROADCASTING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/builder/xla_lowering.h"

namespace kashi::internal {

struct BinaryOperands {
  Node lhs;
  Node rhs;
  Shape result;
};

// Operands with the result's sizes, which may be other instructions than before.
absl::StatusOr<BinaryOperands> BroadcastOperands(XlaLowering* to, HloOpcode opcode, Node lhs, Node rhs,
                                                 absl::Span<const int64_t> broadcast_dimensions);

// Of operands of equal sizes and scalars among them: the scalars with those sizes.
absl::StatusOr<std::vector<Node>> BroadcastScalars(XlaLowering* to, Nodes operands);

// The custom call that broadcasts to sizes known at run time only.
NodeOr AddDynamicBroadcast(XlaLowering* to, Node operand, Node output_dimensions,
                           absl::Span<const int64_t> broadcast_dimensions, const Shape& output_shape);

}  // namespace kashi::internal

#endif  // KASHI_HLO_BUILDER_XLA_BROADCASTING_H_
