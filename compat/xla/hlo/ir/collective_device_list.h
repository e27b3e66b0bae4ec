// XLA's path of kashi/hlo/attributes/collective_device_list.h.
#ifndef KASHI_COMPAT_XLA_HLO_IR_COLLECTIVE_DEVICE_LIST_H_
#define KASHI_COMPAT_XLA_HLO_IR_COLLECTIVE_DEVICE_LIST_H_

#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi_compat/namespace_xla.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_COLLECTIVE_DEVICE_LIST_H_
