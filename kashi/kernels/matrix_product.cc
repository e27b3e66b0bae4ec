// Entry point: MatrixProduct. Products are cut into blocks of the result, which threads share out:
//
//   RunPackedProduct   large products: both operands are packed as a whole (packed_matrix_product.h)
//   RunBlock           a block in tiles that stay in registers; the parts of lhs and rhs that are read repeatedly are
//                      packed first, in the order in which tiles read them
//   RunRow             one row times a matrix: rhs is read once, as it lies
//   RunInnerRows       few rows times a matrix whose columns are contiguous: inner products
//
// RunBlock cuts k into stretches of kBlockDepth elements: a packed panel of rhs then fits the first cache, a packed
// block of lhs the second.
#include "kashi/kernels/matrix_product.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>

#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/base/try_parallel.h"
#include "kashi/kernels/matrix_product_kernels.h"
#include "kashi/kernels/packed_matrix_product.h"

namespace kashi::kernels {
namespace {

constexpr int64_t kBlockDepth = 256;        // elements of k that are multiplied at a time
constexpr int64_t kBlockTilesDown = 40;     // 320 rows of 256 floats are 320 KiB
constexpr int64_t kBlockPanelsAcross = 64;  // at most
constexpr int64_t kMaxPanelBytes = kBlockDepth * 2 * 64;
constexpr int64_t kWorkPerTask = 1 << 17;  // multiplications worth another thread
constexpr int64_t kWordsPerPackingTask = 1 << 14;
constexpr int64_t kSmallWork = 1 << 14;  // multiplications too few to make room and pack lhs for

// A rectangle of one of the result's matrices.
struct Block {
  int64_t batch;
  int64_t row, rows;
  int64_t column, columns;
};

template <typename T>
struct Product {
  MatrixProductSizes sizes;
  MatrixOperand<T> lhs;
  MatrixOperand<T> rhs;
  MatrixResult<T> out;
  bool add;
  const KernelTable<T>& kernels;
  StopFunction check_stopped;
  const T* packed_rhs = nullptr;  // the panels that PackRhs wrote; then rhs has no data

  const T* Lhs(int64_t b, int64_t i, int64_t p) const {
    return lhs.data + b * lhs.batch_stride + i * lhs.row_stride + p * lhs.column_stride;
  }
  const T* Rhs(int64_t b, int64_t p, int64_t j) const {
    return rhs.data + b * rhs.batch_stride + p * rhs.row_stride + j * rhs.column_stride;
  }
  T* Out(int64_t b, int64_t i, int64_t j) const { return out.data + b * out.batch_stride + i * out.row_stride + j; }
};

// PackRhs writes matrix after matrix, of each one stretch of kBlockDepth rows after the other, and of each stretch one
// panel of columns after the other. This is where the panel begins that has column j of the stretch from row p0 on.
template <typename T>
int64_t PackedPanelOffset(const Product<T>& product, int64_t batch, int64_t p0, int64_t depth, int64_t j) {
  const int64_t columns = RoundUpTo<int64_t>(product.sizes.n, product.kernels.packed.columns);
  return (batch * product.sizes.k + p0) * columns + j * depth;
}

template <typename T>
void PackPanel(const Product<T>& product, int64_t batch, int64_t p0, int64_t depth, int64_t j, int64_t columns,
               T* panel) {
  product.kernels.packed.pack_rhs({product.Rhs(batch, p0, j), product.rhs.column_stride, product.rhs.row_stride,
                                   columns, depth, product.kernels.packed.columns, /*fills_width=*/true,
                                   /*flipped_bits=*/0, panel, 0});
}

template <typename T>
void PackAllPanels(const Product<T>& product, T* packed) {
  const MatrixProductSizes& sizes = product.sizes;
  const int64_t width = product.kernels.packed.columns, across = CeilOfRatio(sizes.n, width);
  const int64_t stretches = CeilOfRatio(sizes.k, kBlockDepth);
  const int64_t grain = 1 + kWordsPerPackingTask / (kBlockDepth * width);
  base::ParallelFor(sizes.batch * stretches * across, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t batch = i / across / stretches, p0 = i / across % stretches * kBlockDepth, j = i % across * width;
      const int64_t depth = std::min(kBlockDepth, sizes.k - p0);
      PackPanel(product, batch, p0, depth, j, std::min(width, sizes.n - j),
                packed + PackedPanelOffset(product, batch, p0, depth, j));
    }
  });
}

// Tiles of a block for one stretch of k. `packed_lhs` is null if lhs is to be read as it lies.
template <typename T>
void RunStretch(const Product<T>& product, const Block& block, int64_t p0, int64_t depth, const T* packed_lhs) {
  const int64_t height = product.kernels.packed.rows, width = product.kernels.packed.columns;
  alignas(64) char panel_memory[kMaxPanelBytes];
  T* panel = reinterpret_cast<T*>(panel_memory);
  const bool is_rhs_good = product.rhs.column_stride == 1 && block.rows <= 2 * height;
  RegisterTile<T> tile;
  tile.k = depth;
  tile.out_row_stride = product.out.row_stride;
  tile.add = product.add || p0 > 0;
  for (int64_t j = block.column; j < block.column + block.columns; j += width) {
    tile.columns = std::min(width, block.column + block.columns - j);
    tile.rhs_row_stride = width;
    if (product.packed_rhs != nullptr) {
      tile.rhs = product.packed_rhs + PackedPanelOffset(product, block.batch, p0, depth, j);
    } else if (is_rhs_good && tile.columns == width) {
      tile.rhs = product.Rhs(block.batch, p0, j);
      tile.rhs_row_stride = product.rhs.row_stride;
    } else {
      PackPanel(product, block.batch, p0, depth, j, tile.columns, panel);
      tile.rhs = panel;
    }
    for (int64_t i = 0; i < block.rows; i += height) {
      tile.rows = std::min(height, block.rows - i);
      tile.lhs = packed_lhs != nullptr ? packed_lhs + i * depth : product.Lhs(block.batch, block.row + i, p0);
      tile.lhs_row_stride = packed_lhs != nullptr ? 1 : product.lhs.row_stride;
      tile.lhs_column_stride = packed_lhs != nullptr ? height : product.lhs.column_stride;
      tile.out = product.Out(block.batch, block.row + i, j);
      product.kernels.packed.TileOf(tile.rows)(tile);
    }
  }
}

template <typename T>
absl::Status RunBlock(const Product<T>& product, const Block& block) {
  const int64_t k = product.sizes.k, height = product.kernels.packed.rows;
  std::unique_ptr<T[]> packed_lhs;
  // A block of few panels reads lhs too seldom for packing to pay.
  if (block.columns > 2 * product.kernels.packed.columns &&
      block.rows * block.columns > kSmallWork / std::min(k, kSmallWork)) {
    packed_lhs.reset(new T[RoundUpTo(block.rows, height) * std::min(k, kBlockDepth)]);
  }
  for (int64_t p0 = 0; p0 < k; p0 += kBlockDepth) {
    KASHI_RETURN_IF_ERROR(product.check_stopped());
    const int64_t depth = std::min(kBlockDepth, k - p0);
    if (packed_lhs != nullptr) {
      for (int64_t i = 0; i < block.rows; i += height) {
        product.kernels.packed.pack_lhs({product.Lhs(block.batch, block.row + i, p0), product.lhs.row_stride,
                                         product.lhs.column_stride, std::min(height, block.rows - i), depth, height,
                                         /*fills_width=*/false, /*flipped_bits=*/0, packed_lhs.get() + i * depth, 0});
      }
    }
    RunStretch(product, block, p0, depth, packed_lhs.get());
  }
  return absl::OkStatus();
}

template <typename T>
RegisterTile<T> WholeDepth(const Product<T>& product, const Block& block, int64_t i) {
  RegisterTile<T> tile;
  tile.k = product.sizes.k;
  tile.lhs = product.Lhs(block.batch, i, 0);
  tile.lhs_row_stride = product.lhs.row_stride;
  tile.lhs_column_stride = product.lhs.column_stride;
  tile.rhs = product.Rhs(block.batch, 0, block.column);
  tile.rhs_row_stride = product.rhs.row_stride;
  tile.out = product.Out(block.batch, i, block.column);
  tile.out_row_stride = product.out.row_stride;
  tile.rows = 1;
  tile.columns = block.columns;
  tile.add = product.add;
  return tile;
}

template <typename T>
absl::Status RunRow(const Product<T>& product, const Block& block) {
  for (int64_t i = block.row; i < block.row + block.rows; ++i) {
    const RegisterTile<T> tile = WholeDepth(product, block, i);
    if (!product.add) std::fill(tile.out, tile.out + tile.columns, T(0));
    product.kernels.add_row_times_matrix(tile);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status RunInnerRows(const Product<T>& product, const Block& block) {
  for (int64_t i = block.row; i < block.row + block.rows; ++i) {
    RegisterTile<T> tile = WholeDepth(product, block, i);
    tile.rhs_row_stride = product.rhs.column_stride;
    product.kernels.run_inner_products(tile);
  }
  return absl::OkStatus();
}

template <typename T>
using BlockFunction = absl::Status (*)(const Product<T>& product, const Block& block);

// Decides by sizes and strides only, never by the number of threads, because the order of additions differs between the
// kinds.
template <typename T>
BlockFunction<T> ChooseBlockFunction(const Product<T>& product) {
  const MatrixProductSizes& sizes = product.sizes;
  if (product.rhs.column_stride == 1)
    return sizes.m == 1 && sizes.n > 2 * product.kernels.packed.columns ? &RunRow<T> : &RunBlock<T>;
  const bool is_contiguous = product.rhs.row_stride == 1 && product.lhs.column_stride == 1;
  return is_contiguous && sizes.m <= 4 && sizes.k >= 16 ? &RunInnerRows<T> : &RunBlock<T>;
}

template <typename T>
absl::StatusOr<bool> RunPacked(const Product<T>& product) {
  constexpr int kBytes = sizeof(T);
  const MatrixOperand<T>&lhs = product.lhs, &rhs = product.rhs;
  const PackedKernels<T>& kernels = product.kernels.packed;
  return RunPackedProduct<T>(
      {product.sizes,
       {lhs.data, kBytes, lhs.batch_stride, lhs.row_stride, lhs.column_stride, kernels.pack_lhs, 0},
       {rhs.data, kBytes, rhs.batch_stride, rhs.column_stride, rhs.row_stride, kernels.pack_rhs, 0},
       product.out,
       product.add,
       kernels,
       product.check_stopped});
}

template <typename T>
absl::Status RunProduct(const Product<T>& product) {
  const MatrixProductSizes& sizes = product.sizes;
  const BlockFunction<T> run_block = ChooseBlockFunction(product);
  const double work = static_cast<double>(sizes.batch) * sizes.m * sizes.n * sizes.k;
  if (work <= kWorkPerTask && sizes.m <= kBlockTilesDown * product.kernels.packed.rows) {
    for (int64_t b = 0; b < sizes.batch; ++b) {
      KASHI_RETURN_IF_ERROR(run_block(product, {b, 0, sizes.m, 0, sizes.n}));
    }
    return absl::OkStatus();
  }
  if (run_block == &RunBlock<T> && IsPackedAsAWhole(sizes)) {
    KASHI_ASSIGN_OR_RETURN(const bool is_done, RunPacked(product));
    if (is_done) return absl::OkStatus();
  }
  const int64_t height = std::min(sizes.m, kBlockTilesDown * product.kernels.packed.rows);
  const int64_t down = CeilOfRatio(sizes.m, height);
  // Narrower blocks where there would be too few for all threads.
  int64_t panels = std::min(kBlockPanelsAcross, CeilOfRatio<int64_t>(sizes.n, product.kernels.packed.columns));
  const auto across_with = [&](int64_t panels) {
    return CeilOfRatio(sizes.n, panels * product.kernels.packed.columns);
  };
  while (panels > 8 && sizes.batch * down * across_with(panels) < 4 * base::ParallelThreadCount()) panels /= 2;
  const int64_t width = std::min(sizes.n, panels * product.kernels.packed.columns), across = across_with(panels);
  const double work_per_block = static_cast<double>(height) * width * sizes.k;
  const int64_t grain = 1 + static_cast<int64_t>(kWorkPerTask / work_per_block);
  return base::TryParallelFor(sizes.batch * down * across, grain, [&](int64_t begin, int64_t end, int) -> absl::Status {
    for (int64_t i = begin; i < end; ++i) {
      KASHI_RETURN_IF_ERROR(product.check_stopped());
      const int64_t row = i / across % down * height, column = i % across * width;
      KASHI_RETURN_IF_ERROR(run_block(product, {i / across / down, row, std::min(height, sizes.m - row), column,
                                                std::min(width, sizes.n - column)}));
    }
    return absl::OkStatus();
  });
}

template <typename T>
void FillWithZeros(const MatrixProductSizes& sizes, const MatrixResult<T>& out) {
  for (int64_t b = 0; b < sizes.batch; ++b) {
    for (int64_t i = 0; i < sizes.m; ++i) {
      T* row = out.data + b * out.batch_stride + i * out.row_stride;
      std::fill(row, row + sizes.n, T(0));
    }
  }
}

template <typename T>
absl::Status RealProduct(const MatrixProductSizes& sizes, const MatrixOperand<T>& lhs, const MatrixOperand<T>& rhs,
                         const MatrixResult<T>& out, bool add, StopFunction check_stopped) {
  const KernelTable<T>& kernels = FindKernels<T>();
  if (sizes.n == 1 && sizes.m > 1 && out.row_stride == 1) {
    // A column is better made as a row: transpose(out) = transpose(rhs) * transpose(lhs).
    return RunProduct<T>({{sizes.batch, 1, sizes.k, sizes.m},
                          {rhs.data, rhs.batch_stride, rhs.column_stride, rhs.row_stride},
                          {lhs.data, lhs.batch_stride, lhs.column_stride, lhs.row_stride},
                          out,
                          add,
                          kernels,
                          check_stopped});
  }
  return RunProduct<T>({sizes, lhs, rhs, out, add, kernels, check_stopped});
}

// A complex product is a real one of lhs as it lies, re and im side by side, and a rhs of twice as many rows and
// columns:
//
//                          re  im
//   (a + bi) (re + im i) = (a b) ( -im  re )   = (a re - b im,  a im + b re)
//
// This is a part of rhs so rewritten.
template <typename Real>
void ExpandComplex(const MatrixOperand<std::complex<Real>>& rhs, int64_t rows, int64_t columns, Real* expanded) {
  for (int64_t p = 0; p < rows; ++p) {
    Real* upper = expanded + 4 * p * columns;
    Real* lower = upper + 2 * columns;
    for (int64_t j = 0; j < columns; ++j) {
      const std::complex<Real> x = rhs.data[p * rhs.row_stride + j * rhs.column_stride];
      upper[2 * j] = x.real();
      upper[2 * j + 1] = x.imag();
      lower[2 * j] = -x.imag();
      lower[2 * j + 1] = x.real();
    }
  }
}

constexpr int64_t kComplexRows = 256, kComplexColumns = 512;  // of a part of rhs

template <typename T>
void MakeRowMajor(int64_t rows, int64_t columns, const T* from, const MatrixOperand<T>& strides, T* to) {
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) to[i * columns + j] = from[i * strides.row_stride + j * strides.column_stride];
  }
}

// Columns [p0, p0 + depth) of one lhs, their rows contiguous, times those rows of one rhs, part by part, added to out.
template <typename Real>
absl::Status AddComplexStretch(const MatrixProductSizes& sizes, const std::complex<Real>* lhs, int64_t lhs_row_stride,
                               MatrixOperand<std::complex<Real>> rhs, const MatrixResult<std::complex<Real>>& out,
                               Real* expanded, StopFunction check_stopped) {
  for (int64_t j = 0; j < sizes.n; j += kComplexColumns) {
    const int64_t columns = std::min(kComplexColumns, sizes.n - j);
    ExpandComplex(rhs, sizes.k, columns, expanded);
    KASHI_RETURN_IF_ERROR(
        RealProduct<Real>({1, sizes.m, 2 * sizes.k, 2 * columns},
                          {reinterpret_cast<const Real*>(lhs), 0, 2 * lhs_row_stride, 1}, {expanded, 0, 2 * columns, 1},
                          {reinterpret_cast<Real*>(out.data + j), 0, 2 * out.row_stride}, /*add=*/true, check_stopped));
    rhs.data += columns * rhs.column_stride;
  }
  return absl::OkStatus();
}

template <typename Real>
absl::Status ComplexProduct(const MatrixProductSizes& sizes, const MatrixOperand<std::complex<Real>>& lhs,
                            const MatrixOperand<std::complex<Real>>& rhs, const MatrixResult<std::complex<Real>>& out,
                            bool add, StopFunction check_stopped) {
  using Complex = std::complex<Real>;
  if (!add) FillWithZeros(sizes, out);
  const double work = 4.0 * sizes.m * sizes.n * sizes.k;
  const int64_t grain = 1 + static_cast<int64_t>(kWorkPerTask / work);
  return base::TryParallelFor(sizes.batch, grain, [&](int64_t begin, int64_t end, int) -> absl::Status {
    const int64_t max_rows = std::min(sizes.k, kComplexRows);
    const std::unique_ptr<Real[]> expanded(new Real[4 * max_rows * std::min(sizes.n, kComplexColumns)]);
    const std::unique_ptr<Complex[]> packed_lhs(lhs.column_stride == 1 ? nullptr : new Complex[sizes.m * max_rows]);
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t p0 = 0; p0 < sizes.k; p0 += kComplexRows) {
        KASHI_RETURN_IF_ERROR(check_stopped());
        const int64_t depth = std::min(kComplexRows, sizes.k - p0);
        const Complex* left = lhs.data + b * lhs.batch_stride + p0 * lhs.column_stride;
        if (packed_lhs != nullptr) MakeRowMajor(sizes.m, depth, left, lhs, packed_lhs.get());
        const MatrixOperand<Complex> right = {rhs.data + b * rhs.batch_stride + p0 * rhs.row_stride, 0, rhs.row_stride,
                                              rhs.column_stride};
        KASHI_RETURN_IF_ERROR(AddComplexStretch<Real>(
            {1, sizes.m, depth, sizes.n}, packed_lhs != nullptr ? packed_lhs.get() : left,
            packed_lhs != nullptr ? depth : lhs.row_stride, right, {out.data + b * out.batch_stride, 0, out.row_stride},
            expanded.get(), check_stopped));
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace

template <typename T>
absl::Status MatrixProduct(const MatrixProductSizes& sizes, const MatrixOperand<T>& lhs, const MatrixOperand<T>& rhs,
                           const MatrixResult<T>& out, MatrixProductMode mode, StopFunction check_stopped) {
  if (sizes.batch <= 0 || sizes.m <= 0 || sizes.n <= 0) return absl::OkStatus();
  const bool add = mode == MatrixProductMode::kAdd;
  if (sizes.k <= 0) {
    if (!add) FillWithZeros(sizes, out);
    return absl::OkStatus();
  }
  if constexpr (is_complex_v<T>) {
    return ComplexProduct<typename T::value_type>(sizes, lhs, rhs, out, add, check_stopped);
  } else {
    return RealProduct<T>(sizes, lhs, rhs, out, add, check_stopped);
  }
}

template <typename T>
int64_t PackedRhsBytes(const MatrixProductSizes& sizes, const MatrixOperand<T>& lhs, const MatrixOperand<T>& rhs) {
  const Product<T> product = {sizes, lhs, rhs, {}, false, FindKernels<T>(), NeverStopped};
  const int64_t width = product.kernels.packed.columns;
  if (sizes.batch <= 0 || sizes.m <= 1 || sizes.k <= 0 || 2 * sizes.n < width) return 0;
  if (ChooseBlockFunction(product) != &RunBlock<T> || IsPackedAsAWhole(sizes)) return 0;
  const int64_t words =
      SaturatingMultiply(SaturatingMultiply(sizes.batch, sizes.k), RoundUpTo<int64_t>(sizes.n, width));
  return SaturatingMultiply(words, static_cast<int64_t>(sizeof(T)));
}

template <typename T>
void PackRhs(const MatrixProductSizes& sizes, const MatrixOperand<T>& rhs, T* packed) {
  PackAllPanels<T>({sizes, {}, rhs, {}, false, FindKernels<T>(), NeverStopped}, packed);
}

template <typename T>
absl::Status MatrixProductOfPacked(const MatrixProductSizes& sizes, const MatrixOperand<T>& lhs, const T* packed_rhs,
                                   const MatrixResult<T>& out, StopFunction check_stopped) {
  // A rhs without data, whose strides are those of rows: RunBlock then reads the packed panels.
  const MatrixOperand<T> rhs = {nullptr, 0, sizes.n, 1};
  return RunProduct<T>({sizes, lhs, rhs, out, false, FindKernels<T>(), check_stopped, packed_rhs});
}

template <typename T>
void AddScaledColumns(int64_t rows, int64_t columns, const MatrixOperand<T>& lhs, const T* scales,
                      const MatrixResult<T>& out) {
  if constexpr (is_complex_v<T>) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        out.data[i * out.row_stride + j] += lhs.data[i * lhs.row_stride + j] * scales[j];
      }
    }
  } else {
    RegisterTile<T> tile{};
    tile.lhs = lhs.data;
    tile.lhs_row_stride = lhs.row_stride;
    tile.rhs = scales;
    tile.out = out.data;
    tile.out_row_stride = out.row_stride;
    tile.rows = rows;
    tile.columns = columns;
    FindKernels<T>().add_scaled_columns(tile);
  }
}
#define KASHI_INSTANTIATE(T)                                                                                          \
  template absl::Status MatrixProduct<T>(const MatrixProductSizes&, const MatrixOperand<T>&, const MatrixOperand<T>&, \
                                         const MatrixResult<T>&, MatrixProductMode, StopFunction);                    \
  template void AddScaledColumns<T>(int64_t, int64_t, const MatrixOperand<T>&, const T*, const MatrixResult<T>&);
KASHI_INSTANTIATE(float)
KASHI_INSTANTIATE(double)
KASHI_INSTANTIATE(uint32_t)
KASHI_INSTANTIATE(uint64_t)
KASHI_INSTANTIATE(complex64)
KASHI_INSTANTIATE(complex128)
#undef KASHI_INSTANTIATE
#define KASHI_INSTANTIATE(T)                                                                                       \
  template int64_t PackedRhsBytes<T>(const MatrixProductSizes&, const MatrixOperand<T>&, const MatrixOperand<T>&); \
  template void PackRhs<T>(const MatrixProductSizes&, const MatrixOperand<T>&, T*);                                \
  template absl::Status MatrixProductOfPacked<T>(const MatrixProductSizes&, const MatrixOperand<T>&, const T*,     \
                                                 const MatrixResult<T>&, StopFunction);
KASHI_INSTANTIATE(float)
KASHI_INSTANTIATE(double)
#undef KASHI_INSTANTIATE

PrimitiveType AccumulationType(PrimitiveType result) {
  if (result == F64 || primitive_util::IsComplexType(result)) return result;
  if (result == PRED || primitive_util::IsFloatingPointType(result)) return F32;
  if (primitive_util::BitWidth(result) == 64) return result;
  return primitive_util::IsUnsignedIntegralType(result) ? U32 : S32;
}

}  // namespace kashi::kernels
