// Small programs and the results of real XLA, in the format of files below tests/data:
//
//   === SEED
//   HloModule …
//   --- input
//   s32[2] {1, 2}
//   --- output TOLERANCE
//   f32[] 1.5
#ifndef KASHI_EVALUATOR_STORED_PROGRAMS_TESTING_H_
#define KASHI_EVALUATOR_STORED_PROGRAMS_TESTING_H_

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_parser.h"

namespace kashi::evaluator {

struct StoredProgram {
  struct Output {
    std::string tolerance;
    std::string literal;
  };

  std::string name;
  std::string text;
  std::vector<std::string> inputs;
  std::vector<Output> outputs;
};

// `name`: a file below tests/data.
inline std::vector<StoredProgram> ReadStoredPrograms(const std::string& name) {
  std::ifstream file(absl::StrCat(KASHI_TEST_DATA "/", name));
  std::vector<StoredProgram> programs;
  std::string line, *part = nullptr;
  while (std::getline(file, line)) {
    absl::string_view rest = line;
    if (absl::StartsWith(line, "=== ")) {
      programs.push_back({line.substr(4), "", {}, {}});
      part = &programs.back().text;
    } else if (line == "--- input") {
      part = &programs.back().inputs.emplace_back();
    } else if (absl::ConsumePrefix(&rest, "--- output ")) {
      part = &programs.back().outputs.emplace_back(StoredProgram::Output{std::string(rest), ""}).literal;
    } else {
      absl::StrAppend(part, line, "\n");
    }
  }
  return programs;
}

// Of `f32[2] {1, 2}`.
inline Literal ReadStoredLiteral(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(absl::StripAsciiWhitespace(text), absl::MaxSplits(' ', 1));
  absl::StatusOr<Literal> literal = ParseLiteral(parts.second, ParseShape(parts.first).value());
  EXPECT_TRUE(literal.ok()) << literal.status() << "\n" << text;
  return literal.ok() ? *std::move(literal) : Literal();
}

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_STORED_PROGRAMS_TESTING_H_
