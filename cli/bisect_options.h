// The options of `kashi bisect`.
#ifndef KASHI_CLI_BISECT_OPTIONS_H_
#define KASHI_CLI_BISECT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/limits.h"

namespace kashi::cli {

struct BisectOptions {
  std::string directory;
  std::vector<std::string> inputs;
  std::vector<std::string> random;
  uint64_t seed = 42;
  std::string engine = "evaluator";
  std::optional<double> tolerance;
  bool all_stages = false;
  bool no_place = false;
  LimitOptions limits;
  std::string output_directory;
  bool json = false;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_BISECT_OPTIONS_H_
