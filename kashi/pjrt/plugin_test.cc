// The C API as a program in C calls it: with wrong arguments, too.
#include "kashi/pjrt/plugin.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/pjrt/pjrt_c_api.h"
#include "kashi/pjrt/plugin_testing.h"

namespace kashi::pjrt {
namespace {

constexpr char kAdd[] =
    "func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {\n"
    "  %0 = stablehlo.add %x, %y : tensor<3xf32>\n"
    "  return %0 : tensor<3xf32>\n"
    "}\n";

class PluginTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto args = New<PJRT_Client_Create_Args>();
    ASSERT_EQ(Text(Api()->PJRT_Client_Create(&args)), "");
    client_.reset(args.client);
    auto devices = New<PJRT_Client_Devices_Args>();
    devices.client = client_.get();
    ASSERT_EQ(Text(Api()->PJRT_Client_Devices(&devices)), "");
    device_ = devices.devices[0];
  }

  std::string Compile(const std::string& code, absl::string_view format) {
    return pjrt::Compile(client_.get(), code, format, "", &program_);
  }
  Owned<PJRT_Buffer> ToDevice(const std::vector<float>& numbers) {
    Owned<PJRT_Buffer> buffer;
    EXPECT_EQ(pjrt::ToDevice(client_.get(), device_, numbers, &buffer), "");
    return buffer;
  }
  // Of program_.
  std::string Execute(const std::vector<const Owned<PJRT_Buffer>*>& arguments) {
    std::vector<PJRT_Buffer*> pointers;
    for (const Owned<PJRT_Buffer>* argument : arguments) pointers.push_back(argument->get());
    std::vector<Owned<PJRT_Buffer>> results;
    std::string error = pjrt::Execute(program_.get(), {pointers}, &results);
    if (error.empty()) result_ = std::move(results[0]);
    return error;
  }
  std::vector<float> ResultOnHost(size_t count) {
    std::vector<float> numbers(count);
    EXPECT_EQ(ToHost(result_.get(), &numbers), "");
    return numbers;
  }

  Owned<PJRT_Client> client_;
  PJRT_Device* device_ = nullptr;
  Owned<PJRT_LoadedExecutable> program_;
  Owned<PJRT_Buffer> result_;
};

TEST_F(PluginTest, RunsAProgram) {
  ASSERT_EQ(Compile(kAdd, "mlir"), "");
  const Owned<PJRT_Buffer> x = ToDevice({1, 2, 3}), y = ToDevice({10, 20, 30});
  ASSERT_EQ(Execute({&x, &y}), "");
  EXPECT_EQ(ResultOnHost(3), (std::vector<float>{11, 22, 33}));
}

TEST_F(PluginTest, RefusesWrongArguments) {
  ASSERT_EQ(Compile(kAdd, "mlir"), "");
  const Owned<PJRT_Buffer> x = ToDevice({1, 2, 3}), y = ToDevice({10, 20});
  EXPECT_EQ(Execute({&x}), "the program takes 2 arguments, but device 0 got 1");
  EXPECT_EQ(Execute({&x, &y}), "argument 1 is f32[2], but the program takes f32[3]");
  auto args = New<PJRT_Buffer_Delete_Args>();
  args.buffer = x.get();
  EXPECT_EQ(Text(Api()->PJRT_Buffer_Delete(&args)), "");
  EXPECT_EQ(Execute({&x, &x}), "argument 0: Buffer has been deleted or donated.");
}

TEST_F(PluginTest, RefusesWhatIsNoProgram) {
  EXPECT_EQ(Compile("hello", "mlir"), "the program is neither an artifact nor text of StableHLO");
  EXPECT_EQ(Compile(kAdd, "onnx"), "programs are \"mlir\", \"hlo\" or \"hlo_with_config\", not \"onnx\"");
  EXPECT_NE(Compile(std::string("ML\xefR\x0dStableHLO_v1.0.0\0\x07", 20), "mlir"), "");
  EXPECT_NE(Compile("\x0a\xff\xff\xff\xff\x0f", "hlo"), "");
  EXPECT_NE(Compile("\x0a\xff\xff\xff\xff\x0f", "hlo_with_config"), "");
}

TEST_F(PluginTest, RefusesBytesThatAreNoExecutable) {
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string(100, '\xff'),
                                   std::string("\x1a\003"
                                               "abc")}) {
    auto args = New<PJRT_Executable_DeserializeAndLoad_Args>();
    args.client = client_.get();
    args.serialized_executable = bytes.data();
    args.serialized_executable_size = bytes.size();
    EXPECT_NE(Text(Api()->PJRT_Executable_DeserializeAndLoad(&args)), "") << bytes;
  }
}

TEST_F(PluginTest, LoadsWhatItSerialized) {
  ASSERT_EQ(Compile(kAdd, "mlir"), "");
  auto get = New<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = program_.get();
  ASSERT_EQ(Text(Api()->PJRT_LoadedExecutable_GetExecutable(&get)), "");
  const Owned<PJRT_Executable> executable(get.executable);
  auto serialize = New<PJRT_Executable_Serialize_Args>();
  serialize.executable = executable.get();
  ASSERT_EQ(Text(Api()->PJRT_Executable_Serialize(&serialize)), "");
  auto load = New<PJRT_Executable_DeserializeAndLoad_Args>();
  load.client = client_.get();
  load.serialized_executable = serialize.serialized_bytes;
  load.serialized_executable_size = serialize.serialized_bytes_size;
  ASSERT_EQ(Text(Api()->PJRT_Executable_DeserializeAndLoad(&load)), "");
  serialize.serialized_executable_deleter(serialize.serialized_executable);
  program_.reset(load.loaded_executable);
  const Owned<PJRT_Buffer> x = ToDevice({1, 2, 3});
  ASSERT_EQ(Execute({&x, &x}), "");
  EXPECT_EQ(ResultOnHost(3), (std::vector<float>{2, 4, 6}));
}

TEST_F(PluginTest, CopiesWithinTheMemoryOfTheHost) {
  const Owned<PJRT_Buffer> x = ToDevice({1, 2, 3});
  float numbers[8] = {};
  const auto copy = [&](int64_t stride, size_t size) {
    PJRT_Buffer_MemoryLayout layout = {};
    layout.struct_size = sizeof(layout);
    layout.type = PJRT_Buffer_MemoryLayout_Type_Strides;
    layout.strides = {sizeof(PJRT_Buffer_MemoryLayout_Strides), nullptr, &stride, 1};
    auto args = New<PJRT_Buffer_ToHostBuffer_Args>();
    args.src = x.get();
    args.host_layout = &layout;
    args.dst = numbers;
    args.dst_size = size;
    std::string error = Text(Api()->PJRT_Buffer_ToHostBuffer(&args));
    const Owned<PJRT_Event> event(args.event);
    return error;
  };
  EXPECT_EQ(copy(8, 20), "");
  EXPECT_EQ(numbers[4], 3);
  EXPECT_EQ(copy(8, 16), "the array takes 20 bytes, but there is room for 16");
  EXPECT_EQ(copy(4096, 16), "the array takes 8196 bytes, but there is room for 16");
  EXPECT_EQ(copy(-4, 100), "the stride -4 leads to before the begin of the memory");
  EXPECT_EQ(copy(int64_t{1} << 62, 100), "the stride 4611686018427387904 is too large");
}

TEST_F(PluginTest, CopiesBytesToTheHost) {
  const Owned<PJRT_Buffer> x = ToDevice({1, 2, 3});
  float numbers[2] = {};
  const auto copy = [&](int64_t offset, int64_t size) {
    auto args = New<PJRT_Buffer_CopyRawToHost_Args>();
    args.buffer = x.get();
    args.dst = numbers;
    args.offset = offset;
    args.transfer_size = size;
    std::string error = Text(Api()->PJRT_Buffer_CopyRawToHost(&args));
    const Owned<PJRT_Event> event(args.event);
    return error;
  };
  EXPECT_EQ(copy(4, 8), "");
  EXPECT_EQ(numbers[0], 2);
  EXPECT_EQ(numbers[1], 3);
  EXPECT_EQ(copy(12, 0), "");
  EXPECT_EQ(copy(8, 5), "5 bytes at 8 are not within the 12 bytes of the buffer");
  EXPECT_EQ(copy(-1, 1), "1 bytes at -1 are not within the 12 bytes of the buffer");
}

// The last object of a client may go in a callback of its program.
TEST_F(PluginTest, ACallbackMayDestroyTheLastObject) {
  struct Last {
    Owned<PJRT_Buffer> result;
    std::atomic<bool> is_done;
  };
  ASSERT_EQ(Compile(kAdd, "mlir"), "");
  Last last = {};
  Owned<PJRT_Buffer> x = ToDevice({1, 2, 3});
  ASSERT_EQ(Execute({&x, &x}), "");
  last.result = std::move(result_);
  auto ready = New<PJRT_Buffer_ReadyEvent_Args>();
  ready.buffer = last.result.get();
  ASSERT_EQ(Text(Api()->PJRT_Buffer_ReadyEvent(&ready)), "");
  const Owned<PJRT_Event> event(ready.event);
  x = nullptr;
  program_ = nullptr;
  client_ = nullptr;
  auto on_ready = New<PJRT_Event_OnReady_Args>();
  on_ready.event = event.get();
  on_ready.user_arg = &last;
  on_ready.callback = [](PJRT_Error*, void* user) {
    auto* const objects = static_cast<Last*>(user);
    objects->result = nullptr;
    objects->is_done = true;
  };
  EXPECT_EQ(Text(Api()->PJRT_Event_OnReady(&on_ready)), "");
  while (!last.is_done) std::this_thread::yield();
}

// A caller of an older version has shorter structures.
TEST_F(PluginTest, WritesNothingBehindTheEndOfAShortStructure) {
  struct {
    PJRT_Client_PlatformName_Args args;
    char behind;
  } caller = {};
  caller.args.struct_size = offsetof(PJRT_Client_PlatformName_Args, platform_name_size);
  caller.args.client = client_.get();
  caller.args.platform_name_size = 77;
  EXPECT_EQ(Text(Api()->PJRT_Client_PlatformName(&caller.args)), "");
  EXPECT_EQ(std::string(caller.args.platform_name, 3), "cpu");
  EXPECT_EQ(caller.args.platform_name_size, 77);
}

// The header of version 0.70 says 24 bytes, and has a field behind.
TEST_F(PluginTest, AttributesForAnOlderCaller) {
  auto args = New<PJRT_Plugin_Attributes_Args>();
  args.struct_size = 24;
  EXPECT_EQ(Text(Api()->PJRT_Plugin_Attributes(&args)), "");
  EXPECT_GE(args.num_attributes, 1);
}

TEST_F(PluginTest, FunctionsThatAreNotOfferedSaySo) {
  auto args = New<PJRT_Client_DmaMap_Args>();
  EXPECT_EQ(Text(Api()->PJRT_Client_DmaMap(&args)), "Kashi's plugin does not offer PJRT_Client_DmaMap");
}

TEST_F(PluginTest, EventsOfTheCaller) {
  auto create = New<PJRT_Event_Create_Args>();
  ASSERT_EQ(Text(Api()->PJRT_Event_Create(&create)), "");
  const Owned<PJRT_Event> event(create.event);
  std::string seen = "none";
  auto on_ready = New<PJRT_Event_OnReady_Args>();
  on_ready.event = event.get();
  on_ready.user_arg = &seen;
  on_ready.callback = [](PJRT_Error* error, void* user) { *static_cast<std::string*>(user) = Text(error); };
  EXPECT_EQ(Text(Api()->PJRT_Event_OnReady(&on_ready)), "");
  EXPECT_EQ(seen, "none");
  auto set = New<PJRT_Event_Set_Args>();
  set.event = event.get();
  set.error_code = PJRT_Error_Code_INTERNAL;
  set.error_message = "lost";
  set.error_message_size = 4;
  EXPECT_EQ(Text(Api()->PJRT_Event_Set(&set)), "");
  EXPECT_EQ(seen, "lost");
  EXPECT_EQ(Text(Api()->PJRT_Event_Set(&set)), "the event is set already");
}

}  // namespace
}  // namespace kashi::pjrt
