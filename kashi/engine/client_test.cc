#include "kashi/engine/client.h"

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/engine/client_testing.h"
#include "kashi/engine/engine.h"
#include "kashi/engine/engine_choice.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal_util.h"

namespace kashi::engine {
namespace {

using testing::HasSubstr;

TEST(ClientTest, Devices) {
  const auto client = MakeClient(3);
  ASSERT_EQ(client->devices().size(), 3);
  const LocalDevice& device = **client->DeviceOf(2);
  EXPECT_EQ(device.ToString(), "CpuDevice(id=2)");
  EXPECT_EQ(device.default_memory_space().kind(), "device");
  EXPECT_EQ(device.memory_spaces()[1]->ToString(), "MemorySpace(id=7, kind=pinned_host, device=2)");
  EXPECT_EQ(client->DeviceOf(3).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(client->DeviceOf(-1).status().code(), absl::StatusCode::kNotFound);
  for (const ClientOptions& wrong : {ClientOptions{0, 0}, ClientOptions{5000, 0}, ClientOptions{1, -1}}) {
    EXPECT_EQ(Client::Create(wrong).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

// ---- Buffers --------------------------------------------------------------------------------------------------------

TEST(ClientTest, LayoutsInAndOut) {
  const auto client = MakeClient();
  std::vector<int16_t> dense(20 * 300);
  for (size_t i = 0; i < dense.size(); ++i) dense[i] = static_cast<int16_t>(i);
  const Placement rows = Placement::OfStrides(S16, {20, 300}, {600, 2}).value();
  const Placement backwards = Placement::OfStrides(S16, {20, 300}, {600, -2}).value();
  const auto buffer = client->BufferFromHost(dense.data(), rows, HostBufferSemantics::kImmutableOnlyDuringCall).value();
  EXPECT_EQ(buffer->shape().ToString(true), "s16[20,300]{1,0}");
  EXPECT_EQ(buffer->size_bytes(), 12000);
  for (const char* layout : {"s16[20,300]{1,0}", "s16[20,300]{0,1}", "s16[20,300]{1,0:T(8,128)(2,1)}"}) {
    const Placement tiled = Placement::OfLayout(ParseShape(layout).value()).value();
    std::vector<char> bytes(20000), back(12000);
    ASSERT_TRUE(buffer->CopyToHost(bytes.data(), tiled).ok()) << layout;
    const auto again =
        client->BufferFromHost(bytes.data(), tiled, HostBufferSemantics::kImmutableOnlyDuringCall).value();
    ASSERT_TRUE(again->CopyToHost(back.data(), rows).ok());
    EXPECT_EQ(std::memcmp(back.data(), dense.data(), back.size()), 0) << layout;
    EXPECT_EQ(again->ToLiteral().value(), buffer->ToLiteral().value()) << layout;
  }
  const auto reversed =
      client->BufferFromHost(dense.data() + 299, backwards, HostBufferSemantics::kImmutableZeroCopy).value();
  EXPECT_EQ(reversed->ToLiteral().value().Get<int16_t>({1, 0}), 599);
  EXPECT_THAT(buffer->CopyToHost(dense.data(), Placement::OfStrides(S16, {300, 20}, {40, 2}).value()).ToString(),
              HasSubstr("does not fit s16[20,300]"));
}

TEST(ClientTest, TellsWhenHostMemoryIsFree) {
  const auto client = MakeClient();
  alignas(64) float data[4] = {1, 2, 3, 4};
  const Placement dense = Placement::OfStrides(F32, {4}, {4}).value();
  int calls = 0;
  const auto done = [&calls] { ++calls; };
  for (const auto semantics :
       {HostBufferSemantics::kImmutableOnlyDuringCall, HostBufferSemantics::kImmutableUntilTransferCompletes}) {
    const int before = calls;
    const auto copied = client->BufferFromHost(data, dense, semantics, nullptr, done).value();
    EXPECT_EQ(calls, before + 1);
    EXPECT_NE(copied->AcquireExternalReference()->data(), data);
  }
  auto lent = client->BufferFromHost(data, dense, HostBufferSemantics::kImmutableZeroCopy, nullptr, done).value();
  EXPECT_EQ(lent->AcquireExternalReference()->data(), data);
  EXPECT_EQ(calls, 2);
  const auto program = Load(*client, "ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }");
  const auto results = program->Execute({{lent.get()}}).value();
  EXPECT_EQ(NumbersOf(*results[0].buffers[0]), std::vector<float>({-1, -2, -3, -4}));
  EXPECT_EQ(data[0], 1) << "lent memory is only read";
  lent = nullptr;
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(client
                   ->BufferFromHost(data, Placement::OfStrides(F32, {int64_t{1} << 60}, {0}).value(),
                                    HostBufferSemantics::kImmutableOnlyDuringCall, nullptr, done)
                   .ok());
  EXPECT_EQ(calls, 4) << "a failed call needs the memory no more";
}

// The caller may change lent memory when the buffer is gone, and results live longer.
TEST(ClientTest, ResultsDoNotShareLentMemory) {
  const auto client = MakeClient();
  alignas(64) float data[4] = {1, 2, 3, 4};
  const Placement dense = Placement::OfStrides(F32, {4}, {4}).value();
  const auto program = Load(*client, R"(ENTRY e { x = f32[4] parameter(0)
    y = f32[2,2] reshape(x)
    ROOT t = (f32[4], f32[2,2]) tuple(x, y) })");
  auto lent = client->BufferFromHost(data, dense, HostBufferSemantics::kImmutableZeroCopy).value();
  const auto results = program->Execute({{lent.get()}}).value();
  ASSERT_TRUE(results[0].done.Await().ok());
  lent = nullptr;
  data[0] = 7;
  EXPECT_EQ(NumbersOf(*results[0].buffers[0]), std::vector<float>({1, 2, 3, 4}));
  EXPECT_EQ(results[0].buffers[1]->ToLiteral()->Get<float>({0, 0}), 1);
}

TEST(ClientTest, EmptyArraysNeedNoMemory) {
  const auto client = MakeClient();
  bool is_done = false;
  const auto buffer = client->BufferFromHost(nullptr, Placement::OfStrides(F32, {0, 3}, {12, 4}).value(),
                                             HostBufferSemantics::kImmutableZeroCopy, nullptr, [&] { is_done = true; });
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ((*buffer)->ToLiteral().value().element_count(), 0);
  (*buffer)->Delete();
  EXPECT_TRUE(is_done);
  const Placement bounded = Placement::OfLayout(ParseShape("f32[<=3]{0}").value()).value();
  EXPECT_FALSE(client->BufferFromHost(&is_done, bounded, HostBufferSemantics::kImmutableOnlyDuringCall).ok());
}

TEST(ClientTest, DeletedBuffers) {
  const auto client = MakeClient();
  const auto buffer = MakeBufferOf(*client, {1, 2});
  const auto kept = buffer->AcquireExternalReference().value();
  const auto twin = buffer->CopyTo(*client->devices()[0]->memory_spaces()[1]).value();
  buffer->Delete();
  buffer->Delete();
  EXPECT_TRUE(buffer->is_deleted());
  EXPECT_TRUE(buffer->ready().is_ready());
  EXPECT_EQ(buffer->shape().ToString(), "f32[2]");
  EXPECT_THAT(buffer->ToLiteral().status().ToString(), HasSubstr("Buffer has been deleted or donated"));
  EXPECT_FALSE(buffer->AcquireExternalReference().ok());
  EXPECT_FALSE(buffer->CopyTo(client->devices()[0]->default_memory_space()).ok());
  EXPECT_EQ(static_cast<const float*>(kept.data())[1], 2);
  EXPECT_EQ(NumbersOf(*twin), std::vector<float>({1, 2}));
  EXPECT_EQ(twin->memory_space().kind(), "pinned_host");
  const auto other = MakeClient();
  EXPECT_THAT(twin->CopyTo(other->devices()[0]->default_memory_space()).status().ToString(),
              HasSubstr("of another client"));
}

TEST(ClientTest, MemoryLimitHoldsForBuffersAndRuns) {
  const auto client = MakeClient(1, /*memory=*/1 << 20);
  const auto program = Load(*client, R"(ENTRY e { x = f32[150000] parameter(0) ROOT y = f32[150000] negate(x) })");
  const auto x = MakeBufferOf(*client, std::vector<float>(150000, 1));
  EXPECT_EQ(client->BufferFromLiteral(LiteralUtil::CreateR1<float>(std::vector<float>(150000))).status().code(),
            absl::StatusCode::kResourceExhausted);
  const auto results = program->Execute({{x.get()}}).value();
  EXPECT_EQ(results[0].done.Await().code(), absl::StatusCode::kResourceExhausted);
}

// ---- Execution -----------------------------------------------------------------------------------------------------

TEST(ClientTest, TuplesAreTakenApart) {
  const auto client = MakeClient();
  const auto program = Load(*client, R"(ENTRY e {
    p = (f32[2], (f32[2], token[])) parameter(0)  q = f32[2] parameter(1)
    a = f32[2] get-tuple-element(p), index=0  i = (f32[2], token[]) get-tuple-element(p), index=1
    b = f32[2] get-tuple-element(i), index=0  t = token[] get-tuple-element(i), index=1
    s = f32[2] add(a, q)  inner = (f32[2], token[]) tuple(b, t)  ROOT r = ((f32[2], token[]), f32[2]) tuple(inner, s) })");
  ASSERT_EQ(program->argument_shapes().size(), 4);
  ASSERT_EQ(program->result_shapes().size(), 3);
  const auto a = MakeBufferOf(*client, {1, 2}), b = MakeBufferOf(*client, {3, 4}), q = MakeBufferOf(*client, {10, 20});
  const auto token = client->MakeToken().value();
  const auto results = program->Execute({{a.get(), b.get(), token.get(), q.get()}}).value();
  ASSERT_EQ(results[0].buffers.size(), 3);
  EXPECT_EQ(NumbersOf(*results[0].buffers[0]), std::vector<float>({3, 4}));
  EXPECT_TRUE(results[0].buffers[1]->shape().IsToken());
  EXPECT_FALSE(results[0].buffers[1]->AcquireExternalReference().ok());
  EXPECT_EQ(NumbersOf(*results[0].buffers[2]), std::vector<float>({11, 22}));
}

// A result may be a constant of the program, itself or behind other operations.
TEST(ClientTest, ResultsOutliveTheProgram) {
  constexpr absl::string_view kConstant =
      "k = f32[40] constant({1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
      "1,1,1,1,1,1,1,1,1,1,1,1})";
  const auto client = MakeClient();
  for (const std::string& text :
       {absl::StrCat("ENTRY e { ROOT ", kConstant, " }"),
        absl::StrCat("ENTRY e { ", kConstant,
                     " c = f32[40] copy(k) ROOT t = (f32[40], f32[40]) "
                     "tuple(c, k) }"),
        absl::StrCat("ENTRY e { ", kConstant,
                     " r = f32[5,8] reshape(k) "
                     "ROOT s = f32[40] reshape(r) }"),
        absl::StrCat("yes { x = f32[] parameter(0) ROOT ", kConstant,
                     " } no { x = f32[] parameter(0) ROOT b = f32[40] broadcast(x), dimensions={} } "
                     "ENTRY e { p = pred[] constant(true) z = f32[] constant(0) ROOT c = f32[40] "
                     "conditional(p, z, z), true_computation=yes, false_computation=no }")}) {
    auto program = Load(*client, text);
    const auto results = program->Execute({{}}).value();
    ASSERT_TRUE(results[0].done.Await().ok()) << text;
    const auto value = program->program().ExecuteValues({}).value();
    program = nullptr;
    std::vector<std::unique_ptr<std::vector<float>>> elsewhere;
    for (int i = 0; i < 1000; ++i) elsewhere.push_back(std::make_unique<std::vector<float>>(40, 7.0f));
    for (const auto& buffer : results[0].buffers) EXPECT_EQ(NumbersOf(*buffer), std::vector<float>(40, 1)) << text;
    const Value first = value.is_tuple() ? value.element(0) : value;
    EXPECT_EQ(first.data<float>()[39], 1) << text;
  }
}

TEST(ClientTest, RefusesWrongArguments) {
  const auto client = MakeClient(2);
  const auto program = Load(*client, kNegate);
  const auto x = MakeBufferOf(*client, {1, 2}), three = MakeBufferOf(*client, {1, 2, 3});
  const auto away = MakeBufferOf(*client, {1, 2}, *client->DeviceOf(1));
  const auto error = [&](const std::vector<std::vector<Buffer*>>& arguments) {
    return std::string(program->Execute(arguments).status().message());
  };
  EXPECT_EQ(error({}), "the program runs on 1 devices, but there are arguments for 0");
  EXPECT_EQ(error({{x.get(), x.get()}}), "the program takes 1 arguments, but device 0 got 2");
  EXPECT_EQ(error({{three.get()}}), "argument 0 is f32[3], but the program takes f32[2]");
  EXPECT_EQ(error({{away.get()}}), "argument 0 is on CpuDevice(id=1), but the program runs on CpuDevice(id=0)");
  const auto other = MakeClient();
  const auto foreign = MakeBufferOf(*other, {1, 2});
  EXPECT_EQ(error({{foreign.get()}}), "argument 0 is of another client");
  MemorySpace& place = other->devices()[0]->default_memory_space();
  EXPECT_FALSE(client->BufferFromLiteral(LiteralUtil::CreateR0<float>(1), &place).ok());
  EXPECT_FALSE(client->MakeToken(&place).ok());
  ExecuteOptions options;
  for (const int64_t argument : {-1, 1}) {
    options.non_donatable = {argument};
    EXPECT_THAT(program->Execute({{x.get()}}, options).status().ToString(), HasSubstr("the program takes 1"));
  }
  x->Delete();
  EXPECT_EQ(error({{x.get()}}), "argument 0: Buffer has been deleted or donated.");
}

TEST(ClientTest, RefusesProgramsThatNoBufferFits) {
  const auto client = MakeClient();
  const auto error = [&](absl::string_view text) {
    return client->Compile(*ParseAndReturnUnverifiedModule(text).value()).status().ToString();
  };
  EXPECT_THAT(error("ENTRY e { x = f32[<=3] parameter(0) ROOT y = f32[<=3] negate(x) }"),
              HasSubstr("f32[<=3], which no buffer holds"));
  EXPECT_THAT(error("HloModule m, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }"), HasSubstr("no device 1"));
  EXPECT_THAT(error("HloModule m, num_partitions=2\nENTRY e { x = f32[4] parameter(0), sharding={devices=[2]<=[2]} "
                    "ROOT c = f32[4] custom-call(x), custom_call_target=\"Sharding\", sharding={replicated} }"),
              HasSubstr("is a global program"));
  const auto two = MakeClient(2);
  LocalDevice* const first = *two->DeviceOf(0);
  const auto of_two =
      ParseAndReturnUnverifiedModule("HloModule m, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }");
  EXPECT_THAT(two->Compile(**of_two, {}, {first, first}).status().ToString(), HasSubstr("in the list twice"));
  EXPECT_THAT(two->Compile(**of_two, {}, {first}).status().ToString(), HasSubstr("not for 1"));
  CompileOptions unknown;
  unknown.engine = "gpu";
  EXPECT_THAT(two->Compile(**of_two, unknown).status().ToString(), HasSubstr("no engine has the name `gpu`"));
}

TEST(ClientTest, ReturnsBeforeTheProgramHasRunAndKeepsOrder) {
  const auto client = MakeClient();
  const auto waits = Load(*client, kWaits), negate = Load(*client, kNegate);
  auto x = MakeBufferOf(*client, {1, 2});
  Gate gate;
  ExecuteOptions options;
  options.custom_call_handler = gate.handler();
  auto first = waits->Execute({{x.get()}}, options).value();
  gate.AwaitBegin();
  // A dependent, and an independent program behind it in the queue of the device.
  const auto second = negate->Execute({{first[0].buffers[0].get()}}).value();
  const auto third = negate->Execute({{x.get()}}).value();
  x = nullptr;               // running programs keep what they read
  first[0].buffers.clear();  // and what they compute
  EXPECT_FALSE(second[0].done.is_ready());
  EXPECT_FALSE(third[0].done.is_ready());
  EXPECT_FALSE(second[0].buffers[0]->ready().is_ready());
  gate.Open();
  EXPECT_EQ(NumbersOf(*second[0].buffers[0]), std::vector<float>({-1, -2}));
  EXPECT_EQ(NumbersOf(*third[0].buffers[0]), std::vector<float>({-1, -2}));
}

TEST(ClientTest, ErrorsTravelToDependents) {
  const auto client = MakeClient();
  const auto waits = Load(*client, kWaits), negate = Load(*client, kNegate);
  const auto x = MakeBufferOf(*client, {1, 2});
  Gate gate;
  ExecuteOptions options;
  options.custom_call_handler = gate.handler();
  const auto first = waits->Execute({{x.get()}}, options).value();
  const auto second = negate->Execute({{first[0].buffers[0].get()}}).value();
  gate.Open(absl::DataLossError("the disk is full"));
  EXPECT_EQ(first[0].done.Await().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(second[0].done.Await(), first[0].done.Await());
  EXPECT_EQ(second[0].buffers[0]->ToLiteral().status(), first[0].done.Await());
  EXPECT_FALSE(second[0].buffers[0]->is_deleted());
  const auto third = negate->Execute({{x.get()}}).value();  // the device goes on
  EXPECT_EQ(NumbersOf(*third[0].buffers[0]), std::vector<float>({-1, -2}));
}

TEST(ClientTest, CancelledProgramsEnd) {
  const auto client = MakeClient();
  const auto endless = Load(*client, R"(
    c { s = s32[] parameter(0) z = s32[] constant(0) ROOT r = pred[] compare(s, z), direction=GE }
    b { s = s32[] parameter(0) o = s32[] constant(1) n = s32[] add(s, o) m = s32[] constant(1000)
      ROOT r = s32[] remainder(n, m) }
    ENTRY e { z = s32[] constant(0) ROOT w = s32[] while(z), condition=c, body=b })");
  std::atomic<bool> cancelled = false;
  ExecuteOptions options;
  options.cancelled = &cancelled;
  const auto running = endless->Execute({{}}, options).value();
  const auto waiting = endless->Execute({{}}, options).value();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(running[0].done.is_ready());
  cancelled = true;
  EXPECT_EQ(running[0].done.Await().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(waiting[0].buffers[0]->ready().Await().code(), absl::StatusCode::kCancelled);
}

// Callbacks start programs while the client waits for them.
TEST(ClientTest, IsDestroyedAfterWhatCallbacksStart) {
  int calls = 0;
  {
    auto client = MakeClient(2);
    const auto waits = Load(*client, kWaits);
    const auto on_1 =
        client->Compile(*ParseAndReturnUnverifiedModule(kNegate).value(), {}, {*client->DeviceOf(1)}).value();
    const auto x = MakeBufferOf(*client, {1, 2}), y = MakeBufferOf(*client, {1, 2}, *client->DeviceOf(1));
    Gate gate;
    ExecuteOptions options;
    options.custom_call_handler = gate.handler();
    const auto first = waits->Execute({{x.get()}}, options).value();
    first[0].done.OnReady([&](const absl::Status&) {
      for (int i = 0; i < 10; ++i) {
        on_1->Execute({{y.get()}}).value()[0].done.OnReady([&](const absl::Status& done) {
          calls += done.ok() ? 1 : 0;
        });
      }
    });
    std::thread opens([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      gate.Open();
    });
    client = nullptr;
    opens.join();
  }
  EXPECT_EQ(calls, 10);
}

// Each with a flag of its own.
TEST(ClientTest, FlagsOfCallsAreForgotten) {
  const auto client = MakeClient();
  const auto negate = Load(*client, kNegate);
  const auto x = MakeBufferOf(*client, {1, 2});
  std::vector<std::unique_ptr<std::atomic<bool>>> flags;
  for (int i = 0; i < 1000; ++i) {
    flags.push_back(std::make_unique<std::atomic<bool>>(i % 2 == 1));
    ExecuteOptions options;
    options.cancelled = flags.back().get();
    const absl::Status status = negate->Execute({{x.get()}}, options).value()[0].done.Await();
    EXPECT_EQ(status.ok(), i % 2 == 0) << status;
  }
}

TEST(ClientTest, AnUnknownBranchMayBeLong) {
  const auto module = ParseAndReturnUnverifiedModule(R"(
    yes { x = f32[] parameter(0) ROOT n = f32[] negate(x) } no { x = f32[] parameter(0) ROOT m = f32[] sine(x) }
    ENTRY e { p = pred[] parameter(0) x = f32[] parameter(1)
      ROOT c = f32[] conditional(p, x, x), true_computation=yes, false_computation=no })");
  EXPECT_FALSE(IsQuick(**module, 1'000'000'000));
  EXPECT_TRUE(IsQuick(*ParseAndReturnUnverifiedModule(kNegate).value(), 10'000));
}

// ---- Donation ------------------------------------------------------------------------------------------------------

constexpr char kDonates[] = R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, buffer_donor={ (2, {}) }
ENTRY e { x = f32[100] parameter(0)  y = f32[100] parameter(1)  z = f32[100] parameter(2)
  a = f32[100] add(x, y)  ROOT r = f32[100] subtract(a, z) })";

class DonationTest : public testing::Test {
 protected:
  DonationTest() {
    for (float x : {1.0f, 10.0f, 100.0f}) buffers_.push_back(MakeBufferOf(*client_, std::vector<float>(100, x)));
  }
  const void* AddressOf(const Buffer& buffer) { return buffer.AcquireExternalReference()->data(); }
  std::vector<Buffer*> arguments() const { return {buffers_[0].get(), buffers_[1].get(), buffers_[2].get()}; }

  const std::unique_ptr<Client> client_ = MakeClient();
  const std::unique_ptr<LoadedProgram> program_ = Load(*client_, kDonates);
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

TEST_F(DonationTest, MemoryIsReused) {
  EXPECT_TRUE(program_->IsDonated(0) && !program_->IsDonated(1) && program_->IsDonated(2));
  const void* const memory = AddressOf(*buffers_[0]);
  const auto results = program_->Execute({arguments()}).value();
  EXPECT_TRUE(buffers_[0]->is_deleted() && !buffers_[1]->is_deleted() && buffers_[2]->is_deleted());
  EXPECT_EQ(NumbersOf(*results[0].buffers[0]), std::vector<float>(100, -89));
  EXPECT_EQ(AddressOf(*results[0].buffers[0]), memory);
  EXPECT_EQ(NumbersOf(*buffers_[1]), std::vector<float>(100, 10));
  EXPECT_THAT(program_->Execute({arguments()}).status().ToString(), HasSubstr("deleted or donated"));
}

TEST_F(DonationTest, NotWhatTheCallerKeeps) {
  ExecuteOptions options;
  options.non_donatable = {0, 2};
  for (int i = 0; i < 2; ++i) {
    const auto results = program_->Execute({arguments()}, options).value();
    EXPECT_EQ(NumbersOf(*results[0].buffers[0]), std::vector<float>(100, -89));
  }
  EXPECT_EQ(NumbersOf(*buffers_[0]), std::vector<float>(100, 1));
}

// The buffer is the program's, but somebody reads its memory.
TEST_F(DonationTest, NotWhatIsReferredTo) {
  const auto reference = buffers_[0]->AcquireExternalReference().value();
  const auto twin = buffers_[2]->CopyTo(client_->devices()[0]->default_memory_space()).value();
  const auto results = program_->Execute({arguments()}).value();
  EXPECT_EQ(NumbersOf(*results[0].buffers[0]), std::vector<float>(100, -89));
  EXPECT_TRUE(buffers_[0]->is_deleted());
  EXPECT_EQ(static_cast<const float*>(reference.data())[99], 1);
  EXPECT_EQ(NumbersOf(*twin), std::vector<float>(100, 100));
}

TEST_F(DonationTest, NotTwice) {
  const auto error = [&](int i, int j, int k) {
    return std::string(
        program_->Execute({{buffers_[i].get(), buffers_[j].get(), buffers_[k].get()}}).status().message());
  };
  EXPECT_THAT(error(0, 1, 0), HasSubstr("flattened argument 2, replica 0, partition 0, first use: 0"));
  EXPECT_THAT(error(0, 0, 1), HasSubstr("flattened argument 1, replica 0, partition 0, first use: 0"));
  EXPECT_THAT(error(1, 0, 0), HasSubstr("flattened argument 2, replica 0, partition 0, first use: 1"));
  for (const auto& buffer : buffers_) EXPECT_FALSE(buffer->is_deleted());
}

// Callers that take the same buffers at once: one gets them all, the others get none.
TEST_F(DonationTest, OneOfSeveralCallers) {
  const auto both = Load(*client_, R"(HloModule m, buffer_donor={ (0, {}), (1, {}) }
    ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1) ROOT r = f32[2] subtract(x, y) })");
  for (int round = 0; round < 300; ++round) {
    const auto x = MakeBufferOf(*client_, {1, 2}), y = MakeBufferOf(*client_, {10, 20});
    std::atomic<int> successes = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        const auto results = t % 2 == 0 ? both->Execute({{x.get(), y.get()}}) : both->Execute({{y.get(), x.get()}});
        if (!results.ok()) return;
        ++successes;
        EXPECT_EQ(NumbersOf(*(*results)[0].buffers[0])[0], t % 2 == 0 ? -9 : 9);
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(successes, 1);
  }
}

// ---- Several devices -----------------------------------------------------------------------------------------------

TEST(ClientTest, DevicesMeet) {
  const auto client = MakeClient(2);
  const auto sum = Load(*client, kSum);
  const auto negate_on_1 =
      client->Compile(*ParseAndReturnUnverifiedModule(kNegate).value(), {}, {*client->DeviceOf(1)}).value();
  const auto x = MakeBufferOf(*client, {1, 2}), y = MakeBufferOf(*client, {10, 20}, *client->DeviceOf(1));
  const auto negated = negate_on_1->Execute({{y.get()}}).value();
  const auto sums = sum->Execute({{x.get()}, {negated[0].buffers[0].get()}}).value();
  ASSERT_EQ(sums.size(), 2);
  for (int d = 0; d < 2; ++d) {
    EXPECT_EQ(NumbersOf(*sums[d].buffers[0]), std::vector<float>({-9, -18}));
    EXPECT_EQ(sums[d].buffers[0]->device().id(), d);
  }
}

// Callers on several threads give the same devices, in any order, programs that need all of them.
TEST(ClientTest, ProgramsOfSeveralDevicesFromSeveralThreads) {
  const auto client = MakeClient(2);
  const auto sum = Load(*client, kSum);
  const auto swapped =
      client->Compile(*ParseAndReturnUnverifiedModule(kSum).value(), {}, {*client->DeviceOf(1), *client->DeviceOf(0)})
          .value();
  const auto x = MakeBufferOf(*client, {1, 2}), y = MakeBufferOf(*client, {10, 20}, *client->DeviceOf(1));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto results =
            t % 2 == 0 ? sum->Execute({{x.get()}, {y.get()}}) : swapped->Execute({{y.get()}, {x.get()}});
        ASSERT_TRUE(results.ok());
        if (i % 7 == 0) {
          ASSERT_EQ(NumbersOf(*(*results)[1].buffers[0]), std::vector<float>({11, 22}));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ClientTest, AnErrorOnOneDeviceIsThatOfAll) {
  const auto client = MakeClient(2);
  const auto sum = Load(*client, kSum);
  const auto waits =
      client->Compile(*ParseAndReturnUnverifiedModule(kWaits).value(), {}, {*client->DeviceOf(1)}).value();
  const auto x = MakeBufferOf(*client, {1, 2}), y = MakeBufferOf(*client, {10, 20}, *client->DeviceOf(1));
  Gate gate;
  gate.Open(absl::DataLossError("the disk is full"));
  ExecuteOptions options;
  options.custom_call_handler = gate.handler();
  const auto failed = waits->Execute({{y.get()}}, options).value();
  const auto sums = sum->Execute({{x.get()}, {failed[0].buffers[0].get()}}).value();
  for (int d = 0; d < 2; ++d) EXPECT_EQ(sums[d].done.Await().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace kashi::engine
