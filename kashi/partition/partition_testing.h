// Helpers that the tests of this room share: a global program beside its partitioned form.
#ifndef KASHI_PARTITION_PARTITION_TESTING_H_
#define KASHI_PARTITION_PARTITION_TESTING_H_

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/array/layout_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/hlo/spmd/program_shards.h"
#include "kashi/hlo/spmd/sharded_literal.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/literal/literal.h"
#include "kashi/partition/partition_program.h"
#include "kashi/values/value.h"

namespace kashi::partition {

inline absl::Status Verify(HloModule* module) {
  return HloVerifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true).Run(module).status();
}

// The leaves of a result.
inline std::vector<Literal> OutputsIn(Literal result) {
  std::vector<Literal> outputs;
  if (!result.shape().IsTuple()) {
    outputs.push_back(std::move(result));
    return outputs;
  }
  for (Literal& element : result.DecomposeTuple()) {
    for (Literal& leaf : OutputsIn(std::move(element))) outputs.push_back(std::move(leaf));
  }
  return outputs;
}

inline absl::StatusOr<std::vector<Literal>> RunWhole(const HloModule& module, int64_t devices,
                                                     const std::vector<Literal>& arguments) {
  EvaluationOptions options;
  options.global_devices = devices;
  evaluator::EvaluationRun run(options);
  std::vector<Value> values;
  for (const Literal& argument : arguments) {
    KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(argument, run.budget()));
    values.push_back(std::move(value));
  }
  KASHI_ASSIGN_OR_RETURN(const Value result, run.Call(*module.entry_computation(), std::move(values)));
  Shape shape = module.result_shape();
  LayoutUtil::SetToDefaultLayout(&shape);
  KASHI_ASSIGN_OR_RETURN(Literal literal, result.ToLiteral(shape));
  return OutputsIn(std::move(literal));
}

// The outputs of the devices' program, each joined; an error if copies of one part differ. The module is verified
// before, as it is and after it was printed and read.
inline absl::StatusOr<std::vector<Literal>> RunParts(HloModule* parts, const std::vector<HloSharding>& shardings,
                                                     const std::vector<Literal>& arguments,
                                                     const std::vector<Shape>& wholes) {
  KASHI_RETURN_IF_ERROR(Verify(parts));
  const int64_t devices = parts->config().num_partitions();
  KASHI_ASSIGN_OR_RETURN(std::vector<std::vector<Literal>> by_device, SplitArguments(arguments, shardings, devices));
  KASHI_ASSIGN_OR_RETURN(std::vector<Literal> results, RunOnDevices(*parts, std::move(by_device)));
  std::vector<std::vector<Literal>> outputs;
  for (Literal& result : results) outputs.push_back(OutputsIn(std::move(result)));
  const std::vector<std::optional<HloSharding>> known = ResultShardings(*parts);
  std::vector<Literal> joined;
  for (size_t i = 0; i < wholes.size(); ++i) {
    std::vector<LiteralSlice> shards;
    for (const std::vector<Literal>& of_device : outputs) shards.emplace_back(of_device[i]);
    if (!known[i].has_value()) return Internal("output %d has no sharding", i);
    KASHI_ASSIGN_OR_RETURN(const auto different, FindDifferentCopy(shards, *known[i], wholes[i]));
    if (different.has_value()) return Internal("output %d: %s", i, different->ToString());
    KASHI_ASSIGN_OR_RETURN(Literal whole, JoinLiterals(shards, *known[i], wholes[i]));
    joined.push_back(std::move(whole));
  }
  return joined;
}

inline std::vector<Shape> ShapesOf(const std::vector<Literal>& literals) {
  std::vector<Shape> shapes;
  for (const Literal& literal : literals) shapes.push_back(literal.shape());
  return shapes;
}

// "" if the outputs of the partitioned program equal those of the global one, bit for bit.
inline std::string DifferenceFromWhole(const HloModule& module, int64_t devices,
                                       const std::vector<Literal>& arguments) {
  auto whole = RunWhole(module, devices, arguments);
  if (!whole.ok()) return absl::StrCat("whole: ", whole.status().ToString());
  PartitionOptions options;
  options.num_partitions = devices;
  auto parts = PartitionProgram(module, options);
  if (!parts.ok()) return absl::StrCat("partition: ", parts.status().ToString());
  auto joined = RunParts(parts->get(), ParameterShardings(module), arguments, ShapesOf(*whole));
  if (!joined.ok()) return absl::StrCat("parts: ", joined.status().ToString(), "\n", (*parts)->ToString());
  for (size_t i = 0; i < whole->size(); ++i) {
    if ((*whole)[i].shape().IsToken()) continue;
    const Literal& a = (*whole)[i];
    const Literal& b = (*joined)[i];
    if (a.size_bytes() == b.size_bytes() && std::memcmp(a.untyped_data(), b.untyped_data(), a.size_bytes()) == 0) {
      continue;
    }
    return absl::StrCat("output ", i, " is ", b.ToString(), "\nand should be ", a.ToString(), "\n",
                        (*parts)->ToString());
  }
  return "";
}

// ---- Programs on four devices.

// Small whole numbers: sums are exact.
inline std::vector<Literal> WholeNumbersFor(const HloModule& module, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Literal> arguments;
  for (const Shape& shape : ParameterShapes(module)) {
    Literal numbers(ShapeUtil::MakeShape(S32, shape.dimensions()));
    for (int32_t& number : numbers.data<int32_t>()) number = static_cast<int32_t>(random() % 9) - 4;
    arguments.push_back(numbers.Convert(shape.element_type()).value());
  }
  return arguments;
}

inline std::unique_ptr<HloModule> ReadModule(absl::string_view text) {
  auto module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// Runs it both ways.
inline void ExpectSame(absl::string_view text) {
  const std::unique_ptr<HloModule> module = ReadModule(text);
  const int64_t devices = ProgramScopeOf(*module).partitions;
  EXPECT_EQ(DifferenceFromWhole(*module, devices, WholeNumbersFor(*module, 1)), "") << text;
}

// The collectives of the partitioned program, in print order.
inline std::string CollectivesOf(absl::string_view text) {
  const auto parts = PartitionProgram(*ReadModule(text));
  if (!parts.ok()) return parts.status().ToString();
  std::vector<std::string> names;
  for (const HloComputation* computation : (*parts)->MakeComputationPostOrder()) {
    for (const HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (!GetHloOpcodeInfo(instruction->opcode()).Has(HloOpcodeFlags::kCollective)) continue;
      names.push_back(std::string(HloOpcodeString(instruction->opcode())));
    }
  }
  return absl::StrJoin(names, " ");
}

inline constexpr char kAdd[] = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n";

inline std::string Program(absl::string_view body) {
  return absl::StrCat("HloModule m, num_partitions=4\n", kAdd, "ENTRY main {\n", body, "\n}\n");
}

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_PARTITION_TESTING_H_
