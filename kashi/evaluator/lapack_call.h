// The custom calls that JAX's CPU lowering makes for linear algebra, one for each LAPACK routine and type:
//
//   (f32[2,3,3]{1,2,0}, s32[2]{0}) custom-call(f32[2,3,3]{1,2,0} %a), custom_call_target="lapack_spotrf_ffi",
//     api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}
//
// Until 2024 the numbers that are attributes now were operands in front of the arrays, and workspaces were results:
//
//   (f32[2,3,3]{1,2,0}, s32[2]{0}) custom-call(s32[] %lower, s32[] %batch, s32[] %n, f32[2,3,3]{1,2,0} %a),
//     custom_call_target="lapack_spotrf"
//
// They run the LAPACK that Kashi was built with (CMake's KASHI_LAPACK). Its results are those of JAX up to rounding
// and, where a factorization is not unique, up to LAPACK's version: JAX brings its own. As there, `info` is an
// output, and what a matrix was given that has no factorization is for the program to find out.
//
// LapackCall is a call as such a handler sees it: sizes as the shapes say, bytes as the layouts say, whatever those
// are.
#ifndef KASHI_EVALUATOR_LAPACK_CALL_H_
#define KASHI_EVALUATOR_LAPACK_CALL_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/value.h"

namespace kashi::internal {

// Whether this build has LAPACK.
bool HasLapack();

// Whether the target is one of those that JAX makes for LAPACK.
bool IsLapackCall(absl::string_view target);

// Pre: IsLapackCall of its target. UNIMPLEMENTED, saying what is missing, without LAPACK and for shapes or attributes
// that JAX does not write; RESOURCE_EXHAUSTED for matrices that LAPACK's integers of 32 bits cannot count, and for
// workspace beyond the memory limit. May be cancelled between the matrices of a batch.
absl::StatusOr<Value> EvaluateLapackCall(Operation& op);

// The integers and booleans of an attribute dictionary of MLIR: {uplo = 76 : ui8, left = true}. Values of other kinds
// are left out. INVALID_ARGUMENT for what is no dictionary.
absl::StatusOr<absl::flat_hash_map<std::string, int64_t>> ParseFfiAttributes(absl::string_view dictionary);

// Where the arrays of a signature lie among the operands and results of a call, if not one behind the other.
struct LapackConvention {
  // The scalars in front of the arrays, a word each. "=n" is the size n, "=b" the number of matrices; "low" becomes an
  // attribute of that name; "uplo:UL" becomes attribute uplo = 'U' where the scalar is 0, 'L' where it is 1 ('.':
  // leaves it as it was); "uplo:" is the letter itself; "-" is not looked at.
  absl::string_view parameters;
  absl::string_view operands;  // a digit for each operand of the signature: its place; "": behind the scalars, in order
  absl::string_view results;   // likewise; "": in order
  int result_count = 0;        // with workspaces, which are zeros here; 0: as many as the signature has
  absl::string_view attributes = "";  // those that are always the same, as in backend_config
};

class LapackCall {
 public:
  // Arrays of the call, without their batch dimensions: "T[m,n] -> T[m,n] i[k] i[]". Types: T that of the routine, R
  // its real and C its complex counterpart, i S32. Equal letters are equal sizes; k = min(m, n), t = max(n - 1, 0).
  // "T()" is a scalar without batch dimensions; "?" follows a last operand that may be missing.
  static absl::StatusOr<LapackCall> Make(Operation& op, absl::string_view signature, PrimitiveType type,
                                         const LapackConvention& convention = {});

  int64_t batch() const { return batch_; }
  // Of the dimension with that letter. All sizes and matrices can be counted in 32 bits.
  int size(char letter) const { return sizes_[letter - 'a']; }
  bool has_empty_matrix() const { return operands_[0].stride == 0; }

  // One of `letters`, as JAX writes characters (uplo = 76 : ui8); UNIMPLEMENTED without it, or for others.
  absl::StatusOr<char> Letter(absl::string_view name, absl::string_view letters) const;
  absl::StatusOr<int64_t> Integer(absl::string_view name) const;

  // The array of that matrix of the batch. Results are zeros until they are written.
  template <typename T>
  const T* Operand(int i, int64_t matrix) const {
    return operands_[i].value.data<T>().data() + matrix * operands_[i].stride;
  }
  template <typename T>
  T* Result(int i, int64_t matrix) {
    return results_[i].value.mutable_data<T>().data() + matrix * results_[i].stride;
  }
  // Result i begins as operand i.
  template <typename T>
  T* ResultFromOperand(int result, int operand, int64_t matrix) {
    const T* const from = Operand<T>(operand, matrix);
    return std::copy_n(from, operands_[operand].stride, Result<T>(result, matrix)) - operands_[operand].stride;
  }
  int64_t operand_elements(int i) const { return operands_[i].stride; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  int result_count() const { return static_cast<int>(results_.size()); }
  // Every element of the results of that matrix that are not integers.
  void FillWithNaN(int64_t matrix);

  // Memory for a routine. RESOURCE_EXHAUSTED beyond the memory limit, or if LAPACK cannot count it.
  absl::StatusOr<Value> Workspace(PrimitiveType type, int64_t elements) const;
  absl::Status CheckStopped() const { return op_.run.CheckStopped(); }
  // What is refused, and why.
  absl::Status Refuse(absl::string_view why) const;

  // The results in the shapes of the instruction. Leaves nothing behind.
  absl::StatusOr<Value> TakeResults();

 private:
  // Elements in the order of the layout; `stride` of them a matrix (or vector, or scalar) of the batch.
  struct Buffer {
    Value value;
    int64_t stride;
    int64_t place;  // among the operands or results of the instruction
  };
  LapackCall(Operation& op, const LapackConvention& convention) : op_(op), convention_(convention) {}
  absl::Status ReadParameters();
  absl::Status ReadParameter(absl::string_view word, int64_t number);
  absl::Status CheckParameters() const;
  int64_t OperandPlace(size_t i) const;
  int64_t ResultPlace(size_t i) const;
  absl::Status Bind(absl::string_view signature, PrimitiveType type);
  absl::Status BindArray(absl::string_view array, const Shape& shape, PrimitiveType type, int64_t* stride);
  absl::Status BindSizes(absl::string_view letters, absl::Span<const int64_t> dimensions);
  absl::Status MakeOperand(int64_t place, int64_t stride);
  absl::Status MakeResult(int64_t place, int64_t stride);
  absl::StatusOr<Value> MakeWorkspaceResult(int64_t place) const;

  Operation& op_;
  LapackConvention convention_;
  int64_t parameter_count_ = 0;
  std::vector<std::pair<char, int64_t>> expected_sizes_;  // what the scalars say of them
  std::string signature_;
  absl::flat_hash_map<std::string, int64_t> attributes_;
  std::vector<Buffer> operands_, results_;
  std::vector<int64_t> batch_dimensions_;
  bool has_batch_ = false;
  int64_t batch_ = 1;
  std::array<int, 26> sizes_;
};

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_LAPACK_CALL_H_
