// Runs numbered jobs in processes of their own, so that one that dies or hangs is a finding like the others.
#ifndef KASHI_TESTS_ENGINES_WORKER_POOL_H_
#define KASHI_TESTS_ENGINES_WORKER_POOL_H_

#include <cstdint>
#include <functional>
#include <string>

namespace kashi::tests {

struct WorkerPool {
  int workers = 1;
  int64_t jobs = 0;
  int patience_seconds = 120;  // for one job
  // In a worker: does a job and returns what is to tell; "" for nothing.
  std::function<std::string(int64_t job)> work;
  // In this process: what a job told. Also called for a job that died (`dead`), with the reason. False ends the run.
  std::function<bool(int64_t job, bool dead, const std::string& told)> report;

  // This process must have no other threads. Returns the number of jobs that were done.
  int64_t Run() const;
};

}  // namespace kashi::tests

#endif  // KASHI_TESTS_ENGINES_WORKER_POOL_H_
