// Bytes a second (read and written) of the transpose kernels by element size and shape of the block, each beside memcpy
// of as many bytes. The names say: element bytes, rows x columns, source > target.
//
//   dense     the rows follow one another
//   apart     each row begins 80 bytes after the last one's end; 8 bytes where rows are shorter than a line
//   pages     the rows begin 4096 bytes apart: all in one set of the nearest cache
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/transpose_kernels.h"

namespace kashi::relayout {
namespace {

enum class Spread { kDense, kApart, kPages };

const char* Name(Spread spread) {
  switch (spread) {
    case Spread::kDense:
      return "dense";
    case Spread::kApart:
      return "apart";
    case Spread::kPages:
      return "pages";
  }
  return "?";
}

struct Side {
  Side(int64_t rows, int64_t row_bytes, Spread spread) : is_dense(spread == Spread::kDense) {
    const int64_t stride = is_dense                   ? row_bytes
                           : spread == Spread::kPages ? 4096
                           : row_bytes < 64           ? row_bytes + 8
                                                      : row_bytes + 80;
    for (int64_t r = 0; r < rows; ++r) offsets.push_back(r * stride);
    storage.resize(rows * stride + 64 + 1024);
    bytes = storage.data() + -reinterpret_cast<uintptr_t>(storage.data()) % 64;
  }
  std::vector<int64_t> offsets;
  std::vector<char> storage;
  char* bytes;
  bool is_dense;
};

void CountBytes(benchmark::State& state, int64_t bytes) { state.SetBytesProcessed(state.iterations() * 2 * bytes); }

void BM_Transpose(benchmark::State& state, int64_t element_bytes, int64_t rows, int64_t columns, Spread from,
                  Spread to) {
  Side source(rows, columns * element_bytes, from);
  Side target(columns, rows * element_bytes, to);
  const TransposeFunction transpose = TransposeFunctionFor(element_bytes);
  const TransposeBlock block = {source.bytes,    source.offsets.data(), rows,
                                target.bytes,    target.offsets.data(), columns,
                                source.is_dense, target.is_dense};
  for (auto _ : state) {
    transpose(block);
    benchmark::ClobberMemory();
  }
  CountBytes(state, rows * columns * element_bytes);
}

// Keeps the two sides from the same addresses modulo 4096, where `rep movsb` of some processors is slow.
constexpr int64_t kApart = 1024;

void BM_Memcpy(benchmark::State& state) {
  const int64_t bytes = state.range(0);
  std::vector<char> from(bytes);
  std::vector<char> to(bytes + kApart);
  for (auto _ : state) {
    std::memcpy(to.data() + kApart, from.data(), bytes);
    benchmark::ClobberMemory();
  }
  CountBytes(state, bytes);
}

void BM_StreamCopy(benchmark::State& state) {
  const int64_t bytes = state.range(0);
  std::vector<char> from(bytes);
  std::vector<char> to(bytes + kApart);
  for (auto _ : state) {
    StreamCopy(to.data() + kApart, from.data(), bytes);
    StreamFence();
    benchmark::ClobberMemory();
  }
  CountBytes(state, bytes);
}

void Register(int64_t element_bytes, int64_t rows, int64_t columns, Spread from, Spread to) {
  const std::string name = absl::StrCat("w", element_bytes, "/", rows, "x", columns, "/", Name(from), ">", Name(to));
  benchmark::RegisterBenchmark(name.c_str(), BM_Transpose, element_bytes, rows, columns, from, to);
}

// Rows and columns of 16 bytes and more.
void RegisterBlocks(int64_t element_bytes) {
  for (int64_t row_bytes : {64, 256}) {
    for (int64_t rows : {16, 64, 128}) {
      const int64_t columns = row_bytes / element_bytes;
      Register(element_bytes, rows, columns, Spread::kDense, Spread::kDense);
      Register(element_bytes, rows, columns, Spread::kApart, Spread::kDense);
      Register(element_bytes, rows, columns, Spread::kPages, Spread::kDense);
      Register(element_bytes, rows, columns, Spread::kApart, Spread::kPages);
    }
  }
  const int64_t columns = 128 / element_bytes;
  Register(element_bytes, 17, columns + 1, Spread::kApart, Spread::kApart);
  Register(element_bytes, 33, columns + 3, Spread::kApart, Spread::kApart);
  Register(element_bytes, 512 / element_bytes, 512 / element_bytes, Spread::kApart,
           Spread::kApart);  // the second cache
}

// Blocks of which one side is less than 16 bytes: in all some 4096 bytes.
void RegisterNarrow(int64_t element_bytes) {
  for (int64_t narrow : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16}) {
    if (narrow * element_bytes > 16) break;
    const int64_t wide = 4096 / element_bytes / narrow;
    for (Spread apart : {Spread::kDense, Spread::kApart}) {
      Register(element_bytes, narrow, wide, Spread::kDense, apart);
      Register(element_bytes, wide, narrow, apart, Spread::kDense);
    }
  }
  for (int64_t small : {3, 4, 7, 8, 15}) {
    if (small * element_bytes > 16) break;
    Register(element_bytes, small, small, Spread::kApart, Spread::kApart);
  }
}

void RegisterAll() {
  for (int64_t element_bytes : {1, 2, 4, 8, 16}) {
    RegisterBlocks(element_bytes);
    RegisterNarrow(element_bytes);
  }
}

BENCHMARK(BM_Memcpy)->Arg(64)->Arg(1024)->Arg(4096)->Arg(16384)->Arg(65536)->Arg(1 << 18)->Arg(1 << 26);
BENCHMARK(BM_StreamCopy)->Arg(4096)->Arg(65536)->Arg(1 << 26);

const bool registered = (RegisterAll(), true);

}  // namespace
}  // namespace kashi::relayout
