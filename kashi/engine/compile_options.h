// Options for the compilation of a module: the engine, and the rules of numbers.
#ifndef KASHI_ENGINE_COMPILE_OPTIONS_H_
#define KASHI_ENGINE_COMPILE_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "kashi/base/work_meter.h"

namespace kashi {

// The rules of numbers (docs/fidelity.md). The defaults are those of XLA:CPU.
struct NumberOptions {
  // Denormal results become 0, and denormal operands count as 0, in compiled kernels. The evaluator keeps them.
  bool flush_denormals = true;
  // Numbers keep bits beyond their type where XLA:CPU keeps them: the result of a bf16 operation that
  // is converted to f32 is not rounded to bf16, and a product that is added is not rounded (fused multiply-add). Sums
  // of bf16 in a reduce are f32 until they are complete.
  bool excess_precision = true;
};

// The objects of machine code of a program.
struct ObjectUse {
  int64_t objects = 0;
  int64_t known = 0;       // of them, not compiled again
  bool is_cached = false;  // whether there is a cache
  absl::Status kept;       // why some are not in it
};

struct CompileOptions {
  static constexpr int64_t kManyRuns = std::numeric_limits<int64_t>::max();

  // "cpu": machine code; "evaluator": nothing is compiled; "auto": the one that is expected to be faster
  // (engine_choice.h), and the evaluator where the engine cpu cannot run the program.
  std::string engine = "auto";
  // The number of runs on a device: auto compares the time of all runs with the time to compile.
  int64_t runs = kManyRuns;
  NumberOptions numbers;
  // The target processors of the machine code: a level of the x86-64 ABI, such as "x86-64-v3" (kashi/cpu/target.h
  // lists them), for all that have its instructions; "": this processor, with all its features. The evaluator has none.
  std::string target;
  // Compiling ends with DEADLINE_EXCEEDED soon after the deadline and with CANCELLED soon after it is cancelled: within
  // the time that a few kernels take. max_work is the limit of a run: auto compiles no program that exceeds it.
  WorkLimits limits;
  // Also keep the stages as text (Program::stages). The engine cpu then verifies the module after each pass.
  bool keep_stages = false;
  // A folder with object code of earlier compilations, by any process: the engine cpu reads it, and adds to it
  // (object_cache.h). "": that of the environment variable KASHI_CACHE_DIR, or none. With keep_stages, none: they are
  // made by compiling. FAILED_PRECONDITION if the folder cannot be used.
  std::string cache_folder;
  // Also keep the data for Program::Serialize: the module as text, and object code.
  bool keep_code = false;
};

}  // namespace kashi

#endif  // KASHI_ENGINE_COMPILE_OPTIONS_H_
