#include "kashi/partition/custom_call_partitioner.h"

#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/partition/partition_testing.h"

namespace kashi::partition {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Shardings = std::vector<HloSharding>;
using Partitioned = CustomCallPartitioner::Partitioned;

HloSharding ParsedSharding(absl::string_view text) {
  const absl::StatusOr<HloSharding> sharding = ParseSharding(text);
  EXPECT_TRUE(sharding.ok()) << sharding.status();
  return *sharding;
}

std::string ShapeText(const Shape& shape) { return ShapeUtil::HumanString(shape); }

// Keeps what it was asked, and answers as its functions say.
class Recorder : public CustomCallPartitioner {
 public:
  absl::StatusOr<std::optional<HloSharding>> InferShardingFromOperands(
      const HloInstruction& call, absl::Span<const HloSharding> operands) const override {
    asked_.push_back(absl::StrCat("infer ", operands[0].ToString()));
    return infer(call, Shardings(operands.begin(), operands.end()));
  }
  absl::StatusOr<HloSharding> PropagateUserSharding(const HloInstruction&, const HloSharding& sharding) const override {
    asked_.push_back(absl::StrCat("propagate ", sharding.ToString()));
    return propagate(sharding);
  }
  absl::StatusOr<Partitioned> Partition(const HloInstruction& call, absl::Span<const HloSharding> operands,
                                        const HloSharding& result) const override {
    asked_.push_back(absl::StrCat("partition ", operands[0].ToString(), " to ", result.ToString()));
    return partition(call, Shardings(operands.begin(), operands.end()), result);
  }

  std::vector<std::string> asked() const { return asked_; }

  std::function<absl::StatusOr<std::optional<HloSharding>>(const HloInstruction&, const Shardings&)> infer =
      [](const HloInstruction&, const Shardings& operands) { return operands[0]; };
  std::function<absl::StatusOr<HloSharding>(const HloSharding&)> propagate = [](const HloSharding& sharding) {
    return sharding;
  };
  std::function<absl::StatusOr<Partitioned>(const HloInstruction&, const Shardings&, const HloSharding&)> partition;

 private:
  mutable std::vector<std::string> asked_;
};

class Targets : public CustomCallPartitioners {
 public:
  std::shared_ptr<const CustomCallPartitioner> Find(absl::string_view target) const override {
    return target == "negated" ? recorder : nullptr;
  }
  bool IsBatchPartitionable(absl::string_view target) const override { return target == "batched"; }

  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
};

// -x of a shard that all arrays have, wherever they lay before.
absl::StatusOr<Partitioned> Negated(const HloInstruction& call, const HloSharding& operand, const HloSharding& result) {
  const std::string shape = ShapeText(operand.TileShape(call.operand(0)->shape()));
  auto module = ParseAndReturnUnverifiedModule(
      absl::StrReplaceAll("HloModule p\nENTRY e {\n x = S parameter(0)\n ROOT y = S negate(x)\n}\n", {{"S", shape}}));
  if (!module.ok()) return module.status();
  return Partitioned{*std::move(module), {operand}, result};
}

class CustomCallPartitionerTest : public testing::Test {
 protected:
  CustomCallPartitionerTest() {
    options_.custom_calls = &targets_;
    recorder().partition = [](const HloInstruction& call, const Shardings&, const HloSharding& result) {
      return Negated(call, result, result);
    };
  }

  Recorder& recorder() { return *targets_.recorder; }

  static std::unique_ptr<HloModule> Read(absl::string_view body) {
    auto module = ParseAndReturnUnverifiedModule(absl::StrCat("HloModule m, num_partitions=4\n", body));
    EXPECT_TRUE(module.ok()) << module.status();
    return *std::move(module);
  }
  absl::StatusOr<std::unique_ptr<HloModule>> Partition(absl::string_view body) {
    return PartitionProgram(*Read(body), options_);
  }
  std::string ErrorOf(absl::string_view body) { return std::string(Partition(body).status().message()); }

  // "" if the parts of the program give what it gives with `negate` in place of the calls.
  std::string Difference(absl::string_view body) {
    const std::unique_ptr<HloModule> module = Read(body);
    const std::unique_ptr<HloModule> plain =
        Read(absl::StrReplaceAll(body, {{"custom-call(", "negate("}, {", custom_call_target=\"negated\"", ""}}));
    std::mt19937 random(7);
    std::vector<Literal> arguments;
    for (const Shape& shape : ParameterShapes(*module)) {
      Literal numbers(ShapeUtil::MakeShape(S32, shape.dimensions()));
      for (int32_t& number : numbers.data<int32_t>()) number = static_cast<int32_t>(random() % 100);
      arguments.push_back(numbers.Convert(shape.element_type()).value());
    }
    auto whole = RunWhole(*plain, 4, arguments);
    if (!whole.ok()) return absl::StrCat("whole: ", whole.status().ToString());
    auto parts = PartitionProgram(*module, options_);
    if (!parts.ok()) return absl::StrCat("partition: ", parts.status().ToString());
    auto joined = RunParts(parts->get(), ParameterShardings(*module), arguments, ShapesOf(*whole));
    if (!joined.ok()) return absl::StrCat("parts: ", joined.status().ToString(), "\n", (*parts)->ToString());
    for (size_t i = 0; i < whole->size(); ++i) {
      if ((*whole)[i] == (*joined)[i]) continue;
      return absl::StrCat("output ", i, " is ", (*joined)[i].ToString(), "\nand should be ", (*whole)[i].ToString(),
                          "\n", (*parts)->ToString());
    }
    return "";
  }

  Targets targets_;
  PartitionOptions options_;
};

constexpr char kCall[] = R"(ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
  y = f32[8,4] custom-call(x), custom_call_target="negated"
  ROOT z = f32[8,4] add(y, y)
})";

TEST_F(CustomCallPartitionerTest, ShardingsOfOperandsDecide) {
  EXPECT_EQ(Difference(kCall), "");
  EXPECT_THAT(recorder().asked(), ElementsAre("infer {devices=[4,1]<=[4]}", "propagate {devices=[4,1]<=[4]}",
                                              "partition {devices=[4,1]<=[4]} to {devices=[4,1]<=[4]}"));
  const auto parts = Partition(kCall);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ((*parts)->entry_computation()->root_instruction()->operand(0)->opcode(), HloOpcode::kNegate);
  EXPECT_EQ(ShapeText((*parts)->result_shape()), "f32[2,4]");
}

TEST_F(CustomCallPartitionerTest, UsersDecideWhereOperandsDoNot) {
  const std::string text = absl::StrReplaceAll(kCall, {{", sharding={devices=[4,1]<=[4]}", ", sharding={replicated}"},
                                                       {"add(y, y)", "add(y, y), sharding={devices=[2,2]<=[4]}"}});
  EXPECT_EQ(Difference(text), "");
  EXPECT_THAT(recorder().asked(), ElementsAre("infer {replicated}", "propagate {devices=[2,2]<=[4]}",
                                              "partition {replicated} to {devices=[2,2]<=[4]}"));
}

// An operand of the same sizes lies as the result does, and then the partitioner is asked again.
TEST_F(CustomCallPartitionerTest, OperandsFollowTheResult) {
  EXPECT_EQ(Difference(R"(ENTRY main {
    x = f32[8,4] parameter(0), sharding={replicated}
    o = f32[8,4] add(x, x)
    y = f32[8,4] custom-call(o), custom_call_target="negated"
    ROOT z = f32[8,4] add(y, y), sharding={devices=[2,2]<=[4]}
  })"),
            "");
  EXPECT_THAT(recorder().asked(),
              ElementsAre("infer {replicated}", "propagate {devices=[2,2]<=[4]}", "infer {devices=[2,2]<=[4]}",
                          "partition {devices=[2,2]<=[4]} to {devices=[2,2]<=[4]}"));
}

// Users may have the result in other parts than its partitioner gives.
TEST_F(CustomCallPartitionerTest, PropagatedShardingMayDiffer) {
  recorder().infer = [](const HloInstruction&, const Shardings&) { return std::nullopt; };
  recorder().propagate = [](const HloSharding&) {
    return ParsedSharding("{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  };
  const std::string text = absl::StrReplaceAll(kCall, {{"add(y, y)", "add(y, y), sharding={devices=[2,2]<=[4]}"}});
  EXPECT_EQ(Difference(text), "");
  EXPECT_THAT(recorder().asked(),
              ElementsAre("infer {devices=[4,1]<=[4]}", "propagate {devices=[2,2]<=[4]}",
                          "partition {devices=[4,1]<=[4]} to {devices=[2,1,2]<=[4] last_tile_dim_replicate}"));
}

TEST_F(CustomCallPartitionerTest, ChainsSpreadFromCallToCall) {
  EXPECT_EQ(Difference(R"(ENTRY main {
    x = f32[8,4] parameter(0), sharding={devices=[1,4]<=[4]}
    y = f32[8,4] custom-call(x), custom_call_target="negated"
    t = f32[4,8] transpose(y), dimensions={1,0}
    ROOT z = f32[4,8] custom-call(t), custom_call_target="negated"
  })"),
            "");
  EXPECT_EQ(recorder().asked().back(), "partition {devices=[4,1]<=[4]} to {devices=[4,1]<=[4]}");
}

TEST_F(CustomCallPartitionerTest, ShardyIsNotAsked) {
  options_.use_shardy_partitioner = true;
  EXPECT_EQ(Difference(kCall), "");
  EXPECT_THAT(recorder().asked(), ElementsAre("partition {devices=[4,1]<=[4]} to {replicated}"));
}

TEST_F(CustomCallPartitionerTest, RulesOfShardySpreadShardings) {
  const auto asked_for = [this](absl::string_view rule, absl::string_view sharding) {
    std::string asked_result;
    recorder().partition = [&](const HloInstruction&, const Shardings&, const HloSharding& result) {
      asked_result = result.ToString();
      return absl::UnimplementedError("only asked");
    };
    const std::string text = absl::StrCat("ENTRY main {\n  x = f32[8,4] parameter(0), sharding=", sharding,
                                          "\n  ROOT y = f32[2,4,4] custom-call(x), custom_call_target=\"negated\", "
                                          "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<",
                                          rule, ">\"}\n}");
    EXPECT_EQ(ErrorOf(text), "only asked");
    return asked_result;
  };
  const std::string split = "([ij, k])->([i, j, k]) {i=2, j=4, k=4}";
  EXPECT_EQ(asked_for(split, "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"),
            "{devices=[2,1,1,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(asked_for(split, "{devices=[4,1]<=[4]}"), "{devices=[2,2,1]<=[4]}");
  EXPECT_EQ(asked_for(split, "{devices=[2,2]<=[4]}"), "{devices=[2,1,2]<=[4]}");
  EXPECT_EQ(asked_for("([i, j])->([k, l, j]) {i=8, j=4, k=2, l=4} reduction={i}", "{devices=[2,2]<=[4]}"),
            "{devices=[1,1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(asked_for(absl::StrCat(split, " blocked_propagation={i}"), "{devices=[2,2]<=[4]}"),
            "{devices=[1,1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
  // Half of the first factor: nothing of the second one.
  EXPECT_EQ(asked_for("([ij, k])->([j, i, k]) {i=4, j=2, k=4}", "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"),
            "{devices=[1,2,1,2]<=[4] last_tile_dim_replicate}");
}

TEST_F(CustomCallPartitionerTest, RulesSpreadFromResultsToOperands) {
  EXPECT_EQ(Difference(R"(ENTRY main {
    x = f32[8,4] parameter(0), sharding={replicated}
    o = f32[8,4] add(x, x)
    ROOT y = f32[8,4] custom-call(o), custom_call_target="negated", sharding={devices=[2,2]<=[4]}, frontend_attributes={xla.sdy.sharding_rule="#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}, custom>"}
  })"),
            "");
  EXPECT_THAT(recorder().asked(), ElementsAre("partition {devices=[2,2]<=[4]} to {devices=[2,2]<=[4]}"));
}

// The seed chooses where the operand lies, where the partitioner wants it, and where it gives the result: also in ways
// that no axes express, and in parts that do not divide.
TEST_F(CustomCallPartitionerTest, ArraysAreMovedToWhereThePartitionerWantsThem) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    const auto sharding = [&random] {
      static constexpr const char* kShardings[] = {
          "{replicated}",
          "{devices=[4,1]<=[4]}",
          "{devices=[1,4]<=[4]}",
          "{devices=[2,2]<=[4]}",
          "{devices=[2,2]<=[2,2]T(1,0)}",
          "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
          "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
          "{devices=[4,1]0,3,1,2}",
          "{devices=[2,1,2]0,3,1,2 last_tile_dim_replicate}",
          "{devices=[2,2]3,0,1,2}",
      };
      return std::string(kShardings[random() % 10]);
    };
    const int64_t rows = 4 + static_cast<int64_t>(random() % 8), columns = 4 + static_cast<int64_t>(random() % 5);
    const HloSharding common = ParsedSharding(sharding());
    recorder().partition = [&](const HloInstruction& call, const Shardings&, const HloSharding&) {
      return Negated(call, common, common);
    };
    const std::string text = absl::StrReplaceAll(
        R"(ENTRY main {
      x = S parameter(0), sharding=A
      o = S add(x, x)
      y = S custom-call(o), custom_call_target="negated", sharding=B
      z = S custom-call(y), custom_call_target="negated"
      ROOT s = S subtract(z, y)
    })",
        {{"S", absl::StrCat("f32[", rows, ",", columns, "]")}, {"A", sharding()}, {"B", sharding()}});
    EXPECT_EQ(Difference(text), "") << "seed " << seed << ", " << common.ToString() << "\n" << text;
  }
}

constexpr char kSum[] = R"(HloModule p
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
body { p = f32[2,4] parameter(0) r = f32[2,4] all-reduce(p), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add ROOT m = f32[2,4] maximum(p, r) }
ENTRY e {
  x = f32[2,4] parameter(0)
  s = f32[2,4] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
  t = f32[2,4] all-reduce(s), channel_id=2, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=add
  c = f32[2,4] call(t), to_apply=body
  ROOT y = f32[2,4] subtract(c, x)
})";

TEST_F(CustomCallPartitionerTest, CollectivesOfEachCallHaveTheirOwnChannels) {
  recorder().partition = [](const HloInstruction&, const Shardings& operands,
                            const HloSharding& result) -> absl::StatusOr<Partitioned> {
    return Partitioned{ParseAndReturnUnverifiedModule(kSum).value(), operands, result};
  };
  auto parts = Partition(R"(ENTRY main {
    x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[8,4] custom-call(x), custom_call_target="negated"
    ROOT z = f32[8,4] custom-call(y), custom_call_target="negated"
  })");
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(Verify(parts->get()), absl::OkStatus());
  std::multiset<int64_t> channels;
  for (const HloComputation* computation : (*parts)->computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->channel_id().has_value()) channels.insert(*instruction->channel_id());
    }
  }
  // A computation that is called has the channel of the same number, as it had before.
  EXPECT_EQ(channels.size(), 6u);
  EXPECT_EQ(std::set<int64_t>(channels.begin(), channels.end()).size(), 4u);
  EXPECT_THAT((*parts)->ToString(), testing::Not(HasSubstr("custom-call")));
}

TEST_F(CustomCallPartitionerTest, CallsInManualRegionsGetWholeArrays) {
  const std::string text = R"(ENTRY main {
    x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
    c = f32[8,4] custom-call(x), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}
    l = f32[2,4] custom-call(c), custom_call_target="SPMDFullToShardShape", sharding={manual}
    y = f32[2,4] custom-call(l), custom_call_target="negated", sharding={manual}
    d = f32[2,4] custom-call(y), custom_call_target="Sharding", sharding={manual}
    ROOT z = f32[8,4] custom-call(d), custom_call_target="SPMDShardToFullShape", sharding={devices=[4,1]<=[4]}
  })";
  auto parts = Partition(text);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_THAT(recorder().asked(), ElementsAre("partition {replicated} to {replicated}"));
  EXPECT_THAT((*parts)->ToString(), HasSubstr("f32[2,4]{1,0} negate"));
  recorder().partition = [](const HloInstruction& call, const Shardings&, const HloSharding&) {
    return Negated(call, ParsedSharding("{devices=[2,2]<=[4]}"), ParsedSharding("{devices=[2,2]<=[4]}"));
  };
  EXPECT_EQ(ErrorOf(text), "the partitioner of a custom call in a manual region wants an operand in parts");
}

TEST_F(CustomCallPartitionerTest, TuplesHaveTheirParts) {
  recorder().infer = [](const HloInstruction&, const Shardings& operands) {
    return HloSharding::FlatTuple({operands[0], operands[1]});
  };
  recorder().partition = [](const HloInstruction&, const Shardings& operands,
                            const HloSharding& result) -> absl::StatusOr<Partitioned> {
    EXPECT_EQ(result.ToString(), "{{devices=[4,1]<=[4]}, {devices=[1,4]<=[4]}}");
    return Partitioned{ParseAndReturnUnverifiedModule(R"(HloModule p
ENTRY e {
  x = f32[2,4] parameter(0)
  y = f32[8,1] parameter(1)
  ROOT t = (f32[2,4], f32[8,1]) tuple(x, y)
})")
                           .value(),
                       operands, result};
  };
  auto parts = Partition(R"(ENTRY main {
    x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[8,4] parameter(1), sharding={devices=[1,4]<=[4]}
    c = (f32[8,4], f32[8,4]) custom-call(x, y), custom_call_target="negated"
    a = f32[8,4] get-tuple-element(c), index=0
    b = f32[8,4] get-tuple-element(c), index=1
    ROOT t = (f32[8,4], f32[8,4]) tuple(b, a)
  })");
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(ShapeText((*parts)->result_shape()), "(f32[8,1], f32[2,4])");
}

TEST_F(CustomCallPartitionerTest, Errors) {
  recorder().infer = [](const HloInstruction&, const Shardings&) { return absl::InternalError("from infer"); };
  EXPECT_EQ(ErrorOf(kCall), "from infer");
  recorder().infer = [](const HloInstruction&, const Shardings& operands) { return operands[0]; };
  recorder().propagate = [](const HloSharding&) { return absl::InternalError("from propagate"); };
  EXPECT_EQ(ErrorOf(kCall), "from propagate");
  recorder().propagate = [](const HloSharding& sharding) { return sharding; };
  recorder().partition = [](const HloInstruction&, const Shardings&, const HloSharding&) {
    return absl::InternalError("from partition");
  };
  EXPECT_EQ(ErrorOf(kCall), "from partition");
  const auto gives = [this](absl::string_view program, Shardings operands, absl::string_view result) {
    recorder().partition = [=](const HloInstruction&, const Shardings&,
                               const HloSharding&) -> absl::StatusOr<Partitioned> {
      auto module = ParseAndReturnUnverifiedModule(absl::StrCat("HloModule p\nENTRY e {\n", program, "\n}\n"));
      return Partitioned{*std::move(module), operands, ParsedSharding(result)};
    };
    return ErrorOf(kCall);
  };
  const HloSharding rows = ParsedSharding("{devices=[4,1]<=[4]}");
  EXPECT_EQ(gives("ROOT x = f32[2,4] parameter(0)", {}, "{replicated}"),
            "the partitioner of a custom call of 1 operands made a program of 1 parameters with 0 shardings");
  EXPECT_EQ(
      gives("x = f32[2,4] parameter(0)\n y = f32[] parameter(1)\n ROOT z = f32[2,4] negate(x)", {rows}, "{replicated}"),
      "the partitioner of a custom call of 1 operands made a program of 2 parameters with 1 shardings");
  EXPECT_EQ(gives("ROOT x = f32[8,4] parameter(0)", {rows}, "{devices=[4,1]<=[4]}"),
            "the partitioner of a custom call made a program whose parameter is f32[8,4], but its shard is f32[2,4]");
  EXPECT_EQ(gives("ROOT x = f32[2,4] parameter(0)", {rows}, "{replicated}"),
            "the partitioner of a custom call made a program whose result is f32[2,4], but its shard is f32[8,4]");
  EXPECT_EQ(
      gives("x = f32[2,4] parameter(0)\n ROOT t = (f32[2,4], f32[2,4]) tuple(x, x)", {rows}, "{devices=[4,1]<=[4]}"),
      "the partitioner of a custom call of 1 results made a program of 2");
  EXPECT_NE(gives("ROOT x = f32[2,4] parameter(0)", {ParsedSharding("{devices=[8,1]<=[8]}")}, "{replicated}"), "");
  EXPECT_NE(gives("ROOT x = f32[2,4] parameter(0)", {rows}, "{devices=[2,2,2]<=[8]}"), "");
  EXPECT_EQ(
      ErrorOf(absl::StrReplaceAll(
          kCall, {{"target=\"negated\"", "target=\"negated\", frontend_attributes={xla.sdy.sharding_rule=\"none\"}"}})),
      "xla.sdy.sharding_rule: `none`, at byte 0: expected `#sdy.op_sharding_rule`");
}

TEST_F(CustomCallPartitionerTest, BatchesAreCut) {
  const auto program = [](absl::string_view batch) {
    return absl::StrCat(R"(ENTRY main {
    x = f32[8,6,4] parameter(0), sharding={devices=[2,1,2]<=[4]}
    c = (f32[8,6,4], s32[8]) custom-call(x), custom_call_target="batched", operand_layout_constraints={f32[8,6,4]{1,2,0}}, frontend_attributes={num_batch_dims=")",
                        batch, R"("}
    ROOT a = f32[8,6,4] get-tuple-element(c), index=0
  })");
  };
  auto parts = Partition(program("1"));
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_THAT((*parts)->ToString(), HasSubstr("(f32[4,6,4]{2,1,0}, s32[4]{0}) custom-call"));
  EXPECT_THAT((*parts)->ToString(), HasSubstr("operand_layout_constraints={f32[4,6,4]{1,2,0}}"));
  for (const absl::string_view none : {"0", "4", "x", "-1"}) {
    parts = Partition(program(none));
    ASSERT_TRUE(parts.ok()) << parts.status();
    EXPECT_THAT((*parts)->ToString(), HasSubstr("(f32[8,6,4]{2,1,0}, s32[8]{0}) custom-call")) << none;
  }
}

}  // namespace
}  // namespace kashi::partition
