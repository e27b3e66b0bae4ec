// The routines of LAPACK and BLAS that JAX's custom calls need (lapack_call.h), with the calling convention of current
// Fortran compilers: all arguments by address, 32-bit integers, the lengths of character arguments last. Below the
// declarations there is one overloaded function per routine, for float, double and their complex types. It takes
// column-major matrices, and sizes by value.
//
// LAPACK's check of its arguments ends the process, so callers must check sizes and letters first.
#ifndef KASHI_CUSTOM_CALLS_LAPACK_ROUTINES_H_
#define KASHI_CUSTOM_CALLS_LAPACK_ROUTINES_H_

#include <complex>
#include <cstddef>

namespace kashi::custom_calls {
namespace lapack {

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

// `p` is the letter of the type T, `r` that of its real part R; `o` stands for "orthogonal" or "unitary", `s` for
// "symmetric" or "Hermitian". `c` is the transposition for Q^H.
#define KASHI_LAPACK_ROUTINES(p, o, s, T, c)                                                                          \
  extern "C" {                                                                                                        \
  void p##potrf_(const char*, const int*, T*, const int*, int*, size_t);                                              \
  void p##getrf_(const int*, const int*, T*, const int*, int*, int*);                                                 \
  void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                                   \
  void p##o##gqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);                \
  void p##o##mqr_(const char*, const char*, const int*, const int*, const int*, const T*, const int*, const T*, T*,   \
                  const int*, T*, const int*, int*, size_t, size_t);                                                  \
  void p##gehrd_(const int*, const int*, const int*, T*, const int*, T*, T*, const int*, int*);                       \
  void p##gtsv_(const int*, const int*, T*, T*, T*, T*, const int*, int*);                                            \
  void p##trsm_(const char*, const char*, const char*, const char*, const int*, const int*, const T*, const T*,       \
                const int*, T*, const int*, size_t, size_t, size_t, size_t);                                          \
  }                                                                                                                   \
  inline void Potrf(char uplo, int n, T* a, int* info) {                                                              \
    const int lda = n;                                                                                                \
    p##potrf_(&uplo, &n, a, &lda, info, 1);                                                                           \
  }                                                                                                                   \
  inline void Getrf(int m, int n, T* a, int* pivots, int* info) { p##getrf_(&m, &n, a, &m, pivots, info); }           \
  inline void Geqrf(int m, int n, T* a, T* tau, T* work, int lwork, int* info) {                                      \
    p##geqrf_(&m, &n, a, &m, tau, work, &lwork, info);                                                                \
  }                                                                                                                   \
  inline void Orgqr(int m, int n, int k, T* a, const T* tau, T* work, int lwork, int* info) {                         \
    p##o##gqr_(&m, &n, &k, a, &m, tau, work, &lwork, info);                                                           \
  }                                                                                                                   \
  inline void Ormqr(char side, bool transpose, int m, int n, int k, const T* a, int lda, const T* tau, T* b, T* work, \
                    int lwork, int* info) {                                                                           \
    const char trans = transpose ? c : 'N';                                                                           \
    p##o##mqr_(&side, &trans, &m, &n, &k, a, &lda, tau, b, &m, work, &lwork, info, 1, 1);                             \
  }                                                                                                                   \
  inline void Gehrd(int n, int low, int high, T* a, T* tau, T* work, int lwork, int* info) {                          \
    p##gehrd_(&n, &low, &high, a, &n, tau, work, &lwork, info);                                                       \
  }                                                                                                                   \
  inline void Gtsv(int n, int columns, T* lower, T* diagonal, T* upper, T* b, int* info) {                            \
    p##gtsv_(&n, &columns, lower, diagonal, upper, b, &n, info);                                                      \
  }                                                                                                                   \
  inline void Trsm(char side, char uplo, char trans, char diag, int m, int n, T alpha, const T* a, int lda, T* b) {   \
    p##trsm_(&side, &uplo, &trans, &diag, &m, &n, &alpha, a, &lda, b, &m, 1, 1, 1, 1);                                \
  }

KASHI_LAPACK_ROUTINES(s, or, sy, float, 'T')
KASHI_LAPACK_ROUTINES(d, or, sy, double, 'T')
KASHI_LAPACK_ROUTINES(c, un, he, Complex64, 'C')
KASHI_LAPACK_ROUTINES(z, un, he, Complex128, 'C')
#undef KASHI_LAPACK_ROUTINES

// Routines whose complex versions need more memory: `rwork`. The real versions ignore it.
#define KASHI_LAPACK_REAL_ROUTINES(p, T)                                                                               \
  extern "C" {                                                                                                         \
  void p##geqp3_(const int*, const int*, T*, const int*, int*, T*, T*, const int*, int*);                              \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, T*,          \
                 const int*, int*, int*, size_t);                                                                      \
  void p##gesvd_(const char*, const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, \
                 T*, const int*, int*, size_t, size_t);                                                                \
  void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, const int*, int*,     \
                 size_t, size_t);                                                                                      \
  void p##sytrd_(const char*, const int*, T*, const int*, T*, T*, T*, T*, const int*, int*, size_t);                   \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*, const int*, T*,      \
                const int*, int*, size_t, size_t);                                                                     \
  void p##gees_(const char*, const char*, void*, const int*, T*, const int*, int*, T*, T*, T*, const int*, T*,         \
                const int*, int*, int*, size_t, size_t);                                                               \
  }                                                                                                                    \
  inline void Geqp3(int m, int n, T* a, int* jpvt, T* tau, T* work, int lwork, T*, int* info) {                        \
    p##geqp3_(&m, &n, a, &m, jpvt, tau, work, &lwork, info);                                                           \
  }                                                                                                                    \
  inline void Gesdd(char job, int m, int n, T* a, T* s, T* u, T* vt, int ldvt, T* work, int lwork, T*, int* iwork,     \
                    int* info) {                                                                                       \
    p##gesdd_(&job, &m, &n, a, &m, s, u, &m, vt, &ldvt, work, &lwork, iwork, info, 1);                                 \
  }                                                                                                                    \
  inline void Gesvd(char job, int m, int n, T* a, T* s, T* u, T* vt, int ldvt, T* work, int lwork, T*, int* info) {    \
    p##gesvd_(&job, &job, &m, &n, a, &m, s, u, &m, vt, &ldvt, work, &lwork, info, 1, 1);                               \
  }                                                                                                                    \
  inline void Syevd(char job, char uplo, int n, T* a, T* w, T* work, int lwork, T*, int, int* iwork, int liwork,       \
                    int* info) {                                                                                       \
    p##syevd_(&job, &uplo, &n, a, &n, w, work, &lwork, iwork, &liwork, info, 1, 1);                                    \
  }                                                                                                                    \
  inline void Sytrd(char uplo, int n, T* a, T* d, T* e, T* tau, T* work, int lwork, int* info) {                       \
    p##sytrd_(&uplo, &n, a, &n, d, e, tau, work, &lwork, info, 1);                                                     \
  }                                                                                                                    \
  inline void Geev(char left, char right, int n, T* a, T* w_real, T* w_imaginary, T* vl, T* vr, T* work, int lwork,    \
                   int* info) {                                                                                        \
    p##geev_(&left, &right, &n, a, &n, w_real, w_imaginary, vl, &n, vr, &n, work, &lwork, info, 1, 1);                 \
  }                                                                                                                    \
  inline void Gees(char job, int n, T* a, int* sdim, T* w_real, T* w_imaginary, T* vs, T* work, int lwork,             \
                   int* info) {                                                                                        \
    const char sort = 'N';                                                                                             \
    p##gees_(&job, &sort, nullptr, &n, a, &n, sdim, w_real, w_imaginary, vs, &n, work, &lwork, nullptr, info, 1, 1);   \
  }

KASHI_LAPACK_REAL_ROUTINES(s, float)
KASHI_LAPACK_REAL_ROUTINES(d, double)
#undef KASHI_LAPACK_REAL_ROUTINES

#define KASHI_LAPACK_COMPLEX_ROUTINES(p, T, R)                                                                         \
  extern "C" {                                                                                                         \
  void p##geqp3_(const int*, const int*, T*, const int*, int*, T*, T*, const int*, R*, int*);                          \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*, const int*, T*,          \
                 const int*, R*, int*, int*, size_t);                                                                  \
  void p##gesvd_(const char*, const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*, const int*, \
                 T*, const int*, R*, int*, size_t, size_t);                                                            \
  void p##heevd_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*, const int*, int*,       \
                 const int*, int*, size_t, size_t);                                                                    \
  void p##hetrd_(const char*, const int*, T*, const int*, R*, R*, T*, T*, const int*, int*, size_t);                   \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, T*,          \
                const int*, R*, int*, size_t, size_t);                                                                 \
  void p##gees_(const char*, const char*, void*, const int*, T*, const int*, int*, T*, T*, const int*, T*, const int*, \
                R*, int*, int*, size_t, size_t);                                                                       \
  }                                                                                                                    \
  inline void Geqp3(int m, int n, T* a, int* jpvt, T* tau, T* work, int lwork, R* rwork, int* info) {                  \
    p##geqp3_(&m, &n, a, &m, jpvt, tau, work, &lwork, rwork, info);                                                    \
  }                                                                                                                    \
  inline void Gesdd(char job, int m, int n, T* a, R* s, T* u, T* vt, int ldvt, T* work, int lwork, R* rwork,           \
                    int* iwork, int* info) {                                                                           \
    p##gesdd_(&job, &m, &n, a, &m, s, u, &m, vt, &ldvt, work, &lwork, rwork, iwork, info, 1);                          \
  }                                                                                                                    \
  inline void Gesvd(char job, int m, int n, T* a, R* s, T* u, T* vt, int ldvt, T* work, int lwork, R* rwork,           \
                    int* info) {                                                                                       \
    p##gesvd_(&job, &job, &m, &n, a, &m, s, u, &m, vt, &ldvt, work, &lwork, rwork, info, 1, 1);                        \
  }                                                                                                                    \
  inline void Syevd(char job, char uplo, int n, T* a, R* w, T* work, int lwork, R* rwork, int lrwork, int* iwork,      \
                    int liwork, int* info) {                                                                           \
    p##heevd_(&job, &uplo, &n, a, &n, w, work, &lwork, rwork, &lrwork, iwork, &liwork, info, 1, 1);                    \
  }                                                                                                                    \
  inline void Sytrd(char uplo, int n, T* a, R* d, R* e, T* tau, T* work, int lwork, int* info) {                       \
    p##hetrd_(&uplo, &n, a, &n, d, e, tau, work, &lwork, info, 1);                                                     \
  }                                                                                                                    \
  inline void Geev(char left, char right, int n, T* a, T* w, T* vl, T* vr, T* work, int lwork, R* rwork, int* info) {  \
    p##geev_(&left, &right, &n, a, &n, w, vl, &n, vr, &n, work, &lwork, rwork, info, 1, 1);                            \
  }                                                                                                                    \
  inline void Gees(char job, int n, T* a, int* sdim, T* w, T* vs, T* work, int lwork, R* rwork, int* info) {           \
    const char sort = 'N';                                                                                             \
    p##gees_(&job, &sort, nullptr, &n, a, &n, sdim, w, vs, &n, work, &lwork, rwork, nullptr, info, 1, 1);              \
  }

KASHI_LAPACK_COMPLEX_ROUTINES(c, Complex64, float)
KASHI_LAPACK_COMPLEX_ROUTINES(z, Complex128, double)
#undef KASHI_LAPACK_COMPLEX_ROUTINES

}  // namespace lapack
}  // namespace kashi::custom_calls

#endif  // KASHI_CUSTOM_CALLS_LAPACK_ROUTINES_H_
