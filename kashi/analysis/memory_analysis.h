// The memory of a program: its buffers, their live ranges, and the peak of each memory space.
//
//   absl::StatusOr<MemoryAnalysis> memory = AnalyzeMemory(*module);
//   for (const MemorySpaceUsage& space : memory->spaces) … space.memory_space, space.peak_bytes …
//
// Arguments, outputs and constants are resident from the first step to the last; temporaries have live ranges. The peak
// of a space is the sum of its resident buffers and the maximum over all steps of its temporaries. On a TPU gaps
// between buffers are not counted, as if buffers had no addresses. On a host, temporaries are placed as by XLA's
// compiler, in one block with gaps or in outputs that are not written yet.
#ifndef KASHI_ANALYSIS_MEMORY_ANALYSIS_H_
#define KASHI_ANALYSIS_MEMORY_ANALYSIS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/analysis/memory_peaks.h"
#include "kashi/analysis/memory_target.h"
#include "kashi/analysis/xla_buffer_assignment.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

// A value in a buffer: an instruction's result, or an array or the table of its tuple.
struct BufferValue {
  std::string name;  // "fusion.3", "copy-start{0}", "tuple.7{}"
  const HloInstruction* instruction = nullptr;
  const Shape* shape = nullptr;  // in its layout on the target; see MemoryAnalysis::has_chosen_layouts
  int64_t bytes = 0;
  int64_t unpadded_bytes = 0;
  int64_t memory_space = 0;
  bool is_phi = false;  // one of the buffer's other values, by where control came from
};

struct MemoryBuffer {
  enum class Kind {
    kArgument,
    kOutput,
    kAliased,  // both
    kConstant,
    kTemporary,
  };
  Kind kind = Kind::kTemporary;
  int64_t memory_space = 0;
  int64_t bytes = 0;  // of its largest value
  int64_t unpadded_bytes = 0;
  // Steps of MemoryAnalysis::sequences[region], both included.
  int32_t region = 0;
  int32_t first_step = 0;
  int32_t last_step = 0;
  // For a temporary, if MemoryAnalysis::has_places: the buffer in whose place it lies,
  // an output or a donated argument;
  // -1: the block of temporaries, at this offset.
  int32_t lies_in = -1;
  int64_t offset = -1;  // -1: not known
  // Inv: not empty. The buffer is named after the first one: the largest, of equals the first that is made.
  std::vector<BufferValue> values;

  const BufferValue& main_value() const { return values.front(); }
};
absl::string_view MemoryBufferKindName(MemoryBuffer::Kind kind);  // "argument", "temporary", …

struct MemorySpaceUsage {
  int64_t memory_space = 0;
  int64_t argument_bytes = 0;  // of the entry's parameters, without the tables of tuples
  int64_t output_bytes = 0;    // of the entry's results, also if they are arguments
  int64_t alias_bytes = 0;     // of results that lie where arguments lie
  // Bytes of arguments that the caller gives away (buffer_donor) and no result takes. They still count as arguments:
  // XLA:CPU puts no temporaries there, and no memory comes back before the end.
  int64_t unused_donor_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t temp_bytes = 0;     // at the peak; on a host, where has_places, of the whole block, with gaps
  int64_t gap_bytes = 0;      // of these between temporaries, and for the sake of alignment
  int64_t padding_bytes = 0;  // of all that is there at the peak
  // argument + output - alias + constant + temp; in the default space also MemoryAnalysis::output_table_bytes.
  int64_t peak_bytes = 0;
  // The most that one instruction's backend config says it needs while it runs (tpu_backend_config.h). Not in
  // peak_bytes: XLA does not count it either.
  int64_t scratch_bytes = 0;
  int32_t peak_step = 0;             // the first step at which the peak is reached, in the entry's sequence
  std::vector<int32_t> temporaries;  // numbers of the buffers that are alive then, the largest first
  std::vector<MemoryLevel> levels;   // of temporaries, over the entry's steps; empty if there are none
};

// Where the temporaries' bytes come from.
enum class MemoryBasis {
  kEstimate,       // the order of steps was chosen here, or there are too many buffers to place them
  kSchedule,       // for a TPU: the values alive at once by its compiler's schedule
  kPlacement,      // a host's: placed as XLA's compiler places them (host_buffer_assignment.h)
  kXlaAssignment,  // read from XLA's own buffer assignment
  kXlaUsage,       // the total read from XLA's own memory usage report, details as for the others
};
// "estimate", "schedule", "placement", "xla buffer assignment", "xla memory usage report".
absl::string_view MemoryBasisName(MemoryBasis basis);

struct MemoryAnalysis {
  MemoryTarget target;
  MemoryBasis basis = MemoryBasis::kEstimate;
  bool is_scheduled = false;  // by the module; otherwise the order of steps is computed here
  // The target is a TPU, and the module is not compiled for one: no array has tiles. All arrays have the layouts that
  // the target chooses for them (tpu_tiling.h), in BufferValue::shape too.
  bool has_chosen_layouts = false;
  // Buffers have `lies_in` and `offset`: on a host with a schedule, and where XLA's buffer assignment was read.
  bool has_places = false;
  // Bytes of values in computations that work on elements, such as a reduction's: XLA's reports of a host count them.
  int64_t thread_local_bytes = 0;
  // The table of pointers of a result that is a tuple; in the default memory space.
  int64_t output_table_bytes = 0;
  std::vector<MemorySpaceUsage> spaces;  // by number; the default one is always there
  std::vector<MemoryBuffer> buffers;
  // The regions of steps. Each computation with several callers is a region; the last region is the entry, with all
  // computations that have only one caller.
  std::vector<std::vector<const HloInstruction*>> sequences;

  // Shapes in the chosen layouts, to which BufferValue::shape points.
  std::vector<std::shared_ptr<const Shape>> chosen_shapes;

  const MemorySpaceUsage& default_space() const { return spaces.front(); }
  absl::Span<const HloInstruction* const> entry_sequence() const { return sequences.back(); }
  // The most temporaries in any one space, as XLA counts them (heap_simulator_trace.h). 0 on a host, where it counts
  // none.
  int64_t xla_temp_bytes = 0;
  // XLA's peak_memory_in_bytes: all resident buffers of all spaces, and xla_temp_bytes.
  int64_t XlaPeakBytes() const;
};

// XLA's own reports of the module's memory, if there are any.
struct XlaMemoryFacts {
  std::optional<XlaBufferAssignment> assignment;
  std::optional<std::vector<XlaMemoryUsage>> usage;  // looked at only without an assignment
};

// Target nullopt: the result of GuessMemoryTarget or, if that contradicts `facts`, the first later TPU that fits them.
// The module must outlive the result. INVALID_ARGUMENT for modules with broken links or recursion (call_graph.h),
// RESOURCE_EXHAUSTED for modules that are too large (value_positions.h, shape_nodes.h) or have temporaries in too many
// spaces (memory_peaks.h), FAILED_PRECONDITION if `facts` are for a different module or another target. O(n log n),
// n = instructions, operands and elements of tuples; on a host also the time to place the buffers.
absl::StatusOr<MemoryAnalysis> AnalyzeMemory(const HloModule& module,
                                             const std::optional<MemoryTarget>& target = std::nullopt,
                                             const XlaMemoryFacts& facts = {});

}  // namespace kashi

#endif  // KASHI_ANALYSIS_MEMORY_ANALYSIS_H_
