#include "kashi/stablehlo/bytecode/bytecode_reader.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/program/program_text.h"

namespace kashi::stablehlo {
namespace {

std::string TestFile(const std::filesystem::path& path) {
  std::stringstream bytes;
  bytes << std::ifstream(std::filesystem::path(KASHI_TEST_DATA) / "stablehlo" / path, std::ios::binary).rdbuf();
  return bytes.str();
}

std::map<std::string, std::string> BytecodeIn(const std::string& name) {
  std::map<std::string, std::string> files;
  const std::filesystem::path folder = std::filesystem::path(KASHI_TEST_DATA) / "stablehlo" / name;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".mlirbc") continue;
    files[file.path().stem().string()] = TestFile(name / file.path().filename());
  }
  return files;
}

// The bytes of artifacts by name: NAME (VHLO 1.17.0), NAME.vX.Y.Z (the same program, written for an older VHLO).
std::map<std::string, std::string> ArtifactsForReading() { return BytecodeIn("artifacts"); }

// Programs as MLIR itself writes them: plain/NAME.mlir or artifacts/NAME.mlir, read and written by jaxlib.
std::map<std::string, std::string> PlainBytecode() { return BytecodeIn("plain"); }

std::map<std::string, std::string> AllBytecode() {
  std::map<std::string, std::string> all = ArtifactsForReading();
  for (const auto& [name, bytes] : PlainBytecode()) all["plain " + name] = bytes;
  return all;
}

// The error's message; "" where the bytes are read.
std::string MessageFor(absl::string_view bytes) { return std::string(ReadBytecode(bytes).status().message()); }

void CountOperations(const Operation& operation, std::map<std::string, int>* counts) {
  ++(*counts)[std::string(operation.name)];
  for (const Region& region : operation.regions) {
    for (const Block& block : region.blocks) {
      for (const Operation* inner : block.operations) CountOperations(*inner, counts);
    }
  }
}

std::map<std::string, int> CountsOf(const std::string& bytes) {
  std::map<std::string, int> counts;
  const absl::StatusOr<Program> program = ReadBytecode(bytes);
  EXPECT_TRUE(program.ok()) << program.status();
  if (program.ok()) CountOperations(*program->module, &counts);
  return counts;
}

TEST(BytecodeReader, ReadsEveryArtifact) {
  const std::map<std::string, std::string> artifacts = ArtifactsForReading();
  EXPECT_GT(artifacts.size(), 60u);
  for (const auto& [name, bytes] : artifacts) {
    const absl::StatusOr<Program> program = ReadBytecode(bytes);
    ASSERT_TRUE(program.ok()) << name << ": " << program.status();
    EXPECT_FALSE(ProgramText(*program).empty()) << name;
  }
}

// Writers for old versions fold the cases of the next test; all other cases come back.
TEST(BytecodeReader, OldVersionsGiveTheNewest) {
  const std::map<std::string, std::string> artifacts = ArtifactsForReading();
  int compared = 0;
  for (const auto& [name, bytes] : artifacts) {
    const size_t version = name.find(".v");
    if (version == std::string::npos || name == "multi_platform.v0.19.0") continue;
    const auto newest = artifacts.find(name.substr(0, version));
    ASSERT_NE(newest, artifacts.end()) << name;
    const absl::StatusOr<Program> old_program = ReadBytecode(bytes);
    const absl::StatusOr<Program> new_program = ReadBytecode(newest->second);
    ASSERT_TRUE(old_program.ok() && new_program.ok()) << name;
    EXPECT_EQ(ProgramText(*old_program), ProgramText(*new_program)) << name;
    ++compared;
  }
  EXPECT_GT(compared, 28);
}

// A writer for an old version folds a `case` whose branch is a constant, as lax.platform_dependent makes for one
// platform. So the old artifact has fewer operations; these are the counts that MLIR reads, too.
TEST(BytecodeReader, WritersForOldVersionsFoldCases) {
  const std::map<std::string, int> newest = CountsOf(TestFile("artifacts/multi_platform.mlirbc"));
  const std::map<std::string, int> old = CountsOf(TestFile("artifacts/multi_platform.v0.19.0.mlirbc"));
  const std::map<std::string, int> expected = {{"builtin.module", 1},     {"func.func", 1},
                                               {"func.return", 1},        {"stablehlo.add", 1},
                                               {"stablehlo.case", 2},     {"stablehlo.broadcast_in_dim", 1},
                                               {"stablehlo.constant", 2}, {"stablehlo.return", 3}};
  EXPECT_EQ(newest, expected);
  const std::map<std::string, int> folded = {{"builtin.module", 1},
                                             {"func.func", 1},
                                             {"func.return", 1},
                                             {"stablehlo.add", 1},
                                             {"stablehlo.broadcast_in_dim", 1},
                                             {"stablehlo.constant", 1}};
  EXPECT_EQ(old, folded);
}

TEST(BytecodeReader, TruncationIsAnError) {
  for (const auto& [name, bytes] : AllBytecode()) {
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(ReadBytecode(bytes.substr(0, size)).ok()) << name << " " << size;
    }
  }
}

// Changed bytes give an error with a place, or another program that can be written out.
TEST(BytecodeReader, ChangedBytesGiveAnErrorOrAProgram) {
  std::mt19937 random(1);
  int read = 0;
  int refused = 0;
  for (const auto& [name, bytes] : AllBytecode()) {
    for (int i = 0; i < 300; ++i) {
      std::string changed = bytes;
      for (int changes = 1 + i % 3; changes > 0; --changes) {
        changed[random() % changed.size()] = static_cast<char>(random());
      }
      const absl::StatusOr<Program> program = ReadBytecode(changed);
      if (program.ok()) {
        ++read;
        EXPECT_FALSE(ProgramText(*program).empty());
      } else {
        ++refused;
        EXPECT_TRUE(absl::StartsWith(program.status().message(), "MLIR bytecode, byte ")) << program.status();
      }
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(BytecodeReader, ErrorsSayWhatAndWhere) {
  const std::string bytes = TestFile("artifacts/same_result_twice.mlirbc");
  EXPECT_EQ(MessageFor(""), "MLIR bytecode, byte 0: the file does not begin with 4D 4C EF 52");
  EXPECT_EQ(MessageFor("HloModule m"), "MLIR bytecode, byte 0: the file does not begin with 4D 4C EF 52");
  EXPECT_EQ(MessageFor(bytes.substr(0, 100)), "MLIR bytecode, byte 100: the file ends early");
  std::string newer = bytes;
  newer[4] = 15;  // a varint
  EXPECT_EQ(MessageFor(newer),
            "MLIR bytecode, byte 4: bytecode version 7 (of StableHLO_v1.17.0) needs a newer Kashi, which knows "
            "versions up to 6");
  EXPECT_EQ(MessageFor(absl::StrReplaceAll(bytes, {{"func_v1", "func_v9"}})),
            "MLIR bytecode, byte 92: operation vhlo.func_v9 needs a newer Kashi");
  EXPECT_EQ(MessageFor(absl::StrReplaceAll(bytes, {{"func_v1", "fund_v1"}})),
            "MLIR bytecode, byte 92: operation vhlo.fund_v1 needs a newer Kashi");
  EXPECT_EQ(MessageFor(absl::StrReplaceAll(bytes, {{"func_v1", "func_w1"}})),
            "MLIR bytecode, byte 92: operation vhlo.func_w1 has no version");
}

TEST(BytecodeReader, ErrorsNameDialects) {
  const std::string plain = TestFile("plain/no_results.mlirbc");
  EXPECT_EQ(
      MessageFor(absl::StrReplaceAll(plain, {{"func", "funk"}})),
      "MLIR bytecode, byte 102: operation funk.funk is of a dialect that Kashi does not read: lower it to StableHLO "
      "first");
  const std::string bytes = TestFile("artifacts/same_result_twice.mlirbc");
  EXPECT_EQ(MessageFor(absl::StrReplaceAll(bytes, {{"builtin", "builtim"}})),
            "MLIR bytecode, byte 57: an attribute or a type of the dialect builtim, which is not one of those that "
            "Kashi reads (vhlo, stablehlo, chlo, builtin, sdy)");
}

}  // namespace
}  // namespace kashi::stablehlo
