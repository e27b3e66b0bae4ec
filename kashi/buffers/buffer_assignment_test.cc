#include "kashi/buffers/buffer_assignment.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/buffers/buffer_assignment_testing.h"
#include "kashi/buffers/random_buffer_program_testing.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::buffers {
namespace {

absl::Status CheckRuns(const BufferAssignment& assignment, const std::vector<Shape>& arguments,
                       const HloInstruction* loop, const HloInstruction& root, MachineCounts* counts) {
  const MadeUpRules rules;
  std::vector<int64_t> bytes;
  std::vector<LeafValues> values;
  LeafValues all;
  for (const Shape& shape : arguments) {
    values.emplace_back();
    for (int64_t more : BytesOfLeaves(shape)) {
      bytes.push_back(more);
      values.back().push_back(MixValues(bytes.size(), 7));
      all.push_back(values.back().back());
    }
  }
  KASHI_RETURN_IF_ERROR(AssignmentChecker(assignment, bytes).Check());
  constexpr uint64_t kNone = 0, kAll = ~kNone, kEven = kAll / 3, kOdd = kAll - kEven;
  const RunMode modes[] = {{0, 0, kNone},   {1, 1, kAll},    {2, 2, kEven},  {3, 0, kAll},
                           {-1, -1, kNone}, {-1, -1, kEven}, {-1, -1, kOdd}, {-1, -1, kAll}};
  for (const RunMode& mode : modes) {
    ReferenceRun reference(values, 0, mode);
    if (loop != nullptr) reference.SetValue(*loop->while_init(), values[0]);
    TagMemory memory(assignment, bytes, all, mode);
    TagMachine machine(rules, &memory, counts);
    absl::Status status = machine.RunSequence(assignment.steps, &reference);
    if (status.ok()) status = machine.CheckHolds(assignment.results, root, reference.ValueOf(root), "result");
    if (!status.ok()) {
      return absl::InternalError(absl::StrCat(status.message(), "\nloops run ", mode.trips, " times, branch ",
                                              mode.branch, ", arguments given away: ", absl::Hex(mode.given_away)));
    }
    ++counts->runs;
  }
  counts->updates += static_cast<int64_t>(assignment.updates.size());
  counts->aliases += static_cast<int64_t>(assignment.aliases.size());
  for (const Buffer& buffer : assignment.buffers) counts->lies_in += buffer.lies_in >= 0;
  return absl::OkStatus();
}

// Also prints the assignment that it checks. A step without an instruction cannot be printed.
absl::Status CheckAssignment(const absl::StatusOr<std::optional<BufferAssignment>>& made,
                             const std::vector<Shape>& arguments, const HloInstruction* loop,
                             const HloInstruction& root, MachineCounts* counts) {
  if (!made.ok()) return made.status();
  if (!made->has_value()) return absl::InternalError("no assignment");
  const BufferAssignment& assignment = **made;
  for (const BufferStep& step : assignment.steps) {
    if (step.kind == BufferStep::Kind::kMoves || step.instruction != nullptr) continue;
    return absl::InternalError("a step without an instruction");
  }
  absl::Status status = CheckRuns(assignment, arguments, loop, root, counts);
  if (status.ok()) return status;
  return absl::InternalError(
      absl::StrCat(status.message(), "\n", assignment.StepsToString(), assignment.BuffersToString()));
}

absl::Status CheckEntry(const std::string& text, MachineCounts* counts) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(text));
  const HloComputation& entry = *module->entry_computation();
  std::vector<Shape> arguments;
  for (const HloInstruction* parameter : entry.parameter_instructions()) arguments.push_back(parameter->shape());
  counts->aliases_wanted += static_cast<int64_t>(AliasesOf(*module).size());
  return CheckAssignment(AssignBuffers(entry, MadeUpRules(), NeverStopped), arguments, nullptr,
                         *entry.root_instruction(), counts);
}

// Each loop of the entry computation alone.
absl::Status CheckLoops(const std::string& text, MachineCounts* counts) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(text));
  const MadeUpRules rules;
  for (const HloInstruction* loop : module->entry_computation()->instructions()) {
    if (loop->opcode() != HloOpcode::kWhile || rules.IsOneStep(*loop)) continue;
    KASHI_RETURN_IF_ERROR(
        CheckAssignment(AssignBuffers(*loop, rules, NeverStopped), {loop->while_init()->shape()}, loop, *loop, counts));
  }
  return absl::OkStatus();
}

// False after three failures: nobody reads more.
bool CheckRandomPrograms(uint32_t seeds, absl::Status (*check)(const std::string&, MachineCounts*),
                         MachineCounts* counts) {
  int failures = 0;
  for (uint32_t seed = 0; seed < seeds && failures < 3; ++seed) {
    const std::string text = RandomProgram(seed, 1 + static_cast<int>(seed * 6 / seeds)).Text();
    const absl::Status status = check(text, counts);
    EXPECT_TRUE(status.ok()) << "seed " << seed << "\n" << text << status.message();
    failures += !status.ok();
  }
  return failures < 3;
}

TEST(BufferAssignmentTest, RunsRandomProgramsAsTheReferenceDoes) {
  MachineCounts counts;
  if (!CheckRandomPrograms(6000, CheckEntry, &counts)) return;
  EXPECT_GT(counts.moves, 10000);  // the programs have what they are for
  EXPECT_GT(counts.in_place, 3000);
  EXPECT_GT(counts.swaps, 500);
  EXPECT_GT(counts.kept, 5000);
  EXPECT_GT(counts.updates, 100);
  EXPECT_GT(counts.lies_in, 30);
  EXPECT_GT(counts.aliases, 300);
  EXPECT_GT(counts.aliases_wanted, counts.aliases + 300);
}

TEST(BufferAssignmentTest, RunsLoopsAloneAsTheReferenceDoes) {
  MachineCounts counts;
  if (!CheckRandomPrograms(3000, CheckLoops, &counts)) return;
  EXPECT_GT(counts.swaps, 100);
}

constexpr absl::string_view kParts = R"(HloModule m
more { p1 = (f32[16], f32[16]) parameter(0)
  ROOT c1 = pred[] custom-call(p1), custom_call_target="new" }
always { p0 = (f32[16], f32[16]) parameter(0)
  ROOT c0 = pred[] constant(true) }
shift { p10 = (f32[16], f32[16]) parameter(0)
  a10 = f32[16] get-tuple-element(p10), index=0
  n10 = f32[16] custom-call(), custom_call_target="new"
  ROOT t10 = (f32[16], f32[16]) tuple(n10, a10) }
up { p2 = f32[16] parameter(0)
  ROOT y2 = f32[16] negate(p2) }
same { p3 = f32[16] parameter(0)
  ROOT y3 = f32[16] copy(p3) }
both { p4 = f32[16] parameter(0)
  n4 = f32[16] custom-call(), custom_call_target="new"
  r4 = f32[16] custom-call(p4), custom_call_target="new"
  ROOT t4 = (f32[16], f32[16]) tuple(n4, r4) }
first { p5 = f32[16] parameter(0)
  n5 = f32[16] custom-call(), custom_call_target="new"
  ROOT t5 = (f32[16], f32[16]) tuple(p5, n5) }
yes { p6 = f32[16] parameter(0)
  ROOT c6 = pred[] constant(true) }
longer { p7 = f32[16] parameter(0)
  ROOT y7 = f32[17] custom-call(p7), custom_call_target="new" }
unsized { p8 = f32[16] parameter(0)
  ROOT y8 = f32[16] custom-call(p8), custom_call_target="unknown" }
)";

// `entry` may use x = f32[16], big = f32[40], i = s32[], c = pred[], the tuple xx of x and x, and the computation
// `next`: of q = (f32[16], f32[16]), whose elements are a and b.
std::string ProgramOf(absl::string_view entry, absl::string_view next) {
  return absl::StrCat(kParts, R"(next { q = (f32[16], f32[16]) parameter(0)
  a = f32[16] get-tuple-element(q), index=0
  b = f32[16] get-tuple-element(q), index=1
)",
                      next, R"(}
ENTRY e {
  x = f32[16] parameter(0)
  big = f32[40] parameter(1)
  i = s32[] parameter(2)
  c = pred[] parameter(3)
  xx = (f32[16], f32[16]) tuple(x, x)
)",
                      entry, "\n}");
}
absl::StatusOr<std::optional<BufferAssignment>> AssignmentOf(const std::string& text, StopFunction check_stopped) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(text));
  return AssignBuffers(*module->entry_computation(), MadeUpRules(), check_stopped);
}

// The steps, which the machine has run, too.
std::string StepsOf(absl::string_view entry, absl::string_view next = "  ROOT t = (f32[16], f32[16]) tuple(a, b)") {
  const std::string text = ProgramOf(entry, next);
  MachineCounts counts;
  const absl::Status status = CheckEntry(text, &counts);
  EXPECT_TRUE(status.ok()) << entry << "\n" << next << "\n" << status.message();
  auto module = ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) return "";
  auto assignment = AssignBuffers(*(*module)->entry_computation(), MadeUpRules(), NeverStopped);
  return assignment.ok() && assignment->has_value() ? absl::StrCat("\n", (*assignment)->StepsToString()) : "";
}

TEST(BufferAssignmentTest, UpdatesInPlaceWhereNothingReadsLater) {
  EXPECT_EQ(StepsOf(R"(  y = f32[40] negate(big)
  s = f32[40] dynamic-update-slice(y, x, i)
  ROOT t = f32[40] dynamic-update-slice(s, x, i))"),
            R"(
y  argument 1 -> result 0
s  result 0, argument 0, argument 2 -> result 0
t.1  result 0, argument 0, argument 2 -> result 0
)");
}

TEST(BufferAssignmentTest, CopiesForALaterReader) {
  EXPECT_EQ(StepsOf(R"(  y = f32[40] negate(big)
  s = f32[40] dynamic-update-slice(y, x, i)
  z = f32[40] add(s, y)
  ROOT t = (f32[40], f32[40]) tuple(s, z))"),
            R"(
y  argument 1 -> result 0
copy  result 0 -> arena+0
s  result 0, argument 0, argument 2 -> arena+0
z  arena+0, result 0 -> result 1
copy  arena+0 -> result 0
)");
}

TEST(BufferAssignmentTest, CopiesWhereTheUpdateReadsWhatItUpdates) {
  EXPECT_EQ(StepsOf(R"(  ROOT s = f32[16] dynamic-update-slice(x, x, i))"),
            R"(
copy  argument 0 -> result 0
s  argument 0, argument 0, argument 2 -> result 0
)");
}

TEST(BufferAssignmentTest, SwapsTheStateOfAStencil) {
  EXPECT_EQ(StepsOf(R"(  ROOT w = (f32[16], f32[16]) while(xx), condition=more, body=next)",
                    R"(  a2 = f32[16] reverse(a), dimensions={0}
  b2 = f32[16] negate(b)
  ROOT t = (f32[16], f32[16]) tuple(a2, b2))"),
            R"(
copy  argument 0 -> result 0
copy  argument 0 -> result 1
w: while
  c1  result 0, result 1 -> arena+64
  leave unless  arena+64
  a2  result 0 -> arena+0
  b2  result 1 -> result 1
  swap  arena+0, result 0
)");
}

TEST(BufferAssignmentTest, MovesStateThatChangesPlaces) {
  EXPECT_EQ(StepsOf(R"(  y = f32[16] negate(x)
  xy = (f32[16], f32[16]) tuple(x, y)
  ROOT w = (f32[16], f32[16]) while(xy), condition=more, body=next)",
                    R"(  ROOT t = (f32[16], f32[16]) tuple(b, a))"),
            R"(
y  argument 0 -> result 1
w: while
  c1  result 0, result 1 -> arena+128
  leave unless  arena+128
  copy  result 1 -> arena+0
  copy  result 0 -> arena+64
  copy  arena+0 -> result 0
  copy  arena+64 -> result 1
)");
}

TEST(BufferAssignmentTest, ReadsStateThatALoopKeepsWhereItIs) {
  EXPECT_EQ(StepsOf(R"(  w = (f32[16], f32[16]) while(xx), condition=more, body=next
  ROOT r = f32[16] get-tuple-element(w), index=0)",
                    R"(  a2 = f32[16] add(a, b)
  ROOT t = (f32[16], f32[16]) tuple(a2, b))"),
            R"(
copy  argument 0 -> result 0
w: while
  c1  result 0, argument 0 -> arena+0
  leave unless  arena+0
  a2  result 0, argument 0 -> result 0
)");
}

TEST(BufferAssignmentTest, MakesTheResultOfAConditionalInItsArgument) {
  EXPECT_EQ(StepsOf(R"(  y = f32[16] exponential(x)
  r = f32[16] conditional(c, y, y), true_computation=up, false_computation=same
  ROOT z = f32[16] custom-call(r), custom_call_target="new")"),
            R"(
y  argument 0 -> arena+0
r: branch 0 of  argument 3
  y2  arena+0 -> arena+0
r: branch 1 of  argument 3
z  arena+0 -> result 0
)");
}

TEST(BufferAssignmentTest, PutsTemporariesIntoResults) {
  EXPECT_EQ(StepsOf(R"(  a = f32[1024] custom-call(x), custom_call_target="new"
  b = f32[1024] custom-call(a), custom_call_target="new"
  ROOT d = f32[1024] custom-call(b), custom_call_target="new")"),
            R"(
a.1  argument 0 -> in result 0
b.1  in result 0 -> arena+0
d  arena+0 -> result 0
)");
}

TEST(BufferAssignmentTest, SharesBytesOfTheArena) {
  EXPECT_EQ(StepsOf(R"(  a = f32[16] custom-call(x), custom_call_target="new"
  b = f32[16] custom-call(a), custom_call_target="new"
  d = f32[16] custom-call(b), custom_call_target="new"
  ROOT e1 = f32[40] custom-call(d), custom_call_target="new")"),
            R"(
a.1  argument 0 -> arena+0
b.1  arena+0 -> arena+64
d  arena+64 -> arena+0
e1  arena+0 -> result 0
)");
}

TEST(BufferAssignmentTest, ReturnsArgumentsAsTheyAreAndCopiesWhatIsReturnedTwice) {
  EXPECT_EQ(StepsOf(R"(  y = f32[16] exponential(x)
  ROOT t = (f32[16], f32[16], f32[16]) tuple(y, x, y))"),
            R"(
y  argument 0 -> result 0
copy  result 0 -> result 2
)");
}

TEST(BufferAssignmentTest, ChangesOnlyTheWrittenPartsOfAState) {
  EXPECT_EQ(StepsOf(R"(  y = f32[16] negate(x)
  s = (f32[16], f32[16]) tuple(y, x)
  w = (f32[16], f32[16]) custom-call(s), custom_call_target="state 10"
  ROOT r = f32[16] custom-call(w), custom_call_target="new")"),
            R"(
y  argument 0 -> arena+0
w  arena+0, argument 0 -> arena+0, argument 0
r  arena+0, argument 0 -> result 0
)");
}

TEST(BufferAssignmentTest, RunsExpectationsThatNothingUses) {
  EXPECT_EQ(StepsOf(R"(  y = f32[16] negate(x)
  check = pred[] custom-call(y), custom_call_target="check.expect_made_up"
  unused = f32[16] custom-call(y), custom_call_target="new"
  ROOT r = f32[16] negate(y))"),
            R"(
y  argument 0 -> arena+0
check  arena+0 -> arena+64
r  arena+0 -> result 0
)");
}

TEST(BufferAssignmentTest, WritesNoResultOverAnOperandOfAnotherSize) {
  EXPECT_EQ(StepsOf(R"(  y = f32[16] negate(x)
  z = s8[16] convert(y)
  v = f32[16] convert(z)
  ROOT r = f32[16] custom-call(v), custom_call_target="new")"),
            R"(
y  argument 0 -> arena+0
z  arena+0 -> arena+64
v  arena+64 -> arena+0
r  arena+0 -> result 0
)");
}

TEST(BufferAssignmentTest, ReadsTheStateOfALoopBeforeTheNextOneIsThere) {
  EXPECT_NE(StepsOf(R"(  y = f32[16] custom-call(x), custom_call_target="new"
  yy = (f32[16], f32[16]) tuple(y, y)
  ROOT w = (f32[16], f32[16]) while(yy), condition=more, body=next)",
                    R"(  n = f32[16] custom-call(), custom_call_target="new"
  r = f32[16] custom-call(q), custom_call_target="new"
  ROOT t = (f32[16], f32[16]) tuple(n, r))"),
            "");
}

TEST(BufferAssignmentTest, ReadsTheArgumentOfABranchBeforeTheResultIsThere) {
  EXPECT_NE(StepsOf(R"(  y = f32[16] negate(x)
  ROOT r = (f32[16], f32[16]) conditional(c, y, y), true_computation=both, false_computation=first)"),
            "");
}

TEST(BufferAssignmentTest, CopiesWhereACallReadsWhatItUpdates) {
  EXPECT_NE(StepsOf(R"(  y = f32[16] negate(x)
  ROOT s = f32[16] custom-call(y, y), custom_call_target="update 0")"),
            "");
}

TEST(BufferAssignmentTest, GivesNoArgumentAwayThatTheUpdateReads) {
  EXPECT_NE(StepsOf(R"(  ROOT s = f32[16] custom-call(x, x), custom_call_target="update 0")"), "");
}

TEST(BufferAssignmentTest, KeepsTheOldStateForAnotherElement) {
  const std::string loop = R"(  y = f32[16] custom-call(x), custom_call_target="new"
  z = f32[16] custom-call(x), custom_call_target="new"
  yz = (f32[16], f32[16]) tuple(y, z)
  ROOT w = (f32[16], f32[16]) while(yz), condition=)";
  for (absl::string_view n : {"custom-call(), custom_call_target=\"new\"", "custom-call(b), custom_call_target=\"new\"",
                              "negate(b)", "negate(a)"}) {
    for (absl::string_view condition : {"more", "always"}) {
      for (absl::string_view root : {"tuple(n, a)", "tuple(n, b)", "tuple(a, n)", "tuple(b, n)", "tuple(n, n)"}) {
        const std::string next = absl::StrCat("  n = f32[16] ", n, "\n  ROOT t = (f32[16], f32[16]) ", root);
        EXPECT_NE(StepsOf(absl::StrCat(loop, condition, ", body=next"), next), "");
      }
    }
  }
  EXPECT_NE(StepsOf(absl::StrCat(loop, "always, body=shift")), "");
}

TEST(BufferAssignmentTest, TellsWhichArgumentsAreGivenAway) {
  auto module = ParseAndReturnUnverifiedModule(
      ProgramOf("ROOT s = f32[40] dynamic-update-slice(big, x, i)", "ROOT t = (f32[16], f32[16]) tuple(a, b)"));
  ASSERT_TRUE(module.ok()) << module.status();
  auto assignment = AssignBuffers(*(*module)->entry_computation(), MadeUpRules(), NeverStopped);
  ASSERT_TRUE(assignment.ok() && assignment->has_value()) << assignment.status();
  EXPECT_EQ((*assignment)->BuffersToString(), R"(arena: 0 bytes
argument 0: 64 bytes
argument 1: 160 bytes
argument 2: 4 bytes
argument 3: 1 bytes
result 0: 160 bytes, s
result 0 begins as argument 1
)");
}

// The steps, which the machine has run, too, and the aliases, of a program with those that it is given. As in StepsOf,
// the result is a tuple.
std::string AliasedStepsOf(absl::string_view aliases, absl::string_view entry,
                           absl::string_view next = "  ROOT t = (f32[16], f32[16]) tuple(a, b)") {
  const std::string text = absl::StrReplaceAll(
      ProgramOf(entry, next), {{"HloModule m\n", absl::StrCat("HloModule m, input_output_alias={", aliases, "}\n")}});
  MachineCounts counts;
  const absl::Status status = CheckEntry(text, &counts);
  EXPECT_TRUE(status.ok()) << text << "\n" << status.message();
  auto module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  auto assignment = AssignBuffers(*(*module)->entry_computation(), MadeUpRules(), NeverStopped);
  if (!assignment.ok() || !assignment->has_value()) return "";
  std::string lines;
  for (const LeafAlias& alias : (*assignment)->aliases) {
    absl::StrAppend(&lines, "result ", alias.result, " may lie in argument ", alias.argument, "\n");
  }
  return absl::StrCat("\n", (*assignment)->StepsToString(), lines);
}

TEST(BufferAssignmentTest, AnElementwiseResultMayLieInItsArgument) {
  EXPECT_EQ(AliasedStepsOf("{}: (0, {}, may-alias)", "  ROOT y = f32[16] negate(x)"),
            R"(
y  argument 0 -> result 0
result 0 may lie in argument 0
)");
  EXPECT_EQ(AliasedStepsOf("{}: (0, {}, may-alias)", R"(  y = f32[16] custom-call(x), custom_call_target="new"
  k = f32[16] copy(x)
  ROOT z = f32[16] add(y, k))"),
            R"(
y  argument 0 -> arena+0
z  arena+0, argument 0 -> result 0
result 0 may lie in argument 0
)");
}

TEST(BufferAssignmentTest, AResultMayLieInAnArgumentThatNobodyReadsAnyMore) {
  EXPECT_EQ(AliasedStepsOf("{}: (0, {}, may-alias)", R"(  y = f32[16] custom-call(x), custom_call_target="new"
  ROOT z = f32[16] custom-call(y), custom_call_target="new")"),
            R"(
y  argument 0 -> arena+0
z  arena+0 -> result 0
result 0 may lie in argument 0
)");
  EXPECT_EQ(AliasedStepsOf("{}: (1, {}, may-alias)", "  ROOT z = f32[40] custom-call(x), custom_call_target=\"new\""),
            R"(
z  argument 0 -> result 0
result 0 may lie in argument 1
)");
}

// The other readers of an argument come first where they can.
TEST(BufferAssignmentTest, ReadersComeBeforeTheResultInTheirArgument) {
  EXPECT_EQ(AliasedStepsOf("{0}: (0, {}, may-alias)", R"(  y = f32[16] negate(x)
  z = f32[16] custom-call(x), custom_call_target="new"
  ROOT t = (f32[16], f32[16]) tuple(y, z))"),
            R"(
z  argument 0 -> result 1
y  argument 0 -> result 0
result 0 may lie in argument 0
)");
}

// Then the program is as it is without the alias: nobody pays for memory that the caller may not give up.
TEST(BufferAssignmentTest, NoAliasThatCostsACopy) {
  EXPECT_EQ(AliasedStepsOf("{}: (0, {}, may-alias)", "  ROOT z = f32[16] custom-call(x), custom_call_target=\"new\""),
            R"(
z  argument 0 -> result 0
)");
  EXPECT_EQ(AliasedStepsOf("{0}: (0, {}, may-alias)", R"(  k = f32[16] copy(x)
  y = f32[16] negate(k)
  z = f32[16] custom-call(x, y), custom_call_target="new"
  ROOT t = (f32[16], f32[16]) tuple(y, z))"),
            R"(
y  argument 0 -> result 0
z  argument 0, result 0 -> result 1
)");
  // Read in another order than the result is written.
  EXPECT_EQ(AliasedStepsOf("{0}: (0, {}, may-alias)",
                           R"(  y = (f32[4,4], f32[16]) custom-call(x, big), custom_call_target="elementwise"
  z = f32[4,4] get-tuple-element(y), index=0
  u = f32[16] get-tuple-element(y), index=1
  ROOT t = (f32[4,4], f32[16]) tuple(z, u))"),
            R"(
y  argument 0, argument 1 -> result 0, result 1
)");
  // Returned as another result.
  EXPECT_EQ(AliasedStepsOf("{1}: (0, {}, may-alias)", R"(  y = f32[16] negate(x)
  ROOT t = (f32[16], f32[16]) tuple(x, y))"),
            R"(
y  argument 0 -> result 1
)");
}

TEST(BufferAssignmentTest, AnUpdateOfTheArgumentIsInPlace) {
  constexpr absl::string_view kUpdate = R"(  d = f32[40] dynamic-update-slice(big, x, i)
  y = f32[16] negate(x)
  ROOT t = (f32[40], f32[16]) tuple(d, y))";
  EXPECT_EQ(AliasedStepsOf("{0}: (1, {}, may-alias), {1}: (0, {}, may-alias)", kUpdate), R"(
d  argument 1, argument 0, argument 2 -> result 0
y  argument 0 -> result 1
result 1 may lie in argument 0
)");
}

TEST(BufferAssignmentTest, TemporariesInAResultComeAfterItsArgument) {
  EXPECT_EQ(AliasedStepsOf("{}: (4, {}, may-alias)", R"(  large = f32[1024] parameter(4)
  a = f32[1024] custom-call(large), custom_call_target="new"
  b = f32[1024] custom-call(a), custom_call_target="new"
  d = f32[1024] custom-call(b), custom_call_target="new"
  ROOT f = f32[1024] custom-call(d), custom_call_target="new")"),
            R"(
a.1  argument 4 -> arena+0
b.1  arena+0 -> in result 0
d  in result 0 -> arena+0
f  arena+0 -> result 0
result 0 may lie in argument 4
)");
}

TEST(BufferAssignmentTest, AliasesOfAModule) {
  const auto aliases_of = [](absl::string_view aliases) {
    const std::string text = absl::StrCat("HloModule m, input_output_alias={", aliases, R"(}
ENTRY e { p = (f32[16], (s32[16], f64[8])) parameter(0)  x = f32[4,4] parameter(1)
  f = f32[16] get-tuple-element(p), index=0  ROOT r = ((f32[16], f32[4,4]), f32[16]) custom-call(p, x),
  custom_call_target="new" })");
    auto module = ParseAndReturnUnverifiedModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    std::string found;
    if (!module.ok()) return found;
    for (const LeafAlias& alias : AliasesOf(**module)) absl::StrAppend(&found, alias.argument, "->", alias.result, " ");
    return found;
  };
  EXPECT_EQ(aliases_of("{1}: (1, {}, may-alias), {0,0}: (0, {1,0}, may-alias), {0,1}: (0, {0}, must-alias)"),
            "1->0 0->1 3->2 ");
  EXPECT_EQ(aliases_of("{1}: (0, {1,1}, may-alias)"), "");  // f64[8]: as many bytes, fewer elements
  EXPECT_EQ(aliases_of("{1}: (0, {1}, may-alias), {0}: (1, {}, may-alias)"), "");
  EXPECT_EQ(aliases_of("{1}: (2, {}, may-alias), {0,0}: (1, {}, may-alias)"), "3->0 ");
  EXPECT_EQ(aliases_of("{1}: (1, {}, may-alias), {0,0}: (1, {}, may-alias)"), "3->0 ");
}

TEST(BufferAssignmentTest, GivesTheErrorThatStopsIt) {
  const std::string text = RandomProgram(1, 8).Text();
  int64_t asked = 0;
  ASSERT_TRUE(AssignmentOf(text, [&] { return ++asked, absl::OkStatus(); }).ok());
  ASSERT_GT(asked, 0);
  for (int64_t stop_at = 1; stop_at <= asked; ++stop_at) {
    int64_t n = 0;
    const auto stop = [&] { return ++n == stop_at ? absl::CancelledError("by the test") : absl::OkStatus(); };
    EXPECT_EQ(AssignmentOf(text, stop).status(), absl::CancelledError("by the test")) << stop_at;
    EXPECT_EQ(n, stop_at);
  }
}

TEST(BufferAssignmentTest, HasNoAssignmentWhereSizesAreUnknownOrShapesDoNotFit) {
  const absl::string_view programs[] = {
      "d = f32[<=16] parameter(4)\n ROOT y = f32[<=16] negate(d)",
      "d = token[] parameter(4)\n ROOT y = f32[16] negate(x)",
      "d = token[] after-all()\n ROOT y = (f32[16], token[]) tuple(x, d)",
      "ROOT y = f32[16] custom-call(x), custom_call_target=\"unknown\"",
      "ROOT w = f32[16] while(x), condition=yes, body=longer",
      "ROOT w = f32[16] while(x), condition=yes, body=unsized",
      "ROOT w = f32[40] while(big), condition=yes, body=same",
      "ROOT r = f32[16] conditional(c, x, x), true_computation=longer, false_computation=same",
      "ROOT r = f32[16] conditional(c, x, big), true_computation=same, false_computation=same",
  };
  for (absl::string_view program : programs) {
    const auto made = AssignmentOf(ProgramOf(program, "ROOT t = (f32[16], f32[16]) tuple(a, b)"), NeverStopped);
    ASSERT_TRUE(made.ok()) << program << made.status();
    EXPECT_FALSE(made->has_value()) << program;
  }
}

}  // namespace
}  // namespace kashi::buffers
