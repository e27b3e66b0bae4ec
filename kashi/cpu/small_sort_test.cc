// Sorts that native functions do themselves (kashi/codegen/small_sort.h).
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::cpu {
namespace {

// Elements that are equal, and NaN, for which the comparisons are no order: as the evaluator, bit for bit.
TEST(SmallSortTest, ShortSortsOfEqualElementsAndNaN) {
  for (const int64_t n : {2, 3, 8, 9, 16, 17, 33, 64}) {
    std::vector<float> keys;
    std::vector<int32_t> places;
    for (int64_t i = 0; i < 3 * n; ++i) {
      keys.push_back(i * 7 % 5 == 0 ? std::nanf("") : static_cast<float>(i * 11 % 6));
      places.push_back(static_cast<int32_t>(i));
    }
    std::vector<Literal> arguments;
    arguments.push_back(LiteralUtil::CreateR1<float>(keys).Reshape({3, n}).value());
    arguments.push_back(LiteralUtil::CreateR1<int32_t>(places).Reshape({3, n}).value());
    for (const std::string stable : {"true", "false"}) {
      for (const std::string direction : {"LT", "LE", "GT", "GE", "NE"}) {
        ExpectAsEvaluator(
            absl::StrCat("less { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] "
                         "parameter(3) ROOT r = pred[] compare(a, b), direction=",
                         direction, " } ENTRY e { x = f32[3,", n, "] parameter(0) i = s32[3,", n,
                         "] parameter(1) ROOT s = (f32[3,", n, "], s32[3,", n,
                         "]) sort(x, i), dimensions={1}, is_stable=", stable, ", to_apply=less }"),
            arguments, ErrorSpec(0, 0));
      }
    }
  }
}

}  // namespace
}  // namespace kashi::cpu
