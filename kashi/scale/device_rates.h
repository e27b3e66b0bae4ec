// The speed of one device, as far as a prediction needs it: an instruction takes the longer of its arithmetic and
// its memory traffic.
#ifndef KASHI_SCALE_DEVICE_RATES_H_
#define KASHI_SCALE_DEVICE_RATES_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/scale/network.h"

namespace kashi {

struct DeviceRates {
  double flops_per_second = 0;
  double memory_bytes_per_second = 0;
  double instruction_seconds = 0;  // the minimum time of each instruction that computes
};

// The published rates of a generation: the peak for bf16, the bandwidth of its memory, and one link between chips.
struct TpuRates {
  TpuGeneration generation;
  DeviceRates device;
  NetworkLink link;
};
const TpuRates& GetTpuRates(TpuGeneration generation);

}  // namespace kashi

#endif  // KASHI_SCALE_DEVICE_RATES_H_
