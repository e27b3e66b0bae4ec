// The C API from many threads at once, at random: programs are compiled, run, serialized, loaded and deleted; arrays
// are copied, donated, deleted and read; handlers run programs, and wait for other threads; events are awaited in all
// ways; objects go in any order. Each array is compared with what it means. ./dev tsan runs this under
// ThreadSanitizer.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "kashi/pjrt/ffi_c_api.h"
#include "kashi/pjrt/ffi_handlers.h"
#include "kashi/pjrt/ffi_testing.h"
#include "kashi/pjrt/objects.h"
#include "kashi/pjrt/plugin_testing.h"
#include "kashi/proto/compile_options.pb.h"

namespace kashi::pjrt {
namespace {

constexpr int kDevices = 3;
constexpr int kThreads = 6;
constexpr int kSteps = 400;                      // of each thread, if there is the time
constexpr auto kTime = std::chrono::seconds(4);  // for all of them
constexpr size_t kSize = kTestArraySize;
constexpr float kMost = 1e6;           // larger numbers are not used: all sums are exact
constexpr char kNoLuck[] = "no luck";  // the error of a handler
constexpr char kGone[] = "deleted";    // in the errors of objects that another thread has deleted

// ---- Programs ------------------------------------------------------------------------------------------------------

// All numbers of an array are the same.
struct Meaning {
  float number = 0;
  bool has_failed = false;
};

enum class Kind { kAdd, kDonate, kLoop, kSubtract, kHandler, kNested, kMeets, kFails, kMaximum };
constexpr int kKinds = static_cast<int>(Kind::kMaximum) + 1;

int ArgumentsOf(Kind kind) { return kind == Kind::kSubtract ? 2 : 1; }

std::string AddText(float number, absl::string_view attributes = "") {
  return Unary(absl::Substitute("  %c = stablehlo.constant dense<$0> : tensor<64xf32>\n"
                                "  %y = stablehlo.add %x, %c : tensor<64xf32>\n  return %y : tensor<64xf32>\n",
                                absl::StrFormat("%.1f", number)),
               attributes);
}
// Adds 1 as many times.
std::string LoopText(float number) {
  return Unary(absl::Substitute(R"(  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<$0> : tensor<i32>
  %step = stablehlo.constant dense<1.0> : tensor<64xf32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<64xf32>
   cond {
    %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.add %v, %step : tensor<64xf32>
    stablehlo.return %n, %w : tensor<i32>, tensor<64xf32>
  }
  return %r#1 : tensor<64xf32>
)",
                                static_cast<int>(number)));
}
constexpr char kSubtractText[] = R"(func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.subtract %x, %y : tensor<64xf32>
  return %0 : tensor<64xf32>
})";
constexpr char kMaximumText[] = R"(func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
})";

std::string TextOf(Kind kind, float number) {
  switch (kind) {
    case Kind::kAdd:
      return AddText(number);
    case Kind::kDonate:
      return AddText(number, "{tf.aliasing_output = 0 : i32}");
    case Kind::kLoop:
      return LoopText(number);
    case Kind::kSubtract:
      return kSubtractText;
    case Kind::kHandler:
      return CallText("threads_add", number);
    case Kind::kNested:
      return CallText("threads_nested", number);
    case Kind::kMeets:
      return CallText("threads_meet", number);
    case Kind::kFails:
      return CallText("threads_fail", number);
    case Kind::kMaximum:
      return kMaximumText;
  }
  return "";
}

Meaning MeaningOf(Kind kind, float number, const std::vector<Meaning>& arguments) {
  Meaning meaning = arguments[0];
  for (const Meaning& argument : arguments) meaning.has_failed |= argument.has_failed;
  if (kind == Kind::kFails) meaning.has_failed = true;
  if (kind == Kind::kSubtract) {
    meaning.number -= arguments[1].number;
  } else if (kind == Kind::kMaximum) {
    for (const Meaning& argument : arguments) meaning.number = std::max(meaning.number, argument.number);
  } else {
    meaning.number += number;
  }
  return meaning;
}

// ---- What the threads share ----------------------------------------------------------------------------------------

struct Array {
  Owned<PJRT_Buffer> buffer;
  Meaning meaning;
  std::atomic<bool> may_be_gone{false};
};
struct Code {
  Owned<PJRT_LoadedExecutable> executable;
  Kind kind;
  float number;
  int device;
  std::atomic<bool> may_be_gone{false};
};

// Objects that any thread takes, uses and replaces. The last one that uses it destroys it.
template <typename T>
class Slots {
 public:
  std::shared_ptr<T> Get(size_t i) {
    const absl::MutexLock lock(&mutex_);
    return slots_[i % kCount];
  }
  void Put(size_t i, std::shared_ptr<T> object) {
    const absl::MutexLock lock(&mutex_);
    slots_[i % kCount].swap(object);  // the other one goes after the lock
  }

 private:
  static constexpr size_t kCount = 8;
  absl::Mutex mutex_;
  std::array<std::shared_ptr<T>, kCount> slots_ ABSL_GUARDED_BY(mutex_);
};

// Tells when it is destroyed.
struct Ending {
  ~Ending() { promise.set_value(); }
  std::promise<void> promise;
};

struct World {
  World() {
    const std::string name = "devices";
    PJRT_NamedValue count = {};
    count.struct_size = sizeof(count);
    count.name = name.data();
    count.name_size = name.size();
    count.type = PJRT_NamedValue_kInt64;
    count.int64_value = kDevices;
    auto create = New<PJRT_Client_Create_Args>();
    create.create_options = &count;
    create.num_options = 1;
    EXPECT_EQ(Text(Api()->PJRT_Client_Create(&create)), "");
    client.reset(create.client);
    auto list = New<PJRT_Client_Devices_Args>();
    list.client = client.get();
    EXPECT_EQ(Text(Api()->PJRT_Client_Devices(&list)), "");
    devices.assign(list.devices, list.devices + list.num_devices);
  }

  std::string CompileFor(int device, Kind kind, float number, Owned<PJRT_LoadedExecutable>* executable) {
    CompileOptionsProto options;
    if (kind == Kind::kMaximum) {
      options.mutable_executable_build_options()->set_num_replicas(kDevices);
    } else {
      options.mutable_executable_build_options()->set_device_ordinal(device);
    }
    return Compile(client.get(), TextOf(kind, number), "mlir", options.SerializeAsString(), executable);
  }

  Ending ending;  // the first member, which goes last
  Owned<PJRT_Client> client;
  std::vector<PJRT_Device*> devices;
  std::array<Slots<Array>, kDevices> arrays;
  Slots<Code> codes;
  std::atomic<int64_t> compared{0};
};

// ---- Handlers ------------------------------------------------------------------------------------------------------

int64_t WorldType() {
  static const int64_t type = [] {
    int64_t id = 0;
    EXPECT_TRUE(FfiTypes::Global().Register("threads_world", nullptr, &id).ok());
    return id;
  }();
  return type;
}
World& WorldOf(const XLA_FFI_CallFrame& frame) {
  XLA_FFI_TypeId type = {WorldType()};
  XLA_FFI_ExecutionContext_Get_Args args = {sizeof(args), nullptr, frame.ctx, &type, nullptr};
  EXPECT_EQ(frame.api->ExecutionContext_Get(&args), nullptr);
  return *static_cast<World*>(args.data);
}

XLA_FFI_Error* AddHere(XLA_FFI_CallFrame* frame) {
  if (AnswersMetadata(frame)) return nullptr;
  for (size_t i = 0; i < kSize; ++i) ArrayOf(frame->rets)[i] = ArrayOf(frame->args)[i] + NumberOf(*frame);
  return nullptr;
}
// Compiles a program and runs it, on any device.
XLA_FFI_Error* AddByProgram(XLA_FFI_CallFrame* frame) {
  if (AnswersMetadata(frame)) return nullptr;
  World& world = WorldOf(*frame);
  const float number = NumberOf(*frame);
  const int device = static_cast<int>(number) % kDevices;
  Owned<PJRT_LoadedExecutable> program;
  std::string error = world.CompileFor(device, Kind::kAdd, number, &program);
  std::vector<float> numbers(ArrayOf(frame->args), ArrayOf(frame->args) + kSize);
  Owned<PJRT_Buffer> argument;
  std::vector<Owned<PJRT_Buffer>> results;
  if (error.empty()) error = ToDevice(world.client.get(), world.devices[device], numbers, &argument);
  if (error.empty()) error = Execute(program.get(), {{argument.get()}}, &results);
  if (error.empty()) error = ToHost(results[0].get(), &numbers);
  if (!error.empty()) return FfiError(*frame, error);
  std::copy(numbers.begin(), numbers.end(), ArrayOf(frame->rets));
  return nullptr;
}
// Waits for a program of another thread, which may be on the same device.
XLA_FFI_Error* AddByThread(XLA_FFI_CallFrame* frame) {
  if (AnswersMetadata(frame)) return nullptr;
  XLA_FFI_Error* error = nullptr;
  std::thread([&] { error = AddByProgram(frame); }).join();
  return error;
}
XLA_FFI_Error* Fail(XLA_FFI_CallFrame* frame) { return AnswersMetadata(frame) ? nullptr : FfiError(*frame, kNoLuck); }

void RegisterHandlers() {
  BringHandler("threads_add", {nullptr, nullptr, nullptr, &AddHere});
  BringHandler("threads_nested", {nullptr, nullptr, nullptr, &AddByProgram});
  BringHandler("threads_meet", {nullptr, nullptr, nullptr, &AddByThread});
  BringHandler("threads_fail", {nullptr, nullptr, nullptr, &Fail});
}

// ---- A thread ------------------------------------------------------------------------------------------------------

class Actor {
 public:
  Actor(std::shared_ptr<World> world, uint32_t seed) : world_(std::move(world)), random_(seed) {}

  void Step() {
    switch (Pick(12)) {
      case 0:
        return MakeArray();
      case 1:
        return MakeCode();
      case 2:
        return Copy();
      case 3:
        return Read();
      case 4:
        return ReadInPlace();
      case 5:
        return Pick(4) == 0 ? Delete() : Read();
      case 6:
        return Pick(4) == 0 ? DeleteCode() : Reload();
      case 7:
        return RunInCallback();
      default:
        return Run();
    }
  }
  void MakeArray() {
    const int device = Pick(kDevices);
    auto array = std::make_shared<Array>();
    array->meaning.number = static_cast<float>(Pick(100));
    const std::vector<float> numbers(kSize, array->meaning.number);
    EXPECT_EQ(ToDevice(world_->client.get(), world_->devices[device], numbers, &array->buffer), "");
    world_->arrays[device].Put(random_(), std::move(array));
  }
  void MakeCode() {
    auto code = std::make_shared<Code>();
    code->kind = static_cast<Kind>(Pick(kKinds));
    code->number = static_cast<float>(code->kind == Kind::kLoop ? Pick(3000) : Pick(100));
    code->device = Pick(kDevices);
    EXPECT_EQ(world_->CompileFor(code->device, code->kind, code->number, &code->executable), "");
    world_->codes.Put(random_(), std::move(code));
  }

 private:
  int Pick(int count) { return static_cast<int>(random_() % count); }
  std::shared_ptr<Array> AnyArray(int device) { return world_->arrays[device].Get(random_()); }

  void Run();
  void Launch(const Code& code, const std::vector<std::shared_ptr<Array>>& arguments,
              const std::vector<std::vector<PJRT_Buffer*>>& lists) {
    std::vector<Meaning> meanings;
    bool may_be_gone = code.may_be_gone;
    for (const std::shared_ptr<Array>& argument : arguments) meanings.push_back(argument->meaning);
    const Meaning meaning = MeaningOf(code.kind, code.number, meanings);
    auto create = New<PJRT_ExecuteContext_Create_Args>();
    EXPECT_EQ(Text(Api()->PJRT_ExecuteContext_Create(&create)), "");
    const Owned<PJRT_ExecuteContext> context(create.context);
    context->user_data[WorldType()] = world_.get();
    std::vector<Owned<PJRT_Buffer>> results;
    const std::string error = Execute(code.executable.get(), lists, &results, context.get());
    if (!error.empty()) {
      may_be_gone |= code.may_be_gone;
      for (const std::shared_ptr<Array>& argument : arguments) may_be_gone |= argument->may_be_gone;
      EXPECT_TRUE(absl::StrContains(error, kGone) ? may_be_gone
                                                  : meaning.has_failed && absl::StrContains(error, kNoLuck))
          << error;
      return;
    }
    for (size_t d = 0; d < results.size(); ++d) {
      auto array = std::make_shared<Array>();
      array->buffer = std::move(results[d]);
      array->meaning = meaning;
      WhenReady(ReadyEvent(*array), [world = world_](const std::string&) {});  // handlers use the world
      if (std::abs(meaning.number) > kMost) continue;
      world_->arrays[results.size() == 1 ? code.device : d].Put(random_(), std::move(array));
    }
  }

  Owned<PJRT_Event> ReadyEvent(const Array& array) {
    auto args = New<PJRT_Buffer_ReadyEvent_Args>();
    args.buffer = array.buffer.get();
    EXPECT_EQ(Text(Api()->PJRT_Buffer_ReadyEvent(&args)), "");
    return Owned<PJRT_Event>(args.event);
  }
  // Calls the function with the error when the event is ready.
  static void WhenReady(const Owned<PJRT_Event>& event, std::function<void(const std::string& error)> function) {
    auto args = New<PJRT_Event_OnReady_Args>();
    args.event = event.get();
    args.user_arg = new std::function<void(const std::string&)>(std::move(function));
    args.callback = [](PJRT_Error* error, void* user) {
      const std::unique_ptr<std::function<void(const std::string&)>> owned(
          static_cast<std::function<void(const std::string&)>*>(user));
      (*owned)(Text(error));
    };
    EXPECT_EQ(Text(Api()->PJRT_Event_OnReady(&args)), "");
  }
  // In one of the ways to wait. Returns the error.
  std::string AwaitArray(const Array& array) {
    const Owned<PJRT_Event> event = ReadyEvent(array);
    switch (Pick(3)) {
      case 0:
        return Await(event);
      case 1: {
        std::promise<std::string> error;
        WhenReady(event, [&](const std::string& text) { error.set_value(text); });
        return error.get_future().get();
      }
      default: {
        auto args = New<PJRT_Event_IsReady_Args>();
        args.event = event.get();
        while (!args.is_ready) {
          EXPECT_EQ(Text(Api()->PJRT_Event_IsReady(&args)), "");
          std::this_thread::yield();
        }
        auto error = New<PJRT_Event_Error_Args>();
        error.event = event.get();
        return Text(Api()->PJRT_Event_Error(&error));
      }
    }
  }
  void Compare(const Array& array, const std::string& error, const float* numbers) {
    if (absl::StrContains(error, kGone)) {
      EXPECT_TRUE(array.may_be_gone) << error;
    } else if (array.meaning.has_failed) {
      EXPECT_TRUE(absl::StrContains(error, kNoLuck)) << error;
    } else {
      EXPECT_EQ(error, "");
      for (size_t i = 0; error.empty() && i < kSize; ++i) ASSERT_EQ(numbers[i], array.meaning.number);
      ++world_->compared;
    }
  }
  void Read() {
    const std::shared_ptr<Array> array = AnyArray(Pick(kDevices));
    if (array == nullptr) return;
    if (Pick(2) == 0) {
      EXPECT_EQ(AwaitArray(*array).empty(), !array->meaning.has_failed);
    }
    std::vector<float> numbers(kSize);
    const std::string error = ToHost(array->buffer.get(), &numbers);
    Compare(*array, error, numbers.data());
  }
  // No program writes to the memory while there is a reference.
  void ReadInPlace() {
    const std::shared_ptr<Array> array = AnyArray(Pick(kDevices));
    if (array == nullptr) return;
    auto increase = New<PJRT_Buffer_IncreaseExternalReferenceCount_Args>();
    increase.buffer = array->buffer.get();
    std::string error = Text(Api()->PJRT_Buffer_IncreaseExternalReferenceCount(&increase));
    if (!error.empty()) return Compare(*array, error, nullptr);
    auto address = New<PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args>();
    address.buffer = array->buffer.get();
    error = Text(Api()->PJRT_Buffer_OpaqueDeviceMemoryDataPointer(&address));
    Compare(*array, error, static_cast<const float*>(address.device_memory_ptr));
    auto decrease = New<PJRT_Buffer_DecreaseExternalReferenceCount_Args>();
    decrease.buffer = array->buffer.get();
    EXPECT_EQ(Text(Api()->PJRT_Buffer_DecreaseExternalReferenceCount(&decrease)), "");
  }

  void Copy() {
    const std::shared_ptr<Array> array = AnyArray(Pick(kDevices));
    if (array == nullptr) return;
    const int target = Pick(kDevices);
    auto args = New<PJRT_Buffer_CopyToDevice_Args>();
    args.buffer = array->buffer.get();
    args.dst_device = world_->devices[target];
    const std::string error = Text(Api()->PJRT_Buffer_CopyToDevice(&args));
    if (!error.empty()) {
      EXPECT_TRUE(absl::StrContains(error, kGone) && array->may_be_gone) << error;
      return;
    }
    auto copy = std::make_shared<Array>();
    copy->buffer.reset(args.dst_buffer);
    copy->meaning = array->meaning;
    world_->arrays[target].Put(random_(), std::move(copy));
  }
  void Delete() {
    const std::shared_ptr<Array> array = AnyArray(Pick(kDevices));
    if (array == nullptr) return;
    array->may_be_gone = true;
    auto args = New<PJRT_Buffer_Delete_Args>();
    args.buffer = array->buffer.get();
    EXPECT_EQ(Text(Api()->PJRT_Buffer_Delete(&args)), "");
  }
  void DeleteCode() {
    const std::shared_ptr<Code> code = world_->codes.Get(random_());
    if (code == nullptr) return;
    code->may_be_gone = true;
    auto args = New<PJRT_LoadedExecutable_Delete_Args>();
    args.executable = code->executable.get();
    EXPECT_EQ(Text(Api()->PJRT_LoadedExecutable_Delete(&args)), "");
  }
  void Reload();
  // A callback runs programs, and may destroy the last objects of the client.
  void RunInCallback();

  const std::shared_ptr<World> world_;
  std::mt19937 random_;
};

void Actor::Reload() {
  const std::shared_ptr<Code> code = world_->codes.Get(random_());
  if (code == nullptr) return;
  auto get = New<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = code->executable.get();
  EXPECT_EQ(Text(Api()->PJRT_LoadedExecutable_GetExecutable(&get)), "");
  const Owned<PJRT_Executable> executable(get.executable);
  auto serialize = New<PJRT_Executable_Serialize_Args>();
  serialize.executable = executable.get();
  EXPECT_EQ(Text(Api()->PJRT_Executable_Serialize(&serialize)), "");
  auto load = New<PJRT_Executable_DeserializeAndLoad_Args>();
  load.client = world_->client.get();
  load.serialized_executable = serialize.serialized_bytes;
  load.serialized_executable_size = serialize.serialized_bytes_size;
  EXPECT_EQ(Text(Api()->PJRT_Executable_DeserializeAndLoad(&load)), "");
  serialize.serialized_executable_deleter(serialize.serialized_executable);
  auto loaded = std::make_shared<Code>();
  loaded->executable.reset(load.loaded_executable);
  loaded->kind = code->kind;
  loaded->number = code->number;
  loaded->device = code->device;
  world_->codes.Put(random_(), std::move(loaded));
}

void Actor::Run() {
  const std::shared_ptr<Code> code = world_->codes.Get(random_());
  if (code == nullptr) return;
  const bool is_for_all = code->kind == Kind::kMaximum;
  std::vector<std::shared_ptr<Array>> arguments;
  std::vector<std::vector<PJRT_Buffer*>> lists;
  for (int d = 0; d < (is_for_all ? kDevices : 1); ++d) {
    lists.emplace_back();
    for (int i = 0; i < ArgumentsOf(code->kind); ++i) {
      arguments.push_back(AnyArray(is_for_all ? d : code->device));
      if (arguments.back() == nullptr) return;
      lists.back().push_back(arguments.back()->buffer.get());
    }
  }
  if (code->kind == Kind::kDonate) arguments[0]->may_be_gone = true;
  Launch(*code, arguments, lists);
}

void Actor::RunInCallback() {
  const std::shared_ptr<Array> array = AnyArray(Pick(kDevices));
  if (array == nullptr) return;
  const Owned<PJRT_Event> event = ReadyEvent(*array);
  WhenReady(event, [array, world = world_, seed = random_()](const std::string& error) {
    EXPECT_EQ(error.empty(), !array->meaning.has_failed);
    Actor actor(world, static_cast<uint32_t>(seed));
    actor.Run();
  });
}

TEST(PluginThreadsTest, AllAtOnce) {
  RegisterHandlers();
  auto world = std::make_shared<World>();
  World* const shared = world.get();
  std::future<void> ended = world->ending.promise.get_future();
  for (uint32_t i = 0; i < 20; ++i) {
    Actor actor(world, i);
    actor.MakeArray();
    actor.MakeCode();
  }
  const auto end = std::chrono::steady_clock::now() + kTime;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Actor actor(world, 1000 + t);
      for (int i = 0; i < kSteps && std::chrono::steady_clock::now() < end; ++i) actor.Step();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(shared->compared, 20);
  world = nullptr;  // callbacks may still run programs
  ended.get();
}

}  // namespace
}  // namespace kashi::pjrt
