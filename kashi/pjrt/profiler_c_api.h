// The extension of PJRT for profiles, in C (docs/spec/pjrt.md 7): the caller starts and stops a profiler, and collects
// what it saw.
#ifndef KASHI_PJRT_PROFILER_C_API_H_
#define KASHI_PJRT_PROFILER_C_API_H_

#include <cstddef>
#include <cstdint>

#include "kashi/pjrt/pjrt_c_api.h"

extern "C" {

struct PLUGIN_Profiler_Error;
struct PLUGIN_Profiler;

struct PLUGIN_Profiler_Error_Destroy_Args {
  size_t struct_size;
  void* extension_start;
  PLUGIN_Profiler_Error* error;
};
struct PLUGIN_Profiler_Error_Message_Args {
  size_t struct_size;
  void* extension_start;
  const PLUGIN_Profiler_Error* error;
  const char* message;
  size_t message_size;
};
struct PLUGIN_Profiler_Error_GetCode_Args {
  size_t struct_size;
  void* extension_start;
  const PLUGIN_Profiler_Error* error;
  int code;
};
struct PLUGIN_Profiler_Create_Args {
  size_t struct_size;
  const char* options;  // a serialized ProfileOptions
  size_t options_size;
  PLUGIN_Profiler* profiler;
};
struct PLUGIN_Profiler_Destroy_Args {
  size_t struct_size;
  PLUGIN_Profiler* profiler;
};
struct PLUGIN_Profiler_Start_Args {
  size_t struct_size;
  PLUGIN_Profiler* profiler;
};
struct PLUGIN_Profiler_Stop_Args {
  size_t struct_size;
  PLUGIN_Profiler* profiler;
};
// With a buffer of the caller, copies the profile there. Without one, sets `buffer` to the profile, which lives as long
// as the profiler: JAX 0.10 reads it there, and other callers allocate a buffer of this size and call again.
struct PLUGIN_Profiler_CollectData_Args {
  size_t struct_size;
  PLUGIN_Profiler* profiler;
  uint8_t* buffer;
  size_t buffer_size_in_bytes;
};

struct PLUGIN_Profiler_Api {
  size_t struct_size;
  void* extension_start;
  void (*error_destroy)(PLUGIN_Profiler_Error_Destroy_Args* args);
  void (*error_message)(PLUGIN_Profiler_Error_Message_Args* args);
  PLUGIN_Profiler_Error* (*error_get_code)(PLUGIN_Profiler_Error_GetCode_Args* args);
  PLUGIN_Profiler_Error* (*create)(PLUGIN_Profiler_Create_Args* args);
  PLUGIN_Profiler_Error* (*destroy)(PLUGIN_Profiler_Destroy_Args* args);
  PLUGIN_Profiler_Error* (*start)(PLUGIN_Profiler_Start_Args* args);
  PLUGIN_Profiler_Error* (*stop)(PLUGIN_Profiler_Stop_Args* args);
  PLUGIN_Profiler_Error* (*collect_data)(PLUGIN_Profiler_CollectData_Args* args);
};

struct PJRT_Profiler_Extension {
  PJRT_Extension_Base base;
  PLUGIN_Profiler_Api* profiler_api;
  int64_t traceme_context_id;
};

}  // extern "C"

#endif  // KASHI_PJRT_PROFILER_C_API_H_
