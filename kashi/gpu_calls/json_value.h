// JsonValue: a value of JSON (RFC 8259), such as a backend config.
#ifndef KASHI_GPU_CALLS_JSON_VALUE_H_
#define KASHI_GPU_CALLS_JSON_VALUE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kashi::gpu_calls {

class JsonValue {
 public:
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  // Arrays and objects within each other.
  static constexpr int kMaxDepth = 64;

  // INVALID_ARGUMENT, with the byte at which it fails, for text that is no JSON, and for values that are nested deeper
  // than kMaxDepth. O(text).
  static absl::StatusOr<JsonValue> Parse(absl::string_view text);

  Kind kind() const { return kind_; }
  bool is_object() const { return kind_ == Kind::kObject; }
  // Of a bool or a number: its text. Of a string: its characters, as UTF-8.
  const std::string& text() const { return text_; }
  // Of an array, or the values of an object.
  absl::Span<const JsonValue> elements() const { return elements_; }
  // The value of a key of an object, the last one if there are several. Null: there is no such key.
  const JsonValue* Find(absl::string_view key) const;

 private:
  friend class JsonParser;

  Kind kind_ = Kind::kNull;
  std::string text_;
  std::vector<std::string> keys_;  // of elements_
  std::vector<JsonValue> elements_;
};

}  // namespace kashi::gpu_calls

#endif  // KASHI_GPU_CALLS_JSON_VALUE_H_
