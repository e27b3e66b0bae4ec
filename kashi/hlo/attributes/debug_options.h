// XLA's switches for its passes and dumps, as code written for XLA gets and sets them: config.debug_options().
//
// A table of the switches that such code commonly uses, with the defaults of XLA's GetDebugOptionsFromFlags(). It keeps
// them for the caller; this library does not read them.
#ifndef KASHI_HLO_ATTRIBUTES_DEBUG_OPTIONS_H_
#define KASHI_HLO_ATTRIBUTES_DEBUG_OPTIONS_H_

#include <cstdint>
#include <string>

#include "kashi/hlo/attributes/message.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi {

class DebugOptions {
  // ---- Passes.
  KASHI_REPEATED(std::string, xla_disable_hlo_passes)
  KASHI_REPEATED(std::string, xla_enable_hlo_passes_only)
  KASHI_SCALAR(bool, xla_disable_all_hlo_passes, false)
  KASHI_SCALAR(int32_t, xla_backend_optimization_level, 3)
  KASHI_SCALAR(bool, xla_eliminate_hlo_implicit_broadcast, true)
  KASHI_SCALAR(bool, xla_allow_excess_precision, true)
  KASHI_SCALAR(bool, xla_allow_scalar_index_dynamic_ops, false)
  KASHI_SCALAR(bool, xla_embed_ir_in_executable, false)
  KASHI_SCALAR(bool, xla_enable_fast_math, false)
  KASHI_SCALAR(bool, xla_detailed_logging, true)
  KASHI_SCALAR(bool, xla_enable_dumping, true)
  KASHI_SCALAR(bool, xla_pjrt_allow_auto_layout_in_hlo, false)
  KASHI_SCALAR(bool, xla_syntax_sugar_async_ops, false)
  KASHI_SCALAR(bool, xla_keep_shardings_after_spmd, false)
  KASHI_SCALAR(bool, xla_unsupported_crash_on_hlo_pass_fix_max_iterations, false)
  KASHI_SCALAR(bool, xla_unsupported_crash_on_hlo_pass_noop_change, false)
  KASHI_SCALAR(bool, xla_unsupported_crash_on_hlo_pass_silent_hlo_change, false)
  KASHI_SCALAR(bool, xla_experimental_ignore_channel_id, false)
  KASHI_SCALAR(int32_t, xla_force_host_platform_device_count, 1)
  KASHI_SCALAR(int64_t, xla_multiheap_size_constraint_per_heap, -1)
  KASHI_SCALAR(bool, xla_hlo_evaluator_use_fast_path, false)
  KASHI_SCALAR(bool, xla_hlo_profile, false)
  KASHI_SCALAR(bool, xla_hlo_graph_addresses, false)
  KASHI_SCALAR(bool, xla_hlo_graph_sharding_color, false)
  KASHI_SCALAR(bool, xla_test_all_output_layouts, false)
  KASHI_SCALAR(bool, xla_test_all_input_layouts, false)
  KASHI_SCALAR(bool, xla_llvm_enable_alias_scope_metadata, true)
  KASHI_SCALAR(bool, xla_llvm_enable_noalias_metadata, true)
  KASHI_SCALAR(bool, xla_llvm_enable_invariant_load_metadata, true)
  KASHI_SCALAR(bool, xla_llvm_disable_expensive_passes, false)
  KASHI_SCALAR(bool, xla_llvm_force_inline_before_split, true)

  // ---- Dumps.
  KASHI_SCALAR(std::string, xla_dump_to, std::string())
  KASHI_SCALAR(std::string, xla_dump_hlo_module_re, std::string())
  KASHI_SCALAR(std::string, xla_dump_hlo_pass_re, std::string())
  KASHI_SCALAR(bool, xla_dump_hlo_as_text, false)
  KASHI_SCALAR(bool, xla_dump_hlo_as_proto, false)
  KASHI_SCALAR(bool, xla_dump_hlo_as_dot, false)
  KASHI_SCALAR(bool, xla_dump_hlo_as_url, false)
  KASHI_SCALAR(bool, xla_dump_hlo_as_html, false)
  KASHI_SCALAR(bool, xla_dump_hlo_as_long_text, true)
  KASHI_SCALAR(bool, xla_dump_hlo_snapshots, false)
  KASHI_SCALAR(bool, xla_dump_include_timestamp, false)
  KASHI_SCALAR(int32_t, xla_dump_max_hlo_modules, -1)
  KASHI_SCALAR(bool, xla_dump_module_metadata, false)
  KASHI_SCALAR(bool, xla_dump_compress_protos, false)
  KASHI_SCALAR(bool, xla_dump_disable_metadata, false)
  KASHI_SCALAR(bool, xla_dump_large_constants, false)
  KASHI_SCALAR(bool, xla_dump_enable_mlir_pretty_form, true)
  KASHI_SCALAR(bool, xla_dump_fusion_visualization, false)

  // ---- CPU.
  KASHI_SCALAR(bool, xla_cpu_multi_thread_eigen, true)
  KASHI_SCALAR(bool, xla_cpu_enable_fast_math, false)
  KASHI_SCALAR(bool, xla_cpu_enable_fast_min_max, false)
  KASHI_SCALAR(bool, xla_cpu_fast_math_honor_nans, true)
  KASHI_SCALAR(bool, xla_cpu_fast_math_honor_infs, true)
  KASHI_SCALAR(bool, xla_cpu_fast_math_honor_division, true)
  KASHI_SCALAR(bool, xla_cpu_fast_math_honor_functions, true)
  KASHI_SCALAR(bool, xla_cpu_use_onednn, false)
  KASHI_SCALAR(bool, xla_cpu_use_xnnpack, true)
  KASHI_SCALAR(bool, xla_cpu_enable_concurrency_optimized_scheduler, false)
  KASHI_SCALAR(int32_t, xla_cpu_prefer_vector_width, 256)
  KASHI_SCALAR(std::string, xla_cpu_max_isa, std::string())
  KASHI_SCALAR(int32_t, xla_cpu_parallel_codegen_split_count, 32)

  // ---- GPU.
  KASHI_SCALAR(std::string, xla_gpu_cuda_data_dir, "./cuda_sdk_lib")
  KASHI_SCALAR(bool, xla_gpu_ftz, false)
  KASHI_SCALAR(bool, xla_gpu_enable_fast_min_max, false)
  KASHI_SCALAR(bool, xla_gpu_deterministic_ops, false)
  KASHI_SCALAR(bool, xla_gpu_exclude_nondeterministic_ops, false)
  KASHI_SCALAR(int32_t, xla_gpu_autotune_level, 4)
  KASHI_SCALAR(bool, xla_gpu_enable_triton_gemm, true)
  KASHI_SCALAR(bool, xla_gpu_triton_gemm_any, true)
  KASHI_SCALAR(bool, xla_gpu_enable_cublaslt, true)
  KASHI_SCALAR(bool, xla_gpu_enable_latency_hiding_scheduler, false)
  KASHI_SCALAR(bool, xla_gpu_disable_gpuasm_optimizations, false)
  KASHI_SCALAR(bool, xla_gpu_enable_while_loop_double_buffering, false)
  KASHI_SCALAR(bool, xla_gpu_require_complete_aot_autotune_results, false)
  KASHI_SCALAR(int64_t, xla_gpu_all_reduce_combine_threshold_bytes, 31457287)
  KASHI_SCALAR(int64_t, xla_gpu_all_gather_combine_threshold_bytes, 31457287)
  KASHI_SCALAR(int64_t, xla_gpu_reduce_scatter_combine_threshold_bytes, 31457287)

 public:
  // Switches of single backends, by name.
  const StringMap& xla_backend_extra_options() const { return xla_backend_extra_options_; }
  StringMap* mutable_xla_backend_extra_options() { return &xla_backend_extra_options_; }

 private:
  StringMap xla_backend_extra_options_;
};

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_DEBUG_OPTIONS_H_
