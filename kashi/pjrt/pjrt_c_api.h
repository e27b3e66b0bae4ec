// The PJRT C API: how JAX and other programs call a compiler and its devices (docs/spec/pjrt.md). Plain C.
//
//   const PJRT_Api* api = GetPjrtApi();
//   PJRT_Client_Create_Args args = {PJRT_SIZE(PJRT_Client_Create_Args, kv_try_get_user_arg)};
//   PJRT_Error* error = api->PJRT_Client_Create(&args);     // null: args.client is the client
//
// Sizes, field orders and numbers are those of version 0.115; a program may have been built with any other one: each
// structure begins with the size that its maker knows. Fields beyond it do not exist.
#ifndef KASHI_PJRT_PJRT_C_API_H_
#define KASHI_PJRT_PJRT_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PJRT_API_MAJOR 0
#define PJRT_API_MINOR 115

// The size of a structure up to its last field: what struct_size says. The last field may be a pointer: its own size is
// meant, so the check that suspects such a sizeof is off.
#define PJRT_SIZE(type, last_field) \
  (offsetof(type, last_field) + sizeof(((type*)0)->last_field))  // NOLINT(bugprone-sizeof-expression)

typedef enum {
  PJRT_Extension_Type_Profiler = 1,
  PJRT_Extension_Type_Custom_Partitioner = 2,
  PJRT_Extension_Type_Layouts = 4,
  PJRT_Extension_Type_FFI = 5,
  PJRT_Extension_Type_Shardings = 19,
} PJRT_Extension_Type;

typedef struct PJRT_Extension_Base {
  size_t struct_size;
  int type;  // PJRT_Extension_Type
  struct PJRT_Extension_Base* next;
} PJRT_Extension_Base;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  int major_version;
  int minor_version;
} PJRT_Api_Version;

// The objects of the plugin.
typedef struct PJRT_Error PJRT_Error;
typedef struct PJRT_Event PJRT_Event;
typedef struct PJRT_Client PJRT_Client;
typedef struct PJRT_Device PJRT_Device;
typedef struct PJRT_DeviceDescription PJRT_DeviceDescription;
typedef struct PJRT_Memory PJRT_Memory;
typedef struct PJRT_Buffer PJRT_Buffer;
typedef struct PJRT_Executable PJRT_Executable;
typedef struct PJRT_LoadedExecutable PJRT_LoadedExecutable;
typedef struct PJRT_TopologyDescription PJRT_TopologyDescription;
typedef struct PJRT_ExecuteContext PJRT_ExecuteContext;
typedef struct PJRT_CopyToDeviceStream PJRT_CopyToDeviceStream;
typedef struct PJRT_AsyncHostToDeviceTransferManager PJRT_AsyncHostToDeviceTransferManager;
typedef struct PJRT_AsyncTrackingEvent PJRT_AsyncTrackingEvent;
typedef struct PJRT_Device_Attributes PJRT_Device_Attributes;
// Holders of bytes that a function gave: the caller passes them to the deleter.
typedef struct PJRT_SerializedExecutable PJRT_SerializedExecutable;
typedef struct PJRT_SerializedTopology PJRT_SerializedTopology;
typedef struct PJRT_SerializedDeviceAssignment PJRT_SerializedDeviceAssignment;
typedef struct PJRT_SerializedCompileOptions PJRT_SerializedCompileOptions;

typedef enum {
  PJRT_Error_Code_OK = 0,
  PJRT_Error_Code_CANCELLED = 1,
  PJRT_Error_Code_UNKNOWN = 2,
  PJRT_Error_Code_INVALID_ARGUMENT = 3,
  PJRT_Error_Code_UNIMPLEMENTED = 12,
  PJRT_Error_Code_INTERNAL = 13,
  PJRT_Error_Code_UNAUTHENTICATED = 16,
} PJRT_Error_Code;  // all numbers are those of absl::StatusCode

typedef enum {
  PJRT_NamedValue_kString = 0,
  PJRT_NamedValue_kInt64,
  PJRT_NamedValue_kInt64List,
  PJRT_NamedValue_kFloat,
  PJRT_NamedValue_kBool,
} PJRT_NamedValue_Type;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* name;
  size_t name_size;
  PJRT_NamedValue_Type type;
  union {
    const char* string_value;
    int64_t int64_value;
    const int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size;  // the length of a string or a list; otherwise 1
} PJRT_NamedValue;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  char* code;
  size_t code_size;
  const char* format;  // "mlir", "hlo", "hlo_with_config"
  size_t format_size;
} PJRT_Program;

// Not the numbers of PrimitiveType. types.cc has the table.
typedef enum {
  PJRT_Buffer_Type_INVALID = 0,
  PJRT_Buffer_Type_PRED = 1,
  PJRT_Buffer_Type_F32 = 11,
  PJRT_Buffer_Type_TOKEN = 23,
} PJRT_Buffer_Type;

typedef enum {
  PJRT_HostBufferSemantics_kImmutableOnlyDuringCall = 0,
  PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes,
  PJRT_HostBufferSemantics_kImmutableZeroCopy,
  PJRT_HostBufferSemantics_kMutableZeroCopy,
} PJRT_HostBufferSemantics;

typedef enum {
  PJRT_Buffer_MemoryLayout_Type_Tiled = 0,
  PJRT_Buffer_MemoryLayout_Type_Strides,
} PJRT_Buffer_MemoryLayout_Type;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const int64_t* minor_to_major;
  size_t minor_to_major_size;
  const int64_t* tile_dims;
  const size_t* tile_dim_sizes;
  size_t num_tiles;
} PJRT_Buffer_MemoryLayout_Tiled;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const int64_t* byte_strides;
  size_t num_byte_strides;
} PJRT_Buffer_MemoryLayout_Strides;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  union {
    PJRT_Buffer_MemoryLayout_Tiled tiled;
    PJRT_Buffer_MemoryLayout_Strides strides;
  };
  PJRT_Buffer_MemoryLayout_Type type;
} PJRT_Buffer_MemoryLayout;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Buffer_Type element_type;
} PJRT_ShapeSpec;

typedef struct {
  void* data;
  size_t size;
  void (*deleter)(void* data, void* deleter_arg);
  void* deleter_arg;
} PJRT_Chunk;

typedef struct {
  const char* name;
  size_t name_size;
  const char* payload;
  size_t payload_size;
} PJRT_Error_Payload;

typedef struct {
  int replica;
  int partition;
} PJRT_LogicalDeviceIds;

typedef struct PJRT_SendCallbackInfo PJRT_SendCallbackInfo;
typedef struct PJRT_RecvCallbackInfo PJRT_RecvCallbackInfo;
typedef struct PJRT_ProcessInfo PJRT_ProcessInfo;
typedef struct PJRT_MultiSlice_Config PJRT_MultiSlice_Config;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_SendCallbackInfo** send_callbacks;
  PJRT_RecvCallbackInfo** recv_callbacks;
  size_t num_send_ops;
  size_t num_recv_ops;
  int launch_id;
  const int64_t* non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
  PJRT_ExecuteContext* context;
  const char* call_location;
  size_t num_tasks;
  int* task_ids;
  int64_t* incarnation_ids;
  PJRT_MultiSlice_Config* multi_slice_config;
  bool use_major_to_minor_data_layout_for_callbacks;
} PJRT_ExecuteOptions;

typedef void (*PJRT_Event_OnReadyCallback)(PJRT_Error* error, void* user_arg);
typedef void (*PJRT_Error_PayloadVisitor)(const char* key, size_t key_size, const char* value, size_t value_size,
                                          void* user_arg);
typedef void (*PJRT_FulfillAliasBufferCallback)(void);
// With several processes only: this plugin calls none of them.
typedef void (*PJRT_KeyValueGetCallback)(void);
typedef void (*PJRT_KeyValueTryGetCallback)(void);
typedef void (*PJRT_KeyValuePutCallback)(void);

#define PJRT_NOT_OFFERED PJRT_OFFERED
#define PJRT_ABSENT PJRT_OFFERED
#define PJRT_OFFERED(name, ...)           \
  typedef struct PJRT_##name##_Args {     \
    size_t struct_size;                   \
    PJRT_Extension_Base* extension_start; \
    __VA_ARGS__                           \
  } PJRT_##name##_Args;
#include "kashi/pjrt/pjrt_functions.def"
#undef PJRT_OFFERED

// These two return nothing.
typedef void PJRT_Error_Destroy_Function(PJRT_Error_Destroy_Args* args);
typedef void PJRT_Error_Message_Function(PJRT_Error_Message_Args* args);

typedef struct PJRT_Api {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Api_Version pjrt_api_version;
#define PJRT_OFFERED(name, ...) PJRT_Error* (*PJRT_##name)(PJRT_##name##_Args * args);
#include "kashi/pjrt/pjrt_functions.def"
#undef PJRT_OFFERED
#undef PJRT_NOT_OFFERED
#undef PJRT_ABSENT
} PJRT_Api;

const PJRT_Api* GetPjrtApi(void);

// ---- Extension: the shardings of arguments and results, as serialized OpShardings --------------------------------

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t count;
  const char* const* shardings;  // null: there are none
  const size_t* sharding_sizes;
} PJRT_Shardings_Args;

typedef struct {
  PJRT_Extension_Base base;
  PJRT_Error* (*parameter_shardings)(PJRT_Shardings_Args* args);
  PJRT_Error* (*output_shardings)(PJRT_Shardings_Args* args);
} PJRT_Shardings_Extension;

// ---- Extension: layouts -------------------------------------------------------------------------------------------

typedef struct PJRT_Layouts_MemoryLayout PJRT_Layouts_MemoryLayout;
typedef struct PJRT_Layouts_SerializedLayout PJRT_Layouts_SerializedLayout;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Layouts_MemoryLayout* layout;
} PJRT_Layouts_MemoryLayout_Destroy_Args;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Layouts_MemoryLayout* layout;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  PJRT_Layouts_SerializedLayout* serialized_layout;
  void (*serialized_layout_deleter)(PJRT_Layouts_SerializedLayout* layout);
} PJRT_Layouts_MemoryLayout_Serialize_Args;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Client* client;
  PJRT_Buffer_Type type;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Layouts_MemoryLayout* layout;  // the caller destroys it
} PJRT_Layouts_Client_GetDefaultLayout_Args;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Buffer* buffer;
  PJRT_Layouts_MemoryLayout* layout;  // the caller destroys it
} PJRT_Layouts_Buffer_MemoryLayout_Args;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_TopologyDescription* topology_description;
  PJRT_Buffer_Type type;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Layouts_MemoryLayout* layout;  // the caller destroys it
} PJRT_Layouts_Topology_GetDefaultLayout_Args;

typedef struct {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t count;
  PJRT_Layouts_MemoryLayout** layouts;  // of the executable
} PJRT_Layouts_Executable_Layouts_Args;

typedef struct {
  PJRT_Extension_Base base;
  PJRT_Error* (*memory_layout_destroy)(PJRT_Layouts_MemoryLayout_Destroy_Args* args);
  PJRT_Error* (*memory_layout_serialize)(PJRT_Layouts_MemoryLayout_Serialize_Args* args);
  PJRT_Error* (*client_get_default_layout)(PJRT_Layouts_Client_GetDefaultLayout_Args* args);
  PJRT_Error* (*buffer_memory_layout)(PJRT_Layouts_Buffer_MemoryLayout_Args* args);
  PJRT_Error* (*topology_get_default_layout)(PJRT_Layouts_Topology_GetDefaultLayout_Args* args);
  PJRT_Error* (*executable_get_output_layouts)(PJRT_Layouts_Executable_Layouts_Args* args);
  PJRT_Error* (*executable_get_parameter_layouts)(PJRT_Layouts_Executable_Layouts_Args* args);
} PJRT_Layouts_Extension;

#ifdef __cplusplus
}
#endif

#endif  // KASHI_PJRT_PJRT_C_API_H_
