// The share of its cases that a long test runs.
#ifndef KASHI_BASE_SANITIZERS_TESTING_H_
#define KASHI_BASE_SANITIZERS_TESTING_H_

#include "kashi/base/sanitizers.h"

namespace kashi::base {

// Sanitizers make tests ten times slower, so a long test runs one of kShare cases there. A prime number: taking every
// eleventh case passes through all values of the loops inside a loop.
inline constexpr int kShare = KASHI_SANITIZED ? 11 : 1;

}  // namespace kashi::base

#endif  // KASHI_BASE_SANITIZERS_TESTING_H_
