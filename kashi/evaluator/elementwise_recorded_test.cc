// Elementwise operations on XLA's own results, through text and the evaluator.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "kashi/array/recorded_cases_testing.h"
#include "kashi/array/types.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/kernels/close_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

std::vector<std::string> Words(const std::string& text) { return absl::StrSplit(text, ' ', absl::SkipEmpty()); }

// "(1,2) (nan,0)", which as text would be (nan,nan).
template <typename T>
Literal ComplexLiteral(const std::string& elements) {
  std::vector<T> values;
  for (const std::string& word : Words(elements)) {
    const std::vector<std::string> parts = absl::StrSplit(word, absl::ByAnyChar("(,)"), absl::SkipEmpty());
    values.push_back(T(std::stod(parts[0]), std::stod(parts[1])));
  }
  return LiteralUtil::CreateR1<T>(values);
}

// "1 -0 nan", "T F", "(1,2) (nan,0)" of the type.
Literal LiteralOf(const std::string& type, const std::string& elements) {
  if (type == "c64") return ComplexLiteral<complex64>(elements);
  if (type == "c128") return ComplexLiteral<complex128>(elements);
  std::vector<std::string> words = Words(elements);
  for (std::string& word : words) {
    word = word == "T" ? "true" : word == "F" ? "false" : word;
    // To the reader -0 is a whole number, and so 0.
    if (type[0] != 's' && type[0] != 'u' && absl::EndsWith(word, "-0")) absl::StrAppend(&word, ".0");
  }
  const std::string text =
      absl::StrCat("ENTRY e { ROOT c = ", type, "[", words.size(), "] constant({", absl::StrJoin(words, ", "), "}) }");
  const auto module = ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) {
    ADD_FAILURE() << module.status() << "\n" << text;
    return Literal();
  }
  return (*module)->entry_computation()->root_instruction()->literal().Clone();
}

void ExpectClose(const Literal& actual, const Literal& expected, double relative) {
  ASSERT_EQ(actual.shape().ToString(), expected.shape().ToString());
  if (actual.ToString() == expected.ToString()) return;
  const Literal a = *actual.Convert(C128), b = *expected.Convert(C128);
  for (int64_t i = 0; i < a.element_count(); ++i) {
    EXPECT_TRUE(kernels::IsClose(a.Get<complex128>({i}), b.Get<complex128>({i}), relative))
        << "element " << i << "\n"
        << actual.ToString() << "\nexpected\n"
        << expected.ToString();
  }
}

TEST(ElementwiseTest, ComputesWhatXlaDoes) {
  for (const std::vector<std::string>& row : array::ReadTestData("evaluator/elementwise.tsv")) {
    ASSERT_GE(row.size(), 6u);
    const std::string &op = row[0], &type = row[1], &result_type = row[2], &attributes = row[3];
    SCOPED_TRACE(absl::StrJoin(row, " | "));
    std::vector<Literal> operands;
    std::vector<std::string> parameters, names;
    for (const std::string& elements : std::vector<std::string>(absl::StrSplit(row[4], ';'))) {
      const size_t i = operands.size();
      operands.push_back(LiteralOf(type, elements));
      names.push_back(absl::StrCat("p", i));
      parameters.push_back(absl::StrCat("p", i, " = ", type, "[", Words(elements).size(), "] parameter(", i, ") "));
    }
    const Literal expected = LiteralOf(result_type, row[5]);
    const std::string module = absl::StrCat(
        "HloModule m\nENTRY e { ", absl::StrJoin(parameters, ""), "ROOT r = ", result_type, "[", Words(row[5]).size(),
        "] ", op, "(", absl::StrJoin(names, ", "), ")", attributes.empty() ? "" : ", ", attributes, " }");
    const bool is_f32 = result_type == "f32" || result_type == "c64" || result_type == "f64";
    ExpectClose(EvaluateText(module, operands), expected, is_f32 ? 2.5e-7 : 0);
  }
}

}  // namespace
}  // namespace kashi::evaluator
