// CollectiveTask: the work of a collective operation on its arrays, for fabrics that do it while they move the arrays
// (CollectiveCall::task). Not all members then get all arrays.
#ifndef KASHI_DEVICES_COLLECTIVE_TASK_H_
#define KASHI_DEVICES_COLLECTIVE_TASK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::kernels {
struct ElementKernel;
}  // namespace kashi::kernels

namespace kashi::devices {

// The reduction of one operand.
struct CollectiveReduction {
  PrimitiveType type;
  // If it is one operation of ops.def, and the kernel of that; the kernel must not outlive the task.
  std::optional<HloOpcode> opcode;
  const kernels::ElementKernel* kernel = nullptr;
  // target[i] = f(… f(f(parts[0][i], parts[1][i]), parts[2][i]) …) for i in [0, n). `target` is none of the parts.
  std::function<absl::Status(absl::Span<const char* const> parts, char* target, int64_t n)> fold;
  // Whether any thread may call fold, while the device does other work. Otherwise only the thread of the device may.
  bool is_for_any_thread = false;
};

// Operands are arrays of static shapes, so that every member knows the sizes of all.
struct CollectiveTask {
  enum class Kind {
    kAllReduce,      // result k: the reduction of all operands k
    kReduceScatter,  // result k of member i: block i along `dimension` of the reduction of all operands k
    kAllGather,      // result k: operands k of all members, one after the other along `dimension`
    kAllToAll,       // the result of member i: block i along `dimension` of the operand of each member
    kTupleAllToAll,  // result j of member i: operand i of member j
    kPermute,        // results of the target of a pair: the operands of its source; others get zeros
    kBroadcast,      // the operands of member 0
  };
  Kind kind;
  const HloInstruction& instruction;
  absl::Span<const int64_t> members;  // device ids
  int64_t own;                        // the position of this device in them
  int64_t dimension = 0;
  std::vector<CollectiveReduction> reductions = {};                        // by operand
  absl::Span<const std::pair<int64_t, int64_t>> source_target_pairs = {};  // positions of members
};

}  // namespace kashi::devices

#endif  // KASHI_DEVICES_COLLECTIVE_TASK_H_
