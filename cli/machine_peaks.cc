#include "cli/machine_peaks.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kashi/base/check.h"
#include "kashi/base/parallel.h"
#include "kashi/kernels/matrix_product.h"

namespace kashi::cli {

using base::ParallelFor;
using kernels::MatrixProduct;
namespace {

constexpr int kTimes = 4;  // of each measurement; the fastest counts, and the first touches the memory

template <typename Work>
double FastestNs(Work work) {
  using Clock = std::chrono::steady_clock;
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTimes; ++i) {
    const Clock::time_point begin = Clock::now();
    work();
    fastest = std::min(fastest, std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  return std::max(1.0, fastest);
}

double MeasureCopyGbps() {
  constexpr int64_t kBytes = int64_t{64} << 20, kPiece = int64_t{1} << 20;
  const std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes);
  const double ns = FastestNs([&] {
    ParallelFor(kBytes / kPiece, /*grain=*/1, [&](int64_t begin, int64_t end, int) {
      std::memcpy(to.data() + begin * kPiece, from.data() + begin * kPiece, (end - begin) * kPiece);
    });
  });
  return 2.0 * kBytes / ns;
}

double MeasureDotGflops() {
  constexpr int64_t kSize = 768;
  const std::vector<float> matrix(kSize * kSize, 1);
  std::vector<float> product(kSize * kSize);
  const double ns = FastestNs([&] {
    // Nothing stops it.
    KASHI_CHECK_OK(MatrixProduct<float>({1, kSize, kSize, kSize}, {matrix.data(), 0, kSize, 1},
                                        {matrix.data(), 0, kSize, 1}, {product.data(), 0, kSize}));
  });
  return 2.0 * kSize * kSize * kSize / ns;
}

}  // namespace

MachinePeaks MeasureMachinePeaks() { return {MeasureCopyGbps(), MeasureDotGflops()}; }

}  // namespace kashi::cli
