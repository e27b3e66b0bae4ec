// Each rule of the verifier by a module that breaks it and nothing else, and the same module without the mistake.
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::hlo {
namespace {

// `good` and `bad` replace `$` in `text`.
struct Case {
  const char* rule;
  const char* text;
  const char* good;
  const char* bad;
  absl::StatusCode code = absl::StatusCode::kInternal;
  void (*set)(HloVerifierOpts*) = nullptr;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.rule << ": " << c.bad; }

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;

// Computations that the texts below call.
constexpr const char* kLibrary = R"(
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
sum64 { a = f64[] parameter(0)  b = f64[] parameter(1)  ROOT r = f64[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
pick { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
next { a = f32[2] parameter(0)  ROOT r = f32[2] negate(a) }
wide { a = f32[2] parameter(0)  ROOT r = f32[4] concatenate(a, a), dimensions={0} }
three { a = f32[3] parameter(0)  ROOT r = f32[3] negate(a) }
more { a = f32[2] parameter(0)  ROOT r = pred[] constant(true) }
many { a = f32[2] parameter(0)  ROOT r = s32[] constant(1) }
pair { a = f32[2] parameter(0)  b = f32[2] parameter(1)  ROOT r = f32[2] add(a, b) }
)";

class RuleTest : public testing::TestWithParam<Case> {};

std::vector<HloFinding> Findings(const Case& c, const std::string& text, std::unique_ptr<HloModule>* module) {
  auto parsed = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return {};
  *module = *std::move(parsed);
  HloVerifierOpts opts;
  if (c.set != nullptr) c.set(&opts);
  return VerifyHlo(**module, opts);
}

std::string Instantiate(const Case& c, const char* piece) {
  const std::string text = absl::StrReplaceAll(c.text, {{"$", piece}});
  const size_t entry = text.find("ENTRY");
  const bool has_head = text.find("HloModule") != std::string::npos;
  return absl::StrCat(has_head ? "" : "HloModule m\n", text.substr(0, entry), has_head ? "" : "", kLibrary,
                      entry == std::string::npos ? "" : text.substr(entry));
}

std::string Describe(const std::vector<HloFinding>& findings) {
  return absl::StrJoin(findings, "\n", [](std::string* out, const HloFinding& f) {
    absl::StrAppend(out, "[", f.rule, "] ", f.message, f.instruction ? "\n  " + f.instruction->ToString() : "");
  });
}

TEST_P(RuleTest, GoodIsClean) {
  std::unique_ptr<HloModule> module;
  const auto findings = Findings(GetParam(), Instantiate(GetParam(), GetParam().good), &module);
  EXPECT_TRUE(findings.empty()) << Describe(findings);
}

TEST_P(RuleTest, BadIsFoundOnce) {
  std::unique_ptr<HloModule> module;
  const auto findings = Findings(GetParam(), Instantiate(GetParam(), GetParam().bad), &module);
  ASSERT_EQ(findings.size(), 1u) << Describe(findings);
  EXPECT_EQ(findings[0].rule, GetParam().rule) << Describe(findings);
  EXPECT_EQ(findings[0].code, GetParam().code) << Describe(findings);
}

void Sensitive(HloVerifierOpts* o) { o->layout_sensitive = true; }
void LayoutChange(HloVerifierOpts* o) {
  o->layout_sensitive = true;
  o->instruction_can_change_layout = InstructionMayChangeLayout;
}

const Case kShapeCases[] = {
    {"result shape", "ENTRY e { a = f32[2,3] parameter(0)  ROOT r = $[2,3] add(a, a) }", "f32", "s32"},
    {"result shape",
     "ENTRY e { a = f32[2,3] parameter(0)  ROOT r = f32[2] reduce(a, $), dimensions={1}, to_apply=sum  }"
     "z { ROOT c = f32[] constant(0) }",
     "f32[] constant(0)", "f32[2] constant({0,0})", kInvalid},
    {"result shape", "ENTRY e { a = f32[2,2] parameter(0)  ROOT r = f32[2,2] transpose(a), dimensions={$} }", "1,0",
     "1,1", kInvalid},
    {"result shape", "ENTRY e { a = f32[4] parameter(0)  ROOT r = f32[2] slice(a), slice={[$]} }", "2:4", "3:5",
     kInvalid},
    {"result shape", "ENTRY e { a = f32[4] parameter(0)  ROOT r = $ slice(a), slice={[2:4]} }", "f32[2]", "f32[3]"},
    {"result shape", "ENTRY e { a = (f32[2],s32[]) parameter(0)  ROOT r = $ get-tuple-element(a), index=1 }", "s32[]",
     "s64[]"},
    {"unbounded dynamism", "ENTRY e { ROOT a = f32[$] parameter(0) }", "<=3", "?", kInvalid},
    {"mixed precision", "ENTRY e { a = $[2] parameter(0)  b = f32[2] parameter(1)  ROOT r = f32[2] add(a, b) }", "f32",
     "bf16"},
    {"implicit broadcast", "ENTRY e { a = f32[2] parameter(0)  b = f32[$] parameter(1)  ROOT r = f32[2] add(a, b) }",
     "2", "1", kPrecondition},
    {"sharding", "HloModule m, num_partitions=2\nENTRY e { ROOT a = f32[4] parameter(0), sharding={devices=[$]<=[2]} }",
     "2", "1,2", kInvalid},
    {"sharding", "HloModule m, num_partitions=$\nENTRY e { ROOT a = f32[4] parameter(0), sharding={maximal device=2} }",
     "3", "2", kInvalid},
    // One partition is the default and has no meaning.
    {"sharding", "HloModule m, num_partitions=$\nENTRY e { ROOT a = f32[4] parameter(0), sharding={maximal device=2} }",
     "1", "2", kInvalid},
    {"layout change", "ENTRY e { a = f32[2,3]{1,0} parameter(0)  ROOT r = f32[2,3]{$} negate(a) }", "1,0", "0,1",
     absl::StatusCode::kInternal, LayoutChange},
    {"result shape", "ENTRY e { a = f32[2,3]{1,0} parameter(0)  ROOT r = (f32[2,3]{$}) tuple(a) }", "1,0", "0,1",
     absl::StatusCode::kInternal, Sensitive},
    {"instruction name", "ENTRY e { ROOT own = f32[] parameter(0), metadata={scheduling_name=\"$\"} }", "own", "other",
     absl::StatusCode::kInternal, [](HloVerifierOpts* o) { o->verify_instruction_name_unchanged = true; }},
    {"host memory", "ENTRY e { ROOT a = f32[2]{0:S($)} parameter(0) }", "1", "5", absl::StatusCode::kInternal,
     [](HloVerifierOpts* o) { o->verify_no_host_memory_space = true; }},
};
INSTANTIATE_TEST_SUITE_P(Shape, RuleTest, testing::ValuesIn(kShapeCases));

const Case kDataCases[] = {
    {"iota", "ENTRY e { ROOT r = $[3] iota(), iota_dimension=0 }", "s8", "pred", kInvalid},
    {"iota", "ENTRY e { ROOT r = f32[3] iota(), iota_dimension=$ }", "0", "1"},
    {"broadcast", "ENTRY e { a = f32[3] parameter(0)  ROOT r = f32[2,3] broadcast(a), dimensions={$} }", "1", "0"},
    {"broadcast", "ENTRY e { a = f32[3] parameter(0)  ROOT r = f32[2,3] broadcast(a), dimensions={$} }", "1", "2"},
    {"broadcast", "ENTRY e { a = f32[3] parameter(0)  ROOT r = f32[3,3] broadcast(a), dimensions={$} }", "1", "0,1"},
    {"broadcast", "ENTRY e { a = $[3] parameter(0)  ROOT r = f32[2,3] broadcast(a), dimensions={1} }", "f32", "s32"},
    {"broadcast", "ENTRY e { a = f32[3,3] parameter(0)  ROOT r = f32[3,3] broadcast(a), dimensions={$} }", "0,1", "1,0",
     absl::StatusCode::kInternal, [](HloVerifierOpts* o) { o->verify_broadcast_dimensions_order = true; }},
    {"reshape", "ENTRY e { a = f32[6] parameter(0)  ROOT r = $[2,3] reshape(a) }", "f32", "s32"},
    {"reshape", "ENTRY e { a = f32[6] parameter(0)  ROOT r = f32[2,3]{$} reshape(a) }", "1,0", "0,1",
     absl::StatusCode::kInternal, [](HloVerifierOpts* o) { o->verify_reshape_is_bitcast = true; }},
    {"dynamic-reshape",
     "ENTRY e { a = f32[6] parameter(0)  n = $[] parameter(1)  ROOT r = f32[<=6] dynamic-reshape(a, n) }", "s32",
     "s64"},
    {"bitcast", "ENTRY e { a = f32[$] parameter(0)  ROOT r = f32[2,3] bitcast(a) }", "6", "7",
     absl::StatusCode::kInternal, Sensitive},
    {"comparison type", "ENTRY e { a = s32[2] parameter(0)  ROOT r = pred[2] compare(a, a), direction=LT, type=$ }",
     "SIGNED", "UNSIGNED", kPrecondition},
    {"reducer types",
     "ENTRY e { a = $[2] parameter(0)  z = $[] constant(0)  ROOT r = f64[] reduce(a, z), dimensions={0}, "
     "to_apply=sum64 }",
     "f64", "f32", kInvalid},
    {"sort comparator", "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] sort(a), dimensions={0}, to_apply=$ }",
     "less", "sum", kInvalid},
    {"sort dimension", "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] sort(a), dimensions={$}, to_apply=less }",
     "0", "1", kInvalid},
    {"rng",
     "ENTRY e { a = f32[$] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[5] rng(a, b), "
     "distribution=rng_uniform }",
     "", "2"},
    {"rng", "ENTRY e { a = s32[] parameter(0)  ROOT r = s32[5] rng(a, a), distribution=$ }", "rng_uniform",
     "rng_normal"},
    {"rng-bit-generator",
     "ENTRY e { a = u64[2] parameter(0)  ROOT r = (u64[$], u32[5]) rng-bit-generator(a), "
     "algorithm=rng_philox }",
     "2", "3"},
    {"rng state", "ENTRY e { ROOT r = u64[$] rng-get-and-update-state(), delta=1 }", "2", "3"},
    {"scaled-dot",
     "ENTRY e { a = f8e4m3fn[4,32] parameter(0)  b = f8e4m3fn[32,8] parameter(1)  s = f8e8m0fnu[4,$] parameter(2)  "
     "t = f8e8m0fnu[1,8] parameter(3)  ROOT r = f32[4,8] scaled-dot(a, b, s, t), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={0} }",
     "4", "5", kPrecondition},
};
INSTANTIATE_TEST_SUITE_P(Data, RuleTest, testing::ValuesIn(kDataCases));

const Case kControlCases[] = {
    {"execution thread",
     "HloModule m\nstep { a = f32[2] parameter(0)  ROOT r = f32[2] negate(a) }$\nENTRY e { a = f32[2] parameter(0)  "
     "ROOT r "
     "= f32[2] while(a), condition=more, body=step }",
     "", ", execution_thread=\"other\""},
    {"execution thread",
     "HloModule m\nstep { a = f32[2] parameter(0)  ROOT r = f32[2] negate(a) }$\nENTRY e { a = f32[2] parameter(0)  p "
     "= "
     "pred[] parameter(1)  ROOT r = f32[2] conditional(p, a, a), true_computation=next, false_computation=step }",
     "", ", execution_thread=\"other\""},
    {"while", "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] while(a), condition=$, body=next }", "more", "many",
     kInvalid},
    {"while", "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] while(a), condition=more, body=$ }", "next", "wide"},
    {"while", "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] while(a), condition=more, body=$ }", "next", "pair"},
    {"consistent sharding",
     "HloModule m, num_partitions=2\nstep { a = f32[2] parameter(0), sharding={$}  ROOT r = f32[2] negate(a), "
     "sharding={replicated} }\nENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] while(a), condition=more, body=step "
     "}",
     "replicated", "devices=[2]<=[2]"},
    {"composite call",
     "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] call(a), to_apply=next, is_composite=true, "
     "frontend_attributes={composite.name=\"$\"} }",
     "foo", "", kInvalid},
    {"composite call",
     "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] call(a), to_apply=next, is_composite=true, "
     "frontend_attributes={composite.name=\"n\",composite.version=\"$\"} }",
     "1", "-1", kInvalid},
    {"fusion shape", "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] fusion(a), kind=kLoop, calls=$ }", "next",
     "wide"},
    {"fusion shape", "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[4] fusion($), kind=kLoop, calls=wide }", "a", ""},
    {"aliasing",
     "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] fusion(a), kind=kLoop, "
     "output_to_operand_aliasing={{}: ($, {})}, calls=next }",
     "0", "1"},
    {"fused computation",
     "f { a = f32[2] parameter(0)  $  ROOT r = f32[2] negate(a) }\n"
     "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] fusion(a), kind=kLoop, calls=f }",
     "", "s = f32[2] abs(a)"},
    {"fused computation",
     "ENTRY e { a = f32[2] parameter(0)  b = f32[2] fusion(a), kind=kLoop, calls=next  ROOT r = f32[2] $ }",
     "negate(b)", "fusion(b), kind=kLoop, calls=next"},
    {"token", "ENTRY e { a = f32[2] parameter(0)  t = $ parameter(1)  ROOT r = f32[2] add-dependency(a, t) }",
     "token[]", "s32[]"},
    {"infeed", "ENTRY e { t = $ parameter(0)  ROOT r = (f32[2], token[]) infeed(t) }", "token[]", "s32[]"},
    {"outfeed",
     "ENTRY e { a = f32[2] parameter(0)  t = token[] parameter(1)  ROOT r = token[] outfeed(a, t), "
     "outfeed_shape=f32[$] }",
     "2", "3"},
};
INSTANTIATE_TEST_SUITE_P(Control, RuleTest, testing::ValuesIn(kControlCases));

#define TRANSFER "(f32[2], u32[], token[])"
// Sends and receives between devices, and their ends; all devices at once; a scheduled module of them.
#define SEND(n, pairs)                                                                                               \
  "x" n " = " TRANSFER " send(a, t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs=\"" pairs \
  "\"}  xd" n " = token[] send-done(x" n "), channel_id=1  "
#define RECV(n, pairs)                                                                                            \
  "y" n " = " TRANSFER " recv(t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs=\"" pairs \
  "\"}  yd" n " = (f32[2], token[]) recv-done(y" n "), channel_id=1  "
#define ALL "r = f32[2] all-reduce(a), replica_groups={}, to_apply=sum  "
#define DEADLOCK(transfers) \
  "HloModule m, is_scheduled=true\nENTRY e { a = f32[2] parameter(0)  t = token[] after-all()  " transfers "}"
void NoDeadlocks(HloVerifierOpts* o) { o->verify_no_collective_deadlocks = true; }

const Case kAsyncCases[] = {
    {"async pair",
     "ENTRY e { a = f32[2] parameter(0)  s = (f32[2], f32[2], u32[]) copy-start(a)  $  ROOT r = f32[2] copy-done(s) }",
     "", "t = (f32[2], f32[2], u32[]) copy(s)"},
    {"async pair", "ENTRY e { a = f32[2] parameter(0)  t = ((f32[2]), f32[2]) async-start(a), calls=next  $ }",
     "ROOT r = f32[2] async-done(t)", "ROOT r = f32[2] get-tuple-element(t), index=1"},
    {"async computation",
     "w { a = f32[2] parameter(0)  b = f32[2] $  ROOT r = f32[2] negate(b) }\n"
     "ENTRY e { a = f32[2] parameter(0)  t = ((f32[2], f32[2]), f32[2]) async-start(a, a), calls=w  ROOT r = f32[2] "
     "async-done(t) }",
     "parameter(1)", "parameter(1)\n  c = f32[2] abs(b)"},
    {"async computation",
     "w { a = f32[2] parameter(0)  t = token[] parameter(1)  p = " TRANSFER " parameter(2)  x = " TRANSFER
     " send(a, t), channel_id=1  n = f32[2] negate(a)  ROOT r = (" TRANSFER ", " TRANSFER ", f32[2]) tuple($, n) }\n"
     "ENTRY e { a = f32[2] parameter(0)  q = " TRANSFER
     " parameter(1)  u = token[] after-all()  t = ((f32[2], token[], " TRANSFER "), (" TRANSFER ", " TRANSFER
     ", f32[2])) async-start(a, u, q), calls=w  ROOT d = (" TRANSFER ", " TRANSFER ", f32[2]) async-done(t) }",
     "x, p", "p, x"},
    // Only an asynchronous computation may leave the end of its send to others.
    {"async pair",
     "w { a = f32[2] parameter(0)  t = token[] parameter(1)  ROOT x = " TRANSFER " send(a, t), channel_id=1 }\n"
     "ENTRY e { a = f32[2] parameter(0)  u = token[] after-all()  $ }",
     "t = ((f32[2], token[]), " TRANSFER ") async-start(a, u), calls=w  ROOT d = " TRANSFER " async-done(t)",
     "ROOT d = f32[2] negate(a)"},
    {"channel",
     "ENTRY e { a = f32[2] parameter(0)  t = token[] after-all()  x = " TRANSFER
     " send(a, t), channel_id=1, is_host_transfer=true, frontend_attributes={k=\"x\"}  d = token[] send-done(x), "
     "channel_id=1, is_host_transfer=true  y = " TRANSFER
     " send(a, d), channel_id=1, is_host_transfer=true, frontend_attributes={k=\"$\"}  ROOT r = token[] send-done(y), "
     "channel_id=1, is_host_transfer=true }",
     "x", "y"},
    {"deadlock", DEADLOCK("$"), SEND("1", "{{0,1}}") RECV("1", "{{0,1}}"), SEND("1", "{{1,2}}") RECV("1", "{{0,1}}"),
     absl::StatusCode::kInternal, NoDeadlocks},
    // Two before one is met; no pairs at all; the same pairs in another order.
    {"deadlock", DEADLOCK("$"), SEND("1", "{{0,1}}") SEND("2", "{{2,3}}") RECV("1", "{{2,3}}") RECV("2", "{{0,1}}"),
     SEND("1", "{{0,1}}") SEND("2", "{{1,2}}") RECV("1", "{{0,1}}"), absl::StatusCode::kInternal, NoDeadlocks},
    {"deadlock", DEADLOCK("$"), SEND("1", "{}") RECV("1", "{}"), SEND("1", "{{0,1},{1,0}}") RECV("1", "{}"),
     absl::StatusCode::kInternal, NoDeadlocks},
    {"deadlock", DEADLOCK("$"), SEND("1", "{{0,1}, {2,3}}") RECV("1", "{{2,3},{0,1}}"),
     SEND("1", "{{0,1},{0,2}}") RECV("1", "{{0,1}}"), absl::StatusCode::kInternal, NoDeadlocks},
    {"deadlock", DEADLOCK("$"), SEND("1", "{{0,1}}") RECV("1", "{{0,1}}") ALL,
     SEND("1", "{{0,1}}") ALL RECV("1", "{{0,1}}"), absl::StatusCode::kInternal, NoDeadlocks},
};
INSTANTIATE_TEST_SUITE_P(Async, RuleTest, testing::ValuesIn(kAsyncCases));

#define ALL_REDUCE(attributes)                                                                                  \
  "HloModule m, replica_count=4\nENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] all-reduce(a), " attributes \
  ", to_apply=sum }"
const Case kCollectiveCases[] = {
    {"replica groups", ALL_REDUCE("replica_groups={$}"), "{0,1,2},{3}", "{0,1,2},{2}"},
    {"replica groups", ALL_REDUCE("replica_groups={$}"), "{0,1},{2,3}", "{0,1},{2,4}"},
    {"replica groups", ALL_REDUCE("replica_groups={$}"), "{0,1},{2,3}", "{0,1},{2}"},
    {"replica groups", ALL_REDUCE("replica_groups={{0,1,2,3}$}"), "", ",{}"},
    {"replica groups", ALL_REDUCE("replica_groups=[$"), "2,2]<=[4]", "1,2]<=[2]"},
    {"shard count",
     "HloModule m, replica_count=4\nENTRY e { a = f32[2] parameter(0)  ROOT r = f32[$] all-gather(a), "
     "replica_groups={{0,1,2,3}}, dimensions={0} }",
     "8", "4"},
    {"shard count",
     "HloModule m, replica_count=4\nENTRY e { a = f32[8] parameter(0)  ROOT r = f32[$] reduce-scatter(a), "
     "replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=sum }",
     "2", "4"},
    {"all-to-all",
     "HloModule m, replica_count=2\nENTRY e { a = f32[2] parameter(0)  ROOT r = $ all-to-all(a, a), "
     "replica_groups={{0,1}} }",
     "(f32[2], f32[2])", "(f32[2], f32[2], f32[2]) all-to-all(a, a, a), replica_groups={{0,1}} } //"},
    {"source-target pairs",
     "HloModule m, replica_count=2\nENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] collective-permute(a), "
     "source_target_pairs={{0,1},{$}} }",
     "1,0", "0,0"},
    {"source-target pairs",
     "HloModule m, replica_count=2\nENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] collective-permute(a), "
     "source_target_pairs={{0,1},{$}} }",
     "1,0", "1,2"},
    {"source-target pairs",
     "HloModule m, replica_count=2\nENTRY e { a = f32[4] parameter(0)  c = s32[] constant(0)  i = (s32[]) tuple(c)  p "
     "= "
     "(f32[4], f32[4]) tuple(a, a)  j = ((s32[]), (s32[])) tuple(i, i)  ROOT r = $, source_target_pairs={{0,1}}, "
     "slice_sizes={{2}} }",
     "f32[4] collective-permute(a, a, i, i)", "(f32[4], f32[4]) collective-permute(a, p, i, j)"},
    {"ragged-all-to-all",
     "HloModule m\nENTRY e { a = f32[4] parameter(0)  o = s32[1] parameter(1)  p = s32[$] parameter(2)  ROOT r = "
     "f32[4] "
     "ragged-all-to-all(a, a, o, o, o, p), replica_groups={{0}} }",
     "1", "2"},
    {"constrained layouts",
     "ENTRY e { a = f32[2] parameter(0)  b = f32[2] all-reduce(a), replica_groups={}, to_apply=sum  ROOT r = f32[2] "
     "all-reduce(b), replica_groups={}, $ to_apply=sum }",
     "", "constrain_layout=true,", kPrecondition},
};
INSTANTIATE_TEST_SUITE_P(Collective, RuleTest, testing::ValuesIn(kCollectiveCases));

const Case kModuleCases[] = {
    {"aliased memory",
     "HloModule m, input_output_alias={ {}: (0, {}, must-alias) }, "
     "entry_computation_layout={(f32[2]{0:S(5)})->f32[2]{0$}}\n"
     "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] negate(a) }",
     ":S(5)", ""},
    {"aliasing",
     "ENTRY e { a = f32[] parameter(0)  b = f32[2] parameter(1)  ROOT r = (f32[]{:S(1)}, f32[2]{0:S(1)}) "
     "custom-call(a, "
     "b), custom_call_target=\"t\", output_to_operand_aliasing={$} }",
     "{0}: (0, {})", "{1}: (1, {})", absl::StatusCode::kInternal, Sensitive},
    {"result shape", "ENTRY e { a = f32[2,3]{1,0} parameter(0)  ROOT r = $ copy(a) }", "f32[2,3]{1,0:S(5)}",
     "f32[2,3]{0,1:S(5)}", absl::StatusCode::kInternal, Sensitive},
    {"result shape", "ENTRY e { a = f32[2,3]{1,0} parameter(0)  ROOT r = $[2,3]{1,0:S(5)} copy(a) }", "f32", "bf16",
     absl::StatusCode::kInternal, [](HloVerifierOpts* o) { o->layout_sensitive = o->allow_mixed_precision = true; }},
    {"layout change",
     "ENTRY e { a = f32[4]{0:S(5)} parameter(0)  i = s32[] parameter(1)  ROOT r = f32[2]{0$} dynamic-slice(a, i), "
     "dynamic_slice_sizes={2} }",
     "", ":S(1)", absl::StatusCode::kInternal, LayoutChange},
    {"layout change",
     "ENTRY e { a = f32[4]{0} parameter(0)  i = s32[] parameter(1)  ROOT r = f32[2]{0$} dynamic-slice(a, i), "
     "dynamic_slice_sizes={2} }",
     "", ":S(5)", absl::StatusCode::kInternal, LayoutChange},
    {"instruction name", "ENTRY e { ROOT own$ = f32[] parameter(0), metadata={scheduling_name=\"x\"} }", ".clone", ".1",
     absl::StatusCode::kInternal, [](HloVerifierOpts* o) { o->verify_instruction_name_unchanged = true; }},
    // Two get-tuple-elements are the same buffer.
    {"buffers",
     "ENTRY e { a = f32[2] parameter(0)  b = b(f32[2]) custom-call(a), custom_call_target=\"Pin\", "
     "output_to_operand_aliasing={{}: (0, {})}  t = (b(f32[2])) tuple(b)  g = b(f32[2]) get-tuple-element(t), index=0  "
     "w = f32[2] custom-call(g), custom_call_target=\"Unpin\", output_to_operand_aliasing={{}: (0, {})}  ROOT r = $ }",
     "f32[2] negate(w)",
     "f32[2] custom-call(b), custom_call_target=\"Unpin\", output_to_operand_aliasing={{}: (0, {})}", kInvalid},
    {"entry layout",
     "HloModule m, entry_computation_layout={(f32[$])->f32[2]}\n"
     "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] negate(a) }",
     "2", "3"},
    {"entry layout",
     "HloModule m, entry_computation_layout={(f32[2,2]{1,0})->f32[2,2]{$}}\n"
     "ENTRY e { a = f32[2,2] parameter(0)  ROOT r = f32[2,2] negate(a) }",
     "1,0", "0,1", absl::StatusCode::kInternal, Sensitive},
    {"buffer donor",
     "HloModule m, buffer_donor={ (0, {$}) }\n"
     "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] negate(a) }",
     "", "1"},
    {"input-output alias",
     "HloModule m, input_output_alias={ {}: ($, {}, may-alias) }\n"
     "ENTRY e { a = f32[2] parameter(0)  b = f32[3] parameter(1)  ROOT r = f32[2] negate(a) }",
     "0", "1"},
    {"original value", "ENTRY e { ROOT a = f32[2] parameter(0), origin={$} }", "{\"x\"}", "({\"x\"})"},
    {"aliasing",
     "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[$] custom-call(a), custom_call_target=\"t\", "
     "output_to_operand_aliasing={{}: (0, {})} }",
     "2", "3"},
    {"buffers",
     "ENTRY e { a = f32[2] parameter(0)  b = b(f32[2]) custom-call(a), custom_call_target=\"Pin\", "
     "output_to_operand_aliasing={{}: (0, {})}  ROOT r = f32[2] custom-call(b), custom_call_target=\"Unpin\"$ }",
     ", output_to_operand_aliasing={{}: (0, {})}", "", kInvalid},
    {"buffers",
     "ENTRY e { b = b(f32[2]) custom-call(), custom_call_target=\"CreateBuffer\"  ROOT r = b(f32[2]) custom-call(b), "
     "custom_call_target=\"t\"$ }",
     ", output_to_operand_aliasing={{}: (0, {})}", "", kInvalid},
    {"buffers", "ENTRY e { b = b(f32[2]) custom-call(), custom_call_target=\"CreateBuffer\"  ROOT r = $ }",
     "f32[2] custom-call(b), custom_call_target=\"Unpin\", output_to_operand_aliasing={{}: (0, {})}",
     "b(f32[2]) copy(b)", kInvalid},
};
INSTANTIATE_TEST_SUITE_P(Module, RuleTest, testing::ValuesIn(kModuleCases));

// Modules that no text can express, because the reader refuses it.

std::vector<HloFinding> FindingsOf(HloModule* module) { return VerifyHlo(*module, HloVerifierOpts()); }

TEST(RuleOfModulesTest, ResultAccuracyIsForTranscendentalFunctions) {
  auto module = ParseAndReturnUnverifiedModule("ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] copy(a) }").value();
  EXPECT_TRUE(FindingsOf(module.get()).empty());
  ResultAccuracy accuracy;
  accuracy.set_mode(ResultAccuracy::HIGHEST);
  module->entry_computation()->root_instruction()->set_result_accuracy(accuracy);
  const std::vector<HloFinding> findings = FindingsOf(module.get());
  ASSERT_EQ(findings.size(), 1);
  EXPECT_THAT(findings[0].message, testing::HasSubstr("result accuracy is not supported for copy"));
}

TEST(RuleOfModulesTest, LayoutConstraintsAreThoseOfTheOperands) {
  auto module = ParseAndReturnUnverifiedModule(
                    "ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2]{0} custom-call(a), custom_call_target=\"t\", "
                    "operand_layout_constraints={f32[2]{0}} }")
                    .value();
  EXPECT_TRUE(FindingsOf(module.get()).empty());
  module->entry_computation()->root_instruction()->mutable_fields()->Set<HloField::operand_shapes_with_layout>(
      {ShapeUtil::MakeShapeWithDenseLayout(F32, {3}, {0})});
  const std::vector<HloFinding> findings = FindingsOf(module.get());
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].rule, "layout constraints");
}

}  // namespace
}  // namespace kashi::hlo
