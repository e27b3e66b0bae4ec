// Handlers of several stages, as a program meets them that calls them through the C API.
#include "kashi/pjrt/ffi_host.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/pjrt/ffi_handlers.h"
#include "kashi/pjrt/ffi_testing.h"
#include "kashi/pjrt/plugin_testing.h"

namespace kashi::pjrt {
namespace {

// An object that a handler keeps for its call.
struct Kept {
  ~Kept() { ++destroyed; }
  float number;
  static inline int destroyed = 0;
};

int64_t KeptType() {
  static const int64_t type = [] {
    int64_t id = 0;
    EXPECT_TRUE(FfiTypes::Global()
                    .Register(
                        "kept", [](void* kept) { delete static_cast<Kept*>(kept); }, &id)
                    .ok());
    return id;
  }();
  return type;
}

// What the handlers of the test in progress use.
struct World {
  PJRT_Client* client;
  PJRT_Device* device;
  int instantiated = 0;
};
World* world = nullptr;

// Compiles a program and runs it on {1, 1, …}. Returns the error.
std::string RunProgram(const std::string& code, std::vector<float>* numbers) {
  Owned<PJRT_LoadedExecutable> program;
  Owned<PJRT_Buffer> ones;
  std::vector<Owned<PJRT_Buffer>> results;
  std::string error = Compile(world->client, code, "mlir", "", &program);
  if (error.empty()) {
    error = ToDevice(world->client, world->device, std::vector<float>(kTestArraySize, 1), &ones);
  }
  if (error.empty()) error = Execute(program.get(), {{ones.get()}}, &results);
  numbers->resize(kTestArraySize);
  return error.empty() ? ToHost(results[0].get(), numbers) : error;
}

// Keeps the attribute twice, as a program computes it.
XLA_FFI_Error* Instantiate(XLA_FFI_CallFrame* frame) {
  ++world->instantiated;
  EXPECT_EQ(frame->stage, XLA_FFI_ExecutionStage_INSTANTIATE);
  EXPECT_EQ(frame->args.size + frame->rets.size, 0);
  std::vector<float> numbers;
  const std::string error =
      RunProgram(Unary("  %y = stablehlo.add %x, %x : tensor<64xf32>\n  return %y : tensor<64xf32>\n"), &numbers);
  if (!error.empty()) return FfiError(*frame, error);
  XLA_FFI_TypeId type = {KeptType()};
  XLA_FFI_State_Set_Args args = {sizeof(args), nullptr, frame->ctx, frame->stage, &type, nullptr};
  args.state = new Kept{NumberOf(*frame) * numbers[0]};
  return frame->api->State_Set(&args);
}
XLA_FFI_Error* AddKept(XLA_FFI_CallFrame* frame) {
  if (AnswersMetadata(frame)) return nullptr;
  XLA_FFI_TypeId type = {KeptType()};
  XLA_FFI_State_Get_Args args = {sizeof(args), nullptr, frame->ctx, XLA_FFI_ExecutionStage_INSTANTIATE, &type, nullptr};
  if (XLA_FFI_Error* const error = frame->api->State_Get(&args)) return error;
  const float number = static_cast<const Kept*>(args.state)->number;
  for (size_t i = 0; i < kTestArraySize; ++i) ArrayOf(frame->rets)[i] = ArrayOf(frame->args)[i] + number;
  return nullptr;
}
XLA_FFI_Error* RefuseToInstantiate(XLA_FFI_CallFrame* frame) { return FfiError(*frame, "not on this machine"); }

class FfiHostTest : public ::testing::Test {
 protected:
  FfiHostTest() {
    auto args = New<PJRT_Client_Create_Args>();
    EXPECT_EQ(Text(Api()->PJRT_Client_Create(&args)), "");
    client_.reset(args.client);
    auto devices = New<PJRT_Client_Devices_Args>();
    devices.client = client_.get();
    EXPECT_EQ(Text(Api()->PJRT_Client_Devices(&devices)), "");
    world_ = {client_.get(), devices.devices[0]};
    world = &world_;
    BringHandler("host_keeps", {&Instantiate, nullptr, nullptr, &AddKept});
    BringHandler("host_refuses", {&RefuseToInstantiate, nullptr, nullptr, &AddKept});
  }

  Owned<PJRT_Client> client_;
  World world_;
};

// The handler may be Python, and do what it likes.
TEST_F(FfiHostTest, InstantiatesWhenAProgramIsLoadedAndMayRunOthers) {
  Kept::destroyed = 0;
  Owned<PJRT_LoadedExecutable> program;
  ASSERT_EQ(Compile(client_.get(), CallText("host_keeps", 20), "mlir", "", &program), "");
  EXPECT_EQ(world_.instantiated, 1);
  Owned<PJRT_Buffer> x;
  ASSERT_EQ(ToDevice(client_.get(), world_.device, std::vector<float>(kTestArraySize, 1), &x), "");
  for (int i = 0; i < 3; ++i) {
    std::vector<Owned<PJRT_Buffer>> results;
    std::vector<float> numbers(kTestArraySize);
    ASSERT_EQ(Execute(program.get(), {{x.get()}}, &results), "");
    ASSERT_EQ(ToHost(results[0].get(), &numbers), "");
    EXPECT_EQ(numbers, std::vector<float>(kTestArraySize, 41));
  }
  EXPECT_EQ(world_.instantiated, 1);
  EXPECT_EQ(Kept::destroyed, 0);
  program = nullptr;
  EXPECT_EQ(Kept::destroyed, 1);
}

TEST_F(FfiHostTest, ErrorsOfInstantiationAreThoseOfTheCompilation) {
  Owned<PJRT_LoadedExecutable> program;
  EXPECT_EQ(Compile(client_.get(), CallText("host_refuses", 1), "mlir", "", &program), "not on this machine");
  EXPECT_EQ(program, nullptr);
}

TEST_F(FfiHostTest, NamesAHandlerThatIsNotThere) {
  Owned<PJRT_LoadedExecutable> program;
  EXPECT_EQ(Compile(client_.get(), CallText("host_nobody", 1), "mlir", "", &program),
            "No FFI handler registered for host_nobody on a platform Host (canonical host)");
}

}  // namespace
}  // namespace kashi::pjrt
