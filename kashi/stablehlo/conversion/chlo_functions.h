// The special functions of CHLO as formulas. The formulas and their coefficients are those of StableHLO's pass
// chlo-legalize-to-stablehlo (release of jaxlib 0.10.2), so that values agree with XLA's.
//
// Operands are floating-point or complex terms of one type, as the operation allows; ExpandChlo
// (chlo_expansion.h) checks that, and computes narrow types in f32 where its table says so.
#ifndef KASHI_STABLEHLO_CONVERSION_CHLO_FUNCTIONS_H_
#define KASHI_STABLEHLO_CONVERSION_CHLO_FUNCTIONS_H_

#include "kashi/stablehlo/conversion/chlo_term.h"

namespace kashi::stablehlo {

// ---- chlo_error_functions.cc; f32 or f64
Term Erfc(Term x);
Term ErfInv(Term x);
Term BesselI1e(Term x);

// ---- chlo_gamma_functions.cc; f32 or f64
Term Lgamma(Term x);
Term Digamma(Term x);
Term Zeta(Term x, Term q);
Term Polygamma(Term n, Term x);

// ---- chlo_inverse_functions.cc; any float, or complex
Term Acos(Term x);
Term Acosh(Term x);
Term Asin(Term x);
Term Asinh(Term x);
Term Atan(Term x);
Term Atanh(Term x);
Term AsinAcosKernel(Term x);  // complex: chlo._asin_acos_kernel

// ---- chlo_simple_functions.cc
Term Cosh(Term x);
Term Sinh(Term x);
Term Conj(Term x);
Term Square(Term x);
Term IsInf(Term x);
Term IsPosInf(Term x);
Term IsNegInf(Term x);
Term NextAfter(Term x, Term y);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_CHLO_FUNCTIONS_H_
