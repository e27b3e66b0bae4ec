// The interface of kernels for the planner. A kernel's plan is a small struct with the data of its steps, and with
//
//   static constexpr char kName[];                    its name in --plan
//   static constexpr int kBoxes;                      the kinds of boxes that it takes (BoxKind)
//   static constexpr double kCost;                    per byte with long runs on both sides; a copy's is 1
//   static TryResult<P> Try(const BoxOffer&);         its plan for a box, or the reason for a refusal
//   void Run(const Task&) const;                      moves one task
//   int64_t TaskBytes(const TaskGrid&, const PlanContext&) const;    of the target, about
//   BlockRuns Runs(const TaskGrid&, const PlanContext&) const;       for the cost function
//   void Print(const TaskGrid&, const PlanContext&, std::string*) const;   what --plan prints behind the name
//
// and `int64_t element_bytes`, or an overload of BytesOfElement in plan/step_test.cc.
//
// To add a kernel: write a pair of files with such a struct, and add it to the list in kernel_table.h. plan/strips.cc
// names BlocksPlan and InterleavePlan: a kernel that takes their boxes belongs there too.
#ifndef KASHI_RELAYOUT_KERNELS_KERNEL_H_
#define KASHI_RELAYOUT_KERNELS_KERNEL_H_

#include <cstdint>
#include <variant>

#include "kashi/relayout/nests/boxes.h"
#include "kashi/relayout/nests/context.h"
#include "kashi/relayout/nests/task_grid.h"

namespace kashi::relayout {

enum BoxKind : int {
  kBytes = 1,       // elements of whole bytes, which move as they are
  kConverting = 2,  // elements that change their form, or are no whole bytes
  kGroups = 4,      // as kBytes; one side has groups (groups.h)
  kTails = 8,       // a tail on the side that has words (groups.h): all of each word may be read, or written
};

// A box for which a kernel is sought.
struct BoxOffer {
  const PlanContext& context;
  BoxKind kind;
  Box box;                // the part contiguous on both sides belongs to the element, except for kConverting and kTails
  int64_t element_bytes;  // 0 for kConverting
  // For kTails: the elements of a word, padding included; and whether the words are the target's.
  int64_t word_elements = 1;
  bool fills_words = false;
};

struct Refusal {
  const char* why;  // printed by --plan behind "not "; nullptr prints nothing; static
};

// A kernel's plan, and the tasks into which it is cut.
template <class Plan>
struct Planned {
  TaskGrid grid;
  Plan plan;
};

template <class Plan>
using TryResult = std::variant<Refusal, Planned<Plan>>;

// The lengths of the runs of memory that a kernel reads and writes, in bytes.
struct BlockRuns {
  int64_t from;
  int64_t to;
};

// The arguments of Run.
struct Task {
  const PlanContext& context;
  const TaskGrid& grid;
  Block block;
  Block next;  // its source may be prefetched meanwhile; the last task's own
  const char* from;
  char* to;
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_KERNELS_KERNEL_H_
