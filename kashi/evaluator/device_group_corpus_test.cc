// Programs that XLA partitioned for several devices, with the arguments and results of each device
// (tests/data/corpus/devices.tsv): the partitioned programs, and the whole programs before partitioning.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/evaluator/device_group_testing.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/hlo/spmd/program_shards.h"
#include "kashi/literal/npy.h"

namespace kashi::evaluator {
namespace {

struct CorpusCase {
  std::string folder;
  std::string module;  // the file in it
  int64_t devices;
  double units;  // tolerance, in units of about the last place
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Lines: folder, devices, tolerance (exact, ulp, loose), separated by tabs; the first has their names.
std::vector<CorpusCase> Cases() {
  const std::string root = KASHI_TEST_DATA "/corpus/";
  std::vector<CorpusCase> cases;
  const std::vector<std::string> lines = absl::StrSplit(ReadFile(root + "devices.tsv"), '\n', absl::SkipEmpty());
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> columns = absl::StrSplit(lines[i], '\t');
    int64_t devices = 0;
    EXPECT_TRUE(absl::SimpleAtoi(columns.at(1), &devices)) << lines[i];
    const double units = columns.at(2) == "exact" ? 0 : columns[2] == "ulp" ? 64 : 4096;
    for (const char* module : {"cpu.hlo", "partitioned.hlo", "before.hlo"}) {
      cases.push_back({root + columns[0], module, devices, units});
    }
  }
  return cases;
}

std::string ArrayPath(const CorpusCase& c, int64_t device, const char* what, size_t i) {
  return absl::StrCat(c.folder, "/dev", device, "/", what, i, ".npy");
}

absl::StatusOr<DeviceArguments> ReadArguments(const CorpusCase& c, const std::vector<Shape>& shapes) {
  DeviceArguments arguments(c.devices);
  for (int64_t device = 0; device < c.devices; ++device) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      KASHI_ASSIGN_OR_RETURN(Literal argument, ReadNpy(ReadFile(ArrayPath(c, device, "in", i)), shapes[i]));
      arguments[device].push_back(std::move(argument));
    }
  }
  return arguments;
}

// XLA:CPU adds in another order and has its own transcendental functions: floats may be off by some units of
// |x| + 5 % of the largest |x|. "" if the arrays are near enough.
std::string Difference(const Literal& expected, const Literal& actual, double units) {
  const PrimitiveType type = expected.shape().element_type();
  if (!primitive_util::IsFloatingPointType(type)) return expected == actual ? "" : "other elements";
  const Literal x = expected.Convert(F64).value();
  const Literal y = actual.Convert(F64).value();
  const double epsilon = std::ldexp(1.0, 1 - primitive_util::SignificandWidth(type));
  double largest = 0;
  for (const double value : x.data<double>()) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  for (size_t i = 0; i < x.data<double>().size(); ++i) {
    const double want = x.data<double>()[i], got = y.data<double>()[i];
    if (want == got || (std::isnan(want) && std::isnan(got))) continue;
    if (std::abs(want - got) <= units * epsilon * (std::abs(want) + 0.05 * largest)) continue;
    return absl::StrCat("element ", i, " is ", got, " and should be ", want);
  }
  return "";
}

std::vector<Literal> OutputsOf(Literal result) {
  if (result.shape().IsTuple()) return result.DecomposeTuple();
  std::vector<Literal> outputs;
  outputs.push_back(std::move(result));
  return outputs;
}

void Check(const CorpusCase& c) {
  const auto module = ParseAndReturnUnverifiedModule(ReadFile(absl::StrCat(c.folder, "/", c.module)));
  ASSERT_TRUE(module.ok()) << module.status();
  const ProgramScope scope = ProgramScopeOf(**module);
  EXPECT_EQ(scope.kind, ProgramScope::Kind::kPerDevice) << scope.reason;
  EXPECT_EQ(scope.partitions, c.devices);
  auto arguments = ReadArguments(c, ParameterShapes(**module));
  ASSERT_TRUE(arguments.ok()) << arguments.status();
  auto results = RunOnDevices(**module, *std::move(arguments));
  ASSERT_TRUE(results.ok()) << results.status();
  for (int64_t device = 0; device < c.devices; ++device) {
    const std::vector<Literal> outputs = OutputsOf(std::move((*results)[device]));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto expected = ReadNpy(ReadFile(ArrayPath(c, device, "out", i)), outputs[i].shape());
      ASSERT_TRUE(expected.ok()) << expected.status();
      EXPECT_EQ(Difference(*expected, outputs[i], c.units), "") << "device " << device << " output " << i;
    }
  }
}

// The arguments of the devices, as arguments of the whole program.
absl::StatusOr<std::vector<Literal>> ReadWholeArguments(const CorpusCase& c, const HloModule& module) {
  const std::vector<HloSharding> shardings = ParameterShardings(module);
  const std::vector<Shape> wholes = ParameterShapes(module);
  KASHI_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, ShardShapes(wholes, shardings, c.devices));
  KASHI_ASSIGN_OR_RETURN(const DeviceArguments by_device, ReadArguments(c, shapes));
  return JoinArguments(by_device, shardings, wholes);
}

absl::StatusOr<Literal> RunWhole(const HloModule& module, int64_t devices, const std::vector<Literal>& arguments) {
  EvaluationOptions options;
  options.global_devices = devices;
  EvaluationRun run(options);
  std::vector<Value> values;
  for (const Literal& argument : arguments) {
    KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(argument, run.budget()));
    values.push_back(std::move(value));
  }
  KASHI_ASSIGN_OR_RETURN(const Value result, run.Call(*module.entry_computation(), std::move(values)));
  return result.ToLiteral(module.entry_computation()->root_instruction()->shape());
}

// Whether there is a way in which the output lies on the devices so that each has what XLA computed there.
std::string DifferenceOfShards(const CorpusCase& c, const HloModule& module, const Literal& output, size_t i) {
  std::vector<Literal> shards;
  for (int64_t device = 0; device < c.devices; ++device) {
    const std::string bytes = ReadFile(ArrayPath(c, device, "out", i));
    const auto sizes = ReadNpySizes(bytes);
    if (!sizes.ok()) return std::string(sizes.status().message());
    shards.push_back(ReadNpy(bytes, ShapeUtil::MakeShape(output.shape().element_type(), *sizes)).value());
  }
  const std::vector<LiteralSlice> slices(shards.begin(), shards.end());
  std::string difference = "no sharding fits";
  for (const HloSharding& sharding :
       PossibleShardings(output.shape().dimensions(), shards[0].shape().dimensions(), MeshAxesOf(module, c.devices),
                         c.devices, ResultShardings(module)[i])) {
    difference = "";
    const std::vector<Literal> copies = JoinEachCopy(slices, sharding, output.shape()).value();
    for (const Literal& copy : copies) {
      absl::StrAppend(&difference, Difference(copy, output, c.units));
    }
    if (difference.empty()) return "";
  }
  return difference;
}

void CheckWhole(const CorpusCase& c) {
  const auto module = ParseAndReturnUnverifiedModule(ReadFile(absl::StrCat(c.folder, "/", c.module)));
  ASSERT_TRUE(module.ok()) << module.status();
  const ProgramScope scope = ProgramScopeOf(**module);
  EXPECT_TRUE(scope.is_global()) << scope.reason;
  EXPECT_EQ(scope.partitions, c.devices);
  const auto arguments = ReadWholeArguments(c, **module);
  ASSERT_TRUE(arguments.ok()) << arguments.status();
  auto result = RunWhole(**module, c.devices, *arguments);
  ASSERT_TRUE(result.ok()) << result.status();
  const std::vector<Literal> outputs = OutputsOf(*std::move(result));
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(DifferenceOfShards(c, **module, outputs[i], i), "") << "output " << i;
  }
}

TEST(DeviceGroupCorpusTest, EveryDeviceComputesWhatXlaComputes) {
  for (const CorpusCase& c : Cases()) {
    if (c.module == "before.hlo") continue;
    SCOPED_TRACE(absl::StrCat(c.folder, "/", c.module));
    Check(c);
  }
}

TEST(DeviceGroupCorpusTest, TheWholeProgramComputesWhatTheDevicesDo) {
  for (const CorpusCase& c : Cases()) {
    if (c.module != "before.hlo") continue;
    SCOPED_TRACE(c.folder);
    CheckWhole(c);
  }
}

}  // namespace
}  // namespace kashi::evaluator
