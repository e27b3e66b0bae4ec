#include "kashi/devices/device_threads.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/values/memory_budget.h"

namespace kashi::devices {
namespace {

class DeviceThreadsTest : public testing::Test {
 protected:
  DeviceThreadsTest()
      : limits_{std::make_shared<MemoryBudget>(1 << 20), std::make_shared<WorkMeter>()},
        module_(ParseAndReturnUnverifiedModule(R"(
          HloModule m, replica_count=3
          ENTRY e {
            x = s32[] parameter(0)
            ROOT all = s32[3] all-gather(x), dimensions={0}, replica_groups={}
          })")
                    .value()),
        gather_(*module_->entry_computation()->root_instruction()) {}

  absl::Status OnDevices(DeviceFunction f) { return ThreadFabric().OnDevices(*module_, {3, 1}, limits_, f); }

  Value Number(int64_t number) {
    Value value = Value::MakeArray(MakeDenseShape(S64, {}), limits_.memory).value();
    value.mutable_data<int64_t>()[0] = number;
    return value;
  }
  // Brings a number to a meeting of devices, and gives what all have brought.
  absl::StatusOr<std::vector<int64_t>> Meet(Device& device, absl::Span<const int64_t> members, int64_t number) {
    KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<PendingCollective> pending,
                           device.Begin({gather_, members, {Number(number)}}));
    KASHI_ASSIGN_OR_RETURN(const PendingCollective::Received received, pending->Finish(gather_));
    std::vector<int64_t> numbers;
    for (const std::vector<Value>& given : *received.all) numbers.push_back(given[0].data<int64_t>()[0]);
    return numbers;
  }

  const values::RunLimits limits_;
  const std::unique_ptr<HloModule> module_;
  const HloInstruction& gather_;
};

TEST_F(DeviceThreadsTest, AllGetWhatAllBringInTheOrderOfTheMembers) {
  std::vector<std::vector<int64_t>> first(3), second(3);
  ASSERT_TRUE(OnDevices([&](Device& device) -> absl::Status {
                KASHI_ASSIGN_OR_RETURN(first[device.id()], Meet(device, {2, 0, 1}, device.id() * 10));
                KASHI_ASSIGN_OR_RETURN(second[device.id()], Meet(device, {2, 0, 1}, device.id() + 100));
                return absl::OkStatus();
              }).ok());
  EXPECT_THAT(first, testing::Each(testing::ElementsAre(20, 0, 10)));
  EXPECT_THAT(second, testing::Each(testing::ElementsAre(102, 100, 101)));
}

TEST_F(DeviceThreadsTest, WhoWaitsForeverIsNamed) {
  const absl::Status status = OnDevices([&](Device& device) -> absl::Status {
    return device.id() == 1 ? absl::OkStatus() : Meet(device, {0, 1, 2}, 0).status();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(status.message(), testing::HasSubstr("waits at all of devices {0,1,2}"));
}

TEST_F(DeviceThreadsTest, TheFirstErrorEndsAllDevices) {
  const absl::Status status = OnDevices([&](Device& device) -> absl::Status {
    return device.id() == 1 ? InvalidArgument("no number") : Meet(device, {0, 1, 2}, 0).status();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(status.message(), testing::HasSubstr("no number"));
}

TEST_F(DeviceThreadsTest, DevicesThatWaitEndWithTheLimits) {
  const absl::Status status = OnDevices([&](Device& device) -> absl::Status {
    if (device.id() != 1) return Meet(device, {0, 1, 2}, 0).status();
    limits_.work->End();
    return limits_.work->Check();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
}

TEST_F(DeviceThreadsTest, AnOperationEndsWhereItsDeviceSays) {
  // Every device begins the first meeting, then takes part in another, and ends the first one after that.
  std::vector<int64_t> sums(3);
  ASSERT_TRUE(OnDevices([&](Device& device) -> absl::Status {
                const std::vector<int64_t> members = {0, 1, 2};
                KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<PendingCollective> begun,
                                       device.Begin({gather_, members, {Number(device.id())}}));
                KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> later, Meet(device, members, 7));
                KASHI_ASSIGN_OR_RETURN(const PendingCollective::Received received, begun->Finish(gather_));
                for (const std::vector<Value>& given : *received.all) sums[device.id()] += given[0].data<int64_t>()[0];
                return later == std::vector<int64_t>{7, 7, 7} ? absl::OkStatus() : InvalidArgument("the other meeting");
              }).ok());
  EXPECT_THAT(sums, testing::Each(3));
}

}  // namespace
}  // namespace kashi::devices
