// What the library needs to know of the machine that it runs on.
#ifndef KASHI_BASE_MACHINE_H_
#define KASHI_BASE_MACHINE_H_

#include <cstdint>

namespace kashi {

// Bytes of physical memory; INT64_MAX where nobody says.
int64_t MachineMemoryBytes();

// Bytes of the largest cache that the first processor has; 32 MiB where nobody says. Looked up once.
int64_t MachineCacheBytes();

}  // namespace kashi

#endif  // KASHI_BASE_MACHINE_H_
