// The cost of the first write of an array (`bytes_per_second` counts written bytes): into existing pages, and into
// memory that is new each time. The argument is MiB.
#include <cstdlib>
#include <cstring>

#include "benchmark/benchmark.h"
#include "kashi/base/page_buffer.h"
#include "kashi/base/parallel.h"

namespace kashi::base {
namespace {

enum class Writer { kOneThread, kAllThreads };

void Write(char* to, int64_t bytes, Writer writer) {
  constexpr int64_t kGrain = int64_t{2} << 20;
  const auto write = [to](int64_t begin, int64_t end, int) {
    std::memset(to + begin, 1, static_cast<size_t>(end - begin));
  };
  if (writer == Writer::kOneThread) {
    write(0, bytes, 0);
  } else {
    ParallelFor(bytes, kGrain, write);
  }
  benchmark::DoNotOptimize(to);
  benchmark::ClobberMemory();
}

// `get` an array, write it, `put` it back.
template <typename Get, typename Put>
void Measure(benchmark::State& state, Writer writer, Get get, Put put) {
  const int64_t bytes = state.range(0) << 20;
  for (auto _ : state) {
    char* const block = get(bytes);
    Write(block, bytes, writer);
    put(block, bytes);
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

char* Get(int64_t bytes) { return static_cast<char*>(AllocateBlock(bytes)); }
void Put(char* block, int64_t bytes) { FreeBlock(block, bytes); }

void BM_Present(benchmark::State& state, Writer writer) {
  PageBuffer buffer = PageBuffer::Make(state.range(0) << 20, BlockContent::kZeros).value();
  Write(buffer.data(), buffer.size(), writer);
  Measure(
      state, writer, [&](int64_t) { return buffer.data(); }, [](char*, int64_t) {});
}
void BM_Pooled(benchmark::State& state, Writer writer) { Measure(state, writer, Get, Put); }
void BM_FreshHugePages(benchmark::State& state, Writer writer) {
  Measure(state, writer, Get, [](char* block, int64_t bytes) {
    FreeBlock(block, bytes);
    ReleasePooledBlocks();
  });
}
// Memory from the process's allocator.
void BM_Malloc(benchmark::State& state, Writer writer) {
  Measure(
      state, writer,
      [](int64_t bytes) { return static_cast<char*>(std::aligned_alloc(kBlockAlignment, static_cast<size_t>(bytes))); },
      [](char* block, int64_t) { std::free(block); });
}

void Sizes(benchmark::base::Benchmark* bench) { bench->Arg(4)->Arg(16)->Arg(64)->Arg(200)->UseRealTime(); }
BENCHMARK_CAPTURE(BM_Present, one_thread, Writer::kOneThread)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Pooled, one_thread, Writer::kOneThread)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_FreshHugePages, one_thread, Writer::kOneThread)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Malloc, one_thread, Writer::kOneThread)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Present, all_threads, Writer::kAllThreads)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Pooled, all_threads, Writer::kAllThreads)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_FreshHugePages, all_threads, Writer::kAllThreads)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Malloc, all_threads, Writer::kAllThreads)->Apply(Sizes);

}  // namespace
}  // namespace kashi::base
