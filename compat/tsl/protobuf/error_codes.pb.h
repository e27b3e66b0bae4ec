// The former path of xla/tsl/protobuf/error_codes.pb.h.
#ifndef KASHI_COMPAT_TSL_PROTOBUF_ERROR_CODES_PB_H_
#define KASHI_COMPAT_TSL_PROTOBUF_ERROR_CODES_PB_H_

#include "xla/tsl/protobuf/error_codes.pb.h"

#endif  // KASHI_COMPAT_TSL_PROTOBUF_ERROR_CODES_PB_H_
