// The ranks of MPI on which the devices of a program run. Without MPI, there are none.
#ifndef KASHI_PYTHON_SRC_RANKS_H_
#define KASHI_PYTHON_SRC_RANKS_H_

#include "binding.h"
#include "kashi/devices/device_fabric.h"

namespace kashi::python {

// The fabric of a kashi.Ranks. Null for None: the devices are threads of this process.
devices::DeviceFabric* FabricOf(nb::handle ranks);

}  // namespace kashi::python

#endif  // KASHI_PYTHON_SRC_RANKS_H_
