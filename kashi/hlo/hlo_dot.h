// A module as a graph for Graphviz.
#ifndef KASHI_HLO_HLO_DOT_H_
#define KASHI_HLO_HLO_DOT_H_

#include <string>

#include "kashi/hlo/hlo_module.h"

namespace kashi {

// DOT text: a cluster for each computation, a node for each instruction (opcode, name, shape), an edge for each operand,
// dashed ones for control dependencies and dotted ones to called computations.
std::string HloModuleToDot(const HloModule& module);

}  // namespace kashi

#endif  // KASHI_HLO_HLO_DOT_H_
