// XLA's path of kashi/proto/hlo.pb.h: HloModuleProto, HloProto, HloSnapshot, …  Needs a build with protobuf.
#ifndef KASHI_COMPAT_XLA_SERVICE_HLO_PB_H_
#define KASHI_COMPAT_XLA_SERVICE_HLO_PB_H_

#include "kashi/proto/hlo.pb.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_HLO_PB_H_
