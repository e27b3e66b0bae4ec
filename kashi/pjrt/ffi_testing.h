// Handlers of custom calls for tests, and programs that call them. Arrays are f32[64].
#ifndef KASHI_PJRT_FFI_TESTING_H_
#define KASHI_PJRT_FFI_TESTING_H_

#include <cstddef>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kashi/pjrt/ffi_c_api.h"
#include "kashi/pjrt/ffi_handlers.h"

namespace kashi::pjrt {

constexpr size_t kTestArraySize = 64;

// A program on the array %x.
inline std::string Unary(absl::string_view body, absl::string_view attributes = "") {
  return absl::Substitute("func.func @main(%x: tensor<64xf32> $0) -> tensor<64xf32> {\n$1}\n", attributes, body);
}
// It calls the handler of `target` with the attribute `number`.
inline std::string CallText(absl::string_view target, float number) {
  return Unary(absl::Substitute(R"(  %y = stablehlo.custom_call @$0(%x) {
    api_version = 4 : i32, backend_config = {number = $1 : f32}} : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
)",
                                target, absl::StrFormat("%.1f", number)));
}

// The stages of the bundle are null where there is none.
inline void BringHandler(absl::string_view target, const XLA_FFI_Handler_Bundle& bundle) {
  EXPECT_EQ(FfiHandlers::Global().Register(target, "Host", bundle).message(), "");
}

// ---- What handlers do ----------------------------------------------------------------------------------------------

// Whether the call only asks for the version.
inline bool AnswersMetadata(XLA_FFI_CallFrame* frame) {
  if (frame->extension_start == nullptr) return false;
  auto* const extension = reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame->extension_start);
  extension->metadata->api_version.major_version = XLA_FFI_API_MAJOR;
  extension->metadata->api_version.minor_version = XLA_FFI_API_MINOR;
  return true;
}
inline XLA_FFI_Error* FfiError(const XLA_FFI_CallFrame& frame, const std::string& message) {
  XLA_FFI_Error_Create_Args args = {sizeof(args), nullptr, message.c_str(), PJRT_Error_Code_INTERNAL};
  return frame.api->Error_Create(&args);
}
inline float NumberOf(const XLA_FFI_CallFrame& frame) {
  return *static_cast<float*>(static_cast<XLA_FFI_Scalar*>(frame.attrs.attrs[0])->value);
}
inline float* ArrayOf(const XLA_FFI_Args& args) {
  return static_cast<float*>(static_cast<XLA_FFI_Buffer*>(args.args[0])->data);
}

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_FFI_TESTING_H_
