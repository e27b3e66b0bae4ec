// Facts about the machine: processors and memory.
#ifndef KASHI_BASE_MACHINE_H_
#define KASHI_BASE_MACHINE_H_

#include <cstdint>
#include <string>

namespace kashi::base {

// Bytes of physical memory; INT64_MAX if unknown.
int64_t MachineMemoryBytes();

// Bytes that a process may still take without being killed for it or making the machine swap: the memory that the
// system calls available, limited by its control groups (version 1 and 2, the group itself and all above it; a
// container's limit is one). The file cache of the system counts as free. INT64_MAX if unknown. Reads
// files: some microseconds.
int64_t AvailableMemoryBytes();
// Seven eighths of the available memory: the default limit for arrays. The rest is for memory that is not counted.
int64_t DefaultMemoryLimit();
// AvailableMemoryBytes of a machine whose /proc and /sys are below `root`.
int64_t AvailableMemoryBytesBelow(const std::string& root);

// The most memory that this process has had at one time, in bytes; 0 if unknown. The number of getrusage may be larger:
// it is at least the memory that the parent had when it started this process.
int64_t PeakMemoryBytes();

// The size of the largest cache of the first processor in bytes; 32 MiB if unknown. Read once.
int64_t MachineCacheBytes();

}  // namespace kashi::base

#endif  // KASHI_BASE_MACHINE_H_
