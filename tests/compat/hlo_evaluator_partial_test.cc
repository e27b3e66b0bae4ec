// What an evaluator finds out without arguments: parts of tuples, arguments of calls, loops that count; and what it
// tells.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "xla/hlo/analysis/tuple_points_to_analysis.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/testlib/hlo_hardware_independent_test_base.h"
#include "xla/hlo/transforms/simplifiers/hlo_element_type_converter.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/service/call_graph.h"
#include "xla/service/dynamic_dimension_inference.h"
#include "xla/tests/literal_test_util.h"
#include "xla/tests/test_utils.h"
#include "xla/tsl/lib/core/status_test_util.h"

namespace xla {
namespace {

class PartialEvaluationTest : public HloHardwareIndependentTestBase {
 protected:
  void Parse(absl::string_view text) {
    auto module = ParseAndReturnVerifiedModule(text);
    TF_ASSERT_OK(module.status());
    m_ = *std::move(module);
  }
  absl::StatusOr<Literal> EvaluateNamed(absl::string_view name) {
    return evaluator_.Evaluate(FindInstruction(m_.get(), name), /*analyses=*/{},
                               /*recursively_evaluate_nonconstant_operands=*/true);
  }
  void ExpectNumber(absl::string_view name, int32_t expected) {
    TF_ASSERT_OK_AND_ASSIGN(Literal result, EvaluateNamed(name));
    EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR0<int32_t>(expected), result)) << name;
  }
  void ExpectUnknown(absl::string_view name) {
    const absl::Status status = EvaluateNamed(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(internal::ParseEvalErrorDetail(status), internal::EvalErrorDetail::kDynamicValueDependence) << name;
  }

  HloEvaluator evaluator_;
  std::unique_ptr<HloModule> m_;
};

TEST_F(PartialEvaluationTest, TuplesWithUnknownParts) {
  Parse(R"(
    HloModule test
    ENTRY main {
      x = s32[] parameter(0)
      two = s32[] constant(2)
      inner = (s32[], s32[]) tuple(x, two)
      outer = ((s32[], s32[]), s32[]) tuple(inner, x)
      part = (s32[], s32[]) get-tuple-element(outer), index=0
      kept = (s32[], s32[]) copy(part)
      known = s32[] get-tuple-element(kept), index=1
      foreign = s32[] get-tuple-element(kept), index=0
      four = s32[] add(known, known)
      other = s32[] add(foreign, known)
      ROOT result = (s32[], s32[]) tuple(four, other)
    })");
  ExpectNumber("four", 4);
  ExpectUnknown("other");
  ExpectUnknown("outer");
  ExpectUnknown("result");
}

TEST_F(PartialEvaluationTest, SubstitutesWithUnknownLeaves) {
  Parse(R"(
    HloModule test
    ENTRY main {
      x = (s32[], s32[2]) parameter(0)
      first = s32[] get-tuple-element(x), index=0
      second = s32[2] get-tuple-element(x), index=1
      ROOT negated = s32[] negate(first)
    })");
  const HloInstruction* x = FindInstruction(m_.get(), "x");
  Literal known_first = Literal::CreateFromShapeWithUnknownLeafArrays(x->shape());
  TF_ASSERT_OK(known_first.MoveFrom(LiteralUtil::CreateR0<int32_t>(5), {0}));
  TF_ASSERT_OK_AND_ASSIGN(
      Literal result, evaluator_.Evaluate(m_->entry_computation()->root_instruction(), {}, true, {{x, &known_first}}));
  EXPECT_EQ(result.Get<int32_t>({}), -5);
  EXPECT_FALSE(evaluator_.Evaluate(FindInstruction(m_.get(), "second"), {}, true, {{x, &known_first}}).ok());
}

constexpr absl::string_view kCalls = R"(
    HloModule test
    called {
      n = s32[] parameter(0)
      m = s32[] parameter(1)
      ROOT product = s32[] multiply(n, m)
    }
    ENTRY main {
      x = s32[] parameter(0)
      six = s32[] constant(6)
      ROOT result = s32[] call(six, x), to_apply=called
    })";

TEST_F(PartialEvaluationTest, ArgumentsOfTheOnlyCall) {
  Parse(kCalls);
  ExpectNumber("n", 6);
  ExpectUnknown("m");
  ExpectUnknown("product");
}

TEST_F(PartialEvaluationTest, AnalysesMadeBefore) {
  Parse(kCalls);
  TF_ASSERT_OK_AND_ASSIGN(std::unique_ptr<TuplePointsToAnalysis> points_to, TuplePointsToAnalysis::Run(m_.get()));
  std::unique_ptr<CallGraph> call_graph = CallGraph::Build(m_.get());
  TF_ASSERT_OK_AND_ASSIGN(
      Literal result, evaluator_.Evaluate(FindInstruction(m_.get(), "n"), {points_to.get(), call_graph.get()}, true));
  EXPECT_EQ(result.Get<int32_t>({}), 6);
}

TEST_F(PartialEvaluationTest, InfeedIsAFailedPrecondition) {
  Parse(R"(
    HloModule test
    ENTRY main {
      t = token[] after-all()
      infeed = (s32[], token[]) infeed(t)
      one = s32[] constant(1)
      got = s32[] get-tuple-element(infeed), index=0
      both = (s32[], s32[]) tuple(got, one)
      ROOT last = s32[] get-tuple-element(both), index=1
    })");
  ExpectNumber("last", 1);
  ExpectUnknown("got");
  HloComputation* entry = m_->entry_computation();
  entry->set_root_instruction(FindInstruction(m_.get(), "got"), true);
  EXPECT_EQ(evaluator_.Evaluate(*entry, absl::Span<const Literal* const>()).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// The number that it counts, and what it keeps, are known though the sum is not.
constexpr absl::string_view kLoop = R"(
    HloModule test
    body {
      state = (s32[], s32[], s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(state), index=1
      sum = s32[] get-tuple-element(state), index=0
      limit = s32[] get-tuple-element(state), index=2
      step = s32[] get-tuple-element(state), index=3
      next = s32[] add(i, step)
      more = s32[] add(sum, i)
      ROOT out = (s32[], s32[], s32[], s32[]) tuple(more, next, limit, step)
    }
    condition {
      state.1 = (s32[], s32[], s32[], s32[]) parameter(0)
      i.1 = s32[] get-tuple-element(state.1), index=1
      limit.1 = s32[] get-tuple-element(state.1), index=2
      ROOT less = pred[] compare(i.1, limit.1), direction=LT
    }
    ENTRY main {
      x = s32[] parameter(0)
      three = s32[] constant(3)
      four = s32[] constant(4)
      limit.2 = s32[] multiply(four, four)
      init = (s32[], s32[], s32[], s32[]) tuple(x, $0, $1, three)
      loop = (s32[], s32[], s32[], s32[]) while(init), condition=condition, body=body
      sum.2 = s32[] get-tuple-element(loop), index=0
      i.2 = s32[] get-tuple-element(loop), index=1
      ROOT kept = s32[] get-tuple-element(loop), index=2
    })";
std::string Loop(absl::string_view init, absl::string_view limit) {
  return absl::StrReplaceAll(kLoop, {{"$0", init}, {"$1", limit}});
}

TEST_F(PartialEvaluationTest, LoopsWithUnknownParts) {
  Parse(Loop("four", "limit.2"));
  ExpectNumber("kept", 16);
  ExpectNumber("i.2", 16);  // 4, 7, 10, 13, 16
  ExpectUnknown("sum.2");
  ExpectUnknown("loop");
}

TEST_F(PartialEvaluationTest, ParsesLoops) {
  Parse(Loop("four", "limit.2"));
  const auto loop = PatternMatchParseWhileLoop(FindInstruction(m_.get(), "loop"));
  ASSERT_TRUE(loop.has_value());
  ASSERT_FALSE(loop->is_dynamic());
  EXPECT_EQ(loop->static_while_loop->trip_count, 4);
  EXPECT_EQ(loop->static_while_loop->induction_var_index, 1);
  EXPECT_EQ(loop->static_while_loop->induction_var_init_value, 4);
  EXPECT_EQ(loop->static_while_loop->step_size, 3);
  EXPECT_EQ(loop->static_while_loop->loop_bound, 16);
}

TEST_F(PartialEvaluationTest, ParsesDynamicLoops) {
  for (const std::string& text : {Loop("x", "four"), Loop("four", "x")}) {
    Parse(text);
    const auto loop = PatternMatchParseWhileLoop(FindInstruction(m_.get(), "loop"));
    ASSERT_TRUE(loop.has_value());
    EXPECT_TRUE(loop->is_dynamic());
    ExpectUnknown("i.2");
  }
}

TEST_F(PartialEvaluationTest, ALoopThatDoesNotBegin) {
  Parse(Loop("limit.2", "four"));
  const auto loop = PatternMatchParseWhileLoop(FindInstruction(m_.get(), "loop"));
  ASSERT_TRUE(loop.has_value() && !loop->is_dynamic());
  EXPECT_EQ(loop->static_while_loop->trip_count, 0);
}

constexpr absl::string_view kCounter = R"(
    HloModule test
    computes {
      a = $type[] parameter(0)
      b = $type[] parameter(1)
      test = pred[] compare(a, b), direction=$direction
      ROOT tests = (pred[]) tuple(test)
    }
    body {
      state = ($type[]) parameter(0)
      i = $type[] get-tuple-element(state), index=0
      step = $type[] constant($step)
      next = $type[] $op
      ROOT out = ($type[]) tuple(next)
    }
    condition {
      state.1 = ($type[]) parameter(0)
      i.1 = $type[] get-tuple-element(state.1), index=0
      bound = $type[] constant($bound)
      call = (pred[]) call($operands), to_apply=computes
      test.1 = pred[] get-tuple-element(call), index=0
      ROOT goes_on = pred[] copy(test.1)
    }
    ENTRY main {
      init = $type[] constant($init)
      state.2 = ($type[]) tuple(init)
      ROOT loop = ($type[]) while(state.2), condition=condition, body=body
    })";

struct Counter {
  absl::string_view type, operands, direction, init, bound, op, step;
  int64_t trip_count;  // -1: it does not end
};

TEST_F(PartialEvaluationTest, CountsWhatRunsCount) {
  for (const Counter& counter : std::vector<Counter>{
           {"s32", "i.1, bound", "LT", "0", "10", "add(i, step)", "3", 4},
           {"s32", "i.1, bound", "LE", "0", "9", "add(step, i)", "3", 4},
           {"s64", "i.1, bound", "GT", "10", "-1", "add(i, step)", "-1", 11},
           {"u8", "i.1, bound", "GE", "10", "2", "subtract(i, step)", "2", 5},
           {"s8", "i.1, bound", "NE", "100", "-100", "add(i, step)", "-50", 4},
           {"s16", "i.1, bound", "EQ", "7", "7", "add(i, step)", "1", 1},
           {"s32", "bound, i.1", "GT", "0", "10", "add(i, step)", "1", 10},
           {"s32", "bound, i.1", "LE", "0", "10", "add(i, step)", "1", 0},
           {"s8", "i.1, bound", "LT", "0", "127", "add(i, step)", "2", -1},
           {"s32", "i.1, bound", "LT", "0", "10", "add(i, step)", "0", -1},
           {"s32", "i.1, bound", "LT", "0", "10", "subtract(i, step)", "1", -1},
           {"s32", "i.1, bound", "NE", "0", "10", "add(i, step)", "3", -1},
           {"s32", "i.1, bound", "LT", "1", "10", "multiply(i, step)", "2", -1},
       }) {
    const std::string text = absl::StrReplaceAll(kCounter, {{"$type", counter.type},
                                                            {"$operands", counter.operands},
                                                            {"$direction", counter.direction},
                                                            {"$init", counter.init},
                                                            {"$bound", counter.bound},
                                                            {"$op", counter.op},
                                                            {"$step", counter.step}});
    SCOPED_TRACE(text);
    Parse(text);
    const HloInstruction* loop = m_->entry_computation()->root_instruction();
    const auto parsed = PatternMatchParseWhileLoop(loop);
    EXPECT_EQ(parsed.has_value(), counter.trip_count >= 0);
    if (!parsed.has_value()) continue;
    EXPECT_EQ(parsed->static_while_loop->trip_count, counter.trip_count);
    TF_EXPECT_OK(HloEvaluator(counter.trip_count).Evaluate(*m_, absl::Span<const Literal* const>()).status());
    if (counter.trip_count == 0) continue;
    EXPECT_FALSE(HloEvaluator(counter.trip_count - 1).Evaluate(*m_, absl::Span<const Literal* const>()).ok());
  }
}

TEST_F(PartialEvaluationTest, ParsesALoopThatRunsOnce) {
  Parse(R"(
    HloModule test
    body {
      state = (s32[], pred[]) parameter(0)
      i = s32[] get-tuple-element(state), index=0
      no = pred[] constant(false)
      ROOT out = (s32[], pred[]) tuple(i, no)
    }
    condition {
      state.1 = (s32[], pred[]) parameter(0)
      ROOT again = pred[] get-tuple-element(state.1), index=1
    }
    ENTRY main {
      x = s32[] parameter(0)
      yes = pred[] constant(true)
      init = (s32[], pred[]) tuple(x, yes)
      ROOT loop = (s32[], pred[]) while(init), condition=condition, body=body
    })");
  const auto loop = PatternMatchParseWhileLoop(m_->entry_computation()->root_instruction());
  ASSERT_TRUE(loop.has_value() && !loop->is_dynamic());
  EXPECT_EQ(loop->static_while_loop->trip_count, 1);
  EXPECT_EQ(loop->static_while_loop->induction_var_index, 1);
  EXPECT_EQ(loop->static_while_loop->loop_bound, 1);
}

// A chain of loops, each of which counts to where the last one ended.
TEST_F(PartialEvaluationTest, LoopsThatDependOnLoops) {
  constexpr int kLoops = 200;
  std::string computations, entry = "start = s32[] constant(0)\nx = s32[] parameter(0)\nlast.0 = s32[] constant(5)\n";
  for (int n = 1; n <= kLoops; ++n) {
    absl::StrAppend(&computations, absl::StrReplaceAll(R"(
      body.$ { state.$ = (s32[], s32[], s32[]) parameter(0)
        i.$ = s32[] get-tuple-element(state.$), index=0
        b.$ = s32[] get-tuple-element(state.$), index=1
        r.$ = s32[] get-tuple-element(state.$), index=2
        one.$ = s32[] constant(1)
        next.$ = s32[] add(i.$, one.$)
        s.$ = s32[] add(r.$, i.$)
        ROOT out.$ = (s32[], s32[], s32[]) tuple(next.$, b.$, s.$) }
      condition.$ { state.c$ = (s32[], s32[], s32[]) parameter(0)
        i.c$ = s32[] get-tuple-element(state.c$), index=0
        b.c$ = s32[] get-tuple-element(state.c$), index=1
        ROOT less.$ = pred[] compare(i.c$, b.c$), direction=LT }
)",
                                                       {{"$", absl::StrCat(n)}}));
    absl::StrAppend(&entry, absl::StrReplaceAll(R"(
        init.$ = (s32[], s32[], s32[]) tuple(start, last.%, x)
        loop.$ = (s32[], s32[], s32[]) while(init.$), condition=condition.$, body=body.$
        last.$ = s32[] get-tuple-element(loop.$), index=0
)",
                                                {{"$", absl::StrCat(n)}, {"%", absl::StrCat(n - 1)}}));
  }
  Parse(absl::StrCat("HloModule test\n", computations, "ENTRY main {\n", entry, "ROOT result = s32[] negate(last.",
                     kLoops, ")\n}"));
  ExpectNumber("result", -5);
  const auto loop = PatternMatchParseWhileLoop(FindInstruction(m_.get(), absl::StrCat("loop.", kLoops)));
  ASSERT_TRUE(loop.has_value() && !loop->is_dynamic());
  EXPECT_EQ(loop->static_while_loop->trip_count, 5);
}

TEST(EvalErrorTest, Details) {
  EXPECT_EQ(std::nullopt, internal::ParseEvalErrorDetail(absl::OkStatus()));
  EXPECT_EQ(std::nullopt, internal::ParseEvalErrorDetail(absl::InternalError("none")));
  absl::Status status = absl::InternalError("some");
  status.SetPayload(internal::kEvalErrorDetailUrl, absl::Cord(std::string(sizeof(internal::EvalErrorDetail), '\0')));
  EXPECT_EQ(internal::ParseEvalErrorDetail(status), internal::EvalErrorDetail::kDynamicValueDependence);
}

// ---- Products that are told of.

using Products = absl::flat_hash_set<std::array<int64_t, 3>>;

class TraceTest : public PartialEvaluationTest {
 protected:
  Products Trace(absl::string_view text) {
    Products products;
    Parse(text);
    evaluator_.set_trace_mac_handler([&](int64_t result, int64_t lhs, int64_t rhs) {
      products.insert({result, lhs, rhs});
    });
    const std::vector<Literal> arguments = MakeFakeArguments(m_.get()).value();
    TF_EXPECT_OK(evaluator_.Evaluate(*m_, arguments).status());
    return products;
  }
};

TEST_F(TraceTest, Dot) {
  EXPECT_EQ(Trace(R"(
    HloModule test
    ENTRY main {
      a = f32[2,3] parameter(0)
      b = f32[2] parameter(1)
      ROOT d = f32[3] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    })"),
            (Products{{0, 0, 0}, {0, 3, 1}, {1, 1, 0}, {1, 4, 1}, {2, 2, 0}, {2, 5, 1}}));
}

TEST_F(TraceTest, DotOfBatches) {
  EXPECT_EQ(Trace(R"(
    HloModule test
    ENTRY main {
      a = s32[2,2] parameter(0)
      b = s32[2,2] parameter(1)
      ROOT d = s32[2] dot(a, b), lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={0}, rhs_contracting_dims={1}
    })"),
            (Products{{0, 0, 0}, {0, 2, 1}, {1, 1, 2}, {1, 3, 3}}));
}

TEST_F(TraceTest, ConvolutionWithoutItsPadding) {
  EXPECT_EQ(Trace(R"(
    HloModule test
    ENTRY main {
      a = f32[1,1,3] parameter(0)
      b = f32[1,1,2] parameter(1)
      ROOT c = f32[1,1,3] convolution(a, b), window={size=2 pad=0_1}, dim_labels=bf0_oi0->bf0
    })"),
            (Products{{0, 0, 0}, {0, 1, 1}, {1, 1, 0}, {1, 2, 1}, {2, 2, 0}}));
}

TEST_F(TraceTest, ConvolutionOfFeatureGroups) {
  EXPECT_EQ(Trace(R"(
    HloModule test
    ENTRY main {
      a = f32[1,2,1] parameter(0)
      b = f32[2,1,1] parameter(1)
      ROOT c = f32[1,2,1] convolution(a, b), window={size=1}, dim_labels=bf0_oi0->bf0, feature_group_count=2
    })"),
            (Products{{0, 0, 0}, {1, 1, 1}}));
}

// ---- Dynamic sizes, and types that are replaced.

TEST_F(PartialEvaluationTest, DynamicSizes) {
  Parse(R"(
    HloModule test
    ENTRY main {
      x = s32[4] parameter(0)
      n = s32[] parameter(1)
      some = s32[<=4] set-dimension-size(x, n), dimensions={0}
      ROOT size = s32[] get-dimension-size(some), dimensions={0}
    })");
  TF_ASSERT_OK_AND_ASSIGN(DynamicDimensionInference inference, DynamicDimensionInference::Run(m_.get()));
  evaluator_.set_dynamic_dimension_inference(&inference);
  EXPECT_EQ(inference.GetDynamicSize(FindInstruction(m_.get(), "some"), {}, 0), FindInstruction(m_.get(), "n"));
  Literal x = LiteralUtil::CreateR1<int32_t>({1, 2, 3, 4}), n = LiteralUtil::CreateR0<int32_t>(3);
  TF_ASSERT_OK_AND_ASSIGN(Literal size, evaluator_.Evaluate(*m_, {&x, &n}));
  EXPECT_EQ(size.Get<int32_t>({}), 3);
}

TEST_F(PartialEvaluationTest, ComputesInAnotherType) {
  Parse(R"(
    HloModule test
    ENTRY main {
      x = f32[2] constant({1.00390625, 3})
      y = f32[2] constant({1, 0.001})
      ROOT sum = f32[2] add(x, y)
    })");
  TF_ASSERT_OK_AND_ASSIGN(bool changed, HloElementTypeConverter(F32, BF16).Run(m_.get()));
  EXPECT_TRUE(changed);
  TF_ASSERT_OK(verifier().Run(m_.get()).status());
  TF_ASSERT_OK_AND_ASSIGN(Literal sum, evaluator_.Evaluate(*m_, absl::Span<const Literal* const>()));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::CreateR1<float>({2, 3}), sum));
}

}  // namespace
}  // namespace xla
