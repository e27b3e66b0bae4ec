// A Program as text like MLIR's generic form, for tests and for looking at it:
//
//   "builtin.module"() <{sym_name = "jit_f"}> ({
//     "func.func"() <{…}> ({
//     ^(%0: tensor<4xf32>):
//       %1 = "stablehlo.sine"(%0) <{result_accuracy = #…}> : (tensor<4xf32>) -> tensor<4xf32>
//
// Equal programs give equal text, and only those do, but for locations and for the places in the source, which are not
// written. It is not text that a reader accepts: constants are hexadecimal, all attributes stand between <{ and }>.
#ifndef KASHI_STABLEHLO_PROGRAM_PROGRAM_TEXT_H_
#define KASHI_STABLEHLO_PROGRAM_PROGRAM_TEXT_H_

#include <string>

#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Pre: regions, attributes and types are nested no deeper than readers allow (200). Sets Value::number. Cost: linear
// in the size of the text.
std::string ProgramText(const Program& program);

// loc("name"(callsite(…))), without end for a point. A part that is used twice is written twice. Pre: nested no deeper
// than 1000.
std::string LocationText(const Location& location);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_PROGRAM_PROGRAM_TEXT_H_
