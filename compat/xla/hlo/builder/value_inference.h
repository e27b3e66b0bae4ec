// XLA's path of kashi/value_inference/value_inference.h.
#ifndef KASHI_COMPAT_XLA_HLO_BUILDER_VALUE_INFERENCE_H_
#define KASHI_COMPAT_XLA_HLO_BUILDER_VALUE_INFERENCE_H_

#include "kashi/value_inference/value_inference.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/literal.h"

#endif  // KASHI_COMPAT_XLA_HLO_BUILDER_VALUE_INFERENCE_H_
