// Steps of a program as one native function.
#ifndef KASHI_CPU_THUNKS_NATIVE_THUNK_H_
#define KASHI_CPU_THUNKS_NATIVE_THUNK_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "kashi/codegen/native_function.h"
#include "kashi/cpu/thunks/thunk.h"

namespace kashi::cpu {

// Pointers: the buffers of the function.
class NativeThunk : public Thunk {
 public:
  NativeThunk(codegen::NativeFunction function, int64_t first) : function_(std::move(function)), first_(first) {}
  // To be called once, when the code has its place in memory.
  void SetCode(codegen::NativeFunctionPointer* code) { code_ = code; }
  // Loops in it are limited, stopped and cancelled like those of the evaluator.
  absl::Status Run(const ThunkFrame& frame) const override;
  const codegen::NativeFunction& function() const { return function_; }

 private:
  codegen::NativeFunction function_;
  codegen::NativeFunctionPointer* code_ = nullptr;
  int64_t first_;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_THUNKS_NATIVE_THUNK_H_
