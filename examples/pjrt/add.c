// Runs a StableHLO program through the PJRT C API alone: loads the plugin, compiles, copies arrays in and out.
//
//   cc -I. examples/pjrt/add.c -ldl -o add && ./add build/jax/kashi_jax/libkashi_pjrt.so
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kashi/pjrt/pjrt_c_api.h"

static const PJRT_Api* api;

// Ends the program with the text of the error, if there is one.
static void Check(PJRT_Error* error) {
  if (error == NULL) return;
  PJRT_Error_Message_Args args = {PJRT_SIZE(PJRT_Error_Message_Args, message_size), NULL, error, NULL, 0};
  api->PJRT_Error_Message(&args);
  fprintf(stderr, "%.*s\n", (int)args.message_size, args.message);
  exit(1);
}

static PJRT_Buffer* ToDevice(PJRT_Client* client, PJRT_Device* device, const float* data, int64_t size) {
  PJRT_Client_BufferFromHostBuffer_Args args = {PJRT_SIZE(PJRT_Client_BufferFromHostBuffer_Args, buffer)};
  args.client = client;
  args.device = device;
  args.data = data;
  args.type = PJRT_Buffer_Type_F32;
  args.dims = &size;
  args.num_dims = 1;
  Check(api->PJRT_Client_BufferFromHostBuffer(&args));
  return args.buffer;
}

int main(int argc, char** argv) {
  void* library = dlopen(argc > 1 ? argv[1] : "libkashi_pjrt.so", RTLD_NOW);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  api = ((const PJRT_Api* (*)(void))dlsym(library, "GetPjrtApi"))();

  PJRT_Client_Create_Args client = {PJRT_SIZE(PJRT_Client_Create_Args, kv_try_get_user_arg)};
  Check(api->PJRT_Client_Create(&client));
  PJRT_Client_Devices_Args devices = {PJRT_SIZE(PJRT_Client_Devices_Args, num_devices), NULL, client.client};
  Check(api->PJRT_Client_Devices(&devices));

  char code[] =
      "func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {\n"
      "  %0 = stablehlo.add %x, %y : tensor<3xf32>\n"
      "  return %0 : tensor<3xf32>\n"
      "}\n";
  PJRT_Program program = {PJRT_SIZE(PJRT_Program, format_size), NULL, code, strlen(code), "mlir", 4};
  PJRT_Client_Compile_Args compile = {PJRT_SIZE(PJRT_Client_Compile_Args, executable), NULL, client.client, &program};
  compile.compile_options = "";
  Check(api->PJRT_Client_Compile(&compile));

  const float x[] = {1, 2, 3}, y[] = {10, 20, 30};
  PJRT_Buffer* arguments[] = {ToDevice(client.client, devices.devices[0], x, 3), ToDevice(client.client, devices.devices[0], y, 3)};
  PJRT_Buffer* const* argument_lists[] = {arguments};
  PJRT_Buffer* result = NULL;
  PJRT_Buffer** const output_lists[] = {&result};
  PJRT_ExecuteOptions options = {PJRT_SIZE(PJRT_ExecuteOptions, use_major_to_minor_data_layout_for_callbacks)};
  PJRT_LoadedExecutable_Execute_Args run = {PJRT_SIZE(PJRT_LoadedExecutable_Execute_Args, execute_device), NULL,
                                            compile.executable, &options, argument_lists, 1, 2, output_lists};
  Check(api->PJRT_LoadedExecutable_Execute(&run));

  float sum[3];
  PJRT_Buffer_ToHostBuffer_Args copy = {PJRT_SIZE(PJRT_Buffer_ToHostBuffer_Args, event), NULL, result, NULL, sum, sizeof sum};
  Check(api->PJRT_Buffer_ToHostBuffer(&copy));
  PJRT_Event_Await_Args await = {PJRT_SIZE(PJRT_Event_Await_Args, event), NULL, copy.event};
  Check(api->PJRT_Event_Await(&await));
  printf("%g %g %g\n", sum[0], sum[1], sum[2]);
  return 0;
}
