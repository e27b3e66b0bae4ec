// Compares the places of buffers with those of XLA's host compiler: tests/data/host_dumps, and small modules that show
// one rule each.
#include "kashi/analysis/host_buffer_assignment.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"
#include "kashi/analysis/xla_buffer_assignment.h"

namespace kashi::analysis {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file) << path;
  return text.str();
}

constexpr absl::string_view kAssignmentEnding = "-buffer-assignment.txt";

std::vector<std::string> DumpsIn(absl::string_view folder) {
  std::vector<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(absl::StrCat(KASHI_TEST_DATA "/", folder))) {
    const std::string path = entry.path().string();
    if (absl::EndsWith(path, kAssignmentEnding))
      stems.push_back(path.substr(0, path.size() - kAssignmentEnding.size()));
  }
  return stems;
}

std::vector<std::string> DumpsOfHosts() { return DumpsIn("host_dumps"); }

XlaBufferAssignment ReadAssignment(const std::string& stem) {
  const std::string path = absl::StrCat(stem, kAssignmentEnding);
  absl::StatusOr<XlaBufferAssignment> assignment = ParseXlaBufferAssignment(ReadText(path), path);
  EXPECT_TRUE(assignment.ok()) << assignment.status();
  return assignment.ok() ? *std::move(assignment) : XlaBufferAssignment();
}

// "block+128", "in buffer 3" or "own place"
std::string PlaceOf(const MemoryBuffer& buffer) {
  if (buffer.kind != MemoryBuffer::Kind::kTemporary) return "own place";
  if (buffer.lies_in < 0) return absl::StrCat("block+", buffer.offset);
  return absl::StrCat("in buffer ", buffer.lies_in);
}

TEST(HostBufferAssignment, PlacesAreThoseOfXla) {
  const std::vector<std::string> stems = DumpsOfHosts();
  ASSERT_GE(stems.size(), 6u);
  for (const std::string& stem : stems) {
    SCOPED_TRACE(stem);
    const std::unique_ptr<HloModule> module = ReadModule(ReadText(absl::StrCat(stem, ".txt")));
    const MemoryAnalysis ours = Analyze(*module, "host");
    ASSERT_EQ(ours.basis, MemoryBasis::kPlacement);
    XlaMemoryFacts facts;
    facts.assignment = ReadAssignment(stem);
    const absl::StatusOr<MemoryAnalysis> xlas = AnalyzeMemory(*module, std::nullopt, facts);
    ASSERT_TRUE(xlas.ok()) << xlas.status();
    EXPECT_EQ(xlas->basis, MemoryBasis::kXlaAssignment);
    EXPECT_EQ(ours.default_space().temp_bytes, xlas->default_space().temp_bytes);
    EXPECT_EQ(ours.default_space().gap_bytes, xlas->default_space().gap_bytes);
    EXPECT_EQ(ours.thread_local_bytes, xlas->thread_local_bytes);
    ASSERT_EQ(ours.buffers.size(), xlas->buffers.size());
    for (size_t i = 0; i < ours.buffers.size(); ++i) {
      EXPECT_EQ(PlaceOf(ours.buffers[i]), PlaceOf(xlas->buffers[i])) << ours.buffers[i].main_value().name;
    }
    int64_t total = 0;
    for (const XlaBufferAssignment::Allocation& allocation : facts.assignment->allocations) total += allocation.bytes;
    EXPECT_EQ(ours.default_space().peak_bytes + ours.thread_local_bytes, total);
  }
}

TEST(HostBufferAssignment, TotalsOfTheUsageReportAreTheSame) {
  for (const std::string& stem : DumpsOfHosts()) {
    const std::unique_ptr<HloModule> module = ReadModule(ReadText(absl::StrCat(stem, ".txt")));
    const std::string path = absl::StrCat(stem, "-memory-usage-report.txt");
    XlaMemoryFacts facts;
    const auto usage = ParseXlaMemoryUsageReport(ReadText(path), path);
    ASSERT_TRUE(usage.ok()) << usage.status();
    facts.usage = *usage;
    const absl::StatusOr<MemoryAnalysis> memory = AnalyzeMemory(*module, std::nullopt, facts);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(memory->basis, MemoryBasis::kXlaUsage);
    EXPECT_EQ(memory->default_space().temp_bytes, Analyze(*module, "host").default_space().temp_bytes) << stem;
  }
}

TEST(HostBufferAssignment, FactsOfAnotherModuleAreRefused) {
  const std::vector<std::string> stems = DumpsOfHosts();
  for (size_t i = 1; i < stems.size(); ++i) {
    const std::unique_ptr<HloModule> module = ReadModule(ReadText(absl::StrCat(stems[0], ".txt")));
    XlaMemoryFacts facts;
    facts.assignment = ReadAssignment(stems[i]);
    EXPECT_EQ(AnalyzeMemory(*module, std::nullopt, facts).status().code(), absl::StatusCode::kFailedPrecondition);
  }
  const std::unique_ptr<HloModule> module = ReadModule(ReadText(absl::StrCat(stems[0], ".txt")));
  XlaMemoryFacts facts;
  facts.usage = {{0, 8}};
  EXPECT_EQ(AnalyzeMemory(*module, std::nullopt, facts).status().code(), absl::StatusCode::kFailedPrecondition);
}

// The module's layouts do not tell which TPU it is for; its tuple tables do. Tokens have no buffer here, 0 bytes there.
TEST(TpuBufferAssignment, TablesOfTuplesTellTheTpu) {
  const std::vector<std::string> stems = DumpsIn("tpu_dumps");
  ASSERT_EQ(stems.size(), 2u);
  for (const std::string& stem : stems) {
    SCOPED_TRACE(stem);
    const std::unique_ptr<HloModule> module = ReadModule(ReadText(absl::StrCat(stem, ".txt")));
    XlaMemoryFacts facts;
    facts.assignment = ReadAssignment(stem);
    const absl::StatusOr<MemoryAnalysis> memory = AnalyzeMemory(*module, std::nullopt, facts);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(memory->basis, MemoryBasis::kXlaAssignment);
    EXPECT_EQ(GetTpuGenerationInfo(*memory->target.tpu).tuple_table_alignment, 32);
    const absl::StatusOr<MemoryAnalysis> of_v5e = AnalyzeMemory(*module, ParseMemoryTarget("v5e"), facts);
    EXPECT_EQ(of_v5e.status().code(), absl::StatusCode::kFailedPrecondition);
  }
}

MemoryAnalysis AnalyzeEntry(absl::string_view entry) {
  // The module goes out of sight, but the numbers stay.
  static std::vector<std::unique_ptr<HloModule>>* const modules = new std::vector<std::unique_ptr<HloModule>>();
  modules->push_back(ReadModule(absl::StrCat("HloModule m, is_scheduled=true\n", entry)));
  return Analyze(*modules->back(), "host");
}

TEST(HostBufferAssignment, TemporariesLieInOutputsThatAreNotWrittenYet) {
  const MemoryAnalysis memory = AnalyzeEntry(R"(
ENTRY e {
  p = f32[1024] parameter(0)
  a = f32[1024] reverse(p), dimensions={0}
  b = f32[1024] reverse(a), dimensions={0}
  ROOT c = f32[1024] reverse(b), dimensions={0}
})");
  EXPECT_EQ(memory.buffers[BufferOf(memory, "a")].lies_in, BufferOf(memory, "c"));
  EXPECT_EQ(memory.buffers[BufferOf(memory, "b")].lies_in, -1);  // c is written while b is read
  EXPECT_EQ(memory.default_space().temp_bytes, 4096);
}

TEST(HostBufferAssignment, ElementwiseResultsAreWrittenOverOperands) {
  const MemoryAnalysis memory = AnalyzeEntry(R"(
ENTRY e {
  p = f32[1024] parameter(0)
  a = f32[1024] negate(p)
  b = f32[1024] tanh(a)
  ROOT c = f32[1024] negate(b)
})");
  EXPECT_EQ(memory.buffers[BufferOf(memory, "a")].lies_in, BufferOf(memory, "c"));
  EXPECT_EQ(memory.buffers[BufferOf(memory, "b")].lies_in, BufferOf(memory, "c"));
  EXPECT_EQ(memory.default_space().temp_bytes, 0);
  EXPECT_EQ(memory.default_space().peak_bytes, 8192);
}

TEST(HostBufferAssignment, DonatedArgumentsTakeTemporariesOthersDoNot) {
  constexpr absl::string_view kEntry = R"(
ENTRY e {
  p = f32[1024] parameter(0)
  q0 = f32[] constant(0)
  q = f32[8] slice(p), slice={[0:8]}
  a = f32[1024] pad(q, q0), padding=0_1016
  b = f32[1024] reverse(a), dimensions={0}
  s = f32[8] slice(b), slice={[0:8]}
  ROOT c = f32[1024] pad(s, q0), padding=0_1016
})";
  const std::unique_ptr<HloModule> donated = ReadModule(
      absl::StrCat("HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }\n", kEntry));
  const MemoryAnalysis memory = Analyze(*donated, "host");
  EXPECT_EQ(memory.buffers[BufferOf(memory, "a")].lies_in, BufferOf(memory, "p"));
  EXPECT_EQ(memory.default_space().temp_bytes, 4096 + 32);
  const std::unique_ptr<HloModule> kept = ReadModule(absl::StrCat("HloModule m, is_scheduled=true\n", kEntry));
  EXPECT_NE(Analyze(*kept, "host").buffers[BufferOf(memory, "a")].lies_in, BufferOf(memory, "p"));
}

TEST(HostBufferAssignment, TablesOfTuplesLieInTheBlockToo) {
  const MemoryAnalysis memory = AnalyzeEntry(R"(
body { s = (s32[], f32[64]) parameter(0)
  ROOT r = (s32[], f32[64]) copy(s) }
cond { s = (s32[], f32[64]) parameter(0)
  ROOT c = pred[] constant(false) }
ENTRY e {
  p = f32[64] parameter(0)
  z = s32[] constant(0)
  i = s32[] copy(z)
  x = f32[64] copy(p)
  t = (s32[], f32[64]) tuple(i, x)
  w = (s32[], f32[64]) while(t), condition=cond, body=body
  g = f32[64] get-tuple-element(w), index=1
  ROOT r = f32[1] slice(g), slice={[0:1]}
})");
  EXPECT_TRUE(memory.has_places);
  EXPECT_GE(memory.buffers[BufferOf(memory, "t{}")].offset, 0);
}

// A module without a schedule, or with a computation that several instructions call, gets an estimate.
TEST(HostBufferAssignment, WithoutAScheduleThereAreNoPlaces) {
  const std::unique_ptr<HloModule> module = ReadModule(R"(HloModule m
ENTRY e {
  p = f32[1024] parameter(0)
  a = f32[1024] negate(p)
  ROOT c = f32[1024] negate(a)
})");
  const MemoryAnalysis memory = Analyze(*module, "host");
  EXPECT_FALSE(memory.has_places);
  EXPECT_EQ(memory.basis, MemoryBasis::kEstimate);
}

// With this many outputs and temporaries, trying every temporary in every output takes too long: the answer is an
// estimate, and quick.
TEST(HostBufferAssignment, WorkIsLimited) {
  constexpr int kCount = 12'000;
  std::string text = "HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[16] parameter(0)\n";
  std::string names, shapes;
  for (int i = 0; i < kCount; ++i) {
    absl::StrAppend(&text, "  o", i, " = f32[16] negate(p)\n");
    absl::StrAppend(&names, i == 0 ? "" : ", ", "o", i);
    absl::StrAppend(&shapes, i == 0 ? "" : ", ", "f32[16]");
  }
  for (int i = 0; i < kCount; ++i) absl::StrAppend(&text, "  t", i, " = f32[16] negate(p)\n");
  absl::StrAppend(&text, "  ROOT r = (", shapes, ") tuple(", names, ")\n}\n");
  const std::unique_ptr<HloModule> module = ReadModule(text);
  EXPECT_EQ(Analyze(*module, "host").basis, MemoryBasis::kEstimate);
}

}  // namespace
}  // namespace kashi::analysis
