// Mathematical functions on the vectors of x86-64: those of inline_math.h, otherwise those of SLEEF, within 1 ulp.
#ifndef KASHI_CPU_VECTOR_MATH_H_
#define KASHI_CPU_VECTOR_MATH_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "kashi/codegen/math_library.h"

namespace kashi::cpu {

const codegen::MathLibrary& VectorMath();

// The addresses of all functions that the emitted code may call.
absl::flat_hash_map<std::string, const void*> MathAddresses();

}  // namespace kashi::cpu

#endif  // KASHI_CPU_VECTOR_MATH_H_
