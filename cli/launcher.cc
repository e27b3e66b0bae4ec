#include "cli/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

int NumberIn(const char* variable) {
  const char* const text = std::getenv(variable);
  int number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? std::max(0, number) : 0;
}

}  // namespace

int LaunchedRanks() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    if (const int ranks = NumberIn(variable); ranks > 0) return ranks;
  }
  // Slurm sets the number in scripts, too, which run once; processes of srun also have a rank.
  const bool has_rank = std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
  return has_rank ? NumberIn("SLURM_NTASKS") : 0;
}

bool IsForRanks(int argc, const char* const* argv) {
  if (argc < 2) return false;
  const absl::string_view verb = argv[1];
  return (verb == "run" && LaunchedRanks() > 1) || (verb == "mpi-bench" && LaunchedRanks() > 0);
}

absl::Status BecomeRank(char* const* argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return Unknown("cannot find this program: %s", error.message());
  const std::string path = (self.parent_path() / "kashi-mpi").string();
  if (!std::filesystem::exists(path, error)) {
    return Unimplemented(
        "%d processes were started together, but %s is not there: this kashi was built without MPI (CMake's KASHI_MPI)",
        LaunchedRanks(), path);
  }
  execv(path.c_str(), argv);
  return Unknown("cannot start %s: %s", path, std::strerror(errno));
}

}  // namespace kashi::cli
