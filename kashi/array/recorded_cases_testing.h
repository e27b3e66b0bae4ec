// Reading tests/data: tab-separated rows with XLA's verdicts. For tests only.
#ifndef KASHI_ARRAY_RECORDED_CASES_TESTING_H_
#define KASHI_ARRAY_RECORDED_CASES_TESTING_H_

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace kashi::array {

// Undoes \\ \t \n \r \0.
inline std::string UnescapeField(const std::string& field) {
  std::string text;
  for (size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\' || i + 1 == field.size()) {
      text += field[i];
      continue;
    }
    const char c = field[++i];
    text += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == '0' ? '\0' : c;
  }
  return text;
}

// The rows of tests/data/`name`, fields unescaped; lines that begin with # are comments. Fails the test if there are
// none.
inline std::vector<std::vector<std::string>> ReadTestData(const std::string& name) {
  std::ifstream file(absl::StrCat(KASHI_TEST_DATA, "/", name));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields = absl::StrSplit(line, '\t');
    for (std::string& field : fields) field = UnescapeField(field);
    rows.push_back(std::move(fields));
  }
  EXPECT_FALSE(rows.empty()) << "no rows in tests/data/" << name;
  return rows;
}

}  // namespace kashi::array

#endif  // KASHI_ARRAY_RECORDED_CASES_TESTING_H_
