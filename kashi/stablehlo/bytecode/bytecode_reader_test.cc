#include "kashi/stablehlo/bytecode/bytecode_reader.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/program/program_text.h"

namespace kashi::stablehlo {
namespace {

std::vector<std::string> ArtifactsForReading() {
  std::vector<std::string> contents;
  const std::filesystem::path folder = std::filesystem::path(KASHI_TEST_DATA) / "stablehlo/artifacts";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".mlirbc") continue;
    std::stringstream bytes;
    bytes << std::ifstream(file.path(), std::ios::binary).rdbuf();
    contents.push_back(bytes.str());
  }
  return contents;
}

TEST(BytecodeReader, ReadsEveryArtifact) {
  const std::vector<std::string> artifacts = ArtifactsForReading();
  EXPECT_GT(artifacts.size(), 30u);
  for (const std::string& bytes : artifacts) {
    const absl::StatusOr<Program> program = ReadBytecode(bytes);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_FALSE(ProgramText(*program).empty());
  }
}

TEST(BytecodeReader, TruncationIsAnError) {
  for (const std::string& bytes : ArtifactsForReading()) {
    if (bytes.size() > 3000) continue;
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(ReadBytecode(std::string(bytes, 0, size)).ok()) << size;
    }
  }
}

TEST(OperationTable, IsInOrder) {
  const absl::Span<const OperationRow> table = OperationTable();
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end(),
                             [](const OperationRow& a, const OperationRow& b) { return a.name < b.name; }));
}

}  // namespace
}  // namespace kashi::stablehlo
