// XLA's path of kashi/proto/xla_data.pb.h, and the records that are plain values here (Window, PaddingConfig, …). In a
// build without protobuf: the enum PrimitiveType and these.
#ifndef KASHI_COMPAT_XLA_XLA_DATA_PB_H_
#define KASHI_COMPAT_XLA_XLA_DATA_PB_H_

#if __has_include("kashi/proto/xla_data.pb.h")
#include "kashi/proto/xla_data.pb.h"
#else
#include "kashi/array/primitive_type.h"
#endif
#include "kashi/hlo/xla_data.h"
#include "kashi_compat/namespace_xla.h"

#endif  // KASHI_COMPAT_XLA_XLA_DATA_PB_H_
