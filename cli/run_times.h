// The times of `kashi run`: of the compiler and of each run.
#ifndef KASHI_CLI_RUN_TIMES_H_
#define KASHI_CLI_RUN_TIMES_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/json.h"

namespace kashi::cli {

struct ProgramTimes {
  double compile_ms = 0;       // the verifier, and the engine's compiler
  std::vector<double> run_ms;  // the time of each run, at least one
  int64_t peak_rss_bytes = 0;

  // The runs after the first, sorted; if there is only one, that.
  std::vector<double> Later() const;
  double Min() const { return Later().front(); }
  double Median() const;
};

double MillisecondsSince(std::chrono::steady_clock::time_point begin);

// "10 runs: first …", with a newline.
std::string ToText(const ProgramTimes& times);
void AddTo(const ProgramTimes& times, Json* json);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_TIMES_H_
