#include "kashi/query/submodule.h"

#include <cstring>
#include <random>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "kashi/analysis/fake_arguments.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/query/submodule_testing.h"

namespace kashi::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<const HloInstruction*> Named(const HloModule& module, const std::vector<std::string>& names) {
  std::vector<const HloInstruction*> found;
  for (const std::string& name : names) found.push_back(FindByName(module, name));
  return found;
}

std::string Body(const HloModule& module) {
  const auto options = HloPrintOptions::ShortParsable().set_print_control_dependencies(true);
  return module.entry_computation()->ToString(options);
}

// The text of the entry of the part.
std::string Extracted(absl::string_view text, const std::vector<std::string>& names, int64_t with_operands = 0) {
  const std::unique_ptr<HloModule> module = ReadModule(text);
  const auto part = ExtractSubmodule(*module, Named(*module, names), {with_operands});
  if (!part.ok()) return std::string(part.status().message());
  EXPECT_TRUE(VerifyHlo(*part->module).empty()) << part->module->ToString();
  return Body(*part->module);
}

constexpr char kChain[] = R"(
HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  c = f32[] constant(2)
  b = f32[8] broadcast(c), dimensions={}
  x = f32[8] exponential(a), metadata={op_name="exp"}
  y = f32[8] multiply(x, b)
  z = f32[8] multiply(y, y)
  ROOT r = f32[8] add(z, a)
})";

TEST(SubmoduleTest, OperandsFromOutsideBecomeParameters) {
  EXPECT_EQ(Extracted(kChain, {"y", "z"}), R"(e {
  x = f32[8]{0} parameter(0)
  c = f32[] constant(2)
  b = f32[8]{0} broadcast(c), dimensions={}
  y = f32[8]{0} multiply(x, b)
  ROOT z = f32[8]{0} multiply(y, y)
})");
}

TEST(SubmoduleTest, ValuesThatOthersUseAreResults) {
  EXPECT_EQ(Extracted(kChain, {"x", "z"}), R"(e {
  a = f32[8]{0} parameter(0)
  x = f32[8]{0} exponential(a)
  y = f32[8]{0} parameter(1)
  z = f32[8]{0} multiply(y, y)
  ROOT tuple = (f32[8]{0}, f32[8]{0}) tuple(x, z)
})");
}

TEST(SubmoduleTest, WithOperandsGrows) {
  EXPECT_EQ(Extracted(kChain, {"z"}, 1), R"(e {
  x = f32[8]{0} parameter(0)
  c = f32[] constant(2)
  b = f32[8]{0} broadcast(c), dimensions={}
  y = f32[8]{0} multiply(x, b)
  ROOT z = f32[8]{0} multiply(y, y)
})");
}

TEST(SubmoduleTest, OnlyParametersAndConstantsAreTheirOwnResults) {
  EXPECT_EQ(Extracted(kChain, {"c", "a"}), R"(e {
  a = f32[8]{0} parameter(0)
  c = f32[] constant(2)
  ROOT tuple = (f32[8]{0}, f32[]) tuple(a, c)
})");
}

TEST(SubmoduleTest, ParametersKeepTheirOrderMetadataAndSharding) {
  const std::unique_ptr<HloModule> module = ReadModule(R"(
HloModule m, num_partitions=2
ENTRY e {
  b = f32[8] parameter(1)
  a = f32[8] parameter(0)
  x = f32[8] exponential(b), sharding={devices=[2]0,1}, metadata={op_name="exp"}
  y = f32[8] subtract(x, b)
  ROOT r = f32[8] add(y, a)
})");
  const auto part = ExtractSubmodule(*module, Named(*module, {"y", "r"}));
  ASSERT_TRUE(part.ok()) << part.status();
  const HloComputation& entry = *part->module->entry_computation();
  std::vector<std::string> names;
  for (const HloInstruction* parameter : entry.parameter_instructions()) names.emplace_back(parameter->name());
  EXPECT_THAT(names, ElementsAre("a", "b", "x"));
  EXPECT_EQ(entry.parameter_instruction(2)->metadata().op_name(), "exp");
  EXPECT_EQ(entry.parameter_instruction(2)->sharding().ToString(), "{devices=[2]0,1}");
  EXPECT_EQ(part->module->config().num_partitions(), 2);
  ASSERT_EQ(part->parameters.size(), 3);
  EXPECT_EQ(part->parameters[2].instruction, FindByName(*module, "x"));
  ASSERT_EQ(part->results.size(), 1);
  EXPECT_EQ(part->results[0].instruction, module->entry_computation()->root_instruction());
}

constexpr char kLoop[] = R"(
HloModule m
add { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }
body {
  state = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  v = f32[8] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = f32[8] multiply(v, v)
  ROOT new = (s32[], f32[8]) tuple(next, w)
}
condition {
  state.1 = (s32[], f32[8]) parameter(0)
  j = s32[] get-tuple-element(state.1), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(j, n), direction=LT
}
ENTRY e {
  start = (s32[], f32[8]) parameter(0)
  loop = (s32[], f32[8]) while(start), condition=condition, body=body
  out = f32[8] get-tuple-element(loop), index=1
  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(out, zero), dimensions={0}, to_apply=add
})";

TEST(SubmoduleTest, ElementsOfATupleOutsideAreParameters) {
  EXPECT_EQ(Extracted(kLoop, {"v", "w"}), R"(body {
  v = f32[8]{0} parameter(0)
  ROOT w = f32[8]{0} multiply(v, v)
})");
}

TEST(SubmoduleTest, CalledComputationsAreCopied) {
  const std::unique_ptr<HloModule> module = ReadModule(kLoop);
  const auto part = ExtractSubmodule(*module, Named(*module, {"loop", "w", "sum"}));
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_TRUE(VerifyHlo(*part->module).empty());
  EXPECT_EQ(Body(*part->module), R"(e {
  start = (s32[], f32[8]{0}) parameter(0)
  loop = (s32[], f32[8]{0}) while(start), condition=condition, body=body
  out = f32[8]{0} parameter(1)
  zero = f32[] constant(0)
  sum = f32[] reduce(out, zero), dimensions={0}, to_apply=add
  ROOT tuple = ((s32[], f32[8]{0}), f32[]) tuple(loop, sum)
})");
  EXPECT_EQ(part->module->computation_count(), 4);
  EXPECT_THAT(part->notes, ElementsAre("1 instruction is in computations that others call, and copied with those"));
}

TEST(SubmoduleTest, PartsOfSeveralComputationsStandSideBySide) {
  EXPECT_EQ(Extracted(kLoop, {"next", "less"}), R"(main {
  i = s32[] parameter(0)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  j = s32[] parameter(1)
  n = s32[] constant(3)
  less = pred[] compare(j, n), direction=LT
  ROOT tuple = (s32[], pred[]) tuple(next, less)
})");
}

TEST(SubmoduleTest, AsynchronousOperationsAreWhole) {
  constexpr char kCopy[] = R"(
HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  s = (f32[8], f32[8], u32[]) copy-start(a)
  b = f32[8] negate(a)
  d = f32[8] copy-done(s)
  ROOT r = f32[8] add(b, d)
})";
  constexpr char kPart[] = R"(e {
  a = f32[8]{0} parameter(0)
  s = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(a)
  ROOT d = f32[8]{0} copy-done(s)
})";
  EXPECT_EQ(Extracted(kCopy, {"s"}), kPart);
  EXPECT_EQ(Extracted(kCopy, {"d"}), kPart);
  const std::unique_ptr<HloModule> module = ReadModule(kCopy);
  EXPECT_THAT(ExtractSubmodule(*module, Named(*module, {"d"}))->notes,
              ElementsAre("s is added: the value between it and the part cannot cross a cut"));
}

TEST(SubmoduleTest, TokensAreNotPassed) {
  EXPECT_EQ(Extracted(R"(
HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  t = token[] after-all()
  in = (f32[8], token[]) infeed(t)
  x = f32[8] get-tuple-element(in), index=0
  u = token[] get-tuple-element(in), index=1
  o = token[] outfeed(x, u), outfeed_shape=f32[8]
  ROOT y = f32[8] add(x, a)
})",
                      {"in", "o"}),
            R"(e {
  x = f32[8]{0} parameter(0)
  u = token[] after-all()
  o = token[] outfeed(x, u), outfeed_shape=f32[8]{0}
  t = token[] after-all()
  in = (f32[8]{0}, token[]) infeed(t)
  ROOT get-tuple-element = f32[8]{0} get-tuple-element(in), index=0
})");
}

TEST(SubmoduleTest, ControlDependenciesWithinThePartStay) {
  EXPECT_EQ(Extracted(R"(
HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  x = f32[8] exponential(a)
  y = f32[8] negate(a), control-predecessors={x}
  z = f32[8] sine(a), control-predecessors={y}
  ROOT r = (f32[8], f32[8], f32[8]) tuple(x, y, z)
})",
                      {"x", "y"}),
            R"(e {
  a = f32[8]{0} parameter(0)
  x = f32[8]{0} exponential(a)
  y = f32[8]{0} negate(a), control-predecessors={x}
  ROOT tuple = (f32[8]{0}, f32[8]{0}) tuple(x, y)
})");
}

TEST(SubmoduleTest, AliasesAreLeftOutWithANote) {
  const std::unique_ptr<HloModule> module = ReadModule(R"(
HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, is_scheduled=true
ENTRY e {
  a = f32[8]{0:T(256)} parameter(0)
  x = f32[8]{0:T(256)} exponential(a)
  ROOT r = f32[8]{0:T(256)} negate(x)
})");
  const auto part = ExtractSubmodule(*module, Named(*module, {"x"}));
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_TRUE(part->module->input_output_alias_config().empty());
  EXPECT_THAT(part->notes, ElementsAre(HasSubstr("input_output_alias")));
  EXPECT_TRUE(part->module->has_schedule());
  EXPECT_EQ(part->module->entry_computation_layout().ToString(), "(f32[8]{0:T(256)})->f32[8]{0:T(256)}");
}

TEST(SubmoduleTest, NothingChosenIsAnError) {
  const std::unique_ptr<HloModule> module = ReadModule(kChain);
  EXPECT_EQ(ExtractSubmodule(*module, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

// ---- Laws -----------------------------------------------------------------------------------------------------------

HloVerifierOpts Rules() {
  HloVerifierOpts rules;
  rules.allow_mixed_precision = true;
  return rules;
}

std::string Findings(const HloModule& module) {
  return absl::StrJoin(VerifyHlo(module, Rules()), "\n", [](std::string* out, const HloFinding& finding) {
    absl::StrAppend(out, finding.rule, ": ", finding.message);
  });
}

// Each with a probability that is drawn too.
std::vector<const HloInstruction*> RandomSubset(const HloComputation& computation, std::mt19937_64* random) {
  const double share = std::uniform_real_distribution<double>(0.05, 1)(*random);
  std::vector<const HloInstruction*> chosen;
  for (const HloInstruction* x : computation.instructions()) {
    if (std::bernoulli_distribution(share)(*random)) chosen.push_back(x);
  }
  return chosen;
}

// Whether the text of the module has all of it.
bool ReadsBack(const HloModule& module) {
  const auto again = ParseAndReturnUnverifiedModule(module.ToString(HloPrintOptions().set_print_large_constants(true)));
  return again.ok() && (*again)->Equal(module);
}

// For all modules of the corpus, for all devices: a part is valid, and its text has all of it.
TEST(SubmoduleLawTest, PartsAreValid) {
  std::mt19937_64 random(20);
  int64_t parts = 0;
  for (const std::string& path : CorpusPaths(/*most_bytes=*/60'000)) {
    const std::unique_ptr<HloModule> module = ReadModule(ReadTestFile(path));
    if (!Findings(*module).empty()) continue;
    const bool reads_back = ReadsBack(*module);
    for (int round = 0; round < 4; ++round) {
      const auto& computations = module->computations();
      std::vector<const HloInstruction*> chosen;
      for (int some = 0; some < 1 + round / 2; ++some) {
        const auto* computation = computations[random() % computations.size()];
        const auto more = RandomSubset(round == 0 ? *module->entry_computation() : *computation, &random);
        chosen.insert(chosen.end(), more.begin(), more.end());
      }
      if (chosen.empty()) continue;
      const auto part = ExtractSubmodule(*module, chosen, {static_cast<int64_t>(random() % 3)});
      ASSERT_TRUE(part.ok()) << path << ": " << part.status();
      ASSERT_EQ(Findings(*part->module), "") << path << " " << round;
      ASSERT_EQ(part->parameters.size(), part->module->entry_computation()->num_parameters());
      ASSERT_TRUE(!reads_back || ReadsBack(*part->module)) << path << " " << round;
      ++parts;
    }
  }
  EXPECT_GT(parts, 300);
}

using Trace = absl::flat_hash_map<const HloInstruction*, Literal>;

// Values that fit into memory, and no longer run than a test may take.
EvaluationOptions SmallRun() {
  EvaluationOptions options;
  options.excess_precision = false;
  options.max_work = 2'000'000;
  options.memory_limit_bytes = int64_t{64} << 20;
  return options;
}

// The last value of each instruction.
absl::StatusOr<Trace> TraceOf(const HloModule& module) {
  Trace trace;
  EvaluationOptions options = SmallRun();
  options.observer = [&trace](const HloInstruction& x, const Value& value) {
    if (ShapeUtil::HasPrimitiveType(x.shape(), TOKEN)) return absl::OkStatus();
    absl::StatusOr<Literal> literal = value.ToLiteral(x.shape());
    if (literal.ok()) trace.insert_or_assign(&x, *std::move(literal));
    return absl::OkStatus();
  };
  KASHI_ASSIGN_OR_RETURN(std::vector<FakeArgument> arguments, MakeFakeArguments(module));
  std::vector<Literal> literals;
  for (FakeArgument& argument : arguments) literals.push_back(std::move(argument.literal));
  std::vector<const Literal*> pointers;
  for (const Literal& literal : literals) pointers.push_back(&literal);
  KASHI_RETURN_IF_ERROR(HloEvaluator(options).Evaluate(module, pointers).status());
  for (size_t i = 0; i < literals.size(); ++i) {
    trace.insert_or_assign(module.entry_computation()->parameter_instruction(static_cast<int64_t>(i)),
                           std::move(literals[i]));
  }
  return trace;
}

// Whether the values depend on the instruction and its operands alone.
bool IsPure(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      const HloOpcodeInfo& info = GetHloOpcodeInfo(x->opcode());
      if (info.Has(HloOpcodeFlags::kCollective | HloOpcodeFlags::kRandom) || x->HasSideEffectNoRecurse()) return false;
    }
  }
  return module.config().num_partitions() * module.config().replica_count() == 1;
}

// "" if all bits are equal.
std::string Difference(const Literal& expected, const Literal& actual) {
  std::string difference;
  ShapeUtil::ForEachSubshape(expected.shape(), [&](const Shape& shape, const ShapeIndex& index) {
    if (!shape.IsArray()) return;
    const bool same = expected.size_bytes(index) == actual.size_bytes(index) &&
                      std::memcmp(expected.untyped_data(index), actual.untyped_data(index),
                                  static_cast<size_t>(expected.size_bytes(index))) == 0;
    if (!same) absl::StrAppend(&difference, "at ", index.ToString(), "\n");
  });
  return difference;
}

// Runs the part on the program's values. False where the program did not compute the values that it needs.
bool CheckValues(const Submodule& part, const Trace& trace, const std::string& place) {
  std::vector<Literal> arguments;
  for (const CutValue& value : part.parameters) {
    const auto found = trace.find(value.instruction);
    if (found == trace.end()) return false;
    arguments.push_back(LiteralSlice(found->second, value.index).Clone());
  }
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  absl::StatusOr<Literal> result = HloEvaluator(SmallRun()).Evaluate(*part.module, pointers);
  EXPECT_TRUE(result.ok()) << place << ": " << result.status() << "\n" << part.module->ToString();
  if (!result.ok()) return false;
  for (size_t i = 0; i < part.results.size(); ++i) {
    const auto expected = trace.find(part.results[i].instruction);
    if (expected == trace.end()) return false;
    const Literal whole = LiteralSlice(expected->second, part.results[i].index).Clone();
    const Literal ours =
        part.results.size() == 1 ? result->Clone() : LiteralSlice(*result, {static_cast<int64_t>(i)}).Clone();
    EXPECT_EQ(Difference(whole, ours), "") << place << ": " << part.results[i].instruction->name() << "\n"
                                           << part.module->ToString();
  }
  return true;
}

// A part has the values of the whole program at its cut, bit by bit.
TEST(SubmoduleLawTest, PartsHaveTheValuesOfTheWhole) {
  std::mt19937_64 random(40);
  int64_t modules = 0, parts = 0;
  for (const std::string& path : CorpusPaths(/*most_bytes=*/40'000)) {
    const std::unique_ptr<HloModule> module = ReadModule(ReadTestFile(path));
    if (!Findings(*module).empty() || !IsPure(*module)) continue;
    const absl::StatusOr<Trace> trace = TraceOf(*module);
    if (!trace.ok()) continue;  // too long for a test
    ++modules;
    for (int round = 0; round < 4; ++round) {
      const auto& computations = module->computations();
      const HloComputation* computation = computations[random() % computations.size()];
      const auto chosen = RandomSubset(round < 2 ? *module->entry_computation() : *computation, &random);
      if (chosen.empty()) continue;
      const auto part = ExtractSubmodule(*module, chosen, {static_cast<int64_t>(random() % 2)});
      ASSERT_TRUE(part.ok()) << path << ": " << part.status();
      if (CheckValues(*part, *trace, absl::StrCat(path, " ", round))) ++parts;
    }
  }
  EXPECT_GT(modules, 40);
  EXPECT_GT(parts, 100);
}

}  // namespace
}  // namespace kashi::query
