// A module, or a part of it, as a graph for Graphviz.
//
//   HloDotOptions options;
//   options.around = module.entry_computation()->root_instruction();
//   options.depth = 2;
//   HloDot dot = HloModuleToDot(module, options);   // the root, its operands, and their operands
//   dot.text                                        // digraph "m" { … }
//
// A cluster for each computation, a node for each instruction (opcode, name, shape; the values of a small constant), an
// edge for each operand, dashed edges for control dependencies, dotted ones from called computations to their callers.
//
// Graphviz takes minutes for some thousands of nodes. So a graph shows at most `max_nodes` instructions. It keeps those
// that are nearest to its start: the root of ENTRY, or `computation` or `around`. A node has the number of its operands
// and users that are not shown, and the names of called computations that are not shown.
//
// Cost: linear in the size of the module.
#ifndef KASHI_HLO_TEXT_HLO_DOT_H_
#define KASHI_HLO_TEXT_HLO_DOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

inline constexpr int64_t kDefaultDotNodes = 200;

struct HloDotOptions {
  // Only this computation, and the computations that it calls if `with_called`. Null: the whole module.
  const HloComputation* computation = nullptr;
  bool with_called = true;
  // Only instructions within `depth` edges of this one, through operands, users and control dependencies. Null: all.
  const HloInstruction* around = nullptr;
  int64_t depth = 3;
  // The most instructions that are shown; 0: no limit.
  int64_t max_nodes = kDefaultDotNodes;
};

// The instructions of a graph with these options.
struct HloDotSelection {
  std::vector<const HloInstruction*> shown;  // in the order of MakeComputationPostOrder and InstructionOrder
  int64_t wanted = 0;                        // how many it would have without max_nodes
};
// Pre: `computation` and `around` belong to `module`.
HloDotSelection SelectForHloDot(const HloModule& module, const HloDotOptions& options = {});

struct HloDot {
  std::string text;    // DOT
  int64_t shown = 0;   // instructions in the graph
  int64_t wanted = 0;  // instructions that would be in it without max_nodes
};

// Pre: `computation` and `around` belong to `module`.
HloDot HloModuleToDot(const HloModule& module, const HloDotOptions& options = {});

}  // namespace kashi

#endif  // KASHI_HLO_TEXT_HLO_DOT_H_
