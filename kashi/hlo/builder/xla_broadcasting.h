// Instructions that broadcast operands of different sizes to equal sizes (docs/spec/hlo-ops.md 10.2). Internal to the
// builder.
#ifndef KASHI_HLO_BUILDER_XLA_BROADCASTING_H_
#define KASHI_HLO_BUILDER_XLA_BROADCASTING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/builder/xla_lowering.h"

namespace kashi::hlo {

struct BinaryOperands {
  Node lhs;
  Node rhs;
  Shape result;
};

// Operands with the sizes of the result. They may be new instructions.
absl::StatusOr<BinaryOperands> BroadcastOperands(XlaLowering* to, HloOpcode opcode, Node lhs, Node rhs,
                                                 absl::Span<const int64_t> broadcast_dimensions);

// Broadcasts the scalars among `operands`, whose other sizes are equal, to these sizes.
absl::StatusOr<std::vector<Node>> BroadcastScalars(XlaLowering* to, Nodes operands);

// The custom call that broadcasts to sizes that are known only at run time.
NodeOr AddDynamicBroadcast(XlaLowering* to, Node operand, Node output_dimensions,
                           absl::Span<const int64_t> broadcast_dimensions, const Shape& output_shape);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_BUILDER_XLA_BROADCASTING_H_
