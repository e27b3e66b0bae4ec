// Helpers of the functions of xla_builder.h: from XlaOps to instructions and back. Internal to the builder.
//
//   XlaOp Rev(XlaOp operand, absl::Span<const int64_t> dimensions) {
//     return LowerInferred({operand},
//                          [&](Values x) { return HloInstruction::CreateReverse(Inferred(), x[0], dimensions); });
//   }
//
// Inside, values are instructions, and errors are statuses, which the builder keeps in the end.
#ifndef KASHI_HLO_BUILDER_XLA_LOWERING_H_
#define KASHI_HLO_BUILDER_XLA_LOWERING_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/builder/xla_builder.h"

namespace kashi::hlo {

using Node = HloInstruction*;
using Nodes = absl::Span<HloInstruction* const>;
using NodeOr = absl::StatusOr<HloInstruction*>;
using NewInstruction = std::unique_ptr<HloInstruction>;

// A placeholder for a shape that is to be inferred. For some operations its element type counts.
const Shape& Inferred();
inline Shape InferredOf(PrimitiveType element_type) { return ShapeUtil::MakeShape(element_type, {}); }
inline Shape InferredOf(std::optional<PrimitiveType> element_type) {
  return element_type ? InferredOf(*element_type) : Inferred();
}

class XlaLowering {
 public:
  explicit XlaLowering(XlaBuilder* builder) : builder_(builder) {}

  // The value of an operation of this builder.
  NodeOr Find(XlaOp op) const { return builder_->Find(op); }
  absl::StatusOr<std::vector<Node>> Find(absl::Span<const XlaOp> ops) const;
  XlaOp OpOf(const HloInstruction* value) const { return builder_->OpOf(value); }
  absl::Status RegisterParameter(int64_t number, const std::string& name) {
    return builder_->RegisterParameter(number, name);
  }
  // The computation in the builder. Embeds a copy if the builder does not have it yet.
  absl::StatusOr<HloComputation*> Embed(const XlaComputationRef& computation) { return builder_->Embed(computation); }

  // Adds the instruction with its own shape.
  NodeOr Add(NewInstruction instruction) { return builder_->Add(std::move(instruction)); }
  NodeOr Add(absl::StatusOr<Shape> shape, HloOpcode opcode, Nodes operands, HloFieldList fields = {});
  absl::Status InferShapeOf(HloInstruction* instruction) const;
  // Adds the instruction with the shape from InferInstructionShape.
  NodeOr AddInferred(NewInstruction instruction);
  // A scalar or an array, of s32 or any other type.
  NodeOr AddConstant(Literal literal) { return Add(HloInstruction::CreateConstant(std::move(literal))); }
  NodeOr AddTuple(Nodes elements) { return AddInferred(HloInstruction::CreateTuple(elements)); }
  NodeOr AddElement(Node tuple, int64_t index);

  // ---- Shared by several lowerings (xla_builder_broadcast.cc, docs/spec/hlo-ops.md 10.2). These instructions have no
  // sharding: only the operation for which they are made has one.

  // One broadcast of a scalar to the static sizes.
  NodeOr BroadcastScalar(Node scalar, const Shape& sizes);
  // Removes, by `reshape`, the dimensions of size 1 that are larger in `output_shape`, and then broadcasts to it.
  NodeOr AddBroadcastSequence(const Shape& output_shape, Node operand);
  NodeOr BroadcastInDim(Node operand, absl::Span<const int64_t> out_dim_size,
                        absl::Span<const int64_t> broadcast_dimensions);
  NodeOr Reshape(Node operand, absl::Span<const int64_t> dimensions, int64_t inferred_dimension = -1);

  XlaBuilder* builder() const { return builder_; }
  // The last after-all token of outfeeds without a token.
  Node& last_outfeed_token() { return builder_->last_outfeed_token_; }
  // The last infeed, a tuple of data and token. The next infeed without a token follows it.
  Node& last_infeed() { return builder_->last_infeed_; }

 private:
  XlaBuilder* const builder_;
};

// Runs `lower` with the values of the operands, and returns its result. After an error, returns an invalid XlaOp, and
// the builder keeps the error.
XlaOp Lower(XlaBuilder* builder, absl::Span<const XlaOp> operands,
            absl::FunctionRef<NodeOr(XlaLowering& to, Nodes operands)> lower);
// Uses the builder of the first operand.
XlaOp Lower(std::initializer_list<XlaOp> operands, absl::FunctionRef<NodeOr(XlaLowering& to, Nodes operands)> lower);
// Adds the one instruction that `make` returns, with its shape inferred.
XlaOp LowerInferred(std::initializer_list<XlaOp> operands, absl::FunctionRef<NewInstruction(Nodes operands)> make);

// The elements of `first`, then those of `second`.
std::vector<XlaOp> Joined(absl::Span<const XlaOp> first, absl::Span<const XlaOp> second);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_BUILDER_XLA_LOWERING_H_
