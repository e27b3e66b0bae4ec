// Modules for the tests of this room.
#ifndef KASHI_REDUCTION_REDUCTION_TESTING_H_
#define KASHI_REDUCTION_REDUCTION_TESTING_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::reduction {

// Fails the test, and returns null, for text that is no module.
inline std::unique_ptr<HloModule> ParseModule(absl::string_view text) {
  auto module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : nullptr;
}

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_REDUCTION_TESTING_H_
