// The names of LAPACK's routines are beside the functions that take their steps. Matrices of this file are stored by
// columns, as LAPACK's are.
#include "kashi/kernels/small_eigen.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "kashi/array/types.h"
#include "kashi/kernels/matrix_kernels.h"

namespace kashi::kernels {
namespace {

constexpr int64_t kMost = kMostEigenRows;

// LAPACK's constants of machine numbers: lamch('S'), and lamch('E'), which is half of the last bit of 1.
template <typename R>
constexpr R kLeast = std::numeric_limits<R>::min();
template <typename R>
constexpr R kRounding = std::numeric_limits<R>::epsilon() / 2;

// ---- Lengths -------------------------------------------------------------------------------------------------------

// lapy2
template <typename R>
R Hypotenuse(R x, R y) {
  const R larger = std::max(std::abs(x), std::abs(y)), smaller = std::min(std::abs(x), std::abs(y));
  if (smaller == R(0)) return larger;
  const R ratio = smaller / larger;
  return larger * std::sqrt(R(1) + ratio * ratio);
}

// lapy3, without the case of numbers that are not finite
template <typename R>
R Hypotenuse(R x, R y, R z) {
  const R largest = std::max({std::abs(x), std::abs(y), std::abs(z)});
  if (largest == R(0)) return R(0);
  const auto square = [=](R w) { return (w / largest) * (w / largest); };
  return largest * std::sqrt(square(x) + square(y) + square(z));
}

// Factors between which squares neither overflow nor lose digits, and by which others are multiplied.
template <typename R>
struct SquareRange;
template <>
struct SquareRange<float> {
  static constexpr float kSmall = 0x1p-63f, kBig = 0x1p52f, kFromSmall = 0x1p75f, kFromBig = 0x1p-76f;
};
template <>
struct SquareRange<double> {
  static constexpr double kSmall = 0x1p-511, kBig = 0x1p486, kFromSmall = 0x1p537, kFromBig = 0x1p-538;
};

// nrm2: Blue's algorithm, of three sums.
template <typename R>
R Length(const R* x, int64_t n) {
  using Range = SquareRange<R>;
  R small = 0, middle = 0, big = 0;
  for (int64_t i = 0; i < n; ++i) {
    const R size = std::abs(x[i]);
    if (size > Range::kBig) {
      big += (size * Range::kFromBig) * (size * Range::kFromBig);
    } else if (size < Range::kSmall) {
      if (big == R(0)) small += (size * Range::kFromSmall) * (size * Range::kFromSmall);
    } else {
      middle += size * size;
    }
  }
  if (big > R(0)) {
    if (middle > R(0)) big += (middle * Range::kFromBig) * Range::kFromBig;
    return (R(1) / Range::kFromBig) * std::sqrt(big);
  }
  if (!(small > R(0))) return std::sqrt(middle);
  if (!(middle > R(0))) return (R(1) / Range::kFromSmall) * std::sqrt(small);
  const R a = std::sqrt(middle), b = std::sqrt(small) / Range::kFromSmall;
  const R larger = std::max(a, b), ratio = std::min(a, b) / larger;
  return std::sqrt((larger * larger) * (R(1) + ratio * ratio));
}

// ---- Householder vectors -------------------------------------------------------------------------------------------

template <typename T>
T Dot(const T* x, const T* y, int64_t n) {  // dotc
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += Conjugate(x[i]) * y[i];
  return sum;
}

// The length of (*alpha, x).
template <typename T>
RealOf<T> LengthWith(T alpha, RealOf<T> length) {
  if constexpr (is_complex_v<T>) {
    return Hypotenuse(alpha.real(), alpha.imag(), length);
  } else {
    return Hypotenuse(alpha, length);
  }
}

template <typename T>
T Inverse(T x) {  // ladiv
  if constexpr (is_complex_v<T>) {
    const RealOf<T> a = x.real(), b = x.imag();
    const bool is_real = std::abs(b) <= std::abs(a);  // more or less
    const RealOf<T> ratio = is_real ? b / a : a / b, part = RealOf<T>(1) / (is_real ? a + b * ratio : b + a * ratio);
    return is_real ? T(part, -ratio * part) : T(ratio * part, -part);
  } else {
    return T(1) / x;
  }
}

// Makes H = 1 - tau v v^H with v = (1, x[count]), so that H^H (alpha, x) = (beta, 0). alpha becomes beta, which is
// real, and x that of v. Gives tau (larfg).
template <typename T>
T MakeReflector(T* alpha, T* x, int64_t count) {
  using R = RealOf<T>;
  constexpr R kTiny = kLeast<R> / kRounding<R>;
  constexpr int64_t kParts = is_complex_v<T> ? 2 : 1;
  const auto length = [&] { return Length(reinterpret_cast<const R*>(x), kParts * count); };
  R rest = length();
  if (rest == R(0) && std::imag(*alpha) == R(0)) return T(0);
  R beta = -std::copysign(LengthWith(*alpha, rest), std::real(*alpha));
  int scalings = 0;
  if (std::abs(beta) < kTiny) {  // beta, and the quotients below, may be inexact
    for (; scalings < 20 && std::abs(beta) < kTiny; ++scalings) {
      for (int64_t i = 0; i < count; ++i) x[i] *= R(1) / kTiny;
      beta *= R(1) / kTiny;
      *alpha *= R(1) / kTiny;
    }
    rest = length();
    beta = -std::copysign(LengthWith(*alpha, rest), std::real(*alpha));
  }
  const T tau = (beta - *alpha) / beta, scale = Inverse(*alpha - beta);
  for (int64_t i = 0; i < count; ++i) x[i] *= scale;
  for (; scalings > 0; --scalings) beta *= kTiny;
  *alpha = beta;
  return tau;
}

// ---- Reduction to a tridiagonal matrix -----------------------------------------------------------------------------

// A Hermitian matrix of which `a` has one triangle.
template <typename T>
struct Triangle {
  T* a;
  int64_t n, stride;
  bool is_lower;

  T* column(int64_t j) const { return a + j * stride; }
  // The rows of column j beside the diagonal.
  int64_t begin(int64_t j) const { return is_lower ? j + 1 : 0; }
  int64_t end(int64_t j) const { return is_lower ? n : j; }
};

// y = alpha a x (symv, hemv)
template <typename T>
void Multiply(const Triangle<T>& a, T alpha, const T* x, T* y) {
  std::fill_n(y, a.n, T(0));
  for (int64_t j = 0; j < a.n; ++j) {
    const T* const column = a.column(j);
    const T factor = alpha * x[j];
    T sum = 0;
    if (a.is_lower) y[j] += factor * column[j];
    for (int64_t i = a.begin(j); i < a.end(j); ++i) {
      y[i] += factor * column[i];
      sum += Conjugate(column[i]) * x[i];
    }
    y[j] = a.is_lower ? y[j] + alpha * sum : y[j] + factor * column[j] + alpha * sum;
  }
}

// a -= x y^H + y x^H (syr2, her2)
template <typename T>
void SubtractProducts(const Triangle<T>& a, const T* x, const T* y) {
  for (int64_t j = 0; j < a.n; ++j) {
    if (x[j] == T(0) && y[j] == T(0)) continue;
    T* const column = a.column(j);
    const T of_x = -Conjugate(y[j]), of_y = -Conjugate(x[j]);
    if constexpr (is_complex_v<T>) {
      column[j] = std::real(column[j]) + std::real(x[j] * of_x + y[j] * of_y);
    } else {
      column[j] = column[j] + x[j] * of_x + y[j] * of_y;
    }
    for (int64_t i = a.begin(j); i < a.end(j); ++i) column[i] = column[i] + x[i] * of_x + y[i] * of_y;
  }
}

// Q^H A Q is tridiagonal, with `diagonal` and `beside`, and Q a product of H = 1 - tau v v^H, which take the triangle's
// place: vector i has `count(i)` numbers at `vector(i)`.
template <typename T>
struct Tridiagonal {
  Triangle<T> a;
  RealOf<T> diagonal[kMost], beside[kMost];
  T tau[kMost];

  int64_t count(int64_t i) const { return a.is_lower ? a.n - 1 - i : i + 1; }
  T* vector(int64_t i) const { return a.is_lower ? a.column(i) + i + 1 : a.column(i + 1); }
  int64_t first_row(int64_t i) const { return a.is_lower ? i + 1 : 0; }
};

// sytd2, hetd2
template <typename T>
void Reduce(Tridiagonal<T>* t) {
  const Triangle<T>& a = t->a;
  for (int64_t step = 0; step + 1 < a.n; ++step) {
    const int64_t i = a.is_lower ? step : a.n - 2 - step, count = t->count(i), first = t->first_row(i);
    T* const v = t->vector(i);
    T* const top = a.is_lower ? v : v + count - 1;  // becomes the element beside the diagonal
    t->tau[i] = MakeReflector(top, a.is_lower ? v + 1 : v, count - 1);
    t->beside[i] = std::real(*top);
    if (t->tau[i] == T(0)) continue;
    *top = T(1);
    const Triangle<T> rest = {a.column(first) + first, count, a.stride, a.is_lower};
    T w[kMost];
    Multiply(rest, t->tau[i], v, w);
    const T half = -(T(0.5) * t->tau[i] * Dot(w, v, count));
    for (int64_t k = 0; k < count; ++k) w[k] += half * v[k];
    SubtractProducts(rest, v, w);
  }
  for (int64_t i = 0; i < a.n; ++i) t->diagonal[i] = std::real(a.column(i)[i]);
}

// z[n,n], which is row-major, becomes Q z (orm2l, orm2r; unm2l, unm2r). Vectors of the processor are parts of rows
// here, which changes no sum.
template <typename T>
void MultiplyByQ(const Tridiagonal<T>& t, T* z) {
  const int64_t n = t.a.n;
  for (int64_t step = 0; step + 1 < n; ++step) {
    const int64_t i = t.a.is_lower ? n - 2 - step : step, count = t.count(i);
    if (t.tau[i] == T(0)) continue;
    const T* const v = t.vector(i);
    T* const rows = z + t.first_row(i) * n;
    T sums[kMost] = {};
    for (int64_t k = 0; k < count; ++k) {
      const T factor = Conjugate(v[k]);
      for (int64_t j = 0; j < n; ++j) sums[j] += factor * rows[k * n + j];
    }
    for (int64_t j = 0; j < n; ++j) sums[j] *= -t.tau[i];
    for (int64_t k = 0; k < count; ++k) {
      for (int64_t j = 0; j < n; ++j) rows[k * n + j] += v[k] * sums[j];
    }
  }
}

// ---- Iterations on the tridiagonal matrix --------------------------------------------------------------------------

template <typename R>
struct Rotation {
  R c, s;
};

// c x + s y = r and c y = s x (lartg)
template <typename R>
Rotation<R> MakeRotation(R x, R y, R* r) {
  const R least = std::sqrt(kLeast<R>), most = std::sqrt(R(1) / kLeast<R> / 2);
  const R size_x = std::abs(x), size_y = std::abs(y);
  if (y == R(0)) {
    *r = x;
    return {R(1), R(0)};
  }
  if (x == R(0)) {
    *r = size_y;
    return {R(0), std::copysign(R(1), y)};
  }
  if (size_x > least && size_x < most && size_y > least && size_y < most) {
    const R length = std::sqrt(x * x + y * y);
    *r = std::copysign(length, x);
    return {size_x / length, y / *r};
  }
  const R unit = std::min(R(1) / kLeast<R>, std::max({kLeast<R>, size_x, size_y}));
  const R scaled_x = x / unit, scaled_y = y / unit, length = std::sqrt(scaled_x * scaled_x + scaled_y * scaled_y);
  const R signed_length = std::copysign(length, x);
  *r = signed_length * unit;
  return {std::abs(scaled_x) / length, scaled_y / signed_length};
}

// The eigenvalue of ((a, b), (b, c)) with the larger magnitude, the other one, and the unit vector (c, s) of the first
// (laev2).
template <typename R>
Rotation<R> SolveTwo(R a, R b, R c, R* first, R* second) {
  const R sum = a + c, difference = a - c, gap = std::abs(difference), twice = b + b, beside = std::abs(twice);
  const R larger = std::abs(a) > std::abs(c) ? a : c, smaller = std::abs(a) > std::abs(c) ? c : a;
  R root = beside * std::sqrt(R(2));
  if (gap > beside) root = gap * std::sqrt(R(1) + (beside / gap) * (beside / gap));
  if (gap < beside) root = beside * std::sqrt(R(1) + (gap / beside) * (gap / beside));
  *first = R(0.5) * (sum < R(0) ? sum - root : sum > R(0) ? sum + root : root);
  *second = sum == R(0) ? R(-0.5) * root : (larger / *first) * smaller - (b / *first) * b;
  const R cosine = difference >= R(0) ? difference + root : difference - root;
  Rotation<R> vector = {R(1), R(0)};
  if (std::abs(cosine) > beside) {
    const R cotangent = -twice / cosine;
    vector.s = R(1) / std::sqrt(R(1) + cotangent * cotangent);
    vector.c = cotangent * vector.s;
  } else if (beside != R(0)) {
    const R tangent = -cosine / twice;
    vector.c = R(1) / std::sqrt(R(1) + tangent * tangent);
    vector.s = tangent * vector.c;
  }
  return (sum < R(0)) == (difference < R(0)) ? Rotation<R>{-vector.s, vector.c} : vector;
}

// x *= to / from, in steps that neither overflow nor underflow (lascl).
template <typename R>
void Rescale(R from, R to, R* x, int64_t n) {
  for (bool is_last = false; !is_last;) {
    const R smaller_from = from * kLeast<R>, smaller_to = to * kLeast<R>;
    R factor = to / from;
    is_last = true;
    if (smaller_from == from) {  // infinite
      factor = to / from;
    } else if (smaller_to == to) {  // 0 or infinite
      factor = to;
    } else if (std::abs(smaller_from) > std::abs(to)) {
      factor = kLeast<R>;
      from = smaller_from;
      is_last = false;
    } else if (std::abs(smaller_to) > std::abs(from)) {
      factor = R(1) / kLeast<R>;
      to = smaller_to;
      is_last = false;
    }
    for (int64_t i = 0; i < n; ++i) x[i] *= factor;
  }
}

// steqr with compz = 'I': makes d[n] the eigenvalues of the tridiagonal matrix of d and e[n - 1], and z[n,n] its
// vectors. LAPACK chooses the scale by the largest element for real matrices, by the largest sum of a row for complex
// ones.
template <typename R>
class TridiagonalSolver {
 public:
  TridiagonalSolver(bool scales_by_rows, int64_t n, R* d, R* e, R* z)
      : scales_by_rows_(scales_by_rows), n_(n), left_(30 * n), d_(d), e_(e), z_(z) {}

  // Gives LAPACK's info.
  int32_t Solve() {
    std::fill_n(z_, n_ * n_, R(0));
    for (int64_t i = 0; i < n_; ++i) z_[i * n_ + i] = R(1);
    for (int64_t first = 0; first < n_;) {
      const int64_t last = EndOfBlock(first);
      if (last > first) SolveBlock(first, last);
      if (left_ == 0) return static_cast<int32_t>(std::count_if(e_, e_ + n_ - 1, [](R x) { return x != R(0); }));
      first = last + 1;
      if (first < n_) e_[last] = R(0);
    }
    Sort();
    return 0;
  }

 private:
  // The last row of the block, beside which the element counts as 0.
  int64_t EndOfBlock(int64_t first) {
    for (int64_t i = first; i + 1 < n_; ++i) {
      if (e_[i] == R(0)) return i;
      if (std::abs(e_[i]) <= std::sqrt(std::abs(d_[i])) * std::sqrt(std::abs(d_[i + 1])) * kRounding<R>) {
        e_[i] = R(0);
        return i;
      }
    }
    return n_ - 1;
  }

  // In a scale in which squares neither overflow nor lose digits.
  void SolveBlock(int64_t first, int64_t last) {
    const R most = std::sqrt(R(1) / kLeast<R>) / R(3);
    const R least = std::sqrt(kLeast<R>) / (kRounding<R> * kRounding<R>);
    const R largest = Norm(first, last);
    if (largest == R(0)) return;
    const R scale = std::clamp(largest, least, most);
    const auto rescale = [&](R from, R to) {
      if (from == to) return;
      Rescale(from, to, d_ + first, last - first + 1);
      Rescale(from, to, e_ + first, last - first);
    };
    rescale(largest, scale);
    // Towards the end whose diagonal element is smaller: QL from the first row, QR from the last one.
    std::abs(d_[last]) < std::abs(d_[first]) ? Iterate(last, first, -1) : Iterate(first, last, 1);
    rescale(scale, largest);
  }

  R Norm(int64_t first, int64_t last) const {  // lanst
    R largest = 0;
    for (int64_t i = first; i <= last; ++i) {
      const R before = i > first ? std::abs(e_[i - 1]) : R(0), after = i < last ? std::abs(e_[i]) : R(0);
      const R here = std::abs(d_[i]);
      largest = scales_by_rows_ ? std::max(largest, here + after + before) : std::max({largest, here, after});
    }
    return largest;
  }

  // The element between rows i and i + step.
  R& Beside(int64_t i, int64_t step) { return e_[step > 0 ? i : i - 1]; }

  // Finds the eigenvalues of rows l … end, one after the other.
  void Iterate(int64_t l, int64_t end, int64_t step) {
    while (step * (end - l) >= 0) {
      int64_t m = l;
      while (m != end && !IsNegligible(m, step)) m += step;
      if (m != end) Beside(m, step) = R(0);
      if (m == l) {
        l += step;
      } else if (m == l + step) {
        const int64_t low = std::min(l, m);
        const Rotation<R> rotation = SolveTwo(d_[low], e_[low], d_[low + 1], &d_[low], &d_[low + 1]);
        Rotate(low, rotation);
        e_[low] = R(0);
        l += 2 * step;
      } else {
        if (left_ == 0) return;
        --left_;
        Sweep(l, m, step);
      }
    }
  }

  bool IsNegligible(int64_t i, int64_t step) {
    constexpr R kSquare = kRounding<R> * kRounding<R>;
    const R beside = Beside(i, step);
    return beside * beside <= (kSquare * std::abs(d_[i])) * std::abs(d_[i + step]) + kLeast<R>;
  }

  // An implicit QL or QR step on rows l … m, with a shift near the eigenvalue at l.
  void Sweep(int64_t l, int64_t m, int64_t step) {
    R p = d_[l], g = (d_[l + step] - p) / (R(2) * Beside(l, step));
    g = d_[m] - p + (Beside(l, step) / (g + std::copysign(Hypotenuse(g, R(1)), g)));
    R r = 0;
    Rotation<R> rotation = {R(1), R(1)};
    p = R(0);
    for (int64_t k = m; k != l; k -= step) {
      const int64_t other = k - step;
      const R f = rotation.s * Beside(other, step), b = rotation.c * Beside(other, step);
      rotation = MakeRotation(g, f, &r);
      if (k != m) Beside(k, step) = r;
      g = d_[k] - p;
      r = (d_[other] - g) * rotation.s + R(2) * rotation.c * b;
      p = rotation.s * r;
      d_[k] = g + p;
      g = rotation.c * r - b;
      Rotate(std::min(k, other), {rotation.c, step > 0 ? -rotation.s : rotation.s});
    }
    d_[l] -= p;
    Beside(l, step) = g;
  }

  // Columns j and j + 1 of z (lasr).
  void Rotate(int64_t j, Rotation<R> rotation) {
    if (rotation.c == R(1) && rotation.s == R(0)) return;
    R *const x = z_ + j * n_, *const y = x + n_;
    for (int64_t i = 0; i < n_; ++i) {
      const R right = y[i], left = x[i];
      y[i] = rotation.c * right - rotation.s * left;
      x[i] = rotation.s * right + rotation.c * left;
    }
  }

  // By selection, as LAPACK, which decides the order of equal values.
  void Sort() {
    for (int64_t i = 0; i + 1 < n_; ++i) {
      const int64_t least = std::min_element(d_ + i, d_ + n_) - d_;
      if (least == i) continue;
      std::swap(d_[i], d_[least]);
      std::swap_ranges(z_ + i * n_, z_ + (i + 1) * n_, z_ + least * n_);
    }
  }

  bool scales_by_rows_;
  int64_t n_, left_;  // iterations
  R *d_, *e_, *z_;
};

// ---- The whole -----------------------------------------------------------------------------------------------------

template <typename T>
bool IsFinite(T x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}

// The triangle by columns, with a real diagonal, and its largest magnitude.
template <typename T>
RealOf<T> CopyTriangle(const T* from, const Triangle<T>& to) {
  RealOf<T> largest = 0;
  for (int64_t j = 0; j < to.n; ++j) {
    T* const column = to.column(j);
    column[j] = std::real(from[j * to.n + j]);
    largest = std::max(largest, std::abs(column[j]));
    for (int64_t i = to.begin(j); i < to.end(j); ++i) {
      column[i] = from[i * to.n + j];
      largest = std::max(largest, std::abs(column[i]));
    }
  }
  return largest;
}

// The factor with which squares of the matrix neither overflow nor lose digits.
template <typename R>
R ScaleOf(R largest) {
  const R small = kLeast<R> / std::numeric_limits<R>::epsilon();
  const R least = std::sqrt(small), most = std::sqrt(R(1) / small);
  if (largest > R(0) && largest < least) return least / largest;
  return largest > most ? most / largest : R(1);
}

template <typename T>
int32_t Factor(const T* a, bool is_lower, int64_t n, T* vectors, RealOf<T>* values) {
  using R = RealOf<T>;
  if (n == 1) {
    values[0] = std::real(a[0]);
    vectors[0] = T(1);
    return 0;
  }
  T elements[kMost * kMost];
  Tridiagonal<T> t;
  t.a = {elements, n, n, is_lower};
  const R scale = ScaleOf(CopyTriangle(a, t.a));
  if (scale != R(1)) {
    for (int64_t j = 0; j < n; ++j) {
      t.a.column(j)[j] *= scale;
      for (int64_t i = t.a.begin(j); i < t.a.end(j); ++i) t.a.column(j)[i] *= scale;
    }
  }
  Reduce(&t);
  R real_vectors[kMost * kMost];
  const int32_t info = TridiagonalSolver<R>(is_complex_v<T>, n, t.diagonal, t.beside, real_vectors).Solve();
  for (int64_t i = 0; i < n; ++i) {
    values[i] = t.diagonal[i] * (R(1) / scale);
    for (int64_t j = 0; j < n; ++j) vectors[i * n + j] = real_vectors[j * n + i];
  }
  MultiplyByQ(t, vectors);
  return info;
}

}  // namespace

template <typename T>
int32_t FactorSmallEigen(const T* a, bool is_lower, int64_t n, T* vectors, RealOf<T>* values) {
  if (std::all_of(a, a + n * n, IsFinite<T>)) return Factor(a, is_lower, n, vectors, values);
  constexpr RealOf<T> kNaN = std::numeric_limits<RealOf<T>>::quiet_NaN();
  std::fill_n(values, n, kNaN);
  if constexpr (is_complex_v<T>) {
    std::fill_n(vectors, n * n, T(kNaN, kNaN));
  } else {
    std::fill_n(vectors, n * n, kNaN);
  }
  return kNotFiniteInfo;
}

#define KASHI_SMALL_EIGEN_OF(T) \
  template int32_t FactorSmallEigen(const T* a, bool is_lower, int64_t n, T* vectors, RealOf<T>* values);
KASHI_SMALL_EIGEN_OF(float)
KASHI_SMALL_EIGEN_OF(double)
KASHI_SMALL_EIGEN_OF(complex64)
KASHI_SMALL_EIGEN_OF(complex128)
#undef KASHI_SMALL_EIGEN_OF

}  // namespace kashi::kernels
