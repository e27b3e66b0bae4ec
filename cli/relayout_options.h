// The options of `kashi relayout` and its help.
#ifndef KASHI_CLI_RELAYOUT_OPTIONS_H_
#define KASHI_CLI_RELAYOUT_OPTIONS_H_

#include <cstdint>
#include <string>

#include "cli/options.h"

namespace kashi::cli {

struct RelayoutVerbOptions {
  std::string in;
  std::string out;
  std::string from;
  std::string to;
  std::string problems;
  std::string pad = "0";
  bool convert = false;
  bool npy = false;
  bool check = false;
  bool plan = false;
  bool bench = false;
  int threads = 0;
  std::string caches;
  bool measure = false;
  std::string measure_file;
  double min_seconds = 0.5;
  uint64_t seed = 42;
  uint64_t memory_limit = 0;
  bool strict = false;
  bool json = false;

  // Whether the verb prints a report: --plan, --check or --bench.
  bool reports() const { return plan || check || bench; }
  bool writes_npy() const;
};

// The value of --pad that leaves the padding of OUT as it is.
inline constexpr char kKeepPadding[] = "keep";

VerbHelp RelayoutHelp();
void AddRelayoutOptions(Verb* verb, RelayoutVerbOptions* options);

// An error message about options that are missing or cannot be used together; "" if there is none.
std::string RelayoutUsageError(const RelayoutVerbOptions& options);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RELAYOUT_OPTIONS_H_
