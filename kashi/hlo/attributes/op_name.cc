#include "kashi/hlo/attributes/op_name.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kashi::hlo {

absl::string_view FirstPartOfOpName(absl::string_view op_name) {
  int depth = 0;
  for (size_t i = 0; i < op_name.size(); ++i) {
    depth += (op_name[i] == '(') - (op_name[i] == ')');
    if (op_name[i] == '/' && depth <= 0) return op_name.substr(0, i);
  }
  return op_name;
}

std::string FullOpName(absl::string_view call, absl::string_view op_name) {
  if (call.empty() || op_name.empty()) return std::string(op_name);
  absl::string_view rest = op_name;
  const bool is_full = absl::ConsumePrefix(&rest, FirstPartOfOpName(call)) && (rest.empty() || rest[0] == '/');
  return is_full ? std::string(op_name) : absl::StrCat(call, "/", op_name);
}

}  // namespace kashi::hlo
