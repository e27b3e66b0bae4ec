// Operations a second (`items_per_second`; a multiplication and an addition are two) of square products on this
// machine's threads, of small ones, of a matrix times a vector.
#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "kashi/kernels/matrix_product.h"

namespace kashi::kernels {
namespace {

template <typename T>
std::vector<T> MakeMatrix(int64_t size) {
  std::vector<T> matrix(size);
  for (int64_t i = 0; i < size; ++i) matrix[i] = T(i % 7);
  return matrix;
}

template <typename T>
void RunProducts(benchmark::State& state, const MatrixProductSizes& sizes, bool is_rhs_transposed) {
  const std::vector<T> lhs = MakeMatrix<T>(sizes.batch * sizes.m * sizes.k);
  const std::vector<T> rhs = MakeMatrix<T>(sizes.batch * sizes.k * sizes.n);
  std::vector<T> out(sizes.batch * sizes.m * sizes.n);
  const int64_t rhs_size = sizes.k * sizes.n;
  for (auto _ : state) {
    const absl::Status status = MatrixProduct<T>(sizes, {lhs.data(), sizes.m * sizes.k, sizes.k, 1},
                                                 is_rhs_transposed ? MatrixOperand<T>{rhs.data(), rhs_size, 1, sizes.k}
                                                                   : MatrixOperand<T>{rhs.data(), rhs_size, sizes.n, 1},
                                                 {out.data(), sizes.m * sizes.n, sizes.n});
    benchmark::DoNotOptimize(status.ok());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * sizes.batch * sizes.m * sizes.n * sizes.k * 2);
}

template <typename T>
void BM_Square(benchmark::State& state) {
  RunProducts<T>(state, {1, state.range(0), state.range(0), state.range(0)}, /*is_rhs_transposed=*/false);
}
template <typename T>
void BM_SquareTransposed(benchmark::State& state) {
  RunProducts<T>(state, {1, state.range(0), state.range(0), state.range(0)}, /*is_rhs_transposed=*/true);
}
template <typename T>
void BM_Batch(benchmark::State& state) {
  RunProducts<T>(state, {1024, state.range(0), state.range(0), state.range(0)}, /*is_rhs_transposed=*/false);
}
template <typename T>
void BM_Row(benchmark::State& state) {
  RunProducts<T>(state, {1, 1, state.range(0), state.range(0)}, /*is_rhs_transposed=*/false);
}
template <typename T>
void BM_Column(benchmark::State& state) {
  RunProducts<T>(state, {1, state.range(0), state.range(0), 1}, /*is_rhs_transposed=*/false);
}
template <typename T>
void BM_Tall(benchmark::State& state) {
  RunProducts<T>(state, {1, 65536, state.range(0), state.range(0)}, /*is_rhs_transposed=*/false);
}

BENCHMARK_TEMPLATE(BM_Square, float)->Arg(4)->Arg(16)->Arg(64)->Arg(256)->Arg(1024)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Square, double)->Arg(64)->Arg(1024)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Square, uint32_t)->Arg(1024)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Square, uint64_t)->Arg(1024)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Square, complex64)->Arg(512)->UseRealTime();
BENCHMARK_TEMPLATE(BM_SquareTransposed, float)->Arg(64)->Arg(1024)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Batch, float)->Arg(4)->Arg(16)->Arg(64)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Row, float)->Arg(1024)->Arg(4096)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Column, float)->Arg(1024)->Arg(4096)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Tall, float)->Arg(16)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace kashi::kernels
