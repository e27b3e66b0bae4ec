#include "kashi/custom_calls/custom_call_registry.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/evaluator/known_custom_calls.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::HasSubstr;

std::string Call(absl::string_view target, absl::string_view result, const std::vector<std::string>& operands) {
  std::string text = "ENTRY e {", names;
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StrAppend(&text, " x", i, " = ", operands[i], " parameter(", i, ")");
    absl::StrAppend(&names, i == 0 ? "" : ", ", "x", i);
  }
  return absl::Substitute("$0 ROOT y = $1 custom-call($2), custom_call_target=\"$3\" }", text, result, names, target);
}

Literal Evaluate(absl::string_view target, absl::string_view result, const std::vector<const Literal*>& operands) {
  std::vector<std::string> shapes;
  for (const Literal* operand : operands) shapes.push_back(ShapeUtil::HumanStringWithLayout(operand->shape()));
  return EvaluateText(Call(target, result, shapes), operands);
}

// x + n, for any call.
CustomCallHandler Adds(float n) {
  return [n](const HloInstruction&, absl::Span<const Literal* const> operands) -> absl::StatusOr<Literal> {
    Literal result = operands[0]->Clone();
    for (float& x : result.data<float>()) x += n;
    return result;
  };
}

// The known answers that come with the generator's publication (Random123).
TEST(CustomCallTest, ThreefryOfGpus) {
  const auto words = [](uint32_t a, uint32_t b, uint32_t c) { return LiteralUtil::CreateR1<uint32_t>({a, b, c}); };
  const Literal k0 = words(0, 0xffffffff, 0x13198a2e), k1 = words(0, 0xffffffff, 0x03707344);
  const Literal x0 = words(0, 0xffffffff, 0x243f6a88), x1 = words(0, 0xffffffff, 0x85a308d3);
  const Literal y0 = words(0x6b200159, 0x1cb996fc, 0xc4923a9c), y1 = words(0x99ba4efe, 0xbb002be7, 0x483df7a0);
  for (absl::string_view target : {"cu_threefry2x32_ffi", "hip_threefry2x32_ffi"}) {
    EXPECT_EQ(Evaluate(target, "(u32[3], u32[3])", {&k0, &k1, &x0, &x1}), LiteralUtil::MakeTuple({&y0, &y1}));
  }
}

TEST(CustomCallTest, PermutationOfPivots) {
  const Literal pivots = LiteralUtil::CreateR2<int32_t>({{2, 2}, {0, 3}});
  EXPECT_EQ(Evaluate("cu_lu_pivots_to_permutation", "s32[2,4]", {&pivots}),
            LiteralUtil::CreateR2<int32_t>({{2, 0, 1, 3}, {0, 3, 2, 1}}));
  const Literal outside = LiteralUtil::CreateR1<int32_t>({-1, 4, 3});  // the first two are no rows
  EXPECT_EQ(Evaluate("hip_lu_pivots_to_permutation", "s32[4]", {&outside}),
            LiteralUtil::CreateR1<int32_t>({0, 1, 3, 2}));
}

TEST(CustomCallTest, HandlersAreAskedInTurn) {
  const Literal x = LiteralUtil::CreateR1<float>({1, 2});
  const std::string text = Call("test.add", "f32[2]", {"f32[2]"});
  EvaluationOptions options;
  options.custom_call_handler = Adds(10);
  EXPECT_EQ(*TryEvaluateText(text, {&x}, options), LiteralUtil::CreateR1<float>({11, 12}));

  options.custom_call_handler = [](const HloInstruction&, absl::Span<const Literal* const>) {
    return absl::StatusOr<Literal>(Unimplemented("not mine"));
  };
  EXPECT_EQ(TryEvaluateText(text, {&x}, options).status().code(), absl::StatusCode::kUnimplemented);
  CustomCallRegistry::Global().Register("test.add", Adds(1));
  EXPECT_EQ(*TryEvaluateText(text, {&x}, options), LiteralUtil::CreateR1<float>({2, 3}));
  CustomCallRegistry::Global().Unregister("test.add");
  EXPECT_FALSE(CustomCallRegistry::Global().Find("test.add"));

  CustomCallRegistry::Global().Register("Sharding", Adds(5));  // before what we know
  EXPECT_EQ(Evaluate("Sharding", "f32[2]", {&x}), LiteralUtil::CreateR1<float>({6, 7}));
  CustomCallRegistry::Global().Unregister("Sharding");
  EXPECT_EQ(Evaluate("Sharding", "f32[2]", {&x}), x);
}

TEST(CustomCallTest, HandlersSeeLiteralsOfTheInstructionsShapes) {
  const Literal x = LiteralUtil::CreateR2WithLayout<float>({{1, 2}, {3, 4}}, LayoutUtil::MakeLayout({0, 1}));
  EvaluationOptions options;
  options.custom_call_handler = [](const HloInstruction& call, absl::Span<const Literal* const> operands) {
    EXPECT_EQ(call.name(), "y");
    EXPECT_EQ(operands[0]->shape(), call.operand(0)->shape());
    EXPECT_EQ(operands[0]->Get<float>({0, 1}), 2);
    return absl::StatusOr<Literal>(LiteralUtil::CreateR2WithLayout<float>({{5, 6}}, LayoutUtil::MakeLayout({0, 1})));
  };
  EXPECT_EQ(*TryEvaluateText(Call("f", "f32[1,2]{0,1}", {"f32[2,2]{0,1}"}), {&x}, options),
            LiteralUtil::CreateR2<float>({{5, 6}}));
  const absl::Status wrong = TryEvaluateText(Call("f", "f32[2,1]", {"f32[2,2]{0,1}"}), {&x}, options).status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(wrong.ToString(), HasSubstr("y: the handler of custom-call target \"f\" gave f32[1,2]"));
}

TEST(CustomCallTest, ErrorsOfHandlersComeThrough) {
  EvaluationOptions options;
  options.custom_call_handler = [](const HloInstruction&, absl::Span<const Literal* const>) {
    return absl::StatusOr<Literal>(Internal("broken"));
  };
  EXPECT_THAT(TryEvaluateText(Call("Sharding", "f32[]", {}), {}, options).status().ToString(), HasSubstr("broken"));
}

// Calls of the outside world happen although no result needs them, nor the loop in which they are.
TEST(CustomCallTest, CallsOfTheOutsideWorldHappen) {
  constexpr char kProgram[] = R"(HloModule m
    body { s = (s32[], f32[2]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      x = f32[2] get-tuple-element(s), index=1
      c = () custom-call(x), custom_call_target="tell", custom_call_has_side_effect=true
      one = s32[] constant(1)
      next = s32[] add(i, one)
      ROOT t = (s32[], f32[2]) tuple(next, x) }
    condition { s = (s32[], f32[2]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      three = s32[] constant(3)
      ROOT r = pred[] compare(i, three), direction=LT }
    ENTRY e { x = f32[2] parameter(0)
      zero = s32[] constant(0)
      s = (s32[], f32[2]) tuple(zero, x)
      w = (s32[], f32[2]) while(s), condition=condition, body=body
      dead = s32[] get-tuple-element(w), index=0
      c = () custom-call(x), custom_call_target="tell", custom_call_has_side_effect=true
      ROOT y = f32[2] negate(x) })";
  const Literal x = LiteralUtil::CreateR1<float>({1, 2});
  int calls = 0;
  EvaluationOptions options;
  options.custom_call_handler = [&calls](const HloInstruction&, absl::Span<const Literal* const>) {
    ++calls;
    return absl::StatusOr<Literal>(LiteralUtil::MakeTuple({}));
  };
  EXPECT_EQ(*TryEvaluateText(kProgram, {&x}, options), LiteralUtil::CreateR1<float>({-1, -2}));
  EXPECT_EQ(calls, 4);
  // Nobody takes them: they are left out.
  EXPECT_EQ(*TryEvaluateText(kProgram, {&x}), LiteralUtil::CreateR1<float>({-1, -2}));
}

TEST(CustomCallTest, UnknownTargetsAreNamed) {
  EXPECT_FALSE(IsKnownCustomCall("Mystery"));
  const absl::Status status = TryEvaluateText(Call("Mystery", "f32[2]", {}), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.ToString(), HasSubstr("y: custom-call target \"Mystery\" is not known"));
}

TEST(CustomCallTest, NotesPassValuesOn) {
  const Literal x = LiteralUtil::CreateR1<float>({1, 2}), n = LiteralUtil::CreateR0<int32_t>(3);
  for (absl::string_view target : {"Sharding", "MoveToHost", "annotate_device_placement", "AssumeGatherIndicesInBound",
                                   "GatherScatterIndicesBitpacked"}) {
    EXPECT_TRUE(IsKnownCustomCall(target));
    EXPECT_EQ(Evaluate(target, "f32[2]{0}", {&x}), x);
  }
  EXPECT_EQ(Evaluate("xla.sdy.GlobalToLocalShape", "(f32[2], s32[])", {&x, &n}),
            LiteralUtil::MakeTupleFromSlices({x, n}));
  const absl::Status status = TryEvaluateText(Call("SPMDFullToShardShape", "f32[1]", {"f32[2]"}), {&x}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
}

TEST(CustomCallTest, CallsOnTheSparseCoreAreReady) {
  const Literal x = LiteralUtil::CreateR0<float>(3);
  const absl::StatusOr<Literal> result = TryEvaluateText(R"(
ENTRY e {
  x = f32[] parameter(0)
  handle = s32[]{:S(2)} custom-call(), custom_call_target="PrepareAsyncCallStart"
  ready = token[] custom-call(handle), custom_call_target="PrepareAsyncCallDone"
  ROOT y = f32[] add-dependency(x, ready)
})",
                                                         {&x});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(*result, x);
}

TEST(CustomCallTest, Halves) {
  const Literal low = LiteralUtil::CreateR1<uint32_t>({1, 0xFFFFFFFF}),
                high = LiteralUtil::CreateR1<uint32_t>({2, 0xFFFFFFFF});
  const Literal wide = LiteralUtil::CreateR1<uint64_t>({0x200000001, ~uint64_t{0}});
  EXPECT_EQ(Evaluate("X64Combine", "u64[2]", {&low, &high}), wide);
  EXPECT_EQ(Evaluate("X64Combine", "s64[2]", {&low, &high}), LiteralUtil::CreateR1<int64_t>({0x200000001, -1}));
  EXPECT_EQ(Evaluate("X64SplitLow", "u32[2]", {&wide}), low);
  EXPECT_EQ(Evaluate("X64SplitHigh", "u32[2]", {&wide}), high);

  const Literal re = LiteralUtil::CreateR1<float>({1, 2}), im = LiteralUtil::CreateR1<float>({3, 4});
  const Literal complex = LiteralUtil::CreateR1<complex64>({complex64(1, 3), complex64(2, 4)});
  EXPECT_EQ(Evaluate("X64Combine", "c64[2]", {&re, &im}), complex);
  EXPECT_EQ(Evaluate("X64SplitLow", "f32[2]", {&complex}), re);
  EXPECT_EQ(Evaluate("X64SplitHigh", "f32[2]", {&complex}), im);

  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Literal doubles = LiteralUtil::CreateR1<double>({1 + 0x1p-40, kInfinity});
  const Literal tail = LiteralUtil::CreateR1<float>({0x1p-40f, 0});
  const Literal head = LiteralUtil::CreateR1<float>({1, static_cast<float>(kInfinity)});
  EXPECT_EQ(Evaluate("X64SplitLow", "f32[2]", {&doubles}), tail);
  EXPECT_EQ(Evaluate("X64SplitHigh", "f32[2]", {&doubles}), head);
  EXPECT_EQ(Evaluate("X64Combine", "f64[2]", {&tail, &head}), doubles);

  EXPECT_EQ(TryEvaluateText(Call("X64Combine", "u64[2]", {"u32[2]", "f32[2]"}), {&low, &re}).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(CustomCallTest, LinearAlgebra) {
  const Literal a = LiteralUtil::CreateR3<float>({{{4, 9}, {2, 5}}, {{1, 9}, {3, 10}}});
  EXPECT_EQ(Evaluate("Cholesky", "f32[2,2,2]", {&a}),
            LiteralUtil::CreateR3<float>({{{2, 0}, {1, 2}}, {{1, 0}, {3, 1}}}));
  const Literal l = LiteralUtil::CreateR3<float>({{{2, 9}, {4, 8}}, {{1, 9}, {3, 1}}});
  EXPECT_EQ(Evaluate("InvertDiagBlocksLowerTriangular", "f32[2,2,2]{1,2,0}", {&l}),
            LiteralUtil::CreateR3<float>({{{0.5, 0}, {-0.25, 0.125}}, {{1, 0}, {-3, 1}}}));
}

TEST(CustomCallTest, Memory) {
  EXPECT_EQ(Evaluate("AllocateBuffer", "s16[2]", {}), LiteralUtil::CreateR1<int16_t>({0, 0}));
  const Literal a = LiteralUtil::CreateR2<float>({{1, 2}}), b = LiteralUtil::CreateR2<float>({{3, 4}});
  EXPECT_EQ(Evaluate("ConcatBitcast", "f32[2,2]{1,0}", {&a, &b}), LiteralUtil::CreateR2<float>({{1, 2}, {3, 4}}));
  EXPECT_EQ(Evaluate("ConcatBitcast", "f32[2,2]{0,1}", {&a, &b}), LiteralUtil::CreateR2<float>({{1, 3}, {2, 4}}));
}

TEST(CustomCallTest, WhatOnlyTheCompilerReads) {
  const Literal x = LiteralUtil::CreateR1<float>({1, 2});
  EXPECT_EQ(Evaluate("dce_sink", "()", {&x}), LiteralUtil::MakeTuple({}));
  EXPECT_EQ(EvaluateText(R"(ENTRY e { p = f32[2] parameter(0)
                                      b = b(f32[2]) custom-call(p), custom_call_target="Pin",
                                        output_to_operand_aliasing={{}: (0, {})}
                                      ROOT u = f32[2] custom-call(b), custom_call_target="Unpin",
                                        output_to_operand_aliasing={{}: (0, {})} })",
                         {&x}),
            x);
  EXPECT_EQ(TryEvaluateText(Call("dce_sink", "f32[2]", {"f32[2]"}), {&x}).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(CustomCallTest, DynamicSizes) {
  const auto program = [](absl::string_view root) {
    return absl::StrCat(R"(ENTRY e { x = f32[2,3] parameter(0)
                                     n = s32[] parameter(1)
                                     two = s32[] constant(2)
                                     d = f32[2,<=3] custom-call(x, two, n), custom_call_target="SliceToDynamic"
                                     ROOT r = )",
                        root, " }");
  };
  const Literal x = LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}});
  const Literal two = LiteralUtil::CreateR0<int32_t>(2), nine = LiteralUtil::CreateR0<int32_t>(9),
                none = LiteralUtil::CreateR0<int32_t>(-1);
  const auto with_size = [&](const Literal& n) { return std::vector<const Literal*>{&x, &n}; };
  const std::string padded = program("(f32[2,3], s32[], s32[]) custom-call(d), custom_call_target=\"PadToStatic\"");
  const auto with = [](std::initializer_list<std::initializer_list<float>> values, int32_t n) {
    const Literal a = LiteralUtil::CreateR2<float>(values);
    const Literal rows = LiteralUtil::CreateR0<int32_t>(2), columns = LiteralUtil::CreateR0<int32_t>(n);
    return LiteralUtil::MakeTupleFromSlices({a, rows, columns});
  };
  EXPECT_EQ(EvaluateText(padded, with_size(two)), with({{1, 2, 0}, {4, 5, 0}}, 2));
  EXPECT_EQ(EvaluateText(padded, with_size(nine)), with({{1, 2, 3}, {4, 5, 6}}, 3));
  EXPECT_EQ(EvaluateText(padded, with_size(none)), with({{0, 0, 0}, {0, 0, 0}}, 0));
  EXPECT_EQ(EvaluateText(program("s32[] get-dimension-size(d), dimensions={1}"), with_size(two)), two);
  EXPECT_EQ(TryEvaluateText(program("(f32[2,3], s32[]) custom-call(d), custom_call_target=\"PadToStatic\""), {&x, &two})
                .status()
                .code(),
            absl::StatusCode::kUnimplemented);
}

TEST(CustomCallTest, TargetsThatCannotBeComputedSayWhatTheyAre) {
  const auto message = [](absl::string_view target) {
    return std::string(TryEvaluateText(Call(target, "f32[2]", {}), {}).status().message());
  };
  EXPECT_THAT(message("xla_ffi_python_cpu_callback"), HasSubstr("calls a Python function of the process"));
  EXPECT_THAT(message("tpu_custom_call"), HasSubstr("Mosaic"));
  EXPECT_THAT(message("__onednn$matmul"),
              HasSubstr("custom-call target \"__onednn$matmul\" is an operation of oneDNN"));
}

TEST(CustomCallTest, SparseTimesDense) {
  const auto call = [](absl::string_view offsets, absl::string_view columns, absl::string_view b = "f32[2,2]") {
    return absl::Substitute(R"(ENTRY e { data = f32[3] constant({1, 2, 3}) offsets = s32[3] constant($0)
                                         columns = s32[3] constant($1) b = $2 parameter(0)
                                         ROOT r = f32[2,2] custom-call(data, offsets, columns, b),
                                           custom_call_target="cpu_csr_sparse_dense_ffi" })",
                            offsets, columns, b);
  };
  const Literal b = LiteralUtil::CreateR2<float>({{10, 20}, {1, 2}});
  EXPECT_EQ(EvaluateText(call("{0, 1, 3}", "{1, 0, 1}"), {&b}), LiteralUtil::CreateR2<float>({{1, 2}, {23, 46}}));
  EXPECT_EQ(EvaluateText(call("{0, 0, 2}", "{1, 1, 9}"), {&b}), LiteralUtil::CreateR2<float>({{0, 0}, {3, 6}}));
  const auto message = [&](absl::string_view offsets, absl::string_view columns) {
    return std::string(TryEvaluateText(call(offsets, columns), {&b}).status().message());
  };
  EXPECT_THAT(message("{0, 1, 4}", "{0, 0, 0}"), HasSubstr("row 1 of the sparse matrix is entries [1, 4) of 3"));
  EXPECT_THAT(message("{2, 1, 3}", "{0, 0, 0}"), HasSubstr("row 0 of the sparse matrix is entries [2, 1) of 3"));
  EXPECT_THAT(message("{-1, 1, 3}", "{0, 0, 0}"), HasSubstr("entries [-1, 1)"));
  EXPECT_THAT(message("{0, 1, 3}", "{0, 2, 0}"), HasSubstr("entry 1 of the sparse matrix is in column 2 of 2"));
}

std::string TopKCall(absl::string_view direction) {
  return absl::Substitute(R"(HloModule m
c { a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=$0 }
ENTRY e { x = f32[2,3] parameter(0)
  ROOT y = (f32[2,2], s32[2,2]) custom-call(x), custom_call_target="TopK", called_computations={c} })",
                          direction);
}

TEST(CustomCallTest, TopK) {
  const Literal x = LiteralUtil::CreateR2<float>({{1, 5, 3}, {7, 7, -1}});
  const Literal largest = EvaluateText(TopKCall("GT"), {&x}), smallest = EvaluateText(TopKCall("LT"), {&x});
  EXPECT_EQ(LiteralSlice(largest, {0}), LiteralUtil::CreateR2<float>({{5, 3}, {7, 7}}));
  EXPECT_EQ(LiteralSlice(largest, {1}), LiteralUtil::CreateR2<int32_t>({{1, 2}, {0, 1}}));
  EXPECT_EQ(LiteralSlice(smallest, {0}), LiteralUtil::CreateR2<float>({{1, 3}, {-1, 7}}));
  EXPECT_EQ(LiteralSlice(smallest, {1}), LiteralUtil::CreateR2<int32_t>({{0, 2}, {2, 0}}));
}

// The best ones are among the candidates, and those that are missing are the initial value.
TEST(CustomCallTest, PartialReduce) {
  const auto call = [](absl::string_view k, absl::string_view config) {
    return absl::Substitute(R"(HloModule m
c { a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=GT }
ENTRY e { x = f32[2,3] parameter(0) i = s32[2,3] parameter(1) low = f32[] constant(-inf) none = s32[] constant(-1)
  ROOT y = (f32[2,$0], s32[2,$0]) custom-call(x, i, low, none), custom_call_target="PartialReduce",
    called_computations={c}, backend_config={"log2_reduction": 1, "reduction_dim": $1, "top_k": 1} })",
                            k, config);
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Literal x = LiteralUtil::CreateR2<float>({{1, 5, 3}, {7, 8, -1}});
  const Literal i = LiteralUtil::CreateR2<int32_t>({{10, 11, 12}, {20, 21, 22}});
  const std::vector<const Literal*> arguments = {&x, &i};
  const Literal two = EvaluateText(call("2", "1"), arguments), four = EvaluateText(call("4", "1"), arguments);
  EXPECT_EQ(LiteralSlice(two, {0}), LiteralUtil::CreateR2<float>({{5, 3}, {8, 7}}));
  EXPECT_EQ(LiteralSlice(two, {1}), LiteralUtil::CreateR2<int32_t>({{11, 12}, {21, 20}}));
  EXPECT_EQ(LiteralSlice(four, {0}), LiteralUtil::CreateR2<float>({{5, 3, 1, -kInfinity}, {8, 7, -1, -kInfinity}}));
  EXPECT_EQ(LiteralSlice(four, {1}), LiteralUtil::CreateR2<int32_t>({{11, 12, 10, -1}, {21, 20, 22, -1}}));
  EXPECT_EQ(TryEvaluateText(call("2", "0"), {&x, &i}).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace kashi::evaluator
