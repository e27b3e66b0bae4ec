// The functions of operations that talk to a host or to another program: infeed, outfeed, send, recv.
#ifndef KASHI_EVALUATOR_TRANSFERS_H_
#define KASHI_EVALUATOR_TRANSFERS_H_

#include "kashi/evaluator/operation_table.h"

namespace kashi::internal {

// Null for other operations. The function needs a device with transfers (Device::has_transfers).
EvaluationFunction FindTransfer(HloOpcode opcode);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_TRANSFERS_H_
