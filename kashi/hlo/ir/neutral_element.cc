#include "kashi/hlo/ir/neutral_element.h"

#include "kashi/array/primitive_util.h"
#include "kashi/literal/literal_util.h"

namespace kashi::hlo {

Literal NeutralOf(HloOpcode combiner, PrimitiveType type) {
  switch (GetHloOpcodeInfo(combiner).neutral) {
    case HloOpcodeFlags::Neutral::kOne:
      return LiteralUtil::One(type);
    case HloOpcodeFlags::Neutral::kLowest:
      return LiteralUtil::MinValue(type);
    case HloOpcodeFlags::Neutral::kHighest:
      return LiteralUtil::MaxValue(type);
    case HloOpcodeFlags::Neutral::kAllOnes:
      return primitive_util::IsSignedIntegralType(type) ? LiteralUtil::CreateR0(type, -1) : LiteralUtil::MaxValue(type);
    case HloOpcodeFlags::Neutral::kZero:
      if (primitive_util::IsFloatingPointType(type)) return LiteralUtil::CreateR0(type, -0.0);
      break;
    case HloOpcodeFlags::Neutral::kDefault:
      break;
  }
  return LiteralUtil::Zero(type);
}

}  // namespace kashi::hlo
