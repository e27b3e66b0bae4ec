// The C API for tests: the texts of its errors, and owners of its objects.
//
//   auto args = New<PJRT_Client_Create_Args>();
//   ASSERT_EQ(Text(Api()->PJRT_Client_Create(&args)), "");
//   const Owned<PJRT_Client> client(args.client);
#ifndef KASHI_PJRT_PLUGIN_TESTING_H_
#define KASHI_PJRT_PLUGIN_TESTING_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/pjrt/pjrt_c_api.h"
#include "kashi/pjrt/plugin.h"

namespace kashi::pjrt {

template <typename Args>
Args New() {
  Args args = {};
  args.struct_size = sizeof(Args);
  return args;
}

// The text of an error, which is destroyed; "" for none.
inline std::string Text(PJRT_Error* error) {
  if (error == nullptr) return "";
  auto message = New<PJRT_Error_Message_Args>();
  message.error = error;
  Api()->PJRT_Error_Message(&message);
  std::string text(message.message, message.message_size);
  auto destroy = New<PJRT_Error_Destroy_Args>();
  destroy.error = error;
  Api()->PJRT_Error_Destroy(&destroy);
  return text;
}

#define KASHI_DESTROYED_OBJECTS(V) \
  V(Client, client)                \
  V(Buffer, buffer)                \
  V(Event, event)                  \
  V(LoadedExecutable, executable)  \
  V(Executable, executable)        \
  V(ExecuteContext, context)

struct Destroyer {
#define KASHI_DESTROY(type, field)                            \
  void operator()(PJRT_##type* object) const {                \
    auto args = New<PJRT_##type##_Destroy_Args>();            \
    args.field = object;                                      \
    EXPECT_EQ(Text(Api()->PJRT_##type##_Destroy(&args)), ""); \
  }
  KASHI_DESTROYED_OBJECTS(KASHI_DESTROY)
#undef KASHI_DESTROY
};
template <typename T>
using Owned = std::unique_ptr<T, Destroyer>;

// ---- Calls. They return the error, "" for none ---------------------------------------------------------------------

inline std::string Compile(PJRT_Client* client, std::string code, absl::string_view format, const std::string& options,
                           Owned<PJRT_LoadedExecutable>* executable) {
  PJRT_Program program = {sizeof(PJRT_Program), nullptr, &code[0], code.size(), format.data(), format.size()};
  auto args = New<PJRT_Client_Compile_Args>();
  args.client = client;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  std::string error = Text(Api()->PJRT_Client_Compile(&args));
  executable->reset(args.executable);
  return error;
}

// An f32 array of one dimension, copied.
inline std::string ToDevice(PJRT_Client* client, PJRT_Device* device, const std::vector<float>& numbers,
                            Owned<PJRT_Buffer>* buffer) {
  const auto size = static_cast<int64_t>(numbers.size());
  auto args = New<PJRT_Client_BufferFromHostBuffer_Args>();
  args.client = client;
  args.device = device;
  args.data = numbers.data();
  args.type = PJRT_Buffer_Type_F32;
  args.dims = &size;
  args.num_dims = 1;
  std::string error = Text(Api()->PJRT_Client_BufferFromHostBuffer(&args));
  buffer->reset(args.buffer);
  const Owned<PJRT_Event> done(args.done_with_host_buffer);
  return error;
}

inline std::string Await(const Owned<PJRT_Event>& event) {
  auto args = New<PJRT_Event_Await_Args>();
  args.event = event.get();
  return Text(Api()->PJRT_Event_Await(&args));
}

// Waits for the array, which has as many numbers.
inline std::string ToHost(PJRT_Buffer* buffer, std::vector<float>* numbers) {
  auto args = New<PJRT_Buffer_ToHostBuffer_Args>();
  args.src = buffer;
  args.dst = numbers->data();
  args.dst_size = numbers->size() * sizeof(float);
  std::string error = Text(Api()->PJRT_Buffer_ToHostBuffer(&args));
  if (!error.empty()) return error;
  return Await(Owned<PJRT_Event>(args.event));
}

// One result of one device for each list of arguments. context: may be null.
inline std::string Execute(PJRT_LoadedExecutable* executable, const std::vector<std::vector<PJRT_Buffer*>>& arguments,
                           std::vector<Owned<PJRT_Buffer>>* results, PJRT_ExecuteContext* context = nullptr) {
  std::vector<PJRT_Buffer* const*> lists;
  for (const std::vector<PJRT_Buffer*>& list : arguments) lists.push_back(list.data());
  std::vector<PJRT_Buffer*> buffers(arguments.size());
  std::vector<PJRT_Buffer**> outputs;
  for (PJRT_Buffer*& buffer : buffers) outputs.push_back(&buffer);
  auto options = New<PJRT_ExecuteOptions>();
  options.context = context;
  auto args = New<PJRT_LoadedExecutable_Execute_Args>();
  args.executable = executable;
  args.options = &options;
  args.argument_lists = lists.data();
  args.num_devices = arguments.size();
  args.num_args = arguments[0].size();
  args.output_lists = outputs.data();
  std::string error = Text(Api()->PJRT_LoadedExecutable_Execute(&args));
  for (PJRT_Buffer* buffer : buffers) {
    if (buffer != nullptr) results->emplace_back(buffer);
  }
  return error;
}

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_PLUGIN_TESTING_H_
