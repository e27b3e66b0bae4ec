// Bytes -> file of a proto -> module -> text, and the file again: no bytes end the process, and a module that was read
// is read again as the same module.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/base/check.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"
#include "kashi/proto/hlo_proto_io.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kashi::HloProtoFile file;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<std::unique_ptr<kashi::HloModule>> module = kashi::ReadHloProto(bytes, &file);
  if (!module.ok()) return 0;
  const std::string text = (*module)->ToString();
  std::string written;
  KASHI_CHECK_OK(kashi::WriteHloProto(**module, file, &written));
  kashi::HloProtoFile file_again;
  const absl::StatusOr<std::unique_ptr<kashi::HloModule>> again = kashi::ReadHloProto(written, &file_again);
  KASHI_CHECK_OK(again);
  KASHI_CHECK_EQ((*again)->ToString(), text);
  return 0;
}
