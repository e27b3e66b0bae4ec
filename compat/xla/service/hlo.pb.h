// XLA's path of kashi/proto/hlo.pb.h: HloModuleProto, HloProto, HloSnapshot, …  In a build without protobuf: none of
// them.
#ifndef KASHI_COMPAT_XLA_SERVICE_HLO_PB_H_
#define KASHI_COMPAT_XLA_SERVICE_HLO_PB_H_

#if __has_include("kashi/proto/hlo.pb.h")
#include "kashi/proto/hlo.pb.h"
#endif
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_HLO_PB_H_
