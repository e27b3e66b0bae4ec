// Programs that handlers of custom calls start, or wait for.
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/engine/client.h"
#include "kashi/engine/client_testing.h"

namespace kashi::engine {
namespace {

// Within the call of the program, and beside it: then the handler runs on a thread of the device.
TEST(NestedLaunchTest, HandlersMayRunPrograms) {
  const auto client = MakeClient(2);
  const auto negate = Load(*client, kNegate), sum = Load(*client, kSum), waits = Load(*client, kWaits);
  const auto on_1 = MakeBufferOf(*client, {10, 20}, *client->DeviceOf(1));
  ExecuteOptions options;
  options.custom_call_handler = [&](const HloInstruction&,
                                    absl::Span<const Literal* const> x) -> absl::StatusOr<Literal> {
    const auto on_0 = client->BufferFromLiteral(*x[0]).value();
    const auto negated = negate->Execute({{on_0.get()}}).value();
    const auto sums = sum->Execute({{negated[0].buffers[0].get()}, {on_1.get()}}).value();
    return sums[0].buffers[0]->ToLiteral();
  };
  const auto x = MakeBufferOf(*client, {1, 2});
  for (const bool is_within : {false, true}) {
    options.may_run_handlers_within = is_within;
    const auto results = waits->Execute({{x.get()}}, options).value();
    EXPECT_EQ(NumbersOf(*results[0].buffers[0]), std::vector<float>({9, 18}));
  }
}

// As on XLA's CPU devices: programs of different threads do not wait for each other.
TEST(NestedLaunchTest, AHandlerMayWaitForAProgramOfAnotherThread) {
  const auto client = MakeClient();
  const auto negate = Load(*client, kNegate), waits = Load(*client, kWaits);
  const auto x = MakeBufferOf(*client, {1, 2});
  EXPECT_TRUE(client->IsIdle());
  for (const bool is_within : {false, true}) {
    Gate gate;
    ExecuteOptions options;
    options.custom_call_handler = gate.handler();
    options.may_run_handlers_within = is_within;
    std::thread other([&] {
      gate.AwaitBegin();
      EXPECT_FALSE(client->IsIdle());
      const auto results = negate->Execute({{x.get()}}).value();
      EXPECT_EQ(NumbersOf(*results[0].buffers[0]), std::vector<float>({-1, -2}));
      gate.Open();
    });
    const auto results = waits->Execute({{x.get()}}, options).value();
    EXPECT_EQ(NumbersOf(*results[0].buffers[0]), std::vector<float>({1, 2}));
    other.join();
  }
}

// A handler starts a program on an array that another thread's program computes, which waits for the handler.
TEST(NestedLaunchTest, AHandlerMayStartAProgramWhoseArgumentsAreNotReady) {
  const auto client = MakeClient();
  const auto negate = Load(*client, kNegate), waits = Load(*client, kWaits);
  const auto x = MakeBufferOf(*client, {1, 2});
  Gate gate;
  ExecuteOptions gated;
  gated.custom_call_handler = gate.handler();
  std::vector<DeviceResults> other;
  std::thread([&] { other = waits->Execute({{x.get()}}, gated).value(); }).join();
  ExecuteOptions options;
  options.custom_call_handler = [&](const HloInstruction&, absl::Span<const Literal* const>) {
    const auto negated = negate->Execute({{other[0].buffers[0].get()}}).value();
    EXPECT_FALSE(negated[0].done.is_ready());
    gate.Open();
    return negated[0].buffers[0]->ToLiteral();
  };
  const auto results = waits->Execute({{x.get()}}, options).value();
  EXPECT_EQ(NumbersOf(*results[0].buffers[0]), std::vector<float>({-1, -2}));
}

}  // namespace
}  // namespace kashi::engine
