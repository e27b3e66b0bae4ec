// The source location of an instruction in the user's program.
#ifndef KASHI_ANALYSIS_SOURCE_LOCATION_H_
#define KASHI_ANALYSIS_SOURCE_LOCATION_H_

#include <cstdint>
#include <string>

#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {

struct SourceLocation {
  std::string op_name;  // "jit(f)/dot_general"
  std::string file;     // "" if unknown
  int32_t line = 0;
};

// The location in the instruction's metadata: its file and line, or those of its stack frame. A fusion or an
// asynchronous start without metadata has those of the root that it computes.
SourceLocation GetSourceLocation(const HloInstruction& instruction);

}  // namespace kashi

#endif  // KASHI_ANALYSIS_SOURCE_LOCATION_H_
