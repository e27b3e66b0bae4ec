// Google Benchmark as testing::benchmark (link benchmark::benchmark). Where it is not installed, benchmarks compile and
// never run.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_TEST_BENCHMARK_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_TEST_BENCHMARK_H_

#if __has_include("benchmark/benchmark.h")

#include "benchmark/benchmark.h"

namespace testing {
namespace benchmark = ::benchmark;
}  // namespace testing

#else

#include <cstdint>
#include <initializer_list>
#include <string>

namespace benchmark {

class State {
 public:
  struct [[maybe_unused]] Value {};  // of `for (auto s : state)`
  struct Iterator {
    bool operator!=(const Iterator&) const { return false; }
    Iterator& operator++() { return *this; }
    Value operator*() const { return {}; }
  };
  Iterator begin() const { return {}; }
  Iterator end() const { return {}; }
  int64_t range(int = 0) const { return 0; }
  int64_t iterations() const { return 0; }
  void SetItemsProcessed(int64_t) {}
  void SetBytesProcessed(int64_t) {}
  void SetLabel(const std::string&) {}
  void PauseTiming() {}
  void ResumeTiming() {}
  bool KeepRunning() { return false; }
};

class Benchmark {
 public:
  explicit Benchmark(void (*)(State&)) {}
  Benchmark* Arg(int64_t) { return this; }
  Benchmark* ArgPair(int64_t, int64_t) { return this; }
  template <typename List>
  Benchmark* Args(const List&) {
    return this;
  }
  Benchmark* Args(std::initializer_list<int64_t>) { return this; }
  Benchmark* ArgNames(std::initializer_list<std::string>) { return this; }
  Benchmark* Range(int64_t, int64_t) { return this; }
  Benchmark* DenseRange(int64_t, int64_t, int = 1) { return this; }
  Benchmark* UseRealTime() { return this; }
  Benchmark* MeasureProcessCPUTime() { return this; }
  Benchmark* Apply(void (*)(Benchmark*)) { return this; }
};

template <typename T>
void DoNotOptimize(T&& value) {
  asm volatile("" : : "g"(&value) : "memory");
}
inline void RunSpecifiedBenchmarks() {}

}  // namespace benchmark

namespace testing {
namespace benchmark = ::benchmark;
}  // namespace testing

#define BENCHMARK(function)                                                                                   \
  [[maybe_unused]] static ::benchmark::Benchmark* KASHI_COMPAT_CONCAT(kashi_compat_benchmark_, __COUNTER__) = \
      (new ::benchmark::Benchmark(function))

#endif

#include "kashi_compat/concat.h"

namespace tsl::testing {

template <typename T>
void DoNotOptimize(T&& value) {
  ::benchmark::DoNotOptimize(value);
}

}  // namespace tsl::testing

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_TEST_BENCHMARK_H_
