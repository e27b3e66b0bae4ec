// The custom calls that JAX's CPU lowering makes for linear algebra, one for each LAPACK routine and type:
//
//   (f32[2,3,3]{1,2,0}, s32[2]{0}) custom-call(f32[2,3,3]{1,2,0} %a), custom_call_target="lapack_spotrf_ffi",
//     api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}
//
// Until 2024 the attributes were scalar operands before the arrays, and workspaces were results:
//
//   (f32[2,3,3]{1,2,0}, s32[2]{0}) custom-call(s32[] %lower, s32[] %batch, s32[] %n, f32[2,3,3]{1,2,0} %a),
//     custom_call_target="lapack_spotrf"
//
// They run the LAPACK that Kashi was built with (CMake's KASHI_LAPACK). Results may differ from JAX's by rounding and,
// if a factorization is not unique, by the version of LAPACK: JAX brings its own. As in JAX, `info` is an output: the
// program must check whether a matrix has a factorization.
//
// LapackBinding is what the instruction of a call says, and is made once for all runs. LapackCall is the view of one
// call for its handler: the bytes in the order of the layouts.
#ifndef KASHI_CUSTOM_CALLS_LAPACK_CALL_H_
#define KASHI_CUSTOM_CALLS_LAPACK_CALL_H_

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
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/kernels/physical_order.h"
#include "kashi/values/basic_operation.h"
#include "kashi/values/value.h"

namespace kashi::custom_calls {

// Whether this build has LAPACK.
bool HasLapack();

// Whether the target is one of JAX's LAPACK targets.
bool IsLapackCall(absl::string_view target);

// The integers and booleans of an attribute dictionary of MLIR: {uplo = 76 : ui8, left = true}. Ignores values of other
// kinds. INVALID_ARGUMENT for text that is not a dictionary.
absl::StatusOr<absl::flat_hash_map<std::string, int64_t>> ParseFfiAttributes(absl::string_view dictionary);

// The positions of the arrays of a signature among the operands and results of a call, if they are not consecutive.
struct LapackConvention {
  // The scalars before the arrays, one word for each. "=n" is the size n, "=b" the number of matrices; "low" becomes an
  // attribute of that name; "uplo:UL" becomes attribute uplo = 'U' if the scalar is 0, 'L' if it is 1 ('.': does not
  // change it); "uplo:" is the letter itself; "-" is ignored.
  absl::string_view parameters;
  absl::string_view operands;  // one digit per operand of the signature: its position; "": after the scalars, in order
  absl::string_view results;   // likewise; "": in order
  int result_count = 0;        // including workspaces, which are zeros here; 0: the signature's number
  absl::string_view attributes = "";  // constant attributes, as in backend_config
};

class LapackCall;
using LapackFunction = absl::Status(LapackCall& call);

class LapackBinding {
 public:
  struct Array {
    kernels::PhysicalOrder order;
    bool is_row_major;   // of `order`
    bool is_by_columns;  // each matrix is stored by columns, one after the other
    int64_t stride;      // elements of one matrix (or vector, or scalar) of the batch
    int64_t place;       // among the operands or results of the instruction
  };

  // The call's function is not set. Arrays of the call, without their batch dimensions: "T[m,n] -> T[m,n] i[k] i[]".
  // Types: T that of the routine, R its real and C its complex counterpart, i S32. Equal letters are equal sizes;
  // k = min(m, n), t = max(n - 1, 0). "T()" is a scalar without batch dimensions; "?" follows a last operand that may
  // be missing. The texts must live as long as the binding.
  static absl::StatusOr<LapackBinding> Make(const HloInstruction& instruction, absl::string_view signature,
                                            PrimitiveType type, const LapackConvention& convention = {});
  // The target is one of LAPACK's: IsLapackCall. UNIMPLEMENTED, with the reason, without LAPACK and for shapes or
  // attributes that JAX does not write. RESOURCE_EXHAUSTED for matrices with sizes that do not fit LAPACK's 32-bit
  // integers.
  static absl::StatusOr<LapackBinding> MakeOfTarget(const HloInstruction& instruction);

  const LapackConvention& convention() const { return convention_; }
  int64_t parameter_count() const { return parameter_count_; }
  // Those of backend_config. Other conventions have more among the operands.
  const absl::flat_hash_map<std::string, int64_t>& attributes() const { return attributes_; }
  const std::vector<Array>& operands() const { return operands_; }
  const std::vector<Array>& results() const { return results_; }
  int64_t batch() const { return batch_; }
  // The size of the dimension with this letter. All sizes and element counts fit in 32 bits.
  int size(char letter) const { return sizes_[letter - 'a']; }
  LapackFunction* function() const { return function_; }
  // The error for an unsupported call, with the reason.
  absl::Status Refuse(const HloInstruction& instruction, absl::string_view why) const;

 private:
  LapackBinding(absl::string_view signature, const LapackConvention& convention);
  absl::Status Bind(const HloInstruction& instruction, PrimitiveType type);
  absl::Status BindArray(const HloInstruction& instruction, absl::string_view array, const Shape& shape,
                         PrimitiveType type, int64_t place, std::vector<Array>* arrays);
  absl::Status BindSizes(absl::string_view letters, absl::Span<const int64_t> dimensions);
  int64_t OperandPlace(size_t i) const;
  int64_t ResultPlace(size_t i) const;

  LapackConvention convention_;
  absl::string_view signature_;
  int64_t parameter_count_ = 0;
  absl::flat_hash_map<std::string, int64_t> attributes_;
  std::vector<Array> operands_, results_;
  std::vector<int64_t> batch_dimensions_;
  bool has_batch_ = false;
  int64_t batch_ = 1;
  std::array<int, 26> sizes_;
  LapackFunction* function_ = nullptr;
};

// Pre: IsLapackCall of its target. `binding`: that of the instruction; null: it is made for this call, whose errors are
// then those of LapackBinding::MakeOfTarget. RESOURCE_EXHAUSTED for workspace beyond the memory limit. May be cancelled
// between the matrices of a batch.
absl::StatusOr<Value> EvaluateLapackCall(values::BasicOperation& op, const LapackBinding* binding);

class LapackCall {
 public:
  // The binding must live as long as the call.
  static absl::StatusOr<LapackCall> Make(values::BasicOperation& op, const LapackBinding& binding);

  int64_t batch() const { return binding_.batch(); }
  int size(char letter) const { return binding_.size(letter); }
  // Whether the first result has no elements. Then the others have none either, except those that no routine writes.
  // LAPACK must not get such calls: it ends the process where a matrix has no rows.
  bool gives_empty_matrix() const { return binding_.results()[0].stride == 0; }

  // One of `letters`, as JAX writes characters (uplo = 76 : ui8); UNIMPLEMENTED without it, or for others.
  absl::StatusOr<char> Letter(absl::string_view name, absl::string_view letters) const;
  absl::StatusOr<int64_t> Integer(absl::string_view name) const;

  // The array of this matrix of the batch. Results are zeros until they are written.
  template <typename T>
  const T* Operand(int i, int64_t matrix) const {
    return operands_[i].data<T>().data() + matrix * operand_elements(i);
  }
  template <typename T>
  T* Result(int i, int64_t matrix) {
    return results_[i].mutable_data<T>().data() + matrix * binding_.results()[i].stride;
  }
  // Initialises result i with operand i.
  template <typename T>
  T* ResultFromOperand(int result, int operand, int64_t matrix) {
    T* const to = Result<T>(result, matrix);
    std::copy_n(Operand<T>(operand, matrix), operand_elements(operand), to);
    return to;
  }
  int64_t operand_elements(int i) const { return binding_.operands()[i].stride; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  int result_count() const { return static_cast<int>(results_.size()); }
  // Fills the results of this matrix, except integer results, with NaN.
  void FillWithNaN(int64_t matrix);

  // Memory for a routine. RESOURCE_EXHAUSTED beyond the memory limit, or if the size does not fit in 32 bits.
  absl::StatusOr<Value> Workspace(PrimitiveType type, int64_t elements) const;
  absl::Status CheckStopped() const { return op_.CheckStopped(); }
  // The error for an unsupported call, with the reason.
  absl::Status Refuse(absl::string_view why) const { return binding_.Refuse(op_.instruction, why); }

  // Moves the results out, with the shapes of the instruction.
  absl::StatusOr<Value> TakeResults();

 private:
  LapackCall(values::BasicOperation& op, const LapackBinding& binding) : op_(op), binding_(binding) {}
  absl::Status ReadParameters();
  absl::Status ReadParameter(int64_t place, absl::string_view word, int64_t number);
  absl::Status MakeOperand(const LapackBinding::Array& array);
  absl::Status MakeResult(const LapackBinding::Array& array);
  // From row-major elements to those in the order of the layout, and back.
  absl::Status Spread(const LapackBinding::Array& array, const Value& logical, Value* physical) const;
  absl::Status Collect(const LapackBinding::Array& array, const Value& physical, Value* logical) const;
  absl::StatusOr<Value> MakeWorkspaceResult(int64_t place) const;

  values::BasicOperation& op_;
  const LapackBinding& binding_;
  absl::flat_hash_map<std::string, int64_t> parameters_;  // attributes among the operands
  std::vector<Value> operands_, results_;                 // elements in the order of the layout
};

}  // namespace kashi::custom_calls

#endif  // KASHI_CUSTOM_CALLS_LAPACK_CALL_H_
