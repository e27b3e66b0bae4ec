#include "kashi/stablehlo/bytecode/exported_module.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/stablehlo/bytecode/bytecode_reader.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/program/program_text.h"

namespace kashi::stablehlo {
namespace {

// By jax.export of jax 0.10.2: sin(x) @ y and (x * 2).sum(), with an unused argument between the two, and the gradient.
std::string ExportedFile() {
  std::stringstream bytes;
  bytes << std::ifstream(KASHI_TEST_DATA "/stablehlo/sine_dot.exported", std::ios::binary).rdbuf();
  return bytes.str();
}

// A flatbuffer whose root has `fields` fields, of which only the last is there, and is the bytes.
std::string Flatbuffer(size_t fields, absl::string_view artifact) {
  std::string bytes;
  const auto add = [&bytes](uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> 8 * i));
  };
  const size_t list_size = 4 + 2 * fields;
  add(4 + list_size, 4);  // the root
  add(list_size, 2);
  add(8, 2);
  for (size_t field = 0; field + 1 < fields; ++field) add(0, 2);
  add(4, 2);
  add(list_size, 4);  // the table: how far back its list is, and the field
  add(4, 4);
  add(artifact.size(), 4);
  return bytes.append(artifact.data(), artifact.size());
}

TEST(ExportedModule, HoldsAnArtifact) {
  const std::string bytes = ExportedFile();
  EXPECT_TRUE(IsExportedModule(bytes));
  EXPECT_FALSE(IsBytecode(bytes));
  const absl::StatusOr<absl::string_view> artifact = ArtifactOfExportedModule(bytes);
  ASSERT_TRUE(artifact.ok()) << artifact.status();
  const absl::StatusOr<Program> program = ReadBytecode(*artifact);
  ASSERT_TRUE(program.ok()) << program.status();
  // The unused argument is not in the module; the gradient's module is another one.
  EXPECT_TRUE(absl::StrContains(ProgramText(*program), "(%0: tensor<2x3xf32>, %1: tensor<3x2xf32>)"))
      << ProgramText(*program);
}

TEST(ExportedModule, IsKnownByItsFourteenthField) {
  const std::string artifact = "ML\xEFR and more";
  const std::string bytes = Flatbuffer(14, artifact);
  ASSERT_TRUE(IsExportedModule(bytes));
  EXPECT_EQ(*ArtifactOfExportedModule(bytes), artifact);
  EXPECT_FALSE(IsExportedModule(Flatbuffer(13, artifact)));
  EXPECT_FALSE(IsExportedModule(Flatbuffer(15, artifact)));
  EXPECT_FALSE(IsExportedModule(Flatbuffer(14, "something else")));
  EXPECT_FALSE(IsExportedModule(Flatbuffer(14, "ML")));
  EXPECT_FALSE(IsExportedModule(artifact));
  EXPECT_FALSE(IsExportedModule(""));
  EXPECT_EQ(ArtifactOfExportedModule("").status().message(),
            "no module that jax.export wrote: no MLIR bytecode in its flatbuffer");
}

TEST(ExportedModule, WithoutItsEndIsAnError) {
  const std::string bytes = Flatbuffer(14, "ML\xEFR and more");
  const std::string cut = bytes.substr(0, bytes.size() - 4);
  EXPECT_TRUE(IsExportedModule(cut));
  EXPECT_EQ(ArtifactOfExportedModule(cut).status().message(),
            "the exported module ends early: its MLIR bytecode has 9 of 13 bytes");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ArtifactOfExportedModule(bytes.substr(0, size)).ok()) << size;
  }
}

TEST(ExportedModule, AnyBytesGiveAPartOfThemOrAnError) {
  const std::string bytes = Flatbuffer(14, "ML\xEFR and more");
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = bytes;
    for (int changes = 1 + i % 3; changes > 0; --changes) {
      changed[random() % (bytes.size() - 13)] = static_cast<char>(i % 2 == 0 ? 0xFF - random() % 4 : random());
    }
    const absl::StatusOr<absl::string_view> artifact = ArtifactOfExportedModule(changed);
    if (!artifact.ok()) continue;
    EXPECT_GE(artifact->data(), changed.data());
    EXPECT_LE(artifact->data() + artifact->size(), changed.data() + changed.size());
  }
}

}  // namespace
}  // namespace kashi::stablehlo
