#include "kashi/editor/text_index.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::editor {
namespace {

constexpr char kText[] = R"(HloModule m, entry_computation_layout={(f32[2]{0})->f32[]}

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %z = f32[] add(f32[] %x, f32[] %y)
}

ENTRY %main (x: f32[2]) -> f32[] {
  %x = f32[2]{0:T(256)} parameter(0)
  %c = f32[] constant(0), metadata={op_name="x %c"}
  /* x */ ROOT %r = f32[] reduce(%x, %c), dimensions={0}, to_apply=%sum, control-predecessors={%c}
}
)";

size_t Find(absl::string_view text, absl::string_view what, size_t from = 0) { return text.find(what, from); }

TEST(TextIndexTest, FindsComputationsAndInstructions) {
  const TextIndex index(kText);
  ASSERT_EQ(index.computations().size(), 2);
  EXPECT_EQ(index.TextOf(index.computations()[0].name), "sum");
  EXPECT_FALSE(index.computations()[0].is_entry);
  const IndexedComputation& main = index.computations()[1];
  EXPECT_TRUE(main.is_entry);
  ASSERT_EQ(main.instructions.size(), 3);
  EXPECT_EQ(index.TextOf(main.instructions[0].shape), "f32[2]{0:T(256)}");
  EXPECT_EQ(index.TextOf(main.instructions[2].opcode), "reduce");
  EXPECT_TRUE(main.instructions[2].is_root);
  EXPECT_EQ(index.TextOf(main.whole).substr(0, 5), "ENTRY");
  EXPECT_EQ(index.TextOf(main.whole).back(), '}');
}

TEST(TextIndexTest, NamesOfInstructionsBelongToTheirComputation) {
  const absl::string_view text = kText;
  const TextIndex index(text);
  const size_t in_main = Find(text, "reduce(%x") + 8;
  const auto name = index.NameAt(in_main);
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->computation, 1);
  // The parameter in the signature, the definition, the operand.
  EXPECT_EQ(index.PlacesOf(*name).size(), 3);
  EXPECT_EQ(index.DefinitionOf(*name).begin, Find(text, "%x = f32[2]") + 1);
}

TEST(TextIndexTest, FindsComputationsAndControlPredecessorsInAttributes) {
  const absl::string_view text = kText;
  const TextIndex index(text);
  const auto sum = index.NameAt(Find(text, "to_apply=%sum") + 11);
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->instruction, -1);
  EXPECT_EQ(index.PlacesOf(*sum).size(), 2);
  // Definition, operand, control predecessor; neither the comment nor the string.
  EXPECT_EQ(index.PlacesOf(*index.NameAt(Find(text, "%c = ") + 1)).size(), 3);
}

TEST(TextIndexTest, NameBeforeTheCursorCounts) {
  const absl::string_view text = kText;
  const TextIndex index(text);
  EXPECT_TRUE(index.NameAt(Find(text, "%c = ") + 2).has_value());
  EXPECT_FALSE(index.NameAt(Find(text, "%c = ") + 3).has_value());
  EXPECT_FALSE(index.NameAt(text.size() + 10).has_value());
}

TEST(TextIndexTest, ReadsTextThatIsBeingWritten) {
  const TextIndex index("ENTRY e {\n  a = f32[2] parameter(0)\n  b = f32[2] add(a, \n");
  ASSERT_EQ(index.computations().size(), 1);
  EXPECT_EQ(index.computations()[0].instructions.size(), 2);
}

TEST(TextIndexTest, ValuesMayHaveSpaces) {
  const TextIndex index(
      "ENTRY e {\n a = f32[2] custom-call(), literal=f32[2]{0} {1, 2}, control-predecessors={b} ROOT b = f32[2] "
      "negate(a)\n}");
  ASSERT_EQ(index.computations().size(), 1);
  ASSERT_EQ(index.computations()[0].instructions.size(), 2);
  EXPECT_EQ(index.PlacesOf({0, 1}).size(), 2);
}

TEST(TextIndexTest, WorkIsLinearInHostileText) {
  for (const absl::string_view unit :
       {"(", "{", "\"", "\"\\", "/*", "x = (", "e {", "a(", "'", "%", "x = f32[] add("}) {
    std::string text = "ENTRY e {\n";
    while (text.size() < 400'000) absl::StrAppend(&text, unit);
    const TextIndex index(text);
    EXPECT_LE(index.computations().size(), text.size());
  }
}

TEST(TextIndexTest, AnyBytes) {
  std::mt19937 random(7);
  const std::string alphabet = "aex=%(){}[],:/*\"'\n ->ENTRYROOTf32.0HloModule";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int length = random() % 80; length > 0; --length) text += alphabet[random() % alphabet.size()];
    const TextIndex index(text);
    for (size_t offset = 0; offset <= text.size(); ++offset) {
      const auto name = index.NameAt(offset);
      if (!name.has_value()) continue;
      bool is_there = false;
      for (const TextRange& range : index.PlacesOf(*name)) is_there |= range.Contains(offset);
      EXPECT_TRUE(is_there) << text;
    }
  }
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// How often the text of the module writes the name: its definition, its uses, a parameter also in the signature.
size_t Written(const HloInstruction& instruction) {
  size_t count = 1 + instruction.control_successors().size();
  if (instruction.opcode() == HloOpcode::kParameter) ++count;
  for (const HloInstruction* user : instruction.users()) {
    count += std::count(user->operands().begin(), user->operands().end(), &instruction);
  }
  return count;
}

// The oracle: the reader of HLO. Its module, printed, has each name as often as there are operands.
void ExpectIndexOf(const HloModule& module) {
  const std::string text = module.ToString();
  const TextIndex index(text);
  // The text of an asynchronous operation has its computation only in the operation's name: `negate-start`.
  if (absl::StrContains(text, "-start(")) return;
  ASSERT_EQ(index.computations().size(), module.computation_count());
  for (const IndexedComputation& indexed : index.computations()) {
    const HloComputation* computation = module.GetComputationWithName(index.TextOf(indexed.name));
    ASSERT_NE(computation, nullptr);
    ASSERT_EQ(indexed.instructions.size(), computation->instruction_count());
    for (const IndexedInstruction& instruction : indexed.instructions) {
      const HloInstruction* found = computation->GetInstructionWithName(index.TextOf(instruction.name));
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(index.TextOf(instruction.opcode), HloOpcodeString(found->opcode()));
      EXPECT_EQ(instruction.is_root, found->IsRoot());
      const auto name = index.NameAt(instruction.name.begin);
      ASSERT_TRUE(name.has_value());
      EXPECT_EQ(index.PlacesOf(*name).size(), Written(*found)) << found->ToString();
    }
  }
}

TEST(TextIndexTest, AgreesWithTheReaderOnRealModules) {
  int modules = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(KASHI_TEST_DATA "/hlo_text_cases")) {
    if (!entry.is_regular_file() || entry.file_size() > 60'000) continue;
    const auto module = ParseAndReturnUnverifiedModule(ReadFile(entry.path()));
    if (!module.ok()) continue;
    SCOPED_TRACE(entry.path().string());
    ExpectIndexOf(**module);
    ++modules;
  }
  EXPECT_GT(modules, 10);
}

}  // namespace
}  // namespace kashi::editor
