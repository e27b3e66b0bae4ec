// XLA's verifier: kashi::HloVerifier, HloVerifierOpts. ShapeVerifier and the other visitors behind it there are none.
#ifndef KASHI_COMPAT_XLA_SERVICE_HLO_VERIFIER_H_
#define KASHI_COMPAT_XLA_SERVICE_HLO_VERIFIER_H_

#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/pass/hlo_pass_interface.h"
#include "xla/shape_util.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_HLO_VERIFIER_H_
