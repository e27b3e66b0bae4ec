// The partitioners of custom calls that a caller brings: an extension of the PJRT C API, and the functions of jaxlib
// behind it (docs/spec/pjrt.md 7). Shapes and shardings are serialized ShapeProtos and OpShardings. What a function
// receives belongs to its caller; what it gives lives until cleanup_fn.
#ifndef KASHI_PJRT_CUSTOM_PARTITIONER_C_API_H_
#define KASHI_PJRT_CUSTOM_PARTITIONER_C_API_H_

#include <cstddef>
#include <cstdint>

#include "kashi/pjrt/pjrt_c_api.h"

extern "C" {

struct JAX_CustomCallPartitioner_string {
  const char* data;
  size_t size;
};

struct JAX_CustomCallPartitioner_aval {
  JAX_CustomCallPartitioner_string shape;
  bool has_sharding;
  JAX_CustomCallPartitioner_string sharding;
};

// The head of all arguments. The fields after api_version are for the function to set.
struct JAX_CustomCallPartitioner_version_and_error {
  int64_t api_version;  // 0
  void* data;
  void (*cleanup_fn)(void* data);
  bool has_error;
  int code;  // PJRT_Error_Code
  JAX_CustomCallPartitioner_string error_msg;
};

struct JAX_CustomCallPartitioner_Partition_Args {
  JAX_CustomCallPartitioner_version_and_error header;
  size_t num_args;
  JAX_CustomCallPartitioner_aval* op_args;
  JAX_CustomCallPartitioner_aval op_result;
  JAX_CustomCallPartitioner_string backend_config;
  JAX_CustomCallPartitioner_string mlir_module;      // given: MLIR bytecode or text
  JAX_CustomCallPartitioner_string* args_sharding;   // given: num_args of them
  JAX_CustomCallPartitioner_string result_sharding;  // given
};

struct JAX_CustomCallPartitioner_InferShardingFromOperands_Args {
  JAX_CustomCallPartitioner_version_and_error header;
  size_t num_args;
  JAX_CustomCallPartitioner_aval* op_args;
  JAX_CustomCallPartitioner_string result_shape;
  JAX_CustomCallPartitioner_string backend_config;
  bool has_result_sharding;                          // given
  JAX_CustomCallPartitioner_string result_sharding;  // given
};

struct JAX_CustomCallPartitioner_PropagateUserSharding_Args {
  JAX_CustomCallPartitioner_version_and_error header;
  JAX_CustomCallPartitioner_string backend_config;
  JAX_CustomCallPartitioner_string result_shape;
  JAX_CustomCallPartitioner_string result_sharding;  // received, and given
};

struct JAX_CustomCallPartitioner_Callbacks {
  int64_t version;  // 0
  void* private_data;
  void (*dtor)(JAX_CustomCallPartitioner_Callbacks* data);
  void (*partition)(JAX_CustomCallPartitioner_Callbacks* data, JAX_CustomCallPartitioner_Partition_Args* args);
  void (*infer_sharding)(JAX_CustomCallPartitioner_Callbacks* data,
                         JAX_CustomCallPartitioner_InferShardingFromOperands_Args* args);
  void (*propagate_user_sharding)(JAX_CustomCallPartitioner_Callbacks* data,
                                  JAX_CustomCallPartitioner_PropagateUserSharding_Args* args);
  bool can_side_effecting_have_replicated_sharding;
};

// ---- The extension ------------------------------------------------------------------------------------------------

struct PJRT_Register_Custom_Partitioner_Args {
  size_t struct_size;
  const char* name;  // the target of the custom calls
  size_t name_size;
  JAX_CustomCallPartitioner_Callbacks* callbacks;  // the plugin calls their dtor
};

struct PJRT_Register_Batch_Partitionable_Args {
  size_t struct_size;
  const char* name;
  size_t name_size;
};

struct PJRT_Custom_Partitioner_Extension {
  PJRT_Extension_Base base;
  PJRT_Error* (*register_custom_partitioner)(PJRT_Register_Custom_Partitioner_Args* args);
  PJRT_Error* (*register_batch_partitionable)(PJRT_Register_Batch_Partitionable_Args* args);
};

}  // extern "C"

#endif  // KASHI_PJRT_CUSTOM_PARTITIONER_C_API_H_
