// The C interface of XLA's foreign functions (docs/spec/pjrt.md 9.1, 15.6), from the side that calls them: version 0.5.
// A handler may have been built with any other minor version: each structure begins with the size that its maker knows.
#ifndef KASHI_PJRT_FFI_C_API_H_
#define KASHI_PJRT_FFI_C_API_H_

#include <cstddef>
#include <cstdint>

#include "kashi/pjrt/pjrt_c_api.h"

extern "C" {

#define XLA_FFI_API_MAJOR 0
#define XLA_FFI_API_MINOR 5

enum XLA_FFI_Extension_Type { XLA_FFI_Extension_Metadata = 1 };

struct XLA_FFI_Extension_Base {
  size_t struct_size;
  int type;  // XLA_FFI_Extension_Type
  XLA_FFI_Extension_Base* next;
};

struct XLA_FFI_Api_Version {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  int major_version;
  int minor_version;
};

struct XLA_FFI_Api;
struct XLA_FFI_Error;
struct XLA_FFI_Future;
struct XLA_FFI_ExecutionContext;
struct XLA_FFI_Extension;

struct XLA_FFI_ByteSpan {
  const char* ptr;
  size_t len;
};
struct XLA_FFI_Scalar {
  int dtype;  // a number of PrimitiveType, here and below
  void* value;
};
struct XLA_FFI_Array {
  int dtype;
  size_t size;
  void* data;
};
struct XLA_FFI_TypeId {
  int64_t type_id;
};
struct XLA_FFI_TypeInfo {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  void (*deleter)(void* object);
};

struct XLA_FFI_Buffer {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  int dtype;
  void* data;
  int64_t rank;
  int64_t* dims;
};

enum XLA_FFI_AttrType {
  XLA_FFI_AttrType_ARRAY = 1,
  XLA_FFI_AttrType_DICTIONARY = 2,
  XLA_FFI_AttrType_SCALAR = 3,
  XLA_FFI_AttrType_STRING = 4,
};
constexpr int XLA_FFI_ArgType_BUFFER = 1;

enum XLA_FFI_ExecutionStage {
  XLA_FFI_ExecutionStage_INSTANTIATE = 0,
  XLA_FFI_ExecutionStage_PREPARE = 1,
  XLA_FFI_ExecutionStage_INITIALIZE = 2,
  XLA_FFI_ExecutionStage_EXECUTE = 3,
};

// Arguments, and results.
struct XLA_FFI_Args {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  int64_t size;
  int* types;
  void** args;
};
struct XLA_FFI_Attrs {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  int64_t size;
  int* types;                // XLA_FFI_AttrType
  XLA_FFI_ByteSpan** names;  // in alphabetical order
  void** attrs;
};
// struct_size is the size without `future`: handlers compare it with theirs.
struct XLA_FFI_CallFrame {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  const XLA_FFI_Api* api;
  XLA_FFI_ExecutionContext* ctx;
  int stage;  // XLA_FFI_ExecutionStage
  XLA_FFI_Args args;
  XLA_FFI_Args rets;
  XLA_FFI_Attrs attrs;
  XLA_FFI_Future* future;  // set by a handler that ends later
};

typedef XLA_FFI_Error* XLA_FFI_Handler(XLA_FFI_CallFrame* call_frame);
typedef void XLA_FFI_Task(void* data);

struct XLA_FFI_Handler_Bundle {
  XLA_FFI_Handler* instantiate;  // all but `execute` may be null
  XLA_FFI_Handler* prepare;
  XLA_FFI_Handler* initialize;
  XLA_FFI_Handler* execute;
};

// struct_size is the size without `state_type_id`.
struct XLA_FFI_Metadata {
  size_t struct_size;
  XLA_FFI_Api_Version api_version;
  uint32_t traits;
  XLA_FFI_TypeId state_type_id;
};
struct XLA_FFI_Metadata_Extension {
  XLA_FFI_Extension_Base extension_base;
  XLA_FFI_Metadata* metadata;
};

// The functions that a handler may call, in the order of the table.
// clang-format off
#define KASHI_FFI_FUNCTIONS(V) \
  V(Error_Create, const char* message; int errc;) \
  V(Error_GetDetails, XLA_FFI_Error* error; const char* message; int errc;) \
  V(Error_Destroy, XLA_FFI_Error* error;) \
  V(Handler_Register, XLA_FFI_ByteSpan name; XLA_FFI_ByteSpan platform; XLA_FFI_Handler_Bundle bundle; \
    uint32_t traits;) \
  V(Stream_Get, XLA_FFI_ExecutionContext* ctx; void* stream;) \
  V(Type_Register, XLA_FFI_ByteSpan name; XLA_FFI_TypeId* type_id; const XLA_FFI_TypeInfo* type_info;) \
  V(ExecutionContext_Get, XLA_FFI_ExecutionContext* ctx; XLA_FFI_TypeId* type_id; void* data;) \
  V(State_Set, XLA_FFI_ExecutionContext* ctx; int stage; XLA_FFI_TypeId* type_id; void* state;) \
  V(State_Get, XLA_FFI_ExecutionContext* ctx; int stage; XLA_FFI_TypeId* type_id; void* state;) \
  V(DeviceMemory_Allocate, XLA_FFI_ExecutionContext* ctx; size_t size; size_t alignment; void* data;) \
  V(DeviceMemory_Free, XLA_FFI_ExecutionContext* ctx; size_t size; void* data;) \
  V(ThreadPool_Schedule, XLA_FFI_ExecutionContext* ctx; XLA_FFI_Task* task; void* data;) \
  V(ThreadPool_NumThreads, XLA_FFI_ExecutionContext* ctx; int64_t* num_threads;) \
  V(Future_Create, XLA_FFI_Future* future;) \
  V(Future_SetAvailable, XLA_FFI_Future* future;) \
  V(Future_SetError, XLA_FFI_Future* future; XLA_FFI_Error* error;) \
  V(RunId_Get, XLA_FFI_ExecutionContext* ctx; int64_t run_id;) \
  V(DeviceOrdinal_Get, XLA_FFI_ExecutionContext* ctx; int32_t device_ordinal;) \
  V(InvokeContext_FindExtension, XLA_FFI_ExecutionContext* ctx; int64_t extension_type; \
    const XLA_FFI_Extension* extension;) \
  V(CustomOptions_Get, XLA_FFI_ExecutionContext* ctx; const XLA_FFI_Attrs* attrs;)
// clang-format on

#define KASHI_FFI_ARGS(name, ...)            \
  struct XLA_FFI_##name##_Args {             \
    size_t struct_size;                      \
    XLA_FFI_Extension_Base* extension_start; \
    __VA_ARGS__                              \
  };
KASHI_FFI_FUNCTIONS(KASHI_FFI_ARGS)
#undef KASHI_FFI_ARGS

// Error_GetDetails and Error_Destroy return nothing in XLA's header.
struct XLA_FFI_Api {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  XLA_FFI_Api_Version api_version;
  const void* internal_api;  // null: for handlers that are part of XLA
#define KASHI_FFI_SLOT(name, ...) XLA_FFI_Error* (*name)(XLA_FFI_##name##_Args * args);
  KASHI_FFI_FUNCTIONS(KASHI_FFI_SLOT)
#undef KASHI_FFI_SLOT
};
static_assert(sizeof(XLA_FFI_Api) == 208, "the table of version 0.5");

// ---- The extension of PJRT with which callers bring handlers and data for them ------------------------------------

struct PJRT_FFI_Type_Info {
  void (*deleter)(void* object);
  void (*serialize)();
  void (*deserialize)();
};
struct PJRT_FFI_Type_Register_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* type_name;
  size_t type_name_size;
  int64_t type_id;  // 0: one is chosen
  PJRT_FFI_Type_Info* type_info;
};
struct PJRT_FFI_UserData {
  int64_t type_id;
  void* data;
};
struct PJRT_FFI_UserData_Add_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_ExecuteContext* context;
  PJRT_FFI_UserData user_data;
};
struct PJRT_FFI_Register_Handler_Args {
  size_t struct_size;  // no extension_start
  const char* target_name;
  size_t target_name_size;
  void* handler;  // XLA_FFI_Handler*
  const char* platform_name;
  size_t platform_name_size;
  int traits;
};
struct PJRT_FFI_Extension {
  PJRT_Extension_Base base;
  PJRT_Error* (*type_register)(PJRT_FFI_Type_Register_Args* args);
  PJRT_Error* (*user_data_add)(PJRT_FFI_UserData_Add_Args* args);
  PJRT_Error* (*register_handler)(PJRT_FFI_Register_Handler_Args* args);
};

}  // extern "C"

#endif  // KASHI_PJRT_FFI_C_API_H_
