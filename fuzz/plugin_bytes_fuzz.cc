// Bytes that callers of the plugin give: the attributes of a custom call, a serialized executable, compile options.
// None ends the process.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "kashi/pjrt/executable.h"
#include "kashi/pjrt/ffi_attributes.h"
#include "kashi/pjrt/pjrt_c_api.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  kashi::pjrt::FfiAttributes::Parse(bytes).IgnoreError();
  kashi::pjrt::Executable::Deserialize(bytes, "", 8).IgnoreError();
  char code[] = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
  const PJRT_Program program = {sizeof(PJRT_Program), nullptr, code, sizeof(code) - 1, "mlir", 4};
  kashi::pjrt::Executable::Compile(program, bytes, 8).IgnoreError();
  return 0;
}
