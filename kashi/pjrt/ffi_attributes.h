// The attributes of a custom call, as its handler gets them.
#ifndef KASHI_PJRT_FFI_ATTRIBUTES_H_
#define KASHI_PJRT_FFI_ATTRIBUTES_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/pjrt/ffi_c_api.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::pjrt {

// The structures of XLA's FFI for a dictionary in MLIR's text: {index = 3 : ui64, mode = "x", n = array<i64: 1, 2>}.
class FfiAttributes {
 public:
  // Empty text: no attributes. INVALID_ARGUMENT for text that is no dictionary; UNIMPLEMENTED for values that no
  // handler can get.
  static absl::StatusOr<std::unique_ptr<FfiAttributes>> Parse(absl::string_view text);
  FfiAttributes(const FfiAttributes&) = delete;
  FfiAttributes& operator=(const FfiAttributes&) = delete;

  const XLA_FFI_Attrs& attrs() const { return *attrs_; }

 private:
  // An attribute: its kind, and a structure of that kind.
  struct Entry {
    int type;
    void* value;
  };
  struct Dictionary {
    std::vector<int> types;
    std::vector<XLA_FFI_ByteSpan> spans;
    std::vector<XLA_FFI_ByteSpan*> names;
    std::vector<void*> values;
    XLA_FFI_Attrs attrs;
  };

  FfiAttributes() = default;
  absl::StatusOr<Entry> Convert(const stablehlo::Attribute& attribute);
  absl::StatusOr<Entry> ConvertScalar(const stablehlo::Attribute& attribute);
  absl::StatusOr<Entry> ConvertTensor(const stablehlo::Attribute& attribute);
  absl::StatusOr<const XLA_FFI_Attrs*> ConvertFields(absl::Span<const stablehlo::NamedAttribute> fields);
  void* KeepBytes(absl::string_view bytes, size_t copies);

  std::deque<std::vector<std::max_align_t>> bytes_;
  std::deque<std::string> texts_;
  std::deque<XLA_FFI_Scalar> scalars_;
  std::deque<XLA_FFI_Array> arrays_;
  std::deque<XLA_FFI_ByteSpan> strings_;
  std::deque<Dictionary> dictionaries_;
  const XLA_FFI_Attrs* attrs_ = nullptr;
};

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_FFI_ATTRIBUTES_H_
