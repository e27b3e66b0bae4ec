// The C API as a program in C calls it: with wrong arguments, too.
#include "kashi/pjrt/plugin.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {
namespace {

constexpr char kAdd[] =
    "func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {\n"
    "  %0 = stablehlo.add %x, %y : tensor<3xf32>\n"
    "  return %0 : tensor<3xf32>\n"
    "}\n";

// The text of an error, which is destroyed; "" for none.
std::string Text(PJRT_Error* error) {
  if (error == nullptr) return "";
  PJRT_Error_Message_Args message = {sizeof(PJRT_Error_Message_Args), nullptr, error, nullptr, 0};
  Api()->PJRT_Error_Message(&message);
  std::string text(message.message, message.message_size);
  PJRT_Error_Destroy_Args destroy = {sizeof(PJRT_Error_Destroy_Args), nullptr, error};
  Api()->PJRT_Error_Destroy(&destroy);
  return text;
}

template <typename Args>
Args New() {
  Args args = {};
  args.struct_size = sizeof(Args);
  return args;
}

class PluginTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto args = New<PJRT_Client_Create_Args>();
    ASSERT_EQ(Text(Api()->PJRT_Client_Create(&args)), "");
    client_ = args.client;
    auto devices = New<PJRT_Client_Devices_Args>();
    devices.client = client_;
    ASSERT_EQ(Text(Api()->PJRT_Client_Devices(&devices)), "");
    device_ = devices.devices[0];
  }
  void TearDown() override {
    auto args = New<PJRT_Client_Destroy_Args>();
    args.client = client_;
    EXPECT_EQ(Text(Api()->PJRT_Client_Destroy(&args)), "");
  }

  std::string Compile(std::string code, absl::string_view format, PJRT_LoadedExecutable** executable) {
    PJRT_Program program = {sizeof(PJRT_Program), nullptr, &code[0], code.size(), format.data(), format.size()};
    auto args = New<PJRT_Client_Compile_Args>();
    args.client = client_;
    args.program = &program;
    args.compile_options = "";
    std::string error = Text(Api()->PJRT_Client_Compile(&args));
    *executable = args.executable;
    return error;
  }

  PJRT_Buffer* ToDevice(const std::vector<float>& numbers) {
    const auto size = static_cast<int64_t>(numbers.size());
    auto args = New<PJRT_Client_BufferFromHostBuffer_Args>();
    args.client = client_;
    args.device = device_;
    args.data = numbers.data();
    args.type = PJRT_Buffer_Type_F32;
    args.dims = &size;
    args.num_dims = 1;
    EXPECT_EQ(Text(Api()->PJRT_Client_BufferFromHostBuffer(&args)), "");
    auto event = New<PJRT_Event_Destroy_Args>();
    event.event = args.done_with_host_buffer;
    EXPECT_EQ(Text(Api()->PJRT_Event_Destroy(&event)), "");
    return args.buffer;
  }

  std::string Execute(PJRT_LoadedExecutable* executable, const std::vector<PJRT_Buffer*>& arguments,
                      PJRT_Buffer** result) {
    PJRT_Buffer* const* list = arguments.data();
    PJRT_Buffer** const outputs = result;
    PJRT_ExecuteOptions options = {};
    options.struct_size = sizeof(options);
    auto args = New<PJRT_LoadedExecutable_Execute_Args>();
    args.executable = executable;
    args.options = &options;
    args.argument_lists = &list;
    args.num_devices = 1;
    args.num_args = arguments.size();
    args.output_lists = &outputs;
    return Text(Api()->PJRT_LoadedExecutable_Execute(&args));
  }

  static std::vector<float> ToHost(PJRT_Buffer* buffer, size_t count) {
    std::vector<float> numbers(count);
    auto args = New<PJRT_Buffer_ToHostBuffer_Args>();
    args.src = buffer;
    args.dst = numbers.data();
    args.dst_size = count * sizeof(float);
    EXPECT_EQ(Text(Api()->PJRT_Buffer_ToHostBuffer(&args)), "");
    auto await = New<PJRT_Event_Await_Args>();
    await.event = args.event;
    EXPECT_EQ(Text(Api()->PJRT_Event_Await(&await)), "");
    auto destroy = New<PJRT_Event_Destroy_Args>();
    destroy.event = args.event;
    EXPECT_EQ(Text(Api()->PJRT_Event_Destroy(&destroy)), "");
    return numbers;
  }

  static void Destroy(PJRT_Buffer* buffer) {
    auto args = New<PJRT_Buffer_Destroy_Args>();
    args.buffer = buffer;
    EXPECT_EQ(Text(Api()->PJRT_Buffer_Destroy(&args)), "");
  }
  static void Destroy(PJRT_LoadedExecutable* executable) {
    auto args = New<PJRT_LoadedExecutable_Destroy_Args>();
    args.executable = executable;
    EXPECT_EQ(Text(Api()->PJRT_LoadedExecutable_Destroy(&args)), "");
  }

  PJRT_Client* client_ = nullptr;
  PJRT_Device* device_ = nullptr;
};

TEST_F(PluginTest, RunsAProgram) {
  PJRT_LoadedExecutable* program = nullptr;
  ASSERT_EQ(Compile(kAdd, "mlir", &program), "");
  PJRT_Buffer* const x = ToDevice({1, 2, 3});
  PJRT_Buffer* const y = ToDevice({10, 20, 30});
  PJRT_Buffer* sum = nullptr;
  ASSERT_EQ(Execute(program, {x, y}, &sum), "");
  EXPECT_EQ(ToHost(sum, 3), (std::vector<float>{11, 22, 33}));
  for (PJRT_Buffer* buffer : {x, y, sum}) Destroy(buffer);
  Destroy(program);
}

TEST_F(PluginTest, RefusesWrongArguments) {
  PJRT_LoadedExecutable* program = nullptr;
  ASSERT_EQ(Compile(kAdd, "mlir", &program), "");
  PJRT_Buffer* const x = ToDevice({1, 2, 3});
  PJRT_Buffer* const y = ToDevice({10, 20});
  PJRT_Buffer* sum = nullptr;
  EXPECT_EQ(Execute(program, {x}, &sum), "the program takes 2 arguments, but device 0 got 1");
  EXPECT_EQ(Execute(program, {x, y}, &sum), "argument 1 is f32[2], but the program takes f32[3]");
  auto args = New<PJRT_Buffer_Delete_Args>();
  args.buffer = x;
  EXPECT_EQ(Text(Api()->PJRT_Buffer_Delete(&args)), "");
  EXPECT_EQ(Execute(program, {x, x}, &sum), "argument 0: Buffer has been deleted or donated.");
  for (PJRT_Buffer* buffer : {x, y}) Destroy(buffer);
  Destroy(program);
}

TEST_F(PluginTest, RefusesWhatIsNoProgram) {
  PJRT_LoadedExecutable* program = nullptr;
  EXPECT_EQ(Compile("hello", "mlir", &program), "the program is neither an artifact nor text of StableHLO");
  EXPECT_EQ(Compile(kAdd, "onnx", &program), "programs are \"mlir\", \"hlo\" or \"hlo_with_config\", not \"onnx\"");
  EXPECT_NE(Compile(std::string("ML\xefR\x0dStableHLO_v1.0.0\0\x07", 20), "mlir", &program), "");
  EXPECT_NE(Compile("\x0a\xff\xff\xff\xff\x0f", "hlo", &program), "");
  EXPECT_NE(Compile("\x0a\xff\xff\xff\xff\x0f", "hlo_with_config", &program), "");
}

TEST_F(PluginTest, RefusesBytesThatAreNoExecutable) {
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string(100, '\xff'),
                                   std::string("\x1a\003"
                                               "abc")}) {
    auto args = New<PJRT_Executable_DeserializeAndLoad_Args>();
    args.client = client_;
    args.serialized_executable = bytes.data();
    args.serialized_executable_size = bytes.size();
    EXPECT_NE(Text(Api()->PJRT_Executable_DeserializeAndLoad(&args)), "") << bytes;
  }
}

TEST_F(PluginTest, LoadsWhatItSerialized) {
  PJRT_LoadedExecutable* program = nullptr;
  ASSERT_EQ(Compile(kAdd, "mlir", &program), "");
  auto get = New<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = program;
  ASSERT_EQ(Text(Api()->PJRT_LoadedExecutable_GetExecutable(&get)), "");
  auto serialize = New<PJRT_Executable_Serialize_Args>();
  serialize.executable = get.executable;
  ASSERT_EQ(Text(Api()->PJRT_Executable_Serialize(&serialize)), "");
  auto load = New<PJRT_Executable_DeserializeAndLoad_Args>();
  load.client = client_;
  load.serialized_executable = serialize.serialized_bytes;
  load.serialized_executable_size = serialize.serialized_bytes_size;
  ASSERT_EQ(Text(Api()->PJRT_Executable_DeserializeAndLoad(&load)), "");
  serialize.serialized_executable_deleter(serialize.serialized_executable);
  PJRT_Buffer* const x = ToDevice({1, 2, 3});
  PJRT_Buffer* sum = nullptr;
  ASSERT_EQ(Execute(load.loaded_executable, {x, x}, &sum), "");
  EXPECT_EQ(ToHost(sum, 3), (std::vector<float>{2, 4, 6}));
  for (PJRT_Buffer* buffer : {x, sum}) Destroy(buffer);
  auto destroy = New<PJRT_Executable_Destroy_Args>();
  destroy.executable = get.executable;
  EXPECT_EQ(Text(Api()->PJRT_Executable_Destroy(&destroy)), "");
  Destroy(program);
  Destroy(load.loaded_executable);
}

TEST_F(PluginTest, CopiesWithinTheMemoryOfTheHost) {
  PJRT_Buffer* const x = ToDevice({1, 2, 3});
  float numbers[8] = {};
  const auto copy = [&](int64_t stride, size_t size) {
    PJRT_Buffer_MemoryLayout layout = {};
    layout.struct_size = sizeof(layout);
    layout.type = PJRT_Buffer_MemoryLayout_Type_Strides;
    layout.strides = {sizeof(PJRT_Buffer_MemoryLayout_Strides), nullptr, &stride, 1};
    auto args = New<PJRT_Buffer_ToHostBuffer_Args>();
    args.src = x;
    args.host_layout = &layout;
    args.dst = numbers;
    args.dst_size = size;
    const std::string error = Text(Api()->PJRT_Buffer_ToHostBuffer(&args));
    if (args.event != nullptr) {
      auto destroy = New<PJRT_Event_Destroy_Args>();
      destroy.event = args.event;
      EXPECT_EQ(Text(Api()->PJRT_Event_Destroy(&destroy)), "");
    }
    return error;
  };
  EXPECT_EQ(copy(8, 20), "");
  EXPECT_EQ(numbers[4], 3);
  EXPECT_EQ(copy(8, 16), "the array takes 20 bytes, but there is room for 16");
  EXPECT_EQ(copy(4096, 16), "the array takes 8196 bytes, but there is room for 16");
  EXPECT_EQ(copy(-4, 100), "the stride -4 leads to before the begin of the memory");
  EXPECT_EQ(copy(int64_t{1} << 62, 100), "the stride 4611686018427387904 is too large");
  Destroy(x);
}

// The last object of a client may go in a callback of its program.
TEST_F(PluginTest, ACallbackMayDestroyTheLastObject) {
  struct Last {
    PJRT_Buffer* result;
    std::atomic<bool> is_done;
  };
  PJRT_LoadedExecutable* program = nullptr;
  ASSERT_EQ(Compile(kAdd, "mlir", &program), "");
  PJRT_Buffer* const x = ToDevice({1, 2, 3});
  Last last = {};
  ASSERT_EQ(Execute(program, {x, x}, &last.result), "");
  auto ready = New<PJRT_Buffer_ReadyEvent_Args>();
  ready.buffer = last.result;
  ASSERT_EQ(Text(Api()->PJRT_Buffer_ReadyEvent(&ready)), "");
  Destroy(x);
  Destroy(program);
  TearDown();
  auto on_ready = New<PJRT_Event_OnReady_Args>();
  on_ready.event = ready.event;
  on_ready.user_arg = &last;
  on_ready.callback = [](PJRT_Error*, void* user) {
    auto* const objects = static_cast<Last*>(user);
    Destroy(objects->result);
    objects->is_done = true;
  };
  EXPECT_EQ(Text(Api()->PJRT_Event_OnReady(&on_ready)), "");
  while (!last.is_done) std::this_thread::yield();
  auto destroy = New<PJRT_Event_Destroy_Args>();
  destroy.event = ready.event;
  EXPECT_EQ(Text(Api()->PJRT_Event_Destroy(&destroy)), "");
  SetUp();
}

// A caller of an older version has shorter structures.
TEST_F(PluginTest, WritesNothingBehindTheEndOfAShortStructure) {
  struct {
    PJRT_Client_PlatformName_Args args;
    char behind;
  } caller = {};
  caller.args.struct_size = offsetof(PJRT_Client_PlatformName_Args, platform_name_size);
  caller.args.client = client_;
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
  std::string seen = "none";
  auto on_ready = New<PJRT_Event_OnReady_Args>();
  on_ready.event = create.event;
  on_ready.user_arg = &seen;
  on_ready.callback = [](PJRT_Error* error, void* user) { *static_cast<std::string*>(user) = Text(error); };
  EXPECT_EQ(Text(Api()->PJRT_Event_OnReady(&on_ready)), "");
  EXPECT_EQ(seen, "none");
  auto set = New<PJRT_Event_Set_Args>();
  set.event = create.event;
  set.error_code = PJRT_Error_Code_INTERNAL;
  set.error_message = "lost";
  set.error_message_size = 4;
  EXPECT_EQ(Text(Api()->PJRT_Event_Set(&set)), "");
  EXPECT_EQ(seen, "lost");
  EXPECT_EQ(Text(Api()->PJRT_Event_Set(&set)), "the event is set already");
  auto destroy = New<PJRT_Event_Destroy_Args>();
  destroy.event = create.event;
  EXPECT_EQ(Text(Api()->PJRT_Event_Destroy(&destroy)), "");
}

}  // namespace
}  // namespace kashi::pjrt
