// Makes unique names as XLA does: `add`, then `add.1`, `add.2`, …
#ifndef KASHI_HLO_IR_NAME_UNIQUER_H_
#define KASHI_HLO_IR_NAME_UNIQUER_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace kashi {

class NameUniquer {
 public:
  explicit NameUniquer(absl::string_view separator = "__") : separator_(separator) {}

  // The name itself, made valid for text (SanitizeName), if it is free; otherwise its root with the next free number.
  // `add.07` has the number 7, and a name without a number has 0: `add` and `add.0` do not both occur.
  std::string GetUniqueName(absl::string_view name);
  // Registers a name that is in use. It may be registered already.
  void Register(absl::string_view name);

 private:
  struct Numbers {
    absl::flat_hash_set<int64_t> used;
    int64_t next = 0;
    // The number if it is free, otherwise the next free number.
    int64_t Take(int64_t wanted);
  };
  struct Parts {
    std::string root;
    int64_t number;
    bool has_number;
  };
  Parts Split(absl::string_view name) const;

  std::string separator_;
  absl::flat_hash_map<std::string, Numbers> roots_;
};

}  // namespace kashi

#endif  // KASHI_HLO_IR_NAME_UNIQUER_H_
