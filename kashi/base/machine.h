// What the library needs to know of the machine that it runs on.
#ifndef KASHI_BASE_MACHINE_H_
#define KASHI_BASE_MACHINE_H_

#include <cstdint>
#include <string>

namespace kashi::internal {

// Bytes of physical memory; INT64_MAX where nobody says.
int64_t MachineMemoryBytes();

// Bytes that a process may still take without being killed for it or making the machine swap: what the system calls
// available, and what the limits of its control groups leave (version 1 and 2, the group itself and all above it; a
// container's limit is one). What files in the cache of the system take counts as free. INT64_MAX where nobody says. Reads
// files: some microseconds.
int64_t AvailableMemoryBytes();
// Seven eighths of that: what arrays may take together where nobody says. The rest is for what nobody counts.
int64_t DefaultMemoryLimit();
// AvailableMemoryBytes of a machine whose /proc and /sys are below `root`.
int64_t AvailableMemoryBytesBelow(const std::string& root);

// Bytes of the largest cache that the first processor has; 32 MiB where nobody says. Looked up once.
int64_t MachineCacheBytes();

}  // namespace kashi::internal

#endif  // KASHI_BASE_MACHINE_H_
