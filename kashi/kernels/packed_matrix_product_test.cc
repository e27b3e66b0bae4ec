// Products of short elements against the three loops that define them, by each kind of instructions of this processor.
#include "kashi/kernels/packed_matrix_product.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::kernels {
namespace {

// [batch, rows, columns], with a gap after each row or column.
struct PackedCase {
  MatrixProductSizes sizes;
  bool lhs_is_column_major, rhs_is_column_major;
  int64_t gap;
  bool add;
};

std::ostream& operator<<(std::ostream& out, const PackedCase& c) {
  return out << "batch " << c.sizes.batch << " m " << c.sizes.m << " k " << c.sizes.k << " n " << c.sizes.n << " lhs "
             << c.lhs_is_column_major << " rhs " << c.rhs_is_column_major << " gap " << c.gap << " add " << c.add;
}

// Small whole numbers, whose sums are exact, and their bits. Gaps are NaN or -1.
template <typename Bits>
class Matrix {
 public:
  Matrix(int64_t batch, int64_t rows, int64_t columns, bool is_column_major, int64_t gap, std::mt19937_64& random)
      : row_stride_(is_column_major ? 1 : columns + gap),
        column_stride_(is_column_major ? rows + gap : 1),
        batch_stride_(is_column_major ? columns * (rows + gap) : rows * (columns + gap)),
        bits_(batch * batch_stride_, static_cast<Bits>(-1)),
        numbers_(bits_.size()) {
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          const int64_t at = b * batch_stride_ + i * row_stride_ + j * column_stride_;
          numbers_[at] = static_cast<int>(random() % 15) - 7;
          bits_[at] = BitsOf(numbers_[at]);
        }
      }
    }
  }

  int At(int64_t b, int64_t i, int64_t j) const {
    return numbers_[b * batch_stride_ + i * row_stride_ + j * column_stride_];
  }
  PackedOperand Operand(bool is_rhs, PackFunction pack, uint32_t flipped_bits) const {
    return {bits_.data(),
            sizeof(Bits),
            batch_stride_,
            is_rhs ? column_stride_ : row_stride_,
            is_rhs ? row_stride_ : column_stride_,
            pack,
            flipped_bits};
  }

 private:
  static Bits BitsOf(int number) {
    if constexpr (sizeof(Bits) == 1) return static_cast<Bits>(number);
    const float value = static_cast<float>(number);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return static_cast<Bits>(bits >> 16);
  }

  int64_t row_stride_, column_stride_, batch_stride_;
  std::vector<Bits> bits_;
  std::vector<int> numbers_;
};

// Bits: uint16_t for bf16, int8_t for s8. flipped_lhs: 0x80808080 adds 128 to each element of lhs.
template <typename Bits, typename T>
void CheckCase(const PackedCase& c, const PackedKernels<T>& kernels, uint32_t flipped_lhs, std::mt19937_64& random) {
  const MatrixProductSizes& s = c.sizes;
  const Matrix<Bits> lhs(s.batch, s.m, s.k, c.lhs_is_column_major, c.gap, random);
  const Matrix<Bits> rhs(s.batch, s.k, s.n, c.rhs_is_column_major, c.gap, random);
  const int64_t row_stride = s.n + c.gap, batch_stride = s.m * row_stride;
  std::vector<T> out(s.batch * batch_stride, T(5)), expected = out;
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        int sum = c.add ? 5 : 0;
        for (int64_t k = 0; k < s.k; ++k) sum += (lhs.At(b, i, k) + (flipped_lhs != 0 ? 128 : 0)) * rhs.At(b, k, j);
        expected[b * batch_stride + i * row_stride + j] = static_cast<T>(sum);
      }
    }
  }
  ASSERT_TRUE(RunPackedProduct<T>({s,
                                   lhs.Operand(false, kernels.pack_lhs, flipped_lhs),
                                   rhs.Operand(true, kernels.pack_rhs, 0),
                                   {out.data(), batch_stride, row_stride},
                                   c.add,
                                   kernels,
                                   NeverStopped})
                  .value());
  ASSERT_TRUE(out == expected) << c;
}

template <typename Bits, typename T>
void CheckKernels(const PackedKernels<T>& kernels, uint32_t flipped_lhs) {
  std::mt19937_64 random(1);
  const auto check = [&](const MatrixProductSizes& sizes, int64_t gap) {
    for (int orders = 0; orders < 4; ++orders) {
      CheckCase<Bits>({sizes, (orders & 1) != 0, (orders & 2) != 0, gap, random() % 2 == 0}, kernels, flipped_lhs,
                      random);
      if (testing::Test::HasFatalFailure()) return;
    }
  };
  for (int64_t m : {1, 2, 5, 16, 17, 31, 32, 33, 70}) {
    for (int64_t n : {1, 15, 16, 17, 32, 33, 65}) {
      for (int64_t k : {1, 3, 31, 32, 63, 64, 65, 130}) check({2, m, k, n}, k % 2);
    }
  }
  check({1, 40, 5000, 40}, 0);  // several stretches of k
  check({1, 700, 70, 300}, 1);  // several blocks
  check({40, 20, 30, 40}, 0);   // threads share matrices
}

TEST(PackedMatrixProductTest, Bf16) {
  const PackedKernels<float>* const kernels = FindBf16Kernels();
  if (kernels == nullptr) GTEST_SKIP() << "this processor does not multiply bf16 faster than f32";
  CheckKernels<uint16_t>(*kernels, 0);
}

TEST(PackedMatrixProductTest, Bf16AsFloat) {
  const PackFunction pack = FindPackAsFloat(BF16);
  PackedKernels<float> kernels = FindKernels<float>().packed;
  kernels.pack_lhs = kernels.pack_rhs = pack;
  CheckKernels<uint16_t>(kernels, 0);
}

TEST(PackedMatrixProductTest, Int8) {
  const Int8Kernels kernels = FindInt8Kernels();
  if (kernels.packed == nullptr) GTEST_SKIP() << "this processor does not multiply integers of 8 bits";
  CheckKernels<int8_t>(*kernels.packed, kernels.lhs_is_unsigned ? 0x80808080u : 0);
}

TEST(PackedMatrixProductTest, Int8AsInt16) {
  if (FindInt16Kernels() == nullptr) GTEST_SKIP() << "this processor does not multiply integers of 16 bits";
  PackedKernels<uint32_t> kernels = *FindInt16Kernels();
  kernels.pack_lhs = kernels.pack_rhs = FindPackAsInt16(S8);
  CheckKernels<int8_t>(kernels, 0);
}

}  // namespace
}  // namespace kashi::kernels
