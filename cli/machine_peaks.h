// The highest speeds of this machine, with which `kashi run --profile` compares.
#ifndef KASHI_CLI_MACHINE_PEAKS_H_
#define KASHI_CLI_MACHINE_PEAKS_H_

namespace kashi::cli {

struct MachinePeaks {
  double copy_gbps = 0;   // of a copy between arrays larger than the caches: bytes read and written, 10^9 per second
  double dot_gflops = 0;  // of a product of f32 matrices: 10^9 additions and multiplications per second
};

// Measures both on all threads. Takes some 0.1 s and 128 MiB.
MachinePeaks MeasureMachinePeaks();

}  // namespace kashi::cli

#endif  // KASHI_CLI_MACHINE_PEAKS_H_
