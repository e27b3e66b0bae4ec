// jax.debug.inspect_array_sharding: the program has a custom call to "InspectSharding", whose backend config is the
// address of a function of the same process.
#ifndef KASHI_PJRT_INSPECT_SHARDING_H_
#define KASHI_PJRT_INSPECT_SHARDING_H_

#include <string>

#include "absl/status/status.h"
#include "kashi/hlo/attributes/hlo_sharding.h"

namespace kashi::pjrt {

// Calls the function. INTERNAL with its message if it fails; INVALID_ARGUMENT for a config that is none.
absl::Status TellInspector(const std::string& backend_config, const HloSharding& sharding);

// A sharding as the bytes of an OpSharding.
std::string SerializedSharding(const HloSharding& sharding);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_INSPECT_SHARDING_H_
