// XLA's path of kashi/proto/xla_data.pb.h, and of the small records (Window, OpSharding, …), which are plain values
// here with the accessors of messages: kashi/hlo/attributes/xla_data.h. In a build without protobuf: those, and the
// enum PrimitiveType.
#ifndef KASHI_COMPAT_XLA_XLA_DATA_PB_H_
#define KASHI_COMPAT_XLA_XLA_DATA_PB_H_

#if __has_include("kashi/proto/xla_data.pb.h")
#include "kashi/proto/xla_data.pb.h"
#else
#include "kashi/array/primitive_type.h"
#endif
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi_compat/namespace_xla.h"

#endif  // KASHI_COMPAT_XLA_XLA_DATA_PB_H_
