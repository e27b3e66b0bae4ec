#include "kashi/hlo/ir/neutral_element.h"

#include "kashi/array/primitive_util.h"
#include "kashi/literal/literal_util.h"

namespace kashi::internal {

Literal NeutralOf(HloOpcode combiner, PrimitiveType type) {
  if (combiner == HloOpcode::kMultiply) return LiteralUtil::One(type);
  if (combiner == HloOpcode::kMinimum) return LiteralUtil::MaxValue(type);
  if (combiner == HloOpcode::kMaximum) return LiteralUtil::MinValue(type);
  if (combiner == HloOpcode::kAnd) {
    return primitive_util::IsSignedIntegralType(type) ? LiteralUtil::CreateR0(type, -1) : LiteralUtil::MaxValue(type);
  }
  if (combiner == HloOpcode::kAdd && primitive_util::IsFloatingPointType(type)) {
    return LiteralUtil::CreateR0(type, -0.0);
  }
  return LiteralUtil::Zero(type);
}

}  // namespace kashi::internal
