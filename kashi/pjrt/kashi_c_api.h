// An extension of PJRT that is Kashi's own: other plugins do not have it, and callers that do not know it skip it.
#ifndef KASHI_PJRT_KASHI_C_API_H_
#define KASHI_PJRT_KASHI_C_API_H_

#include <stdbool.h>
#include <stdint.h>

#include "kashi/pjrt/pjrt_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PJRT_Extension_Type_Kashi 0x4b736869  // "Kshi"; the number of no extension of XLA

typedef struct {
  PJRT_Extension_Base base;
  // Waits until no program waits or runs, in any client of the process; returns false if that takes longer. For callers
  // whose handlers and callbacks need what they are about to end, as Python's do.
  bool (*await_idle)(int64_t milliseconds);
} PJRT_Kashi_Extension;

#ifdef __cplusplus
}
#endif

#endif  // KASHI_PJRT_KASHI_C_API_H_
