// XLA's passes over modules: kashi::HloPassInterface, HloModulePass.
#ifndef KASHI_COMPAT_XLA_HLO_PASS_HLO_PASS_INTERFACE_H_
#define KASHI_COMPAT_XLA_HLO_PASS_HLO_PASS_INTERFACE_H_

#include "kashi/hlo/ir/hlo_pass_interface.h"
#include "kashi_compat/namespace_xla.h"

#endif  // KASHI_COMPAT_XLA_HLO_PASS_HLO_PASS_INTERFACE_H_
