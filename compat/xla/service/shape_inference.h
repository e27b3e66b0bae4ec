// XLA's path of kashi/hlo/inference/shape_inference.h.
#ifndef KASHI_COMPAT_XLA_SERVICE_SHAPE_INFERENCE_H_
#define KASHI_COMPAT_XLA_SERVICE_SHAPE_INFERENCE_H_

#include "kashi/hlo/inference/shape_inference.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_SHAPE_INFERENCE_H_
