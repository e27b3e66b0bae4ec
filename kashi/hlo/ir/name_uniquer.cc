#include "kashi/hlo/ir/name_uniquer.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {

NameUniquer::Parts NameUniquer::Split(absl::string_view name) const {
  Parts parts = {SanitizeName(name.empty() ? "name" : name), 0, false};
  const size_t at = parts.root.rfind(separator_);
  if (at == std::string::npos || at == 0 || at + separator_.size() == parts.root.size()) return parts;
  int64_t number;
  if (!absl::SimpleAtoi(absl::string_view(parts.root).substr(at + separator_.size()), &number)) return parts;
  parts.root.resize(at);
  parts.number = number;
  parts.has_number = true;
  return parts;
}

std::string NameUniquer::GetUniqueName(absl::string_view name) {
  Parts parts = Split(name);
  const int64_t number = roots_[parts.root].Take(parts.number);
  if (number != 0 || parts.has_number) absl::StrAppend(&parts.root, separator_, number);
  return std::move(parts.root);
}

void NameUniquer::Register(absl::string_view name) {
  const Parts parts = Split(name);
  roots_[parts.root].used.insert(parts.number);
}

int64_t NameUniquer::Numbers::Take(int64_t wanted) {
  if (used.insert(wanted).second) return wanted;
  while (!used.insert(next).second) ++next;
  return next++;
}

}  // namespace kashi
