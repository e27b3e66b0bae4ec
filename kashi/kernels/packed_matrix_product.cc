#include "kashi/kernels/packed_matrix_product.h"

#include <algorithm>

#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/base/try_parallel.h"
#include "kashi/kernels/scratch_block.h"

namespace kashi::kernels {
namespace {

constexpr int64_t kPanelsAcross = 64;                    // at most
constexpr int64_t kMaxPackedBytes = int64_t{128} << 20;  // of both operands
constexpr int64_t kBatchWork = int64_t{1} << 23;         // multiplications of a matrix that threads should share
constexpr int64_t kMaxSharedWords = int64_t{1} << 20;    // of a matrix that one thread packs while others pack theirs
constexpr int64_t kWordsPerTask = 1 << 14;               // to pack

// The packed operands of one matrix and one stretch of k.
template <typename T>
class PackedMatrix {
 public:
  // memory: WordsFor(product, depth) words.
  PackedMatrix(const PackedProduct<T>& product, int64_t batch, int64_t k0, int64_t depth, T* memory)
      : product_(product),
        batch_(batch),
        k0_(k0),
        depth_(depth),
        words_(WordsOf(product.kernels, depth)),
        lhs_(memory),
        rhs_(memory + RoundUpTo<int64_t>(product.sizes.m, product.kernels.rows) * words_) {}

  // Words of k, those without elements included.
  static int64_t WordsOf(const PackedKernels<T>& kernels, int64_t depth) {
    return RoundUpTo<int64_t>(CeilOfRatio<int64_t>(depth, kernels.group), kernels.step);
  }

  static int64_t WordsFor(const PackedProduct<T>& product, int64_t depth) {
    const PackedKernels<T>& kernels = product.kernels;
    return (RoundUpTo<int64_t>(product.sizes.m, kernels.rows) + RoundUpTo<int64_t>(product.sizes.n, kernels.columns)) *
           WordsOf(kernels, depth);
  }

  void Pack() const {
    const PackingTasks lhs(product_.lhs, product_.sizes.m, product_.kernels.rows, words_);
    const PackingTasks rhs(product_.rhs, product_.sizes.n, product_.kernels.columns, words_);
    base::ParallelFor(lhs.count() + rhs.count(), 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        if (i < lhs.count()) {
          PackTiles(lhs, i, /*fills_width=*/false, lhs_);
        } else {
          PackTiles(rhs, i - lhs.count(), /*fills_width=*/true, rhs_);
        }
      }
    });
  }

  absl::Status Multiply() const {
    const PackedKernels<T>& kernels = product_.kernels;
    const int64_t m = product_.sizes.m, n = product_.sizes.n, tiles = CeilOfRatio<int64_t>(m, kernels.rows);
    int64_t tiles_down = kernels.tiles_down;
    int64_t panels = std::min(kPanelsAcross, CeilOfRatio<int64_t>(n, kernels.columns));
    const auto down = [&] { return CeilOfRatio(tiles, tiles_down); };
    const auto across_with = [&](int64_t count) { return CeilOfRatio(n, count * kernels.columns); };
    // Several blocks for each thread, which may not be alone on its processor.
    while (down() * across_with(panels) < 4 * base::ParallelThreadCount() && (panels > 4 || tiles_down > 4)) {
      (panels > 4 ? panels : tiles_down) /= 2;
    }
    const int64_t height = CeilOfRatio(tiles, down()) * kernels.rows;  // blocks of about the same height
    const int64_t width = panels * kernels.columns, across = across_with(panels);
    return base::TryParallelFor(down() * across, 1, [&](int64_t begin, int64_t end, int) -> absl::Status {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / across * height, column = i % across * width;
        if (product_.kernels.begin != nullptr) product_.kernels.begin();
        const absl::Status status = MultiplyBlock(row, std::min(height, m - row), column, std::min(width, n - column));
        if (product_.kernels.end != nullptr) product_.kernels.end();
        KASHI_RETURN_IF_ERROR(status);
      }
      return absl::OkStatus();
    });
  }

 private:
  // An operand in pieces of `step` tiles (or panels), which threads share.
  struct PackingTasks {
    PackingTasks(const PackedOperand& operand, int64_t size, int64_t width, int64_t words)
        : operand(operand),
          size(size),
          width(width),
          tiles(CeilOfRatio(size, width)),
          step(std::max(CeilOfRatio(kWordsPerTask, width * words), kPackedTilesAtOnce)) {}
    int64_t count() const { return CeilOfRatio(tiles, step); }

    const PackedOperand& operand;
    int64_t size, width, tiles, step;
  };

  // Tile t begins at word t * width * words_; its row p of `width` words at p * width.
  void PackTiles(const PackingTasks& tasks, int64_t task, bool fills_width, T* to) const {
    const PackedOperand& operand = tasks.operand;
    const int64_t i = task * tasks.step * tasks.width, end = std::min(tasks.size, i + tasks.step * tasks.width);
    const int64_t offset = batch_ * operand.batch_stride + i * operand.i_stride + k0_ * operand.k_stride;
    operand.pack({static_cast<const char*>(operand.data) + offset * operand.element_bytes, operand.i_stride,
                  operand.k_stride, end - i, depth_, tasks.width, fills_width, operand.flipped_bits, to + i * words_,
                  tasks.width * words_});
  }

  absl::Status MultiplyBlock(int64_t row, int64_t rows, int64_t column, int64_t columns) const {
    const PackedKernels<T>& kernels = product_.kernels;
    const int64_t height = kernels.rows, width = kernels.columns;
    RegisterTile<T> tile;
    tile.lhs_row_stride = 1;
    tile.lhs_column_stride = height;
    tile.rhs_row_stride = width;
    tile.out_row_stride = product_.out.row_stride;
    for (int64_t p = 0; p < words_; p += kernels.depth) {
      KASHI_RETURN_IF_ERROR(product_.check_stopped());
      tile.k = std::min<int64_t>(kernels.depth, words_ - p);
      tile.add = product_.add || k0_ > 0 || p > 0;
      for (int64_t j = column; j < column + columns; j += width) {
        tile.columns = std::min(width, column + columns - j);
        tile.rhs = rhs_ + j * words_ + p * width;
        for (int64_t i = row; i < row + rows; i += height) {
          tile.rows = std::min(height, row + rows - i);
          tile.lhs = lhs_ + i * words_ + p * height;
          tile.out = product_.out.data + batch_ * product_.out.batch_stride + i * product_.out.row_stride + j;
          kernels.TileOf(tile.rows)(tile);
        }
      }
    }
    return absl::OkStatus();
  }

  const PackedProduct<T>& product_;
  int64_t batch_, k0_, depth_, words_;
  T *lhs_, *rhs_;
};

template <typename T>
absl::Status RunMatrix(const PackedProduct<T>& product, int64_t batch, int64_t max_depth, T* memory) {
  for (int64_t k0 = 0; k0 < product.sizes.k; k0 += max_depth) {
    KASHI_RETURN_IF_ERROR(product.check_stopped());
    const PackedMatrix<T> matrix(product, batch, k0, std::min(max_depth, product.sizes.k - k0), memory);
    matrix.Pack();
    KASHI_RETURN_IF_ERROR(matrix.Multiply());
  }
  return absl::OkStatus();
}

// Elements of k that fit the memory for packed operands: whole stretches.
template <typename T>
int64_t DepthThatFits(const PackedProduct<T>& product) {
  const int64_t stretch = int64_t{product.kernels.depth} * product.kernels.group;
  const int64_t bytes = PackedMatrix<T>::WordsFor(product, stretch) * static_cast<int64_t>(sizeof(T));
  return std::min(product.sizes.k, stretch * std::max<int64_t>(1, kMaxPackedBytes / bytes));
}

}  // namespace

template <typename T>
absl::StatusOr<bool> RunPackedProduct(const PackedProduct<T>& product) {
  const MatrixProductSizes& sizes = product.sizes;
  const int64_t depth = DepthThatFits(product);
  const int64_t words = PackedMatrix<T>::WordsFor(product, depth);
  const double work = static_cast<double>(sizes.m) * sizes.n * sizes.k;
  const bool has_many = sizes.batch >= 4 * base::ParallelThreadCount() && words <= kMaxSharedWords;
  const bool shares_batch = sizes.batch > 1 && (has_many || work < kBatchWork);
  const int64_t parts = shares_batch ? base::ParallelThreadCount() : 1;
  const ScratchBlock memory(parts * words * static_cast<int64_t>(sizeof(T)));
  if (memory.data() == nullptr) return false;
  T* const data = static_cast<T*>(memory.data());
  if (!shares_batch) {
    for (int64_t b = 0; b < sizes.batch; ++b) KASHI_RETURN_IF_ERROR(RunMatrix(product, b, depth, data));
    return true;
  }
  const int64_t grain = 1 + static_cast<int64_t>((1 << 17) / work);
  KASHI_RETURN_IF_ERROR(
      base::TryParallelFor(sizes.batch, grain, [&](int64_t begin, int64_t end, int thread) -> absl::Status {
        for (int64_t b = begin; b < end; ++b)
          KASHI_RETURN_IF_ERROR(RunMatrix(product, b, depth, data + thread * words));
        return absl::OkStatus();
      }));
  return true;
}

template absl::StatusOr<bool> RunPackedProduct<float>(const PackedProduct<float>&);
template absl::StatusOr<bool> RunPackedProduct<double>(const PackedProduct<double>&);
template absl::StatusOr<bool> RunPackedProduct<uint32_t>(const PackedProduct<uint32_t>&);
template absl::StatusOr<bool> RunPackedProduct<uint64_t>(const PackedProduct<uint64_t>&);

}  // namespace kashi::kernels
