// KASHI_REPORT=DIR: each program that is compiled leaves a folder with its text and what it takes.
#ifndef KASHI_PJRT_REPORT_H_
#define KASHI_PJRT_REPORT_H_

#include "absl/status/status.h"
#include "kashi/pjrt/executable.h"

namespace kashi::pjrt {

// Writes DIR/PROCESS-NUMBER-NAME/, if the variable of the environment names a folder:
//
//   module.hlo      as it was given, partitioned if it is for several devices: a file for all verbs of the command
//   optimized.hlo   after the passes of the engine
//   memory.txt      arguments, results and temporary arrays; where each lies (kashi/buffers)
//   cost.txt        flops, transcendentals, bytes
//
// The error of a file that cannot be written.
absl::Status WriteReport(const Executable& executable);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_REPORT_H_
