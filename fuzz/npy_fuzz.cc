// Any bytes as an .npy file; the first byte chooses the expected shape. Reading never ends the process, and an array
// that was read is written as a file that reads back equal.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/check.h"
#include "kashi/literal/literal_comparison.h"
#include "kashi/literal/npy.h"

namespace kashi::fuzz {
namespace {

constexpr const char* kShapes[] = {"f32[2,3]{0,1}", "bf16[2]", "pred[3]", "s4[2]{0:E(4)}",
                                   "f8e4m3fn[2,2]", "c64[]",   "u8[0]"};

void CheckRoundTrip(const Literal& literal) {
  std::string bytes;
  KASHI_CHECK_OK(WriteNpy(literal, &bytes));
  const absl::StatusOr<Literal> again = ReadNpy(bytes, literal.shape());
  KASHI_CHECK_OK(again);
  KASHI_CHECK_OK(literal_comparison::Equal(literal, *again));
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::optional<kashi::Shape> expected;
  const size_t choice = data[0] % (std::size(kashi::fuzz::kShapes) + 1);
  if (choice > 0) expected = kashi::ParseShape(kashi::fuzz::kShapes[choice - 1]).value();
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const absl::StatusOr<kashi::Literal> literal = kashi::ReadNpy(bytes, expected);
  if (literal.ok()) kashi::fuzz::CheckRoundTrip(*literal);
  return 0;
}
