// A Program as text like MLIR's generic form, for tests and for inspection:
//
//   "builtin.module"() <{sym_name = "jit_f"}> ({
//     "func.func"() <{…}> ({
//     ^(%0: tensor<4xf32>):
//       %1 = "stablehlo.sine"(%0) <{result_accuracy = #…}> : (tensor<4xf32>) -> tensor<4xf32>
//
// Two programs give equal text if and only if they are equal, apart from locations and places in the source, which are
// not written. No reader accepts this text: constants are hexadecimal, and all attributes are between <{ and }>.
#ifndef KASHI_STABLEHLO_PROGRAM_PROGRAM_TEXT_H_
#define KASHI_STABLEHLO_PROGRAM_PROGRAM_TEXT_H_

#include <string>

#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Pre: regions, attributes and types are nested only as deep as readers allow (200). Sets Value::number. Cost: linear
// in the size of the text.
std::string ProgramText(const Program& program);

// loc("name"(callsite(…))), without an end for a point. A part that occurs twice is written twice. Pre: nested at most
// 1000 deep.
std::string LocationText(const Location& location);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_PROGRAM_PROGRAM_TEXT_H_
