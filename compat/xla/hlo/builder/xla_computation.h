// XLA's path of kashi/hlo/ir/xla_computation.h. With kashi::proto its protos are complete types here, as XLA's are.
#ifndef KASHI_COMPAT_XLA_HLO_BUILDER_XLA_COMPUTATION_H_
#define KASHI_COMPAT_XLA_HLO_BUILDER_XLA_COMPUTATION_H_

#if __has_include("kashi/proto/hlo.pb.h")
#include "kashi/proto/hlo.pb.h"
#endif
#include "kashi/hlo/ir/xla_computation.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_HLO_BUILDER_XLA_COMPUTATION_H_
