// Reads the measurements of `kashi mpi-bench --json` as the links of a network.
#ifndef KASHI_CLI_NETWORK_FILE_H_
#define KASHI_CLI_NETWORK_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "kashi/scale/network.h"

namespace kashi::cli {

// A link has the latency and the bandwidth of collective-permute, in which each rank sends one message.
// INVALID_ARGUMENT for a file that mpi-bench did not write.
absl::StatusOr<NetworkLink> ReadNetworkFile(const std::string& path);

}  // namespace kashi::cli

#endif  // KASHI_CLI_NETWORK_FILE_H_
