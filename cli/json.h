// A JSON value, for --json. Only json.cc knows the library that prints it.
#ifndef KASHI_CLI_JSON_H_
#define KASHI_CLI_JSON_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kashi::cli {

struct JsonMember;

// null, a boolean, a number (int64_t, uint64_t or double), a string, an array, or an object whose members keep the
// order in which they were added. An operation on the wrong kind aborts: it is an error of the program, never of its
// input.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json();  // null
  // NOLINTBEGIN(google-explicit-constructor): a value of any of these kinds is a Json.
  Json(std::nullptr_t) : Json() {}
  template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Json(Number value) : Json(FromNumber(value)) {}
  Json(std::string text);
  Json(absl::string_view text);
  Json(const char* text);
  template <typename T>
  Json(const std::vector<T>& values) : value_(Array(values.begin(), values.end())) {}
  template <typename T>
  Json(absl::Span<const T> values) : value_(Array(values.begin(), values.end())) {}
  // An object: {{"key", value}, …}.
  Json(std::initializer_list<JsonMember> members);
  // NOLINTEND(google-explicit-constructor)
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array();   // []
  static Json object();  // {}

  // The member of an object; a missing one is added at the end as null. null becomes an object. O(members). The
  // reference is valid until the next member is added.
  Json& operator[](absl::string_view key);
  // Appends the members of another object. A key that exists already gets the new value.
  void update(const Json& object);

  // Appends to an array; null becomes an array. The reference is valid until the next append.
  Json& push_back(Json value);
  Json& emplace_back(Json value = Json()) { return push_back(std::move(value)); }

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }

  // On one line, without spaces. Bytes that are not UTF-8 become U+FFFD; NaN and infinities become null. A double has
  // the fewest digits that read back the same.
  std::string dump() const;

 private:
  struct Writer;

  template <typename Number>
  static Json FromNumber(Number value) {
    Json json;
    if constexpr (std::is_same_v<Number, bool>) {
      json.value_ = value;
    } else if constexpr (std::is_floating_point_v<Number>) {
      json.value_ = static_cast<double>(value);
    } else if constexpr (std::is_signed_v<Number>) {
      json.value_ = static_cast<int64_t>(value);
    } else {
      json.value_ = static_cast<uint64_t>(value);
    }
    return json;
  }

  std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, Array, Object> value_;
};

// A member of an object in an initializer list.
struct JsonMember {
  absl::string_view key;
  Json value;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_JSON_H_
