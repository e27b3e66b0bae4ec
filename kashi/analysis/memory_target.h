// The device of a module, which decides the size of padding and of tables of pointers.
//
//   a TPU      tiles pad; a tuple's table has 4 bytes per entry, rounded up by generation (kashi/array/tpu_tiling.h)
//   a host     only the padding of layouts; a table has 8 bytes per entry
//   a GPU      as a host; buffers within a block begin at multiples of 256 bytes, not of 64
#ifndef KASHI_ANALYSIS_MEMORY_TARGET_H_
#define KASHI_ANALYSIS_MEMORY_TARGET_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "kashi/array/device_size.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

struct MemoryTarget {
  std::optional<TpuGeneration> tpu;  // nullopt: a host or a GPU
  bool is_guess = false;             // not given by the caller
  bool is_gpu = false;

  bool is_tpu() const { return tpu.has_value(); }
  bool is_host() const { return !is_tpu() && !is_gpu; }
  std::string name() const { return tpu ? std::string(GetTpuGenerationInfo(*tpu).name) : is_gpu ? "gpu" : "host"; }
  // The alignment of temporaries within their block, where XLA's compilers for hosts and GPUs place them.
  int64_t buffer_alignment() const { return is_gpu ? 256 : 64; }
  // The memory space of a TPU's vector memory: S(3) on v4, S(1) on all others.
  int64_t vector_memory_space() const { return tpu == TpuGeneration::kV4 ? 3 : 1; }
  DeviceSizeOptions size_options() const { return {/*pad_untiled=*/is_tpu()}; }
  // The size of the table of a tuple with this number of elements. Pre: 0 <= elements < 2^31.
  int64_t TableBytes(int64_t elements) const { return tpu ? TupleTableBytes(elements, *tpu) : 8 * elements; }
};

// "v2" … "tpu7x", "host", "cpu", "gpu"; nullopt for others.
std::optional<MemoryTarget> ParseMemoryTarget(absl::string_view name);
// "v2 v3 … host gpu", for messages.
std::string MemoryTargetNames();

// Whether an array of the module has tiles. TPU compilers give tiles to all arrays, other compilers to none; a program
// that is not compiled yet has none either.
bool HasTiles(const HloModule& module);

// Guesses the target from the facts of a compiled module. Tiles mean a TPU; 32-bit scalars in T(256) v2 or v3 (the
// answer is v3); vector memory S(3) v4; otherwise v5e, whose sizes differ from those of later generations in the tables
// only. Without tiles: a GPU if a backend config or a custom call is one of XLA's compiler for GPUs; otherwise a host.
MemoryTarget GuessMemoryTarget(const HloModule& module);

}  // namespace kashi

#endif  // KASHI_ANALYSIS_MEMORY_TARGET_H_
