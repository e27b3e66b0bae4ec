// An older path of xla/hlo/builder/value_inference.h.
#ifndef KASHI_COMPAT_XLA_CLIENT_VALUE_INFERENCE_H_
#define KASHI_COMPAT_XLA_CLIENT_VALUE_INFERENCE_H_

#include "xla/hlo/builder/value_inference.h"

#endif  // KASHI_COMPAT_XLA_CLIENT_VALUE_INFERENCE_H_
