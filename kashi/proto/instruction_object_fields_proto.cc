// Fields that are shapes, literals, device lists, shardings and computations.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/proto/device_list_proto.h"
#include "kashi/proto/instruction_field_functions.h"
#include "kashi/proto/literal_proto.h"
#include "kashi/proto/records_proto.h"

namespace kashi::proto::proto_internal {

// A custom call has the shapes iff constrain_layout is set, which is no field of it.
KASHI_READ(operand_shapes_with_layout) {
  if (!in.proto.constrain_layout()) return absl::OkStatus();
  auto* shapes = fields->Mutable<HloField::operand_shapes_with_layout>();
  for (const ShapeProto& shape_proto : in.proto.operand_shapes_with_layout()) {
    KASHI_ASSIGN_OR_RETURN(Shape shape, Shape::FromProto(shape_proto));
    shapes->push_back(std::move(shape));
  }
  return absl::OkStatus();
}
KASHI_WRITE(operand_shapes_with_layout) {
  const std::vector<Shape>* shapes = FindField<HloField::operand_shapes_with_layout>(instruction);
  if (shapes == nullptr) return;
  proto->set_constrain_layout(true);
  for (const Shape& shape : *shapes) shape.SetProto(*proto->add_operand_shapes_with_layout());
}

KASHI_READ(outfeed_shape) {
  KASHI_ASSIGN_OR_RETURN(Shape shape, Shape::FromProto(in.proto.outfeed_shape()));
  fields->Set<HloField::outfeed_shape>(std::move(shape));
  return absl::OkStatus();
}
KASHI_WRITE(outfeed_shape) {
  const Shape* shape = FindField<HloField::outfeed_shape>(instruction);
  if (shape != nullptr) shape->SetProto(*proto->mutable_outfeed_shape());
}

namespace {

absl::StatusOr<Literal> MakeZeros(const Shape& shape, int64_t* unlisted_bytes) {
  double bytes = 0;
  ShapeUtil::ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex&) {
    if (!leaf.IsArray()) return;
    double leaf_bytes = primitive_util::ByteWidth(leaf.element_type());
    for (const int64_t size : leaf.dimensions()) leaf_bytes *= static_cast<double>(size);
    bytes += std::max(leaf_bytes, 0.0);
  });
  if (bytes > static_cast<double>(*unlisted_bytes)) {
    return ResourceExhausted("a constant of %s has no values and is too large to fill with zeros", shape.ToString());
  }
  *unlisted_bytes -= static_cast<int64_t>(bytes);
  KASHI_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
  ShapeUtil::ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex& index) {
    if (leaf.IsArray()) std::memset(literal.untyped_data(index), 0, literal.size_bytes(index));
  });
  return literal;
}

}  // namespace

// A constant without a literal is an elided one: `constant({...})`.
KASHI_READ(literal) {
  if (in.proto.has_literal()) {
    if (!in.prohibit_empty_literal) {
      KASHI_RETURN_IF_ERROR(CheckLiteral(in.proto.literal(), /*prohibit_empty=*/false, in.unlisted_bytes));
    }
    KASHI_ASSIGN_OR_RETURN(Literal literal, Literal::CreateFromProto(in.proto.literal(), in.prohibit_empty_literal));
    fields->Set<HloField::literal>(SharedLiteral(std::move(literal)));
  } else if (in.opcode == HloOpcode::kConstant) {
    KASHI_ASSIGN_OR_RETURN(Literal literal, MakeZeros(in.shape, in.unlisted_bytes));
    const bool has_elements = ShapeUtil::ElementsInRecursive(literal.shape()) > 0;
    fields->Set<HloField::literal>(has_elements ? SharedLiteral::Elided(std::move(literal))
                                                : SharedLiteral(std::move(literal)));
  }
  return absl::OkStatus();
}
KASHI_WRITE(literal) {
  const SharedLiteral* literal = FindField<HloField::literal>(instruction);
  if (literal == nullptr || !*literal || literal->is_elided()) return;
  *proto->mutable_literal() = (*literal)->ToProto();
}

KASHI_READ(replica_groups) {
  KASHI_ASSIGN_OR_RETURN(CollectiveDeviceList devices, ReadDeviceList(in.proto));
  fields->Set<HloField::replica_groups>(std::move(devices));
  return absl::OkStatus();
}
KASHI_WRITE(replica_groups) {
  const CollectiveDeviceList* devices = FindField<HloField::replica_groups>(instruction);
  WriteDeviceList(devices ? *devices : CollectiveDeviceList(), proto);
}

namespace {

absl::StatusOr<HloSharding> ReadSharding(const wire::OpSharding& message) {
  OpSharding record;
  KASHI_RETURN_IF_ERROR(FromWire(message, &record));
  return HloSharding::FromProto(record);
}

}  // namespace

// The proto's "entry" is the side of the operand, which text calls "exit".
KASHI_READ(domain) {
  if (!in.proto.has_domain_entry_sharding() || !in.proto.has_domain_exit_sharding()) {
    return InvalidArgument("a domain needs two shardings");
  }
  KASHI_ASSIGN_OR_RETURN(HloSharding entry, ReadSharding(in.proto.domain_exit_sharding()));
  KASHI_ASSIGN_OR_RETURN(HloSharding exit, ReadSharding(in.proto.domain_entry_sharding()));
  fields->Set<HloField::domain>(DomainShardings{std::move(entry), std::move(exit)});
  return absl::OkStatus();
}
KASHI_WRITE(domain) {
  const DomainShardings* domain = FindField<HloField::domain>(instruction);
  if (domain == nullptr) return;
  ToWire(domain->exit.ToProto(), proto->mutable_domain_entry_sharding());
  ToWire(domain->entry.ToProto(), proto->mutable_domain_exit_sharding());
}

namespace {

// The number of computations that the opcode calls; -1: any number.
int CalledComputationCount(HloOpcode opcode) {
  int count = 0;
  for (const HloOpcodeAttribute& entry : GetHloOpcodeInfo(opcode).attributes) {
    switch (entry.attribute) {
      case HloAttribute::called_computations:
      case HloAttribute::branch_computations:
        return -1;
      case HloAttribute::condition:
      case HloAttribute::scatter:
        count = 2;
        break;
      case HloAttribute::to_apply:
      case HloAttribute::calls:
        count = std::max(count, 1);
        break;
      default:
        break;
    }
  }
  return count;
}

}  // namespace

KASHI_READ(called_computations) {
  const int64_t count = static_cast<int64_t>(in.called_computations.size());
  const int expected = CalledComputationCount(in.opcode);
  if (expected >= 0 && count != expected) {
    return InvalidArgument("%d called computations instead of %d", count, expected);
  }
  if (in.opcode == HloOpcode::kConditional && (count == 0 || count + 1 != static_cast<int64_t>(in.operands.size()))) {
    return InvalidArgument("a conditional with %d operands and %d branches", in.operands.size(), count);
  }
  if (count == 0) return absl::OkStatus();
  fields->Set<HloField::called_computations>(
      ComputationVector(in.called_computations.begin(), in.called_computations.end()));
  return absl::OkStatus();
}
KASHI_WRITE(called_computations) {
  for (const HloComputation* computation : instruction.called_computations()) {
    proto->add_called_computation_ids(computation->unique_id());
  }
}

}  // namespace kashi::proto::proto_internal
