// The global programs of the corpus (JAX's, before XLA's partitioner), partitioned here: the devices' programs give the
// global program's results. The arguments are those that each device got from XLA (tests/data/corpus/devices.tsv).
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/literal/npy.h"
#include "kashi/partition/partition_testing.h"

namespace kashi::partition {
namespace {

struct GlobalCase {
  std::string name;
  std::string folder;
  int64_t devices;
  bool is_exact;
};

std::string ContentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<GlobalCase> GlobalCases() {
  const std::string root = KASHI_TEST_DATA "/corpus/";
  std::vector<GlobalCase> cases;
  const std::vector<std::string> lines = absl::StrSplit(ContentsOf(root + "devices.tsv"), '\n', absl::SkipEmpty());
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> columns = absl::StrSplit(lines[i], '\t');
    int64_t devices = 0;
    EXPECT_TRUE(absl::SimpleAtoi(columns.at(1), &devices)) << lines[i];
    cases.push_back({columns[0], root + columns[0], devices, columns.at(2) == "exact"});
  }
  return cases;
}

absl::StatusOr<std::vector<Literal>> WholeArguments(const GlobalCase& c, const HloModule& module) {
  const std::vector<HloSharding> shardings = ParameterShardings(module);
  const std::vector<Shape> wholes = ParameterShapes(module);
  KASHI_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, ShardShapes(wholes, shardings, c.devices));
  std::vector<std::vector<Literal>> arguments(c.devices);
  for (int64_t device = 0; device < c.devices; ++device) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      const std::string path = absl::StrCat(c.folder, "/dev", device, "/in", i, ".npy");
      KASHI_ASSIGN_OR_RETURN(Literal argument, ReadNpy(ContentsOf(path), shapes[i]));
      arguments[device].push_back(std::move(argument));
    }
  }
  return JoinArguments(arguments, shardings, wholes);
}

// Sums are reordered: floats may be off by some units of |x| + 5 % of the largest |x|.
std::string DifferenceOf(const Literal& expected, const Literal& actual, double units) {
  const PrimitiveType type = expected.shape().element_type();
  if (!primitive_util::IsFloatingPointType(type)) return expected == actual ? "" : "other elements";
  const Literal x = expected.Convert(F64).value();
  const Literal y = actual.Convert(F64).value();
  const double epsilon = std::ldexp(1.0, 1 - primitive_util::SignificandWidth(type));
  double largest = 0;
  for (const double value : x.data<double>())
    largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  for (size_t i = 0; i < x.data<double>().size(); ++i) {
    const double want = x.data<double>()[i], got = y.data<double>()[i];
    if (want == got || (std::isnan(want) && std::isnan(got))) continue;
    if (std::abs(want - got) <= units * epsilon * (std::abs(want) + 0.05 * largest)) continue;
    return absl::StrCat("element ", i, " is ", got, " and should be ", want);
  }
  return "";
}

TEST(PartitionCorpusTest, DevicesComputeWhatTheGlobalProgramDoes) {
  for (const GlobalCase& c : GlobalCases()) {
    SCOPED_TRACE(c.name);
    const auto module = ParseAndReturnUnverifiedModule(ContentsOf(absl::StrCat(c.folder, "/before.hlo")));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto arguments = WholeArguments(c, **module);
    ASSERT_TRUE(arguments.ok()) << arguments.status();
    const auto whole = RunWhole(**module, c.devices, *arguments);
    ASSERT_TRUE(whole.ok()) << whole.status();
    const auto parts = PartitionProgram(**module);
    ASSERT_TRUE(parts.ok()) << parts.status();
    EXPECT_EQ(ProgramScopeOf(**parts).kind, ProgramScope::Kind::kPerDevice);
    const auto joined = RunParts(parts->get(), ParameterShardings(**module), *arguments, ShapesOf(*whole));
    ASSERT_TRUE(joined.ok()) << joined.status() << "\n" << (*parts)->ToString();
    for (size_t i = 0; i < whole->size(); ++i) {
      EXPECT_EQ(DifferenceOf((*whole)[i], (*joined)[i], c.is_exact ? 0 : 256), "") << "output " << i;
    }
  }
}

// The printed text of a partitioned program can be read again, and is the same.
TEST(PartitionCorpusTest, TextIsReadAgain) {
  for (const GlobalCase& c : GlobalCases()) {
    SCOPED_TRACE(c.name);
    const auto module = ParseAndReturnUnverifiedModule(ContentsOf(absl::StrCat(c.folder, "/before.hlo")));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto parts = PartitionProgram(**module);
    ASSERT_TRUE(parts.ok()) << parts.status();
    const auto again = ParseAndReturnUnverifiedModule((*parts)->ToString());
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE((*again)->Equal(**parts)) << (*parts)->ToString();
    EXPECT_EQ(Verify(again->get()), absl::OkStatus());
  }
}

}  // namespace
}  // namespace kashi::partition
